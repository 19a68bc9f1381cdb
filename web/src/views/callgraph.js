// SPDX-License-Identifier: GPL-3.0-or-later
// The call graph: functions as boxes, and their calls as arrows.
import { chosenGraph, findNode, graphOfPairs, graphOfTrace, graphOfTrees, OTHER_CALLERS, withExactCalls } from "../data/callgraph.js";
import { baseName, count, duration, metric, percent, plural } from "../data/format.js";
import { byFunction } from "../data/shape.js";
import { isExclusive, merge, metricKeys, OTHER, shownName } from "../data/trees.js";
import { button, h, nothing, search } from "../parts/dom.js";
import { saveText } from "../parts/figure.js";
import { Graph } from "../parts/graph.js";

const LEAST = [0, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2];
const LEVELS = [["1", "1 level"], ["2", "2 levels"], ["3", "3 levels"], ["5", "5 levels"], ["all", "all levels"]];
const RANKS = { wall_ns: 5, on_cpu_ns: 4, waiting_ns: 3, self_ns: 2, time_ns: 2, instructions: 1 };

const hasTrees = (run) => run.paths?.mode === "func" && run.paths.threads.some((thread) => thread.ksf.length);
const pairsOf = (run) => run.tables.find(({ name, columns }) => name === "pairs" && ["caller", "callee", "count"].every((each) => columns.some((column) => column.name === each)));

// What can be drawn: metrics [[key, title, format]], threads, graph(thread, key).
function sourceOf(run) {
	if (hasTrees(run)) return ofTrees(run.paths, pairsOf(run)?.rows ?? []);
	if (run.trace) return { metrics: [["time", "time", duration]], threads: [], graph: () => graphOfTrace(run.trace) };
	return { metrics: [["calls", "calls", count]], threads: [], countsOnly: true, graph: () => graphOfPairs(pairsOf(run).rows) };
}

// pairs: the exact calls of all threads together, if they were counted beside the samples.
function ofTrees({ threads, sampled, allocations }, pairs) {
	const forests = threads.map((thread) => thread.ksf);
	const keys = metricKeys(forests.flat()).filter(isExclusive).sort((a, b) => (RANKS[b] ?? 0) - (RANKS[a] ?? 0));
	const titleOf = (key) => (key === "count" && sampled ? "samples" : key === "count" && allocations ? "allocations" : metric(key).title);
	const of = (thread) => (thread === "all" ? (forests.length > 1 ? merge(forests) : forests[0]) : forests[Number(thread)]);
	return { metrics: keys.map((key) => [key, titleOf(key), metric(key).format]), threads, graph: (thread, key) => {
		const graph = graphOfTrees(allocations ? byFunction(of(thread)) : of(thread), key, !sampled && !allocations);
		return sampled && pairs.length && (thread === "all" || threads.length === 1) ? withExactCalls(graph, pairs) : graph;
	} };
}

// The default of the least share: the first one from 1 % on with which at most this many functions are drawn.
const USUAL_NODES = 48;
const firstLeast = (graph) => LEAST.slice(3).find((least) => chosenGraph(graph, { least }).nodes.length <= USUAL_NODES) ?? 0.05;

export const callgraph = {
	id: "callgraph",
	title: "Call graph",
	has: (run) => hasTrees(run) || (run.trace?.functions.some(({ callees }) => callees.length) ?? false) || (pairsOf(run)?.rows.length ?? 0) > 0,
	show({ run, link }, element) {
		const from = sourceOf(run);
		const threads = [["all", "all, joined"], ...from.threads.map((thread, i) => [String(i), thread.name])];
		const metrics = from.metrics.map(([key, title]) => [key, title]);
		const metricOf = (key) => from.metrics.find((each) => each[0] === key);
		const leasts = LEAST.map((least) => [String(least), percent(least)]);
		const given = link.one("least", leasts, null);
		const state = { metric: metricOf(link.one("metric", metrics, metrics[0][0])), thread: link.one("thread", threads, "all"), least: given === null ? null : Number(given), centre: null, levels: link.one("levels", LEVELS, "2") };
		const status = h("span.status", { role: "status" });
		const details = h("div.flame-details", { role: "status" });
		const input = search("Around a function", (text) => centreOn(findNode(state.graph, text)?.key ?? null, text));
		const share = (value) => (state.graph.all > 0 ? value / state.graph.all : 0);
		const picture = new Graph({
			label: `Call graph of ${run.command || run.label}`,
			choose: (node) => details.replaceChildren(...(node ? describe(node, state, from, run) : hint(from))),
			open: (node) => {
				input.value = shownName(node.name);
				centreOn(node.key, input.value);
			},
			describe: (node) => ({ name: shownName(node.name), mark: node.recursive ? " ↻" : "", line: lineOf(node, from, share) }),
			title: (node) => titleOf(node, state, from, share),
			share: (node) => share(from.countsOnly ? node.calls : node.total),
			edge: (edge) => ({ share: share(edge.value), text: edgeText(edge, state.graph, from, share), title: edgeTitle(edge, state, share) }),
		});

		function graphFor() {
			state.graph = from.graph(state.thread, state.metric[0]);
			state.least ??= firstLeast(state.graph);
			leastChoice.querySelector("select").value = String(state.least);
		}

		function draw() {
			const levels = state.levels === "all" ? Infinity : Number(state.levels);
			if (state.centre !== null && !state.graph.nodes.some(({ key }) => key === state.centre)) state.centre = null;
			picture.element.replaceChildren(state.graph.all > 0 ? picture.picture : nothing(`The sum of '${state.metric[1]}' is 0: there is nothing to draw.`));
			const shown = chosenGraph(state.graph, { least: state.least, centre: state.centre, levels });
			picture.setGraph(shown);
			picture.choose(state.centre);
			if (state.centre !== null) picture.reveal(state.centre);
			status.textContent = status.title = statusOf(shown, state);
		}

		function centreOn(key, text = "") {
			state.centre = key;
			draw();
			if (text && key === null) status.textContent = `No function has '${text}' in its name: all are shown. ${status.textContent}`;
		}

		function set(key, value) {
			state[key] = value;
			if (key === "thread" || key === "metric") graphFor();
			draw();
		}

		const leastChoice = link.chooser("least", "Hide below", leasts, null, (value) => set("least", Number(value)));
		element.append(
			h(
				"div.bar-of-tools",
				{},
				from.metrics.length > 1 ? link.chooser("metric", "Metric", metrics, metrics[0][0], (key) => set("metric", metricOf(key))) : null,
				from.threads.length > 1 ? link.chooser("thread", "Thread", threads, "all", (thread) => set("thread", thread)) : null,
				leastChoice,
				input,
				link.chooser("levels", "Within", LEVELS, "2", (value) => set("levels", value)),
				button("+", () => picture.zoom(1.25), { "aria-label": "Zoom in" }),
				button("−", () => picture.zoom(0.8), { "aria-label": "Zoom out" }),
				button("Fit", () => picture.fit()),
				button("Show all", () => {
					input.value = "";
					centreOn(null);
				}),
				button("Save as SVG", () => saveText(picture.file(), picture.options.label)),
				status,
			),
			h("div.fills.flame-place", {}, picture.element, details),
		);
		graphFor();
		draw();
		return {
			argument(name) {
				if (!name) return;
				const node = findNode(state.graph, name);
				input.value = node ? shownName(node.name) : name;
				centreOn(node?.key ?? null, name);
			},
			shown: () => picture.resize(),
			key: (event) => event.key !== "Enter" && picture.onKey(event),
		};
	},
};

function lineOf(node, { countsOnly }, share) {
	if (node.other) return node.name === OTHER ? `self ${percent(share(node.self))}` : "not drawn";
	return countsOnly ? plural(node.calls, "call") : `self ${percent(share(node.self))}, total ${percent(share(node.total))}`;
}

function titleOf(node, { metric: [, title, format], graph }, { countsOnly }, share) {
	const name = shownName(node.name);
	if (node.other) return node.name === OTHER ? `${name}: functions that are not drawn have ${format(node.self)} themselves, ${percent(share(node.self))} of the ${title}` : `${name}: functions that are not drawn, where they call others`;
	const calls = graph.counted ? `${plural(node.calls, "call")}` : "";
	if (countsOnly) return `${name}: ${calls}`;
	return [`${name}: itself ${format(node.self)}`, `with callees ${format(node.total)} of ${format(graph.all)} (${title})`, calls, node.recursive ? "recursive" : ""].filter(Boolean).join(", ");
}

// The number of calls of an edge if it is known. What is pooled in (other) has edges without a sample, which are not in the graph.
function callsOf({ from, to, calls }, { counted, exact }) {
	return counted || (exact && from !== OTHER_CALLERS && to !== OTHER) ? calls : 0;
}

function edgeText(edge, graph, { countsOnly }, share) {
	if (countsOnly) return `${count(edge.calls)} ×`;
	const calls = callsOf(edge, graph);
	return calls ? `${percent(share(edge.value))}, ${count(calls)} ×` : percent(share(edge.value));
}

function edgeTitle(edge, { metric: [, title, format], graph }, share) {
	const name = (key) => shownName(graph.nodes.find((node) => node.key === key)?.name ?? key);
	const calls = callsOf(edge, graph) ? `, ${plural(edge.calls, "call")}` : "";
	return `${name(edge.from)} → ${name(edge.to)}: ${format(edge.value)} (${title}), ${percent(share(edge.value))} of all${calls}`;
}

function statusOf({ nodes, edges, hidden, cut }, { graph }) {
	const real = nodes.filter(({ other }) => !other);
	const drawn = `${count(real.length)} of ${plural(graph.nodes.length, "function")}, ${plural(edges.filter(({ from, to }) => real.some(({ key }) => key === from) && real.some(({ key }) => key === to)).length, "edge")}`;
	return [drawn, hidden ? "what is not drawn is in (other)" : "", cut ? `${plural(cut, "function")} above the limit ${cut === 1 ? "is" : "are"} left out` : ""].filter(Boolean).join("; ");
}

const hint = ({ countsOnly }) => [h("span.dim", {}, `Colours and widths are shares of all ${countsOnly ? "calls" : "costs"}; ↻ marks recursion. Click a function to select it, double-click to centre on it. The wheel zooms, dragging moves.`)];

function describe(node, { metric: [, title, format], graph }, { countsOnly }, run) {
	const name = shownName(node.name);
	const to = (view) => `#${view}/${encodeURIComponent(node.name)}`;
	const known = run.functions.some((row) => row.name === node.name);
	return [
		h("strong", { title: name }, name),
		countsOnly ? null : h("span", {}, `${format(node.total)}, ${percent(node.total / graph.all)} of all ${title}`),
		countsOnly ? null : h("span", {}, `itself ${format(node.self)}`),
		graph.counted ? h("span", {}, plural(node.calls, "call")) : null,
		node.recursive ? h("span", {}, "recursive") : null,
		node.image ? h("span.dim", { title: node.image }, baseName(node.image)) : null,
		node.file && node.line ? h("span.dim", { title: node.file }, `${baseName(node.file)}:${node.line}`) : null,
		h("a", { href: to("callgraph") }, "centre on it"),
		known ? h("a", { href: to("source") }, "source") : null,
		run.paths ? h("a", { href: to("contexts") }, "contexts") : null,
		run.paths ? h("a", { href: to("flame") }, "callers and callees") : null,
		run.trace ? h("a", { href: `#trace/${encodeURIComponent(node.name)}/${encodeURIComponent(node.image ?? "")}` }, "all its calls") : null,
	].filter(Boolean);
}
