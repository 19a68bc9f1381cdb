#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""strobe model from outside: test_command.py STROBE."""
import json
import math
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE = os.path.abspath(sys.argv.pop(1))
ALL = ["constant", "logarithmic", "linear", "nlogn", "quadratic", "cubic", "power", "exponential"]
SQUARES = "n,time\n" + "".join(f"{n},{3 * n * n + (-1) ** n * 0.5}\n" for n in range(1, 21))


class Model(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="strobe-model-")
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)

    def file(self, text, name="points.csv"):
        (self.place / name).write_text(text, encoding="utf-8")
        return name

    def strobe(self, *words, **more):
        return subprocess.run([STROBE, "model", *words], cwd=self.place, capture_output=True, text=True, timeout=60, **more)

    def printed(self, *words, **more):
        done = self.strobe(*words, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def read(self, *words, **more):
        got = json.loads(self.printed("--format", "json", *words, **more))
        self.assertEqual(got["strobe"], {"version": 1, "model": 1})
        self.assertEqual(len(got["subjects"]), 1)
        return got["subjects"][0]

    def error(self, code, text, *words, **more):
        done = self.strobe(*words, **more)
        self.assertEqual((done.returncode, done.stderr, done.stdout), (code, f"strobe: {text}\n", ""))


class Files(Model):
    """The same points in every form that a file may have."""

    def test_forms(self):
        rows = [(n, 2 * n + 1) for n in range(1, 9)]
        forms = [
            "n,time\n" + "".join(f"{x},{y}\n" for x, y in rows),
            "n;time\n" + "".join(f"{x};{y}\n" for x, y in rows),
            "n\ttime\r\n" + "".join(f"{x}\t{y}\r\n" for x, y in rows),
            "  n   time  \n" + "".join(f"  {x} \t {y}  \n" for x, y in rows),
            '"n", "time"\n# a comment\n\n' + "".join(f'"{x}", {y}\n' for x, y in rows),
            "n,time,note\n" + "".join(f'{x},{y},"a, ""b"""\n' for x, y in rows),
            "\ufeffn,time\n" + "".join(f"{x},{y}\n" for x, y in rows),
        ]
        for form in forms:
            got = self.read("--csv", self.file(form))
            self.assertEqual((got["x"], got["y"], got["rows_left_out"]), ("n", "time", 0), form)
            self.assertEqual(got["answer"]["model"], "linear", form)
            self.assertEqual([m["points"] for m in got["models"]], [8] * 8, form)

    def test_columns(self):
        name = self.file("a,b,c\n" + "".join(f"{i},{i * i},{7 * i}\n" for i in range(1, 9)))
        self.assertEqual(self.read("--csv", name)["answer"]["model"], "power")
        self.assertEqual(self.read("--csv", name, "-y", "c")["answer"]["model"], "linear")
        self.assertEqual(self.read("--csv", name, "--x", "3", "--y", "1")["models"][2]["coeffs"][1]["value"], 1 / 7)
        without = self.file("".join(f"{i} {i * 5}\n" for i in range(1, 9)))
        got = self.read("--csv", without, "--x", "2", "--y", "1")
        self.assertEqual((got["x"], got["y"], got["models"][0]["points"]), ("x", "y", 8))

    def test_missing_values(self):
        got = self.read("--csv", self.file("n,time\n1,2\n2,\n3,NA\n4,8\nnan,3\n5,10\n6,12\n7,14\n"))
        self.assertEqual((got["rows_left_out"], got["models"][0]["points"]), (3, 5))

    def test_standard_input(self):
        got = self.read("--csv", "-", input=SQUARES)
        self.assertEqual((got["file"], got["answer"]["model"]), ("-", "power"))

    def test_wrong_files(self):
        self.error(125, "cannot read 'none': No such file or directory", "--csv", "none")
        self.error(125, "empty has no line with columns", "--csv", self.file("\n# nothing\n", "empty"))
        self.error(125, "one has one column only: a model needs two, x and y", "--csv", self.file("n\n1\n", "one"))
        self.error(125, "line 3 of bad: '2x' is not a number", "--csv", self.file("n,t\n1,1\n2,2x\n", "bad"))
        self.error(125, "line 2 of short has 1 column, and 2 are needed", "--csv", self.file("n,t\n1\n", "short"))
        self.error(125, "a model needs at least 3 points, and there are 2", "--csv", self.file("n,t\n1,1\n2,2\n", "few"))
        self.error(125, "a model needs at least 3 points, and there are 0", "--csv", self.file("n,t\n", "few"))
        self.error(125, "line 2 of inf: 'inf' is not a number", "--csv", self.file("n,t\ninf,1\n", "inf"))
        self.error(2, "bad has no column 't2'; its first line has 2 columns, the first of them 'n'", "--csv", "bad", "--x", "t2")
        self.error(2, "nine has no column '9'; its first line has 2 columns, without names", "--csv", self.file("1 2\n", "nine"), "--x", "9")
        self.error(125, "cannot read '.': Is a directory", "--csv", ".")


class Result(Model):
    def test_json(self):
        got = self.read("--csv", self.file(SQUARES), "--at", "10,40", "--level", "90")
        self.assertEqual([m["model"] for m in got["models"]], ALL)
        self.assertEqual((got["function"], got["level"], got["points_compared"]), (None, 0.9, 20))
        self.assertAlmostEqual(sum(m["weight"] for m in got["models"]), 1)
        self.assertEqual(got["answer"]["model"], "power")
        self.assertEqual(got["answer"]["plausible"], ["power"])
        self.assertEqual(got["best_by_r_square"], max(got["models"], key=lambda m: m["r_square"])["model"])
        low, high = got["exponent"]["interval"]
        self.assertTrue(low < 2 < high and high - low < 0.01)
        self.assertIsNone(got["exponent"]["offset"])
        power = got["models"][ALL.index("power")]
        self.assertEqual((power["x_start"], power["x_end"], power["left_out"], power["method"], power["uid"]), (1, 20, 0, "full", "time"))
        self.assertEqual([c["name"] for c in power["coeffs"]], ["b0", "b1"])
        b0, b1 = (c["value"] for c in power["coeffs"])
        self.assertTrue(abs(b0 - 3) < 0.05 and abs(b1 - 2) < 0.01)
        self.assertEqual([p["x"] for p in power["predictions"]], [10, 40])
        for prediction in power["predictions"]:
            self.assertTrue(math.isclose(prediction["y"], b0 * prediction["x"] ** b1, rel_tol=1e-9))
            self.assertTrue(prediction["point"][0] < prediction["curve"][0] < prediction["y"] < prediction["curve"][1] < prediction["point"][1])

    def test_levels_nest(self):
        name = self.file(SQUARES)
        width = []
        for level in "50", "95", "99":
            low, high = self.read("--csv", name, "--level", level)["models"][2]["coeffs"][1]["interval"]
            width.append(high - low)
        self.assertTrue(width[0] < width[1] < width[2])

    def test_kinds(self):
        got = self.read("--csv", self.file(SQUARES), "--kind", "linear,quadratic", "-k", "constant")
        self.assertEqual([m["model"] for m in got["models"]], ["constant", "linear", "quadratic"])
        self.assertEqual((got["answer"]["model"], got["exponent"]), ("quadratic", None))

    def test_exact_values(self):
        """0.5 + 1.5 x leaves 0.5, -1, 0.5 of 1, 1, 4."""
        got = self.read("--csv", self.file("0 1\n1 1\n2 4\n"), "--kind", "linear")
        model = got["models"][0]
        self.assertEqual([round(c["value"], 12) for c in model["coeffs"]], [0.5, 1.5])
        self.assertAlmostEqual(model["r_square"], 0.75)
        self.assertIsNone(model["aicc"])
        self.assertEqual(got["answer"]["plausible"], [])

    def test_text(self):
        text = self.printed("--csv", self.file(SQUARES), "--at", "100")
        lines = text.splitlines()
        self.assertEqual(lines[0], "time by n of points.csv: 20 points, n from 1 to 20")
        self.assertEqual(lines[1], "  answer:    power: time changes with a power of n")
        self.assertRegex(lines[2], r"^  exponent:  time ~ n\^2 \(1\.99\d* to 2(\.00\d*)?\)$")
        self.assertEqual(lines[4].split(), ["AICc", "weight", "r^2", "cross-val.", "s", "model", "y"])
        self.assertEqual(len(re.findall(r"  \*  \w", text)), 1)
        self.assertIn("power: b0 x^b1 (from, to: 95 % intervals)", text)
        self.assertIn("power at these x, with 95 % bands of the curve and of a new point", text)

    def test_answers(self):
        flat = "".join(f"{x} {100 + (-1) ** x * 0.1}\n" for x in range(1, 21))
        self.assertIn("  answer:    constant: y does not depend on x; over all x it changes by ", self.printed("--csv", self.file(flat)))
        noisy = "".join(f"{x} {100 + (-1) ** x * 90}\n" for x in range(1, 21))
        self.assertIn("  answer:    cannot tell: ", self.printed("--csv", self.file(noisy)))
        few = self.printed("--csv", self.file("1 1\n2 2\n3 4\n"))
        self.assertIn("  answer:    cannot tell: too few points to choose a kind\n", few)
        zero = self.printed("--csv", self.file("".join(f"{x} {3 * x + 1 + x % 2 * 0.01}\n" for x in range(-2, 18))))
        self.assertIn("  answer:    linear: y changes with x\n", zero)
        self.assertIn("  3 points with x of 0 or less do not count where kinds are compared\n", zero)

    def test_control_characters(self):
        text = self.printed("--csv", self.file("a\x1b[31m,b\n1,1\n2,2\n3,3\n"))
        self.assertNotIn("\x1b", text)


class Profiles(Model):
    """Series of strobe time, with values that follow a law."""

    def measured(self, name, law, sizes=(5,), series="wall"):
        subprocess.run([STROBE, "time", "-q", "-w", "0", "-r", str(len(sizes)), "--size", "1", "-o", name, "--", "true"],
                       cwd=self.place, check=True, timeout=60)
        db = sqlite3.connect(self.place / name)
        which, = db.execute("select id from series where metric = ?", (series,)).fetchone()
        rows = [row for row, in db.execute("select id from measurement where series = ? order by id", (which,))]
        for row, size in zip(rows, sizes):
            db.execute("update measurement set value = ?, size = ? where id = ?", (law(size), size, row))
        db.commit()
        db.close()
        return name

    def test_one(self):
        name = self.measured("a.db", lambda n: 500 + 50 * n + n % 3, range(1, 25))
        got = self.read(name, "--y", "wall")
        self.assertEqual((got["file"], got["function"], got["x"], got["y"]), ("a.db", "true", "size", "wall"))
        self.assertEqual((got["answer"]["model"], got["models"][2]["points"], got["models"][2]["uid"]), ("linear", 24, "true"))
        self.assertEqual(self.read(name, "--y", "wall", "--of", "tr*")["answer"], got["answer"])
        by_order = self.read(name, "--y", "wall", "--x", "sequence")
        self.assertEqual((by_order["x"], by_order["answer"]["model"]), ("sequence", "linear"))
        self.assertEqual(self.read(name, "--y", "wall", "--x", "repetition")["models"][0]["x_end"], 24)
        text = self.printed(name, "--y", "wall")
        self.assertTrue(text.startswith("true, wall (ns) by size of a.db: 24 points, size from 1 to 24\n  answer:    linear: wall changes with size\n"))

    def test_several_profiles_are_one_series(self):
        names = [self.measured(f"{n}.db", lambda n: 3 * n * n + n % 2, [n]) for n in range(1, 13)]
        got = self.read(*names, "--y", "wall")
        self.assertEqual((got["models"][0]["points"], got["models"][0]["x_start"], got["models"][0]["x_end"]), (12, 1, 12))
        self.assertEqual(got["answer"]["model"], "power")
        self.assertTrue(self.printed(*names, "--y", "wall").startswith("true, wall (ns) by size of 1.db and 11 other files: 12 points"))

    def test_all_series(self):
        name = self.measured("a.db", lambda n: 50 * n + n % 3, range(1, 25))
        text = self.printed(name)
        self.assertIn("true, wall (ns) by size of a.db: 24 points", text)
        self.assertIn("true, peak memory: not modelled: all points have one x, 1: nothing can follow from it\n", text)
        got = json.loads(self.printed(name, "--format", "json"))
        self.assertEqual([s["y"] for s in got["subjects"]], ["wall"])

    def test_wrong(self):
        name = self.measured("a.db", lambda n: n, range(1, 5))
        self.error(2, "true has no feature 'length'; --x takes sequence, size, repetition, exit", name, "--x", "length", "--y", "wall")
        self.error(2, "no measurements of a.db fit --of nothing --y wall; strobe show a.db lists them", name, "--of", "nothing", "--y", "wall")
        self.error(2, "--csv reads a text file: leave out the profile a.db", name, "--csv", "x")
        self.error(2, "--csv reads a text file: leave out --of", "--of", "f", "--csv", "x")
        self.error(125, "all points have one x, 1: nothing can follow from it", name, "--y", "user")
        subprocess.run([STROBE, "run", "-q", "-t", "bbcount", "-o", "b.db", "--", "true"], cwd=self.place, check=True, timeout=60)
        self.error(2, "b.db has no repeated measurements to model; strobe time records some, and --csv reads points from a text file", "b.db")


class Noise(Model):
    ROWS = "".join(f"{n} {2 * n * n * (1 + 0.1 * math.sin(n * 7))}\n" for n in range(1, 41))

    def test_kinds_of_noise(self):
        name = self.file(self.ROWS)
        for option, noise in ("auto", "proportional"), ("proportional", "proportional"), ("additive", "additive"):
            self.assertEqual(self.read("--csv", name, "--noise", option)["noise"], noise)
        self.assertIn("\n  y scatters in proportion to itself: s is that where y is ", self.printed("--csv", name))
        low, high = self.read("--csv", name)["exponent"]["interval"]
        self.assertTrue(low < 2 < high)

    def test_zero_is_no_share(self):
        self.assertEqual(self.read("--csv", self.file("0 0\n" + self.ROWS), "--noise", "proportional")["noise"], "additive")


class Ways(Model):
    STEP = "".join(f"{n} {(100 if n <= 20 else 300) + n % 3 * 0.1}\n" for n in range(1, 41))

    def subjects(self, *words):
        return json.loads(self.printed("--format", "json", *words))["subjects"]

    def test_bisection(self):
        name = self.file(self.STEP)
        got = self.subjects("--csv", name, "--way", "bisection")
        self.assertEqual([(s["answer"]["model"], s["models"][0]["x_start"], s["models"][0]["x_end"]) for s in got],
                         [("constant", 1, 20), ("constant", 21, 40)])
        self.assertEqual({m["method"] for s in got for m in s["models"]}, {"bisection"})
        text = self.printed("--csv", name, "--way", "bisection")
        self.assertIn("  part 1 of 2 by bisection\n", text)
        self.assertIn("  part 2 of 2 by bisection\n", text)

    def test_interval(self):
        got = self.subjects("--csv", self.file(self.STEP), "--way", "interval", "--parts", "4")
        self.assertEqual([s["models"][0]["x_start"] for s in got], [1, 11, 21, 31])

    def test_all_points(self):
        for way in "iterative", "initial-guess":
            got, = self.subjects("--csv", self.file(SQUARES), "--way", way, "--seed", "7")
            self.assertEqual([(m["points"], m["method"]) for m in got["models"]], [(20, way)])

    def test_wrong(self):
        self.error(2, "--way takes full, iterative, initial-guess, interval or bisection, not 'all'", "--csv", "x", "--way", "all")
        self.error(2, "--parts takes a number from 2 to 1000, not '1'", "--csv", "x", "--parts", "1")


class Smooth(Model):
    SPECS = ["regressogram:bins=4", "moving:window=3", "kernel:bandwidth=2,kernel=tricube", "loess:span=0.5"]

    def test_json(self):
        words = [word for spec in self.SPECS for word in ("--smooth", spec)]
        got = self.read("--csv", self.file(SQUARES), *words, "--at", "10.5")["smooth"]
        self.assertEqual([m["model"] for m in got], ["regressogram", "moving", "kernel", "loess"])
        self.assertEqual([m["parameters"] for m in got],
                         ["bins=4,average=mean", "average=mean,window=3,shape=boxcar,place=centred,min=1", "bandwidth=2,kernel=tricube,degree=1",
                          "span=0.5,degree=1"])
        self.assertEqual((len(got[0]["bucket_stats"]), got[1]["window_width"], got[2]["bandwidth"]), (4, 3, 2))
        for model in got:
            self.assertEqual((len(model["curve"]), model["curve"][0]["x"], model["curve"][-1]["x"], model["points"]), (101, 1, 20, 20))
            at, = model["predictions"]
            self.assertTrue(at["point"][0] < at["curve"][0] < at["y"] < at["curve"][1] < at["point"][1], model)
        self.assertAlmostEqual(got[1]["predictions"][0]["y"], sum(3 * n * n for n in (9, 10, 10, 11, 11, 12)) / 6, delta=0.4)
        self.assertEqual(got[0]["bucket_stats"][0], sum(3 * n * n + (-1) ** n * 0.5 for n in range(1, 6)) / 5)

    def test_text(self):
        text = self.printed("--csv", self.file(SQUARES), "-s", "kernel", "--at", "10")
        self.assertIn("without a formula (degrees: of freedom that the curve takes)\n", text)
        self.assertIn("kernel at these x, with 95 % bands of the curve and of a new point\n", text)

    def test_wrong(self):
        self.error(2, "--smooth takes regressogram, moving, kernel or loess, not 'splines'", "--csv", "x", "-s", "splines")
        many = "".join(f"{n} {n}\n" for n in range(5001))
        self.error(125, "--smooth takes at most 5,000 points, and there are 5,001", "--csv", self.file(many), "-s", "loess")


class Usage(Model):
    def test_mistakes(self):
        self.error(2, "no points to model: strobe model PROFILE..., or strobe model --csv FILE")
        self.error(2, "--kind takes constant, logarithmic, linear, nlogn, quadratic, cubic, power or exponential, not 'square'",
                   "--csv", "x", "--kind", "linear,square")
        self.error(2, "--at takes numbers that are separated by commas, not '1e'", "--csv", "x", "--at", "3,1e")
        for level in "0", "100", "many", "95%":
            self.error(2, f"--level takes percents from 1 to 99.9999, not '{level}'", "--csv", "x", "--level", level)
        self.error(2, "--noise takes auto, additive or proportional, not 'white'", "--csv", "x", "--noise", "white")
        self.error(2, "no format 'xml'; the formats are text, json", "--csv", "x", "--format", "xml")

    def test_help(self):
        self.assertIn("usage: strobe model ", self.printed("--help"))


if __name__ == "__main__":
    unittest.main()
