#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`strobe diff` on profiles of programs whose calls are known.

usage: test_diff.py STROBE FOLDER (with programs/NAME-WAY)"""

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE = Path(sys.argv.pop(1)).resolve()
PROGRAMS = Path(sys.argv.pop(1)).resolve() / "programs"
CHOSEN = ["--funcs", "main,f_*"]


def setUpModule():
    place = tempfile.TemporaryDirectory(prefix="strobe-diff-")
    unittest.addModuleCleanup(place.cleanup)
    Diff.place = Path(place.name)


class Diff(unittest.TestCase):
    maxDiff = 2000
    place = None

    def strobe(self, *words, code=0):
        done = subprocess.run([STROBE, *words], cwd=self.place, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
        self.assertEqual((done.returncode, done.stderr if code == 0 else ""), (code, ""), done.stderr[-1000:])
        return done.stdout if code == 0 else done.stderr

    def profile(self, name, *arguments, options=(), program="counts-O0"):
        """The profile of a program, made once for each name."""
        if not (self.place / f"{name}.db").exists():
            self.strobe("paths", "-q", "-o", f"{name}.db", *(options or CHOSEN), "--", PROGRAMS / program, *map(str, arguments))
        return f"{name}.db"

    def json(self, *words):
        return json.loads(self.strobe("diff", "--format", "json", *words))

    def rows(self, document):
        """{path: (a, b, state)}; the path as text."""
        rows = {}
        for row in document["contexts"]:
            path = ">".join(label["name"] for label in row["path"])
            path = f"{row['thread']}:{path}" if "thread" in row else path
            self.assertNotIn(path, rows)
            self.assertEqual(row["change"], row["b"] - row["a"])
            self.assertEqual(row["relative"], None if not row["a"] else (row["b"] - row["a"]) / row["a"])
            rows[path] = row["a"], row["b"], row["state"]
        return rows


class Counts(Diff):
    def test_joined(self):
        got = self.json(self.profile("a", 3, 1), self.profile("b", 8, 0, 1))
        self.assertEqual(got["strobe"], {"version": 1, "diff": 1})
        self.assertEqual((got["mode"], got["k"], got["forest"], got["metric"]), ("func", "inf", "ksf", "count"))
        m = "__root__>main>"
        want = {m + "f_a>f_leaf": (6, 16, "changed"), m + "f_a": (3, 8, "changed"), m + "f_b": (1, 0, "vanished"),
                m + "f_b>f_leaf": (1, 0, "vanished"), m + "f_down": (0, 1, "appeared"), m + "f_down>f_leaf": (0, 1, "appeared")}
        self.assertEqual(self.rows(got), want)
        self.assertEqual([">".join(label["name"] for label in row["path"]) for row in got["contexts"]][:2], list(want)[:2])
        self.assertEqual((got["appeared"], got["vanished"], got["same"], got["differ"]), (2, 2, 5, 6))
        sides = {side: (got[side]["file"], got[side]["command"][1:], got[side]["contexts"], got[side]["whole"]) for side in "ab"}
        self.assertEqual(sides, {"a": ("a.db", ["3", "1"], 9, 2 + 1 + 9 + 2 + 4), "b": ("b.db", ["8", "0", "1"], 9, 2 + 1 + 24 + 2 + 4)})

    def test_same(self):
        got = self.json(self.profile("a", 3, 1), self.profile("a", 3, 1))
        self.assertEqual((got["contexts"], got["appeared"], got["vanished"], got["differ"], got["same"]), ([], 0, 0, 0, 9))
        self.assertEqual(self.json("--shares", "a.db", "a.db")["contexts"], [])

    def test_threads(self):
        rows = self.rows(self.json("--by-thread", self.profile("a", 3, 1), self.profile("c", 4, 1)))
        self.assertEqual(rows, {"1:__root__>main>f_a>f_leaf": (6, 8, "changed"), "1:__root__>main>f_a": (3, 4, "changed")})

    def test_kccf(self):
        got = self.json("--kccf", self.profile("a", 3, 1), self.profile("c", 4, 1))
        self.assertEqual(got["forest"], "kccf")
        self.assertEqual(self.rows(got), {
            "f_leaf": (9, 11, "changed"), "f_leaf>f_a": (8, 10, "changed"),
            "f_leaf>f_a>main": (6, 8, "changed"), "f_leaf>f_a>main>__root__": (6, 8, "changed"),
            "f_a": (4, 5, "changed"), "f_a>main": (3, 4, "changed"), "f_a>main>__root__": (3, 4, "changed")})
        self.assertEqual(got["a"]["whole"], 18)

    def test_chosen(self):
        """Of both sides, by names that one of them knows."""
        files = self.profile("a", 3, 1), self.profile("b", 8, 0, 1)
        m = "__root__>main>"
        got = self.json("--under", "f_a", *files)
        self.assertEqual(self.rows(got), {m + "f_a>f_leaf": (6, 16, "changed"), m + "f_a": (3, 8, "changed")})
        got = self.json("--under", "f_b,f_down", "--calls", "f_leaf", *files)
        self.assertEqual(self.rows(got), {m + "f_b": (1, 0, "vanished"), m + "f_b>f_leaf": (1, 0, "vanished"),
                                          m + "f_down": (0, 1, "appeared"), m + "f_down>f_leaf": (0, 1, "appeared")})
        self.assertEqual(self.strobe("diff", "--under", "nobody_at_all", *files, code=2),
                         "strobe: --under nobody_at_all: no function of that name was called\n")

    def test_slabs(self):
        """Each activation counts once, at the longest of its contexts."""
        options = [*CHOSEN, "-k", "1"]
        got = self.json(self.profile("k1", 3, 1, options=options), self.profile("k2", 5, 1, options=options))
        self.assertEqual(self.rows(got), {"main>f_a": (3, 5, "changed"), "f_a>f_leaf": (8, 12, "changed")})

    def test_blocks(self):
        options = ["--funcs", "main,f_a,f_b,f_leaf", "--mode", "intra", "--roll-loops"]
        rows = self.rows(self.json(self.profile("i1", 3, 1, options=options), self.profile("i2", 4, 1, options=options)))
        self.assertEqual(rows["f_a+0"], (4, 5, "changed"))
        self.assertEqual(rows["f_leaf+0"], (9, 11, "changed"))
        self.assertNotIn("f_b+0", rows)

    def test_another_folder(self):
        """The same function of a program that has moved, and of two builds."""
        (self.place / "moved").mkdir()
        for way in "O0", "O2":
            shutil.copy(PROGRAMS / f"counts-{way}", self.place / "moved" / "counts-O0")
            self.strobe("paths", "-q", "-o", f"moved{way}.db", *CHOSEN, "--", "moved/counts-O0", "4", "1")
            rows = self.rows(self.json(self.profile("a", 3, 1), f"moved{way}.db"))
            self.assertEqual(rows, {"__root__>main>f_a>f_leaf": (6, 8, "changed"), "__root__>main>f_a": (3, 4, "changed")})

    def test_static_functions_of_one_name(self):
        """They are matched by their files, wherever the linker puts them; without debug information in the order of their addresses. In one build
        it is the address that counts."""
        one = "volatile int %s_s; static __attribute__((noipa)) void init(void) { %s_s++; } void %s_run(int n) { while (n--) init(); }\n"
        for name in "xy":
            (self.place / f"{name}.c").write_text(one.replace("%s", name))
        (self.place / "m.c").write_text("#include <stdlib.h>\nvoid x_run(int), y_run(int);\n"
                                        "int main(int c, char **v) { x_run(atoi(v[c - 2])); y_run(atoi(v[c - 1])); }\n")
        for way, flags, order in (("there", "-g", "xy"), ("back", "-g", "yx"), ("bare", "-g0", "xy"), ("turned", "-g0", "yx")):
            subprocess.run(["cc", "-O1", "-Wl,--build-id", flags, "-o", "statics", "m.c", *(f"{name}.c" for name in order)], cwd=self.place, check=True)
            for name, x, y in ((way + "1", 3, 5), (way + "2", 3, 50), (way + "3", 0, 5)):
                self.strobe("paths", "-q", "-k", "0", "--funcs", "init", "-o", f"{name}.db", "--", "./statics", str(x), str(y))
        by_files, by_order = [(5, 50)], [(3, 50), (5, 3)]  # 3 and 3 is no difference
        for a, b, want in (("there1", "back2", by_files), ("there1", "there2", by_files), ("bare1", "bare2", by_files), ("bare1", "turned2", by_order),
                           ("there1", "turned2", by_order), ("there1", "there3", [(3, 0)]), ("bare1", "bare3", [(3, 0)])):
            got = self.json("--hot", "0", f"{a}.db", f"{b}.db")
            self.assertEqual(sorted((row["a"], row["b"]) for row in got["contexts"] if row["path"][-1]["name"] == "init"), want, (a, b))


class Costs(Diff):
    def test_instructions(self):
        """f_leaf is the same code each time: totals are sums, own costs are those of the JSON of strobe paths."""
        options = [*CHOSEN, "--instructions"]
        files = self.profile("n1", 3, 1, options=options), self.profile("n2", 5, 0, options=options)
        self.assertEqual(self.json(*files)["metric"], "instructions")

        def trees(file):
            found = {}
            [joined] = json.loads(self.strobe("paths", "--from", file, "--join-threads", "--format", "json"))["threads"]
            waiting = [("", node) for node in joined["ksf"]]
            while waiting:
                above, node = waiting.pop()
                path = above + node["name"]
                found[path] = node["instructions"], node["total_instructions"]
                waiting += [(path + ">", child) for child in node["children"]]
            return found
        a, b = map(trees, files)
        for which, metric in enumerate(["instructions", "total-instructions"]):
            got = self.json("--metric", metric, "--hot", "0", *files)
            values = {path: (a.get(path, (0, 0))[which], b.get(path, (0, 0))[which]) for path in {*a, *b}}
            self.assertEqual({path: row[:2] for path, row in self.rows(got).items()}, {path: pair for path, pair in values.items() if pair[0] != pair[1]})
            changes = [abs(row["change"]) for row in got["contexts"]]
            self.assertEqual(changes, sorted(changes, reverse=True))
        self.assertEqual(got["a"]["whole"], a["__root__"][1])
        leaf = next(path for path in a if path.endswith("f_b>f_leaf"))
        self.assertEqual(self.rows(got)[leaf], (a[leaf][1], 0, "vanished"))

    def test_missing_metrics(self):
        files = self.profile("n1", 3, 1, options=[*CHOSEN, "--instructions"]), self.profile("a", 3, 1)
        self.assertEqual(self.json(*files)["metric"], "count")
        self.assertEqual(self.strobe("diff", "--metric", "total-instructions", *files, code=2),
                         "strobe: a.db has no instructions: measure both with --instructions, or take --metric count\n")
        self.assertEqual(self.strobe("diff", "--metric", "time", *files, code=2),
                         "strobe: n1.db has no time: measure both with --time, or take --metric count\n")
        self.assertEqual(self.strobe("diff", "--kccf", "--metric", "total-instructions", files[0], files[0], code=2),
                         "strobe: with --kccf there are no totals: leave it out, or take --metric instructions\n")


class Text(Diff):
    def test_table(self):
        text = self.strobe("diff", self.profile("a", 3, 1), self.profile("b", 8, 0, 1))
        lines = text.splitlines()
        self.assertRegex(lines[0], r"^  A: a\.db: \S*counts-O0 3 1; 9 contexts, 18 activations$")
        self.assertEqual(lines[2], "  2 contexts appeared, 2 vanished, 2 changed, 5 did not change")
        table = [line.split(None, 4) for line in lines[5:]]
        self.assertEqual(table[:3], [["+10", "+166.7%", "6", "16", "__root__ > main > f_a > f_leaf"],
                                     ["+5", "+166.7%", "3", "8", "__root__ > main > f_a"], ["-1", "gone", "1", "0", "__root__ > main > f_b"]])
        self.assertIn(["+1", "new", "0", "1", "__root__ > main > f_down"], table)
        self.assertEqual(len(table), 6)
        short = self.strobe("diff", "--hot", "2", "a.db", "b.db").splitlines()
        self.assertEqual(short[-1], "  ... and 4 more (--hot)")
        self.assertEqual(len(short), 8)

    def test_shares(self):
        """7 and 5 of 18 activations, as the report's page has it."""
        text = self.strobe("diff", "--shares", self.profile("a", 3, 1), self.profile("b", 8, 0, 1))
        [leaf] = [line.split(None, 4) for line in text.splitlines() if line.endswith("main > f_a > f_leaf")]
        self.assertEqual(leaf[:4], [f"{100 * (16 / 33 - 6 / 18):+.2f}", "+166.7%", f"{100 * 6 / 18:.2f}%", f"{100 * 16 / 33:.2f}%"])
        got = self.json("--shares", "a.db", "b.db")
        changes = [abs(row["share_b"] - row["share_a"]) for row in got["contexts"]]
        self.assertEqual(changes, sorted(changes, reverse=True))
        self.assertEqual(len(changes), 11)  # all differ: so many more of them are f_leaf


class Mistakes(Diff):
    def error(self, sentence, *words, code=2):
        self.assertEqual(self.strobe("diff", *words, code=code), f"strobe: {sentence}\n")

    def test_command_line(self):
        self.error("strobe diff compares two profiles: strobe diff BEFORE AFTER", "a.db")
        self.error("strobe diff compares two profiles; 'c' is one too many", "a", "b", "c")
        self.error("--metric takes count, time, total-time, instructions or total-instructions, not 'ticks'", "--metric", "ticks",
                   self.profile("a", 3, 1), self.profile("a", 3, 1))
        self.error("no format 'xml'; the formats are text, json, csv, markdown, latex", "--format", "xml", "a", "b")
        self.error("--hot takes a number from 0 to 1000000, not 'all'", "--hot", "all", "a", "b")

    def test_what_does_not_fit(self):
        a, only = self.profile("a", 3, 1), "of the two only {} was measured with {}: measure both with it, or both without"
        for name, options, asked in (("roll", [*CHOSEN, "--unroll-recursion"], "--unroll-recursion"), ("cycles", [*CHOSEN, "--roll-cycles"], "--roll-cycles"),
                                     ("tails", [*CHOSEN, "--tail-calls", "physical"], "--tail-calls physical"), ("root", [], "--funcs or --images")):
            file = self.profile(name, 3, 1, options=options or ["-k", "inf"])
            for pair in (a, file), (file, a):
                self.error(only.format(a if name == "root" else file, asked), *pair)
        k, mode = self.profile("k2-", 3, 1, options=[*CHOSEN, "-k", "2"]), self.profile("intra", 3, 1, options=[*CHOSEN, "-m", "intra", "--roll-loops"])
        self.error("k2-.db was measured with -k 2, a.db with -k inf: measure both with the same -k", k, a)
        self.error("a.db has contexts of mode func, intra.db of mode intra: measure both with the same --mode", a, mode)

    def test_too_many_callers(self):
        """Their number grows with the square of the depth."""
        deep = self.profile("deep", 0, 0, 20000, options=["--unroll-recursion"])
        said = self.strobe("diff", "--kccf", deep, deep, code=2)
        self.assertRegex(said, r"^strobe: deep\.db has too many contexts of callers to compare them: leave out --kccf, or measure both with -k \d+\n$")
        self.assertEqual(self.json(deep, deep)["contexts"], [])

    def test_files(self):
        self.strobe("run", "-q", "-t", "null", "-o", "null.db", "--", "/bin/true")
        self.error("null.db has no contexts: strobe paths measures them; strobe report shows how other profiles differ", self.profile("a", 3, 1), "null.db")
        self.error("cannot read none.db: No such file or directory", "a.db", "none.db", code=125)


if __name__ == "__main__":
    unittest.main()
