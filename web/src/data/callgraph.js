// SPDX-License-Identifier: GPL-3.0-or-later
// The call graph of a result: nodes are functions, edges are calls from one function to another.
//
// A node has `self`, the metric of the function alone, and `total`, with everything that it called. The value of an edge is what the
// calls cost. The cost below two nested activations of a function belongs to the calls of the inner one only, as in the files for
// KCachegrind (src/contexts/pairs.h): self and the edges that leave a function add up to its total, however it recurs.
import { keyOf, OTHER, ROOT_NAME, shownName, totals } from "./trees.js";

class Maker {
	constructor() {
		this.nodes = new Map();
		this.edges = new Map();
	}

	node(key, { name, image = null, offset = null, file = null, line = null }) {
		if (!this.nodes.has(key)) this.nodes.set(key, { key, name, image, offset, file, line, self: 0, total: 0, calls: 0, recursive: false });
		return this.nodes.get(key);
	}

	edge(from, to) {
		const key = `${from}\n${to}`;
		if (!this.edges.has(key)) this.edges.set(key, { from, to, value: 0, calls: 0 });
		return this.edges.get(key);
	}

	done(counted, all = this.sum()) {
		const edges = [...this.edges.values()];
		for (const { from, to } of edges) if (from === to) this.nodes.get(from).recursive = true;
		return { nodes: [...this.nodes.values()].sort((a, b) => b.total - a.total), edges: edges.filter(({ value, calls }) => value > 0 || calls > 0), all, counted };
	}

	sum() {
		return [...this.nodes.values()].reduce((sum, { self }) => sum + self, 0);
	}
}

// Makes the graph from trees of calls and an exclusive metric. counted: the counts of nodes are calls, not samples or allocations.
export function graphOfTrees(trees, key, counted = true) {
	const made = new Maker();
	const sums = totals(trees, key);
	const innermost = new Map(); // by function: the innermost of its nodes on the way, with the node below it
	const stack = [...trees].reverse().map((node) => ({ node, parent: null }));
	while (stack.length) {
		const step = stack.pop();
		if (step.leave) {
			if (step.outer) innermost.set(step.at.key, step.outer);
			else innermost.delete(step.at.key);
			continue;
		}
		const { node, parent } = step;
		const at = node.name === ROOT_NAME ? null : { key: keyOf(node), below: null };
		if (at) enter(made, node, at, parent, { innermost, sums, key, counted });
		const outer = at ? innermost.get(at.key) : null;
		if (at) {
			innermost.set(at.key, at);
			stack.push({ leave: true, at, outer });
		}
		for (const child of [...(node.children ?? [])].reverse()) stack.push({ node: child, parent: at });
	}
	return made.done(counted);
}

function enter(made, node, at, parent, { innermost, sums, key, counted }) {
	const { key: label } = at;
	const own = made.node(label, node);
	const sum = sums.get(node);
	const outer = innermost.get(label);
	own.self += node[key] ?? 0;
	own.calls += node.count ?? 0;
	if (!outer) own.total += sum;
	if (parent) {
		parent.below = label;
		const edge = made.edge(parent.key, label);
		if (counted) edge.calls += node.count ?? 0;
		if (parent.key !== label) edge.value += sum;
	}
	if (outer) {
		own.recursive = true;
		if (outer.below !== label) made.edge(label, outer.below).value -= sum;
	}
}

// Makes the graph from a trace (data/trace.js): the times of functions and of their calls.
export function graphOfTrace({ functions }) {
	const made = new Maker();
	const keys = new Map(functions.map((row, i) => [row, String(i)]));
	for (const row of functions) Object.assign(made.node(keys.get(row), row), { self: row.exclusive_ns, total: row.outermost_ns, calls: row.all });
	for (const row of functions)
		for (const { other, calls, outermost_ns: value } of row.callees) {
			if (!keys.has(other)) continue;
			const edge = made.edge(keys.get(row), keys.get(other));
			edge.calls += calls;
			if (other !== row) edge.value += value;
		}
	return made.done(true);
}

// Makes the graph from the table `pairs` of the tool calls, which has numbers of calls only. self: calls of the function; total: the
// greater of these and of the calls that it makes, so that a function that calls often is drawn, too.
export function graphOfPairs(rows) {
	const made = new Maker();
	const place = (row, side) => ({ name: row[side], image: row[`${side}_image`] ?? null, offset: row[`${side}_offset`] ?? null });
	for (const row of rows.filter((each) => each.caller && each.callee)) {
		const [from, to] = ["caller", "callee"].map((side) => place(row, side));
		const caller = made.node(keyOf(from), from);
		const callee = made.node(keyOf(to), to);
		const edge = made.edge(caller.key, callee.key);
		for (const each of ["value", "calls"]) edge[each] += row.count;
		for (const each of ["self", "calls"]) callee[each] += row.count;
	}
	const out = new Map();
	for (const { from, value } of made.edges.values()) out.set(from, (out.get(from) ?? 0) + value);
	for (const node of made.nodes.values()) node.total = Math.max(node.self, out.get(node.key) ?? 0);
	return made.done(true);
}

// Adds the exact numbers of calls from the table `pairs` to a graph of samples. Sampled stacks do not have the stubs through which
// libraries are called ("free@plt"), so that the calls of a stub are calls of its function. What is not in the table has 0 calls.
export function withExactCalls(graph, rows) {
	const key = (name, image, offset) => keyOf({ name, image, offset });
	const exact = new Map();
	for (const { caller, caller_image, caller_offset, callee, callee_image, callee_offset, count } of rows) {
		if (!caller || !callee) continue;
		const from = key(caller, caller_image, caller_offset);
		const stub = callee.endsWith("@plt") && callee_image === caller_image;
		const to = stub ? callee : key(callee, callee_image, callee_offset);
		exact.set(`${from}\n${to}`, (exact.get(`${from}\n${to}`) ?? 0) + count);
	}
	const names = new Map(graph.nodes.map(({ key: each, name }) => [each, name]));
	const edges = graph.edges.map((edge) => ({ ...edge, calls: exact.get(`${edge.from}\n${edge.to}`) ?? exact.get(`${edge.from}\n${names.get(edge.to)}@plt`) ?? 0 }));
	return { ...graph, edges, exact: true };
}

// Where functions that are not drawn call others; where they are called, they are OTHER (trees.js).
export const OTHER_CALLERS = "(other callers)";

// The functions within `levels` calls of a function, along the edges (callees) or against them (callers).
function around({ edges }, centre, levels) {
	const within = new Set([centre]);
	for (const [near, far] of [["from", "to"], ["to", "from"]]) {
		let border = new Set([centre]);
		const seen = new Set(border);
		for (let level = 0; level < levels && border.size; level++) {
			const next = new Set(edges.filter((edge) => border.has(edge[near]) && !seen.has(edge[far])).map((edge) => edge[far]));
			for (const key of next) seen.add(key);
			border = next;
		}
		for (const key of seen) within.add(key);
	}
	return within;
}

// Chooses the part of a graph to draw: the functions whose total is at least the share `least` of all, at most `most` of them, and
// with a centre (a key, or null) only those within `levels` calls of it. Calls of less than half of that share, and those from and to functions
// that are not drawn, are calls from OTHER_CALLERS and to OTHER: of each function, the edges keep their sum. The self value of OTHER
// is that of all functions that are not drawn.
export function chosenGraph(graph, { least = 0, centre = null, levels = Infinity, most = 60 } = {}) {
	const within = centre === null ? null : around(graph, centre, levels);
	const fits = graph.nodes.filter(({ key, total }) => key === centre || ((!within || within.has(key)) && total > 0 && total >= least * graph.all));
	const shown = fits.slice(0, most);
	if (centre !== null && !shown.some(({ key }) => key === centre)) shown.splice(-1, 1, graph.nodes.find(({ key }) => key === centre));
	const keys = new Set(shown.map(({ key }) => key));
	const edges = [];
	const pooled = { [OTHER]: new Map(), [OTHER_CALLERS]: new Map() };
	const pool = (into, key, { value, calls }) => {
		const sum = pooled[into].get(key) ?? { value: 0, calls: 0 };
		pooled[into].set(key, { value: sum.value + value, calls: sum.calls + calls });
	};
	for (const edge of graph.edges) {
		const { from, to, value } = edge;
		if (from === to) continue;
		if (keys.has(from) && keys.has(to) && value > 0 && value >= (least / 2) * graph.all) edges.push(edge);
		else {
			if (keys.has(from)) pool(OTHER, from, edge);
			if (keys.has(to)) pool(OTHER_CALLERS, to, edge);
		}
	}
	const others = [];
	const self = graph.nodes.reduce((sum, node) => sum + (keys.has(node.key) ? 0 : node.self), 0);
	for (const [name, map] of Object.entries(pooled)) {
		const drawn = [...map].filter(([, { value }]) => value > 0);
		for (const [key, sum] of drawn) edges.push(name === OTHER ? { from: key, to: OTHER, ...sum } : { from: OTHER_CALLERS, to: key, ...sum });
		const own = name === OTHER ? self : 0;
		const total = drawn.reduce((sum, [, { value }]) => sum + value, 0);
		if (drawn.length || own > 0) others.push({ key: name, name, image: null, self: own, total: name === OTHER ? Math.max(total, own) : total, calls: 0, recursive: false, other: true });
	}
	return { nodes: [...shown, ...others], edges, all: graph.all, counted: graph.counted, exact: graph.exact ?? false, cut: fits.length - shown.length, hidden: graph.nodes.length - shown.length };
}

// Finds the function of that name, or else the one with the greatest total whose name contains the text.
export function findNode({ nodes: all }, text) {
	const wanted = text.trim().toLowerCase();
	if (!wanted) return null;
	const named = (name) => shownName(name).toLowerCase();
	return all.find(({ name }) => named(name) === wanted) ?? all.find(({ name }) => named(name).includes(wanted)) ?? null;
}
