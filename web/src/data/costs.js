// SPDX-License-Identifier: GPL-3.0-or-later
// Bounds, titles, colours and captions for the figures of the costs of calls.
import { plural, short } from "./format.js";
import { formatOf } from "./measurements.js";

export const formatOfCost = (unit) => formatOf(unit === "bytes" ? "B" : unit);

export const titleOf = ({ metric, function: name }, { condition, rest }) => `${metric} of ${name}${condition ? `, ${condition}` : rest ? ", no condition holds" : ""}`;

// The colours of points are those of models; single models and levels of a second feature have further ones.
export const levelColour = (panel, curve, i) => (panel.modes > 1 ? curve.mode : curve.level === null ? 1 : 1 + i);

// The least and the greatest x, and y (index 1: of calls and curves, 2: of distances), of all panels.
export function boundsOf({ panels }, index) {
	const x = [Infinity, -Infinity];
	const y = [Infinity, -Infinity];
	const take = (bounds, value) => {
		if (!Number.isFinite(value)) return;
		bounds[0] = Math.min(bounds[0], value);
		bounds[1] = Math.max(bounds[1], value);
	};
	for (const { points, curves } of panels) {
		for (const point of points) {
			take(x, point[0]);
			take(y, point[index]);
		}
		if (index === 1) for (const curve of curves) for (const point of curve.points) take(y, point[1]);
	}
	return { x, y };
}

const rounded = (text) => text.replace(/\d+\.\d+(?:e[-+]?\d+)?/g, (number) => String(Number(Number(number).toPrecision(5))));

// The models as the language writes them, and what the figures leave out.
export function captionOf(cost) {
	const models = (cost.annotation?.models ?? []).map(({ condition, probability, distribution, mean, sd }) => `${condition ? `[${condition}] ` : ""}${probability === null || probability === undefined ? "" : `{${short(probability)}} `}${distribution}: mean ${rounded(mean)}${sd ? `, standard deviation ${rounded(sd)}` : ""}`);
	const calls = cost.panels.reduce((sum, panel) => sum + panel.calls, 0);
	const drawn = cost.panels.reduce((sum, panel) => sum + panel.points.length, 0);
	const words = [models.length ? `${models.join("; ")}.` : `No model: ${cost.why}.`];
	if (models.length) words.push("Bands, where they are drawn, have 95 % of the calls.");
	if (cost.passed !== null && cost.passed !== undefined) words.push(`${short(100 * cost.passed)} % of the calls lie in the central 95 % of their prediction.`);
	if (cost.others) words.push("Further features have their medians.");
	words.push(drawn < calls ? `The figures have ${drawn} of ${plural(calls, "call")}.` : `${plural(calls, "call")}.`);
	return words.join(" ");
}
