// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import test from "node:test";
import { classText, classes, histogramText, loopListing } from "../../../web/src/data/loops.js";
import { readRun } from "../../../web/src/data/model.js";

const LOOP = { entries: 5, iterations: 33, min: 1, mean: 6.6, max: 12, histogram: [{ from: 1, entries: 1 }, { from: 8, entries: 4 }] };

test("classes that no entry is in stand between those that have some", () => {
	assert.deepEqual(classes(LOOP).map(classText), ["1: 1", "2–3: 0", "4–7: 0", "8–15: 4"]);
	assert.deepEqual(classes(LOOP).map(({ share }) => share), [0.25, 0, 0, 1]);
	assert.deepEqual(classes({ histogram: [] }), []);
	assert.equal(histogramText(LOOP), "1: 1, 8–15: 4");
});

test("loops stand at the lines of their heads", () => {
	const head = { name: "f+16", function: "f", image: "/bin/x", offset: 16, file: "/src/x.c", line: 11, loop: LOOP };
	const run = readRun({
		label: "x", result: { strobe: { tool: "contexts" } }, paths: { all_loops: [head, { ...head, function: "g" }] },
		loop_lines: [{ file: "/src/x.c", line: 12, function: "f", executions: 33 }, { file: "/src/x.c", line: 11, function: "f", executions: 34 },
			{ file: "/src/x.c", line: 11, function: "g", executions: 1 }],
		sources: { "/src/x.c": [[10, "int f(void)", "do", "\tx++;", "while (x);"]] },
	}, 0);
	const [file] = loopListing(run, run.loops[0]);
	assert.equal(file.file, "/src/x.c");
	assert.deepEqual(file.rows.map(({ line, text, entry, loops }) => [line, text, entry?.executions ?? null, loops.length]),
		[[10, "int f(void)", null, 0], [11, "do", 34, 1], [12, "\tx++;", 33, 0], [13, "while (x);", null, 0]]);
	assert.equal(file.rows[1].loops[0], head);
});

test("a result without loops has none", () => {
	assert.deepEqual(readRun({ label: "x", result: { strobe: { tool: "hot" } } }, 0).loops, []);
});
