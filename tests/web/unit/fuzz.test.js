// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import { test } from "node:test";
import { lawOf, leadOf, nameOfFinding, nothingOf, quartilesOf, readFuzz, slowdownOf, witnessesOf } from "../../../web/src/data/fuzz.js";
import { readRun } from "../../../web/src/data/model.js";

const power = { form: "power", exponent: 1.987, lo: 1.9, hi: 2.04, points: [[1, 10], [2, 40]] };
const result = {
	strobe: { version: 1, tool: "fuzz" },
	command: ["./p", "@@"],
	executions: 30, seconds: 2.5, interesting: 1, hangs: 1, faults: 0, base_work: 100, most_work: 250, hang_seconds: 10, coverage: "sum",
	findings: [
		{ kind: "slow", function: "f", image: "/bin/p", law: power, token: "[", size: 40, seed_size: 8, work: 250, seed_work: 100, seconds: 0.25, seed_seconds: 0.125, slowdown: 2, slowdown_interval: [1.5, 2.25], signal: null, rules: ["a", "b"], stack: null },
		{ kind: "hang", function: null, law: null, token: null, size: 9, seed_size: 8, work: null, seed_work: 100, seconds: null, seed_seconds: null, slowdown: null, signal: null, rules: ["a"], stack: { frames: [], missing: "x" } },
	],
	rules: [{ rule: "a", executions: 3, hits: 1 }, { rule: "b", executions: 0, hits: 0 }],
	series: [0, 1, 2, 3].map((i) => ({ seconds: i, executions: 10 * i, interesting: i, blocks: 5, most: 1 })),
};

test("a campaign is read", () => {
	const fuzz = readFuzz(result);
	assert.deepEqual(fuzz.findings.map(({ number }) => number), [1, 2]);
	assert.deepEqual(fuzz.rules.map(({ rule }) => rule), ["a"]);
	assert.equal(readFuzz({ strobe: { tool: "trace" } }), null);
	const run = readRun({ label: "x", result }, 0);
	assert.equal(run.command, "./p @@");
	assert.deepEqual(run.tables, []);
});

test("words are those of strobe fuzz", () => {
	const [slow, hang] = readFuzz(result).findings;
	assert.equal(lawOf(slow), "work ~ n^1.99 (1.90 to 2.04), n repetitions of '['");
	assert.equal(lawOf({ law: { form: "exponential", base: 1.618, lo: 1.6, hi: 1.64 }, token: "a" }), "work grows 1.62 times (1.6 to 1.64) with each repetition, n repetitions of 'a'");
	assert.equal(lawOf({ law: { form: "linear", exponent: 1, lo: 0.99, hi: 1.04 } }), "work ~ n^1.00 (0.99 to 1.04)");
	assert.equal(lawOf({ law: { form: "unknown", exponent: null } }), "the law of its growth cannot be determined");
	assert.equal(lawOf(hang), "–");
	assert.equal(nameOfFinding(slow), "slow: f (p)");
	assert.equal(nameOfFinding({ kind: "fault", signal: 6 }), "fault: signal 6");
	assert.equal(slowdownOf(slow), "2 times (1.5 to 2.25)");
	assert.equal(slowdownOf(hang), "–");
	assert.equal(leadOf(readFuzz(result)), "30 executions in 2.50 s: 1 interesting input, 1 hang, 0 faults. The program executes 100 blocks with the median seed, and 250 with the worst input (2.5 times).");
	assert.equal(nothingOf({ not_superlinear: 2, cannot_tell: 0, not_judged: 1 }), "No finding: work grew in 2 functions, but by no more than n log n; 1 input was not judged before judging ended (try a longer --judge).");
	assert.equal(nothingOf({ cannot_tell: 1 }), "No finding: the law of 1 function cannot be determined (try another --size or a longer --judge).");
	assert.equal(nothingOf({}), "No finding: no input made the program do clearly more work.");
});

test("the table of witnesses", () => {
	assert.deepEqual(witnessesOf(readFuzz(result)).map(({ input, size, time, slowdown, rules }) => [input, size, time, slowdown, rules]), [
		["seed of 1", 8, "0.125 s", "", ""],
		["witness of 1", 40, "0.25 s", "x2", "2"],
		["seed of 2", 8, "", "", ""],
		["witness of 2", 9, "did not end", "", "1"],
	]);
});

test("a hang that ends natively has a time", () => {
	const [, hang] = result.findings;
	assert.equal(witnessesOf({ findings: [{ ...hang, seconds: 2.5 }] })[1].time, "2.5 s");
});

test("quartiles", () => {
	assert.deepEqual(quartilesOf(result.series, "interesting"), [1, 2, 3]);
	assert.deepEqual(quartilesOf([], "interesting"), []);
	assert.deepEqual(quartilesOf([{ seconds: 0, interesting: 0 }], "interesting"), []);
});
