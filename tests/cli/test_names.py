#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is written under a name is what the name says, or the name is refused: test_names.py STROBE."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE = os.path.abspath(sys.argv.pop(1))
SQLITE = b"SQLite format 3\0"


class Names(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="strobe-names-")
        cls.place = Path(cls.folder.name)
        (cls.place / "m.csv").write_text("metric,unit,function,value,size\nwall,ns,f,1,1\nwall,ns,f,2,2\n", encoding="utf-8")
        cls.strobe("import", "-q", "m.csv", "-o", "m.db")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def strobe(cls, *words):
        return subprocess.run([STROBE, *words], cwd=cls.place, capture_output=True, text=True, timeout=120, check=False)

    def refused(self, way, *words):
        done = self.strobe(*words)
        # Commands that end with the exit code of the program leave 2 to it.
        code = 125 if words[0] in ("run", "paths", "trace", "mem", "time") else 2
        self.assertEqual((done.returncode, done.stderr.count("\n")), (code, 1), (words, done.stderr))
        self.assertIn(way, done.stderr)
        self.assertFalse((self.place / words[words.index("-o") + 1]).exists(), words)

    def test_profiles(self):
        """Commands that write profiles name the command that makes such a file of one."""
        for command in ("run", "-q", "-t", "null"), ("time", "-q", "-r1", "-w0"), ("mem", "-q"), ("paths", "-q"):
            for name, way in ("x.csv", "strobe export -o 'x.csv' NAME.db"), ("x.html", "strobe report -o"), ("x.SVG", "strobe plot KIND -o"), ("x.png", "ends with .db"):
                self.refused(way, *command, "-o", name, "--", "/bin/true")
        self.refused("strobe export -o 'x.json'", "import", "-o", "x.json", "m.csv")
        self.refused("strobe export -o 'x.folded'", "time", "-q", "-r1", "-w0", "-o", "x.folded", "--", "/bin/true")

    def test_the_way_out_works(self):
        self.assertEqual(self.strobe("export", "-o", "y.csv", "m.db").returncode, 0)
        self.assertIn("wall", (self.place / "y.csv").read_text(encoding="utf-8"))
        self.assertEqual(self.strobe("show", "-o", "y.txt", "m.db").returncode, 0)

    def test_json(self):
        for command in ("run", "-q", "-t", "null"), ("time", "-q", "-r1", "-w0"):
            self.assertEqual(self.strobe(*command, "-o", "j.json", "--", "/bin/true").returncode, 0)
            self.assertIn("run", json.loads((self.place / "j.json").read_text(encoding="utf-8")))

    def test_other_names(self):
        for name in "x.db", "x", "x.profile", "x.v1.2":
            self.assertEqual(self.strobe("time", "-q", "-r1", "-w0", "-o", name, "--", "/bin/true").returncode, 0, name)
            self.assertTrue((self.place / name).read_bytes().startswith(SQLITE))

    def test_format_is_given(self):
        """--format decides, not the name; a profile is not written under the name of another format."""
        program = ("-q", "-t", "null", "--", "/bin/true")
        for command in ("run", *program), ("mem", "-q", "--", "/bin/true"):
            self.refused("the result is a profile: use -o NAME.db, then strobe export -o 'x.json' NAME.db", command[0], "--format", "db", "-o", "x.json", *command[1:])
        self.assertEqual(self.strobe("run", "--format", "json", "-o", "given.txt", *program).returncode, 0)
        self.assertEqual(json.loads((self.place / "given.txt").read_text(encoding="utf-8"))["strobe"]["tool"], "null")

    def test_other_kinds(self):
        self.refused("SVG is written: give -o a name that ends with .svg", "plot", "scatter", "-o", "x.png", "m.db")
        self.refused("HTML is written: give -o a name that ends with .html", "report", "-o", "x.pdf", "m.db")
        self.refused("JSON is written: give -o a name that ends with .json", "tune", "-o", "x.csv", "--", "/bin/true")


if __name__ == "__main__":
    unittest.main()
