// SPDX-License-Identifier: GPL-3.0-or-later
// The document of a page as what the views ask for: a list of runs. docs/json.md says what a result is.
import { quote } from "./format.js";
import { tablesOf } from "./tables.js";

export function readDocument(text) {
	const { strobe, results } = JSON.parse(text);
	if (strobe?.report !== 1) throw new Error(`data of version ${strobe?.report}, this page reads 1`);
	return results.map(readRun);
}

export function readRun(entry, index) {
	const { label, result } = entry;
	const threads = result.threads ?? [];
	return {
		index,
		label,
		result,
		tool: result.strobe.tool,
		command: (result.run?.command ?? []).map(quote).join(" "),
		run: result.run ?? null,
		about: entry.about ?? {},
		functions: functionsOf(result),
		shareOf: result.share_of ?? "instructions",
		lines: result.lines ?? [],
		blocks: result.basic_blocks ?? [],
		images: result.images ?? [],
		threads: threads.filter((thread) => "tid" in thread),
		processes: result.processes ?? [],
		paths: pathsOf(result, threads),
		tables: tablesOf(result, entry.tables),
		budget: result.budget ?? null,
		qos: result.qos ?? null,
		statistics: result.engine ?? null,
		sources: entry.sources ?? {},
		code: entry.code ?? {},
		cut: entry.cut ?? [],
		notes: result.notes ?? [],
		fallbacks: result.fallbacks ?? [],
	};
}

// Without functions measured there is one row that only says so.
function functionsOf(result) {
	return (result.functions ?? []).map((row, rank) => ({ ...row, rank }));
}

function pathsOf(result, threads) {
	const walked = threads.filter((thread) => thread.ksf || thread.kccf);
	if (!walked.length) return null;
	return {
		mode: result.mode ?? "func",
		k: result.k ?? null,
		threads: walked.map(({ thread, ksf, kccf }) => ({ name: `thread ${thread}`, ksf: ksf ?? [], kccf: kccf ?? [] })),
	};
}

// The function with this name, in that image if there are several.
export function findFunction(run, name, image) {
	const named = run.functions.filter((row) => row.name === name);
	return named.find((row) => row.image === image) ?? named[0] ?? null;
}
