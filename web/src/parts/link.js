// SPDX-License-Identifier: GPL-3.0-or-later
// The address of the page: #view/argument?key=value&…. The keys are the choices in the view, so that a link shows the same again.
import { chooser, h, search } from "./dom.js";

export function readAddress(hash) {
	const text = hash.replace(/^#/, "");
	const at = text.indexOf("?");
	const [id, ...rest] = (at < 0 ? text : text.slice(0, at)).split("/");
	return { id, argument: rest.map(decode).join("/"), path: rest, values: new Map(new URLSearchParams(at < 0 ? "" : text.slice(at + 1))) };
}

// Returns a text that is not encoded correctly as it is.
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

// The choices of one view in the address. changed() is called after each change.
export class Link {
	constructor(values, changed) {
		this.values = new Map(values);
		this.changed = changed;
	}

	get(key, usual = null) {
		return this.values.get(key) ?? usual;
	}

	// The value of a key if it is one of the options, [key, title] pairs; otherwise the default, `usual`.
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

	// A check box; its values are `ticked` and, by default, `usual`.
	box(key, label, ticked, usual, onchange) {
		const input = h("input", { type: "checkbox", checked: this.get(key) === ticked, onchange: () => {
			const value = input.checked ? ticked : usual;
			this.set(key, value, usual);
			onchange(value);
		} });
		return h("label.choice", {}, input, h("span", {}, label));
	}

	// A search field whose text is in the address. restore(input) applies that text after the view has been made.
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

	// The order of a table by the title of a column: "Calls", or "-Calls" in descending order.
	sort(columns, usual) {
		const text = this.get("sort", "");
		const column = columns.findIndex(({ title }) => title === text.replace(/^-/, ""));
		return text && column >= 0 ? { column, descending: text.startsWith("-") } : usual;
	}

	sorted(columns) {
		return ({ column, descending }) => this.set("sort", `${descending ? "-" : ""}${columns[column].title}`);
	}
}
