#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""strobe export --to callgrind: costs of source lines, of inlined files, too, calls and jumps.

usage: test_callgrind_lines.py STROBE LINES

The file is read as KCachegrind reads it, and compared with what valgrind's callgrind writes for the same program and with what
callgrind_annotate prints of it."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections import Counter

STROBE, LINES = (os.path.abspath(path) for path in (sys.argv.pop(1), sys.argv.pop(1)))
N = 300
LOOPS = N + N // 2
VALGRIND = ["valgrind", "--tool=callgrind", "--dump-line=yes", "--collect-jumps=yes", "--skip-plt=no", "--callgrind-out-file=theirs.out"]


def ask(folder, *words):
    done = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True, check=False, timeout=200)
    if done.returncode:
        raise AssertionError(f"{words}: {done.stderr[-1000:]}")
    return done.stdout


class File:
    """What a file of callgrind says, by (base name of the file, line)."""

    def __init__(self, text):
        self.costs, self.calls, self.jumps, self.inclusive = Counter(), Counter(), Counter(), Counter()
        self.functions, self.summary, self.events, self.names = Counter(), None, [], {}
        self.file = self.function = self.callee = self.called_file = self.to = None
        self.counts = self.jump = None
        for line in text.splitlines():
            self.line = 0 if line[:1] not in "+-*" else getattr(self, "line", 0)
            self.take(line)

    def name(self, kind, text):
        """Names are written where they first stand, and are numbers then."""
        number, _, name = text.partition(" ")
        if not number.startswith("("):
            return text
        if name:
            assert (kind, number) not in self.names, (kind, text)
            self.names[kind, number] = name
        return self.names[kind, number]

    def take(self, line):
        key, separator, value = line.partition("=")
        if not line or line.startswith("#"):
            return
        if re.match(r"[-+*\d]", line):
            self.take_cost(line)
        elif not separator:
            key, _, value = line.partition(":")
            if key == "events":
                self.events = value.split()
            elif key in ("summary", "totals"):
                self.summary = tuple(int(n) for n in value.split())
        else:
            self.take_field(key, value)

    def take_field(self, key, value):
        if key in ("fl", "fi", "fe"):
            self.file = os.path.basename(self.name("file", value))
        elif key == "fn":
            self.function = self.name("function", value)
        elif key in ("ob", "cob"):
            self.name("object", value)
        elif key in ("cfi", "cfl"):
            self.called_file = os.path.basename(self.name("file", value))
        elif key == "jfi":
            self.to = os.path.basename(self.name("file", value))
        elif key == "cfn":
            self.callee = self.name("function", value)
        elif key == "calls":
            self.counts = int(value.split()[0])
        elif key in ("jump", "jcnd"):
            self.jump = (key, *value.split())
        else:
            raise AssertionError(f"unknown: {key}={value}")

    def position(self, text):
        self.at = self.at + int(text) if text[0] in "+-" else self.at if text == "*" else int(text)
        return self.at

    def take_cost(self, line):
        words = line.split()
        at = self.position(words[0])
        costs = tuple(int(n) for n in words[1:])
        if self.jump:
            kind, count, target = self.jump
            to = at + int(target) if target[0] in "+-" else at if target == "*" else int(target)
            followed, _, executed = count.partition("/")
            self.jumps[kind, (self.file, at), (self.to or self.file, to), "followed"] += int(followed)
            self.jumps[kind, (self.file, at), (self.to or self.file, to), "executed"] += int(executed or followed)
            self.jump = self.to = None
        elif self.counts is not None:
            self.calls[self.function, (self.file, at), self.callee] += self.counts
            self.inclusive[self.function, self.callee] += dict(zip(self.events, costs, strict=True)).get("Samples", 0)
            self.counts = None
        else:
            for event, cost in zip(self.events, costs, strict=False):
                self.costs[self.file, at, event] += cost
                self.functions[self.function, event] += cost

    def line_costs(self, files, event="Ir"):
        return {(file, line): n for (file, line, of), n in self.costs.items() if of == event and file in files and line and n}


class Lines(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="strobe-lines-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.at = cls.folder.name
        ask(cls.at, STROBE, "run", "-q", "-t", "hot,branches,calls", "--sample-hz", "0", "-o", "x.db", "--", LINES, N)
        cls.text = ask(cls.at, STROBE, "export", "--to", "callgrind", "x.db")
        cls.ours = File(cls.text)
        cls.lines = {}
        for name in ("lines.c", "lines.h"):
            with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
                cls.lines.update({(name, number): text.strip() for number, text in enumerate(file, 1)})
        cls.source = {(name, text): number for (name, number), text in cls.lines.items()}

    def line(self, text, file="lines.c"):
        return (file, self.source[file, text])

    def test_sums(self):
        whole = json.loads(ask(self.at, STROBE, "show", "--format", "json", "x.db"))
        self.assertEqual(self.ours.events, ["Ir"], "without samples there is no column for them")
        self.assertEqual(self.ours.summary, (whole["instructions"],))
        self.assertEqual(sum(self.ours.costs.values()), whole["instructions"])

    def test_lines_are_those_of_show(self):
        shown = Counter()
        for row in csv.DictReader(io.StringIO(ask(self.at, STROBE, "show", "--table", "lines", "--format", "csv", "x.db"))):
            shown[os.path.basename(row["file"]), int(row["line"])] += int(row["instructions"])
        files = {file for file, _ in shown}
        self.assertEqual(self.ours.line_costs(files), {place: n for place, n in shown.items() if place[1] and n})

    def test_inlined_lines_are_in_their_own_file(self):
        self.assertIn(self.line("x ^= x << 3;", "lines.h"), self.ours.line_costs({"lines.h"}))
        block = re.search(r"^fn=\(\d+\) leaf\n(.*?)^(?:fn|ob)=", self.text, re.M | re.S) or re.search(r"^fn=\(\d+\) leaf\n(.*)", self.text, re.M | re.S)
        fields = re.findall(r"^(f[ie])=", block[1], re.M)
        self.assertEqual(fields[:2], ["fi", "fe"], "into the header, and back")

    def test_calls(self):
        calls = {(place, callee): n for (function, place, callee), n in self.ours.calls.items() if function in ("twice", "pointed", "main")}
        self.assertEqual(calls[self.line("unsigned s = leaf(n);"), "leaf"], 1)
        self.assertEqual(calls[self.line("return s + leaf(n / 2) + 1;"), "leaf"], 1)
        self.assertEqual(calls[self.line('printf("%u\\n", pointed(twice, n));'), "pointed"], 1)
        self.assertEqual([n for (_, callee), n in calls.items() if callee == "twice"], [1], "through a pointer: counted by the tool calls")

    def test_branches(self):
        places = {self.line("if (i % 3)"), self.line("for (unsigned i = 0; i < n; i++) {")}
        executed = Counter()
        for (kind, place, _, what), n in self.ours.jumps.items():
            if kind == "jcnd" and what == "executed":
                executed[place] += n
        self.assertEqual(executed[self.line("if (i % 3)")], LOOPS)
        self.assertGreaterEqual(executed[self.line("for (unsigned i = 0; i < n; i++) {")], LOOPS)
        self.assertLessEqual(places, set(executed))

    def test_without_branches_conditional_jumps_are_not_known(self):
        ask(self.at, STROBE, "run", "-q", "--sample-hz", "0", "-o", "plain.db", "--", LINES, N)
        plain = File(ask(self.at, STROBE, "export", "--to", "callgrind", "plain.db"))
        self.assertEqual({kind for kind, *_ in plain.jumps}, {"jump"})
        self.assertEqual(plain.line_costs({"lines.c", "lines.h"}), self.ours.line_costs({"lines.c", "lines.h"}))
        self.assertFalse([callee for function, _, callee in plain.calls if function == "pointed" and callee == "twice"])

    @unittest.skipUnless(shutil.which("valgrind"), "no valgrind here")
    def test_the_same_as_callgrind(self):
        ask(self.at, *VALGRIND, LINES, N)
        with open(os.path.join(self.at, "theirs.out"), encoding="utf-8") as file:
            theirs = File(file.read())
        files = {"lines.c", "lines.h"}
        self.assertEqual(self.ours.line_costs(files), theirs.line_costs(files))
        for counts in self.ours, theirs:
            # Callgrind counts executions of a branch only in blocks from which it was followed once.
            counts.in_program = {key: n for key, n in counts.jumps.items() if key[1][0] in files and key[3] == "followed" and n}
            counts.calls_of = {key: n for key, n in counts.calls.items() if key[0] == "twice"}
        self.assertEqual(self.ours.calls_of, theirs.calls_of)
        self.assertEqual(self.ours.in_program, theirs.in_program)

    @unittest.skipUnless(shutil.which("callgrind_annotate"), "no callgrind_annotate here")
    def test_callgrind_annotate_reads_it(self):
        with open(os.path.join(self.at, "ours.out"), "w", encoding="utf-8") as file:
            file.write(self.text)
        source = os.path.dirname(os.path.abspath(__file__))
        done = subprocess.run(["callgrind_annotate", "--auto=yes", "--threshold=100", "--show-percs=no", f"--include={source}", "ours.out"], cwd=self.at,
                              capture_output=True, text=True, check=True)
        self.assertNotIn("malformed", done.stderr)
        self.assertIn(f"{self.ours.summary[0]:,}  PROGRAM TOTALS", done.stdout)
        for name in "lines.c", "lines.h":
            found = re.search(rf"^-- Auto-annotated source: (?:\S*/)?{name}\n-+\n(.*?)^(?:-{{80}}|\Z)", done.stdout, re.M | re.S)
            self.assertIsNotNone(found, name)
            printed = Counter()
            for row in found[1].splitlines():
                if cost := re.match(r"\s*([\d,]+)\s{2}(?!=>)(.*)", row):
                    printed[cost[2].strip()] += int(cost[1].replace(",", ""))
            for (file, line), n in self.ours.line_costs({name}).items():
                text = self.lines[file, line]
                if list(self.lines.values()).count(text) == 1:
                    self.assertEqual(printed[text], n, text)


class Samples(unittest.TestCase):
    def test_samples_by_line_and_call(self):
        with tempfile.TemporaryDirectory(prefix="strobe-lines-") as at:
            ask(at, STROBE, "run", "-q", "-o", "x.db", "--", LINES, 100_000_000)
            whole = json.loads(ask(at, STROBE, "show", "--format", "json", "x.db"))
            if not whole["samples"]["stacks"]:
                self.skipTest("no sample was taken")
            ours = File(ask(at, STROBE, "export", "--to", "callgrind", "x.db"))
            functions = csv.DictReader(io.StringIO(ask(at, STROBE, "show", "--table", "functions", "--format", "csv", "x.db")))
            leaf = next(row for row in functions if row["function"] == "leaf")
            self.assertEqual(sorted(ours.events), ["Ir", "Samples"])
            self.assertEqual(ours.functions["leaf", "Samples"], int(leaf["samples"]))
            self.assertEqual(ours.functions["leaf", "Ir"], int(leaf["instructions"]))
            self.assertEqual(sum(n for (_, event), n in ours.functions.items() if event == "Ir"), whole["instructions"])
            if not whole["samples"]["stacks_cut"]:
                self.assertEqual(ours.inclusive["twice", "leaf"], int(leaf["samples_total"]), "divided among two calls, and kept")


unittest.main(argv=sys.argv[:1])
