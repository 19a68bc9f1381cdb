// SPDX-License-Identifier: GPL-3.0-or-later
// Making elements. Texts become text nodes, never markup: names come from the programs that were measured.

import { problemOf } from "../data/filter.js";

const SVG = "http://www.w3.org/2000/svg";

// h("div.name", {title: "..", onclick: f, "aria-label": ".."}, child, "text", [more])
export function h(spec, properties = {}, ...children) {
	const [tag, ...classes] = spec.split(".");
	return fill(document.createElement(tag || "div"), classes, properties, children);
}

export function svg(spec, properties = {}, ...children) {
	const [tag, ...classes] = spec.split(".");
	return fill(document.createElementNS(SVG, tag), classes, properties, children);
}

function fill(element, classes, properties, children) {
	if (classes.length) element.classList.add(...classes);
	for (const [name, value] of Object.entries(properties)) set(element, name, value);
	element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
	return element;
}

function set(element, name, value) {
	if (value === null || value === undefined || value === false) return;
	if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
	else if (name.startsWith("--")) element.style.setProperty(name, value);
	else element.setAttribute(name, value === true ? "" : value);
}

let made = 0;

export function newId(prefix) {
	return `${prefix}-${++made}`;
}

// A labelled select. options: [value, title] pairs.
export function chooser(label, options, value, onchange) {
	const select = h("select", { onchange: () => onchange(select.value) }, options.map(([key, title]) => h("option", { value: key, selected: key === value }, title)));
	return h("label.choice", {}, h("span", {}, label), select);
}

// A search field; / puts the cursor there. It says when an expression is invalid.
export function search(label, oninput) {
	const note = h("span.invalid", { role: "alert" });
	const check = () => {
		const why = problemOf(input.value);
		if (why) input.setAttribute("aria-invalid", "true");
		else input.removeAttribute("aria-invalid");
		note.textContent = why ?? "";
		if (why && !note.isConnected) input.after(note);
		else if (!why) note.remove();
		oninput(input.value);
	};
	const input = h("input.search", { type: "search", placeholder: `${label}  ( / )`, "aria-label": label, "data-search": true, spellcheck: "false", oninput: check });
	return input;
}

export function button(title, onclick, more = {}) {
	return h("button.plain", { type: "button", onclick, ...more }, title);
}

// A paragraph for a view that has nothing to show.
export function nothing(...text) {
	return h("p.nothing", {}, ...text);
}
