// SPDX-License-Identifier: GPL-3.0-or-later
// Lines through the experiments of strobe blow, with the 95 % intervals of the points: the picture of strobe plot causal.
import { short } from "../data/format.js";
import { svg } from "./dom.js";
import { colourOf, figure, ticks } from "./figure.js";

const words = (value) => String(Number(value.toPrecision(4))).replace("-", "−");

// Points are [x, y], or [x, y, low, high] with an interval; high may be null.
export function causalFigure({ title, curves, lines, width }) {
	const { zero } = curves;
	const xs = lines.flatMap(({ points }) => points.map(([x]) => x));
	const [low, high] = [xs.reduce((a, b) => Math.min(a, b), zero), xs.reduce((a, b) => Math.max(a, b), zero)];
	const share = (x) => 0.02 + 0.96 * (high > low ? (x - low) / (high - low) : 0.5);
	return figure({
		title,
		axis: curves.y,
		values: [zero, ...lines.flatMap(({ points }) => points.flatMap(([, ...ys]) => ys.filter((y) => y !== null)))],
		format: short,
		width,
		under: ticks(low, high, Math.max(3, width / 110)).filter((x) => x >= low && x <= high).map((x) => [share(x), short(x)]),
		legend: lines.map(({ name }) => name),
		draw(plot) {
			plot.add(plot.text(plot.x(0.5), plot.bottom + 32, curves.x, { "text-anchor": "middle" }));
			lines.forEach(({ name, points }, i) => {
				const colour = colourOf(i);
				const at = ([x, y]) => [plot.x(share(x)), plot.y(y)];
				if (points.length > 1) plot.add(svg("polyline.experiments", { points: points.map((point) => at(point).join(",")).join(" "), fill: "none", stroke: colour, "stroke-width": 1.5, "data-name": name }));
				for (const point of points) {
					const [x, y, least, most] = point;
					const [cx, cy] = at(point);
					if (least !== undefined && most !== null) plot.add(svg("line.interval", { x1: cx, x2: cx, y1: plot.y(least), y2: plot.y(most), stroke: colour, "stroke-width": 1.5 }));
					plot.add(svg("circle.experiment", { cx, cy, r: 3, fill: colour, "data-x": x, "data-y": y }, svg("title", {}, `${name}: ${words(x)}, ${words(y)}${least === undefined ? "" : ` (${words(least)} to ${most === null ? "unknown" : words(most)})`}`)));
				}
			});
		},
	});
}
