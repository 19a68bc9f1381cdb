#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page's view of repeated measurements in a browser: test_measurements.py STROBE."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chromium  # noqa: E402

STROBE = os.path.abspath(sys.argv.pop(1))
SIZES = range(1, 13)
ROWS = [("f", 3 * n + 5, n) for n in SIZES] + [("g", 100, n) for n in SIZES]


class Measurements(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="strobe-measured-")
        cls.html = os.path.join(cls.place.name, "p.html")
        with open(os.path.join(cls.place.name, "p.csv"), "w", encoding="utf-8") as f:
            f.write("metric,unit,function,value,size\n" + "".join(f"mem,B,{name},{value},{size}\n" for name, value, size in ROWS))
        for words in ("import", "-q", "p.csv", "-o", "p.db"), ("report", "-o", cls.html, "p.db"):
            subprocess.run([STROBE, *words], cwd=cls.place.name, check=True, timeout=120)
        cls.page = chromium.Page()

    @classmethod
    def tearDownClass(cls):
        cls.page.__exit__()
        cls.place.cleanup()

    def setUp(self):
        self.page.problems.clear()
        self.page.call("Page.navigate", url="about:blank")
        self.page.open(self.html, "measurements")
        self.page.until("document.querySelector('figure.chart') !== null")

    def tearDown(self):
        self.assertEqual(self.page.problems, [])

    def choose(self, n, value):
        self.page.js(f"(s => {{ s.value = {json.dumps(value)}; s.dispatchEvent(new Event('change')); }})"
                     f"(document.querySelectorAll('section:not([hidden]) .bar-of-tools select')[{n}])")

    def all(self, selector, what):
        return self.page.js(f"[...document.querySelectorAll('section:not([hidden]) {selector}')].map(e => {what})")

    def test_the_model_of_a_line(self):
        with open(self.html, encoding="utf-8") as f:
            data = json.loads(f.read().split('id="data">')[1].split("</script>")[0])
        model = next(m for m in data["results"][0]["models"] if m["series"] == 0 and m["x"] == "size")
        self.assertEqual([model["curve"][0][0], model["curve"][-1][0]], [1, 12])
        for x, y in model["curve"]:
            self.assertAlmostEqual(y, 3 * x + 5, places=6)

    def test_scatter(self):
        self.assertEqual(len(self.all("circle.point", "1")), 12)
        self.assertEqual(len(self.all("polyline.curve", "1")), 1)
        self.assertIn("linear, b0 + b1 x: b0 = 5", self.all(".caption", "e.textContent")[0])

    def test_flow(self):
        self.choose(3, "all")
        made = self.all("circle.point", "Number(e.dataset.value)")
        self.assertEqual(made, [sum(3 * k + 5 for k in range(1, n + 1)) for n in SIZES], "prefix sums")

    def test_bars(self):
        for form in "stacked", "grouped":
            self.choose(3, form)
            self.assertEqual(sum(self.all("rect.bar", "Number(e.dataset.value)")), sum(value for _, value, _ in ROWS))

    def test_heat_map(self):
        self.choose(3, "heat")
        self.assertEqual(self.all("rect.cell", "[e.querySelector('title').textContent, Number(e.dataset.value)]"),
                         [["g, size 1 to size 12: 100 B", 100]] + [[f"f, size {n}: {3 * n + 5} B", 3 * n + 5] for n in SIZES])
        self.assertEqual(self.page.js("document.documentElement.scrollWidth <= innerWidth"), True)

    def test_a_figure_is_saved_as_svg(self):
        self.page.js("window.saved = []; URL.createObjectURL = blob => { blob.text().then(t => saved.push(t)); return 'blob:x'; };"
                     " HTMLAnchorElement.prototype.click = () => 0; 0")
        self.page.click("section:not([hidden]) figure button")
        self.page.until("saved.length === 1")
        self.assertEqual(self.page.js("new DOMParser().parseFromString(saved[0], 'image/svg+xml').documentElement.querySelectorAll('circle').length"), 12)


if __name__ == "__main__":
    chromium.require(STROBE)
    unittest.main()
