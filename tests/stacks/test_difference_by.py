#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""strobe diff --by function, line and context, of two versions of a program whose files have other names.

usage: test_difference_by.py STROBE"""

import csv
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

STROBE = os.path.abspath(sys.argv.pop(1))
HERE = os.path.dirname(os.path.abspath(__file__))
LINES = os.path.join(HERE, "lines.c")
N = 300
FLAGS = ["-O1", "-g", "-fno-if-conversion", f"-I{HERE}"]
ALLOCATES = """#include <stdlib.h>
__attribute__((noinline)) static char *
take(size_t n)
{
	return malloc(n);
}
int
main(int argc, char **argv)
{
	char *a = take(SIZE), *b = take(100);
	return !(a && b && argc && argv);
}
"""


@unittest.skipUnless(shutil.which("gcc"), "no compiler here")
class By(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="strobe-by-")
        cls.addClassCleanup(cls.folder.cleanup)
        with open(LINES, encoding="utf-8") as file:
            text = file.read()
        above = "__attribute__((noipa)) static unsigned\nleaf("
        assert text.count(above) == 1
        cls.build("app-v1", text)
        cls.build("app-v2", text.replace(above, "/* Three lines,\n * which make\n * all others greater. */\n" + above))
        for version, n in (1, N), (2, 2 * N):
            cls.run_strobe("run", "-q", "--sample-hz", "0", "-o", f"hot{version}.db", "--", f"./app-v{version}", n)
            cls.run_strobe("paths", "-q", "--instructions", "-o", f"paths{version}.db", "--", f"./app-v{version}", n)

    @classmethod
    def build(cls, name, text, *flags):
        with open(os.path.join(cls.folder.name, f"{name}.c"), "w", encoding="utf-8") as file:
            file.write(text)
        subprocess.run(["gcc", *FLAGS, *flags, "-o", name, f"{name}.c"], cwd=cls.folder.name, check=True)

    @classmethod
    def ask(cls, *words):
        return subprocess.run([STROBE, *map(str, words)], cwd=cls.folder.name, capture_output=True, text=True, timeout=200, check=False)

    @classmethod
    def run_strobe(cls, *words):
        done = cls.ask(*words)
        if done.returncode:
            raise AssertionError(f"{words}: {done.stderr}")
        return done.stdout

    def rows(self, *words):
        return {row["location"]: row for row in csv.DictReader(io.StringIO(self.run_strobe("diff", "--hot", 0, "--format", "csv", *words)))}

    def lines_of(self, name, metric="instructions"):
        """{line: the metric} of leaf's own file and of the header."""
        table = csv.DictReader(io.StringIO(self.run_strobe("show", "--table", "lines", "--format", "csv", name)))
        return {(os.path.basename(row["file"]), int(row["line"])): int(row[metric]) for row in table if row["function"] == "leaf"}

    def test_lines(self):
        for metric in "instructions", "executions":
            rows = {location: row for location, row in self.rows("--by", "line", "--metric", metric, "hot1.db", "hot2.db").items() if location.startswith("leaf ")}
            before, after = self.lines_of("hot1.db", metric), self.lines_of("hot2.db", metric)
            self.assertTrue({"app-v1.c", "lines.h"} <= {file for file, _ in before})
            expected = {}
            for (file, line), n in after.items():
                was = before[file, line] if file == "lines.h" else before["app-v1.c", line - 3]
                if n != was:
                    expected[f"leaf ({file}:{line})"] = (str(n - was), str(was), str(n), "changed", str(n - was))
            self.assertEqual({location: (row["change"], row["a"], row["b"], row["state"], row["change_low"]) for location, row in rows.items()}, expected)
            self.assertGreaterEqual(len(expected), 5)

    def test_lines_in_text_with_percent(self):
        text = self.run_strobe("diff", "--by", "line", "--hot", 1, "hot1.db", "hot2.db").splitlines()
        self.assertRegex(text[1], r"^difference: instructions of lines, B less A; in all [\d,]+ and [\d,]+; .* other metrics \(--metric\): executions$")
        self.assertRegex(text[3], r" \+\d+\.\d\d % .* changed +app-v2 +leaf \(app-v2\.c:\d+\)$")

    def test_lines_above_the_function_are_known_by_number(self):
        """Those of a function that was inlined from the same file, when something between the two was added."""
        inlined = "static inline int\nadd(int n)\n{\n\tvolatile int x = n;\n\treturn x + 1;\n}\n"
        outer = "__attribute__((noipa)) static int\nouter(int n)\n{\n\tint s = 0;\n\tfor (int i = 0; i < n; i++)\n\t\ts += add(i);\n\treturn s;\n}\n"
        main = "int\nmain(void)\n{\n\treturn outer(40) == 0;\n}\n"
        for version, between in (1, 12), (2, 14):
            self.build(f"in-v{version}", inlined + "\n" * between + outer + main)
            self.run_strobe("run", "-q", "--sample-hz", "0", "-o", f"in{version}.db", "--", f"./in-v{version}")
        table = csv.DictReader(io.StringIO(self.run_strobe("show", "--table", "lines", "--format", "csv", "in1.db")))
        lines = {int(row["line"]) for row in table if row["function"] == "outer"}
        self.assertTrue({4, 5} & lines and max(lines) > 18, lines)
        self.assertEqual([location for location in self.rows("--by", "line", "in1.db", "in2.db") if location.startswith("outer ")], [])

    def test_the_same_lines_do_not_differ(self):
        self.assertEqual(self.rows("--by", "line", "hot1.db", "hot1.db"), {})

    def test_functions_of_a_profile_of_paths(self):
        for metric, name in ("instructions", "instructions"), ("count", "calls"):
            of_paths = self.rows("--by", "function", "--metric", metric, "paths1.db", "paths2.db")
            of_hot = self.rows("--by", "function", "--metric", name, "hot1.db", "hot2.db")
            for function in "leaf", "twice", "main":
                self.assertEqual([of_paths.get(function, {}).get(key) for key in ("a", "b", "change")],
                                 [of_hot.get(function, {}).get(key) for key in ("a", "b", "change")], (metric, function))
        self.assertFalse({"leaf", "twice", "main"} & set(of_hot), "each is called as often")

    def test_contexts_are_usual_for_paths(self):
        words = ("--metric", "instructions", "paths1.db", "paths2.db")
        self.assertEqual(self.run_strobe("diff", "--by", "context", *words), self.run_strobe("diff", *words))
        self.assertIn("> twice > leaf", self.run_strobe("diff", *words))

    def test_allocations(self):
        for version, size in (1, 1000), (2, 4000):
            self.build(f"mem-v{version}", ALLOCATES, f"-DSIZE={size}")
            self.run_strobe("run", "-q", "-t", "alloc", "-o", f"mem{version}.db", "--", f"./mem-v{version}")
        contexts = self.rows("--by", "context", "--metric", "total", "mem1.db", "mem2.db")
        self.assertEqual([(row["a"], row["b"], row["unit"]) for row in contexts.values()], [("1100", "4100", "B")])
        self.assertRegex(list(contexts)[0], r"main;take(;malloc)?$")
        lines = self.rows("--by", "line", "--metric", "total", "mem1.db", "mem2.db")
        self.assertEqual({location: (row["a"], row["b"]) for location, row in lines.items()}, {"take (mem-v2.c:5)": ("1100", "4100")})

    def test_stacks_of_samples(self):
        for version, n in (1, 60_000_000), (2, 120_000_000):
            self.run_strobe("run", "-q", "-o", f"long{version}.db", "--", f"./app-v{version}", n)
        done = self.ask("diff", "--by", "context", "long1.db", "long2.db")
        if "no sample" in done.stderr:
            self.skipTest("no sample was taken")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"A: long1\.db: ./app-v1 60000000; \d+ contexts?, \d+ samples?\n")
        if " 0 changed," not in done.stdout:
            self.assertIn("contexts, by samples", done.stdout)

    def test_refused(self):
        for words, said in ((("--by", "lines", "hot1.db", "hot2.db"), "--by takes function, line or context, not 'lines'"),
                            (("--by", "line", "paths1.db", "paths2.db"), "paths1.db has no counts of source lines: strobe run counts them"),
                            (("--by", "line", "hot1.db", "paths2.db"), "paths2.db has no counts of source lines"),
                            (("--by", "line", "--metric", "time", "hot1.db", "hot2.db"), "no metric 'time' of source lines; --metric takes instructions, executions or samples"),
                            (("--by", "line", "--metric", "samples", "hot1.db", "hot2.db"), "hot1.db has too few samples to compare their numbers"),
                            (("--by", "line", "--table", "lines", "hot1.db", "hot2.db"), "--table compares the rows of a table, and --by other locations"),
                            (("--by", "line", "--under", "f", "hot1.db", "hot2.db"), "--under chooses calling contexts, and this compares source lines"),
                            (("--by", "context", "hot1.db", "hot2.db"), "hot1.db has no stacks of calls, because no sample was in the code of the program"),
                            (("--by", "context", "hot1.db", "paths2.db"), "hot1.db has no contexts")):
            done = self.ask("diff", *words)
            self.assertNotEqual(done.returncode, 0, words)
            self.assertEqual(done.stdout, "")
            self.assertIn(said, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)


unittest.main(argv=sys.argv[:1])
