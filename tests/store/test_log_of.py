#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""strobe log --of: a metric over versions, with its spread: test_log_of.py STROBE."""
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from project import Project  # noqa: E402

Project.strobe = os.path.abspath(sys.argv.pop(1))
VALUES = [list(range(10, 17)), [20, 40]]


class LogOf(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-store-")
        self.addCleanup(folder.cleanup)
        self.p = Project(Path(folder.name) / "project")
        self.commits = [self.p.commit("first")]
        self.p.ask("init")
        for i, values in enumerate(VALUES):
            if i:
                self.commits.append(self.p.commit("second"))
            (self.p.home / "m.csv").write_text("metric,unit,function,value\n" + "".join(f"mem,B,f,{v}\n" for v in values), encoding="utf-8")
            self.p.ask("import", "-q", self.p.home / "m.csv", "-o", self.p.home / f"m{i}.db")
            self.p.ask("add", "-q", self.p.home / f"m{i}.db")

    def test_values(self):
        for name in "f", "mem", "me*":
            rows = self.p.json("log", "--of", name)["history"]
            self.assertEqual([row["commit"] for row in rows], self.commits[::-1])
            self.assertEqual([(row["n"], row["profiles"], row["median"], row["min"], row["max"]) for row in rows], [(2, 1, 30, 20, 40), (7, 1, 13, 10, 16)])
            self.assertEqual([(row["median_low"], row["median_high"]) for row in rows], [(None, None), (10, 16)])

    def test_text(self):
        lines = self.p.ask("log", "--of", "f").splitlines()
        self.assertEqual(len(lines), 3)
        self.assertIn("13 bytes  10 bytes to 16 bytes", lines[2])

    def test_nothing(self):
        self.assertIn("has a function or series 'g'", self.p.refused("log", "--of", "g"))


if __name__ == "__main__":
    unittest.main()
