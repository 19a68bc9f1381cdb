#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What windows of a budget, and an attached process, say of contexts: each is one of the whole run, executed there at least as often.

usage: test_windows.py STROBE FOLDER (with programs/NAME-WAY)"""

import json
import subprocess
import sys
import tempfile
import time
import unittest
from collections import Counter
from pathlib import Path

STROBE = Path(sys.argv.pop(1)).resolve()
PROGRAMS = Path(sys.argv.pop(1)).resolve() / "programs"
WAYS = ("O0", "O2", "frames", "static")
SHOWN = ("--funcs", "main,f_*", "--unroll-recursion")
BUDGETS = (("-b", "20%", "-T", "20ms"), ("-b", "5%", "-T", "20ms", "--budget-policy", "trace"), ("-b", "10%", "-T", "20ms", "--sampling", "bursts:2"))
sys.setrecursionlimit(20000)


def contexts(document):
    """Who has first gone to a coroutine is not known when nobody saw it: its contexts begin with its first function."""
    found = Counter()

    def add(nodes, path):
        for node in nodes:
            shown = node["name"] in ("__root__", "main") or node["name"].startswith("f_")
            below = (*path, node["name"]) if shown else path
            if node["name"] == "f_coroutine":
                below = ("f_coroutine",)
            found[below] += node["count"] * shown
            add(node["children"], below)

    for thread in document["threads"]:
        add(thread["ksf"], ())
    return Counter({path: count for path, count in found.items() if count})


class Windows(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-windows-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def strobe(self, *words):
        done = subprocess.run([STROBE, *words], cwd=self.folder, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stderr[-1000:])
        return done.stdout

    def run_paths(self, *words):
        self.strobe("paths", "-q", "--sample-hz", "0", "-o", "a.json", *SHOWN, *words)
        return json.loads((self.folder / "a.json").read_text())

    def check_part(self, part, whole):
        self.assertEqual({path: count for path, count in part.items() if count > whole[path]}, {})

    def test_budget(self):
        for way in WAYS:
            program = str(PROGRAMS / f"wander-{way}")
            whole = self.run_paths("--", program)
            self.assertNotIn("seen", whole)
            for budget in BUDGETS:
                with self.subTest(way=way, budget=budget):
                    part = self.run_paths(*budget, "--", program)
                    self.check_part(contexts(part), contexts(whole))
                    self.assertLess(part["seen"]["measured_ns"], part["seen"]["cpu_ns"])

    def test_versions(self):
        """Windows from one dispatch to another, and with every block a dispatch: they begin where a function has been jumped to, a handler too."""
        for way in ("O2", "frames"):
            program = str(PROGRAMS / f"wander-{way}")
            whole = contexts(self.run_paths("--", program))
            for modes in ("versions", "versions,links"):
                with self.subTest(way=way, modes=modes):
                    part = self.run_paths("--stress", modes, "--", program)
                    self.check_part(contexts(part), whole)
                    self.assertGreater(part["seen"]["entries"], 1000)

    def test_start(self):
        """Measured from a function on: it has callers."""
        program = str(PROGRAMS / "wander-O2")
        whole, part = (self.run_paths(*words, "--", program) for words in ((), ("--start-at", "f_signals")))
        self.check_part(contexts(part), contexts(whole))
        self.assertGreater(sum(contexts(part).values()), sum(contexts(whole).values()) / 2)
        self.assertEqual(part["seen"]["entries"], 1)

    def test_linker(self):
        """Measured from the middle of the dynamic linker on, which has not called the program."""
        program = str(PROGRAMS / "prog1-O2")
        roots = []
        for words in ((), ("--start-at", "_dl_relocate_object")):
            self.strobe("paths", "-q", "-o", "a.json", *words, "--", program)
            threads = json.loads((self.folder / "a.json").read_text())["threads"]
            roots.append([(root["count"], [below["name"] for below in root["children"]])
                          for thread in threads for root in thread["ksf"] if root["name"] == "_start" and root["image"] == program])
        self.assertEqual(len(roots[0]), 1)
        self.assertEqual(roots[0], roots[1])

    def test_attach(self):
        """It goes other ways than the whole run, by the same calls."""
        for way in WAYS:
            program = str(PROGRAMS / f"wander-{way}")
            calls = {path[-2:] for path in contexts(self.run_paths("--", program))}
            with self.subTest(way=way), subprocess.Popen([program, "for ever"]) as process:
                try:
                    time.sleep(0.1)
                    self.strobe("attach", "-q", "-t", "contexts:roll=0", "--for", "300ms", "-o", "a.db", str(process.pid))
                    self.assertIsNone(process.poll())
                finally:
                    process.kill()
            part = contexts(json.loads(self.strobe("paths", "--from", "a.db", "--format", "json")))
            self.assertEqual({path[0] for path in part}, {"main", "f_coroutine"})
            self.assertEqual([path for path in part if len(path) > 1 and path[-2:] not in calls], [])


if __name__ == "__main__":
    unittest.main()
