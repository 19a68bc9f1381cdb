// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import test from "node:test";
import { diffFlame, diffFunctions, diffPlaces, diffTrees, sumDiff } from "../../../web/src/data/diff.js";

const row = (id, name, self_share, calls = 1, image = "/build1/x", file = null) => ({ id, name, image, file, self_share, instructions: self_share * 100, calls });
const node = (name, count, children = []) => ({ name, count, image: "/bin/x", children });
const byName = { a: ({ name }) => name, b: ({ name }) => name };
const pair = (functionsA, functionsB, functions, images = {}) => [
	{ index: 0, functions: functionsA, matches: new Map() },
	{ index: 1, functions: functionsB, matches: new Map([[0, { functions, images }]]) },
];

test("functions are the same when Strobe says so, whatever they are called", () => {
	const [a, b] = pair([row(0, "f", 0.5), row(1, "g", 0.25), row(2, "f", 0.25)], [row(0, "f", 0.25, 3, "/build2/x"), row(1, "new", 0.5), row(2, "f", 0.25)], [2, -1, 0]);
	const rows = diffFunctions(a, b);
	assert.deepEqual(rows.map(({ name, change, only }) => [name, change, only]), [["new", 0.5, "b"], ["f", -0.25, null], ["g", -0.25, "a"], ["f", 0, null]]);
	assert.equal(rows[3].b.calls - rows[3].a.calls, 2);
	assert.deepEqual(diffFunctions(b, a).map(({ name, change, only }) => [name, change, only]), [["new", -0.5, "a"], ["f", 0.25, null], ["g", 0.25, "b"], ["f", 0, null]]);
	assert.deepEqual(diffFunctions(a, a).map(({ change }) => change), [0, 0, 0]);
});

test("without calls the trees are of images, files and functions", () => {
	const [a, b] = pair([row(0, "f", 0.75, 1, "/1/x", "/src/x.c"), row(1, "g", 0.25, 1, "/1/x")], [row(0, "f", 0.5, 1, "/2/x", "/other/y.c"), row(1, "h", 0.5, 1, "/2/x")], [0, -1], { "/2/x": "/1/x" });
	const [image, ...more] = sumDiff(diffPlaces(a, b, "instructions"));
	assert.deepEqual([image.name, image.sumA, image.sumB, more.length], ["x", 1, 1, 0]);
	assert.deepEqual(image.children.map(({ name, sumA, sumB }) => [name, sumA, sumB]), [["h", 0, 0.5], ["x.c", 0.75, 0.5], ["g", 0.25, 0]]);
	b.matches.get(0).images = {};
	assert.deepEqual(diffPlaces(a, b, "instructions").map(({ image: path }) => path).sort(), ["/1/x", "/2/x"]);
});

test("trees are laid over each other, as shares of their own whole", () => {
	const [main] = sumDiff(diffTrees([node("main", 0, [node("f", 1), node("g", 3)])], [node("main", 0, [node("f", 4), node("h", 4)])], "count", byName));
	assert.deepEqual([main.sumA, main.sumB], [1, 1]);
	const shares = main.children.map(({ name, sumA, sumB }) => [name, sumA, sumB]);
	assert.deepEqual(shares, [["g", 0.75, 0], ["h", 0, 0.5], ["f", 0.25, 0.5]]);
});

test("a frame is as wide as the larger side, and never narrower than what stands on it", () => {
	const trees = sumDiff(diffTrees([node("main", 0, [node("f", 1)])], [node("main", 0, [node("g", 1)])], "count", byName));
	const { children: [main], value } = diffFlame(trees);
	assert.deepEqual([value, main.value, main.change], [2, 2, 0]);
	assert.deepEqual(main.children.map(({ name, value: width, change }) => [name, width, change]).sort(), [["f", 1, -1], ["g", 1, 1]]);
});

test("an empty result differs by all of the other", () => {
	const [main] = sumDiff(diffTrees([], [node("main", 5)], "count", byName));
	assert.deepEqual([main.sumA, main.sumB], [0, 1]);
	assert.deepEqual(diffFunctions(...pair([], [], [])), []);
});
