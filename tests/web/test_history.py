#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page's view of functions over versions in a browser: test_history.py STROBE. STROBE_SCREENSHOTS=DIRECTORY keeps pictures."""
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "store"))
import chromium  # noqa: E402
from project import Project  # noqa: E402

Project.strobe = os.path.abspath(sys.argv.pop(1))
SCREENSHOTS = os.environ.get("STROBE_SCREENSHOTS")
BEFORE, AFTER = 5, 4  # versions before and after the change of f
SPREAD = [-3, -2, -1, 0, 1, 2, 3]


def level(function, version):
    """The median of a version; g rises by 1 from one version to the next and back, which is no change."""
    return (100 if version < BEFORE else 200) if function == "f" else 50 + version % 2


class History(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="strobe-web-history-")
        p = cls.p = Project(Path(cls.place.name) / "project")
        cls.commits, cls.pages = [], {}
        for version in range(BEFORE + AFTER):
            cls.commits.append(p.commit(f"version {version}"))
            if not version:
                p.ask("init")
            rows = [f"wall,ns,{name},{level(name, version) + d}\n" for name in "fg" for d in SPREAD]
            (p.home / "m.csv").write_text("metric,unit,function,value\n" + "".join(rows) + f"bytes,B,f,{version}\n", encoding="utf-8")
            p.ask("import", "-q", p.home / "m.csv", "-o", p.home / f"m{version}.db")
            p.ask("add", "-q", p.home / f"m{version}.db")
        cls.page = chromium.Page()

    @classmethod
    def tearDownClass(cls):
        cls.page.__exit__()
        cls.place.cleanup()

    def setUp(self):
        self.page.problems.clear()
        self.page.resize(1280, 800)

    def tearDown(self):
        self.assertEqual(self.page.problems, [])

    def report(self, *words):
        """A page; its data. Tests with the same words share it."""
        self.html = self.pages.get(words)
        if not self.html:
            self.html = self.pages[words] = self.p.home / f"page{len(self.pages)}.html"
            self.p.ask("report", "-o", self.html, *words)
        text = self.html.read_text(encoding="utf-8")
        return json.loads(text.split('id="data">')[1].split("</script>")[0])

    def load(self, view):
        self.page.call("Page.navigate", url="about:blank")
        self.page.open(self.html, view)
        self.page.until("document.querySelector('section:not([hidden]) figure.chart') !== null")

    def open(self, *words, view="history"):
        self.report(*words)
        self.load(view)
        for width in (1280, 390) if SCREENSHOTS else ():
            self.page.resize(width, 800)
            self.load(view)
            self.page.screenshot(os.path.join(SCREENSHOTS, f"{self.id().rsplit('.', 1)[-1]}-{width}.png"))

    def all(self, selector, what="e.textContent"):
        return self.page.js(f"[...document.querySelectorAll('section:not([hidden]) {selector}')].map(e => {what})")

    def choose(self, label, value):
        self.page.js("(s => { s.value = %s; s.dispatchEvent(new Event('change')); })([...document.querySelectorAll('section:not([hidden]) .choice')]"
                     ".find(e => e.firstChild.textContent === %s).querySelector('select'))" % (json.dumps(value), json.dumps(label)))

    def series(self, name):
        """The value of a series in the choice."""
        return dict(self.all(".choice:nth-of-type(2) option", "[e.textContent, e.value]"))[name]

    def test_data(self):
        history, = self.report("--history", "[fg]")["histories"]
        self.assertEqual((history["name"], history["kind"], history["fewest"], history["left_out"], history["whole"]), ("[fg]", "commit", 7, 0, True))
        self.assertEqual([(v["name"], v["subject"]) for v in history["versions"]], [(c, f"version {i}") for i, c in enumerate(self.commits)])
        series = {(s["location"], s["metric"]): s for s in history["series"]}
        self.assertEqual(sorted(series), [("f", "bytes"), ("f", "wall"), ("g", "wall")])
        for name in "fg":
            self.assertEqual(series[name, "wall"]["points"],
                             [{"version": i, "profiles": 1, "n": 7, "median": m, "low": m - 3, "high": m + 3, "min": m - 3, "max": m + 3}
                              for i, m in ((i, level(name, i)) for i in range(BEFORE + AFTER))])
        change, = series["f", "wall"]["changes"]
        self.assertLessEqual(change.pop("p"), 0.05)
        self.assertEqual(change, {"before": BEFORE - 1, "after": BEFORE, "commits": 1, "from": 100, "to": 200, "relative": 1})
        self.assertEqual(series["g", "wall"]["changes"], [])
        self.assertEqual({key: series["f", "bytes"]["points"][3][key] for key in ("n", "median", "low", "high")}, {"n": 1, "median": 3, "low": None, "high": None})

    def test_figure(self):
        self.open("--history", "[fg]")
        self.assertEqual(self.page.js("[...document.querySelectorAll('.tab')].map(e => e.textContent)"), ["History"])
        medians = [level("f", i) for i in range(BEFORE + AFTER)]
        self.choose("Metric", str(self.all(".choice:nth-of-type(1) option").index("wall in ns")))
        self.choose("Of", self.series("f"))
        self.assertEqual(self.all("g.point", "[e.dataset.median, e.dataset.low, e.dataset.high, e.dataset.min, e.dataset.max].map(Number)"),
                         [[m, m - 3, m + 3, m - 3, m + 3] for m in medians])
        self.assertEqual(self.all("g.change", "[Number(e.dataset.before), Number(e.dataset.after)]"), [[BEFORE - 1, BEFORE]])
        self.assertEqual(self.all("line.level", "Number(e.dataset.level)"), [100, 200])
        self.assertEqual(self.all(".verdict"), ["1 change in 9 versions."])
        self.assertIn("+100 %", self.all("g.change text"))
        rows = self.all("table[aria-label=Changes] tbody tr", "[...e.children].map(c => c.textContent)")
        self.assertEqual([row[:5] + row[6:] for row in rows],
                         [[f"{self.commits[BEFORE - 1][:10]}..{self.commits[BEFORE][:10]}", "1", "100 ns", "200 ns", "+100 %", "f", f"version {BEFORE}"]])
        values = self.all("table[aria-label=\"Values of f\"] tbody tr", "[...e.children].map(c => c.textContent)")
        self.assertEqual(values[0], [self.commits[-1][:10], "1", "7", "200 ns", "197 ns to 203 ns", "197 ns", "203 ns", f"version {BEFORE + AFTER - 1}"])
        places = self.all("g.point circle", "Number(e.getAttribute('cx'))")
        self.assertEqual(places, sorted(places), "the oldest version is at the left")

    def test_several_series(self):
        self.open("--history", "[fg]")
        self.choose("Metric", str(self.all(".choice:nth-of-type(1) option").index("wall in ns")))
        self.assertEqual(len(self.all("polyline.line", "1")), 2)
        self.assertEqual(self.all(".verdict"), ["f: 1 change in 9 versions.", "g: No change in 9 versions."])
        self.assertEqual(self.all("table[aria-label^=Values]", "1"), [], "only one series has a table of values")
        self.choose("Of", self.series("g"))
        self.assertEqual(self.all(".verdict"), ["No change in 9 versions."])
        self.assertEqual(self.all("table[aria-label=Changes]", "1"), [])
        self.assertEqual(len(self.all("table[aria-label=\"Values of g\"] tbody tr", "1")), 9)

    def test_several_histories_beside_a_profile(self):
        self.open("--history", "f", "--history", "g", self.p.home / "m0.db", view="history/g")
        self.assertEqual(self.page.js("[...document.querySelectorAll('.tab')].map(e => e.textContent)"), ["Summary", "Measurements", "History"])
        self.assertEqual(self.all(".choice:nth-of-type(1) select", "e.selectedOptions[0].textContent"), ["g"])
        self.assertEqual(self.all("table[aria-label^=Values]", "e.getAttribute('aria-label')"), ["Values of g"])
        self.choose("History", "0")
        self.assertEqual(self.all("table[aria-label^=Values]", "e.getAttribute('aria-label')"), ["Values of f"])

    def test_links(self):
        self.open("--history", "f", "--history", "g", view="history")
        self.choose("Metric", "1")
        self.assertEqual(self.page.js("location.hash"), f"#history?metric={self.all('.choice:nth-of-type(2) option')[1].replace(' ', '+')}")
        self.load("history?metric=bytes+in+B")
        self.assertEqual(self.all(".choice:nth-of-type(2) select", "e.selectedOptions[0].textContent"), ["bytes in B"])
        self.choose("History", "1")
        self.assertEqual(self.page.js("location.hash"), "#history/g")
        self.open("--history", "[fg]", view="history?metric=wall+in+ns")
        self.choose("Of", self.series("g"))
        linked = self.page.js("location.hash")
        self.load(linked.removeprefix("#"))
        self.assertEqual(self.all("table[aria-label^=Values]", "e.getAttribute('aria-label')"), ["Values of g"])
        self.assertEqual(self.page.js("location.hash"), linked)

    def test_metrics_without_values(self):
        """The page begins with a metric that has values, and an axis of zeros has no other number."""
        data = self.report("--history", "[fg]")
        series = data["histories"][0]["series"]
        series.sort(key=lambda each: each["metric"] != "bytes")
        series[0].update(metric="samples", unit="", points=[{**point, "median": 0, "min": 0, "max": 0} for point in series[0]["points"]])
        head, rest = self.html.read_text(encoding="utf-8").split('id="data">', 1)
        self.html = self.p.home / "zeros.html"
        text = json.dumps(data).replace("<", "\\u003c")
        self.html.write_text(f'{head}id="data">{text}</script>{rest.split("</script>", 1)[1]}', encoding="utf-8")
        self.load("history")
        self.assertEqual(self.all(".choice:nth-of-type(1) option"), ["samples", "wall in ns"])
        self.assertEqual(self.all(".choice:nth-of-type(1) select", "e.selectedOptions[0].textContent"), ["wall in ns"])
        self.choose("Metric", "0")
        self.assertEqual(self.all("figure.chart svg text[text-anchor=end]"), ["0"])
        self.assertEqual(set(self.all("g.point", "e.dataset.median")), {"0"})

    def test_few_versions_are_no_answer(self):
        self.open("--history", "g", "--versions", "3")
        self.assertEqual(self.all(".verdict"), ["Cannot tell whether there is a change: only 3 versions have profiles, and 7 are needed."])
        self.assertEqual(len(self.all("g.point", "1")), 3)
        older = self.report("--history", "g", "--rev", self.commits[1])["histories"][0]
        self.assertEqual([v["name"] for v in older["versions"]], self.commits[:2])

    def test_narrow(self):
        self.open("--history", "[fg]")
        for width in 390, 1280:
            self.page.resize(width, 800)
            self.load("history")
            self.assertLessEqual(self.page.js("document.documentElement.scrollWidth"), width)
            self.assertLessEqual(self.all("figure.chart svg", "e.getBoundingClientRect().right")[0], width)

    def test_refused(self):
        page = self.p.home / "none.html"
        for words, code, cause in ((["--history", "nothing"], 125, "has a function or series 'nothing'"), (["--history", ""], 2, "--history needs the name"),
                                   (["--rev", "HEAD", self.p.home / "m0.db"], 2, "--rev says where a history ends"), (["--rev", "HEAD"], 2, "--rev says where a history ends"),
                                   ([], 2, "nothing to report"),
                                   (["--history", "f", "--versions", "x"], 2, "--versions"), (["--history", "f", "--rev", "gone"], 2, "'gone' is no commit")):
            self.assertIn(cause, self.p.refused("report", "-o", page, *words, code=code))
            self.assertFalse(page.exists())
        bare = Project(Path(self.place.name) / "bare")
        self.assertIn("strobe init", bare.refused("report", "-o", page, "--history", "f"))


if __name__ == "__main__":
    chromium.require(Project.strobe)
    unittest.main()
