#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`strobe paths --loops` against programs whose loops are known, and against random ones that write down theirs.

usage: test_loops.py STROBE FOLDER (with programs/NAME-WAY)"""

import json
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from collections import defaultdict
from contextlib import closing
from pathlib import Path

STROBE = Path(sys.argv.pop(1)).resolve()
PROGRAMS = Path(sys.argv.pop(1)).resolve() / "programs"

# Of each function the iterations of each entry, of each of its loops.
LOOPS = {
    "f_nested": [[4, 9], [1, 2, 3, 4, *range(1, 10)]],
    "f_breaks": [[4, 1, 1000]],
    "f_goes": [[3], [4, 4, 4]],
    "f_jumps": [[7, 1]],
    "f_catches": [[2, 2]],  # behind setjmp, each time with what longjmp comes back to
    "f_once": [[1, 1, 1, 2]],
    "f_recurs": [[5, 4, 3]],
    "f_sorts": [[16, 8, 4, 2, 1]],
    "f_thread": [[3, 10, 20]],
    "f_yields": [[7, 3, 2]],
}


def loop(entries):
    """As JSON has it."""
    classes = defaultdict(int)
    for n in entries:
        classes[1 << n.bit_length() - 1] += 1
    return {"entries": len(entries), "iterations": sum(entries), "min": min(entries), "mean": round(sum(entries) / len(entries), 2), "max": max(entries),
            "histogram": [{"from": least, "entries": classes[least]} for least in sorted(classes)]}


def in_order(loops):
    return sorted(loops, key=str)


def by_function(listed):
    found = defaultdict(list)
    for one in listed:
        found[one["function"]].append(one["loop"])
    return {name: in_order(loops) for name, loops in found.items()}


def of_nodes(nodes):
    for node in nodes:
        yield node
        yield from of_nodes(node["children"])


def of_thread(thread):
    """Loops by the function they are in, those of all contexts of a head together only if there is one."""
    return by_function(node for function in thread["functions"] for node in of_nodes(function["ksf"]) if "loop" in node)


class Loops(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="strobe-loops-")
        self.addCleanup(place.cleanup)
        self.profile = Path(place.name) / "profile.db"

    def show(self, *words, form="json"):
        done = subprocess.run([STROBE, "paths", "--from", self.profile, "--format", form, *words], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def measure(self, program, *arguments, words=("--funcs", "f_*"), code=0):
        command = [STROBE, "paths", "-q", "--mode", "intra", "--loops", *words, "-o", self.profile, "--", PROGRAMS / program, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def check(self, found, wanted):
        self.assertEqual(found, {name: in_order(map(loop, loops)) for name, loops in wanted.items()})

    def test_known(self):
        for way in "O0", "static", "O2":
            self.measure(f"loops-{way}")
            found = by_function(json.loads(self.show())["all_loops"])
            wanted = dict(LOOPS)
            if way == "O2":  # its call of itself has become a jump
                wanted["f_sorts"] = [*LOOPS["f_sorts"], [5]]
            self.check(found, wanted)

    def test_threads(self):
        self.measure("loops-O0", words=("--funcs", "f_thread"))
        threads = json.loads(self.show())["threads"]
        self.check(of_thread(threads[0]), {"f_thread": [[3]]})
        self.check(of_thread(threads[1]), {"f_thread": [[10, 20]]})
        joined, = json.loads(self.show("--join-threads"))["threads"]
        self.check(of_thread(joined), {"f_thread": [[3, 10, 20]]})

    def test_killed(self):
        """What was under way has what it had."""
        self.measure("loops-O2", "kill", words=("--funcs", "f_killed,f_recurs"), code=137)
        self.check(by_function(json.loads(self.show())["all_loops"]), {"f_killed": [[1000, 42]], "f_recurs": LOOPS["f_recurs"]})

    def test_signals(self):
        """Signals from everywhere, whose handlers have blocks of their own, change nothing."""
        found = []
        for arguments in ["calm"], []:
            self.measure("storm-O0", *arguments)
            found.append(json.loads(self.show("--join-threads"))["all_loops"])
        self.assertTrue(found[0])
        self.assertEqual(*found)

    def test_pruned(self):
        """Loops go with the contexts of their heads; what is left of them is true of what is left of those."""
        self.measure("loops_random-O0", "3", "20", words=("--max-memory", "64K"))
        document = json.loads(self.show())
        heads = [node for thread in document["threads"] for function in thread["functions"] for node in of_nodes(function["ksf"]) if "loop" in node]
        self.assertGreater(document["pruned"]["contexts"], 0)
        self.assertTrue(heads)
        for node in heads:
            one = node["loop"]
            self.assertEqual(one["iterations"], node["count"], node["name"])
            self.assertEqual(one["entries"], sum(each["entries"] for each in one["histogram"]), node["name"])
            self.assertLessEqual(one["min"] * one["entries"], one["iterations"], node["name"])
            self.assertLessEqual(one["iterations"], one["max"] * one["entries"], node["name"])

    def test_damaged(self):
        self.measure("loops-O0", words=("--funcs", "f_once"))
        whole = self.profile.read_bytes()
        for change in "context = 99999", "entries = '1 x'", f"entries = '{'1 ' * 33}'", "entries = ''":
            self.profile.write_bytes(whole)
            with closing(sqlite3.connect(self.profile)) as database, database:
                database.execute(f"UPDATE loop SET {change}")
            done = subprocess.run([STROBE, "paths", "--from", self.profile], capture_output=True, text=True, timeout=120)
            self.assertEqual((done.returncode, done.stdout), (125, ""), change)
            self.assertIn("damaged", done.stderr)

    def test_text(self):
        self.measure("loops-O2", words=("--funcs", "f_nested"))
        lines = self.show(form="text").splitlines()
        inner = "entries=13 iterations=55 min=1 mean=4.2 max=9 1:2 2+:4 4+:5 8+:2"
        self.assertEqual(len([line for line in lines if line.startswith("    | ") and line.endswith(inner)]), 1)
        listed = lines[lines.index("All loops") + 2:]
        self.assertEqual(len(listed), 2)
        self.assertRegex(listed[1], rf"^{{f_nested\+\d+ at \d\d,\d+}} addr: loops-O2\+0x[0-9a-f]+ {inner.replace('+', '.')} at .*loops.c:\d\d$")
        done = subprocess.run([STROBE, "paths", "--from", self.profile], capture_output=True, text=True, timeout=120)
        rows = done.stdout.partition("loop, entries by iterations\n")[2].splitlines()
        self.assertEqual([row.split()[:5] for row in rows], [["55", "13", "1", "4.2", "9"], ["13", "2", "4", "6.5", "9"]])
        self.assertRegex(rows[0], r" f_nested\+\d+ \(loops.c:\d\d\)  1:2 2.:4 4.:5 8.:2$")

    def random(self, way, seed):
        """The lines that the program writes say of each entry function, loop and iterations."""
        entries = defaultdict(list)
        for line in self.measure(f"loops_random-{way}", str(seed), "20").splitlines():
            function, number, iterations = line.split()
            entries[function, number].append(int(iterations))
        wanted, found = defaultdict(list), by_function(json.loads(self.show())["all_loops"])
        for (function, _), those in entries.items():
            if max(those) > 1:
                wanted[function].append(loop(those))
        # A long jump makes a loop behind setjmp, too.
        found["f_catches"] = [one for one in found.get("f_catches", []) if one in wanted["f_catches"]]
        self.assertEqual(found, {name: in_order(loops) for name, loops in wanted.items()}, f"seed {seed}")

    def test_random(self):
        for seed in range(1, 7):
            self.random("O0" if seed % 2 else "O2", seed)


if __name__ == "__main__":
    unittest.main()
