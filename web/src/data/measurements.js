// SPDX-License-Identifier: GPL-3.0-or-later
// Series of repeated measurements as figures show them: points, sums over an independent variable, bars.
import { baseName, bytes, duration, short } from "./format.js";

const NS = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };

// The place of a value in its series, from 1: what a series without features is drawn by.
export const SEQUENCE = "sequence";

export function formatOf(unit) {
	if (unit in NS) return (value) => duration(value * NS[unit]);
	if (unit === "B") return bytes;
	return (value) => (unit ? `${short(value)} ${unit}` : short(value));
}

// Where a series was measured, as one text.
export function locationOf(series) {
	const parts = [baseName(series.image), baseName(series.file), series.module, series.class, series.function, series.line].filter(Boolean);
	const workload = series.labels?.workload;
	return [parts.join(":") || series.metric, workload && `(workload ${workload})`].filter(Boolean).join(" ");
}

// The metrics, each with its series: [{title, unit, series}].
export function metricsOf(measurements) {
	const made = new Map();
	measurements.forEach((series, index) => {
		const title = series.unit ? `${series.metric} in ${series.unit}` : series.metric;
		if (!made.has(title)) made.set(title, { title, unit: series.unit ?? "", series: [] });
		made.get(title).series.push({ ...series, index, location: locationOf(series) });
	});
	return [...made.values()];
}

export function featuresOf(list) {
	return [...new Set(list.flatMap((series) => Object.keys(series.features ?? {}))), SEQUENCE];
}

// The values with their x, those that have both.
export function pointsOf(series, feature) {
	const x = feature === SEQUENCE ? series.values.map((_, i) => i + 1) : (series.features?.[feature] ?? []);
	return series.values.map((y, i) => ({ x: x[i], y })).filter((point) => Number.isFinite(point.x) && Number.isFinite(point.y));
}

// What was measured at each x, ascending: n, sum, mean, and the sum of all up to there.
export function flowOf(points) {
	const groups = new Map();
	for (const { x, y } of points) {
		const group = groups.get(x) ?? { x, n: 0, sum: 0 };
		group.n++;
		group.sum += y;
		groups.set(x, group);
	}
	let all = 0;
	return [...groups.values()].sort((a, b) => a.x - b.x).map((group) => ({ ...group, mean: group.sum / group.n, all: (all += group.sum) }));
}

// A bar for each x and series, as high as the sum of its values: {xs, rows: [{location, sums}], totals}. The `most` series
// with the greatest sums stand for themselves, the others for one more.
export function barsOf(list, feature, most = 5) {
	const flows = list.map((series) => ({ location: series.location, flow: flowOf(pointsOf(series, feature)) }));
	const xs = [...new Set(flows.flatMap(({ flow }) => flow.map(({ x }) => x)))].sort((a, b) => a - b);
	const at = new Map(xs.map((x, i) => [x, i]));
	const rows = flows.map(({ location, flow }) => {
		const sums = xs.map(() => 0);
		for (const { x, sum } of flow) sums[at.get(x)] += sum;
		return { location, sums, all: sums.reduce((a, b) => a + b, 0) };
	});
	rows.sort((a, b) => b.all - a.all);
	const others = rows.splice(most);
	if (others.length) rows.push({ location: `${others.length} others`, sums: xs.map((_, i) => others.reduce((sum, row) => sum + row.sums[i], 0)), all: others.reduce((sum, row) => sum + row.all, 0) });
	return { xs, rows, totals: xs.map((_, i) => rows.reduce((sum, row) => sum + row.sums[i], 0)) };
}
