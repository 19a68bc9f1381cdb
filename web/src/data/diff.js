// SPDX-License-Identifier: GPL-3.0-or-later
// What differs between two runs. Functions are the same when their name and the name of their file are: builds differ in
// offsets, and in folders.
import { baseName } from "./format.js";
import { ROOT_NAME } from "./trees.js";

const identity = ({ name, image }) => `${name}\0${baseName(image ?? "")}`;

function grouped(rows) {
	const map = new Map();
	for (const row of rows) {
		const key = identity(row);
		const sum = map.get(key) ?? { name: row.name, image: row.image, self_share: 0, instructions: 0, calls: 0 };
		for (const column of ["self_share", "instructions", "calls"]) sum[column] += row[column] ?? 0;
		map.set(key, sum);
	}
	return map;
}

const NONE = { self_share: 0, instructions: 0, calls: 0 };

// One row for each function of either: {name, image, a, b, change}, change being that of the share; largest first.
export function diffFunctions(runA, runB) {
	const inA = grouped(runA.functions);
	const inB = grouped(runB.functions);
	return [...new Set([...inA.keys(), ...inB.keys()])]
		.map((key) => {
			const a = inA.get(key);
			const b = inB.get(key);
			const { name, image } = a ?? b;
			return { name, image, a: a ?? NONE, b: b ?? NONE, change: (b ?? NONE).self_share - (a ?? NONE).self_share, only: !a ? "b" : !b ? "a" : null };
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
export function diffTrees(treesA, treesB, key) {
	const all = { a: amount(treesA, key) || 1, b: amount(treesB, key) || 1 };
	const out = [];
	const work = [[treesA, treesB, out]];
	while (work.length) {
		const [listA, listB, into] = work.pop();
		const pairs = new Map();
		for (const [side, list] of [["a", listA], ["b", listB]])
			for (const node of list) {
				const key_ = identity(node);
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
