// SPDX-License-Identifier: GPL-3.0-or-later
// A trace of functions (docs/json.md): who calls whom, and how durations are distributed.
import { findNamed } from "./name.js";

const rowOf = (functions, { name, image, offset }) => functions.find((row) => row.name === name && (row.image ?? null) === image && (row.offset ?? null) === offset);

// The largest N of the "1 of N calls was timed" of a sampled function.
export const mostOf = ({ steps }) => Math.max(1, ...steps.map(({ every }) => every));

// Calls that last less than that, on average, are below resolution; null: that is not known.
const leastOf = (probe) => (probe ? probe.between_ns + probe.error_ns : null);

// The trace with functions that know their callers and callees: {other: a function, its name where it is not in the page,
// or null for what was not traced, calls, outermost_ns, inclusive_ns}.
export function readTrace(trace) {
	if (!trace) return null;
	const functions = (trace.functions ?? []).map((row) => ({ ...row, all: row.calls + row.lost, callers: [], callees: [] }));
	for (const { caller, callee, caller_index: from, callee_index: to, ...rest } of trace.pairs ?? []) {
		functions[to]?.callers.push({ other: functions[from] ?? caller, ...rest });
		functions[from]?.callees.push({ other: functions[to] ?? callee, ...rest });
	}
	const self = functions.reduce((sum, row) => sum + row.exclusive_ns, 0);
	for (const row of functions) row.share = self ? row.exclusive_ns / self : 0;
	const { refused = [], left_out: leftOut = [], sampled = [], dropped = [], budget = null } = trace;
	for (const row of functions) row.marks = `${row.resolved === false ? " *" : ""}${row.dropped ? " +" : ""}`; // as in the tables of strobe trace
	for (const step of sampled) Object.assign(rowOf(functions, step) ?? {}, { every: mostOf(step), sampledAt: step.steps[0]?.at_ns });
	for (const step of dropped) Object.assign(rowOf(functions, step) ?? {}, { droppedAt: step.at_ns });
	return { engine: trace.engine, functions, refused, leftOut, sampled, dropped, budget, least: leastOf(trace.probe), lost: trace.lost ?? {}, error: trace.quantile_error, cut: trace.cut ?? [] };
}

// By "name/image", or by its name alone; both may have slashes.
export function findTraced({ functions }, text) {
	return functions.find(({ name, image }) => text === `${name}/${image ?? ""}`) ?? findNamed(functions, text);
}

const MOST_BARS = 96;

// The bar of the histogram that has the duration. Each octave is cut into `parts`: fewer if durations are spread widely.
function barOf(ns, parts) {
	if (ns < 1) return { from: 0, to: 1 };
	const octave = 2 ** Math.floor(Math.log2(ns));
	const part = Math.floor(((ns - octave) * parts) / octave);
	return { from: octave * (1 + part / parts), to: octave * (1 + (part + 1) / parts) };
}

function barsWith(histogram, parts) {
	const bars = [];
	for (let i = 0; i < histogram.length; i += 2) {
		const bar = barOf(histogram[i], parts);
		if (bars.at(-1)?.from === bar.from) bars.at(-1).calls += histogram[i + 1];
		else bars.push({ ...bar, calls: histogram[i + 1] });
	}
	return bars;
}

// [{from, to, calls}] of a function, ascending, those without calls left out.
export function barsOf({ histogram = [] }) {
	for (let parts = 16; ; parts /= 2) {
		const bars = barsWith(histogram, parts);
		if (parts === 1 || bars.length <= MOST_BARS) return bars;
	}
}

// A logarithmic axis around bars: share(ns) from 0 to 1, and round durations that lie on it.
export function logAxis(bars) {
	const low = Math.max(bars[0].from, 0.5);
	const high = bars.at(-1).to * (bars.at(-1).to / low < 2 ? 1.5 : 1);
	const share = (ns) => Math.min(Math.max(Math.log(Math.max(ns, low) / low) / Math.log(high / low), 0), 1);
	const decades = Math.log10(high / low);
	const steps = decades < 1.2 ? [1, 1.5, 2, 3, 5, 7] : decades < 3 ? [1, 2, 5] : [1];
	const marks = [];
	for (let unit = 10 ** Math.floor(Math.log10(low)); unit <= high; unit *= 10)
		for (const step of steps) if (step * unit >= low && step * unit <= high) marks.push(step * unit);
	return { share, marks };
}
