#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""strobe check with profiles in which changes are planted: test_command.py STROBE."""
import contextlib
import json
import math
import os
import random
import re
import sqlite3
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


LAWS = {"constant": lambda x: 100.0, "logarithmic": lambda x: 50 + 20 * math.log(x), "linear": lambda x: 20 + 2.0 * x,
        "nlogn": lambda x: 10 + x * math.log(x), "quadratic": lambda x: 10 + 0.05 * x * x}
CURVES = ["integral", "linear-regression", "polynomial-regression", "fast-check"]
ALARMS = ("Degradation", "SevereDegradation", "MaybeDegradation")


class Methods(Check):
    """One function whose cost follows from a size, in single runs, with noise of 1 %."""

    def law(self, name, law, seed, factor=1.0, calls=1, top=200, where=None, shuffled=False):
        noise = random.Random(seed)
        pairs = [(x, law(x) * noise.gauss(1, 0.01) * (factor if not where or where(x) else 1))
                 for _ in range(calls) for x in range(1, top + 1)]
        if shuffled:
            noise.shuffle(pairs)
        return self.perun(name, {"f": pairs})

    def one(self, method, base, target, *more):
        got = self.read("--all", "--method", method, *more, base, target)
        self.assertEqual((got["method"], len(got["changes"])), (method, 1))
        return got["changes"][0]

    def test_curves_of_each_law(self):
        for number, law in enumerate(LAWS.values()):
            base = self.law("base.perf", law, number)
            same = self.law("same.perf", law, number + 100)
            worse = self.law("worse.perf", law, number + 200, factor=1.5)
            for method in CURVES:
                self.assertEqual(self.one(method, base, same)["change"], "NoChange", (method, number))
                change = self.one(method, base, worse)
                self.assertEqual(change["change"], "Degradation", (method, number))
                self.assertAlmostEqual(change["relative_rate"], 0.5, delta=0.06)
                self.assertTrue(change["interval"][0] < change["rate"] < change["interval"][1])
                self.assertEqual(self.one(method, worse, base)["change"], "Optimization", (method, number))

    def test_integral(self):
        law = LAWS["linear"]
        base = self.law("base.perf", law, 1)
        self.assertEqual(self.one("integral", base, self.law("t.perf", law, 2, factor=1.18))["change"], "MaybeDegradation")
        # The same law over another range of x is no change: the area is that of the common range.
        longer = self.law("long.perf", law, 3, top=600)
        self.assertEqual(self.one("integral", base, longer)["change"], "NoChange")
        change = self.one("integral", base, self.law("t.perf", law, 4, factor=2), "--models", "smooth")
        self.assertEqual(change["change"], "Degradation")
        self.assertAlmostEqual(change["relative_rate"], 1, delta=0.05)
        apart = self.perun("apart.perf", {"f": [(x, 1.0 * x) for x in range(1000, 1100)]})
        change = self.one("integral", base, apart)
        self.assertEqual((change["change"], change["cause"]), ("Unknown", "the two versions have no range of x in common"))
        self.assertIn("\ncannot tell of 1 location: the two versions have no range of x in common\n", self.strobe("--method", "integral", base, apart).stdout)

    def test_areas_are_exact(self):
        # The area under ln x from 1 to 100 is 100 ln 100 - 99, that of twice the curve twice as much.
        base = self.perun("base.perf", {"f": [(x, math.log(x)) for x in range(1, 101)]})
        double = self.perun("double.perf", {"f": [(x, 2 * math.log(x)) for x in range(1, 101)]})
        change = self.one("integral", base, double)
        area = 100 * math.log(100) - 99
        self.assertAlmostEqual(change["from"], area, delta=1e-6 * area)
        self.assertAlmostEqual(change["to"], 2 * area, delta=1e-6 * area)

    def test_order(self):
        base = {name: self.law(f"{name}.perf", law, number) for number, (name, law) in enumerate(LAWS.items())}
        for number, (before, now) in enumerate((("constant", "linear"), ("linear", "quadratic"), ("constant", "quadratic"),
                                                ("logarithmic", "linear"), ("nlogn", "quadratic"))):
            change = self.one("best-model-order", base[before], base[now])
            self.assertEqual(change["change"], "Degradation", (before, now))
            self.assertGreater(change["rate"], 0)
            self.assertEqual(self.one("best-model-order", base[now], base[before])["change"], "Optimization")
        for number, (name, law) in enumerate(LAWS.items()):
            again = self.law("again.perf", law, number + 50, factor=2)
            change = self.one("best-model-order", base[name], again)
            self.assertEqual(change["change"], "NoChange", name)
        steeper = self.perun("steeper.perf", {"f": [(x, x ** 1.8) for x in range(1, 201)]})
        flatter = self.perun("flatter.perf", {"f": [(x, x ** 1.3) for x in range(1, 201)]})
        change = self.one("best-model-order", flatter, steeper)
        self.assertEqual((change["change"], change["from"], change["to"]), ("Degradation", "power", "power"))
        self.assertAlmostEqual(change["rate"], 0.5, delta=0.01)

    def test_average(self):
        base = self.law("base.perf", LAWS["constant"], 1)
        self.assertEqual(self.one("average-amount", base, self.law("same.perf", LAWS["constant"], 2))["change"], "NoChange")
        change = self.one("average-amount", base, self.law("dear.perf", LAWS["constant"], 3, factor=2.5))
        self.assertEqual((change["change"], change["type"], change["confidence_kind"]), ("Degradation", "cost of a call", "factor"))
        self.assertAlmostEqual(change["confidence"], 2.5, delta=0.05)
        change = self.one("average-amount", base, self.law("slow.perf", LAWS["constant"], 4, factor=1.9))
        self.assertEqual(change["change"], "MaybeDegradation")
        # A thousand times as many calls, each as cheap as before.
        many = self.perun("many.perf", {"f": [100.0] * 20000})
        few = self.perun("few.perf", {"f": [100.0] * 20})
        change = self.one("average-amount", few, many)
        self.assertEqual((change["change"], change["type"]), ("Degradation", "cost of all calls"))
        self.assertEqual((change["calls_from"], change["calls_to"], change["relative_rate"]), (20, 20000, 999))
        self.assertEqual(self.one("average-amount", many, few)["change"], "Optimization")

    def test_degree_of_the_difference(self):
        base = self.perun("base.perf", {"f": [(x, 1000 + 10.0 * x + 0.1 * (x % 2)) for x in range(1, 201)]})
        for kind, extra in (("constant", lambda x: 900), ("linear", lambda x: 9 * x), ("quadratic", lambda x: 0.5 * x * x)):
            target = self.perun("t.perf", {"f": [(x, 1000 + 10 * x + extra(x) + 0.1 * (x % 2)) for x in range(1, 201)]})
            change = self.one("polynomial-regression", base, target)
            self.assertEqual((change["change"], change["type"]), ("Degradation", kind))
            if kind != "quadratic":
                self.assertEqual(self.one("linear-regression", base, target)["type"], kind)
        self.assertEqual(self.one("fast-check", base, base)["change"], "NoChange")

    def test_local(self):
        law = LAWS["linear"]
        base = self.law("base.perf", law, 1, calls=5)
        self.assertEqual(self.one("local-statistics", base, self.law("same.perf", law, 2, calls=5))["change"], "NoChange")
        local = self.law("local.perf", law, 3, factor=2, calls=5, where=lambda x: 100 <= x < 140)
        change = self.one("local-statistics", base, local)
        self.assertEqual((change["change"], change["type"]), ("Degradation", "local"))
        low, high = change["x"]
        self.assertTrue(85 <= low <= 101 and 139 <= high <= 155, change["x"])
        self.assertIn("x from", self.strobe("--method", "local-statistics", base, local).stdout)
        # The windows do not depend on the order of the measurements.
        again = [self.law(f"{name}-shuffled.perf", law, seed, calls=5, shuffled=True, **more)
                 for name, seed, more in (("base", 1, {}), ("local", 3, {"factor": 2, "where": lambda x: 100 <= x < 140}))]
        shuffled = self.one("local-statistics", *again)
        self.assertEqual([shuffled[key] for key in ("change", "type", "x", "from", "to")], [change[key] for key in ("change", "type", "x", "from", "to")])
        change = self.one("local-statistics", base, self.law("all.perf", law, 4, factor=0.5, calls=5))
        self.assertEqual((change["change"], change["type"]), ("Optimization", "everywhere"))

    def test_outliers(self):
        base = [self.runs(f"base{i}", 1, i)[0] for i in range(8)]
        same = [self.runs(f"same{i}", 1, i + 50)[0] for i in range(8)]
        target = [self.runs(f"target{i}", 1, i + 100, f3=(1, 3))[0] for i in range(8)]
        method = ["--method", "exclusive-time-outliers"]
        self.assertEqual(self.changes(*method, *base, "vs", *same), {})
        self.assertEqual(self.changes(*method, *base, "vs", *target), {"f3": "SevereDegradation"})
        # One run each: the difference is out of line, but nothing says that it is no noise.
        self.assertEqual(self.changes(*method, base[0], target[0]), {})
        got = self.read("--all", *method, "--of", "f3", base[0], target[0])["changes"][0]
        self.assertEqual((got["change"], got["cause"]), ("Unknown", "too few runs"))

    def test_one_side_only(self):
        base = self.perun("base.perf", {"f": [1, 2, 3], "old": [4, 5, 6]})
        target = self.perun("target.perf", {"f": [1, 2, 3], "new": [4, 5, 6]})
        for method in (*CURVES, "best-model-order", "local-statistics", "average-amount"):
            got = self.changes("--method", method, base, target)
            self.assertEqual((got["old"], got["new"]), ("NotInTarget", "NotInBaseline"), method)


class Creeping(Check):
    def test_first_with_last(self):
        """Nine steps of 4 %: each is below 10 %, all of them are 42 %."""
        files = [self.perun(f"v{step}.perf", {"f": [(x, 100 * 1.04 ** step) for x in range(1, 51)]}) for step in range(10)]
        for before, now in zip(files, files[1:]):
            self.assertEqual(self.changes("--method", "integral", before, now), {})
        change = self.read("--method", "integral", files[0], files[9])["changes"][0]
        self.assertEqual(change["change"], "Degradation")
        self.assertAlmostEqual(change["relative_rate"], 1.04 ** 9 - 1, places=6)


class Choice(Check):
    """Several methods in one call, and rules that choose them."""

    def rules(self, text, name="rules.yaml"):
        (self.place / name).parent.mkdir(exist_ok=True)
        (self.place / name).write_text(text, encoding="utf-8")
        return name

    def chosen(self, *words):
        return [(g["method"], g["rule"]) for g in self.read(*words)["groups"]]

    def pair(self):
        return (self.perun("base.perf", {"f": [(x, 10.0 * x) for x in range(1, 51)]}), self.perun("target.perf", {"f": [(x, 20.0 * x) for x in range(1, 51)]}))

    def test_several_methods(self):
        base, target = self.pair()
        got = self.read("--method", "integral,average-amount,best-model-order,integral", "--all", base, target)
        self.assertEqual((got["method"], got["methods"]), ("integral", ["integral", "average-amount", "best-model-order"]))
        self.assertEqual([(c["method"], c["change"], c["group"]) for c in got["changes"]],
                         [("integral", "Degradation", 0), ("average-amount", "Degradation", 1), ("best-model-order", "NoChange", 2)])
        self.assertEqual([(g["method"], g["rule"], g["listed"]) for g in got["groups"]], [(m, None, 1) for m in got["methods"]])
        text = self.strobe("--method", "integral,average-amount", base, target).stdout
        self.assertEqual(re.findall(r"^base.perf \(1 profile\) to target.perf \(1 profile\), by (.*)$", text, re.M), ["integral", "average-amount"])
        # One method that finds a degradation suffices for the exit code.
        self.assertEqual(self.strobe("--exit-code", "--method", "best-model-order", base, target).returncode, 0)
        self.assertEqual(self.strobe("--exit-code", "--method", "best-model-order,integral", base, target).returncode, 1)
        done = self.strobe("--method", "integral,", base, target)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, "^strobe: .*method.*\n$")

    def test_first_and_all(self):
        base, target = self.pair()
        by_size = "  - {feature: size, methods: [integral, average-amount]}\n"
        by_tool = "  - {collector: trace, methods: [fast-check, integral]}\n"
        for rules, first, both in ((by_size + by_tool, [("integral", 1), ("average-amount", 1)], [("integral", 1), ("average-amount", 1), ("fast-check", 2)]),
                                   (by_tool + by_size, [("fast-check", 1), ("integral", 1)], [("fast-check", 1), ("integral", 1), ("average-amount", 2)])):
            for apply, want in (("", first), ("apply: first\n", first), ("apply: all\n", both)):
                self.assertEqual(self.chosen("--rules", self.rules(f"{apply}rules:\n{rules}"), base, target), want)

    def test_conditions(self):
        base, target = self.pair()
        for condition, fits in (("command: prog", True), ("command: other", False), ("workload: w*", True), ("workload: v", False), ("collector: t?ace", True),
                                ("feature: snapshot", False), ("metric: time", True), ("metric: memory", False), ("profiles: 1", True), ("profiles: 2", False),
                                ("metric: time, feature: size", True), ("metric: time, feature: address", False)):
            want = [("integral", 1)] if fits else [("distribution", None)]
            self.assertEqual(self.chosen("--rules", self.rules(f"rules: [{{{condition}, methods: integral}}]"), base, target), want, condition)
        # Both profiles have to meet a condition.
        data = json.loads((self.place / target).read_text(encoding="utf-8"))
        data["header"]["workload"] = "v"
        (self.place / target).write_text(json.dumps(data), encoding="utf-8")
        self.assertEqual(self.chosen("--rules", self.rules("rules: [{workload: w, methods: integral}]"), base, target), [("distribution", None)])

    def test_file_of_the_project(self):
        base, target = self.pair()
        self.rules("rules: [{methods: average-amount}]", ".strobe/check.yaml")
        text = self.strobe(base, target).stdout
        self.assertTrue(text.startswith("base.perf (1 profile) to target.perf (1 profile), by average-amount, as rule 1 of ./.strobe/check.yaml\n"), text)
        self.assertEqual(self.chosen("--method", "integral", base, target), [("integral", None)])
        self.assertEqual(self.chosen("--rules", self.rules("rules: [{methods: fast-check}]"), base, target), [("fast-check", 1)])

    def test_repository_that_cannot_be_opened(self):
        """Files are compared wherever they lie: without rules if git refuses the repository."""
        base, target = self.pair()
        (self.place / ".git").mkdir()
        self.assertEqual(self.chosen(base, target), [("distribution", None)])
        self.rules("rules: [{methods: average-amount}]", ".strobe/check.yaml")
        self.assertEqual(self.chosen(base, target), [("average-amount", 1)])

    def test_wrong_rules(self):
        base, target = self.pair()
        for text, cause in (("rules: [{methods: magic}]", "1:19: unknown method 'magic'; strobe-check(1) lists the methods"),
                            ("rules: [{feature: size}]", "1:9: a rule needs methods"),
                            ("rules: []", None),
                            ("apply: both\nrules: [{methods: integral}]", "1:8: apply is first or all, not 'both'"),
                            ("rules: [{features: size, methods: integral}]", "1:10: unknown key 'features' of a rule; did you mean 'feature'?"),
                            ("rules: [{profiles: 0, methods: integral}]", "1:20: profiles is a whole number from 1 to 1000000, not '0'")):
            want = f"rules.yaml:{cause}" if cause else "rules.yaml has no rules: add a list under 'rules'"
            self.error(2, want, "--rules", self.rules(text), base, target)
        self.error(2, "cannot read none.yaml: No such file or directory", "--rules", "none.yaml", base, target)
        self.error(2, "--method and --rules both choose the methods: leave out one of them", "--rules", "none.yaml", "--method", "integral", base, target)


class Machines(Check):
    """Files that were measured on machines that differ are compared, with a note."""

    def measured(self, name, change):
        file = self.place / name
        with open(self.place / "rows.csv", "w", encoding="utf-8") as rows:
            rows.write("metric,unit,function,value\n" + "wall,ns,f,100\n" * 8)
        subprocess.run([STROBE, "import", "-q", self.place / "rows.csv", "-o", file], check=True, timeout=60)
        with contextlib.closing(sqlite3.connect(file)) as db, db:
            db.execute(f"UPDATE run SET {change}")
        return name

    def note(self, base, target):
        got = self.read(base, target)["groups"][0]["machines"]
        text = self.strobe(base, target).stdout
        if got:
            self.assertTrue(text.endswith(f"\nthe profiles were not measured under the same conditions, which may cause changes: {got}\n"), text)
        else:
            self.assertNotIn("same conditions", text)
        return got

    def test_note(self):
        old = self.measured("old.db", "cpu = 'Old', kernel = '6.1', cores = 4")
        self.assertEqual(self.note(old, self.measured("new.db", "cpu = 'New', kernel = '6.1', cores = 8")), "cpu: Old and New; cores: 4 and 8")
        self.assertIsNone(self.note(old, self.measured("same.db", "cpu = 'Old', kernel = '6.1', cores = 4")))
        # A value that one of the profiles does not have is no difference.
        self.assertIsNone(self.note(old, self.measured("unknown.db", "cpu = '', kernel = '', cores = 0")))
        self.assertIsNone(self.note(old, self.measured("part.db", "cpu = '', kernel = '6.1', cores = 4")))

    def test_profiles_of_one_side(self):
        """The machines of all profiles are compared, also of those of one side."""
        old = self.measured("old.db", "cpu = 'Old'")
        new = self.measured("new.db", "cpu = 'New'")
        got = self.read(old, new, "vs", old)["groups"][0]
        self.assertEqual((got["machines"], got["base_profiles"]), ("cpu: Old and New", 2))


class Errors(Check):
    def test_command_line(self):
        base = self.perun("base.perf", {"f": [1, 2, 3]})
        self.error(2, "3 names need the word vs between both versions: strobe check BASE... vs TARGET...", base, base, base)
        self.error(2, "strobe check compares two versions: name profiles before and after 'vs'", base, "vs")
        self.error(2, "strobe check compares two versions: strobe check BASE TARGET, or strobe check BASE... vs TARGET...", base)
        self.error(2, "--alpha takes percents from 0.0001 to 50, not 'x'", "--alpha", "x", base, base)
        self.error(2, "no format 'xml'; the formats are text, markdown and json", "--format", "xml", base, base)
        self.assertEqual(self.strobe("--method", "magic", base, base).returncode, 2)

    def test_profiles(self):
        base = self.perun("base.perf", {"f": [1, 2, 3]})
        other = self.perun("other.perf", {"g": [1, 2, 3]})
        self.error(125, "base.perf and other.perf have no location and metric in common: are they of the same program and collector?", base, other)
        self.error(125, "nothing that base.perf and base.perf have in common fits --metric m; strobe show FILE lists the contents of a profile",
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


class Bounds(Check):
    """A cost of 0 or more cannot fall by more than 100 %."""

    def interval(self, before, after, *words):
        a, b = self.perun("a.perf", {"f": before}), self.perun("b.perf", {"f": after})
        found, = self.read("--method", "average-amount", "--all", *words, a, b)["changes"]
        text = self.strobe("--method", "average-amount", "--all", "--format", "text", *words, a, b).stdout
        return found["interval"], found["from"], found["rate"], text

    def test_ends(self):
        (low, high), base, rate, text = self.interval([1, 1, 1, 1, 1000], [1, 2, 1, 2, 1])
        self.assertEqual(low, -base)
        self.assertGreater(high, rate)
        self.assertIn("(-100.0 to ", text)

    def test_inside(self):
        """An interval within the bound stays as it is."""
        (low, high), base, rate, _ = self.interval([100, 101, 102], [50, 51, 52])
        self.assertGreater(low, -base)
        self.assertAlmostEqual(rate - low, high - rate)

    def test_negative_costs(self):
        """What can be negative has no such bound."""
        (low, high), base, rate, _ = self.interval([-1, 1, 1, 1, 1000], [1, 2, 1, 2, 1])
        self.assertLess(low, -base)
        self.assertAlmostEqual(rate - low, high - rate)


if __name__ == "__main__":
    unittest.main()
