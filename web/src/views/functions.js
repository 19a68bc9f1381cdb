// SPDX-License-Identifier: GPL-3.0-or-later
// All functions that ran, to be sorted and searched.
import { baseName, count, duration, hex, NOTHING, percent, plural } from "../data/format.js";
import { matcher } from "../data/filter.js";
import { h } from "../parts/dom.js";
import { Grid } from "../parts/grid.js";

function columnsOf(run) {
	const totals = run.functions.some((row) => row.total_share !== null && row.total_share !== undefined);
	const number = (title, key, help) => ({ title, help, kind: "number", width: "8.5rem", value: (row) => row[key], text: (row) => count(row[key]) });
	const share = (title, key, help) => ({ title, help, kind: "number", width: "7rem", value: (row) => row[key], text: (row) => (row[key] === null ? NOTHING : percent(row[key])), share: (row) => row[key] });
	return [
		share("Self", "self_share", `Share of the ${run.shareOf} in the function's own code`),
		totals ? share("Total", "total_share", "Share of the samples in the function and in what it called") : null,
		run.functions.some((row) => row.waiting_ns !== undefined) ? { title: "Waiting, total", help: "Time that all threads waited in the function and in what it called", kind: "number", width: "7rem", value: (row) => row.waiting_ns, text: (row) => duration(row.waiting_ns) } : null,
		number("Instructions", "instructions", "Executed in its own code"),
		number("Calls", "calls", "Times it was entered at its first instruction"),
		{ title: "Function", width: "minmax(14rem, 3fr)", value: (row) => row.name, text: (row) => row.name },
		{ title: "Image", width: "minmax(7rem, 1fr)", value: (row) => baseName(row.image), text: (row) => baseName(row.image) },
		{ title: "Line", width: "minmax(7rem, 1fr)", value: (row) => (row.file ? `${baseName(row.file)}:${String(row.line).padStart(7)}` : null), text: (row) => (row.file ? `${baseName(row.file)}:${row.line}` : hex(row.offset)) },
	].filter(Boolean);
}

export const functions = {
	id: "functions",
	title: "Functions",
	has: (run) => run.functions.length > 0,
	show({ run, go, link }, element) {
		const status = h("span.status", { role: "status" });
		const columns = columnsOf(run);
		const grid = new Grid(columns, { label: "Functions", sort: link.sort(columns, { column: 0, descending: true }), sorted: link.sorted(columns), open: (row) => go("source", row.name, row.image) });
		const filter = (text) => {
			const fits = matcher(text);
			const rows = fits ? run.functions.filter((row) => fits(row.name) || fits(row.image) || fits(row.file ?? "")) : run.functions;
			const share = rows.reduce((sum, row) => sum + row.self_share, 0);
			status.textContent = `${plural(rows.length, "function")}, together ${percent(share)} of the ${run.shareOf}`;
			grid.setRows(rows);
		};
		const input = link.search("Function, image or file", filter);
		element.append(h("div.bar-of-tools", {}, input, status), grid.element);
		filter("");
		link.restore(input);
	},
};
