#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages of bad input name the thing, the cause and the way out. test_messages.py STROBE, which is strobe with fake_run.c."""
import os
import subprocess
import sys
import tempfile
import unittest

STROBE = os.path.abspath(sys.argv.pop(1))


class Messages(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="strobe-messages-")
        self.addCleanup(place.cleanup)
        self.place = place.name

    def error(self, code, message, *words):
        done = subprocess.run([STROBE, *words], cwd=self.place, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (code, "", f"strobe: {message}\n"), words)

    def test_show(self):
        self.error(2, "--table prints all rows of a table, and --func one function: leave out one of them", "show", "--table", "lines", "--func", "main", "x")
        for part in "--lines", "--blocks", "--images", "--threads", "--stacks", "--stats":
            self.error(2, f"--table and {part} print different tables: leave out one of them", "show", "--table", "t", part, "x")
            self.error(2, f"--rows and {part} print different tables: leave out one of them", "show", "--rows", "r", part, "x")
        self.error(2, "--func shows one function; 'b' is one too many", "show", "--func", "a", "--func", "b", "x")

    def test_help(self):
        self.error(2, "strobe help explains one command; 'show' is one too many", "help", "run", "show")

    def test_covered(self):
        self.error(125, "cannot read the log nope.log: No such file or directory", "covered", "nope.log")
        self.error(125, "cannot read the log nope.log: No such file or directory", "covered", "--against", "nope.log", "x")

    def test_options_of_tools(self):
        self.error(125, "option wall of tool hot takes a number from 0 to 1, not '3'", "run", "-t", "hot:wall=3", "--", "true")
        done = subprocess.run([STROBE, "tools", "hot"], capture_output=True, text=True, timeout=60, check=True)
        self.assertIn("so that the result has wall time (1: yes, 0: no, default: 0)\n", done.stdout)


if __name__ == "__main__":
    unittest.main()
