// SPDX-License-Identifier: GPL-3.0-or-later
// Where the results of a page show a function: its source, and the times of its calls.
import { baseName } from "./format.js";
import { findFunction } from "./model.js";
import { findTraced } from "./trace.js";

// Where other results of the page, or this one, have the function: {index of the result, address of the view, what it is}.
export function viewsOf(runs, row) {
	const same = (each) => each.name === row.function && baseName(each.image ?? "") === baseName(row.image ?? "");
	const found = [];
	for (const run of runs) {
		const one = findFunction(run, row.function, row.image);
		if (one && same(one)) found.push({ index: run.index, label: run.label, address: ["source", one.name, one.image], what: "source" });
		const traced = run.trace && (findTraced(run.trace, `${row.function}/${row.image ?? ""}`) ?? run.trace.functions.find(same));
		if (traced && same(traced)) found.push({ index: run.index, label: run.label, address: ["trace", traced.name, traced.image ?? ""], what: "call times" });
	}
	return found;
}
