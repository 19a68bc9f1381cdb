// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import { test } from "node:test";
import { findNamed, withoutParameters } from "../../../web/src/data/name.js";

test("a name is shortened by its parameters, and by nothing else", () => {
	for (const [name, short] of [
		["main", "main"],
		["worker(int, int)", "worker"],
		["multiply(Matrix&, Matrix&, Matrix&)", "multiply"],
		["std::map<int, A>::at(int const&) const", "std::map<int, A>::at"],
		["make_key[abi:cxx11](Rng&)", "make_key"],
		["A::operator()(int)", "A::operator()"],
		["operator()", "operator()"],
		["(anonymous namespace)::f(void (*)(int))", "(anonymous namespace)::f"],
		["(anonymous namespace)::g", "(anonymous namespace)::g"],
		["f(int) [clone .isra.0]", "f"],
		["f(int)::{lambda(int)#1}", "f(int)::{lambda(int)#1}"],
		["std::function<void (int)>::swap(std::function<void (int)>&)", "std::function<void (int)>::swap"],
		["unbalanced)", "unbalanced)"],
		["(int)", "(int)"],
		["", ""],
	])
		assert.equal(withoutParameters(name), short, name);
});

test("the whole name has precedence over a short one, and the first of several short ones is found", () => {
	const rows = [{ name: "f(int)" }, { name: "f(char)" }, { name: "f" }, { name: "g(int)" }, { name: "g(char)" }];
	assert.equal(findNamed(rows, "f").name, "f");
	assert.equal(findNamed(rows, "f(char)").name, "f(char)");
	assert.equal(findNamed(rows, "g").name, "g(int)");
	assert.equal(findNamed(rows, "h"), null);
	assert.equal(findNamed(rows, ""), null);
});
