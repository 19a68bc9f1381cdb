#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real defect: sed -E of Debian removes blanks at the ends of lines in quadratic time. usage: test_real.py STROBE"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE = os.path.abspath(sys.argv.pop(1))
SED = ["sed", "-E", "s/[[:space:]]+$//"]
TEXT = """Shopping list\x20\x20
    bread, butter and two bottles of milk
    a kilogram of apples
Call the plumber: the tap in the kitchen drips.
"""


def is_quadratic():
    """Whether the C library of this machine has the defect: four times the blanks take much more than four times the work."""
    work = []
    with tempfile.TemporaryDirectory(prefix="strobe-real-") as folder:
        result = Path(folder) / "result.json"
        for blanks in (500, 2000):
            subprocess.run([STROBE, "run", "-q", "-t", "bbcount", "--format", "json", "-o", result, "--", *SED], input=f"a{' ' * blanks}b\n", capture_output=True, text=True, timeout=60, check=True)
            work.append(json.loads(result.read_text(encoding="utf-8"))["blocks"])
    return work[1] > 10 * work[0]


class Sed(unittest.TestCase):
    def test_blanks(self):
        """Found from a text of four lines, with the law, a minimised witness, and a contract that is broken."""
        with tempfile.TemporaryDirectory(prefix="strobe-real-") as folder:
            place = Path(folder)
            (place / "notes.txt").write_text(TEXT, encoding="utf-8")
            done = subprocess.run([STROBE, "fuzz", "-q", "-s", "notes.txt", "--executions", "300", "-t", "5m", "--judge", "5m", "-N", "2000", "--format", "json", "-o", "out", "--", *SED],
                                  cwd=place, capture_output=True, text=True, timeout=580, check=True)
            slow = [finding for finding in json.loads(done.stdout)["findings"] if finding["kind"] == "slow"]
            self.assertEqual([(finding["law"]["form"], finding["token"]) for finding in slow], [("power", " ")])
            law = slow[0]["law"]
            self.assertAlmostEqual(law["exponent"], 2, delta=0.02)
            self.assertGreater(law["lo"], 1.9)
            finding = place / "out/findings/1"
            minimal = (finding / "minimal").read_bytes()
            self.assertLess(len(minimal), 300)
            self.assertGreater(minimal.count(b" "), len(minimal) // 2)
            if slow[0]["function"]:
                self.contract(finding, slow[0]["function"])

    def contract(self, finding, function):
        records = finding / "records.csv"
        made = subprocess.run(["sh", finding / "records.sh"], env={**os.environ, "STROBE": STROBE}, capture_output=True, text=True, timeout=300, check=True)
        records.write_text(made.stdout, encoding="utf-8")
        done = subprocess.run([STROBE, "annotate", "--contracts", finding / "contract.txt", records, "-m", "blocks", "--function", function], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertTrue(done.stdout.startswith(f"broken: blocks({function}) ~ n*log(n)\n"), done.stdout)
        missing = subprocess.run(["sh", finding / "records.sh"], env={**os.environ, "STROBE": "/nonexistent/strobe"}, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((missing.returncode, missing.stdout, missing.stderr), (127, "", "records.sh: no strobe in PATH: set STROBE to its path\n"))


if __name__ == "__main__":
    if not is_quadratic():
        print("skipped: the regular expressions of this C library are not quadratic")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], "-v"])
