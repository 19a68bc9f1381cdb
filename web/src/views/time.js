// SPDX-License-Identifier: GPL-3.0-or-later
// What happened when: the metric and the budget, what the budget came to, the life of the threads.
import { count, duration, percent, plural, short } from "../data/format.js";
import { isSampled } from "../data/model.js";
import { box } from "../data/study.js";
import { h, nothing, svg } from "../parts/dom.js";
import { colourOf, drawBox, figure, ticks } from "../parts/figure.js";
import { plot } from "../parts/plot.js";

export const time = {
	id: "time",
	title: "Time",
	has: (run) => Boolean(run.qos || run.budget || run.threads.some((thread) => thread.begin_ns !== null)),
	show({ run, runs }, element) {
		element.classList.add("scrolls");
		element.append(h("div.page", {}, [run.qos && quality(run), run.qos && qualityOfAll(run, runs), run.budget && budget(run.budget, run.overshoots), run.threads.length ? threads(run) : null].filter(Boolean)));
	},
};

function quality({ qos, budget: granted }) {
	const side = "min" in qos ? "min" : "max";
	const title = h("h2", {}, `${qos.source}: ${side === "min" ? "at least" : "at most"} ${short(qos[side])}, policy ${qos.policy}`);
	const facts = h("p.lead", {}, `kept in ${count(qos.kept)} of ${plural(qos.readings, "reading")} · ${stateCounts(qos.rows)}`);
	if (!qos.rows.length) return h("section.box", {}, title, nothing("The source gave no value."));
	const period = granted?.period_ns;
	const amounts = qos.rows.map((row) => (period ? (100 * row.budget_ns) / period : row.budget_ns / 1e6));
	const unit = period ? (value) => `${short(value)} %` : (value) => `${short(value)} ms`;
	return h(
		"section.box",
		{},
		title,
		facts,
		plot({
			label: "The metric, its threshold and the budget over time",
			times: qos.rows.map((row) => row.time_ns / 1e9),
			series: [
				{ label: "metric", values: qos.rows.map((row) => row.value), colour: "--accent", scale: "value", format: short, points: qos.rows.length < 200 },
				{ label: "threshold", values: qos.rows.map(() => qos[side]), colour: "--bad", scale: "value", format: short, dash: [6, 4] },
				{ label: "budget", values: amounts, colour: "--good", scale: "budget", format: unit, stepped: true },
			],
			axes: [
				{ scale: "value", label: "metric", format: short, side: 3 },
				{ scale: "budget", label: "budget", format: unit, side: 1 },
			],
		}),
		states(qos.rows),
	);
}

// The metric of all results that have it from the same source, beside one another.
function qualityOfAll(run, runs) {
	const same = runs.filter((each) => each.qos?.source === run.qos.source && each.qos.rows.length);
	const values = same.map((each) => each.qos.rows.map((row) => row.value).filter((value) => value !== null));
	if (same.length < 2) return null;
	const n = same.length;
	const chart = figure({
		title: `${run.qos.source} in ${plural(n, "run")}`,
		axis: "metric",
		values: values.flat(),
		format: short,
		under: same.map((each, i) => [(i + 0.5) / n, String(each.index + 1)]),
		draw: (chart) =>
			values.forEach((each, i) => {
				const five = box(each);
				if (five) drawBox(chart, five, chart.x((i + 0.5) / n), Math.min(40, 200 / n), colourOf(0), `${same[i].label}: median ${short(five.median)}, quartiles ${short(five.q1)} and ${short(five.q3)}`);
			}),
	});
	const rows = same.map((each, i) => {
		const five = box(values[i]);
		const kept = percent(each.qos.readings ? each.qos.kept / each.qos.readings : NaN);
		return h("li", {}, `${each.index + 1}: ${each.label}: kept in ${kept} of ${plural(each.qos.readings, "reading")}${five ? `, median ${short(five.median)}, quartiles ${short(five.q1)} and ${short(five.q3)}` : ""}`);
	});
	return h("section.box", {}, h("h2", {}, "Quality of service in all runs"), chart, h("ul.runs", {}, rows));
}

function stateCounts(rows) {
	const counts = new Map();
	for (const row of rows) counts.set(row.state, (counts.get(row.state) ?? 0) + 1);
	return [...counts].map(([state, n]) => `${count(n)} ${state}`).join(", ");
}

// A band: from each row on, the state that it began.
function states(rows) {
	const end = rows.at(-1).time_ns;
	const begin = rows[0].time_ns;
	const span = Math.max(end - begin, 1);
	const parts = [];
	for (const [i, row] of rows.entries()) {
		const until = rows[i + 1]?.time_ns ?? end;
		if (parts.at(-1)?.state === row.state) parts.at(-1).until = until;
		else parts.push({ state: row.state, from: row.time_ns, until });
	}
	return h("div.band", { role: "img", "aria-label": "The state over time" }, parts.map(({ state, from, until }) => h(`span.${state}`, { "--part": `${(100 * (until - from)) / span}%`, title: `${state}: ${duration(from)} to ${duration(until)}` })));
}

const OWNERS = { thread: " of each thread", process: ", all threads together", priority: ", all threads together, by priority", tree: ", all processes together" };

function budget(b, rows) {
	const parts = b.parts ?? {};
	const facts = [
		["Granted", `${duration(b.amount_ns)} for each ${duration(b.period_ns)} of ${b.clock === "wall" ? "time by the clock" : "CPU time"}${OWNERS[b.share] ?? ""}`],
		["Sampling", b.bursts ? `${b.sampling}, ${plural(b.bursts, "burst")} of each period` : b.sampling],
		["Charged", duration(b.charged_ns)],
		["Measured", `${duration(b.measured_ns)} of ${duration(b.cpu_ns)} (${percent(parts.measured ?? b.measured_ns / b.cpu_ns)}), in ${plural(b.windows, "window")}`],
		["Periods", count(b.periods)],
		["When it is spent", b.native ? "threads run natively" : "threads stay in the engine, which measures nothing"],
		["Exceeded by at most", duration(b.most_overshoot_ns)],
	].filter(([, value]) => value !== undefined && value !== null);
	return h(
		"section.box",
		{},
		h("h2", {}, "Budget"),
		h("div.band.tall", { role: "img", "aria-label": "Where CPU time was spent" }, Object.entries(parts).map(([name, part]) => (part ? h(`span.${name}`, { "--part": `${100 * part}%`, title: `${name}: ${percent(part)}` }) : null))),
		h("p.legend", {}, Object.entries(parts).map(([name, part]) => h("span", {}, h(`i.${name}`), ` ${{ measured: "measured", plain: "in the engine, not measured", native: "native" }[name] ?? name} ${percent(part)}`))),
		h("dl.facts", {}, facts.flatMap(([key, value]) => [h("dt", {}, key), h("dd", {}, value)])),
		overshoots(b.overshoots ?? []),
		overTime(rows),
	);
}

const MOST_POINTS = 5000;

// Each time that the budget was spent: when, and by how much it was exceeded.
function overTime(rows) {
	if (!rows.length) return null;
	const shown = rows.length > MOST_POINTS ? rows.toSorted((a, b) => b.over_ns - a.over_ns).slice(0, MOST_POINTS) : rows;
	const last = rows.reduce((most, row) => Math.max(most, row.time_ns), 1) / 1e9;
	const chart = figure({
		title: "Overshoots over time",
		axis: "ns",
		values: [0, ...shown.map((row) => row.over_ns)],
		format: short,
		under: ticks(0, last).map((value) => [value / last, `${value} s`]),
		draw: (chart) => chart.add(...shown.map((row) => svg("circle.overshoot", { cx: chart.x(row.time_ns / 1e9 / last), cy: chart.y(row.over_ns), r: 2, fill: colourOf(0), "fill-opacity": 0.5 }))),
	});
	return h("div", {}, chart, shown.length < rows.length ? h("p.dim", {}, `The ${count(shown.length)} greatest of ${count(rows.length)} are shown.`) : null);
}

function overshoots(classes) {
	const all = classes.reduce((sum, each) => sum + each.count, 0);
	const shown = classes.slice(0, classes.findLastIndex((each) => each.count > 0) + 1);
	if (!all) return null;
	return h(
		"div",
		{},
		h("h3", {}, `By how much the budget was exceeded when it was spent, ${plural(all, "time")}`),
		h("ol.hottest", {}, shown.map(({ below_ns: below, count: n }, i) =>
			h("li", { "--share": `${(100 * n) / all}%` }, h("span", {}, below === null ? `${duration(classes[i - 1]?.below_ns ?? 0)} and more` : `less than ${duration(below)}`), h("span.image"), h("span.share", {}, count(n))))),
	);
}

const MOST_THREADS = 400;

function threads(run) {
	const known = run.threads.filter((thread) => thread.begin_ns !== null);
	const wall = Math.max((run.run?.seconds ?? 0) * 1e9, ...known.map((thread) => thread.end_ns ?? thread.begin_ns), 1);
	const most = Math.max(...known.map((thread) => thread.samples), 1);
	const samples = (thread) => (isSampled(run) ? plural(thread.samples, "sample") : "");
	return h(
		"section.box",
		{},
		h("h2", {}, "Threads"),
		h("ol.lives", {}, known.slice(0, MOST_THREADS).map((thread) => {
			const from = thread.begin_ns / wall;
			const until = (thread.end_ns ?? wall) / wall;
			const text = `${thread.name || "thread"} ${thread.tid}: from ${duration(thread.begin_ns)} to ${[thread.end_ns === null ? "the end" : duration(thread.end_ns), samples(thread)].filter(Boolean).join(", ")}`;
			return h("li", { title: text }, h("span.who", {}, `${thread.name || "thread"} ${thread.tid}`), h("span.track", {}, h("span.life", { "--from": `${100 * from}%`, "--part": `${Math.max(100 * (until - from), 0.2)}%`, "--heat": (thread.samples / most).toFixed(3) })), h("span.share", {}, samples(thread)));
		})),
		known.length > MOST_THREADS ? h("p.dim", {}, `and ${plural(known.length - MOST_THREADS, "more thread")}: see the tables`) : null,
	);
}
