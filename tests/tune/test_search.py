#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""strobe tune --max and --max-threshold: test_search.py STROBE SOURCE. The metric is what a command says (source.c). It depends on the number of
the run alone, and a run lasts until enough numbers have been read."""
import concurrent.futures
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

# A run lasts until 15 numbers have been read; 10 are needed. In the one without a budget nobody asks: it is the second, or $REFERENCE.
PROGRAM = """#!/bin/sh
run=$(($(cat last) + 1))
echo $run >last
echo "$*" >>arguments
[ $run -ne ${REFERENCE-2} ] || exit 5
begin=$(cat given)
echo $run >run.new && mv run.new run
while [ $(($(cat given) - begin)) -lt 15 ]; do sleep 0.02; done
rm run
exit 5
"""

# The same; but the native run and the one without a budget neither end nor let themselves be ended.
STUBBORN = """#!/bin/sh
trap '' TERM
run=$(($(cat last) + 1))
echo $run >last
echo $run >run.new && mv run.new run
if [ $run -le 2 ]; then
	(sh -c 'echo $PPID' >>pids; while :; do sleep 0.1; done) &
	echo $$ >>pids
	while :; do sleep 0.1; done
fi
begin=$(cat given)
while [ $(($(cat given) - begin)) -lt 15 ]; do sleep 0.02; done
rm run
"""


STROBE, SOURCE = (os.path.abspath(path) for path in sys.argv[1:3])


class Search(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-search-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "tmp").mkdir()
        self.program = self.folder / "program"
        self.program.write_text(PROGRAM)
        self.program.chmod(0o755)

    def tune(self, *arguments, values=(), other=100, code=0, reference=2, interrupt=0):
        """values: (run, value) of those that do not have the other one; interrupt: the run in which a signal comes."""
        for name in "last", "given":
            (self.folder / name).write_text("0\n")
        (self.folder / "values").write_text("".join(f"{run} {value}\n" for run, value in (*values, ("else", other))))
        source = f"cmd:exec {SOURCE} {self.folder}"
        line = [STROBE, "tune", "-T", "20ms", "--qos", source, *map(str, arguments), "--", self.program, "word"]
        environment = dict(os.environ, TMPDIR=str(self.folder / "tmp"), REFERENCE=str(reference))
        with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder, env=environment) as strobe:
            end = time.monotonic() + 200
            while interrupt and strobe.poll() is None and time.monotonic() < end and (self.folder / "last").read_text() != f"{interrupt}\n":
                time.sleep(0.01)
            if interrupt:
                strobe.send_signal(signal.SIGINT)
            out, err = strobe.communicate(timeout=250)
        (self.folder / "run").unlink(missing_ok=True)
        self.assertEqual(strobe.returncode, code, err)
        self.assertEqual(list((self.folder / "tmp").iterdir()), [])
        return subprocess.CompletedProcess(line, code, out, err)

    def search(self, *arguments, **how):
        return json.loads(self.tune("--format", "json", *arguments, **how).stdout)

    def test_budget(self):
        """The whole period is too much: the first run with a budget misses the threshold, the others keep it."""
        s = self.search("--max", "--qos-min", 90, values=[(3, 50)])
        self.assertEqual((s["of"], s["tool"], s["policy"], s["min"], s["period"], s["repeat"]), ("budget", "branches", "watch", 90, 0.02, 1))
        self.assertEqual(s["command"], f"{self.program} word")
        self.assertEqual([step["budget"] for step in s["steps"]], [1, 0.5, 0.75, 0.87, 0.93, 0.96, 0.98, 0.99])
        self.assertEqual([step["holds"] for step in s["steps"]], [False] + 7 * [True])
        self.assertEqual(s["best"], s["steps"][-1])
        self.assertTrue(s["complete"])
        for step in s["steps"]:
            self.assertGreaterEqual(step["readings"], 10)
            self.assertEqual((step["kept"], step["median"], step["worst"]), (step["readings"], 100, 100) if step["holds"] else (0, 50, 50))
            self.assertLessEqual(0, step["instructions"])
        self.assertEqual((s["native"]["median"], s["native"]["kept"]), (100, s["native"]["readings"]))
        self.assertGreater(s["instructions"], 1000)
        self.assertEqual((self.folder / "arguments").read_text(), (10 + len(s["covered"])) * "word\n")
        self.check_covered(s)

    def test_a_worker_searches(self):
        """With workers, one of them makes all runs: the same steps, once; when the result is there, none is made again."""
        on = "-q", "--on", "local:1", "--node-noise", "0"
        s = self.search("--max", "--qos-min", 90, *on, "--campaign", "campaign", values=[(3, 50)])
        self.assertEqual([(step["budget"], step["holds"]) for step in s["steps"]],
                         [(1, False)] + [(budget, True) for budget in (0.5, 0.75, 0.87, 0.93, 0.96, 0.98, 0.99)])
        self.assertEqual((s["best"], s["complete"], s["command"]), (s["steps"][-1], True, f"{self.program} word"))
        self.assertEqual((s["native"]["median"], s["native"]["kept"]), (100, s["native"]["readings"]))
        self.assertGreater(s["instructions"], 1000)
        self.assertEqual((self.folder / "arguments").read_text(), (10 + len(s["covered"])) * "word\n")
        self.check_covered(s)
        again = self.search("--max", "--qos-min", 90, *on, "--campaign", "campaign")
        self.assertEqual(again, s)
        self.assertEqual((self.folder / "last").read_text(), "0\n")
        self.assertEqual(list((self.folder / "tmp").iterdir()), [])

    def test_a_worker_fails(self):
        """What ends a search ends that of a worker with the same words."""
        words = "--max", "--qos-min", 100.5
        alone, far = self.tune(*words, code=125).stderr, self.tune(*words, "-q", "--on", "local:1", "--node-noise", "0", code=125).stderr
        self.assertIn("natively --qos-min 100.5 is kept in 0 of ", alone)
        self.assertIn("natively --qos-min 100.5 is kept in 0 of ", far)

    def check_covered(self, s):
        """Runs with what was found share a log, until 99 % of the instructions have been measured."""
        self.assertTrue(1 <= len(s["covered"]) <= 10)
        self.assertEqual(s["covered"], sorted(s["covered"]))
        for share in 98, 99:
            reached = [i + 1 for i, n in enumerate(s["covered"]) if n >= share / 100 * s["instructions"]]
            self.assertEqual(s[f"runs_to_{share}"], reached[0] if reached else None)
        self.assertEqual(len(s["covered"]), s["runs_to_99"] or 10)

    def test_none_holds(self):
        out = self.tune("--max", "--qos-max", 90, "-o", self.folder / "found", values=[(1, 80)]).stdout
        self.assertIn("\nnot even a budget of 1 % keeps it\n", out)
        found = json.loads((self.folder / "found").read_text())
        self.assertEqual((found["max"], found["best"], found["complete"]), (90, None, True))
        self.assertEqual((found["covered"], found["runs_to_98"], found["runs_to_99"]), ([], None, None))
        self.assertEqual([step["budget"] for step in found["steps"]], [1, 0.5, 0.25, 0.12, 0.06, 0.03, 0.01])

    def test_all_holds(self):
        out = self.tune("--max", "--qos-min", 100).stdout
        self.assertIn("\nlargest budget that keeps it: -b 100% -T 0.02s\n", out)
        self.assertRegex(out, r"\nunique coverage of further runs with it, which share a log \(--unique-log\):\n  98 % (after|not after) \d+ runs?")

    def test_threshold(self):
        """With any budget the number is 80, natively 100."""
        s = self.search("--max-threshold", "--qos-min", 50, "-b", "30%", values=[(1, 100)], other=80)
        self.assertEqual((s["of"], s["policy"], s["min"], s["budget"]), ("threshold", "hold", 50, 0.3))
        self.assertEqual([step["threshold"] for step in s["steps"]], [100, 75, 87.5, 81, 78, 79.5, 80, 80.5])
        self.assertEqual(s["best"]["threshold"], 80)
        self.check_covered(s)

    def test_lowest_threshold(self):
        """Where less is better: between 20, natively, and 60, which is not kept either."""
        done = self.tune("--max-threshold", "--qos-max", 60, "--qos-policy", "function", "-o", self.folder / "found",
                         values=[(1, 20)], other=61)
        self.assertIn("\nnot even --qos-max 60 is kept\n", done.stdout)
        found = json.loads((self.folder / "found").read_text())
        self.assertEqual((found["policy"], found["max"], found["best"]), ("function", 60, None))
        self.assertEqual([step["threshold"] for step in found["steps"]], [20, 40, 50, 55.2, 57.6, 58.8, 59.6, 60])

    def test_repeated(self):
        """Readings of several runs are taken together."""
        s = self.search("--max", "--qos-min", 90, "-r", 2, reference=3, values=[(run, 90 + run) for run in range(6)])
        step, = s["steps"]
        self.assertGreaterEqual(step["readings"], 20)
        self.assertEqual((step["holds"], step["worst"], s["native"]["worst"]), (True, 94, 91))
        self.assertTrue(94 < step["median"] < 95 and 91 < s["native"]["median"] < 92)

    def test_not_kept_natively(self):
        done = self.tune("--max", "--qos-min", 100.5, code=125)
        self.assertRegex(done.stderr, r"^strobe: natively --qos-min 100.5 is kept in 0 of \d\d readings only: no budget can do better\n$")

    def test_for(self):
        """A program that does not end is ended."""
        done = subprocess.run([STROBE, "tune", "--max", "--qos", "cmd:sleep 1000", "--qos-min", "1", "--for", "200ms", "--", "sleep", "1000"],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn("strobe: cmd:sleep 1000 gave 0 readings in a run, and a search needs at least 10: let the program run longer (a greater --for, or more work)", done.stderr)

    def test_for_all_that_it_started(self):
        """Natively and measured: a program, and its child, which SIGTERM does not end, and SIGKILL does a little later."""
        self.program.write_text(STUBBORN)
        self.tune("--max", "--qos-min", 90, "--for", "2s", reference=0)
        pids = (self.folder / "pids").read_text().split()
        self.assertEqual(len(pids), 4)
        for pid in pids:
            with self.subTest(pid=pid), contextlib.suppress(FileNotFoundError):
                self.assertNotIn(str(self.folder), Path(f"/proc/{pid}/cmdline").read_text())

    def test_interrupted(self):
        """What was tried before is told."""
        done = self.tune("--max", "--qos-min", 90, "-o", self.folder / "found", values=[(1, 100), (4, "none")], other=50, interrupt=4,
                         code=128 + signal.SIGINT)
        self.assertEqual(done.stderr, f"strobe: interrupted; what was measured before is kept\nstrobe: result: {self.folder}/found\n")
        found = json.loads((self.folder / "found").read_text())
        self.assertEqual(([step["budget"] for step in found["steps"]], found["best"], found["complete"]), ([1], None, False))
        self.assertIn("\nthe search ended before it found anything certain\n", done.stdout)
        self.assertIn(" 100 % ", done.stdout)
        self.assertNotIn(" 50 % ", done.stdout)


def main():
    """All tests at once: each waits most of its time for readings."""
    tests = list(unittest.defaultTestLoader.loadTestsFromTestCase(Search))
    with concurrent.futures.ThreadPoolExecutor(len(tests)) as pool:
        results = list(pool.map(lambda test: test.run(unittest.TestResult()), tests))
    bad = [fault for result in results for fault in result.failures + result.errors]
    for test, text in bad:
        print(f"{test}:\n{text}", file=sys.stderr)
    print(f"{len(tests) - len(bad)} passed, {len(bad)} failed")
    return bool(bad)


sys.exit(main())
