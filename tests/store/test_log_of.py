#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""strobe log --of: a metric over versions, with its spread: test_log_of.py STROBE."""
import contextlib
import json
import os
import sqlite3
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET
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


class Names(unittest.TestCase):
    """Series that differ in one thing only are told apart by it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-store-")
        self.addCleanup(folder.cleanup)
        self.p = Project(Path(folder.name) / "project")
        self.p.commit("first")
        self.p.ask("init")

    def add(self, name, text, *words, change=""):
        (self.p.home / name).write_text(text, encoding="utf-8")
        self.p.ask("import", "-q", self.p.home / name, "-o", self.p.home / "it.db")
        with contextlib.closing(sqlite3.connect(self.p.home / "it.db")) as db:
            db.executescript(change)
        self.p.ask("add", "-q", self.p.home / "it.db", *words)

    def legend(self, *words):
        root = ET.fromstring(self.p.ask("plot", "history", "-o", "-", *words))
        return {e.text for e in root.iter("{http://www.w3.org/2000/svg}text")} - {""}

    def names(self, *words):
        return [line.split("  ")[-1].strip() for line in self.p.ask("log", *words).splitlines()[1:]]

    def test_commands_of_hyperfine(self):
        results = [{"command": f"sort {size}", "times": [size, size + 2]} for size in (1, 10)]
        self.add("h.json", json.dumps({"results": results}))
        rows = self.p.json("log", "--of", "wall")["history"]
        self.assertEqual([(r["location"], r["labels"], r["n"], r["median"]) for r in rows], [("sort", "command sort 1", 2, 2), ("sort", "command sort 10", 2, 11)])
        names = ["sort (command sort 1)", "sort (command sort 10)"]
        self.assertLessEqual(set(names), self.legend("--of", "sort"))
        self.assertEqual([each.split(":")[0] for each in self.names("--of", "sort")], names)
        self.assertEqual(self.p.ask("log", "--changes", "sort").count("wall of sort (command sort 1): "), 1)
        series = self.p.json("log", "--changes", "sort")["series"]
        self.assertEqual([each["labels"] for each in series], ["command sort 10", "command sort 1"])

    def test_benchmarks_of_google(self):
        runs = [{"name": "sort", "run_name": "sort", "label": label, "real_time": time, "time_unit": "ns"} for label, time in (("old", 5), ("new", 3))]
        self.add("g.json", json.dumps({"context": {}, "benchmarks": runs}))
        self.assertLessEqual({"sort (label old)", "sort (label new)"}, self.legend("--of", "sort", "--metric", "real time"))

    def test_parameters_of_functions(self):
        """The name of a function without its parameters is accepted; a misspelt one gets a suggestion."""
        self.add("p.csv", 'metric,unit,function,value\ncost,,"hash_text(char const*, int)",3\ncost,,"hash_text(int)",4\ncost,,parse,5\n')
        full = ["hash_text(char const*, int)", "hash_text(int)"]
        for name in "hash_text", "hash_t*":
            self.assertEqual([(row["location"], row["median"]) for row in self.p.json("log", "--of", name)["history"]], [(full[0], 3), (full[1], 4)], name)
        self.assertLessEqual({"cost of hash_text", "hash_text(int)"}, self.legend("--of", "hash_text"))
        self.assertEqual([row["location"] for row in self.p.json("log", "--of", full[1])["history"]], [full[1]])
        for words in ("log", "--of"), ("log", "--changes"), ("plot", "history", "--of"):
            self.assertIn("has a function or series 'hash_txt'; did you mean 'hash_text'?", self.p.refused(*words, "hash_txt"))
        self.assertIn("has a function or series 'x*'; strobe log -p lists", self.p.refused("log", "--of", "x*"))

    def test_collectors_workloads_and_parameters(self):
        text = "metric,unit,function,value\ncost,,sort,{}\n"
        for i, tool in enumerate(("timer", "timed")):
            self.add(f"{i}.csv", text.format(i), change=f"UPDATE run SET tool = '{tool}', start_ns = {i}; UPDATE tool SET name = run.tool FROM run;")
        self.assertLessEqual({"timed", "timer"}, self.legend("--of", "sort"))
        self.assertEqual(sorted(r["collector"] for r in self.p.json("log", "--of", "sort")["history"]), ["timed", "timer"])
        self.add("w.csv", text.format(3), "--workload", "large", change="UPDATE run SET tool = 'timer', start_ns = 3; UPDATE tool SET name = run.tool FROM run;")
        self.assertLessEqual({"timed, no workload", "timer, no workload", "timer, workload large"}, self.legend("--of", "sort"))


if __name__ == "__main__":
    unittest.main()
