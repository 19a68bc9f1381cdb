// SPDX-License-Identifier: GPL-3.0-or-later
// The functions that strobe blow has tried: how the run time depends on each, and how certain that is.
import { callsText, curvesOf, four, gainMeaning, gainOf, gainWords, linesOf, modeWords, MOST_ROWS, partText, pointsOf, slopeInterval, slopeOf, speedupsOf, sums, waitingOf, waitingWords } from "../data/blow.js";
import { baseName, count, duration, hex, NOTHING, percent, plural } from "../data/format.js";
import { matcher, sorted } from "../data/filter.js";
import { viewsOf } from "../data/places.js";
import { causalFigure } from "../parts/causal.js";
import { button, h, nothing } from "../parts/dom.js";
import { widthFor } from "../parts/figure.js";
import { Grid } from "../parts/grid.js";

const number = (title, key, text, help, width = "6.5rem") => ({ title, help, kind: "number", width, value: (row) => row[key], text: (row) => text(row[key]) });

const slopes = [
	{ title: "Slope", help: "Relative increase of the run time, divided by that of the function's time", kind: "number", width: "6rem", value: slopeOf, text: (row) => four(slopeOf(row)) },
	{ title: "95 % interval of the slope", help: "Or the reason why the slope cannot be measured", width: "13rem", value: (row) => (slopeOf(row) === null ? null : row.slope.lo), text: slopeInterval },
];
const fitness = (help) => number("Fitness", "fitness", (value) => (Number.isFinite(value) ? value.toFixed(5) : NOTHING), help);

const waits = { title: "Wait %", help: "Share of the function's time in which its threads did not run: they waited for locks, input, a time or a processor", kind: "number", width: "6.5rem", value: waitingOf, text: (row) => (waitingOf(row) === null ? NOTHING : percent(waitingOf(row))) };

// One column for each virtual speed-up.
function gains(blow, point) {
	return speedupsOf(blow).map((speedup) => ({
		title: speedup === 1 ? "No time" : `${Math.round(100 * speedup)} % faster`,
		help: `${gainMeaning(blow, point)}, with its 95 % interval, if the function took ${speedup === 1 ? "no time" : `${Math.round(100 * speedup)} % less time`}`,
		kind: "number",
		width: "11rem",
		value: (row) => gainOf(row, speedup, point)?.gain,
		text: (row) => gainWords(gainOf(row, speedup, point)),
	}));
}

function columnsOf(blow, point, linkOf) {
	const own = {
		"slow-down": [...slopes, fitness("Mean influence R/F over the experiments, as J. Pavela's thesis defines it")],
		"speed-up": [fitness("Mean opportunity over the experiments, as J. Pavela's thesis defines it: not what a faster function would bring")],
		causal: gains(blow, point),
	}[blow.mode];
	return [
		{ title: "#", help: "Rank in the table of strobe blow", kind: "number", width: "3.5rem", value: (row) => row.rank, text: (row) => count(row.rank) },
		{ title: "Function", width: "minmax(10rem, 3fr)", value: (row) => row.function, text: (row) => row.function, cell: linkOf },
		...own,
		number("Exp", "experiments", count, "Experiments that could be judged", "4.5rem"),
		{ ...number("Time %", "time_share", percent, "Share of the run time without noise, with callees, summed over threads", "6.5rem"), share: (row) => row.time_share },
		...(blow.targets.some((row) => row.waiting?.runs) ? [waits] : []),
		number("Calls", "calls", callsText, "Mean number of calls without noise", "6.5rem"),
		...(blow.mode === "speed-up" ? [number("Mean", "mean_ns", duration, "Mean time of a call without noise")] : []),
		{ title: "Image", width: "minmax(6rem, 1fr)", value: (row) => baseName(row.image), text: (row) => baseName(row.image) },
	];
}

// What one result has of a function in another one: the link changes the result, too.
function linkTo({ index, address }, open, ...children) {
	const follow = (event) => {
		event.preventDefault();
		open(index, ...address);
	};
	return h("a", { href: `#${address.map(encodeURIComponent).join("/")}`, onclick: follow }, ...children);
}

function factsOf(blow, row, point) {
	const facts = [];
	const { slope } = row;
	if (slope) facts.push(["Slope", slope.state === "measured" ? `${four(slope.value)}, 95 % interval ${four(slope.lo)} to ${four(slope.hi)}` : `not measurable: ${slope.state}`]);
	if (Number.isFinite(row.fitness)) facts.push(["Fitness", row.fitness.toFixed(5)]);
	for (const speedup of blow.mode === "causal" ? speedupsOf(blow) : []) {
		const gain = gainOf(row, speedup, point);
		facts.push([`${Math.round(100 * speedup)} % faster`, `${gainWords(gain)}${gain ? `, ${plural(gain.runs, "run")}` : ""}`]);
	}
	const { waiting } = row;
	if (waiting?.state === "measured") facts.push(["On the CPU", `${duration(waiting.cpu_ns)} without noise, slope ${partText(row.slope_cpu)}`], ["Waiting", `${duration(waiting.wait_ns)}, slope ${partText(row.slope_waiting)}: ${waitingWords(row)}`]);
	else if (waiting && blow.mode !== "causal") facts.push(["Waiting", waitingWords(row)]);
	const threads = row.threads ?? [];
	facts.push(
		["Experiments", count(row.experiments)],
		["Time without noise", row.time_share === null ? NOTHING : `${percent(row.time_share)} of the run time`],
		["Calls without noise", `${callsText(row.calls)}, ${duration(row.mean_ns ?? NaN)} on average`],
		["Criteria", row.criteria?.length ? row.criteria.join(", ") : "none: it was named"],
		["Threads", threads.length ? threads.map(({ thread, calls }) => `${thread}: ${callsText(calls)} calls`).join("; ") : "none called it without noise"],
	);
	return h("dl.facts", {}, facts.flatMap(([key, value]) => [h("dt", {}, key), h("dd", {}, value)]));
}

// The experiments of the function alone.
function pictureOf(blow, row, point, element) {
	const curves = curvesOf(blow, point);
	const { lines } = curves ? linesOf(curves, { fits: (name) => name === row.function }) : { lines: [] };
	return lines.length ? h("div", {}, causalFigure({ title: `experiments with ${row.function}`, curves, lines, width: Math.min(560, widthFor(element)) }), h("p.dim", {}, curves.note)) : null;
}

function detailsOf(blow, row, point, places, open, element) {
	const links = places.map((each) => linkTo(each, open, `${each.what} in ${each.label}`));
	return [
		h("h2.function", {}, row.function),
		h("p.lead", {}, [row.image, `offset ${hex(row.offset)}`, row.symbol !== row.function && row.symbol].filter(Boolean).join(" · ")),
		links.length ? h("p.links", {}, links) : null,
		h("div.traced-parts", {}, factsOf(blow, row, point), pictureOf(blow, row, point, element)),
	].filter(Boolean);
}

export const targets = {
	id: "blow",
	title: "Experiments",
	has: (run) => run.blow !== null,
	show({ run: { blow }, runs, open, link }, element) {
		const points = pointsOf(blow).map((name) => [name, name]);
		const state = { fits: null, all: link.get("all") === "yes", point: link.one("progress", points, points[0]?.[0] ?? null) };
		const status = h("span.status", { role: "status" });
		const place = h("div.code-place.traced", { tabindex: 0, role: "region", "aria-label": "The chosen function" });
		const places = new Map(blow.targets.map((row) => [row, viewsOf(runs, row)]));
		const linkOf = (row) => (places.get(row).length ? linkTo(places.get(row)[0], open, row.function) : null);
		const more = button("", () => {
			state.all = !state.all;
			link.set("all", state.all ? "yes" : "");
			grid.arrange();
		});
		const table = h("div.fills");
		let grid = null;
		let chosen = null;

		function arrange(column, descending) {
			const rows = state.fits ? blow.targets.filter((row) => state.fits(row.function) || state.fits(row.symbol) || state.fits(row.image)) : blow.targets;
			const shown = sorted(rows, columnsOf(blow, state.point)[column].value, descending).slice(0, state.all ? Infinity : MOST_ROWS);
			const { experiments, functions } = sums(blow);
			more.hidden = rows.length <= MOST_ROWS;
			more.textContent = state.all ? `Show ${MOST_ROWS}` : `Show all ${count(rows.length)}`;
			status.textContent = `${modeWords(blow)} · ${plural(experiments, "experiment")} on ${plural(functions, "function")}${shown.length < functions ? `, ${count(shown.length)} shown` : ""}`;
			status.title = status.textContent;
			return shown;
		}

		const draw = (row) => place.replaceChildren(...(row ? detailsOf(blow, (chosen = row), state.point, places.get(row), open, element) : [nothing("No function was tried.")]));
		function build() {
			const columns = columnsOf(blow, state.point, linkOf);
			grid = new Grid(columns, { label: "Functions", sort: link.sort(columns, { column: 0, descending: false }), sorted: link.sorted(columns), arrange, open: draw });
			table.replaceChildren(grid.element);
			grid.arrange();
		}

		const input = link.search("Function or image", (text) => {
			state.fits = matcher(text);
			grid.arrange();
		});
		element.append(
			h(
				"div.bar-of-tools",
				{},
				input,
				state.point && points.length > 1 && blow.mode === "causal"
					? link.chooser("progress", "Progress", points, points[0][0], (name) => {
							state.point = name;
							build();
							draw(chosen);
						})
					: null,
				more,
				status,
			),
			h("div.over", {}, table, place),
		);
		build();
		link.restore(input);
		return {
			argument(text) {
				const row = blow.targets.find(({ function: name }) => name === text) ?? chosen ?? grid.shown[0];
				if (grid.shown.includes(row)) grid.choose(grid.shown.indexOf(row));
				draw(row);
			},
		};
	},
};
