#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests that the paths of features are expressions of the source: a compiler accepts them in the function, and they have the recorded values.

usage: test_scopes.py STROBE SOURCE COMPILER...

SOURCE is programs/scopes.cc."""

import json
import math
import os
import subprocess
import sys
import tempfile
import unittest

import records

STROBE, SOURCE, *COMPILER = sys.argv[1:]
STROBE = os.path.abspath(STROBE)


class Scopes(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="strobe-scopes-")
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "r.txt")

    def run_command(self, *command):
        done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def build(self, name, *options):
        program = os.path.join(self.folder.name, name)
        self.run_command(*COMPILER, "-w", "-g", "-std=c++17", "-fno-access-control", "-fno-delete-null-pointer-checks", *options, "-o", program, SOURCE)
        return program

    def features(self, program):
        (table,) = json.loads(self.run_command(STROBE, "annotate", "--format", "json", "--features", "-F", "Item::work*", "--max-features", "128",
                                               program))["functions"]
        self.assertEqual(table["left_out"], 0)
        return table["features"]

    def check(self, *options):
        features = self.features(self.build("plain", *options))
        numbers = [f for f in features if f["kind"] != "category"]
        shown = [("COMPILE" if f not in numbers else "SUM" if f["how"] == "sum" else "SHOW") + f"({f['path']})" for f in features]
        program = self.build("shown", *options, "-DSHOWN=" + " ".join(shown))
        names = {f["path"]: f["name"] for f in self.features(program)}  # the compiler may have another order of globals
        self.assertEqual(set(names), {f["path"] for f in features})
        printed = self.run_command(STROBE, "annotate", "-q", "--max-features", "128", "-F", "Item::work*", "-m", "time", "-o", self.path, "--", program)
        rows = [list(map(float, line.split())) for line in printed.splitlines()]
        (function,) = records.read(self.path)[0].values()
        self.assertEqual(len(rows), 6)
        wanted = function.columns(*[names[f["path"]] for f in numbers])
        for i, f in enumerate(numbers):
            with self.subTest(path=f["path"]):
                for shown_row, row in zip(rows, wanted, strict=True):
                    if row[i] is None:
                        self.assertTrue(math.isnan(shown_row[i]))
                    else:
                        self.assertAlmostEqual(shown_row[i], row[i], delta=1e-7 * abs(row[i]))
        return [f["path"] for f in features]

    def test_paths(self):
        for options in ["-O0"], ["-O2"], ["-O1", "-gdwarf-4", "-fdebug-types-section"]:
            paths = self.check(*options)
            for path in ("count", "outer::count", "outer::hidden", "outer::Class::count", "outer::Class::ratio", "outer::inner::count", "outer::version::byte",
                         "outer::Of<int>::value", "outer::text._M_string_length", "unnamed"):
                self.assertIn(path, paths)
            for part in "constants", "_M_allocated_capacity", "d._M_impl._M_map ", "_M_end_of_storage)":
                self.assertEqual([path for path in paths if part in path + ")"], [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
