// SPDX-License-Identifier: GPL-3.0-or-later
// Changes between two results with repeated measurements, and the two distributions of each function.
import { changeWords, checkOf, direction, findingSentence, steps, suits } from "../data/checks.js";
import { matcher } from "../data/filter.js";
import { count, NOTHING, percent, plural, signedPercent } from "../data/format.js";
import { formatOf } from "../data/measurements.js";
import { box } from "../data/study.js";
import { chooser, h, nothing, search, svg } from "../parts/dom.js";
import { colourOf, drawBox, figure, ticks, widthFor } from "../parts/figure.js";
import { Grid } from "../parts/grid.js";

const SIDES = ["A", "B"];
const MOST_DOTS = 300;
const NARROW = 420; // a box plot needs no more

const formatFor = ({ unit }) => formatOf(unit);
const known = (row, side) => row.samples[side].n > 0;
const middle = (row, side) => (known(row, side) ? formatFor(row)(side ? row.to : row.from) : NOTHING);

const columns = [
	{ title: "Change", width: "11rem", value: (row) => changeWords(row.change), text: (row) => changeWords(row.change), cell: (row) => h(`span.${["less", "same", "more"][direction(row) + 1]}`, {}, changeWords(row.change)) },
	{ title: "By", kind: "number", width: "6.5rem", value: (row) => row.relative, text: (row) => (row.relative === null ? NOTHING : signedPercent(row.relative)) },
	{ title: "In A", kind: "number", width: "6.5rem", value: (row) => (known(row, 0) ? row.from : null), text: (row) => middle(row, 0) },
	{ title: "In B", kind: "number", width: "6.5rem", value: (row) => (known(row, 1) ? row.to : null), text: (row) => middle(row, 1) },
	{ title: "Values", help: "In A and B", kind: "number", width: "7rem", value: (row) => row.samples[0].n + row.samples[1].n, text: (row) => row.samples.map(({ n }) => count(n)).join(", ") },
	{ title: "Function", width: "minmax(10rem, 3fr)", value: (row) => row.name, text: (row) => row.name },
	{ title: "Metric", width: "minmax(6rem, 1fr)", value: (row) => row.metric, text: (row) => row.metric },
];

// Places beside each other for dots, so that equal values are seen: the same on each drawing.
const aside = (i) => ((i * 0.618034) % 1) - 0.5;

function boxes(row, labels, format, width) {
	return figure({
		title: `${row.metric} of ${row.name}: ${row.single ? "single values" : "runs"}`,
		axis: row.unit ? `${row.metric} in ${row.unit}` : row.metric,
		values: row.samples.flatMap(({ values }) => values),
		format,
		width,
		legend: labels,
		under: SIDES.map((side, i) => [0.25 + 0.5 * i, `${side}: ${plural(row.samples[i].n, "value")}`]),
		draw: (plot) =>
			row.samples.forEach(({ values, n }, i) => {
				const five = box(values);
				const x = plot.x(0.25 + 0.5 * i);
				const step = Math.ceil(values.length / MOST_DOTS);
				values.filter((_, k) => k % step === 0).forEach((value, k) => plot.add(svg("circle.value", { cx: x + Math.min(70, 20 + plot.width * 0.12) + 36 * aside(k), cy: plot.y(value), r: 2, fill: colourOf(i), "fill-opacity": 0.5, "data-side": SIDES[i], "data-value": value })));
				drawBox(plot, five, x, 60, colourOf(i), `${SIDES[i]}: median ${format(five.median)}, quartiles ${format(five.q1)} and ${format(five.q3)}, ${plural(n, "value")}`);
			}),
	});
}

function cumulative(row, labels, format, width) {
	const values = row.samples.flatMap((sample) => sample.values);
	const [low, high] = [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
	const share = (x) => (high > low ? 0.02 + (0.96 * (x - low)) / (high - low) : 0.5);
	return figure({
		title: `${row.metric} of ${row.name}: share of values up to x`,
		axis: "share of values",
		values: [0, 1],
		format: (value) => percent(value),
		width,
		legend: labels,
		under: ticks(low, high, Math.max(3, width / 120)).filter((x) => x >= low && x <= high).map((x) => [share(x), format(x)]),
		draw: (plot) =>
			row.samples.forEach((sample, i) => {
				const points = [[low, 0], ...steps(sample.values), [high, 1]];
				plot.add(svg("polyline.cumulative", { points: points.map(([x, y]) => `${plot.x(share(x))},${plot.y(y)}`).join(" "), fill: "none", stroke: colourOf(i), "stroke-width": 1.5, "data-side": SIDES[i] }));
			}),
	});
}

function details(row, check, labels, element) {
	const format = formatFor(row);
	const { few } = suits(row);
	const width = widthFor(element);
	const first = Math.min(NARROW, width);
	const second = width - first - 16 >= 360 ? width - first - 16 : width;
	return [
		h("h2.function", {}, row.name),
		h("p.verdict", {}, findingSentence(row, check.runs_needed, format)),
		few ? nothing(few) : h("div.charts", {}, boxes(row, labels, format, first), cumulative(row, labels, format, second)),
		row.single && !few ? h("p.dim", {}, "Each result is one run: the figures show its single values, and say nothing of how runs differ.") : null,
	].filter(Boolean);
}

export const changes = {
	id: "changes",
	title: "Changes",
	whole: true,
	has: (run) => run.checks.length > 0,
	show({ run: { checks }, runs }, element) {
		let check = checks[0];
		let fits = null;
		const status = h("span.status", { role: "status" });
		const place = h("div.details", { tabindex: 0, role: "region", "aria-label": "Distributions of the function" });
		const grid = new Grid(columns, { label: "Changes", open: draw });
		const labels = () => [check.a, check.b].map((index, i) => `${SIDES[i]}: ${runs[index].label}`);
		const pairs = checks.map(({ a, b }, i) => [String(i), `${runs[a].label} and ${runs[b].label}`]);

		function draw(row) {
			place.replaceChildren(...(row ? details(row, check, labels(), element) : [nothing("The two results have no measurement of one function and metric in common.")]));
		}

		function rows() {
			const list = fits ? check.findings.filter((row) => fits(row.name) || fits(row.metric)) : check.findings;
			const changed = list.filter((row) => direction(row)).length;
			status.textContent = `${plural(changed, "change")} of ${plural(list.length, "function")}${check.left_out ? `; ${plural(check.left_out, "function is", "functions are")} left out` : ""}; changes are at least ${percent(check.smallest)}, and at most ${percent(check.alpha)} of them are false`;
			status.title = status.textContent;
			grid.setRows(list);
		}

		function pick(chosen) {
			check = chosen;
			rows();
			grid.choose(0);
			draw(check.findings[0]);
		}

		element.append(
			h(
				"div.bar-of-tools",
				{},
				checks.length > 1 ? chooser("Compare A and B", pairs, "0", (i) => pick(checks[Number(i)])) : h("span.pair", {}, `A and B: ${pairs[0][1]}`),
				search("Function or metric", (text) => {
					fits = matcher(text);
					rows();
				}),
				status,
			),
			h("div.over", {}, grid.element, place),
		);
		pick(checkOf(checks, 0, 1) ?? checks[0]);
		return {
			// The name of a function.
			argument(name) {
				const row = check.findings.find((each) => each.name === name);
				if (row) draw(row);
			},
		};
	},
};
