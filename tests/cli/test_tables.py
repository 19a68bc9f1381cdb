#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""strobe show --table: columns, conditions, order and formats of any table. test_tables.py STROBE, which is strobe with fake_run.c."""
import csv
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE = os.path.abspath(sys.argv.pop(1))
POINTS = """metric,unit,function,value,size,snapshot
mem,B,f,10,1,1
mem,B,f,30,2,2
mem,B,g|h,5,1,1
mem,B,g|h,7,3,2
time,ns,x_y,2000,,1
"""


class Tables(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="strobe-tables-")
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)
        (self.place / "points.csv").write_text(POINTS, encoding="utf-8")
        self.ask("import", "-q", "points.csv", "-o", "p.db")

    def run_strobe(self, *words):
        return subprocess.run([STROBE, *words], cwd=self.place, capture_output=True, text=True, timeout=60)

    def ask(self, *words):
        done = self.run_strobe(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def show(self, *words, file="p.db"):
        return self.ask("show", *words, file)

    def rows(self, *words, file="p.db"):
        return list(csv.DictReader(io.StringIO(self.show("--format", "csv", *words, file=file))))

    def column(self, name, *words, file="p.db"):
        return [row[name] for row in self.rows(*words, file=file)]

    def error(self, text, *words, code=2, file="p.db"):
        done = self.run_strobe("show", *words, file)
        self.assertEqual((done.stderr, done.returncode, done.stdout), (f"strobe: {text}\n", code, ""))


class Measured(Tables):
    def test_values_are_those_of_the_file(self):
        made = [[row[key] for key in ("metric", "unit", "function", "value", "size", "snapshot")] for row in self.rows("-t", "measurements")]
        self.assertEqual(made, [line.split(",") for line in POINTS.splitlines()[1:]])

    def test_series_sum_their_values(self):
        series = json.loads(self.show("-t", "series", "--format", "json"))["series"]
        self.assertEqual([(s["location"], s["n"], s["sum"], s["mean"], s["median"], s["min"], s["max"]) for s in series],
                         [("f", 2, 40, 20, 20, 10, 30), ("g|h", 2, 12, 6, 6, 5, 7), ("x_y", 1, 2000, 2000, 2000, 2000, 2000)])
        self.assertEqual([s["mean_low"] is None for s in series], [False, False, True], "one value has no interval")

    def test_conditions(self):
        for condition, values in (("size>=2", "30 7"), ("size > 2", "7"), ("size<2", "10 5"), ("size<=2", "10 30 5"), ("size=1", "10 5"),
                                  ("size!=1", "30 7"), ("function=f", "10 30"), ("function!=f", "5 7 2000"), ("function~g*", "5 7"),
                                  ("function < g", "10 30"), ("file=", "10 30 5 7 2000"), ("value>=2e3", "2000")):
            self.assertEqual(" ".join(self.column("value", "-t", "measurements", "-W", condition)), values, condition)
        both = self.column("value", "-t", "measurements", "-W", "size>=2", "-W", "function=f")
        self.assertEqual(both, ["30"], "all must hold")

    def test_order(self):
        self.assertEqual(self.column("value", "-t", "measurements", "--sort", "value"), ["2000", "30", "10", "7", "5"])
        self.assertEqual(self.column("value", "-t", "measurements", "--sort", "size"), ["7", "30", "10", "5", "2000"], "unknown comes last")
        self.assertEqual(self.column("function", "-t", "series", "--sort", "function"), ["f", "g|h", "x_y"])
        self.assertEqual(self.column("value", "-t", "measurements", "--sort", "value", "-n", "2"), ["2000", "30"])

    def test_text(self):
        self.assertEqual(self.show("-t", "measurements", "-c", "function,value", "-W", "size>1", "--sort", "value"),
                         "\nmeasurements\n  function     value\n  f         30 bytes\n  g|h        7 bytes\n")
        self.assertEqual(self.show("-t", "measurements", "-W", "size>9"), "\nmeasurements\n  none\n")
        self.assertIn("  ... and 3 more (--table measurements, --top)\n", self.show("-t", "measurements", "-n", "2"))

    def test_markdown(self):
        self.assertEqual(self.show("-t", "series", "-c", "location,n,sum", "--format", "markdown"),
                         "| location | n | sum |\n| --- | --: | --: |\n| f | 2 | 40 bytes |\n| g\\|h | 2 | 12 bytes |\n| x\\_y | 1 | 2.0 us |\n")

    def test_latex(self):
        self.assertEqual(self.show("-t", "series", "-c", "location,n", "--format", "latex"),
                         "\\begin{tabular}{lr}\n\\hline\nlocation & n \\\\\n\\hline\nf & 2 \\\\\ng|h & 2 \\\\\nx\\_y & 1 \\\\\n\\hline\n\\end{tabular}\n")

    def test_mistakes(self):
        self.error("the profile has no table 'serie'; did you mean 'series'?", "-t", "serie")
        self.error("the profile has no table 'functions'; its tables: series, measurements", "-t", "functions")
        self.error("the table series has no column 'meen'; did you mean 'mean'?", "-t", "series", "-c", "n,meen")
        self.error("the table series has no column 'meen'; did you mean 'mean'?", "-t", "series", "-W", "meen>1")
        self.error("the table series has no column 'meen'; did you mean 'mean'?", "-t", "series", "--sort", "meen")
        self.error("--where takes a column, one of = != < <= > >= ~, and a value, such as 'calls>=100', not 'mean'", "-t", "series", "-W", "mean")
        self.error("--where takes a column, one of = != < <= > >= ~, and a value, such as 'calls>=100', not 'mean!1'", "-t", "series", "-W", "mean!1")
        self.error("--where compares mean, which has numbers, with 'much', which is none", "-t", "series", "-W", "mean>much")
        self.error("--columns chooses from one table: name it with --table", "-c", "mean")
        self.error("--where chooses from one table: name it with --table", "-W", "mean>1")
        for form in "markdown", "latex":
            self.error(f"--format {form} prints one table: name it with --table", "--format", form)
        self.error("rows are printed as text, json or csv", "--rows", "r", "--format", "latex")


class Measures(Tables):
    """Tables of a run."""

    def setUp(self):
        super().setUp()
        self.run_strobe("run", "-q", "-t", "hot", "-o", "hot.db", "x")
        self.run_strobe("run", "-q", "-t", "calls", "-o", "calls.db", "tables", "x")

    def test_functions_are_those_of_the_json(self):
        made = json.loads(self.show("--format", "json", "-n", "0", file="hot.db"))["functions"]
        rows = self.rows("-t", "functions", "--sort", "function", file="hot.db")
        self.assertGreater(len(rows), 1)
        self.assertEqual([(row["function"], int(row["calls"]), int(row["instructions"])) for row in rows],
                         sorted((f["name"], f["calls"], f["instructions"]) for f in made))

    def test_lines_images_threads(self):
        whole = json.loads(self.show("--format", "json", "--lines", "--images", "--threads", file="hot.db"))
        for table, key in ("lines", "executions"), ("images", "instructions"), ("threads", "samples"):
            self.assertEqual(sorted(int(each) for each in self.column(key, "-t", table, file="hot.db")), sorted(each[key] for each in whole[table]), table)

    def test_the_hottest_line_is_first(self):
        """Its file does not exist, so that no line has text. The functions have 60 and 20 of 80 samples."""
        rows = json.loads(self.show("-t", "lines", "--format", "json", file="hot.db"))["lines"]
        self.assertEqual(list(rows[0]), ["percent", "samples", "executions", "instructions", "line", "file", "function", "text"])
        self.assertEqual([row["percent"] for row in rows], sorted((row["percent"] for row in rows), reverse=True))
        for row in rows:
            self.assertEqual((row["percent"], row["text"]), (100 * row["samples"] / 80, None))
        self.assertEqual(self.show("-t", "lines", "-c", "percent,line", "-n", "1", file="hot.db").splitlines()[2:4],
                         ["  percent  line", f"{rows[0]['percent']:9.2f}{rows[0]['line']:6d}"])
        self.assertIn(f"  self %  samples  executions  instructions  line\n{rows[0]['percent']:8.2f}", self.show("--lines", file="hot.db"))

    def test_a_table_of_a_tool(self):
        self.assertEqual(self.show("-t", "pairs", "-c", "callee,count,caller_image", "-W", "count>1", file="calls.db").splitlines()[3:],
                         ["  spin [libfixture.so]    117  " + self.rows("-t", "pairs", file="calls.db")[0]["caller_image"],
                          "  0x7e0000000100            2  " + self.rows("-t", "pairs", file="calls.db")[1]["caller_image"]])
        self.assertEqual(self.column("count", "-t", "pairs", "-c", "count", file="calls.db"), ["117", "2", "1", "100"], "the last row has the others")
        self.assertEqual(self.column("count", "-t", "pairs", "-W", "count>=2", file="calls.db"), ["117", "2"], "which no condition fits")
        others = json.loads(self.show("-t", "pairs", "--format", "json", file="calls.db"))["pairs"][-1]
        self.assertEqual((others["others"], others["caller"], others["count"]), (True, None, 100))


if __name__ == "__main__":
    unittest.main()
