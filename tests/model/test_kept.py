#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Models that a profile keeps, from outside: test_kept.py STROBE."""
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from contextlib import closing
from pathlib import Path

STROBE = os.path.abspath(sys.argv.pop(1))
LAWS = {"square": lambda n: 3 * n * n + 5, "line": lambda n: 7 * n + 100}
PERUN_KINDS = ["constant", "logarithmic", "linear", "quadratic", "power", "exponential"]


def perun(laws):
    rows = [{"amount": law(n) + (-1) ** n * 0.5, "uid": name, "type": "time", "structure-unit-size": n} for name, law in laws.items() for n in range(1, 41)]
    return {"header": {"type": "time", "units": {"time": "us"}}, "global": {"resources": rows}}


class Kept(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="strobe-kept-")
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)
        self.profile("a", LAWS)

    def strobe(self, *words):
        return subprocess.run([STROBE, *words], cwd=self.place, capture_output=True, text=True, timeout=60)

    def printed(self, *words):
        done = self.strobe(*words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def error(self, code, text, *words):
        done = self.strobe("model", *words)
        self.assertEqual((done.returncode, done.stderr, done.stdout), (code, f"strobe: {text}\n", ""))

    def profile(self, name, laws):
        (self.place / f"{name}.perf").write_text(json.dumps(perun(laws)), encoding="utf-8")
        self.printed("import", "-q", "-o", f"{name}.db", f"{name}.perf")

    def sql(self, text, name="a.db"):
        with closing(sqlite3.connect(self.place / name)) as db:
            rows = db.execute(text).fetchall()
            db.commit()
            return rows


class Profiles(Kept):
    def test_save_prints_what_it_keeps(self):
        fitted = self.printed("model", "a.db")
        self.assertEqual(self.printed("model", "--save", "a.db"), fitted)
        self.assertEqual(self.printed("model", "a.db"), fitted)

    def test_kept_is_the_fit(self):
        """All numbers with all digits, and bands at any x."""
        self.printed("model", "--save", "a.db")
        for more in [], ["--at", "7,50"], ["--of", "line"], ["--y", "time", "--x", "size"]:
            fitted = json.loads(self.printed("model", "--format", "json", *more, "a.db"))
            kept = json.loads(self.printed("model", "--kept", "--format", "json", *more, "a.db"))
            for subject in kept["subjects"]:
                how = subject.pop("kept")
                self.assertRegex(how.pop("source"), r"^strobe \d")
                self.assertRegex(how.pop("time"), r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
                self.assertEqual(how, {"kinds": "constant,logarithmic,linear,nlogn,quadratic,cubic,power,exponential", "noise": "auto", "parts": 3, "seed": 1})
            self.assertEqual(kept, fitted)
        lines = self.printed("model", "--kept", "--of", "line", "--at", "50", "a.db").splitlines(keepends=True)
        self.assertRegex(lines[1], r"^  kept:      by strobe \S+ on 20\d\d-\d\d-\d\d at \d\d:\d\d UTC\n$")
        self.assertEqual("".join(lines[:1] + lines[2:]), self.printed("model", "--of", "line", "--at", "50", "a.db"))

    def test_parts(self):
        self.printed("model", "--save", "--of", "square", "--way", "interval", "--parts", "4", "a.db")
        self.assertEqual(self.sql("SELECT segment, segments, method, parts FROM model_answer"), [(i, 4, "interval", 4) for i in range(4)])
        fitted = json.loads(self.printed("model", "--of", "square", "--way", "interval", "--parts", "4", "--format", "json", "a.db"))["subjects"]
        kept = json.loads(self.printed("model", "--kept", "--format", "json", "a.db"))["subjects"]
        self.assertEqual([k["models"] for k in kept], [f["models"] for f in fitted])

    def test_others_stay(self):
        self.printed("model", "--save", "a.db")
        self.printed("model", "--save", "--of", "line", "--kind", "linear", "a.db")
        self.printed("model", "--save", "--of", "line", "a.db")
        self.assertEqual(self.sql("SELECT uid, kinds = 'linear', best FROM model_answer"), [("square", 0, "quadratic"), ("line", 1, "linear"), ("line", 0, "linear")])
        self.assertEqual(self.sql("SELECT count(*), count(DISTINCT answer) FROM model"), [(8 + 1 + 8, 3)])

    def test_nothing_else_changes(self):
        before = json.loads(self.printed("show", "--format", "json", "a.db"))
        self.printed("model", "--save", "a.db")
        after = json.loads(self.printed("show", "--format", "json", "a.db"))
        models = after.pop("models")
        self.assertEqual(after, before)
        self.assertEqual([(m["function"], m["answer"]["model"]) for m in models], [("square", "quadratic"), ("line", "linear")])
        self.assertIn("models that the profile keeps (strobe model --kept prints all of them)\n"
                      "  square, time by size: quadratic: time changes with size^2\n"
                      "  line, time by size: linear: time changes with size\n", self.printed("show", "a.db"))

    def test_errors(self):
        self.error(2, "a.db keeps no models: strobe model --save a.db fits and keeps them", "--kept", "a.db")
        self.printed("model", "--save", "a.db")
        self.error(2, "a.db keeps no models that --of, --x and --y name; without these options, strobe model --kept prints all", "--kept", "--of", "x", "a.db")
        self.error(2, "--save fits models, and --kept fits none: use one of them", "--kept", "--save", "a.db")
        self.error(2, "--kept prints models as they were fitted: leave out --kind", "--kept", "--kind", "linear", "a.db")
        self.error(2, "--save takes one profile; 'b.db' is one too many", "--save", "a.db", "b.db")
        self.error(2, "--save needs a profile: a text file keeps no models", "--save", "--csv", "x")
        self.error(2, "--save is for models with a formula: leave out --smooth", "--save", "--smooth", "loess", "a.db")
        self.error(125, "cannot read nothing.db: No such file or directory", "--save", "nothing.db")
        before = (self.place / "a.db").read_bytes()
        (self.place / "a.db").chmod(0o444)
        self.error(125, "cannot keep models in a.db: the file is read-only; use chmod u+w, or a copy", "--save", "a.db")
        self.assertEqual((self.place / "a.db").read_bytes(), before)
        (self.place / "a.db").chmod(0o644)
        self.sql("UPDATE model SET kind = 'sine' WHERE id = 9")
        self.error(125, "a.db keeps models of line that this version cannot read: use the strobe that wrote them, or fit them again with --save",
                   "--kept", "a.db")
        self.assertIn("  line, time by size: this version cannot read the models\n", self.printed("show", "a.db"))

    def test_stored(self):
        self.strobe("init")
        self.printed("model", "--save", "a.db")
        name = re.match(r"[0-9a-f]{10} ", self.strobe("add", "a.db").stdout).group().strip()
        (self.place / "a.db").unlink()
        self.assertEqual(len(json.loads(self.printed("show", "--format", "json", name))["models"]), 2)
        self.assertEqual(len(json.loads(self.printed("model", "--kept", "--format", "json", name))["subjects"]), 2)
        self.error(2, f"{name} is stored, and what is stored never changes: write it to a file with strobe show {name} --extract FILE, "
                   "save the models there, and add the file again", "--save", name)


class Readers(Kept):
    def plant(self, name, kind, value):
        """A value that no fit gives shows who reads it."""
        self.sql(f"UPDATE model_coefficient SET value = {value} WHERE name = 'b0' AND model = (SELECT m.id FROM model m JOIN model_answer a "
                 f"ON m.answer = a.id WHERE uid = 'square' AND kind = '{kind}')", name)

    def caption(self):
        done = self.strobe("report", "-o", "page.html", "a.db")
        self.assertEqual(done.returncode, 0, done.stderr)
        page = (self.place / "page.html").read_text(encoding="utf-8")
        (self.place / "page.html").unlink()
        return re.search(r"The model is quadratic[^\"]*: b0 = (\S+)", page).group(1)

    def test_page(self):
        fitted = self.caption()
        self.printed("model", "--save", "a.db")
        self.assertEqual(self.caption(), fitted)
        self.plant("a.db", "quadratic", 12345)
        self.assertEqual(self.caption(), "12345")
        self.sql("UPDATE measurement SET value = value + 1 WHERE id = 1")
        self.assertNotEqual(self.caption(), "12345")  # other points, other models

    def test_check(self):
        def check(method, *more):
            return json.loads(self.printed("check", "--format", "json", "--all", "--method", method, *more, "a.db", "b.db"))
        self.profile("b", {"square": lambda n: 3 * n ** 3, "line": LAWS["line"]})
        methods = ["best-model-order", "integral", "linear-regression", "polynomial-regression", "fast-check", "local-statistics"]
        fitted = {m: check(m) for m in methods}
        self.assertEqual([f["groups"][0]["models_kept"] for f in fitted.values()], [0] * 6)
        self.printed("model", "--save", "a.db")
        self.printed("model", "--save", "--of", "square", "b.db")
        for method in methods:
            kept = check(method)
            self.assertEqual(kept["groups"][0].pop("models_kept"), 0 if method == "local-statistics" else 3)
            fitted[method]["groups"][0].pop("models_kept")
            self.close(kept, fitted[method])
        self.assertIn("3 models were read from the profiles, which keep them\n", self.printed("check", "--method", "integral", "a.db", "b.db"))
        self.assertEqual(check("integral", "--models", "smooth")["groups"][0]["models_kept"], 0)
        self.assertEqual(check("integral", "--x", "sequence")["groups"][0]["models_kept"], 0)
        self.plant("a.db", "quadratic", 1e9)
        change = next(c for c in check("integral")["changes"] if c["function"] == "square")
        self.assertGreater(change["from"], 30e9)

    def close(self, a, b):
        """Points are sorted before a fit: sums may differ in their last digits."""
        if isinstance(a, dict):
            self.assertEqual(a.keys(), b.keys())
            for key in a:
                self.close(a[key], b[key])
        elif isinstance(a, list):
            self.assertEqual(len(a), len(b))
            for x, y in zip(a, b):
                self.close(x, y)
        elif isinstance(a, float):
            self.assertAlmostEqual(a, b, delta=1e-6 * (1 + abs(b)))
        else:
            self.assertEqual(a, b)

    def test_other_options_are_not_used(self):
        self.printed("model", "--save", "--level", "90", "a.db")
        got = json.loads(self.printed("check", "--format", "json", "--method", "integral", "a.db", "a.db"))
        self.assertEqual(got["groups"][0]["models_kept"], 0)


class Perun(Kept):
    def models(self, name):
        return json.loads(self.printed("export", "--to", "perun", name)).get("models")

    def test_write_read_write(self):
        self.assertIsNone(self.models("a.db"))
        self.printed("model", "--save", "a.db")
        written = self.models("a.db")
        self.assertEqual([(m["uid"], m["model"]) for m in written], [(uid, kind) for uid in LAWS for kind in PERUN_KINDS])
        self.assertTrue(all(list(m) == ["uid", "model", "r_square", "x_start", "x_end", "method", "coeffs"] for m in written))
        fitted = {m["model"]: m for m in json.loads(self.printed("model", "--of", "square", "--format", "json", "a.db"))["subjects"][0]["models"]}
        for m in written[:len(PERUN_KINDS)]:
            mine = fitted[m["model"]]
            self.assertEqual((m["r_square"], m["x_start"], m["x_end"], m["method"]), (mine["r_square"], 1, 40, "full"))
            self.assertEqual(m["coeffs"], [{"name": c["name"], "value": c["value"]} for c in mine["coeffs"]])
        (self.place / "x.perf").write_text(self.printed("export", "--to", "perun", "a.db"), encoding="utf-8")
        self.printed("import", "-q", "-o", "x.db", "x.perf")
        self.assertEqual(self.models("x.db"), written)
        kept = json.loads(self.printed("model", "--kept", "--format", "json", "--at", "10", "x.db"))["subjects"]
        self.assertEqual([(k["function"], k["x"], k["y"], k["kept"]["source"]) for k in kept], [(uid, "size", "time", "Perun") for uid in LAWS])
        for m in kept[0]["models"]:
            self.assertEqual([c["value"] for c in m["coeffs"]], [c["value"] for c in fitted[m["model"]]["coeffs"]])
            self.assertEqual(m["r_square"], fitted[m["model"]]["r_square"])
        self.assertEqual(kept[0]["answer"], {"model": None, "plausible": [], "growth": None, "growth_interval": [None, None]})
        text = self.printed("model", "--kept", "--of", "line", "x.db")
        self.assertIn("line, time (us) by size of x.db: size from 1 to 40\n  kept:      by Perun\n  answer:    Perun has chosen none of the models\n", text)
        self.assertNotIn("nan", text)

    def test_mine_after_those_of_perun(self):
        theirs = [{"uid": "square", "model": "linear", "r_square": 0.9, "x_start": 1, "x_end": 40, "method": "initial_guess",
                   "coeffs": [{"name": "b0", "value": 1}, {"name": "b1", "value": 2.5}]},
                  {"uid": "square", "model": "regressogram", "bucket_stats": [1, 2], "r_square": 0.8}, "no model", {"model": "linear"},
                  {"uid": {"file": "a.c", "function": "line"}, "model": "new kind", "coeffs": [{"name": "b0", "value": 1}]}]
        (self.place / "p.perf").write_text(json.dumps(perun(LAWS) | {"models": theirs}), encoding="utf-8")
        self.printed("import", "-q", "-o", "p.db", "p.perf")
        self.assertEqual(self.sql("SELECT uid, method, kind FROM model_answer a JOIN model m ON m.answer = a.id", "p.db"),
                         [("square", "initial-guess", "linear"), ("a.c:line", "full", "new kind")])
        self.assertEqual(self.models("p.db"), theirs)
        self.printed("model", "--save", "--of", "line", "p.db")
        self.assertEqual(self.models("p.db")[:5], theirs)
        self.assertEqual([m["uid"] for m in self.models("p.db")[5:]], ["line"] * len(PERUN_KINDS))


if __name__ == "__main__":
    unittest.main()
