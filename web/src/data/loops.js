// SPDX-License-Identifier: GPL-3.0-or-later
// Loops: classes of entries by their iterations, and a function's lines with its loops.
import { listing } from "./source.js";

// [{from, to, entries, share}] in the order of the classes, those without an entry in between too; share is of the largest.
export function classes({ histogram }) {
	if (!histogram.length) return [];
	const most = histogram.reduce((max, { entries }) => Math.max(max, entries), 1);
	const known = new Map(histogram.map(({ from, entries }) => [from, entries]));
	const made = [];
	for (let from = histogram[0].from; from <= histogram.at(-1).from; from *= 2) {
		const entries = known.get(from) ?? 0;
		made.push({ from, to: 2 * from - 1, entries, share: entries / most });
	}
	return made;
}

export function classText({ from, to, entries }) {
	return `${from === to ? from : `${from}–${to}`}: ${entries}`;
}

export function histogramText(loop) {
	return classes(loop).filter(({ entries }) => entries).map(classText).join(", ");
}

// Of the loop's function as data/source.js has it; a row has `loops`, too: those whose heads are there.
export function loopListing(run, { function: name, file }) {
	const heads = new Map();
	for (const row of run.loops) {
		if (row.function !== name || !row.file) continue;
		const key = `${row.file}\0${row.line}`;
		heads.set(key, [...(heads.get(key) ?? []), row]);
	}
	return listing({ lines: run.loopLines, sources: run.sources }, { name, file }).map((each) => ({
		file: each.file,
		rows: each.rows.map((row) => ({ ...row, loops: heads.get(`${each.file}\0${row.line}`) ?? [] })),
	}));
}
