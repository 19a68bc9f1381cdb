#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of a campaign of strobe fuzz: test_fuzz.py STROBE LIST FAULT."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chromium  # noqa: E402

STROBE, LIST, FAULT = map(os.path.abspath, sys.argv[1:4])
del sys.argv[1:4]


class Campaign(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="strobe-fuzz-page-")
        cls.folder = Path(cls.place.name)
        cls.results = {}
        for name, program, seed, words in (("slow", LIST, "[a] [b]\n", ()), ("fault", FAULT, "x\ny\n", ("--regex", "x=>xx"))):
            (cls.folder / "seed").write_text(seed)
            done = subprocess.run([STROBE, "fuzz", "-q", "--format", "json", "-s", "seed", "--executions", "60", "-N", "2k", "-t", "600s", "--judge", "120s", *words, "-o", name, "--", program],
                                  cwd=cls.folder, capture_output=True, text=True, timeout=300)
            assert (done.returncode, done.stderr) == (0, ""), done.stderr
            cls.results[name] = json.loads(done.stdout)
            subprocess.run([STROBE, "report", "-o", f"{name}.html", name + "/"], cwd=cls.folder, check=True, capture_output=True, timeout=120)
        cls.page = chromium.Page()

    @classmethod
    def tearDownClass(cls):
        cls.page.__exit__()
        cls.place.cleanup()

    def open(self, name):
        self.page.problems.clear()
        self.page.call("Page.navigate", url="about:blank")
        self.page.open(str(self.folder / f"{name}.html"))
        self.page.until("document.querySelector('.campaign') !== null")
        return self.results[name]

    def tearDown(self):
        self.assertEqual(self.page.problems, [])

    def all(self, selector):
        return self.page.js(f"[...document.querySelectorAll('section:not([hidden]) {selector}')].map(e => e.textContent)")

    def row(self, table):
        return self.all(f'table[aria-label="{table}"] tbody td')

    def test_the_page_opens_with_the_campaign(self):
        result = self.open("slow")
        self.assertEqual(self.page.js("[...document.querySelectorAll('.tab')].map(e => e.textContent)"), ["Campaign"])
        self.assertEqual(self.all("h1"), [" ".join(result["command"])])
        self.assertIn(f"{result['executions']:,} executions", self.all("p.lead")[0])
        with open(self.folder / "slow.html", encoding="utf-8") as f:
            data = json.loads(f.read().split('id="data">')[1].split("</script>")[0])
        self.assertEqual((data["results"][0]["label"], data["results"][0]["result"]), ("slow", result))

    def test_a_finding_has_the_numbers_of_the_text(self):
        result = self.open("slow")
        f = result["findings"][0]
        law = f["law"]
        row = self.row("Findings")[:9]
        self.assertEqual(row[:4], ["1", "slow", "append_bracket", f"work ~ n^{law['exponent']:.2f} ({law['lo']:.2f} to {law['hi']:.2f})"])
        self.assertEqual((row[4], row[5], row[8]), (f["token"], f"{f['size']:,}", str(len(f["rules"]))))
        self.assertIn(" ".join(f["rules"]), self.all("section.finding dd"))
        witnesses = self.row("Witnesses")[:12]
        self.assertEqual((witnesses[1], witnesses[7]), (f"{f['seed_size']:,} B", f"{f['size']:,} B"))
        self.assertEqual((witnesses[2], witnesses[8]), (f"{f['seed_work']:,}", f"{f['work']:,}"))

    def test_the_growth_is_drawn(self):
        result = self.open("slow")
        points = self.page.js("document.querySelectorAll('section.finding circle.point').length")
        self.assertEqual(points, sum(len(f["law"]["points"]) for f in result["findings"] if f["law"]))
        n, work = result["findings"][0]["law"]["points"][-1]
        self.assertIn(f"{n:,.0f} repetitions: {work:,.0f} blocks", self.all("section.finding circle.point title"))

    def test_changes_are_marked(self):
        result = self.open("slow")
        for kind, tag in ("inserted", "ins"), ("removed", "del"), ("kept", "span"):
            parts = [p for f in result["findings"] for p in f["difference"]["parts"] if p["kind"] == kind]
            shown = self.page.js(f"[...document.querySelectorAll('pre.difference > {tag}')].map(e => e.title)")
            self.assertEqual(shown, [f"{kind}: {p['bytes']:,} byte{'' if p['bytes'] == 1 else 's'}" for p in parts])
        f = result["findings"][0]["difference"]
        self.assertEqual(sum(p["bytes"] for p in f["parts"] if p["kind"] == "kept"), f["kept"])

    def test_over_time(self):
        result = self.open("slow")
        series = result["series"]
        self.assertEqual([series[-1][k] for k in ("interesting", "hangs", "faults")], [result[k] for k in ("interesting", "hangs", "faults")])
        self.assertLessEqual(60, series[-1]["executions"])
        for key in "seconds", "executions", "blocks", "most":
            values = [moment[key] for moment in series]
            self.assertEqual(values, sorted(values), key)
        titles = self.page.js("[...document.querySelectorAll('section:not([hidden]) figure.chart svg')].map(e => e.getAttribute('aria-label'))")
        self.assertEqual(titles[-4:], ["Executions", "Coverage", "Greatest growth", "Interesting inputs"])

    def test_a_fault_has_its_stack(self):
        result = self.open("fault")
        faults = [f for f in result["findings"] if f["kind"] == "fault"]
        self.assertEqual([f["signal"] for f in faults], [6])
        names = [frame["function"] for frame in faults[0]["stack"]["frames"]]
        self.assertIn("main", names)
        self.assertEqual(self.all("ol.stack code"), [name or "[unknown]" for f in result["findings"] if f["stack"] for name in (frame["function"] for frame in f["stack"]["frames"])])

    def test_narrow(self):
        self.open("slow")
        self.page.resize(390, 800)
        try:
            self.page.settle()
            self.assertLessEqual(self.page.js("document.querySelector('.campaign').getBoundingClientRect().right"), 390)
            self.assertLessEqual(self.page.js("document.documentElement.scrollWidth"), 390)
        finally:
            self.page.resize(1280, 800)


class Command(unittest.TestCase):
    def test_what_is_no_campaign(self):
        with tempfile.TemporaryDirectory(prefix="strobe-fuzz-page-") as place:
            for text in '{"strobe": {"version": 1, "tool": "fuzz"}}', '{"strobe": {"version": 1, "tool": "fuzz"}, "executions": 1, "findings": [1]}':
                os.makedirs(os.path.join(place, "c"), exist_ok=True)
                Path(place, "c", "fuzz.json").write_text(text)
                done = subprocess.run([STROBE, "report", "-o", "p.html", "c"], cwd=place, capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 125)
                self.assertIn("strobe: c/fuzz.json has nothing to show: ", done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)


if __name__ == "__main__":
    chromium.require(STROBE)
    unittest.main()
