#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`strobe trace --engine probe` on what makes calls and returns hard to see: as many calls as a program counts that is built with
-finstrument-functions, and the same output.

usage: test_truth.py STROBE HAZARDS COUNTED

HAZARDS and COUNTED are programs/hazards.c, built without and with that option."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE, HAZARDS, COUNTED = [os.path.abspath(name) for name in sys.argv[1:4]]
NAMES = ["recursion", "threads", "longjmp", "tails", "coroutines", "forks", "signals", "vfork", "ends", "backtrace", "libraries", "exceptions"]


def counted(name):
    """What the program prints, and calls by function."""
    done = subprocess.run([COUNTED, name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, check=True)
    lines = (line.split() for line in done.stderr.splitlines())
    return done.stdout, {function: int(calls) for function, calls in lines if function.startswith("t_")}


def traced(name, *options):
    with tempfile.TemporaryDirectory(prefix="strobe-truth-") as folder:
        file = Path(folder) / "trace.json"
        done = subprocess.run([STROBE, "trace", "-q", "--engine", "probe", *options, "-o", file, "--", HAZARDS, name], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=120, check=False)
        if done.returncode:
            raise AssertionError(f"{name}: ended with {done.returncode}: {done.stderr}")
        trace = json.loads(file.read_text())
    calls = {f["name"]: f["calls"] + f["lost"] for f in trace["functions"] if f["name"].startswith("t_")}
    return done.stdout, {function: n for function, n in calls.items() if n}


class Truth(unittest.TestCase):
    def test_chosen(self):
        for name in NAMES:
            with self.subTest(name=name):
                self.assertEqual(traced(name, "--funcs", "t_*"), counted(name))

    def test_all(self):
        """With probes in all images, also in what unwinds, forks and loads."""
        for name in NAMES:
            with self.subTest(name=name):
                self.assertEqual(traced(name, "--all"), counted(name))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
