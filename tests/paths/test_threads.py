#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of strobe paths joins the contexts of all threads, unless they are asked for apart: test_threads.py STROBE"""
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE = Path(sys.argv.pop(1)).resolve()
SOURCE = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>

static volatile int sum;

__attribute__((noinline)) static void leaf(void) { sum++; }
__attribute__((noinline)) static void middle(long n) { while (n--) leaf(); }
static void *work(void *n) { pthread_setname_np(pthread_self(), "worker"); middle((long)n); return NULL; }

int main(void)
{
	pthread_t t;
	for (long n = 300; n <= 500; n += 200) {
		pthread_create(&t, NULL, work, (void *)n);
		pthread_join(t, NULL);
	}
	middle(7);
	return 0;
}
"""
LEAF = [("500", "work > middle > leaf"), ("300", "work > middle > leaf"), ("7", "main > middle > leaf")]


class Threads(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory(prefix="strobe-threads-")
        cls.addClassCleanup(place.cleanup)
        cls.place = Path(place.name)
        (cls.place / "threads.c").write_text(SOURCE)
        subprocess.run(["gcc", "-O0", "-g", "-pthread", "-o", "threads", "threads.c"], cwd=cls.place, check=True, timeout=60)
        cls.ran = cls.strobe("paths", "-n", "0", "-o", "p.db", "--funcs", "main,work,middle,leaf", "--", "./threads").stderr

    @classmethod
    def strobe(cls, *words, code=0):
        done = subprocess.run([STROBE, *words], cwd=cls.place, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
        assert done.returncode == code, (words, done.returncode, done.stderr)
        return done

    def leaves(self, text):
        """Counts and contexts of the rows that end with leaf, and what stands between them."""
        rows = re.findall(r"^ +[\d.]+% +([\d,]+)  (.*?)(?:__root__ > )?(\w+ > middle > leaf)$", text, re.M)
        return [(count, path) for count, _, path in rows], [thread.strip() for _, thread, _ in rows]

    def test_joined(self):
        for text in (self.ran, self.strobe("paths", "--from", "p.db", "-n", "0").stdout, self.strobe("show", "p.db", "-n", "0").stdout):
            rows, threads = self.leaves(text)
            self.assertEqual(rows, [("800", "work > middle > leaf"), ("7", "main > middle > leaf")])
            self.assertEqual(threads, ["", ""])
            self.assertIn("in 3 threads", text)
            self.assertNotIn("thread  ", text)

    def test_apart(self):
        text = self.strobe("paths", "--from", "p.db", "-n", "0", "--per-thread").stdout
        rows, threads = self.leaves(text)
        self.assertEqual((rows, threads), (LEAF, ["3 worker", "2 worker", "1 threads"]))
        self.assertRegex(text, r"\n +share +count  thread +hottest contexts, by activations\n")
        ran = self.strobe("paths", "--per-thread", "-n", "0", "-o", "q.db", "--funcs", "main,work,middle,leaf", "--", "./threads").stderr
        self.assertEqual(self.leaves(ran), (LEAF, ["3 worker", "2 worker", "1 threads"]))
        # The sums are those of the joined table.
        self.assertEqual(sum(int(count) for count, _ in rows), 807)

    def test_formats_keep_threads_apart(self):
        threads = json.loads(self.strobe("paths", "--from", "p.db", "--format", "json").stdout)["threads"]
        self.assertEqual(len(threads), 3)
        joined = json.loads(self.strobe("paths", "--from", "p.db", "--format", "json", "--join-threads").stdout)["threads"]
        self.assertEqual(len(joined), 1)

    def test_both(self):
        done = self.strobe("paths", "--join-threads", "--per-thread", "--from", "p.db", code=125)
        self.assertEqual(done.stderr, "strobe: --join-threads and --per-thread are opposites: give one of them\n")


if __name__ == "__main__":
    unittest.main()
