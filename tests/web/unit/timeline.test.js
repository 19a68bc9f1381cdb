// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import test from "node:test";
import { eachShape, emptyBecause, firstFrom, moved, notesOf, readTimeline, sliceAt, spanText, within, zoomed } from "../../../web/src/data/timeline.js";

// From 100 to 150, 150 to 151, 200 to 210, of functions 0, 1 and several, the last of 5 calls.
const ROW = [100, 50, 0, 1, 0, 1, 1, 1, 49, 10, -1, 5];
const read = (more) => readTimeline({ calls: 7, merged_calls: 0, too_deep: 0, lanes: [{ pid: 1, tid: 2, name: "x", rows: [ROW] }], ...more });
const [row] = read().lanes[0].rows;

test("rows are read", () => {
	const [lane] = read().lanes;
	assert.deepEqual([lane.name, lane.pid, lane.tid], ["x 2", 1, 2]);
	assert.deepEqual([...row.begin], [100, 150, 200]);
	assert.deepEqual([...row.end], [150, 151, 210]);
	assert.deepEqual([...row.of], [0, 1, -1]);
	assert.deepEqual([...row.calls], [1, 1, 5]);
	assert.equal(readTimeline(undefined), null);
});

test("the lanes of a process are together, in the order in which they began", () => {
	const lane = (pid, tid, begin) => ({ pid, tid, name: "x", rows: [[begin, 5, 0, 1]] });
	const names = (...lanes) => readTimeline({ lanes }).lanes.map(({ name }) => name);
	assert.deepEqual(names(lane(2, 2, 50), lane(2, 4, 70), lane(1, 3, 60), lane(1, 1, 10)), ["x 1", "x 3 of 1", "x 2", "x 4 of 2"]);
	assert.deepEqual(names(lane(1, 3, 60), lane(1, 1, 10), { pid: 1, tid: 9, name: "x", rows: [] }), ["x 1", "x 3"]);
});

test("a slice is found by its time", () => {
	assert.deepEqual([0, 100, 150, 150.5, 160, 205, 211].map((ns) => sliceAt(row, ns, 0)), [-1, 0, 0, 1, -1, 2, -1]);
	assert.deepEqual([90, 155, 195, 215].map((ns) => sliceAt(row, ns, 5)), [-1, 1, 2, 2]);
	assert.equal(sliceAt({ ...row, n: 0 }, 5, 5), -1);
	assert.deepEqual([0, 150, 151, 152, 300].map((ns) => firstFrom(row, ns)), [0, 0, 1, 2, 3]);
});

test("what is drawn is in sight, and once for each pixel", () => {
	const shapes = (view, pixels) => {
		const made = [];
		eachShape(row, view, pixels, (...shape) => made.push(shape));
		return made;
	};
	assert.deepEqual(shapes({ from: 100, to: 300 }, 400), [[0, 100, 0], [100, 2, 1], [200, 20, 2]]);
	assert.deepEqual(shapes({ from: 120, to: 150 }, 30), [[0, 30, 0]], "less than a pixel of the next one is in sight");
	assert.deepEqual(shapes({ from: 0, to: 1000 }, 10), [[1, 1, 0], [2, 1, 2]]);
	const many = readTimeline({ lanes: [{ rows: [Array.from({ length: 100000 }, () => [1, 1, 0, 1]).flat()] }] }).lanes[0].rows[0];
	let n = 0;
	eachShape(many, { from: 0, to: 200000 }, 800, () => n++);
	assert.equal(n, 800);
});

test("the view stays inside of the whole", () => {
	const whole = { from: 1000, to: 2000 };
	assert.deepEqual(zoomed(whole, whole, 0.5, 1250), { from: 1125, to: 1625 });
	assert.deepEqual(zoomed(whole, { from: 1125, to: 1625 }, 4, 1250), whole);
	assert.deepEqual(zoomed(whole, whole, 0.000001, 1000), { from: 1000, to: 1020 });
	assert.deepEqual(moved(whole, { from: 1100, to: 1200 }, 50), { from: 1150, to: 1250 });
	assert.deepEqual(moved(whole, { from: 1100, to: 1200 }, -500), { from: 1000, to: 1100 });
	assert.deepEqual(within(whole, 1990, 1992), { from: 1980, to: 2000 });
	assert.deepEqual(within({ from: 5, to: 6 }, 5, 6), { from: 5, to: 6 });
});

test("a timeline says what it does not show", () => {
	assert.deepEqual(notesOf(read()), []);
	assert.deepEqual(notesOf(read({ calls: 500000, merged_calls: 480000, merged_slices: 20000, width_ns: 8192, too_deep: 1, damage: "the file ends too early" })), [
		"480,000 of 500,000 calls, none of them longer than 8.19 µs, are merged with their neighbours into 20,000 slices. To see each call, record fewer of them: strobe trace --events with --depth or --funcs.",
		"1 call nested more than 250 levels deep is left out.",
		"The end of the recording is missing: the file ends too early.",
	]);
	assert.equal(emptyBecause(read()), null);
	assert.equal(emptyBecause(read({ lanes: [] })), "No call was recorded.");
	assert.equal(emptyBecause(readTimeline({ missing: "cannot read x" })), "The entries and returns were recorded, but they could not be read when this page was made: cannot read x.");
	assert.equal(emptyBecause(read({ lanes: [], too_many: true })),
		"The recording is too large for this page: 7 calls in too many threads or on too many levels. Record fewer: strobe trace --events with --depth or --funcs. strobe trace --from FILE --format timeline writes all of them for Perfetto.");
	assert.equal(spanText({ from: 170413259, to: 170513259 }), "170.4133 ms to 170.5133 ms");
	assert.equal(spanText({ from: 0, to: 250800000 }), "0.0 ms to 250.8 ms");
	assert.equal(spanText({ from: 1e9, to: 21e9 }), "1.00 s to 21.00 s");
	assert.equal(spanText({ from: 100, to: 350 }), "100 ns to 350 ns");
});
