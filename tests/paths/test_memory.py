#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Contexts that find no room: with `strobe paths --max-memory` they are pruned, and every activation still counts once.

usage: test_memory.py STROBE FOLDER (with programs/NAME-WAY)"""

import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE = Path(sys.argv.pop(1)).resolve()
PROGRAMS = Path(sys.argv.pop(1)).resolve() / "programs"
PRUNED = "__pruned__"
CHOSEN = ["--funcs", "f_*"]
NODE = 64
sys.setrecursionlimit(20000)


def setUpModule():
    place = tempfile.TemporaryDirectory(prefix="strobe-memory-")
    unittest.addModuleCleanup(place.cleanup)
    Memory.place = Path(place.name)


def nodes_of(forest):
    """(path, node) of each, parents first."""
    left = [((), node) for node in reversed(forest)]
    while left:
        above, node = left.pop()
        path = (*above, node["name"])
        yield path, node
        left += [(path, child) for child in reversed(node["children"])]


def forests(document, key="ksf"):
    """Of each thread, all that it has."""
    return [[tree for part in thread.get("functions", [thread]) for tree in part[key]] for thread in document["threads"]]


def total(forest, key="count"):
    return sum(node[key] for _, node in nodes_of(forest))


def totals(forest):
    """{path: activations in it and below}, over nodes of one path."""
    found = {}
    for path, node in nodes_of(forest):
        for n in range(1, len(path) + 1):
            found[path[:n]] = found.get(path[:n], 0) + node["count"]
    return found


class Memory(unittest.TestCase):
    maxDiff = 2000
    place = None

    def strobe(self, *words, code=0):
        done = subprocess.run([STROBE, *words], cwd=self.place, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, done.stderr[-1000:])
        return done

    def run_paths(self, options, *arguments, memory=None):
        words = ["--max-memory", memory] if memory else []
        file = self.place / "run.json"
        self.strobe("paths", "-q", "-o", file, "--limit", "none", *options, *words, "--", PROGRAMS / "prune-O0", *arguments)
        document = json.loads(file.read_text())
        if memory and "pruned" in document:
            pruned = sum(node["count"] for forest in forests(document) for path, node in nodes_of(forest) if path[-1] == PRUNED)
            self.assertEqual(document["pruned"]["activations"], pruned)
            self.assertGreater(document["pruned"]["contexts"], 0)
        elif memory:
            self.assertNotIn(PRUNED, json.dumps(document))
        return document

    def check_same(self, options, arguments, sizes, key="ksf", pruned=True):
        """Sums of all threads, with and without a bound; every context counts at most what it did."""
        whole = self.run_paths(options, *arguments)
        self.assertNotIn("pruned", whole)
        for size in sizes:
            with self.subTest(options=options, size=size):
                found = self.run_paths(options, *arguments, memory=size)
                self.assertEqual("pruned" in found, pruned)
                self.assertEqual(len(found["threads"]), len(whole["threads"]))
                for some, every in zip(forests(found, key), forests(whole, key)):
                    if key == "ksf":
                        self.assertEqual(total(some), total(every))
                    else:  # each activation is at one root
                        self.assertEqual(sum(tree["count"] for tree in some), sum(tree["count"] for tree in every))
                    counts = {path: node["count"] for path, node in nodes_of(every)}
                    for path, node in nodes_of(some):
                        if PRUNED not in path:
                            self.assertLessEqual(node["count"], counts[path], path)
                yield found, whole

    def test_trees(self):
        for found, whole in self.check_same(CHOSEN, ["1", "1"], ["64K", "128K"]):
            size = 1 << 16 if found["bytes"] <= 1 << 16 else 1 << 17
            self.assertLessEqual(found["bytes"], size)
            self.assertGreater(whole["bytes"], size)
            self.assertLess(found["nodes_ksf"], whole["nodes_ksf"])
            for some, every in zip(forests(found), forests(whole)):
                some, every = totals(some), totals(every)
                for path in some:
                    if PRUNED not in path:
                        self.assertLessEqual(some[path], every[path])

    def test_hot_context(self):
        """It is under way again before anything is cold, and exact."""
        for found, _ in self.check_same(CHOSEN, ["1", "1"], ["64K"]):
            counts = {path: node["count"] for path, node in nodes_of(forests(found)[-1])}
            self.assertEqual(counts["__root__", "f_thread", "f_hot", "f_hot_leaf"], 80 * 50)
            self.assertEqual(counts["__root__", "f_thread", "f_hot"], 80)
            self.assertEqual(counts["__root__", "f_thread"], 1)

    def test_enough(self):
        for found, whole in self.check_same(CHOSEN, ["1", "1"], ["8M"], pruned=False):
            self.assertEqual(forests(found), forests(whole))
            self.assertEqual(found["bytes"], whole["bytes"])
            self.assertEqual(found["bytes"] % NODE, 0)
            self.assertGreaterEqual(found["bytes"], NODE * found["nodes_ksf"])

    def test_threads(self):
        for found, _ in self.check_same(CHOSEN, ["6", "2"], ["64K", "256K"]):
            self.assertEqual(len(found["threads"]), 13)

    def test_threads_that_have_ended(self):
        """What they have left makes room for the next ones, of which the last is no worse off than the first."""
        for found, _ in self.check_same(CHOSEN, ["1", "30"], ["128K"]):
            last = {path: node["count"] for path, node in nodes_of(forests(found)[-1])}
            self.assertEqual(last["__root__", "f_thread", "f_hot", "f_hot_leaf"], 80 * 50)

    def test_all_of_it_under_way(self):
        """A recursion that leaves nothing to prune: what finds no room counts in the thread's own node."""
        for found, whole in self.check_same([*CHOSEN, "--unroll-recursion"], ["deep", "3000"], ["64K", "128K"]):
            roots = {tree["name"]: tree for tree in forests(found)[0][0]["children"]} | {tree["name"]: tree for tree in forests(found)[0]}
            self.assertGreater(roots[PRUNED]["count"], 0)
            self.assertEqual(total(forests(whole)[0]), total(forests(found)[0]))

    def test_finite_k(self):
        for k in "0", "1", "3", "8":
            for found, whole in self.check_same(["-k", k, "--kccf", "--unroll-recursion", *CHOSEN], ["3", "1"], ["64K"], key="kccf", pruned=int(k) > 1):
                if k in "01":
                    self.assertEqual(forests(found, "kccf"), forests(whole, "kccf"))

    def test_callers(self):
        for found, _ in self.check_same(["--kccf", *CHOSEN], ["1", "1"], ["64K"], key="kccf"):
            roots = {tree["name"]: tree for tree in forests(found, "kccf")[-1]}
            self.assertEqual(roots["f_hot_leaf"]["count"], 80 * 50)
            self.assertIn(PRUNED, roots)

    def test_cycles(self):
        for _ in self.check_same(["--roll-cycles", *CHOSEN], ["2", "1"], ["64K"]):
            pass
        for _ in self.check_same(["--roll-cycles", "-k", "3", "--kccf", *CHOSEN], ["2", "1"], ["64K"], key="kccf"):
            pass

    def test_blocks(self):
        for mode in "inter", "intra":
            for options in ["--roll-loops"], ["-k", "4"]:
                key = "ksf" if options == ["--roll-loops"] else "kccf"
                words = ["--mode", mode, "--pin-blocks", "--kccf", *options, *CHOSEN]
                pruned = (mode, key) != ("intra", "ksf")
                for _ in self.check_same(words, ["2", "2"], ["64K"], key, pruned):
                    pass

    def test_instructions(self):
        whole, found = (self.run_paths(["--instructions", *CHOSEN], "2", "1", memory=memory) for memory in (None, "64K"))
        for every, some in zip(forests(whole)[1:], forests(found)[1:]):  # the first one's are not the same in two runs
            self.assertEqual(total(some, "instructions"), total(every, "instructions"))
            self.assertEqual(total(some), total(every))

    def test_fork(self):
        """Each process has so much."""
        for found, whole in self.check_same([*CHOSEN, "--follow"], ["fork", "0"], ["64K"]):
            self.assertEqual(len(found["threads"]), 2)

    def test_physical(self):
        for _ in self.check_same(["--tail-calls", "physical"] + CHOSEN, ["1", "1"], ["64K"]):
            pass

    def test_formats(self):
        said = self.strobe("paths", "-o", "run.db", *CHOSEN, "--max-memory", "64K", "--", PROGRAMS / "prune-O0", "1", "1").stderr
        note = re.search(r"note: ([\d,]+) contexts were pruned because the memory was full; __pruned__ has their ([\d,]+) activations", said)
        self.assertTrue(note, said)
        note = [part.replace(",", "") for part in (note[0], note[1], note[2])]
        texts = {form: self.strobe("paths", "--from", "run.db", "--format", form).stdout for form in ("text", "xml", "json", "folded")}
        document = json.loads(texts["json"])
        self.assertEqual(document["pruned"], {"contexts": int(note[1]), "activations": int(note[2])})
        self.assertIn(f"\nBytes of nodes in the program: {document['bytes']}\nPruned: {note[1]} contexts, {note[2]} activations\n", texts["text"])
        self.assertIn(f"<bytes>{document['bytes']}</bytes>\n<pruned contexts=\"{note[1]}\" activations=\"{note[2]}\"/>", texts["xml"])
        folded = [line.rpartition(" ") for line in texts["folded"].splitlines()]
        self.assertEqual(sum(int(count) for path, _, count in folded if path.endswith(";" + PRUNED)), int(note[2]))
        schema = Path(__file__).resolve().parents[2] / "docs" / "paths.xsd"
        (self.place / "run.xml").write_text(texts["xml"])
        done = subprocess.run(["xmllint", "--noout", "--schema", schema, self.place / "run.xml"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_mistakes(self):
        for value in "5X", "-1", "1.5G", "", "none", "63K", "0", "99999999999G":
            self.assertEqual(self.strobe("paths", "--max-memory", value, "--", "true", code=125).stderr,
                             f"strobe: --max-memory takes a size of at least 64K, such as 100M or 2G, not '{value}'\n")
        self.strobe("paths", "-q", "-o", "run.db", *CHOSEN, "--", PROGRAMS / "prune-O0", "1", "1")
        self.assertEqual(self.strobe("paths", "--from", "run.db", "--max-memory", "1M", code=125).stderr,
                         "strobe: --max-memory is for running a program, and --from runs none: leave out one of them\n")


if __name__ == "__main__":
    unittest.main()
