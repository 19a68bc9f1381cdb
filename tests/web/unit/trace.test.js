// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import test from "node:test";
import { barsOf, findTraced, logAxis, mostOf, readTrace } from "../../../web/src/data/trace.js";

const row = (name, more) => ({ name, image: "/bin/x", calls: 2, lost: 1, exclusive_ns: 30, ...more });

test("functions know their callers and callees", () => {
	const trace = readTrace({
		functions: [row("f"), row("g", { exclusive_ns: 10 })],
		pairs: [
			{ caller: null, callee: "f", caller_index: null, callee_index: 0, calls: 2, outermost_ns: 9, inclusive_ns: 9 },
			{ caller: "f", callee: "g", caller_index: 0, callee_index: 1, calls: 3, outermost_ns: 4, inclusive_ns: 5 },
			{ caller: "g", callee: "cut off", caller_index: 1, callee_index: 2, calls: 1, outermost_ns: 1, inclusive_ns: 1 },
		],
	});
	const [f, g] = trace.functions;
	assert.deepEqual(f.callers, [{ other: null, calls: 2, outermost_ns: 9, inclusive_ns: 9 }]);
	assert.equal(f.callees[0].other, g);
	assert.equal(g.callers[0].other, f);
	assert.equal(g.callees[0].other, "cut off");
	assert.deepEqual([f.all, f.share, g.share], [3, 0.75, 0.25]);
	assert.equal(readTrace(null), null);
});

test("of functions with one name that of the image is found", () => {
	const trace = readTrace({ functions: [row("f"), row("f", { image: "/bin/y" }), row("a/b")] });
	assert.equal(findTraced(trace, "a/b//bin/x"), trace.functions[2]);
	assert.equal(findTraced(trace, "f//bin/y"), trace.functions[1]);
	assert.equal(findTraced(trace, "f"), trace.functions[0]);
	assert.equal(findTraced(trace, "h//bin/x"), null);
});

test("bars hold all calls, and there are no more than can be seen", () => {
	assert.deepEqual(barsOf({ histogram: [0, 1, 64, 5, 66, 2, 68, 1] }), [{ from: 0, to: 1, calls: 1 }, { from: 64, to: 68, calls: 7 }, { from: 68, to: 72, calls: 1 }]);
	const many = [];
	for (let ns = 1; ns < 1e10; ns = Math.max(ns + 1, Math.floor(ns * 1.03))) many.push(ns, 3);
	const bars = barsOf({ histogram: many });
	assert.ok(bars.length <= 96 && bars.length > 40, String(bars.length));
	assert.equal(bars.reduce((sum, { calls }) => sum + calls, 0), (many.length / 2) * 3);
	assert.ok(bars.every(({ from, to }, i) => from < to && (!i || from >= bars[i - 1].to)));
	assert.deepEqual(barsOf({}), []);
});

test("the axis is logarithmic", () => {
	const { share, marks } = logAxis([{ from: 1, to: 2, calls: 1 }, { from: 8192, to: 10000, calls: 1 }]);
	assert.deepEqual([1, 100, 10000, 0, 1e9].map(share).map((each) => Number(each.toFixed(9))), [0, 0.5, 1, 0, 1]);
	assert.deepEqual(marks, [1, 10, 100, 1000, 10000]);
	assert.deepEqual(logAxis([{ from: 64, to: 68, calls: 1 }]).marks, [70, 100]);
});

test("functions know what was sampled and dropped of them", () => {
	const of = { image: "/bin/x", offset: 16 };
	const trace = readTrace({
		functions: [row("f", { ...of, resolved: false }), row("g", { ...of, dropped: true, resolved: true }), row("f", { ...of, offset: 32, resolved: true })],
		probe: { ns: 30, error_ns: 1, between_ns: 12 },
		sampled: [{ name: "f", ...of, calls: 3, timed: 2, steps: [{ at_ns: 5, every: 2 }, { at_ns: 7, every: 9 }, { at_ns: 9, every: 3 }] }, { name: "cut off", ...of, steps: [] }],
		dropped: [{ name: "g", ...of, at_ns: 11 }],
	});
	assert.deepEqual(trace.functions.map(({ marks, every, sampledAt, droppedAt }) => [marks, every, sampledAt, droppedAt]), [[" *", 9, 5, undefined], [" +", undefined, undefined, 11], ["", undefined, undefined, undefined]]);
	assert.equal(trace.least, 13);
	assert.equal(mostOf(trace.sampled[1]), 1);
	assert.deepEqual([readTrace({}).sampled, readTrace({}).budget, readTrace({}).least], [[], null, null]);
});
