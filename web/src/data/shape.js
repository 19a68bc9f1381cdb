// SPDX-License-Identifier: GPL-3.0-or-later
// Trees of calls in another shape: recursion and template arguments collapsed, grouped by image, thread or process. Exclusive metrics keep
// their sums. None of these functions recurses, see trees.js.
import { baseName } from "./format.js";
import { keyOf, merge } from "./trees.js";

const NO_SUMS = new Set(["offset", "line", "column", "thread", "id"]);

// A copy of trees, each node made by make(node).
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

// Calls of a function by itself become one with the call around them.
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

// "std::vector<int, std::allocator<int> >::at(unsigned long)" as "std::vector<…>::at(unsigned long)". Operators are no brackets.
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

// Whether the bracket at a place is closed again, and follows a name, or an operator and a blank.
function closes(name, at) {
	if (at === 0 || (!/[\w>]/.test(name[at - 1]) && !/operator\S+ $/.test(name.slice(0, at)))) return false;
	let depth = 0;
	for (let i = at; i < name.length; i++) {
		if (name[i] === "<") depth++;
		else if (name[i] === ">" && name[i - 1] !== "-" && --depth === 0) return true;
	}
	return false;
}

// Instances of a template become one. Several have no source in common.
export function withoutTemplates(trees) {
	const short = (node) => {
		const name = withoutArguments(node.name);
		return name === node.name ? node : { ...node, name, offset: undefined, line: undefined, file: undefined, id: undefined };
	};
	return merge([mapped(trees, short)]);
}

// Frames are images: calls within one are one frame.
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
