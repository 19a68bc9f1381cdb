#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`strobe paths --under F --calls G`: the contexts that are asked for, against the definition in docs/paths.md applied to all of them.

usage: test_choice.py STROBE FOLDER (with programs/NAME-WAY)"""

import json
import re
import subprocess
import sys
import tempfile
import unittest
from fnmatch import fnmatchcase
from pathlib import Path

import forest

STROBE = Path(sys.argv.pop(1)).resolve()
PROGRAMS = Path(sys.argv.pop(1)).resolve() / "programs"
RUNS = {
    "counts": (["--instructions", "--unroll-recursion", "--funcs", "main,f_*"], "counts-O0", "3", "1", "4"),
    "all": (["--time", "--unroll-recursion"], "counts-O0", "3", "1", "4"),
    "slabs": (["-k", "1", "--funcs", "main,f_*"], "counts-O0", "3", "1", "4"),
    "cycles": (["--unroll-recursion", "--images", "prog3-O0"], "prog3-O0"),
    "cxx": (["--funcs", "main,f_*,guard::*"], "exceptions-O0"),
    "blocks": (["-m", "inter", "--roll-loops", "--funcs", "main"], "counts-O0"),
}
OWN, TOTALS = ("count", "self_ns", "instructions"), {"total_ns": "self_ns", "total_instructions": "instructions"}


def setUpModule():
    place = tempfile.TemporaryDirectory(prefix="strobe-choice-")
    unittest.addModuleCleanup(place.cleanup)
    Choice.place = Path(place.name)


def plain(name):
    """Without the arguments; none here has brackets within."""
    return re.sub(r"\([^()]*\)$", "", name)


class Choice(unittest.TestCase):
    maxDiff = 2000
    place = None

    def strobe(self, *words, code=0):
        done = subprocess.run([STROBE, "paths", *words], cwd=self.place, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, done.stderr[-1000:])
        return done

    def json(self, run, *words):
        options, program, *arguments = RUNS[run]
        if not (self.place / f"{run}.db").exists():
            self.strobe("-q", "-o", f"{run}.db", *options, "--", PROGRAMS / program, *arguments)
        return json.loads(self.strobe("--from", f"{run}.db", "--format", "json", *words).stdout)

    def wanted(self, nodes, under, calls, below):
        """What is left of a forest."""
        left = []
        for node in nodes:
            def is_one(patterns, name=node["name"]):
                return any(fnmatchcase(name, pattern) or fnmatchcase(plain(name), pattern) for pattern in patterns)
            here = below or not under or is_one(under)
            children = self.wanted(node["children"], under, calls, here)
            leads = not calls or is_one(calls) or any(child["leads"] for child in children)
            if not children and not (here and leads):
                continue
            kept = {**node, "children": children, "leads": leads}
            for key in OWN:
                if key in node and not (here and leads):
                    kept[key] = 0
            for total, own in TOTALS.items():
                if total in node:
                    kept[total] = kept[own] + sum(child[total] for child in children)
            left.append(kept)
        return left

    def bare(self, nodes):
        return [{**{key: value for key, value in node.items() if key != "leads"}, "children": self.bare(node["children"])} for node in nodes]

    def check_choice(self, run, under, calls):
        words = (["--under", ",".join(under)] if under else []) + (["--calls", ",".join(calls)] if calls else [])
        want = []
        for thread in self.json(run)["threads"]:
            left = self.bare(self.wanted(thread["ksf"], under, calls, False))
            want += [{**thread, "ksf": left}] if left else []
        got = self.json(run, *words)
        self.assertEqual(got["threads"], want, words)
        self.assertEqual(got["thread_count"], len(want))
        return got

    def test_definition(self):
        for under, calls in ([["f_a"], []], [[], ["f_a"]], [["f_b"], ["f_leaf"]], [["f_down"], ["f_leaf"]], [["f_down"], ["f_down"]],
                             [["f_?", "f_thread"], ["f_leaf"]], [["f_leaf"], ["f_b"]]):
            self.check_choice("counts", under, calls)
            self.check_choice("all", under, calls)
        self.check_choice("counts", [], ["__root__"])
        self.check_choice("all", ["main"], ["*clone*"])
        self.check_choice("cycles", ["bar"], ["foo"])
        self.check_choice("cxx", [], ["guard::~guard"])
        got = self.check_choice("cxx", ["f_middle"], ["guard::*"])
        self.assertIn("guard::~guard()", json.dumps(got))

    def test_by_hand(self):
        text = self.strobe("--from", self.file("counts"), "--format", "folded", "--under", "f_down", "--calls", "f_leaf").stdout
        lines = [line.rsplit(" ", 1)[0] for line in text.splitlines()]
        self.assertEqual(lines, ["__root__;main;" + ";".join(["f_down"] * n) for n in range(1, 5)] + ["__root__;main;f_down;f_down;f_down;f_down;f_leaf"])
        got = self.json("counts", "--under", "f_b", "--join-threads")
        self.assertEqual((got["functions"], got["nodes_ksf"]), (3, 4))

    def test_list(self):
        """The list of functions is of the chosen contexts, too."""
        got = self.json("counts", "--under", "f_b", "--functions")["all_functions"]
        self.assertEqual({function["name"]: function["count"] for function in got}, {"f_b": 1, "f_leaf": 1})

    def file(self, run):
        self.json(run)
        return f"{run}.db"

    def test_callers(self):
        """The k-calling context forest is of the chosen contexts only."""
        got = self.json("counts", "--under", "f_b,f_thread", "--kccf", "--join-threads")["threads"][0]["kccf"]
        want = "f_thread:1(__root__:1) f_a:1(f_thread:1(__root__:1)) f_leaf:3(f_a:2(f_thread:2(__root__:2)) f_b:1(main:1(__root__:1))) f_b:1(main:1(__root__:1))"
        self.assertEqual({tree["name"]: self.plain(tree) for tree in got}, forest.plain(forest.read(want)))

    def plain(self, node):
        return node["count"], {child["name"]: self.plain(child) for child in node["children"]}

    def test_slabs(self):
        """With k = 1 a context is a function and its caller."""
        got = self.json("slabs", "--under", "main", "--calls", "f_b", "--join-threads")["threads"][0]["ksf"]
        self.assertEqual({tree["name"]: self.plain(tree) for tree in got}, {"main": (0, {"f_b": (1, {})})})

    def test_mistakes(self):
        self.json("blocks")
        self.assertEqual(self.strobe("--from", "blocks.db", "--under", "main", code=125).stderr,
                         "strobe: --under and --calls are about functions, and these are contexts of blocks: measure with --mode func\n")
        for option in "under", "calls":
            self.assertEqual(self.strobe("-m", "intra", "--roll-loops", f"--{option}", "f", "--", "true", code=125).stderr,
                             f"strobe: --{option} needs contexts of functions: leave out --mode intra, or choose functions with --funcs\n")
            self.assertEqual(self.strobe(f"--{option}", "f,,g", "--", "true", code=125).stderr, f"strobe: --{option} needs a name or a shell pattern\n")

    def test_unknown_names(self):
        """Those of an option of which nothing is known are a mistake; one among others is mentioned."""
        def sentence(option, name, near):
            return f"--{option} {name}: no function of that name was called{near}"
        for option in "under", "calls":
            for name, near in ("f_lef", "; did you mean 'f_leaf'?"), ("f_", "; did you mean 'f_a' or 'f_b'?"), \
                    ("f_q", "; did you mean 'f_a' or 'f_b'?"), ("zzzzzz", ""), ("f_q*", ""):
                done = self.strobe("--from", self.file("counts"), f"--{option}", name, code=125)
                self.assertEqual((done.stdout, done.stderr), ("", f"strobe: {sentence(option, name, near)}\n"))
        done = self.strobe("--from", "counts.db", "--under", "f_a,f_lef,f_q", "--format", "folded")
        self.assertEqual(done.stderr, f"strobe: {sentence('under', 'f_lef', '; did you mean ')}'f_leaf'?\nstrobe: {sentence('under', 'f_q', '; did you mean ')}'f_a' or 'f_b'?\n")
        self.assertEqual(done.stdout, self.strobe("--from", "counts.db", "--under", "f_a", "--format", "folded").stdout)
        self.assertIn("did you mean 'guard::~guard'?", self.strobe("--from", self.file("cxx"), "--under", "guard::guard", code=125).stderr)
        done = self.strobe("-o", "unknown.txt", "--funcs", "main,f_lef", "--calls", "mian", "--", PROGRAMS / "counts-O0", "3", "1")
        for note in "--funcs f_lef: no function of that name was loaded; did you mean 'f_leaf'?", sentence("calls", "mian", "; did you mean 'main'?"):
            self.assertIn(f"  note: {note}\n", done.stderr)

    def test_of_a_run(self):
        """The profile has everything, the rest what was asked for."""
        done = self.strobe("-o", "run.db", "--funcs", "main,f_*", "--under", "f_b", "--", PROGRAMS / "counts-O0", "3", "1")
        self.assertIn("__root__ > main > f_b > f_leaf", done.stderr)
        self.assertNotIn("f_a", done.stderr)
        self.assertIn("f_a", self.strobe("--from", "run.db").stdout)
        self.strobe("-q", "-o", "run.folded", "--funcs", "main,f_*", "--under", "f_b", "--", PROGRAMS / "counts-O0", "3", "1")
        self.assertEqual((self.place / "run.folded").read_text(), "__root__;main;f_b 1\n__root__;main;f_b;f_leaf 1\n")


if __name__ == "__main__":
    unittest.main()
