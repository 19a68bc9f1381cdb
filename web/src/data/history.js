// SPDX-License-Identifier: GPL-3.0-or-later
// The history of functions over versions as the page shows it: series by metric, their names, changes and verdicts.
import { plural } from "./format.js";

// The series of a history by metric, those with the largest changes first: [{title, metric, unit, series}].
export function historyMetrics(history) {
	const made = new Map();
	history.series.forEach((series, index) => {
		const title = series.unit ? `${series.metric} in ${series.unit}` : series.metric;
		if (!made.has(title)) made.set(title, { title, metric: series.metric, unit: series.unit, series: [] });
		made.get(title).series.push({ ...series, index });
	});
	for (const group of made.values()) {
		const names = seriesNames(group.series);
		group.series = group.series.map((series, i) => ({ ...series, name: names[i] })).sort((a, b) => largestChange(b) - largestChange(a));
	}
	return [...made.values()];
}

// The metric that is shown first: one with values other than 0, if possible the first one, or instructions, which vary least.
export function firstMetric(metrics) {
	const known = metrics.filter(({ series }) => series.some(({ points }) => points.some(({ min, max }) => min !== 0 || max !== 0)));
	if (!known.length || known[0] === metrics[0]) return metrics[0];
	return known.find(({ metric }) => metric === "instructions") ?? known[0];
}

const largestChange = ({ changes }) => changes.reduce((most, { relative }) => Math.max(most, relative === null ? Infinity : Math.abs(relative)), 0);

// Names each series by what differs from the others: its location, labels, command, collector, workload, parameters or machine.
export function seriesNames(list) {
	const keys = ["location", "labels", "command", "collector", "workload", "parameters", "machine"];
	const before = { workload: "workload ", machine: "machine " };
	// A part that follows from those before it tells nothing apart, such as a workload that is in the command.
	const differ = [];
	const kinds = (chosen) => new Set(list.map((each) => JSON.stringify(chosen.map((key) => each[key] ?? null)))).size;
	for (const key of keys) if (kinds([...differ, key]) > kinds(differ)) differ.push(key);
	return list.map((series) => {
		const labels = differ.includes("labels") && series.labels ? ` (${series.labels})` : "";
		const parts = differ.filter((key) => key !== "location" && key !== "labels").map((key) => (series[key] ? (before[key] ?? "") + series[key] : `no ${key}`));
		if (differ.includes("location") || differ.includes("labels") || !differ.length) parts.unshift(series.location + labels);
		return parts.join(", ");
	});
}

// The medians between the changes of a series: [{from, to, level}], from and to being versions.
export function levelsOf({ points, changes }) {
	if (!changes.length) return [];
	const ends = [...changes.map(({ before }) => before), points.at(-1).version];
	const begins = [points[0].version, ...changes.map(({ after }) => after)];
	return begins.map((from, i) => ({ from, to: ends[i], level: i ? changes[i - 1].to : changes[0].from }));
}

// Whether a series has changed, in a sentence.
export function verdictOf({ points, changes }, fewest) {
	if (points.length < fewest) return `Cannot tell whether there is a change: only ${plural(points.length, "version has a profile", "versions have profiles")}, and ${fewest} are needed.`;
	if (!changes.length) return `No change in ${plural(points.length, "version")}.`;
	return `${plural(changes.length, "change")} in ${plural(points.length, "version")}.`;
}

// All numbers that a figure of these series shows. The axis begins at 0 unless all of them are greater than half of the
// greatest one.
export function valuesOf(list) {
	const values = list.flatMap(({ points }) => points.flatMap(({ median, low, high, min, max }) => [median, low, high, min, max])).filter(Number.isFinite);
	const [least, most] = [values.reduce((a, b) => Math.min(a, b), Infinity), values.reduce((a, b) => Math.max(a, b), -Infinity)];
	return least >= 0 && least <= most / 2 ? [0, ...values] : values;
}

// The name of a version where there is little space: ten digits of a commit, or the number of a counter.
export const shortVersion = ({ name }) => name.slice(0, 10);
