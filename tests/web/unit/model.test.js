// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import test from "node:test";
import { findFunction, readDocument } from "../../../web/src/data/model.js";
import { cellText, cellValue } from "../../../web/src/data/tables.js";

const strobe = { version: 1, report: 1 };
const document_ = (result, more = {}) => JSON.stringify({ strobe, results: [{ label: "x.db", result: { strobe: { version: 1, tool: "hot" }, ...result }, ...more }] });
const read = (result, more) => readDocument(document_(result, more))[0];

test("data of another version are refused", () => {
	assert.throws(() => readDocument(JSON.stringify({ strobe: { version: 1, report: 2 }, results: [] })), /version 2/);
});

test("a result with next to nothing is a run", () => {
	const run = read({});
	assert.deepEqual([run.functions, run.paths, run.tables, run.command], [[], null, [], ""]);
});

test("the command can be pasted into a shell", () => {
	assert.equal(read({ run: { command: ["sort", "a b", "it's", "-n"] } }).command, "sort 'a b' 'it'\\''s' -n");
});

test("threads with trees are paths, others are threads", () => {
	const run = read({ k: 2, mode: "func", threads: [{ thread: 1, ksf: [], kccf: [] }, { tid: 7, name: "a" }] });
	assert.deepEqual(run.paths, { mode: "func", k: 2, callers: null, sampled: false, allocations: false, threads: [{ name: "thread 1", ksf: [], kccf: [] }] });
	assert.equal(read({ k: "inf", k_kccf: 6, threads: [{ thread: 1, ksf: [], kccf: [] }] }).paths.callers, 6);
	assert.deepEqual(run.threads.map(({ tid }) => tid), [7]);
});

test("contexts of a profile stand beside its result, whose functions may be a number", () => {
	const run = read({ threads: [{ tid: 7, name: "a" }], functions: 3 }, { paths: { k: "inf", mode: "func", threads: [{ thread: 1, tid: 7, comm: "a", ksf: [] }] } });
	assert.deepEqual([run.paths.threads, run.functions], [[{ name: "a 7", ksf: [], kccf: [] }], []]);
});

test("stacks of samples are told apart from counted contexts", () => {
	const threads = [{ thread: 1, ksf: [], kccf: [] }];
	assert.equal(read({ k: "inf", counted: "samples", threads }).paths.sampled, true);
	assert.equal(read({ k: "inf", threads }).paths.sampled, false);
});

test("paths inside functions have a node for each function", () => {
	const block = { name: "f+0", count: 2, children: [] };
	const run = read({ mode: "intra", threads: [{ thread: 1, joined: true, functions: [{ name: "f", image: "/a", offset: 4, id: 7, ksf: [block] }, { name: "g", ksf: [] }] }] });
	assert.deepEqual(run.paths.threads, [{ name: "all threads", ksf: [{ name: "f", image: "/a", offset: 4, id: 7, count: 0, children: [block] }], kccf: [] }]);
});

test("of functions with one name the image says which", () => {
	const run = read({ functions: [{ name: "f", image: "/a" }, { name: "f", image: "/b" }] });
	assert.equal(findFunction(run, "f", "/b").image, "/b");
	assert.equal(findFunction(run, "f", "/c").image, "/a");
	assert.equal(findFunction(run, "g"), null);
});

test("a table whose name is a key of the report has its tool's name before it", () => {
	const described = [{ tool: "mine", name: "threads", help: "", columns: [] }, { tool: "mine", name: "pairs", help: "", columns: [] }];
	const run = read({ threads: [{ tid: 1 }], mine_threads: [{ n: 1 }, { n: 2 }], pairs: [{ n: 3 }] }, { tables: described });
	assert.deepEqual(run.tables.map(({ rows }) => rows.length), [2, 1]);
});

test("tables of a result that is only JSON are found by their rows", () => {
	const run = read({ functions: [{ name: "f" }], pairs: [{ caller: "f", count: 3 }], blocks: 5 });
	assert.deepEqual(run.tables.map(({ name, columns }) => [name, columns.map((column) => column.type)]), [["pairs", ["text", "number"]]]);
});

test("cells are written as their type asks", () => {
	const row = { at: 256, at_image: "/lib/a.so", at_function: "f", to: null, to_image: "/lib/a.so", to_offset: 32, n: 12345, t: 1500000, where_file: "/src/a.c", where_line: 7, kind: "call" };
	const text = (name, type) => cellText(row, { name, type });
	assert.equal(text("at", "address"), "f 0x100 [a.so]");
	assert.equal(text("to", "function"), "0x20 [a.so]");
	assert.equal(text("n", "number"), "12,345");
	assert.equal(text("t", "ns"), "1.50 ms");
	assert.equal(text("where", "line"), "a.c:7");
	assert.equal(text("kind", "text"), "call");
	assert.equal(cellText({ others: true, kind: null }, { name: "kind", type: "text" }), "(all others)");
	assert.equal(cellValue(row, { name: "n", type: "number" }), 12345);
});
