// SPDX-License-Identifier: GPL-3.0-or-later
// What tests/lint/run asks of JavaScript: what eslint recommends, and files and functions that can be read.
import js from "@eslint/js";

const browser = ["document", "window", "location", "history", "navigator", "localStorage", "matchMedia", "getComputedStyle", "requestAnimationFrame",
	"setTimeout", "clearTimeout", "ResizeObserver", "TextEncoder", "URL", "URLSearchParams", "Blob", "HTMLElement", "Event", "EventTarget", "KeyboardEvent", "CSS",
	"XMLSerializer", "console"];
const node = ["process", "console", "URL"];
const names = (list) => Object.fromEntries(list.map((name) => [name, "readonly"]));

export default [
	js.configs.recommended,
	{
		rules: {
			"max-lines": ["error", 800],
			"max-lines-per-function": ["error", 120],
			"eqeqeq": ["error", "smart"],
			"no-var": "error",
			"prefer-const": "error",
			// Taking a property away is done by naming it.
			"no-unused-vars": ["error", { ignoreRestSiblings: true }],
		},
	},
	{ files: ["web/src/**"], languageOptions: { globals: names(browser) } },
	{ files: ["web/*.mjs", "tests/**", "bench/**"], languageOptions: { globals: names(node) } },
];
