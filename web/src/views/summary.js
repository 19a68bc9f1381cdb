// SPDX-License-Identifier: GPL-3.0-or-later
// What was run, where, what it cost, and what a reader must know of the result.
import { baseName, count, duration, NOTHING, percent, plural, short } from "../data/format.js";
import { ranked, sums } from "../data/blow.js";
import { wallTime } from "../data/wall.js";
import { button, h } from "../parts/dom.js";

const TOP = 12;

export const summary = {
	id: "summary",
	title: "Summary",
	has: (run) => !run.study && !run.fuzz && !run.empty,
	show({ run, go }, element) {
		element.classList.add("scrolls");
		element.append(
			h(
				"div.page",
				{},
				h("h1", {}, run.command || run.label),
				h("p.lead", {}, lead(run)),
				h("div.cards", {}, cards(run).map(card)),
				warnings(run),
				h("div.halves", {}, hottest(run, go), details(run)),
			),
		);
	},
};

function lead(run) {
	const { host, cpu, cores, kernel, start_ns } = run.about;
	const when = start_ns ? new Date(start_ns / 1e6).toISOString().replace("T", " ").slice(0, 19) : null;
	return [`measured with ${run.tool}`, host && `on ${host}`, cpu && `${cpu}${cores ? `, ${plural(cores, "CPU")}` : ""}`, kernel, when && `${when} UTC`].filter(Boolean).join(" · ");
}

function ended({ exit, signal }) {
	if (signal) return `signal ${signal}`;
	return exit < 0 ? "not seen" : String(exit);
}

// One end of the slowdown: with as many digits as the greater one, most, has.
function factor(value, most) {
	return value.toFixed(most < 2 ? 2 : most < 10 ? 1 : 0);
}

// A process that has executed other programs has a row for each.
function processesOf({ processes }) {
	const pids = new Set(processes.map(({ pid }) => pid)).size;
	const all = plural(pids, "process", "processes");
	return pids < processes.length ? `${plural(processes.length, "program")} in ${all}` : all;
}

// {title, value, note} of what the result has.
function cards(run) {
	const made = [];
	const add = (title, value, note = "") => made.push({ title, value, note });
	if (run.chosen) add(run.chosen.length > 1 ? "Processes" : "Process", run.chosen.length > 1 ? count(run.chosen.length) : String(run.chosen[0].pid), `of ${processesOf(run.whole)}: ${[...new Set(run.chosen.map(({ command }) => baseName(command)))].join(", ")}`);
	else if (run.run) {
		const { seconds, cpu_seconds, slowdown_least: least, slowdown_most: most, cache_share } = run.run;
		add("Time", duration(seconds * 1e9), run.blow ? "the whole campaign" : `CPU ${duration(cpu_seconds * 1e9)}`);
		if (least) add("Slowdown", `${factor(least, most)} to ${factor(most, most)} ×`, "estimated, over native CPU time");
		if (run.budget?.parts) add("Measured", percent(run.budget.parts.measured), "of the CPU time");
		else if (!run.blow) add("Under the engine", percent(cache_share), "of the CPU time");
		add("Exit", ended(run.run), run.run.signal ? "killed" : run.run.exit === 0 ? "success" : "");
	}
	const { samples, instructions, blocks } = run.result;
	if (instructions) add("Instructions", short(instructions), blocks ? `${short(blocks)} blocks` : "");
	if (samples) add("Samples", count(samples.program), `${count(samples.kernel)} in the kernel, ${count(samples.engine)} in the engine`);
	if (samples?.waiting_ns !== undefined) add("Waiting", duration(samples.waiting_ns), `${duration(samples.on_cpu_ns)} on the CPU, of all threads`);
	if (run.functions.length) add("Functions", count(run.functions.length), plural(run.images.length, "image"));
	if (run.trace) add("Traced functions", count(run.trace.functions.length), plural(run.trace.functions.reduce((sum, row) => sum + row.all, 0), "call"));
	if (run.blow) addBlow(run.blow, add);
	if (run.threads.length) add("Threads", count(run.threads.length), run.processes.length > 1 ? plural(run.processes.length, "process", "processes") : "");
	if (run.paths?.wall) add("Call stacks", duration(wallTime(run.paths.threads)), `of wall time in ${plural(run.paths.threads.length, "thread")}`);
	else if (run.paths?.sampled) add("Call stacks", count(run.result.samples?.stacks ?? NaN), `of samples in ${plural(run.paths.threads.length, "thread")}`);
	else if (run.paths?.allocations) add("Call stacks", "of allocations", "by function and line");
	else if (run.paths) add("Contexts", `k = ${run.paths.k ?? NOTHING}`, `${run.paths.mode} mode, ${plural(run.paths.threads.length, "thread")}`);
	if (run.budget) add("Budget", percent(run.budget.amount_ns / run.budget.period_ns), `for each ${duration(run.budget.period_ns)}; ${plural(run.budget.windows, "window")}`);
	if (run.qos) add("Metric kept", percent(run.qos.readings ? run.qos.kept / run.qos.readings : NaN), `of ${plural(run.qos.readings, "reading")}`);
	return made;
}

function addBlow(blow, add) {
	const { experiments, functions, faults, runs } = sums(blow);
	add("Experiments", count(experiments), `on ${plural(functions, "function")}`);
	if (blow.baseline && !blow.windows) add("Without noise", duration(blow.baseline.total_ns), plural(runs, "run"));
	add("Faults", count(faults), "under noise");
}

function card({ title, value, note }) {
	return h("div.card", {}, h("div.card-title", {}, title), h("div.card-value", {}, value), h("div.card-note", {}, note));
}

function warnings(run) {
	const texts = [
		...run.notes,
		...run.fallbacks.map(({ cause, count: times, image }) => `Returned to native execution ${times === 1 ? "once" : `${count(times)} times`}: ${cause}${image ? ` (${baseName(image)})` : ""}. What ran natively is not counted.`),
		...run.cut.map(({ what, shown, of }) => `This page has the ${count(shown)} hottest of ${count(of)} ${what.replaceAll("_", " ")}; strobe report --top 0 includes all.`),
	];
	if (run.contextsLeftOut) texts.push(`This page has the hottest calling contexts: ${plural(run.contextsLeftOut, "context is", "contexts are")} left out, because there are too many or they are too deep; strobe paths --from shows all.`);
	if (run.paths?.callers != null) texts.push(`The callers of a function are shown up to ${plural(run.paths.callers, "level")}, because more would be too many for this page.`);
	if (!texts.length) return null;
	return h("section.notes", { "aria-label": "Notes" }, h("ul", {}, texts.map((text) => h("li", {}, text))));
}

function hottest(run, go) {
	const rows = run.functions.filter((row) => row.self_share > 0).slice(0, TOP);
	if (rows.length) return hottestList(`Hottest functions, by ${run.shareOf === "samples" ? "time" : "instructions"}`, rows, "self_share", "source", () => go("functions"));
	if (run.blow) return blownList(run.blow, go);
	const calls = run.trace?.functions.filter((row) => row.share > 0).slice(0, TOP) ?? [];
	if (calls.length) return hottestList("Hottest functions, by self time", calls, "share", "trace", () => go("trace"));
	return tablesOf(run, go);
}

function blownList(blow, go) {
	const { by, rows, text } = ranked(blow);
	return h(
		"section.box",
		{},
		h("h2", {}, `Functions by ${by}`),
		rows.length
			? h("ol.hottest", {}, rows.slice(0, TOP).map(({ row, value }) =>
					h("li", { "--share": `${(value / rows[0].value) * 100}%` }, h("a", { href: `#blow/${encodeURIComponent(row.function)}`, title: `${row.function}\n${row.image}` }, row.function), h("span.image", {}, baseName(row.image)), h("span.share", {}, text(value)))))
			: h("p.nothing", {}, "No effect could be measured."),
		button("All functions", () => go("blow")),
	);
}

function hottestList(title, rows, share, view, all) {
	return h(
		"section.box",
		{},
		h("h2", {}, title),
		h("ol.hottest", {}, rows.map((row) =>
			h("li", { "--share": `${(row[share] / rows[0][share]) * 100}%` },
				h("a", { href: `#${view}/${encodeURIComponent(row.name)}`, title: `${row.name}\n${row.image}` }, row.name),
				h("span.image", {}, baseName(row.image)),
				h("span.share", {}, percent(row[share]))))),
		button("All functions", all),
	);
}

function tablesOf(run, go) {
	if (!run.tables.length) return null;
	return h(
		"section.box",
		{},
		h("h2", {}, "Tables"),
		h("ul.hottest", {}, run.tables.map((table) => h("li", { "--share": "0%" }, h("a", { href: `#tables/${encodeURIComponent(table.name)}` }, table.name), h("span.image", {}, table.help), h("span.share", {}, plural(table.rows.length, "row"))))),
		button("All tables", () => go("tables")),
	);
}

function details(run) {
	const { about } = run;
	const rows = [
		["Result", run.label],
		["Tool", run.tool],
		["Options", about.options],
		["Strobe", about.strobe],
		["Host", about.host],
		["Processor", about.cpu],
		["Processors", about.cores],
		["Machine", about.machine],
		["Kernel", about.kernel],
		["Directory", about.cwd],
		...counters(run),
	].filter(([, value]) => value !== undefined && value !== null && value !== "");
	return h("section.box", {}, h("h2", {}, "Run"), h("dl.facts", {}, rows.flatMap(([key, value]) => [h("dt", {}, key), h("dd", {}, String(value))])));
}

// Numbers of the result itself: what a tool declares.
function counters(run) {
	return Object.entries(run.result)
		.filter(([, value]) => typeof value === "number")
		.map(([key, value]) => [key.replaceAll("_", " "), count(value)]);
}
