#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests static probes (USDT) as progress points of `strobe blow`.

usage: test_usdt.py STROBE PROBES

PROBES is tests/trace/programs/probes.c: with the argument N it passes `single` N times and `query__start` twice as often. Nothing here depends on times."""

import json
import os
import subprocess
import sys
import unittest

from command import STROBE, Case

PROBES = os.path.abspath(sys.argv[2])
START, SINGLE = "usdt:strobetest:query__start", "usdt:strobetest:single"


class Usdt(Case):
    def causal(self, *arguments, code=0):
        return self.strobe("-q", "-m", "causal", *arguments, code=code)

    def test_runs(self):
        """In each run, the one is passed exactly twice as often as the other."""
        self.causal("-F", "ends", "--progress", START, "--progress", SINGLE, "-r", "1", "--baseline-runs", "3", "--timeline", "none", "-o", "r.json", "--", PROBES, "20")
        result = json.loads((self.at / "r.json").read_text())
        start, single, end = result["progress"]
        self.assertEqual([(point["name"], point["kind"]) for point in (start, single, end)], [(START, "probe"), (SINGLE, "probe"), ("end of the run", "end")])
        self.assertGreater(single["calls_per_second"], 0)
        self.assertAlmostEqual(start["calls_per_second"] / single["calls_per_second"], 2, places=5)
        (target,) = result["targets"]
        self.assertEqual([(row["kind"], row["speedup"]) for row in target["virtual"]],
                         [(kind, part) for kind in ("probe", "probe", "end") for part in (0.25, 0.5, 0.75, 1.0)])
        self.assertEqual(result["faults"], [])

    def test_windows(self):
        self.causal("-F", "ends", "--window", "50ms", "--progress", START, "-r", "1", "-o", "r.db", "--", PROBES, "1000000")
        text = subprocess.run([STROBE, "blow", "--from", "r.db"], stdout=subprocess.PIPE, text=True, timeout=200, cwd=self.at, check=True).stdout
        self.assertRegex(text, r"\nprogress by usdt:strobetest:query__start: \S+ passes per second without a speed-up, standard deviation ")
        self.assertIn("\nincrease of the passes of usdt:strobetest:query__start per second in %, with 95 % intervals, if a function were faster:\n", text)

    def test_mistakes(self):
        def refused(point, code=125):
            error = self.causal("-F", "ends", "--progress", point, "-o", "r.db", "--", PROBES, "2", code=code).stderr
            self.assertEqual(error.count("\n"), 1, error)
            return error
        self.assertIn("usdt:strobetest:none: the program has no such static probe", refused("usdt:strobetest:none"))
        for point in ("usdt:strobetest", "usdt:a:b:c"):
            self.assertIn("--progress takes usdt:PROVIDER:NAME", refused(point, code=2))


if __name__ == "__main__":
    unittest.main(argv=["test_usdt.py", *sys.argv[3:]], verbosity=2)
