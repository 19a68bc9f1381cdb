# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests of `strobe blow` have in common: strobe, which is the first argument of the test, and a folder in which it runs."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE = os.path.abspath(sys.argv[1])


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-blow-")
        self.addCleanup(folder.cleanup)
        self.at = Path(folder.name)

    def strobe(self, *arguments, code=0, command="blow"):
        """Runs a strobe command, which must end with the given exit code."""
        done = subprocess.run([STROBE, command, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=200,
                              cwd=self.at, check=False)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done

    def begin(self, *program):
        """Starts a program that does not end by itself; it is killed when the test has ended."""
        process = subprocess.Popen(program)  # pylint: disable=consider-using-with
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process
