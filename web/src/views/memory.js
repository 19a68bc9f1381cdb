// SPDX-License-Identifier: GPL-3.0-or-later
// The live memory of a program over time, by the function that asked for it: areas, lines, bars of snapshots, a heat map.
import { bytes, duration, plural } from "../data/format.js";
import { regular, stacked, topRows } from "../data/memory.js";
import { chooser, h, nothing, svg } from "../parts/dom.js";
import { colourOf, figure, ticks, widthFor } from "../parts/figure.js";
import { heatMap } from "../parts/heat.js";

const FORMS = { areas: "areas over time", lines: "lines over time", stacked: "bars of snapshots, stacked", grouped: "bars of snapshots, grouped", heat: "heat map by function", addresses: "heat map by address" };
const NAMED = 6; // as many as there are colours; all others together are grey
const MOST_BARS = 12;

const colourFor = ({ others }, i) => (others ? "#999999" : colourOf(i));

function timeAxis(times) {
	const [low, high] = [times[0], times.at(-1)];
	const share = (time) => (time - low) / (high - low || 1);
	return { share, under: (width) => ticks(low, high, Math.max(3, width / 110)).filter((time) => time >= low && share(time) < 0.97).map((time) => [share(time), duration(time)]) };
}

// All numbers of one time, as the pointer shows them.
const wordsAt = (rows, times, totals, i) => [`${duration(times[i])}: ${bytes(totals[i])} live`, ...rows.filter(({ values }) => values[i]).map(({ name, values }) => `${name}: ${bytes(values[i])}`)].join("\n");

// Invisible columns over a figure: each has the numbers of its time.
function hints(plot, axis, rows, { times, totals }) {
	const at = (i) => plot.x(axis.share(times[i]));
	times.forEach((_, i) => {
		const from = i ? (at(i - 1) + at(i)) / 2 : at(i);
		const to = i + 1 < times.length ? (at(i) + at(i + 1)) / 2 : at(i);
		plot.add(svg("rect.moment", { x: from, y: plot.top, width: Math.max(to - from, 0.5), height: plot.bottom - plot.top, fill: "transparent" }, svg("title", {}, wordsAt(rows, times, totals, i))));
	});
}

// The exact peak, which may lie between two snapshots.
function drawPeak(plot, axis, { peak, times }) {
	const inside = (time) => plot.x(Math.min(1, Math.max(0, axis.share(Math.min(Math.max(time, times[0]), times.at(-1))))));
	const [from, to] = [inside(peak.from), inside(peak.to)];
	const y = plot.y(peak.bytes);
	plot.add(
		svg(
			"g.peak",
			{ "data-bytes": peak.bytes },
			svg("title", {}, `peak: ${bytes(peak.bytes)}, between ${duration(peak.from)} and ${duration(peak.to)}`),
			svg("line", { x1: plot.left, x2: plot.left + plot.width, y1: y, y2: y, stroke: "currentColor", "stroke-dasharray": "4 3", "stroke-opacity": 0.7 }),
			svg("rect", { x: from, y: y - 2, width: Math.max(to - from, 2), height: 4, fill: "currentColor" }),
		),
	);
}

function area(plot, axis, { name, bottoms, tops }, colour, times) {
	const edge = (values) => values.map((value, i) => `${plot.x(axis.share(times[i]))},${plot.y(value)}`);
	plot.add(svg("polygon.area", { points: [...edge(tops), ...edge(bottoms).reverse()].join(" "), fill: colour, "fill-opacity": 0.75, "data-name": name, "data-tops": tops.join(" ") }));
}

function overTime(memory, title, width, form) {
	const { times, totals, peak } = memory;
	const rows = topRows(memory.rows, NAMED);
	const axis = timeAxis(times);
	const areas = form === "areas";
	return figure({
		title,
		axis: "live bytes",
		values: [0, ...(areas ? [...totals, peak.bytes] : rows.flatMap(({ values }) => values))],
		format: bytes,
		width,
		under: axis.under(width),
		legend: rows.map((row, i) => [row.name, colourFor(row, i)]),
		draw(plot) {
			if (areas) stacked(rows).forEach((row, i) => area(plot, axis, row, colourFor(row, i), times));
			else rows.forEach((row, i) => plot.add(svg("polyline.flow", { points: row.values.map((value, k) => `${plot.x(axis.share(times[k]))},${plot.y(value)}`).join(" "), fill: "none", stroke: colourFor(row, i), "stroke-width": 1.5, "data-name": row.name })));
			if (areas) drawPeak(plot, axis, memory);
			hints(plot, axis, rows, memory);
		},
	});
}

function bars(memory, title, width, form) {
	const places = regular(memory.times.length, width < 500 ? MOST_BARS / 2 : MOST_BARS);
	const rows = topRows(memory.rows, NAMED).map((row) => ({ ...row, values: places.map((i) => row.values[i]) }));
	const piles = form === "stacked";
	const share = 1 / places.length;
	const part = piles ? share * 0.8 : (share * 0.8) / rows.length;
	return figure({
		title,
		axis: "live bytes",
		values: [0, ...(piles ? places.map((i) => memory.totals[i]) : rows.flatMap(({ values }) => values))],
		format: bytes,
		width,
		under: places.map((i, k) => [(k + 0.5) * share, duration(memory.times[i])]).filter((_, k) => k % Math.ceil((places.length * 60) / width) === 0),
		legend: rows.map((row, i) => [row.name, colourFor(row, i)]),
		draw: (plot) =>
			stacked(rows).forEach((row, r) =>
				row.values.forEach((value, k) => {
					const [from, to] = piles ? [row.bottoms[k], row.tops[k]] : [0, value];
					plot.add(svg("rect.bar", { x: plot.x((k + 0.1) * share + (piles ? 0 : r * part)), y: plot.y(to), width: Math.max(part * plot.width - 0.5, 0.5), height: Math.max(plot.y(from) - plot.y(to), 0), fill: colourFor(row, r), "data-value": value }, svg("title", {}, `${row.name} at ${duration(memory.times[places[k]])}: ${bytes(value)}`)));
				}),
			),
	});
}

// A column begins at its snapshot and ends where the next one begins; the last is as wide as the one before it.
function heat({ times, rows }, title, width) {
	return heatMap({ title, rows, edges: [...times, 2 * times.at(-1) - times.at(-2)], column: (i) => duration(times[i]), label: duration, format: bytes, width });
}

const rangeNotes = ({ rangeBytes, rows }) => [
	`A row is ${bytes(rangeBytes)} of addresses, which begin at its name; addresses without live heap memory have no row. ${plural(rows.length, "row adds", "rows add")} up to the live memory at each time.`,
];

function byAddress({ addresses }, title, width) {
	if (!addresses.missing && addresses.times.length < 2) return nothing("There is no map of addresses: heap memory was live at fewer than two snapshots.");
	return addresses.missing ? nothing(`There is no map of addresses: ${addresses.missing}.`) : heat(addresses, title, width);
}

function notes(memory, form) {
	if (form === "addresses") return memory.addresses.missing || memory.addresses.times.length < 2 ? [] : rangeNotes(memory.addresses).map((words) => h("p.dim", {}, words));
	const { peak, times, leftOut } = memory;
	const made = [`The peak was ${bytes(peak.bytes)}, between ${duration(peak.from)} and ${duration(peak.to)} after the program's begin; it is exact. Between two of the ${plural(times.length, "snapshot")}, the memory is not known.`];
	if (form !== "heat" && form !== "lines") made.push("The parts add up to the live memory. (others) has all other paths: snapshots record only those with the greatest peaks.");
	if (form === "areas") made.push("The dashed line is the peak; the bar on it is the time in which it was.");
	if (leftOut) made.push(`${plural(leftOut, "snapshot is", "snapshots are")} left out: of neighbours, the page has the one with the most live memory.`);
	return made.map((words) => h("p.dim", {}, words));
}

export const memory = {
	id: "memory",
	title: "Memory",
	has: (run) => run.memory !== null,
	show({ run, go }, element) {
		element.classList.add("scrolls");
		if (run.memory.missing) {
			element.append(nothing(`There is no picture of memory over time: ${run.memory.missing}.`));
			return {};
		}
		let form = null;
		const place = h("div.page.stretch");
		const choice = chooser("As", Object.entries(FORMS), "areas", (key) => go("memory", key));

		function draw() {
			const title = `Live memory of ${run.command || run.label}`;
			const width = widthFor(element);
			const draws = { heat, addresses: byAddress, areas: overTime, lines: overTime, stacked: bars, grouped: bars };
			const made = draws[form](run.memory, title, width, form);
			place.replaceChildren(made, ...notes(run.memory, form));
		}

		element.append(h("div.bar-of-tools", {}, choice), place);
		return {
			argument(key) {
				const wanted = key in FORMS ? key : (form ?? "areas");
				choice.querySelector("select").value = wanted;
				if (wanted === form) return;
				form = wanted;
				draw();
			},
		};
	},
};
