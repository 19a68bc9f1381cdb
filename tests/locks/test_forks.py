#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A fork while another thread is in a tool's own lock: test_forks.py STROBE FORKS. Without care, the child waits for ever."""
import os
import subprocess
import sys
import unittest

STROBE, FORKS = (os.path.abspath(path) for path in sys.argv[1:3])
CHILDREN = 60


class Forks(unittest.TestCase):
    def test_children_end(self):
        for tool in "alloc", "locks", "dcache":
            with self.subTest(tool=tool):
                done = subprocess.run([STROBE, "run", "-q", "-f", "-t", tool, "-o", "/dev/null", "--", FORKS, str(CHILDREN)],
                                      capture_output=True, text=True, timeout=240)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, f"{CHILDREN}\n", ""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
