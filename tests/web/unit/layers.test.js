// SPDX-License-Identifier: GPL-3.0-or-later
// tests/plot/test_layers.c places the same graphs, at the same points.
import assert from "node:assert/strict";
import test from "node:test";
import { layout } from "../../../web/src/data/layers.js";

const OPTIONS = { width: 100, height: 40, gap: 20, rise: 60, pass: 10 };
const edges = (...pairs) => pairs.map(([from, to]) => ({ from, to }));
const of = (n, ...pairs) => layout(n, edges(...pairs), OPTIONS);
const places = ({ nodes }) => nodes.map(({ x, y }) => [x, y]);

test("callers are above callees, in the middle of them", () => {
	const made = of(3, [0, 1], [0, 2]);
	assert.deepEqual(places(made), [[110, 20], [50, 120], [170, 120]]);
	assert.deepEqual([made.width, made.height], [220, 140]);
	assert.deepEqual(made.routes[0], [{ x: 110, y: 20 }, { x: 50, y: 120 }]);
});

test("nothing, one, and two that have nothing to do with each other", () => {
	assert.deepEqual(of(0), { nodes: [], routes: [], width: 0, height: 0 });
	assert.deepEqual(places(of(1)), [[50, 20]]);
	assert.deepEqual(places(of(2)), [[50, 20], [170, 20]]);
});

test("an edge over several layers goes around what is between", () => {
	const made = of(3, [0, 1], [1, 2], [0, 2]);
	assert.deepEqual(made.nodes.map(({ y }) => y), [20, 120, 220]);
	assert.equal(made.routes[2].length, 3);
	const [, { x, y }] = made.routes[2];
	assert.equal(y, 120);
	assert.equal(Math.abs(x - made.nodes[1].x), 50 + 20 + 5, "half a box, a gap and half a passage");
});

test("a cycle has one edge upwards, and an edge with itself no route", () => {
	const made = of(3, [0, 1], [1, 2], [2, 1], [1, 1]);
	assert.deepEqual(made.nodes.map(({ y }) => y), [20, 120, 220]);
	assert.deepEqual(made.routes[2].map(({ y }) => y), [220, 120]);
	assert.equal(made.routes[3], null);
});

test("edges that would cross are uncrossed", () => {
	const made = of(4, [0, 3], [1, 2]);
	const [a, b, c, d] = made.nodes.map(({ x }) => x);
	assert.equal(a < b, d < c);
	assert.deepEqual([a, b], [d, c], "straight down");
});

test("who calls only something deep is just above it", () => {
	const made = of(4, [0, 1], [1, 2], [3, 2]);
	assert.equal(made.nodes[3].y, made.nodes[1].y);
});

test("boxes never overlap, and every route begins and ends at its boxes", () => {
	let [seed, sum] = [1, 0];
	const random = (n) => ((seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff) >> 8) % n;
	const add = ({ x, y }) => (sum = (Math.imul((Math.imul(sum, 31) + x) | 0, 31) + y) >>> 0);
	for (let round = 0; round < 200; round++) {
		const n = 2 + random(30);
		const all = Array.from({ length: random(3 * n) }, () => ({ from: random(n), to: random(n) }));
		const made = layout(n, all, OPTIONS);
		for (let i = 0; i < n; i++)
			for (let k = 0; k < i; k++) if (made.nodes[i].y === made.nodes[k].y) assert.ok(Math.abs(made.nodes[i].x - made.nodes[k].x) >= 119, `${round}: ${i} and ${k}`);
		all.forEach(({ from, to }, i) => {
			if (from === to) return assert.equal(made.routes[i], null);
			assert.deepEqual([made.routes[i][0], made.routes[i].at(-1)], [made.nodes[from], made.nodes[to]]);
			return assert.notEqual(made.nodes[from].y, made.nodes[to].y);
		});
		assert.ok(made.nodes.every(({ x }) => x >= 50 && x <= made.width - 50));
		for (const point of [made.nodes, ...made.routes.filter(Boolean)].flat()) add(point);
	}
	assert.equal(sum, 274364417, "the places of strobe plot callgraph, too: tests/plot/test_layers.c");
});
