#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page's view of the costs of calls in a browser: test_costs.py STROBE."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chromium  # noqa: E402

STROBE = os.path.abspath(sys.argv.pop(1))
HEADER = "#strobe-records,1\n#function,1,sort\n#metric,1,time,ns\n#metric,1,allocated,bytes\n#feature,1,n\n#feature,1,kind,category\n"


def wave(i):
    """A spread that is the same in each run."""
    return ((i * 7919) % 101 - 50) / 10


ROWS = [(100 + 20 * n + wave(n), 8 * n, n, "list") for n in range(1, 41)] + [(900 + 5 * n * n + wave(n), 8 * n, n, "vector") for n in range(1, 41)]


class Costs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="strobe-costs-")
        cls.html = os.path.join(cls.place.name, "p.html")
        with open(os.path.join(cls.place.name, "r.txt"), "w", encoding="utf-8") as f:
            f.write(HEADER + "".join("1," + ",".join(map(str, row)) + "\n" for row in ROWS))
        subprocess.run([STROBE, "report", "-o", cls.html, "r.txt"], cwd=cls.place.name, check=True, timeout=120)
        cls.page = chromium.Page()

    @classmethod
    def tearDownClass(cls):
        cls.page.__exit__()
        cls.place.cleanup()

    def setUp(self):
        self.page.problems.clear()
        self.page.call("Page.navigate", url="about:blank")
        self.page.open(self.html, "costs")
        self.page.until("document.querySelector('figure.chart') !== null")

    def tearDown(self):
        self.assertEqual(self.page.problems, [])

    def choose(self, n, value):
        self.page.js(f"(s => {{ s.value = {json.dumps(value)}; s.dispatchEvent(new Event('change')); }})"
                     f"(document.querySelectorAll('section:not([hidden]) .bar-of-tools select')[{n}])")

    def all(self, selector, what):
        return self.page.js(f"[...document.querySelectorAll('section:not([hidden]) {selector}')].map(e => {what})")

    def test_data(self):
        with open(self.html, encoding="utf-8") as f:
            data = json.loads(f.read().split('id="data">')[1].split("</script>")[0])
        time, size = data["results"][0]["result"]["costs"]
        self.assertEqual((time["metric"], time["x"], time["records"], size["metric"]), ("time", "n", 80, "allocated"))
        self.assertEqual([(p["condition"], len(p["points"]), len(p["curves"])) for p in time["panels"]], [('kind == "list"', 40, 1), ('kind == "vector"', 40, 1)])
        for x, y, low, high in time["panels"][0]["curves"][0]["points"]:
            self.assertAlmostEqual(y, 100 + 20 * x, delta=3)
            self.assertLess(low, y)
            self.assertLess(y, high)
        # The distance of each call from the curve.
        for x, y, distance, mode in time["panels"][0]["points"]:
            self.assertAlmostEqual(distance, y - (100 + 20 * x), delta=3)
            self.assertEqual(mode, 0)

    def test_a_figure_for_each_condition(self):
        self.assertEqual(len(self.all("figure.chart", "1")), 2)
        self.assertEqual(self.all("figure.chart svg", "e.getAttribute('aria-label')"), ['time of sort, kind == "list"', 'time of sort, kind == "vector"'])
        self.assertEqual([len(self.all(s, "1")) for s in ("circle.point", "polyline.curve", "polygon.band")], [80, 2, 2])
        self.assertIn("Bands, where they are drawn, have 95 % of the calls.", self.all("p.caption", "e.textContent")[0])

    def test_distances(self):
        self.choose(1, "residuals")
        self.assertEqual([len(self.all(s, "1")) for s in ("circle.point", "polyline.curve", "polygon.band")], [80, 2, 0])

    def test_another_metric(self):
        self.choose(0, "1")
        self.assertEqual(self.all("figure.chart svg", "e.getAttribute('aria-label')"), ["allocated of sort"])
        self.assertIn("normal: mean 8 * n", self.all("p.caption", "e.textContent")[0])


class Command(unittest.TestCase):
    def test_damaged_records(self):
        with tempfile.TemporaryDirectory(prefix="strobe-costs-") as place:
            with open(os.path.join(place, "r.txt"), "w", encoding="utf-8") as f:
                f.write("#strobe-records,1\n1,2\n")
            done = subprocess.run([STROBE, "report", "-o", "p.html", "r.txt"], cwd=place, capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (2, "strobe: r.txt:2:1: no line '#function,1,NAME' precedes this line\n"))


if __name__ == "__main__":
    chromium.require(STROBE)
    unittest.main()
