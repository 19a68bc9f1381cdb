// SPDX-License-Identifier: GPL-3.0-or-later
// A campaign of strobe fuzz (docs/json.md), as its view reads it.
import { baseName, count, NOTHING, plural, short } from "./format.js";

export function readFuzz(result) {
	if (result.strobe?.tool !== "fuzz" || !Array.isArray(result.findings)) return null;
	return {
		...result,
		findings: result.findings.map((finding, i) => ({ ...finding, number: i + 1, rules: finding.rules ?? [], stack: finding.stack ?? null, parts: finding.difference?.parts ?? [], points: finding.law?.points ?? [] })),
		rules: (result.rules ?? []).filter(({ executions }) => executions > 0),
		series: result.series ?? [],
		paths: result.paths ?? null,
	};
}

// At most three significant digits.
const three = (value) => String(Number(value.toPrecision(3)));

export function lawOf({ law, token }) {
	if (!law) return NOTHING;
	const repeated = token ? `, n repetitions of '${token}'` : "";
	if (["power", "linear"].includes(law.form) && law.exponent > 0) return `work ~ n^${law.exponent.toFixed(2)} (${law.lo.toFixed(2)} to ${law.hi.toFixed(2)})${repeated}`;
	if (law.form === "exponential") return `work grows ${three(law.base)} times (${three(law.lo)} to ${three(law.hi)}) with each repetition${repeated}`;
	return "the law of its growth cannot be determined";
}

export const nameOfFinding = ({ kind, function: name, image, signal }) => `${kind}${signal ? `: signal ${signal}` : ""}${name ? `: ${name} (${baseName(image)})` : ""}`;

export const secondsText = (seconds) => (Number.isFinite(seconds) ? `${Number(seconds.toPrecision(4))} s` : "");

export function slowdownOf({ slowdown, slowdown_interval: interval }) {
	if (!Number.isFinite(slowdown)) return NOTHING;
	return `${three(slowdown)} times${interval ? ` (${three(interval[0])} to ${three(interval[1])})` : ""}`;
}

// The rows of a table of witnesses, each after that of its seed: size, work, time, slowdown, number of rules.
export function witnessesOf({ findings }) {
	return findings.flatMap((f) => [
		{ input: `seed of ${f.number}`, size: f.seed_size, work: f.seed_work, time: secondsText(f.seed_seconds), slowdown: "", rules: "" },
		{ input: `witness of ${f.number}`, size: f.size, work: f.work, time: secondsText(f.seconds) || (f.kind === "hang" ? "did not end" : ""), slowdown: Number.isFinite(f.slowdown) ? `x${three(f.slowdown)}` : "", rules: count(f.rules.length) },
	]);
}

// The seconds after which a number that never falls had reached a quarter, a half and three quarters of its last value.
export function quartilesOf(series, key) {
	const all = series.at(-1)?.[key] ?? 0;
	if (!all) return [];
	return [0.25, 0.5, 0.75].map((share) => series.find((moment) => moment[key] >= share * all).seconds);
}

export function leadOf(fuzz) {
	const ratio = fuzz.base_work ? fuzz.most_work / fuzz.base_work : NaN;
	return [
		`${plural(fuzz.executions, "execution")} in ${short(fuzz.seconds)} s${fuzz.interrupted ? " (interrupted)" : ""}: ${plural(fuzz.interesting, "interesting input")}, ${plural(fuzz.hangs, "hang")}, ${plural(fuzz.faults, "fault")}.`,
		`The program executes ${plural(fuzz.base_work, "block")} with the median seed, and ${count(fuzz.most_work)} with the worst input (${Number.isFinite(ratio) ? three(ratio) : NOTHING} times).`,
		fuzz.coverage === "paths" ? "Inputs were compared by their work on each path of calls." : "",
	].filter(Boolean).join(" ");
}

// Why there is no finding.
export function nothingOf({ not_superlinear: linear, cannot_tell: unsure, not_judged: left }) {
	const words = [];
	if (linear) words.push(`work grew in ${plural(linear, "function")}, but by no more than n log n`);
	if (unsure) words.push(`the law of ${plural(unsure, "function")} cannot be determined (try another --size or a longer --judge)`);
	if (left) words.push(`${plural(left, "input")} ${left === 1 ? "was" : "were"} not judged before judging ended (try a longer --judge)`);
	return `No finding: ${words.length ? words.join("; ") : "no input made the program do clearly more work"}.`;
}
