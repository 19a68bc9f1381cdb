// SPDX-License-Identifier: GPL-3.0-or-later
// Loops: how often each was entered, how many iterations an entry had, and where in the source they are.
import { baseName, count, hex, plural, short } from "../data/format.js";
import { matcher } from "../data/filter.js";
import { classText, classes, histogramText, loopListing } from "../data/loops.js";
import { h, nothing, search } from "../parts/dom.js";
import { Grid } from "../parts/grid.js";

const number = (title, key, width, help) => ({ title, help, kind: "number", width, value: (row) => row.loop[key], text: (row) => count(row.loop[key]) });
const mean = (loop) => (loop.mean < 100 ? loop.mean.toFixed(1) : count(loop.mean));
const place = (row) => (row.file ? `${baseName(row.file)}:${row.line}` : hex(row.offset));
const columns = [
	number("Iterations", "iterations", "8.5rem", "Executions of the loop's head"),
	number("Entries", "entries", "7.5rem", "Times that the loop was entered"),
	number("Least", "min", "6rem", "Iterations of one entry"),
	{ title: "Mean", kind: "number", width: "6.5rem", value: (row) => row.loop.mean, text: (row) => mean(row.loop) },
	number("Most", "max", "7rem", "Iterations of one entry"),
	{ title: "Entries by iterations", width: "minmax(9rem, 1fr)", text: (row) => histogramText(row.loop), cell: (row) => histogram(row.loop) },
	{ title: "Function", width: "minmax(9rem, 2fr)", value: (row) => row.function, text: (row) => row.function },
	{ title: "Line", width: "minmax(7rem, 1fr)", value: (row) => (row.file ? `${baseName(row.file)}:${String(row.line).padStart(7)}` : null), text: place },
	{ title: "Image", width: "minmax(6rem, 1fr)", value: (row) => baseName(row.image), text: (row) => baseName(row.image) },
];

function histogram(loop) {
	return h("span.classes", { role: "img", "aria-label": histogramText(loop) }, classes(loop).map((each) => h("i", { "--share": `${each.share * 100}%`, title: classText(each) })));
}

export const loops = {
	id: "loops",
	title: "Loops",
	has: (run) => run.loops.length > 0,
	show({ run }, element) {
		const status = h("span.status", { role: "status" });
		const code = h("div.code-place", { tabindex: 0, role: "region", "aria-label": "Source of the loop" });
		const grid = new Grid(columns, { label: "Loops", sort: { column: 0, descending: true }, open: draw });
		const filter = (text) => {
			const fits = matcher(text);
			const rows = fits ? run.loops.filter((row) => fits(row.function) || fits(row.image) || fits(row.file ?? "")) : run.loops;
			status.textContent = `${plural(rows.length, "loop")}, ${plural(rows.reduce((sum, row) => sum + row.loop.iterations, 0), "iteration")}`;
			grid.setRows(rows);
		};

		function draw(row) {
			const files = row.file ? loopListing(run, row) : [];
			code.replaceChildren(
				h("h2.function", {}, row.name),
				h("p.lead", {}, `${row.image} · offset ${hex(row.offset)} · ${histogramText(row.loop)}`),
				...(files.length ? files.map((file) => section(file, row)) : [nothing(row.file ? "The lines of this function are not in this page, which has only those that were executed most." : "No source lines: the image has no line information. Install its debug symbols or compile with -g.")]),
			);
			code.querySelector(".chosen")?.scrollIntoView({ block: "nearest" });
		}

		element.append(h("div.bar-of-tools", {}, search("Function, image or file", filter), status), h("div.over", {}, grid.element, code));
		filter("");
		grid.choose(0);
		draw(grid.shown[0]);
	},
};

function section({ file, rows }, chosen) {
	const most = rows.reduce((max, { entry }) => Math.max(max, entry?.executions ?? 0), 1);
	return h(
		"section.listing",
		{},
		h("h3", { title: file }, file, rows.some((row) => row.text) ? null : h("span.dim", {}, " (its text is not in this page)")),
		h(
			"table.code",
			{},
			h("thead", {}, h("tr", {}, ["Executions", "Line", "", "Loops"].map((title, i) => h("th", { scope: "col", class: i < 2 ? "number" : null }, title)))),
			h("tbody", {}, rows.map((row) => line(row, most, chosen))),
		),
	);
}

function line({ gap, line: at, text, entry, loops: heads }, most, chosen) {
	if (gap) return h("tr.gap", {}, h("td", { colspan: 4 }, "⋯"));
	return h(
		[entry ? "tr.ran" : "tr", heads.includes(chosen) ? "chosen" : null].filter(Boolean).join("."),
		{ "--heat": ((entry?.executions ?? 0) / most).toFixed(3) },
		h("td.number", {}, entry ? count(entry.executions) : ""),
		h("td.number.line", {}, String(at)),
		h("td.text", {}, (text ?? "").replace(/\r$/, "") || "\u200b"),
		h("td.heads", {}, heads.map(({ loop }) => h("span", {}, `↻ ${plural(loop.entries, "entry", "entries")} of ${loop.min === loop.max ? count(loop.min) : `${short(loop.min)} to ${short(loop.max)}`}, mean ${mean(loop)} `, histogram(loop)))),
	);
}
