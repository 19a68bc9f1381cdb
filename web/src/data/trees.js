// SPDX-License-Identifier: GPL-3.0-or-later
// Trees of calls: {name, count, children, image, offset, line, and metrics}. None of these functions recurses: a tree can
// be as deep as a program's stack.
import { baseName } from "./format.js";

const NO_METRICS = new Set(["offset", "line", "column", "thread", "id"]);

export const ROOT_NAME = "__root__";

// What stands for all that is not drawn.
export const OTHER = "(other)";

// Labels that are no functions.
const SHOWN_NAMES = { [ROOT_NAME]: "(root)", __unknown__: "(unknown callers)" };

export function shownName(name) {
	return SHOWN_NAMES[name] ?? name;
}

export function* nodes(trees) {
	const stack = [...trees].reverse();
	while (stack.length) {
		const node = stack.pop();
		yield node;
		const children = node.children ?? [];
		for (let i = children.length - 1; i >= 0; i--) stack.push(children[i]);
	}
}

// Keys of the numbers that nodes have and that are not always 0, the count of calls first.
export function metricKeys(trees) {
	const keys = new Set(["count"]);
	for (const node of nodes(trees))
		for (const [key, value] of Object.entries(node)) if (value > 0 && typeof value === "number" && !NO_METRICS.has(key)) keys.add(key);
	return [...keys];
}

// Whether a metric of a node is that of the node alone, so that a subtree's is the sum.
export function isExclusive(key) {
	return !key.startsWith("total_");
}

// What nodes of one function have in common.
export const keyOf = (node) => `${node.name}\0${node.image ?? ""}\0${node.offset ?? ""}`;

// The trees of several threads as one forest: nodes of the same name under the same parent become one.
export function merge(forests) {
	const out = [];
	const work = [[forests.flat(), out]];
	while (work.length) {
		const [list, into] = work.pop();
		const groups = new Map();
		for (const node of list) {
			const key = keyOf(node);
			if (!groups.has(key)) groups.set(key, []);
			groups.get(key).push(node);
		}
		for (const group of groups.values()) {
			const { children: _, ...merged } = group[0];
			for (const node of group.slice(1))
				for (const [key, value] of Object.entries(node))
					if (typeof value === "number" && !NO_METRICS.has(key)) merged[key] = (merged[key] ?? 0) + value;
			merged.children = [];
			into.push(merged);
			work.push([group.flatMap((node) => node.children ?? []), merged.children]);
		}
	}
	return out;
}

// The sum of an exclusive metric over each subtree: a map from nodes.
export function totals(trees, key) {
	const all = [...nodes(trees)];
	const sums = new Map();
	for (let i = all.length - 1; i >= 0; i--) {
		let sum = all[i][key] ?? 0;
		for (const child of all[i].children ?? []) sum += sums.get(child);
		sums.set(all[i], sum);
	}
	return sums;
}

// What percentages of nodes are of. The keys are the choices of the views.
export const SHARES = [["total", "total"], ["parent", "parent"], ["top", "top"]];

// Shares of an amount of nodes: an object with a function of a node for each choice. A node is inclusive if its amount has those
// of its children; otherwise the total is the sum over all nodes, and a node's share of its parent is that among its siblings.
export function sharesOf(trees, amount, inclusive) {
	const add = (list) => [...list].reduce((sum, node) => sum + amount(node), 0);
	const all = add(inclusive ? trees : nodes(trees));
	const parents = parentsOf(trees);
	const tops = new Map();
	for (const tree of trees) {
		const sum = inclusive ? amount(tree) : add(nodes([tree]));
		for (const node of nodes([tree])) tops.set(node, sum);
	}
	const below = new Map(); // what the children of a node have, if that is what their shares are of
	if (!inclusive) for (const node of nodes(trees)) below.set(node, add(node.children ?? []));
	const ofParent = (parent) => (!parent ? (inclusive ? all : add(trees)) : inclusive ? amount(parent) : below.get(parent));
	const part = (node, of) => (of > 0 ? amount(node) / of : NaN);
	return { total: (node) => part(node, all), parent: (node) => part(node, ofParent(parents.get(node))), top: (node) => part(node, tops.get(node)) };
}

// The way from each node to its root: a map from nodes to their parents, null of roots.
function parentsOf(trees) {
	const parents = new Map(trees.map((tree) => [tree, null]));
	for (const node of nodes(trees)) for (const child of node.children ?? []) parents.set(child, node);
	return parents;
}

// Adds an amount along the way from a node to its root, at most `deepest` levels, to trees whose roots are such nodes.
function addWay(roots, node, parents, key, amount, deepest) {
	let into = roots;
	let made = null;
	for (let at = node, depth = 0; at && depth < deepest; at = parents.get(at), depth++) {
		if (at.name === ROOT_NAME) break;
		const name = keyOf(at);
		if (!into.has(name)) into.set(name, { name: at.name, image: at.image, offset: at.offset, line: at.line, id: at.id, [key]: 0, map: new Map() });
		made = into.get(name);
		into = made.map;
	}
	if (made) made[key] += amount;
}

// Trees from the callees up: each function that has an exclusive metric of its own is a root, its callers are its children,
// and a subtree's sum is what the function itself had when it was called that way.
export function invert(trees, key, deepest = 400) {
	const parents = parentsOf(trees);
	const roots = new Map();
	for (const node of nodes(trees)) if (node[key] > 0) addWay(roots, node, parents, key, node[key], deepest);
	return freeze(roots);
}

// The trees of callers, as results have them (kccf): a node has the metrics of the function at the root in calls along the path to the node.
export function upwards(trees, deepest = 400) {
	const parents = parentsOf(trees);
	const roots = new Map();
	const keys = metricKeys(trees).filter(isExclusive);
	for (const node of nodes(trees)) {
		if (node.name === ROOT_NAME || !keys.some((key) => node[key] > 0)) continue;
		let into = roots;
		for (let at = node, depth = 0; at && at.name !== ROOT_NAME && depth < deepest; at = parents.get(at), depth++) {
			const name = keyOf(at);
			if (!into.has(name)) {
				const { children: _, ...copy } = at;
				into.set(name, { ...copy, ...Object.fromEntries(keys.map((key) => [key, 0])), map: new Map() });
			}
			const made = into.get(name);
			for (const key of keys) made[key] += node[key] ?? 0;
			into = made.map;
		}
	}
	return freeze(roots);
}

// A function between its callers and its callees: {callers, callees}, trees with the function as their root. Where it calls
// itself, the outermost call counts.
export function sandwich(trees, name, key, deepest = 400) {
	const parents = parentsOf(trees);
	const sums = totals(trees, key);
	const within = new Set();
	const outermost = [];
	const callers = new Map();
	for (const node of nodes(trees)) {
		const parent = parents.get(node);
		const inside = parent && (within.has(parent) || parent.name === name);
		if (inside) within.add(node);
		else if (node.name === name) outermost.push(node);
	}
	for (const node of outermost) addWay(callers, node, parents, key, sums.get(node), deepest);
	return { callers: freeze(callers), callees: merge([outermost]) };
}

// What a flame graph is drawn from: {name, value, self, children, node}, value being that of the whole subtree. Only the
// `most` largest subtrees are kept, and `deepest` levels; the others are in a frame OTHER of their parent, so that no sum changes.
// cut: the number of subtrees that are not there.
export function flame(trees, key, { most = 20000, deepest = 400, title = "all" } = {}) {
	const sums = totals(trees, key);
	const least = leastKept([...sums.values()], most);
	const root = { name: title, value: 0, self: 0, node: null, children: [] };
	let cut = 0;
	const work = [[trees, root, 1]];
	while (work.length) {
		const [list, into, depth] = work.pop();
		let others = 0;
		for (const node of list) {
			const value = sums.get(node);
			if (!(value > 0)) continue;
			if (depth > deepest || value < least) {
				cut++;
				others += value;
				continue;
			}
			const made = { name: shownName(node.name), value, self: node[key] ?? 0, node, children: [] };
			into.children.push(made);
			if (node.children?.length) work.push([node.children, made, depth + 1]);
		}
		if (others > 0) into.children.push({ name: OTHER, value: others, self: others, node: null, children: [] });
	}
	root.value = root.children.reduce((sum, child) => sum + child.value, 0);
	return { root, cut };
}

function leastKept(values, most) {
	if (values.length <= most) return 0;
	return values.sort((a, b) => b - a)[most - 1];
}

// Where no calls are known: image, source file, function.
export function byPlace(run, key) {
	const images = new Map();
	for (const row of run.functions) {
		const value = row[key];
		if (!(value > 0)) continue;
		const image = child(images, baseName(row.image), row.image);
		const file = row.file ? child(image.map, baseName(row.file), row.image) : image;
		file.map.set(`${row.name}\0${row.offset}`, { name: row.name, image: row.image, row, [key]: value, map: new Map() });
	}
	return freeze(images);
}

function child(map, name, image) {
	if (!map.has(name)) map.set(name, { name, image, map: new Map() });
	return map.get(name);
}

function freeze(map) {
	return [...map.values()].map(({ map: inner, ...node }) => ({ ...node, children: freeze(inner) }));
}
