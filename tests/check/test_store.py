#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""strobe check and strobe log --changes with versions of a project: test_store.py STROBE."""
import os
import random
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "store"))
from project import Project  # noqa: E402

Project.strobe = os.path.abspath(sys.argv.pop(1))


class Versions(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-check-")
        self.addCleanup(folder.cleanup)
        self.p = Project(Path(folder.name) / "project")
        self.noise = random.Random(1)
        self.commits, self.files = [], 0

    def version(self, level, stored=True, n=8):
        """A commit; its profile has n values of f around the level, and as many of g, which never changes."""
        self.commits.append(self.p.commit(f"version {len(self.commits)}"))
        if len(self.commits) == 1:
            self.p.ask("init")
        if not stored:
            return
        self.files += 1
        rows = [f"wall,ns,{name},{mean * self.noise.gauss(1, 0.01)}\n" for name, mean in (("f", level), ("g", 500)) for _ in range(n)]
        (self.p.home / "m.csv").write_text("metric,unit,function,value\n" + "".join(rows), encoding="utf-8")
        self.p.ask("import", "-q", self.p.home / "m.csv", "-o", self.p.home / f"m{self.files}.db")
        self.p.ask("add", "-q", self.p.home / f"m{self.files}.db")

    def test_check(self):
        for level in (100, 100, 150):
            self.version(level)
        got = self.p.json("check")
        self.assertEqual([(c["function"], c["change"]) for c in got["changes"]], [("f", "SevereDegradation")])
        self.assertEqual((got["groups"][0]["base"], got["groups"][0]["target"]), (self.commits[1][:10], self.commits[2][:10]))
        self.assertEqual(self.p.json("check", self.commits[0], self.commits[1])["changes"], [])
        self.assertEqual(self.p.json("check", "HEAD~2")["groups"][0]["base"], self.commits[0][:10])
        done = self.p.run(Project.strobe, "check", "--exit-code", fail=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no profile of", self.p.refused("check", "HEAD~2", self.p.commit("without")))

    def test_profiles_by_name(self):
        self.version(100)
        self.version(200)
        second = self.p.json("status")["head"]["profiles"][0]["id"]
        first = self.commits[0]
        self.assertEqual(self.p.json("check", first, second)["changes"][0]["change"], "SevereDegradation")
        file = self.p.home / "m2.db"
        self.assertEqual(self.p.json("check", first, file)["changes"][0]["function"], "f")

    def test_creeping(self):
        """Nine steps of 4 %: none is found at 10 %, all together are."""
        for step in range(10):
            self.version(100 * 1.04 ** step)
        for before, now in zip(self.commits, self.commits[1:]):
            self.assertEqual(self.p.json("check", "--smallest", "10", before, now)["changes"], [])
        change = self.p.json("check", "--smallest", "10", self.commits[0])["changes"][0]
        self.assertAlmostEqual(change["relative_rate"], 1.04 ** 9 - 1, delta=0.03)

    def test_change_points(self):
        levels = [100] * 6 + [None, 130] + [130] * 6
        for level in levels:
            self.version(level or 100, stored=level is not None, n=3)
        series = {s["location"]: s for s in self.p.json("log", "--changes", "wall")["series"]}
        self.assertEqual({name: (s["versions"], s["enough"]) for name, s in series.items()}, {"f": (13, True), "g": (13, True)})
        self.assertEqual(series["g"]["changes"], [])
        change, = series["f"]["changes"]
        self.assertEqual((change["before"], change["commit"], change["commits"], change["subject"]), (self.commits[5], self.commits[7], 2, "version 7"))
        self.assertAlmostEqual(change["relative"], 0.3, delta=0.02)
        self.assertLessEqual(change["p"], 0.05)
        text = self.p.ask("log", "--changes", "[fg]")
        self.assertIn(f"{self.commits[5][:10]}..{self.commits[7][:10]}", text)
        self.assertIn("wall of g: ", text)
        self.assertIn("no change in 13 versions", text)

    def test_outlier_and_few(self):
        for level in (100, 100, 100, 300, 100, 100):
            self.version(level, n=3)
        self.assertIn("cannot tell: only 6 versions have profiles, and 7 are needed", self.p.ask("log", "--changes", "f"))
        for _ in range(3):
            self.version(100, n=3)
        got = self.p.json("log", "--changes", "f")["series"][0]
        self.assertEqual((got["versions"], got["enough"], got["changes"]), (9, True, []))
        self.assertIn("has a function or series 'h'", self.p.refused("log", "--changes", "h"))


if __name__ == "__main__":
    unittest.main()
