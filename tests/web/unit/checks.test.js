// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import test from "node:test";
import { changeWords, checkOf, direction, findingSentence, steps, suits } from "../../../web/src/data/checks.js";

const finding = (more) => ({ name: "f", metric: "wall", unit: "ns", change: "Degradation", from: 100, to: 130, relative: 0.3, low: 25, high: 35, p: 0.0002, q: 0.001, cause: null, samples: [{ n: 8, values: [] }, { n: 8, values: [] }], ...more });
const format = (value) => `${value} ns`;

test("kinds of changes are words, and have a direction", () => {
	assert.deepEqual(["SevereDegradation", "NotInBaseline", "NoChange", "Unknown"].map(changeWords), ["severe degradation", "not in baseline", "no change", "cannot tell"]);
	assert.deepEqual(["NotInBaseline", "TotalDegradation", "Degradation", "MaybeDegradation", "Unknown", "NoChange", "MaybeOptimization", "SevereOptimization", "NotInTarget"].map((change) => direction({ change })), [1, 1, 1, 1, 0, 0, -1, -1, -1]);
});

test("a finding has its uncertainty", () => {
	assert.equal(findingSentence(finding(), 4, format), "Degradation: 100 ns in A, 130 ns in B; +30.00 % (95 % interval +25.00 % to +35.00 %); p = 0.00020, adjusted for all functions 0.0010.");
	assert.equal(findingSentence(finding({ change: "NoChange", to: 100, relative: 0, low: null, high: null, p: null, q: null }), 4, format), "No change: 100 ns in A, 100 ns in B; 0 %.");
	assert.equal(findingSentence(finding({ change: "NotInBaseline", from: 0, relative: null, low: 1, high: 2, p: null, q: null }), 4, format), "Not in baseline: 0 ns in A, 130 ns in B.");
});

test("cannot tell is an answer, with what is missing", () => {
	assert.equal(findingSentence(finding({ change: "Unknown", cause: "too few runs" }), 4, format), "Cannot tell whether there is a change: too few runs: 4 runs of each are needed.");
	assert.equal(findingSentence(finding({ change: "Unknown", cause: "the interval is too wide" }), 4, format), "Cannot tell whether there is a change: the interval is too wide.");
	assert.equal(findingSentence(finding({ change: "Unknown" }), 0, format), "Cannot tell whether there is a change: the values do not suffice.");
});

test("one value is no distribution", () => {
	assert.deepEqual(suits(finding()), {});
	assert.deepEqual(suits(finding({ samples: [{ n: 1 }, { n: 2 }] })), {});
	assert.match(suits(finding({ samples: [{ n: 1 }, { n: 1 }] })).few, /^Each result has one value/);
	assert.match(suits(finding({ samples: [{ n: 0 }, { n: 3 }] })).few, /^Only B has this function/);
	assert.match(suits(finding({ samples: [{ n: 3 }, { n: 0 }] })).few, /^Only A has this function/);
});

test("a cumulative distribution rises from 0 to 1", () => {
	assert.deepEqual(steps([]), []);
	assert.deepEqual(steps([2, 2, 5, 7]), [[2, 0], [2, 0.25], [2, 0.25], [2, 0.5], [5, 0.5], [5, 0.75], [7, 0.75], [7, 1]]);
});

test("a comparison is found by its results", () => {
	const checks = [{ a: 0, b: 1 }, { a: 0, b: 2 }];
	assert.equal(checkOf(checks, 0, 2), checks[1]);
	assert.equal(checkOf(checks, 1, 2), null);
});
