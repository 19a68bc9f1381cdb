// SPDX-License-Identifier: GPL-3.0-or-later
// Calling contexts: each function with its callers and theirs, or with what it calls.
import { baseName, count, metric, percent, plural } from "../data/format.js";
import { merge, metricKeys, nodes, shownName, totals } from "../data/trees.js";
import { chooser, h, search } from "../parts/dom.js";
import { TreeGrid } from "../parts/tree.js";

const DIRECTIONS = {
	kccf: { title: "functions and their callers", share: "Share of the calls of the function that came through these callers", sampled: "Share of the samples in the function that came through these callers", allocations: "Share of the allocations of the function that came through these callers" },
	ksf: { title: "functions and what they call", share: "Share of the calls of the node at the top", sampled: "Share of the samples of the node at the top, with what it called", allocations: "Share of the allocations of the node at the top, with what it called" },
};

export const contexts = {
	id: "contexts",
	title: "Contexts",
	has: (run) => run.paths !== null,
	show({ run }, element) {
		const { threads, k } = run.paths;
		const directions = Object.keys(DIRECTIONS).filter((key) => threads.some((thread) => thread[key].length));
		const state = { direction: directions[0], thread: "all" };
		const place = h("div.fills");
		const status = h("span.status", { role: "status" });
		const input = search("Function", (text) => tree.filter(text));
		let tree;

		function draw() {
			const chosen = state.thread === "all" ? threads : [threads[Number(state.thread)]];
			const roots = chosen.length > 1 ? merge(chosen.map((thread) => thread[state.direction])) : chosen[0][state.direction];
			tree = makeTree(roots, state.direction, run);
			tree.setRoots(roots);
			if (input.value) tree.filter(input.value);
			place.replaceChildren(tree.element);
			status.textContent = `${run.paths.sampled ? "stacks of samples" : run.paths.allocations ? "call stacks of allocations" : `k = ${k}`}; ${plural(roots.length, "tree")}, ${plural([...nodes(roots)].length, "node")}`;
		}

		element.append(
			h(
				"div.bar-of-tools",
				{},
				directions.length > 1 ? chooser("Show", directions.map((key) => [key, DIRECTIONS[key].title]), state.direction, (key) => set("direction", key)) : h("span.status", {}, DIRECTIONS[directions[0]].title),
				threads.length > 1 ? chooser("Thread", [["all", "all, joined"], ...threads.map((thread, i) => [String(i), thread.name])], "all", (thread) => set("thread", thread)) : null,
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
		return {
			argument(name) {
				if (!name) return;
				input.value = name;
				tree.filter(name);
			},
		};
	},
};

// How often a node was called; of samples, those in it and, where its children are what it called, in these.
function amounts(roots, direction, { sampled, allocations }) {
	const sums = (sampled || allocations) && direction === "ksf" ? totals(roots, "count") : null;
	return sums ? (node) => sums.get(node) : (node) => node.count;
}

function makeTree(roots, direction, run) {
	const tops = topsOf(roots);
	const amount = amounts(roots, direction, run.paths);
	const share = (node) => shareOf(amount(node), amount(tops.get(node)));
	const { sampled, allocations } = run.paths;
	const columns = [
		{ title: "Function", width: "minmax(18rem, 3fr)" },
		{ title: sampled ? "Samples" : allocations ? "Allocations" : "Calls", kind: "number", width: "8.5rem", value: amount, text: (node) => count(amount(node)) },
		{ title: "Of the top", help: DIRECTIONS[direction][sampled ? "sampled" : allocations ? "allocations" : "share"], kind: "number", width: "7rem", value: share, text: (node) => percent(share(node)), share },
		...metricKeys(roots).slice(1).map((key) => {
			const { title, format } = metric(key);
			return { title, kind: "number", width: "8.5rem", value: (node) => node[key] ?? null, text: (node) => format(node[key] ?? NaN) };
		}),
		{ title: "Image", width: "minmax(7rem, 1fr)", value: (node) => baseName(node.image ?? ""), text: (node) => baseName(node.image ?? "") },
		{ title: "Line", width: "minmax(6rem, 1fr)", value: lineOf, text: lineOf, cell: run.functions.length ? (node) => h("a", { href: `#source/${encodeURIComponent(node.function ?? node.name)}`, tabindex: -1 }, lineOf(node) || "source") : undefined },
	];
	return new TreeGrid(columns, { label: "Calling contexts", name: (node) => shownName(node.name), sort: { column: 1, descending: true } });
}

function lineOf(node) {
	return node.file ? `${baseName(node.file)}:${node.line}` : "";
}

// For each node, the root of its tree.
function topsOf(roots) {
	const tops = new Map();
	for (const root of roots) for (const node of nodes([root])) tops.set(node, root);
	return tops;
}

function shareOf(part, all) {
	return all > 0 ? part / all : NaN;
}
