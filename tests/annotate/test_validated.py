#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A model that predicts the records to which it was not fitted worse than their mean is no law: test_validated.py STROBE."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

STROBE = os.path.abspath(sys.argv[1])
HEADER = "#strobe-records,1\n#function,1,f\n#metric,1,instructions\n#feature,1,n\n#feature,1,a\n#feature,1,b\n#feature,1,flag,flag\n"
# Calls of _PyUnicode_JoinArray. `a` is the reference count of an object that is never freed, about 10^9, but for one call: with it, terms of a and b that cancel fit all
# records (R² 0.99), and say 10^9 instructions of others.
ROWS = ("356,2,1000000007,5,1 358,2,1000000007,5,1 358,2,1000000007,5,1 404,3,1000000074,2,1 454,3,1000000007,3,1 454,3,1000000007,3,1 357,2,1000000007,5,1 "
        "358,2,1000000007,5,1 358,2,1000000007,5,1 358,2,1000000007,5,1 406,3,1000000079,2,1 454,3,1000000007,3,1 406,3,1000000079,2,1 454,3,1000000007,3,1 "
        "573,4,3,8,1 327,2,1000000079,2,1 548,5,1000000079,2,1 557,5,1000000079,2,1 358,2,1000000007,6,0 358,2,1000000007,6,0").split()


class Validated(unittest.TestCase):
    def annotate(self, rows):
        with tempfile.NamedTemporaryFile("w", prefix="strobe-validated-", suffix=".txt") as file:
            file.write(HEADER + "".join(f"1,{row}\n" for row in rows))
            file.flush()
            done = subprocess.run([STROBE, "annotate", "--format", "json", file.name], capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(done.stdout)["annotations"][0]["models"]

    def test_no_law(self):
        [model] = self.annotate(ROWS)
        self.assertEqual((model["class"], model["n"], model["mean"]), ("constant", 20, "412.8"))

    def test_law(self):
        """The same calls with a cost that does follow n."""
        [model] = self.annotate(f"{100 * int(row.split(',')[1])},{row.split(',', 1)[1]}" for row in ROWS)
        self.assertEqual((model["class"], model["mean"], model["r2_cv"]), ("linear", "100 * n", 1))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
