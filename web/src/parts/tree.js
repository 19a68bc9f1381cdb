// SPDX-License-Identifier: GPL-3.0-or-later
// A table whose rows are a forest that opens and closes. Nodes need children; all else is the columns' business.
import { Grid } from "./grid.js";
import { h } from "./dom.js";
import { compare, matcher } from "../data/filter.js";

export class TreeGrid {
	// columns: as of Grid; the first one shows name(node). options: label, name, sort, sorted, open(node): on Enter.
	constructor(columns, options) {
		this.options = options;
		this.expanded = new Set();
		this.roots = [];
		this.lines = new Map(); // node: its row
		const first = { ...columns[0], text: (row) => options.name(row.node), cell: (row) => this.nameCell(row), value: (row) => options.name(row.node) };
		const others = columns.slice(1).map((column) => adapt(column));
		this.columns = [first, ...others];
		this.grid = new Grid(this.columns, {
			label: options.label,
			role: "treegrid",
			sort: options.sort,
			sorted: options.sorted,
			arrange: (column, descending) => this.flatten(column, descending),
			key: (event, row) => this.onKey(event, row),
			open: (row) => this.toggle(row.node),
			attributes: (row) => ({ "aria-level": row.depth + 1, "aria-expanded": row.node.children?.length ? String(this.expanded.has(row.node)) : null }),
			className: (row) => (this.match && !row.hit ? "beside" : null),
		});
		this.element = this.grid.element;
	}

	setRoots(roots) {
		this.roots = roots;
		this.expanded.clear();
		this.lines.clear();
		this.openAlone();
		this.grid.arrange();
	}

	// A tree that stands alone is shown open.
	openAlone() {
		const shown = this.within ? this.roots.filter((node) => this.within.has(node)) : this.roots;
		if (shown.length === 1) this.open(shown[0]);
	}

	// Shows the trees that hold a node that fits, opened up to it.
	filter(text) {
		this.match = matcher(text);
		this.within = this.match ? this.findWithin() : null;
		this.expanded.clear();
		if (this.within) for (const node of this.within) if (node.children?.some((child) => this.within.has(child))) this.expanded.add(node);
		this.openAlone();
		this.grid.scroller.scrollTop = 0;
		this.grid.arrange();
	}

	findWithin() {
		const within = new Set();
		const stack = this.roots.map((node) => [node, null]);
		const order = [];
		while (stack.length) {
			const [node, parent] = stack.pop();
			order.push([node, parent]);
			for (const child of node.children ?? []) stack.push([child, node]);
		}
		for (const [node, parent] of order.reverse()) {
			if (this.match(this.options.name(node))) within.add(node);
			if (within.has(node) && parent) within.add(parent);
		}
		return within;
	}

	flatten(column, descending) {
		const value = column >= 0 ? this.columns[column].value : null;
		const rows = [];
		const push = (list, depth, below) => {
			let kept = this.within && !below ? list.filter((node) => this.within.has(node)) : list;
			if (value) kept = [...kept].sort((a, b) => compare(value({ node: a }), value({ node: b }), descending));
			return kept.map((node) => ({ node, depth, below })).reverse();
		};
		const stack = push(this.roots, 0, false);
		while (stack.length) {
			const { node, depth, below } = stack.pop();
			const hit = this.match ? this.match(this.options.name(node)) : false;
			rows.push(this.line(node, depth, hit));
			// Below a node that fits, everything is shown when it is opened.
			if (this.expanded.has(node)) stack.push(...push(node.children, depth + 1, below || hit));
		}
		return rows;
	}

	// The same object each time, so that the chosen row stays chosen.
	line(node, depth, hit) {
		if (!this.lines.has(node)) this.lines.set(node, { node });
		return Object.assign(this.lines.get(node), { depth, hit });
	}

	nameCell({ node, depth }) {
		const inner = node.children?.length;
		const mark = h("span.twist", { "aria-hidden": "true" }, inner ? (this.expanded.has(node) ? "▾" : "▸") : "");
		return h("span.indented", { "--depth": Math.min(depth, 60) }, mark, this.options.name(node));
	}

	toggle(node) {
		if (!node.children?.length) return;
		if (this.expanded.has(node)) this.expanded.delete(node);
		else this.open(node);
		this.grid.arrange();
	}

	// Also what lies below it, as long as there is one way only.
	open(node) {
		for (let at = node; at.children?.length; at = at.children[0]) {
			this.expanded.add(at);
			if (at.children.length > 1) break;
		}
	}

	onKey(event, { node }) {
		const inner = node.children?.length;
		if (event.key === "ArrowRight" && inner && !this.expanded.has(node)) this.toggle(node);
		else if (event.key === "ArrowLeft" && this.expanded.has(node)) this.toggle(node);
		else if (event.key === "ArrowLeft") this.toParent(node);
		else return false;
		return true;
	}

	toParent(node) {
		const shown = this.grid.shown;
		const at = this.grid.active;
		for (let i = at - 1; i >= 0; i--)
			if (shown[i].node.children?.includes(node)) {
				this.grid.choose(i);
				return;
			}
	}
}

// A column of nodes as one of rows.
function adapt(column) {
	const of = (f) => (f ? (row) => f(row.node) : undefined);
	return { ...column, value: of(column.value), text: of(column.text), cell: of(column.cell), share: of(column.share) };
}
