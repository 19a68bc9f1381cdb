#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""On-CPU and waiting time of functions apart: test_cpu_waits.py STROBE PROGRAM. CPU times are exact, since the program computes until the CPU clock of its thread says so; sleeps and waits
are at least as long as they are asked to be."""

import json
import os
import sys
import unittest

from command import Case

CLOCKS = os.path.abspath(sys.argv[2])


class Clocks(Case):
    def campaign(self, what, *options):
        self.strobe("-q", "--baseline-runs", "3", "--native-runs", "0", "--timeout", "0", "--called-threshold", "1", "--noise", "nanosleep", "--timeline", "none", "-i", "1", *options,
                    "-o", "r.db", "--", CLOCKS, what)
        self.result = json.loads(self.strobe("--from", "r.db", "--format", "json").stdout)
        return {target["function"]: target for target in self.result["targets"]}

    def check(self, target, cpu_ms, wait_ms, spare_ms=0.6):
        """The CPU time may include some of probes and of system calls; other programs may make the waiting time longer."""
        waiting = target["waiting"]
        self.assertEqual((waiting["state"], waiting["runs"]), ("measured", 3), target["function"])
        self.assertGreaterEqual(waiting["cpu_ns"], cpu_ms * 1e6 - 20000, target["function"])
        self.assertLessEqual(waiting["cpu_ns"], (cpu_ms + spare_ms) * 1e6, target["function"])
        self.assertGreaterEqual(waiting["wait_ns"], wait_ms * 1e6 - 20000, target["function"])
        self.assertTrue(0 <= waiting["lo"] <= waiting["value"] <= waiting["hi"] <= 1, waiting)

    def test_one_thread(self):
        """A function that computes, one that sleeps, one that calls both, a recursive one, and one in which the program exits."""
        targets = self.campaign("one", "-F", "computes,sleeps,both,deep,last")
        self.check(targets["computes"], 20, 0)
        self.check(targets["sleeps"], 0, 30)
        self.check(targets["both"], 20, 30)
        self.check(targets["deep"], 2, 2)
        self.check(targets["last"], 4, 6, spare_ms=2)  # with the end of the process
        self.assertGreater(targets["sleeps"]["waiting"]["value"], 0.95)

    def test_parts(self):
        """The slope is the sum of its two parts, and of its two effects: sleeps are no CPU time."""
        target = self.campaign("one", "-F", "both", "-i", "4")["both"]
        for part in ("slope", "effect"):
            self.assertAlmostEqual(target[f"{part}_cpu"]["value"] + target[f"{part}_waiting"]["value"], target["slope"]["value"], places=5)
        self.assertAlmostEqual(target["slope_waiting"]["value"], target["slope"]["value"] * target["waiting"]["value"], places=5)
        self.assertLess(abs(target["effect_cpu"]["value"]), 0.1)

    def test_waits_for_a_thread(self):
        """A thread waits for the answer of another one, which computes. Calls that are open when a process of two threads ends are not known, and the result says so."""
        targets = self.campaign("threads", "-F", "await_answer,answer,last")
        self.check(targets["await_answer"], 0, 20, spare_ms=1.5)
        self.check(targets["answer"], 20, 0)
        self.assertEqual((targets["last"]["waiting"]["state"], targets["last"]["waiting"]["value"]), ("a call was open at the end of the process", None))
        rows = self.strobe("--from", "r.db").stdout.split("that read both clocks:\n")[1].splitlines()
        self.assertIn("cannot tell: a call was open at the end", next(row for row in rows if row.endswith("last")))

    def test_speed_up(self):
        """The mode with noise in all other functions has the waiting time, too."""
        targets = self.speed_up()
        self.check(targets["sleeps"], 0, 30)
        self.assertIsNone(targets["sleeps"]["slope_cpu"])
        head = next(row for row in self.strobe("--from", "r.db").stdout.splitlines() if row.endswith("function"))
        self.assertIn("time %  wait %", head)

    def speed_up(self):
        self.strobe("-q", "-m", "speed-up", "--baseline-runs", "3", "--native-runs", "0", "--timeout", "0", "--timeline", "none", "-i", "1", "-F", "computes,sleeps", "-o", "r.db", "--",
                    CLOCKS, "one")
        return {target["function"]: target for target in json.loads(self.strobe("--from", "r.db", "--format", "json").stdout)["targets"]}

    def test_none(self):
        """--clock-runs 0, and virtual speed-ups, whose time is CPU time, measure nothing."""
        target = self.campaign("one", "-F", "both", "--clock-runs", "0")["both"]
        self.assertEqual((target["waiting"]["state"], target["waiting"]["runs"], target["slope_cpu"]["value"]), ("not measured", 0, None))
        self.assertEqual(self.result["options"]["clock-runs"], "0")
        self.assertNotIn("both clocks", self.strobe("--from", "r.db").stdout)
        self.assertIn("--clock-runs", self.strobe("-m", "causal", "--clock-runs", "1", "--", CLOCKS, "one", code=2).stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
