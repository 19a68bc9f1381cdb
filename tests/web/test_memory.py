#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page's view of memory over time in a browser: test_memory.py STROBE. STROBE_SCREENSHOTS=DIRECTORY keeps pictures."""
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chromium  # noqa: E402

STROBE = os.path.abspath(sys.argv.pop(1))
SCREENSHOTS = os.environ.get("STROBE_SCREENSHOTS")
MS = 1000000
# Live bytes of two functions and the total at five snapshots; what is left is of paths that snapshots do not record.
TIMES = [1 * MS, 2 * MS, 3 * MS, 5 * MS, 8 * MS]
GROW, KEEP, TOTAL = [0, 1000, 4000, 9000, 0], [500, 500, 500, 500, 500], [600, 1600, 4700, 9800, 500]
OTHERS = [total - grow - keep for total, grow, keep in zip(TOTAL, GROW, KEEP)]
PEAK = 10000


def rewrite(path, times, rows, totals):
    """Replaces what a profile has of snapshots; rows: the values of each function."""
    db = sqlite3.connect(path)
    for table in "snapshots", "shares", "frames", "contexts", "addresses":
        db.execute(f"DELETE FROM table_{table}")
    for i, (name, values) in enumerate(rows.items()):
        # For each function a path of one frame: its peak orders the contexts.
        db.execute("INSERT INTO table_frames (frame, parent, function, image, offset, file, line, inlined, bytes) VALUES (?, 4294967295, ?, '/bin/x', ?, '', 0, 0, 1)", (i, name, i))
        db.execute("INSERT INTO table_contexts (frame, mapped, calls, bytes, live, blocks, peak, own_peak, short_lived, largest) VALUES (?, 0, 1, 1, 0, 0, ?, ?, 0, 1)",
                   (i, max(values), max(values)))
        db.executemany("INSERT INTO table_shares (time, frame, live) VALUES (?, ?, ?)", [(time, i, value) for time, value in zip(times, values) if value])
    db.executemany("INSERT INTO table_snapshots (time, live, blocks, mapped) VALUES (?, ?, 1, 0)", list(zip(times, totals)))
    # The first function has the range at 1 MiB, all others the one at 2 MiB.
    first = next(iter(rows.values()))
    for address, values in (1 << 20, first), (2 << 20, [total - value for total, value in zip(totals, first)]):
        db.executemany("INSERT INTO table_addresses (time, address, live) VALUES (?, ?, ?)", [(time, address, value) for time, value in zip(times, values) if value])
    db.execute("UPDATE table_totals SET heap = 65536 WHERE what = 'bytes of a range of addresses'")
    for what, value in ("peak", PEAK), ("peak after", 4 * MS), ("peak before", 5 * MS):
        changed = db.execute("UPDATE table_totals SET heap = ? WHERE what LIKE ?", (value, f"{what}%"))
        assert changed.rowcount >= 1, (what, db.execute("SELECT what FROM table_totals").fetchall())
    db.commit()
    db.close()


class Memory(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="strobe-web-memory-")
        cls.run_strobe("mem", "-q", "-o", "measured.db", "--", "/bin/true")
        cls.made("few.db", TIMES[:1], {"grow": GROW[:1]}, TOTAL[:1])
        cls.made("all.db", TIMES, {"grow": GROW, "keep": KEEP}, TOTAL)
        cls.html = cls.report("all.html", "all.db")
        cls.page = chromium.Page()

    @classmethod
    def tearDownClass(cls):
        cls.page.__exit__()
        cls.place.cleanup()

    @classmethod
    def run_strobe(cls, *words):
        subprocess.run([STROBE, *words], cwd=cls.place.name, check=True, capture_output=True, timeout=120)

    @classmethod
    def made(cls, name, *snapshots):
        path = os.path.join(cls.place.name, name)
        shutil.copy(os.path.join(cls.place.name, "measured.db"), path)
        rewrite(path, *snapshots)

    @classmethod
    def report(cls, name, *files):
        cls.run_strobe("report", "-o", name, *files)
        return os.path.join(cls.place.name, name)

    def setUp(self):
        self.page.problems.clear()
        self.page.resize(1280, 800)

    def tearDown(self):
        self.assertEqual(self.page.problems, [])

    def data(self, html):
        with open(html, encoding="utf-8") as f:
            return json.loads(f.read().split('id="data">')[1].split("</script>")[0])["results"][0]

    def open(self, form, html=None, sign="figure.chart"):
        self.page.call("Page.navigate", url="about:blank")
        self.page.open(html or self.html, f"memory/{form}")
        self.page.until(f"document.querySelector('section:not([hidden]) {sign}') !== null")
        if SCREENSHOTS:
            self.page.screenshot(os.path.join(SCREENSHOTS, f"{self.id().rsplit('.', 1)[-1]}.png"))

    def all(self, selector, what="e.textContent"):
        return self.page.js(f"[...document.querySelectorAll('section:not([hidden]) {selector}')].map(e => {what})")

    def test_data(self):
        memory = self.data(self.html)["memory"]
        self.assertEqual(memory.pop("rows"), [{"name": "grow", "others": False, "values": GROW}, {"name": "keep", "others": False, "values": KEEP},
                                              {"name": "(others)", "others": True, "values": OTHERS}])
        self.assertEqual(memory.pop("addresses"), {"times_ns": TIMES, "range_bytes": 65536, "rows": [
            {"name": "0x200000", "others": False, "values": [a - b for a, b in zip(TOTAL, GROW)]}, {"name": "0x100000", "others": False, "values": GROW}]})
        self.assertEqual(memory, {"times_ns": TIMES, "left_out": 0, "peak": PEAK, "peak_after_ns": 4 * MS, "peak_before_ns": 5 * MS})

    def test_areas_add_up_to_the_live_memory(self):
        self.open("areas")
        tops = [[int(v) for v in text.split()] for text in self.all("polygon.area", "e.dataset.tops")]
        self.assertEqual(tops, [GROW, [a + b for a, b in zip(GROW, KEEP)], TOTAL])
        self.assertEqual(self.all("g.peak", "Number(e.dataset.bytes)"), [PEAK])
        self.assertEqual(self.all("g.peak title"), ["peak: 9.77 KiB, between 4.00 ms and 5.00 ms"])
        self.assertEqual(self.all("rect.moment title")[3], "5.00 ms: 9,800 B live\ngrow: 9,000 B\nkeep: 500 B\n(others): 300 B")
        self.assertIn("The peak was 9.77 KiB, between 4.00 ms and 5.00 ms after the program's begin; it is exact.", self.all("p.dim")[0])

    def test_lines(self):
        self.open("lines")
        self.assertEqual(self.all("polyline.flow", "[e.dataset.name, e.getAttribute('points').split(' ').length]"), [["grow", 5], ["keep", 5], ["(others)", 5]])

    def test_bars(self):
        for form in "stacked", "grouped":
            self.open(form)
            self.assertEqual(self.all("rect.bar", "Number(e.dataset.value)"), GROW + KEEP + OTHERS)
            # In a stack, the heights of all bars are in proportion to the values; so they are beside each other.
            heights = self.all("rect.bar", "Number(e.getAttribute('height'))")
            scale = heights[3] / GROW[3]
            for height, value in zip(heights, GROW + KEEP + OTHERS):
                self.assertAlmostEqual(height, value * scale, places=6)
        self.assertEqual(self.all("rect.bar title")[1], "grow at 2.00 ms: 1,000 B")

    def test_heat_map(self):
        self.open("heat")
        self.assertEqual(self.all("rect.cell title"),
                         ["grow, 2.00 ms: 1,000 B", "grow, 3.00 ms: 4,000 B", "grow, 5.00 ms: 9,000 B", "keep, 1.00 ms to 8.00 ms: 500 B",
                          "(others), 1.00 ms to 2.00 ms: 100 B", "(others), 3.00 ms: 200 B", "(others), 5.00 ms: 300 B"])
        strength = self.all("rect.cell", "Number(e.getAttribute('fill-opacity'))")
        self.assertEqual((max(strength), strength.index(max(strength))), (1, 2), "the greatest value is the darkest")

    def test_heat_map_by_address(self):
        self.open("addresses")
        self.assertEqual(self.all("rect.cell title"),
                         ["0x200000, 1.00 ms to 2.00 ms: 600 B", "0x200000, 3.00 ms: 700 B", "0x200000, 5.00 ms: 800 B", "0x200000, 8.00 ms: 500 B",
                          "0x100000, 2.00 ms: 1,000 B", "0x100000, 3.00 ms: 4,000 B", "0x100000, 5.00 ms: 9,000 B"])
        self.assertEqual(self.all("p.dim"), ["A row is 64.0 KiB of addresses, which begin at its name; addresses without live heap memory have no row. "
                                             "2 rows add up to the live memory at each time."])

    def test_no_addresses_have_a_reason(self):
        path = os.path.join(self.place.name, "old.db")
        shutil.copy(os.path.join(self.place.name, "all.db"), path)
        db = sqlite3.connect(path)
        db.execute("UPDATE table_totals SET heap = 0 WHERE what = 'bytes of a range of addresses'")
        db.commit()
        db.close()
        self.open("addresses", self.report("old.html", "old.db"), "p.nothing")
        self.assertEqual(self.all("p.nothing"), ["There is no map of addresses: old.db has no addresses: it was made by an older strobe mem; measure again."])
        self.assertEqual(self.all("p.dim"), [])

    def test_the_choice_is_in_the_address(self):
        self.open("areas")
        self.page.js("(s => { s.value = 'heat'; s.dispatchEvent(new Event('change')); })(document.querySelector('section:not([hidden]) .choice select'))")
        self.page.until("location.hash === '#memory/heat' && document.querySelector('section:not([hidden]) rect.cell') !== null")

    def test_narrow(self):
        self.page.resize(390, 800)
        for form in "areas", "stacked", "heat", "addresses":
            self.open(form)
            self.assertLessEqual(self.page.js("document.documentElement.scrollWidth"), 390, form)
            self.assertLessEqual(self.all("figure.chart svg", "e.getBoundingClientRect().right")[0], 390, form)

    def test_too_few_snapshots_have_a_reason(self):
        self.open("areas", self.report("few.html", "few.db"), "p.nothing")
        self.assertEqual(self.all("p.nothing"), ["There is no picture of memory over time: few.db has fewer than two snapshots, because the program ended too soon: "
                                                 "strobe mem --interval 100us takes more of them."])

    def test_no_peak_is_lost_among_many_snapshots(self):
        n, peak = 2500, 1777
        values = [5000 if i == peak else i % 7 for i in range(n)]
        self.made("many.db", [i * MS for i in range(n)], {"grow": values}, values)
        memory = self.data(self.report("many.html", "many.db"))["memory"]
        self.assertEqual((len(memory["times_ns"]), memory["left_out"]), (1000, n - 1000))
        self.assertEqual((memory["times_ns"][0], memory["times_ns"][-1]), (0, (n - 1) * MS))
        self.assertEqual(memory["times_ns"], sorted(memory["times_ns"]))
        self.assertEqual(memory["rows"][0]["values"], [values[time // MS] for time in memory["times_ns"]])
        self.assertIn(peak * MS, memory["times_ns"])

    def test_other_profiles_have_no_memory(self):
        self.run_strobe("run", "-q", "-t", "bbcount", "-o", "run.db", "--", "/bin/true")
        self.assertNotIn("memory", self.data(self.report("run.html", "run.db")))


if __name__ == "__main__":
    chromium.require(STROBE)
    unittest.main()
