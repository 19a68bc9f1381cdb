// SPDX-License-Identifier: GPL-3.0-or-later
// The lines of a function with their text.
import { count, plural } from "./format.js";

const CONTEXT = 3;
const MAX_GAP = 12;

// Text of a line, or null when the page does not have it.
export function textOf(sources, file, line) {
	for (const [first, ...texts] of sources[file] ?? [])
		if (line >= first && line < first + texts.length) return texts[line - first];
	return null;
}

// All lines of a run with their share of its instructions or samples and their text.
export function hotLines(run) {
	const key = run.shareOf;
	const first = run.functions.reduce((most, row) => (row.self_share > (most?.self_share ?? 0) ? row : most), null);
	const all = first ? first[key] / first.self_share : 0;
	return run.lines.map((entry) => ({ ...entry, share: all ? entry[key] / all : 0, text: textOf(run.sources, entry.file, entry.line)?.trim() ?? null }));
}

// Basic blocks, the hottest first.
export function hotBlocks(blocks, shareOf) {
	return [...blocks].sort((a, b) => (shareOf === "samples" ? b.samples - a.samples : 0) || b.instructions - a.instructions || a.offset - b.offset);
}

// What `strobe show --func` prints behind a branch.
export function takenText({ taken, not_taken: others }) {
	return `taken ${count(taken)} of ${plural(taken + others, "time")}`;
}

// The branches of a function by the line that has them: the key is FILE:LINE.
export function branchesByLine(run, { name, image }) {
	const byLine = new Map();
	for (const branch of run.branches) {
		if (branch.function !== name || branch.image !== image || !branch.file) continue;
		const key = `${branch.file}:${branch.line}`;
		byLine.set(key, [...(byLine.get(key) ?? []), branch]);
	}
	for (const list of byLine.values()) list.sort((a, b) => a.offset - b.offset);
	return byLine;
}

// How a block ends, and how often the branch at its end was taken, if branches were counted.
export function endOf(run, block) {
	const branch = run.branches.find(({ image, offset }) => image === block.image && offset >= block.offset && offset < block.offset + block.bytes);
	return branch ? `${block.ends}, ${takenText(branch)}` : block.ends;
}

// The texts of a block's instructions. Where branches were counted, conditions that are no branches are called so, as in `strobe show --func`.
export function codeTexts(run, code) {
	if (!run.branches.length) return code;
	return code.map((text) => {
		if (/^cmov/.test(text)) return `${text}  ; a conditional move, no branch: not counted`;
		return /^set[a-z]+ /.test(text) ? `${text}  ; a condition as a value, no branch: not counted` : text;
	});
}

// Of one function: for each file {file, rows}, a row being {line, text, entry}, entry null where nothing ran, or
// {gap: true}. The function's own file comes first.
export function listing(run, { name, file }) {
	const files = new Map();
	for (const entry of run.lines) {
		if (entry.function !== name) continue;
		if (!files.has(entry.file)) files.set(entry.file, []);
		files.get(entry.file).push(entry);
	}
	const order = [...files.keys()].sort((a, b) => (b === file) - (a === file) || a.localeCompare(b));
	return order.map((path) => ({ file: path, rows: rowsOf(run.sources, path, files.get(path)) }));
}

function rowsOf(sources, file, entries) {
	const byLine = new Map();
	for (const entry of entries) byLine.set(entry.line, join(byLine.get(entry.line), entry));
	const lines = [...byLine.keys()].sort((a, b) => a - b);
	const rows = [];
	let next = lines[0] - CONTEXT;
	for (const [i, line] of lines.entries()) {
		if (i && line - next > MAX_GAP) {
			next = pushKnown(rows, sources, file, next, next + CONTEXT);
			rows.push({ gap: true });
			next = line - CONTEXT;
		}
		pushKnown(rows, sources, file, next, line);
		rows.push({ line, text: textOf(sources, file, line), entry: byLine.get(line) });
		next = line + 1;
	}
	pushKnown(rows, sources, file, next, next + CONTEXT);
	return rows;
}

// Lines from first up to end, without it, that have text but did not run.
function pushKnown(rows, sources, file, first, end) {
	for (let line = Math.max(first, 1); line < end; line++) {
		const text = textOf(sources, file, line);
		if (text !== null) rows.push({ line, text, entry: null });
	}
	return end;
}

// Lines of functions with the same name in several images.
function join(before, entry) {
	if (!before) return entry;
	const sum = { ...before };
	for (const key of ["executions", "instructions", "samples"]) sum[key] += entry[key];
	return sum;
}
