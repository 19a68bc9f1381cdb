#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""status compares with the nearest comparable ancestor, and finds what was changed: test_changes.py STROBE."""
import json
import os
import sqlite3
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from project import Project  # noqa: E402

PROGRAM = """
#include <stdlib.h>
volatile int s;
__attribute__((noipa)) void f(int n) { while (n--) s++; }
__attribute__((noipa)) void g(int n) { while (n--) s--; }
#ifdef THIRD
__attribute__((noipa)) void h(int n) { while (n--) s += 2; }
#endif
int main(int c, char **v) {
	f(atoi(getenv("F"))); g(atoi(getenv("G")));
#ifdef THIRD
	h(20000);
#endif
	return c > 2 && !v;
}
"""


class Changes(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-store-")
        self.addCleanup(folder.cleanup)
        self.p = Project(Path(folder.name) / "project")
        self.p.ask("init")
        self.builds = 0

    def build(self, *flags):
        (self.p.home / "p.c").write_text(PROGRAM, encoding="utf-8")
        self.builds += 1
        place = self.p.home / str(self.builds)
        place.mkdir()
        self.p.run("cc", "-O1", "-Wl,--build-id", *flags, "-o", place / "prog", self.p.home / "p.c")
        return place / "prog"

    def measure(self, program, f, g, *words, change=None):
        """Stores a profile of HEAD in which f and g count so far."""
        file = self.p.home / "measured.db"
        file.unlink(missing_ok=True)
        self.p.run(Project.strobe, "run", "-q", "-t", "hot", "-o", file, "--", program, env={"F": str(f), "G": str(g)})
        if change:
            self.edit(file, change)
        return self.p.json("add", file, *words)["profiles"][0]["id"]

    def edit(self, file, change):
        db = sqlite3.connect(file)
        db.executescript(change)
        db.commit()
        db.close()

    def changed(self, *words):
        groups = self.p.json("status", *words)["changes"]
        self.assertEqual(len(groups), 1, groups)
        return groups[0], {(c["name"], c["kind"]) for c in groups[0]["changed"]}

    def test_more_less_new_gone(self):
        one, two = self.build(), self.build("-DTHIRD")
        first = self.p.commit("first")
        self.measure(one, 10000, 20000)
        self.p.commit("nothing was measured here")
        self.p.commit("third")
        self.measure(two, 20000, 10000)
        group, found = self.changed()
        self.assertEqual((group["since"], group["steps"], group["exact"], group["metric"]), (first, 2, True, "instructions"))
        self.assertEqual(found, {("f", "more"), ("g", "less"), ("h", "new")})
        f = next(c for c in group["changed"] if c["name"] == "f")
        self.assertEqual(f["image"], "prog")
        self.assertGreater(f["to"]["mean"], 1.9 * f["from"]["mean"])
        self.assertEqual((f["from"]["n"], f["from"]["least"], f["from"]["most"]), (1, f["from"]["mean"], f["from"]["mean"]))
        self.p.run(Project.strobe, "status", "--exit-code", fail=True)
        self.p.commit("without h again")
        self.measure(one, 20000, 10000)
        self.assertEqual(self.changed()[1], {("h", "gone")})
        self.p.run(Project.strobe, "status", "--exit-code")
        self.assertEqual(self.changed("--against", first)[1], {("f", "more"), ("g", "less")})

    def test_functions_beside_series(self):
        """The profile of a job has series of its totals; its functions are compared all the same."""
        times = self.p.home / "times.json"
        times.write_text(json.dumps({"results": [{"command": "f", "times": [1.0, 2.0]}]}), encoding="utf-8")
        self.p.ask("import", "-q", "-o", self.p.home / "times.db", times)
        db = sqlite3.connect(self.p.home / "times.db")
        series = ";".join(line for line in db.iterdump() if any(f"{table}{mark}" in line for table in ("series", "series_frame", "series_label", "feature", "measurement")
                                                                for mark in ("(", '"')) and "view" not in line.lower())
        db.close()
        program = self.build()
        self.p.commit("first")
        self.measure(program, 10000, 20000, change=series)
        self.p.commit("second")
        self.measure(program, 20000, 20000, change=series)
        group, changed = self.changed()
        self.assertEqual((group["metric"], changed), ("instructions", {("f", "more")}))

    def test_creeping(self):
        """Ten commits, each 4 % more: neighbours are alike at 10 %, the first and the last are not: 1.04^9."""
        self.p.ask("config", "status.threshold", "10")
        program, commits, steps = self.build(), [], 100000.0
        for i in range(10):
            commits.append(self.p.commit(f"commit {i}"))
            self.measure(program, round(steps), 20000)
            steps *= 1.04
            group, found = self.changed()
            self.assertEqual((group["since"], found), (commits[-2] if i else None, set()))
        group, found = self.changed("--against", commits[0])
        self.assertEqual(found, {("f", "more")})
        f = group["changed"][0]
        self.assertAlmostEqual(f["to"]["mean"] / f["from"]["mean"], 1.04 ** 9, places=3)

    def test_repetitions(self):
        """What lies within the spread of the repetitions is no change."""
        program = self.build()
        self.p.commit("first")
        for f in (10000, 12000, 14000):
            self.measure(program, f, 20000)
        self.p.commit("second")
        self.measure(program, 13000, 20000)
        self.assertEqual(self.changed()[1], set())
        self.p.commit("third")
        self.measure(program, 15000, 20000)
        _, found = self.changed("--against", "HEAD~2")
        self.assertEqual(found, {("f", "more")})

    def test_what_is_comparable(self):
        program = self.build()
        self.p.commit("first")
        self.measure(program, 10000, 20000, "--workload", "large")
        self.p.commit("second")
        self.measure(program, 20000, 20000, "--workload", "small")
        self.assertIsNone(self.changed()[0]["since"])
        self.p.commit("third")
        self.measure(program, 20000, 20000, "--workload", "large")
        group, found = self.changed()
        self.assertEqual((group["steps"], group["workload"], found), (2, "large", {("f", "more")}))

    def test_machines(self):
        program = self.build()
        first = self.p.commit("first")
        self.measure(program, 10000, 20000, change="UPDATE run SET cpu = 'Another One'; UPDATE machine SET value = '12 MiB' WHERE name = 'memory'")
        self.p.commit("second")
        self.measure(program, 20000, 20000)
        group, found = self.changed()
        self.assertEqual((group["since"], group["refused"], found), (None, first, set()))
        self.assertIn("cpu: Another One, here ", group["differences"])
        self.assertIn("memory: 12 MiB, here ", group["differences"])
        self.assertIn("--any-machine", self.p.ask("status"))
        self.assertEqual(self.changed("--any-machine")[1], {("f", "more")})
        self.p.ask("config", "compare.machines", "any")
        self.assertEqual(self.changed()[1], {("f", "more")})

    def test_after_a_rebase(self):
        self.p.commit("base", "base")
        program = self.build()
        self.p.commit("first", "a")
        self.measure(program, 10000, 20000)
        self.p.commit("second", "b")
        self.measure(program, 20000, 20000)
        self.p.git("checkout", "-q", "-b", "other", "HEAD~2")
        self.p.commit("new base", "another")
        self.p.git("rebase", "-q", "other", "main")
        group, found = self.changed()
        self.assertEqual((group["since"], found), (self.p.git("rev-parse", "HEAD~1"), {("f", "more")}))

    def measurements(self, values):
        """A profile with a series of wall times."""
        file = self.p.home / "time.db"
        file.unlink(missing_ok=True)
        self.p.run(Project.strobe, "run", "-q", "-t", "bbcount", "-o", file, "--", "/bin/true")
        rows = "".join(f"INSERT INTO measurement VALUES({i + 1}, 1, {v});" for i, v in enumerate(values))
        self.edit(file, "CREATE TABLE series(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, metric TEXT NOT NULL, unit TEXT NOT NULL, image TEXT, file TEXT,"
                        "module TEXT, class TEXT, function TEXT, line INTEGER, n INTEGER NOT NULL);"
                        "CREATE TABLE series_frame(series INTEGER NOT NULL REFERENCES series, function TEXT, file TEXT, line INTEGER);"
                        "CREATE TABLE series_label(series INTEGER NOT NULL REFERENCES series, name TEXT NOT NULL, value TEXT NOT NULL);"
                        "CREATE TABLE feature(id INTEGER PRIMARY KEY, name TEXT NOT NULL, field TEXT NOT NULL);"
                        "CREATE TABLE measurement(id INTEGER PRIMARY KEY, series INTEGER NOT NULL REFERENCES series, value REAL);"
                        f"INSERT INTO series VALUES(1, 'time', 'wall', 'ns', NULL, NULL, NULL, NULL, NULL, NULL, {len(values)});"
                        "INSERT INTO series_label VALUES(1, 'workload', 'large');" + rows)
        return self.p.json("add", file)["profiles"][0]["id"]

    def test_measurements(self):
        self.p.commit("first")
        self.measurements([100, 101, 102, 103, 104])
        self.p.commit("second")
        self.measurements([110, 111, 112, 113])
        group, found = self.changed()
        self.assertEqual((group["workload"], group["too_few_values"], group["exact"], found), ("large", 1, False, set()))
        self.measurements([109])
        group, found = self.changed()
        self.assertEqual((group["too_few_values"], found), (0, {("wall", "more")}))
        self.assertEqual(group["changed"][0]["to"], {"n": 5, "least": 109, "mean": 111, "most": 113})
        self.measurements([104])
        self.assertEqual(self.changed()[1], set())
        json.loads(self.p.ask("show", "HEAD", "--format", "json"))


if __name__ == "__main__":
    Project.strobe = os.path.abspath(sys.argv.pop(1))
    unittest.main()
