// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import { test } from "node:test";
import { boundsOf, captionOf, levelColour, titleOf } from "../../../web/src/data/costs.js";

const curve = (more) => ({ mode: 0, weight: null, level: null, points: [[1, 10, 8, 12], [3, 50, 48, 52]], ...more });
const panel = (more) => ({ condition: null, rest: false, modes: 1, calls: 2, points: [[1, 11, 1, 0], [4, 40, null, 0]], curves: [curve()], ...more });
const cost = (more) => ({ function: "sort", metric: "time", unit: "ns", x: "n", second: null, others: false, passed: 0.951, annotation: null, why: "few", panels: [panel()], ...more });

test("bounds of calls and of distances", () => {
	assert.deepEqual(boundsOf(cost(), 1), { x: [1, 4], y: [10, 50] });
	assert.deepEqual(boundsOf(cost(), 2), { x: [1, 4], y: [1, 1] });
});

test("titles", () => {
	assert.equal(titleOf(cost(), panel()), "time of sort");
	assert.equal(titleOf(cost(), panel({ condition: "n > 3" })), "time of sort, n > 3");
	assert.equal(titleOf(cost(), panel({ rest: true })), "time of sort, no condition holds");
});

test("colours of modes and of levels", () => {
	assert.equal(levelColour(panel({ modes: 2 }), curve({ mode: 1 }), 0), 1);
	assert.equal(levelColour(panel(), curve(), 0), 1);
	assert.equal(levelColour(panel(), curve({ level: 4 }), 2), 3);
});

test("captions", () => {
	assert.equal(captionOf(cost()), "No model: few. 95.1 % of the calls lie in the central 95 % of their prediction. 2 calls.");
	const models = [{ condition: "n > 3", probability: 0.25, distribution: "normal", mean: "3 + 2.123456789 * n", sd: "1.5" }];
	assert.equal(captionOf(cost({ annotation: { models }, why: null, passed: null, others: true, panels: [panel({ calls: 9000 })] })), "[n > 3] {0.25} normal: mean 3 + 2.1235 * n, standard deviation 1.5. Bands, where they are drawn, have 95 % of the calls. Further features have their medians. The figures have 2 of 9,000 calls.");
});
