// SPDX-License-Identifier: GPL-3.0-or-later
// What surrounds the views: the heading, the tabs, the choice of a run, light and dark, the keys.
import { hasStartup, partOf, processChoices } from "../data/part.js";
import { button, chooser, h } from "./dom.js";
import { helpDialog } from "./help.js";
import { Link, readAddress, writeAddress } from "./link.js";
import { theme } from "./theme.js";

// views: see views/index.js.
export class Shell {
	constructor(root, runs, views) {
		this.runs = runs;
		this.result = runs[0];
		this.run = runs[0];
		this.process = ""; // of processChoices
		this.startup = true;
		this.parts = new Map(); // parts of runs that were made, by result and choices
		this.views = views;
		this.panels = new Map();
		this.main = h("main", { id: "view", tabindex: -1 });
		this.help = helpDialog();
		this.tabs = h("nav.tabs", { role: "tablist", "aria-label": "Views" });
		root.append(this.header(), this.tabs, this.main, this.help);
		this.setPart();
		window.addEventListener("hashchange", () => this.route());
		document.addEventListener("keydown", (event) => this.onKey(event));
		this.route();
	}

	header() {
		const choice = this.runs.map((run) => [String(run.index), run.label]);
		return h(
			"header.top",
			{},
			h("a.brand", { href: "#summary" }, h("span.mark", { "aria-hidden": "true" }), "Strobe"),
			this.runs.length > 1 ? chooser("Result", choice, "0", (index) => this.chooseRun(Number(index))) : h("span.label", { title: this.run.label }, this.run.label),
			(this.choices = h("span.parts")),
			h("span.command", { title: this.run.command }, this.run.command),
			h("span.space"),
			theme.button(),
			button("?", () => this.help.showModal(), { "aria-label": "Keys and licences", title: "Keys and licences (?)" }),
		);
	}

	available() {
		return this.views.filter((view) => view.has(this.run, this.runs));
	}

	titleOf({ title }) {
		return typeof title === "function" ? title(this.run) : title;
	}

	drawTabs() {
		this.links = this.available().map((view) => h("a.tab", { role: "tab", id: `tab-${view.id}`, href: `#${view.id}`, "data-view": view.id, "data-title": this.titleOf(view), "aria-controls": "view" }, this.titleOf(view)));
		this.tabs.replaceChildren(...this.links);
	}

	// Draws the choices of the part of the result: a process, and start-up in the dynamic linker.
	drawChoices() {
		const processes = processChoices(this.result);
		const start = h("input", { type: "checkbox", checked: !this.startup, onchange: () => this.choosePart({ startup: !start.checked }) });
		this.choices.replaceChildren(
			...[
				processes.length ? chooser("Process", processes, this.process, (process) => this.choosePart({ process })) : null,
				hasStartup(this.result) ? h("label.choice", { title: "Leave out the dynamic linker: its functions, and the stacks that begin in it" }, start, h("span", {}, "hide start-up (ld.so)")) : null,
			].filter(Boolean),
		);
	}

	choosePart({ process = this.process, startup = this.startup }) {
		this.process = process;
		this.startup = startup;
		const { id, path } = readAddress(location.hash);
		const { values } = this.panels.get(this.keyOf(this.current))?.link ?? { values: new Map() };
		this.setPart();
		this.removePanel(this.keyOf(this.current)); // it is made again, with the choices of the panel before
		history.replaceState(null, "", writeAddress({ id: id || this.current.id, path }, this.withPart(values)));
		this.route();
	}

	// Makes the run that the views show.
	setPart() {
		const key = `${this.result.index} ${this.process} ${this.startup}`;
		if (!this.parts.has(key)) this.parts.set(key, partOf(this.result, this));
		this.run = this.parts.get(key);
		document.querySelector(".command").textContent = this.run.command;
		this.drawChoices();
		this.drawTabs();
	}

	// The choices of a view with those of the whole page.
	withPart(values) {
		const all = new Map(values);
		if (this.result.index > 0) all.set("result", String(this.result.index));
		if (this.process) all.set("process", this.process);
		if (!this.startup) all.set("startup", "hidden");
		return all;
	}

	chooseRun(index) {
		this.result = this.runs[index];
		this.process = "";
		this.setPart();
		const { id, path } = readAddress(location.hash);
		history.replaceState(null, "", writeAddress({ id, path }, this.withPart(new Map())));
		this.route();
	}

	// To a view of another result.
	open(index, ...address) {
		history.pushState(null, "", `#${address.map(encodeURIComponent).join("/")}`);
		this.chooseRun(index);
	}

	// Takes the choices of the whole page from the address; an address without any keeps the present ones.
	readPart(values) {
		if (!values.size) return;
		const result = this.runs[Number(values.get("result") ?? this.result.index)] ?? this.result;
		const process = processChoices(result).some(([key]) => key === values.get("process")) ? values.get("process") : "";
		const startup = !(values.get("startup") === "hidden" && hasStartup(result));
		if (result === this.result && process === this.process && startup === this.startup) return;
		Object.assign(this, { result, process, startup });
		this.setPart();
	}

	// #view or #view/argument, which the view understands, with ?choices.
	route() {
		const { id, argument, values } = readAddress(location.hash);
		this.readPart(values);
		for (const key of ["result", "process", "startup"]) values.delete(key);
		const select = document.querySelector(".top > .choice select");
		if (select) select.value = String(this.result.index);
		const views = this.available();
		const view = views.find((each) => each.id === id) ?? views[0];
		this.show(view, argument, values);
	}

	show(view, argument, values) {
		this.current = view;
		for (const link of this.links) {
			const chosen = link.dataset.view === view.id;
			link.setAttribute("aria-selected", String(chosen));
			link.tabIndex = chosen ? 0 : -1;
			if (chosen) link.scrollIntoView({ block: "nearest", inline: "nearest" });
		}
		document.title = `${this.titleOf(view)} · ${this.run.label} · Strobe`;
		this.main.setAttribute("aria-labelledby", `tab-${view.id}`);
		const panel = this.panel(view, values);
		for (const each of this.main.children) each.hidden = each !== panel.element;
		panel.handle?.argument?.(argument, values);
		panel.handle?.shown?.();
		this.writeLink(panel);
	}

	keyOf(view) {
		return `${view.id} ${view.whole ? "" : `${this.result.index} ${this.process} ${this.startup}`}`;
	}

	removePanel(key) {
		this.panels.get(key)?.element.remove();
		this.panels.delete(key);
	}

	// Writes the choices of a panel into the address. Browsers refuse more than about a hundred changes in 30 seconds, which turning the
	// wheel exceeds: then the address is written later, with what has been chosen by then.
	writeLink({ link }) {
		const { id, path } = readAddress(location.hash);
		const address = writeAddress({ id, path }, this.withPart(link.values));
		if (!id || address === location.hash) return;
		if (this.mayWrite()) history.replaceState(null, "", address);
		else
			this.later ??= setTimeout(() => {
				this.later = null;
				this.writeLink(this.panels.get(this.keyOf(this.current)));
			}, 500);
	}

	// At most 40 at once, and 2 for each second.
	mayWrite() {
		const now = Date.now() / 1000;
		this.allowed = Math.min(40, (this.allowed ?? 40) + 2 * (now - (this.asked ?? now)));
		this.asked = now;
		if (this.allowed < 1) return false;
		this.allowed--;
		return true;
	}

	// A view is made when it is first looked at, and kept, unless the address has other choices.
	panel(view, values) {
		const key = this.keyOf(view);
		const before = this.panels.get(key);
		if (values.size && before && writeAddress({ id: "" }, values) !== writeAddress({ id: "" }, before.link.values)) this.removePanel(key);
		if (!this.panels.has(key)) {
			const element = h("section.view", { "data-panel": view.id });
			this.main.append(element);
			for (const each of this.main.children) each.hidden = each !== element;
			const link = new Link(values, () => this.panels.get(key)?.link === link && this.current === view && this.writeLink({ link }));
			const panel = { element, link, handle: null };
			this.panels.set(key, panel);
			panel.handle = view.show({ run: this.run, runs: this.runs, link, go, open: (index, ...address) => this.open(index, ...address) }, element);
		}
		return this.panels.get(key);
	}

	onKey(event) {
		const typing = event.target.matches("input, select, textarea");
		if (event.key === "Escape") this.escape(event);
		if (typing || event.ctrlKey || event.metaKey || event.altKey || this.help.open) return;
		if (event.key === "/") {
			const input = this.main.querySelector("section:not([hidden]) [data-search]");
			input?.focus();
			input?.select();
			event.preventDefault();
		} else if (event.key === "?") this.help.showModal();
		else if (event.key === "t") theme.next();
		else if (/^[1-9]$/.test(event.key)) this.links[Number(event.key) - 1]?.click();
		else if (event.target.matches(".tab") && /^Arrow(Left|Right)$/.test(event.key)) this.step(event.target, event.key === "ArrowRight" ? 1 : -1);
		else if (!event.defaultPrevented) this.panels.get(this.keyOf(this.current))?.handle?.key?.(event); // the picture works without a click on it first
	}

	escape(event) {
		const input = event.target.closest("[data-search]");
		if (!input) return;
		if (input.value) {
			input.value = "";
			input.dispatchEvent(new Event("input"));
		}
		this.main.querySelector("section:not([hidden]) .grid")?.focus();
	}

	step(link, by) {
		const next = this.links.at((this.links.indexOf(link) + by) % this.links.length);
		next.focus();
		next.click();
	}
}

// To a view, with an argument that it understands.
export function go(view, ...argument) {
	location.hash = [view, ...argument.map(encodeURIComponent)].join("/");
}
