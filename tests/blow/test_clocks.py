#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a program reads from its own clocks while strobe blow --mode causal pauses its threads, with and without --hide-pauses.

usage: test_clocks.py STROBE CLOCKS STATIC COUNTER [CLASS]

CLOCKS and STATIC, which contains the C library, are programs/clocks.c, which also asks the kernel for the time, past Strobe. Strobe says how long its first thread was
paused, so the difference between the two times is known exactly, however busy the machine is. COUNTER is programs/counter.c."""

import json
import os
import sys
import time
import unittest

from command import Case

CLOCKS, STATIC, COUNTER = (os.path.abspath(path) for path in sys.argv[2:5])
LIMIT, LATER = 0.1, 0.06  # seconds, as in the program
EXACT = 0.002  # seconds: Strobe settles debts to less than this
SLACK = 0.02  # seconds that a thread may wait for a processor in the best of a few runs
WAITS = ("sleep", "clock_nanosleep", "pthread_cond_timedwait", "pthread_cond_clockwait", "sem_timedwait", "pthread_mutex_timedlock", "timerfd_settime", "syscall")
RESUMED = tuple(name for name in WAITS if name != "timerfd_settime")  # waits that Strobe stops at their end
ATTEMPTS = 3


class Step:
    def __init__(self, words):
        self.own, self.real, self.late = (int(word) / 1e9 for word in words)


class Clocks(Case):
    def runs(self, *options, program=CLOCKS):
        """The options' experiments, each with the steps that the program has written, by their names."""
        lines = self.at / "lines"
        lines.unlink(missing_ok=True)
        self.strobe("-q", "-m", "causal", *options, "-F", "work", "--repeat", "1", "--baseline-runs", "3", "--native-runs", "0", "--timeout", "0", "--timeline", "none",
                    "-o", "r.json", "--", program, lines)
        result = json.loads((self.at / "r.json").read_text())
        self.assertEqual(result["faults"], [])
        steps = [{}]
        for line in lines.read_text().splitlines():
            name, *numbers = line.split()
            self.assertEqual(len(numbers), 3, line)
            steps[-1][name] = Step(numbers)
            if name == "all":
                steps.append({})
        self.assertEqual(steps.pop(), {})
        # The first one is that of the selection.
        return list(zip(result["experiments"], steps[1:], strict=True))

    def attempt(self, check):
        """What lasts no longer than a bound on an idle machine."""
        for left in range(ATTEMPTS - 1, -1, -1):
            try:
                return check()
            except AssertionError:
                if not left:
                    raise
        return None


class Hidden(Clocks):
    def check_times(self, program=CLOCKS):
        paused = 0
        lasted = {name: [] for name in (*WAITS, "limit")}
        for experiment, steps in self.runs("--hide-pauses", program=program):
            paid = experiment["noise"]["measured_ns"] / 1e9 if experiment["noise"] else 0
            # The clocks are behind by all pauses, and by nothing else: those of each function.
            self.assertAlmostEqual(steps["clocks"].own, paid, delta=EXACT)
            self.assertAlmostEqual(steps["clocks"].real, paid, delta=EXACT)
            self.assertIn(steps["clocks"].late * 1e9, (0, 1))  # time() may be a tick behind
            self.assertAlmostEqual(steps["all"].real - steps["all"].own, paid, delta=EXACT)
            # The program's time passes as it does without pauses.
            self.assertGreaterEqual(steps["limit"].own, LIMIT)
            for name in WAITS:
                self.assertGreaterEqual(steps[name].own, LATER, name)
                self.assertGreaterEqual(steps[name].late, 0, name)
            # If a deadline were moved twice, it would be late by all pauses before.
            if experiment["noise"] and experiment["noise"]["strength"] >= 50:
                for name, times in lasted.items():
                    times.append(steps[name].own)
            # A child is not paused: its clocks are as far behind as its parent's were.
            self.assertAlmostEqual(steps["fork"].own, steps["fork"].real, delta=EXACT)
            if experiment["noise"] and experiment["noise"]["strength"] == 100:
                paused += 1
                # These have been paused, by the real clock.
                self.assertGreater(paid, 0.05)
                self.assertGreater(sum(steps[name].real - steps[name].own for name in RESUMED), 0.02)
        self.assertEqual(paused, 1)
        for name, times in lasted.items():
            self.assertLess(min(times), (LIMIT if name == "limit" else LATER) + SLACK, name)

    def test_times(self):
        self.attempt(self.check_times)

    def test_static(self):
        self.attempt(lambda: self.check_times(STATIC))


class Seen(Clocks):
    def check_times(self):
        """Without the option, the program sees all pauses: the two clocks are the same, and waits seem to last longer."""
        for experiment, steps in self.runs():
            for name, step in steps.items():
                if name != "clocks":
                    self.assertAlmostEqual(step.own, step.real, delta=EXACT, msg=name)
            self.assertAlmostEqual(steps["clocks"].own, 0, delta=EXACT)
            if experiment["noise"] and experiment["noise"]["strength"] == 100:
                self.assertGreater(steps["sleep"].own + steps["clock_nanosleep"].own, 2 * LATER + 0.01)

    def test_times(self):
        self.attempt(self.check_times)

    def test_mistake(self):
        self.assertIn("--hide-pauses is about the pauses of --mode causal", self.strobe("--hide-pauses", "--", CLOCKS, "/dev/null", code=2).stderr)

    def test_counter(self):
        """Strobe says what it cannot hide."""
        arguments = ("-m", "causal", "--hide-pauses", "-F", "work", "--iterations", "1", "--baseline-runs", "3", "--native-runs", "0", "-o", "r.db", "--")
        line = "strobe: the program reads the time stamp counter in read_counter: --hide-pauses does not hide pauses from it\n"
        self.assertIn(line, self.strobe(*arguments, COUNTER).stderr)
        self.assertNotIn("stamp counter", self.strobe(*arguments, CLOCKS, "/dev/null").stderr)

    def test_option(self):
        """The result says whether pauses were hidden."""
        for options, value in (((), "no"), (("--hide-pauses",), "yes")):
            self.runs(*options, "--iterations", "1")
            self.assertEqual(json.loads((self.at / "r.json").read_text())["options"]["hide-pauses"], value)


class Running(Clocks):
    def check_pid(self):
        """In a running process, pauses are hidden in all windows. Clocks are right again when Strobe has left, and no deadline is missed."""
        lines = self.at / "lines"
        process = self.begin(CLOCKS, lines, "for-ever")
        self.strobe("-q", "--pid", process.pid, "-m", "causal", "--hide-pauses", "-F", "work", "--progress", "other_work", "--window", "1s", "--repeat", "1",
                    "--iterations", "4", "--baseline-runs", "3", "--timeout", "0", "-o", "r.json")
        self.assertIsNone(process.poll())
        time.sleep(2)  # without probes
        self.assertIsNone(process.poll())
        process.kill()
        steps = [line.split() for line in lines.read_text().splitlines()[:-1] if len(line.split()) == 4]
        timed = [Step(words[1:]) for words in steps if words[0] in RESUMED]
        # When Strobe leaves, the clocks go forward by all that was hidden.
        self.assertGreater(sum(max(step.real - step.own, 0) for step in timed), 0.2)
        # A deadline is reached early only where a window ends meanwhile, whose debts are forgotten.
        early = [step for step in timed if step.late < 0 or step.own < LATER]
        self.assertLessEqual(len(early), 8)
        for step in timed[-10:]:
            self.assertAlmostEqual(step.own, step.real, delta=EXACT)

    def test_pid(self):
        self.attempt(self.check_pid)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
