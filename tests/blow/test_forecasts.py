#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Forecasts of virtual speed-ups, compared with the same program whose function is really faster.

usage: test_forecasts.py STROBE PLANTED SLEEPS

PLANTED is bench/blow/planted.c, and SLEEPS programs/sleeps.c. Of one thread, both sides are shares of its CPU time, which hardly depend on other load: the time that the thread has
paid, and the CPU time that the changed program saves. On a busy machine, Strobe sees the program less often; then a wrong forecast says nothing, and the test is skipped."""

import json
import os
import statistics
import sys
import time
import unittest
from pathlib import Path

from command import Case

PLANTED, SLEEPS = (os.path.abspath(path) for path in sys.argv[2:4])
SOURCE = Path(__file__).resolve().parents[2] / "bench" / "blow" / "planted.c"
ROUNDS = 30
TOLERANCE = 0.1
ATTEMPTS = 3


def line_of(function):
    return next(f"planted.c:{i}" for i, line in enumerate(SOURCE.read_text().splitlines(), 1) if line.endswith(f"/* {function} */"))


def work_of_others():
    """The CPU time of all other processes than the children of this one, in seconds."""
    user, nice, system = (int(word) for word in Path("/proc/stat").read_text().split()[1:4])
    own = os.times()
    return (user + nice + system) / os.sysconf("SC_CLK_TCK") - own.children_user - own.children_system


def cpu_seconds(case, percent):
    """The least CPU time of three runs, with percent of the work of f, g and h."""
    times = []
    for _ in range(3):
        pid = os.spawnv(os.P_NOWAIT, PLANTED, [PLANTED, case, str(ROUNDS), *map(str, percent)])
        _, status, usage = os.wait4(pid, 0)
        assert status == 0
        times.append(usage.ru_utime + usage.ru_stime)
    return min(times)


class Forecasts(Case):
    def forecast(self, case, options):
        """The gains by a speed-up of 50 %, as shares of the CPU time, by the name of the target."""
        self.strobe("-q", "-m", "causal", *options, "--repeat", "2", "--baseline-runs", "3", "--native-runs", "0", "--timeout", "0", "--timeline", "none", "-o",
                    "r.json", "--", PLANTED, case, ROUNDS, 100, 100, 100)
        gains = {}
        for run in json.loads((self.at / "r.json").read_text())["experiments"]:
            if run["noise"] and run["noise"]["strength"] == 50:
                name = f"{run['function']} from {run['context']}" if "context" in run else run["function"]
                gains.setdefault(name, []).append(run["noise"]["measured_ns"] / run["cpu_ns"])
        return {name: statistics.mean(shares) for name, shares in gains.items()}

    def check(self, case, options, changes, merge=dict):
        """changes: for each target the percents of the work with which its code is twice as fast. merge: makes the gains of these from those of the result. The test
        is skipped only if no attempt was right, and other processes took more than a fifth of a processor during one of them."""
        busy = False
        for _ in range(ATTEMPTS):
            others, before = work_of_others(), os.times().elapsed
            result = self.forecast(case, options)
            forecast = merge(result)
            whole = cpu_seconds(case, (100, 100, 100))
            real = {name: 1 - cpu_seconds(case, percent) / whole for name, percent in changes.items()}
            wrong = {name: (forecast[name], real[name]) for name in changes if abs(forecast[name] - real[name]) > TOLERANCE}
            if not wrong:
                return result
            busy |= work_of_others() - others > 0.2 * (os.times().elapsed - before)
        if busy:
            self.skipTest(f"the machine is busy with other work, and forecasts differ from the real gains: {wrong}")
        return self.fail(f"forecast and real gain: {wrong}")

    def test_functions(self):
        """A quarter of the time, and three quarters."""
        forecast = self.check("serial", ["-F", "f,g"], {"f": (50, 100, 100), "g": (100, 50, 100)})
        self.assertEqual(set(forecast), {"f", "g"})

    def test_contexts(self):
        """The calls of the same function by each of its callers."""
        self.check("context", ["--by", "context", "-F", "f"], {"f from by_g": (100, 50, 100), "f from by_h": (100, 100, 50)})

    def test_lines(self):
        lines = {f"{line_of(name)} in {name}": percent for name, percent in (("f", (50, 100, 100)), ("g", (100, 50, 100)))}
        self.check("serial", [word for name in "fg" for word in ("--at", line_of(name))], lines)

    def test_blocks(self):
        """The loop of g is one block, or two: their gains add up to that of g."""
        result = self.check("serial", ["--by", "block", "-F", "g"], {"g": (100, 50, 100)}, lambda gains: {"g": sum(gains.values())})
        self.assertTrue(all(name.startswith("block g+0x") for name in result), result)


class Sleeps(Case):
    def test_barrier(self):
        """A thread sleeps for 4 ms, and then meets one that computes for less: even at once, its work cannot make the run shorter than the sleeps. A thread
        that did not pay for its sleep would make the run half as long."""
        self.strobe("-q", "-m", "causal", "-F", "g", "--repeat", "3", "--baseline-runs", "3", "--native-runs", "0", "--timeout", "0", "--timeline", "none", "-o", "r.json",
                    "--", PLANTED, "sleep", ROUNDS, 100, 100, 100)
        runs = [run for run in json.loads((self.at / "r.json").read_text())["experiments"] if run["noise"] and run["noise"]["strength"] == 100]
        self.assertEqual(len(runs), 3)
        self.assertGreater(max(run["noise"]["measured_ns"] for run in runs), 0)
        # The debt of the last round may be open, and on a busy machine that of other rounds. Such a machine also makes the run longer.
        self.assertGreater(max(run["total_ns"] - run["noise"]["measured_ns"] for run in runs), 0.75 * ROUNDS * 4e6)

    def test_unnoticed(self):
        """The program does not notice that its sleeps are interrupted, and a signal still ends one early."""
        self.strobe("-q", "-m", "causal", "-F", "work", "--repeat", "1", "--baseline-runs", "3", "--native-runs", "0", "--timeout", "0", "--timeline", "none", "-o", "r.json",
                    "--", SLEEPS)
        result = json.loads((self.at / "r.json").read_text())
        self.assertEqual(result["faults"], [])
        self.assertEqual({run["exit"] for run in result["experiments"]}, {0})

    def test_windows(self):
        """Strobe leaves a process in the middle of sleeps that it has interrupted: the process goes on."""
        process = self.begin(SLEEPS, "for-ever")
        self.strobe("-q", "-m", "causal", "--pid", process.pid, "-F", "work", "--progress", "sleep_until", "--window", "50ms", "--repeat", "1", "-o", "r.json")
        states = set()
        for _ in range(200):
            self.assertIsNone(process.poll())
            for task in Path(f"/proc/{process.pid}/task").iterdir():
                self.assertIn("TracerPid:\t0\n", (task / "status").read_text())
                states.add((task / "stat").read_text().rsplit(")", 1)[1].split()[0])
            time.sleep(0.005)
        self.assertLessEqual(states, {"R", "S", "D"})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
