#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page's call graph in a browser: test_callgraph.py STROBE. STROBE_SCREENSHOTS=DIRECTORY keeps pictures."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chromium  # noqa: E402
import results  # noqa: E402

STROBE = os.path.abspath(sys.argv.pop(1))
SCREENSHOTS = os.environ.get("STROBE_SCREENSHOTS")
SECTION = "section:not([hidden])"
DASH = "stroke-dasharray"


def recursive():
    """main calls walk, which calls itself and leaf; a hundred small functions have 1 of 1000 each."""
    node = results.node
    small = [node(f"small{n}", 1, offset=8 * n) for n in range(100)]
    walk = node("walk", 100, [node("walk", 300, [node("leaf", 200, offset=64)], offset=32)], offset=32)
    return {"strobe": {"version": 1, "tool": "paths"}, "mode": "func", "k": "inf", "threads": [
        {"thread": 1, "ksf": [node("main", 300, [walk, *small], offset=16)], "kccf": []}]}


def counted():
    """The tables of the tool calls."""
    def row(caller, callee, count):
        image = "/usr/bin/example"
        return {"caller": caller, "caller_image": image, "caller_offset": 16 * len(caller), "callee": callee, "callee_image": image, "callee_offset": 16 * len(callee), "count": count}
    return {"strobe": {"version": 1, "tool": "calls"}, "run": {"command": ["./x"], "exit": 0, "signal": None, "seconds": 1.0}, "functions": [],
            "pairs": [row("main", "ff", 3), row("ff", "g", 17)]}


def pairs():
    """The table of exact calls beside samples: the call of memcpy was counted at its stub, the one of turn was not."""
    end = {"caller_image": "/usr/bin/example", "caller_offset": 4096, "callee_image": "/usr/bin/example", "callee_offset": 4096}
    return [{"caller": "main", "callee": "spin", "count": 1600000, **end}, {"caller": "spin", "callee": "memcpy@plt", "count": 12, **end}]


class CallGraph(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="strobe-callgraph-")
        cls.pages = {}
        exact = {**results.sampled(), "pairs": pairs()}
        for name, result in (("paths", results.paths()), ("sampled", results.sampled()), ("recursive", recursive()), ("counted", counted()), ("exact", exact),
                             ("hot", results.hot(rows=3))):
            file, html = (os.path.join(cls.place.name, f"{name}.{ending}") for ending in ("json", "html"))
            with open(file, "w", encoding="utf-8") as f:
                json.dump(result, f)
            subprocess.run([STROBE, "report", "-o", html, file], check=True, timeout=120, capture_output=True)
            cls.pages[name] = html
        cls.page = chromium.Page()

    @classmethod
    def tearDownClass(cls):
        cls.page.__exit__()
        cls.place.cleanup()

    def setUp(self):
        self.page.problems.clear()
        self.page.resize(1280, 800)

    def tearDown(self):
        if SCREENSHOTS:
            self.page.screenshot(os.path.join(SCREENSHOTS, f"callgraph-{self.id().rsplit('.', 1)[-1]}.png"))
        self.assertEqual(self.page.problems, [])

    def open(self, name, argument=""):
        self.page.call("Page.navigate", url="about:blank")
        self.page.open(self.pages[name], f"callgraph{argument}")
        self.page.until("document.querySelector('g.node') !== null")
        self.page.settle()

    def all(self, selector, what):
        return self.page.js(f"[...document.querySelectorAll('{SECTION} {selector}')].map(e => {what})")

    def nodes(self):
        """name: the second line of its box"""
        return dict(self.all("g.node", "[...e.querySelectorAll('text')].map(t => t.textContent)"))

    def edges(self):
        return sorted(self.all("path.edge", "e.querySelector('title').textContent"))

    def status(self):
        return self.all(".bar-of-tools .status", "e.textContent")[0]

    def choose(self, label, value):
        self.page.js(f"(s => {{ s.value = {json.dumps(value)}; s.dispatchEvent(new Event('change')); }})([...document.querySelectorAll("
                     f"'{SECTION} .choice')].find(e => e.textContent.startsWith({json.dumps(label)})).querySelector('select'))")
        self.page.settle()

    def middle(self, name):
        return self.page.js(f"(r => [r.x + r.width / 2, r.y + r.height / 2, r.width])([...document.querySelectorAll('{SECTION} g.node')]"
                            f".find(e => e.querySelector('text').textContent === {json.dumps(name)}).querySelector('rect').getBoundingClientRect())")

    def press(self, name):
        self.page.js(f"[...document.querySelectorAll('{SECTION} .plain')].find(b => b.textContent === {json.dumps(name)}).click()")
        self.page.settle()

    def mouse(self, kind, x, y, **more):
        self.page.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", **more)

    def test_nodes_and_edges(self):
        self.open("paths")
        # 109 calls' worth of 1000 ns each: main 1, spin 20, memcpy 75, turn 9, worker 4
        self.assertEqual(self.nodes(), {"main": "self 0.92 %, total 96.33 %", "spin": "self 18.35 %, total 82.57 %", "memcpy": "self 68.81 %, total 68.81 %",
                                        "turn": "self 8.26 %, total 12.84 %", "worker": "self 3.67 %, total 3.67 %"})
        self.assertEqual(self.edges(), ["main → spin: 90.0 µs (self time), 82.57 % of all, 20 calls", "main → turn: 14.0 µs (self time), 12.84 % of all, 9 calls",
                                        "spin → memcpy: 70.0 µs (self time), 64.22 % of all, 70 calls", "turn → memcpy: 5.00 µs (self time), 4.59 % of all, 5 calls"])
        self.assertEqual(self.status(), "5 of 5 functions, 4 edges")
        widths = dict(zip(self.all("path.edge", "e.dataset.to.split('\\0')[0] + e.dataset.from.split('\\0')[0]"), self.all("path.edge", "Number(e.getAttribute('stroke-width'))")))
        self.assertEqual(widths, {"spinmain": 9.91, "turnmain": 1.54, "memcpyspin": 7.71, "memcpyturn": 0.75})
        self.choose("Metric", "count")
        self.assertEqual(self.nodes()["spin"], "self 18.35 %, total 82.57 %")
        self.assertIn("turn → memcpy: 5 (calls), 4.59 % of all, 5 calls", self.edges())

    def test_geometry(self):
        self.open("paths")
        self.press("Fit")
        boxes = {name: self.middle(name) for name in self.nodes()}
        rows = sorted({round(y) for _, y, _ in boxes.values()})
        row = {name: rows.index(round(y)) for name, (_, y, _) in boxes.items()}
        self.assertEqual(row, {"main": 0, "worker": 0, "spin": 1, "turn": 1, "memcpy": 2})
        self.assertAlmostEqual(boxes["main"][0], (boxes["spin"][0] + boxes["turn"][0]) / 2, delta=1)
        self.assertAlmostEqual(boxes["memcpy"][0], boxes["main"][0], delta=1)
        self.assertGreaterEqual(abs(boxes["spin"][0] - boxes["turn"][0]), boxes["spin"][2])
        # Hot functions are red, cold ones pale.
        fills = dict(zip(self.nodes(), self.all("g.node rect", "Number(/hsl\\((\\d+)/.exec(e.getAttribute('fill'))[1])")))
        self.assertEqual(sorted(fills, key=fills.get), ["main", "spin", "memcpy", "turn", "worker"])

    def test_hidden_functions_are_in_other(self):
        self.open("recursive")
        self.assertEqual(self.nodes(), {"main": "self 30.00 %, total 100 %", "walk ↻": "self 40.00 %, total 60.00 %", "leaf": "self 20.00 %, total 20.00 %",
                                        "(other)": "self 10.00 %"})
        self.assertEqual(self.status(), "3 of 103 functions, 2 edges; what is not drawn is in (other)")
        self.assertEqual(self.edges(), ["main → (other): 100 µs (self time), 10.00 % of all, 100 calls", "main → walk: 600 µs (self time), 60.00 % of all, 100 calls",
                                        "walk → leaf: 200 µs (self time), 20.00 % of all, 200 calls"])
        self.assertEqual([e for e in self.all("path.edge", f"e.getAttribute('{DASH}')") if e], ["4 3"])
        self.choose("Hide below", "0.2")
        self.assertEqual(sorted(self.nodes()), ["(other)", "leaf", "main", "walk ↻"])
        self.choose("Hide below", "0")
        self.assertEqual(self.status(), "60 of 103 functions, 59 edges; what is not drawn is in (other); 43 functions above the limit are left out")
        self.assertEqual(self.nodes()["(other)"], "self 4.30 %")

    def test_around_a_function(self):
        self.open("paths", "/turn")
        # spin is two calls away, over main, but in neither direction.
        self.assertEqual(self.nodes(), {"main": "self 0.92 %, total 96.33 %", "turn": "self 8.26 %, total 12.84 %", "memcpy": "self 68.81 %, total 68.81 %",
                                        "(other)": "self 22.02 %", "(other callers)": "not drawn"})
        self.assertEqual(self.status(), "3 of 5 functions, 2 edges; what is not drawn is in (other)")
        self.assertIn("main → (other): 90.0 µs (self time), 82.57 % of all, 20 calls", self.edges())
        self.assertIn("(other callers) → memcpy: 70.0 µs (self time), 64.22 % of all, 70 calls", self.edges())

    def test_levels_and_search(self):
        self.open("paths")
        self.page.key("/", "/")
        self.page.type("worker")
        self.assertEqual(list(self.nodes())[0], "worker")
        self.assertTrue(self.all(".flame-details", "e.textContent")[0].startswith("worker4.00 µs, 3.67 % of all self timeitself 4.00 µs4 callsexample"))
        self.press("Show all")
        self.assertEqual(len(self.nodes()), 5)
        self.page.js(f"document.querySelector('{SECTION} [data-search]').focus()")
        self.page.type("nothing of the kind")
        self.assertTrue(self.status().startswith("No function has 'nothing of the kind' in its name: all are shown. 5 of 5"), self.status())

    def test_a_click_selects_and_a_double_click_centres(self):
        self.open("recursive")
        x, y, _ = self.middle("leaf")
        for n in 1, 2:
            self.mouse("mousePressed", x, y, clickCount=n)
            self.mouse("mouseReleased", x, y, clickCount=n)
            self.page.settle()
            if n == 1:
                self.assertEqual(self.all("g.node.at text", "e.textContent")[0], "leaf")
                self.assertTrue(self.all(".flame-details", "e.textContent")[0].startswith("leaf200 µs, 20.00 % of all self timeitself 200 µs200 calls"))
                self.assertEqual(self.all("path.edge.at", "e.querySelector('title').textContent"), ["walk → leaf: 200 µs (self time), 20.00 % of all, 200 calls"])
        self.assertEqual(self.all("[data-search]", "e.value"), ["leaf"])
        self.choose("Within", "1")
        self.assertEqual([name for name in self.nodes() if not name.startswith("(")], ["walk ↻", "leaf"])
        self.page.js(f"[...document.querySelectorAll('{SECTION} .flame-details a')].find(e => e.textContent === 'contexts').click()")
        self.page.until("document.querySelector('.tab[aria-selected=true]').textContent === 'Contexts'")

    def test_zoom_and_move(self):
        self.open("paths")
        x, y, wide = self.middle("spin")
        self.press("+")
        self.assertAlmostEqual(self.middle("spin")[2], 1.25 * wide, delta=1)
        self.press("Fit")
        self.assertAlmostEqual(self.middle("spin")[0], x, delta=1)
        self.page.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-200)
        self.page.until(f"document.querySelector('{SECTION} g.graph-all').getAttribute('transform').includes('scale(1.6')")
        zoomed = self.middle("spin")
        self.assertAlmostEqual(zoomed[0], x, delta=2, msg="what is at the pointer stays there")
        self.mouse("mousePressed", 700, 600, clickCount=1)
        self.mouse("mouseMoved", 730, 580, buttons=1)
        self.mouse("mouseReleased", 730, 580, clickCount=1)
        self.page.settle()
        moved = self.middle("spin")
        self.assertAlmostEqual(moved[0] - zoomed[0], 30, delta=1)
        self.assertAlmostEqual(moved[1] - zoomed[1], -20, delta=1)

    def test_keys(self):
        self.open("paths")
        self.page.js(f"document.querySelector('{SECTION} .graph-place').focus()")
        chosen = []
        for _ in range(2):
            self.page.key("n", "n")
            chosen.append(self.all("g.node.at text", "e.textContent")[0])
        self.page.key("p", "p")
        chosen.append(self.all("g.node.at text", "e.textContent")[0])
        self.assertEqual(chosen, ["main", "spin", "main"])
        self.page.key("Escape")
        self.assertEqual(self.all("g.node.at", "1"), [])
        wide = self.middle("main")[2]
        self.page.key("-", "-")
        self.assertAlmostEqual(self.middle("main")[2], 0.8 * wide, delta=1)
        self.page.key("0", "0")

    def test_samples_and_counts(self):
        self.open("sampled")
        self.assertEqual(self.nodes()["main"], "self 0.00 %, total 90.00 %")
        self.assertIn("main → spin: 9 (samples), 90.00 % of all", self.edges())
        self.open("counted")
        self.assertEqual(self.nodes(), {"g": "17 calls", "ff": "3 calls", "main": "0 calls"})
        self.assertEqual(self.edges(), ["ff → g: 17 (calls), 85.00 % of all, 17 calls", "main → ff: 3 (calls), 15.00 % of all, 3 calls"])

    def test_samples_with_exact_calls(self):
        self.open("exact")
        self.assertEqual([edge for edge in self.edges() if edge.startswith(("main", "spin"))],
                         ["main → spin: 9 (samples), 90.00 % of all, 1,600,000 calls", "spin → memcpy: 3 (samples), 30.00 % of all, 12 calls"])
        self.assertEqual(sorted(self.all("text.edge-label", "e.textContent")), ["10.00 %", "30.00 %, 12 ×", "90.00 %, 1,600,000 ×"])

    def test_a_result_without_calls_has_no_call_graph(self):
        self.page.open(self.pages["hot"])
        self.page.until("document.querySelector('.tab') !== null")
        self.assertNotIn("Call graph", self.page.js("[...document.querySelectorAll('.tab')].map(e => e.textContent)"))

    def test_file(self):
        self.open("recursive")
        self.page.js("window.kept = []; URL.createObjectURL = blob => { blob.text().then(text => window.kept.push(text)); return 'data:,'; };"
                     "HTMLAnchorElement.prototype.click = () => {}; 0")
        self.press("Save as SVG")
        self.page.until("window.kept.length === 1")
        text = self.page.js("window.kept[0]")
        self.assertTrue(text.startswith("<svg "))
        self.assertEqual(len(re.findall("<path [^>]*data-to", text)), 3)
        self.assertIn("main → walk: 600 µs", text)
        self.assertNotIn("scale(", text)
        width, height = (int(n) for n in re.search('viewBox="0 0 (\\d+) (\\d+)"', text).groups())
        self.assertEqual((width, height), (16 + 164 + 24 + 164 + 16, 16 + 3 * 44 + 2 * 52 + 16))

    def test_small_screen(self):
        self.page.resize(390, 700)
        self.open("recursive")
        x, _, wide = self.middle("main")
        self.assertGreater(wide, 100)
        self.assertTrue(0 < x < 390)
        self.assertLessEqual(self.page.js("document.documentElement.scrollWidth"), 390)
        place = self.page.js(f"(r => [r.left, r.right, r.height])(document.querySelector('{SECTION} .graph-place').getBoundingClientRect())")
        self.assertLessEqual(place[1], 390)
        self.assertGreaterEqual(place[2], 240)


if __name__ == "__main__":
    chromium.require(STROBE)
    unittest.main()
