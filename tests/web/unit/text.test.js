// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import test from "node:test";
import { compare, matcher, problemOf, sorted } from "../../../web/src/data/filter.js";
import { baseName, count, duration, hex, metric, percent, plural, short, signedCount, signedPercent } from "../../../web/src/data/format.js";
import { hotLines, listing, textOf } from "../../../web/src/data/source.js";

test("numbers", () => {
	assert.deepEqual([0, 1234567, NaN, undefined].map(count), ["0", "1,234,567", "–", "–"]);
	assert.deepEqual([999, 12345, 2.5, 5e6, 1.234e12].map(short), ["999", "12.3 k", "2.50", "5.00 M", "1.23 T"]);
	assert.deepEqual([0, 0.00001, 0.1234, 1, NaN].map(percent), ["0.00 %", "<0.01 %", "12.34 %", "100 %", "–"]);
	assert.deepEqual([0.1, -0.1, 0, 0.000001].map(signedPercent), ["+10.00 %", "−10.00 %", "0 %", "≈ 0 %"]);
	assert.deepEqual([5, -5, 0].map(signedCount), ["+5", "−5", "0"]);
	assert.deepEqual([0, 12, 1500, 2e6, 3.25e9, 1e11].map(duration), ["0 s", "12.0 ns", "1.50 µs", "2.00 ms", "3.25 s", "100 s"]);
	assert.deepEqual([hex(255), plural(1, "row"), plural(2, "row"), plural(2, "process", "processes")], ["0xff", "1 row", "2 rows", "2 processes"]);
	assert.deepEqual(["/lib/a.so", "[vdso]", "", null].map(baseName), ["a.so", "[vdso]", "", ""]);
	assert.deepEqual([metric("count").title, metric("misses").title, metric("wait_ns").title], ["calls", "misses", "wait time"]);
	assert.equal(metric("wait_ns").format(2e6), "2.00 ms");
});

test("what is typed is a part in any case, or an expression", () => {
	assert.equal(matcher("  "), null);
	assert.equal(matcher("std::Vec")("std::vector<int>"), true);
	assert.equal(matcher("a.c")("abc"), false);
	assert.equal(matcher("/^a.c$/")("abc"), true);
	assert.equal(matcher("/^a.c")("xabc"), false);
	assert.equal(matcher("/(")("("), false, "an expression that is none fits nothing");
});

test("what is unknown is sorted behind, either way", () => {
	const rows = [{ v: 2 }, { v: null }, { v: 10 }];
	assert.deepEqual(sorted(rows, (row) => row.v, false).map((row) => row.v), [2, 10, null]);
	assert.deepEqual(sorted(rows, (row) => row.v, true).map((row) => row.v), [10, 2, null]);
	assert.ok(compare("a", "b", false) < 0);
});

const SOURCES = { "/s/a.c": [[1, "one", "two", "three", "four", "five", "six", "seven"], [40, "forty"]] };

test("texts of lines", () => {
	assert.deepEqual([1, 7, 8, 40].map((line) => textOf(SOURCES, "/s/a.c", line)), ["one", "seven", null, "forty"]);
	assert.equal(textOf(SOURCES, "/s/b.c", 1), null);
});

test("the lines of a function stand in their surroundings", () => {
	const entry = (line, file = "/s/a.c", name = "f") => ({ file, line, function: name, executions: 1, instructions: 2, samples: 3 });
	const run = { sources: SOURCES, lines: [entry(40), entry(4), entry(3), entry(9, "/s/h.h"), entry(1, "/s/a.c", "other")] };
	const [own, other] = listing(run, { name: "f", file: "/s/a.c" });
	assert.equal(own.file, "/s/a.c");
	assert.deepEqual(own.rows.map((row) => (row.gap ? "gap" : `${row.line}${row.entry ? "!" : ""}`)), ["1", "2", "3!", "4!", "5", "6", "7", "gap", "40!"]);
	assert.deepEqual(other.rows.map(({ line, text }) => [line, text]), [[9, null]]);
});

test("the same line of functions with the same name is added up", () => {
	const entry = { file: "/s/a.c", line: 2, function: "f", executions: 1, instructions: 2, samples: 3 };
	const [file] = listing({ sources: {}, lines: [entry, entry] }, { name: "f", file: null });
	assert.deepEqual([file.rows.length, file.rows[0].entry.executions], [1, 2]);
});

test("all lines have their share of what the functions have", () => {
	const entry = (line, samples) => ({ file: "/a.c", function: "f", line, samples, instructions: 7 });
	const run = { shareOf: "samples", functions: [{ samples: 3, self_share: 0.3 }, { samples: 7, self_share: 0.7 }], lines: [entry(2, 5), entry(9, 0)], sources: { "/a.c": [[1, "{", "\tx++;\r"]] } };
	assert.deepEqual(hotLines(run).map(({ line, share, text }) => [line, share.toFixed(6), text]), [[2, "0.500000", "x++;"], [9, "0.000000", null]]);
	assert.equal(hotLines({ ...run, functions: [] })[0].share, 0);
});

test("an invalid expression has a reason, and a part of a name none", () => {
	assert.deepEqual(["f(", "/f/", "", "/"].map(problemOf), [null, null, null, null]);
	assert.equal(problemOf("/f(/"), "no valid expression: Unterminated group");
	assert.equal(problemOf("/[/"), "no valid expression: Unterminated character class");
});
