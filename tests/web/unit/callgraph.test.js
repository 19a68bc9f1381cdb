// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import test from "node:test";
import { chosenGraph, findNode, graphOfPairs, graphOfTrace, graphOfTrees, OTHER_CALLERS, withExactCalls } from "../../../web/src/data/callgraph.js";
import { OTHER } from "../../../web/src/data/trees.js";

const node = (name, count, value, children = []) => ({ name, count, value, image: "/bin/x", offset: 16, children });
const TREE = [node("main", 1, 10, [node("f", 2, 30, [node("g", 6, 60)]), node("g", 1, 5), node("h", 1, 1)])];
const plain = ({ nodes, edges }) => ({
	nodes: Object.fromEntries(nodes.map(({ name, self, total, calls }) => [name, [self, total, calls]])),
	edges: Object.fromEntries(edges.map(({ from, to, value, calls }) => [`${from.split("\0")[0]}>${to.split("\0")[0]}`, [value, calls]])),
});

// Of each function, self and what leaves it are its total; of one that is not recursive and that something calls, so is what enters it.
function sumsAreKept({ nodes, edges, all }) {
	for (const { key, self, total, other, recursive } of nodes.filter((each) => !each.other)) {
		const sum = (side) => edges.filter((edge) => edge[side] === key).reduce((amount, { value }) => amount + value, 0);
		assert.equal(self + sum("from"), total, key);
		if (!recursive && !other && sum("to")) assert.equal(sum("to"), total, key);
	}
	assert.equal(nodes.reduce((amount, { self }) => amount + self, 0), all);
}

test("functions have self and total, edges the cost and the number of their calls", () => {
	const graph = graphOfTrees(TREE, "value");
	assert.deepEqual(plain(graph), { nodes: { main: [10, 106, 1], f: [30, 90, 2], g: [65, 65, 7], h: [1, 1, 1] }, edges: { "main>f": [90, 2], "f>g": [60, 6], "main>g": [5, 1], "main>h": [1, 1] } });
	assert.deepEqual([graph.all, graph.nodes.some(({ recursive }) => recursive)], [106, false]);
	sumsAreKept(chosenGraph(graph));
});

test("recursion counts once, as in the files for KCachegrind", () => {
	const direct = graphOfTrees([node("main", 1, 1, [node("f", 1, 2, [node("f", 1, 3, [node("g", 1, 4)])])])], "value");
	assert.deepEqual(plain(direct), { nodes: { main: [1, 10, 1], f: [5, 9, 2], g: [4, 4, 1] }, edges: { "main>f": [9, 1], "f>f": [0, 1], "f>g": [4, 1] } });
	assert.deepEqual(direct.nodes.filter(({ recursive }) => recursive).map(({ name }) => name), ["f"]);
	const mutual = graphOfTrees([node("a", 1, 1, [node("b", 1, 2, [node("a", 1, 4, [node("b", 1, 8)])])])], "value");
	assert.deepEqual(plain(mutual), { nodes: { a: [5, 15, 2], b: [10, 14, 2] }, edges: { "a>b": [10, 2], "b>a": [4, 1] } });
	assert.deepEqual(mutual.nodes.map(({ recursive }) => recursive), [true, true]);
	sumsAreKept(chosenGraph(direct));
});

test("samples are no calls", () => {
	const graph = graphOfTrees(TREE, "count", false);
	assert.deepEqual(plain(graph).edges, { "main>f": [8, 0], "f>g": [6, 0], "main>g": [1, 0], "main>h": [1, 0] });
	assert.equal(graph.counted, false);
});

test("the root that stands for a thread is no function, and threads are added up", () => {
	const graph = graphOfTrees([{ name: "__root__", count: 1, children: TREE }, node("main", 1, 1)], "value");
	assert.deepEqual(plain(graph).nodes.main, [11, 107, 2]);
	assert.equal(graphOfTrees([{ name: "__root__", count: 1, children: TREE }], "count").all, 11, "its own count is none of a function");
	assert.equal(graph.nodes.some(({ name }) => name === "__root__"), false);
});

test("what is hidden is in (other)", () => {
	const graph = graphOfTrees(TREE, "value");
	const shown = chosenGraph(graph, { least: 0.5 });
	assert.deepEqual(plain(shown), {
		nodes: { main: [10, 106, 1], f: [30, 90, 2], g: [65, 65, 7], [OTHER]: [1, 6, 0], [OTHER_CALLERS]: [0, 5, 0] },
		edges: { "main>f": [90, 2], "f>g": [60, 6], [`main>${OTHER}`]: [6, 2], [`${OTHER_CALLERS}>g`]: [5, 1] },
	});
	sumsAreKept(shown);
	assert.equal(shown.hidden, 1);
	for (const least of [0, 0.01, 0.05, 0.1, 0.6, 0.9]) sumsAreKept(chosenGraph(graph, { least }));
	for (const most of [1, 2, 3]) sumsAreKept(chosenGraph(graph, { most }));
	assert.equal(chosenGraph(graph, { most: 3 }).cut, 1);
});

test("around a function there are its callers and callees, level by level", () => {
	const graph = graphOfTrees([node("main", 1, 1, [node("a", 1, 1, [node("b", 1, 1, [node("c", 1, 1, [node("d", 1, 1)])]), node("side", 1, 1)])])], "value");
	const around = (name, levels) => {
		const shown = chosenGraph(graph, { centre: findNode(graph, name).key, levels });
		sumsAreKept(shown);
		return shown.nodes.filter(({ other }) => !other).map(({ name: each }) => each).sort();
	};
	assert.deepEqual(around("b", 1), ["a", "b", "c"]);
	assert.deepEqual(around("b", 2), ["a", "b", "c", "d", "main"]);
	assert.deepEqual(around("side", 1), ["a", "side"]);
	const hidden = chosenGraph(graph, { centre: findNode(graph, "d").key, levels: 1, least: 0.5 });
	assert.deepEqual(hidden.nodes.filter(({ other }) => !other).map(({ name }) => name), ["d"], "the centre is always there");
	const few = chosenGraph(graph, { centre: findNode(graph, "d").key, levels: Infinity, most: 2 });
	assert.deepEqual(few.nodes.filter(({ other }) => !other).map(({ name }) => name), ["main", "d"]);
});

test("a function is found by its whole name first", () => {
	const graph = graphOfTrees([node("main_loop", 1, 9, [node("main", 1, 1)])], "value");
	assert.deepEqual(["main", "LOOP", "ain", " ", "x"].map((text) => findNode(graph, text)?.name ?? null), ["main", "main_loop", "main_loop", null, null]);
});

test("of the tool calls, numbers of calls", () => {
	const row = (caller, callee, n) => ({ caller, caller_image: "/bin/x", callee, callee_image: "/bin/x", count: n });
	const graph = graphOfPairs([row("main", "f", 3), row("f", "g", 12), row("g", "g", 5), row(null, "main", 1)]);
	assert.deepEqual(plain(graph), { nodes: { g: [17, 17, 17], f: [3, 12, 3], main: [0, 3, 0] }, edges: { "main>f": [3, 3], "f>g": [12, 12], "g>g": [5, 5] } });
	assert.equal(graph.all, 20);
});

test("a graph of samples has the exact calls of the table, also through stubs", () => {
	const at = (name, image, value, children = []) => ({ name, image, offset: 16, count: value, children });
	const graph = graphOfTrees([at("main", "/bin/x", 1, [at("f", "/bin/x", 2, [at("free", "/lib/c", 7)]), at("g", "/bin/x", 1)])], "count", false);
	const row = (caller, callee, callee_image, n, more = {}) => ({ caller, caller_image: "/bin/x", caller_offset: 16, callee, callee_image, callee_offset: 16, count: n, ...more });
	const exact = withExactCalls(graph, [row("main", "f", "/bin/x", 40), row("main", "f", "/bin/y", 1), row("main", "f", "/bin/x", 9, { caller_offset: 32 }), row("f", "free@plt", "/bin/x", 1600000), row(null, "main", "/bin/x", 1)]);
	const name = (key) => key.split("\0")[0];
	assert.deepEqual(exact.edges.map(({ from, to, value, calls }) => [name(from), name(to), value, calls]), [["main", "f", 9, 40], ["f", "free", 7, 1600000], ["main", "g", 1, 0]]);
	assert.deepEqual([exact.exact, exact.counted, chosenGraph(exact).exact, chosenGraph(graph).exact], [true, false, true, false]);
	assert.deepEqual(graph.edges.map(({ calls }) => calls), [0, 0, 0], "the graph itself is not changed");
});

test("of a trace, times", () => {
	const f = { name: "f", exclusive_ns: 30, outermost_ns: 90, all: 4, callees: [] };
	const main = { name: "main", exclusive_ns: 10, outermost_ns: 100, all: 1, callees: [{ other: f, calls: 2, outermost_ns: 90 }, { other: "gone", calls: 1, outermost_ns: 5 }] };
	f.callees.push({ other: f, calls: 2, outermost_ns: 0 });
	assert.deepEqual(plain(graphOfTrace({ functions: [main, f] })), { nodes: { main: [10, 100, 1], f: [30, 90, 4] }, edges: { "0>1": [90, 2], "1>1": [0, 2] } });
});

test("trees as deep as stacks are no trouble", () => {
	let tree = node("f", 1, 1);
	for (let i = 0; i < 50000; i++) tree = node(i % 2 ? "f" : "g", 1, 1, [tree]);
	const graph = graphOfTrees([tree], "value");
	assert.deepEqual([graph.all, graph.nodes.map(({ total }) => total)], [50001, [50001, 50000]]);
});
