#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests that a function has the same annotation in a program, in a library, and in a library that is loaded with dlopen; and
functions of Rust.

usage: test_images.py STROBE PROGRAM LINKED LOADS LIBRARY ITEMS

PROGRAM, LINKED and LOADS are programs/loads.c with sums.c in the program, in LIBRARY, and in LIBRARY with dlopen; ITEMS is
programs/items.rs, which the test compiles if there is a compiler."""

import os
import subprocess
import sys
import tempfile
import unittest

import records

STROBE, PROGRAM, LINKED, LOADS, LIBRARY, ITEMS = [os.path.abspath(name) for name in sys.argv[1:7]]


class Recording(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="strobe-images-")
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "r.txt")

    def run_strobe(self, *words):
        done = subprocess.run([STROBE, "annotate", *words], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def record(self, metric, names, *command):
        self.run_strobe("-q", "-m", metric, "-F", names, "-o", self.path, "--", *command)
        return records.read(self.path)[0]


class Images(Recording):
    COMMANDS = ((PROGRAM,), (LINKED,), (LOADS, LIBRARY))

    def test_same_records(self):
        """With probes, also if the library is loaded while the program runs, unloaded, and loaded again."""
        wanted = [(i, 1 + i % 4) for i in range(64)]
        for command in self.COMMANDS:
            functions = self.record("allocated", "sums", *command)
            # A library that is loaded again has another #function line; the last one is in the result.
            self.assertEqual(list(functions), ["sums"], command)
            with open(self.path, encoding="utf-8") as file:
                rows = [tuple(map(int, line.split(",")))[2:] for line in file if not line.startswith("#")]
            f = functions["sums"]
            columns = [feature["name"] for feature in f.features]
            order = columns.index("v_n"), columns.index("times")
            self.assertEqual(sorted(tuple(row[i] for i in order) for row in rows), sorted(wanted), command)
            self.assertEqual(f.image, LIBRARY if command[0] != PROGRAM else PROGRAM)

    def test_same_annotation(self):
        """Exact counts have the same law everywhere."""
        laws = []
        for command in self.COMMANDS:
            self.record("instructions", "sums", *command)
            text = self.run_strobe(self.path)
            laws.append([line for line in text.splitlines() if not line.startswith("//:")])
        self.assertIn("times * v_n", "\n".join(laws[0]))
        self.assertEqual(laws[1], laws[0])
        self.assertEqual(laws[2], laws[0])


class Rust(Recording):
    def build(self):
        return records.build_rust(self, ITEMS, os.path.join(self.folder.name, "items"), "-C", "opt-level=1")

    def column(self, functions, name, *endings):
        """The values of the features with these ends of their names: the members of libraries have other paths in other versions."""
        names = [[f["name"] for f in functions[name].features if f["name"].endswith(end)][:1] for end in endings]
        self.assertNotIn([], names, [f["name"] for f in functions[name].features])
        return functions[name].columns(*[n[0] for n in names])

    def test_features(self):
        functions = self.record("time", "total,walk,measure", self.build())
        self.assertEqual({name: f.calls for name, f in functions.items()}, {name: (40, 40, 0) for name in ("total", "walk", "measure")})
        self.assertEqual(self.column(functions, "total", "v_length", "scale"), [(5 * i, 3) for i in range(40)])
        self.assertEqual(self.column(functions, "measure", "text_length", "factor", "counts"), [(3 * i, 0.5 * i, int(i % 3 == 0)) for i in range(40)])
        wanted = [(i % 3, i, 5 * i, "Count" if i % 2 else "Sum") for i in range(40)]
        self.assertEqual(self.column(functions, "walk", "times", "name_vec_len", "numbers_len", "item_kind"), wanted)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
