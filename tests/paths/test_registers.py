#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What steps borrow they give back: a program that holds values in all registers and flags, between all of its blocks, prints the
same with contexts of every kind, alone and with tools that borrow, too.

usage: test_registers.py STROBE FOLDER (with programs/NAME-WAY)"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE = Path(sys.argv.pop(1)).resolve()
PROGRAM = Path(sys.argv.pop(1)).resolve() / "programs" / "registers-O2"
CONTEXTS = ["contexts:k=2", "contexts:time", "contexts:mode=intra", "contexts:mode=intra,k=3", "contexts:mode=inter", "contexts:mode=inter,k=1",
            "contexts:mode=intra,iterations"]
OTHERS = [[], ["memtrace"], ["branches"], ["opmix"]]


class Registers(unittest.TestCase):
    def run_with(self, tools, threads, **more):
        words = [word for tool in tools for word in ("-t", tool)]
        with tempfile.TemporaryDirectory(prefix="strobe-registers-") as place:
            return subprocess.run([STROBE, "run", "-q", *words, "-o", f"{place}/result", *more.get("options", []), "--", PROGRAM, threads],
                                  capture_output=True, text=True, timeout=100)

    def check(self, threads, **more):
        truth = subprocess.run([PROGRAM, threads], capture_output=True, text=True, check=True).stdout
        self.assertEqual(truth.count("\n"), int(threads))
        for contexts in CONTEXTS:
            for others in OTHERS:
                with self.subTest(tools=[contexts, *others], **more):
                    done = self.run_with([contexts, *others], threads, **more)
                    self.assertEqual((done.returncode, done.stdout), (0, truth), done.stderr)

    def test_alone(self):
        self.check("1")

    def test_threads(self):
        self.check("3")

    def test_budget(self):
        self.check("2", options=["-b", "20%", "-T", "20ms"])


if __name__ == "__main__":
    unittest.main()
