// SPDX-License-Identifier: GPL-3.0-or-later
// What is typed into a search field: a part of the text in any case, or /a regular expression/.

// A predicate for texts, or null when everything fits. A bad expression fits nothing.
export function matcher(typed) {
	const text = typed.trim();
	if (!text) return null;
	const expression = /^\/(.+?)\/?$/.exec(text);
	if (!expression) {
		const lower = text.toLowerCase();
		return (candidate) => candidate.toLowerCase().includes(lower);
	}
	try {
		const pattern = new RegExp(expression[1], "i");
		return (candidate) => pattern.test(candidate);
	} catch {
		return () => false;
	}
}

// Why a text is no expression, or null if it is one, or a part of a name.
export function problemOf(typed) {
	const expression = /^\/(.+?)\/?$/.exec(typed.trim());
	if (!expression) return null;
	try {
		new RegExp(expression[1], "i");
		return null;
	} catch (error) {
		return `no valid expression: ${error.message.split(": ").at(-1)}`;
	}
}

// Compares two values of a column: numbers by size, all else by the alphabet; what is unknown last.
export function compare(a, b, descending) {
	const unknownA = a === null || a === undefined || Number.isNaN(a);
	const unknownB = b === null || b === undefined || Number.isNaN(b);
	if (unknownA || unknownB) return unknownA - unknownB;
	const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en");
	return descending ? -order : order;
}

// The rows in the order of value(row); those that are equal keep theirs.
export function sorted(rows, value, descending) {
	return [...rows].sort((a, b) => compare(value(a), value(b), descending));
}
