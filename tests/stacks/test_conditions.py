#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""strobe show --func: branches have counts where the tool branches ran, and conditions that are no branches are called so.

usage: test_conditions.py STROBE"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

STROBE = os.path.abspath(sys.argv.pop(1))
PROGRAM = """
int asked(int n);
__asm__(".text\\n.globl asked\\n.type asked, @function\\nasked:\\n"
        "\\txor %eax, %eax\\n\\ttest %edi, %edi\\n\\tsetg %al\\n\\tcmovs %edi, %eax\\n\\tjs 1f\\n\\tinc %eax\\n1:\\n\\tret\\n.size asked, .-asked\\n");
int
main(void)
{
	int s = 0;
	for (int i = -3; i < 7; i++)
		s += asked(i);
	return s == 0;
}
"""


@unittest.skipUnless(shutil.which("gcc"), "no compiler here")
class Conditions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="strobe-conditions-")
        cls.addClassCleanup(cls.folder.cleanup)
        with open(os.path.join(cls.folder.name, "asked.c"), "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        subprocess.run(["gcc", "-O1", "-g", "-o", "asked", "asked.c"], cwd=cls.folder.name, check=True)

    def listing(self, tools):
        """{mnemonic: what stands behind the instruction} of the function."""
        for words in ("run", "-q", "-t", tools, "-o", "x.db", "--", "./asked"), ("show", "--func", "asked", "x.db"):
            done = subprocess.run([STROBE, *words], cwd=self.folder.name, capture_output=True, text=True, check=True, timeout=100)
        found = re.findall(r"^ *\S* +\S+ +[0-9a-f]+:  (\w+)[^;\n]*(?:; (.*))?$", done.stdout, re.M)
        self.assertIn("ret", dict(found), done.stdout)
        return dict(found)

    def test_with_branches(self):
        found = self.listing("hot,branches")
        self.assertEqual(found["js"], "taken 3 of 10 times")
        condition = {name[:3]: said for name, said in found.items() if name.startswith(("set", "cmov"))}
        self.assertEqual(condition, {"set": "a condition as a value, no branch: not counted", "cmo": "a conditional move, no branch: not counted"})
        self.assertEqual({said for name, said in found.items() if name in ("xor", "test", "inc", "ret")}, {""})

    def test_page(self):
        """The data of the page has each conditional branch with its line."""
        self.listing("hot,branches")
        subprocess.run([STROBE, "report", "-o", "x.html", "x.db"], cwd=self.folder.name, capture_output=True, check=True, timeout=100)
        with open(os.path.join(self.folder.name, "x.html"), encoding="utf-8") as file:
            data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', file.read(), re.S)[1])
        found = [(b["function"], os.path.basename(b["image"]), os.path.basename(b["file"] or ""), b["line"], b["taken"], b["not_taken"])
                 for b in data["results"][0]["branches"] if b["image"].endswith("/asked")]
        self.assertIn(("asked", "asked", "", None, 3, 7), found)
        loops = [each[3:] for each in found if each[0] == "main"]
        self.assertEqual(loops, [(9, 9, 1)], found)

    def test_without_branches_nothing_is_said(self):
        self.assertEqual(set(self.listing("hot").values()), {""})


unittest.main(argv=sys.argv[:1])
