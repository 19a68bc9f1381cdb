#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests virtual speed-ups of calling contexts.

usage: test_targets.py STROBE TARGETS

TARGETS is programs/targets.c: in each of 12 rounds, `work` computes for 8 ms of CPU time if `critical` calls it, for 2 ms if `beside` does, by default in
another thread, and not at all if `idle` does. What the only thread of a program has paid is a share of that CPU time, however busy the machine is. With another
thread, it is at least that: on a busy machine, a thread is paused for longer than it has to be."""

import json
import os
import sys
import unittest

from command import Case

TARGETS = os.path.abspath(sys.argv[2])
ROUNDS = 12
CPU_MS = {"critical": 8 * ROUNDS, "idle": 0, "beside": 2 * ROUNDS}


class Contexts(Case):
    def measure(self, *options, words=()):
        self.strobe("-q", "-m", "causal", "--baseline-runs", "3", "--timeout", "0", "--repeat", "1", *options, "-o", "r.json", "--", TARGETS, *words)
        return json.loads((self.at / "r.json").read_text())

    def check_payments(self, result):
        """The debts of the runs: strength times the CPU time of the calls by that caller, which are 79, 20 and 0 % of all. Samples say which CPU time
        is whose, and on a busy machine there are few of them."""
        bounds = {"critical": (0.55, 1.05), "beside": (0.01, 0.5), "idle": (0, 0.1)}
        for run in result["experiments"]:
            if not run["noise"]:
                continue
            self.assertEqual((run["function"], run["exit"]), ("work", 0))
            least, most = (bound * run["noise"]["strength"] / 100 * run["cpu_ns"] for bound in bounds[run["context"]])
            self.assertGreaterEqual(run["noise"]["measured_ns"], least, run)
            self.assertLessEqual(run["noise"]["measured_ns"], most, run)

    def test_contexts(self):
        """-F names the function; its callers are found."""
        result = self.measure("--by", "context", "-F", "work", words=["alone"])
        self.assertEqual(sorted((target["function"], target["context"], target["calls"]) for target in result["targets"]),
                         [("work", caller, ROUNDS) for caller in ("beside", "critical", "idle")])
        for target in result["targets"]:
            self.assertEqual(target["location"], f"call:{target['context']}>work")
            self.assertEqual([row["speedup"] for row in target["virtual"]], [0.25, 0.5, 0.75, 1.0])
            self.assertEqual(target["experiments"], 4)
        self.assertEqual(result["options"]["by"], "context")
        self.assertEqual(result["faults"], [])
        self.check_payments(result)

    def test_location(self):
        """One caller, or all by a pattern."""
        result = self.measure("--at", "call:critical>work")
        target, = result["targets"]
        self.assertEqual((target["function"], target["context"], target["calls"]), ("work", "critical", ROUNDS))
        for run in result["experiments"]:
            if run["noise"]:
                self.assertGreaterEqual(run["noise"]["measured_ns"], 0.5e6 * run["noise"]["strength"] / 100 * CPU_MS["critical"])
        text = self.strobe("-m", "causal", "--at", "call:*>work", "--show-functions", "--", TARGETS).stdout
        self.assertIn("CORPUS (3):\n", text)
        for caller in CPU_MS:
            self.assertIn(f"call:{caller}>work <==> work from {caller}\n", text.split("CORPUS")[1])

    def test_both(self):
        """The text names the caller, and the functions themselves are targets as well."""
        done = self.strobe("-m", "causal", "--by", "function,context", "-F", "work,critical", "--iterations", "6", "--baseline-runs", "3", "--timeout", "0",
                           "-o", "r.db", "--", TARGETS)
        self.assertRegex(done.stdout, r"\n6 experiments on 2 of \d functions and 4 calling contexts\n")
        for name in ("work", "critical", "work from critical", "work from idle", "work from beside", "critical from main"):
            self.assertRegex(done.stdout, rf"  {name}\n")
        self.assertEqual(done.stdout.split("\n", 1)[1], self.strobe("--from", "r.db").stdout)
        result = json.loads(self.strobe("--from", "r.db", "--format", "json", "--what-if", "work from idle=100%").stdout)
        calls = {(target["function"], target.get("context")): target["calls"] for target in result["targets"]}
        self.assertEqual(calls, {("work", None): 3 * ROUNDS, ("critical", None): ROUNDS, ("critical", "main"): ROUNDS,
                                 **{("work", caller): ROUNDS for caller in CPU_MS}})
        self.strobe("causal", "r.db", "-o", "r.svg", command="plot")
        self.assertIn("work from critical", (self.at / "r.svg").read_text())

    def test_mistakes(self):
        for text, code, options in [
                ("--by takes function and context, with a comma between them, not 'row'", 2, ["-m", "causal", "--by", "function,row"]),
                ("--by is for virtual speed-ups", 2, ["--by", "context"]),
                ("--where is about noise", 2, ["-m", "causal", "--at", "call:a>b", "--where", "after"]),
                ("--at targets.c:1 is a line", 2, ["-m", "causal", "--at", "targets.c:1"]),
                ("--at is for single locations", 2, ["-m", "speed-up", "--at", "call:a>b"]),
                ("which --by does not do", 2, ["-m", "causal", "--by", "context", "--window", "100ms", "--progress", "critical"]),
                ("no such call returned in the run", 125, ["-m", "causal", "--at", "call:beside>critical"])]:
            error = self.strobe(*options, "--", TARGETS, code=code).stderr
            self.assertIn(text, error)
            self.assertEqual(error.count("\n"), 1, error)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
