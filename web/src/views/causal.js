// SPDX-License-Identifier: GPL-3.0-or-later
// The causal profiles of a campaign: how the run time, or a thread's, depends on the time of each function.
import { curvesOf, linesOf, pointsOf } from "../data/blow.js";
import { matcher } from "../data/filter.js";
import { count, plural } from "../data/format.js";
import { causalFigure } from "../parts/causal.js";
import { h, nothing } from "../parts/dom.js";
import { widthFor } from "../parts/figure.js";

const MOST = [["9", "9"], ["20", "20"], ["all", "all"]];

export const causal = {
	id: "causal",
	title: "Causal profiles",
	has: ({ blow }) => Boolean(blow?.curves?.some(({ lines }) => lines.length)),
	show({ run: { blow, label }, link }, element) {
		const points = pointsOf(blow).map((name) => [name, name]);
		const number = (text) => (text === "" || !Number.isFinite(Number(text)) ? Infinity : Number(text));
		const state = { point: link.one("progress", points, points[0]?.[0] ?? null), fits: null, most: number(link.one("lines", MOST, "9")), cut: number(link.get("cut", "")) };
		const place = h("div.page");
		const status = h("span.status", { role: "status" });
		element.classList.add("scrolls");

		function draw() {
			const curves = curvesOf(blow, state.point);
			const { lines, of, beyond } = linesOf(curves, state);
			const left = beyond ? `; ${plural(beyond, "point")} beyond x = ${state.cut} ${beyond === 1 ? "is" : "are"} left out` : "";
			status.textContent = `${count(lines.length)} of ${plural(of, "line")}${left}`;
			place.replaceChildren(
				lines.length ? causalFigure({ title: `causal profiles of ${label} (${blow.mode})`, curves, lines, width: widthFor(element) }) : nothing("No experiment fits."),
				h("p.caption", {}, `${curves.note} Experiments with faults are not drawn.`),
			);
		}
		const set = (key, value) => {
			state[key] = value;
			draw();
		};
		const cut = h("input.search.short", { type: "number", min: 0, step: "any", "aria-label": "Greatest x", value: link.get("cut", ""), oninput: () => {
			link.set("cut", cut.value);
			set("cut", number(cut.value));
		} });
		const input = link.search("Function", (text) => set("fits", matcher(text)));

		element.append(
			h(
				"div.bar-of-tools",
				{},
				input,
				blow.curves.length > 1 ? link.chooser("progress", "Progress", points, points[0]?.[0], (name) => set("point", name)) : null,
				link.chooser("lines", "Lines", MOST, "9", (value) => set("most", number(value))),
				h("label.choice", {}, h("span", {}, "x up to"), cut),
				status,
			),
			place,
		);
		draw();
		link.restore(input);
	},
};
