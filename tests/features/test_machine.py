#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of the state of the machine as features: strobe annotate --machine.

usage: test_machine.py STROBE THREADS

THREADS is programs/threads.c."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import records

STROBE, THREADS = [os.path.abspath(name) for name in sys.argv[1:3]]
NAMES = ["machine_threads", "machine_runnable", "machine_load", "machine_free_memory", "machine_cpu_clock"]


def memory():
    with open("/proc/meminfo", encoding="ascii") as file:
        return {line.split(":")[0]: int(line.split()[1]) * 1024 for line in file}


class Machine(unittest.TestCase):
    maxDiff = None

    def strobe(self, *words):
        return subprocess.run([STROBE, "annotate", *words], capture_output=True, text=True, timeout=120, check=False)

    def record(self, *words, program=(THREADS,)):
        with tempfile.TemporaryDirectory(prefix="strobe-machine-") as folder:
            path = os.path.join(folder, "r.txt")
            done = self.strobe("-q", "-F", "works", *words, "-o", path, "--", *program)
            self.assertEqual(done.returncode, 0, done.stderr)
            return records.read(path)[0]["works"]

    def test_threads(self):
        """The number of threads at the entry of the call is exact."""
        rows = self.record("--machine").columns("waiting", "machine_threads")
        self.assertEqual(rows, [(0, 1)] + [(i, i + 1) for i in range(1, 8) for _ in range(2)])

    def test_others(self):
        rows = self.record("--machine").columns(*NAMES[1:])
        total = memory()["MemTotal"]
        for runnable, load, free, _ in rows:
            self.assertGreaterEqual(runnable, 1)  # the thread that has read it
            self.assertGreaterEqual(load, 0)
            self.assertTrue(0 < free < total)

    def test_frequency(self):
        """It is absent where the kernel has no frequency."""
        known = os.path.exists("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq")
        for (khz,) in self.record("--machine").columns("machine_cpu_clock"):
            self.assertTrue(khz > 10000 if known else khz is None, khz)

    def test_header(self):
        f = self.record("--machine")
        self.assertEqual([feature["name"] for feature in f.features], ["waiting", *NAMES])
        self.assertEqual([(feature["origin"], feature["how"]) for feature in f.features[1:]], [("system", "value")] * 5)
        self.assertEqual([feature["name"] for feature in self.record().features], ["waiting"])

    def test_few_features(self):
        """--max-features limits the features of the program's data only."""
        self.assertEqual([feature["name"] for feature in self.record("--machine", "--max-features", "1").features], ["waiting", *NAMES])

    def test_children(self):
        """The state is also that of a program that a child executes."""
        rows = self.record("--machine", "--follow", program=("sh", "-c", f"{THREADS}; true")).columns("waiting", *NAMES[:4])
        self.assertEqual([row[:2] for row in rows], [(0, 1)] + [(i, i + 1) for i in range(1, 8) for _ in range(2)])
        for _, _, runnable, load, free in rows:
            self.assertGreaterEqual(runnable, 1)
            self.assertGreaterEqual(load, 0)
            self.assertGreater(free, 0)

    def test_list(self):
        done = self.strobe("--features", "--machine", "--format", "json", "-F", "works", THREADS)
        self.assertEqual(done.returncode, 0, done.stderr)
        features = json.loads(done.stdout)["functions"][0]["features"]
        self.assertEqual([(f["name"], f["path"], f["origin"]) for f in features if f["origin"] == "system"],
                         [(name, name.replace("_", ".", 1), "system") for name in NAMES])
        text = self.strobe("--features", "--machine", "-F", "works", THREADS).stdout
        self.assertIn("machine.free_memory", text)
        self.assertNotIn("machine", self.strobe("--features", "-F", "works", THREADS).stdout)

    def test_errors(self):
        for words, why in ((["--branches", "-o", "r.txt", "--", THREADS], "leave out --machine"), (["-m", "instructions", "-o", "r.txt", "--", THREADS],
                           "leave out --machine"), (["r.txt"], "--machine")):
            done = self.strobe("--machine", *words)
            self.assertEqual((done.returncode, done.stdout), (125 if "--" in words else 2, ""))
            self.assertIn(why, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
