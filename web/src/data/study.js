// SPDX-License-Identifier: GPL-3.0-or-later
// What figures show of a study (strobe tune) and of several runs: five numbers of a distribution, and means.

// The quantile p of ascending values, between neighbours in proportion (type 7 of Hyndman and Fan, the default of R).
export function quantile(ascending, p) {
	const at = (ascending.length - 1) * p;
	const below = Math.floor(at);
	const above = Math.min(below + 1, ascending.length - 1);
	return ascending[below] + (at - below) * (ascending[above] - ascending[below]);
}

// A box as Tukey draws it: whiskers end at the last value within one and a half times the box's height; what lies beyond is an
// outlier. null: no values.
export function box(values) {
	const ascending = values.filter(Number.isFinite).sort((a, b) => a - b);
	if (!ascending.length) return null;
	const [q1, median, q3] = [0.25, 0.5, 0.75].map((p) => quantile(ascending, p));
	const reach = 1.5 * (q3 - q1);
	const within = ascending.filter((v) => v >= q1 - reach && v <= q3 + reach);
	return { n: ascending.length, least: ascending[0], low: within[0], q1, median, q3, high: within.at(-1), most: ascending.at(-1), outliers: ascending.filter((v) => v < within[0] || v > within.at(-1)) };
}

// The mean with its standard error on both sides: {mean, low, high}; without a second value they are not known (null).
export function average(values) {
	const mean = values.reduce((sum, v) => sum + v, 0) / values.length;
	if (values.length < 2) return { mean, low: null, high: null };
	const variance = values.reduce((sum, v) => sum + (v - mean) ** 2, 0) / (values.length - 1);
	const error = Math.sqrt(variance / values.length);
	return { mean, low: mean - error, high: mean + error };
}

// The same of factors: on their logarithms.
export function geometricAverage(values) {
	const { mean, low, high } = average(values.map(Math.log));
	return { mean: Math.exp(mean), low: low === null ? null : Math.exp(low), high: high === null ? null : Math.exp(high) };
}

// The figures of a study: of each response its name in the runs, its title, what the axis says, and how runs are averaged.
export const RESPONSES = [
	{ name: "slowdown_cpu", title: "Slowdown factor, CPU time", axis: "slowdown factor", average: geometricAverage },
	{ name: "slowdown_wall", title: "Slowdown factor, elapsed time", axis: "slowdown factor", average: geometricAverage },
	{ name: "unique_coverage", title: "Unique coverage", axis: "%", average },
	{ name: "raw_coverage", title: "Raw coverage", axis: "%", average },
];

// Values of a response by budget and period, as [{budget, groups: [{period, values}]}]; only whole repetitions, which the
// analysis takes.
export function cells(study, name) {
	const whole = study.analysis?.repetitions ?? Infinity;
	const runs = study.runs.filter((run) => run.repetition < whole);
	return study.budgets.map((budget) => ({
		budget,
		groups: study.periods.map((period) => ({ period, values: runs.filter((run) => run.budget === budget && run.period === period).map((run) => run[name]) })),
	}));
}
