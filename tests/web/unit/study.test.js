// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import test from "node:test";
import { readRun } from "../../../web/src/data/model.js";
import { average, box, cells, geometricAverage, quantile } from "../../../web/src/data/study.js";
import { ticks } from "../../../web/src/parts/figure.js";

test("quantiles lie between neighbours in proportion", () => {
	assert.deepEqual([0, 0.25, 0.5, 0.75, 1].map((p) => quantile([1, 2, 3, 10], p)), [1, 1.75, 2.5, 4.75, 10]);
	assert.equal(quantile([7], 0.25), 7);
});

test("a box ends at the last value within one and a half times its height", () => {
	assert.deepEqual(box([6, 1, 2, 3, 4, 5, 100, null, NaN]), { n: 7, least: 1, low: 1, q1: 2.5, median: 4, q3: 5.5, high: 6, most: 100, outliers: [100] });
	assert.deepEqual(box([3, 3]), { n: 2, least: 3, low: 3, q1: 3, median: 3, q3: 3, high: 3, most: 3, outliers: [] });
	assert.equal(box([NaN]), null);
});

test("means have their standard error", () => {
	assert.deepEqual(average([1, 3]), { mean: 2, low: 1, high: 3 });
	assert.deepEqual(average([5]), { mean: 5, low: null, high: null });
	const factor = geometricAverage([1, 4]);
	assert.ok(Math.abs(factor.mean - 2) < 1e-12 && Math.abs(factor.low - 1) < 1e-12 && Math.abs(factor.high - 4) < 1e-12);
});

test("runs are grouped by budget and period, in whole repetitions only", () => {
	const run = (repetition, budget, period, value) => ({ repetition, budget, period, raw_coverage: value });
	const study = { strobe: { version: 1, study: 1 }, tool: "calls", budgets: [0.1, 0.5], periods: [1], programs: [{ command: ["a", "b c"] }],
		runs: [run(0, 0.1, 1, 3), run(0, 0.5, 1, 4), run(1, 0.1, 1, 5)], analysis: { repetitions: 1 } };
	assert.deepEqual(cells(study, "raw_coverage"), [{ budget: 0.1, groups: [{ period: 1, values: [3] }] }, { budget: 0.5, groups: [{ period: 1, values: [4] }] }]);
	const read = readRun({ label: "s.json", result: study }, 0);
	assert.deepEqual([read.study, read.tool, read.command], [study, "calls", "a 'b c'"]);
});

test("axes have round numbers", () => {
	assert.deepEqual(ticks(0.93, 1.42), [1, 1.1, 1.2, 1.3, 1.4]);
	assert.deepEqual(ticks(-3, 112), [0, 20, 40, 60, 80, 100]);
});
