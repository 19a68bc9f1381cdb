#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Searches of strobe fuzz that workers make, and that share what they find: test_fuzz.py STROBE LIST LINEAR FAULT PATHS."""
import csv
import json
import os
import shutil
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import worked  # noqa: E402
from worked import ON, WORKERS  # noqa: E402

worked.Case.strobe, LIST, LINEAR, FAULT, PATHS = (os.path.abspath(path) for path in sys.argv[1:6])
del sys.argv[1:6]
ROUNDS = 4
BEGIN = ["-q", "--format", "json", "-t", "600s", "--judge", "600s", "-N", "2000", "-j", "1"]  # numbers, and not times, are the limits
RULES = ["--rules", "double-line,copy-line,repeat-word"]


class Fuzz(worked.Case):
    def setUp(self):
        super().setUp()
        (self.folder / "seed").write_bytes(b"a few [words] in [brackets]\n")

    def fuzz(self, *options, program=LIST, output="out"):
        return self.start("fuzz", *BEGIN, "-s", "seed", "-o", output, *options, "--", program, "@@")

    def results(self, output="out"):
        return {path.read_bytes() for path in (self.folder / output / "results").iterdir()}

    def status(self):
        return self.end(self.start("campaign", "status", "campaign"), 0)[0]

    def assert_quadratic(self, text):
        [finding] = json.loads(text)["findings"]
        self.assertEqual((finding["kind"], finding["function"], finding["law"]["form"]), ("slow", "append_bracket", "power"))
        self.assertGreater(finding["law"]["lo"], 1.3)  # no input has more than 2000 bytes
        self.assertLess(finding["law"]["hi"], 2.3)

    def test_quadratic(self):
        """The result is complete as without workers: counts, inputs with their chains of rules, and the log."""
        out, errors = self.end(self.fuzz("--executions", "60", *RULES, *ON), 0)
        self.assertEqual((out, errors), ((self.folder / "out/fuzz.json").read_text(encoding="utf-8"), ""))
        self.assert_quadratic(out)
        got = json.loads(out)
        # Each search executes the seed twice, and at least its share of the children.
        self.assertGreaterEqual(got["executions"], 60 + 2 * ROUNDS * WORKERS)
        # Each rule has the executions of all searches.
        searches = ROUNDS * WORKERS
        self.assertEqual(sum(rule["executions"] for rule in got["rules"]), searches * ((60 + searches - 1) // searches))
        with open(self.folder / "out/log.csv", newline="", encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["kind"] == "result"]
        self.assertEqual((len(rows), len(self.results())), (got["interesting"], got["interesting"]))
        for row in rows:
            self.assertEqual(len((self.folder / "out" / row["file"]).read_bytes()), int(row["bytes"]))
            self.assertLessEqual(set(row["rules"].split()), {"double-line", "copy-line", "repeat-word"})
            self.assertTrue(row["rules"])
        self.assertEqual(sorted(os.listdir(self.folder)), ["out", "seed"])

    def test_killed(self):
        """A worker and the controller are killed; the searches that have a result are not made again, and all inputs are those of an undisturbed campaign."""
        words = ("--executions", "60", *RULES, *ON)
        self.end(self.fuzz(*words, "--judge", "1s", output="peace"), 0)
        kept = self.kill_both(self.fuzz(*words, "--campaign", "campaign"), 1, 2)
        out, _ = self.end(self.start("campaign", "resume", "campaign"), 0)
        self.assert_quadratic(out)
        self.assert_kept(kept, ROUNDS * WORKERS)
        self.assertEqual(self.results(), self.results("peace"))
        self.assertIn(f"\nstate: complete; {ROUNDS * WORKERS} of {ROUNDS * WORKERS} tasks have a result, 0 were given up\n", self.status())
        # Before the tasks of the last round are known, all are counted.
        tasks = (self.folder / "campaign/tasks").read_text().splitlines(keepends=True)
        (self.folder / "campaign/tasks").write_text("".join(tasks[:-WORKERS]))
        for number in range(len(tasks) - WORKERS, len(tasks)):
            (self.folder / f"campaign/results/{number}").rename(self.folder / f"late.{number}")
        last = (ROUNDS - 1) * WORKERS
        self.assertIn(f"\nstate: interrupted; {last} of {ROUNDS * WORKERS} tasks have a result, 0 were given up\n", self.status())
        for number in range(len(tasks) - WORKERS, len(tasks)):
            (self.folder / f"late.{number}").rename(self.folder / f"campaign/results/{number}")
        # The controller is killed after the search: its own executions are in its journal.
        shutil.rmtree(self.folder / "out/findings")
        again, _ = self.end(self.start("campaign", "resume", "campaign"), 0)
        self.assert_quadratic(again)
        self.assertEqual(self.results(), self.results("peace"))
        (self.folder / "seed").write_bytes(b"another [seed]\n")
        _, errors = self.end(self.fuzz(*words, "--campaign", "campaign"), 125)
        self.assertEqual(errors, worked.REFUSED)

    def test_linear(self):
        """No finding."""
        out, _ = self.end(self.fuzz("--executions", "40", *ON, program=LINEAR), 0)
        got = json.loads(out)
        self.assertEqual((got["findings"], got["cannot_tell"], got["not_judged"]), ([], 0, 0))

    def test_failures(self):
        """The controller reports a seed that ends the program before a worker begins, so that there is nothing to resume."""
        _, errors = self.end(self.fuzz("--executions", "40", *ON, program="./nosuch"), 127)
        self.assertEqual(errors, "strobe: cannot run ./nosuch: No such file or directory\n")
        (self.folder / "false").write_text("#!/bin/sh\nkill -SEGV $$\n", encoding="utf-8")
        (self.folder / "false").chmod(0o755)
        _, errors = self.end(self.fuzz("--executions", "40", *ON, "--campaign", "campaign", program="./false"), 125)
        self.assertEqual(errors, "strobe: with seed 1, the program is ended by signal 11: give seeds with which it ends normally\n")
        self.assertEqual(sorted(os.listdir(self.folder)), ["false", "seed"])

    def test_shared_inputs(self):
        """What a worker writes, another one begins with; other files are refused."""
        search = ("--experiment", "600 20 1", *RULES)
        self.end(self.fuzz(*search, output="first"), 0)
        first = (self.folder / "first").read_bytes()
        self.assertRegex(first, rb"^executions 22\nrules( \d+){6}\ninput 0x1\.[0-9a-f.]*p\+\d+ 0 \d+( \d+)+\n")
        self.assertEqual(sum(map(int, first.splitlines()[1].split()[1::2])), 20)
        self.end(self.fuzz(*search, output="again"), 0)
        self.assertEqual((self.folder / "again").read_bytes(), first)
        self.end(self.fuzz("--experiment", "0 0 2", *RULES, "--reference", "first", output="second"), 0)
        second = (self.folder / "second").read_bytes().splitlines()
        self.assertEqual(second[1:3], [b"rules 0 0 0 0 0 0", first.splitlines()[2]])
        for text, message in ((b"executions 1\nrules 1 1\ninput 0x1p+1 0 4 0\nabcd", "the inputs of a worker in bad are damaged: name another folder with --campaign"),
                              (b"executions 1\nrules 1\n", "the inputs of a worker in bad are damaged: name another folder with --campaign"),
                              (b"executions 1\ninput 0x1p+1 0 4 0\nabcd\n", "the inputs of a worker in bad are damaged: name another folder with --campaign"),
                              (b"executions x\n", "the inputs of a worker in bad are damaged: name another folder with --campaign"),
                              (b"executions 1\nrules 1 1\ninput 0x1p+1 0 4\nabcd\n", "the inputs of a worker in bad are damaged: name another folder with --campaign"),
                              (b"executions 1\nrules 1 1\ninput 0x1p+1 0 99999999999 0\nabcd\n", "the inputs of a worker in bad are damaged: name another folder with --campaign"),
                              (b"executions 1\nrules 1 1\ninput 0x1p+1 7 4 0\nabcd\n", "a worker has sent an input of another campaign: name another folder with --campaign"),
                              (b"executions 1\nrules 1 1\ninput 0x1p+1 0 4 99\nabcd\n", "a worker has sent an input of another campaign: name another folder with --campaign")):
            (self.folder / "bad").write_bytes(text)
            self.assertEqual(self.end(self.fuzz(*search, "--reference", "bad", output="none"), 125), ("", f"strobe: {message}\n"))
        self.assertFalse((self.folder / "none").exists())

    def test_path_coverage(self):
        """Workers search by paths, too: all inputs execute the same number of instructions, and only their calling contexts differ."""
        (self.folder / "seed").write_bytes(b"yyyyyyyyyyyy")
        words = ("--rules", "swap-bytes", "--regex", "y=>x", "--judge", "1ms")
        kept = {}
        for coverage in "sum", "paths":
            search = (*words, "--coverage", coverage)
            self.end(self.fuzz(*search, "--experiment", "600 20 1", program=PATHS, output=f"worker.{coverage}"), 0)
            out, _ = self.end(self.fuzz(*search, "--executions", "40", *ON, program=PATHS, output=coverage), 0)
            got = json.loads(out)
            kept[coverage] = self.results(coverage)
            self.assertEqual((got["coverage"], got["interesting"], got["most_work"]), (coverage, len(kept[coverage]), got["base_work"]))
        self.assertRegex((self.folder / "worker.sum").read_bytes(), rb"^executions 12\nrules 10 0 0 0\n$")  # the first 1 to 10 letters y become x
        self.assertRegex((self.folder / "worker.paths").read_bytes(), rb"^executions 22\nrules \d+ \d+ \d+ 0\ninput ")
        self.assertEqual(kept["sum"], set())
        self.assertNotEqual(kept["paths"], set())
        for path in got["paths"]:
            self.assertIn("first_way", path["functions"][-2:], path)

    def test_faults(self):
        """An input that the program does not survive is kept with its stack, as without workers."""
        (self.folder / "seed").write_bytes(b"x\n")
        out, _ = self.end(self.start("fuzz", *BEGIN, "-s", "seed", "-o", "out", "--executions", "80", "--regex", "x+=>xx", "--rules", "flip-bit", *ON, "--", FAULT), 0)
        got = json.loads(out)
        self.assertGreaterEqual(got["faults"], 1)
        self.assertEqual({finding["kind"] for finding in got["findings"]}, {"fault"})
        self.assertNotEqual(os.listdir(self.folder / "out/faults"), [])

    def test_mistakes(self):
        for words, text in (
                (("--campaign", "x"), "--campaign needs workers: add --on local or --on slurm"),
                (("--on", "local", "--resume"), "--resume cannot be used with --on: to continue, name the same folder with --campaign"),
                (("--on", "here"), "--on takes local, local:N, slurm or slurm:PARTITION, not 'here'"),
        ):
            self.assertEqual(self.end(self.fuzz(*words), 2), ("", f"strobe: {text}\n"))
        self.assertEqual(self.end(self.fuzz("--experiment", "1 2"), 2), ("", "strobe: '1 2' is no search of this campaign\n"))
        self.assertEqual(os.listdir(self.folder), ["seed"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
