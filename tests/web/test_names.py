#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Links to functions: by their whole or short name, and to functions that do not exist. test_names.py STROBE [-k NAME]."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chromium  # noqa: E402
import results  # noqa: E402
from test_page import STROBE, Pages, report, write  # noqa: E402

SECTION = "section:not([hidden])"
SMALL, LARGE = "multiply(int)", "multiply(Matrix&, Matrix&)"


def functions():
    result = results.hot(rows=5)
    for row, name in zip(result["functions"], ("classify(Rng&, int)", LARGE, SMALL)):
        row["name"] = name
    return result


def contexts():
    tree = results.node("main", 1, [results.node(SMALL, 2), results.node(LARGE, 50, [results.node("A::operator()(int) const", 3)])])
    return {"strobe": {"version": 1, "tool": "paths"}, "mode": "func", "k": "inf", "threads": [{"thread": 1, "ksf": [tree], "kccf": []}]}


def trace():
    result = results.trace()
    result["functions"][0]["name"] += "(int, int)"
    return result


class Names(Pages):
    def page_of(self, name, result):
        path, done = report(self.place.name, f"{name}.html", write(self.place.name, f"{name}.json", result))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return path

    def form(self):
        return self.page.js(f"[...document.querySelectorAll('{SECTION} .choice')].find(e => e.textContent.startsWith('Form')).querySelector('select').value")

    def test_source(self):
        path = self.page_of("functions", functions())
        for link, wanted in (("multiply", LARGE), ("multiply(int)", SMALL), ("classify", "classify(Rng&, int)"), ("", "classify(Rng&, int)")):
            self.open(f"source/{link}", path)
            self.assertEqual(self.texts("h2.function"), [wanted], link)
        self.open("source/nosuch", path)
        self.assertEqual((self.texts("h2.function"), self.texts(".nothing")),
                         ([], ["No function of this result is called 'nosuch'. Choose one in the list, or search for a part of its name."]))
        self.page.click(f"{SECTION} .grid-body .grid-row:nth-child(1)")
        self.page.settle()
        self.assertEqual(self.texts("h2.function"), ["classify(Rng&, int)"])

    def test_flame_graph(self):
        path = self.page_of("contexts", contexts())
        for link, wanted in (("multiply", LARGE), ("multiply(int)", SMALL), ("A::operator()", "A::operator()(int) const")):
            self.open(f"flame/{link}", path)
            self.assertEqual((self.form(), self.texts(".unfound")), ("sandwich", [""]), link)
            self.assertEqual(self.page.js(f"document.querySelector('{SECTION} g.frame').getAttribute('name')"), f"all of {wanted}")
            self.assertEqual(self.page.js("location.hash"), f"#flame/{link}?form=sandwich")
        self.open("flame/nosuch", path)
        self.assertEqual((self.form(), self.texts(".unfound")), ("callees", ["No function of this graph is called 'nosuch'."]))
        self.go("flame/multiply")
        self.assertEqual((self.form(), self.texts(".unfound")), ("sandwich", [""]))

    def test_call_graph(self):
        path = self.page_of("contexts", contexts())
        self.open("callgraph/nosuch", path)
        self.assertRegex(self.status(), r"^No function has 'nosuch' in its name: all are shown\. \d of 4 functions, ")
        self.open("callgraph/multiply", path)
        self.assertEqual(self.page.js(f"document.querySelector('{SECTION} g.node.at').dataset.key.split(String.fromCharCode(0))[0]"), LARGE)

    def test_trace(self):
        result = trace()
        whole = result["functions"][0]["name"]
        path = self.page_of("trace", result)
        self.open(f"trace/{whole.partition('(')[0]}", path)
        self.assertEqual(self.texts("h2.function"), [whole])
        self.open("trace/nosuch", path)
        self.assertEqual((self.texts("h2.function"), self.texts(".nothing")), ([], ["No traced function is called 'nosuch'. Choose one in the table, or search for a part of its name."]))


if __name__ == "__main__":
    chromium.require(STROBE)
    unittest.main()
