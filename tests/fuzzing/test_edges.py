#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The map of strobe fuzz has the exact count of each edge between basic blocks: test_edges.py STROBE EDGES CHOICES."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

STROBE, EDGES, CHOICES = map(os.path.abspath, sys.argv[1:4])
del sys.argv[1:4]


class Journal:
    """The results of the executions, as the journal has them. Of an execution, `edges` are those that raised the map."""

    def __init__(self, path):
        self.images, self.places, self.edges, self.executions = [], [], [], []
        for line in path.read_text().splitlines()[1:]:
            _, _, _, end, _, work, _, *words = line.split(" ")
            self.executions.append({"end": end, "work": int(work), "new_places": 0, "edges": {}})
            for word in words:
                self.take(word, self.executions[-1])

    def take(self, word, execution):
        name, _, times = word.partition("=")
        if name[0] == "@":
            self.images.append(name[1:])
        elif name[0] == "+":
            image, start, to_image, to = name[1:].split(":")
            self.edges.append((self.images[int(image)], int(start, 16), self.images[int(to_image)], int(to, 16)))
            execution["edges"][self.edges[-1]] = int(times)
        elif ":" in name:
            self.places.append(name)
            execution["new_places"] += 1
        else:
            execution["edges"][self.edges[int(name)]] = int(times)


class Edges(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="strobe-edges-")
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)

    def fuzz(self, program, seeds, *words):
        shutil.rmtree(self.place / "out", ignore_errors=True)
        for i, seed in enumerate(seeds):
            (self.place / f"seed{i}").write_text(seed)
        given = [word for i in range(len(seeds)) for word in ("-s", f"seed{i}")]
        done = subprocess.run([STROBE, "fuzz", "-q", "-o", "out", *given, "-t", "600s", "--judge", "1ms", "-j", "1", *words, "--", program], cwd=self.place,
                              capture_output=True, text=True, timeout=300)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return Journal(self.place / "out" / "journal")

    def within(self, program, edges):
        """Those from the program's code to its own."""
        return {(start, to): times for (image, start, to_image, to), times in edges.items() if image == to_image == program}

    def ends(self, program):
        """By the address of each instruction, what follows it."""
        text = subprocess.run(["objdump", "-d", "-w", program], capture_output=True, text=True, check=True).stdout
        found = re.findall(r"^ *([0-9a-f]+):\t((?:[0-9a-f]{2} )+)", text, re.MULTILINE)
        return {int(address, 16): int(address, 16) + len(code.split()) for address, code in found}

    def counted(self, program, seed):
        """The edges of branches in the program, as the tool `branches` counts them."""
        (self.place / "seed").write_text(seed)
        with open(self.place / "seed", encoding="utf-8") as file:
            subprocess.run([STROBE, "run", "-q", "-t", "branches", "--format", "json", "-o", self.place / "b.json", "--", program], stdin=file, check=False,
                           timeout=300, cwd=self.place)
        ends, edges = self.ends(program), Counter()
        for row in json.loads((self.place / "b.json").read_text())["branches"]:
            if row["source_image"] != program:
                continue
            end = ends[row["source"]]
            if row["target_image"] == program and row["taken"]:
                edges[end, row["target"]] += row["taken"]
            if row["not_taken"]:
                edges[end, end] += row["not_taken"]
        return dict(edges)

    def test_edges_are_those_that_the_tool_branches_counts(self):
        if not shutil.which("objdump"):
            self.skipTest("objdump is not installed")
        for program, seed in (EDGES, "abbabaccddcd\n"), (CHOICES, "aaaaaaab\n"):
            want = self.counted(program, seed)
            self.assertGreater(len(want), 8)
            for words in (), ("--fresh",):
                journal = self.fuzz(program, [seed], "--executions", "4", *words)
                self.assertEqual(self.within(program, journal.executions[0]["edges"]), want, words)
                # The second execution of a seed does the same: nothing is raised.
                self.assertEqual(self.within(program, journal.executions[1]["edges"]), {})

    def test_equal_blocks_by_other_edges(self):
        """Twelve letters of each kind, four by four and in turn: no block is executed more often, two edges are."""
        for words in (), ("--fresh",):
            journal = self.fuzz(EDGES, ["aaaabbbb" * 3 + "\n", "ab" * 12 + "\n"], "--executions", "4", *words)
            first, _, second, _ = journal.executions[:4]
            self.assertEqual((second["work"], second["new_places"]), (first["work"], 0))
            before, raised = self.within(EDGES, first["edges"]), self.within(EDGES, second["edges"])
            # From a to b, and from b to a (the first letter is found by the jump of b).
            self.assertEqual(sorted((before[edge], times) for edge, times in raised.items()), [(3, 12), (3, 12)])

    def test_targets_of_an_indirect_call(self):
        """A call that has called one function calls another: a call and a return are new."""
        for words in (), ("--fresh",):
            journal = self.fuzz(EDGES, ["aacccccccc\n", "aaccdddddd\n"], "--executions", "4", *words)
            first, _, second, _ = journal.executions[:4]
            before, raised = self.within(EDGES, first["edges"]), self.within(EDGES, second["edges"])
            self.assertEqual(sorted(times for times in before.values() if times == 8), [8, 8])
            self.assertEqual(sorted(times for edge, times in raised.items() if edge not in before and times == 6), [6, 6])

    def test_all_executions_raise_the_map_as_in_fresh_processes(self):
        """Of 60 inputs, with any number of jobs: the edges that each of them raised."""
        found = []
        for words in ("-j", "1"), ("-j", "5"), ("-j", "2", "--fresh"):
            journal = self.fuzz(EDGES, ["abbacdb\nabba\n"], "--executions", "60", "--size", "300", *words)
            found.append([(x["end"], self.within(EDGES, x["edges"])) for x in journal.executions])
        self.assertEqual(len(found[0]), 60)
        self.assertGreater(sum(1 for _, edges in found[0] if edges), 2)
        self.assertEqual(found[1], found[0])
        self.assertEqual(found[2], found[0])


if __name__ == "__main__":
    unittest.main(verbosity=2)
