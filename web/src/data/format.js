// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers and names as people read them.

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const UNITS = [
	[1e9, "s"],
	[1e6, "ms"],
	[1e3, "µs"],
	[1, "ns"],
];

export const NOTHING = "–";

export function count(value) {
	return Number.isFinite(value) ? whole.format(value) : NOTHING;
}

// 12,345,678 as 12.3 M, for places without room.
export function short(value) {
	if (!Number.isFinite(value)) return NOTHING;
	for (const [size, letter] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e4, "k"]])
		if (Math.abs(value) >= size) return `${digits(value / (letter === "k" ? 1e3 : size))} ${letter}`;
	return Number.isInteger(value) ? whole.format(value) : digits(value);
}

// Three digits that count.
function digits(value) {
	const size = Math.abs(value);
	return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

export function percent(share) {
	if (!Number.isFinite(share)) return NOTHING;
	const value = share * 100;
	if (value === 100) return "100 %";
	if (value !== 0 && Math.abs(value) < 0.005) return value > 0 ? "<0.01 %" : "≈ 0 %";
	return `${value.toFixed(2).replace("-", "−")} %`;
}

export function signedPercent(share) {
	if (Math.abs(share) < 0.00005) return share === 0 ? "0 %" : "≈ 0 %";
	return share > 0 ? `+${percent(share)}` : percent(share);
}

export function signedCount(value) {
	const text = count(value).replace("-", "−");
	return value > 0 ? `+${text}` : text;
}

export function duration(ns) {
	if (!Number.isFinite(ns)) return NOTHING;
	if (ns === 0) return "0 s";
	const [size, unit] = UNITS.find(([least]) => Math.abs(ns) >= least) ?? UNITS.at(-1);
	return `${digits(ns / size)} ${unit}`;
}

// Units of 1024 bytes, as the commands and their options have.
export function bytes(value) {
	if (!Number.isFinite(value)) return NOTHING;
	for (const [power, unit] of [[4, "TiB"], [3, "GiB"], [2, "MiB"]]) if (Math.abs(value) >= 1024 ** power) return `${digits(value / 1024 ** power)} ${unit}`;
	return Math.abs(value) >= 1e4 ? `${digits(value / 1024)} KiB` : `${short(value)} B`;
}

// Cuts a name that is longer than `most` characters in its middle, because the ends of a name tell more.
export function middle(name, most) {
	if (name.length <= most) return name;
	if (most < 4) return name.slice(0, Math.max(most, 0));
	const end = Math.floor((most - 1) / 2);
	return `${name.slice(0, most - 1 - end)}…${name.slice(name.length - end)}`;
}

export function hex(value) {
	return Number.isFinite(value) ? `0x${value.toString(16)}` : NOTHING;
}

export function baseName(path) {
	return path ? path.slice(path.lastIndexOf("/") + 1) || path : "";
}

// A metric by its key in the JSON: what it is called and how it is written.
export function metric(key) {
	const time = key.endsWith("_ns");
	const known = { count: "calls", time_ns: "self time", self_ns: "self time", total_ns: "total time", wall_ns: "wall time", on_cpu_ns: "time on the CPU", waiting_ns: "time waiting", instructions: "instructions", bytes: "bytes allocated", live: "bytes never freed", peak: "bytes at the peak" };
	return {
		key,
		title: known[key] ?? key.replace(/_ns$/, " time").replaceAll("_", " "),
		format: time ? duration : count,
	};
}

export function quote(argument) {
	return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;
}

export function plural(n, one, many = `${one}s`) {
	return `${count(n)} ${n === 1 ? one : many}`;
}
