#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of a trace: test_trace.py STROBE CALLS [-k NAME]. CALLS is the program of tests/trace/programs/calls.c."""
import json
import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import results  # noqa: E402
import test_page  # noqa: E402
from test_page import STROBE, Pages, report, write  # noqa: E402

CALLS = os.path.abspath(sys.argv.pop(1))


def strobe(place, *arguments):
    return subprocess.run([STROBE, *arguments], cwd=place, capture_output=True, text=True, timeout=300, check=True).stdout


def data_of(path):
    with open(path, encoding="utf-8") as f:
        return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', f.read(), re.S)[1])


def duration(ns):
    """As the page writes it."""
    size, unit = next((each for each in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")) if ns >= each[0]), (1, "ns"))
    value = ns / size
    return "0 s" if not ns else f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f} {unit}"


class Made(Pages):
    """A trace that is known by heart."""

    def setUp(self):
        super().setUp()
        if not hasattr(Made, "trace"):
            Made.trace, done = report(self.place.name, "trace.html", write(self.place.name, "trace.json", results.trace()))
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_table(self):
        self.open("trace", self.trace)
        self.assertEqual(self.page.js("[...document.querySelectorAll('.tab')].map(e => e.textContent)"), ["Summary", "Functions", "Tables"])
        self.assertEqual(self.page.js("document.title"), "Functions · trace.json · Strobe")
        self.assertEqual(self.status(), "4 functions, together 100 % of the self time")
        self.assertEqual(self.rows(), [["6.00 ms", "6.00 ms", "1,001", "64.0 ns", "5.00 µs", "100 µs", "leaf", "example", "x.c:10"],
                                       ["2.50 ms", "8.50 ms", "40", "64.0 ns", "5.00 µs", "100 µs", "work", "example", "x.c:20"],
                                       ["1.50 ms", "10.0 ms", "1", "10.0 ms", "10.0 ms", "10.0 ms", "main", "example", "x.c:30"],
                                       ["–", "–", "1", "–", "–", "–", results.EVIL, "example", "0x280"]])

    def test_sorting_and_filter(self):
        self.open("trace", self.trace)
        for column, order in ((2, ["main", "work", "leaf", results.EVIL]), (3, ["leaf", "work", "main", results.EVIL]), (6, ["main", "leaf", "work", results.EVIL])):
            self.page.click(f"section:not([hidden]) .grid-header .cell:nth-child({column}) button")
            self.assertEqual([row[6] for row in self.rows()], order)
        self.page.key("/", "/")
        self.page.type("work")
        self.assertEqual([row[6] for row in self.rows()], ["work"])
        self.assertEqual(self.status(), "1 function, together 25.00 % of the self time")

    def test_chosen_function(self):
        self.open("trace", self.trace)
        self.assertEqual(self.texts("h2.function"), ["leaf"], "the first one is chosen")
        self.page.click("section:not([hidden]) .grid-body .grid-row:nth-child(2)")
        self.assertEqual(self.page.js("decodeURIComponent(location.hash)"), "#trace/work//usr/bin/example")
        self.assertEqual(self.texts("h2.function") + self.texts(".lead"), ["work", "/usr/bin/example · /src/x.c:20 · offset 0x140"])
        self.assertEqual(self.texts(".facts dd"), ["2,500,000 ns", "8,500,000 ns", "9,400,000 ns", "40", "10 ns, 100,000 ns"])
        self.assertEqual(self.texts("table[aria-label=Callers] tbody tr"), ["108.50 ms8.50 msmain", "300 s900 µswork"])
        self.assertEqual(self.texts("table[aria-label=Callees] tbody tr"), ["1,0006.00 ms6.00 msleaf", "300 s900 µswork"])
        self.page.click("section:not([hidden]) table[aria-label=Callers] a")
        self.assertEqual(self.texts("h2.function"), ["main"])
        self.assertEqual(self.texts("table[aria-label=Callers] tbody tr"), ["110.0 ms10.0 ms(not traced)"])
        self.assertEqual(self.texts(".grid-row[aria-selected=true] .cell:nth-child(7)"), ["main"])

    def test_distribution(self):
        self.open("trace/leaf", self.trace)
        self.assertEqual(self.texts("rect.duration title"), ["10.0 ns to 10.5 ns: 400 calls", "64.0 ns to 68.0 ns: 550 calls", "4.86 µs to 5.12 µs: 49 calls", "98.3 µs to 102 µs: 1 call"])
        self.assertEqual(self.texts("line.quantile title"), ["p50: 64.0 ns", "p90: 1.00 µs", "p99: 5.00 µs"])
        bars = self.page.js("[...document.querySelectorAll('section:not([hidden]) rect.duration')].map(e => [e.dataset.calls, e.getAttribute('x'), e.getAttribute('height')].map(Number))")
        self.assertEqual([calls for calls, _, _ in bars], [400, 550, 49, 1])
        self.assertAlmostEqual(bars[0][2] / bars[1][2], 400 / 550)
        self.assertEqual(bars[3][2], 1, "what is rare is seen")
        steps = [bars[i + 1][1] - bars[i][1] for i in range(3)]
        # Logarithmic: from 10 to 64 as far as from 100 to 640.
        self.assertAlmostEqual(steps[0] / steps[1], 0.4283, 3)
        marks = self.page.js("[...document.querySelectorAll('section:not([hidden]) line.quantile')].map(e => Number(e.getAttribute('x1')))")
        self.assertEqual(marks[0], bars[1][1])
        self.assertEqual(sorted(marks), marks)

    def test_what_is_not_known(self):
        self.open("trace", self.trace)
        self.page.click("section:not([hidden]) .grid-body .grid-row:nth-child(4)")
        self.assertEqual(self.texts("h2.function"), [results.EVIL])
        self.assertEqual(self.texts(".nothing"), ["No duration is known of this function."])
        self.assertEqual(self.texts(".facts dd"), ["–", "–", "–", "1, 1 of them without a return that was seen: they have no time", "–, –"])
        self.assertEqual(self.texts(".refused h3") + self.texts(".refused tr"), ["1 function could not be traced", "tinyexampleits code is too short for a jump"])

    def test_summary(self):
        self.open("summary", self.trace)
        self.assertEqual(dict(zip(self.texts(".card-title"), self.texts(".card-value")))["Traced functions"], "4")
        self.assertEqual(self.texts(".hottest a"), ["leaf", "work", "main"])
        self.page.click("section:not([hidden]) .hottest li:nth-child(2) a")
        self.assertEqual(self.texts("h2.function"), ["work"])


class Recorded(Pages):
    """What the page shows of a profile is what strobe trace says of it."""

    def setUp(self):
        super().setUp()
        if hasattr(Recorded, "html"):
            return
        strobe(self.place.name, "trace", "-q", "-e", "jit", "--events", "-o", "calls.db", "--", CALLS, "fib")
        Recorded.json = json.loads(strobe(self.place.name, "trace", "--from", "calls.db", "--format", "json"))
        Recorded.html, done = report(self.place.name, "calls.html", os.path.join(self.place.name, "calls.db"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_data(self):
        trace = data_of(self.html)["results"][0]["trace"]
        histograms = [function.pop("histogram") for function in trace["functions"]]
        self.assertEqual(trace.pop("cut"), [])
        self.assertEqual(trace, self.json)
        for function, histogram in zip(trace["functions"], histograms):
            self.assertEqual(sum(histogram[1::2]), function["calls"], function["name"])
            self.assertEqual(histogram[::2], sorted(histogram[::2]))

    def test_table(self):
        self.open("trace", self.html)
        wanted = [[*(duration(f[key]) for key in ("exclusive_ns", "outermost_ns")), f"{f['calls'] + f['lost']:,}", *(duration(f[key]) for key in ("p50_ns", "p99_ns", "max_ns")),
                   f["name"]] for f in self.json["functions"]]
        self.assertEqual([row[:7] for row in self.rows()], wanted[:len(self.rows())])

    def test_function(self):
        index, fib = next((i, f) for i, f in enumerate(self.json["functions"]) if f["name"] == "t_fib")
        self.open("trace/t_fib", self.html)
        self.assertEqual(self.texts(".facts dd"), [*(f"{fib[key]:,} ns" for key in ("exclusive_ns", "outermost_ns", "inclusive_ns")), "1,973", f"{fib['min_ns']:,} ns, {fib['max_ns']:,} ns"])
        self.assertEqual(self.page.js("[...document.querySelectorAll('section:not([hidden]) rect.duration')].reduce((sum, e) => sum + Number(e.dataset.calls), 0)"), 1973)
        self.assertEqual(self.texts("line.quantile title"), [f"{name}: {duration(fib[f'{name}_ns'])}" for name in ("p50", "p90", "p99")])
        for title, end, other in (("Callers", "callee_index", "caller"), ("Callees", "caller_index", "callee")):
            wanted = [f"{p['calls']:,}{duration(p['outermost_ns'])}{duration(p['inclusive_ns'])}{p[other] or '(not traced)'}" for p in self.json["pairs"] if p[end] == index]
            self.assertEqual(self.texts(f"table[aria-label={title}] tbody tr"), wanted)

    def test_limits_are_said(self):
        path = os.path.join(self.place.name, "cut.html")
        strobe(self.place.name, "report", "-n", "1", "-o", path, "calls.db")
        trace = data_of(path)["results"][0]["trace"]
        self.assertEqual((len(trace["functions"]), len(trace["pairs"])), (1, 1))
        self.open("summary", path)
        self.assertIn(f"This page has the 1 hottest of {len(self.json['functions'])} traced functions; strobe report --top 0 includes all.", self.texts(".notes li"))


if __name__ == "__main__":
    test_page.skip_without_a_page()
    unittest.main()
