// SPDX-License-Identifier: GPL-3.0-or-later
// The calls of a trace over time, a lane for each thread.
import { baseName, count, duration, plural } from "../data/format.js";
import { matcher } from "../data/filter.js";
import { emptyBecause, notesOf, spanText } from "../data/timeline.js";
import { button, h, nothing } from "../parts/dom.js";
import { Lanes } from "../parts/lanes.js";

export const timeline = {
	id: "timeline",
	title: "Timeline",
	has: (run) => run.timeline !== null,
	show({ run: { timeline: data, trace }, link }, element) {
		const why = emptyBecause(data);
		if (why) {
			element.append(nothing(why));
			return null;
		}
		const range = h("span.status", { role: "status" });
		const unfound = h("span.unfound", { role: "status" });
		const details = h("div.flame-details", { role: "status" });
		let chosen = null;
		const say = ({ from, to }) => {
			range.title = `${count(from)} ns to ${count(to)} ns`;
			range.textContent = `${plural(data.lanes.length, "thread")}, ${contents(data)}: ${spanText({ from, to })}, ${duration(to - from)}`;
		};
		const describe = (hit) => details.replaceChildren(...(hit ? parts(hit, data, trace) : [h("span.dim", {}, "Point at a slice. The wheel or dragging zooms, with Shift it moves; a double click shows all.")]));
		const lanes = new Lanes(data, {
			hover: (hit) => describe(hit ?? chosen),
			choose: (hit) => describe((chosen = hit)),
			view: (view) => {
				say(view);
				link.set("span", view.from === lanes.whole.from && view.to === lanes.whole.to ? "" : `${Math.round(view.from)}-${Math.round(view.to)}`);
			},
		});
		const find = link.search("Function", (text) => {
			const fits = matcher(text);
			lanes.mark(fits && ((each) => fits(each.name)));
			unfound.textContent = fits && !data.functions.some((each) => fits(each.name)) ? `No ${data.waits ? "wait" : "function"} matches '${text.trim()}'.` : "";
		});
		element.append(
			h("div.bar-of-tools", {}, find, button("+", () => lanes.zoom(0.5), { "aria-label": "Zoom in" }), button("−", () => lanes.zoom(2), { "aria-label": "Zoom out" }), button("All", () => lanes.show(lanes.whole)), unfound, range),
			...(data.experiment ? [h("p.lanes-note", {}, experimentNote(data))] : []),
			...(data.waits ? [h("p.lanes-note", {}, "A coloured slice is the life of a thread; grey slices below it are waits for other threads.")] : []),
			...notesOf(data).map((text) => h("p.lanes-note", {}, text)),
			h("div.fills.flame-place", {}, lanes.element, details),
		);
		say(lanes.whole);
		describe(null);
		const [from, to] = link.get("span", "").split("-").map(Number);
		if (from >= lanes.whole.from && to > from && to <= lanes.whole.to) lanes.show({ from, to });
		link.restore(find);
		return { shown: () => lanes.redraw(), key: (event) => lanes.onKey(event) };
	},
};

// Of a timeline of waits, each thread's life is a slice, too.
function contents({ calls, waits, lanes }) {
	return waits ? plural(calls - lanes.length, "wait") : plural(calls, "call");
}

// Which experiment of strobe blow was recorded.
function experimentNote({ experiment: { function: name, type, strength, unit, indicator } }) {
	return `The experiment with the highest indicator (${Number(indicator).toPrecision(4)}): ${name}, ${type} ${count(strength)} ${unit}. Its function is orange, calls that wait for another thread are grey.`;
}

// What the slice is.
function parts({ lane, row, i }, { functions, waits }, trace) {
	const { name, image } = functions[row.of[i]] ?? {};
	const calls = row.calls[i];
	const span = row.end[i] - row.begin[i];
	const known = trace?.functions.find((each) => each.name === name && each.image === image);
	return [
		h("strong", {}, calls > 1 ? `${count(calls)} ${waits ? "times:" : "calls of"} ${name ?? (waits ? "several waits" : "several functions")}` : name),
		image ? h("span.dim", { title: image }, baseName(image)) : "",
		h("span", {}, `at ${exactSpan(row.begin[i])}`),
		h("span", {}, calls > 1 ? `within ${exactSpan(span)}` : exactSpan(span)),
		h("span.dim", {}, lane.name),
		known ? h("a", { href: `#trace/${encodeURIComponent(name)}/${encodeURIComponent(image ?? "")}` }, "all its calls") : "",
	];
}

function exactSpan(ns) {
	return ns < 1000 ? `${count(ns)} ns` : `${duration(ns)} (${count(ns)} ns)`;
}
