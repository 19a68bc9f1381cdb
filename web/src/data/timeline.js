// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline of a trace (docs/report.md): lanes of slices, which of them are in sight, and what is under the pointer.
import { count, duration, plural } from "./format.js";

// A row of slices as columns, so that a hundred thousand of them are searched and drawn quickly.
function readRow(numbers) {
	const n = numbers.length / 4;
	const row = { n, begin: new Float64Array(n), end: new Float64Array(n), of: new Int32Array(n), calls: new Float64Array(n) };
	let last = 0;
	for (let i = 0; i < n; i++) {
		row.begin[i] = last + numbers[4 * i];
		row.end[i] = last = row.begin[i] + numbers[4 * i + 1];
		row.of[i] = numbers[4 * i + 2];
		row.calls[i] = numbers[4 * i + 3];
	}
	return row;
}

export function readTimeline(timeline) {
	if (!timeline) return null;
	if (timeline.missing) return { missing: timeline.missing, lanes: [] };
	return { ...timeline, lanes: readLanes(timeline.lanes.filter(({ rows }) => rows.length)) };
}

// The threads of a process beside one another, all in the order in which they began.
function readLanes(lanes) {
	const pids = new Map(); // when each began
	const from = ({ rows: [[begin]] }) => begin;
	for (const lane of lanes) pids.set(lane.pid, Math.min(pids.get(lane.pid) ?? Infinity, from(lane)));
	const nameOf = ({ name, pid, tid }) => `${name || "thread"} ${tid}${pids.size > 1 && pid !== tid ? ` of ${pid}` : ""}`;
	return [...lanes]
		.sort((a, b) => pids.get(a.pid) - pids.get(b.pid) || a.pid - b.pid || from(a) - from(b))
		.map((lane) => ({ pid: lane.pid, tid: lane.tid, name: nameOf(lane), rows: lane.rows.map(readRow) }));
}

// What a reader must know of it.
export function notesOf({ calls, waits, merged_calls: merged, merged_slices: slices, width_ns: width, too_deep: deep, damage }) {
	const fewer = waits ? "strobe show --rows lock_times prints each of them." : "To see each call, record fewer of them: strobe trace --events with --depth or --funcs.";
	return [
		merged ? `${count(merged)} of ${plural(calls, waits ? "slice" : "call")}, none of them longer than ${duration(width)}, are merged with their neighbours into ${plural(slices, "slice")}. ${fewer}` : null,
		deep ? `${plural(deep, "call")} nested more than 250 levels deep ${deep === 1 ? "is" : "are"} left out.` : null,
		damage ? `The end of the recording is missing: ${damage}.` : null,
	].filter(Boolean);
}

// Why there is nothing to draw; null: there is.
export function emptyBecause({ missing, too_many: tooMany, lanes, calls }) {
	if (missing) return `The entries and returns were recorded, but they could not be read when this page was made: ${missing}.`;
	if (tooMany) return `The recording is too large for this page: ${plural(calls, "call")} in too many threads or on too many levels. Record fewer: strobe trace --events with --depth or --funcs. strobe trace --from FILE --format timeline writes all of them for Perfetto.`;
	return lanes.length ? null : "No call was recorded.";
}

// The first slice that ends at ns or later; n when there is none.
export function firstFrom({ n, end }, ns) {
	let low = 0;
	let high = n;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (end[middle] < ns) low = middle + 1;
		else high = middle;
	}
	return low;
}

// The slice at ns, or the nearest one within `near`: what is a pixel wide can be pointed at. -1: none.
export function sliceAt(row, ns, near) {
	const from = firstFrom(row, ns - near);
	let best = -1;
	let distance = Infinity;
	for (let i = from; i < row.n && row.begin[i] <= ns + near; i++) {
		const away = Math.max(row.begin[i] - ns, ns - row.end[i], 0);
		if (away < distance) [best, distance] = [i, away];
		if (row.begin[i] > ns) break;
	}
	return best;
}

// Draws a row into a width in pixels: draw(x, width, i) for slices of a pixel and more, and once for each pixel that
// only has narrower ones. More than two for each pixel there cannot be.
export function eachShape(row, { from, to }, pixels, draw) {
	const scale = pixels / (to - from);
	let last = -1; // the pixel that was drawn last
	for (let i = firstFrom(row, from); i < row.n && row.begin[i] < to; i++) {
		const x = Math.max((row.begin[i] - from) * scale, 0);
		const end = Math.min((row.end[i] - from) * scale, pixels);
		if (end - x >= 1) {
			draw(x, end - x, i);
			last = Math.floor(end - 0.001);
		} else if (Math.floor(x) > last) {
			last = Math.floor(x);
			draw(last, 1, i);
		}
	}
}

const LEAST = 20; // ns that the whole width shows

// A part of the whole: kept inside of it, and not too short.
export function within(whole, from, to) {
	const span = Math.min(Math.max(to - from, LEAST), whole.to - whole.from);
	const middle = (from + to) / 2;
	const start = Math.min(Math.max(middle - span / 2, whole.from), whole.to - span);
	return { from: start, to: start + span };
}

// factor below 1: nearer. What is at `at` stays there.
export function zoomed(whole, { from, to }, factor, at) {
	const span = Math.min(Math.max((to - from) * factor, LEAST), whole.to - whole.from);
	const start = at - ((at - from) / (to - from)) * span;
	return within(whole, start, start + span);
}

// So many nanoseconds later.
export function moved(whole, { from, to }, by) {
	return within(whole, from + by, to + by);
}

const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

// Both ends of a span, in one unit and with as many digits as show a thousandth of the span.
export function spanText({ from, to }) {
	const [size, unit] = UNITS.find(([size]) => to >= size) ?? UNITS.at(-1);
	const digits = Math.max(0, Math.min(Math.log10(size), Math.ceil(-Math.log10((to - from) / size / 1000) - 1e-9)));
	const text = (ns) => `${(ns / size).toFixed(digits)} ${unit}`;
	return `${text(from)} to ${text(to)}`;
}
