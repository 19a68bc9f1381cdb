// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import test from "node:test";
import { middle } from "../../../web/src/data/format.js";
import { hasStartup, partOf, processChoices } from "../../../web/src/data/part.js";
import { byFunction, grouped, withoutArguments, withoutRecursion, withoutTemplates } from "../../../web/src/data/shape.js";
import { nodes } from "../../../web/src/data/trees.js";
import { readAddress, writeAddress } from "../../../web/src/parts/link.js";

const node = (name, count, children = [], more = {}) => ({ name, image: "/bin/app", count, children, ...more });
const loader = { image: "/lib64/ld-linux-x86-64.so.2" };
const sum = (trees) => [...nodes(trees)].reduce((all, each) => all + each.count, 0);
const names = (trees) => [...nodes(trees)].map(({ name, count }) => `${name} ${count}`);

function run() {
	const functions = ["f", "g", "do_lookup_x"].map((name, rank) => ({ name, rank, image: rank < 2 ? "/bin/app" : loader.image, calls: 9, instructions: 100, self_share: 1 / 3, total_share: null }));
	return {
		index: 0,
		result: { instructions: 300, blocks: 9, samples: { program: 33, kernel: 9, engine: 9, stacks: 33, hz: 250 } },
		functions,
		images: [{ path: "/bin/app", samples: 33, instructions: 200, blocks: 6 }, { path: loader.image, samples: 0, instructions: 100, blocks: 3 }, { path: "/lib/unused.so", samples: 0, instructions: 0, blocks: 0 }],
		loops: [1],
		loopLines: [1],
		memory: {},
		lines: [{ function: "f" }, { function: "do_lookup_x" }],
		blocks: [1],
		code: { x: 1 },
		tables: [1],
		shareOf: "instructions",
		processes: [{ pid: 7, command: "/bin/sh" }, { pid: 7, command: "/bin/app" }, { pid: 8, command: "/bin/app" }, { pid: 9, command: "/bin/idle" }],
		shares: [
			{ pid: 7, instructions: 150, samples: 3, kernel: 4, engine: 1, stacks: 3, functions: [[0, 4, 100, 2, 3], [1, 1, 50, 1, 1]] },
			{ pid: 7, instructions: 50, samples: 30, kernel: 5, engine: 2, stacks: 30, functions: [[0, 1, 50, 30, 30]] },
			{ pid: 8, instructions: 100, samples: 0, kernel: 0, engine: 6, stacks: 0, functions: [[1, 2, 25, 0, 0], [2, 3, 75, 0, 0]] },
		],
		threads: [{ pid: 7 }, { pid: 8 }],
		paths: { sampled: true, threads: [{ name: "app 7", pid: 7, ksf: [node("f", 2, [node("g", 1)])], kccf: [node("f", 2)] }, { name: "app 8", pid: 8, ksf: [node("_dl_start", 1, [node("do_lookup_x", 4, [], loader)], loader), node("g", 5)], kccf: [node("g", 5)] }] },
	};
}

test("processes are chosen by ID and by program", () => {
	assert.deepEqual(processChoices(run()), [["", "all 2"], ["=app", "app, 2 processes"], ["7", "7 sh, then app"], ["8", "8 app"]]);
	assert.deepEqual(processChoices({ ...run(), shares: [], paths: null }), []);
});

test("a process has its own sums and percentages", () => {
	const eight = partOf(run(), { process: "8" });
	assert.deepEqual(eight.functions.map(({ name, calls, instructions, self_share: self }) => [name, calls, instructions, self]), [["do_lookup_x", 3, 75, 0.75], ["g", 2, 25, 0.25]]);
	assert.equal(eight.shareOf, "instructions");
	assert.deepEqual([eight.lines, eight.blocks, eight.tables, eight.loops, eight.loopLines, eight.memory, eight.threads], [[], [], [], [], [], null, [{ pid: 8 }]]);
	assert.deepEqual(eight.images.map(({ path, samples, instructions, blocks }) => [path, samples, instructions, blocks]), [["/bin/app", 0, 25, undefined], [loader.image, 0, 75, undefined]]);
	assert.deepEqual(eight.paths.threads.map(({ name }) => name), ["app 8"]);
	const seven = partOf(run(), { process: "7" });
	assert.equal(seven.shareOf, "samples", "33 are enough");
	assert.deepEqual(seven.result, { instructions: 200, blocks: null, samples: { program: 33, kernel: 9, engine: 3, stacks: 33, hz: 250, waiting_ns: undefined, on_cpu_ns: undefined } });
	assert.deepEqual(seven.chosen.map(({ pid, command }) => `${pid} ${command}`), ["7 /bin/sh", "7 /bin/app"]);
	assert.deepEqual(seven.functions.map(({ name, self_share: self, total_share: total }) => [name, self, total]), [["f", 32 / 33, 1], ["g", 1 / 33, 1 / 33]]);
	const uncounted = run();
	uncounted.shares[2] = { ...uncounted.shares[2], instructions: 0, samples: 2, functions: [[1, 0, 0, 2, 2]] };
	assert.deepEqual([partOf(uncounted, { process: "8" })].map(({ shareOf, functions }) => [shareOf, functions.map((row) => row.self_share)]), [["samples", [1]]]);
	assert.equal(partOf({ ...run(), shares: [] }, { process: "8" }).images.length, 3, "nothing is known of them");
	const both = partOf(run(), { process: "=app" });
	assert.equal(both.functions.reduce((all, { instructions }) => all + instructions, 0), 300);
	assert.equal(partOf(run(), { process: "8" }).whole.functions.length, 3);
	const whole = run();
	assert.equal(partOf(whole, {}), whole);
});

test("start-up is hidden: stacks that begin in the linker, and its functions", () => {
	assert.ok(hasStartup(run()));
	const part = partOf(run(), { startup: false });
	assert.deepEqual(part.paths.threads.map(({ ksf }) => names(ksf)), [["f 2", "g 1"], ["g 5"]]);
	assert.deepEqual(part.paths.threads.map(({ kccf }) => names(kccf)), [["f 2", "g 1", "f 1"], ["g 5"]]);
	assert.deepEqual(part.functions.map(({ name, self_share: self }) => [name, self.toFixed(12)]), [["f", "0.500000000000"], ["g", "0.500000000000"]]);
	assert.deepEqual(part.lines, [{ function: "f" }]);
	const unknown = run();
	unknown.paths.threads[1].ksf = [{ name: "__unknown__", count: 1, children: [...unknown.paths.threads[1].ksf] }];
	assert.deepEqual(partOf(unknown, { startup: false }).paths.threads.map(({ ksf }) => names(ksf)), [["f 2", "g 1"], ["__unknown__ 1", "g 5"]], "nobody calls the first function");
	const lazy = run();
	lazy.paths.threads[0].ksf[0].children.push(node("do_lookup_x", 1, [], loader));
	assert.deepEqual(partOf(lazy, { startup: false }).functions.map(({ name }) => name), ["f", "g", "do_lookup_x"], "another stack has it");
	const timed = run();
	timed.shareOf = "samples"; // 13 in all, of which 5 are hidden: 4 in do_lookup_x, and 1 in f
	timed.paths.threads[1].ksf[0] = node("_dl_start", 0, [node("do_lookup_x", 4, [node("f", 1)], loader)], loader);
	timed.functions = [["f", 3, 4], ["g", 6, 6], ["do_lookup_x", 4, 5]].map(([name, self, total], rank) => ({ ...timed.functions[rank], name, self_share: self / 13, total_share: total / 13 }));
	assert.deepEqual(partOf(timed, { startup: false }).functions.map(({ name, self_share: self, total_share: total }) => [name, self.toFixed(6), total.toFixed(6)]), [["f", "0.250000", "0.375000"], ["g", "0.750000", "0.750000"]]);
	const { samples } = partOf(timed, { startup: false }).result;
	assert.deepEqual([samples.program, samples.stacks, samples.waiting_ns], [28, 28, undefined]);
	timed.functions.length = 1; // a page with the first function only: its share is the same
	assert.equal(partOf(timed, { startup: false }).functions[0].self_share.toFixed(6), "0.250000");
	assert.equal(hasStartup({ ...run(), functions: [], paths: null }), false);
});

test("recursion becomes one frame, and no sum changes", () => {
	const trees = [node("f", 1, [node("f", 2, [node("g", 3), node("f", 4, [node("g", 5)])]), node("h", 6, [node("f", 7)])])];
	const made = withoutRecursion(trees);
	assert.deepEqual(names(made), ["f 7", "h 6", "f 7", "g 8"]);
	assert.equal(sum(made), sum(trees));
	assert.equal(trees[0].count, 1, "the trees of the page are left as they are");
	const deep = Array.from({ length: 50000 }).reduce((inner) => node("f", 1, inner ? [inner] : []), null);
	assert.deepEqual(names(withoutRecursion([deep])), ["f 50000"]);
	assert.deepEqual(withoutRecursion([]), []);
});

test("template arguments are left out, operators are not", () => {
	for (const [name, short] of [
		["std::vector<int, std::allocator<int> >::at(unsigned long)", "std::vector<…>::at(unsigned long)"],
		["f<A<B>>(C<D>, int)", "f<…>(C<…>, int)"],
		["std::operator<< <std::char_traits<char> >(std::ostream&)", "std::operator<< <…>(std::ostream&)"],
		["bool operator< <int>(A<int> const&)", "bool operator< <…>(A<…> const&)"],
		["P<int>::operator->()", "P<…>::operator->()"],
		["g<&(h->x)>()", "g<…>()"],
		["<unknown>", "<unknown>"],
		["a<b", "a<b"],
		["main", "main"],
	])
		assert.equal(withoutArguments(name), short);
	const made = withoutTemplates([node("f<int>", 1, [node("g", 2)], { offset: 1 }), node("f<long>", 3, [node("g", 4)], { offset: 9 })]);
	assert.deepEqual(names(made), ["f<…> 4", "g 6"]);
	assert.equal(made[0].offset, undefined);
});

test("groups have the sums of the functions", () => {
	const { threads } = run().paths;
	const all = threads.flatMap(({ ksf }) => ksf);
	assert.deepEqual(grouped(threads, "thread").map(({ name, children }) => [name, sum(children)]), [["app 7", 3], ["app 8", 10]]);
	assert.deepEqual(grouped(threads, "process", run().processes).map(({ name }) => name), ["process 7 sh app", "process 8 app"]);
	assert.deepEqual(names(grouped(threads, "image")), ["app 8", "ld-linux-x86-64.so.2 5"]);
	for (const by of ["", "image", "thread", "process"]) assert.equal(sum(grouped(threads, by)), sum(all), by);
	assert.equal(grouped(threads.slice(0, 1), "image").length, 1, "calls within one image are one frame");
	assert.deepEqual(grouped([], "thread"), []);
});

test("names are cut in the middle", () => {
	for (const [name, most, cut] of [["abcdefgh", 8, "abcdefgh"], ["abcdefghi", 8, "abcd…ghi"], ["abcdefghi", 4, "ab…i"], ["abcdef", 3, "abc"], ["abcdef", 0, ""], ["abcdef", -3, ""]]) assert.equal(middle(name, most), cut);
});

test("addresses are read as they were written", () => {
	const address = readAddress("#flame/std%3A%3Afind/x?thread=2&search=%2Fa%26b%3D%2F");
	assert.deepEqual([address.id, address.argument, [...address.values]], ["flame", "std::find/x", [["thread", "2"], ["search", "/a&b=/"]]]);
	assert.deepEqual(readAddress(writeAddress(address, address.values)), address);
	assert.equal(readAddress("#x/%").argument, "%", "a broken one is shown as it is");
	assert.equal(writeAddress({ id: "lines" }, new Map()), "#lines");
	assert.equal(readAddress("").id, "");
});

test("calls of a function from several lines are joined", () => {
	const at = (name, line, count, children = []) => ({ name, image: "/bin/x", offset: 100 + line, file: "/x.c", line, count, bytes: 10 * count, children });
	const [top, ...rest] = byFunction([at("worker", 5, 0, [at("malloc", 0, 3)]), at("worker", 9, 0, [at("malloc", 0, 4), at("make", 2, 1)])]);
	assert.deepEqual(rest, []);
	assert.deepEqual([top.name, top.line, top.offset, top.children.map(({ name, count, bytes }) => [name, count, bytes])], ["worker", undefined, undefined, [["malloc", 7, 70], ["make", 1, 10]]]);
});
