// SPDX-License-Identifier: GPL-3.0-or-later
// The flame graph: calls where they are known, else where the code lies.
import { baseName, metric, percent, plural } from "../data/format.js";
import { byPlace, flame as flameOf, isExclusive, merge, metricKeys } from "../data/trees.js";
import { button, chooser, h, search } from "../parts/dom.js";
import { colourOf, FlameGraph } from "../parts/flamegraph.js";

// What can be drawn: {title, note, metrics, trees(thread, key)}.
function sourceOf(run) {
	if (!run.paths?.threads.some((thread) => thread.ksf.length)) {
		const metrics = run.shareOf === "samples" ? [["self_share", "time"], ["instructions", "instructions"]] : [["instructions", "instructions"]];
		return { note: "No calls are known in this result: frames are images, source files and functions.", metrics, threads: [], trees: (_, key) => byPlace(run, key) };
	}
	const { threads } = run.paths;
	const forests = threads.map((thread) => thread.ksf);
	const keys = metricKeys(forests.flat()).filter(isExclusive);
	return {
		note: "",
		metrics: keys.sort((a, b) => rank(b) - rank(a)).map((key) => [key, metric(key).title]),
		threads,
		trees: (thread) => (thread === "all" ? (forests.length > 1 ? merge(forests) : forests[0]) : forests[Number(thread)]),
	};
}

const rank = (key) => ({ self_ns: 2, time_ns: 2, instructions: 1 })[key] ?? 0;

export const flame = {
	id: "flame",
	title: "Flame graph",
	has: (run) => (run.paths?.threads.some((thread) => thread.ksf.length) ?? false) || run.functions.some((row) => row.instructions > 0),
	show({ run }, element) {
		const from = sourceOf(run);
		const state = { key: from.metrics[0][0], thread: "all", inverted: true };
		const status = h("span.status", { role: "status" });
		const say = (text) => (status.textContent = status.title = text);
		const idle = () => say([from.note, state.cut ? `${plural(state.cut, "small frame")} not drawn.` : ""].join(" "));
		const graph = new FlameGraph({
			label: "Flame graph",
			colour: (data) => (data.node?.image ? colourOf(data.name, data.node.image) : "var(--flame-root)"),
			describe: (data, root) => describe(data, root, state.key, run),
			found: (share) => (share === null ? idle() : say(`${percent(share)} matches the search`)),
		});

		function draw() {
			const { root, cut } = flameOf(from.trees(state.thread, state.key), state.key, { title: run.command || run.label });
			state.cut = cut;
			idle();
			graph.setData(root, state.inverted);
		}

		function set(key, value) {
			state[key] = value;
			draw();
		}

		element.append(
			h(
				"div.bar-of-tools",
				{},
				chooser("Width", from.metrics, state.key, (key) => set("key", key)),
				from.threads.length > 1 ? chooser("Thread", [["all", "all, joined"], ...from.threads.map((thread, i) => [String(i), thread.name])], "all", (thread) => set("thread", thread)) : null,
				chooser("Root", [["top", "at the top"], ["bottom", "at the bottom"]], "top", (where) => set("inverted", where === "top")),
				search("Function", (text) => graph.search(text)),
				button("Show all", () => graph.reset()),
				status,
			),
			graph.element,
		);
		draw();
		return { shown: () => graph.resize() };
	},
};

function describe(data, root, key, run) {
	const format = key === "self_share" ? percent : metric(key).format;
	const { node } = data;
	return [
		h("strong", { title: data.name }, data.name),
		h("span", {}, `${format(data.value)}, ${percent(data.value / root.value)} of all`),
		h("span", {}, `itself ${format(data.self)}`),
		node?.count !== undefined && key !== "count" ? h("span", {}, plural(node.count, "call")) : null,
		node?.image ? h("span.dim", { title: node.image }, baseName(node.image)) : null,
		node && (node.row || node.offset !== undefined) && run.functions.length ? h("a", { href: `#source/${encodeURIComponent(node.function ?? data.name)}` }, "source") : null,
		node && !node.row ? h("a", { href: `#contexts/${encodeURIComponent(data.name)}` }, "contexts") : null,
	].filter(Boolean);
}
