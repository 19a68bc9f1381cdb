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
from pathlib import Path

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

    def line_of(self, text):
        source = Path(__file__).resolve().parent / "programs" / "targets.c"
        return next(f"targets.c:{i}" for i, line in enumerate(source.read_text().splitlines(), 1) if line.strip() == text)

    def first_line_of(self, head):
        """That of the brace behind the head of the function."""
        name, number = self.line_of(head).split(":")
        return f"{name}:{int(number) + 1}"

    def test_lines(self):
        """A line includes the functions that it calls."""
        lines = {self.line_of(f"work({us});"): caller for us, caller in (("us_critical", "critical"), ("us_beside", "beside"))}
        result = self.measure(*(word for line in lines for word in ("--at", line)), words=["alone"])
        self.assertEqual({(target["line"], target["function"]) for target in result["targets"]}, {(line, f"{line} in {lines[line]}") for line in lines})
        bounds = {"critical": (0.5, 1.05), "beside": (0, 0.5)}
        for run in result["experiments"]:
            if run["noise"]:
                least, most = (bound * run["noise"]["strength"] / 100 * run["cpu_ns"] for bound in bounds[run["function"].split()[-1]])
                self.assertGreaterEqual(run["noise"]["measured_ns"], least, run)
                self.assertLessEqual(run["noise"]["measured_ns"], most, run)
        self.assertEqual(result["faults"], [])

    def test_by_line_and_block(self):
        """All functions of the program, or those of --funcs. The samples of a line of `main` are those of what it calls, or more."""
        done = self.strobe("-m", "causal", "--by", "line,block", "-F", "main,critical", "--iterations", "2", "--baseline-runs", "3", "--timeout", "0",
                           "-o", "r.db", "--", TARGETS, "alone")
        self.assertRegex(done.stdout, r"\n2 experiments on \d+ lines? and \d+ blocks?\n")
        result = json.loads(self.strobe("--from", "r.db", "--format", "json").stdout)
        lines = [target["line"].rsplit("/", 1)[-1] for target in result["targets"] if target["line"]]
        blocks = [target["block"] for target in result["targets"] if "block" in target]
        self.assertIn(self.line_of("work(us_critical);"), lines)
        self.assertTrue(any(block.startswith("block:critical+0x") for block in blocks), blocks)
        self.assertTrue(all(block.startswith(("block:critical+0x", "block:main+0x")) for block in blocks), blocks)
        share = {target["function"]: target["time_share"] for target in result["targets"]}
        self.assertGreater(share[f'{self.line_of("work(us_critical);")} in critical'], share.get("block main+0x0", 0))
        self.assertEqual(len(share), len(lines) + len(blocks))
        self.assertEqual(len([run for run in result["experiments"] if run["noise"]]), 2)
        self.strobe("causal", "r.db", "-o", "r.svg", command="plot")
        self.assertIn(" in critical", (self.at / "r.svg").read_text())

    def test_lines_and_threads(self):
        """Only lines that threads execute pay; the program behaves as without Strobe while its threads are stopped to be looked at."""
        result = self.measure("--at", self.line_of("work(us_beside);"), "--progress", "critical")
        self.assertEqual({(point["name"], point["kind"]) for point in result["progress"]}, {("critical", "throughput"), ("end of the run", "end")})
        self.assertEqual({run["exit"] for run in result["experiments"]}, {0})
        for target in result["targets"]:
            self.assertEqual({row["progress"] for row in target["virtual"]}, {"critical", "end of the run"})

    def test_progress_line(self):
        """A line is passed once per round, also by --by line, whose functions have no probes."""
        line = self.line_of("critical();")
        for options in ["--at", "call:critical>work"], ["--at", self.line_of("work(us_critical);")]:
            result = self.measure(*options, "--progress", line, "--progress", "idle", words=["alone"])
            points = {point["name"]: point for point in result["progress"]}
            self.assertEqual({name: point["kind"] for name, point in points.items()}, {"idle": "throughput", line: "line", "end of the run": "end"})
            # Both are passed in each round.
            self.assertAlmostEqual(points[line]["calls_per_second"], points["idle"]["calls_per_second"], delta=1e-6 * points["idle"]["calls_per_second"])
            rows = result["targets"][0]["virtual"]
            self.assertEqual({row["progress"] for row in rows}, {"idle", line, "end of the run"})

    def test_mistakes(self):
        for text, code, options in [
                ("--by takes function, context, line and block, with commas between them, not 'row'", 2, ["-m", "causal", "--by", "function,row"]),
                ("--by is for virtual speed-ups", 2, ["--by", "context"]),
                ("--where is about noise", 2, ["-m", "causal", "--at", "call:a>b", "--where", "after"]),
                ("no sample of the run that selects lines was at that line: use --by line", 125, ["-m", "causal", "--at", "targets.c:1"]),
                ("--progress nowhere.c:3: no code belongs to the line", 125, ["-m", "causal", "-F", "work", "--progress", "nowhere.c:3"]),
                ("--repeat takes a number from 1 to 1000000, not '99999999999'", 2, ["-m", "causal", "--repeat", "99999999999"]),
                ("--baseline-runs takes a number from 3 to 1000000, not '1000001'", 2, ["--baseline-runs", "1000001"]),
                ("its bytes are those of another probe, such as the one at the entry of the function: name a later line, or use --by line", 125,
                 ["-m", "causal", "-F", "critical", "--progress", self.first_line_of("critical(void)")]),
                ("--progress takes FILE:LINE with a line from 1 on, not 'targets.c:0'", 2, ["-m", "causal", "--progress", "targets.c:0"]),
                ("lines and blocks cannot be tried together with functions", 2, ["-m", "causal", "--by", "function,line"]),
                ("lines and blocks cannot be tried together with functions", 2, ["-m", "causal", "--by", "line", "--at", "call:a>b"]),
                ("lines and blocks cannot be tried together with functions", 2, ["-m", "causal", "--at", "targets.c:3", "-F", "work"]),
                ("--criteria is about calls of functions", 2, ["-m", "causal", "--by", "line", "--criteria", "calls"]),
                ("--main is about calls of functions", 2, ["-m", "causal", "--by", "block", "--main", "main"]),
                ("--timeline records calls of functions", 2, ["-m", "causal", "--by", "block", "--timeline", "main"]),
                ("no line or block of the program's own file had 1 %", 125, ["-m", "causal", "--by", "line", "-F", "no_such_*"]),
                ("--at is for single locations", 2, ["-m", "speed-up", "--at", "call:a>b"]),
                ("which --by does not do", 2, ["-m", "causal", "--by", "context", "--window", "100ms", "--progress", "critical"]),
                ("no such call returned in the run", 125, ["-m", "causal", "--at", "call:beside>critical"])]:
            error = self.strobe(*options, "--", TARGETS, code=code).stderr
            self.assertIn(text, error)
            self.assertEqual(error.count("\n"), 1, error)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
