// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import test from "node:test";
import { diffFlame, diffFunctions, diffTrees, sumDiff } from "../../../web/src/data/diff.js";

const row = (name, self_share, calls = 1, image = "/build1/x") => ({ name, image, self_share, instructions: self_share * 100, calls });
const node = (name, count, children = []) => ({ name, count, image: "/bin/x", children });

test("functions are compared by name and the name of their file", () => {
	const a = { functions: [row("f", 0.75), row("g", 0.25)] };
	const b = { functions: [row("f", 0.5, 3, "/build2/x"), row("new", 0.5, 1, "/build2/x")] };
	const rows = diffFunctions(a, b);
	assert.deepEqual(rows.map(({ name, change, only }) => [name, change, only]), [["new", 0.5, "b"], ["f", -0.25, null], ["g", -0.25, "a"]]);
	assert.equal(rows[1].b.calls - rows[1].a.calls, 2);
});

test("trees are laid over each other, as shares of their own whole", () => {
	const [main] = sumDiff(diffTrees([node("main", 0, [node("f", 1), node("g", 3)])], [node("main", 0, [node("f", 4), node("h", 4)])], "count"));
	assert.deepEqual([main.sumA, main.sumB], [1, 1]);
	const shares = main.children.map(({ name, sumA, sumB }) => [name, sumA, sumB]);
	assert.deepEqual(shares, [["g", 0.75, 0], ["h", 0, 0.5], ["f", 0.25, 0.5]]);
});

test("a frame is as wide as the larger side, and never narrower than what stands on it", () => {
	const trees = sumDiff(diffTrees([node("main", 0, [node("f", 1)])], [node("main", 0, [node("g", 1)])], "count"));
	const { children: [main], value } = diffFlame(trees);
	assert.deepEqual([value, main.value, main.change], [2, 2, 0]);
	assert.deepEqual(main.children.map(({ name, value: width, change }) => [name, width, change]).sort(), [["f", 1, -1], ["g", 1, 1]]);
});

test("an empty result differs by all of the other", () => {
	const [main] = sumDiff(diffTrees([], [node("main", 5)], "count"));
	assert.deepEqual([main.sumA, main.sumB], [0, 1]);
	assert.deepEqual(diffFunctions({ functions: [] }, { functions: [] }), []);
});
