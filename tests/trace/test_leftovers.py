#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`strobe trace --engine probe` and the memory that it takes of a program.

usage: test_leftovers.py STROBE CALLS FORKS MEMORY

CALLS, FORKS and MEMORY are the programs of programs/calls.c, forks.c and memory.c."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE, CALLS, FORKS, MEMORY = [os.path.abspath(name) for name in sys.argv[1:5]]


class Leftovers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-leftovers-")
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "trace.json"

    def calls(self):
        return {f["name"]: f["calls"] for f in json.loads(self.file.read_text())["functions"]}


class Memory(Leftovers):
    """What a program may do with its memory, and 20 threads, of which the runtime has memory for four at the beginning."""

    CALLS = {"main": 1, "make_threads": 1, "t_thread": 20, "t_fib": 20 * 177}

    def trace(self, what, *options):
        done = subprocess.run([STROBE, "trace", "-q", "--engine", "probe", *options, "-o", self.file, "--", MEMORY, what], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=120, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        trace = json.loads(self.file.read_text())
        self.assertEqual(trace["lost"]["records"], 0)
        calls = self.calls()
        self.assertEqual({name: calls.get(name) for name in self.CALLS}, self.CALLS)
        return done.stdout.splitlines()

    def test_all_is_locked(self):
        """mlockall makes memory of all that is mapped: it was 13 GiB."""
        native = subprocess.run([MEMORY, "locks"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
        if native[0] != "locked":
            self.skipTest("mlockall is not permitted here")
        for options, most in ([], 1000), (["--events"], 1200):
            said, mib, done = self.trace("locks", *options)
            self.assertEqual((said, done), ("locked", "done"))
            self.assertLess(int(mib) - int(native[1]), most)

    def test_address_space_is_limited(self):
        """The program sets a limit of 1 GiB itself: at most 300 MiB of that are missing, where it had nothing left before."""
        native = subprocess.run([MEMORY, "limits"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
        for options, missing in ([], 300), (["--events"], 500):
            pieces, done = self.trace("limits", *options)
            self.assertEqual(done, "done")
            self.assertGreaterEqual(int(pieces), int(native[0]) - missing // 16)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
