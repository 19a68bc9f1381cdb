#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gates whose pairs are measured by workers of this machine: test_gate.py STROBE."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections import Counter, defaultdict
from pathlib import Path

STROBE = os.path.abspath(sys.argv.pop(1))
WORKERS = min(len(os.sched_getaffinity(0)), 2)
LONG = 240  # s: far more than any step takes
ALL = ["--counts", "0", "--limit", "0.0001", "--alarm", "0.0001", "--miss", "0.0001", "--seed", "7"]  # no verdict before the last pair
PROGRAM = """#!/bin/sh
# One line for each run: the side, the bytes that move the stack, and the CPUs that it may use.
echo "$1 ${#STROBE_GATE} $(grep Cpus_allowed_list: /proc/self/status)" >> "$OUT"
"""


class Gate(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-batch-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.out, self.campaign = self.folder / "ran", self.folder / "campaign"
        self.environment = {**os.environ, "OUT": str(self.out), "FLAG": str(self.folder / "flag")}
        self.started = []
        self.addCleanup(self.end_all)
        self.program(PROGRAM)

    def end_all(self):
        for process in self.started:
            process.kill()
            process.communicate()

    def program(self, text):
        script = self.folder / "p.sh"
        script.write_text(text, encoding="utf-8")
        script.chmod(0o755)

    def start(self, *words):
        process = subprocess.Popen([STROBE, *words], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.started.append(process)
        return process

    def end(self, process, code):
        out, errors = process.communicate(timeout=LONG)
        self.assertEqual(process.returncode, code, errors)
        return out, errors

    def gate(self, pairs, *options, on=f"local:{WORKERS}", code=3):
        workers = ["--on", on, "--noise", "0"] if on else []
        return self.end(self.start("gate", "--base", "./p.sh base", "--target", "./p.sh target", *ALL, "--pairs", str(pairs), *workers, *options), code)

    def runs(self):
        return [line.split() for line in self.out.read_text(encoding="utf-8").splitlines()] if self.out.exists() else []

    def test_same_pairs(self):
        """The pairs are those that the seed gives without workers, and both runs of a pair are on one CPU."""
        self.gate(12, on=None)
        alone = [(side, size) for side, size, *_ in self.runs()]
        self.out.unlink()
        text, errors = self.gate(12)
        self.assertEqual(errors, "")
        self.assertIn(f"the pairs were measured by workers on {os.uname().nodename} (12 pairs)\n", text)
        self.assertEqual(len(alone), 24)
        self.assertEqual(Counter((side, size) for side, size, *_ in self.runs()), Counter(alone))
        cpus = defaultdict(list)
        for side, size, _, cpu in self.runs():
            cpus[side, size].append(cpu)
        for pair in zip(alone[::2], alone[1::2]):
            if all(len(cpus[run]) == 1 for run in pair):
                self.assertEqual(cpus[pair[0]], cpus[pair[1]])
                self.assertRegex(cpus[pair[0]][0], r"^\d+$")
        self.assertEqual(sorted(os.listdir(self.folder)), ["p.sh", "ran"])

    def test_killed(self):
        """The controller and workers are killed; the pairs that have a result are not measured again."""
        self.program(PROGRAM + "sleep 0.02\n")
        gate = self.start("gate", "--base", "./p.sh base", "--target", "./p.sh target", *ALL, "--pairs", "40", "--on", f"local:{WORKERS}", "--noise", "0", "--campaign",
                          "campaign")
        results = self.campaign / "results"
        self.wait(lambda: results.exists() and len(os.listdir(results)) >= 4)
        pid = int(os.listdir(self.campaign / "workers")[0].rsplit(".", 2)[1])
        os.kill(pid, signal.SIGKILL)
        self.wait(lambda: len(os.listdir(results)) >= 10)
        gate.kill()
        gate.communicate()
        kept = {name: (results / name).read_bytes() for name in os.listdir(results)}
        state = json.loads(self.end(self.start("campaign", "status", "--format", "json", "campaign"), 0)[0])
        self.assertGreaterEqual(state["finished"], 10)
        out, _ = self.end(self.start("campaign", "resume", "--format", "json", "campaign"), 3)
        result = json.loads(out)
        self.assertEqual((result["benchmarks"][0]["time"]["pairs"], result["rule"]["seed"]), (40, 7))
        for name, text in kept.items():
            self.assertEqual((results / name).read_bytes(), text)
        self.assertEqual({int(name) for name in os.listdir(results)}, set(range(40)))
        self.assertLessEqual(len(self.runs()), 80 + 2 * (1 + WORKERS))
        # Another command, and another controller.
        _, errors = self.end(self.start("gate", "--base", "./p.sh base", "--target", "./p.sh target", "--on", "local", "--campaign", "campaign"), 125)
        self.assertEqual(errors, "strobe: campaign has the campaign of another command, or of other versions or programs: name another folder with --campaign, or remove it\n")

    def wait(self, true):
        until = time.monotonic() + LONG
        while not true():
            self.assertLess(time.monotonic(), until, "nothing happens")
            time.sleep(0.01)

    def test_interrupted(self):
        """Ctrl-C keeps what was measured, and a second controller is refused meanwhile."""
        self.program(PROGRAM + "while [ -e \"$FLAG\" ]; do sleep 0.01; done\n")
        (self.folder / "flag").touch()
        gate = self.start("gate", "--base", "./p.sh base", "--target", "./p.sh target", *ALL, "--pairs", "5", "--on", "local:1", "--noise", "0", "--campaign", "campaign")
        self.wait(lambda: self.out.exists())
        _, errors = self.gate(5, "--campaign", "campaign", code=125)
        self.assertEqual(errors, f"strobe: another strobe works on the campaign in {self.campaign}: wait for it, or end it with strobe campaign cancel\n")
        out, _ = self.end(self.start("campaign", "cancel", "campaign"), 0)
        self.assertEqual(out, f"cancelled: {self.campaign}; to continue: strobe campaign resume {self.campaign}\n")
        _, errors = self.end(gate, 128 + signal.SIGTERM)
        self.assertEqual(errors, f"strobe: all results are kept; to continue: strobe campaign resume {self.campaign}\n")
        (self.folder / "flag").unlink()
        out, _ = self.end(self.start("campaign", "resume", "campaign"), 3)
        self.assertIn("5 pairs", out)

    def test_early_end(self):
        """Pairs that are not needed have no run, and the result is that of the first ones."""
        self.program("#!/bin/sh\ni=0; [ $1 = base ] && n=3000 || n=30000; while [ $i -lt $n ]; do i=$((i+1)); done\n")
        out, errors = self.end(self.start("gate", "--base", "./p.sh base", "--target", "./p.sh target", "--counts", "0", "--pairs", "500", "--on", f"local:{WORKERS}", "--noise",
                                          "0", "--format", "json", "--campaign", "campaign"), 1)
        time_of = json.loads(out)["benchmarks"][0]["time"]
        self.assertEqual((time_of["verdict"], errors), ("regression", ""))
        self.assertLess(time_of["pairs"], 100)
        texts = Counter((self.campaign / "results" / name).read_text(encoding="utf-8").startswith("skipped\n") for name in os.listdir(self.campaign / "results"))
        self.assertEqual(sum(texts.values()), 500)
        self.assertGreaterEqual(texts[False], time_of["pairs"])
        self.assertGreater(texts[True], 0)

    def test_failing_program(self):
        self.program("#!/bin/sh\n[ $1 = base ]\n")
        _, errors = self.gate(3, code=125)
        self.assertEqual(errors.splitlines()[0], "strobe: the gate measured nothing: ./p.sh of the target exited with 1; run it by hand to see why")
        [folder] = [name for name in os.listdir(self.folder) if name.startswith("strobe-campaign-gate.")]
        self.assertEqual(errors.splitlines()[1], f"strobe: all results are kept; to continue: strobe campaign resume {self.folder / folder}")
        shutil.rmtree(self.folder / folder)

    def test_mistakes(self):
        (self.folder / "times").write_text("1 1\n" * 60, encoding="utf-8")
        for words, code, text in (
                (("--on", "there"), 2, "--on takes local, local:N, slurm or slurm:PARTITION, not 'there'"),
                (("--campaign", "x"), 2, "--campaign needs workers: add --on local or --on slurm"),
                (("--noise", "1"), 2, "--noise needs workers: add --on local or --on slurm"),
                (("--on", "local", "--lease", "0"), 2, "--lease takes a time of a second or more, such as 60s, not '0'"),
                (("--on", "local", "--duet", "shared"), 2, "--duet shared cannot be used with --on local: leave out one"),
                (("--on", "local", "--duet", "together"), 2, "--duet together cannot be used with --on local: leave out one"),
                (("--on", "local", "--cpu", "all"), 2, "--cpu all cannot be used with --on local: leave out one"),
                (("--on", "slurm", "--cpu", "0"), 2, "--cpu with a list cannot be used with --on slurm: leave out one"),
                (("--on", "local", "--times", "times"), 2, "--times cannot be used with --on local: leave out one"),
                (("--on", "local", "--functions", "3"), 2, "--functions cannot be used with --on local: leave out one"),
                (("--on", "local", "--pairs", "0"), 2, "--on is for pairs, and --pairs 0 measures none: leave out one"),
        ):
            _, errors = self.end(self.start("gate", "--base", "./p.sh base", "--target", "./p.sh target", *words), code)
            self.assertEqual(errors, f"strobe: {text}\n")
        self.assertEqual(sorted(os.listdir(self.folder)), ["p.sh", "times"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
