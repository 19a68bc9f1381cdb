// SPDX-License-Identifier: GPL-3.0-or-later
import { button, h } from "./dom.js";

const KEYS = [
	["/", "search in this view; a part of a name, or /a regular expression/"],
	["1 … 9", "the views"],
	["↑ ↓, Page, Home, End", "move between rows"],
	["Enter", "open a row"],
	["→ ←", "open and close a node of a tree, or go to its parent; in the flame graph: the frames next to it"],
	["+ − 0, ← →", "in the timeline: zoom, show all, move"],
	["Escape", "clear the search; in the flame graph: show everything again"],
	["t", "switch between light and dark"],
	["?", "this"],
];

export function helpDialog() {
	const dialog = h(
		"dialog.help",
		{ "aria-label": "Keys and licences", onclick: (event) => event.target === dialog && dialog.close() },
		h("h2", {}, "Keys"),
		h("dl", {}, KEYS.flatMap(([key, meaning]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, meaning)])),
		h("p", {}, "A click on the heading of a column sorts by it. The address of the page names the view and what has been chosen in it: you can keep it or send it."),
		h("details", {}, h("summary", {}, "Libraries in this page, and their licences"), h("pre", {}, document.getElementById("licences").textContent)),
		h("form", { method: "dialog" }, button("Close", () => dialog.close(), { autofocus: true })),
	);
	return dialog;
}
