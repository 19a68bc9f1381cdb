#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Arguments beside classes that are passed by the address of a copy, or returned by the address of their space.

usage: test_passing.py STROBE PROGRAM...

The programs are programs/passing.cc, and programs/queues.cc, which writes the sizes of its containers, compiled in several ways."""

import os
import subprocess
import sys
import tempfile
import unittest

import records

STROBE = os.path.abspath(sys.argv[1])
PROGRAMS = [os.path.abspath(name) for name in sys.argv[2:] if "queues" not in name]
QUEUES = [os.path.abspath(name) for name in sys.argv[2:] if "queues" in name]
VALUES = list(range(3, 9))
TAKES, RETURNS = 25, 10


class Passing(unittest.TestCase):
    def record(self, program, names="takes_*,returns_*,reads*"):
        with tempfile.TemporaryDirectory(prefix="strobe-passing-") as folder:
            path = os.path.join(folder, "r.txt")
            done = subprocess.run([STROBE, "annotate", "-q", "-I", os.path.basename(program), "-F", names, "-o", path, "--", program],
                                  capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            functions, notes = records.read(path)
        self.assertEqual(notes, [])
        self.output = done.stdout
        return {name.split("(")[0].split("[")[0]: f for name, f in functions.items()}

    def test_arguments_after_a_class(self):
        for program in PROGRAMS:
            functions = self.record(program)
            self.assertEqual(sum(name.startswith("takes_") for name in functions), TAKES)
            self.assertEqual(sum(name.startswith("returns_") for name in functions), RETURNS)
            for name, f in functions.items():
                self.assertEqual(f.columns("n"), [(n,) for n in VALUES], f"{name} of {program}")

    def test_members(self):
        for program in PROGRAMS:
            f = self.record(program)["reads"]
            self.assertEqual(f.columns("c_level", "m_a", "t_a", "t_b", "n"), [(2 * n, 3 * n, 4 * n, 5 * n, n) for n in VALUES], program)

    def test_containers(self):
        """Deques, their adapters, and vectors of bits."""
        for program in QUEUES:
            functions = self.record(program, "sizes*,old_list*")
            lines = [line.split() for line in self.output.splitlines()]
            old = functions["old_list"]
            self.assertEqual(old.columns("l_ptr"), [(int(size),) for name, size in (line[:2] for line in lines) if name == "old_list"])
            self.assertEqual([feature["path"] for feature in old.features if feature["name"] == "l_ptr"], ["*l._M_impl._M_node._M_storage._M_ptr()"])
            f = functions["sizes"]
            wanted = [tuple(map(int, line[1:])) for line in lines if line[0] == "sizes"]
            self.assertEqual(len(wanted), 31)
            self.assertEqual(f.columns("i_size", "o_size", "l_size", "q_c_size", "s_c_size", "b_size"), wanted, program)
            paths = {feature["name"]: feature["path"] for feature in f.features}
            self.assertEqual((paths["i_size"], paths["l_size"], paths["s_c_size"]), ("i.size()", "l->size()", "s.c.size()"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *[word for word in os.environ.get("STROBE_TEST_NAMES", "").split() if word]])
