// SPDX-License-Identifier: GPL-3.0-or-later
// A campaign of strobe fuzz: its findings with their laws, witnesses and stacks, and its progress over time.
import { count, NOTHING, plural, short } from "../data/format.js";
import { lawOf, leadOf, nameOfFinding, nothingOf, quartilesOf, slowdownOf, witnessesOf } from "../data/fuzz.js";
import { h, svg } from "../parts/dom.js";
import { colourOf, figure, ticks } from "../parts/figure.js";

// A table of a few rows. columns: [title, text(row), "number" | "text"].
const table = (label, columns, rows) => h("div.sideways", {}, h("table", { "aria-label": label }, h("thead", {}, h("tr", {}, columns.map(([title, , kind]) => h(`th.${kind}`, { scope: "col" }, title)))), h("tbody", {}, rows.map((row) => h("tr", {}, columns.map(([, text, kind]) => h(`td.${kind}`, {}, text(row))))))));

const tick = (power) => (power >= 0 && power < 4 ? short(10 ** power) : `1e${power}`);

// Work against repetitions of the token, both as logarithms: a power is a straight line.
function growthFigure(finding) {
	const points = finding.points.filter(([x, y]) => x > 0 && y > 0).map(([x, y]) => [Math.log10(x), Math.log10(y), x, y]);
	const last = points.at(-1)?.[0] ?? 0;
	const share = (x) => (last > 0 ? 0.02 + (0.94 * x) / last : 0.5);
	return figure({
		title: `Growth of ${finding.function ?? "the work"}`,
		axis: "blocks executed",
		values: points.map(([, y]) => y),
		format: (power) => (Number.isInteger(power) ? tick(power) : short(Math.round(10 ** power))),
		under: (last > 1.2 ? [1, 10, 100, 1e3, 1e4, 1e5] : [1, 2, 3, 5, 10]).filter((n) => Math.log10(n) <= last).map((n) => [share(Math.log10(n)), short(n)]),
		legend: [lawOf({ ...finding, token: null })],
		draw(plot) {
			plot.add(svg("polyline.curve", { points: points.map(([x, y]) => `${plot.x(share(x))},${plot.y(y)}`).join(" "), fill: "none", stroke: colourOf(0), "stroke-width": 1.5 }));
			for (const [x, y, n, work] of points) plot.add(svg("circle.point", { cx: plot.x(share(x)), cy: plot.y(y), r: 2.5, fill: colourOf(0) }, svg("title", {}, `${plural(n, "repetition")}: ${count(work)} blocks`)));
		},
	});
}

// The seed with what was removed and inserted.
function difference({ parts, difference: of }) {
	const part = ({ kind, bytes, text, end }) => {
		const words = end === undefined ? text : `${text} … ${end}`;
		return h(kind === "removed" ? "del" : kind === "inserted" ? "ins" : "span", { title: `${kind}: ${plural(bytes, "byte")}` }, words, bytes > 64 ? h("span.bytes", {}, ` (${count(bytes)} bytes)`) : null);
	};
	return [h("h3", {}, "Witness and seed"), h("p.dim", {}, `${plural(of?.kept ?? 0, "byte")} of the seed are kept; changes are marked as `, h("del", {}, "removed"), ", ", h("ins", {}, "inserted"), "."), h("pre.difference", { tabindex: 0 }, parts.map(part))];
}

function stack({ frames, missing }) {
	const place = ({ file, line, image, offset }) => (file ? `${file}:${line}` : `${image}+0x${offset.toString(16)}`);
	return [
		h("h3", {}, "Stack"),
		frames.length ? h("ol.stack", {}, frames.map((frame) => h("li", {}, h("code", {}, frame.function ?? "[unknown]"), h("span.dim", {}, ` ${place(frame)}`)))) : null,
		missing ? h("p.dim", {}, `Further frames are unknown: ${missing}.`) : null,
	];
}

function section(finding) {
	const facts = [
		["law", lawOf(finding)],
		["size", `${plural(finding.size, "byte")}, ${count(finding.minimal_size)} when minimised; the seed has ${count(finding.seed_size)}`],
		["work", Number.isFinite(finding.counts_ratio) ? `${Number(finding.counts_ratio.toPrecision(3))} times that of the seed` : "not measured"],
		["time", Number.isFinite(finding.slowdown) ? `${slowdownOf(finding)} that of the seed` : NOTHING],
		["rules", finding.rules.join(" ")],
		["witness", finding.witness],
		["generator", finding.generator ?? NOTHING],
	];
	return h(
		"section.box.finding",
		{},
		h("h2", {}, `${finding.number}. ${nameOfFinding(finding)}`),
		h("dl.facts", {}, facts.flatMap(([name, text]) => [h("dt", {}, name), h("dd", {}, text)])),
		finding.points.length > 1 ? h("div.charts", {}, growthFigure(finding)) : null,
		finding.stack ? stack(finding.stack) : null,
		difference(finding),
	);
}

// A number over the seconds of the campaign; the vertical lines are its quartiles.
function overTime(series, title, axis, key, format, quartiles) {
	const end = series.at(-1).seconds || 1;
	const share = (t) => 0.02 + (0.94 * t) / end;
	return figure({
		title,
		axis,
		values: [...series.map((moment) => moment[key]), ...(key === "most" ? [1] : [0])],
		format,
		under: ticks(0, end, 5).filter((t) => t <= end).map((t) => [share(t), `${short(t)} s`]),
		legend: quartiles.length ? [["dashed: a quarter, a half and three quarters of all", "currentColor"]] : [],
		draw(plot) {
			for (const t of quartiles) plot.add(svg("line.quartile", { x1: plot.x(share(t)), x2: plot.x(share(t)), y1: plot.top, y2: plot.bottom, stroke: "currentColor", "stroke-dasharray": "4 3", "stroke-opacity": 0.6 }));
			plot.add(svg("polyline.curve", { points: series.map((moment) => `${plot.x(share(moment.seconds))},${plot.y(moment[key])}`).join(" "), fill: "none", stroke: colourOf(0), "stroke-width": 1.5 }));
		},
	});
}

function progress({ series }) {
	if (series.length < 2) return h("p.dim", {}, "The campaign was too short for graphs over time.");
	return h(
		"section.box",
		{},
		h("h2", {}, "Over time"),
		h(
			"div.charts",
			{},
			overTime(series, "Executions", "executions", "executions", short, []),
			overTime(series, "Coverage", "basic blocks seen", "blocks", short, []),
			overTime(series, "Greatest growth", "times the seeds", "most", short, []),
			overTime(series, "Interesting inputs", "inputs", "interesting", short, quartilesOf(series, "interesting")),
		),
	);
}

export const fuzz = {
	id: "fuzz",
	title: "Campaign",
	has: (run) => run.fuzz !== null,
	show({ run }, element) {
		const { fuzz: campaign } = run;
		element.classList.add("scrolls");
		const findings = [
			["", (f) => count(f.number), "number"],
			["kind", (f) => f.kind, "text"],
			["function", (f) => f.function ?? NOTHING, "text"],
			["law", (f) => lawOf({ ...f, token: null }), "text"],
			["repeated", (f) => f.token ?? NOTHING, "text"],
			["bytes", (f) => count(f.size), "number"],
			["work", (f) => (Number.isFinite(f.counts_ratio) ? `${Number(f.counts_ratio.toPrecision(3))}x` : NOTHING), "number"],
			["slowdown", (f) => (Number.isFinite(f.slowdown) ? `${Number(f.slowdown.toPrecision(3))}x` : NOTHING), "number"],
			["rules", (f) => count(f.rules.length), "number"],
		];
		const witnesses = [
			["input", (w) => w.input, "text"],
			["size", (w) => `${count(w.size)} B`, "number"],
			["work", (w) => (Number.isFinite(w.work) ? count(w.work) : ""), "number"],
			["time", (w) => w.time, "number"],
			["slowdown", (w) => w.slowdown, "number"],
			["rules", (w) => w.rules, "number"],
		];
		const rules = [
			["rule", (r) => r.rule, "text"],
			["executions", (r) => count(r.executions), "number"],
			["hits", (r) => count(r.hits), "number"],
		];
		element.append(
			h(
				"div.page.campaign",
				{},
				h("h1", {}, run.command || run.label),
				h("p.lead", {}, leadOf(campaign)),
				campaign.findings.length ? h("section.box", {}, h("h2", {}, plural(campaign.findings.length, "finding")), table("Findings", findings, campaign.findings)) : h("p", {}, nothingOf(campaign)),
				campaign.findings.length ? h("section.box", {}, h("h2", {}, "Witnesses"), table("Witnesses", witnesses, witnessesOf(campaign))) : null,
				campaign.findings.map(section),
				progress(campaign),
				campaign.paths?.length ? h("section.box", {}, h("h2", {}, "Paths that grew"), table("Paths", [["hits", (p) => count(p.hits), "number"], ["path", (p) => p.functions.join(" > "), "text"]], [...campaign.paths].sort((a, b) => b.hits - a.hits).slice(0, 50))) : null,
				h("section.box", {}, h("h2", {}, "Rules"), table("Rules", rules, campaign.rules)),
			),
		);
	},
};
