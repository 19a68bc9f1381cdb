#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""strobe check of three versions of a library whose lazily built table lost its flag: test_lazy_table.py STROBE SOURCES."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE, SOURCES = (Path(word).resolve() for word in (sys.argv.pop(1), sys.argv.pop(1)))
LOOKUPS = 500 * 3


@unittest.skipUnless(shutil.which("gcc"), "no gcc")
class LazyTable(unittest.TestCase):
    """Counts are exact, so one run of each version suffices."""
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory(prefix="strobe-lazy-")
        cls.addClassCleanup(place.cleanup)
        cls.place = Path(place.name)
        cls.environment = {**os.environ, "LC_ALL": "C.UTF-8", "LD_LIBRARY_PATH": place.name}
        for version in (1, 2, 3):
            cls.ask("gcc", "-O1", "-g", "-shared", "-fPIC", f"-DVERSION={version}", "-o", "libfields.so", SOURCES / "fields.c")
            if version == 1:
                cls.ask("gcc", "-O1", "-g", "-o", "program", SOURCES / "fields_main.c", "-L.", "-lfields")
            cls.printed = cls.ask(STROBE, "run", "-q", "-t", "hot", "-o", f"v{version}.db", "--", "./program")

    @classmethod
    def ask(cls, *words):
        done = subprocess.run([str(w) for w in words], cwd=cls.place, env=cls.environment, capture_output=True, text=True, timeout=120)
        assert (done.returncode, done.stderr) == (0, ""), (words, done.returncode, done.stderr)
        return done.stdout

    def check(self, *words):
        return json.loads(self.ask(STROBE, "check", "--format", "json", *words))

    def changes(self, *words):
        return {c["function"]: c for c in self.check("--all", *words)["changes"] if c["location"] == "libfields.so"}

    def test_the_two_functions_are_on_top(self):
        got = self.check("--method", "distribution,exclusive-time-outliers", "v1.db", "v2.db")
        for method in ("distribution", "exclusive-time-outliers"):
            top = [(c["function"], c["location"], c["calls_from"] or 0, c["calls_to"]) for c in got["changes"] if c["method"] == method][:2]
            self.assertEqual(top, [("init_fielddesc", "libfields.so", 0, LOOKUPS), ("get_fielddesc", "libfields.so", LOOKUPS, LOOKUPS)], method)
        by_distribution = [(c["function"], c["change"], c["confidence_kind"]) for c in got["changes"] if c["method"] == "distribution"]
        self.assertEqual(by_distribution, [("init_fielddesc", "NotInBaseline", "count"), ("get_fielddesc", "Degradation", "count")])
        total = got["groups"][0]["totals"][0]
        self.assertEqual((total["change"], got["total"]), ("TotalDegradation", total))

    def test_growth_is_that_of_the_two_functions(self):
        """All other functions of the library execute the same instructions as before, except those that built the table."""
        changes = self.changes("v1.db", "v2.db")
        grown = {name: c["rate"] for name, c in changes.items() if c["to"] != c["from"]}
        self.assertEqual(set(grown), {"init_fielddesc", "get_fielddesc", "load_table", "size_of_code"})
        self.assertEqual(grown["init_fielddesc"] % LOOKUPS, 0)
        self.assertEqual(grown["get_fielddesc"] % LOOKUPS, 0)
        self.assertEqual((changes["call_proc"]["from"], changes["call_proc"]["change"]), (changes["call_proc"]["to"], "NoChange"))

    def test_the_fix(self):
        """With the flag, the table is built once, and nothing that matters is left."""
        self.assertEqual(self.check("v1.db", "v3.db")["changes"], [])
        changes = self.changes("v1.db", "v3.db")
        self.assertEqual((changes["init_fielddesc"]["calls_from"] or 0, changes["init_fielddesc"]["calls_to"]), (0, 1))
        fixed = {c["function"]: (c["change"], c["calls_from"], c["calls_to"]) for c in self.check("v2.db", "v3.db")["changes"]}
        self.assertEqual(fixed["init_fielddesc"], ("SevereOptimization", LOOKUPS, 1))
        self.assertEqual(fixed["get_fielddesc"], ("Optimization", LOOKUPS, LOOKUPS))

    def test_text_has_the_calls(self):
        text = self.ask(STROBE, "check", "v1.db", "v2.db")
        self.assertRegex(text, r"\n  NotInBaseline  instructions +0 +[\d,]+ +- .* 0 to 1,500  init_fielddesc \[libfields.so\]\n")
        self.assertNotIn("same conditions", text)


if __name__ == "__main__":
    unittest.main()
