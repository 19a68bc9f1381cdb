// SPDX-License-Identifier: GPL-3.0-or-later
// The tools' tables: which there are, and how their columns are shown.
import { baseName, count, duration, hex } from "./format.js";

const NO_TABLES = new Set([
	"functions", "processes", "fallbacks", "notes", "streams", "lines", "images", "threads", "basic_blocks", "measurements",
]);

// described: what the page says of the tables' columns; a result without it tells them by its rows.
export function tablesOf(result, described) {
	if (described) return described.map((table) => ({ ...table, rows: rowsOf(result, table) }));
	return Object.entries(result)
		.filter(([key, rows]) => !NO_TABLES.has(key) && Array.isArray(rows) && rows.length && typeof rows[0] === "object")
		.map(([name, rows]) => ({ name, tool: null, help: "", columns: guessColumns(rows), rows }));
}

// A table whose name was taken already has that of its tool before it.
function rowsOf(result, { tool, name }) {
	return result[`${tool}_${name}`] ?? result[name] ?? [];
}

function guessColumns(rows) {
	const keys = new Set(rows.flatMap((row) => Object.keys(row)));
	keys.delete("others");
	return [...keys].map((name) => {
		const numbers = rows.some((row) => typeof row[name] === "number");
		return { name, type: numbers ? "number" : "text", role: numbers ? "sum" : "key" };
	});
}

const PLACED = "(not known)";

function place(row, name) {
	const image = row[`${name}_image`];
	const where = image ? ` [${baseName(image)}]` : "";
	const offset = row[`${name}_offset`] ?? row[name];
	const inside = typeof offset === "number" ? hex(offset) : "";
	return { where, inside };
}

const TEXTS = {
	number: (row, name) => count(row[name]),
	signed: (row, name) => count(row[name]),
	thread: (row, name) => String(row[name]),
	ns: (row, name) => duration(row[name]),
	address(row, name) {
		const { where, inside } = place(row, name);
		const holder = row[`${name}_function`];
		return `${holder ? `${holder} ` : ""}${inside}${where}`;
	},
	function(row, name) {
		const { where, inside } = place(row, name);
		return `${row[name] ?? inside}${where}`;
	},
	line(row, name) {
		const file = row[`${name}_file`];
		return file ? `${baseName(file)}:${row[`${name}_line`]}` : TEXTS.function(row, name);
	},
};

function isUnknown(row, { name, type }) {
	return (row[name] ?? row[`${name}_offset`] ?? row[`${name}_file`] ?? null) === null && type !== "others";
}

export function cellText(row, column) {
	if (isUnknown(row, column)) return row.others ? "(all others)" : PLACED;
	return (TEXTS[column.type] ?? ((r, name) => String(r[name])))(row, column.name);
}

const NUMBERS = new Set(["number", "signed", "ns", "thread"]);

export const isNumber = (column) => NUMBERS.has(column.type);

// What a column is sorted by.
export function cellValue(row, column) {
	return isNumber(column) ? row[column.name] : isUnknown(row, column) ? null : cellText(row, column);
}
