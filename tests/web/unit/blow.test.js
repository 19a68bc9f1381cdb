// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import { test } from "node:test";
import { againCommand, correlationWords, curvesOf, effectText, faultFacts, gainMeaning, gainOf, gainWords, kindsOf, linesOf, matrixOf, noiseWords, pairWords, partText, pointsOf, ranked, readBlow, slopeInterval, slopeOf, speedupsOf, sums, waitingOf, waitingWords } from "../../../web/src/data/blow.js";
import { viewsOf } from "../../../web/src/data/places.js";

const slope = (value, lo, hi, state = "measured") => ({ value, lo, hi, state });
const target = (name, more) => ({ function: name, symbol: name, image: "/bin/x", experiments: 2, virtual: [], ...more });
const gain = (progress, speedup, value, lo, hi) => ({ progress, speedup, gain: value, lo, hi, runs: 5 });
const entry = (blow) => ({ result: { strobe: { tool: "blow" } }, blow: { mode: "slow-down", targets: [], ...blow } });

test("a campaign of the page, of a file of JSON, and none", () => {
	assert.equal(readBlow({ result: { strobe: { tool: "hot" }, targets: [] } }), null);
	assert.equal(readBlow({ result: { strobe: { tool: "blow" }, functions: [] } }), null, "a comparison");
	assert.deepEqual(readBlow({ result: { strobe: { tool: "blow" }, targets: [] } }).faults, []);
	assert.deepEqual(readBlow(entry({ targets: [target("f"), target("g")] })).targets.map(({ rank }) => rank), [1, 2]);
});

test("waiting time", () => {
	const waiting = { runs: 3, cpu_ns: 2e6, wait_ns: 6e6, value: 0.75, lo: 0.7, hi: 0.8, state: "measured" };
	assert.equal(waitingOf({ waiting }), 0.75);
	assert.equal(waitingWords({ waiting }), "75.0 % of the time, 95 % interval 70.0 to 80.0 %");
	assert.equal(waitingWords({ waiting: { ...waiting, lo: null, hi: null } }), "75.0 % of the time");
	assert.equal(waitingWords({ waiting: { value: null, state: "a call was open at the end of the process" } }), "cannot tell: a call was open at the end of the process");
	assert.equal(waitingOf({}), null);
	assert.equal(waitingWords({}), "not measured");
	assert.equal(partText(slope(0.25, 0.2, 0.3)), "0.2500 (0.2000 to 0.3000)");
	assert.equal(partText(slope(null, null, null, "too few runs")), "–");
	assert.equal(partText(undefined), "–");
});

test("slopes", () => {
	const known = { slope: slope(0.25, -0.2, 0.28) };
	assert.equal(slopeOf(known), 0.25);
	assert.equal(slopeInterval(known), "−0.2000 to 0.2800");
	const unknown = { slope: slope(null, null, null, "too few runs") };
	assert.equal(slopeOf(unknown), null);
	assert.equal(slopeInterval(unknown), "not measurable: too few runs");
});

test("gains", () => {
	const row = target("f", { virtual: [gain("end of the run", 0.25, 0.06, 0.05, 0.07), gain("serve", 0.25, 2, 1, null), gain("serve", 1, null, null, null)] });
	assert.equal(gainWords(gainOf(row, 0.25, "end of the run")), "6.0 (5.0 to 7.0)");
	assert.equal(gainWords(gainOf(row, 0.25, "serve")), "200.0 (100.0 to unknown)");
	assert.equal(gainWords(gainOf(row, 1, "serve")), "not measurable: too few runs");
	assert.equal(gainWords(gainOf(row, 0.5, "serve")), "not tried");
	assert.equal(gainWords(gain("serve", 0.25, 0.06, null, null)), "6.0 (1 run)");
	assert.equal(gainWords({ ...gain("serve", 0.25, null, null, null), noisy: true }), "too noisy");
	assert.deepEqual(speedupsOf({ targets: [row, target("g", { virtual: [gain("serve", 0.5, 0, 0, 0)] })] }), [0.25, 0.5, 1]);
	const blow = { progress: [{ name: "serve", kind: "throughput" }, { name: "end of the run", kind: "end" }, { name: "qos:rate", kind: "metric" }] };
	assert.deepEqual(pointsOf(blow), ["serve", "end of the run", "qos:rate"]);
	assert.equal(gainMeaning(blow, "qos:rate"), "increase of qos:rate in %");
	assert.equal(gainMeaning({ progress: [{ name: "latency of f", kind: "latency" }] }, "latency of f"), "decrease of the latency of f in %");
	assert.equal(gainMeaning({ progress: [{ name: "usdt:p:done", kind: "probe" }] }, "usdt:p:done"), "increase of the passes of usdt:p:done per second in %");
	assert.equal(gainMeaning(blow, "serve"), "increase of the calls of serve per second in %");
	assert.equal(gainMeaning(blow, "end of the run"), "decrease of the run time in %");
});

test("sums and ranks", () => {
	const blow = readBlow(entry({ baseline: { runs: 3 }, targets: [target("f", { slope: slope(0.5, 0, 1) }), target("g", { slope: slope(null, null, null, "too few runs") })] }));
	assert.deepEqual(sums(blow), { functions: 2, experiments: 4, faults: 0, runs: 3 });
	assert.deepEqual(ranked(blow).rows.map(({ row }) => row.function), ["f"]);
	assert.equal(ranked(blow).by, "slope");
	assert.equal(ranked(readBlow(entry({ mode: "speed-up", targets: [target("f", { fitness: 0.4 })] }))).rows[0].value, 0.4);
	const causal = ranked(readBlow(entry({ mode: "causal", progress: [{ name: "end of the run", kind: "end" }], targets: [target("f", { virtual: [gain("end of the run", 1, 0.3, 0, 1)] })] })));
	assert.equal(causal.text(causal.rows[0].value), "30.00 %");
});

test("places of a function in results", () => {
	const run = (index, more) => ({ index, label: `r${index}`, functions: [], trace: null, ...more });
	const runs = [run(0), run(1, { functions: [{ name: "f", image: "/other/x" }] }), run(2, { trace: { functions: [{ name: "f", image: "/bin/x" }] } }), run(3, { functions: [{ name: "f", image: "/bin/y" }] })];
	assert.deepEqual(viewsOf(runs, target("f")), [
		{ index: 1, label: "r1", address: ["source", "f", "/other/x"], what: "source" },
		{ index: 2, label: "r2", address: ["trace", "f", "/bin/x"], what: "call times" }]);
	assert.deepEqual(viewsOf(runs, target("g")), []);
});

test("lines of experiments", () => {
	const curves = { progress: null, zero: 1, lines: [{ function: "f", thread: null, points: [[1, 1], [4, 2]] }, { function: "g", thread: 2, points: [[1, 1], [9, 3]] }, { function: "g", thread: 3, points: [[7, 3]] }] };
	assert.equal(curvesOf({ curves: [curves] }, "serve"), curves, "without progress points there is one");
	assert.equal(curvesOf({ curves: [{ ...curves, progress: "serve" }] }, "end of the run"), null);
	assert.equal(curvesOf({}, null), null);
	assert.deepEqual(linesOf(curves, {}).lines.map(({ name }) => name), ["f", "g, thread 2", "g, thread 3"]);
	assert.deepEqual(linesOf(curves, { fits: (name) => name === "g", cut: 5 }), { lines: [{ name: "g, thread 2", points: [[1, 1]] }], of: 2, beyond: 2, zero: 1 });
	assert.deepEqual(linesOf(curves, { most: 1, cut: 3 }), { lines: [{ name: "f", points: [[1, 1]] }], of: 3, beyond: 1, zero: 1 });
});

test("functions by threads", () => {
	const thread = (n, calls) => ({ thread: n, calls });
	const blow = { targets: [target("f", { threads: [thread(0, 1), thread(2, 40)] }), target("g", { threads: [thread(10, 2.5)] }), target("h", {})] };
	const { threads, rows, of, most } = matrixOf(blow, null, 2);
	assert.deepEqual([threads, of, most, rows.length], [[0, 2, 10], 3, 40, 2]);
	assert.deepEqual(threads.map((each) => rows[0].calls.get(each)), [1, 40, undefined]);
	assert.deepEqual(matrixOf(blow, (name) => name === "g", 50).rows.map(({ name }) => name), ["g"]);
});

test("faults", () => {
	const noise = { type: "busy", strength: 5000, unit: "ns", calls: 3 };
	const fault = { kind: "crash", experiment: 7, function: "f", noise, exit: 139, cause: null };
	assert.equal(noiseWords(noise), "busy 5,000 ns");
	const facts = (mode) => faultFacts(fault, { mode, baseline: { exit: 0 } });
	assert.deepEqual(facts("slow-down"), [["Noise", "busy 5,000 ns in f, in 3 calls"], ["Exit code", "139; without noise 0"], ["Cause", "not known"]]);
	assert.equal(facts("speed-up")[0][1], "busy 5,000 ns in all functions except f, in 3 calls");
	assert.deepEqual(faultFacts({ ...fault, function: null, noise: null }, { mode: "slow-down", baseline: { exit: 0 } })[0], ["Noise", "none"]);
	assert.deepEqual(faultFacts({ ...fault, noise: { type: "virtual", strength: 50, unit: "%" } }, { mode: "causal" })[0], ["Speed-up", "50 % of f, virtual"]);
	assert.equal(againCommand(fault, { windows: false }, "my result.db"), "strobe blow --from 'my result.db' --again 7");
	assert.equal(againCommand(fault, { windows: false }, "r.json"), "strobe blow --from FILE --again 7", "JSON cannot be made again");
	assert.equal(againCommand(fault, { windows: true }, "r.db"), null);
	assert.deepEqual(kindsOf([fault, { kind: "hang" }, { kind: "hang" }]), [["hang", 2], ["crash", 1]]);
});

test("two campaigns", () => {
	const words = (value, lo, hi) => correlationWords({ correlation: { value, lo, hi } });
	assert.equal(words(0.9886, 0.966, 0.9966), "rank correlation (Spearman): 0.989, 95 % interval 0.966 to 0.997");
	assert.equal(words(null, null, null), "rank correlation (Spearman): cannot tell, since fewer than two different results were measured");
	assert.match(words(0.5, null, null), /fewer than four functions$/);
	assert.match(words(1, null, null), /the order is the same$/);
	assert.match(words(-1, null, null), /^rank correlation \(Spearman\): −1.000, .* the order is reversed$/);
	assert.equal(effectText({ value: 0.5, lo: null, hi: null }), "0.5000");
	assert.equal(effectText({ value: 0.5, lo: -0.1, hi: null }), "0.5000 (−0.1000 to unknown)");
	assert.equal(pairWords({ functions: [1, 2], not_measured: 3, only_a: 4, only_b: 5 }), "functions measured in both campaigns: 2; not measured in one of them: 3; tried only in A: 4, only in B: 5");
});
