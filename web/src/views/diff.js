// SPDX-License-Identifier: GPL-3.0-or-later
// What differs between two of the results.
import { baseName, count, percent, plural, signedCount, signedPercent } from "../data/format.js";
import { diffFlame, diffFunctions, diffPlaces, diffTrees, sumDiff } from "../data/diff.js";
import { matcher } from "../data/filter.js";
import { keysOf } from "../data/match.js";
import { isExclusive, merge, metricKeys, shownName } from "../data/trees.js";
import { chooser, h, nothing } from "../parts/dom.js";
import { FlameGraph } from "../parts/flamegraph.js";
import { Grid } from "../parts/grid.js";
import { TreeGrid } from "../parts/tree.js";

const FORMS = { functions: "functions", tree: "trees", flame: "flame graph" };

const changed = (change) => (Math.abs(change) < 0.0005 ? "same" : change > 0 ? "more" : "less");

function functionTable(a, b, link) {
	const share = (title, side) => ({ title, kind: "number", width: "7rem", value: (row) => row[side].self_share, text: (row) => percent(row[side].self_share), share: (row) => row[side].self_share });
	const change = (title, key) => ({ title, kind: "number", width: "9rem", value: (row) => row.b[key] - row.a[key], text: (row) => signedCount(row.b[key] - row.a[key]) });
	const columns = [
		{ title: "Change", help: "Of the self share, B less A", kind: "number", width: "7rem", value: (row) => row.change, text: (row) => signedPercent(row.change), cell: (row) => h(`span.${changed(row.change)}`, {}, signedPercent(row.change)) },
		share("Self in A", "a"),
		share("Self in B", "b"),
		change("Instructions", "instructions"),
		change("Calls", "calls"),
		{ title: "Function", width: "minmax(14rem, 3fr)", value: (row) => row.name, text: (row) => `${row.name}${row.only ? ` (only in ${row.only.toUpperCase()})` : ""}` },
		{ title: "Image", width: "minmax(7rem, 1fr)", value: (row) => baseName(row.image), text: (row) => baseName(row.image) },
	];
	const grid = new Grid(columns, { label: "Functions of both", sort: link.sort(columns, null), sorted: link.sorted(columns) });
	const rows = diffFunctions(a, b); // the largest change first, whichever way
	const handle = {
		element: grid.element,
		status: plural(rows.length, "function"),
		search(text) {
			const fits = matcher(text);
			grid.setRows(fits ? rows.filter((row) => fits(row.name) || fits(row.image ?? "")) : rows);
		},
	};
	handle.search("");
	return handle;
}

// What of two runs can be laid over each other: calls if both know them, else places.
function differences(a, b) {
	if (!a.paths || !b.paths || a.paths.sampled !== b.paths.sampled) {
		const key = a.shareOf === "samples" && b.shareOf === "samples" ? "self_share" : "instructions";
		return sumDiff(diffPlaces(a, b, key));
	}
	const join = (run) => merge(run.paths.threads.map((thread) => thread.ksf));
	const [treesA, treesB] = [join(a), join(b)];
	const keysB = new Set(metricKeys(treesB));
	const keys = metricKeys(treesA).filter((key) => isExclusive(key) && keysB.has(key));
	const key = ["self_ns", "time_ns", "instructions"].find((each) => keys.includes(each)) ?? "count";
	return sumDiff(diffTrees(treesA, treesB, key, keysOf(a, b).function));
}

function treeTable(a, b, link) {
	const share = (title, side) => ({ title, help: "With everything below", kind: "number", width: "7rem", value: (node) => node[side], text: (node) => percent(node[side]), share: (node) => node[side] });
	const of = (node) => node.sumB - node.sumA;
	const columns = [
		{ title: "Function", width: "minmax(18rem, 3fr)" },
		{ title: "Change", kind: "number", width: "7rem", value: of, text: (node) => signedPercent(of(node)), cell: (node) => h(`span.${changed(of(node))}`, {}, signedPercent(of(node))) },
		share("A", "sumA"),
		share("B", "sumB"),
		{ title: "Image", width: "minmax(7rem, 1fr)", value: (node) => baseName(node.image ?? ""), text: (node) => baseName(node.image ?? "") },
	];
	const tree = new TreeGrid(columns, { label: "Trees of both", name: (node) => shownName(node.name), sort: link.sort(columns, null), sorted: link.sorted(columns) });
	const roots = differences(a, b);
	tree.setRoots(roots);
	return { element: tree.element, status: plural(roots.length, "tree"), search: (text) => tree.filter(text) };
}

function flameGraph(a, b, link) {
	const graph = new FlameGraph({
		label: "Differential flame graph",
		zoomed: (path) => link.set("zoom", path),
		colour: ({ change, value }) => colour(value > 0 ? change / value : 0),
		describe: (data) => [h("strong", {}, data.name), ...(data.node ? [h("span", {}, `A ${percent(data.node.sumA)}`), h("span", {}, `B ${percent(data.node.sumB)}`), h(`span.${changed(data.change)}`, {}, signedPercent(data.change))] : [])],
	});
	graph.setData(diffFlame(differences(a, b)), true, link.get("zoom", ""));
	return { element: graph.element, status: "red: more in B; blue: more in A; as wide as in the one that has more", search: (text) => graph.search(text), shown: () => graph.resize() };
}

// From -1, all of it gone, to 1, all of it new.
function colour(part) {
	const strength = Math.min(1, Math.abs(part));
	if (strength < 0.005) return "var(--flame-root)";
	return `color-mix(in srgb, var(${part > 0 ? "--more" : "--less"}) ${Math.round(15 + 65 * strength)}%, var(--flame-root))`;
}

export const diff = {
	id: "diff",
	title: "Differences",
	whole: true,
	has: (_, runs) => runs.length > 1,
	show({ runs, go, link }, element) {
		const names = runs.map((run) => [String(run.index), run.label]);
		const state = { a: Number(link.one("a", names, "0")), b: Number(link.one("b", names, "1")), form: null };
		const place = h("div.fills");
		const status = h("span.status", { role: "status" });
		const sums = h("p.totals");
		const input = link.search("Function", (text) => handle?.search(text));
		const side = (name, usual) => link.chooser(name, name.toUpperCase(), names, usual, (index) => set(name, Number(index)));
		const form = chooser("As", Object.entries(FORMS), "functions", (key) => go("diff", key));
		let handle = null;

		function draw() {
			const [a, b] = [runs[state.a], runs[state.b]];
			const makers = { functions: functionTable, tree: treeTable, flame: flameGraph };
			const empty = state.form === "functions" && !a.functions.length && !b.functions.length;
			handle = empty ? null : makers[state.form](a, b, link);
			place.replaceChildren(handle?.element ?? nothing("Neither result has functions: choose the view of trees."));
			status.textContent = status.title = handle?.status ?? "";
			sums.textContent = totals(a, b);
			if (input.value) handle?.search(input.value);
			handle?.shown?.();
		}

		function set(key, value) {
			if (state.form) link.set("zoom", null);
			state[key] = value;
			draw();
		}

		element.append(h("div.bar-of-tools", {}, side("a", "0"), side("b", "1"), form, input, status), sums, place);
		return {
			argument(key) {
				const fallback = runs.some((run) => run.functions.length) ? "functions" : "tree";
				const wanted = key in FORMS ? key : (state.form ?? fallback);
				form.querySelector("select").value = wanted;
				if (wanted !== state.form) set("form", wanted);
			},
			shown: () => handle?.shown?.(),
		};
	},
};

// Shares are of what each has: that is worth knowing before they are compared.
function totals(a, b) {
	const side = (letter, run) => {
		const facts = [run.run && `${(run.run.cpu_seconds * 1e3).toFixed(1)} ms CPU`, run.result.instructions && `${count(run.result.instructions)} instructions`, run.functions.length && `shares of ${run.shareOf}`];
		return `${letter}: ${facts.filter(Boolean).join(", ") || run.tool}`;
	};
	return `${side("A", a)}   ·   ${side("B", b)}`;
}
