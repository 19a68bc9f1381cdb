#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stack of a fault, for which the program runs under ptrace: test_stack.py STROBE."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE = os.path.abspath(sys.argv.pop(1))

PROGRAM = """
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) static void stop_here(void) { %s; }
int main(void) {
	int letters = 0;
	for (int c; (c = getchar()) != EOF;) letters += c == 'x';
	if (letters > 1) stop_here();
	return 0;
}
"""


class Stack(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="strobe-stack-")
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)

    def fault(self, statement):
        """The signal of the only fault, and the functions of the program on its stack."""
        (self.place / "p.c").write_text(PROGRAM % statement)
        subprocess.run(["gcc", "-O1", "-o", "p", "p.c"], cwd=self.place, check=True)
        (self.place / "seed").write_text("x\n")
        done = subprocess.run([STROBE, "fuzz", "-q", "--format", "json", "-s", "seed", "--regex", "x=>xx", "--executions", "20", "-t", "600s", "--judge", "60s", "-o", "out", "--", "./p"],
                              cwd=self.place, capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        faults = [f for f in json.loads(done.stdout)["findings"] if f["kind"] == "fault"]
        self.assertEqual(len(faults), 1)
        self.assertIsNone(faults[0]["stack"]["missing"])
        return faults[0]["signal"], [f["function"] for f in faults[0]["stack"]["frames"] if f["image"] == str(self.place.resolve() / "p")][:2]

    def test_an_abort(self):
        self.assertEqual(self.fault("abort()"), (6, ["stop_here", "main"]))

    def test_a_breakpoint_is_a_fault(self):
        """ptrace reports its own events by SIGTRAP, too."""
        self.assertEqual(self.fault('__asm__ volatile("int3")'), (5, ["stop_here", "main"]))


if __name__ == "__main__":
    unittest.main()
