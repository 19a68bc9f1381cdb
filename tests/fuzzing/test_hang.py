#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hangs, and inputs that are too large for a family of them: test_hang.py STROBE."""
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

STROBE = os.path.abspath(sys.argv.pop(1))
# Each bracket looks through those before it.
BRACKETS = """
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
# Each word is put at the end of a list.
WORDS = """
#include <stdio.h>
#include <stdlib.h>
struct node { struct node *next; } *head;
__attribute__((noinline)) static void add_word(void) {
	struct node **at = &head;
	while (*at) at = &(*at)->next;
	*at = calloc(1, sizeof **at);
}
int main(void) {
	char word[64];
	while (scanf("%63s", word) == 1) add_word();
	return 0;
}
"""
# Waits for ever if there is a b in its input, but only under the engine.
WAITS = """
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(void) {
	char line[4096];
	int waits = 0, n = 0, c;
	while ((c = getchar()) != EOF) { waits |= c == 'b'; n += c == 'a'; }
	FILE *maps = fopen("/proc/self/maps", "r");
	while (waits == 1 && fgets(line, sizeof line, maps)) if (strstr(line, "memfd:strobe")) waits = 2;
	while (waits == 2) pause();
	return n > 9999;
}
"""
# Does not end, or does a million steps, for an empty input.
EMPTY = """
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
	volatile long n = 0;
	if (getchar() == EOF)
		while (argc == 1 || n < atol(argv[1])) n++;
	return 0;
}
"""


class Hang(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hang-")
        self.addCleanup(folder.cleanup)
        self.place = Path(folder.name)

    def fuzz(self, program, seed, *words, arguments=()):
        subprocess.run(["cc", "-O1", "-w", "-x", "c", "-", "-o", "program"], input=program, text=True, cwd=self.place, check=True)
        (self.place / "seed").write_text(seed, encoding="utf-8")
        shutil.rmtree(self.place / "out", ignore_errors=True)
        done = subprocess.run([STROBE, "fuzz", "-s", "seed", "-j", "1", "-o", "out", *words, "--", "./program", *arguments], cwd=self.place, capture_output=True, text=True, timeout=280, check=True)
        return done.stdout, json.loads((self.place / "out/fuzz.json").read_text(encoding="utf-8"))

    def test_witness_becomes_smaller(self):
        """A hang is minimised with a shorter time limit than that of the search, also in fork servers."""
        _, result = self.fuzz(BRACKETS, "<a><b c='d'>text</b><e/></a>\n", "-t", "600s", "--executions", "10", "--rules", "repeat-word", "--hang", "2s", "--judge", "60s")
        hangs = [finding for finding in result["findings"] if finding["kind"] == "hang"]
        self.assertEqual(len(hangs), 1, result["findings"])
        self.assertLess(hangs[0]["minimal_size"], hangs[0]["size"])

    def test_a_hang_that_ends_natively(self):
        out, result = self.fuzz(WAITS, "ac\n", "-t", "600s", "--executions", "3", "--hang", "5s", "--judge", "60s", "--regex", "c=>b", "--rules", "flip-bit")
        [hang] = result["findings"]
        self.assertEqual(hang["kind"], "hang")
        self.assertLess(hang["seconds"], 5)
        self.assertRegex(out, r"\n   natively it ends after [0-9.e-]+ s: it exceeds the time of --hang only under the engine\n")
        self.assertIn("\n   the law of its growth cannot be determined: no input of its family ended within --hang and --judge\n", out)

    def test_judging_ends_before_hang(self):
        """The program waits for ever for an input of one byte, which only judging makes."""
        began = time.monotonic()
        _, result = self.fuzz(BRACKETS.replace("return 0", "return n == 1 ? pause() : 0"), "<<<<\n", "-t", "600s", "--executions", "10", "-N", "1000",
                              "--rules", "double-line", "--hang", "200s", "--judge", "2s")
        self.assertLess(time.monotonic() - began, 150)
        self.assertEqual(result["findings"], [])

    def test_an_empty_witness(self):
        """No part of it can be repeated, so that no law is known."""
        words = "-t", "600s", "--executions", "30", "--rules", "delete-line", "--hang", "2s", "--judge", "60s"
        out, result = self.fuzz(EMPTY, "ab\n", *words)
        [hang] = result["findings"]
        self.assertEqual([hang[key] for key in ("kind", "function", "law", "size", "minimal_size", "generator")], ["hang", "main", None, 0, 0, None])
        self.assertIn("   0 bytes, 0 when minimised; its seed has 3 (0 of them kept)\n", out)
        _, result = self.fuzz(EMPTY, "ab\n", *words, arguments=["1000000"])
        self.assertEqual((result["findings"], result["interesting"], result["cannot_tell"]), ([], 1, 1))

    def test_a_large_witness(self):
        """Different words: no part of the witness is repeated, and six of the whole are too much work."""
        choose = random.Random(1)
        seed = " ".join("".join(choose.choices("abcdefghijklmnopqrstuvwxyz", k=2)) for _ in range(4500)) + "\n"
        _, result = self.fuzz(WORDS, seed, "-t", "600s", "--executions", "8", "-N", "30000", "--hang", "60s", "--judge", "200s", "--rules", "double-line")
        [finding] = result["findings"]
        self.assertEqual((finding["kind"], finding["function"], finding["law"]["form"]), ("slow", "add_word", "power"))
        self.assertAlmostEqual(finding["law"]["exponent"], 2, delta=0.1)
        self.assertGreater(finding["minimal_size"], 7 * len(finding["token"]))
        self.assertGreater(len(finding["token"]), 64)
        # Of the family, only members of at most 20 million blocks are recorded, which would be too few for the contract.
        records = (self.place / finding["generator"]).with_name("records.sh").read_text(encoding="utf-8")
        few = max(n for n, work in finding["law"]["points"] if work <= 2e7)
        self.assertGreater(int(re.search(r"\nwhile \[ \$n -lt (\d+) \]; do\n", records).group(1)), 2 * few)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
