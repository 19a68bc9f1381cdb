#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The program is matched with the program whatever its file is called, in check, diff, gate and on the page: test_roles.py STROBE. Needs a compiler."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE = os.path.abspath(sys.argv.pop(1))
# Exactly 1 instruction more in each of 100,000 iterations of a loop.
SOURCE = """
__attribute__((noipa)) void multiply(void) { __asm__ volatile("mov $100000, %%ecx\\n1:\\n.rept STEPS\\nnop\\n.endr\\ndec %%ecx\\njnz 1b" ::: "ecx"); }
int main(void) { multiply(); return 0; }
"""


def run(*words, exits=(0,), **more):
    done = subprocess.run(words, capture_output=True, text=True, timeout=240, **more)
    assert done.returncode in exits, (words, done.returncode, done.stderr)
    return done.stdout


class Roles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="strobe-roles-")
        cls.addClassCleanup(folder.cleanup)
        cls.place = folder.name
        for name, steps in ("v1", "1"), ("v2", "2"):
            Path(cls.place, "m.c").write_text(SOURCE.replace("STEPS", steps), encoding="utf-8")
            run("cc", "-O1", "-g", "-Wl,--build-id", "-o", name, "m.c", cwd=cls.place)
            run(STROBE, "run", "-q", "-o", f"{name}.db", "--", f"./{name}", cwd=cls.place)

    def test_check(self):
        found = json.loads(run(STROBE, "check", "--format", "json", "v1.db", "v2.db", cwd=self.place, exits=(0, 1)))
        self.assertEqual([(one["function"], one["location"], one["from"], one["to"]) for one in found["changes"]], [("multiply", "v2", 300002, 400002)])

    def test_diff(self):
        found = json.loads(run(STROBE, "diff", "--by", "function", "--format", "json", "v1.db", "v2.db", cwd=self.place))
        rows = [row for row in found["difference"] if row["location"] == "multiply"]
        self.assertEqual([(row["a"], row["b"]) for row in rows], [(300002, 400002)])

    def test_page(self):
        run(STROBE, "report", "-o", "page.html", "v1.db", "v2.db", cwd=self.place)
        text = Path(self.place, "page.html").read_text(encoding="utf-8")
        data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])
        a, b = (entry["result"] for entry in data["results"])
        for result, name in (a, "v1"), (b, "v2"):
            self.assertEqual([os.path.basename(image["path"]) for image in result["images"] if image["program"]], [name])
        match = data["matches"][0]
        of_a, of_b = ({f["name"]: f["id"] for f in result["functions"] if os.path.basename(f["image"]) == name} for result, name in ((a, "v1"), (b, "v2")))
        for name in "multiply", "main", "_start":
            self.assertEqual(match["functions"][of_b[name]], of_a[name])
        self.assertEqual(match["images"][os.path.join(os.path.realpath(self.place), "v2")], os.path.join(os.path.realpath(self.place), "v1"))

    def test_gate(self):
        os.mkdir(os.path.join(self.place, "gate"))
        found = json.loads(run(STROBE, "gate", "--base", "../v1", "--target", "../v2", "--pairs", "0", "--format", "json", cwd=os.path.join(self.place, "gate"), exits=(0, 1)))
        rows = found["benchmarks"][0]["counts"]["functions"]
        self.assertEqual([(row["function"], row["code"], row["instructions"]["base"], row["instructions"]["target"]) for row in rows], [("multiply", "changed", 300002, 400002)])


unittest.main()
