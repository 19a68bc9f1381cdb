#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of strobe annotate on programs that forbid themselves system calls.

usage: test_sandbox.py STROBE SANDBOX

SANDBOX is programs/sandbox.c: 50 calls of serve(p), then a filter, then 2,000 calls."""

import os
import subprocess
import sys
import tempfile
import unittest

import records

STROBE, SANDBOX = [os.path.abspath(name) for name in sys.argv[1:3]]
NOTE = "calls were recorded until the seccomp filter of the program forbade the system calls of the recording"


class Sandboxes(unittest.TestCase):
    def setUp(self):
        native = subprocess.run([SANDBOX, "kill"], capture_output=True, text=True, timeout=60, check=False)
        if native.stdout != "right\n":
            self.skipTest(f"there is no seccomp here: {native.stdout}")

    def record(self, *words, metrics="time", program=None):
        with tempfile.TemporaryDirectory(prefix="strobe-sandbox-") as folder:
            path = os.path.join(folder, "r.txt")
            command = [STROBE, "annotate", "-q", "-F", "serve", "-m", metrics, "-o", path, *(words if program else ()), "--", SANDBOX, *(program or words)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "right\n", ""))
            return records.read(path)

    def test_killed(self):
        """With the program's filter, recording would kill it: it stops before."""
        for words in ["strict"], ["kill"], ["kill", "syscall"], ["twice"]:
            for metrics in "time", "time,cpu,minor_faults,bytes_read":
                functions, notes = self.record(*words, metrics=metrics)
                self.assertEqual(notes, [NOTE])
                serve = functions["serve"]
                self.assertEqual(serve.calls, (50, 50, 0))
                self.assertEqual(serve.columns("p_data_n"), [(i,) for i in range(50)])

    def test_calls_that_fail(self):
        """System calls that only fail do no harm: what they would read is absent."""
        functions, notes = self.record("errno")
        self.assertEqual(notes, [])
        self.assertEqual(functions["serve"].calls, (2050, 2050, 0))
        self.assertEqual(functions["serve"].columns("p_data_n"), [(i,) for i in range(50)] + [(None,)] * 2000)

    def test_child(self):
        """A child that is not recorded does not end the recording of its parent."""
        functions, notes = self.record("child")
        self.assertEqual(notes, [])
        self.assertEqual(functions["serve"].calls, (2050, 2050, 0))

    def test_executed(self):
        """A program that is executed under a filter runs natively: the filter may kill it for what strobe has to do in it."""
        functions, _ = self.record("--follow", program=("exec",))
        self.assertEqual(functions["serve"].calls, (50, 50, 0))

    def test_other_calls(self):
        functions, notes = self.record("mount")
        self.assertEqual(notes, [])
        self.assertEqual(functions["serve"].columns("p_data_n"), [(i,) for i in (*range(50), *range(2000))])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
