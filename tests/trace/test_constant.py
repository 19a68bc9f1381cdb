#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`strobe trace --skip-constant`: test_constant.py STROBE BOUNDS CALLS, the last two being programs/bounds.S and calls.c."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE, BOUNDS, CALLS = [os.path.abspath(name) for name in sys.argv[1:4]]
REASON = "its code has neither a loop nor a call"
CONSTANT = {"b_straight", "b_branches"}
OTHERS = {"b_loop", "b_counted_loop", "b_string", "b_calls", "b_calls_pointer", "b_tail_call", "b_switch", "b_system", "b_data", "main"}


class Constant(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-constant-")
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "trace.json"

    def strobe(self, *arguments):
        return subprocess.run([STROBE, "trace", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, check=False)

    def plan(self, *options):
        done = self.strobe("--dry-run", "--format", "json", *options, BOUNDS)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        # The linker's own entries have no names.
        return {f["name"] for f in json.loads(done.stdout)["functions"] if not f["name"].startswith("func_")}

    def trace(self, program, *options):
        done = self.strobe("-q", "--skip-constant", *options, "-o", self.file, "--", program)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(self.file.read_text())

    def test_plan(self):
        """programs/bounds.S says for each function whether it has a loop, a call, or code that may hide one."""
        self.assertEqual(self.plan(), CONSTANT | OTHERS)
        self.assertEqual(self.plan("--skip-constant"), OTHERS)

    def test_run(self):
        """The result lists exactly the functions that are left out, with the reason."""
        trace = self.trace(BOUNDS)
        self.assertEqual(trace["engine"], "probe")
        left = {f["name"]: f["reason"] for f in trace["left_out"]}
        self.assertEqual(left, dict.fromkeys(CONSTANT, REASON))
        self.assertLessEqual({f["name"] for f in trace["functions"]}, OTHERS)
        self.assertIn("b_loop", {f["name"] for f in trace["functions"]})

    def test_with_an_earlier_trace(self):
        """--reduce-by leaves out what an earlier trace shows, too: b_loop, called 1500 times, for a short time."""
        earlier = self.file.parent / "earlier"
        earlier.write_text("".join(f"0 1 {i * 10};b_loop\n1 1 {i * 10 + 5};b_loop\n" for i in range(1500)))
        trace = self.trace(BOUNDS, "--reduce-by", str(earlier))
        self.assertEqual({f["name"] for f in trace["left_out"]}, CONSTANT | {"b_loop"})

    def test_what_does_not_fit(self):
        done = self.strobe("--engine", "jit", "--skip-constant", CALLS)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (125, "", "strobe: --skip-constant is not possible with --engine jit: leave it out, or use --engine probe\n"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
