// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import test from "node:test";
import { bytes } from "../../../web/src/data/format.js";
import { readMemory, regular, runsOf, stacked, topRows } from "../../../web/src/data/memory.js";

const ROWS = [
	{ name: "f", others: false, values: [0, 10, 4] },
	{ name: "g", others: false, values: [5, 0, 1] },
	{ name: "h", others: false, values: [1, 1, 1] },
	{ name: "(others)", others: true, values: [2, 3, 4] },
];

test("a profile without memory, without snapshots, and with both", () => {
	assert.equal(readMemory(undefined), null);
	assert.deepEqual(readMemory({ missing: "too short" }), { missing: "too short" });
	const read = readMemory({ times_ns: [1, 2, 3], rows: ROWS, addresses: { times_ns: [1, 2], rows: [], range_bytes: 64 }, left_out: 7, peak: 15, peak_after_ns: 1, peak_before_ns: 2 });
	assert.deepEqual([read.totals, read.leftOut, read.peak], [[8, 14, 10], 7, { bytes: 15, from: 1, to: 2 }]);
	assert.deepEqual(read.addresses, { missing: null, times: [1, 2], rows: [], rangeBytes: 64 });
});

test("rows without a place of their own are added up, and nothing is lost", () => {
	assert.deepEqual(topRows(ROWS, 3), ROWS);
	assert.deepEqual(topRows(ROWS, 1), [ROWS[0], { name: "(others)", others: true, values: [8, 4, 6] }]);
	assert.deepEqual(topRows(ROWS.slice(0, 2), 2), ROWS.slice(0, 2));
	assert.deepEqual(topRows([], 2), []);
});

test("stacks add up to the total", () => {
	const made = stacked(ROWS);
	assert.deepEqual(made.map(({ bottoms }) => bottoms), [[0, 0, 0], [0, 10, 4], [5, 10, 5], [6, 11, 6]]);
	assert.deepEqual(made.at(-1).tops, [8, 14, 10]);
	assert.deepEqual(stacked([]), []);
});

test("snapshots at regular distances have both ends", () => {
	assert.deepEqual(regular(3, 12), [0, 1, 2]);
	assert.deepEqual(regular(100, 12), [0, 9, 18, 27, 36, 45, 54, 63, 72, 81, 90, 99]);
	assert.deepEqual(regular(0, 12), []);
});

test("equal neighbours are one cell, and nothing is none", () => {
	assert.deepEqual(runsOf([0, 3, 3, 0, 3, 4, null]), [{ from: 1, to: 3, value: 3 }, { from: 4, to: 5, value: 3 }, { from: 5, to: 6, value: 4 }]);
	assert.deepEqual(runsOf([]), []);
});

test("bytes are written with units of 1024", () => {
	assert.deepEqual([0, 12, 9999, 10240, 1.5 * 2 ** 20, 2 ** 31, 3 * 2 ** 40, NaN].map(bytes), ["0 B", "12 B", "9,999 B", "10.0 KiB", "1.50 MiB", "2.00 GiB", "3.00 TiB", "–"]);
});
