// SPDX-License-Identifier: GPL-3.0-or-later
// A heat map: a row of cells for each name, darker where the value is greater.
import { svg } from "./dom.js";
import { runsOf } from "../data/memory.js";
import { cut, figureOf, ticks } from "./figure.js";

const ROW = 20;
const TOP = 30;
const BOTTOM = 64;
const HOT = "#d55e00";
const STEPS = 24;

// rows: [{name, values}]; edges: where each column begins, and where the last one ends; column(i): what a column is, in words;
// label: words under the axis at a number. Cells of 0 are not drawn, and negative ones have the colour of 0.
export function heatMap({ title, rows, edges, column, label, format, width }) {
	const left = Math.min(230, Math.round(width * 0.35));
	const bottom = TOP + rows.length * ROW;
	const inside = width - left - 16;
	const [low, high] = [edges[0], edges.at(-1)];
	const x = (value) => left + (high > low ? (value - low) / (high - low) : 0) * inside;
	const most = rows.reduce((max, { values }) => values.reduce((a, b) => Math.max(a, b ?? 0), max), 0);
	const strength = (value) => 0.08 + (most > 0 ? (0.92 * Math.max(value, 0)) / most : 0);
	const parts = [svg("text", { x: 8, y: 14, "font-size": 13, "font-weight": "bold" }, cut(title, width / 8.2))];
	const text = (at, y, words, anchor) => parts.push(svg("text", { x: at, y, "text-anchor": anchor }, words));
	rows.forEach(({ name, values }, r) => {
		const y = TOP + r * ROW;
		parts.push(svg("text", { x: left - 8, y: y + 14, "text-anchor": "end" }, svg("title", {}, name), cut(name, left / 7)));
		for (const { from, to, value } of runsOf(values)) {
			const words = `${name}, ${column(from)}${to > from + 1 ? ` to ${column(to - 1)}` : ""}: ${format(value)}`;
			parts.push(svg("rect.cell", { x: x(edges[from]), y, width: Math.max(x(edges[to]) - x(edges[from]), 0.5), height: ROW - 1, "shape-rendering": "crispEdges", fill: HOT, "fill-opacity": strength(value).toFixed(3), "data-value": value }, svg("title", {}, words)));
		}
	});
	for (const value of ticks(low, high, Math.max(3, inside / 110)).filter((at) => at >= low && x(at) < width - 24)) text(x(value), bottom + 16, label(value), "middle");
	for (let i = 0; i < STEPS; i++) parts.push(svg("rect", { x: left + 5 * i, y: bottom + 34, width: 5, height: 12, "shape-rendering": "crispEdges", fill: HOT, "fill-opacity": (0.08 + (0.92 * i) / (STEPS - 1)).toFixed(3) }));
	text(left - 8, bottom + 44, format(0), "end");
	text(left + 5 * STEPS + 8, bottom + 44, format(most), "start");
	return figureOf(title, width, bottom + BOTTOM, parts);
}
