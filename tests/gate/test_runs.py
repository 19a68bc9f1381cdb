#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The runs of which the pairs of a gate consist: test_runs.py STROBE Runs."""
import json
import os
import subprocess
import sys
import time
import unittest

from test_gate import Gate, STROBE


class Runs(Gate):
    def test_runs(self):
        """Each pair has a run of each side, in both orders, with another environment each time."""
        program = self.place / "side"
        program.write_text('#!/bin/sh\necho "$1 ${#STROBE_GATE} $2" >> log\n', encoding="utf-8")
        program.chmod(0o755)
        done = self.strobe("gate", "-b", "./side base", "-t", "./side target", "-c", 0, "--seed", 3, "-p", 8, "--duet", "alternate", "-f", "json", "--", "argument")
        self.assertIn(done.returncode, (0, 1, 3), done.stderr)
        pairs = json.loads(done.stdout)["benchmarks"][0]["time"]["pairs"]
        ran = [line.split() for line in (self.place / "log").read_text(encoding="utf-8").splitlines()]
        self.assertEqual(len(ran), 2 * pairs)
        for a, b in zip(ran[::2], ran[1::2]):
            self.assertEqual({a[0], b[0]}, {"base", "target"})
        self.assertEqual({r[2] for r in ran}, {"argument"})
        self.assertGreater(len({r[1] for r in ran}), pairs)

    # Each run says on which CPUs it may run, then waits until the other one has done so; a run without a partner gives up.
    MEETING = """import os, sys, time
side, pair = sys.argv[1], 0
while os.path.exists(f"{pair}.{side}"):
    pair += 1
with open(f"{pair}.{side}", "w", encoding="utf-8") as f:
    f.write(" ".join(map(str, sorted(os.sched_getaffinity(0)))))
other = {"base": "target", "target": "base"}[side]
for _ in range(3000):
    if os.path.exists(f"{pair}.{other}"):
        sys.exit(0)
    time.sleep(0.01)
sys.exit(3)
"""

    def meet(self, *words):
        """The CPUs of both runs of each of three pairs."""
        (self.place / "meet.py").write_text(self.MEETING, encoding="utf-8")
        folder = self.place / "met"
        folder.mkdir()
        sides = [f"{sys.executable} {self.place}/meet.py {side}" for side in ("base", "target")]
        done = self.strobe("gate", "-b", sides[0], "-t", sides[1], "-c", 0, "-p", 3, *words, "-f", "json", cwd=folder)
        if "needs two CPUs" in done.stderr:
            self.skipTest("one CPU")
        self.assertIn(done.returncode, (0, 1, 3), done.stderr)
        self.assertEqual(json.loads(done.stdout)["benchmarks"][0]["time"]["pairs"], 3)
        return [[(folder / f"{pair}.{side}").read_text(encoding="utf-8").split() for side in ("base", "target")] for pair in range(3)]

    def test_shared(self):
        """Both runs of a pair exist at once, on one CPU; with --cpu all, on all of them."""
        for base, target in self.meet():
            self.assertEqual((len(base), base), (1, target))

    def test_shared_on_all(self):
        every = [str(cpu) for cpu in sorted(os.sched_getaffinity(0))]
        self.assertEqual(self.meet("--cpu", "all"), [[every, every]] * 3)

    def test_signal_ends_both(self):
        """A signal to the gate ends both runs of a pair."""
        program = self.place / "wait"
        program.write_text('#!/bin/sh\necho $$ > "$1.new"\nmv "$1.new" "$1.pid"\nexec sleep 300\n', encoding="utf-8")
        program.chmod(0o755)
        with subprocess.Popen([STROBE, "gate", "-b", "./wait a", "-t", "./wait b", "-c", "0", "-q"], cwd=self.place, env=self.environment) as gate:
            files = [self.place / "a.pid", self.place / "b.pid"]
            while not all(f.exists() for f in files):
                self.assertIsNone(gate.poll())
                time.sleep(0.01)
            gate.terminate()
            self.assertEqual(gate.wait(120), 143)
        for f in files:
            with self.assertRaises(ProcessLookupError):
                os.kill(int(f.read_text(encoding="utf-8")), 0)

    def test_together_apart(self):
        for base, target in self.meet("--duet", "together"):
            self.assertEqual(set(base) & set(target), set())

    def test_together(self):
        done = self.strobe("gate", "-b", "true", "-t", "true", "-c", 0, "--duet", "together", "-p", 3, "--metric", "wall", "-f", "json")
        if "needs two CPUs" in done.stderr:
            self.skipTest("one CPU")
        self.assertIn(done.returncode, (0, 1, 3), done.stderr)
        self.assertEqual(json.loads(done.stdout)["rule"]["duet"], "together")


if __name__ == "__main__":
    unittest.main()
