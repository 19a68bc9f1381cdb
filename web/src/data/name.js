// SPDX-License-Identifier: GPL-3.0-or-later
// The names of functions as people write them: without parameters, as `strobe show --func` accepts them.

const SUFFIX = /(?: const| volatile|&| noexcept| \[clone [^\]]*\]| \([^()]*\.[^()]*\))+$/;
const TAG = /\[abi:[^\]]*\]$/;

// "std::map<int, A>::at(int const&) const" as "std::map<int, A>::at". A name without parameters stays as it is.
export function withoutParameters(name) {
	const text = name.replace(SUFFIX, "");
	if (!text.endsWith(")")) return name;
	let depth = 0;
	let at = text.length;
	do {
		at--;
		if (text[at] === ")") depth++;
		else if (text[at] === "(") depth--;
	} while (at > 0 && depth > 0);
	const short = text.slice(0, at);
	return depth > 0 || !short || short.endsWith("operator") ? name : short.replace(TAG, "");
}

// The row whose name is the text, or else the first one whose name without parameters is the text; null: none.
export function findNamed(rows, text) {
	return rows.find(({ name }) => name === text) ?? rows.find(({ name }) => withoutParameters(name) === text) ?? null;
}
