// SPDX-License-Identifier: GPL-3.0-or-later
// All source lines that ran, with their text: the hottest first.
import { baseName, count, percent, plural } from "../data/format.js";
import { matcher } from "../data/filter.js";
import { hotLines } from "../data/source.js";
import { h } from "../parts/dom.js";
import { Grid } from "../parts/grid.js";

function columnsOf(run) {
	const number = (title, key, help) => ({ title, help, kind: "number", width: "8rem", value: (row) => row[key], text: (row) => count(row[key]) });
	return [
		{ title: "Self", help: `Share of the ${run.shareOf} on the line`, kind: "number", width: "6rem", value: (row) => row.share, text: (row) => percent(row.share), share: (row) => row.share },
		run.shareOf === "samples" ? number("Samples", "samples", "Taken on the line") : null,
		number("Executions", "executions", "Of the line's most executed instruction"),
		number("Instructions", "instructions", "Executed on the line"),
		{ title: "Line", width: "minmax(8rem, 1fr)", value: (row) => `${baseName(row.file)}:${String(row.line).padStart(7)}`, text: (row) => `${baseName(row.file)}:${row.line}` },
		{ title: "Function", width: "minmax(8rem, 1fr)", value: (row) => row.function, text: (row) => row.function },
		{ title: "Text", width: "minmax(12rem, 3fr)", value: (row) => row.text ?? "", text: (row) => row.text ?? "" },
	].filter(Boolean);
}

export const lines = {
	id: "lines",
	title: "Lines",
	has: (run) => run.lines.length > 0,
	show({ run, go, link }, element) {
		const all = hotLines(run);
		const status = h("span.status", { role: "status" });
		const columns = columnsOf(run);
		const grid = new Grid(columns, { label: "Source lines", sort: link.sort(columns, { column: 0, descending: true }), sorted: link.sorted(columns), open: (row) => go("source", row.function) });
		const filter = (text) => {
			const fits = matcher(text);
			const rows = fits ? all.filter((row) => fits(row.function) || fits(row.file) || fits(row.text ?? "")) : all;
			const share = rows.reduce((sum, row) => sum + row.share, 0);
			status.textContent = `${plural(rows.length, "line")}, together ${percent(share)} of the ${run.shareOf}`;
			grid.setRows(rows);
		};
		const input = link.search("Function, file or text", filter);
		element.append(h("div.bar-of-tools", {}, input, status), grid.element);
		filter("");
		link.restore(input);
	},
};
