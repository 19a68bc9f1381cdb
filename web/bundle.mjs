// SPDX-License-Identifier: GPL-3.0-or-later
// bundle.mjs SOURCE WORK: makes of SOURCE/src one script and one style sheet, and of these and SOURCE/page.html the
// two halves of the page, WORK/page.head and WORK/page.tail. Started in WORK, where node_modules is.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const [source, work] = process.argv.slice(2);
const DATA = "{{data}}";

async function bundle() {
	const result = await build({
		entryPoints: [join(source, "src", "main.js")],
		bundle: true,
		minify: true,
		metafile: true,
		format: "iife",
		target: ["chrome111", "firefox113", "safari16.2"],
		charset: "utf8",
		legalComments: "none", // all licences are in the page, as text
		nodePaths: [join(work, "node_modules")],
		outdir: work,
		write: false,
	});
	const text = (ending) => result.outputFiles.find((file) => file.path.endsWith(ending)).text.trim();
	return { script: text(".js"), style: text(".css"), inputs: Object.keys(result.metafile.inputs) };
}

// The packages that are in the bundle, from the files that esbuild took.
function packages(inputs) {
	const names = inputs.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
	return [...new Set(names.filter(Boolean))].sort();
}

function licenceOf(name) {
	const folder = join(work, "node_modules", name);
	const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
	const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
	if (!file) throw new Error(`${name} has no licence file`);
	return { title: `${name} ${version} (${license})`, text: readFileSync(join(folder, file), "utf8").trim() };
}

// One text for all; packages with the same licence text share it.
function licences(names) {
	const byText = new Map();
	for (const { title, text } of names.map(licenceOf)) byText.set(text, [...(byText.get(text) ?? []), title]);
	return [...byText].map(([text, titles]) => `${titles.join(", ")}\n\n${text}`).join("\n\n\n");
}

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const escape = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");

const { script, style, inputs } = await bundle();
const parts = {
	policy: `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; img-src data:; base-uri 'none'; form-action 'none'`,
	style,
	script,
	licences: escape(licences(packages(inputs))),
};
const template = readFileSync(join(source, "page.html"), "utf8");
if (!existsSync(work) || template.split(DATA).length !== 2) throw new Error("page.html has no single place for the data");
// A function as the replacement: a text would have its dollar signs understood.
const fill = (text) => text.replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name]);
const [head, tail] = template.split(DATA).map(fill);
writeFileSync(join(work, "page.head"), head);
writeFileSync(join(work, "page.tail"), tail);
