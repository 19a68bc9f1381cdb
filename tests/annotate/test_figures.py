#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the benches of cost annotations in a small form: figures.py, of which the counts are checked, and the cases.

usage: test_figures.py STROBE TOP

TOP is the top folder of the source."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE, TOP = (os.path.abspath(name) for name in sys.argv[1:3])

# Programs that have the functions of the cases, in place of those that the cases build from Debian's sources.
SQLITE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define F __attribute__((noinline)) void
F sqlite3WhereBegin(int terms) { for (int i = 0; i < terms; i++) free(malloc(16)); __asm__ volatile("" : : : "memory"); }
F sqlite3Select(int terms) { sqlite3WhereBegin(terms); __asm__ volatile("" : : : "memory"); }
F sqlite3RunParser(const char *zSql) {
	int terms = 1;
	for (const char *p = zSql; *p; p++) terms += *p == ',' || *p == '=';
	if (strstr(zSql, "select")) sqlite3Select(terms);
	__asm__ volatile("" : : : "memory");
}
int main(int argc, char **argv) {
	static char line[1 << 20];
	FILE *f = fopen(argv[3] + 6, "r"); /* .read FILE */
	while (f && fgets(line, sizeof line, f)) sqlite3RunParser(line);
	return argc != 5 || !f;
}
"""
VERSIONS = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef STEPS
#define STEPS 3
#endif
struct cache { void *free; int nHash; };
#define F __attribute__((noinline)) void
static int kept;
F pcache1FetchStage2(struct cache *pCache) {
	if (pCache->free) { pCache->free = NULL; kept++; }
	else if (rand() % 2) for (int i = 0; i < 50; i++) __asm__ volatile("");
	__asm__ volatile("" : : : "memory");
}
F shell_exec(const char *zSql) {
	for (const char *p = zSql; *p; p++) for (int i = 0; i < STEPS; i++) __asm__ volatile("nop; nop");
}
int main(int argc, char **argv) {
	static char line[1 << 20];
	struct cache c = {0};
	FILE *f = fopen(argv[3] + 6, "r"); /* .read FILE */
	while (f && fgets(line, sizeof line, f)) {
		shell_exec(line);
		for (int i = 0; i < 6; i++) { c.free = i % 3 ? NULL : &c; c.nHash++; pcache1FetchStage2(&c); }
	}
	return argc != 5 || !f;
}
"""
X264 = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct param { int i_width, i_threads, i_level_idc, i_sync_lookahead; };
struct handle { struct param param; int i_threadslice_size; };
#define F __attribute__((noinline)) void
F slice_write(struct handle *h) { for (long i = 0; i < 50L * h->param.i_width; i++) __asm__ volatile("" : : "r"(i)); }
F x264_8_encoder_encode(struct handle *h, const char *pic_in) { if (pic_in) slice_write(h); __asm__ volatile("" : : : "memory"); }
int main(int argc, char **argv) {
	struct handle h = {{0, atoi(argv[6]), 0, 0}, 0};
	FILE *f = fopen(argv[argc - 1], "r");
	if (!f || fscanf(f, "YUV4MPEG2 W%d", &h.param.i_width) != 1) return 1;
	for (int i = 0; i < 40; i++) x264_8_encoder_encode(&h, i % 20 ? "picture" : NULL);
	return 0;
}
"""


class Benches(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-figures-")
        self.addCleanup(folder.cleanup)
        self.at = Path(folder.name)

    def bench(self, *words):
        done = subprocess.run([sys.executable, *map(str, words)], cwd=self.at, capture_output=True, text=True, timeout=500, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def figures(self, letters):
        """The cells of the table: (figure, aim, measured, command)."""
        lines = self.bench(f"{TOP}/bench/annotate/figures.py", STROBE, "--share", 0.02, "--only", letters).splitlines()
        self.assertEqual(lines[:2], ["| figure | aim | measured | command |", "|-|-|-|-|"])
        return [line.strip("| ").split(" | ") for line in lines[2:]]

    def test_times_are_measured(self):
        rows = self.figures("ade")
        self.assertEqual([row[1] for row in rows], ["< 100 ns", "< 30 ns", "< 0.5 s", "< 5 s"])
        self.assertRegex(rows[0][2], r"^-?\d+ ns \(-?\d+ to -?\d+, 3 pairs\)$")
        self.assertRegex(rows[2][2], r"^\d+\.\d\d s \(.* 1 runs\), CPU time ")

    def test_laws_are_found_in_counts(self):
        rows = self.figures("bc")
        self.assertRegex(rows[0][2], r"^(1\.0|0\.99)\d+ \(\w+\), 19 of 19 at least 0.99; other classes than the law's: none$")
        self.assertEqual(len(rows), 4)

    def test_checks_of_counts(self):
        counts, _, planted = self.figures("fg")
        self.assertEqual(counts[2], "0 of 10 (0.0 %); 0 cannot tell")
        self.assertRegex(planted[2], r"^100 % by --check of allocated, \d+ % by --check of time, 100 % by contracts of allocated; 8 tries$")

    def case(self, name, program, source, case=None):
        (self.at / "out" / name).mkdir(parents=True)
        (self.at / "case.c").write_text(source, encoding="utf-8")
        subprocess.run(["gcc", "-g", "-O1", "-fno-builtin", "-fno-optimize-sibling-calls", "-o", self.at / "out" / program, self.at / "case.c"], check=True)
        return self.bench(f"{TOP}/bench/annotations", case or name.rstrip("3"), "out", "--short", "--strobe", STROBE)

    def test_case_of_sqlite(self):
        output = self.case("sqlite3", "sqlite3/sqlite3", SQLITE)
        self.assertIn("sqlite3RunParser.allocations(", output)
        self.assertIn("sqlite3Select: 100 %", output)
        self.assertTrue((self.at / "out/sqlite.svg").read_text(encoding="utf-8").startswith("<svg"))

    def test_case_of_two_versions(self):
        """The newer version has a larger slope, and a condition of the code tells constant costs from those with two modes."""
        (self.at / "out/debug").mkdir(parents=True)
        (self.at / "new.c").write_text("#define STEPS 6\n" + VERSIONS, encoding="utf-8")
        subprocess.run(["gcc", "-g", "-O1", "-fno-builtin", "-o", self.at / "out/debug/sqlite3", self.at / "new.c"], check=True)
        output = self.case("sqlite3", "sqlite3/sqlite3", VERSIONS, "versions")
        self.assertIn("kept: instructions of shell_exec\n", output)
        self.assertIn("broken: instructions of shell_exec\n", output)
        self.assertRegex(output, r"\[pCache_free_null == 0\] Norm\(\d+, 0\); //: class constant; n 42; ")
        self.assertRegex(output, r"\[pCache_free_null == 1\] \{\n\t\t\{0\.\d+\} .*; branch case\.c:\d+ to case\.c:\d+;.*\n\t\t\{0\.\d+\} .*; branch case\.c:\d+ to case\.c:\d+;.*\n\t\}\n")

    def test_case_of_x264(self):
        output = self.case("x264", "x264/x264", X264)
        self.assertEqual(output.count("slice_write.cpu("), 2, output)
        self.assertTrue((self.at / "out/sliced-threads.svg").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
