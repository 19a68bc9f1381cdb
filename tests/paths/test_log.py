#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a log of contexts has (--unique-log): all that its runs have measured, and nothing else.

usage: test_log.py STROBE FOLDER (with programs/NAME-WAY)"""

import json
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from collections import Counter
from pathlib import Path

STROBE = Path(sys.argv.pop(1)).resolve()
PROGRAMS = Path(sys.argv.pop(1)).resolve() / "programs"
WANDER, PLAIN, WORKER = (str(PROGRAMS / name) for name in ("wander-O2", "prog2-O2", "worker-O2"))
BUDGET = ("--unroll-recursion", "-b", "20%", "-T", "20ms", "--sample-hz", "0")
sys.setrecursionlimit(20000)


def contexts(document):
    """Of all threads together. Also those that were only found under way, with 0."""
    found = Counter()

    def add(nodes, path):
        for node in nodes:
            below = (*path, (node.get("image"), node.get("offset"), node["name"]))
            found[below] += node["count"]
            add(node["children"], below)

    for thread in document["threads"]:
        add(thread["ksf"], ())
    return found


def own(found):
    """Those of the program's own functions. Who has first gone to a coroutine is not known when nobody saw it."""
    names = {}
    for path, count in found.items():
        short = tuple(name for _, _, name in path if name == "main" or name.startswith("f_"))
        if "f_coroutine" in short:
            short = short[len(short) - 1 - short[::-1].index("f_coroutine"):]
        names[short] = names.get(short, 0) + count
    return names


class Log(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-contextlog-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def strobe(self, *words, code=0):
        done = subprocess.run([STROBE, *words], cwd=self.folder, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, done.stderr[-1000:])
        return done.stdout if code == 0 else done.stderr

    def run_paths(self, *words):
        self.strobe("paths", "-q", "-o", "a.json", *words)
        return contexts(json.loads((self.folder / "a.json").read_text()))

    def log(self, log="log"):
        return contexts(json.loads(self.strobe("paths", "--from", log, "--format", "json")))

    def covered(self):
        return json.loads(self.strobe("covered", "--format", "json", "log"))

    def test_whole(self):
        """Of a program that does the same each time: the log is its tree, and a second run brings nothing new."""
        whole = self.run_paths("--unique-log", "log", "--", PLAIN)
        self.assertEqual(self.log(), whole)
        self.assertEqual(self.covered()["contexts"], len(whole))
        again = self.run_paths("--unique-log", "log", "--", PLAIN)
        self.assertEqual(self.log(), whole + again)
        self.assertEqual(set(again), set(whole))
        with sqlite3.connect(self.folder / "log") as db:
            self.assertEqual(db.execute("SELECT ended, instructions FROM run ORDER BY id").fetchall(), [(1, len(whole)), (1, 0)])

    def test_budget(self):
        """Runs that see parts: the log is their union, and grows to the whole."""
        united, logs = Counter(), []
        for _ in range(2):
            united.update(self.run_paths("--unique-log", "log", *BUDGET, "--", WANDER))
            logs.append(self.log())
            self.assertEqual(logs[-1], united)
            self.assertEqual(set(logs[-1]), set(united))
        self.assertGreater(len(logs[1]), len(logs[0]))
        last = self.run_paths("--unroll-recursion", "--unique-log", "log", "--", WANDER)
        united.update(last)
        self.assertEqual(self.log(), united)
        self.assertEqual(self.covered()["contexts"], len(united))
        whole = own(last)
        self.assertLess(len(own(logs[1])), len(whole))
        self.assertEqual(set(own(self.log())), set(whole))

    def test_windows(self):
        """The first window of a run begins about where that of the run before ended."""
        for _ in range(2):
            self.run_paths("--unique-log", "log", "-b", "5%", "-T", "200ms", "--sample-hz", "0", "--", WANDER)
        with sqlite3.connect(self.folder / "log") as db:
            first, second = db.execute("SELECT first_ns, until_ns FROM run ORDER BY id").fetchall()
        self.assertEqual(first[0], 0)
        self.assertGreater(first[1], 0)
        tick = 4000000
        at = first[1] - first[1] // 3
        self.assertEqual(second[0], at - tick if tick < at < 200000000 else 0)

    def test_shared(self):
        """With a budget for all threads, too, whichever thread spends it. Strobe's own time is not charged."""
        for run in range(2):
            self.strobe("paths", "-q", "-o", f"{run}.db", "--unique-log", "log", "-b", "10%", "-T", "500ms", "--budget-share", "process", "--", WORKER)
            with sqlite3.connect(self.folder / f"{run}.db") as db:
                charged = dict(db.execute("SELECT name, total FROM statistic WHERE name IN ('budget_charged_ns', 'budget_controller_ns')"))
            self.assertGreater(charged["budget_charged_ns"], 0)
            self.assertEqual(charged["budget_controller_ns"], 0)
        with sqlite3.connect(self.folder / "log") as db:
            first, second = db.execute("SELECT first_ns, until_ns FROM run ORDER BY id").fetchall()
        self.assertEqual(first[0], 0)
        self.assertGreater(first[1], 0)
        tick = 4000000
        at = first[1] - first[1] // 3
        self.assertEqual(second[0], at - tick if tick < at < 500000000 else 0)

    def test_at_once(self):
        runs = [subprocess.Popen([STROBE, "paths", "-q", "-o", f"{i}.json", "--unique-log", "log", "--", PLAIN], cwd=self.folder) for i in range(3)]
        self.assertEqual([run.wait(timeout=120) for run in runs], [0, 0, 0])
        united = Counter()
        for i in range(3):
            united.update(contexts(json.loads((self.folder / f"{i}.json").read_text())))
        self.assertEqual(self.log(), united)

    def test_killed(self):
        """Of a run whose strobe is killed there is nothing."""
        before = self.run_paths("--unique-log", "log", "--", PLAIN)
        with subprocess.Popen([STROBE, "paths", "-q", "-o", "a.json", "--unique-log", "log", "--", "sleep", "60"], cwd=self.folder) as run:
            end = time.monotonic() + 60
            while self.covered()["runs"] < 2 and time.monotonic() < end:
                time.sleep(0.05)
            run.send_signal(signal.SIGKILL)
        document = self.covered()
        self.assertEqual((document["runs"], document["runs_without_end"]), (2, 1))
        self.assertEqual(self.log(), before)

    def test_refused(self):
        self.strobe("paths", "-q", "-o", "a.db", "--unique-log", "log", "--", "true")
        self.strobe("run", "-q", "-t", "inscount", "-o", "b.db", "--unique-log", "code", "--", "true")
        (self.folder / "text").write_text("this is no log of anything at all\n" * 40)
        kept = {name: (self.folder / name).read_bytes() for name in ("log", "code", "text")}
        for code, sentence, *words in (
                (125, "log is a log of calling contexts, for strobe paths: name another file", "run", "-t", "inscount", "--unique-log", "log", "--", "true"),
                (125, "code is a log of code, for strobe run: name another file", "paths", "--unique-log", "code", "--", "true"),
                (125, "made with other options about contexts: contexts:mode=func,k=inf there, contexts:mode=func,k=inf,roll=0 now",
                 "paths", "--unroll-recursion", "--unique-log", "log", "--", "true"),
                (125, "text is not a log of --unique-log; strobe did not change it", "paths", "--unique-log", "text", "--", "true"),
                (125, "code is a log of code, not of contexts: strobe covered shows it", "paths", "--from", "code"),
                (125, "--unique-log needs whole contexts of functions: leave out --mode", "paths", "-m", "intra", "-k", "3", "--unique-log", "log", "--", "true"),
                (125, "--unique-log needs whole contexts of functions: leave out -k", "paths", "-k", "3", "--unique-log", "log", "--", "true"),
                (125, "--unique-log needs the contexts of all functions: leave out --funcs", "paths", "--funcs", "main", "--unique-log", "log", "--", "true"),
                (2, "--against compares logs of code, and one of these is a log of contexts", "covered", "code", "--against", "log")):
            with self.subTest(sentence):
                self.assertIn(sentence, self.strobe(*words, code=code))
        self.assertEqual({name: (self.folder / name).read_bytes() for name in kept}, kept)

    def test_damaged(self):
        """Numbers that lead nowhere."""
        self.strobe("paths", "-q", "-o", "a.db", "--unique-log", "log", "--", "true")
        sound = (self.folder / "log").read_bytes()
        for change in ("UPDATE context SET parent = 99999 WHERE id = 2", "UPDATE context SET parent = id WHERE id = 3", "DELETE FROM context WHERE id = 2",
                       "UPDATE context SET function = -1 WHERE id = 2", "UPDATE context SET count = -1 WHERE id = 2", "UPDATE function SET image = 77 WHERE id = 2",
                       "UPDATE image SET id = 9999 WHERE id = 1", "DELETE FROM rules"):
            (self.folder / "log").write_bytes(sound)
            db = sqlite3.connect(self.folder / "log")
            db.execute(change)
            db.commit()
            db.close()
            with self.subTest(change):
                if change.startswith("DELETE FROM rules"):
                    words = ("--unique-log", "log", "--", "true")
                else:
                    words = ("--from", "log")
                self.assertIn("log is damaged; strobe did not change it", self.strobe("paths", *words, code=125))


if __name__ == "__main__":
    unittest.main()
