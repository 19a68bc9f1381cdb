#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""strobe fuzz says why it cannot execute a program: test_limits.py STROBE LINEAR."""
import os
import resource
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE, LINEAR = map(os.path.abspath, sys.argv[1:3])
del sys.argv[1:3]


class Limits(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="strobe-limits-")
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)
        (self.place / "seed").write_text("a few words\n")

    def fuzz(self, program, **more):
        done = subprocess.run([STROBE, "fuzz", "-q", "-s", "seed", "--executions", "5", "--judge", "1ms", "-o", "out", "--", program],
                              cwd=self.place, capture_output=True, text=True, timeout=120, **more)
        self.assertEqual(done.returncode, 125)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    def test_too_few_descriptors(self):
        error = self.fuzz(LINEAR, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40)))
        self.assertIn("Too many open files; strobe fuzz needs 200 descriptors (ulimit -n)", error)

    def test_a_program_that_kills_its_parent(self):
        (self.place / "p.c").write_text("#include <signal.h>\n#include <unistd.h>\nint main(void) { return kill(getppid(), SIGKILL); }\n")
        subprocess.run(["gcc", "-O1", "-o", "p", "p.c"], cwd=self.place, check=True)
        self.assertIn("was ended before it could write a result, perhaps by the program, which may send a signal to its parent", self.fuzz("./p"))


if __name__ == "__main__":
    unittest.main()
