// SPDX-License-Identifier: GPL-3.0-or-later
// The flame graph: calls where they are known, else where the code lies.
import { baseName, metric, percent, plural } from "../data/format.js";
import { findNamed } from "../data/name.js";
import { byFunction, grouped, withoutRecursion, withoutTemplates } from "../data/shape.js";
import { byPlace, flame as flameOf, invert, isExclusive, metricKeys, nodes, ROOT_NAME, sandwich, shownName, totals } from "../data/trees.js";
import { button, chooser, h } from "../parts/dom.js";
import { colourOf, FlameGraph, heatColour } from "../parts/flamegraph.js";

const hasCalls = (run) => run.paths?.threads.some((thread) => thread.ksf.length) ?? false;

// What can be drawn: {title, note, metrics, trees(state)}.
function sourceOf(run) {
	if (!hasCalls(run)) {
		const metrics = run.shareOf === "samples" ? [["self_share", "time"], ["instructions", "instructions"]] : [["instructions", "instructions"]];
		return { note: "No calls are known in this result: frames are images, source files and functions.", metrics, threads: [], trees: ({ key }) => byPlace(run, key) };
	}
	const { threads, sampled, allocations, wall } = run.paths;
	const keys = metricKeys(threads.flatMap(({ ksf }) => ksf)).filter(isExclusive);
	return {
		note: wall ? "Frames in brackets are what threads waited for." : sampled ? "Widths are numbers of samples." : "",
		metrics: keys.sort((a, b) => rank(b) - rank(a)).map((key) => [key, key === "count" && (sampled || allocations) ? (sampled ? "samples" : "allocations") : metric(key).title]),
		threads,
		allocations,
		trees: ({ thread, group, recursion, templates }) => {
			let trees = grouped(thread === "all" ? threads : [threads[Number(thread)]], group === "functions" || group === "lines" ? "" : group, run.processes);
			if (allocations && group !== "lines" && group !== "image") trees = byFunction(trees);
			if (templates === "hidden") trees = withoutTemplates(trees);
			return recursion === "hidden" ? withoutRecursion(trees) : trees;
		},
	};
}

const FORMS = [["callees", "callers first"], ["inverted", "callees first"], ["sandwich", "one function"]];
const ROOTS = [["top", "at the top"], ["bottom", "at the bottom"]];
const COLOURS = [["image", "by image"], ["heat", "by heat (self)"]];
const OF = [["total", "total"], ["parent", "parent"]];
const SHOWN = [["shown", "shown"], ["hidden", "collapsed"]];
const LEGEND_IMAGES = 8;

function groupsOf({ threads, allocations }) {
	const pids = new Set(threads.map(({ pid }) => pid).filter((pid) => pid !== null && pid !== undefined));
	return [["functions", "functions"], ...(allocations ? [["lines", "functions by call line"]] : []), ["image", "image"], ...(threads.length > 1 ? [["thread", "thread"]] : []), ...(pids.size > 1 ? [["process", "process"]] : [])];
}

// The function with the most of its own.
function hottest(trees, key) {
	const [first] = invert(trees, key, 1).sort((a, b) => b[key] - a[key]);
	return first?.name ?? null;
}

const rank = (key) => ({ wall_ns: 5, on_cpu_ns: 4, waiting_ns: 3, self_ns: 2, time_ns: 2, instructions: 1 })[key] ?? 0;

// What has been chosen, from the address.
function stateOf(link, from, threads, groups) {
	return {
		key: link.one("metric", from.metrics, from.metrics[0][0]),
		thread: link.one("thread", threads, "all"),
		form: link.one("form", FORMS, "callees"),
		root: link.one("root", ROOTS, "top"),
		group: link.one("group", groups, "functions"),
		colour: link.one("colour", COLOURS, "image"),
		of: link.one("of", OF, "total"),
		recursion: link.one("recursion", SHOWN, "shown"),
		templates: link.one("templates", SHOWN, "shown"),
		name: null,
		most: 0, // the greatest self share of a frame
	};
}

export const flame = {
	id: "flame",
	title: "Flame graph",
	has: (run) => hasCalls(run) || run.functions.some((row) => row.instructions > 0),
	show({ run, link }, element) {
		const from = sourceOf(run);
		const threads = [["all", "all, joined"], ...from.threads.map((thread, i) => [String(i), thread.name])];
		const groups = groupsOf(from);
		const state = stateOf(link, from, threads, groups);
		const status = h("span.status", { role: "status" });
		const unfound = h("span.unfound", { role: "status" });
		const legend = h("div.flame-legend", { "aria-label": "Colours" });
		const say = (text) => (status.textContent = status.title = text);
		const idle = () => say([from.note, state.cut ? `${plural(state.cut, "small frame is", "small frames are")} in (other).` : ""].join(" "));
		const heat = (data) => (state.most > 0 ? Math.sqrt(data.self / state.all / state.most) : 0);
		const options = {
			label: "Flame graph",
			colour: (data) => (!data.node ? "var(--flame-root)" : state.colour === "heat" ? heatColour(heat(data)) : data.node.image ? colourOf(data.name, data.node.image) : "var(--flame-root)"),
			describe: (data, root, parent) => describe(data, shareText(data, root, parent, state), state.key, run),
			share: (data, root, parent) => percent(shareOf(data, root, parent, state)),
			found: (share) => (share === null ? idle() : say(`${percent(share)} matches the search`)),
		};
		const graph = new FlameGraph({ ...options, zoomed: (path) => link.set("zoom", path) });
		const callers = new FlameGraph({ ...options, label: "Callers", found: () => null });
		let zoom = link.get("zoom", "");

		function draw() {
			const trees = from.trees(state);
			const title = run.command || run.label;
			if (state.form === "sandwich") return between(trees);
			callers.element.remove();
			const { root, cut } = flameOf(state.form === "inverted" ? invert(trees, state.key) : trees, state.key, { title });
			finish(root, cut);
			graph.setData(root, state.root === "top", zoom);
		}

		// The callers grow upwards from the function, and what it calls hangs below it.
		function between(trees) {
			state.name ??= hottest(trees, state.key);
			const both = sandwich(trees, state.name, state.key);
			const title = `all of ${state.name}`;
			const above = flameOf(both.callers, state.key, { title });
			const below = flameOf(both.callees, state.key, { title });
			finish(below.root, above.cut + below.cut);
			graph.element.before(callers.element);
			callers.setData(above.root, false);
			graph.setData(below.root, true, zoom);
		}

		function finish(root, cut) {
			state.cut = cut;
			state.all = root.value;
			state.most = greatest(root) / (root.value || 1);
			idle();
			legend.replaceChildren(...legendOf(root, state));
		}

		function set(key, value) {
			state[key] = value;
			zoom = "";
			link.set("zoom", "");
			draw();
		}

		const calls = hasCalls(run);
		const form = chooser("Form", FORMS, state.form, (value) => {
			link.set("form", value);
			set("form", value);
		});
		const input = link.search("Function", (text) => [graph, callers].forEach((each) => each.search(text)));
		const collapse = (key, label) => link.box(key, label, "hidden", "shown", (value) => set(key, value));
		element.append(
			h(
				"div.bar-of-tools",
				{},
				link.chooser("metric", "Width", from.metrics, from.metrics[0][0], (key) => set("key", key)),
				from.threads.length > 1 ? link.chooser("thread", "Thread", threads, "all", (thread) => set("thread", thread)) : null,
				calls ? form : null,
				calls ? link.chooser("group", "Frames", groups, "functions", (group) => set("group", group)) : null,
				link.chooser("colour", "Colour", COLOURS, "image", (colour) => set("colour", colour)),
				link.chooser("of", "Percent of the", OF, "total", (of) => {
					state.of = of;
					[graph, callers].forEach((each) => each.relabel());
				}),
				calls ? collapse("recursion", "collapse recursion") : null,
				calls ? collapse("templates", "no template arguments") : null,
				link.chooser("root", "Root", ROOTS, "top", (root) => set("root", root)),
				input,
				button("Show all", () => [graph, callers].forEach((each) => each.reset())),
				unfound,
				status,
			),
			graph.element,
			legend,
		);
		draw();
		link.restore(input);
		return {
			// The address of a function shows it between its callers and callees.
			argument(name, values) {
				unfound.textContent = "";
				if ((values.get("form") ?? "sandwich") !== "sandwich" || !name) return;
				const found = findNamed(byTotal(from.trees(state), state.key), name)?.name;
				if (!found) unfound.textContent = `No function of this graph is called '${name}'.`;
				if (!found || !calls || (state.form === "sandwich" && state.name === found)) return;
				form.querySelector("select").value = state.form = "sandwich";
				state.name = found;
				link.set("form", "sandwich");
				draw();
				zoom = "";
			},
			shown: () => [graph, callers].forEach((each) => each.resize()),
			key(event) {
				if (event.key !== "Escape") return;
				[graph, callers].forEach((each) => each.reset());
				event.preventDefault();
			},
		};
	},
};

// The nodes, those of the function with the greatest subtrees first: of functions with the same short name, the one that costs most is meant.
function byTotal(trees, key) {
	const sums = totals(trees, key);
	return [...nodes(trees)].sort((a, b) => sums.get(b) - sums.get(a));
}

// The greatest self value of a frame that is a function.
function greatest(root) {
	let most = 0;
	const work = [root];
	while (work.length) {
		const { self, node, children } = work.pop();
		if (node && self > most) most = self;
		work.push(...children);
	}
	return most;
}

// The legend of the colours: the images with the greatest sums, or the range of heat.
function legendOf(root, { colour, most }) {
	if (colour === "heat")
		return [h("span", {}, "self:"), h("span", {}, "0 %"), h("span.flame-scale", { "--from": heatColour(0), "--middle": heatColour(0.5), "--to": heatColour(1), "aria-hidden": "true" }), h("span", {}, `${percent(most)} of all`)];
	const sums = new Map();
	const work = [root];
	while (work.length) {
		const { self, node, children } = work.pop();
		if (node?.image) sums.set(node.image, (sums.get(node.image) ?? 0) + self);
		work.push(...children);
	}
	const images = [...sums].sort((a, b) => b[1] - a[1]);
	const one = ([image]) => h("span.flame-image", { title: image }, h("span.flame-swatch", { "--colour": colourOf("", image), "aria-hidden": "true" }), baseName(image));
	return [...images.slice(0, LEGEND_IMAGES).map(one), images.length > LEGEND_IMAGES ? h("span", {}, `and ${plural(images.length - LEGEND_IMAGES, "more image", "more images")}`) : null].filter(Boolean);
}

// The share of a frame in all frames or in its parent, as chosen.
const shareOf = (data, root, parent, { of }) => data.value / (of === "parent" && parent ? parent : root).value;

const shareText = (data, root, parent, state) => `${percent(shareOf(data, root, parent, state))} of ${state.of === "parent" && parent ? `its parent, ${shownName(parent.name)}` : "all"}`;

function describe(data, share, key, run) {
	const format = key === "self_share" ? percent : metric(key).format;
	const { node } = data;
	return [
		h("strong", { title: data.name }, data.name),
		h("span", {}, `${format(data.value)}, ${share}`),
		h("span", {}, `itself ${format(data.self)}`),
		node?.count !== undefined && key !== "count" ? h("span", {}, plural(node.count, run.paths?.allocations ? "allocation" : run.paths?.sampled ? "sample" : "call")) : null,
		node?.image ? h("span.dim", { title: node.image }, baseName(node.image)) : null,
		node?.file && node.line ? h("span.dim", { title: node.file }, `${baseName(node.file)}:${node.line}`) : null,
		node && (node.row || node.offset !== undefined) && run.functions.length ? h("a", { href: `#source/${encodeURIComponent(node.function ?? data.name)}` }, "source") : null,
		node && !node.row && !node.group ? h("a", { href: `#contexts/${encodeURIComponent(data.name)}` }, "contexts") : null,
		node && !node.row && !node.group && node.name !== ROOT_NAME ? h("a", { href: `#flame/${encodeURIComponent(node.name)}` }, "callers and callees") : null,
	].filter(Boolean);
}
