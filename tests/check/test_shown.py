#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page, the table and the JSON show the same pairs of functions of two profiles: test_shown.py STROBE. Needs node and a compiler."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE = os.path.abspath(sys.argv.pop(1))
DATA = Path(__file__).resolve().parents[2] / "web" / "src" / "data"
# Each file has a static function of the same name, called as often as the command line says.
FILE = "volatile int %s_s; static __attribute__((noipa)) void init(void) { %s_s++; } void %s_run(int n) { while (n--) init(); }\n"
MAIN = "#include <stdlib.h>\nvoid x_run(int), y_run(int);\nint main(int c, char **v) { x_run(atoi(v[c - 2])); y_run(atoi(v[c - 1])); }\n"
PAGE = """
import { readFileSync } from "node:fs";
const { readDocument } = await import(process.argv[1] + "/model.js");
const { diffTrees, diffFunctions } = await import(process.argv[1] + "/diff.js");
const { keysOf } = await import(process.argv[1] + "/match.js");
const { merge, nodes } = await import(process.argv[1] + "/trees.js");
const [a, b] = readDocument(readFileSync(0, "utf8"));
const of = (run) => merge(run.paths?.threads.map((thread) => thread.ksf) ?? []);
const trees = [...nodes(diffTrees(of(a), of(b), "count", keysOf(a, b).function))].map((node) => [node.name, node.a, node.b]);
console.log(JSON.stringify({ trees, functions: diffFunctions(a, b).map((row) => [row.name, row.a.calls, row.b.calls, row.only]) }));
"""


def run(*words, **more):
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, **more)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


class Shown(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="strobe-match-")
        cls.addClassCleanup(folder.cleanup)
        cls.place = folder.name
        for name in "xy":
            Path(cls.place, f"{name}.c").write_text(FILE.replace("%s", name), encoding="utf-8")
        Path(cls.place, "m.c").write_text(MAIN, encoding="utf-8")
        for build, order in (("one", "xy"), ("two", "yx")):
            os.mkdir(f"{cls.place}/{build}")
            run("cc", "-O1", "-g", "-Wl,--build-id", "-o", f"{build}/statics", "m.c", *(f"{name}.c" for name in order), cwd=cls.place)
            shutil.copy(f"{cls.place}/{build}/statics", f"{cls.place}/{build}/bare")
            run("strip", f"{build}/bare", cwd=cls.place)

    def contexts(self, name, program, *counts):
        run(STROBE, "paths", "-q", "-k", "0", "-o", f"{name}.db", "--", f"./{program}", *map(str, counts), cwd=self.place)
        return f"{name}.db"

    def page(self, *files):
        run(STROBE, "report", "-o", "page.html", *files, cwd=self.place)
        text = Path(self.place, "page.html").read_text(encoding="utf-8")
        data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S).group(1)
        return json.loads(run("node", "--input-type=module", "-e", PAGE, str(DATA), input=data))

    def rows_of_all(self, a, b):
        """(name, share of A, share of B) of what differs: of the JSON, of the table and of the page."""
        got = json.loads(run(STROBE, "diff", "--hot", "0", "--shares", "--metric", "count", "--format", "json", a, b, cwd=self.place))
        from_json = sorted((row["path"][-1]["name"], round(row["share_a"], 9), round(row["share_b"], 9)) for row in got["contexts"])
        text = run(STROBE, "diff", "--hot", "0", "--shares", "--metric", "count", a, b, cwd=self.place)
        table = [line.split(None, 4) for line in text.splitlines() if re.match(r" +[+-]\d", line)]
        page = sorted((name, round(x, 9), round(y, 9)) for name, x, y in self.page(a, b)["trees"] if abs(x - y) > 1e-12)
        return from_json, sorted((row[4].rpartition(" > ")[2], row[2], row[3]) for row in table), page

    def assert_agree(self, a, b):
        from_json, table, page = self.rows_of_all(a, b)
        self.assertEqual(page, from_json)
        self.assertEqual(sorted(table), sorted((name, f"{100 * x:.2f}%", f"{100 * y:.2f}%") for name, x, y in from_json))
        return {(name, x, y) for name, x, y in from_json}

    def test_static_functions_of_one_name(self):
        """By their files, though the linker has turned them round. The page once added them up: 8 of both sides."""
        a, b = self.contexts("a", "one/statics", 300, 500), self.contexts("b", "two/statics", 300, 5000)
        whole = {file: json.loads(run(STROBE, "diff", "--metric", "count", "--format", "json", a, b, cwd=self.place))[side]["whole"] for side, file in (("a", a), ("b", b))}
        inits = {(x, y) for name, x, y in self.assert_agree(a, b) if name == "init"}
        self.assertEqual(inits, {(round(x / whole[a], 9), round(y / whole[b], 9)) for x, y in ((300, 300), (500, 5000))})

    def test_code_without_names(self):
        """In one build it is known by its offset; in two it is never the same, even at equal offsets."""
        self.unnamed = {f"func_{line.split()[0].lstrip('0')}" for build in ("one", "two") for line in run("nm", f"{build}/statics", cwd=self.place).splitlines()
                        if line.split()[-1] in ("main", "init", "x_run", "y_run")}
        a, b = self.contexts("c", "one/bare", 3, 5), self.contexts("d", "one/bare", 3, 50)
        pairs = [(x > 0, y > 0) for name, x, y in self.assert_agree(a, b) if name in self.unnamed]
        self.assertEqual(set(pairs), {(True, True)})
        other = self.contexts("e", "two/bare", 3, 5)
        pairs = [(x > 0, y > 0) for name, x, y in self.assert_agree(a, other) if name in self.unnamed]
        self.assertEqual(set(pairs), {(True, False), (False, True)})

    def test_table_of_functions(self):
        """The functions of tool hot, matched in the page as contexts are."""
        for name, build, counts in (("h1", "one", (300, 500)), ("h2", "two", (300, 5000))):
            run(STROBE, "run", "-q", "-t", "hot", "-o", f"{name}.db", "--", f"./{build}/statics", *map(str, counts), cwd=self.place)
        inits = [row for row in self.page("h1.db", "h2.db")["functions"] if row[0] == "init"]
        self.assertEqual(sorted(inits), [["init", 300, 300, None], ["init", 500, 5000, None]])


if __name__ == "__main__":
    for program in "node", "cc", "nm", "strip":
        if not shutil.which(program):
            print(f"skipped: there is no {program} here")
            sys.exit(77)
    unittest.main()
