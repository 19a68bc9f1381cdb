// SPDX-License-Identifier: GPL-3.0-or-later
// Runs with a fault, as a rule under noise: what happened, where the threads stood, and how to see it again.
import { againCommand, faultFacts, kindsOf, noiseWords } from "../data/blow.js";
import { matcher } from "../data/filter.js";
import { baseName, count, hex, plural } from "../data/format.js";
import { button, h, nothing } from "../parts/dom.js";

const MOST = 50; // faults that are shown at first

function stack({ thread, frames, missing }, open) {
	return h(
		"details.stack",
		{ open },
		h("summary", {}, thread),
		h("ol.frames", {}, frames.map(({ function: name, image, offset }) => h("li", {}, name, h("span.dim", { title: image }, ` ${baseName(image)}+${hex(offset)}`)))),
		missing ? h("p.dim", {}, missing) : null,
	);
}

function fault(row, blow, label) {
	const command = againCommand(row, blow, label);
	return h(
		"article.box.fault",
		{},
		h("h2", {}, h("span.more", {}, row.kind), ` in experiment ${count(row.experiment)}`),
		h("dl.facts", {}, faultFacts(row, blow).flatMap(([key, value]) => [h("dt", {}, key), h("dd", {}, value)])),
		row.stacks.length ? h("section", {}, h("h3", {}, `Stacks of ${plural(row.stacks.length, "thread")}`), row.stacks.map((each, i) => stack(each, i === 0))) : null,
		command ? h("section", {}, h("h3", {}, "Again"), h("pre.command-line", {}, command)) : null,
	);
}

export const faults = {
	id: "faults",
	title: "Faults",
	has: ({ blow }) => Boolean(blow?.faults.length),
	show({ run: { blow, label }, link }, element) {
		const kinds = [["", "all"], ...kindsOf(blow.faults).map(([kind]) => [kind, kind])];
		const state = { kind: link.one("kind", kinds, ""), fits: null, all: link.get("all") === "yes" };
		const place = h("div.page");
		const status = h("span.status", { role: "status" });
		element.classList.add("scrolls");
		const more = button("", () => {
			state.all = !state.all;
			link.set("all", state.all ? "yes" : "");
			draw();
		});
		const input = link.search("Function or noise", (text) => {
			state.fits = matcher(text);
			draw();
		});

		function draw() {
			const rows = blow.faults.filter((row) => (!state.kind || row.kind === state.kind) && (!state.fits || state.fits(row.function ?? "without noise") || state.fits(noiseWords(row.noise))));
			const shown = rows.slice(0, state.all ? Infinity : MOST);
			more.hidden = rows.length <= MOST;
			more.textContent = state.all ? `Show ${MOST}` : `Show all ${count(rows.length)}`;
			status.textContent = `${plural(rows.length, "fault")}: ${kindsOf(rows).map(([kind, n]) => `${count(n)} ${kind}`).join(", ")}`;
			place.replaceChildren(...(shown.length ? shown.map((row) => fault(row, blow, label)) : [nothing("No fault fits.")]), h("p.dim", {}, "Experiments with a fault are part of no mean, slope or gain."));
		}

		element.append(
			h(
				"div.bar-of-tools",
				{},
				input,
				link.chooser("kind", "Kind", kinds, "", (kind) => {
					state.kind = kind;
					draw();
				}),
				more,
				status,
			),
			place,
		);
		draw();
		link.restore(input);
	},
};
