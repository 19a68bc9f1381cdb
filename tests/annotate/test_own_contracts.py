#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records calls of three of Strobe's own functions and checks the contracts in own.contracts.

usage: test_own_contracts.py STROBE PROGRAM

PROGRAM is programs/hosted.c."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE, PROGRAM = (os.path.abspath(name) for name in sys.argv[1:3])
CONTRACTS = Path(__file__).resolve().parent / "own.contracts"
FUNCTIONS = ["st_ann_parse", "st_ann_contracts_parse", "st_density_find"]


class OwnContracts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="strobe-own-")
        cls.addClassCleanup(cls.folder.cleanup)
        done = cls.strobe("-q", "-o", "calls.txt", "-m", "allocations,allocated", "-F", ",".join(FUNCTIONS), "--", PROGRAM)
        assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", ""), done

    @classmethod
    def strobe(cls, *words):
        return subprocess.run([STROBE, "annotate", *words], cwd=cls.folder.name, capture_output=True, text=True, timeout=120, check=False)

    def check(self, contracts):
        path = Path(self.folder.name) / "contracts"
        path.write_text(contracts, encoding="utf-8")
        done = self.strobe("--contracts", "contracts", "calls.txt")
        self.assertEqual(done.stderr, "")
        return done.returncode, [line.split(":")[0] for line in done.stdout.splitlines() if not line.startswith(" ")], done.stdout

    def test_kept(self):
        code, verdicts, text = self.check(CONTRACTS.read_text(encoding="utf-8"))
        self.assertEqual((code, verdicts), (0, ["kept"] * 4), text)

    def test_narrower_bounds_are_broken(self):
        # The contracts are tests only if a function that allocates more than they allow breaks them.
        code, verdicts, text = self.check("allocations(st_ann_parse) ~ sqrt(length)\nallocations(st_ann_contracts_parse) ~ sqrt(n)\n"
                                          "allocations(st_density_find) <= 0\n")
        self.assertEqual((code, verdicts), (1, ["broken"] * 3), text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
