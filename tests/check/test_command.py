#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""strobe check from outside, with profiles whose truth is planted: test_command.py STROBE."""
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE = os.path.abspath(sys.argv.pop(1))


class Check(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="strobe-check-")
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)

    def perun(self, name, functions, kind="time", unit="us"):
        """A profile of Perun: functions has lists of amounts, or of pairs (size, amount), by name."""
        resources, types = {}, {}
        for at, (function, amounts) in enumerate(functions.items()):
            pairs = [a if isinstance(a, tuple) else (i + 1, a) for i, a in enumerate(amounts)]
            resources[str(at)] = {"amount": [a for _, a in pairs], "structure-unit-size": [x for x, _ in pairs]}
            types[str(at)] = {"uid": function, "type": "mixed", "subtype": kind}
        data = {"origin": "", "header": {"type": "mixed", "units": {"mixed(time delta)": unit}, "cmd": "prog", "args": "", "workload": "w"},
                "collector_info": {"name": "trace", "params": {}}, "resources": resources, "resource_type_map": types}
        (self.place / name).write_text(json.dumps(data), encoding="utf-8")
        return name

    def strobe(self, *words):
        return subprocess.run([STROBE, "check", *words], cwd=self.place, capture_output=True, text=True, timeout=60)

    def read(self, *words):
        done = self.strobe("--format", "json", *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        got = json.loads(done.stdout)
        self.assertEqual(got["strobe"], {"version": 1, "tool": "check"})
        return got

    def changes(self, *words):
        return {c["function"]: c["change"] for c in self.read(*words)["changes"]}

    def error(self, code, text, *words):
        done = self.strobe(*words)
        self.assertEqual((done.returncode, done.stderr, done.stdout), (code, f"strobe: {text}\n", ""))

    def runs(self, name, n, seed, **factors):
        """n profiles of a program of 40 functions with noise of 1 %; some cost a multiple."""
        noise = random.Random(seed)
        files = []
        for run in range(n):
            functions = {}
            for i in range(40):
                function = f"f{i}"
                calls, cost = factors.get(function, (1, 1))
                functions[function] = [100 / (i + 1) * cost * noise.gauss(1, 0.01) for _ in range(10 * calls)]
            files.append(self.perun(f"{name}-{run}.perf", functions))
        return files


class Runs(Check):
    """The default method on repeated runs."""

    def test_planted_in_cost_and_calls(self):
        base = self.runs("base", 8, 1)
        for factors, want in (({"f2": (1, 2)}, ("f2", "Degradation")), ({"f0": (1, 1.2)}, ("f0", "Degradation")),
                              ({"f3": (5, 1)}, ("f3", "SevereDegradation")), ({"f1": (1, 0.8)}, ("f1", "Optimization"))):
            target = self.runs("target", 8, 2, **factors)
            got = self.read(*base, "vs", *target)
            self.assertEqual([(c["function"], c["change"]) for c in got["changes"]], [want], factors)
            change, (calls, cost) = got["changes"][0], factors[want[0]]
            self.assertAlmostEqual(change["relative_rate"], calls * cost - 1, delta=0.02)
            self.assertTrue(change["interval"][0] <= change["rate"] <= change["interval"][1])
            self.assertLessEqual(change["q"], 0.05)
            self.assertAlmostEqual(change["confidence"], 1 - change["q"], places=8)
            self.assertEqual((change["calls_from"], change["calls_to"]), (10, 10 * calls))
            self.assertEqual(got["total"]["change"][:5], "Total")
            self.assertEqual(got["groups"][0]["base_profiles"], 8)

    def test_nothing_planted(self):
        base, target = self.runs("base", 8, 3), self.runs("target", 8, 4)
        got = self.read(*base, "vs", *target)
        self.assertEqual(got["changes"], [])
        self.assertEqual(got["total"]["change"], "NoChange")
        self.assertEqual(got["groups"][0]["unchanged"] + got["groups"][0]["unknown"], 40)
        done = self.strobe("--exit-code", *base, "vs", *target)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("no change is reported", done.stdout)

    def test_new_and_gone(self):
        base, target = self.runs("base", 8, 5), self.runs("target", 8, 6)
        for files, name, other in ((target, "born", "f0"), (base, "lost", "f0")):
            for file in files:
                data = json.loads((self.place / file).read_text(encoding="utf-8"))
                data["resources"]["x"] = {"amount": [500, 500], "structure-unit-size": [1, 2]}
                data["resource_type_map"]["x"] = {"uid": name, "type": "mixed", "subtype": "time"}
                (self.place / file).write_text(json.dumps(data), encoding="utf-8")
        self.assertEqual(self.changes(*base, "vs", *target), {"born": "NotInBaseline", "lost": "NotInTarget"})
        self.assertEqual(self.changes("--smallest", "50", *base, "vs", *target), {})

    def test_too_few(self):
        base, target = self.runs("base", 3, 7), self.runs("target", 3, 8, f0=(1, 3))
        got = self.read("--all", *base, "vs", *target)
        first = next(c for c in got["changes"] if c["function"] == "f0")
        self.assertEqual((first["change"], first["cause"], first["p"]), ("Unknown", "too few runs", None))
        done = self.strobe("--exit-code", *base, "vs", *target)
        self.assertIn("too few runs; 4 of each version", done.stdout)
        self.assertEqual(self.strobe("--exit-code", "--of", "f0", *base, "vs", *target).returncode, 3)

    def test_options(self):
        base, target = self.runs("base", 8, 1), self.runs("target", 8, 2, f2=(1, 2))
        self.assertEqual(self.strobe("--exit-code", *base, "vs", *target).returncode, 1)
        self.assertEqual(self.strobe(*base, "vs", *target).returncode, 0)
        self.assertEqual(self.changes("--cutoff", "50", *base, "vs", *target), {})
        self.assertEqual(self.changes("--of", "f2", *base, "vs", *target), {"f2": "Degradation"})
        self.assertEqual(self.changes("--of", "f[34]", *base, "vs", *target), {})
        self.assertEqual(len(self.changes("--all", *base, "vs", *target)), 40)
        self.assertEqual(self.changes("--alpha", "0.0001", *base, "vs", *target), {})
        text = self.strobe("--format", "markdown", *base, "vs", *target).stdout
        self.assertIn("### base-0.perf and 7 more (8 profiles) to target-0.perf and 7 more (8 profiles), by distribution\n", text)
        self.assertRegex(text, r"\| Degradation \| time \| [^|]+ \| [^|]+ \| \+\d+\.\d % \([^|]+\) \| [^|]+ \| q [^|]+ \| 10 \| f2 \|")

    def test_folders(self):
        for side, seed, factors in (("base", 1, {}), ("target", 2, {"f2": (1, 2)})):
            (self.place / side).mkdir()
            for file in self.runs(side, 8, seed, **factors):
                (self.place / file).rename(self.place / side / file)
        self.assertEqual(self.changes("base", "target"), {"f2": "Degradation"})
        (self.place / "empty").mkdir()
        self.error(2, "the folder empty has no profiles", "base", "empty")


class Errors(Check):
    def test_command_line(self):
        base = self.perun("base.perf", {"f": [1, 2, 3]})
        self.error(2, "3 names do not say which belong to which version: strobe check BASE... vs TARGET...", base, base, base)
        self.error(2, "strobe check compares two versions: name profiles before and after 'vs'", base, "vs")
        self.error(2, "strobe check compares two versions: strobe check BASE TARGET, or strobe check BASE... vs TARGET...", base)
        self.error(2, "--alpha takes percents from 0.0001 to 50, not 'x'", "--alpha", "x", base, base)
        self.error(2, "no format 'xml'; the formats are text, markdown and json", "--format", "xml", base, base)
        self.assertEqual(self.strobe("--method", "magic", base, base).returncode, 2)

    def test_profiles(self):
        base = self.perun("base.perf", {"f": [1, 2, 3]})
        other = self.perun("other.perf", {"g": [1, 2, 3]})
        self.error(125, "base.perf and other.perf have no location and metric in common: are they of the same program and collector?", base, other)
        self.error(125, "nothing that base.perf and base.perf have in common fits --metric m; strobe show FILE lists what is in a profile",
                   "--metric", "m", base, base)
        done = self.strobe(base, "missing.db")
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertRegex(done.stderr, r"^strobe: there is no file 'missing.db', and no store: [^\n]+\n$")
        (self.place / "broken.perf").write_text("{", encoding="utf-8")
        self.assertEqual(self.strobe(base, "broken.perf").returncode, 125)

    def test_help(self):
        done = self.strobe("--help")
        self.assertEqual(done.returncode, 0)
        self.assertTrue(re.match(r"usage: strobe check \[options\] \[BASE\] \[TARGET\]\n", done.stdout))


if __name__ == "__main__":
    unittest.main()
