#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""strobe run -t locks on a program of which all waits are known: test_locks.py STROBE WAITS."""
import html
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

STROBE, WAITS = (os.path.abspath(path) for path in sys.argv[1:3])
ROUNDS = 3
NEEDLESS = 77  # the kernel does not say what threads wait for
# By kind: the function that waits, and the one that ends the wait.
KNOWN = [("mutex", "take_mutex", "hold_mutex"), ("read lock", "take_to_read", "hold_to_write"), ("write lock", "take_to_write", "hold_to_read"),
         ("condition", "wait_for_condition", "signal_condition"), ("semaphore", "wait_for_post", "post"), ("barrier", "come_first", "come_last"),
         ("futex", "wait_for_word", "change_word")]


class Locks(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="strobe-locks-")
        cls.file = os.path.join(cls.folder.name, "locks.db")
        done = subprocess.run([STROBE, "run", "-q", "-t", "locks:times", "-o", cls.file, "--", WAITS], capture_output=True, text=True, timeout=240)
        if done.returncode == NEEDLESS:
            raise unittest.SkipTest("/proc/self/task/TID/syscall cannot be read here")
        assert done.returncode == 0, done.stderr
        cls.main, cls.waiter = (int(n) for n in re.fullmatch(r"main (\d+), waiter (\d+)\n", done.stdout).groups())
        cls.document = json.loads(cls.show("--format", "json"))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def show(cls, *words):
        return subprocess.run([STROBE, "show", *words, cls.file], capture_output=True, text=True, timeout=60, check=True).stdout

    def own(self, table, kind, function):
        return [row for row in self.document[table] if row["kind"] == kind and row["function"] == function]

    def test_each_wait_is_counted_at_its_site(self):
        for kind, waits, _ in KNOWN[:-1]:
            rows = self.own("lock_sites", kind, waits)
            self.assertEqual([(row["taken"], row["waits"]) for row in rows], [(ROUNDS, ROUNDS)], kind)
            self.assertGreater(rows[0]["wait"], 0)
            self.assertLessEqual(rows[0]["longest_wait"], rows[0]["wait"])
            self.assertLessEqual(rows[0]["wait"], ROUNDS * rows[0]["longest_wait"])

    def test_who_has_the_lock_does_not_wait(self):
        for kind, function in (("mutex", "hold_mutex"), ("write lock", "hold_to_write"), ("read lock", "hold_to_read"), ("barrier", "come_last")):
            self.assertEqual([(row["taken"], row["waits"], row["wait"]) for row in self.own("lock_sites", kind, function)], [(ROUNDS, 0, 0)], kind)

    def test_which_thread_waited_for_which(self):
        for kind, _, _ in KNOWN:
            rows = [row for row in self.document["lock_waits"] if row["kind"] == kind and (row["waiter"], row["holder"]) == (self.waiter, self.main)]
            if kind == "futex":
                self.assertGreaterEqual(sum(row["waits"] for row in rows), 1)
            else:
                self.assertEqual([row["waits"] for row in rows], [ROUNDS], kind)

    def test_lines_are_those_of_the_calls(self):
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "waits.c"), encoding="utf-8") as f:
            text = f.read().splitlines()
        calls = {"mutex": ("pthread_mutex_lock(&mutex);",) * 2, "read lock": ("pthread_rwlock_rdlock(&rwlock);", "pthread_rwlock_wrlock(&rwlock);"),
                 "write lock": ("pthread_rwlock_wrlock(&rwlock);", "pthread_rwlock_rdlock(&rwlock);"),
                 "condition": ("pthread_cond_wait(&condition, &for_condition);", "pthread_cond_signal(&condition);"),
                 "semaphore": ("sem_wait(&semaphore)", "sem_post(&semaphore)"), "barrier": ("pthread_barrier_wait(&barrier);",) * 2}
        rows = json.loads(self.show("--table", "lock_waits", "--where", f"holder={self.main}", "--format", "json"))["lock_waits"]
        seen = {row["kind"]: [text[row[f"{side}_line_line"] - 1] for side in ("waiter", "holder")] for row in rows if row["kind"] in calls}
        self.assertEqual(set(seen), set(calls))
        for kind, lines in calls.items():
            for line, shown in zip(lines, seen[kind]):
                self.assertIn(line, shown, kind)

    def test_stacks(self):
        for kind, waits, lets in KNOWN:
            rows = [row for row in self.document["lock_stacks"] if row["kind"] == kind and row["waiter"].split(";")[-1] == waits]
            holders = [row for row in rows if row["holder"].split(";")[-1] == lets]
            self.assertGreaterEqual(sum(row["waits"] for row in holders), 1 if kind == "futex" else ROUNDS, (kind, rows))
            for row in holders:
                self.assertEqual((row["waiter"].split(";")[-2], row["holder"].split(";")[-2]), ("waits", "main"), kind)

    def test_locks(self):
        """The mutex that nobody else wants; the recursive one; attempts that fail; and what is held longer than waited for."""
        used = {(row["kind"], row["taken"], row["waits"], row["failed"]) for row in self.document["locks"]}
        for row in (("mutex", 1001, 0, 7), ("mutex", 5, 0, 0), ("mutex", 2 * ROUNDS, ROUNDS, 0), ("read lock", 2 * ROUNDS, ROUNDS, 0),
                    ("write lock", 2 * ROUNDS, ROUNDS, 0), ("condition", ROUNDS, ROUNDS, 0), ("semaphore", ROUNDS, ROUNDS, 0), ("barrier", 2 * ROUNDS, ROUNDS, 0)):
            self.assertIn(row, used)
        rwlock = [row for row in self.document["locks"] if row["kind"] in ("read lock", "write lock")]
        self.assertEqual(len({row["lock"] for row in rwlock}), 1, "both are one lock")
        for row in self.document["locks"]:
            self.assertLessEqual(row["longest_hold"], row["hold"])
            if row["kind"] in ("semaphore", "condition", "barrier", "join", "futex"):
                self.assertEqual(row["hold"], 0, "nobody holds these")

    def times(self):
        return [json.loads(line) for line in self.show("--rows", "lock_times", "--format", "json").splitlines()]

    def test_times(self):
        """Each wait is a row; together they are the tables' sums. A thread does not wait twice at a time."""
        rows = self.times()
        for waiter, kind in {(row["thread"], row["kind"]) for row in rows}:
            waits = [row for row in rows if (row["thread"], row["kind"]) == (waiter, kind)]
            table = [row for row in self.document["lock_waits"] if (row["waiter"], row["kind"]) == (waiter, kind)]
            self.assertEqual(len(waits), sum(row["waits"] for row in table))
            self.assertEqual({row["holder"] for row in waits}, {row["holder"] for row in table})
            self.assertLess(abs(sum(row["time"] for row in waits) - sum(row["wait"] for row in table)), len(waits) + 2, "rounded to nanoseconds")
        for thread in self.main, self.waiter:
            waits = [row for row in rows if row["thread"] == thread]
            for one, next_one in zip(waits, waits[1:]):
                self.assertLessEqual(one["begin"] + one["time"], next_one["begin"] + 1)

    def test_picture(self):
        """A lane for each thread; as many hatched rectangles as waits."""
        rows = self.times()
        picture = subprocess.run([STROBE, "plot", "waits", "-o", "-", self.file], capture_output=True, text=True, timeout=60, check=True).stdout
        hints = [html.unescape(text) for text in re.findall(r"<title>(.*?)</title>", picture)]
        self.assertEqual(len([hint for hint in hints if hint.startswith("life of the thread: at ")]), 2)
        self.assertEqual(len([hint for hint in hints if re.match(r"[a-z ]+: \S+ waits", hint)]), len(rows))
        for kind, waits, _ in KNOWN[:-1]:
            self.assertEqual(len([hint for hint in hints if hint.startswith(f"{kind}: {waits} waits for thread {self.main}: at ") and hint.endswith(str(self.waiter))]),
                             ROUNDS, kind)

    def test_picture_without_times(self):
        other = os.path.join(self.folder.name, "null.db")
        subprocess.run([STROBE, "run", "-q", "-t", "locks", "-o", other, "--", "/bin/true"], check=True, timeout=60)
        done = subprocess.run([STROBE, "plot", "waits", other], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (125, "", f"strobe: {other} has no waits over time: no thread waited, or the run was without -t locks:times\n"))

    def test_page(self):
        """The timeline of the page: for each thread its life and its waits."""
        page = os.path.join(self.folder.name, "locks.html")
        subprocess.run([STROBE, "report", "-o", page, self.file], capture_output=True, check=True, timeout=120)
        with open(page, encoding="utf-8") as f:
            text = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', f.read(), re.S).group(1)
        timeline = json.loads(text)["results"][0]["timeline"]
        rows = self.times()
        self.assertTrue(timeline["waits"])
        self.assertEqual(timeline["calls"], len(rows) + 2)
        self.assertEqual({lane["tid"] for lane in timeline["lanes"]}, {self.main, self.waiter})
        for lane in timeline["lanes"]:
            lives, waits = (lane["rows"] + [[]])[:2]  # the main thread need not wait for the other one to end
            self.assertEqual([timeline["functions"][of]["kind"] for of in lives[2::4]], ["lives"])
            self.assertEqual([timeline["functions"][of]["kind"] for of in waits[2::4]], ["waits"] * len(waits[2::4]))
            self.assertEqual(len(waits) // 4, len([row for row in rows if row["thread"] == lane["tid"]]))
            self.assertEqual(sum(waits[1::4]), sum(row["time"] for row in rows if row["thread"] == lane["tid"]))

    def test_folded_stacks(self):
        """A line for each stack and kind, of which the table may have several rows."""
        text = subprocess.run([STROBE, "export", "--to", "folded", self.file], capture_output=True, text=True, timeout=60, check=True).stdout
        lines = dict(line.rsplit(" ", 1) for line in text.splitlines())
        self.assertEqual(len(lines), len(text.splitlines()), "no stack is there twice")
        want = {}
        for row in self.document["lock_stacks"]:
            stack = f"{row['waiter'] or '[unknown]'};[{row['kind']}]"
            want[stack] = want.get(stack, 0) + row["wait"]
        self.assertEqual({stack: int(ns) for stack, ns in lines.items()}, want)
        for kind, waits, _ in KNOWN:
            self.assertTrue([stack for stack in lines if stack.endswith(f";waits;{waits};[{kind}]")], kind)

    def test_check(self):
        """strobe check compares the waiting times of functions: the whole is the sum of all waits. One run of each version is too few for more."""
        for words, same in ((["--metric", "waiting time"], True), ([], True), (["--metric", "instructions"], False)):
            done = subprocess.run([STROBE, "check", "--format", "json", *words, self.file, self.file], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode == 0, same, done.stderr)
            if same:
                total = json.loads(done.stdout)["total"]
                wait = sum(row["wait"] for row in self.document["lock_sites"])
                self.assertEqual((total["metric"], total["unit"], total["from"], total["to"]), ("waiting time", "ns", wait, wait))
        text = subprocess.run([STROBE, "check", "--all", "--top", "0", self.file, self.file], capture_output=True, text=True, timeout=60, check=True).stdout
        for _, waits, _ in KNOWN[:-1]:
            self.assertRegex(text, rf"\n +\w+ +waiting time .* {waits} \[")

    def test_the_longest_waits_come_first(self):
        for table in "locks", "lock_sites", "lock_waits", "lock_stacks":
            waits = [row["wait"] for row in self.document[table]]
            self.assertEqual(waits, sorted(waits, reverse=True), table)

    def test_an_unknown_thread_is_a_dash(self):
        rows = [row for row in self.document["lock_waits"] if row["kind"] == "join"]
        self.assertLessEqual({row["holder"] for row in rows}, {0})
        text = self.show("--table", "lock_waits")
        self.assertIn("  waiter  holder  kind  ", text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
