#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts for people write numbers of things as 1,234 and one thing in the singular; formats for programs have no commas.
Names of files say what is in them. test_numbers.py STROBE."""
import contextlib
import csv
import io
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE = os.path.abspath(sys.argv.pop(1))
PROGRAM = ["/bin/sh", "-c", "i=0; while [ $i -lt 1500 ]; do i=$((i+1)); done"]
# A number of four digits or more; not a part of a name, an address, a line (x.c:1234), a decimal number, a year or an option.
BARE = re.compile(r"(?<![\w.:/+,%{-])\d{4,}(?![\w.,:])")
PLURAL = re.compile(r"(?<![\w.,])1 (samples|functions|blocks|contexts|threads|processes|calls|bytes|windows|allocations|levels|rows|lines|runs|locations|instructions|images)\b")


class Results(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="strobe-numbers-")
        cls.place = Path(cls.folder.name)
        for words in (("run", "-o", "hot.db"), ("run", "-t", "calls,opmix,branches,locks,alloc", "-o", "tools.db"), ("paths", "--instructions", "-o", "paths.db"),
                      ("paths", "--mode", "intra", "--loops", "-o", "loops.db"), ("mem", "-o", "mem.db"), ("trace", "-o", "trace.db")):
            done = cls.run_strobe(*words, "--", *PROGRAM)
            assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def run_strobe(cls, *words):
        return subprocess.run([STROBE, *map(str, words)], cwd=cls.place, capture_output=True, text=True, timeout=120)

    def ask(self, *words):
        done = self.run_strobe(*words)
        self.assertEqual(done.returncode, 0, (words, done.stderr))
        return done.stdout


class Numbers(Results):
    def check(self, text, of):
        for line in text.splitlines():
            # Addresses, options of the program, and numbers of processes and threads are none of things.
            plain = re.sub(r"0x[0-9a-f]+|-lt 1500|(process|thread|tid|pid)s? \d+|\[\d+\]", "", line)
            self.assertIsNone(BARE.search(plain), f"{of}: {line}")
            self.assertIsNone(PLURAL.search(plain), f"{of}: {line}")

    def test_texts(self):
        for words in (("show", "hot.db"), ("show", "-n", "3", "hot.db"), ("show", "--table", "lines", "-n", "5", "hot.db"), ("show", "tools.db"),
                      ("show", "paths.db"), ("show", "loops.db"), ("mem", "--from", "mem.db"), ("trace", "--from", "trace.db"),
                      ("diff", "mem.db", "mem.db"), ("diff", "paths.db", "paths.db")):
            self.check(self.ask(*words), words)
        # A short run may have no sample, and so no stacks to show or compare.
        for words in ("show", "--stacks", "hot.db"), ("diff", "hot.db", "paths.db"):
            self.check(self.run_strobe(*words).stdout, words)

    def test_rows_left_out_are_counted(self):
        rows = len(json.loads(self.ask("show", "--table", "functions", "--format", "json", "hot.db"))["functions"])
        self.assertGreater(rows, 3)
        self.assertRegex(self.ask("show", "-n", "3", "hot.db"), rf"\n  \.\.\. and {rows - 3:,} more functions ")

    def test_formats_for_programs(self):
        text = self.ask("show", "--table", "functions", "--format", "csv", "hot.db")
        for row in csv.DictReader(io.StringIO(text)):
            self.assertRegex(row["instructions"], r"^\d+$")
        most = max(int(row["instructions"]) for row in csv.DictReader(io.StringIO(text)))
        self.assertGreater(most, 1000)
        self.assertIn(f"{most:,}", self.ask("show", "hot.db"))

    def test_lines_are_no_numbers_of_things(self):
        (self.place / "x.c").write_text("\n" * 1999 + "int main(void) { for (volatile int i = 0; i < 5000; i++); return 0; }\n", encoding="utf-8")
        if subprocess.run(["cc", "-g", "-o", "x", "x.c"], cwd=self.place, check=False).returncode:
            self.skipTest("no compiler")
        self.assertEqual(self.run_strobe("run", "-q", "-o", "x.db", "--", "./x").returncode, 0)
        text = self.ask("show", "--table", "lines", "x.db")
        row = next(line for line in text.splitlines() if "volatile" in line)
        self.assertIn(" 2000 ", row)
        self.assertRegex(row, r" \d{1,3},\d{3} ", "executions have a comma")

    def test_lines_without_samples_have_shares_of_instructions(self):
        self.assertEqual(self.run_strobe("run", "-q", "--sample-hz", "0", "-o", "y.db", "--", *PROGRAM).returncode, 0)
        whole = json.loads(self.ask("show", "--format", "json", "y.db"))
        self.assertEqual(whole["share_of"], "instructions")
        lines = list(csv.DictReader(io.StringIO(self.ask("show", "--table", "lines", "--format", "csv", "y.db"))))
        if not lines:
            self.skipTest("no line of the program or its libraries is known")
        counts = [int(row["instructions"]) for row in lines]
        self.assertEqual(counts, sorted(counts, reverse=True))
        for row, n in zip(lines, counts, strict=True):
            self.assertEqual(int(row["samples"]), 0)
            self.assertAlmostEqual(float(row["percent"]), 100 * n / whole["instructions"], delta=0.006)


class Sources(Results):
    def test_a_source_that_is_newer_than_its_program(self):
        (self.place / "new.c").write_text("int main(void) { for (volatile int i = 0; i < 9; i++); return 0; }\n", encoding="utf-8")
        if subprocess.run(["cc", "-g", "-o", "new", "new.c"], cwd=self.place, check=False).returncode:
            self.skipTest("no compiler")
        built = (self.place / "new").stat().st_mtime
        self.assertEqual(self.run_strobe("run", "-q", "-o", "new.db", "--", "./new").returncode, 0)
        for age, newer in (-10, False), (0, False), (10, True):
            os.utime(self.place / "new.c", (built + age, built + age))
            os.utime(self.place / "new", (built, built))
            text = self.ask("show", "--func", "main", "new.db")
            self.assertIn("volatile int i", text)
            self.assertEqual(f"note: this file is newer than {self.place / 'new'}, so its lines may not be those that ran\n" in text, newer, age)


class Names(Results):
    def refused(self, want, *words):
        done = self.run_strobe(*words)
        self.assertEqual(done.stdout, "")
        self.assertIn(want, done.stderr)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_json_is_not_written_to_html(self):
        want = "strobe: 'x.html' is a name for a file of HTML, and JSON is written: give -o a name that ends with .json\n"
        for words in (("show", "hot.db"), ("diff", "hot.db", "hot.db"), ("paths", "--from", "paths.db"), ("mem", "--from", "mem.db"), ("trace", "--from", "trace.db"),
                      ("run", "--", "/bin/true"), ("paths", "--", "/bin/true"), ("mem", "--", "/bin/true"), ("trace", "--", "/bin/true")):
            self.refused(want, words[0], "--format", "json", "-o", "x.html", *words[1:])
        self.assertFalse((self.place / "x.html").exists())

    def test_other_kinds(self):
        self.refused("'x.svg' is a name for a file of SVG, and text is written", "show", "-o", "x.svg", "hot.db")
        self.refused("'x.json' is a name for a file of JSON, and CSV is written", "show", "--table", "functions", "--format", "csv", "-o", "x.json", "hot.db")
        for words in (("show", "--format", "json", "-o", "x.json", "hot.db"), ("show", "-o", "x.txt", "hot.db"), ("show", "--format", "json", "-o", "x.out", "hot.db"),
                      ("show", "--format", "json", "-o", "x.txt", "hot.db"), ("paths", "--from", "paths.db", "--format", "speedscope", "-o", "x.speedscope.json")):
            self.ask(*words)
            self.assertTrue((self.place / words[words.index("-o") + 1]).stat().st_size)

    def test_one_of_a_counter(self):
        (self.place / "one.db").write_bytes((self.place / "hot.db").read_bytes())
        with contextlib.closing(sqlite3.connect(self.place / "one.db")) as db, db:
            for name, total in ("things", 1), ("words", 2), ("misses", 1), ("class", 1):
                db.execute("INSERT INTO counter SELECT id, ?, '', ? FROM process LIMIT 1", (name, total))
        shown = self.ask("show", "one.db")
        for line in "  1 thing\n", "  2 words\n", "  1 misses\n", "  1 class\n":
            self.assertIn(line, shown)


if __name__ == "__main__":
    unittest.main()
