#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Experiments that are made again, and the options in results: test_again.py STROBE PLANTED. Only what does not depend on times is checked."""

import json
import os
import sys
import unittest
from pathlib import Path

from command import STROBE, Case

PLANTED = os.path.abspath(sys.argv[2])
del sys.argv[1:3]
LATE = ("--noise", "nanosleep", "--timed-noise-min", "1500ms", "--timed-noise-max", "1500ms", "--full-analysis")


class Again(Case):
    def blow(self, what, *options, program=PLANTED):
        self.strobe("-q", "--baseline-runs", "3", "--timeout", "0", *options, "-o", "r.db", "--", program, what)
        return json.loads(self.strobe("--from", "r.db", "--format", "json").stdout)

    def test_crash(self):
        """The fault of a campaign comes again, as often as asked for, with the same noise."""
        result = self.blow("crash", "-F", "may_be_late", *LATE)
        (fault,) = result["faults"]
        self.assertEqual((fault["kind"], fault["noise"]["type"], fault["noise"]["strength"]), ("crash", "nanosleep", 1500000000))
        number = fault["experiment"]
        self.assertIn("--from FILE --again N makes experiment N", self.strobe("--from", "r.db").stdout)
        again = json.loads(self.strobe("--from", "r.db", "--again", number, "--repeat", "2", "--format", "json").stdout)
        self.assertEqual((again["again"], again["fault"], len(again["runs"])), (number, "crash", 2))
        for run in again["runs"]:
            self.assertEqual((run["fault"], run["exit"], run["function"]), ("crash", 134, "may_be_late"))
            self.assertEqual([run["noise"][key] for key in ("type", "strength", "unit")], ["nanosleep", 1500000000, "ns"])
            self.assertEqual((run["cause"], run["stacks"]), (None, []))
        text = self.strobe("--from", "r.db", "--again", number).stdout
        self.assertTrue(text.startswith(f"experiment {number} again: nanosleep 1500000000 ns in may_be_late; it was: crash\n  run 1: crash (exit code 134), "), text)
        self.assertTrue(text.endswith("1 of 1 run had a fault\n"), text)

    def test_limit_of_the_campaign(self):
        """A hang ends at the limit that the campaign had, and its stacks are printed."""
        result = self.blow("hang", "-F", "may_be_late", *LATE, "--limit", "5s")
        self.assertEqual(result["options"]["limit"], "5s")
        done = self.strobe("--from", "r.db", "--again", result["faults"][0]["experiment"])
        self.assertIn("  run 1: deadlock (exit code 137)", done.stdout)
        self.assertIn("      wait_for_ever (blow-planted+0x", done.stdout)

    def test_no_fault(self):
        result = self.blow("serial", "-F", "quarter", "--noise", "busy", "--iterations", "1", "--timeline", "none")
        number = next(run["experiment"] for run in result["experiments"] if run["function"])
        again = json.loads(self.strobe("--from", "r.db", "--again", number, "--format", "json").stdout)
        self.assertEqual((again["fault"], [run["fault"] for run in again["runs"]]), (None, [None]))
        self.assertEqual(again["runs"][0]["noise"]["calls"], 10)
        self.assertEqual(again["runs"][0]["noise"]["strength"], result["experiments"][number]["noise"]["strength"])

    def test_standard_input(self):
        """The options of a campaign are in its result, with their defaults, and its input is used again."""
        (self.at / "input").write_text("text\n", encoding="utf-8")
        options = self.blow("serial", "-F", "quarter", "--iterations", "1", "--noise", "busy", "--timeline", "none", "--stdin", "input")["options"]
        defaults = {"mode": "slow-down", "called-threshold": "2", "call-sites-threshold": "2", "min-func-time": "0.001s", "io-functions": "no", "locks": "no", "corpus": "none",
                    "timed-noise-min": "0.001s", "timed-noise-max": "1s", "yield-noise-min": "1000", "yield-noise-max": "1000000", "busy-waiting-noise-min": "0.0001s",
                    "busy-waiting-noise-max": "0.1s", "noise-growth-index": "2", "sampling": "10", "full-analysis": "no", "max-slowdown": "2", "pick": "best", "seed": "1", "limit": "none"}
        self.assertEqual({name: options[name] for name in defaults}, defaults)
        self.assertEqual((options["funcs"], options["noise"], options["iterations"], options["timeout"], options["stdin"]), ("quarter", "busy", "1", "none", "input"))
        (self.at / "input").unlink()
        self.assertIn("input", self.strobe("--from", "r.db", "--again", "3", code=125).stderr)
        self.strobe("--from", "r.db", "--again", "3", "--stdin", STROBE)

    def test_changed_program(self):
        """A program without the function at its place is refused, rather than run without noise."""
        program = self.at / "program"
        program.write_bytes(Path(PLANTED).read_bytes())
        program.chmod(0o755)
        self.blow("serial", "-F", "quarter", "--iterations", "1", "--noise", "busy", "--timeline", "none", program=program)
        program.unlink()
        program.write_text("#!/bin/sh\n", encoding="utf-8")
        program.chmod(0o755)
        self.assertIn("no call of 'quarter' got noise: the program has changed", self.strobe("--from", "r.db", "--again", "3", code=125).stderr)

    def test_main(self):
        """While `quarter` runs, only what it calls is timed and gets noise: 10 of the 30 calls of nap_us."""
        options = ("-F", "nap_us,quarter,the_rest", "--noise", "busy", "--iterations", "2", "--timeline", "none")
        result = self.blow("serial", *options)
        self.assertEqual({row["function"]: row["calls"] for row in result["targets"]}, {"nap_us": 30, "quarter": 10, "the_rest": 10})
        result = self.blow("serial", *options, "--main", "quarter")
        self.assertEqual({row["function"]: row["calls"] for row in result["targets"]}, {"nap_us": 10, "quarter": 10})
        self.assertEqual(result["options"]["main"], "quarter")
        noisy = {run["function"]: (run["experiment"], run["noise"]["calls"]) for run in result["experiments"] if run["function"]}
        self.assertEqual({calls for _, calls in noisy.values()}, {10})
        again = json.loads(self.strobe("--from", "r.db", "--again", noisy["nap_us"][0], "--format", "json").stdout)
        self.assertEqual(again["runs"][0]["noise"]["calls"], 10)
        self.assertIn("no function was called while 'nowhere' of --main ran", self.strobe(*options, "--main", "nowhere", "--", PLANTED, "serial", code=125).stderr)
        self.assertIn("--main takes the name of one function", self.strobe(*options, "--main", "m*", "--", PLANTED, code=2).stderr)
        self.assertIn("which --main does not do", self.strobe("--main", "main", "--window", "1s", "--progress", "quarter", "--", PLANTED, code=2).stderr)

    def test_mistakes(self):
        self.blow("serial", "-F", "quarter", "--iterations", "1", "--noise", "busy", "--timeline", "none")
        for words, code, message in ((("--again", "0"), 2, "run 0 is one without noise"), (("--again", "99"), 2, "there is no experiment 99: the runs have the numbers 0 to 3"),
                                     (("--again", "3", "-o", "x.json"), 2, "leave out --output"), (("--again", "3", "--compare", "r.db"), 2, "leave out --compare"),
                                     (("--again", "3", "-F", "x"), 2, "--funcs is for running a program"), (("--repeat", "2"), 2, "--repeat is for running a program")):
            self.assertIn(message, self.strobe("--from", "r.db", *words, code=code).stderr)
        self.assertIn("name its result with --from", self.strobe("--again", "3", "--", PLANTED, code=2).stderr)


if __name__ == "__main__":
    unittest.main()
