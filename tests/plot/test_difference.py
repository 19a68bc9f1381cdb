#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""strobe diff: compares profiles without calling contexts, and prints each format. test_difference.py STROBE."""
import csv
import io
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "store"))
from project import Project  # noqa: E402

Project.strobe = os.path.abspath(sys.argv.pop(1))
BEFORE, AFTER = {"same": 50, "more": 100, "less": 70, "gone": 5}, {"same": 50, "more": 130, "less": 40, "new": 7}


class Difference(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-difference-")
        self.addCleanup(folder.cleanup)
        self.p = Project(Path(folder.name) / "project")

    def imported(self, name, text, end):
        file = self.p.folder / f"{name}.{end}"
        file.write_text(text, encoding="utf-8")
        self.p.ask("import", "-q", file, "-o", self.p.folder / f"{name}.db")
        return f"{name}.db"

    def functions(self, name, instructions):
        return self.imported(name, "# callgrind format\nevents: Ir\nfl=a.c\n" + "".join(f"fn={f}\n1 {n}\n" for f, n in instructions.items()), "out")

    def series(self, name, rows):
        return self.imported(name, "metric,unit,function,value\n" + "".join(f"{m},{u},{f},{v}\n" for m, u, f, values in rows for v in values), "csv")

    def rows(self, *words):
        return self.p.json("diff", *words, "--hot", "0")["difference"]


class Functions(Difference):
    def setUp(self):
        super().setUp()
        self.files = [self.functions("before", BEFORE), self.functions("after", AFTER)]

    def test_what_differs(self):
        rows = {row["location"]: row for row in self.rows(*self.files)}
        self.assertEqual(set(rows), {"more", "less", "gone", "new"})
        self.assertEqual({f: (row["a"], row["b"], row["change"], row["state"]) for f, row in rows.items()},
                         {"more": (100, 130, 30, "changed"), "less": (70, 40, -30, "changed"), "gone": (5, None, -5, "vanished"), "new": (None, 7, 7, "appeared")})
        more = rows["more"]
        self.assertEqual((more["change_low"], more["change_high"], more["relative"], more["metric"], more["n_a"]), (30, 30, 0.3, "instructions", 1))
        self.assertAlmostEqual(more["share"], 30 / 225)
        self.assertIsNone(rows["new"]["relative"])

    def test_the_other_way_round(self):
        there = {row["location"]: row["change"] for row in self.rows(*self.files)}
        back = {row["location"]: row["change"] for row in self.rows(*self.files[::-1])}
        self.assertEqual(back, {f: -change for f, change in there.items()})
        self.assertEqual(self.rows(self.files[0], self.files[0]), [])

    def test_order_and_top(self):
        self.assertEqual([row["location"] for row in self.rows(*self.files)], ["less", "more", "new", "gone"], "by size, then by name")
        self.assertEqual([row["location"] for row in self.p.json("diff", "--hot", "1", *self.files)["difference"]], ["less"])
        self.assertEqual([row["location"] for row in self.rows("--sort", "change", *self.files)], ["more", "new", "gone", "less"])
        self.assertEqual([row["location"] for row in self.rows("--where", "change>0", *self.files)], ["more", "new"])

    def test_shares(self):
        rows = {row["location"]: row for row in self.rows("--shares", *self.files)}
        self.assertAlmostEqual(rows["more"]["change"], 130 / 227 - 100 / 225)
        self.assertAlmostEqual(rows["gone"]["a"], 5 / 225)
        twice = self.functions("twice", {f: 2 * n for f, n in BEFORE.items()})
        self.assertEqual(self.rows("--shares", self.files[0], twice), [], "the shares are equal")
        self.assertAlmostEqual(rows["same"]["change"], 50 / 227 - 50 / 225)

    def test_text(self):
        lines = self.p.ask("diff", *self.files, "--hot", "2").splitlines()
        self.assertEqual(lines[1], "difference: instructions, B less A; in all 225 and 227; 1 equal row is not listed")
        self.assertEqual(lines[2].split(), ["change", "relative", "a", "b", "state", "image", "location"])
        self.assertEqual(lines[3].split()[:6], ["-30", "-42.86", "%", "70", "40", "changed"])
        self.assertEqual(lines[5], "  ... and 2 more (--hot 0 prints all)")

    def test_large_and_small_changes(self):
        """From ten times on, the relative change is a factor; a change that rounds to nothing has no sign of a loss."""
        before = self.functions("few", {"nine": 10, "ten": 10, "many": 10, "tiny": 10**6})
        after = self.functions("many", {"nine": 99, "ten": 100, "many": 853757, "tiny": 10**6 - 1})
        for words in ["--format", "markdown"], ["--format", "latex"]:
            text = self.p.ask("diff", *words, "--columns", "location,relative", before, after).replace("\\", "").replace("&", "|")
            got = [[cell.strip() for cell in line.strip("| ").split("|")] for line in text.splitlines() if "ti" not in line or "tiny" in line]
            for row in ["nine", "+890.00 %"], ["ten", "x10.0"], ["many", "x85,376"], ["tiny", "+0.00 %"]:
                self.assertIn(row, got)

    def test_formats(self):
        columns = ["--columns", "location,change,relative", "--where", "state=changed"]
        self.assertEqual(self.p.ask("diff", "--format", "csv", *columns, *self.files),
                         f"location,change,relative\nless,-30,{-30 / 70:.17g}\nmore,30,{0.3:.17g}\n")
        self.assertEqual(self.p.ask("diff", "--format", "markdown", *columns, *self.files),
                         "| location | change | relative |\n| --- | --: | --: |\n| less | -30 | -42.86 % |\n| more | +30 | +30.00 % |\n")
        latex = self.p.ask("diff", "--format", "latex", *columns, *self.files)
        self.assertIn("less & -30 & -42.86 \\% \\\\\n", latex)
        self.p.ask("diff", "--format", "csv", "-o", "x.csv", *self.files)
        all_columns = list(csv.DictReader(io.StringIO((self.p.folder / "x.csv").read_text())))
        self.assertEqual([row["state"] for row in all_columns], ["changed", "changed", "appeared", "vanished"])

    def test_refused(self):
        self.assertEqual(self.p.refused("diff", "--metric", "time", *self.files, code=2),
                         "strobe: before.db and after.db have no metric time in common; both have instructions, Ir\n")
        self.assertIn("no column 'chang'; did you mean 'change'?", self.p.refused("diff", "--columns", "chang", *self.files, code=2))
        self.assertIn("--under chooses calling contexts", self.p.refused("diff", "--under", "f", *self.files, code=2))
        self.assertIn("the formats are text, json, csv, markdown, latex", self.p.refused("diff", "--format", "xml", *self.files, code=2))
        other = self.series("s", [("wall", "ns", "", [1])])
        self.assertIn("have no metric in common: strobe show prints what they have", self.p.refused("diff", self.files[0], other))
        self.p.refused("diff", "-o", self.files[0], *self.files, code=2)


class Measurements(Difference):
    def test_intervals(self):
        a = self.series("a", [("wall", "ns", "f", range(100, 110)), ("wall", "ns", "g", range(100, 110)), ("wall", "ns", "h", [5])])
        b = self.series("b", [("wall", "ns", "f", range(200, 210)), ("wall", "ns", "g", range(101, 111)), ("wall", "ns", "h", [6])])
        rows = {row["location"]: row for row in self.rows(a, b)}
        f, g, h = (rows[name] for name in "fgh")
        self.assertEqual((f["a"], f["b"], f["change"], f["state"], f["n_a"]), (104.5, 204.5, 100, "changed", 10))
        self.assertTrue(90 <= f["change_low"] < 100 < f["change_high"] <= 110, f)
        self.assertEqual((g["change"], g["state"]), (1, "unsure"))
        self.assertTrue(g["change_low"] < 0 < g["change_high"], g)
        self.assertEqual((h["change"], h["state"], h["change_low"]), (1, "unsure", None), "one value on each side says nothing")
        self.assertIsNone(f["share"], "medians do not add up")
        self.assertIn("do not add up to a total", self.p.refused("diff", "--shares", a, b, code=2))

    def test_metrics(self):
        a = self.series("a", [("wall", "ns", "f", [1000]), ("peak", "B", "f", [2048])])
        b = self.series("b", [("wall", "ns", "f", [3000]), ("peak", "B", "f", [1024])])
        self.assertEqual([(row["metric"], row["change"]) for row in self.rows(a, b)], [("wall", 2000), ("peak", -1024)])
        self.assertEqual([row["metric"] for row in self.rows("--metric", "peak", a, b)], ["peak"])
        self.assertIn("-1 KiB", self.p.ask("diff", "--metric", "peak", a, b))
        self.assertIn("+2.0 us", self.p.ask("diff", "--metric", "wall", a, b))


class Profiles(Difference):
    """Profiles of tools: the expected numbers come from the same profiles."""

    def test_program_under_two_names(self):
        for name in "one", "two":
            (self.p.folder / name).write_bytes(Path("/bin/true").read_bytes())
            (self.p.folder / name).chmod(0o755)
            self.p.ask("paths", "-q", "-o", f"{name}.db", "--", f"./{name}")
            self.p.ask("run", "-q", "-t", "bbcount", "-o", f"{name}.bb.db", "--", f"./{name}")
        got = self.p.json("diff", "one.db", "two.db")
        self.assertEqual((got["appeared"], got["vanished"]), (0, 0))
        counters = [self.p.json("show", f"{name}.bb.db")["blocks"] for name in ("one", "two")]
        rows = {row["location"]: row for row in self.rows("one.bb.db", "two.bb.db")}
        if counters[0] != counters[1]:
            self.assertEqual(rows["blocks"]["change"], counters[1] - counters[0])
        else:
            self.assertNotIn("blocks", rows)

    def test_contexts_in_the_formats_of_tables(self):
        self.p.ask("paths", "-q", "-o", "true.db", "--", "/bin/true")
        self.p.ask("paths", "-q", "-o", "echo.db", "--", "/bin/echo")
        want = self.p.json("diff", "--hot", "0", "true.db", "echo.db")["contexts"]
        rows = list(csv.DictReader(io.StringIO(self.p.ask("diff", "--hot", "0", "--format", "csv", "true.db", "echo.db"))))
        self.assertEqual(sorted((";".join(node["name"] for node in each["path"]), each["change"]) for each in want),
                         sorted((row["location"], float(row["change"])) for row in rows))

    def test_tables_of_tools(self):
        self.p.ask("run", "-q", "-t", "opmix", "-o", "a.db", "--", "/bin/true")
        self.p.ask("run", "-q", "-t", "opmix", "-o", "b.db", "--", "/bin/echo", "x", "y")
        name = next(key for key, value in self.p.json("show", "a.db").items() if key != "notes" and isinstance(value, list) and value)
        first = {}
        for file in "a.db", "b.db":
            table = list(csv.DictReader(io.StringIO(self.p.ask("show", "-t", name, "--format", "csv", file))))
            keys = list(table[0])
            metric = next(key for key in keys if all(row[key].isdigit() for row in table))
            first[file] = {row[keys[0]]: int(row[metric]) for row in table}
        rows = {row["location"]: row for row in self.rows("--table", name, "--metric", metric, "a.db", "b.db")}
        for key in set(first["a.db"]) | set(first["b.db"]):
            a, b = first["a.db"].get(key, 0), first["b.db"].get(key, 0)
            if key in rows:
                self.assertEqual(rows[key]["change"], b - a, key)
            elif len(keys) == 2:
                self.assertEqual(a, b, key)
        self.assertIn("have no metric of a table none in common", self.p.refused("diff", "--table", "none", "a.db", "b.db", code=2))

    def test_memory_and_stored_profiles(self):
        self.p.commit("first")
        self.p.ask("init")
        self.p.ask("mem", "-q", "-o", self.p.home / "m.db", "--", "/bin/ls", "-d", "/")
        self.p.ask("add", "-q", self.p.home / "m.db")
        self.assertEqual(self.rows("HEAD", self.p.home / "m.db"), [])
        total = self.p.json("mem", "--from", self.p.home / "m.db")["heap"]["allocations"]
        number = f"{total:,}"
        self.assertIn(f"calls, B less A; in all {number} and {number};", self.p.ask("diff", "--metric", "calls", "HEAD", "HEAD"))


if __name__ == "__main__":
    unittest.main()
