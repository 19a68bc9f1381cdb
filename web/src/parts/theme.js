// SPDX-License-Identifier: GPL-3.0-or-later
// Light or dark: as the system has it, until somebody chooses. Where a page may not keep the choice, it lasts as long as
// the page.
import { button } from "./dom.js";

const KEY = "strobe-theme";
const SIGNS = { light: "☀", dark: "☾" };
const system = window.matchMedia("(prefers-color-scheme: dark)");

function stored() {
	try {
		return localStorage.getItem(KEY);
	} catch {
		return null;
	}
}

function store(name) {
	try {
		localStorage.setItem(KEY, name);
	} catch {
		// Files opened from a disk may have no storage.
	}
}

class Theme extends EventTarget {
	constructor() {
		super();
		this.chosen = stored();
		this.buttons = [];
		system.addEventListener("change", () => this.apply());
		this.apply();
	}

	get name() {
		return this.chosen in SIGNS ? this.chosen : system.matches ? "dark" : "light";
	}

	next() {
		this.chosen = this.name === "dark" ? "light" : "dark";
		store(this.chosen);
		this.apply();
	}

	apply() {
		document.documentElement.dataset.theme = this.name;
		for (const each of this.buttons) each.textContent = SIGNS[this.name];
		this.dispatchEvent(new Event("change"));
	}

	button() {
		const made = button(SIGNS[this.name], () => this.next(), { "aria-label": "Light or dark", title: "Light or dark (t)" });
		this.buttons.push(made);
		return made;
	}
}

export const theme = new Theme();
