#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Inclusive shares of a program whose shape says what they must be (shape.c)."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

STROBE, SHAPE = sys.argv[1:3]
UNITS = 14.0  # of work in all
SLACK = 0.06  # of a share: a few hundred samples


def profile(*options):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "result.json")
        subprocess.run([STROBE, "run", "-q", "--format", "json", "-o", path, *options, "--", SHAPE], check=True,
                       stdout=subprocess.DEVNULL)
        with open(path, encoding="utf-8") as file:
            return json.load(file)


class Totals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.result = profile()
        cls.functions = {f["name"]: f for f in cls.result["functions"]}

    def share(self, name, units):
        self.assertAlmostEqual(self.functions[name]["total_share"], units / UNITS, delta=SLACK, msg=name)

    def test_stacks_are_whole(self):
        samples = self.result["samples"]
        self.assertEqual(samples["stacks"], samples["program"])
        self.assertLessEqual(samples["stacks_cut"], samples["stacks"] // 50)

    def test_work_is_at_the_bottom(self):
        self.share("spin", UNITS)
        self.assertGreater(self.functions["spin"]["self_share"], 0.9)

    def test_caller_without_work_of_its_own(self):
        self.share("caller_of_three", 3)
        self.assertLess(self.functions["caller_of_three"]["self_share"], 0.01)

    def test_recursion_counts_once(self):
        self.share("recursive", 2)
        self.assertEqual(self.functions["recursive"]["calls"], 301)

    def test_through_a_signal_handler(self):
        self.share("on_signal", 2)
        self.share("interrupted", 2)

    def test_callbacks_of_a_library(self):
        self.share("compare", 2)
        self.share("sorts", 2)

    def test_library_without_frame_pointers(self):
        self.share("without_frame_pointer", 3)

    def test_threads(self):
        self.share("thread", 2)
        self.share("main", UNITS - 2)

    def test_without_samples_there_are_no_totals(self):
        for function in profile("--sample-hz", "0")["functions"]:
            self.assertIsNone(function["total_share"])


unittest.main(argv=sys.argv[:1])
