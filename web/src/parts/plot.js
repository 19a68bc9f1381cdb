// SPDX-License-Identifier: GPL-3.0-or-later
// A plot over time that follows the theme and the width of its place: around uPlot.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { h } from "./dom.js";
import { theme } from "./theme.js";

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// series: {label, values, colour: name of a variable of the style sheet, scale, format, stepped, dash, points}; times in
// seconds, ascending; axes: {scale, label, format, side}.
export function plot({ label, times, series, axes, height = 260 }) {
	const place = h("div.plot", { role: "img", "aria-label": label });
	let chart = null;

	function options() {
		const line = { stroke: colour("--dim"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 }, font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif" };
		return {
			width: place.clientWidth,
			height,
			cursor: { drag: { x: true, y: false } },
			scales: { x: { time: false } },
			series: [
				{ label: "time", value: (_, v) => (v === null || v === undefined ? "–" : `${v.toFixed(2)} s`) },
				...series.map((each) => ({
					label: each.label,
					scale: each.scale,
					stroke: colour(each.colour),
					width: each.width ?? 1.5,
					dash: each.dash,
					paths: each.stepped ? uPlot.paths.stepped({ align: 1 }) : undefined,
					points: { show: each.points ?? false, size: 5 },
					value: (_, v) => (v === null || v === undefined ? "–" : each.format(v)),
				})),
			],
			axes: [
				{ ...line, values: (_, ticks) => ticks.map((v) => `${v} s`) },
				...axes.map((axis, i) => ({ ...line, scale: axis.scale, label: axis.label, side: axis.side, size: 70, grid: i ? { show: false } : line.grid, values: (_, ticks) => ticks.map(axis.format) })),
			],
		};
	}

	function make() {
		if (!place.clientWidth) return;
		chart?.destroy();
		chart = new uPlot(options(), [times, ...series.map((each) => each.values)], place);
	}

	theme.addEventListener("change", make);
	new ResizeObserver(() => {
		if (!place.clientWidth) return;
		if (!chart) make();
		else if (chart.width !== place.clientWidth) chart.setSize({ width: place.clientWidth, height });
	}).observe(place);
	return place;
}
