// SPDX-License-Identifier: GPL-3.0-or-later
// Which functions of one run are which of another. Strobe has decided it (src/check/match.h) and numbered them; nothing
// is matched by name here.

// Of the page's `matches`: for each run those with the runs before it, by the index of these.
export function readMatches(runs, matches = []) {
	for (const { a, b, functions, images } of matches) runs[b].matches.set(a, { functions, images });
	return runs;
}

const inverted = ({ functions, images }) => {
	const turned = [];
	functions.forEach((a, b) => a >= 0 && (turned[a] = b));
	return { functions: turned, images: Object.fromEntries(Object.entries(images).map(([b, a]) => [a, b])) };
};

// Keys of functions (rows and nodes with an id) and images (paths) of two runs: what is the same has the same key.
export function keysOf(runA, runB) {
	const known = runB.matches.get(runA.index) ?? (runA.matches.has(runB.index) ? inverted(runA.matches.get(runB.index)) : null);
	const idInA = (id) => (known ? (known.functions[id] ?? -1) : id); // no match: a run with itself
	const pathInA = (path) => (known ? known.images[path] : path);
	return {
		function: { a: ({ id }) => id, b: ({ id }) => (idInA(id) >= 0 ? idInA(id) : `b${id}`) },
		image: { a: (path) => path, b: (path) => pathInA(path) ?? `b\0${path}` },
	};
}
