// SPDX-License-Identifier: GPL-3.0-or-later
// Campaigns of strobe blow (docs/json.md): what their tables show of the functions that were tried.
import { count, NOTHING, percent, plural, quote } from "./format.js";

export const MOST_ROWS = 50; // functions that a table shows at first

// The campaign of an entry of the page, or null. Rows have their rank in the order of the command's table.
export function readBlow({ blow, result }) {
	const campaign = blow ?? (result.strobe.tool === "blow" && Array.isArray(result.targets) ? result : null);
	if (!campaign) return null;
	const { targets = [], progress = [], faults = [] } = campaign;
	return { ...campaign, progress, faults, targets: targets.map((row, rank) => ({ ...row, rank: rank + 1 })) };
}

// The words for a mode, as --mode has them.
const MODES = {
	"slow-down": "noise in one function at a time",
	"speed-up": "noise in all functions except one",
	causal: "virtual speed-up of one function at a time",
};
export const modeWords = ({ mode }) => `${mode}: ${MODES[mode] ?? "unknown"}`;

// A number with four decimals, as in the tables of strobe blow.
export const four = (value) => (Number.isFinite(value) ? value.toFixed(4).replace("-", "−") : NOTHING);
const tenths = (share) => (Number.isFinite(share) ? (100 * share).toFixed(1).replace("-", "−") : "unknown");

// The interval of a slope, or the reason why there is none.
export const slopeInterval = ({ slope }) => (slope.state === "measured" ? `${four(slope.lo)} to ${four(slope.hi)}` : `not measurable: ${slope.state}`);
export const slopeOf = ({ slope }) => (slope.state === "measured" ? slope.value : null);

// The share of the function's time in which it waits, with its interval; results of older versions have none.
export const waitingOf = ({ waiting }) => waiting?.value ?? null;
export function waitingWords({ waiting }) {
	if (!waiting || waiting.state === "not measured") return "not measured";
	if (waiting.state !== "measured") return `cannot tell: ${waiting.state}`;
	const interval = Number.isFinite(waiting.lo) ? `, 95 % interval ${tenths(waiting.lo)} to ${tenths(waiting.hi)} %` : "";
	return `${tenths(waiting.value)} % of the time${interval}`;
}

// A part of the slope, as a fact: "0.2500 (0.2000 to 0.3000)".
export const partText = (part) => (part?.state === "measured" && Number.isFinite(part.value) ? effectText(part) : NOTHING);

// The gain of a virtual speed-up at a progress point; null: it was not tried.
export const gainOf = (row, speedup, progress) => row.virtual.find((each) => Math.abs(each.speedup - speedup) < 1e-9 && each.progress === progress) ?? null;

// "6.0 (5.0 to 7.0)", in percent; or why there is no number.
export function gainWords(gain) {
	if (!gain) return "not tried";
	if (gain.noisy) return "too noisy";
	if (!Number.isFinite(gain.gain)) return "not measurable: too few runs";
	if (!Number.isFinite(gain.lo)) return `${tenths(gain.gain)} (1 run)`;
	return `${tenths(gain.gain)} (${tenths(gain.lo)} to ${tenths(gain.hi)})`;
}

// The virtual speed-ups that any function was tried with, ascending.
export function speedupsOf({ targets }) {
	return [...new Set(targets.flatMap(({ virtual = [] }) => virtual.map(({ speedup }) => speedup)))].sort((a, b) => a - b);
}

export const pointsOf = ({ progress }) => progress.map(({ name }) => name);

// What a gain at a progress point is.
export function gainMeaning({ progress }, name) {
	const kind = progress.find((each) => each.name === name)?.kind;
	return { throughput: `increase of the calls of ${name} per second in %`, metric: `increase of ${name} in %`, probe: `increase of the passes of ${name} per second in %`, latency: `decrease of the ${name} in %` }[kind] ?? "decrease of the run time in %";
}

// How many experiments were judged, on how many functions.
export function sums({ targets, faults, baseline }) {
	return { functions: targets.length, experiments: targets.reduce((sum, { experiments }) => sum + experiments, 0), faults: faults.length, runs: baseline?.runs ?? 0 };
}

// The functions with a positive slope, fitness or gain in the order of the list, and the name of that number.
export function ranked(blow) {
	const best = pointsOf(blow)[0];
	const value = (row) => (blow.mode === "causal" ? gainOf(row, 1, best)?.gain : blow.mode === "speed-up" ? row.fitness : slopeOf(row));
	const words = { causal: "gain if they took no time", "speed-up": "fitness", "slow-down": "slope" };
	return { by: words[blow.mode], rows: blow.targets.map((row) => ({ row, value: value(row) })).filter(({ value: known }) => Number.isFinite(known) && known > 0), text: (known) => (blow.mode === "causal" ? percent(known) : four(known)) };
}

export const callsText = (calls) => (calls === null || calls === undefined ? NOTHING : calls < 10 && !Number.isInteger(calls) ? calls.toFixed(1) : count(calls));

// The lines through the experiments, at a progress point; null: the result has none.
export const curvesOf = ({ curves = [] }, point) => curves.find(({ progress }) => progress === null || progress === point) ?? null;

export const lineName = ({ function: name, thread }) => (thread === null ? name : `${name}, thread ${thread}`);

// The lines that are drawn: the first `most` of those whose function `fits` accepts, with their points up to x = cut. `of` is
// the number of lines that it accepts, `beyond` the number of points of the drawn lines that are left out.
export function linesOf({ lines, zero }, { fits = null, most = Infinity, cut = Infinity }) {
	const fitting = lines.filter(({ function: name }) => !fits || fits(name));
	const shown = fitting.slice(0, most).map((line) => ({ name: lineName(line), points: line.points.filter(([x]) => x <= cut) }));
	const beyond = fitting.slice(0, most).reduce((sum, { points }) => sum + points.filter(([x]) => x > cut).length, 0);
	return { lines: shown.filter(({ points }) => points.length), of: fitting.length, beyond, zero };
}

// The calls of functions by thread: the first `rows` of the functions that `fits` accepts, whose number is `of`. `most` is the
// greatest number of calls of any function in a thread, whether `fits` accepts it or not, so that colours keep their meaning.
export function matrixOf({ targets, threads: created = [] }, fits, rows) {
	const names = new Map(created.map(({ thread, name }) => [thread, name]));
	const fitting = targets.filter(({ function: name }) => !fits || fits(name));
	const threads = [...new Set(targets.flatMap((row) => (row.threads ?? []).map(({ thread }) => thread)))].sort((a, b) => a - b);
	const most = targets.reduce((max, row) => (row.threads ?? []).reduce((greatest, { calls }) => Math.max(greatest, calls), max), 0);
	return { threads, names, most, of: fitting.length, rows: fitting.slice(0, rows).map((row) => ({ name: row.function, calls: new Map((row.threads ?? []).map(({ thread, calls }) => [thread, calls])) })) };
}

// "nanosleep 27,000,000 ns"
export const noiseWords = (noise) => (noise ? `${noise.type} ${count(noise.strength)} ${noise.unit}` : NOTHING);

// What happened in an experiment with a fault: [name, text].
export function faultFacts({ function: name, noise, exit, cause }, { mode, baseline }) {
	const where = mode === "speed-up" ? `in all functions except ${name}` : `in ${name}`;
	if (name === null)
		return [
			["Noise", "none"],
			["Exit code", `${exit}; in other runs without noise ${baseline?.exit ?? "not known"}`],
			["Cause", cause ?? "not known"],
		];
	return [
		[mode === "causal" ? "Speed-up" : "Noise", mode === "causal" ? `${count(noise?.strength)} % of ${name}, virtual` : `${noiseWords(noise)} ${where}${noise ? `, in ${plural(noise.calls, "call")}` : ""}`],
		["Exit code", `${exit}; without noise ${baseline?.exit ?? "not known"}`],
		["Cause", cause ?? "not known"],
	];
}

// The command that makes the experiment again; null: windows of one process cannot be made again.
export function againCommand({ experiment }, { windows }, label) {
	return windows ? null : `strobe blow --from ${/\.json$/.test(label) ? "FILE" : quote(label)} --again ${experiment}`;
}

// [kind, number of faults], the most frequent first.
export function kindsOf(faults) {
	const numbers = new Map();
	for (const { kind } of faults) numbers.set(kind, (numbers.get(kind) ?? 0) + 1);
	return [...numbers].sort((a, b) => b[1] - a[1]);
}

// The rank correlation of two campaigns, in the words of strobe blow --compare.
export function correlationWords({ correlation: { value, lo, hi } }) {
	const digits = (number) => number.toFixed(3).replace("-", "−");
	const prefix = "rank correlation (Spearman): ";
	if (value === null) return `${prefix}cannot tell, since fewer than two different results were measured`;
	if (lo !== null) return `${prefix}${digits(value)}, 95 % interval ${digits(lo)} to ${digits(hi)}`;
	const why = Math.abs(value) < 1 ? "there are fewer than four functions" : value > 0 ? "the order is the same" : "the order is reversed";
	return `${prefix}${digits(value)}, without an interval, since ${why}`;
}

export const pairWords = (pair) => `functions measured in both campaigns: ${pair.functions.length}; not measured in one of them: ${pair.not_measured}; tried only in A: ${pair.only_a}, only in B: ${pair.only_b}`;

export const effectText = ({ value, lo, hi }) => (lo === null ? four(value) : `${four(value)} (${four(lo)} to ${hi === null ? "unknown" : four(hi)})`);
