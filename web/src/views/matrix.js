// SPDX-License-Identifier: GPL-3.0-or-later
// Which threads call which of the functions that strobe blow has tried, and how often.
import { callsText, matrixOf, MOST_ROWS } from "../data/blow.js";
import { matcher } from "../data/filter.js";
import { count, NOTHING, plural } from "../data/format.js";
import { button, h, nothing } from "../parts/dom.js";

const STEPS = 12;

// The strength of the colour is logarithmic, so that few calls can be seen in a table that also has many.
const heat = (calls, most) => (calls > 0 ? 0.1 + (0.9 * Math.log1p(calls)) / Math.log1p(most) : 0);

function cell(name, thread, calls, most) {
	if (!calls) return h("td.number.cold", { title: `${name} is not called in thread ${thread}` }, NOTHING);
	return h("td.number.hot", { "--heat": heat(calls, most).toFixed(3), title: `${name} in thread ${thread}: ${callsText(calls)} calls` }, callsText(calls));
}

// The first thread has no creator.
const nameOf = (names, thread) => names.get(thread) ?? (names.size && thread === 0 ? "main" : null);

function legendOfThreads({ threads, names }) {
	if (!names.size) return null;
	return h("dl.facts", { "aria-label": "Threads" }, threads.flatMap((thread) => [h("dt", {}, `thread ${thread}`), h("dd.code", {}, nameOf(names, thread) ?? "not known")]));
}

function table({ threads, names, rows, most }) {
	return h(
		"div.sideways",
		{ tabindex: 0, role: "region", "aria-label": "Calls by function and thread" },
		h(
			"table.code.matrix",
			{ "aria-label": "Calls by function and thread" },
			h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Function"), threads.map((thread) => h("th.number", { scope: "col", title: nameOf(names, thread) ?? `thread ${thread}` }, `thread ${thread}`)))),
			h("tbody", {}, rows.map(({ name, calls }) => h("tr", {}, h("th", { scope: "row" }, h("a", { href: `#blow/${encodeURIComponent(name)}` }, name)), threads.map((thread) => cell(name, thread, calls.get(thread), most))))),
		),
	);
}

function legend(most, unit) {
	const steps = Array.from({ length: STEPS }, (_, i) => h("i", { "--heat": ((i + 1) / STEPS).toFixed(3) }));
	return h("p.legend.scale", {}, h("span", {}, NOTHING, " none"), h("span", {}, "fewer ", steps, ` ${callsText(most)}`), h("span", {}, unit));
}

export const matrix = {
	id: "matrix",
	title: "Threads",
	has: ({ blow }) => Boolean(blow?.targets.some(({ threads = [] }) => threads.length)),
	show({ run: { blow }, link }, element) {
		const state = { fits: null, all: link.get("all") === "yes" };
		const unit = `mean number of calls in a ${blow.windows ? "window" : "run"} without noise; the colour is logarithmic`;
		const place = h("div.page");
		const status = h("span.status", { role: "status" });
		const more = button("", () => {
			state.all = !state.all;
			link.set("all", state.all ? "yes" : "");
			draw();
		});
		const input = link.search("Function", (text) => {
			state.fits = matcher(text);
			draw();
		});
		element.classList.add("scrolls");

		function draw() {
			const { threads, names, rows, of, most } = matrixOf(blow, state.fits, state.all ? Infinity : MOST_ROWS);
			more.hidden = of <= MOST_ROWS;
			more.textContent = state.all ? `Show ${MOST_ROWS}` : `Show all ${count(of)}`;
			status.textContent = `${plural(rows.length, "function")} in ${plural(threads.length, "thread")}`;
			place.replaceChildren(...(rows.length ? [legend(most, unit), table({ threads, names, rows, most }), legendOfThreads({ threads, names })] : [nothing("No function fits.")]), h("p.dim", {}, names.size ? "Threads of different runs are the same if the same thread has created them by the same call, with the same function, and in the same order." : "Threads are numbered in the order in which they first called a function with a probe."));
		}

		element.append(
			h(
				"div.bar-of-tools",
				{},
				input,
				more,
				status,
			),
			place,
		);
		draw();
		link.restore(input);
	},
};
