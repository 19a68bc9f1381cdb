// SPDX-License-Identifier: GPL-3.0-or-later
// Calling contexts: each function with its callers and theirs, or with what it calls.
import { baseName, count, duration, metric, percent, plural } from "../data/format.js";
import { merge, metricKeys, nodes, SHARES, sharesOf, shownName, totals } from "../data/trees.js";
import { isWait } from "../data/wall.js";
import { h } from "../parts/dom.js";
import { TreeGrid } from "../parts/tree.js";

const DIRECTIONS = { kccf: "functions and their callers", ksf: "functions and what they call" };

// What a percentage of a tree is of, for people who point at the heading of its column.
function shareHelp(of, direction, { sampled, wall, allocations }) {
	const what = wall ? "wall time" : sampled ? "samples" : allocations ? "allocations" : "calls";
	if (direction === "kccf") return { total: `Share of all ${what}`, parent: `Share of the ${what} in the row above it, of those that came through these callers`, top: `Share of the ${what} of the function at the top that came through these callers` }[of];
	if (what === "calls") return { total: "Share of all calls", parent: "Share of all calls that the same function makes in this context", top: "Share of all calls below the node at the top" }[of];
	return `Share of the ${what} ${{ total: "of all", parent: "of its parent", top: "of the node at the top" }[of]}, with what was called`;
}

export const contexts = {
	id: "contexts",
	title: "Contexts",
	has: (run) => run.paths !== null,
	show({ run, link }, element) {
		const { threads, k } = run.paths;
		const directions = Object.keys(DIRECTIONS).filter((key) => threads.some((thread) => thread[key].length));
		const shown = directions.map((key) => [key, DIRECTIONS[key]]);
		const choices = [["all", "all, joined"], ...threads.map((thread, i) => [String(i), thread.name])];
		const state = { direction: link.one("direction", shown, directions[0]), thread: link.one("thread", choices, "all"), of: link.one("of", SHARES, "total") };
		const place = h("div.fills");
		const status = h("span.status", { role: "status" });
		const input = link.search("Function", (text) => tree.filter(text));
		let tree;

		function draw() {
			const chosen = state.thread === "all" ? threads : [threads[Number(state.thread)]];
			const roots = chosen.length > 1 ? merge(chosen.map((thread) => thread[state.direction])) : chosen[0][state.direction];
			tree = makeTree(roots, state, run, link);
			tree.setRoots(roots);
			if (input.value) tree.filter(input.value);
			place.replaceChildren(tree.element);
			status.textContent = `${run.paths.wall ? "stacks of wall time" : run.paths.sampled ? "stacks of samples" : run.paths.allocations ? "call stacks of allocations" : `k = ${k}`}; ${plural(roots.length, "tree")}, ${plural([...nodes(roots)].length, "node")}`;
		}

		element.append(
			h(
				"div.bar-of-tools",
				{},
				directions.length > 1 ? link.chooser("direction", "Show", shown, directions[0], (key) => set("direction", key)) : h("span.status", {}, DIRECTIONS[directions[0]]),
				threads.length > 1 ? link.chooser("thread", "Thread", choices, "all", (thread) => set("thread", thread)) : null,
				link.chooser("of", "Percent of the", SHARES, "total", (of) => {
					link.set("sort", link.get("sort", "").replace(/(^|-)Of the .*/, `$1Of the ${of}`));
					set("of", of);
				}),
				input,
				status,
			),
			place,
		);

		function set(key, value) {
			state[key] = value;
			draw();
		}

		draw();
		link.restore(input);
		return {
			argument(name) {
				if (!name) return;
				input.value = name;
				tree.filter(name);
			},
		};
	},
};

// How often a node was called; of samples and times, those in it and, where its children are what it called, in these.
function amounts(roots, direction, { sampled, allocations }, key = "count") {
	const sums = (sampled || allocations) && direction === "ksf" ? totals(roots, key) : null;
	return sums ? (node) => sums.get(node) : (node) => node[key] ?? 0;
}

// The columns of numbers beside the first: of wall time its parts.
function moreColumns(roots, direction, run) {
	const column = (key, title, value) => ({ title, kind: "number", width: "8.5rem", value, text: (node) => metric(key).format(value(node) ?? NaN) });
	if (!run.paths.wall) return metricKeys(roots).slice(1).map((key) => column(key, metric(key).title, (node) => node[key] ?? null));
	const parts = [["on_cpu_ns", "On the CPU"], ["waiting_ns", "Waiting"], ["count", "Samples"]];
	return parts.map(([key, title]) => column(key, title, amounts(roots, direction, run.paths, key)));
}

function makeTree(roots, { direction, of }, run, link) {
	const { sampled, allocations, wall } = run.paths;
	const amount = amounts(roots, direction, run.paths, wall ? "wall_ns" : "count");
	const share = sharesOf(roots, amount, direction === "kccf" || sampled || allocations)[of];
	const columns = [
		{ title: "Function", width: "minmax(18rem, 3fr)" },
		{ title: wall ? "Wall time" : sampled ? "Samples" : allocations ? "Allocations" : "Calls", kind: "number", width: "8.5rem", value: amount, text: (node) => (wall ? duration : count)(amount(node)) },
		{ title: `Of the ${of}`, help: shareHelp(of, direction, run.paths), kind: "number", width: "7rem", value: share, text: (node) => percent(share(node)), share },
		...moreColumns(roots, direction, run),
		{ title: "Image", width: "minmax(7rem, 1fr)", value: (node) => baseName(node.image ?? ""), text: (node) => baseName(node.image ?? "") },
		{ title: "Line", width: "minmax(6rem, 1fr)", value: lineOf, text: lineOf, cell: run.functions.length ? (node) => (isWait(node) ? "" : h("a", { href: `#source/${encodeURIComponent(node.function ?? node.name)}`, tabindex: -1 }, lineOf(node) || "source")) : undefined },
	];
	return new TreeGrid(columns, { label: "Calling contexts", name: (node) => shownName(node.name), sort: link.sort(columns, { column: 1, descending: true }), sorted: link.sorted(columns) });
}

function lineOf(node) {
	return node.file ? `${baseName(node.file)}:${node.line}` : "";
}
