// SPDX-License-Identifier: GPL-3.0-or-later
// The memory of a program over time: rows of functions that asked for it, which add up to the live total.

// null, {missing: why there is none}, or {times, rows: [{name, others, values}], totals, leftOut, peak: {bytes, from, to},
// addresses: {missing, times, rows, rangeBytes}}.
export function readMemory(entry) {
	if (!entry) return null;
	if (entry.missing) return { missing: entry.missing };
	return {
		times: entry.times_ns,
		rows: entry.rows,
		totals: sumsOf(entry.rows, entry.times_ns.length),
		addresses: { missing: entry.addresses.missing ?? null, times: entry.addresses.times_ns ?? [], rows: entry.addresses.rows ?? [], rangeBytes: entry.addresses.range_bytes ?? 0 },
		leftOut: entry.left_out,
		peak: { bytes: entry.peak, from: entry.peak_after_ns, to: entry.peak_before_ns },
	};
}

function sumsOf(rows, n) {
	const sums = new Array(n).fill(0);
	for (const { values } of rows) values.forEach((value, i) => (sums[i] += value));
	return sums;
}

// The first `most` rows, which are those with the greatest sums, and all others as one row at the end.
export function topRows(rows, most) {
	const named = rows.filter(({ others }) => !others);
	const rest = [...named.slice(most), ...rows.filter(({ others }) => others)];
	const top = named.slice(0, most);
	return rest.length ? [...top, { name: "(others)", others: true, values: sumsOf(rest, rows[0].values.length) }] : top;
}

// Rows on top of each other: [{...row, bottoms, tops}], the first at the bottom.
export function stacked(rows) {
	let bottoms = rows.length ? rows[0].values.map(() => 0) : [];
	return rows.map((row) => {
		const tops = row.values.map((value, i) => bottoms[i] + value);
		const made = { ...row, bottoms, tops };
		bottoms = tops;
		return made;
	});
}

// At most `most` of n places at regular distances, the first and the last among them.
export function regular(n, most) {
	if (n <= most) return Array.from({ length: n }, (_, i) => i);
	return Array.from({ length: most }, (_, i) => Math.floor((i * (n - 1)) / (most - 1)));
}

// Equal neighbours as one: [{from, to, value}], `to` excluded; places of 0 or without a value are left out.
export function runsOf(values) {
	const made = [];
	values.forEach((value, i) => {
		const last = made.at(-1);
		if (last && last.to === i && last.value === value) last.to = i + 1;
		else if (value) made.push({ from: i, to: i + 1, value });
	});
	return made;
}
