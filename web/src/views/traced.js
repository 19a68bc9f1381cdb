// SPDX-License-Identifier: GPL-3.0-or-later
// The functions of a trace: their times, how the durations of calls are distributed, callers and callees.
import { baseName, count, duration, hex, NOTHING, percent, plural, short } from "../data/format.js";
import { matcher } from "../data/filter.js";
import { barsOf, findTraced, logAxis, mostOf } from "../data/trace.js";
import { h, nothing, svg } from "../parts/dom.js";
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
	{ title: "Function", width: "minmax(12rem, 3fr)", value: (row) => row.name, text: (row) => row.name + row.marks },
	{ title: "Image", width: "minmax(6rem, 1fr)", value: (row) => baseName(row.image), text: (row) => baseName(row.image) },
	{ title: "Line", width: "minmax(6rem, 1fr)", value: (row) => (row.file ? `${baseName(row.file)}:${String(row.line).padStart(7)}` : null), text: line },
];

export const traced = {
	id: "trace",
	title: (run) => (run.functions.length ? "Call times" : "Functions"), // the other view of functions has its name first
	has: (run) => run.trace !== null,
	show({ run: { trace }, go, link }, element) {
		const status = h("span.status", { role: "status" });
		const place = h("div.code-place.traced", { tabindex: 0, role: "region", "aria-label": "The chosen function" });
		const grid = new Grid(columns, { label: "Functions", sort: link.sort(columns, { column: 0, descending: true }), sorted: link.sorted(columns), open: (row) => go("trace", row.name, row.image ?? "") });
		const filter = (text) => {
			const fits = matcher(text);
			const rows = fits ? trace.functions.filter((row) => fits(row.name) || fits(row.image ?? "") || fits(row.file ?? "")) : trace.functions;
			const share = rows.reduce((sum, row) => sum + row.share, 0);
			status.textContent = `${plural(rows.length, "function")}, together ${percent(share)} of the self time`;
			grid.setRows(rows);
		};
		const draw = (row) => place.replaceChildren(...(row ? functionParts(row, trace) : [nothing("No function that was to be traced was called.")]), ...limits(trace));
		const input = link.search("Function, image or file", filter);
		element.append(h("div.bar-of-tools", {}, input, status), h("div.over", {}, grid.element, place));
		filter("");
		link.restore(input);
		const argument = (text) => {
			const found = findTraced(trace, text);
			if (text && !found) {
				place.replaceChildren(nothing(`No traced function is called '${text}'. Choose one in the table, or search for a part of its name.`));
				return;
			}
			const row = found ?? grid.shown[0];
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
		h("div.traced-parts", {}, distribution(row, trace), h("div.calls", {}, factList(row, trace), callTable("Callers", row.callers), callTable("Callees", row.callees))),
	];
}

// To the nanosecond, as JSON has it.
function factList(row, { least }) {
	const exact = (key) => (known(row, key) === null ? NOTHING : `${count(row[key])} ns`);
	const facts = [
		["Self time", exact("exclusive_ns")],
		["Total time", exact("outermost_ns")],
		["Sum over all calls", exact("inclusive_ns")],
		["Calls", `${count(row.all)}${row.lost ? `, ${count(row.lost)} of them without a return that was seen: they have no time` : ""}`],
		["Shortest, longest", `${exact("min_ns")}, ${exact("max_ns")}`],
		...estimates(row, least),
	];
	return h("dl.facts", {}, facts.flatMap(([key, value]) => [h("dt", {}, key), h("dd", {}, value)]));
}

// What is an estimate or a lower bound, and how far it can be trusted.
function estimates(row, least) {
	const facts = [];
	const error = row.inclusive_error_ns;
	const share = row.every ? ` (at least 1 of ${count(row.every)}, since ${duration(row.sampledAt)})` : "";
	if (row.estimated) facts.push(["Timed", `${count(row.timed)} of ${plural(row.calls, "call")}${share}: ${row.timed ? "the times are estimates" : "the calls were only counted"}`]);
	if (row.estimated && row.timed) facts.push(["Error of the sum", error === null ? "not known, because only one call was timed" : `± ${count(error)} ns (95 % interval)`]);
	if (row.dropped) facts.push(["Probe", `taken out${row.droppedAt === undefined ? "" : ` at ${duration(row.droppedAt)}`}: there were more calls, whose time is in that of their callers`]);
	if (row.resolved === false) facts.push(["Below resolution", `${least === null ? "the calls are" : `on average, the calls last less than ${least.toFixed(1)} ns,`} too short for a probe: their number is right, their times are not`]);
	return facts;
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

const MOST_LISTED = 500;

// A list of functions below the chosen one; rows: the cells of each.
function list(name, title, heads, rows) {
	if (!rows.length) return null;
	const cells = (row) => row.map((cell, i) => h("td", { class: heads[i]?.[1] ?? null }, cell));
	return h(
		`section.${name}`,
		{},
		h("h3", {}, title),
		h("table.code", { "aria-label": title }, heads.some(([head]) => head) ? h("thead", {}, h("tr", {}, heads.map(([head, of]) => h("th", { scope: "col", class: of }, head)))) : "", h("tbody", {}, rows.slice(0, MOST_LISTED).map((row) => h("tr", {}, cells(row))))),
		rows.length > MOST_LISTED ? h("p.dim", {}, `and ${count(rows.length - MOST_LISTED)} more: strobe trace --from FILE -n 0 --refused prints all`) : null,
	);
}

const named = ({ name, image }) => h("span", { title: image }, image ? `${name} [${baseName(image)}]` : name);
const NUMBER = "number";

// What was done to keep a budget, and which functions have no times, as strobe trace prints it.
function limits({ budget, sampled, dropped, refused, leftOut }) {
	const reasons = (rows) => rows.map(({ name, image, reason }) => [h("span", { title: image }, name), baseName(image), reason]);
	const plain = [["", null], ["", "dim"], ["", null]];
	const parts = [
		budget && h("p.budget", {}, `Budget: ${percent(budget.share)} of the CPU time without probes. The probes have taken ${duration(budget.cost_ns)} (± ${duration(budget.cost_error_ns)}) of ${duration(budget.cpu_ns)}, which is ${percent(budget.cost_share)}.`),
		list("sampled", `${plural(sampled.length, "function")} whose calls were not all timed, to keep the budget`, [["Calls", NUMBER], ["Timed", NUMBER], ["At least 1 of", NUMBER], ["Since", NUMBER], ["Function", null]], sampled.map((row) => [count(row.calls), count(row.timed), count(mostOf(row)), row.steps.length ? duration(row.steps[0].at_ns) : NOTHING, named(row)])),
		list("dropped", `${plural(dropped.length, "function")} whose ${dropped.length === 1 ? "probe was" : "probes were"} taken out, to keep the budget`, [["Calls before", NUMBER], ["At", NUMBER], ["Function", null]], dropped.map((row) => [count(row.calls), duration(row.at_ns), named(row)])),
		list("refused", `${plural(refused.length, "function")} could not be traced`, plain, reasons(refused)),
		list("left-out", `${plural(leftOut.length, "function")} ${leftOut.length === 1 ? "was" : "were"} left out`, plain, reasons(leftOut)),
	];
	return parts.filter(Boolean);
}
