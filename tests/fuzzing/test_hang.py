#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A hang is minimised with a shorter time limit than that of the search, also in fork servers. usage: test_hang.py STROBE"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE = os.path.abspath(sys.argv.pop(1))
# Each bracket looks through those before it.
PROGRAM = """
#include <stdio.h>
static char text[1 << 21];
static volatile long sink;
int main(void) {
	size_t n = fread(text, 1, sizeof text, stdin), used = 0;
	for (size_t i = 0; i < n; i++)
		if (text[i] == '<') {
			for (size_t k = 0; k < used; k++) sink++;
			used++;
		}
	return 0;
}
"""


class Hang(unittest.TestCase):
    def test_witness_becomes_smaller(self):
        with tempfile.TemporaryDirectory(prefix="strobe-hang-") as folder:
            place = Path(folder)
            subprocess.run(["cc", "-O1", "-w", "-x", "c", "-", "-o", "reader"], input=PROGRAM, text=True, cwd=place, check=True)
            (place / "seed").write_text("<a><b c='d'>text</b><e/></a>\n", encoding="utf-8")
            done = subprocess.run([STROBE, "fuzz", "-q", "-s", "seed", "-t", "3s", "--hang", "4s", "--judge", "60s", "-j", "1", "--format", "json", "-o", "out", "--", "./reader"],
                                  cwd=place, capture_output=True, text=True, timeout=280, check=True)
            hangs = [finding for finding in json.loads(done.stdout)["findings"] if finding["kind"] == "hang"]
            self.assertEqual(len(hangs), 1, done.stdout)
            witness, minimal = (len((place / "out/findings/1" / name).read_bytes()) for name in ("witness", "minimal"))
            self.assertLess(minimal, witness)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
