// SPDX-License-Identifier: GPL-3.0-or-later
// A graph of boxes and arrows as SVG: the wheel and + and - zoom, dragging and arrows move, a click or n and p choose a box.
import { layout } from "../data/layers.js";
import { cut } from "./figure.js";
import { h, svg } from "./dom.js";

export const BOX = { width: 164, height: 44 };
const MARGIN = 16;
const LETTER = 7.8;
const DRAG = 4; // pixels from which on a press is a drag
const WIDEST = 12; // pixels of an edge with all
const LEAST_READABLE = 0.75;
const LEAST_SCALE = 0.05;
const MOST_SCALE = 4;

// Hot boxes are red, cold ones pale; share: from 0 to 1.
export function heatColour(share) {
	const heat = Math.sqrt(Math.min(Math.max(share, 0), 1));
	return `hsl(${Math.round(48 - 40 * heat)}, 90%, ${Math.round(93 - 31 * heat)}%)`;
}

export const edgeWidth = (share) => Math.max(0.75, WIDEST * Math.min(Math.max(share, 0), 1));

// A smooth line through points from box to box: from the lower side of the upper one to the upper side of the lower one.
function pathOf(points) {
	const down = points[0].y < points.at(-1).y;
	const shift = (down ? 1 : -1) * (BOX.height / 2);
	const ends = points.map(({ x, y }, i) => ({ x, y: i === 0 ? y + shift : i === points.length - 1 ? y - shift : y }));
	return ends.map(({ x, y }, i) => {
		if (!i) return `M${x} ${y}`;
		const before = ends[i - 1];
		const middle = (before.y + y) / 2;
		return `C${before.x} ${middle} ${x} ${middle} ${x} ${y}`;
	}).join("");
}

// options: label, choose(node or null), open(node): on a double click, describe(node): {name, mark, line},
// title(node), share(node): from 0 to 1, edge(edge): {share, text, title}.
export class Graph {
	constructor(options) {
		this.options = options;
		this.view = { x: 0, y: 0, scale: 1 };
		this.layer = svg("g.graph-all");
		this.picture = svg("svg.graph", { "aria-label": options.label, role: "group" }, this.layer);
		this.element = h(
			"div.graph-place",
			{
				tabindex: 0,
				role: "application",
				"aria-label": `${options.label}: plus and minus zoom, arrows move, 0 shows all, n and p choose the next function, Enter centres on it`,
				onwheel: (event) => this.onWheel(event),
				onpointerdown: (event) => this.onDown(event),
				onpointermove: (event) => this.onMove(event),
				onpointerup: (event) => this.onUp(event),
				onpointercancel: () => (this.drag = null),
				ondblclick: (event) => this.onDouble(event),
				onkeydown: (event) => this.onKey(event),
			},
			this.picture,
		);
		new ResizeObserver(() => this.resize()).observe(this.element);
	}

	// nodes: {key, name, other}; edges: {from, to}, keys.
	setGraph({ nodes, edges }) {
		const index = new Map(nodes.map(({ key }, i) => [key, i]));
		const placed = layout(nodes.length, edges.map(({ from, to }) => ({ from: index.get(from), to: index.get(to) })), BOX);
		this.nodes = nodes;
		this.placed = placed;
		this.chosen = null;
		this.size = { width: placed.width + 2 * MARGIN, height: placed.height + 2 * MARGIN };
		const lines = edges.map((edge, i) => ({ edge, route: placed.routes[i] })).sort((a, b) => this.options.edge(a.edge).share - this.options.edge(b.edge).share);
		this.layer.replaceChildren(
			arrow(),
			...lines.map(({ edge, route }) => this.edge(edge, route)),
			...nodes.map((node, i) => this.box(node, placed.nodes[i])),
			...lines.map(({ edge, route }) => this.label(edge, route)),
		);
		this.started = false;
		this.resize();
	}

	edge(edge, route) {
		const { share, title } = this.options.edge(edge);
		const other = this.other(edge);
		return svg("path.edge", { d: pathOf(route), fill: "none", stroke: "currentColor", "stroke-opacity": other ? 0.25 : 0.45, "stroke-width": edgeWidth(share).toFixed(2), "stroke-dasharray": other ? "4 3" : null, "marker-end": "url(#graph-arrow)", "data-from": edge.from, "data-to": edge.to }, svg("title", {}, title));
	}

	other({ from, to }) {
		return this.nodes.some(({ key, other }) => other && (key === from || key === to));
	}

	label(edge, route) {
		const { text } = this.options.edge(edge);
		const [a, b] = [route[Math.floor((route.length - 1) / 2)], route[Math.ceil((route.length - 1) / 2)]];
		return text && !this.other(edge) ? svg("text.edge-label", { x: Math.round((a.x + b.x) / 2), y: Math.round((a.y + b.y) / 2) + 4, "text-anchor": "middle", "font-size": 10, fill: "currentColor" }, text) : "";
	}

	box(node, { x, y }) {
		const [left, top] = [x - BOX.width / 2, y - BOX.height / 2];
		const { name, mark, line } = this.options.describe(node);
		return svg(
			"g.node",
			{ "data-key": node.key, role: "img", "aria-label": this.options.title(node) },
			svg("title", {}, this.options.title(node)),
			svg("rect", { x: left, y: top, width: BOX.width, height: BOX.height, rx: 5, fill: node.other ? "#e4e4e4" : heatColour(this.options.share(node)), stroke: "#666", "stroke-dasharray": node.other ? "4 3" : null }),
			svg("text", { x, y: y - 4, "text-anchor": "middle", "font-size": 12, "font-weight": "bold", fill: "#222" }, `${cut(name, (BOX.width - 10) / LETTER - mark.length)}${mark}`),
			svg("text", { x, y: y + 13, "text-anchor": "middle", "font-size": 11, fill: "#222" }, line),
		);
	}

	// The whole graph in the middle of its place.
	fit() {
		const { clientWidth: width, clientHeight: height } = this.element;
		if (!width || !height || !this.size) return;
		const scale = Math.min(1, width / this.size.width, height / this.size.height);
		this.show({ scale, x: (width - this.size.width * scale) / 2, y: Math.max(0, (height - this.size.height * scale) / 2) });
	}

	// A graph that is too large to be read as a whole is shown from the function with the greatest total on.
	resize() {
		if (this.started || !this.size || !this.element.clientWidth) return;
		this.started = true;
		this.fit();
		if (this.view.scale >= LEAST_READABLE) return;
		this.view.scale = LEAST_READABLE;
		this.reveal(this.nodes[0].key);
		if (this.placed.nodes[0].y === BOX.height / 2) this.show({ ...this.view, y: 0 });
	}

	// A box in the middle, at a size at which its text can be read.
	reveal(key) {
		const i = this.nodes.findIndex((node) => node.key === key);
		if (i < 0) return;
		const scale = Math.max(this.view.scale, LEAST_READABLE);
		const { x, y } = this.placed.nodes[i];
		this.show({ scale, x: this.element.clientWidth / 2 - (x + MARGIN) * scale, y: this.element.clientHeight / 2 - (y + MARGIN) * scale });
	}

	show(view) {
		this.view = view;
		this.layer.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.scale}) translate(${MARGIN} ${MARGIN})`);
	}

	// by: a factor; the point that stays where it is, by default the middle.
	zoom(by, at = { x: this.element.clientWidth / 2, y: this.element.clientHeight / 2 }) {
		const scale = Math.min(Math.max(this.view.scale * by, LEAST_SCALE), MOST_SCALE);
		const factor = scale / this.view.scale;
		this.show({ scale, x: at.x - (at.x - this.view.x) * factor, y: at.y - (at.y - this.view.y) * factor });
	}

	move(x, y) {
		this.show({ ...this.view, x: this.view.x + x, y: this.view.y + y });
	}

	choose(key) {
		this.chosen = key;
		for (const each of this.layer.querySelectorAll("g.node")) {
			each.classList.toggle("at", each.dataset.key === key);
		}
		for (const each of this.layer.querySelectorAll("path.edge")) each.classList.toggle("at", each.dataset.from === key || each.dataset.to === key);
		this.options.choose(this.nodes.find((node) => node.key === key && !node.other) ?? null);
	}

	hit(event) {
		return event.target.closest?.("g.node")?.dataset.key ?? null;
	}

	onWheel(event) {
		event.preventDefault();
		const { left, top } = this.element.getBoundingClientRect();
		this.zoom(Math.exp(-event.deltaY / 400), { x: event.clientX - left, y: event.clientY - top });
	}

	onDown(event) {
		if (event.button !== 0) return;
		this.drag = { x: event.clientX, y: event.clientY, from: this.view, moved: false, hit: this.hit(event) };
		this.element.setPointerCapture(event.pointerId);
	}

	onMove(event) {
		if (!this.drag) return;
		const [x, y] = [event.clientX - this.drag.x, event.clientY - this.drag.y];
		this.drag.moved ||= Math.hypot(x, y) > DRAG;
		if (this.drag.moved) this.show({ ...this.drag.from, x: this.drag.from.x + x, y: this.drag.from.y + y });
	}

	onUp() {
		if (this.drag && !this.drag.moved) this.choose(this.drag.hit);
		this.drag = null;
	}

	// The pointer is captured by the whole place, so the event says nothing of the box.
	onDouble() {
		const node = this.nodes?.find(({ key, other }) => key === this.chosen && !other);
		if (node) this.options.open(node);
	}

	onKey(event) {
		if (event.ctrlKey || event.metaKey || event.altKey) return;
		const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
		if (step) this.move(...step);
		else if (event.key === "+" || event.key === "=") this.zoom(1.25);
		else if (event.key === "-") this.zoom(0.8);
		else if (event.key === "0") this.fit();
		else if (event.key === "n" || event.key === "p") this.step(event.key === "n" ? 1 : -1);
		else if (event.key === "Enter" && this.chosen) this.onDouble();
		else if (event.key === "Escape") this.choose(null);
		else return;
		event.preventDefault();
	}

	// To the next function in the order of their totals.
	step(by) {
		const all = this.nodes.filter(({ other }) => !other);
		if (!all.length) return;
		const next = all[(all.findIndex(({ key }) => key === this.chosen) + by + all.length) % all.length];
		this.choose(next.key);
		this.reveal(next.key);
	}

	// The picture as a file that stands alone, whatever is in sight.
	file() {
		const copy = this.picture.cloneNode(true);
		const { width, height } = this.size;
		const own = { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}`, width, height, "font-family": "sans-serif", color: "#222" };
		for (const [name, value] of Object.entries(own)) copy.setAttribute(name, value);
		copy.querySelector("g").setAttribute("transform", `translate(${MARGIN} ${MARGIN})`);
		for (const each of copy.querySelectorAll("[class]")) each.removeAttribute("class");
		copy.removeAttribute("class");
		copy.prepend(svg("title", {}, this.options.label), svg("rect", { width, height, fill: "#fff" }));
		return new XMLSerializer().serializeToString(copy);
	}
}

const arrow = () => svg("defs", {}, svg("marker", { id: "graph-arrow", viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto" }, svg("path", { d: "M0 0L10 5L0 10z", fill: "currentColor" })));
