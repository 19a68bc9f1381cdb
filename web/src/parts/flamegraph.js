// SPDX-License-Identifier: GPL-3.0-or-later
// A flame graph with keys, colours that follow the theme, and room for what a frame is: around d3-flame-graph.
import flamegraph from "d3-flame-graph";
import { select } from "d3-selection";
import { timerFlush } from "d3-timer";
import { matcher } from "../data/filter.js";
import { middle } from "../data/format.js";
import { hash, hueOfImage } from "../data/hues.js";
import { h } from "./dom.js";

const CELL = 20;
const LEAST_WIDTH = 0.5; // pixels; narrower frames are not drawn
const LABEL_MARGINS = 11; // pixels
const LABEL_FONT = '12px system-ui, "Liberation Sans", "DejaVu Sans", sans-serif'; // as in views.css
const ruler = document.createElement("canvas").getContext("2d");

// Cuts a name in its middle so that it fits into a width in pixels.
function fitted(name, width) {
	if (width <= 0) return "";
	ruler.font = LABEL_FONT;
	const all = ruler.measureText(name).width;
	if (all <= width) return name;
	let most = Math.floor((width * name.length) / all);
	while (most > 1 && ruler.measureText(middle(name, most)).width > width) most--;
	return middle(name, most);
}

// A name, and a share after it if both fit.
function label(name, share, width) {
	const both = `${name} ${share}`;
	return share && fitted(both, width) === both ? both : fitted(name, width);
}

// options: label, colour(data): a colour, zoomed(path): called after each zoom with the path of the frame (see zoomPath), describe(data, root, parent): elements for the line below the graph, parent being null of the root, share(data, root, parent): a text for labels with room for it.
export class FlameGraph {
	constructor(options) {
		this.options = options;
		this.canvas = h("div.flame", { tabindex: 0, role: "application", "aria-label": `${options.label}: arrows move between frames, Enter zooms, Escape shows all`, onkeydown: (event) => this.onKey(event) });
		this.details = h("div.flame-details", { role: "status" });
		this.element = h("div.fills.flame-place", {}, this.canvas, this.details);
		this.typed = "";
		new ResizeObserver(() => this.resize()).observe(this.canvas);
	}

	// data: {name, value, children}; zoom: the path of the frame that fills the graph at first, "" for the root.
	setData(data, inverted, zoom = "") {
		this.data = data;
		this.inverted = inverted;
		this.zoomPath = zoom; // from the root, the index of each child, the greatest child being 0: "0.2.1"
		this.focused = null;
		this.make();
	}

	make() {
		this.width = this.canvas.clientWidth;
		if (!this.width || !this.data) return;
		this.canvas.replaceChildren();
		this.chart = flamegraph()
			.width(this.width - 2)
			.cellHeight(CELL)
			.minFrameSize(LEAST_WIDTH)
			.transitionDuration(0)
			.inverted(this.inverted)
			.sort((a, b) => b.value - a.value)
			.selfValue(false)
			.tooltip(false)
			.setLabelHandler((frame) => frame.data.name)
			.setColorMapper((frame) => (frame.highlight ? "var(--hit)" : this.options.colour(frame.data)))
			.setSearchMatch((frame) => this.match?.(frame.data.name) ?? false)
			.setSearchHandler((_, sum, all) => this.found(sum, all))
			.setDetailsHandler(() => this.describe(this.focused))
			.onHover((frame) => this.describe(frame))
			.onClick((frame) => this.clicked(frame));
		this.selection = select(this.canvas).datum(this.data).call(this.chart);
		this.root = this.selection.datum();
		this.finish();
		this.describe(null);
		const zoomed = this.frameAt(this.zoomPath);
		if (zoomed) this.zoom(zoomed);
		if (this.typed) this.search(this.typed);
		if (!this.inverted) this.canvas.scrollTop = this.canvas.scrollHeight;
	}

	// The library lets new frames grow for a moment whatever it is told, and would draw the rest one frame late.
	finish() {
		timerFlush();
		const share = (frame) => (frame.parent && this.options.share ? this.options.share(frame.data, this.data, frame.parent.data) : "");
		this.selection.selectAll("g.frame").each(function (frame) {
			const width = Number(this.getAttribute("width"));
			select(this.querySelector("rect")).interrupt().attr("width", width);
			select(this.querySelector(".d3-flame-graph-label")).interrupt().text(label(this.getAttribute("name"), share(frame), width - LABEL_MARGINS));
		});
	}

	frameAt(path) {
		let frame = path ? this.root : null;
		for (const number of path ? path.split(".") : []) frame = frame?.children?.[Number(number)] ?? null;
		return frame;
	}

	pathOf(frame) {
		const numbers = [];
		for (let at = frame; at?.parent; at = at.parent) numbers.unshift(at.parent.children.indexOf(at));
		return numbers.join(".");
	}

	setZoom(path) {
		if (path === this.zoomPath) return;
		this.zoomPath = path;
		this.options.zoomed?.(path);
	}

	resize() {
		if (this.data && Math.abs(this.canvas.clientWidth - (this.width ?? 0)) > 1) this.make();
	}

	describe(frame) {
		const data = frame?.data ?? this.data;
		if (data) this.details.replaceChildren(...this.options.describe(data, this.data, frame?.parent?.data ?? null));
	}

	// The graph has zoomed to the frame that was clicked.
	clicked(frame) {
		this.setZoom(this.pathOf(frame));
		this.focus(frame);
	}

	// Describes a frame; the graph may have zoomed just before.
	focus(frame) {
		this.finish();
		this.focused = frame;
		this.mark();
		this.describe(frame);
	}

	// Writes what frames are labelled with and described by again.
	relabel() {
		if (!this.chart) return;
		this.finish();
		this.describe(this.focused);
	}

	// The frame that the keys are at has an outline.
	mark() {
		this.selection.selectAll("g.frame").classed("at", (frame) => frame === this.focused);
	}

	search(typed) {
		this.typed = typed;
		this.match = matcher(typed);
		if (!this.chart) return;
		if (this.match) this.chart.search(typed);
		else {
			this.chart.clear();
			this.options.found?.(null);
		}
		this.finish();
		this.mark();
	}

	found(sum, all) {
		this.options.found?.(all > 0 ? sum / all : 0);
	}

	reset() {
		if (!this.chart) return;
		this.setZoom("");
		this.chart.resetZoom();
		this.finish();
		this.focused = null;
		this.describe(null);
	}

	onKey(event) {
		const at = this.focused ?? this.root;
		if (!at || event.ctrlKey || event.metaKey || event.altKey) return;
		const [inner, outer] = this.inverted ? ["ArrowDown", "ArrowUp"] : ["ArrowUp", "ArrowDown"];
		if (event.key === "Escape") this.reset();
		else if (event.key === "Enter") this.zoom(at);
		else if (event.key === inner) this.move(largest(at.children));
		else if (event.key === outer) this.move(at.parent);
		else if (event.key === "ArrowRight") this.move(beside(at, 1));
		else if (event.key === "ArrowLeft") this.move(beside(at, -1));
		else return;
		event.preventDefault();
	}

	move(frame) {
		if (!frame) return;
		this.focus(frame);
		this.canvas.querySelector("g.at")?.scrollIntoView({ block: "nearest", inline: "nearest" });
	}

	zoom(frame) {
		this.chart.zoomTo(frame);
		this.setZoom(this.pathOf(frame));
		this.focus(frame);
		if (this.typed) this.search(this.typed);
	}
}

function largest(frames) {
	return frames?.reduce((most, frame) => (frame.value > most.value ? frame : most)) ?? null;
}

function beside(frame, by) {
	const row = frame.parent?.children.filter((each) => each.value > 0).sort((a, b) => a.x0 - b.x0) ?? [];
	return row[row.indexOf(frame) + by] ?? null;
}

// A colour for each image, a shade for each of its functions.
export function colourOf(name, image) {
	return `hsl(${hueOfImage(image)} var(--flame-s) calc(var(--flame-l) + ${(hash(name) % 7) - 3}%))`;
}

// A colour of the scale from cold (0) to hot (1).
export function heatColour(strength) {
	return `color-mix(in srgb, rgb(var(--heat-colour)) ${Math.round(100 * Math.min(1, Math.max(0, strength)))}%, var(--flame-root))`;
}

// A hue for a function alone.
export function hueOf(name) {
	return (hash(name) * 137) % 360;
}
