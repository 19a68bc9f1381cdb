// SPDX-License-Identifier: GPL-3.0-or-later
// A study of strobe tune: the distribution of each response by period and budget, and how the two interact.
import { count, plural, short } from "../data/format.js";
import { box, cells, RESPONSES } from "../data/study.js";
import { h } from "../parts/dom.js";
import { colourOf, drawBox, drawLine, figure } from "../parts/figure.js";

export const study = {
	id: "study",
	title: "Study",
	has: (run) => Boolean(run.study),
	show({ run }, element) {
		element.classList.add("scrolls");
		const s = run.study;
		element.append(h("div.page", {}, h("h1", {}, run.command || run.label), h("p.lead", {}, lead(s)), advice(s), ...RESPONSES.map((response) => figures(s, response))));
	},
};

function lead(s) {
	const whole = s.analysis?.repetitions ?? 0;
	return `tool ${s.tool}, policy ${s.policy} · ${plural(s.programs.length, "program")} · ${plural(whole, "whole repetition")}${s.complete ? "" : ", ended before the last one"}`;
}

const amount = (budget) => `B ${short(100 * budget)} %`;
const time = (period) => (period < 1 ? `${short(1000 * period)} ms` : `${short(period)} s`);

// The two figures of a response.
function figures(s, { name, title, axis, average }) {
	const table = cells(s, name);
	const n = s.periods.length;
	const under = s.periods.map((period, i) => [(i + 0.5) / n, `T ${time(period)}`]);
	const values = table.flatMap(({ groups }) => groups.flatMap((group) => group.values));
	const width = Math.min(40, 340 / (n * (table.length + 1)));
	const distribution = figure({
		title,
		axis,
		values,
		format: short,
		under,
		draw: (plot) =>
			table.forEach(({ budget, groups }, b) => {
				plot.legend(amount(budget), b);
				groups.forEach((group, i) => {
					const five = box(group.values);
					const x = plot.x((i + 0.5) / n) + (b - (table.length - 1) / 2) * width * 1.25;
					if (five) drawBox(plot, five, x, width, colourOf(b), `${amount(budget)}, T ${time(group.period)}: median ${short(five.median)}, quartiles ${short(five.q1)} and ${short(five.q3)}, ${plural(five.n, "run")}`);
				});
			}),
	});
	const means = table.map(({ budget, groups }) => ({ budget, points: groups.map(({ values: of }, i) => ({ x: (i + 0.5) / n, ...average(of) })).filter((point) => Number.isFinite(point.mean)) }));
	const interaction = figure({
		title: `${title}: means and their standard errors`,
		axis,
		values: means.flatMap(({ points }) => points.flatMap((point) => [point.mean, point.low ?? point.mean, point.high ?? point.mean])),
		format: short,
		under,
		draw: (plot) =>
			means.forEach(({ budget, points }, b) => {
				plot.legend(amount(budget), b);
				drawLine(plot, points, colourOf(b));
			}),
	});
	return h("section.box", {}, h("h2", {}, title), h("div.charts", {}, distribution, interaction));
}

function advice({ analysis }) {
	const hypotheses = analysis?.hypotheses ?? [];
	if (!hypotheses.length) return h("p.dim", {}, "There are too few runs for an analysis of variance.");
	return h(
		"section.box",
		{},
		h("h2", {}, "What the analysis of variance says"),
		h("ul", {}, hypotheses.map(({ number, claim, p, stands, interacts }) => h("li", {}, `H${count(number)}, ${claim}: ${stands ? "holds" : "does not hold"} (p = ${p.toPrecision(2)}${interacts ? "; it depends on the budget" : ""})`))),
	);
}
