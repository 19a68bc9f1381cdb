#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests that the CPU time of recording itself is not part of the metric cpu. Bounds follow from the cost of a reading of the
thread's clock, which the program measures while it is recorded; medians do not depend on other load of the machine.

usage: test_cpu.py STROBE CPU

CPU is programs/cpu.c."""

import os
import statistics
import subprocess
import sys
import tempfile
import unittest

import records

STROBE, CPU = [os.path.abspath(name) for name in sys.argv[1:3]]
MS = 1e6
NESTED = 20  # calls of nested in one of around
SLACK = 100  # ns: what a call may seem to need, beyond readings of the clock


class CpuTime(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.functions, cls.reading, cls.text = cls.record()

    @staticmethod
    def record(*options):
        with tempfile.TemporaryDirectory(prefix="strobe-cpu-") as folder:
            path = os.path.join(folder, "r.txt")
            done = subprocess.run([STROBE, "annotate", "-q", "-m", "cpu", *options, "-F", "empty,nested,around,works", "-k", "50000", "-o", path, "--", CPU],
                                  capture_output=True, text=True, timeout=120, check=False)
            assert done.returncode == 0, done.stderr
            with open(path, encoding="utf-8") as file:
                text = file.read()
            return records.read(path)[0], int(done.stdout), text

    @staticmethod
    def cpu(functions, name):
        return [row[0] for row in functions[name].columns("cpu")]

    def check(self, functions, reading):
        self.assertLess(abs(statistics.median(self.cpu(functions, "empty"))), reading / 2 + SLACK)
        self.assertLess(abs(statistics.median(self.cpu(functions, "nested"))), reading / 2 + SLACK)

    def test_empty(self):
        """Without the cost of the clock, an empty call needs less than half of a reading; with it, it would be one reading at least."""
        self.check(self.functions, self.reading)

    def test_twice(self):
        functions, reading, _ = self.record("--twice")
        self.check(functions, reading)

    def test_around(self):
        """The readings of nested calls are not part of the caller's time: these would be four of each."""
        around = self.cpu(self.functions, "around")
        self.assertEqual(len(around), 1001)
        self.assertLess(abs(statistics.median(around)) / NESTED, self.reading + SLACK)

    def test_preemption(self):
        """The time in which other threads run during a recording is not subtracted from the CPU time, in which it is not contained."""
        for name in ("empty", "nested", "around", "works"):
            self.assertGreater(min(self.cpu(self.functions, name)), -1 * MS)

    def test_work(self):
        works = self.functions["works"].columns("ns", "cpu")[-5:]
        self.assertEqual([ns for ns, _ in works], [i * MS for i in range(1, 6)])
        for ns, cpu in works:
            self.assertGreaterEqual(cpu, 0.97 * ns)

    def test_overhead(self):
        """The file says what was subtracted."""
        lines = [line.split(",") for line in self.text.splitlines() if line.startswith("#overhead,")]
        self.assertEqual([(line[1], line[2]) for line in lines], [(str(i), "cpu") for i in range(1, 5)])
        for line in lines:
            self.assertGreater(float(line[3]), 0)
            self.assertGreaterEqual(float(line[4]), 0)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
