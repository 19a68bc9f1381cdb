// SPDX-License-Identifier: GPL-3.0-or-later
// The document of a page as what the views ask for: a list of runs. docs/json.md says what a result is.
import { readBlow } from "./blow.js";
import { quote } from "./format.js";
import { readFuzz } from "./fuzz.js";
import { readMatches } from "./match.js";
import { readMemory } from "./memory.js";
import { tablesOf } from "./tables.js";
import { readTimeline } from "./timeline.js";
import { readTrace } from "./trace.js";
import { hasWall, splitWall } from "./wall.js";

export function readDocument(text) {
	const { strobe, results, matches, histories = [], checks = [], campaigns = [] } = JSON.parse(text);
	if (strobe?.report !== 1) throw new Error(`data of version ${strobe?.report}, this page reads 1`);
	const runs = readMatches(results.map(readRun), matches);
	if (!runs.length) runs.push({ ...readRun({ label: labelOf(histories), result: { strobe: {} } }, 0), empty: true });
	for (const run of runs) Object.assign(run, { histories, checks, campaigns });
	return runs;
}

// A page may have histories alone; views want a result even then.
const labelOf = (histories) => `history of ${histories.map(({ name }) => name).join(", ")}`;

export function readRun(entry, index) {
	const { label, result } = entry;
	const blow = readBlow(entry);
	const trace = readTrace(entry.trace ?? (result.strobe.tool === "trace" ? result : null));
	return {
		index,
		label,
		result,
		tool: result.strobe.tool ?? result.tool,
		command: (result.run?.command ?? result.command ?? result.programs?.[0]?.command ?? []).map(quote).join(" "),
		study: result.strobe.study ? result : null,
		run: result.run ?? null,
		about: entry.about ?? {},
		functions: result.strobe.tool === "trace" ? [] : functionsOf(result),
		trace,
		blow,
		timeline: readTimeline(entry.timeline ?? (blow ? result.timeline : null)),
		shareOf: result.share_of ?? "instructions",
		lines: result.lines ?? [],
		blocks: result.basic_blocks ?? [],
		images: result.images ?? [],
		threads: (result.threads ?? []).filter((thread) => !("thread" in thread)),
		processes: result.processes ?? [],
		shares: entry.process_functions ?? [],
		paths: pathsOf(entry.paths ?? result),
		...loopsOf(entry.paths ?? result, entry.loop_lines),
		tables: (blow && !entry.tables) || result.strobe.tool === "fuzz" ? [] : tablesOf(result, entry.tables),
		measurements: Array.isArray(result.measurements) ? result.measurements : [],
		models: entry.models ?? [],
		costs: Array.isArray(result.costs) ? result.costs : [],
		fuzz: readFuzz(result),
		memory: readMemory(entry.memory),
		budget: result.budget ?? null,
		overshoots: entry.overshoots ?? [],
		qos: result.qos ?? null,
		statistics: result.engine ?? null,
		sources: entry.sources ?? {},
		code: entry.code ?? {},
		branches: entry.branches ?? [],
		cut: [...(entry.cut ?? []), ...(trace?.cut ?? [])],
		contextsLeftOut: entry.contexts_left_out ?? 0,
		notes: result.notes ?? [],
		fallbacks: result.fallbacks ?? [],
		matches: new Map(),
		histories: [],
		checks: [],
		campaigns: [],
	};
}

// Whether samples were taken: zeros of other results say nothing.
export const isSampled = ({ result, threads }) => result.samples !== undefined || threads.some(({ samples }) => samples > 0);

// Results of paths have only their number.
function functionsOf({ functions }) {
	return (Array.isArray(functions) ? functions : []).map((row, rank) => ({ ...row, rank }));
}

function pathsOf({ threads = [], mode, k, k_kccf, counted }) {
	const walked = threads.filter((thread) => thread.ksf || thread.kccf || thread.functions);
	if (!walked.length) return null;
	const sampled = counted === "samples";
	const wall = sampled && hasWall(walked);
	const trees = (thread, key) => (wall ? splitWall(forest(thread, key), key === "kccf") : forest(thread, key));
	return { mode: mode ?? "func", k: k ?? null, callers: k_kccf ?? null, sampled, allocations: counted === "allocations", ...(wall ? { wall } : {}), threads: walked.map((thread) => ({ name: nameOf(thread), ...(thread.pid === undefined ? {} : { pid: thread.pid }), ksf: trees(thread, "ksf"), kccf: trees(thread, "kccf") })) };
}

// The lines of their functions; or at least those of their heads.
function loopsOf({ all_loops: loops = [] }, lines) {
	const heads = () => loops.filter(({ file }) => file).map(({ file, line, function: name, loop }) => ({ file, line, function: name, executions: loop.iterations }));
	return { loops, loopLines: lines ?? heads() };
}

function nameOf({ thread, joined, tid, comm }) {
	return joined ? "all threads" : tid ? `${comm} ${tid}` : `thread ${thread}`;
}

// Inside of functions each has a forest of its own: it becomes the tree of a node that stands for the function.
function forest(thread, key) {
	if (!thread.functions) return thread[key] ?? [];
	return thread.functions.filter((each) => each[key]?.length).map(({ name, image, offset, id, [key]: children }) => ({ name, image, offset, id, count: 0, children }));
}

// The function with this name, in that image if there are several.
export function findFunction(run, name, image) {
	const named = run.functions.filter((row) => row.name === name);
	return named.find((row) => row.image === image) ?? named[0] ?? null;
}
