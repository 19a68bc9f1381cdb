// SPDX-License-Identifier: GPL-3.0-or-later
// The address of the page: #view/argument?key=value&…. The keys say what has been chosen in the view, so that a link leads to it again.
import { chooser, h, search } from "./dom.js";

export function readAddress(hash) {
	const text = hash.replace(/^#/, "");
	const at = text.indexOf("?");
	const [id, ...rest] = (at < 0 ? text : text.slice(0, at)).split("/");
	return { id, argument: rest.map(decode).join("/"), path: rest, values: new Map(new URLSearchParams(at < 0 ? "" : text.slice(at + 1))) };
}

// A broken address is no reason to show nothing.
function decode(text) {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

export function writeAddress({ id, path = [] }, values) {
	const query = new URLSearchParams([...values]).toString();
	return `#${[id, ...path].join("/")}${query ? `?${query}` : ""}`;
}

// What one view has in the address. changed(): called after each change.
export class Link {
	constructor(values, changed) {
		this.values = new Map(values);
		this.changed = changed;
	}

	get(key, usual = null) {
		return this.values.get(key) ?? usual;
	}

	// One of the options, [key, title] pairs; what is none of them is the usual one.
	one(key, options, usual) {
		const value = this.get(key);
		return options.some(([each]) => each === value) ? value : usual;
	}

	set(key, value, usual = "") {
		if (value === null || value === undefined || value === usual || value === "") this.values.delete(key);
		else this.values.set(key, String(value));
		this.changed();
	}

	// A chooser whose choice is in the address.
	chooser(key, label, options, usual, onchange) {
		return chooser(label, options, this.one(key, options, usual), (value) => {
			this.set(key, value, usual);
			onchange(value);
		});
	}

	// A box to tick; ticked and usual are the two values.
	box(key, label, ticked, usual, onchange) {
		const input = h("input", { type: "checkbox", checked: this.get(key) === ticked, onchange: () => {
			const value = input.checked ? ticked : usual;
			this.set(key, value, usual);
			onchange(value);
		} });
		return h("label.choice", {}, input, h("span", {}, label));
	}

	// A search field whose text is in the address; restore(input) enters it when the view is there.
	search(label, oninput) {
		const input = search(label, (text) => {
			this.set("search", text);
			oninput(text);
		});
		input.value = this.get("search", "");
		return input;
	}

	restore(input) {
		if (input.value) input.dispatchEvent(new Event("input"));
	}

	// The order of a table by the title of a column: "Calls", or "-Calls" from the greatest down.
	sort(columns, usual) {
		const text = this.get("sort", "");
		const column = columns.findIndex(({ title }) => title === text.replace(/^-/, ""));
		return text && column >= 0 ? { column, descending: text.startsWith("-") } : usual;
	}

	sorted(columns) {
		return ({ column, descending }) => this.set("sort", `${descending ? "-" : ""}${columns[column].title}`);
	}
}
