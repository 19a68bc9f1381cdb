#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Studies whose pairs workers run: test_tune.py STROBE KNOWN. KNOWN is a program whose every instruction is known (tests/tools/known.S)."""
import json
import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import worked  # noqa: E402
from worked import ON  # noqa: E402

worked.Case.strobe, KNOWN = (os.path.abspath(path) for path in sys.argv[1:3])
del sys.argv[1:3]
# Of known.S, as in tests/tune/test_runs.py.
INSTRUCTIONS = 13 + 9 + 4 + 1 + 12
EXECUTED = 2 + 1000 * (6 + 9) + 750 + 1 + 3 + (4 + 1) + 58
GRID = ["-b", "100%,1%", "-T", "1h,20ms", "--seed", "7"]


class Tune(worked.Case):
    def setUp(self):
        super().setUp()
        (self.folder / "tmp").mkdir()
        self.environment["TMPDIR"] = str(self.folder / "tmp")

    def tune(self, *options, program=("--", KNOWN)):
        return self.start("tune", "-q", "--format", "json", *GRID, *options, *program)

    def assert_whole(self, study, repeat):
        """Each pair once, in the order of the plan; a pair whose period is longer than the program covers it completely."""
        self.assertEqual((study["complete"], study["repeat"], len(study["runs"])), (True, repeat, 4 * repeat))
        program, = study["programs"]
        self.assertEqual((program["exit"], program["instructions"], program["raw_instructions"]), (0, INSTRUCTIONS, EXECUTED))
        for run in study["runs"]:
            if (run["budget"], run["period"]) == (1, 3600):
                self.assertEqual((run["instructions"], run["raw_instructions"]), (INSTRUCTIONS, EXECUTED))
            self.assertLessEqual(run["instructions"], INSTRUCTIONS)
            self.assertEqual(run["slowdown_cpu"], run["measured"]["cpu_seconds"] / run["native"]["cpu_seconds"])

    @staticmethod
    def plan(study):
        return [(run["program"], run["budget"], run["period"], run["repetition"]) for run in study["runs"]]

    def test_same_plan(self):
        alone = json.loads(self.end(self.tune("-r", 3), 0)[0])
        out, errors = self.end(self.tune("-r", 3, *ON), 0)
        self.assertEqual(errors, "")
        study = json.loads(out)
        self.assert_whole(study, 3)
        self.assertEqual(self.plan(study), self.plan(alone))
        self.assertEqual(os.listdir(self.folder), ["tmp"])
        self.assertEqual(os.listdir(self.folder / "tmp"), [])

    def test_noisy_node(self):
        """The message names the option that this command has."""
        _, errors = self.end(self.start("tune", "-q", *GRID, "--on", "local:1", "--node-noise", "0.0000001", "--", KNOWN), 125)
        self.assertRegex(errors, r"^strobe: no worker of the campaign is left; node .*: equal work differs by up to .* %, but at most 1e-07 % are allowed: allow more with --node-noise\n$")

    def test_list(self):
        """Programs of a file, without one in the command."""
        (self.folder / "list").write_text(f"{KNOWN} one\n{KNOWN} 'two words'\n", encoding="utf-8")
        study = json.loads(self.end(self.tune("-r", 1, "-p", "list", *ON, program=()), 0)[0])
        self.assertEqual([program["command"] for program in study["programs"]], [[KNOWN, "one"], [KNOWN, "two words"]])
        self.assertEqual(sorted(self.plan(study)), sorted((p, b, t, 0) for p in (0, 1) for b in (0.01, 1) for t in (0.02, 3600)))

    def test_killed(self):
        """A worker and the controller are killed; pairs that have a result are not run again."""
        repeat = 6
        words = ("-r", repeat, *ON, "--campaign", "campaign")
        kept = self.kill_both(self.tune(*words), 2, 6)
        study = json.loads(self.end(self.start("campaign", "resume", "campaign"), 0)[0])
        self.assert_whole(study, repeat)
        self.assert_kept(kept, 1 + 4 * repeat)
        again = json.loads(self.end(self.tune(*words), 0)[0])
        self.assertEqual(again["runs"], study["runs"])
        _, errors = self.end(self.tune("-r", repeat, *ON, "--campaign", "campaign", "--budget-policy", "native"), 125)
        self.assertEqual(errors, worked.REFUSED)

    def test_failing_program(self):
        """A program that ends in another way than before, and one that does not exist."""
        script = self.folder / "p.sh"
        script.write_text('#!/bin/sh\ni=0; while [ $i -lt 3000 ]; do i=$((i+1)); done\n[ -e flag ] && exit 3\n: > flag\n', encoding="utf-8")
        script.chmod(0o755)
        _, errors = self.end(self.tune("-r", 1, *ON, "--campaign", "campaign", program=("--", "./p.sh")), 125)
        self.assertEqual(errors.splitlines()[0], "strobe: ./p.sh exited with 0 at first and with 3 when it was measured: its runs cannot be compared")
        _, errors = self.end(self.tune("-r", 1, *ON, "--campaign", "other", program=("--", "./nosuch")), 125)
        self.assertEqual(errors.splitlines()[0], "strobe: cannot run ./nosuch: No such file or directory")

    def test_result_cannot_be_written(self):
        """The measurements are kept until the result is written: the program removes the folder of the result."""
        (self.folder / "out").mkdir()
        script = self.folder / "p.sh"
        script.write_text('#!/bin/sh\ni=0; while [ $i -lt 3000 ]; do i=$((i+1)); done\nrm -rf out\n', encoding="utf-8")
        script.chmod(0o755)
        _, errors = self.end(self.tune("-r", 1, *ON, "-o", "out/r.json", program=("--", "./p.sh")), 125)
        [folder] = [name for name in os.listdir(self.folder) if name.startswith("strobe-campaign-tune.")]
        self.assertEqual(errors, "strobe: cannot write the result to out/r.json: No such file or directory; name another place with -o\n")
        (self.folder / "out").mkdir()
        self.end(self.start("campaign", "resume", folder), 0)
        self.assertEqual(len(json.loads((self.folder / "out/r.json").read_text(encoding="utf-8"))["runs"]), 4)

    def test_mistakes(self):
        for words, text in (
                (("--campaign", "x"), "--campaign needs workers: add --on local or --on slurm"),
                (("--experiment", "pair 0 0 0 0 1", "-o", "x", "--max", "--qos", "file:x", "--qos-min", "1"), "'pair 0 0 0 0 1' is no part of this search"),
                (("--experiment", "search", "-o", "x"), "'search' is no part of this study"),
                (("--on", "here"), "--on takes local, local:N, slurm or slurm:PARTITION, not 'here'"),
                (("--on", "local", "--lease", "1ms"), "--lease takes a time of a second or more, such as 60s, not '1ms'"),
                (("--experiment", "program 0"), "--experiment needs a file for its result: -o FILE"),
                (("--experiment", "program 1", "-o", "x"), "'program 1' is no part of this study"),
                (("--experiment", "pair 0 0 0 0 1 2", "--reference", "y", "-o", "x"), "'pair 0 0 0 0 1 2' is no part of this study"),
                (("--experiment", "pair 0 9 0 0 1", "--reference", "y", "-o", "x"), "'pair 0 9 0 0 1' is no part of this study"),
        ):
            self.assertEqual(self.end(self.start("tune", *words, "--", KNOWN), 2), ("", f"strobe: {text}\n"))
        (self.folder / "y").write_text("program 0 1 1 1 1 2\n", encoding="utf-8")
        _, errors = self.end(self.start("tune", "--experiment", "pair 0 0 0 0 1", "--reference", "y", "-o", "x", "--", KNOWN), 125)
        self.assertEqual(errors, "strobe: the result of a worker in y is damaged\n")
        self.assertEqual(sorted(os.listdir(self.folder)), ["tmp", "y"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
