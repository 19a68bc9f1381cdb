#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests the file of `strobe blow --state`, and the fields of a result in each mode.

usage: test_state.py STROBE PLANTED

PLANTED is programs/planted.c."""

import json
import os
import sys
import unittest

from command import Case

PLANTED = os.path.abspath(sys.argv[2])
TARGET = {"function", "image", "line", "context", "fitness", "experiments", "time_share", "calls", "slope", "virtual"}


class State(Case):
    def measure(self, *options):
        done = self.strobe("--native-runs", "0", "--timeout", "0", "--baseline-runs", "3", "--timeline", "none", *options, "-o", "r.db", "--", PLANTED, "serial")
        self.assertRegex(done.stdout, r"^the campaign ended after [0-9.]+ s, with [0-9.e+]+ experiments per minute: ")
        return json.loads(self.strobe("--from", "r.db", "--format", "json").stdout)

    def test_file(self):
        result = self.measure("-F", "quarter,other_half", "--iterations", "4", "--state", "s.json", "--noise", "nanosleep")
        state = json.loads((self.at / "s.json").read_text())
        self.assertEqual((state["strobe"], state["mode"]), ({"version": 1, "tool": "blow"}, "slow-down"))
        self.assertEqual((state["ended"], state["done"], state["next"], state["seconds_left"]), (True, 4, None, 0))
        self.assertGreater(state["left"], 0)
        slopes = {target["function"]: target["slope"] for target in result["targets"]}
        for best in state["best"]:
            for key in ("value", "lo", "hi"):
                self.assertAlmostEqual(best[key], slopes[best["function"]][key], places=6)

    def test_no_place(self):
        done = self.strobe("--state", "nowhere/s.json", "--", PLANTED, "serial", code=125)
        self.assertIn("nowhere/s.json", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_fields(self):
        """Those of a target are there in each mode."""
        slow = self.measure("-F", "quarter", "--iterations", "1", "--noise", "busy")
        self.assertLessEqual(TARGET, set(slow["targets"][0]))
        self.assertEqual((slow["targets"][0]["virtual"], slow["targets"][0]["context"], slow["targets"][0]["line"]), ([], None, None))
        self.assertEqual(slow["progress"], [{"name": "end of the run", "kind": "end", "inferred": True}])
        self.assertLessEqual({"gain", "lo", "hi"}, set(slow["control"]))
        fast = self.measure("-F", "quarter", "--iterations", "1", "--mode", "speed-up")
        self.assertLessEqual(TARGET, set(fast["targets"][0]))
        self.assertEqual((fast["targets"][0]["slope"], fast["mode"]), (None, "speed-up"))

    def test_inferred(self):
        """--progress auto finds the function that is called most, and does not try it; functions that are named are tried."""
        self.strobe("-q", "--window", "50ms", "--progress", "auto", "-i", "2", "--noise", "busy", "-o", "r.db", "--", PLANTED, "service")
        result = json.loads(self.strobe("--from", "r.db", "--format", "json").stdout)
        self.assertEqual([(point["name"], point["kind"], point["inferred"]) for point in result["progress"]], [("compute", "throughput", True)])
        self.assertEqual(result["options"]["progress"], "auto")
        self.assertNotIn("compute", [target["function"] for target in result["targets"]])
        self.assertIn("progress by compute (inferred: executions of its first block): ", self.strobe("--from", "r.db").stdout)
        self.strobe("-q", "--window", "50ms", "--progress", "auto", "-F", "compute", "-i", "1", "--noise", "busy", "-o", "r.json", "--", PLANTED, "service")
        named = json.loads((self.at / "r.json").read_text())
        self.assertEqual([target["function"] for target in named["targets"]], ["compute"])
        self.assertNotEqual([point["name"] for point in named["progress"]], ["compute"])

    def test_probe_overhead(self):
        """A function with too many calls is left out, unless it is named or there is no limit."""
        lines = self.strobe("--show-functions", "--probe-overhead", "0.000001", "--", PLANTED, "serial").stdout
        self.assertRegex(lines, r"nap_us \(not tried: [0-9,]+ calls cost too much; see --probe-overhead\)")
        self.assertIn("CORPUS (0):", lines)
        self.assertNotIn("cost too much", self.strobe("--show-functions", "--probe-overhead", "0", "--", PLANTED, "serial").stdout)
        self.assertNotIn("cost too much", self.strobe("--show-functions", "--probe-overhead", "0.000001", "-F", "nap_us", "--", PLANTED, "serial").stdout)
        error = self.strobe("--probe-overhead", "0.000001", "--", PLANTED, "serial", code=125).stderr
        self.assertIn("raise --probe-overhead", error)
        self.assertEqual(error.count("\n"), 1)
        self.assertIn("--probe-overhead takes a percentage", self.strobe("--probe-overhead", "much", "--", PLANTED, "serial", code=2).stderr)

    def test_nothing_to_infer(self):
        error = self.strobe("--window", "50ms", "--progress", "auto", "--", "sleep", "100", code=125).stderr
        self.assertIn("--progress auto: no function", error)
        self.assertEqual(error.count("\n"), 1)

    def test_options(self):
        """Locations and progress points are among the options of the result."""
        result = self.measure("--at", "call:*>quarter", "--where", "after", "--iterations", "1", "--noise", "busy")
        self.assertEqual([result["options"][name] for name in ("at", "where", "progress", "latency")], ["call:*>quarter", "after", "none", "none"])


if __name__ == "__main__":
    unittest.main(argv=["test_state.py", *sys.argv[3:]], verbosity=2)
