// SPDX-License-Identifier: GPL-3.0-or-later
// Wall time of sampled stacks (strobe run -t hot:wall): nodes have self time, and what threads waited for is in frames such as "[sleep]".
import { nodes } from "./trees.js";

const KIND = /^\[.+\]$/;

// Whether a node stands for waiting, not for a function or the kernel's work.
export const isWait = (node) => !node.image && KIND.test(node.name) && node.name !== "[kernel]";

// Whether stacks of samples have wall time.
export function hasWall(threads) {
	return threads.some((thread) => ["ksf", "kccf"].some((key) => [...nodes(thread[key] ?? [])].some((node) => node.self_ns > 0)));
}

// The wall time of all stacks, of trees that splitWall() has made.
export function wallTime(threads) {
	return threads.reduce((sum, { ksf }) => [...nodes(ksf)].reduce((all, { wall_ns: ns = 0 }) => all + ns, sum), 0);
}

// The trees with metrics of time: wall time, and either time on the CPU or time waiting. In trees of callers (kccf), all nodes below a
// wait are its callers.
export function splitWall(roots, callersBelow) {
	const split = (node, waits) => {
		const { self_ns: ns = 0, total_ns: _, children, ...rest } = node;
		const times = ns > 0 ? { wall_ns: ns, [waits ? "waiting_ns" : "on_cpu_ns"]: ns } : {};
		return { ...rest, ...times, children };
	};
	const out = [];
	const work = roots.map((root) => [root, out, isWait(root)]);
	for (let i = 0; i < work.length; i++) {
		const [node, into, waits] = work[i];
		const made = split(node, waits);
		made.children = [];
		into.push(made);
		for (const child of node.children ?? []) work.push([child, made.children, callersBelow ? waits : isWait(child)]);
	}
	return out;
}
