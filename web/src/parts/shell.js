// SPDX-License-Identifier: GPL-3.0-or-later
// What surrounds the views: the heading, the tabs, the choice of a run, light and dark, the keys.
import { button, chooser, h } from "./dom.js";
import { helpDialog } from "./help.js";
import { theme } from "./theme.js";

// views: see views/index.js.
export class Shell {
	constructor(root, runs, views) {
		this.runs = runs;
		this.run = runs[0];
		this.views = views;
		this.panels = new Map();
		this.main = h("main", { id: "view", tabindex: -1 });
		this.help = helpDialog();
		this.tabs = h("nav.tabs", { role: "tablist", "aria-label": "Views" });
		root.append(this.header(), this.tabs, this.main, this.help);
		this.drawTabs();
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

	chooseRun(index) {
		this.run = this.runs[index];
		document.querySelector(".command").textContent = this.run.command;
		this.drawTabs();
		this.route();
	}

	// To a view of another result.
	open(index, ...address) {
		const select = document.querySelector(".top .choice select");
		if (select) select.value = String(index);
		history.pushState(null, "", `#${address.map(encodeURIComponent).join("/")}`);
		this.chooseRun(index);
	}

	// #view or #view/argument, which the view understands.
	route() {
		const [id, ...rest] = location.hash.slice(1).split("/");
		const views = this.available();
		const view = views.find((each) => each.id === id) ?? views[0];
		this.show(view, rest.map(decodeURIComponent).join("/"));
	}

	show(view, argument) {
		this.current = view;
		for (const link of this.links) {
			const chosen = link.dataset.view === view.id;
			link.setAttribute("aria-selected", String(chosen));
			link.tabIndex = chosen ? 0 : -1;
		}
		document.title = `${this.titleOf(view)} · ${this.run.label} · Strobe`;
		this.main.setAttribute("aria-labelledby", `tab-${view.id}`);
		const panel = this.panel(view);
		for (const each of this.main.children) each.hidden = each !== panel.element;
		panel.handle?.argument?.(argument);
		panel.handle?.shown?.();
	}

	// A view is made when it is first looked at, and kept.
	panel(view) {
		const key = `${view.id} ${view.whole ? "" : this.run.index}`;
		if (!this.panels.has(key)) {
			const element = h("section.view", { "data-panel": view.id });
			this.main.append(element);
			for (const each of this.main.children) each.hidden = each !== element;
			this.panels.set(key, { element, handle: view.show({ run: this.run, runs: this.runs, go, open: (index, ...address) => this.open(index, ...address) }, element) });
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
