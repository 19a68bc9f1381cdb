// SPDX-License-Identifier: GPL-3.0-or-later
// Trees of calls in another shape: recursion and template arguments collapsed, grouped by image, thread or process. Exclusive metrics keep
// their sums. None of these functions recurses, see trees.js.
import { baseName } from "./format.js";
import { keyOf, merge } from "./trees.js";

const NO_SUMS = new Set(["offset", "line", "column", "thread", "id"]);

// Returns a copy of trees in which each node is replaced by make(node).
function mapped(trees, make) {
	const out = [];
	const work = [[trees, out]];
	while (work.length) {
		const [list, into] = work.pop();
		for (const node of list) {
			const made = { ...make(node), children: [] };
			into.push(made);
			if (node.children?.length) work.push([node.children, made.children]);
		}
	}
	return out;
}

// Joins calls of a function by itself with the call around them.
export function withoutRecursion(trees) {
	const top = { children: [] };
	const work = [[trees, top]];
	while (work.length) {
		const [list, into] = work.pop();
		for (const node of list) {
			let at = into;
			if (into !== top && keyOf(node) === keyOf(into)) addTo(into, node);
			else into.children.push((at = { ...node, children: [] }));
			if (node.children?.length) work.push([node.children, at]);
		}
	}
	return merge([top.children]);
}

function addTo(into, node) {
	for (const [key, value] of Object.entries(node)) if (typeof value === "number" && !NO_SUMS.has(key)) into[key] = (into[key] ?? 0) + value;
}

// "std::vector<int, std::allocator<int> >::at(unsigned long)" as "std::vector<…>::at(unsigned long)". The characters of operators are not brackets.
export function withoutArguments(name) {
	let out = "";
	let depth = 0;
	for (let i = 0; i < name.length; i++) {
		const operator = depth === 0 && /^operator(<=>|<<=|>>=|<<|>>|<=|>=|->\*|->|<|>)/.exec(name.slice(i));
		if (operator) {
			out += operator[0];
			i += operator[0].length - 1;
		} else if (name[i] === "<" && (depth > 0 || closes(name, i))) {
			if (depth++ === 0) out += "<…>";
		} else if (name[i] === ">" && depth > 0 && name[i - 1] !== "-") depth--;
		else if (depth === 0) out += name[i];
	}
	return out;
}

// Whether the bracket at an index has a closing one, and follows a name, or an operator and a blank.
function closes(name, at) {
	if (at === 0 || (!/[\w>]/.test(name[at - 1]) && !/operator\S+ $/.test(name.slice(0, at)))) return false;
	let depth = 0;
	for (let i = at; i < name.length; i++) {
		if (name[i] === "<") depth++;
		else if (name[i] === ">" && name[i - 1] !== "-" && --depth === 0) return true;
	}
	return false;
}

// Joins the instances of a template. They have no source location, because those of the instances may differ.
export function withoutTemplates(trees) {
	const names = new Map(); // a tree has few names in many nodes
	const short = (node) => {
		if (!names.has(node.name)) names.set(node.name, withoutArguments(node.name));
		const name = names.get(node.name);
		return name === node.name ? node : { ...node, name, offset: undefined, line: undefined, file: undefined, id: undefined };
	};
	return merge([mapped(trees, short)]);
}

// Joins the calls of a function from several lines: nodes of allocations have the line of the call.
export function byFunction(trees) {
	return merge([mapped(trees, (node) => ({ ...node, offset: undefined, line: undefined, column: undefined }))]);
}

// Makes a frame of each image: calls within one image are joined.
function byImage(trees) {
	return withoutRecursion(mapped(trees, (node) => (node.image ? { ...node, name: baseName(node.image), offset: undefined, line: undefined, file: undefined, id: undefined, group: true } : node)));
}

const groupOf = (name, children) => ({ name, count: 0, children, group: true });

// by: "" for none, "image", "thread" or "process"; processes: [{pid, command}].
export function grouped(threads, by, processes = []) {
	const forests = threads.map(({ ksf }) => ksf);
	const joined = (list) => (list.length > 1 ? merge(list) : (list[0] ?? []));
	if (by === "thread") return threads.filter(({ ksf }) => ksf.length).map(({ name, ksf }) => groupOf(name, ksf));
	if (by === "process") {
		const pids = new Map();
		for (const { pid, ksf } of threads) if (ksf.length) pids.set(pid, [...(pids.get(pid) ?? []), ksf]);
		const names = (pid) => processes.filter((each) => each.pid === pid).map(({ command }) => baseName(command));
		return [...pids].map(([pid, list]) => groupOf([`process ${pid}`, ...names(pid)].join(" "), joined(list)));
	}
	return by === "image" ? byImage(joined(forests)) : joined(forests);
}
