// SPDX-License-Identifier: GPL-3.0-or-later
// Figures as SVG that stand alone: box plots, lines and points over the same axes, and a button that saves them.
import { bytes } from "../data/format.js";
import { button, h, svg } from "./dom.js";

const WIDTH = 560;
const HEIGHT = 300;
const LEFT = 62;
const RIGHT = 120;
const TOP = 36;
const BOTTOM = 40;
const LEGEND_ROW = 16;
// Colours that colour-blind readers can distinguish on light and on dark ground (Okabe and Ito), then the further ones of strobe plot.
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#b8a800", "currentColor", "#8a5a44", "#999999"];

export const colourOf = (i) => COLOURS[i % COLOURS.length];

// Returns round numbers from `low` to `high`, approximately `about` of them. With `binary`, they are multiples of a power of 2, as is usual for bytes.
export function ticks(low, high, about = 6, binary = false) {
	const raw = (high - low) / about || 1;
	const unit = 10 ** Math.floor(Math.log10(raw));
	const step = binary && raw >= 1 ? 2 ** Math.ceil(Math.log2(raw)) : [1, 2, 5, 10].map((m) => m * unit).find((s) => s >= raw * 0.999);
	const made = [];
	for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) made.push(Number((k * step).toPrecision(12)));
	return made;
}

// The width of a figure that fills its place: not so small that nothing can be read, nor so large that lines are far apart.
export const widthFor = (element) => Math.max(300, Math.min(1300, element.clientWidth - 56));

export const cut = (words, most) => (words.length > most ? `${words.slice(0, Math.max(most - 1, 1))}…` : words);

// A figure with a title, a vertical axis from the least to the greatest of `values`, and what draw(plot) adds. plot.y(value)
// and plot.x(share of the width) are places, plot.left, plot.width, plot.top and plot.bottom its ends; add(...elements) draws;
// legend(text, i) names colour i at the right. `legend`: names of the colours instead, in rows below the axis, which
// leaves the width to what is drawn; a name may come with a colour of the caller's own, [name, colour].
export function figure({ title, axis, values, format, under = [], width = WIDTH, legend = null, draw }) {
	const finite = values.filter(Number.isFinite);
	let low = finite.reduce((a, b) => Math.min(a, b), Infinity);
	let high = finite.reduce((a, b) => Math.max(a, b), -Infinity);
	const flat = finite.length > 0 && low === 0 && high === 0; // the axis then has only 0: no other value is known to be possible
	if (!finite.length || flat) [low, high] = [0, 1];
	const room = (high - low) * 0.05 || Math.abs(high) * 0.05 || 1;
	[low, high] = [low - room, high + room];
	const right = legend ? 16 : RIGHT;
	const height = HEIGHT + LEGEND_ROW * (legend?.length ?? 0);
	const root = rootOf(title, width, height);
	const text = (x, y, words, more = {}) => svg("text", { x, y, ...more }, words);
	const inside = width - LEFT - right;
	let legends = 0;
	const plot = {
		y: (value) => HEIGHT - BOTTOM - ((value - low) / (high - low)) * (HEIGHT - TOP - BOTTOM),
		x: (share) => LEFT + share * inside,
		left: LEFT,
		width: inside,
		top: TOP,
		bottom: HEIGHT - BOTTOM,
		add: (...elements) => root.append(...elements),
		text,
		legend(words, i) {
			const y = TOP + 8 + 16 * legends++;
			root.append(svg("rect", { x: width - RIGHT + 10, y: y - 8, width: 12, height: 10, fill: colourOf(i) }), text(width - RIGHT + 28, y, words));
		},
	};
	const shown = cut(title, width / 8.2);
	plot.add(svg("text", { x: LEFT - 54, y: 14, "font-size": 13, "font-weight": "bold" }, shown === title ? null : svg("title", {}, title), shown), text(LEFT - 54, TOP - 2, axis));
	for (const value of ticks(low, high, flat ? 1 : 6, format === bytes)) {
		const y = plot.y(value);
		plot.add(svg("line", { x1: LEFT, x2: width - right, y1: y, y2: y, stroke: "currentColor", "stroke-opacity": 0.2 }), text(LEFT - 6, y + 4, format(value), { "text-anchor": "end" }));
	}
	for (const [share, words] of under) plot.add(text(plot.x(share), HEIGHT - BOTTOM + 16, words, { "text-anchor": "middle" }));
	legend?.forEach((each, i) => {
		const [words, colour] = Array.isArray(each) ? each : [each, colourOf(i)];
		const y = HEIGHT + LEGEND_ROW * i + 4;
		plot.add(svg("rect", { x: LEFT, y: y - 9, width: 12, height: 10, fill: colour }), svg("text", { x: LEFT + 18, y }, svg("title", {}, words), cut(words, (width - LEFT) / 6.5)));
	});
	draw(plot);
	return framed(root, title);
}

const rootOf = (title, width, height) => svg("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": title, "font-family": "system-ui, sans-serif", "font-size": 11, fill: "currentColor" });
const framed = (root, title) => h("figure.chart", {}, root, button("Save as SVG", () => save(root, title)));

// A figure of elements that the caller has placed.
export function figureOf(title, width, height, elements) {
	const root = rootOf(title, width, height);
	root.append(...elements);
	return framed(root, title);
}

// A box plot (data/study.js) around x, so wide.
export function drawBox(plot, { low, q1, median, q3, high, outliers, n }, x, width, colour, title) {
	const line = (x1, y1, x2, y2, more = {}) => svg("line", { x1, y1, x2, y2, stroke: colour, ...more });
	const [yLow, y1, yMiddle, y3, yHigh] = [low, q1, median, q3, high].map(plot.y);
	plot.add(
		svg(
			"g.box",
			{ "data-n": n },
			svg("title", {}, title),
			line(x, yLow, x, y1),
			line(x, y3, x, yHigh),
			line(x - width / 4, yLow, x + width / 4, yLow),
			line(x - width / 4, yHigh, x + width / 4, yHigh),
			svg("rect", { x: x - width / 2, y: y3, width, height: Math.max(y1 - y3, 0.5), fill: colour, "fill-opacity": 0.25, stroke: colour }),
			line(x - width / 2, yMiddle, x + width / 2, yMiddle, { "stroke-width": 2 }),
			outliers.map((value) => svg("circle", { cx: x, cy: plot.y(value), r: 2.5, fill: "none", stroke: colour })),
		),
	);
}

// Points {x, mean, low, high} joined by lines, each with its error.
export function drawLine(plot, points, colour) {
	const places = points.map(({ x, mean, low, high }) => ({ x: plot.x(x), y: plot.y(mean), low, high }));
	plot.add(svg("polyline", { points: places.map(({ x, y }) => `${x},${y}`).join(" "), fill: "none", stroke: colour, "stroke-width": 1.5 }));
	for (const { x, y, low, high } of places) {
		plot.add(svg("circle", { cx: x, cy: y, r: 3, fill: colour }));
		if (low !== null) plot.add(svg("path", { d: `M${x - 4} ${plot.y(low)}h8M${x} ${plot.y(low)}V${plot.y(high)}M${x - 4} ${plot.y(high)}h8`, stroke: colour, fill: "none" }));
	}
}

const save = (root, title) => saveText(new XMLSerializer().serializeToString(root), title);

// Lets the browser save an SVG file.
export function saveText(text, title) {
	const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
	h("a", { href: address, download: `${title.replace(/[^A-Za-z0-9]+/g, "-")}.svg` }).click();
	setTimeout(() => URL.revokeObjectURL(address), 1000);
}
