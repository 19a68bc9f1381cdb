// SPDX-License-Identifier: GPL-3.0-or-later
// The causal profiles of a campaign: how the run time, or a thread's, depends on the time of each function.
import { curvesOf, linesOf, pointsOf } from "../data/blow.js";
import { matcher } from "../data/filter.js";
import { count, plural } from "../data/format.js";
import { causalFigure } from "../parts/causal.js";
import { chooser, h, nothing, search } from "../parts/dom.js";
import { widthFor } from "../parts/figure.js";

const MOST = [["9", "9"], ["20", "20"], ["all", "all"]];

export const causal = {
	id: "causal",
	title: "Causal profiles",
	has: ({ blow }) => Boolean(blow?.curves?.some(({ lines }) => lines.length)),
	show({ run: { blow, label } }, element) {
		const points = pointsOf(blow);
		const state = { point: points[0] ?? null, fits: null, most: 9, cut: Infinity };
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
		const cut = h("input.search.short", { type: "number", min: 0, step: "any", "aria-label": "Greatest x", oninput: () => set("cut", cut.value === "" ? Infinity : Number(cut.value)) });

		element.append(
			h(
				"div.bar-of-tools",
				{},
				search("Function", (text) => set("fits", matcher(text))),
				blow.curves.length > 1 ? chooser("Progress", points.map((name) => [name, name]), state.point, (name) => set("point", name)) : null,
				chooser("Lines", MOST, "9", (value) => set("most", value === "all" ? Infinity : Number(value))),
				h("label.choice", {}, h("span", {}, "x up to"), cut),
				status,
			),
			place,
		);
		draw();
	},
};
