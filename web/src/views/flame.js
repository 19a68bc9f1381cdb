// SPDX-License-Identifier: GPL-3.0-or-later
// The flame graph: calls where they are known, else where the code lies.
import { baseName, metric, percent, plural } from "../data/format.js";
import { byPlace, flame as flameOf, invert, isExclusive, merge, metricKeys, nodes, ROOT_NAME, sandwich } from "../data/trees.js";
import { button, chooser, h, search } from "../parts/dom.js";
import { colourOf, FlameGraph } from "../parts/flamegraph.js";

// What can be drawn: {title, note, metrics, trees(thread, key)}.
function sourceOf(run) {
	if (!run.paths?.threads.some((thread) => thread.ksf.length)) {
		const metrics = run.shareOf === "samples" ? [["self_share", "time"], ["instructions", "instructions"]] : [["instructions", "instructions"]];
		return { note: "No calls are known in this result: frames are images, source files and functions.", metrics, threads: [], trees: (_, key) => byPlace(run, key) };
	}
	const { threads, sampled, allocations, wall } = run.paths;
	const forests = threads.map((thread) => thread.ksf);
	const keys = metricKeys(forests.flat()).filter(isExclusive);
	return {
		note: wall ? "Frames in brackets are what threads waited for." : sampled ? "Widths are numbers of samples." : "",
		metrics: keys.sort((a, b) => rank(b) - rank(a)).map((key) => [key, key === "count" && (sampled || allocations) ? (sampled ? "samples" : "allocations") : metric(key).title]),
		threads,
		trees: (thread) => (thread === "all" ? (forests.length > 1 ? merge(forests) : forests[0]) : forests[Number(thread)]),
	};
}

const FORMS = [["callees", "callers first"], ["inverted", "callees first"], ["sandwich", "one function"]];

// The function with the most of its own.
function hottest(trees, key) {
	const [first] = invert(trees, key, 1).sort((a, b) => b[key] - a[key]);
	return first?.name ?? null;
}

const rank = (key) => ({ wall_ns: 5, on_cpu_ns: 4, waiting_ns: 3, self_ns: 2, time_ns: 2, instructions: 1 })[key] ?? 0;

export const flame = {
	id: "flame",
	title: "Flame graph",
	has: (run) => (run.paths?.threads.some((thread) => thread.ksf.length) ?? false) || run.functions.some((row) => row.instructions > 0),
	show({ run }, element) {
		const from = sourceOf(run);
		const state = { key: from.metrics[0][0], thread: "all", inverted: true, form: "callees", name: null };
		const status = h("span.status", { role: "status" });
		const say = (text) => (status.textContent = status.title = text);
		const idle = () => say([from.note, state.cut ? `${plural(state.cut, "small frame is", "small frames are")} in (other).` : ""].join(" "));
		const options = {
			label: "Flame graph",
			colour: (data) => (data.node?.image ? colourOf(data.name, data.node.image) : "var(--flame-root)"),
			describe: (data, root) => describe(data, root, state.key, run),
			found: (share) => (share === null ? idle() : say(`${percent(share)} matches the search`)),
		};
		const graph = new FlameGraph(options);
		const callers = new FlameGraph({ ...options, label: "Callers", found: () => null });

		function draw() {
			const trees = from.trees(state.thread, state.key);
			const title = run.command || run.label;
			if (state.form === "sandwich") return between(trees);
			callers.element.remove();
			const { root, cut } = flameOf(state.form === "inverted" ? invert(trees, state.key) : trees, state.key, { title });
			state.cut = cut;
			idle();
			graph.setData(root, state.inverted);
		}

		// The callers grow upwards from the function, and what it calls hangs below it.
		function between(trees) {
			state.name ??= hottest(trees, state.key);
			const both = sandwich(trees, state.name, state.key);
			const title = `all of ${state.name}`;
			const above = flameOf(both.callers, state.key, { title });
			const below = flameOf(both.callees, state.key, { title });
			state.cut = above.cut + below.cut;
			idle();
			graph.element.before(callers.element);
			callers.setData(above.root, false);
			graph.setData(below.root, true);
		}

		function set(key, value) {
			state[key] = value;
			draw();
		}

		const calls = Boolean(run.paths?.threads.some((thread) => thread.ksf.length));
		const form = chooser("Form", FORMS, state.form, (value) => set("form", value));
		element.append(
			h(
				"div.bar-of-tools",
				{},
				chooser("Width", from.metrics, state.key, (key) => set("key", key)),
				from.threads.length > 1 ? chooser("Thread", [["all", "all, joined"], ...from.threads.map((thread, i) => [String(i), thread.name])], "all", (thread) => set("thread", thread)) : null,
				calls ? form : null,
				chooser("Root", [["top", "at the top"], ["bottom", "at the bottom"]], "top", (where) => set("inverted", where === "top")),
				search("Function", (text) => [graph, callers].forEach((each) => each.search(text))),
				button("Show all", () => [graph, callers].forEach((each) => each.reset())),
				status,
			),
			graph.element,
		);
		draw();
		return {
			// The address of a function shows it between its callers and callees.
			argument(name) {
				if (!calls || !name || ![...nodes(from.trees(state.thread, state.key))].some((node) => node.name === name)) return;
				form.querySelector("select").value = state.form = "sandwich";
				state.name = name;
				draw();
			},
			shown: () => [graph, callers].forEach((each) => each.resize()),
		};
	},
};

function describe(data, root, key, run) {
	const format = key === "self_share" ? percent : metric(key).format;
	const { node } = data;
	return [
		h("strong", { title: data.name }, data.name),
		h("span", {}, `${format(data.value)}, ${percent(data.value / root.value)} of all`),
		h("span", {}, `itself ${format(data.self)}`),
		node?.count !== undefined && key !== "count" ? h("span", {}, plural(node.count, run.paths?.allocations ? "allocation" : run.paths?.sampled ? "sample" : "call")) : null,
		node?.image ? h("span.dim", { title: node.image }, baseName(node.image)) : null,
		node?.file && node.line ? h("span.dim", { title: node.file }, `${baseName(node.file)}:${node.line}`) : null,
		node && (node.row || node.offset !== undefined) && run.functions.length ? h("a", { href: `#source/${encodeURIComponent(node.function ?? data.name)}` }, "source") : null,
		node && !node.row ? h("a", { href: `#contexts/${encodeURIComponent(data.name)}` }, "contexts") : null,
		node && !node.row && node.name !== ROOT_NAME ? h("a", { href: `#flame/${encodeURIComponent(node.name)}` }, "callers and callees") : null,
	].filter(Boolean);
}
