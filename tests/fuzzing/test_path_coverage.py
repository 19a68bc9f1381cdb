#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""strobe fuzz --coverage paths: test_path_coverage.py STROBE PATHS."""
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE, PATHS = map(os.path.abspath, sys.argv[1:3])
del sys.argv[1:3]


def without_times(value):
    """The result without its seconds, and without the series that has a moment for each of them."""
    if isinstance(value, list):
        return [without_times(each) for each in value]
    if isinstance(value, dict):
        return {name: without_times(each) for name, each in value.items() if name not in ("seconds", "series")}
    return value


class PathCoverage(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="strobe-paths-")
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)

    def fuzz(self, seed, *words, program=(PATHS,), out="out", code=0):
        (self.place / "seed").write_text(seed)
        done = subprocess.run([STROBE, "fuzz", "-q", "--format", "json", "-o", out, "-s", "seed", "-t", "600s", *words, "--", *program],
                              cwd=self.place, capture_output=True, text=True, timeout=300)
        self.assertEqual((done.returncode, done.stderr), (code, ""))
        return json.loads(done.stdout)

    def kept(self, out):
        return sorted((p.relative_to(self.place / out).as_posix(), hashlib.sha256(p.read_bytes()).hexdigest())
                      for p in (self.place / out / "results").iterdir())

    def journal(self, out):
        """The results of the executions, without the seconds."""
        lines = [line.split(" ", 1)[1] for line in (self.place / out / "journal").read_text().splitlines()]
        return [re.sub(r"((exit|signal|hang) \d+ \d+) [\d.]+", r"\1", line) for line in lines if re.match(r"\d+ 0 ", line)]

    def test_a_local_loop_beside_a_large_constant_part(self):
        words = "-N", "300", "--executions", "80", "--seed", "3", "--rules", "double-line,copy-line,repeat-word,insert-blanks"
        sums = self.fuzz("[a] [b]\n", *words, "--judge", "60s", out="sums")
        self.assertEqual((sums["coverage"], sums["interesting"], sums["findings"]), ("sum", 0, []))
        self.assertLess(sums["most_work"], 1.1 * sums["base_work"])
        self.assertNotIn("paths", sums)
        paths = self.fuzz("[a] [b]\n", *words, "--judge", "60s", "--coverage", "paths", out="paths")
        self.assertEqual(paths["coverage"], "paths")
        self.assertGreater(paths["interesting"], 0)
        self.assertEqual([f["function"] for f in paths["findings"]], ["append_local"])
        law = paths["findings"][0]["law"]
        self.assertEqual(law["form"], "power")
        self.assertTrue(1.9 < law["lo"] <= law["exponent"] <= law["hi"] < 2.1, law)
        self.assertIn(["main", "append_local"], [p["functions"][-2:] for p in paths["paths"]])
        self.assertEqual(sum(p["hits"] for p in paths["paths"]), paths["interesting"])

    def test_equal_sums_by_other_paths(self):
        words = "--rules", "swap-bytes", "--regex", "y=>x", "--executions", "40", "--judge", "1ms"
        sums = self.fuzz("yyyyyyyyyyyy", *words, out="sums")
        self.assertEqual((sums["interesting"], sums["most_work"]), (0, sums["base_work"]))
        paths = self.fuzz("yyyyyyyyyyyy", *words, "--coverage", "paths", out="paths")
        self.assertEqual(paths["most_work"], paths["base_work"])
        self.assertGreater(paths["interesting"], 0)
        for path in paths["paths"]:
            self.assertIn("first_way", path["functions"][-2:], path)

    def test_a_fork_server_finds_the_same(self):
        words = "--coverage", "paths", "-N", "100", "--executions", "16", "--judge", "1ms", "-j", "2"
        copied = self.fuzz("[x] [y]\n", *words, out="copied")
        fresh = self.fuzz("[x] [y]\n", *words, "--fresh", out="fresh")
        self.assertGreater(copied["interesting"], 0)
        self.assertEqual(copied["unsteady"], 0)
        self.assertEqual(self.kept("copied"), self.kept("fresh"))
        self.assertEqual(self.journal("copied"), self.journal("fresh"))
        self.assertEqual(without_times(copied), without_times(fresh))

    def test_threads_and_libraries_that_are_loaded_later(self):
        (self.place / "lib.c").write_text("""
static volatile unsigned sink;
__attribute__((noinline)) static void turn(unsigned n) { for (unsigned i = 0; i < n; i++) sink += i; }
void in_library(unsigned n) { turn(n); }
""")
        (self.place / "p.c").write_text("""
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
static unsigned letters;
static void *go(void *unused) {
	void *library = dlopen("./lib.so", RTLD_NOW);
	void (*f)(unsigned) = (void (*)(unsigned))dlsym(library, "in_library");
	for (unsigned i = 0; i < letters; i++) f(100);
	return unused;
}
int main(void) {
	pthread_t t;
	for (int c; (c = getchar()) != EOF;) letters += c == 'e';
	return pthread_create(&t, NULL, go, NULL) || pthread_join(t, NULL);
}
""")
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", "lib.so", "lib.c"], cwd=self.place, check=True)
        subprocess.run(["gcc", "-O1", "-o", "p", "p.c", "-ldl", "-pthread"], cwd=self.place, check=True)
        words = "--coverage", "paths", "--executions", "12", "--judge", "1ms", "--rules", "double-line,repeat-word", "-j", "1"
        copied = self.fuzz("tree\n", *words, program=["./p"], out="copied")
        fresh = self.fuzz("tree\n", *words, "--fresh", program=["./p"], out="fresh")
        # What the C library executes depends on which thread is first: the main thread may wait for the other in pthread_join, or not.
        for campaign in copied, fresh:
            inner = [p["functions"] for p in campaign["paths"] if "go" in p["functions"]]
            self.assertIn(["start_thread", "go", "in_library", "turn"], inner)
            self.assertEqual(sum(p["hits"] for p in campaign["paths"]), campaign["interesting"])

    def test_a_campaign_is_resumed(self):
        words = "--coverage", "paths", "-N", "200", "--judge", "1ms", "--seed", "5"
        whole = self.fuzz("[a] [b]\n", *words, "--executions", "60", out="whole")
        self.fuzz("[a] [b]\n", *words, "--executions", "25", out="parts")
        parts = self.fuzz("[a] [b]\n", *words, "--executions", "60", "--resume", out="parts")
        self.assertEqual(self.journal("parts"), self.journal("whole"))
        self.assertEqual(self.kept("parts"), self.kept("whole"))
        self.assertEqual(without_times(parts), without_times(whole))
        # Another coverage is another campaign.
        done = subprocess.run([STROBE, "fuzz", "-q", "-o", "whole", "-s", "seed", "-N", "200", "--seed", "5", "--resume", "--", PATHS],
                              cwd=self.place, capture_output=True, text=True, timeout=300)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (125, 1), done.stderr)
        self.assertIn("cannot resume the campaign of whole/journal: --coverage was paths and is now sum;", done.stderr)

    def test_another_coverage_is_refused(self):
        done = subprocess.run([STROBE, "fuzz", "--coverage", "edges", "-s", "seed", "--", PATHS], cwd=self.place, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn("--coverage takes sum or paths, not 'edges'", done.stderr)


if __name__ == "__main__":
    unittest.main()
