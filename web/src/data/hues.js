// SPDX-License-Identifier: GPL-3.0-or-later
// The hue of an image follows from its name alone: it is the same on every page.
import { baseName } from "./format.js";

// Libraries that nearly every program has are told apart, whatever the names of the others are.
const KNOWN = { libc: 208, "libstdc++": 172, libm: 232, "ld-linux": 268, libgcc_s: 190, libpthread: 250 };
const OTHERS = [14, 34, 54, 76, 98, 120, 296, 318, 340]; // far from those above

export function hash(text) {
	let sum = 7;
	for (let i = 0; i < text.length; i++) sum = (sum * 31 + text.charCodeAt(i)) % 1000003;
	return sum;
}

// "/lib/libstdc++.so.6.0.30" as "libstdc++": another version of a library has the colour of the one before.
export const imageName = (path) => baseName(path).replace(/(-\d+(?:\.\d+)+)?\.so(\.[\d.]+)?$/, "");

export function hueOfImage(path) {
	const name = imageName(path);
	const known = Object.keys(KNOWN).find((each) => name === each || name.startsWith(`${each}-`));
	return known ? KNOWN[known] : OTHERS[hash(name) % OTHERS.length];
}
