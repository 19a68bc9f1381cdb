#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of the metrics that count: system calls and basic blocks under the engine, bytes read and written with probes.

usage: test_counts.py STROBE CALLS

CALLS is programs/calls.c: copies(n) makes 3 n system calls, reads 100 n bytes and writes 7 n; around(n) calls copies(n) and copies(n + 1)."""

import os
import subprocess
import sys
import tempfile
import unittest

import records

STROBE, CALLS = [os.path.abspath(name) for name in sys.argv[1:3]]


class Counts(unittest.TestCase):
    maxDiff = None

    def record(self, metrics, *options):
        with tempfile.TemporaryDirectory(prefix="strobe-counts-") as folder:
            path = os.path.join(folder, "r.txt")
            done = subprocess.run([STROBE, "annotate", "-q", *options, "-m", metrics, "-F", "copies,around,quiet", "-o", path, "--", CALLS],
                                  capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            return records.read(path)[0]

    def test_engine(self):
        functions = self.record("instructions,blocks,syscalls,time")
        self.assertEqual(functions["copies"].metrics, [("time", "ns"), ("instructions", ""), ("blocks", ""), ("syscalls", "")])
        self.assertEqual([calls for n, calls in functions["copies"].columns("n", "syscalls") if calls != 3 * n], [])
        self.assertEqual(functions["around"].columns("n", "syscalls"), [(n, 6 * n + 3) for n in range(20)])
        self.assertEqual(functions["quiet"].columns("syscalls"), [(0,)] * 20)
        # The linker finds functions at their first calls; after these, each round has the same blocks.
        blocks = [b for n, b in functions["quiet"].columns("n", "blocks") if n > 1]
        self.assertEqual({later - before for before, later in zip(blocks, blocks[1:], strict=False)}, {1})
        last = dict(functions["copies"].columns("n", "blocks"))
        (step,) = {last[n] - last[n - 1] for n in range(3, 21)}
        self.assertGreaterEqual(step, 3)

    def test_blocks_only(self):
        functions = self.record("blocks")
        self.assertEqual(functions["copies"].metrics, [("blocks", "")])
        again = self.record("syscalls", "--branches")
        self.assertEqual(again["copies"].metrics, [("syscalls", "")])
        self.assertEqual(again["around"].columns("n", "syscalls"), [(n, 6 * n + 3) for n in range(20)])

    def test_bytes(self):
        """The recording reads a file itself, which does not count."""
        if not os.access("/proc/thread-self/io", os.R_OK):
            self.skipTest("the kernel does not count bytes of threads")
        for options in (), ("--follow",):
            functions = self.record("bytes_read,bytes_written", *options)
            self.assertEqual(functions["copies"].metrics, [("bytes_read", "bytes"), ("bytes_written", "bytes")])
            sizes = range(21 if options else 20)
            self.assertEqual(functions["around"].columns("n", "bytes_read", "bytes_written"), [(n, 200 * n + 100, 14 * n + 7) for n in sizes])
            self.assertEqual([row for row in functions["copies"].columns("n", "bytes_read", "bytes_written") if row[1:] != (100 * row[0], 7 * row[0])], [])
            self.assertEqual(functions["quiet"].columns("bytes_read", "bytes_written"), [(0, 0)] * 20)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
