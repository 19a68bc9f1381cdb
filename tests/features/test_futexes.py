#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of the metric lock_wait of strobe annotate -o, with a program that waits for futexes itself.

usage: test_futexes.py STROBE FUTEXES WAITS

FUTEXES is programs/futexes.c, and WAITS is programs/waits.rs. A wait or a sleep of n ms takes at least n ms, so that each waiting time has a lower bound, and the time of the call without its
sleeps is an upper bound."""

import os
import subprocess
import sys
import tempfile
import unittest

import records

STROBE, FUTEXES, RUST = [os.path.abspath(name) for name in sys.argv[1:4]]
MS = 1e6
# The clock of the measurement and that of the program's waits differ slightly.
NEARLY = 0.95
# How often a function waits and sleeps.
WAITS = {"waits": (2, 1), "nested": (1, 1), "locks": (1, 0)}


class Futexes(unittest.TestCase):
    def record(self, metrics, names="waits,sleeps,nested,locks", program=FUTEXES):
        with tempfile.TemporaryDirectory(prefix="strobe-futexes-") as folder:
            path = os.path.join(folder, "r.txt")
            done = subprocess.run([STROBE, "annotate", "-q", "-m", metrics, "-F", names, "-o", path, "--", program],
                                  capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
            functions, notes = records.read(path)
            self.assertEqual(notes, [])
            for f in functions.values():
                self.assertEqual(f.calls, (6, 6, 0))
                self.assertEqual(f.columns("ms"), [(ms,) for ms in range(0, 60, 10)])
            return functions

    def test_waits(self):
        functions = self.record("time,lock_wait,condition_wait")
        for name, (waits, sleeps) in WAITS.items():
            for ms, time, waited in functions[name].columns("ms", "time", "lock_wait"):
                with self.subTest(function=name, ms=ms):
                    # The cost of recording is subtracted, so that a wait of 0 ms may be some ns below 0.
                    self.assertGreaterEqual(waited, waits * ms * MS * NEARLY - 100)
                    self.assertLessEqual(waited, time - sleeps * ms * MS * NEARLY + 1000)
        for ms, time, waited in functions["sleeps"].columns("ms", "time", "lock_wait"):
            self.assertGreaterEqual(time, ms * MS * NEARLY)
            self.assertEqual(waited, 0)
        for f in functions.values():
            self.assertEqual(f.columns("condition_wait"), [(0,)] * 6)

    def test_not_chosen(self):
        """The system calls are seen, and not timed, if only other waits are measured."""
        for f in self.record("time,condition_wait,lock_held").values():
            self.assertEqual(f.columns("condition_wait"), [(0,)] * 6)

    def test_rust(self):
        """A thread that has a lock sleeps for the time; the other one may come to the lock a little later."""
        with tempfile.TemporaryDirectory(prefix="strobe-futexes-") as folder:
            program = records.build_rust(self, RUST, os.path.join(folder, "waits"), "-C", "opt-level=1")
            functions = self.record("time,lock_wait,condition_wait", "locks,reads,parks,awaits", program)
            for f in functions.values():
                other, own = ("lock_wait", "condition_wait") if f.name == "awaits" else ("condition_wait", "lock_wait")
                for ms, time, waited, none in f.columns("ms", "time", own, other):
                    with self.subTest(function=f.name, ms=ms):
                        self.assertGreaterEqual(waited, ms * MS * (NEARLY if f.name in ("parks", "awaits") else 0.5))
                        self.assertLessEqual(waited, time + 1000)
                        self.assertEqual(none, 0)
            for f in self.record("lock_wait", "awaits", program).values():
                self.assertEqual(f.columns("lock_wait"), [(0,)] * 6)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
