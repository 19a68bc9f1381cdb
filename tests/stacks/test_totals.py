#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Inclusive shares of a program that says what they must be (shape.c)."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

STROBE, SHAPE = sys.argv[1:3]
SLACK = 0.06  # of a share, which comes from a few hundred samples


def profile(*options):
    """The result, and what CPU time the program says each of its parts has taken."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "result.json")
        done = subprocess.run([STROBE, "run", "-q", "--format", "json", "-o", path, *options, "--", SHAPE], check=True,
                              stdout=subprocess.PIPE, text=True)
        parts = dict(line.split() for line in done.stdout.splitlines())
        with open(path, encoding="utf-8") as file:
            return json.load(file), {name: int(ns) for name, ns in parts.items()}


class Totals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.result, cls.parts = profile()
        cls.functions = {f["name"]: f for f in cls.result["functions"]}

    def share(self, name, *parts):
        """The function's is that of these parts of the program, or of the one of its name."""
        wanted = sum(self.parts[part] for part in parts or [name]) / sum(self.parts.values())
        self.assertAlmostEqual(self.functions[name]["total_share"], wanted, delta=SLACK, msg=name)

    def test_stacks_are_whole(self):
        samples = self.result["samples"]
        self.assertEqual(samples["stacks"], samples["program"])
        self.assertLessEqual(samples["stacks_cut"], samples["stacks"] // 50)

    def test_work_is_at_the_bottom(self):
        self.share("spin", *self.parts)
        self.assertGreater(self.functions["spin"]["self_share"], 0.9)

    def test_caller_without_work_of_its_own(self):
        self.share("caller_of_three")
        self.assertLess(self.functions["caller_of_three"]["self_share"], 0.01)

    def test_recursion_counts_once(self):
        self.share("recursive")
        self.assertEqual(self.functions["recursive"]["calls"], 301)

    def test_through_a_signal_handler(self):
        self.share("on_signal", "interrupted")
        self.share("interrupted")

    def test_callbacks_of_a_library(self):
        self.share("compare", "sorts")
        self.share("sorts")

    def test_library_without_frame_pointers(self):
        self.share("without_frame_pointer")

    def test_threads(self):
        self.share("thread")
        self.share("main", *(part for part in self.parts if part != "thread"))

    def test_without_samples_there_are_no_totals(self):
        for function in profile("--sample-hz", "0")[0]["functions"]:
            self.assertIsNone(function["total_share"])


unittest.main(argv=sys.argv[:1])
