#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wall time on the page, in a browser: test_wall.py STROBE. STROBE_SCREENSHOTS=DIRECTORY keeps pictures."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chromium  # noqa: E402

STROBE = os.path.abspath(sys.argv.pop(1))
SCREENSHOTS = os.environ.get("STROBE_SCREENSHOTS")
SECTION = "section:not([hidden])"
MS = 1_000_000


def node(name, ns, children=(), count=0, placed=True):
    place = {"image": "/usr/bin/example", "offset": 4096 + len(name)} if placed else {}
    return {"name": name, "count": count, "self_ns": ns * MS, "total_ns": 0, "children": list(children), **place}


def wait(name, ns, children=()):
    return node(name, ns, children, placed=False)


def wall():
    """main computes for 20 ms, sleeps 200 ms, reads for 80 ms, of which the kernel works 10 ms."""
    ksf = [node("main", 20, [node("nanosleep", 0, [wait("[sleep]", 200)]), node("read", 0, [wait("[I/O]", 70), wait("[kernel]", 10)])], count=5)]
    kccf = [wait("[sleep]", 200, [node("nanosleep", 200, [node("main", 200)])]), node("main", 20, count=5)]
    return {"strobe": {"version": 1, "tool": "paths"}, "mode": "func", "counted": "samples", "k": "inf",
            "threads": [{"thread": 1, "ksf": ksf, "kccf": kccf}]}


class Wall(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="strobe-wall-")
        file, cls.html = (os.path.join(cls.place.name, f"wall.{ending}") for ending in ("json", "html"))
        with open(file, "w", encoding="utf-8") as f:
            json.dump(wall(), f)
        subprocess.run([STROBE, "report", "-o", cls.html, file], check=True, timeout=120, capture_output=True)
        cls.page = chromium.Page()

    @classmethod
    def tearDownClass(cls):
        cls.page.__exit__()
        cls.place.cleanup()

    def setUp(self):
        self.page.problems.clear()

    def tearDown(self):
        if SCREENSHOTS:
            self.page.screenshot(os.path.join(SCREENSHOTS, f"wall-{self.id().rsplit('.', 1)[-1]}.png"))
        self.assertEqual(self.page.problems, [])

    def open(self, view):
        self.page.call("Page.navigate", url="about:blank")
        self.page.open(self.html, view)
        self.page.until("document.querySelector('section:not([hidden]) .bar-of-tools') !== null")
        self.page.settle()

    def all(self, selector, what="e.textContent"):
        return self.page.js(f"[...document.querySelectorAll('{SECTION} {selector}')].map(e => {what})")

    def choose(self, label, value):
        self.page.js(f"(s => {{ s.value = {json.dumps(value)}; s.dispatchEvent(new Event('change')); }})([...document.querySelectorAll("
                     f"'{SECTION} .choice')].find(e => e.textContent.startsWith({json.dumps(label)})).querySelector('select'))")
        self.page.settle()

    def test_flame_graph_has_the_parts_of_wall_time(self):
        self.open("flame")
        options = self.page.js(f"[...[...document.querySelectorAll('{SECTION} .choice')].find(e => e.textContent.startsWith('Width'))"
                               ".querySelectorAll('option')].map(e => e.textContent)")
        self.assertEqual(options, ["wall time", "time on the CPU", "time waiting", "samples"])
        self.assertIn("Frames in brackets are what threads waited for.", self.all(".bar-of-tools .status")[0])
        for key, text in ("wall_ns", "300 ms"), ("on_cpu_ns", "30.0 ms"), ("waiting_ns", "270 ms"), ("count", "5"):
            self.choose("Width", key)
            self.assertIn(f"{text}, 100 % of all", self.all(".flame-details")[0])

    def test_summary_has_the_wall_time(self):
        self.page.call("Page.navigate", url="about:blank")
        self.page.open(self.html, "summary")
        self.page.until("document.querySelector('section:not([hidden]) .card') !== null")
        cards = {title: [value, note] for title, value, note in self.all(".card", "[...e.children].map(c => c.textContent)")}
        self.assertEqual(cards["Call stacks"], ["300 ms", "of wall time in 1 thread"])

    def test_contexts_have_columns_of_wall_time(self):
        self.open("contexts")
        self.choose("Show", "ksf")
        heads = self.all("[role=columnheader]")
        self.assertEqual([head.split(" ↓")[0] for head in heads][:6], ["Function", "Wall time", "Of the total", "On the CPU", "Waiting", "Samples"])
        cells = self.all("[role=row] [role=gridcell]")
        for cell in "300 ms", "30.0 ms", "270 ms", "5":
            self.assertIn(cell, cells)
        self.choose("Show", "kccf")
        self.assertIn("200 ms", self.all("[role=row] [role=gridcell]"))

    def test_call_graph_has_wall_time(self):
        self.open("callgraph")
        self.page.until("document.querySelector('g.node') !== null")
        nodes = dict(self.all("g.node", "[...e.querySelectorAll('text')].map(t => t.textContent)"))
        self.assertEqual(nodes["main"], "self 6.67 %, total 100 %")
        self.assertEqual(nodes["[sleep]"], "self 66.67 %, total 66.67 %")
        self.assertIn("main → read: 80.0 ms (wall time), 26.67 % of all", self.all("path.edge", "e.querySelector('title').textContent"))


if __name__ == "__main__":
    chromium.require(STROBE)
    unittest.main()
