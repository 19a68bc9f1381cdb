#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of heap_net and heap_peak, with functions whose use of the heap is known.

usage: test_heap.py STROBE HEAP

HEAP is programs/heap.cc."""

import os
import subprocess
import sys
import tempfile
import unittest

import records

STROBE, HEAP = [os.path.abspath(name) for name in sys.argv[1:3]]
WANTED = {  # the net and the peak of each call, by n
    "keeps": lambda n: (24 * n, 24 * n),
    "releases": lambda n: (-24 * n, 0),
    "around": lambda n: (0, 1100 if n else 1000),
    "before": lambda n: (0, 3000),
    "regrows": lambda n: (0, 16 * n),
    "shrinks": lambda n: (-16 * n, 0),
    "catches": lambda n: (0, 700),
    "descends": lambda n: (0, 10 * (n + 1)),
    "family": lambda n: (492 + n, 525 + n),
    "makes": lambda n: (n, n),
    "takes": lambda n: (-n, 0),
}


class Heap(unittest.TestCase):
    maxDiff = None

    def record(self, names, metrics="heap_net,heap_peak", options=()):
        path = os.path.join(self.folder.name, "r.txt")
        done = subprocess.run([STROBE, "annotate", "-q", "-m", metrics, *options, "-F", names, "-I", "features-*", "-o", path, "--", HEAP],
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return records.read(path)[0]

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="strobe-heap-")
        self.addCleanup(self.folder.cleanup)

    def check(self, functions, names):
        self.assertEqual(sorted(functions), sorted(names))
        for name in names:
            rows = functions[name].columns("n", "heap_net", "heap_peak")
            self.assertTrue(rows)
            self.assertEqual(rows, [(n, *WANTED[name](n)) for n, _, _ in rows], name)

    def test_all(self):
        """The peaks of nested calls belong to the calls around them as well."""
        functions = self.record(",".join([*WANTED, "passes", "jumps"]))
        self.assertNotIn("jumps", functions)  # no call of it returned
        self.assertEqual(set(functions.pop("passes").columns("n", "heap_net", "heap_peak")),
                         {(n, 0, 100 if n else 0) for n in range(6)})
        self.check(functions, WANTED)
        self.assertEqual(functions["keeps"].metrics, [("heap_net", "bytes"), ("heap_peak", "bytes")])
        self.assertEqual([row[0] for row in functions["keeps"].columns("n")], [0, 10, 20, 30, 40, 50])

    def test_outer_alone(self):
        """Functions around others have the same peaks if the others are not recorded."""
        names = [name for name in WANTED if name not in ("makes", "takes")]
        self.check(self.record(",".join(names)), names)

    def test_replaced_rows(self):
        """Calls whose rows are given to other calls do not change the peaks of the calls around them."""
        for seed in range(8):
            functions = self.record("descends", options=("-k", "3", "--seed", str(seed)))
            self.check(functions, ["descends"])
            self.assertEqual(functions["descends"].calls[0], 21)

    def test_one_metric(self):
        functions = self.record("descends,family", metrics="heap_peak")
        self.assertEqual(functions["family"].columns("n", "heap_peak"), [(n, 525 + n) for n in range(1, 7)])
        functions = self.record("releases", metrics="heap_net,allocated,freed")
        self.assertEqual(functions["releases"].columns("n", "allocated", "freed", "heap_net"), [(n, 0, 24 * n, -24 * n) for n in range(0, 60, 10)])

    def test_twice(self):
        self.check(self.record("around,descends,releases", options=("--twice",)), ["around", "descends", "releases"])

    def test_laws(self):
        """Negative costs have laws, too."""
        self.record("keeps,releases,descends")
        done = subprocess.run([STROBE, "annotate", os.path.join(self.folder.name, "r.txt")], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for law in ("releases.heap_net(n)", "Norm(-24 * n, 0)", "descends.heap_peak(n)", "Norm(10 + 10 * n, 0)", "keeps.heap_peak(n)"):
            self.assertIn(law, done.stdout)

    def test_callees(self):
        functions = self.record("around,passes", metrics="heap_net,heap_peak,callees")
        self.assertIn(("heap_net_in_passes", "bytes"), functions["around"].metrics)
        self.assertEqual(functions["around"].columns("calls_of_passes", "heap_net_in_passes"), [(2, 0)] * 6)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
