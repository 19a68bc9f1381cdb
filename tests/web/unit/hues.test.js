// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import { test } from "node:test";
import { hueOfImage, imageName } from "../../../web/src/data/hues.js";

test("versions and folders do not change the name of an image", () => {
	assert.deepEqual(["/lib/libc.so.6", "/usr/lib/libc-2.31.so", "/lib/libstdc++.so.6.0.30", "/lib64/ld-linux-x86-64.so.2", "./v1", "libz.so"].map(imageName), ["libc", "libc", "libstdc++", "ld-linux-x86-64", "v1", "libz"]);
});

test("the hue of an image follows from its name alone", () => {
	const images = ["/tmp/v1", "/lib/libc.so.6", "/lib/libstdc++.so.6", "/lib64/ld-linux-x86-64.so.2", "/lib/libm.so.6"];
	const hues = images.map(hueOfImage);
	assert.deepEqual([...images].reverse().map(hueOfImage).reverse(), hues, "the order does not matter");
	assert.deepEqual(hues.slice(1), [208, 172, 268, 232]);
	assert.equal(new Set(hues).size, 5);
	assert.equal(hueOfImage("/other/v1"), hues[0]);
	assert.equal(hueOfImage("/usr/lib/libc-2.31.so"), 208);
	assert.notEqual(hueOfImage("/usr/lib/libcrypto.so.3"), 208);
});
