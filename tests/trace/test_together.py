#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`strobe trace --engine jit`: --follow, --budget, --for and --pid, each together with --events and with each other.

usage: test_together.py STROBE CALLS FORKS

CALLS and FORKS are the programs of programs/calls.c and forks.c."""

import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

STROBE, CALLS, FORKS = [os.path.abspath(name) for name in sys.argv[1:4]]


class Together(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-together-")
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "trace.db"

    def strobe(self, *arguments):
        done = subprocess.run([STROBE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def table(self):
        return json.loads(self.strobe("trace", "--from", self.file, "--format", "json"))

    def events(self):
        """Kinds and functions of the events by thread, in order."""
        threads = {}
        if not json.loads(self.strobe("show", self.file, "--format", "json")).get("streams"):
            return threads  # nothing was called in a window of the budget
        for row in csv.DictReader(self.strobe("show", self.file, "--rows", "events", "--format", "csv", "-n", "0").splitlines()):
            threads.setdefault(row["thread"], []).append((row["event"], row["function"], int(row["depth"])))
        return threads

    def assertSameCalls(self, trace, threads):
        """The table is made of the calls whose entries were recorded; each return is that of the innermost call that has not returned."""
        entered = Counter(function for events in threads.values() for event, function, _ in events if event == "entry")
        self.assertEqual({f["name"]: f["calls"] + f["lost"] for f in trace["functions"]}, entered)
        for events in threads.values():
            stack = []
            for event, function, depth in events:
                if event == "entry":
                    del stack[depth - 1:]
                    stack.append(function)
                else:
                    del stack[depth:]
                    self.assertEqual(stack.pop(), function)


class Programs(Together):
    def trace(self, *options, command):
        printed = self.strobe("trace", "-q", "--engine", "jit", "--events", *options, "-o", self.file, "--", *command)
        return self.table(), self.events(), printed

    def test_follow(self):
        """Each process has its events: those of children are there as those of the program, whose number of calls is known."""
        for what, calls in ("fork", {"main": 1, "t_forks": 2, "t_work": 2, "t_thread": 2, "t_fib": 2 * (177 + 15)}), ("becomes", None), ("exec", None):
            with self.subTest(what=what):
                trace, threads, printed = self.trace("--follow", command=[FORKS, what])
                self.assertEqual(printed, subprocess.run([FORKS, what], stdout=subprocess.PIPE, text=True, check=True).stdout)
                self.assertSameCalls(trace, threads)
                self.assertEqual(trace["lost"]["records"], 0)
                if calls:
                    self.assertEqual({name: n for name, n in Counter(f for events in threads.values() for e, f, _ in events if e == "entry").items()
                                      if name in calls}, calls)
                    self.assertGreater(len(threads), 3)
                else:
                    self.assertEqual({p["command"] for p in json.loads(self.strobe("show", self.file, "--format", "json"))["processes"]}, {FORKS})

    def test_follow_for(self):
        """A program that ends before the time: nothing of it, or of its children, is missing."""
        limited, threads, _ = self.trace("--follow", "--for", "100s", command=[FORKS, "fork"])
        self.assertSameCalls(limited, threads)
        whole, _, _ = self.trace("--follow", command=[FORKS, "fork"])
        self.assertEqual({f["name"]: f["calls"] for f in limited["functions"]}, {f["name"]: f["calls"] for f in whole["functions"]})

    def test_budget(self):
        """In windows, some of the calls are seen: of these, events and table are the same, also in children."""
        for options, command in ([], [CALLS, "many"]), (["--follow"], [FORKS, "fork"]):
            with self.subTest(options=options):
                trace, threads, _ = self.trace("-b", "50%", *options, command=command)
                self.assertSameCalls(trace, threads)
                self.assertTrue(all(f["calls"] + f["lost"] <= 635622 for f in trace["functions"]))


class Processes(Together):
    def attached(self, *options):
        with subprocess.Popen([CALLS, "forever"], stdout=subprocess.PIPE, text=True) as program:
            try:
                self.assertEqual(program.stdout.readline(), "ready\n")
                self.strobe("trace", "-q", "--engine", "jit", "--events", *options, "--for", "0.2s", "--pid", str(program.pid), "-o", self.file)
            finally:
                program.send_signal(signal.SIGUSR1)
            self.assertEqual(program.stdout.readline(), "right\n")
        self.assertEqual(program.returncode, 0)
        return self.table(), self.events()

    def test_attached(self):
        trace, threads = self.attached("--depth", "3")
        self.assertSameCalls(trace, threads)
        # A thread may begin only after it was attached, when the machine is busy.
        self.assertEqual(set(entry[1] for events in threads.values() for entry in events) - {"t_worker"}, {"t_fib"})

    def test_attached_with_budget(self):
        trace, threads = self.attached("--depth", "3", "-b", "50%")
        self.assertSameCalls(trace, threads)

    def test_follow_and_attach(self):
        """The one combination that no engine has."""
        for engine in "jit", "probe", "auto":
            done = subprocess.run([STROBE, "trace", "--engine", engine, "--follow", "--pid", str(os.getpid())], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (125, "", "strobe: --follow needs a program that strobe starts: the children of an attached process run natively\n"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
