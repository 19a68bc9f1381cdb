#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records calls of three of Strobe's own functions and checks the contracts in own.contracts.

usage: test_own_contracts.py STROBE PROGRAM PLANTED

PROGRAM is programs/hosted.c, and PLANTED is the same with a defect in the parser of annotations: it links the same functions."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE, PROGRAM, PLANTED = (os.path.abspath(name) for name in sys.argv[1:4])
CONTRACTS = Path(__file__).resolve().parent / "own.contracts"
FUNCTIONS = ["st_ann_parse", "st_ann_contracts_parse", "st_density_find"]


class OwnContracts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="strobe-own-")
        cls.addClassCleanup(cls.folder.cleanup)
        # Another version of a program has the same name.
        planted = os.path.join(cls.folder.name, os.path.basename(PROGRAM))
        shutil.copy(PLANTED, planted)
        for name, program in [("calls.txt", PROGRAM), ("planted.txt", planted)]:
            done = cls.strobe("-q", "-o", name, "-m", "allocations,allocated", "-F", ",".join(FUNCTIONS), "--", program)
            assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", ""), done

    @classmethod
    def strobe(cls, *words):
        return subprocess.run([STROBE, "annotate", *words], cwd=cls.folder.name, capture_output=True, text=True, timeout=120, check=False)

    def check(self, contracts, calls="calls.txt"):
        path = Path(self.folder.name) / "contracts"
        path.write_text(contracts, encoding="utf-8")
        done = self.strobe("--contracts", "contracts", calls)
        self.assertEqual(done.stderr, "")
        return done.returncode, [line.split(":")[0] for line in done.stdout.splitlines() if not line.startswith(" ")], done.stdout

    def test_kept(self):
        code, verdicts, text = self.check(CONTRACTS.read_text(encoding="utf-8"))
        self.assertEqual((code, verdicts), (0, ["kept"] * 4), text)

    def test_planted_growth_is_broken(self):
        code, verdicts, text = self.check(CONTRACTS.read_text(encoding="utf-8"), "planted.txt")
        self.assertEqual((code, sorted(verdicts)), (1, ["broken", "kept", "kept", "kept"]), text)
        broken = [line for line in text.splitlines() if line.startswith("broken: ")]
        self.assertEqual([line.split(": ", 1)[1].split(" ~ ")[0] for line in broken], ["allocations(st_ann_parse)"], text)

    def test_planted_growth_is_found_without_a_contract(self):
        """The annotation of the parser as it is, against records of the parser with the defect, both ways."""
        done = self.strobe("-F", "st_ann_parse", "-o", "kept.ann", "calls.txt")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for calls, code, verdict in [("planted.txt", 1, "broken"), ("calls.txt", 0, "kept")]:
            done = self.strobe("--check", "--kept", "kept.ann", "-F", "st_ann_parse", "-m", "allocations", calls)
            self.assertEqual((done.returncode, done.stderr), (code, ""), done.stdout)
            self.assertIn(verdict, done.stdout)
            self.assertIn("st_ann_parse", done.stdout)

    def test_narrower_bounds_are_broken(self):
        # The contracts are tests only if a function that allocates more than they allow breaks them.
        code, verdicts, text = self.check("allocations(st_ann_parse) ~ sqrt(length)\nallocations(st_ann_contracts_parse) ~ sqrt(n)\n"
                                          "allocations(st_density_find) <= 0\n")
        self.assertEqual((code, verdicts), (1, ["broken"] * 3), text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
