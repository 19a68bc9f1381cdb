// SPDX-License-Identifier: GPL-3.0-or-later
// Repeated measurements: values over a feature with the curve of their model, sums over it, bars, and a heat map.
import { plural, short } from "../data/format.js";
import { barsOf, featuresOf, flowOf, formatOf, metricsOf, pointsOf } from "../data/measurements.js";
import { chooser, h, nothing, svg } from "../parts/dom.js";
import { colourOf, figure, ticks, widthFor } from "../parts/figure.js";
import { heatMap } from "../parts/heat.js";

const FORMS = { scatter: "points and model", mean: "mean at each x", sum: "sum at each x", all: "sum up to each x", stacked: "bars, stacked", grouped: "bars, grouped", heat: "heat map" };
const WHOLE = new Set(["stacked", "grouped", "heat"]); // they show all series of a metric
const MOST_ROWS = 30;
const MOST_CIRCLES = 5000;

const leastOf = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
const mostOf = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);

// A horizontal axis of numbers: shares of the width, and the words under it.
function across(xs) {
	const [low, high] = [leastOf(xs), mostOf(xs)];
	const share = (x) => (high > low ? 0.02 + (0.96 * (x - low)) / (high - low) : 0.5);
	return { share, under: ticks(low, high, 5).filter((x) => x >= low && x <= high).map((x) => [share(x), short(x)]) };
}

const joined = (plot, axis, points, more) => plot.add(svg("polyline", { points: points.map(([x, y]) => `${plot.x(axis.share(x))},${plot.y(y)}`).join(" "), fill: "none", ...more }));

function scatter(series, feature, model, format) {
	const points = pointsOf(series, feature);
	const curve = model?.curve ?? [];
	const axis = across(points.map(({ x }) => x));
	const shown = points.slice(0, MOST_CIRCLES);
	const chart = figure({
		title: `${series.location}: ${series.metric} by ${feature}`,
		axis: series.unit || series.metric,
		values: [...points.map(({ y }) => y), ...curve.map(([, y]) => y)],
		format,
		under: axis.under,
		draw(plot) {
			for (const { x, y } of shown) plot.add(svg("circle.point", { cx: plot.x(axis.share(x)), cy: plot.y(y), r: 2.5, fill: colourOf(0), "fill-opacity": 0.5 }, svg("title", {}, `${feature} ${short(x)}: ${format(y)}`)));
			if (curve.length) joined(plot, axis, curve, { stroke: colourOf(1), "stroke-width": 1.5, class: "curve" });
		},
	});
	const left = points.length > shown.length ? ` The figure has the first ${plural(shown.length, "point")}.` : "";
	return [chart, h("p.caption", {}, `${plural(points.length, "point")}. ${model ? model.caption : "Too few points, or too few different x, for a model."}${left}`)];
}

function flow(series, feature, key, format) {
	const rows = flowOf(pointsOf(series, feature));
	const axis = across(rows.map(({ x }) => x));
	return [
		figure({
			title: `${series.location}: ${FORMS[key]}, ${series.metric} by ${feature}`,
			axis: series.unit || series.metric,
			values: rows.map((row) => row[key]),
			format,
			under: axis.under,
			draw(plot) {
				joined(plot, axis, rows.map((row) => [row.x, row[key]]), { stroke: colourOf(0), "stroke-width": 1.5, class: "flow" });
				for (const row of rows) plot.add(svg("circle.point", { cx: plot.x(axis.share(row.x)), cy: plot.y(row[key]), r: 3, fill: colourOf(0), "data-value": row[key] }, svg("title", {}, `${feature} ${short(row.x)}: ${format(row[key])} of ${plural(row.n, "value")}`)));
			},
		}),
	];
}

function bars(metric, feature, stacked, format) {
	const { xs, rows, totals } = barsOf(metric.series, feature);
	const width = 1 / xs.length;
	return [
		figure({
			title: `${metric.title} by ${feature}`,
			axis: metric.unit,
			values: [0, ...(stacked ? totals : rows.flatMap(({ sums }) => sums))],
			format,
			under: xs.map((x, i) => [(i + 0.5) * width, short(x)]).filter((_, i) => i % Math.ceil(xs.length / 10) === 0),
			draw(plot) {
				const part = stacked ? width * 0.8 : (width * 0.8) / rows.length;
				const base = xs.map(() => 0);
				rows.forEach(({ location, sums }, r) => {
					plot.legend(location, r);
					sums.forEach((sum, i) => {
						const from = stacked ? base[i] : 0;
						const left = plot.x((i + 0.1) * width + (stacked ? 0 : r * part));
						plot.add(svg("rect.bar", { x: left, y: plot.y(from + sum), width: Math.max(part * plot.width - 0.5, 0.5), height: Math.max(plot.y(from) - plot.y(from + sum), 0), fill: colourOf(r), "data-value": sum }, svg("title", {}, `${location}, ${feature} ${short(xs[i])}: ${format(sum)}`)));
						base[i] += sum;
					});
				});
			},
		}),
	];
}

// A column for each x, all of the same width.
function heat(metric, feature, width, format) {
	const { xs, rows } = barsOf(metric.series, feature, MOST_ROWS);
	return [
		heatMap({
			title: `${metric.title} by ${feature}: sum at each x`,
			rows: rows.map(({ location, sums }) => ({ name: location, values: sums })),
			edges: [...xs.keys(), xs.length],
			column: (i) => `${feature} ${short(xs[i])}`,
			label: (i) => (i in xs ? short(xs[i]) : ""),
			format,
			width,
		}),
	];
}

export const measurements = {
	id: "measurements",
	title: "Measurements",
	has: (run) => run.measurements.length > 0,
	show({ run }, element) {
		const metrics = metricsOf(run.measurements);
		const state = { metric: metrics[0], series: null, feature: null, form: "scatter" };
		const bar = h("div.bar-of-tools");
		const place = h("div.page");
		element.classList.add("scrolls");

		function draw() {
			const { metric, series, feature, form } = state;
			const format = formatOf(metric.unit);
			const model = run.models.find((each) => each.series === series.index && each.x === feature);
			const whole = WHOLE.has(form);
			const known = (whole ? metric.series : [series]).some((each) => pointsOf(each, feature).length);
			if (!known) place.replaceChildren(nothing(`No value here has the feature ${feature}: choose another x.`));
			else if (form === "scatter") place.replaceChildren(...scatter(series, feature, model, format));
			else if (form === "heat") place.replaceChildren(...heat(metric, feature, widthFor(element), format));
			else if (whole) place.replaceChildren(...bars(metric, feature, form === "stacked", format));
			else place.replaceChildren(...flow(series, feature, form, format));
		}

		function tools() {
			const features = featuresOf(state.metric.series);
			const usual = run.models.find((each) => each.series === state.series.index)?.x;
			if (!features.includes(state.feature)) state.feature = usual ?? features[0];
			const set = (key) => (value) => (state[key] = value) && draw();
			bar.replaceChildren(
				chooser("Metric", metrics.map(({ title }, i) => [String(i), title]), String(metrics.indexOf(state.metric)), (i) => pick(metrics[Number(i)])),
				chooser("Of", state.metric.series.map(({ location }, i) => [String(i), location]), String(state.metric.series.indexOf(state.series)), (i) => set("series")(state.metric.series[Number(i)])),
				chooser("By", features.map((name) => [name, name]), state.feature, set("feature")),
				chooser("As", Object.entries(FORMS), state.form, set("form")),
			);
		}

		function pick(metric) {
			state.metric = metric;
			state.series = metric.series[0];
			tools();
			draw();
		}

		element.append(bar, place);
		pick(metrics[0]);
	},
};
