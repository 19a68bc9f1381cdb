// SPDX-License-Identifier: GPL-3.0-or-later
// Whether two campaigns of strobe blow rank the functions alike.
import { correlationWords, effectText, pairWords } from "../data/blow.js";
import { matcher } from "../data/filter.js";
import { plural } from "../data/format.js";
import { chooser, h, nothing, search } from "../parts/dom.js";
import { Grid } from "../parts/grid.js";

function columnsOf({ compared }) {
	const side = (key, letter) => [
		{ title: `Rank in ${letter}`, kind: "number", width: "6.5rem", value: (row) => row[key].rank, text: (row) => row[key].rank.toFixed(1) },
		{ title: `${compared} in ${letter}`, help: "With its 95 % interval", width: "14rem", value: (row) => row[key].value, text: (row) => effectText(row[key]) },
	];
	return [
		{ title: "Function", width: "minmax(10rem, 3fr)", value: (row) => row.function, text: (row) => row.function },
		...side("a", "A"),
		...side("b", "B"),
		{ title: "Differ", help: "The intervals have no value in common", width: "5rem", value: (row) => Number(row.differ), text: (row) => (row.differ ? "yes" : "–") },
	];
}

export const campaigns = {
	id: "campaigns",
	title: "Campaigns",
	whole: true,
	has: ({ campaigns: pairs }) => pairs.length > 0,
	show({ run: { campaigns: pairs }, runs }, element) {
		let pair = pairs[0];
		let fits = null;
		let grid = null;
		const place = h("div.fills");
		const words = h("p.totals");
		const status = h("span.status", { role: "status" });
		const name = ({ a, b }) => `${runs[a].label} and ${runs[b].label}`;

		function rows() {
			if (!grid) return;
			const list = pair.functions.filter((row) => !fits || fits(row.function));
			status.textContent = `${plural(list.length, "function")}, ${plural(list.filter(({ differ }) => differ).length, "difference")}`;
			grid.setRows(list);
		}

		function pick(chosen) {
			pair = chosen;
			grid = pair.missing ? null : new Grid(columnsOf(pair), { label: "Functions of both campaigns", sort: { column: 1, descending: false } });
			words.textContent = pair.missing ? "" : `${correlationWords(pair)}\n${pairWords(pair)}`;
			status.textContent = "";
			place.replaceChildren(grid?.element ?? nothing(`The two campaigns cannot be compared: ${pair.missing}.`));
			rows();
		}

		element.append(
			h(
				"div.bar-of-tools",
				{},
				pairs.length > 1 ? chooser("Compare A and B", pairs.map((each, i) => [String(i), name(each)]), "0", (i) => pick(pairs[Number(i)])) : h("span.pair", {}, `A and B: ${name(pair)}`),
				search("Function", (text) => {
					fits = matcher(text);
					rows();
				}),
				status,
			),
			words,
			place,
		);
		pick(pair);
	},
};
