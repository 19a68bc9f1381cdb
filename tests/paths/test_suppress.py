#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is not followed, because earlier runs with a log have found it (paths --unique-log with a budget): what is found is true, what is counted was seen,
and what is new below a context that was taken for complete is found in the end.

usage: test_suppress.py STROBE FOLDER (with programs/NAME-WAY)"""

import json
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

STROBE = Path(sys.argv.pop(1)).resolve()
PROGRAMS = Path(sys.argv.pop(1)).resolve() / "programs"
KNOWN = str(PROGRAMS / "known-O2")
# A budget that is never spent: windows leave nothing out, so that counts are exact.
BUDGET = ("-b", "100s", "-T", "100s", "--period-clock", "wall", "--budget-share", "process", "--sample-hz", "0", "--unroll-recursion")
ROUNDS, FOLLOWED = 64, 16
sys.setrecursionlimit(20000)


def contexts(document):
    """Those of the program's own functions, of all threads together."""
    found = Counter()

    def add(nodes, path):
        for node in nodes:
            shown = node["name"] == "main" or node["name"].startswith("f_")
            below = (*path, node["name"]) if shown else path
            if node["name"] == "f_coroutine":
                below = ("f_coroutine",)
            found[below] += node["count"] * shown
            add(node["children"], below)

    for thread in document["threads"]:
        add(thread["ksf"], ())
    return Counter({path: count for path, count in found.items() if count})


class Suppress(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-suppress-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def strobe(self, *words, code=0):
        done = subprocess.run([STROBE, *words], cwd=self.folder, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, done.stderr[-1000:])
        return done.stdout + done.stderr

    def run_paths(self, *words):
        self.said = self.strobe("paths", "-o", "a.json", *words)
        return contexts(json.loads((self.folder / "a.json").read_text()))

    def run_log(self, *words):
        return self.run_paths("--unique-log", "log", *BUDGET, *words)

    def check_part(self, part, whole):
        self.assertEqual({path: (count, whole[path]) for path, count in part.items() if count > whole[path]}, {})

    def not_followed(self):
        """By the message, and by the log."""
        found = re.search(r"([\d,]+) activations? (was|were) not followed", self.said)
        with sqlite3.connect(self.folder / "log") as db:
            (noted,) = db.execute("SELECT refused FROM run ORDER BY id DESC LIMIT 1").fetchone()
        self.assertEqual(int(found[1].replace(",", "")) if found else 0, noted)
        return noted

    def learn(self, *words, runs=3):
        for _ in range(runs):
            whole = self.run_log(*words)
            self.assertEqual(self.not_followed(), 0)
        return whole

    def test_known(self):
        """A context is complete from the fourth run on: two have found nothing new. One in sixteen activations is followed. Where it is left in whatever
        way, it is known where the program is."""
        for way in ("O0", "O2", "static"):
            with self.subTest(way=way):
                (self.folder / "log").unlink(missing_ok=True)
                program = str(PROGRAMS / f"known-{way}")
                whole = self.learn("--", program)
                part = self.run_log("--", program)
                self.assertGreater(self.not_followed(), ROUNDS)
                self.check_part(part, whole)
                self.assertEqual(part["main", "f_calls"], ROUNDS)
                self.assertEqual(part["main", "f_calls", "f_leaf"], ROUNDS // FOLLOWED)
                self.assertEqual(part["main", "f_recurses"], ROUNDS)
                self.assertEqual(part["main", "f_recurses", "f_recurses"], ROUNDS // FOLLOWED)
                self.assertEqual(part["main", "f_tail"], ROUNDS)
                self.assertEqual(part["main", "f_after"], whole["main", "f_after"])
                self.assertEqual(part["f_thread", "f_after"], whole["f_thread", "f_after"])
                # Suppression ends at a handler.
                handler = {path: count for path, count in whole.items() if "f_handler" in path}
                self.assertEqual({path: part[path] for path in handler}, handler)

    def test_children(self):
        """A fork's child begins with what its parent was in."""
        whole = self.learn("--follow", "--", KNOWN)
        part = self.run_log("--follow", "--", KNOWN)
        self.assertGreater(self.not_followed(), ROUNDS)
        self.check_part(part, whole)
        child = ("main", "f_forks", "f_child")
        self.assertEqual(part[child], whole[child])

    def test_all_followed(self):
        """Without a budget, and where it is asked for."""
        whole = self.learn("--", KNOWN)
        self.assertEqual(self.run_log("--no-suppress", "--", KNOWN), whole)
        self.assertEqual(self.not_followed(), 0)
        self.assertEqual(self.run_paths("--unroll-recursion", "--unique-log", "log", "--", KNOWN), whole)
        self.assertEqual(self.not_followed(), 0)
        self.run_log("--time", "--", KNOWN)
        self.assertEqual(self.not_followed(), 0)

    def test_wrong(self):
        """What is new below a context that was taken for complete is found, and the context is complete no more."""
        self.learn("--", KNOWN)
        part = self.run_log("--", KNOWN, "new")
        self.assertGreater(self.not_followed(), 0)
        new = ("main", "f_calls", "f_new")
        self.assertEqual(part[new], ROUNDS // FOLLOWED)
        with sqlite3.connect(self.folder / "log") as db:
            quiet = db.execute("SELECT count(*) FROM quiet JOIN context ON quiet.context = context.id JOIN function ON context.function = function.id"
                               " WHERE function.name = 'f_calls'").fetchone()
        self.assertEqual(quiet, (0,))
        self.assertEqual(self.run_log("--", KNOWN, "new")[new], ROUNDS)

    def test_rare(self):
        """Each run follows other activations: those of a context that is entered once a run are followed in one of sixteen runs."""
        self.learn("--", KNOWN)
        phases = set()
        with sqlite3.connect(self.folder / "log") as db:
            db.execute("UPDATE quiet SET runs = 2, activations = 16")
            db.commit()
        for _ in range(FOLLOWED):
            part = self.run_paths("--unique-log", "log", *BUDGET, "--", KNOWN, "once")
            phases.add(part["main", "f_calls", "f_leaf"])
        self.assertEqual(phases, {0, 1})

    def test_old_log(self):
        """One that was made before there was a guess is gone on with."""
        whole = self.learn("--", KNOWN)
        with sqlite3.connect(self.folder / "log") as db:
            db.execute("DROP TABLE quiet")
        self.assertEqual(self.run_log("--", KNOWN), whole)
        self.assertEqual(self.not_followed(), 0)

    def test_false_log(self):
        """Numbers that lead nowhere, or say what is not true: no more is counted than is executed, and the program does the same."""
        whole = self.learn("--", KNOWN)
        sound = (self.folder / "log").read_bytes()
        for change, refused in (("INSERT OR REPLACE INTO quiet SELECT id, 1 << 60, 1 << 60 FROM context", False),
                                ("INSERT OR REPLACE INTO quiet VALUES(-5, 9, 99), (99999999, 9, 99), (1 << 40, 9, 99)", False),
                                ("UPDATE function SET offset = offset + (1 << 40)", False),
                                ("UPDATE OR IGNORE context SET function = 1 + id % (SELECT count(*) FROM function)", False),
                                ("UPDATE context SET parent = id WHERE id = 3", True),
                                ("UPDATE context SET parent = -1 WHERE id = 3", True),
                                ("UPDATE context SET function = -1 WHERE id = 2", True),
                                ("DELETE FROM context WHERE id = 2", True)):
            (self.folder / "log").write_bytes(sound)
            with sqlite3.connect(self.folder / "log") as db:
                db.execute(change)
                db.commit()
            with self.subTest(change):
                if refused:
                    self.assertIn("log is damaged; strobe did not change it", self.strobe("paths", "-o", "b.db", "--unique-log", "log", *BUDGET, "--", KNOWN, code=125))
                else:
                    self.check_part(self.run_log("--", KNOWN), whole)

    def test_option(self):
        self.assertIn("--no-suppress is about a log of earlier runs", self.strobe("paths", "--no-suppress", "--", KNOWN, code=125))

    def test_stress(self):
        """Two of three activations are not followed, in whatever code."""
        for name in ("wander-O2", "wander-frames", "coroutines-O2", "longjmp-O2", "longjmp-static", "signals-O2", "tails-O2", "callbacks-O2", "threads_end-O2",
                     "setcontext-O2", "exceptions-O2", "vfork-O2", "restorer-O2", "fork-O2", "known-O2"):
            with self.subTest(name):
                words = ("--sample-hz", "0", "--unroll-recursion")
                whole = self.run_paths(*words, "--", str(PROGRAMS / name))
                part = self.run_paths(*words, "--stress", "suppress", "--", str(PROGRAMS / name))
                if name == "threads_end-O2":
                    self.assertLessEqual(set(part), set(whole))
                else:
                    self.check_part(part, whole)


if __name__ == "__main__":
    unittest.main()
