// SPDX-License-Identifier: GPL-3.0-or-later
// A table of any length: only the rows in sight are elements.
//
// columns: {title, help, kind: "number" | "text", width, value(row): what it is sorted by, text(row), cell(row): an element
// instead of the text, share(row): 0 to 1, drawn as a bar}.
// options: label, sort: {column, descending}, arrange(column, descending): sorts the rows instead of the grid,
// sorted({column, descending}): called after the user has sorted, open(row): on Enter and click, key(event, row): true when it used the key, attributes(row), className(row).
import { h, newId } from "./dom.js";
import { sorted } from "../data/filter.js";

const ROW = 26;
const BEYOND = 8; // rows made above and below those in sight

export class Grid {
	constructor(columns, options) {
		this.columns = columns;
		this.options = options;
		this.rows = [];
		this.shown = [];
		this.active = -1;
		this.sort = options.sort ?? { column: -1, descending: false };
		this.id = newId("grid");
		this.build();
	}

	build() {
		const { label, role = "grid" } = this.options;
		const widths = this.columns.map((column) => column.width ?? "8rem");
		const least = widths.map((width) => /[\d.]+rem/.exec(width)[0]).join(" + "); // the first length: of minmax(), too
		this.heads = this.columns.map((column, i) => this.head(column, i));
		this.body = h("div.grid-body", { role: "rowgroup" });
		this.empty = h("p.grid-empty", { hidden: true }, "No row matches.");
		const header = h("div.grid-row.grid-header", { role: "row" }, this.heads);
		this.scroller = h(
			"div.grid",
			{ role, "aria-label": label, tabindex: 0, "--columns": widths.join(" "), "--least": `calc(${least} + 1rem)`, onscroll: () => this.draw(), onkeydown: (event) => this.onKey(event) },
			h("div.grid-head", { role: "rowgroup" }, header),
			this.body,
			this.empty,
		);
		this.element = this.scroller;
		new ResizeObserver(() => this.draw()).observe(this.scroller);
	}

	head(column, i) {
		const press = () => this.sortBy(i);
		return h(
			`div.cell.${column.kind ?? "text"}`,
			{ role: "columnheader", title: column.help },
			column.value || this.options.arrange ? h("button.sorter", { type: "button", tabindex: -1, onclick: press }, column.title) : column.title,
		);
	}

	setRows(rows) {
		this.rows = rows;
		this.arrange();
	}

	sortBy(column) {
		const again = this.sort.column === column;
		const descending = again ? !this.sort.descending : this.columns[column].kind === "number";
		this.sort = { column, descending };
		this.options.sorted?.(this.sort);
		this.arrange();
	}

	// Sorts, shows and forgets which row was chosen, unless it is still there.
	arrange() {
		const { column, descending } = this.sort;
		const chosen = this.shown[this.active];
		if (this.options.arrange) this.shown = this.options.arrange(column, descending);
		else this.shown = column < 0 ? this.rows : sorted(this.rows, this.columns[column].value, descending);
		this.active = chosen ? this.shown.indexOf(chosen) : -1;
		this.heads.forEach((head, i) => head.setAttribute("aria-sort", i !== column ? "none" : descending ? "descending" : "ascending"));
		this.scroller.setAttribute("aria-rowcount", this.shown.length + 1);
		this.body.style.height = `${this.shown.length * ROW}px`;
		this.empty.hidden = this.shown.length > 0;
		this.drawn = null;
		this.draw();
	}

	draw() {
		const top = this.scroller.scrollTop;
		const first = Math.max(0, Math.floor(top / ROW) - BEYOND);
		const end = Math.min(this.shown.length, Math.ceil((top + this.scroller.clientHeight) / ROW) + BEYOND);
		const range = `${first}-${end}-${this.active}`;
		if (this.drawn === range) return;
		this.drawn = range;
		this.body.replaceChildren(...this.shown.slice(first, end).map((row, i) => this.row(row, first + i)));
		if (this.active >= first && this.active < end) this.scroller.setAttribute("aria-activedescendant", `${this.id}-${this.active}`);
		else this.scroller.removeAttribute("aria-activedescendant");
	}

	row(row, index) {
		const element = h(
			"div.grid-row",
			{ role: "row", id: `${this.id}-${index}`, "aria-rowindex": index + 2, "aria-selected": index === this.active ? "true" : "false", ...this.options.attributes?.(row) },
			this.columns.map((column) => this.cell(column, row)),
		);
		element.style.transform = `translateY(${index * ROW}px)`;
		const className = this.options.className?.(row);
		if (className) element.classList.add(className);
		element.addEventListener("click", (event) => this.onClick(event, index));
		return element;
	}

	cell(column, row) {
		const text = column.text?.(row) ?? "";
		const element = h(`div.cell.${column.kind ?? "text"}`, { role: "gridcell" }, column.cell?.(row) ?? text);
		if (column.kind !== "number") element.title = text;
		const share = column.share?.(row);
		if (share > 0) {
			element.classList.add("bar");
			element.style.setProperty("--share", `${Math.min(share, 1) * 100}%`);
		}
		return element;
	}

	onClick(event, index) {
		if (event.target.closest("a, button")) return;
		this.choose(index);
		if (this.options.open) this.options.open(this.shown[index]);
	}

	choose(index) {
		this.active = Math.max(0, Math.min(index, this.shown.length - 1));
		const top = this.active * ROW;
		const room = this.scroller.clientHeight - ROW; // the header covers one row
		if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
		else if (top + ROW > this.scroller.scrollTop + room) this.scroller.scrollTop = top + ROW - room;
		this.draw();
		this.options.choose?.(this.shown[this.active]);
	}

	onKey(event) {
		if (event.ctrlKey || event.metaKey || event.altKey || event.target !== this.scroller) return;
		if (this.active >= 0 && this.options.key?.(event, this.shown[this.active])) {
			event.preventDefault();
			return;
		}
		const page = Math.max(1, Math.floor(this.scroller.clientHeight / ROW) - 2);
		const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
		if (event.key === "Enter" && this.active >= 0) this.options.open?.(this.shown[this.active]);
		else if (event.key in steps && this.shown.length) this.choose(this.active + steps[event.key]);
		else return;
		event.preventDefault();
	}
}
