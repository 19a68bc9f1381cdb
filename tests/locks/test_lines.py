#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines of std::mutex in results of strobe run -t locks, and two results compared: test_lines.py STROBE GUARDED."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE, GUARDED = (os.path.abspath(path) for path in sys.argv[1:3])
SOURCE = (Path(__file__).parent / "guarded.cc").read_text(encoding="utf-8").splitlines()
GUARD, UNIQUE = (next(i for i, line in enumerate(SOURCE, 1) if line.endswith(f"// {word}")) for word in ("guard", "unique"))


def run(*words):
    done = subprocess.run([STROBE, *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


class Lines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="strobe-lines-")
        cls.addClassCleanup(folder.cleanup)
        cls.files = [os.path.join(folder.name, name) for name in ("a.db", "b.db")]
        for name in cls.files:
            run("run", "-q", "-t", "locks:times", "-o", name, "--", GUARDED)

    def table(self, name):
        return json.loads(run("show", "--table", name, "--format", "json", self.files[0]))[name]

    def assert_lines(self, rows, file, line, lines):
        found = {(os.path.basename(row[file]), row[line]) for row in rows if row["kind"] == "mutex" and row[file] and not row[file].endswith(".c")}  # without the C library
        self.assertTrue(found)
        self.assertLessEqual(found, {("guarded.cc", number) for number in lines})

    def test_lines(self):
        self.assert_lines(self.table("locks"), "first_used_file", "first_used_line", (GUARD, UNIQUE))
        self.assert_lines(self.table("lock_waits"), "waiter_line_file", "waiter_line_line", (GUARD, UNIQUE))
        self.assert_lines(self.table("lock_waits"), "holder_line_file", "holder_line_line", (GUARD, UNIQUE))
        sites = [(os.path.basename(row["line_file"] or ""), row["line_line"], row["taken"]) for row in self.table("lock_sites") if row["kind"] == "mutex" and row["function"].startswith("worker")]
        self.assertEqual(sorted(sites), [("guarded.cc", GUARD, 100), ("guarded.cc", UNIQUE, 2)])

    def test_rows(self):
        text = run("show", "--rows", "lock_times", "--format", "csv", self.files[0])
        self.assertNotIn("gthr-default.h", text)
        self.assertRegex(text, rf"guarded\.cc.*\b{GUARD}\b")

    def test_difference(self):
        """A lock has another address in each run: it is known by its kind and the line that uses it first."""
        found = json.loads(run("diff", "--metric", "taken", "--format", "json", *self.files))["difference"]
        self.assertEqual([row for row in found if "guarded.cc" in row["location"]], [])
        found = json.loads(run("diff", "--metric", "wait", "--format", "json", *self.files))["difference"]
        mutexes = [row for row in found if row["location"].startswith("mutex, ")]
        self.assertTrue(mutexes)
        for row in mutexes:
            self.assertRegex(row["location"], r"^mutex, .*guarded\.cc:\d+$")
        guard = [row for row in mutexes if row["location"].endswith(f":{GUARD}")]
        self.assertEqual([(row["state"], row["n_a"], row["n_b"]) for row in guard], [("unsure", 1, 1)])

    def test_same(self):
        self.assertEqual(json.loads(run("diff", "--format", "json", self.files[0], self.files[0]))["difference"], [])
        self.assertFalse(re.search("unsure", run("diff", self.files[0], self.files[0])))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
