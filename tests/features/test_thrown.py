#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A call that is left by an exception has no record, wherever the program goes on.

usage: test_thrown.py STROBE PROGRAM...

The programs are programs/thrown.cc, compiled in several ways."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import records

STROBE = os.path.abspath(sys.argv[1])
PROGRAMS = [os.path.abspath(name) for name in sys.argv[2:]]
ODD = [n for n in range(10) if n % 2]
EVEN = [n for n in range(10) if not n % 2]


class Thrown(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-thrown-")
        self.addCleanup(folder.cleanup)
        self.at = folder.name

    def strobe(self, *words):
        done = subprocess.run([STROBE, *words], capture_output=True, text=True, timeout=120, cwd=self.at, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def record(self, program, *options):
        self.strobe("annotate", "-q", *options, "-F", "throws_*,handles*,passes*", "-o", "r.txt", "--", program)
        functions, notes = records.read(os.path.join(self.at, "r.txt"))
        return {name.split("(")[0]: f for name, f in functions.items()}, notes

    def test_records(self):
        """With probes and with the engine: the same calls return."""
        for program in PROGRAMS:
            for options in ((), ("-m", "instructions"), ("--branches",)):
                functions, notes = self.record(program, *options)
                self.assertEqual(notes, [f"throws_all(int) of {program} was called, and no call returned"])
                self.assertEqual(sorted(functions), ["handles", "handles_all", "handles_passed", "passes", "throws_odd"])
                self.assertEqual(functions["throws_odd"].calls, (20, 10, 10))
                self.assertEqual(functions["throws_odd"].columns("n"), [(n,) for n in EVEN for _ in range(2)])
                self.assertEqual(functions["passes"].calls, (10, 5, 5))
                self.assertEqual(functions["passes"].columns("n"), [(n,) for n in EVEN])
                for name in "handles", "handles_all", "handles_passed":
                    self.assertEqual(functions[name].calls, (10, 10, 0))
                    self.assertEqual(functions[name].columns("n"), [(n,) for n in range(10)])

    def test_branches_of_a_handler(self):
        """The loop of the handler is a part of the function that handles the exception: it has n rounds."""
        for program in PROGRAMS:
            functions, _ = self.record(program, "--branches")
            f = functions["handles"]
            executed = {}
            for (n,), row in zip(f.columns("n"), f.outcomes, strict=True):
                executed[n] = sum(times for branch in row for _, times in branch)
            for n in EVEN:
                self.assertEqual(executed[n], executed[0])
            for n in ODD[1:]:
                self.assertEqual(executed[n] - executed[1], n - 1, program)

    def test_trace(self):
        """Calls that are left by exceptions are lost calls of strobe trace, with probes and with the engine."""
        for program in PROGRAMS:
            for engine in "probe", "jit":
                self.strobe("trace", "-q", "-e", engine, "--funcs", "throws_*,handles*,passes*", "-o", "t.db", "--", program)
                shown = json.loads(self.strobe("show", "--format", "json", "t.db"))
                rows = {row["function"].split("(")[0]: (row["calls"], row["lost"]) for row in shown["calltimes_functions"]}
                self.assertEqual(rows, {"handles": (10, 0), "handles_all": (10, 0), "handles_passed": (10, 0), "passes": (5, 5), "throws_odd": (10, 10),
                                        "throws_all": (0, 10)})


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *[word for word in os.environ.get("STROBE_TEST_NAMES", "").split() if word]])
