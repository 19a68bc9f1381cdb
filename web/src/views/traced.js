// SPDX-License-Identifier: GPL-3.0-or-later
// The functions of a trace: their times, how the durations of calls are distributed, callers and callees.
import { baseName, count, duration, hex, NOTHING, percent, plural, short } from "../data/format.js";
import { matcher } from "../data/filter.js";
import { barsOf, findTraced, logAxis } from "../data/trace.js";
import { h, nothing, search, svg } from "../parts/dom.js";
import { colourOf, figure } from "../parts/figure.js";
import { Grid } from "../parts/grid.js";

const known = (row, key) => (row.calls && row[key] !== null ? row[key] : null);
const time = (title, key, help, more = {}) => ({ title, help, kind: "number", width: "6.5rem", value: (row) => known(row, key), text: (row) => (known(row, key) === null ? NOTHING : duration(row[key])), ...more });
const line = (row) => (row.file ? `${baseName(row.file)}:${row.line}` : hex(row.offset));
const columns = [
	time("Self", "exclusive_ns", "From call to return, without the traced functions that it called", { share: (row) => row.share }),
	time("Total", "outermost_ns", "From call to return; calls within another call of the function are not added again"),
	{ title: "Calls", help: "All calls, also those whose return was not seen", kind: "number", width: "7.5rem", value: (row) => row.all, text: (row) => count(row.all) },
	time("p50", "p50_ns", "Half of the calls took at most this long"),
	time("p99", "p99_ns", "99 % of the calls took at most this long"),
	time("Max", "max_ns", "The longest call"),
	{ title: "Function", width: "minmax(12rem, 3fr)", value: (row) => row.name, text: (row) => row.name },
	{ title: "Image", width: "minmax(6rem, 1fr)", value: (row) => baseName(row.image), text: (row) => baseName(row.image) },
	{ title: "Line", width: "minmax(6rem, 1fr)", value: (row) => (row.file ? `${baseName(row.file)}:${String(row.line).padStart(7)}` : null), text: line },
];

export const traced = {
	id: "trace",
	title: (run) => (run.functions.length ? "Call times" : "Functions"), // the other view of functions has its name first
	has: (run) => run.trace !== null,
	show({ run: { trace }, go }, element) {
		const status = h("span.status", { role: "status" });
		const place = h("div.code-place.traced", { tabindex: 0, role: "region", "aria-label": "The chosen function" });
		const grid = new Grid(columns, { label: "Functions", sort: { column: 0, descending: true }, open: (row) => go("trace", row.name, row.image ?? "") });
		const filter = (text) => {
			const fits = matcher(text);
			const rows = fits ? trace.functions.filter((row) => fits(row.name) || fits(row.image ?? "") || fits(row.file ?? "")) : trace.functions;
			const share = rows.reduce((sum, row) => sum + row.share, 0);
			status.textContent = `${plural(rows.length, "function")}, together ${percent(share)} of the self time`;
			grid.setRows(rows);
		};
		const draw = (row) => place.replaceChildren(...(row ? functionParts(row, trace) : [nothing("No function that was to be traced was called.")]), refused(trace.refused) ?? "");
		element.append(h("div.bar-of-tools", {}, search("Function, image or file", filter), status), h("div.over", {}, grid.element, place));
		filter("");
		const argument = (text) => {
			const row = findTraced(trace, text) ?? grid.shown[0];
			const index = grid.shown.indexOf(row);
			if (index >= 0) grid.choose(index);
			draw(row);
		};
		return { argument };
	},
};

function addressOf({ name, image }) {
	return `#${["trace", name, image ?? ""].map(encodeURIComponent).join("/")}`;
}

function functionParts(row, trace) {
	return [
		h("h2.function", {}, row.name),
		h("p.lead", {}, [row.image, row.file && `${row.file}:${row.line}`, row.offset !== null && `offset ${hex(row.offset)}`].filter(Boolean).join(" · ")),
		h("div.traced-parts", {}, distribution(row, trace), h("div.calls", {}, factList(row), callTable("Callers", row.callers), callTable("Callees", row.callees))),
	];
}

// To the nanosecond, as JSON has it.
function factList(row) {
	const exact = (key) => (known(row, key) === null ? NOTHING : `${count(row[key])} ns`);
	const facts = [
		["Self time", exact("exclusive_ns")],
		["Total time", exact("outermost_ns")],
		["Sum over all calls", exact("inclusive_ns")],
		["Calls", `${count(row.all)}${row.lost ? `, ${count(row.lost)} of them without a return that was seen: they have no time` : ""}`],
		["Shortest, longest", `${exact("min_ns")}, ${exact("max_ns")}`],
	];
	return h("dl.facts", {}, facts.flatMap(([key, value]) => [h("dt", {}, key), h("dd", {}, value)]));
}

// How many calls took how long, on a logarithmic axis.
function distribution(row, { error }) {
	const bars = barsOf(row);
	if (!bars.length) return nothing(row.histogram ? "No duration is known of this function." : "How durations are distributed is not in this result: report the profile that it was made of.");
	const { share, marks } = logAxis(bars);
	const quantiles = [["p50", row.p50_ns], ["p90", row.p90_ns], ["p99", row.p99_ns]].filter(([, ns]) => ns !== null && ns !== undefined);
	const chart = figure({
		title: `Durations of ${row.name}`,
		axis: "calls",
		values: [0, ...bars.map(({ calls }) => calls)],
		format: short,
		under: marks.map((ns) => [share(ns), duration(ns)]),
		draw(chart) {
			const bottom = chart.y(0);
			for (const { from, to, calls } of bars) {
				const x = chart.x(share(from));
				const height = Math.max(bottom - chart.y(calls), 1); // a single call among millions is seen
				chart.add(svg("rect.duration", { x, y: bottom - height, width: Math.max(chart.x(share(to)) - x - 0.5, 1), height, fill: colourOf(0), "data-calls": calls }, svg("title", {}, `${duration(from)} to ${duration(to)}: ${plural(calls, "call")}`)));
			}
			quantiles.forEach(([name, ns], i) => {
				const x = chart.x(share(ns));
				chart.add(svg("line.quantile", { x1: x, x2: x, y1: chart.y(0), y2: 30, stroke: colourOf(i + 1), "stroke-dasharray": "4 3" }, svg("title", {}, `${name}: ${duration(ns)}`)));
				chart.legend(`${name} ${duration(ns)}`, i + 1);
			});
		},
	});
	return h("div", {}, chart, h("p.dim", {}, `p50, p90 and p99 are exact within ${percent(error)}.`));
}

const MOST_PAIRS = 200;

function callTable(title, pairs) {
	const other = ({ other: to }) => (to === null ? h("span.dim", {}, "(not traced)") : typeof to === "string" ? to : h("a", { href: addressOf(to), title: to.image }, to.name));
	const shown = pairs.slice(0, MOST_PAIRS);
	return h(
		"section",
		{},
		h("h3", {}, title),
		pairs.length
			? h(
					"table.code.pairs",
					{ "aria-label": title },
					h("thead", {}, h("tr", {}, [["Calls"], ["Total", "Calls within another call of the callee are not added again"], ["Sum", "Over all calls"], ["Function"]].map(([head, help], i) => h("th", { scope: "col", class: i < 3 ? "number" : null, title: help }, head)))),
					h("tbody", {}, shown.map((pair) => h("tr", {}, h("td.number", {}, count(pair.calls)), h("td.number", {}, duration(pair.outermost_ns)), h("td.number", {}, duration(pair.inclusive_ns)), h("td", {}, other(pair))))),
				)
			: h("p.dim", {}, "None that was traced."),
		shown.length < pairs.length ? h("p.dim", {}, `and ${count(pairs.length - shown.length)} more: see the tables`) : null,
	);
}

const MOST_REFUSED = 500;

function refused(list) {
	if (!list.length) return null;
	return h(
		"section.refused",
		{},
		h("h3", {}, `${plural(list.length, "function")} could not be traced`),
		h("table.code", {}, h("tbody", {}, list.slice(0, MOST_REFUSED).map(({ name, image, reason }) => h("tr", {}, h("td", { title: image }, name), h("td.dim", {}, baseName(image)), h("td", {}, reason))))),
		list.length > MOST_REFUSED ? h("p.dim", {}, `and ${count(list.length - MOST_REFUSED)} more: strobe trace --from FILE --refused prints all`) : null,
	);
}
