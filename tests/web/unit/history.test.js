// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import test from "node:test";
import { firstMetric, historyMetrics, levelsOf, seriesNames, shortVersion, valuesOf, verdictOf } from "../../../web/src/data/history.js";
import { readDocument } from "../../../web/src/data/model.js";

const point = (version, median, more = {}) => ({ version, profiles: 1, n: 3, median, low: null, high: null, min: median - 1, max: median + 1, ...more });
const series = (location, medians, more = {}) => ({ location, metric: "wall", unit: "ns", command: "./x", machine: 1, configuration: 1, points: medians.map((median, i) => point(i, median)), changes: [], ...more });
const change = (before, after, from, to) => ({ before, after, commits: after - before, from, to, relative: from ? (to - from) / from : null, p: 0.01 });
const names = (list) => list.map(({ name }) => name);

test("series are grouped by metric and unit, the largest change first", () => {
	const list = [series("f", [1, 1]), series("g", [10, 20], { changes: [change(0, 1, 10, 20)] }), series("h", [9, 3], { changes: [change(0, 1, 9, 3)] }), series("z", [0, 3], { changes: [change(0, 1, 0, 3)] }), series("f", [7], { metric: "calls", unit: "" })];
	const metrics = historyMetrics({ series: list });
	assert.deepEqual(metrics.map(({ title, series: of }) => [title, names(of)]), [
		["wall in ns", ["z", "g", "h", "f"]],
		["calls", ["f"]],
	]);
	assert.deepEqual(metrics[0].series.map(({ index }) => index), [3, 1, 2, 0]);
});

test("the metric that is shown first has values", () => {
	const of = (...pairs) => firstMetric(historyMetrics({ series: pairs.map(([metric, medians]) => series("f", medians, { metric, unit: "", points: medians.map((median, i) => point(i, median, { min: median, max: median })) })) })).metric;
	assert.equal(of(["samples", [0, 0]], ["calls", [1, 1]], ["instructions", [103, 103]]), "instructions");
	assert.equal(of(["samples", [0, 2]], ["calls", [1, 1]], ["instructions", [103, 103]]), "samples");
	assert.equal(of(["samples", [0, 0]], ["calls", [1, 1]], ["instructions", [0, 0]]), "calls");
	assert.equal(of(["samples", [0, 0]], ["calls", [0]]), "samples");
	assert.equal(of(["change", [-1, -1]], ["instructions", [5, 5]]), "change");
});

test("a series is named by what tells it from others", () => {
	assert.deepEqual(seriesNames([series("f", [1])]), ["f"]);
	assert.deepEqual(seriesNames([series("f", [1]), series("g", [1])]), ["f", "g"]);
	assert.deepEqual(seriesNames([series("f", [1]), series("f", [1], { command: "./y" })]), ["./x", "./y"]);
	assert.deepEqual(seriesNames([series("f", [1]), series("g", [1], { command: "./y" })]), ["f", "g"]);
	assert.deepEqual(seriesNames([series("f", [1]), series("f", [1], { command: "./y" }), series("g", [1])]), ["f, ./x", "f, ./y", "g, ./x"]);
	assert.deepEqual(seriesNames([series("f", [1]), series("f", [1], { machine: 2 })]), ["machine 1", "machine 2"]);
	const time = { collector: "time", labels: "" };
	assert.deepEqual(seriesNames([series("f", [1], time), series("f", [1], { collector: "perf", labels: "command sleep 1" })]), ["f", "f (command sleep 1)"]);
	assert.deepEqual(seriesNames([series("f", [1], { workload: "" }), series("f", [1], { workload: "large" })]), ["no workload", "workload large"]);
});

test("levels reach from one change to the next", () => {
	assert.deepEqual(levelsOf(series("f", [1, 1, 1])), []);
	const two = series("f", [5, 5, 9, 9, 9, 2, 2], { changes: [change(1, 2, 5, 9), change(4, 5, 9, 2)] });
	assert.deepEqual(levelsOf(two), [{ from: 0, to: 1, level: 5 }, { from: 2, to: 4, level: 9 }, { from: 5, to: 6, level: 2 }]);
});

test("few versions are no answer, and no change is one", () => {
	assert.equal(verdictOf(series("f", [1]), 7), "Cannot tell whether there is a change: only 1 version has a profile, and 7 are needed.");
	assert.equal(verdictOf(series("f", [1, 1, 1, 1, 1, 1]), 7), "Cannot tell whether there is a change: only 6 versions have profiles, and 7 are needed.");
	assert.equal(verdictOf(series("f", [1, 1, 1, 1, 1, 1, 1]), 7), "No change in 7 versions.");
	assert.equal(verdictOf(series("f", [1, 1, 1, 1, 9, 9, 9], { changes: [change(3, 4, 1, 9)] }), 7), "1 change in 7 versions.");
});

test("the axis begins at 0 unless all values are near each other", () => {
	assert.deepEqual(valuesOf([series("f", [10])]), [10, 9, 11]);
	assert.deepEqual(valuesOf([series("f", [10, 30])]), [0, 10, 9, 11, 30, 29, 31]);
	assert.deepEqual(valuesOf([series("f", [-10, 30])])[0], -10);
	assert.deepEqual(valuesOf([{ points: [point(0, 10, { low: 9.5, high: 10.5 })] }]), [10, 9.5, 10.5, 9, 11]);
});

test("a version is ten digits of its commit", () => {
	assert.equal(shortVersion({ name: "0123456789abcdef" }), "0123456789");
	assert.equal(shortVersion({ name: "12" }), "12");
});

test("a page may have histories without a result", () => {
	const histories = [{ name: "f", series: [] }, { name: "g", series: [] }];
	const [run, ...more] = readDocument(JSON.stringify({ strobe: { version: 1, report: 1 }, results: [], histories }));
	assert.deepEqual([run.label, run.empty, run.histories, more], ["history of f, g", true, histories, []]);
	const both = readDocument(JSON.stringify({ strobe: { version: 1, report: 1 }, results: [{ label: "a", result: { strobe: { tool: "hot" } } }], histories }));
	assert.deepEqual(both.map(({ label, empty, histories: of }) => [label, empty, of]), [["a", undefined, histories]]);
	const none = readDocument(JSON.stringify({ strobe: { version: 1, report: 1 }, results: [{ label: "a", result: { strobe: { tool: "hot" } } }] }));
	assert.deepEqual(none[0].histories, []);
});
