// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import test from "node:test";
import { readDocument } from "../../../web/src/data/model.js";
import { merge, metricKeys, totals } from "../../../web/src/data/trees.js";
import { hasWall, isWait, splitWall } from "../../../web/src/data/wall.js";

const node = (name, self_ns, children = [], more = {}) => ({ name, count: 0, self_ns, total_ns: 0, children, ...more });
const image = { image: "/x" };
const tree = () => [node("main", 5, [node("read", 0, [node("[I/O]", 70), node("[kernel]", 20)], image), node("[sleep]", 100)], { ...image, count: 1 })];

test("waits are frames in brackets that are in no image", () => {
	assert.deepEqual([isWait(node("[I/O]", 1)), isWait(node("[kernel]", 1)), isWait(node("[x]", 1, [], image)), isWait(node("main", 1)), isWait(node("[", 1))], [true, false, false, false, false]);
});

test("time is split into its parts", () => {
	const [main] = splitWall(tree(), false);
	assert.deepEqual([main.wall_ns, main.on_cpu_ns, main.waiting_ns, main.self_ns, main.total_ns, main.count], [5, 5, undefined, undefined, undefined, 1]);
	const [io, kernel] = main.children[0].children;
	assert.deepEqual([io.wall_ns, io.waiting_ns, io.on_cpu_ns], [70, 70, undefined]);
	assert.deepEqual([kernel.wall_ns, kernel.waiting_ns, kernel.on_cpu_ns], [20, undefined, 20]);
	assert.deepEqual(metricKeys([main]), ["count", "wall_ns", "on_cpu_ns", "waiting_ns"]);
	assert.deepEqual(["wall_ns", "on_cpu_ns", "waiting_ns"].map((key) => totals([main], key).get(main)), [195, 25, 170]);
});

test("children keep their order, and the trees that were given stay as they are", () => {
	const roots = tree();
	const [main] = splitWall(roots, false);
	assert.deepEqual(main.children.map(({ name }) => name), ["read", "[sleep]"]);
	assert.equal(roots[0].self_ns, 5);
});

test("below a wait its callers have time of waiting", () => {
	const [sleep, main] = splitWall([node("[sleep]", 100, [node("main", 100, [], image)]), node("main", 5, [], image)], true);
	assert.deepEqual([sleep.waiting_ns, sleep.children[0].waiting_ns, sleep.children[0].on_cpu_ns, main.on_cpu_ns], [100, 100, undefined, 5]);
});

test("only stacks of samples that have time have wall time", () => {
	const read = (more, ksf) => readDocument(JSON.stringify({ strobe: { report: 1 }, results: [{ label: "x", result: { strobe: { version: 1 }, k: "inf", threads: [{ thread: 1, ksf, kccf: [] }], ...more } }] }))[0].paths;
	const wall = read({ counted: "samples" }, tree());
	assert.equal(wall.wall, true);
	assert.equal(wall.threads[0].ksf[0].wall_ns, 5);
	assert.equal(read({ counted: "samples" }, [node("main", 0)]).wall, undefined);
	const timed = read({}, tree());
	assert.deepEqual([timed.wall, timed.threads[0].ksf[0].self_ns], [undefined, 5]);
	assert.equal(hasWall([{ ksf: [] }]), false);
});

test("threads can be merged", () => {
	const [main] = merge([splitWall(tree(), false), splitWall(tree(), false)]);
	assert.deepEqual([main.wall_ns, main.children[1].waiting_ns], [10, 200]);
});
