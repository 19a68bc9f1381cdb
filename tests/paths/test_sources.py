#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""--funcs by source file: @FILE and @FILE:NAME, of a C and a C++ program in several folders.

usage: test_sources.py STROBE"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE = Path(sys.argv.pop(1)).resolve()
SOURCES = {
    "main.c": """
int first(int), second(int);
static __attribute__((noipa)) int helper(int n) { return first(n) + second(n); }
int main(void) { int s = 0; for (int i = 0; i < 10; i++) s += helper(i); return s == 0; }
""",
    "src/first.c": """
#include "inner/shared.h"
static __attribute__((noipa)) int helper(int n) { return n + 1; }
__attribute__((noipa)) int first(int n) { return helper(helper(n)) + shared(n); }
""",
    "src/inner/second.c": """
#include "shared.h"
static __attribute__((noipa)) int helper(int n) { return n + 2; }
__attribute__((noipa)) int second(int n) { return helper(n) + shared(n); }
""",
    "src/inner/shared.h": "static __attribute__((noipa)) int shared(int n) { return 3 * n; }\n",
    "names.cpp": """
namespace outer { struct thing { __attribute__((noipa)) int get(int n) { return n + v; } int v = 1; }; }
__attribute__((noipa)) static int get(int n) { return n; }
int main() { outer::thing t; int s = 0; for (int i = 0; i < 5; i++) s += t.get(i) + get(i); return s == 0; }
""",
}
UNKNOWN = "no function of a source file of that name was loaded"


class Sources(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory(prefix="strobe-sources-")
        cls.addClassCleanup(place.cleanup)
        cls.place = Path(place.name)
        for name, text in SOURCES.items():
            (cls.place / name).parent.mkdir(parents=True, exist_ok=True)
            (cls.place / name).write_text(text)
        c = ["main.c", "src/first.c", "src/inner/second.c"]
        for program, words in {"program": ["gcc", "-g", "-O1", *c], "plain": ["gcc", "-O1", *c], "names": ["g++", "-g", "-O1", "names.cpp"]}.items():
            subprocess.run([*words, "-o", program], cwd=cls.place, check=True)

    def strobe(self, *words, code=0):
        done = subprocess.run([STROBE, *words], cwd=self.place, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def fits(self, pattern, program):
        """Whether the program has such a function, by the exit code."""
        done = subprocess.run([STROBE, "paths", "-q", "-o", "run.json", "--funcs", pattern, "--", self.place / program], cwd=self.place,
                              capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
        self.assertIn(done.returncode, (0, 125), done.stderr)
        self.assertEqual("nothing was measured, because nothing in the program matches --funcs\n" in done.stderr, done.returncode == 125)
        return done.returncode == 0

    def seen(self, pattern, program="program"):
        """{path: activations} of what was measured."""
        fits = self.fits(pattern, program)
        found, left = {}, [((), node) for node in json.loads((self.place / "run.json").read_text())["threads"][0]["ksf"]]
        while left:
            above, node = left.pop()
            path = (*above, node["name"])
            found[" ".join(path[1:])] = found.get(" ".join(path[1:]), 0) + node["count"]  # functions of two files may have one name
            left += [(path, child) for child in node["children"]]
        del found[""]
        self.assertEqual(bool(found), fits)
        return found

    def test_files(self):
        first, second = {"first": 10, "first helper": 20}, {"second": 10, "second helper": 10}
        for pattern, want in (("@first.c", first), ("@src/first.c", first), (f"@{self.place}/src/first.c", first), ("@src/inner/second.c", second),
                              ("@inner/second.c", second), ("@*/second.c", second), ("@src/*.c", first | second), ("@inner/*.h", {"shared": 20}),
                              ("@shared.h,main", {"main": 1, "main shared": 20}), ("@first.c,@second.c", first | second),
                              ("@main.c", {"main": 1, "main helper": 10}), ("@irst.c", {}), ("@nner/second.c", {})):
            with self.subTest(pattern=pattern):
                self.assertEqual(self.seen(pattern), want)

    def test_names_in_files(self):
        for pattern, want in (("@first.c:helper", {"helper": 20}), ("@main.c:helper", {"helper": 10}), ("@*.c:helper", {"helper": 10, "helper helper": 30}),
                              ("@src/*:s*", {"second": 10, "second shared": 10, "shared": 10}), ("@first.c:second", {})):
            with self.subTest(pattern=pattern):
                self.assertEqual(self.seen(pattern), want)

    def test_names_of_classes(self):
        name = "outer::thing::get(int)"
        for pattern in "@names.cpp:outer::thing::get", "@names.cpp:outer::*", "@names.cpp:outer::thing::get(int)":
            with self.subTest(pattern=pattern):
                self.assertEqual(self.seen(pattern, "names"), {name: 5})
        self.assertEqual(self.seen("@names.cpp:get*", "names"), {"get(int)": 5})

    def test_other_commands(self):
        """What is measured is the functions' code alone; a region begins there."""
        def count(*patterns):
            words = [word for pattern in patterns for word in ("--funcs", pattern)]
            self.strobe("run", "-q", "-t", "inscount", "--format", "json", "-o", "run.json", *words, "--", self.place / "program")
            return json.loads((self.place / "run.json").read_text())["instructions"]

        whole = count("@second.c")
        self.assertEqual(whole, count("@second.c:second") + count("@second.c:helper"))
        self.assertEqual(whole, count("second", "@second.c:helper"))
        said = self.strobe("run", "-t", "inscount", "-o", "run.db", "--start-at", "@second.c:second", "--", self.place / "program")
        self.assertNotIn("note", said)

    def test_unknown(self):
        for pattern, want in (("@frist.c", f"{UNKNOWN}; did you mean 'first.c'?"), ("@src/frist.c", f"{UNKNOWN}; did you mean 'src/first.c'?"),
                              ("@zqzqzq.c", UNKNOWN), ("@zq*.c", UNKNOWN),
                              ("@first.c:helpre", "no function of that name is in the source file; did you mean 'helper'?"),
                              ("@first.c:zq*", "no function of that name is in the source file")):
            with self.subTest(pattern=pattern):
                self.assertIn(f"note: --funcs {pattern}: {want}\n", self.strobe("paths", "-o", "run.db", "--funcs", pattern, "--", self.place / "program", code=125))

    def test_no_debug_information(self):
        said = self.strobe("paths", "-o", "run.db", "--funcs", "@first.c,@second.c", "--", self.place / "plain", code=125)
        self.assertEqual(said.count(UNKNOWN), 2)
        self.assertEqual(said.count("source files are known only from debug information (compile with -g), and these files have none: "), 1)
        self.assertRegex(said, r"have none: .*\bplain\b")

    def test_mistakes(self):
        for value in "@", "@first.c:", "@:main":
            self.assertEqual(self.strobe("paths", "--funcs", value, "--", "true", code=125),
                             f"strobe: --funcs takes @FILE for the functions of a source file, @FILE:NAME for some of them, not '{value}'\n")
            self.strobe("run", "-t", "inscount", "--start-at", value, "--", "true", code=125)


if __name__ == "__main__":
    unittest.main()
