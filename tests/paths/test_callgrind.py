#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`strobe paths` against callgrind: how often each function of a real program was called, without tolerance.

usage: test_callgrind.py STROBE

The program is strobe itself, with SQLite and all: it has symbols. Functions are compared by address, so names do not matter, and
only those in the program's own file, since libc picks other variants of its functions under valgrind. Left out are, by rule:
functions that jump to their own first instruction, which is a call for callgrind and a loop for us, and the few that the C
library's start files bring along, which are entered in ways that callgrind does not take for calls."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

STROBE = Path(sys.argv.pop(1)).resolve()
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
# One address for all calls of a function, and recursions that are not given other names.
CALLGRIND = ["valgrind", "--tool=callgrind", "--dump-instr=yes", "--dump-line=no", "--separate-recs=1", "--skip-direct-rec=no",
             "--run-libc-freeres=no", "--compress-strings=no", "--compress-pos=no", "--callgrind-out-file=calls"]
START_FILES = {"_start", "_init", "_fini", "register_tm_clones", "deregister_tm_clones", "__do_global_dtors_aux", "frame_dummy"}
LEAST = 500  # functions that must have been called, for this to say anything


def run(folder, *words):
    done = subprocess.run([str(word) for word in words], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=200,
                          stdin=subprocess.DEVNULL)
    if done.returncode:
        raise AssertionError(f"exit code {done.returncode}: {words}\n{done.stderr[-1000:]}")
    return done.stdout


def calls_in_callgrind(file):
    """{address of the function: calls}."""
    found, image, called = Counter(), "", None
    for line in file.read_text().splitlines():
        key, _, value = line.partition("=")
        if key == "ob":
            image = value
        elif key == "cob":
            called = value
        elif key == "calls":
            times, target = value.split()[:2]
            if (called or image) == str(STROBE):
                found[int(target, 16)] += int(times)
            called = None
    return found


def calls_in_strobe(text):
    document = json.loads(text)
    found = Counter()
    for thread in document["threads"]:
        for node in thread["kccf"]:
            if node.get("image") == str(STROBE):
                found[node["offset"]] += node["count"]
    return found


def functions(program):
    """{address: names}, and the addresses of those that jump to where they begin."""
    names, begin, loops = {}, None, set()
    for line in run("/", "nm", "--defined-only", program).splitlines():
        address, kind, name = line.split(" ", 2)
        if kind in "tTwWi":
            names.setdefault(int(address, 16), set()).add(name)
    for line in run("/", "objdump", "-d", "--no-show-raw-insn", program).splitlines():
        if head := re.match(r"([0-9a-f]{16}) <", line):
            begin = int(head[1], 16)
        elif (jump := re.search(r"\tj\w+\s+([0-9a-f]+) <", line)) and int(jump[1], 16) == begin:
            loops.add(begin)
    return names, loops


class Callgrind(unittest.TestCase):
    @unittest.skipUnless(shutil.which("valgrind") and shutil.which("objdump"), "no valgrind, or no objdump, here")
    def test_calls(self):
        place = tempfile.TemporaryDirectory(prefix="strobe-callgrind-")
        self.addCleanup(place.cleanup)
        run(place.name, STROBE, "paths", "-q", "-o", "of.db", "--", "/bin/true")
        program = [STROBE, "paths", "--from", "of.db", "--format", "json"]
        printed = run(place.name, *CALLGRIND, "--", *program)
        run(place.name, STROBE, "paths", "-q", "-k", "0", "--kccf", "--unroll-recursion", "--format", "json", "-o", "ours.json", "--", *program)
        self.assertEqual(printed, run(place.name, *program))
        theirs = calls_in_callgrind(Path(place.name, "calls"))
        ours = calls_in_strobe(Path(place.name, "ours.json").read_text())
        names, loops = functions(STROBE)
        compared = {a for a in theirs.keys() | ours.keys() if a not in loops and not names.get(a, set()) & START_FILES}
        self.assertGreater(len(compared), LEAST)
        different = {"/".join(sorted(names.get(a, {hex(a)}))): (theirs[a], ours[a]) for a in compared if theirs[a] != ours[a]}
        self.assertEqual(different, {})


if __name__ == "__main__":
    unittest.main(verbosity=2)
