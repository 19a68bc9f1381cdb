// SPDX-License-Identifier: GPL-3.0-or-later
// One function: its source lines and its basic blocks, with what each did.
import { baseName, count, hex, percent, plural } from "../data/format.js";
import { matcher } from "../data/filter.js";
import { findFunction } from "../data/model.js";
import { findNamed } from "../data/name.js";
import { branchesByLine, codeTexts, endOf, hotBlocks, listing, takenText } from "../data/source.js";
import { h, nothing } from "../parts/dom.js";
import { Grid } from "../parts/grid.js";

export const source = {
	id: "source",
	title: "Source",
	has: (run) => run.functions.length > 0 && run.lines.length + run.blocks.length > 0,
	show({ run, go, link }, element) {
		const list = new Grid(
			[
				{ title: "Self", kind: "number", width: "5.5rem", value: (row) => row.self_share, text: (row) => percent(row.self_share), share: (row) => row.self_share },
				{ title: "Function", width: "minmax(8rem, 1fr)", value: (row) => row.name, text: (row) => row.name },
			],
			{ label: "Functions", sort: { column: 0, descending: true }, open: (row) => go("source", row.name, row.image) },
		);
		const filter = (text) => {
			const fits = matcher(text);
			list.setRows(fits ? run.functions.filter((row) => fits(row.name)) : run.functions);
		};
		const place = h("div.code-place", { tabindex: 0, role: "region", "aria-label": "Source and blocks" });
		element.classList.add("split");
		const input = link.search("Function", filter);
		element.append(h("div.side", {}, input, list.element), place);
		filter("");
		link.restore(input);
		let shown = null;
		return {
			argument(text) {
				const [name, ...image] = text.split("/");
				const found = text ? exact(run, text) ?? findFunction(run, name, image.join("/")) ?? findNamed(run.functions, text) : shown ?? run.functions[0];
				if (!found) {
					place.replaceChildren(nothing(`No function of this result is called '${text}'. Choose one in the list, or search for a part of its name.`));
					shown = null;
					return;
				}
				if (found === shown) return;
				shown = found;
				place.replaceChildren(...page(run, found));
				place.scrollTop = 0;
				const at = list.shown.indexOf(found);
				if (at >= 0 && at !== list.active) list.choose(at);
			},
		};
	},
};

// Names may have slashes: "operator/", and so has the image after them.
function exact(run, text) {
	return run.functions.find((row) => `${row.name}/${row.image}` === text) ?? run.functions.find((row) => row.name === text);
}

function page(run, row) {
	const files = listing(run, row);
	const branches = branchesByLine(run, row);
	const codes = run.code[row.image] ?? {};
	const codeOf = (block) => ({ ...block, ends: endOf(run, block), code: codes[block.offset] ? codeTexts(run, codes[block.offset]) : null });
	const blocks = hotBlocks(run.blocks.filter((block) => block.function === row.name && block.image === row.image), run.shareOf).map(codeOf);
	return [
		h("h2.function", {}, row.name),
		h("p.lead", {}, [row.image, `offset ${hex(row.offset)}`, `self ${percent(row.self_share)}`, `${plural(row.calls, "call")}`, `${count(row.instructions)} instructions`].join(" · ")),
		...(files.length ? files.map((file) => fileSection(file, run.shareOf, branches)) : [nothing("No source lines: the image has no line information. Install its debug symbols or compile with -g.")]),
		blocks.length ? blockSection(blocks, run.shareOf) : null,
	].filter(Boolean);
}

function fileSection({ file, rows }, shareOf, branches) {
	const entries = rows.map((row) => row.entry).filter(Boolean);
	const heat = (entry) => entry[shareOf];
	const most = entries.reduce((max, entry) => Math.max(max, heat(entry)), 1);
	const known = rows.some((row) => row.text !== null && !row.gap);
	return h(
		"section.listing",
		{},
		h("h3", { title: file }, file, known ? null : h("span.dim", {}, " (its text is not in this page)")),
		h(
			"table.code",
			{},
			h("thead", {}, h("tr", {}, ["Samples", "Executions", "Instructions", "Line", ""].map((title, i) => h("th", { scope: "col", class: i < 4 ? "number" : null }, title)))),
			h("tbody", {}, rows.flatMap((row) => [sourceRow(row, row.entry ? heat(row.entry) / most : 0), ...branchRows(branches.get(`${file}:${row.line}`))])),
		),
	);
}

function sourceRow({ gap, line, text, entry }, heat) {
	if (gap) return h("tr.gap", {}, h("td", { colspan: 5 }, "⋯"));
	const inlined = entry?.inlined?.length ? h("span.inlined", { title: entry.inlined.join(" ← ") }, `inlined from ${entry.inlined[0]}`) : null;
	return h(
		entry ? "tr.ran" : "tr",
		{ "--heat": heat.toFixed(3) },
		h("td.number", {}, entry?.samples ? count(entry.samples) : ""),
		h("td.number", {}, entry ? count(entry.executions) : ""),
		h("td.number", {}, entry ? count(entry.instructions) : ""),
		h("td.number.line", {}, String(line)),
		h("td.text", {}, (text ?? "").replace(/\r$/, "") || "\u200b", inlined),
	);
}

// How often the conditional branches of a line were taken.
function branchRows(branches = []) {
	return branches.map((branch) => h("tr.branch", {}, h("td", { colspan: 4 }), h("td", {}, `branch at ${hex(branch.offset)}: ${takenText(branch)}`)));
}

const MOST_OPEN = 40; // blocks whose code is shown unasked

function blockSection(blocks, shareOf) {
	const most = blocks.reduce((max, block) => Math.max(max, block[shareOf]), 1);
	const cells = (block) => [count(block.samples), count(block.executions), count(block.instructions), hex(block.offset), count(block.length), count(block.bytes)];
	const open = blocks.length <= MOST_OPEN;
	return h(
		"section.listing",
		{},
		h("h3", {}, plural(blocks.length, "basic block")),
		h(
			"table.code",
			{},
			h("thead", {}, h("tr", {}, ["Samples", "Executions", "Instructions", "Offset", "Length", "Bytes", "Ends with"].map((title, i) => h("th", { scope: "col", class: i < 6 ? "number" : null }, title)))),
			h("tbody", {}, blocks.map((block) => h("tr.ran", { "--heat": (block[shareOf] / most).toFixed(3) }, cells(block).map((text) => h("td.number", {}, text)), h("td", {}, assembly(block, open))))),
		),
	);
}

function assembly(block, open) {
	const inlined = block.inlined?.length ? h("span.inlined", { title: block.inlined.join(" ← ") }, `inlined from ${baseName(block.inlined[0])}`) : null;
	if (!block.code) return [block.ends, inlined];
	return h("details", { open }, h("summary", {}, block.ends, inlined), h("pre.assembly", {}, block.code.join("\n")));
}
