// SPDX-License-Identifier: GPL-3.0-or-later
// Records of calls with their annotations: points, curves, bands, a figure for each condition, and the distances from the models.
import { plural, short } from "../data/format.js";
import { boundsOf, captionOf, formatOfCost, levelColour, titleOf } from "../data/costs.js";
import { chooser, h, nothing, svg } from "../parts/dom.js";
import { colourOf, figure, ticks } from "../parts/figure.js";

const FORMS = { cost: "calls and models", residuals: "distances from the models" };

// A horizontal axis of numbers: shares of the width, and the words under it.
function across([low, high]) {
	const share = (x) => (high > low ? 0.02 + (0.96 * (x - low)) / (high - low) : 0.5);
	return { share, under: ticks(low, high, 5).filter((x) => x >= low && x <= high).map((x) => [share(x), short(x)]) };
}

const path = (plot, axis, points) => points.map(([x, y]) => `${plot.x(axis.share(x))},${plot.y(y)}`).join(" ");

function drawCurve(plot, axis, panel, curve, i, bounds) {
	const colour = colourOf(levelColour(panel, curve, i));
	const within = (y) => Math.min(Math.max(y, bounds[0]), bounds[1]);
	const known = curve.points.filter(([, y]) => y !== null);
	const band = known.filter(([, , low]) => low !== null);
	if (band.length) plot.add(svg("polygon.band", { points: path(plot, axis, [...band.map(([x, , low]) => [x, within(low)]), ...band.reverse().map(([x, , , high]) => [x, within(high)])]), fill: colour, "fill-opacity": 0.15 }));
	if (known.length) plot.add(svg("polyline.curve", { points: path(plot, axis, known), fill: "none", stroke: colour, "stroke-width": 1.5 }));
}

// All panels of a cost have the same axes.
function panelFigure(cost, panel, form) {
	const format = formatOfCost(cost.unit);
	const index = form === "cost" ? 1 : 2;
	const { x, y } = boundsOf(cost, index);
	const axis = across(x);
	const points = panel.points.filter((point) => point[index] !== null);
	return figure({
		title: titleOf(cost, panel),
		axis: form === "cost" ? cost.metric : "distance",
		values: [...y, ...(form === "cost" ? [] : [0])],
		format,
		under: axis.under,
		draw(plot) {
			if (form === "cost") panel.curves.forEach((curve, i) => drawCurve(plot, axis, panel, curve, i, y));
			else plot.add(svg("polyline.curve", { points: path(plot, axis, [[x[0], 0], [x[1], 0]]), fill: "none", stroke: "currentColor" }));
			for (const point of points) plot.add(svg("circle.point", { cx: plot.x(axis.share(point[0])), cy: plot.y(point[index]), r: 2.5, fill: colourOf(panel.modes > 1 ? point[3] : 0), "fill-opacity": 0.5 }, svg("title", {}, `${cost.x ?? "call"} ${short(point[0])}: ${format(point[index])}`)));
			if (panel.modes > 1) for (let mode = 0; mode < Math.min(panel.modes, 6); mode++) plot.legend(`model ${mode + 1}`, mode);
			else if (form === "cost") panel.curves.forEach((curve, i) => curve.level !== null && plot.legend(`${cost.second} = ${short(curve.level)}`, levelColour(panel, curve, i)));
		},
	});
}

export const costs = {
	id: "costs",
	title: "Cost of calls",
	has: (run) => run.costs.length > 0,
	show({ run }, element) {
		const state = { at: 0, form: "cost" };
		const bar = h("div.bar-of-tools");
		const place = h("div.page");
		element.classList.add("scrolls");

		function draw() {
			const cost = run.costs[state.at];
			if (state.form === "residuals" && !cost.annotation) place.replaceChildren(nothing(`There is no model: ${cost.why}.`));
			else place.replaceChildren(...cost.panels.map((panel) => panelFigure(cost, panel, state.form)), h("p.caption", {}, captionOf(cost)));
		}

		const names = run.costs.map(({ function: name, metric }, i) => [String(i), `${metric} of ${name}`]);
		bar.append(
			chooser("Cost", names, "0", (value) => {
				state.at = Number(value);
				draw();
			}),
			chooser("As", Object.entries(FORMS), "cost", (value) => {
				state.form = value;
				draw();
			}),
			h("span", {}, plural(run.costs.length, "cost")),
		);
		element.append(bar, place);
		draw();
	},
};
