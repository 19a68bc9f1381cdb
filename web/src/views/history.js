// SPDX-License-Identifier: GPL-3.0-or-later
// The history of functions and series over the versions of the project: medians with their spread, and change points.
import { firstMetric, historyMetrics, levelsOf, shortVersion, valuesOf, verdictOf } from "../data/history.js";
import { count, NOTHING, plural, signedPercent } from "../data/format.js";
import { formatOf } from "../data/measurements.js";
import { chooser, h, svg } from "../parts/dom.js";
import { colourOf, figure, widthFor } from "../parts/figure.js";

const MOST_LINES = 6; // as many as there are colours
const ALL = "all";

const line = (plot, x1, y1, x2, y2, more) => svg("line", { x1, y1: plot.y(y1), x2, y2: plot.y(y2), ...more });

function pointOf(plot, { median, low, high, min, max, n, profiles }, x, colour, words) {
	const known = low !== null && high !== null;
	const title = `${words.name}, ${words.version}: median ${words.format(median)}${known ? `, 95 % interval ${words.format(low)} to ${words.format(high)}` : ""}, ${words.format(min)} to ${words.format(max)}; ${plural(n, "value")} of ${plural(profiles, "profile")}`;
	return svg(
		"g.point",
		{ "data-median": median, "data-low": low, "data-high": high, "data-min": min, "data-max": max, tabindex: -1 },
		svg("title", {}, title),
		line(plot, x, min, x, max, { stroke: colour, "stroke-width": 1 }),
		known && line(plot, x, low, x, high, { stroke: colour, "stroke-width": 4, "stroke-opacity": 0.5 }),
		svg("circle", { cx: x, cy: plot.y(median), r: 3, fill: colour }),
	);
}

function drawSeries(plot, series, colour, place, words) {
	for (const { from, to, level } of levelsOf(series)) plot.add(line(plot, place(from - 0.4), level, place(to + 0.4), level, { class: "level", "data-level": level, stroke: colour, "stroke-width": 7, "stroke-opacity": 0.18 }));
	plot.add(svg("polyline.line", { points: series.points.map(({ version, median }) => `${place(version)},${plot.y(median)}`).join(" "), fill: "none", stroke: colour, "stroke-width": 1.5 }));
	for (const point of series.points) plot.add(pointOf(plot, point, place(point.version), colour, { ...words, name: series.name, version: words.versionOf(point.version) }));
}

function drawChange(plot, change, place, words) {
	const x = (place(change.before) + place(change.after)) / 2;
	const by = change.relative === null ? "" : signedPercent(change.relative);
	const label = x < plot.left + plot.width - 60 ? { x: x + 3 } : { x: x - 3, "text-anchor": "end" };
	plot.add(
		svg(
			"g.change",
			{ "data-before": change.before, "data-after": change.after },
			svg("title", {}, `${by} between ${words.versionOf(change.before)} and ${words.versionOf(change.after)}`),
			svg("line", { x1: x, x2: x, y1: plot.top, y2: plot.bottom, stroke: "currentColor", "stroke-opacity": 0.6, "stroke-dasharray": "4 3" }),
			svg("text", { ...label, y: plot.top + 10, "font-weight": "bold" }, by),
		),
	);
}

function chart(history, metric, list, width) {
	const { versions } = history;
	const format = formatOf(metric.unit);
	const step = Math.ceil(versions.length / Math.max(2, Math.floor(width / 90)));
	const words = { format, versionOf: (i) => `${history.kind} ${shortVersion(versions[i])}` };
	return figure({
		title: `${metric.metric} of ${list.length === 1 ? list[0].name : `${list.length} series`} over ${plural(versions.length, history.kind)}`,
		axis: metric.title,
		values: valuesOf(list),
		format,
		width,
		legend: list.length > 1 ? list.map(({ name }) => name) : [],
		under: versions.map((version, i) => [(i + 0.5) / versions.length, shortVersion(version)]).filter((_, i) => i % step === 0),
		draw(plot) {
			const place = (version) => plot.x(Math.min(1, Math.max(0, (version + 0.5) / versions.length)));
			list.forEach((series, i) => drawSeries(plot, series, colourOf(i), place, words));
			for (const series of list) for (const change of series.changes) drawChange(plot, change, place, words);
		},
	});
}

function table(label, heads, rows) {
	return h(
		"div.sideways",
		{},
		h(
			"table.code.pairs",
			{ "aria-label": label },
			h("thead", {}, h("tr", {}, heads.map(([head, number]) => h("th", { scope: "col", class: number ? "number" : null }, head)))),
			h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, i) => h("td", { class: heads[i][1] ? "number" : null }, cell))))),
		),
	);
}

function changeTable({ versions }, list, format) {
	const rows = list.flatMap((series) =>
		series.changes.map(({ before, after, commits, from, to, relative, p }) => {
			const by = relative === null ? NOTHING : signedPercent(relative);
			const name = (i) => h("span", { title: `${versions[i].name}\n${versions[i].subject}` }, shortVersion(versions[i]));
			return [h("span", {}, name(before), "..", name(after)), count(commits), format(from), format(to), h(`span.${to > from ? "more" : "less"}`, {}, by), p.toFixed(3), series.name, versions[after].subject];
		}),
	);
	return rows.length ? table("Changes", [["Range"], ["Versions", true], ["Before", true], ["After", true], ["By", true], ["p", true], ["Of"], ["Subject"]], rows) : null;
}

function valueTable({ versions, kind }, series, format) {
	const rows = [...series.points].reverse().map(({ version, profiles, n, median, low, high, min, max }) => [
		h("span", { title: versions[version].name }, shortVersion(versions[version])),
		count(profiles),
		count(n),
		format(median),
		low === null || high === null ? NOTHING : `${format(low)} to ${format(high)}`,
		format(min),
		format(max),
		versions[version].subject,
	]);
	return table(`Values of ${series.name}`, [[kind], ["Profiles", true], ["Values", true], ["Median", true], ["95 % interval", true], ["Least", true], ["Greatest", true], ["Subject"]], rows);
}

const LEGEND = "A point is the median of the values of one version. A thick line is its 95 % interval, from six values on; a thin line reaches from the least to the greatest value. A dashed line is a change point, and the broad lines are the medians before and after it.";

function notes(history, metric, list) {
	const rest = metric.series.length - list.length;
	return [
		...list.map((series) => h("p.verdict", {}, `${list.length > 1 ? `${series.name}: ` : ""}${verdictOf(series, history.fewest)}`)),
		list.length > 1 && rest > 0 ? h("p.dim", {}, `${plural(rest, "series is", "series are")} not drawn: choose one at Of.`) : null,
		history.left_out ? h("p.dim", {}, `This page leaves out ${plural(history.left_out, "series", "series")}, because it has at most ${count(history.series.length)}: name fewer functions with --history.`) : null,
		h("p.dim", {}, LEGEND),
	];
}

export const history = {
	id: "history",
	title: "History",
	whole: true,
	has: (run) => run.histories.length > 0,
	show({ run, go, link }, element) {
		const state = { history: run.histories[0], metric: null, of: ALL };
		const bar = h("div.bar-of-tools");
		const place = h("div.page.history");
		let metrics = [];
		element.classList.add("scrolls");

		function draw() {
			const { metric, of } = state;
			const list = of === ALL ? metric.series.slice(0, MOST_LINES) : metric.series.filter(({ index }) => String(index) === of);
			const format = formatOf(metric.unit);
			const parts = [chart(state.history, metric, list, widthFor(element)), ...notes(state.history, metric, list), changeTable(state.history, list, format), ...(list.length === 1 ? [valueTable(state.history, list[0], format)] : [])];
			place.replaceChildren(...parts.filter(Boolean));
		}

		function tools() {
			const names = run.histories.map(({ name }, i) => [String(i), name]);
			const all = state.metric.series.length > 1 ? [[ALL, state.metric.series.length > MOST_LINES ? `the first ${MOST_LINES}` : "all"]] : [];
			const series = [...all, ...state.metric.series.map(({ index, name }) => [String(index), name])];
			bar.replaceChildren(
				...(names.length > 1 ? [chooser("History", names, String(run.histories.indexOf(state.history)), (i) => pickHistory(run.histories[Number(i)]))] : []),
				chooser("Metric", metrics.map(({ title }, i) => [String(i), title]), String(metrics.indexOf(state.metric)), (i) => pickMetric(metrics[Number(i)])),
				chooser("Of", series, state.of, (of) => {
					state.of = of;
					link.set("of", of, usualOf());
					draw();
				}),
			);
		}

		const usualOf = () => (state.metric.series.length > 1 ? ALL : String(state.metric.series[0].index));

		function showMetric(metric) {
			state.metric = metric;
			const of = link.get("of");
			state.of = of === ALL || metric.series.some(({ index }) => String(index) === of) ? of : usualOf();
			tools();
			draw();
		}

		function pickMetric(metric) {
			link.set("metric", metric.title, firstMetric(metrics).title);
			link.set("of", null);
			showMetric(metric);
		}

		// The metric and the series of the address, otherwise the usual ones.
		function showHistory(chosen) {
			state.history = chosen;
			metrics = historyMetrics(chosen);
			showMetric(metrics.find(({ title }) => title === link.get("metric")) ?? firstMetric(metrics));
		}

		function pickHistory(chosen) {
			link.set("metric", null);
			link.set("of", null);
			go("history", chosen.name);
		}

		element.append(bar, place);
		showHistory(state.history);
		return {
			// The name of a history: the page may have several.
			argument(name) {
				const found = run.histories.find((each) => each.name === name);
				if (found && found !== state.history) showHistory(found);
			},
		};
	},
};
