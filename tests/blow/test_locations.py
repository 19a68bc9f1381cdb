#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests `strobe blow --at`: noise at calls and source lines of a program with known calls.

usage: test_locations.py STROBE PLANTED

PLANTED is programs/planted.c, whose function `main`, with `serial` in it, calls other_half ten times."""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

from command import STROBE, Case

PLANTED = os.path.abspath(sys.argv[2])
SOURCE = Path(__file__).resolve().parent / "programs" / "planted.c"
LINE = next(i for i, line in enumerate(SOURCE.read_text().splitlines(), 1) if line.strip() == "other_half();")


class Locations(Case):
    def measure(self, *options):
        self.strobe("-q", "--baseline-runs", "3", "--timeout", "0", "--iterations", "2", "--noise", "nanosleep,busy", *options, "-o", "r.json", "--",
                    PLANTED, "serial")
        return json.loads((self.at / "r.json").read_text())

    def check(self, result, location):
        """Ten visits in each run, each with its noise, which is part of the time of the function around and of the run."""
        target, = result["targets"]
        self.assertEqual((target["location"], target["calls"]), (location, 10))
        noisy = [run for run in result["experiments"] if run["noise"]]
        self.assertEqual(len(noisy), 2)
        for run in noisy:
            self.assertEqual(run["noise"]["calls"], 10)
            self.assertGreaterEqual(run["noise"]["measured_ns"], 0.998 * 10 * run["noise"]["strength"])
            self.assertGreaterEqual(run["function_ns"], 0.99 * run["noise"]["measured_ns"])
            self.assertGreaterEqual(run["total_ns"], 0.99 * run["function_ns"])
        self.assertEqual(result["faults"], [])
        return target

    def test_calls(self):
        location = "call:*>other_half"
        before = self.check(self.measure("--at", location), location)
        after = self.check(self.measure("--at", location, "--where", "after"), location)
        self.assertEqual(before["function"], f"{location} at planted.c:{LINE}")
        self.assertEqual(after["function"], "after " + before["function"])
        self.assertGreater(after["offset"], before["offset"])

    def test_line(self):
        location = f"planted.c:{LINE}"
        self.assertTrue(self.check(self.measure("--at", location), location)["function"].startswith(location + " in "))

    def test_blocks(self):
        """Each basic block of a function is a target, and one of them can be named; one of main is the loop's, which calls other_half ten times."""
        self.strobe("-q", "--baseline-runs", "3", "--timeout", "0", "--native-runs", "0", "--noise", "busy", "--timeline", "none", "--max-slowdown", "1.1", "-i", "8",
                    "--at", "block:main", "-o", "r.json", "--", PLANTED, "serial")
        result = json.loads((self.at / "r.json").read_text())
        loops = [target for target in result["targets"] if target["calls"] == 10]
        self.assertGreater(len(result["targets"]), 1)
        self.assertEqual({target["location"] for target in result["targets"]}, {"block:main"})
        self.assertTrue(all(target["function"].startswith("block main+0x") for target in result["targets"]))
        self.assertTrue(loops)
        for run in result["experiments"]:
            if run["noise"]:
                target, = [each for each in result["targets"] if each["function"] == run["function"]]
                self.assertEqual(run["noise"]["calls"], target["calls"])
                self.assertGreaterEqual(run["noise"]["measured_ns"], 0.998 * run["noise"]["calls"] * run["noise"]["strength"])
        offset = loops[0]["function"].split()[1].removeprefix("main+")
        location = f"block:main+{offset}"
        self.assertEqual(self.check(self.measure("--at", location), location)["function"], loops[0]["function"])

    def test_after_function(self):
        """The noise is at the returns, within the time of the function, also when the experiment is made again; without the option, it is at the entries."""
        for options in (["--where", "after"], []):
            self.strobe("-q", "--baseline-runs", "3", "--timeout", "0", "--native-runs", "0", "--noise", "busy", "--timeline", "none", "-i", "1", *options, "-F", "other_half", "-o", "r.db",
                        "--", PLANTED, "serial")
            result = json.loads(self.strobe("--from", "r.db", "--format", "json").stdout)
            self.assertEqual(result["options"]["where"], "after" if options else "before")
            run, = [each for each in result["experiments"] if each["noise"]]
            self.assertEqual(run["noise"]["calls"], 10)
            self.assertGreaterEqual(run["noise"]["measured_ns"], 0.998 * 10 * run["noise"]["strength"])
            self.assertGreaterEqual(run["function_ns"], 0.99 * run["noise"]["measured_ns"])
            again = json.loads(self.strobe("--from", "r.db", "--again", run["experiment"], "--format", "json").stdout)
            self.assertEqual(again["runs"][0]["noise"]["calls"], 10)

    def test_kept(self):
        """A result that is read again still knows what the location is."""
        location = f"planted.c:{LINE}"
        self.strobe("-q", "--baseline-runs", "3", "--timeout", "0", "--iterations", "1", "--at", location, "-o", "r.db", "--", PLANTED, "serial")
        again = json.loads(self.strobe("--from", "r.db", "--format", "json").stdout)
        self.assertEqual([target["location"] for target in again["targets"]], [location])

    def test_refused(self):
        for text, options in [
                ("--at takes FILE:LINE, call:CALLER>CALLEE, block:FUNCTION or block:FUNCTION+OFFSET, not 'here'", ["--at", "here"]),
                ("block:FUNCTION or block:FUNCTION+OFFSET, not 'call:f'", ["--at", "call:f"]),
                ("block:FUNCTION or block:FUNCTION+OFFSET, not 'block:'", ["--at", "block:"]),
                ("block:FUNCTION or block:FUNCTION+OFFSET, not 'block:main+0x'", ["--at", "block:main+0x"]),
                ("is a line, which gets its noise before it", ["--at", "planted.c:1", "--where", "after"]),
                ("is a block, which gets its noise before it", ["--at", "block:main", "--where", "after"]),
                ("--mode causal speeds up the blocks", ["--at", "block:main", "--mode", "causal"]),
                ("no basic block begins there", ["--at", "block:main+1"]),
                ("no basic block begins there", ["--at", "block:nobody"]),
                ("--at is for single locations", ["--at", "planted.c:1", "--mode", "speed-up"]),
                ("no code belongs to the line", ["--at", "planted.c:1"]),
                ("no such call is in the code", ["--at", "call:main>nobody"])]:
            done = subprocess.run([STROBE, "blow", *options, "--", PLANTED, "serial"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  timeout=100, cwd=self.at, check=False)
            self.assertIn(text, done.stderr)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)


class Windows(Case):
    """Of the endless service: serve_request calls read_request, then answer_request."""

    def measure(self, *options):
        self.strobe("-q", "--window", "100ms", "--noise", "nanosleep,busy", "-i", "6", *options, "-o", "r.json", "--", PLANTED, "service")
        result = json.loads((self.at / "r.json").read_text())
        self.assertEqual((result["windows"], result["faults"]), (True, []))
        for run in result["experiments"]:
            if run["noise"]:
                # The visit that is under way when the window ends may be counted before its noise, or after it.
                self.assertGreaterEqual(run["noise"]["measured_ns"], 0.998 * run["noise"]["calls"] * run["noise"]["strength"])
                self.assertLessEqual(run["function_ns"], 1.01 * run["total_ns"])
        self.assertGreater(sum(run["noise"]["calls"] for run in result["experiments"] if run["noise"]), 0)
        return {target.get("location") or target["function"]: target for target in result["targets"]}

    def test_call(self):
        """A visit of the call is a call of the function."""
        location = "call:serve_request>answer_request"
        targets = self.measure("--progress", "serve_request", "-F", "answer_request", "--at", location)
        self.assertEqual(set(targets), {location, "answer_request"})
        self.assertGreater(targets[location]["calls"], 0)
        self.assertAlmostEqual(targets[location]["calls"], targets["answer_request"]["calls"], delta=1)

    def test_after_function(self):
        """Noise at the returns of a function, which the window changes."""
        target = self.measure("--progress", "serve_request", "-F", "answer_request", "--where", "after")["answer_request"]
        self.assertGreater(target["calls"], 0)

    def test_around(self):
        """The time is that of the function around, which is neither chosen nor a progress point: the service is always in it."""
        location = f"planted.c:{self.line_of('answer_request();')}"
        targets = self.measure("--progress", "read_request", "--at", location)
        self.assertEqual(list(targets), [location])
        self.assertEqual(targets[location]["function"], f"{location} in serve_request")
        self.assertGreater(targets[location]["time_share"], 0.8)
        self.assertLess(targets[location]["time_share"], 1.05)

    def line_of(self, text):
        return next(i for i, line in enumerate(SOURCE.read_text().splitlines(), 1) if line.strip() == text)

    def test_pid(self):
        """The process goes on, and has its own code again."""
        process = self.begin(PLANTED, "service")
        location = "call:serve_request>*"
        self.strobe("-q", "--pid", process.pid, "--progress", "serve_request", "--at", location, "--where", "after", "--window", "50ms", "-i", "4", "-o", "r.json")
        result = json.loads((self.at / "r.json").read_text())
        self.assertEqual({target["location"] for target in result["targets"]}, {location})
        self.assertTrue(all(target["function"].startswith(f"after {location} at planted.c:") for target in result["targets"]))
        self.assertIsNone(process.poll())

    def test_refused(self):
        for text, options in [
                ("--mode causal speeds up only functions in windows of one process: leave out --at or --window", ["-m", "causal", "--at", "call:serve_request>*"]),
                ("--window makes experiments in one process, which --mode speed-up does not do", ["-m", "speed-up", "--at", "call:serve_request>*"]),
                ("--at call:serve_request>nobody: no such call is in the code", ["--at", "call:serve_request>nobody"]),
                ("--at call:main>never_called: it was not executed in the run that selects functions", ["--at", "call:main>never_called"])]:
            done = subprocess.run([STROBE, "blow", *options, "--window", "100ms", "--progress", "serve_request", "--", PLANTED, "service"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=100, cwd=self.at, check=False)
            self.assertIn(text, done.stderr)
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
