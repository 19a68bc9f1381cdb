#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Probes at all points within a program's functions count the same visits as the code cache, whose tool `coverage` counts each block that
it executes: exactly, for each point. The output and the exit code of the program stay the same.

usage: test_pointcounts.py STROBE PROBE-POINTS PROGRAM

PROGRAM is programs/points.c. Installed programs that are missing here are skipped."""

import bisect
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

STROBE, POINTS, PROGRAM = [os.path.abspath(name) for name in sys.argv[1:4]]
# Without address-space randomization, rseq and random hashes a program takes the same way each time.
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "GLIBC_TUNABLES": "glibc.pthread.rseq=0", "PYTHONHASHSEED": "0", "LC_ALL": "C"}
SQL = """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
SELECT sum(i * i), count(DISTINCT i % 7), max(printf('%05d', i)) FROM n; SELECT upper(group_concat(i, ',')) FROM
(SELECT value AS i FROM json_each('[3,1,2]') ORDER BY i);"""
# Not grep, which reads the list of its own mappings when it starts.
REAL = {"xz": ["xz", "--version"],
        "sqlite3": ["sqlite3", ":memory:", SQL],
        "bash": ["bash", "--norc", "--noprofile", "-c", "f() { echo $(( $1 * 2 )); }; for i in 1 2 3 4 5 6 7 8; do f $i; done; x=abcdef; echo ${x#ab} ${x%ef}"],
        "sed": ["sed", "-E", "-e", "s/(ro+t)|b(i)n/<\\1\\2>/g;/^d/d", "/etc/passwd"],
        "sort": ["sort", "-t:", "-k3", "-n", "/etc/passwd"]}


def run(command):
    """The result of the command, with its process ID as `pid`."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT) as process:
        output, errors = process.communicate(timeout=300)
    done = subprocess.CompletedProcess(command, process.returncode, output, errors)
    done.pid = process.pid
    return done


def visited(folder, image, pattern, program):
    """By address: its visits, or -1; the lines of what was refused; and what the program has done."""
    file = Path(folder) / "points"
    done = run(["setarch", "-R", POINTS, str(file), image, pattern, *program])
    lines = [line.split(maxsplit=4) for line in file.read_text().splitlines()]
    end = lines.pop()
    assert end == ["strays", "0", "lost", "0"], (end, done.stderr)
    points = {int(line[0], 16): int(line[2]) for line in lines if line[1] != "function"}
    refused = Counter(line[4] for line in lines if line[2] == "-1" and line[1] != "function")
    return points, refused, done


def executed(folder, image, program):
    """By address of an instruction, how often it was executed in the code cache."""
    file = Path(folder) / "profile.db"
    done = run(["setarch", "-R", STROBE, "run", "-q", "-t", "coverage", "--sample-hz", "0", "-o", str(file), "--", *program])
    with sqlite3.connect(file) as database:
        rows = database.execute("SELECT offset, bytes, executions FROM block WHERE image IN (SELECT id FROM image WHERE path LIKE ?)",
                                ["%" + image]).fetchall()
    return rows, done


def expected(rows, points):
    """Of each point, the sum over the blocks that have its address among their bytes."""
    counts = dict.fromkeys(points, 0)
    ordered = sorted(points)
    for offset, size, n in rows:
        for at in ordered[bisect.bisect_left(ordered, offset):bisect.bisect_left(ordered, offset + size)]:
            counts[at] += n
    return counts


class PointCounts(unittest.TestCase):
    def compare(self, image, pattern, program):
        with tempfile.TemporaryDirectory(prefix="strobe-points-") as folder:
            native = run(["setarch", "-R", *program])
            points, refused, done = visited(folder, image, pattern, program)
            rows, counted = executed(folder, image, program)
        if len(str(done.pid)) != len(str(counted.pid)):
            return self.compare(image, pattern, program)  # bash writes the ID of its parent, digit by digit
        self.assertEqual((done.stdout, done.returncode), (native.stdout, native.returncode), done.stderr)
        taken = {at: n for at, n in points.items() if n >= 0}
        counts = expected(rows, taken)
        wrong = [(hex(at), n, counts[at]) for at, n in taken.items() if n != counts[at]]
        self.assertEqual(wrong, [], f"{len(wrong)} of {len(taken)}")
        return taken, refused

    def test_program(self):
        taken, _ = self.compare("points-program", "p_*", [PROGRAM])
        self.assertGreater(len(taken), 20)

    def test_real(self):
        for name, program in REAL.items():
            path = shutil.which(name, path=ENVIRONMENT["PATH"])
            if path:
                with self.subTest(name=name):
                    taken, refused = self.compare(os.path.realpath(path), "*", [path, *program[1:]])
                    print(f"{name}: {len(taken)} points, {sum(1 for n in taken.values() if n)} visited, refused: {dict(refused)}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
