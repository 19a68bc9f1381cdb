// SPDX-License-Identifier: GPL-3.0-or-later
// The tables that the tools made, and those that every result has.
import { baseName, count, duration, plural } from "../data/format.js";
import { matcher } from "../data/filter.js";
import { isSampled } from "../data/model.js";
import { hotBlocks } from "../data/source.js";
import { cellText, cellValue, isNumber } from "../data/tables.js";
import { chooser, h } from "../parts/dom.js";
import { Grid } from "../parts/grid.js";

const text = (title, of, width = "minmax(8rem, 1fr)") => ({ title, width, value: of, text: (row) => of(row) ?? "–" });
const number = (title, key, format = count) => ({ title, kind: "number", value: (row) => row[key], text: (row) => format(row[key]) });

// {name, help, columns, rows} of all that the run has.
function choices(run) {
	const made = run.tables.map((table) => ({ name: table.name, help: [table.tool, table.help].filter(Boolean).join(": "), columns: columnsOf(table), rows: table.rows, sort: firstSum(table) }));
	const add = (name, help, columns, rows) => rows.length && made.push({ name, help, columns, rows });
	const times = run.threads.some((row) => row.waiting_ns !== undefined) ? [number("on the CPU", "on_cpu_ns", duration), number("waiting", "waiting_ns", duration)] : [];
	const sampled = isSampled(run) ? [number("samples", "samples")] : [];
	add("threads", "all threads of the run", [...sampled, ...times, number("tid", "tid", String), number("pid", "pid", String), number("began", "begin_ns", duration), number("ended", "end_ns", duration), text("name", (row) => row.name)], run.threads);
	add("processes", "all processes of the run", [number("pid", "pid", String), number("parent", "ppid", String), text("state", (row) => row.state), text("command", (row) => row.command, "minmax(12rem, 3fr)")], run.processes);
	add("images", "programs and libraries", [...sampled, number("instructions", "instructions"), number("blocks", "blocks"), text("symbols", (row) => row.symbols, "7rem"), text("image", (row) => row.path, "minmax(12rem, 3fr)"), text("build-id", (row) => row.build_id)], run.images);
	add("basic blocks", "no two overlap", [number("samples", "samples"), number("executions", "executions"), number("instructions", "instructions"), number("length", "length"), number("offset", "offset", (offset) => `0x${offset.toString(16)}`), text("ends", (row) => row.ends, "8rem"), text("function", (row) => `${row.function} [${baseName(row.image)}]`, "minmax(12rem, 3fr)")], hotBlocks(run.blocks, run.shareOf));
	add("engine", "what the engine did", [text("statistic", (row) => row.name), number("number", "value")], Object.entries(run.statistics ?? {}).map(([name, value]) => ({ name: name.replaceAll("_", " "), value })));
	return made;
}

function columnsOf(table) {
	return table.columns.map((column) => ({
		title: column.name.replaceAll("_", " "),
		kind: isNumber(column) || column.type === "hex" ? "number" : "text",
		width: isNumber(column) || column.type === "hex" ? "9rem" : "minmax(9rem, 2fr)",
		value: (row) => cellValue(row, column),
		text: (row) => cellText(row, column),
	}));
}

function firstSum(table) {
	const column = table.columns.findIndex(({ role }) => role === "sum");
	return { column, descending: true };
}

export const tables = {
	id: "tables",
	title: "Tables",
	has: (run) => !run.study && run.tables.length + run.threads.length + run.images.length > 0,
	show({ run, go, link }, element) {
		const all = choices(run);
		const status = h("span.status", { role: "status" });
		const place = h("div.fills");
		const input = link.search("Any cell", () => filter());
		const choice = chooser("Table", all.map(({ name, help }) => [name, help ? `${name} (${help})` : name]), all[0].name, (name) => go("tables", name));
		let table;
		let grid;

		function filter() {
			const fits = matcher(input.value);
			const rows = fits ? table.rows.filter((row) => table.columns.some((column) => fits(column.text(row)))) : table.rows;
			status.textContent = plural(rows.length, "row");
			grid.setRows(rows);
		}

		function pick(name) {
			const found = all.find((each) => each.name === name) ?? table ?? all[0];
			choice.querySelector("select").value = found.name;
			if (found === table) return;
			table = found;
			if (grid) link.set("sort", "");
			grid = new Grid(table.columns, { label: table.name, sort: link.sort(table.columns, table.sort), sorted: link.sorted(table.columns) });
			place.replaceChildren(grid.element);
			filter();
		}

		element.append(h("div.bar-of-tools", {}, choice, input, status), place);
		return { argument: pick };
	},
};
