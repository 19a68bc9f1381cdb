#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows, sums, values and calls at the accesses of held.c, whose code is interrupted everywhere: by faults, by a storm of
signals, by handlers that jump out, by death. The engine's code holds in registers there where rows go, and sums; the
program itself checks that it never sees that. usage: test_held.py STROBE INCLUDE TOOL PROGRAM"""
import csv
import io
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

STROBE, INCLUDE, TOOL, PROGRAM = (os.path.abspath(sys.argv.pop(1)) for _ in range(4))
WRITES = (0, 2, 4, 6, 8)
AFTER = (4, 6)  # what they write is known when they have been executed
CALL = 3
STRESS = ("", "threads", "threads,far", "blocks", "flush")


def words_of(line):
    words = line.split()
    return {name: int(value) for name, value in zip(words[::2], words[1::2])}


class Said:
    """What the program says of itself."""

    def __init__(self, line):
        said = words_of(line)
        self.begin, self.end, self.counts = said["begin"], said["end"], said["counts"]
        self.insns = [said[f"access{i}"] for i in range(9)]
        words, stack = said["words"], said["stack"]
        self.addresses = [self.counts, words, self.counts + 8, words + 8, stack, stack, words + 16, said["last_word"], self.counts + 16]
        self.executed = [said["first"], said["middle"], said["last"]]
        self.left = {int(name[5:]): n for name, n in said.items() if name.startswith("left+")}


class Held(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="strobe-held-")
        subprocess.run([STROBE, "build-tool", "-q", "-I", INCLUDE, "-o", "held.tool", TOOL], cwd=cls.place.name, check=True)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def where(self, piece, mode="fault"):
        done = subprocess.run([PROGRAM, mode, piece], capture_output=True, text=True, timeout=60, check=True)
        return Said(done.stdout.splitlines()[0])

    def run_under(self, mode, piece, stress):
        """What the tool and the program say, after the run."""
        at = self.where(piece)
        tool = f"./held.tool:from={at.begin},to={at.end},least={at.counts},call={at.insns[CALL]}"
        path = os.path.join(self.place.name, "out.json")
        words = [STROBE, "run", "-q", "-t", tool, "--format", "json", "-o", path, *(["--stress", stress] if stress else [])]
        done = subprocess.run([*words, "--", PROGRAM, mode, piece], cwd=self.place.name, capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""), (mode, piece, stress))
        with open(path, encoding="utf-8") as f:
            result = json.load(f)
        return result, Said(done.stdout.splitlines()[-1])

    def check_whole(self, mode, piece, stress):
        """Each turn is executed wholly: everything is known."""
        result, said = self.run_under(mode, piece, stress)
        turns, insns, addresses = said.executed[2], said.insns, said.addresses
        self.assertEqual(said.executed, [turns] * 3)
        follows = {(insns[i - 1], insns[i]): (turns - (i == 0), (turns - (i == 0)) * addresses[i]) for i in range(9)}
        follows[(0, insns[0])] = (1, addresses[0])
        high = [a for a in addresses if a >= said.counts]
        self.assertEqual({(r["before"], r["by"]): (r["rows"], r["sum"]) for r in result["follows"]}, follows, (mode, piece, stress))
        self.assertEqual({r["by"]: r["sum"] for r in result["sums"]}, {i: turns * a for i, a in zip(insns, addresses)})
        self.assertEqual({r["by"]: (r["rows"], r["addresses"]) for r in result["written"]},
                         {insns[i]: (turns, turns * addresses[i]) for i in WRITES})
        self.assertEqual([(r["by"], r["calls"]) for r in result["calls"]], [(insns[CALL], turns)])
        self.assertEqual((result["total"], result["high"]), (turns * sum(addresses), turns * sum(high)))

    def test_faults(self):
        for stress in STRESS:
            for piece in ("narrow", "wide"):
                self.check_whole("fault", piece, stress)

    def test_storm(self):
        for stress in STRESS:
            for piece in ("narrow", "wide"):
                self.check_whole("storm", piece, stress)

    def check_left(self, piece, stress):
        """A handler that jumps out leaves an instruction that was not executed: what was asked for there may have happened."""
        result, said = self.run_under("leave", piece, stress)
        insns, addresses, at = said.insns, said.addresses, [i - said.begin for i in said.insns]
        began = said.executed[0] + said.left.get(at[0], 0)
        reached = [began - sum(n for offset, n in said.left.items() if offset < at[i]) for i in range(9)]
        executed = [reached[i] - said.left.get(at[i], 0) for i in range(9)]
        self.assertEqual([executed[i] for i in (0, 2, 8)], said.executed)

        def check(what, i, n, less=0):
            self.assertTrue(executed[i] - less <= n <= reached[i], (what, i, n, executed[i], reached[i], piece, stress))

        for i in range(9):
            rows = [r for r in result["follows"] if r["by"] == insns[i]]
            check("rows", i, sum(r["rows"] for r in rows))
            self.assertEqual([r["sum"] for r in rows], [r["rows"] * addresses[i] for r in rows])
            before = {r["before"] for r in rows}
            self.assertTrue(i == 0 or before == {insns[i - 1]}, (before, i))
            times, rest = divmod(next(r["sum"] for r in result["sums"] if r["by"] == insns[i]), addresses[i])
            self.assertEqual(rest, 0)
            check("sums", i, times)
        for r in result["written"]:
            i = insns.index(r["by"])
            self.assertEqual(r["addresses"], r["rows"] * addresses[i])
            behind = sum(n for offset, n in said.left.items() if i in AFTER and at[i] < offset <= at[i + 1])
            check("values", i, r["rows"], behind)
        for r in result["calls"]:
            check("calls", CALL, r["calls"])

    def test_leave(self):
        for stress in STRESS:
            for piece in ("narrow", "wide"):
                self.check_left(piece, stress)

    def check_killed(self, piece, stress):
        """Death from outside: rows are there but for those of the straight code that was under way."""
        file, db = (os.path.join(self.place.name, name) for name in ("counts", "killed.db"))
        with open(file, "wb") as f:
            f.write(bytes(4096))
        words = [STROBE, "run", "-q", "-t", "memtrace", "-o", db, *(["--stress", stress] if stress else [])]
        done = subprocess.run([*words, "--", PROGRAM, "kill", piece, file], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 128 + 9, done.stderr)
        said = Said(done.stdout.splitlines()[0])
        with open(file, "rb") as f:
            executed = struct.unpack("3Q", f.read(24))
        shown = subprocess.run([STROBE, "show", db, "--rows", "accesses", "--format", "csv"], capture_output=True, text=True,
                               timeout=120, check=True).stdout
        order = {insn: i for i, insn in enumerate(said.insns)}
        rows = [(order[int(r["instruction"])], int(r["address"], 16)) for r in csv.DictReader(io.StringIO(shown))
                if int(r["instruction"]) in order]
        self.assertTrue(all(row == (k % 9, said.addresses[k % 9]) for k, row in enumerate(rows)), "out of order")
        for i, n in zip((0, 2, 8), executed):
            made = sum(row[0] == i for row in rows)
            self.assertLessEqual(abs(made - n), 1, (i, executed, piece, stress))

    def test_killed(self):
        for piece in ("narrow", "wide"):
            for stress in ("", "threads"):
                self.check_killed(piece, stress)


if __name__ == "__main__":
    unittest.main()
