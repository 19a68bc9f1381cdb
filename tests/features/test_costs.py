#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of the metrics of strobe annotate -o, with functions whose costs, or lower bounds of them, are known.

usage: test_costs.py STROBE COSTS

COSTS is programs/costs.c."""

import os
import subprocess
import sys
import tempfile
import unittest

import records

STROBE, COSTS = [os.path.abspath(name) for name in sys.argv[1:3]]
MS = 1e6
# The clock of the measurement and that of the program's waits differ slightly.
NEARLY = 0.95


class Costs(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.functions, cls.notes = cls.record("time,cpu,allocated,allocations,freed,minor_faults,major_faults,switches,preemptions,lock_wait,"
                                              "condition_wait", "allocates,touches,sleeps,works,locks,waits")

    @staticmethod
    def record(metrics, names, *command, options=()):
        with tempfile.TemporaryDirectory(prefix="strobe-costs-") as folder:
            path = os.path.join(folder, "r.txt")
            done = subprocess.run([STROBE, "annotate", "-q", *options, "-m", metrics, "-F", names, "-I", "features-*", "-o", path, "--", COSTS, *command],
                                  capture_output=True, text=True, timeout=120, check=False)
            assert done.returncode == 0, done.stderr
            return records.read(path)

    def test_header(self):
        wanted = [("time", "ns"), ("cpu", "ns"), ("allocated", "bytes"), ("allocations", ""), ("freed", "bytes"), ("minor_faults", ""),
                  ("major_faults", ""), ("switches", ""), ("preemptions", ""), ("lock_wait", "ns"), ("condition_wait", "ns")]
        for f in self.functions.values():
            self.assertEqual(f.metrics, wanted)
            self.assertEqual(f.calls, (6, 6, 0))
        self.assertEqual(self.notes, [])

    def test_heap(self):
        wanted = [(n, 24 * n, n, 24 * (n // 2)) for n in range(0, 600, 100)]
        self.assertEqual(self.functions["allocates"].columns("n", "allocated", "allocations", "freed"), wanted)
        for name in ("touches", "sleeps", "works", "locks", "waits"):
            self.assertEqual(self.functions[name].columns("allocated", "allocations", "freed"), [(0, 0, 0)] * 6)

    def test_faults(self):
        for n, faults in self.functions["touches"].columns("n", "minor_faults"):
            self.assertGreaterEqual(faults, n)
        for (faults,) in self.functions["works"].columns("minor_faults"):
            self.assertLess(faults, 10)

    def test_sleep(self):
        """Wall-clock time grows while the thread sleeps, its CPU time does not."""
        for n, time, cpu, switches in self.functions["sleeps"].columns("n", "time", "cpu", "switches"):
            self.assertGreaterEqual(time, n * MS * NEARLY)
            self.assertGreaterEqual(switches, n)
            if n:
                self.assertLess(cpu, time)

    def test_waits(self):
        for ms, time, lock, condition in self.functions["locks"].columns("ms", "time", "lock_wait", "condition_wait"):
            self.assertGreaterEqual(lock, ms * MS * NEARLY)
            self.assertLessEqual(lock, time)
            self.assertEqual(condition, 0)
        for ms, time, lock, condition in self.functions["waits"].columns("ms", "time", "lock_wait", "condition_wait"):
            self.assertGreaterEqual(condition, ms * MS * NEARLY)
            self.assertLessEqual(lock + condition, time * 1.001 + 1000)
        for name in ("allocates", "sleeps", "works"):
            self.assertEqual(self.functions[name].columns("lock_wait", "condition_wait"), [(0, 0)] * 6)

    def test_subset(self):
        """The file has the metrics of --metrics, in its own order."""
        functions, _ = self.record("allocations,time", "allocates")
        self.assertEqual(functions["allocates"].metrics, [("time", "ns"), ("allocations", "")])
        self.assertEqual(functions["allocates"].columns("allocations", "n"), [(n, n) for n in range(0, 600, 100)])

    def test_twice(self):
        """Reading twice changes neither features nor counts."""
        functions, notes = self.record("time,allocated,allocations,freed,minor_faults,lock_wait", "allocates,touches,works,locks", options=("--twice",))
        self.assertEqual(notes, [])
        for name, f in functions.items():
            self.assertEqual(f.calls, (6, 6, 0))
            columns = ["allocated", "allocations", "freed", "ms" if name == "locks" else "n"]
            self.assertEqual(f.columns(*columns), self.functions[name].columns(*columns))
        self.assertEqual(list(functions), ["allocates", "touches", "works", "locks"])

    def test_twice_is_for_recording(self):
        for words, why in ((["--twice", "r.txt"], "--twice"), (["--twice", "--branches", "-o", "r.txt", "--", COSTS], "leave out --twice")):
            done = subprocess.run([STROBE, "annotate", *words], capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual((done.returncode, done.stdout), (125 if "--" in words else 2, ""))
            self.assertIn(why, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)

    def test_nested(self):
        """All nested calls are counted, also those that are not kept."""
        functions, _ = self.record("time", "outer,inner", "loop", options=("-k", "500"))
        calls = sum(i % 20 * 50 for i in range(2000))
        self.assertEqual(functions["inner"].calls, (calls, 500, 0))
        self.assertEqual(functions["outer"].calls, (2000, 500, 0))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
