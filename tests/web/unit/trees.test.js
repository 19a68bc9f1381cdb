// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import test from "node:test";
import { byPlace, flame, invert, isExclusive, merge, metricKeys, nodes, sandwich, sharesOf, totals } from "../../../web/src/data/trees.js";

const node = (name, count, instructions, children = []) => ({ name, count, instructions, image: "/bin/x", offset: 16, line: 3, children });
const TREE = [node("main", 1, 10, [node("f", 2, 30, [node("g", 6, 60)]), node("g", 1, 5)])];

test("nodes come before their children, in order", () => {
	assert.deepEqual([...nodes(TREE)].map(({ name }) => name), ["main", "f", "g", "g"]);
});

test("metrics are the numbers that are no place, calls first", () => {
	assert.deepEqual(metricKeys(TREE), ["count", "instructions"]);
	assert.equal(isExclusive("time_ns"), true);
	assert.equal(isExclusive("total_ns"), false);
});

test("a subtree's total is the sum over its nodes", () => {
	const sums = totals(TREE, "instructions");
	assert.deepEqual([...nodes(TREE)].map((each) => sums.get(each)), [105, 90, 60, 5]);
});

test("joining threads adds up what is called the same in the same context", () => {
	const other = [node("main", 1, 1, [node("g", 4, 2), node("h", 1, 7)])];
	const [main] = merge([TREE, other]);
	assert.deepEqual([main.count, main.instructions, main.offset], [2, 11, 16]);
	assert.deepEqual(main.children.map(({ name, count }) => [name, count]), [["f", 2], ["g", 5], ["h", 1]]);
	assert.equal(TREE[0].count, 1, "what was joined is not changed");
});

test("functions of the same name in two files stay two", () => {
	const elsewhere = { ...node("main", 3, 4), image: "/bin/y" };
	assert.equal(merge([TREE, [elsewhere]]).length, 2);
});

test("a flame graph is as wide as its subtrees", () => {
	const { root, cut } = flame(TREE, "instructions", { title: "all of it" });
	assert.deepEqual([root.name, root.value, cut], ["all of it", 105, 0]);
	const [main] = root.children;
	assert.deepEqual([main.value, main.self], [105, 10]);
	assert.deepEqual(main.children.map(({ name, value }) => [name, value]), [["f", 90], ["g", 5]]);
});

test("nodes whose own count was cleared still carry what is below", () => {
	const { root } = flame([node("top", 0, 0, [node("leaf", 4, 8)])], "count");
	assert.deepEqual([root.value, root.children[0].value, root.children[0].self], [4, 4, 0]);
});

test("only the largest subtrees are drawn, and (other) has the sum of those that are not", () => {
	const wide = [node("main", 1, 1, Array.from({ length: 100 }, (_, i) => node(`f${i}`, 1, i + 1)))];
	const { root, cut } = flame(wide, "instructions", { most: 11 });
	const [main] = root.children;
	assert.deepEqual([main.children.length, main.children.at(-1).name, main.children.at(-1).value], [11, "(other)", (90 * 91) / 2]);
	assert.equal(main.children.reduce((sum, { value }) => sum + value, main.self), main.value);
	assert.deepEqual([root.value, cut], [5051, 90]);
});

test("trees as deep as stacks are no trouble", () => {
	let tree = node("f", 1, 1);
	for (let i = 0; i < 50000; i++) tree = node("f", 1, 1, [tree]);
	assert.equal(totals([tree], "count").get(tree), 50001);
	assert.equal(merge([[tree], [tree]])[0].count, 2);
	assert.equal(flame([tree], "count", { most: 1e6, deepest: 100 }).root.value, 50001);
});

test("without calls, functions stand under their files", () => {
	const run = { functions: [
		{ name: "f", image: "/lib/a.so", file: "/src/a.c", offset: 1, instructions: 7 },
		{ name: "g", image: "/lib/a.so", file: null, offset: 2, instructions: 2 },
		{ name: "h", image: "/lib/a.so", file: "/src/a.c", offset: 3, instructions: 0 },
	] };
	const { root } = flame(byPlace(run, "instructions"), "instructions");
	const [image] = root.children;
	assert.deepEqual([image.name, image.value], ["a.so", 9]);
	assert.deepEqual(image.children.map(({ name, value }) => [name, value]).sort(), [["a.c", 7], ["g", 2]]);
});

const sumsOf = (trees, key) => trees.map((tree) => [tree.name, totals(trees, key).get(tree)]);

test("from the callees up, roots have what functions had themselves", () => {
	const inverted = invert(TREE, "instructions");
	assert.deepEqual(sumsOf(inverted, "instructions"), [["main", 10], ["f", 30], ["g", 65]]);
	const g = inverted.find(({ name }) => name === "g");
	assert.deepEqual(sumsOf(g.children, "instructions"), [["f", 60], ["main", 5]]);
	assert.deepEqual(sumsOf(g.children[0].children, "instructions"), [["main", 60]]);
	assert.deepEqual(sumsOf(invert(TREE, "instructions", 1), "instructions"), [["main", 10], ["f", 30], ["g", 65]], "a limit of levels loses nothing");
});

test("a function stands between its callers and its callees, both as wide", () => {
	const { callers, callees } = sandwich(TREE, "f", "instructions");
	assert.deepEqual([sumsOf(callers, "instructions"), sumsOf(callees, "instructions")], [[["f", 90]], [["f", 90]]]);
	assert.deepEqual(sumsOf(callers[0].children, "instructions"), [["main", 90]]);
	assert.deepEqual(sumsOf(callees[0].children, "instructions"), [["g", 60]]);
	assert.deepEqual(sandwich(TREE, "nothing", "instructions"), { callers: [], callees: [] });
});

test("of a function that calls itself the outermost call counts", () => {
	const recursive = [node("r", 1, 1, [node("x", 1, 10, [node("r", 1, 100)])]), node("r", 1, 1000)];
	const { callers, callees } = sandwich(recursive, "r", "instructions");
	assert.deepEqual([sumsOf(callers, "instructions"), sumsOf(callees, "instructions")], [[["r", 1111]], [["r", 1111]]]);
});

test("shares are of the total, of the parent or of the node at the top", () => {
	const sums = totals([...TREE, node("idle", 1, 45)], "instructions");
	const trees = [...sums.keys()].filter(({ name }) => name === "main" || name === "idle").sort((a, b) => (a.name < b.name ? 1 : -1));
	const shares = sharesOf(trees, (each) => sums.get(each), true);
	const all = [...nodes(trees)];
	assert.deepEqual(all.map(({ name }) => name), ["main", "f", "g", "g", "idle"]);
	assert.deepEqual(all.map(shares.total), [105 / 150, 90 / 150, 60 / 150, 5 / 150, 45 / 150]);
	assert.deepEqual(all.map(shares.parent), [105 / 150, 90 / 105, 60 / 90, 5 / 105, 45 / 150]);
	assert.deepEqual(all.map(shares.top), [1, 90 / 105, 60 / 105, 5 / 105, 1]);
});

test("shares of amounts that do not have those of the children are at most 1", () => {
	const shares = sharesOf(TREE, ({ count }) => count, false);
	const all = [...nodes(TREE)];
	assert.deepEqual(all.map(shares.total), [0.1, 0.2, 0.6, 0.1]);
	assert.deepEqual(all.map(shares.parent), [1, 2 / 3, 1, 1 / 3]);
	assert.deepEqual(all.map(shares.top), [0.1, 0.2, 0.6, 0.1]);
	assert.deepEqual([...nodes(TREE)].map(sharesOf(TREE, () => 0, true).parent), [NaN, NaN, NaN, NaN]);
});
