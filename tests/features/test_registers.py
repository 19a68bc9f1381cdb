#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of strobe annotate -o with functions without debug information: a register of addresses is not taken for a size.

usage: test_registers.py STROBE BARE...

BARE is programs/bare.c, position-independent and at a fixed address."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import records

STROBE, *PROGRAMS = [os.path.abspath(name) for name in sys.argv[1:4]]
SIZES = range(1, 41)


class Registers(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-registers-")
        self.addCleanup(folder.cleanup)
        self.at = folder.name

    def strobe(self, *words):
        done = subprocess.run([STROBE, "annotate", *words], capture_output=True, text=True, timeout=120, cwd=self.at, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def record(self, program, *words):
        self.strobe("-q", *words, "-F", "fills,reserves,mixes", "-o", "r.txt", "--", program)
        return records.read(os.path.join(self.at, "r.txt"))[0]

    def check(self, functions):
        kinds = {name: {x["name"]: (x["kind"], x["how"]) for x in f.features} for name, f in functions.items()}
        number, null = ("number", "value"), ("flag", "null")
        self.assertEqual((kinds["fills"]["rdi_null"], kinds["fills"]["rsi"]), (null, number))
        self.assertEqual(functions["fills"].columns("rdi_null", "rsi"), [(int(n % 4 == 0), 100 * n) for n in SIZES])
        self.assertEqual((kinds["reserves"]["rdi"], kinds["reserves"]["rsi_null"]), (number, null))
        self.assertEqual(functions["reserves"].columns("rdi", "rsi_null"), [(n << 18, 0) for n in SIZES])
        self.assertEqual(kinds["mixes"]["rdi_null"], null)
        self.assertEqual(functions["mixes"].columns("rdi_null"), [(0,)] * len(SIZES))
        for features in kinds.values():
            self.assertEqual(len(features), 6)

    def test_probes(self):
        for program in PROGRAMS:
            with self.subTest(program=program):
                self.check(self.record(program))

    def test_engine(self):
        """The law is one of the size, and the condition that the address is null."""
        for program in PROGRAMS:
            with self.subTest(program=program):
                self.check(self.record(program, "-m", "instructions"))
                found = json.loads(self.strobe("--format", "json", "-F", "fills", "r.txt"))["annotations"][0]
                self.assertEqual([f["path"] for f in found["features"] if f["name"] == "rsi"], ["rsi"])
                text = self.strobe("-F", "fills", "r.txt")
                self.assertIn("rdi_null", text)
                for model in found["models"]:
                    self.assertIn("rsi", model["mean"])
                    self.assertEqual(model["r2"], 1)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
