#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The work of a program that depends on its addresses is the same in each execution of strobe fuzz: test_addresses.py STROBE."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE = os.path.abspath(sys.argv[1])
del sys.argv[1:2]

# Loops over each byte as often as bits of a random address say, as a hash table of pointers would.
PROGRAM = r"""
#include <stdint.h>
#include <stdio.h>
static volatile unsigned sink;
int main(void) {
	unsigned times = ((uintptr_t)&sink >> 12) & 1023;
	for (int c; (c = getchar()) != EOF;)
		for (unsigned i = 0; i < times; i++) sink += c;
	return 0;
}
"""


class Addresses(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="strobe-addresses-")
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)
        if subprocess.run(["setarch", "-R", "true"], stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest("this machine does not allow programs with addresses that are not random")
        subprocess.run(["cc", "-O1", "-fPIE", "-pie", "-x", "c", "-", "-o", "program"], input=PROGRAM, text=True, cwd=self.place, check=True)
        (self.place / "seed").write_text("some words\n", encoding="utf-8")

    def fuzz(self, out, executions, *words):
        """The lines of the journal, without the seconds."""
        done = subprocess.run([STROBE, "fuzz", "-q", "--format", "json", "-o", out, "-s", "seed", "-t", "600s", "--judge", "1ms", "--hang", "60s", "--seed", "3", "--executions",
                               str(executions), *words, "--", "./program"], cwd=self.place, capture_output=True, text=True, timeout=280)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(json.loads(done.stdout)["unsteady"], 0)
        lines = [line.split(" ", 1)[1] for line in (self.place / out / "journal").read_text().splitlines()]
        return [re.sub(r"((exit|signal|hang) \d+ \d+) [\d.e-]+", r"\1", line) for line in lines if re.match(r"\d+ 0 ", line)]

    def test_jobs_and_fresh_processes(self):
        """Each job has a fork server, and each execution with --fresh a process: all of them have the same addresses."""
        one = self.fuzz("one", 12, "-j", "1")
        self.assertGreater(len(one), 11)
        self.assertEqual(self.fuzz("two", 12, "-j", "2"), one)
        self.assertEqual(self.fuzz("fresh", 12, "-j", "2", "--fresh"), one)

    def test_resumed(self):
        whole = self.fuzz("whole", 12, "-j", "1")
        self.fuzz("parts", 5, "-j", "1")
        self.assertEqual(self.fuzz("parts", 12, "-j", "1", "--resume"), whole)


if __name__ == "__main__":
    unittest.main()
