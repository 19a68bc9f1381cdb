#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page's view of changes and their distributions in a browser: test_changes.py STROBE. STROBE_SCREENSHOTS=DIRECTORY keeps pictures."""
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
SPREAD = [-4, -3, -2, -1, 0, 1, 2, 3]
# Values of f, which becomes slower, of g, which does not, of one that only the second has, and of one with a single value.
BEFORE = {"f": [100 + d for d in SPREAD], "g": [50 + d / 100 for d in SPREAD], "once": [7]}
AFTER = {"f": [150 + d for d in SPREAD], "g": [50 + d / 100 for d in SPREAD], "once": [7], "late": [9 + d / 10 for d in SPREAD]}


class Changes(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="strobe-web-changes-")
        cls.made("before", BEFORE)
        cls.made("after", AFTER)
        cls.made("other", {"h": [1, 2, 3]})
        cls.html, _ = cls.report("two.html", "before.db", "after.db")
        cls.page = chromium.Page()

    @classmethod
    def tearDownClass(cls):
        cls.page.__exit__()
        cls.place.cleanup()

    @classmethod
    def strobe(cls, *words):
        return subprocess.run([STROBE, *words], cwd=cls.place.name, check=True, capture_output=True, text=True, timeout=120)

    @classmethod
    def made(cls, name, values):
        with open(os.path.join(cls.place.name, f"{name}.csv"), "w", encoding="utf-8") as f:
            f.write("metric,unit,function,value\n" + "".join(f"wall,ns,{function},{v}\n" for function, all in values.items() for v in all))
        cls.strobe("import", "-q", f"{name}.csv", "-o", f"{name}.db")

    @classmethod
    def report(cls, name, *files):
        done = cls.strobe("report", "-o", name, *files)
        return os.path.join(cls.place.name, name), done.stderr

    def setUp(self):
        self.page.problems.clear()
        self.page.resize(1280, 800)

    def tearDown(self):
        self.assertEqual(self.page.problems, [])

    def data(self, html):
        with open(html, encoding="utf-8") as f:
            return json.loads(f.read().split('id="data">')[1].split("</script>")[0])

    def open(self, view="changes", html=None):
        self.page.call("Page.navigate", url="about:blank")
        self.page.open(html or self.html, view)
        self.page.until("document.querySelector('section:not([hidden]) .details > *') !== null")
        if SCREENSHOTS:
            self.page.screenshot(os.path.join(SCREENSHOTS, f"{self.id().rsplit('.', 1)[-1]}.png"))

    def all(self, selector, what="e.textContent"):
        return self.page.js(f"[...document.querySelectorAll('section:not([hidden]) {selector}')].map(e => {what})")

    def test_data(self):
        check, = self.data(self.html)["checks"]
        self.assertEqual((check["a"], check["b"], check["left_out"], check["smallest"], check["alpha"]), (0, 1, 0, 0.02, 0.05))
        found = {f["name"]: f for f in check["findings"]}
        self.assertEqual(sorted(found), ["f", "g", "late", "once"])
        wanted = {c["function"]: c for c in json.loads(self.strobe("check", "--all", "--format", "json", "before.db", "after.db").stdout)["changes"]}
        for name, f in found.items():
            of = wanted[name]
            self.assertEqual((f["change"], f["from"], f["to"], f["relative"], [f["low"], f["high"]], f["p"], f["q"], f["cause"]),
                             (of["change"], of["from"], of["to"], of["relative_rate"], of["interval"], of["p"], of["q"], of["cause"]), name)
            self.assertEqual([s["values"] for s in f["samples"]], [sorted(BEFORE.get(name, [])), sorted(AFTER[name])], name)
            self.assertEqual([s["n"] for s in f["samples"]], [len(BEFORE.get(name, [])), len(AFTER[name])], name)
        self.assertEqual((found["f"]["change"], found["g"]["change"]), ("SevereDegradation", "NoChange"))

    def test_distributions(self):
        self.open("changes/f")
        self.assertEqual(self.all("h2.function"), ["f"])
        text = self.all(".verdict")[0]
        self.assertTrue(text.startswith("Severe degradation: "), text)
        self.assertIn("in A, ", text)
        for side, values in ("A", BEFORE["f"]), ("B", AFTER["f"]):
            self.assertEqual(self.all(f"circle.value[data-side={side}]", "Number(e.dataset.value)"), sorted(values))
        self.assertEqual(self.all("g.box", "Number(e.dataset.n)"), [8, 8])
        self.assertIn("A: median 99.5 ns, quartiles 97.8 ns and 101 ns, 8 values", self.all("g.box title"))
        # The second result is slower, so that its curve is at the right of the first one's.
        ends = self.all("polyline.cumulative", "e.getAttribute('points').split(' ').map(p => p.split(',').map(Number))")
        middle = [next(x for x, y in points if y <= (points[0][1] + points[-1][1]) / 2) for points in ends]
        self.assertGreater(middle[1], middle[0])
        self.assertTrue(self.all(".status")[0].startswith("1 change of 4 functions"), self.all(".status")[0])

    def test_table(self):
        self.open()
        rows = {row[5]: row for row in self.all(".grid-body .grid-row", "[...e.children].map(c => c.textContent)")}
        self.assertEqual(sorted(rows), ["f", "g", "late", "once"])
        self.assertEqual((rows["f"][0], rows["f"][4], rows["g"][0]), ("severe degradation", "8, 8", "no change"))
        self.assertEqual((rows["late"][0], rows["late"][2], rows["late"][4]), ("cannot tell", "–", "0, 8"))
        self.page.click(f"section:not([hidden]) .grid-row[aria-rowindex='{2 + [r[5] for r in self.all('.grid-body .grid-row', '[...e.children].map(c => c.textContent)')].index('g')}']")
        self.assertEqual(self.all("h2.function"), ["g"])
        self.assertTrue(self.all(".verdict")[0].startswith("No change: "))
        self.page.key("/", "/")
        self.page.type("late")
        self.assertEqual(self.all(".grid-body .grid-row", "e.children[5].textContent"), ["late"])

    def test_what_has_no_distribution_says_why(self):
        self.open("changes/late")
        self.assertEqual(self.all(".details .nothing"), ["Only B has this function, so there are no two distributions."])
        self.open("changes/once")
        self.assertIn("Each result has one value, which is no distribution", self.all(".details .nothing")[0])
        html, _ = self.report("strangers.html", "before.db", "other.db")
        self.open(html=html)
        self.assertIn("so there are no two distributions", self.all(".details .nothing")[0])

    def test_three_results(self):
        html, said = self.report("three.html", "before.db", "after.db", "before.db")
        self.assertEqual(said, "strobe: wrote three.html: open it in a browser\n")
        self.assertEqual([(c["a"], c["b"]) for c in self.data(html)["checks"]], [(0, 1), (0, 2), (1, 2)])
        self.open("changes", html)
        self.page.js("(s => { s.value = '1'; s.dispatchEvent(new Event('change')); })(document.querySelector('section:not([hidden]) .choice select'))")
        self.assertTrue(self.all(".status")[0].startswith("0 changes of 3 functions"), self.all(".status")[0])

    def test_single_calls_of_one_run(self):
        with open(os.path.join(self.place.name, "calls.csv"), "w", encoding="utf-8") as f:
            f.write("metric,unit,function,value,size\n" + "".join(f"wall,ns,f,{10 * n},{n}\n" for n in range(1, 5)))
        self.strobe("import", "-q", "calls.csv", "-o", "calls.db")
        html, _ = self.report("calls.html", "calls.db", "calls.db")
        found, = self.data(html)["checks"][0]["findings"]
        self.assertEqual((found["single"], found["samples"]), (True, [{"n": 4, "values": [10, 20, 30, 40]}] * 2))
        self.open("changes", html)
        self.assertIn("Each result is one run: the figures show its single values, and say nothing of how runs differ.", self.all("p.dim"))

    def test_other_results_have_no_comparison(self):
        self.strobe("run", "-q", "-t", "bbcount", "-o", "run.db", "--", "/bin/true")
        for files in (("run.db", "run.db"), ("before.db",), ("before.db", "run.db")):
            html, _ = self.report("none.html", *files)
            self.assertNotIn("checks", self.data(html), files)

    def test_too_many_results(self):
        _, said = self.report("many.html", *["other.db"] * 11)
        self.assertEqual(said, "strobe: the page compares the measurements of the first 10 results, and leaves out 1; strobe check compares any two\n"
                               "strobe: wrote many.html: open it in a browser\n")

    def test_narrow(self):
        self.page.resize(390, 800)
        self.open("changes/f")
        self.assertLessEqual(self.page.js("document.documentElement.scrollWidth"), 390)
        self.assertLessEqual(max(self.all("figure.chart svg", "e.getBoundingClientRect().right")), 390)


if __name__ == "__main__":
    chromium.require(STROBE)
    unittest.main()
