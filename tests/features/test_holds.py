#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of the metric lock_held of strobe annotate -o, with functions that sleep while they hold locks, and while they hold none.

usage: test_holds.py STROBE HOLDS

HOLDS is programs/holds.c. A sleep of n ms takes at least n ms, so that each time has a lower bound, and the time without a lock is an upper bound of the
time with one."""

import os
import subprocess
import sys
import tempfile
import unittest

import records

STROBE, HOLDS = [os.path.abspath(name) for name in sys.argv[1:3]]
MS = 1e6
# The clock of the measurement and that of the program's sleeps differ slightly.
NEARLY = 0.95
# Numbers of sleeps with a lock, and without one.
SLEEPS = {"part": (1, 2), "overlap": (3, 1), "twice": (1, 1), "opens": (1, 1), "closes": (1, 1), "reads": (1, 1), "writes": (1, 1), "spins": (1, 1),
          "given": (1, 1), "masses": (1, 1), "inherits": (1, 1)}
SIZES = list(range(0, 12, 2))


class Holds(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.functions, cls.notes = cls.record("time,lock_wait,condition_wait,lock_held", ",".join([*SLEEPS, "nothing", "whole", "handed", "fails"]))

    @staticmethod
    def record(metrics, names, *command, options=()):
        with tempfile.TemporaryDirectory(prefix="strobe-holds-") as folder:
            path = os.path.join(folder, "r.txt")
            done = subprocess.run([STROBE, "annotate", "-q", *options, "-m", metrics, "-F", names, "-o", path, "--", HOLDS, *command],
                                  capture_output=True, text=True, timeout=120, check=False)
            assert done.returncode == 0, done.stderr
            return records.read(path)

    def columns(self, function, *names):
        rows = self.functions[function].columns("ms", *names)
        self.assertEqual([row[0] for row in rows], SIZES)
        return rows

    def test_header(self):
        for f in self.functions.values():
            self.assertEqual(f.metrics, [("time", "ns"), ("lock_wait", "ns"), ("condition_wait", "ns"), ("lock_held", "ns")])
            self.assertEqual(f.calls, (6, 6, 0))
        self.assertEqual(self.notes, [])

    def test_bounds(self):
        """Locks that overlap count once; a lock counts from the entry if it is held there, to the end if it is held there."""
        for name, (with_lock, without) in SLEEPS.items():
            for ms, time, held in self.columns(name, "time", "lock_held"):
                with self.subTest(function=name, ms=ms):
                    self.assertGreaterEqual(held, with_lock * ms * MS * NEARLY)
                    self.assertLessEqual(held, time - without * ms * MS * NEARLY)

    def test_none(self):
        """A lock that another thread holds is not held, and neither is one that could not be taken."""
        for name in ("nothing", "fails"):
            for _, held in self.columns(name, "lock_held"):
                self.assertEqual(held, 0)

    def test_whole(self):
        for ms, time, held in self.columns("whole", "time", "lock_held"):
            self.assertEqual(held, time)
            self.assertGreaterEqual(held, ms * MS * NEARLY)

    def test_handed_over(self):
        """While a thread waits for a condition variable, another one holds its mutex."""
        for ms, time, condition, held in self.columns("handed", "time", "condition_wait", "lock_held"):
            self.assertGreaterEqual(condition, ms * MS * NEARLY)
            self.assertGreater(held, 0)
            self.assertLessEqual(held + condition, time * 1.001 + 1000)

    def test_children(self):
        """A child of fork holds the locks of the thread that has forked."""
        functions, _ = self.record("time,lock_held", "whole,nothing", "fork", options=("--follow",))
        self.assertEqual([time == held for time, held in functions["whole"].columns("time", "lock_held")], [True] * 6)
        self.assertEqual(functions["nothing"].columns("lock_held"), [(0,)] * 6)

    def test_callees(self):
        functions, _ = self.record("time,lock_held,callees", "main,part,nothing")
        row, = functions["main"].columns("calls_of_part", "time_in_part", "lock_held", "lock_held_in_part", "lock_held_in_nothing")
        calls, time, held, part, nothing = row
        self.assertEqual((calls, nothing), (6, 0))
        self.assertGreaterEqual(part, sum(SIZES) * MS * NEARLY)
        self.assertLessEqual(part, time - 2 * sum(SIZES) * MS * NEARLY)
        self.assertLess(part, held)

    def test_unknown(self):
        """If releases of locks are not seen, the metric is absent, and a note says why."""
        functions, notes = self.record("time,lock_held", "part,pthread_mutex_unlock")
        self.assertEqual(functions["part"].columns("lock_held"), [(None,)] * 6)
        self.assertIn("lock_held was not measured, because pthread_mutex_unlock was not observed: it is itself recorded", notes)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
