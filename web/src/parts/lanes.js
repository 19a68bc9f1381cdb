// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline on a canvas: only what is in sight is drawn. The wheel and a dragged range zoom, Shift with them moves.
import { eachShape, moved, sliceAt, within, zoomed } from "../data/timeline.js";
import { h } from "./dom.js";
import { ticks } from "./figure.js";
import { hueOf } from "./flamegraph.js";
import { theme } from "./theme.js";

const AXIS = 24; // heights in pixels
const TITLE = 22;
const ROW = 18;
const GAP = 8;
const DRAG = 4; // pixels from which on a press is a drag
const LETTER = 6.4;

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// options: hover(hit or null), choose(hit or null), view({from, to}): what is in sight has changed. A hit is {lane, row, i}.
export class Lanes {
	constructor({ lanes, functions, begin_ns: from, end_ns: to }, options) {
		this.functions = functions;
		this.options = options;
		this.whole = { from, to: Math.max(to, from + 1) };
		this.view = this.whole;
		this.place(lanes);
		this.canvas = h("canvas");
		this.spacer = h("div");
		this.element = h(
			"div.lanes",
			{
				tabindex: 0,
				role: "application",
				"aria-label": "Timeline: plus and minus zoom, left and right move, 0 shows all",
				onscroll: () => this.redraw(),
				onwheel: (event) => this.onWheel(event),
				onpointerdown: (event) => this.onDown(event),
				onpointermove: (event) => this.onMove(event),
				onpointerup: (event) => this.onUp(event),
				onpointerleave: () => this.options.hover(null),
				ondblclick: () => this.show(this.whole),
				onkeydown: (event) => this.onKey(event),
			},
			this.canvas,
			this.spacer,
		);
		theme.addEventListener("change", () => this.redraw());
		new ResizeObserver(() => this.redraw()).observe(this.element);
	}

	// Where each lane is, from the top.
	place(lanes) {
		let top = 0;
		this.lanes = lanes.map((lane) => {
			const placed = { ...lane, top };
			top += TITLE + lane.rows.length * ROW + GAP;
			return placed;
		});
		this.height = AXIS + top;
	}

	show(view) {
		this.view = view;
		this.options.view(view);
		this.redraw();
	}

	// fits(function), null: all are as usual.
	mark(fits) {
		this.faint = fits && this.functions.map((each) => !fits(each));
		this.redraw();
	}

	redraw() {
		this.wanted ??= requestAnimationFrame(() => {
			this.wanted = null;
			this.draw();
		});
	}

	draw() {
		const { clientWidth: width, clientHeight: height } = this.element;
		if (!width || !height) return;
		const ratio = window.devicePixelRatio || 1;
		Object.assign(this.canvas, { width: width * ratio, height: height * ratio });
		this.canvas.style.width = `${width}px`;
		this.canvas.style.height = `${height}px`;
		this.spacer.style.height = `${Math.max(this.height - height, 0)}px`;
		const g = this.canvas.getContext("2d");
		g.scale(ratio, ratio);
		this.width = width;
		this.colours = { text: css("--text"), dim: css("--dim"), line: css("--line"), paper: css("--paper"), label: css("--flame-text"), several: css("--flame-root"), accent: css("--accent"), s: css("--flame-s"), l: css("--flame-l") };
		this.fills = new Map();
		g.font = "11px system-ui, sans-serif";
		g.textBaseline = "middle";
		const { marks, text } = this.axis();
		g.fillStyle = this.colours.line;
		for (const { x } of marks) g.fillRect(x, 0, 1, height);
		for (const lane of this.lanes) this.drawLane(g, lane, height);
		g.fillStyle = this.colours.paper;
		g.fillRect(0, 0, width, AXIS);
		g.fillStyle = this.colours.dim;
		for (const { x, value } of marks) g.fillText(text(value), x + 4, AXIS / 2);
		if (this.drag?.range) this.drawRange(g, height);
	}

	drawLane(g, lane, height) {
		const top = AXIS + lane.top - this.element.scrollTop;
		if (top > height || top + TITLE + lane.rows.length * ROW < AXIS) return;
		g.fillStyle = this.colours.text;
		g.fillText(lane.name, 8, top + TITLE / 2);
		lane.rows.forEach((row, level) => {
			const y = top + TITLE + level * ROW;
			if (y < height && y + ROW > AXIS) eachShape(row, this.view, this.width, (x, wide, i) => this.drawSlice(g, row.of[i], x, y, wide));
		});
	}

	drawSlice(g, of, x, y, wide) {
		g.globalAlpha = this.faint && (of < 0 || this.faint[of]) ? 0.2 : 1;
		g.fillStyle = this.fill(of);
		g.fillRect(x, y, wide > 3 ? wide - 0.5 : wide, ROW - 1);
		const letters = Math.floor((wide - 6) / LETTER);
		if (letters > 2) {
			g.fillStyle = this.colours.label;
			const name = of < 0 ? "several functions" : this.functions[of].name;
			g.fillText(name.length > letters ? `${name.slice(0, letters - 1)}…` : name, x + 3, y + ROW / 2);
		}
		g.globalAlpha = 1;
	}

	fill(of) {
		if (of < 0) return this.colours.several;
		const kind = this.functions[of].kind; // of strobe blow: the function of the experiment, and waits for other threads
		if (kind === "blown") return "#e69f00";
		if (kind === "waits") return this.colours.several;
		if (!this.fills.has(of)) this.fills.set(of, `hsl(${hueOf(this.functions[of].name)} ${this.colours.s} ${this.colours.l})`);
		return this.fills.get(of);
	}

	// Round times of what is in sight: where they are, and how they are written.
	axis() {
		const { from, to } = this.view;
		const [size, unit] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]].find(([size]) => to >= size) ?? [1, "ns"];
		const values = ticks(from / size, to / size, Math.max(2, Math.floor(this.width / 130)));
		const digits = values.length > 1 ? Math.max(0, Math.ceil(-Math.log10(values[1] - values[0]) - 1e-9)) : 3;
		return { marks: values.map((value) => ({ value, x: ((value * size - from) / (to - from)) * this.width })), text: (value) => `${value.toFixed(digits)} ${unit}` };
	}

	drawRange(g, height) {
		const [a, b] = this.drag.range;
		g.globalAlpha = 0.2;
		g.fillStyle = this.colours.accent;
		g.fillRect(Math.min(a, b), 0, Math.abs(b - a), height);
		g.globalAlpha = 1;
	}

	// ---- pointer and keys ----

	xOf(event) {
		return Math.min(Math.max(event.clientX - this.element.getBoundingClientRect().left, 0), this.width);
	}

	timeAt(x) {
		return this.view.from + (x / this.width) * (this.view.to - this.view.from);
	}

	hit(event) {
		const place = this.element.getBoundingClientRect();
		const inside = event.clientY - place.top;
		if (inside < AXIS || !this.width) return null;
		const y = inside - AXIS + this.element.scrollTop;
		const lane = this.lanes.findLast(({ top }) => top <= y);
		const row = lane?.rows[Math.floor((y - lane.top - TITLE) / ROW)];
		const i = row ? sliceAt(row, this.timeAt(this.xOf(event)), this.timeAt(2) - this.timeAt(0)) : -1;
		return i < 0 ? null : { lane, row, i };
	}

	onWheel(event) {
		const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
		const by = event.deltaX || event.deltaY;
		event.preventDefault();
		if (sideways) this.show(moved(this.whole, this.view, (by / this.width) * (this.view.to - this.view.from)));
		else this.show(zoomed(this.whole, this.view, 1.25 ** (event.deltaY / 100), this.timeAt(this.xOf(event))));
	}

	onDown(event) {
		if (event.button !== 0 || event.offsetX > this.element.clientWidth) return;
		this.drag = { x: this.xOf(event), y: event.clientY, moves: event.shiftKey, view: this.view, top: this.element.scrollTop };
		this.element.setPointerCapture(event.pointerId);
	}

	onMove(event) {
		if (!this.drag) {
			this.options.hover(this.hit(event));
			return;
		}
		const x = this.xOf(event);
		if (this.drag.moves) {
			const span = this.view.to - this.view.from;
			this.element.scrollTop = this.drag.top + this.drag.y - event.clientY;
			this.show(moved(this.whole, this.drag.view, ((this.drag.x - x) / this.width) * span));
		} else if (this.drag.range || Math.abs(x - this.drag.x) >= DRAG) {
			this.drag.range = [this.drag.x, x];
			this.redraw();
		}
	}

	onUp(event) {
		const { range, moves } = this.drag ?? {};
		this.drag = null;
		if (range) this.show(within(this.whole, ...range.map((x) => this.timeAt(x)).sort((a, b) => a - b)));
		else if (!moves) this.options.choose(this.hit(event));
	}

	zoom(factor) {
		this.show(zoomed(this.whole, this.view, factor, (this.view.from + this.view.to) / 2));
	}

	onKey(event) {
		if (event.ctrlKey || event.metaKey || event.altKey) return;
		const step = (this.view.to - this.view.from) / 8;
		const keys = {
			"+": () => this.zoom(0.5),
			"=": () => this.zoom(0.5), // the key of + without Shift
			"-": () => this.zoom(2),
			0: () => this.show(this.whole),
			Escape: () => this.show(this.whole),
			ArrowLeft: () => this.show(moved(this.whole, this.view, -step)),
			ArrowRight: () => this.show(moved(this.whole, this.view, step)),
		};
		if (!Object.hasOwn(keys, event.key)) return;
		keys[event.key]();
		event.preventDefault();
	}
}
