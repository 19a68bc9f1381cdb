// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import test from "node:test";
import { barsOf, featuresOf, flowOf, formatOf, locationOf, metricsOf, pointsOf, SEQUENCE } from "../../../web/src/data/measurements.js";

const SERIES = [
	{ metric: "mem", unit: "B", function: "f", values: [10, 30, null, 2], features: { size: [1, 2, 3, 1], snapshot: [1, 2, 2, null] } },
	{ metric: "mem", unit: "B", function: "g", values: [5, 7], features: { size: [1, 3] } },
	{ metric: "wall", unit: "ms", image: "/bin/x", labels: { workload: "w" }, values: [1], features: {} },
];

test("series of a metric and unit stand together", () => {
	const metrics = metricsOf(SERIES);
	assert.deepEqual(metrics.map(({ title, series }) => [title, series.map(({ index, location }) => [index, location])]), [
		["mem in B", [[0, "f"], [1, "g"]]],
		["wall in ms", [[2, "x (workload w)"]]],
	]);
	assert.equal(locationOf({ metric: "m" }), "m");
});

test("points are the values that have both", () => {
	assert.deepEqual(pointsOf(SERIES[0], "size"), [{ x: 1, y: 10 }, { x: 2, y: 30 }, { x: 1, y: 2 }]);
	assert.deepEqual(pointsOf(SERIES[0], SEQUENCE).map(({ x }) => x), [1, 2, 4]);
	assert.deepEqual(pointsOf(SERIES[1], "snapshot"), []);
	assert.deepEqual(featuresOf(SERIES), ["size", "snapshot", SEQUENCE]);
});

test("what is accumulated is the prefix sum", () => {
	const rows = flowOf(pointsOf(SERIES[0], "size"));
	assert.deepEqual(rows, [{ x: 1, n: 2, sum: 12, mean: 6, all: 12 }, { x: 2, n: 1, sum: 30, mean: 30, all: 42 }]);
	assert.deepEqual(flowOf([]), []);
});

test("the bars' sum is that of the amounts, for each x and of all", () => {
	const [{ series }] = metricsOf(SERIES);
	for (const most of [5, 1]) {
		const { xs, rows, totals } = barsOf(series, "size", most);
		assert.deepEqual([xs, totals], [[1, 2, 3], [17, 30, 7]]);
		assert.equal(rows.reduce((sum, row) => sum + row.all, 0), 54);
	}
	assert.deepEqual(barsOf(series, "size", 1).rows.map(({ location, sums }) => [location, sums]), [["f", [12, 30, 0]], ["1 others", [5, 0, 7]]]);
});

test("values are written in their unit", () => {
	assert.deepEqual([formatOf("ms")(1.5), formatOf("B")(12), formatOf("")(3)], ["1.50 ms", "12 B", "3"]);
});
