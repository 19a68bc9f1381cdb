#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`strobe run -t alloc`: the numbers of allocations for each chain of calls of a program that is known (planted.cc), in every form in which
they are printed.

usage: test_allocs.py STROBE PLANTED"""

import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

STROBE, PLANTED = [os.path.abspath(name) for name in sys.argv[1:3]]


class Allocs(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-allocs-")
        self.addCleanup(folder.cleanup)
        self.at = folder.name

    def strobe(self, *arguments, code=0):
        done = subprocess.run([STROBE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, cwd=self.at, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def run_planted(self, what="", options=(), code=0):
        self.strobe("run", "-q", *options, "-o", "r.db", "--", PLANTED, what, code=code)

    def record(self, what="", tool="alloc", options=(), code=0):
        self.run_planted(what, ("-t", tool, *options), code)
        return json.loads(self.strobe("mem", "--from", "r.db", "--format", "json").stdout)

    def chains(self, result):
        """From main or the thread's function to the allocation function: numbers of calls, bytes, live bytes, bytes at the peak."""
        frames, out = result["frames"], {}
        for c in result["contexts"]:
            names, at = [], c["frame"]
            while at is not None:
                names.append(frames[at]["function"].split("(")[0])
                at = frames[at]["parent"]
            names.reverse()
            first = next((i for i, name in enumerate(names) if name in ("main", "in_thread", "handler")), 0)
            key = tuple(names[first:])
            if key[0] not in ("main", "in_thread", "handler"):
                continue  # of the library that is loaded first
            old = out.get(key, (0, 0, 0, 0))
            out[key] = tuple(a + b for a, b in zip(old, (c["allocations"], c["bytes"], c["live"], c["peak"])))
        return out

    ONE = ("main", "one", "leaf", "within", "malloc")
    TWO = ("main", "two", "leaf", "within", "malloc")
    USUAL = {ONE: (10, 1000, 0, 0), TWO: (5, 5000, 5000, 5000)}

    def test_each_chain_has_its_numbers(self):
        result = self.record()
        self.assertEqual(self.chains(result), self.USUAL)
        self.assertEqual(result["strobe"]["tool"], "alloc")

    def test_lines_and_inlined_functions(self):
        frames = self.record()["frames"]
        found = {(f["function"].split("(")[0], f["line"], f["inlined"]) for f in frames if (f["file"] or "").endswith("planted.cc")}
        self.assertLessEqual({("within", 17, True), ("leaf", 23, False), ("one", 31, False), ("two", 38, False)}, found)
        self.assertEqual({f["line"] for f in frames if f["function"] == "malloc"}, {None})

    def test_other_functions_and_the_last_numbers(self):
        chains = self.chains(self.record("more"))
        self.assertEqual(chains[("main", "zeroed", "calloc")], (1, 64, 0, 0))
        self.assertEqual(chains[("main", "zeroed", "realloc")], (1, 128, 128, 128))
        chains = self.chains(self.record("new"))
        [new] = [key for key in chains if len(key) == 2]
        self.assertIn("operator new", new[1])
        self.assertEqual(chains[new], (1, 500, 500, 500))

    def test_recursion_has_all_its_levels(self):
        chains = self.chains(self.record("some"))
        self.assertEqual(chains[("main", *["deeper"] * 4, *self.TWO[1:])], (1, 1000, 1000, 1000))

    def test_callers_beyond_the_limit_are_said_to_be_unknown(self):
        result = self.record("deep")
        # The program's own; the one of the library that the loader starts is another.
        cuts = [c for c in result["contexts"] if self.root(result, c) == "[unknown callers]"]
        self.assertEqual(result["unknown_callers"], len(cuts))
        [cut] = [c for c in cuts if c["bytes"] == 1000]
        self.assertEqual((cut["allocations"], cut["bytes"], cut["live"]), (1, 1000, 1000))
        text = self.strobe("mem", "--from", "r.db").stdout
        self.assertRegex(text, r"the callers of \d allocations? are not all known")

    def root(self, result, context):
        at = context["frame"]
        while result["frames"][at]["parent"] is not None:
            at = result["frames"][at]["parent"]
        return result["frames"][at]["function"]

    def test_a_handler_of_a_signal_is_called_where_the_signal_came(self):
        result = self.record("signal")
        [c] = [c for c in result["contexts"] if c["bytes"] == 7]
        names, at = [], c["frame"]
        while at is not None:
            names.append(result["frames"][at]["function"].split("(")[0])
            at = result["frames"][at]["parent"]
        self.assertEqual(names[:2], ["malloc", "handler"])
        self.assertIn("main", names)

    def test_threads(self):
        chains = self.chains(self.record("threads"))
        self.assertEqual(chains[("in_thread", "one", "leaf", "within", "malloc")][:3], (200, 20000, 0))
        self.assertEqual(chains[self.ONE], self.USUAL[self.ONE])

    def test_children_have_the_stacks_of_their_parent(self):
        self.assertEqual(self.chains(self.record("fork"))[self.ONE][:2], (10, 1000))
        self.assertEqual(self.chains(self.record("fork", options=("-f",)))[self.ONE][:2], (13, 1300))

    def test_a_program_that_is_killed_has_no_peak(self):
        result = self.record("killed", code=137)
        self.assertEqual([v[:3] for v in self.chains(result).values()], [v[:3] for v in self.USUAL.values()])
        self.assertIn("at the peak are not known", self.strobe("show", "r.db").stdout)

    def test_stacks_can_be_left_out(self):
        self.run_planted(options=("-t", "alloc:stacks=0"))
        sites = json.loads(self.strobe("show", "--format", "json", "r.db").stdout)["sites"]
        self.assertEqual({(s["count"], s["bytes"]) for s in sites if s["line_line"] == 17}, {(15, 6000)})
        self.assertIn("stacks=0", self.strobe("mem", "--from", "r.db", code=125).stderr)
        self.assertIn("stacks", self.strobe("run", "-t", "alloc:stacks=2", "--", PLANTED, code=125).stderr)

    def rows(self, text):
        """Rows of a tree: calls and the name without its place, by depth."""
        out = []
        for line in text.splitlines():
            found = re.match(r" +[\d.]+ +([\d,]+) +([\d,]+) +([\d,]+)  ( *)(\w[^ (]*)", line)
            if found:
                out.append((len(found[4]), found[5], int(found[1].replace(",", ""))))
        return out

    def test_show_says_who_calls_malloc(self):
        self.run_planted(options=("-t", "alloc"))
        text = self.strobe("show", "r.db", "-n", "0").stdout
        rows = self.rows(text)
        at = rows.index((0, "malloc", max(n for _, name, n in rows if name == "malloc")))
        tree = rows[at:]
        for row in ((1, "within", 15), (2, "leaf", 15), (3, "one", 10), (4, "main", 10), (3, "two", 5), (4, "main", 5)):
            self.assertIn(row, tree)
        self.assertIn("within (planted.cc:17) inlined", text)
        self.assertNotIn("frames:", text)

    def test_show_prints_stacks_from_the_beginning(self):
        self.run_planted(options=("-t", "alloc"))
        rows = self.rows(self.strobe("show", "r.db", "--stacks", "-n", "0").stdout)
        main = next(i for i, (_, name, _) in enumerate(rows) if name == "main")
        depth = rows[main][0]
        names = [(d - depth, name, n) for d, name, n in rows[main:]]
        for row in ((1, "one", 10), (2, "leaf", 10), (3, "within", 10), (4, "malloc", 10), (1, "two", 5)):
            self.assertIn(row, names)
        few = self.strobe("show", "r.db", "--stacks", "-n", "2").stdout
        self.assertEqual(len(self.rows(few)), 2)
        self.assertRegex(few, r"and \d+ more frames")

    def test_folded_stacks(self):
        self.run_planted(options=("-t", "alloc"))

        def folded(*options):
            lines = self.strobe(*options).stdout.splitlines()
            found = {}
            for line in lines:
                stack, number = line.rsplit(" ", 1)
                key = tuple(name.split("(")[0] for name in stack.split(";"))
                if "main" in key:
                    key = key[key.index("main"):]
                    found[key] = found.get(key, 0) + int(number)
            return found

        self.assertEqual(folded("export", "--to", "folded", "r.db"), {self.ONE: 10, self.TWO: 5})
        self.assertEqual(folded("mem", "--from", "r.db", "--format", "folded", "--metric", "total"), {self.ONE: 1000, self.TWO: 5000})

    def test_other_formats(self):
        self.run_planted(options=("-t", "alloc"))
        scope = json.loads(self.strobe("export", "--to", "speedscope", "r.db").stdout)
        self.assertGreaterEqual(sum(scope["profiles"][0]["weights"]), 15)
        self.assertIn("fn=", self.strobe("export", "--to", "callgrind", "r.db").stdout)
        self.strobe("export", "-o", "x.pb", "r.db")
        self.assertGreater(os.path.getsize(os.path.join(self.at, "x.pb")), 100)
        with open(os.path.join(self.at, "x.pb"), "rb") as file:
            plain = file.read()
        self.strobe("export", "-o", "x.pb.gz", "r.db")
        self.strobe("mem", "--from", "r.db", "-o", "y.pb.gz")
        self.strobe("mem", "--from", "r.db", "--format", "folded", "-o", "y.folded.gz")
        for name, expected in ("x.pb.gz", plain), ("y.pb.gz", plain), ("y.folded.gz", self.strobe("mem", "--from", "r.db", "--format", "folded").stdout.encode()):
            with gzip.open(os.path.join(self.at, name)) as file:
                self.assertEqual(file.read(), expected, name)
        for words in ("-o", "z.json.gz"), ("-o", "z.txt.gz"), ("--format", "text", "-o", "z.gz"), ("--format", "json", "-o", "z.gz"):
            done = subprocess.run([STROBE, "mem", "--from", "r.db", *words], cwd=self.at, capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (125, "", "strobe: strobe mem compresses only folded, speedscope, callgrind and pprof: give -o a name without .gz, or --format\n"))
        self.strobe("plot", "flame", "-o", "x.svg", "r.db")
        with open(os.path.join(self.at, "x.svg"), encoding="utf-8") as file:
            self.assertIn("within", file.read())

    def test_the_page_has_the_stacks(self):
        self.run_planted(options=("-t", "alloc"))
        self.strobe("report", "-o", "x.html", "r.db")
        with open(os.path.join(self.at, "x.html"), encoding="utf-8") as file:
            data = json.loads(re.search(r'id="data">(.*?)</script>', file.read(), re.S)[1])
        paths = data["results"][0]["paths"]
        self.assertEqual(paths["counted"], "allocations")
        thread = paths["threads"][0]
        malloc = next(n for n in thread["kccf"] if n["name"] == "malloc")
        within = next(n for n in malloc["children"] if n["name"] == "within")
        self.assertEqual((within["count"], within["bytes"], within["live"], within["line"]), (15, 6000, 5000, 17))
        self.assertEqual([(n["name"].split("(")[0], n["count"]) for n in within["children"][0]["children"]], [("one", 10), ("two", 5)])
        total, work = 0, list(thread["ksf"])
        while work:
            each = work.pop()
            total += each["count"]
            work += each["children"]
        self.assertEqual(total, sum(n["count"] for n in thread["kccf"]))

    def test_a_damaged_result_is_refused(self):
        import sqlite3
        self.run_planted(options=("-t", "alloc"))
        db = sqlite3.connect(os.path.join(self.at, "r.db"))
        table = "table_frames"
        db.execute(f"UPDATE {table} SET parent = 999999 WHERE parent != 4294967295")
        db.commit()
        db.close()
        self.assertIn("damaged", self.strobe("mem", "--from", "r.db", code=125).stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
