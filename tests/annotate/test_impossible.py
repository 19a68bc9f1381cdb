#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of records in which a part of the time is longer than the time.

usage: test_impossible.py STROBE"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

STROBE = os.path.abspath(sys.argv[1])
HEADER = "#strobe-records,1\n#function,1,f\n#metric,1,time,ns\n#metric,1,lock_wait,{unit}\n#metric,1,lock_held,ns\n#feature,1,n\n"


class Impossible(unittest.TestCase):
    def annotate(self, text, *options):
        with tempfile.TemporaryDirectory(prefix="strobe-impossible-") as folder:
            path = os.path.join(folder, "r.txt")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            done = subprocess.run([STROBE, "annotate", "--format", "json", *options, path], capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            return {a["metric"]: a for a in json.loads(done.stdout)["annotations"]}, done.stderr

    def rows(self, wrong):
        """time is 100000 n, with half of it holding a lock; a wrong record has a longer wait."""
        return "".join(f"1,{100000 * n},{200000 * n if n in wrong else 1000},{50000 * n},{n}\n" for n in range(1, 31))

    def test_dropped_and_counted(self):
        found, said = self.annotate(HEADER.format(unit="ns") + self.rows({5, 20}))
        self.assertEqual(said, "strobe: 2 of 30 records of f were left out, because a time is negative, or lock_wait, condition_wait or "
                               "lock_held is longer than time\n")
        self.assertEqual({m: a["records"] for m, a in found.items()}, {"time": 28, "lock_wait": 28, "lock_held": 28})
        self.assertEqual(found["time"]["models"][0]["mean"], "100000 * n")
        self.assertEqual(found["lock_held"]["models"][0]["mean"], "50000 * n")
        self.assertEqual(found["lock_wait"]["models"][0]["mean"], "1000")
        self.assertEqual(self.annotate(HEADER.format(unit="ns") + self.rows({5, 20}), "-q")[1], "")

    def test_several_files(self):
        """Each file is checked once."""
        with tempfile.NamedTemporaryFile("w", prefix="strobe-impossible-", suffix=".txt") as other:
            other.write(HEADER.format(unit="ns") + self.rows({1, 2, 30}))
            other.flush()
            found, said = self.annotate(HEADER.format(unit="ns") + self.rows({5, 20}), other.name)
        self.assertTrue(said.startswith("strobe: 5 of 60 records of f were left out"), said)
        self.assertEqual((found["time"]["records"], found["time"]["models"][0]["mean"]), (55, "100000 * n"))

    def test_negative_times(self):
        """More was subtracted for the recording than the call took: by up to 1 us that is an average's error."""
        head = HEADER.format(unit="ns").replace("lock_wait", "cpu")
        found, said = self.annotate(head + "".join(f"1,{100000 * n},{-1020 if n in (3, 4) else 90000 * n},0,{n}\n" for n in range(1, 31)))
        self.assertTrue(said.startswith("strobe: 2 of 30 records of f were left out, because a time is negative, or"), said)
        self.assertEqual((found["time"]["records"], found["cpu"]["records"], found["cpu"]["models"][0]["mean"]), (28, 28, "90000 * n"))
        found, said = self.annotate(head + "".join(f"1,{100000 * n},{-999 if n in (3, 4) else 90000 * n},0,{n}\n" for n in range(1, 31)))
        self.assertEqual((said, found["cpu"]["records"]), ("", 30))

    def test_costs_of_probes_are_averages(self):
        """A part that is longer by up to 1 % and 1 us is possible, and so is one in another unit or without a time."""
        rows = "".join(f"1,{100000 * n},{101000 * n + 1000},{50000 * n},{n}\n" for n in range(1, 31)) + "1,-3,0,0,0\n" + "1,,5,5,0\n"
        found, said = self.annotate(HEADER.format(unit="ns") + rows)
        self.assertEqual((said, found["lock_wait"]["records"], found["time"]["records"]), ("", 32, 31))
        found, said = self.annotate(HEADER.format(unit="bytes") + self.rows({5}))
        self.assertEqual((said, found["time"]["records"]), ("", 30))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
