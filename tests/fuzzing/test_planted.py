#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Planted defects that need rules for ranges of bytes, or different words: test_planted.py STROBE. bench/fuzz/planted.py has more of them."""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE = os.path.abspath(sys.argv.pop(1))
HEAD = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char text[1 << 21];
static size_t n;
static volatile long sink;
static void run(void);
int main(void) { n = fread(text, 1, sizeof text - 1, stdin); run(); return 0; }
"""
# Table IV of Perun's paper: counts words, with two hashes.
TABLE = """
struct word { struct word *next; char *text; int n; } *table[12289];
__attribute__((noinline)) static unsigned java(const char *w) {
	unsigned h = 0; size_t n = strlen(w), skip = n / 8;
	if (n < 16) while (*w) h = 37 * h + *w++;
	else for (size_t i = 0; i < n; i += skip) h = 39 * h + w[i];
	return h;
}
__attribute__((noinline)) static unsigned djb(const char *w) { unsigned h = 5381; while (*w) h = 33 * h + *w++; return h; }
__attribute__((noinline)) static int is_equal(const char *a, const char *b) { while (*a && *a == *b) a++, b++; return *a == *b; }
static void run(void) {
	for (char *w = strtok(text, " \\n"); w; w = strtok(NULL, " \\n")) {
		struct word **at = &table[HASH(w) % 12289], *e = *at;
		while (e && !is_equal(e->text, w)) e = e->next;
		if (!e) { e = calloc(1, sizeof *e); e->text = w; e->next = *at; *at = e; }
		e->n++;
	}
}
"""
# Each word is looked up in the list of the words so far.
LIST = """
static char *words[1 << 16]; static int used;
__attribute__((noinline)) static void add_word(char *w) {
	for (int i = 0; i < used; i++) {
		const char *a = words[i], *b = w;
		while (*a && *a == *b) a++, b++;
		if (*a == *b) return;
	}
	words[used++] = w;
}
static void run(void) { for (char *w = strtok(text, ",() \\n"); w; w = strtok(NULL, ",() \\n")) add_word(w); }
"""
# Bytes from 128 on are copies, for which a window is moved.
DECOMPRESSOR = """
static unsigned char out[1 << 21]; static size_t m;
__attribute__((noinline)) static void move_window(void) { for (size_t k = 0; k < m; k++) sink += out[k]; }
static void run(void) { for (size_t i = 0; i < n; i++) if (text[i] & 128) move_window(); else out[m++] = text[i]; }
"""
SORT = """
static void run(void) { for (size_t i = 1; i < n; i++) { char c = text[i]; size_t k = i; for (; k > 0 && text[k - 1] > c; k--) text[k] = text[k - 1]; text[k] = c; } }
"""
# Matches (a|aa)*$ by trying all ways.
CHOICES = """
__attribute__((noinline)) static int rest(const char *t) { return !*t || (*t == 'a' && rest(t + 1)) || (t[0] == 'a' && t[1] == 'a' && rest(t + 2)); }
static void run(void) { text[strcspn(text, "\\n")] = 0; sink = rest(text); }
"""


def moves(data):
    """Of insertion sort."""
    signed = [byte - 256 if byte > 127 else byte for byte in data]
    return sum(signed[k] > signed[i] for i in range(len(signed)) for k in range(i))


class Planted(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="planted-")
        self.addCleanup(folder.cleanup)
        self.place = Path(folder.name)

    def fuzz(self, program, seed, *words):
        """The output, and the result; inputs are so small that none becomes a hang."""
        subprocess.run(["cc", "-O1", "-w", "-x", "c", "-", "-o", "program"], input=HEAD + program, text=True, cwd=self.place, check=True)
        (self.place / "seed").write_bytes(seed)
        shutil.rmtree(self.place / "out", ignore_errors=True)
        done = subprocess.run([STROBE, "fuzz", "-s", "seed", "-t", "600s", "--judge", "250s", "--hang", "60s", "-j", "1", "-o", "out", *words, "--", "./program"],
                              cwd=self.place, capture_output=True, text=True, timeout=280, check=True)
        return done.stdout, json.loads((self.place / "out/fuzz.json").read_text(encoding="utf-8"))

    def assert_quadratic(self, finding, function):
        self.assertEqual((finding["kind"], finding["function"], finding["law"]["form"]), ("slow", function, "power"))
        self.assertAlmostEqual(finding["law"]["exponent"], 2, delta=0.1)

    def assert_generated(self, finding):
        made = subprocess.run([self.place / finding["generator"]], cwd=self.place, capture_output=True, check=True).stdout
        self.assertEqual(made, (self.place / finding["minimal"]).read_bytes())
        return made

    def test_hash_table(self):
        """Java 1.1 reads every second letter of 20: words that differ in others fall into one bucket. DJB reads all."""
        choose = random.Random(1)
        seed = " ".join("".join(choose.choices("abcdefghijklmnopqrstuvwxyz", k=20)) for _ in range(300)).encode() + b"\n"
        out, result = self.fuzz(TABLE.replace("HASH", "java"), seed, "--executions", "10", "-N", "20000")
        [finding] = result["findings"]
        self.assert_quadratic(finding, "is_equal")
        self.assertEqual((len(finding["token"]), len(finding["varied"]), [at % 2 for at in finding["varied"]]), (21, 4, [1, 1, 1, 1]))
        self.assertEqual((finding["token"].encode(), finding["rules"]), (seed[:21], []))
        self.assertIn(f" repetitions of '{finding['token']}', each with different letters\n", out)
        self.assertIn("\n   rules: none: a word of the seed is repeated with different letters\n", out)
        words = self.assert_generated(finding).split()
        self.assertEqual(len(set(words)), len(words))
        _, result = self.fuzz(TABLE.replace("HASH", "djb"), seed, "--executions", "10", "-N", "20000")
        self.assertEqual(result["findings"], [])

    def test_different_words(self):
        _, result = self.fuzz(LIST, b"(the, first, 12)\n", "--executions", "10", "-N", "20000")
        [finding] = result["findings"]
        self.assert_quadratic(finding, "add_word")
        self.assertEqual((finding["token"], finding["law"]["points"][0][0], len(finding["varied"])), ("first,", 1, 4))
        made = self.assert_generated(finding)
        self.assertTrue(made.startswith(b"(the, ") and made.endswith(b", 12)\n"), made)

    def test_decompressor(self):
        _, result = self.fuzz(DECOMPRESSOR, b"\1\2\3\x80\1\2\x81\3", "--executions", "150", "-N", "3000")
        self.assert_quadratic(result["findings"][0], "move_window")
        self.assertIn("repeat-bytes", result["findings"][0]["rules"])

    def test_choices_with_every_seed(self):
        """The search must not depend on luck: of 24 bytes, as many letters a as there is space for, before another byte."""
        for number in range(1, 7):
            with self.subTest(seed=number):
                _, result = self.fuzz(CHOICES, b"aab\n", "--executions", "500", "-N", "24", "--seed", str(number))
                [finding] = result["findings"]
                self.assertEqual((finding["kind"], finding["function"], finding["law"]["form"], finding["token"]), ("slow", "rest", "exponential", "a"))
                self.assertAlmostEqual(finding["law"]["base"], (1 + 5**0.5) / 2, delta=0.005)
                # No member of the family is larger than --size.
                self.assertLessEqual(len(self.assert_generated(finding)), 24)
                self.assertLessEqual(max(n for n, _ in finding["law"]["points"]), 24)

    def test_sort(self):
        """The optimum of 6 bytes, 6 * 5 / 2 moves, from zeros."""
        self.fuzz(SORT, bytes(6), "--executions", "4000", "--rate", "1", "-N", "6", "--judge", "1ms")
        self.assertEqual(max(moves(path.read_bytes()) for path in (self.place / "out/results").iterdir()), 15)


if __name__ == "__main__":
    unittest.main()
