#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The executed path from windows of it: test_reconstruct.py STROBE CUT WAYS THROW. Whatever is said of a gap must be true of the complete path; CUT compares that."""
import json
import os
import pty
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE, CUT, WAYS, THROW = (os.path.abspath(path) for path in sys.argv[1:])
NUMBERS = ("gaps", "with", "between", "entered", "left", "exact", "stayed", "told", "ran", "known", "wrong")


def strobe(*args, code=0):
    run = subprocess.run([STROBE, *args], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert run.returncode == code, (args, run.returncode, run.stderr)
    return run


def record(directory, *program, options=(), name="result.db"):
    result = Path(directory) / name
    subprocess.run([STROBE, "run", "-q", *options, "-t", "branches:trace", "-o", result, "--", *program], stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return str(result)


def cut(result, window, gap, seed, *returning):
    run = subprocess.run([CUT, result + ".path.rows", str(window), str(gap), str(seed), *returning], capture_output=True, text=True)
    numbers = dict(zip(NUMBERS, (int(word) for word in run.stdout.replace(",", " ").replace(";", " ").split() if word.isdigit())))
    return run, numbers


def spelt(items):
    return [item if isinstance(item, dict) else {"times": 1, "block": item} for item in items]


def ends(items):
    """First and last block of a path, and the pairs of blocks that follow one another in it."""
    pairs, first, last = set(), None, None
    for item in spelt(items):
        begin, end = item.get("block"), item.get("block")
        if begin is None:
            begin, end, inner = ends(item["path"])
            pairs |= inner
        if item["times"] > 1:
            pairs.add((end, begin))
        if last is not None:
            pairs.add((last, begin))
        first, last = begin if first is None else first, end
    return first, last, pairs


def count(items):
    return sum(item["times"] * (1 if "block" in item else count(item["path"])) for item in spelt(items))


class Path_(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.whole = record(cls.folder.name, WAYS, "360")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def read(self, result, *options):
        return json.loads(strobe("reconstruct", result, "--format", "json", *options).stdout)

    def test_true(self):
        """Everything that is told of a gap is so in the complete path."""
        some = record(self.folder.name, WAYS, "20", name="some.db")
        for window, gap, seed in ((2, 2, 1), (4, 7, 2), (15, 30, 3), (100, 60, 4), (50, 800, 5)):
            run, n = cut(some, window, gap, seed)
            self.assertEqual((run.returncode, n["wrong"]), (0, 0), run.stderr)
            self.assertGreater(n["with"], n["gaps"] // 10)
        run, n = cut(some, 4, 3, 6)
        for kind in ("between", "entered", "left", "exact", "stayed"):
            self.assertGreater(n[kind], 0, kind)

    def test_true_with_exceptions(self):
        """Where calls end by exceptions, and signals come."""
        result = record(self.folder.name, THROW, "4", name="throw.db")
        for window, gap, seed in ((60, 40, 1), (200, 2000, 2)):
            run, n = cut(result, window, gap, seed)
            self.assertEqual((run.returncode, n["wrong"]), (0, 0), run.stderr)
            self.assertGreater(n["with"], 0)

    def test_whole(self):
        """Without a gap the path is the rows, folded."""
        rows = [line.split(",") for line in strobe("show", self.whole, "--rows", "path", "--format", "csv").stdout.splitlines()[1:]]
        blocks = [int(row[3]) for row in rows if row[2] == "block"]
        path = self.read(self.whole)
        self.assertEqual(path["gaps"], 0)
        self.assertEqual(path["blocks_executed"], len(blocks))
        self.assertEqual(len(path["threads"]), 1)
        window, = path["threads"][0]["windows"]
        self.assertEqual((window["blocks"], window["end"]), (len(blocks), "last"))
        offsets = {block["block"]: block["offset"] for block in path["blocks"]}

        def unfold(items):
            for item in spelt(items):
                for _ in range(item["times"]):
                    if "block" in item:
                        yield offsets[item["block"]]
                    else:
                        yield from unfold(item["path"])
        self.assertEqual(list(unfold(window["path"])), blocks)

    def test_budget(self):
        """Under a budget: what follows what in windows does so in the complete path, and gaps lie between them."""
        for policy in ("native", "trace"):
            with self.subTest(policy=policy):
                self.check_windows(policy)

    def check_windows(self, policy):
        result = record(self.folder.name, WAYS, "1000000", options=("-b", "10%", "-T", "20ms", "--budget-policy", policy), name="budget.db")
        path, whole = self.read(result), self.read(self.whole)
        self.assertGreater(path["gaps"], 0)
        thread, = path["threads"]
        self.assertTrue(thread["from_start"])
        # No thread goes on being measured without the gap being told of.
        self.assertEqual({window["end"] for window in thread["windows"][:-1]}, {"gap"})
        own = {"choose", "jump", "recurse", "give_up", "try_it", "compare", "sort", "main"}
        places, known = ({b["block"]: b["offset"] for b in p["blocks"] if b.get("function") in own} for p in (path, whole))
        pairs = {(known[a], known[b]) for w in whole["threads"][0]["windows"] for a, b in ends(w["path"])[2] if a in known and b in known}
        gaps = seen = 0
        for i, window in enumerate(thread["windows"]):
            first, last, inner = ends(window["path"])
            self.assertEqual(count(window["path"]), window["blocks"])
            # A window may begin in the middle of a block.
            inner = {(places[a], places[b]) for a, b in inner if a in places and b in places and a != first}
            self.assertLessEqual(inner, pairs)
            seen += len(inner)
            if "gap" in window:
                gaps += 1
                offsets = {b["block"]: b["offset"] for b in path["blocks"]}
                self.assertEqual(window["gap"]["from"]["offset"], offsets[last])
                if i + 1 < len(thread["windows"]):
                    self.assertEqual(window["gap"]["to"]["offset"], offsets[ends(thread["windows"][i + 1]["path"])[0]])
                else:
                    self.assertEqual((window["gap"]["to"], window["gap"]["facts"]), (None, []))
        self.assertGreater(seen, 0)
        self.assertEqual(gaps, path["gaps"])

    def test_ends_natively(self):
        """The thread is not measured any more at its end: that is a gap, too. With the first window all of the budget is spent."""
        result = record(self.folder.name, WAYS, "100000", options=("-b", "100us", "-T", "1h"), name="spent.db")
        path = self.read(result)
        (window,), = (thread["windows"] for thread in path["threads"])
        self.assertEqual((path["gaps"], path["gaps_with_facts"], window["end"]), (1, 0, "gap"))
        self.assertEqual((window["gap"]["to"], window["gap"]["facts"]), (None, []))
        place = window["gap"]["from"]
        lines = strobe("reconstruct", result, "--gaps").stdout.splitlines()
        self.assertIn(f"{place['offset']:#x}", lines[1])
        self.assertEqual(lines[2:4], ["    to the end: the thread was not measured again", "    unknown: everything"])
        self.assertTrue(lines[-1].endswith("; 1 gap, something certain in 0: 0 blocks"), lines[-1])

    def test_commands(self):
        """Each process has its program's name."""
        result = record(self.folder.name, "sh", "-c", f'"{WAYS}" 1; "{THROW}" 1; true', options=("--follow",), name="follow.db")
        commands = [thread["command"] for thread in self.read(result)["threads"]]
        text = strobe("reconstruct", result, "--gaps").stdout
        self.assertTrue({WAYS, THROW} < set(commands), commands)
        for thread in self.read(result)["threads"]:
            self.assertIn(f"thread {thread['tid']} of process {thread['pid']}: {thread['command']}\n", text)

    def test_progress(self):
        """On a terminal, each million rows."""
        result = record(self.folder.name, WAYS, "5000", name="long.db")
        master, slave = pty.openpty()
        with open(master, "rb", buffering=0) as terminal:
            said = subprocess.run([STROBE, "reconstruct", "--gaps", result], stdout=subprocess.PIPE, stderr=slave, stdin=subprocess.DEVNULL,
                                  text=True, check=True).stdout
            os.write(slave, b"end")
            os.close(slave)
            shown = b""
            while not shown.endswith(b"end"):
                shown += terminal.read(4096)
        rows = int(said.splitlines()[-1].split()[0].replace(",", ""))
        lines = shown.decode().removesuffix("end").split("\r\033[K")
        self.assertEqual(lines, ["", *(f"strobe: {n << 20:,} of {rows:,} rows read" for n in range(1, (rows >> 20) + 1)), ""])

    def test_text(self):
        text = strobe("reconstruct", self.whole).stdout
        self.assertIn("thread ", text)
        self.assertIn(" window", text)
        self.assertIn("ways", text)
        self.assertNotIn("gap", text)
        self.assertGreater(len(strobe("reconstruct", self.whole, "--top", "0", "--blocks").stdout), len(text))

    def test_rows_file(self):
        whole = self.read(self.whole)
        for thread in whole["threads"]:
            self.assertEqual(thread.pop("command"), WAYS)
        self.assertTrue(self.read(self.whole + ".path.rows") == whole)

    def test_damaged(self):
        """What was read up to the damage is printed."""
        rows = Path(self.whole + ".path.rows").read_bytes()
        half = Path(self.folder.name) / "half.rows"
        half.write_bytes(rows[:-1])
        run = strobe("reconstruct", str(half), code=125)
        self.assertIn("damaged", run.stderr)

    def test_refused(self):
        for args, said in (((), "no result"), ((self.whole, self.whole), "one result"), ((self.whole, "--top", "x"), "top"),
                           ((self.whole, "--format", "csv"), "text, json"), ((self.whole, "--gasp"), "--gaps")):
            self.assertIn(said, strobe("reconstruct", *args, code=2).stderr)
        plain = str(Path(self.folder.name) / "plain.db")
        strobe("run", "-q", "-t", "branches", "-o", plain, "--", WAYS, "1")
        self.assertIn("branches:trace", strobe("reconstruct", plain, code=2).stderr)
        other = str(Path(self.folder.name) / "other.db")
        strobe("run", "-q", "-t", "memtrace", "-o", other, "--", WAYS, "1")
        self.assertIn("branches:trace", strobe("reconstruct", other + ".accesses.rows", code=2).stderr)
        parts = record(self.folder.name, WAYS, "1", options=("--funcs", "choose"), name="parts.db")
        self.assertIn("--funcs", strobe("reconstruct", parts, code=2).stderr)
        named = record(self.folder.name, WAYS, "1", name="a--funcs.db")
        self.assertIn("blocks", strobe("reconstruct", named).stdout)
        late = record(self.folder.name, WAYS, "1", options=("--start-at", "nosuch"), name="late.db")
        self.assertIn("the run had --start-at", strobe("reconstruct", late, code=2).stderr)
        parts = record(self.folder.name, WAYS, "1", options=("-b", "10%", "--sampling", "adaptive"), name="parts.db")
        self.assertIn("the run had adaptive", strobe("reconstruct", parts, code=2).stderr)
        strobe("reconstruct", "/nonexistent", code=125)


unittest.main(argv=sys.argv[:1], verbosity=2)
