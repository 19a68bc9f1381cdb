// SPDX-License-Identifier: GPL-3.0-or-later
// Comparisons of repeated measurements (strobe check): findings in words, and their two samples as curves.
import { plural, signedPercent } from "./format.js";

// "SevereDegradation" as "severe degradation"; "Unknown" is an answer, too.
export const changeWords = (change) => (change === "Unknown" ? "cannot tell" : apart(change));

const apart = (change) => change.replace(/[a-z](?=[A-Z])/g, "$& ").toLowerCase();

// 1: the second result costs more; -1: it costs less; 0: no change, or it is not known.
export function direction({ change }) {
	if (/Degradation$|^NotInBaseline$/.test(change)) return 1;
	return /Optimization$|^NotInTarget$/.test(change) ? -1 : 0;
}

// Why a finding has no figure: {few: reason}; {}: it has one.
export function suits({ samples }) {
	const [a, b] = samples.map(({ n }) => n);
	if (!a || !b) return { few: `Only ${a ? "A" : "B"} has this function, so there are no two distributions.` };
	if (a < 2 && b < 2) return { few: "Each result has one value, which is no distribution: strobe time, strobe import and several profiles of one version have repeated measurements." };
	return {};
}

// A finding in a sentence, with its uncertainty.
export function findingSentence({ change, from, to, relative, low, high, p, q, cause }, runsNeeded, format) {
	if (change === "Unknown") {
		const needed = cause === "too few runs" && runsNeeded ? `: ${plural(runsNeeded, "run")} of each are needed` : "";
		return `Cannot tell whether there is a change: ${cause ?? "the values do not suffice"}${needed}.`;
	}
	const parts = [`${changeWords(change)}: ${format(from)} in A, ${format(to)} in B`];
	if (relative !== null) {
		const share = (end) => signedPercent(end / Math.abs(from));
		parts.push(`${signedPercent(relative)}${low !== null && high !== null && from ? ` (95 % interval ${share(low)} to ${share(high)})` : ""}`);
	}
	if (p !== null) parts.push(`p = ${p.toPrecision(2)}${q !== null ? `, adjusted for all functions ${q.toPrecision(2)}` : ""}`);
	const text = `${parts.join("; ")}.`;
	return text[0].toUpperCase() + text.slice(1);
}

// Ascending values as steps of their cumulative distribution: pairs of x and the share of values up to x.
export function steps(values) {
	const made = [];
	values.forEach((x, i) => {
		made.push([x, i / values.length], [x, (i + 1) / values.length]);
	});
	return made;
}

// The comparison of two results, with the samples in their order; null: there is none.
export function checkOf(checks, a, b) {
	return checks.find((each) => each.a === a && each.b === b) ?? null;
}
