// SPDX-License-Identifier: GPL-3.0-or-later
// A part of a run: some of its processes, or all but the start-up in the dynamic linker. Totals and shares are those of the part.
import { baseName } from "./format.js";
import { nodes, upwards } from "./trees.js";

const ENOUGH_SAMPLES = 20; // in the program's code, as in src/profile/model.c; with fewer, shares are of instructions
const LOADER = /^(ld-linux|ld-musl|ld\.so|ld-2\.|ld64\.so)/;

// The choices: [key, title] pairs, where the key is the ID of a process, or "=NAME" for all processes of a program; [] with a single process.
export function processChoices({ processes, shares, paths }) {
	const known = new Set([...shares.map(({ pid }) => pid), ...(paths?.threads ?? []).map(({ pid }) => pid)]);
	const names = new Map();
	for (const { pid, command } of processes) if (known.has(pid)) names.set(pid, [...(names.get(pid) ?? []), baseName(command)]);
	if (names.size < 2) return [];
	const programs = new Map();
	for (const name of [...names.values()].flatMap((list) => [...new Set(list)])) programs.set(name, (programs.get(name) ?? 0) + 1);
	const several = [...programs].filter(([, n]) => n > 1).map(([name, n]) => [`=${name}`, `${name}, ${n} processes`]);
	return [["", `all ${names.size}`], ...several, ...[...names].map(([pid, list]) => [String(pid), `${pid} ${list.join(", then ")}`])];
}

function pidsOf({ processes }, key) {
	if (!key.startsWith("=")) return new Set([Number(key)]);
	return new Set(processes.filter(({ command }) => baseName(command) === key.slice(1)).map(({ pid }) => pid));
}

export const isLoader = (image) => LOADER.test(baseName(image ?? ""));

// Whether there is start-up to be hidden: stacks that begin in the linker, or functions of it.
export function hasStartup(run) {
	return run.functions.some((row) => isLoader(row.image)) || (run.paths?.sampled ?? false) && run.paths.threads.some(({ ksf }) => split(ksf).hidden.length);
}

// process: a key of processChoices, "" for all; startup: false to leave it out.
export function partOf(run, { process = "", startup = true }) {
	let part = process ? ofProcesses(run, pidsOf(run, process)) : run;
	if (!startup) part = withoutStartup(part);
	return part === run ? run : { ...part, whole: run };
}

// The part of some processes. Lines, blocks, loops, memory, the tables of tools and the statistics of the engine are left out: they are of all
// processes together.
function ofProcesses(run, pids) {
	const chosen = run.shares.filter(({ pid }) => pids.has(pid));
	const sums = new Map();
	for (const { functions } of chosen)
		for (const [rank, calls, instructions, samples, total] of functions) {
			const sum = sums.get(rank) ?? { calls: 0, instructions: 0, samples: 0, total: 0 };
			sums.set(rank, { calls: sum.calls + calls, instructions: sum.instructions + instructions, samples: sum.samples + samples, total: sum.total + total });
		}
	const all = { instructions: add(chosen, "instructions"), samples: add(chosen, "samples"), stacks: add(chosen, "stacks") };
	const [kernel, engine] = [add(chosen, "kernel"), add(chosen, "engine")];
	const samples = run.result.samples && { ...run.result.samples, program: all.samples, kernel, engine, stacks: all.stacks, waiting_ns: undefined, on_cpu_ns: undefined };
	const threads = run.paths?.threads.filter(({ pid }) => pids.has(pid)) ?? [];
	const rows = run.functions.filter(({ rank }) => sums.has(rank)).map((row) => ({ ...row, ...sums.get(row.rank), waiting_ns: undefined }));
	return {
		...run,
		...shared(rows, all),
		result: { ...run.result, samples, ...(chosen.length ? { instructions: all.instructions, blocks: null } : {}) },
		chosen: run.processes.filter(({ pid }) => pids.has(pid)),
		images: chosen.length ? imagesOf(run.images, rows) : run.images,
		lines: [],
		blocks: [],
		loops: [],
		loopLines: [],
		memory: null,
		statistics: null,
		code: {},
		branches: [],
		tables: [],
		processes: run.processes.filter(({ pid }) => pids.has(pid)),
		threads: run.threads.filter(({ pid }) => pids.has(pid)),
		paths: threads.length ? { ...run.paths, threads } : null,
	};
}

// The images of these functions, with the sums of their counts. Blocks are not counted by process.
function imagesOf(images, rows) {
	const sums = new Map();
	for (const { image, samples, instructions } of rows) {
		const sum = sums.get(image) ?? { samples: 0, instructions: 0 };
		sums.set(image, { samples: sum.samples + samples, instructions: sum.instructions + instructions });
	}
	return images.filter(({ path }) => sums.has(path)).map((row) => ({ ...row, ...sums.get(row.path), blocks: undefined }));
}

const add = (list, key) => list.reduce((sum, each) => sum + each[key], 0);
const ratio = (part, all) => (all > 0 ? part / all : 0);
const less = (value, amount) => (value === undefined ? undefined : Math.max(0, value - amount));

// The functions with their shares of the sums of a part, the greatest first.
function shared(rows, all) {
	const time = all.samples >= ENOUGH_SAMPLES || (all.samples > 0 && !all.instructions);
	const of = (row) => (time ? ratio(row.samples, all.samples) : ratio(row.instructions, all.instructions));
	const functions = rows.map(({ samples, total, ...row }) => ({ ...row, self_share: of({ ...row, samples }), total_share: time && all.stacks > 0 ? Math.max(ratio(total, all.stacks), ratio(samples, all.samples)) : null }));
	functions.sort((a, b) => b.self_share - a.self_share || b.instructions - a.instructions);
	return { functions, shareOf: time ? "samples" : "instructions" };
}

// Divides trees: `hidden` are those that begin in the linker, also below callers that could not be found; `kept` are the others.
function split(roots) {
	const [kept, hidden] = [[], []];
	for (const root of roots) {
		if (root.image) (isLoader(root.image) ? hidden : kept).push(root);
		else {
			const inner = (root.children ?? []).filter((child) => isLoader(child.image));
			hidden.push(...inner);
			kept.push(inner.length ? { ...root, children: root.children.filter((child) => !inner.includes(child)) } : root);
		}
	}
	return { kept, hidden };
}

const placeOf = ({ name, image }) => `${name}\0${image ?? ""}`;

// Adds up trees of samples: by function the samples in the function itself (self) and in stacks with it (total), and the time in which
// these stacks waited; and the sums of all trees.
function samplesIn(trees) {
	const sums = new Map();
	const of = (place) => sums.get(place) ?? sums.set(place, { self: 0, total: 0, waiting: 0 }).get(place);
	const work = trees.map((node) => ({ node, up: null }));
	const all = { samples: 0, waiting: 0, running: 0 };
	while (work.length) {
		const at = work.pop();
		const { count = 0, waiting_ns: waiting = 0, on_cpu_ns: running = 0 } = at.node;
		for (const child of at.node.children ?? []) work.push({ node: child, up: at });
		if (!count && !waiting && !running) continue;
		all.samples += count;
		all.waiting += waiting;
		all.running += running;
		of(placeOf(at.node)).self += count;
		const met = new Set();
		for (let each = at; each; each = each.up) met.add(placeOf(each.node));
		for (const place of met) {
			of(place).total += count;
			of(place).waiting += waiting;
		}
	}
	return { sums, all };
}

// Leaves out the stacks that begin in the linker, and the functions of it that no other stack has. What they have is subtracted from the
// counts and shares of the others.
function withoutStartup(run) {
	const trees = run.paths?.threads.flatMap(({ ksf }) => ksf) ?? [];
	const left = samplesIn(run.paths?.sampled ? split(trees).hidden : []);
	const threads = run.paths?.threads.map((thread) => ({ ...thread, ksf: split(thread.ksf).kept })) ?? [];
	const called = new Set();
	for (const node of nodes(threads.flatMap(({ ksf }) => ksf))) if (isLoader(node.image)) called.add(placeOf(node));
	const time = run.shareOf === "samples";
	const before = time ? [...nodes(trees)].reduce((sum, { count }) => sum + (count ?? 0), 0) : 0;
	const of = (row) => left.sums.get(placeOf(row)) ?? { self: 0, total: 0, waiting: 0 };
	const share = (value, row, key) => (time && before > left.all.samples ? less(value * before, of(row)[key]) / (before - left.all.samples) : value);
	const startup = (row) => isLoader(row.image) && !called.has(placeOf(row));
	const rows = run.functions.map((row) => ({ ...row, self_share: share(row.self_share, row, "self"), total_share: Number.isFinite(row.total_share) ? Math.min(1, share(row.total_share, row, "total")) : row.total_share, waiting_ns: less(row.waiting_ns, of(row).waiting) }));
	const all = 1 - add(rows.filter(startup), "self_share"); // and not the sum of the others: a page may have the first functions only
	const functions = rows.filter((row) => !startup(row)).map((row) => ({ ...row, self_share: ratio(row.self_share, all) }));
	const names = new Set(functions.map(({ name }) => name));
	const callers = (thread) => ({ ...thread, kccf: thread.kccf.length ? upwards(thread.ksf) : [] });
	const samples = run.result.samples && { ...run.result.samples, program: less(run.result.samples.program, left.all.samples), stacks: less(run.result.samples.stacks, left.all.samples), waiting_ns: less(run.result.samples.waiting_ns, left.all.waiting), on_cpu_ns: less(run.result.samples.on_cpu_ns, left.all.running) };
	return { ...run, functions, result: { ...run.result, samples }, lines: run.lines.filter((row) => names.has(row.function)), paths: run.paths?.sampled ? { ...run.paths, threads: threads.map(callers) } : run.paths };
}
