// SPDX-License-Identifier: GPL-3.0-or-later
// What differs between two runs. Which functions are the same is known from their keys (match.js).
import { baseName } from "./format.js";
import { keysOf } from "./match.js";
import { ROOT_NAME } from "./trees.js";

function grouped(rows, keyOf) {
	const map = new Map();
	for (const row of rows) {
		const key = keyOf(row);
		const sum = map.get(key) ?? { name: row.name, image: row.image, file: row.file, self_share: 0, instructions: 0, calls: 0 };
		for (const column of ["self_share", "instructions", "calls"]) sum[column] += row[column] ?? 0;
		map.set(key, sum);
	}
	return map;
}

const NONE = { self_share: 0, instructions: 0, calls: 0 };

// One row for each function of either: {name, image, file, a, b, change}, change being that of the share; largest first.
export function diffFunctions(runA, runB) {
	const keys = keysOf(runA, runB).function;
	const inA = grouped(runA.functions, keys.a);
	const inB = grouped(runB.functions, keys.b);
	return [...new Set([...inA.keys(), ...inB.keys()])]
		.map((key) => {
			const a = inA.get(key);
			const b = inB.get(key);
			const { name, image, file } = a ?? b;
			return { name, image, file, a: a ?? NONE, b: b ?? NONE, change: (b ?? NONE).self_share - (a ?? NONE).self_share, only: !a ? "b" : !b ? "a" : null };
		})
		.sort((x, y) => Math.abs(y.change) - Math.abs(x.change));
}

const amount = (trees, key) => {
	let sum = 0;
	const work = [...trees];
	while (work.length) {
		const node = work.pop();
		sum += node[key] ?? 0;
		work.push(...(node.children ?? []));
	}
	return sum;
};

// Two forests as one: nodes {name, image, a, b, children}, a and b the shares of the metric that the nodes have themselves.
export function diffTrees(treesA, treesB, key, keys) {
	const all = { a: amount(treesA, key) || 1, b: amount(treesB, key) || 1 };
	const out = [];
	const work = [[treesA, treesB, out]];
	while (work.length) {
		const [listA, listB, into] = work.pop();
		const pairs = new Map();
		for (const [side, list] of [["a", listA], ["b", listB]])
			for (const node of list) {
				const key_ = keys[side](node);
				if (!pairs.has(key_)) pairs.set(key_, { node, a: [], b: [] });
				pairs.get(key_)[side].push(node);
			}
		for (const { node, a, b } of pairs.values()) {
			const share = (list, side) => list.reduce((sum, each) => sum + (each[key] ?? 0), 0) / all[side];
			const made = { name: node.name, image: node.image, a: share(a, "a"), b: share(b, "b"), children: [] };
			into.push(made);
			const below = (list) => list.flatMap((each) => each.children ?? []);
			work.push([below(a), below(b), made.children]);
		}
	}
	return out;
}

// The same where no calls are known, by place: image, source file, function. A function that has moved is where A has it.
export function diffPlaces(runA, runB, key) {
	const keys = keysOf(runA, runB).image;
	const all = { a: sumOf(runA.functions, key) || 1, b: sumOf(runB.functions, key) || 1 };
	const images = { inside: new Map(), children: [] };
	for (const row of diffFunctions(runA, runB)) {
		const [a, b] = [row.a[key] / all.a, row.b[key] / all.b];
		if (!(a > 0 || b > 0)) continue;
		const image = child(images, keys[row.only === "b" ? "b" : "a"](row.image), baseName(row.image ?? ""), row.image);
		const place = row.file ? child(image, baseName(row.file), baseName(row.file), row.image) : image;
		place.children.push({ name: row.name, image: row.image, a, b, children: [] });
	}
	return images.children;
}

const sumOf = (rows, key) => rows.reduce((sum, row) => sum + (row[key] ?? 0), 0);

function child({ inside, children }, key, name, image) {
	if (!inside.has(key)) {
		inside.set(key, { name, image, a: 0, b: 0, children: [], inside: new Map() });
		children.push(inside.get(key));
	}
	return inside.get(key);
}

// With what lies below: sumA, sumB on each node, and children by the size of their change. Trees of diffTrees.
export function sumDiff(trees) {
	const order = [];
	const work = [...trees];
	while (work.length) {
		const node = work.pop();
		order.push(node);
		work.push(...node.children);
	}
	for (const node of order.reverse()) {
		node.sumA = node.children.reduce((sum, child) => sum + child.sumA, node.a);
		node.sumB = node.children.reduce((sum, child) => sum + child.sumB, node.b);
		node.children.sort((x, y) => Math.abs(y.sumB - y.sumA) - Math.abs(x.sumB - x.sumA));
	}
	return trees.sort((x, y) => Math.abs(y.sumB - y.sumA) - Math.abs(x.sumB - x.sumA));
}

// For a flame graph: as wide as the run in which the subtree is larger, {name, value, change, children}.
export function diffFlame(trees, title = "all") {
	const root = { name: title, children: [] };
	const work = [[trees, root]];
	while (work.length) {
		const [list, into] = work.pop();
		for (const node of list) {
			const made = { name: node.name === ROOT_NAME ? "(root)" : node.name, node, change: node.sumB - node.sumA, children: [] };
			into.children.push(made);
			work.push([node.children, made]);
		}
	}
	widen(root);
	root.change = 0;
	return root;
}

function widen(root) {
	const order = [];
	const work = [root];
	while (work.length) {
		const made = work.pop();
		order.push(made);
		work.push(...made.children);
	}
	for (const made of order.reverse()) {
		const below = made.children.reduce((sum, child) => sum + child.value, 0);
		made.value = Math.max(below, made.node ? Math.max(made.node.sumA, made.node.sumB) : 0);
	}
}
