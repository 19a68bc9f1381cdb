#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares steps of the analysis with slow implementations of the text in docs/annotations.md, on drawn records.

usage: test_reference.py STROBE"""
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE = os.path.abspath(sys.argv.pop(1))
SHAPES = {"1": lambda x: 1.0, "x": lambda x: x, "x * log(x)": lambda x: x * math.log2(x) if x > 0 else 0.0, "x^2": lambda x: x * x}
CLASSES = [["1"], ["1", "x"], ["1", "x", "x * log(x)"], ["1", "x", "x^2"]]


def beta_fraction(a, b, x):
    """The continued fraction of the incomplete beta function (Lentz's method)."""
    tiny = 1e-300
    c, d = 1.0, 1 / max(abs(1 - (a + b) * x / (a + 1)), tiny)
    h = d
    for m in range(1, 500):
        for numerator in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1 / (1 + numerator * d or tiny)
            c = 1 + numerator / c or tiny
            h *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return h


def student_p(t, df):
    """The two-sided p-value of Student's distribution."""
    x = df / (df + t * t)
    front = math.exp(math.lgamma(df / 2 + 0.5) - math.lgamma(df / 2) - math.lgamma(0.5) + df / 2 * math.log(x) + 0.5 * math.log1p(-x)) if 0 < x < 1 else 0
    if x < (df / 2 + 1) / (df / 2 + 2.5):
        return front * beta_fraction(df / 2, 0.5, x) / (df / 2)
    return 1 - front * beta_fraction(0.5, df / 2, 1 - x) / 0.5


def solve(a, b):
    """Gauss's elimination with pivots; a is changed."""
    n = len(b)
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(a[r][i]))
        a[i], a[pivot], b[i], b[pivot] = a[pivot], a[i], b[pivot], b[i]
        for r in range(i + 1, n):
            f = a[r][i] / a[i][i]
            a[r] = [v - f * w for v, w in zip(a[r], a[i])]
            b[r] -= f * b[i]
    for i in reversed(range(n)):
        b[i] = (b[i] - sum(a[i][k] * b[k] for k in range(i + 1, n))) / a[i][i]
    return b


class Fit:
    """Least squares of y by shapes of x."""

    def __init__(self, x, y, shapes):
        self.shapes, n, p = shapes, len(y), len(shapes)
        rows = [[SHAPES[s](v) for s in shapes] for v in x]
        # Columns of similar size keep the normal equations exact enough.
        scale = [max(abs(row[k]) for row in rows) for k in range(p)]
        rows = [[v / s for v, s in zip(row, scale)] for row in rows]
        normal = [[sum(row[i] * row[k] for row in rows) for k in range(p)] for i in range(p)]
        right = [sum(row[i] * v for row, v in zip(rows, y)) for i in range(p)]
        b = solve([list(r) for r in normal], right)
        inverse = [solve([list(r) for r in normal], [float(i == k) for i in range(p)])[k] for k in range(p)]
        self.rss = sum((v - sum(c * w for c, w in zip(b, row))) ** 2 for row, v in zip(rows, y))
        self.sd = math.sqrt(self.rss / (n - p))
        self.b = [c / s for c, s in zip(b, scale)]
        self.se = [self.sd * math.sqrt(v) / s for v, s in zip(inverse, scale)]
        self.p = [student_p(c / e, n - p) for c, e in zip(self.b, self.se)]
        mean = sum(y) / n
        self.r2 = 1 - self.rss / sum((v - mean) ** 2 for v in y)
        self.bic = n * math.log(2 * math.pi) + n * math.log(self.rss / n) + n + (p + 1) * math.log(n)


class Unclear(Exception):
    """A decision is so near that rounding may change it."""


def eliminated(x, y, shapes):
    while True:
        fit, level = Fit(x, y, shapes), 0.01 / max(len(shapes) - 1, 1)
        if any(abs(p - level) < 1e-4 * level for p in fit.p[1:]):
            raise Unclear
        worst = max(range(1, len(shapes)), key=lambda k: fit.p[k], default=0)
        if not worst or fit.p[worst] < level:
            return fit
        shapes = shapes[:worst] + shapes[worst + 1:]


def chosen(x, y):
    """The model of one set of records: the class with the lowest BIC; classes above linear must lower that of lower ones by more than 10."""
    def is_low(fit):
        return set(fit.shapes) <= {"1", "x"}
    best = eliminated(x, y, CLASSES[0])
    for shapes in CLASSES[1:]:
        fit = eliminated(x, y, shapes)
        least = 10 if len(best.shapes) == 1 or (is_low(best) and not is_low(fit)) else 0
        if fit.shapes != best.shapes and abs(best.bic - fit.bic - least) < 1e-6:
            raise Unclear
        if best.bic - fit.bic > least:
            best = fit
    return best


class Reference(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="strobe-reference-")
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)

    def analysed(self, header, rows):
        (self.place / "r.csv").write_text(header + "\n" + "".join(",".join(map(repr, row)) + "\n" for row in rows), encoding="utf-8")
        done = subprocess.run([STROBE, "annotate", "--format", "json", "r.csv"], cwd=self.place, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["annotations"][0]

    def near(self, a, b, digits=1e-7):
        self.assertLessEqual(abs(a - b), digits * max(abs(a), abs(b)), (a, b))

    def test_student(self):
        # Exact values: with one degree of freedom it is Cauchy's distribution, with two it is algebraic.
        for t in (0.1, 0.7, 1, 3, 30):
            self.near(student_p(t, 1), 1 - 2 * math.atan(t) / math.pi, 1e-9)
            self.near(student_p(t, 2), 1 - t / math.sqrt(2 + t * t), 1e-9)

    def test_classes(self):
        rng, compared, classes = random.Random(11), 0, set()
        laws = [lambda x: 500, lambda x: 20 + 3 * x, lambda x: x * math.log2(x), lambda x: 10 + x * x / 20, lambda x: 2 * x + x * x / 50]
        for i in range(60):
            law, noise = laws[i % len(laws)], rng.choice([1, 5, 20])
            x = [float(rng.randrange(2, 200)) for _ in range(rng.choice([20, 60, 150]))]
            y = [law(v) + rng.gauss(0, noise) for v in x]
            try:
                want = chosen(x, y)
            except Unclear:
                continue
            models = self.analysed("y,x", zip(y, x))["models"]
            if len(models) > 1 or models[0]["selection"] != "plain" or "x" in models[0]["sd"]:
                continue  # divided, or with an uneven spread: other steps follow
            model, = models
            self.assertEqual([t["term"] for t in model["terms"]], want.shapes, (i, want.bic))
            for term, b, se in zip(model["terms"], want.b, want.se):
                self.near(term["coefficient"], b)
                self.near(term["se"], se)
            self.near(float(model["sd"]), want.sd)
            if len(want.shapes) > 1:
                self.near(model["r2"], want.r2)
            compared += 1
            classes.add(model["class"])
        self.assertGreaterEqual(compared, 40)
        self.assertEqual(classes, {"constant", "linear", "nlogn", "quadratic"})

    def test_classes_of_equal_features(self):
        # A feature belongs to the first preferred one with |r| >= 0.9; all columns of a file are preferred by the lengths of their names.
        rng = random.Random(12)

        def correlation(a, b):
            m, n = sum(a) / len(a), sum(b) / len(b)
            up = sum((v - m) * (w - n) for v, w in zip(a, b))
            return up / math.sqrt(sum((v - m) ** 2 for v in a) * sum((w - n) ** 2 for w in b))
        for _ in range(10):
            base = [[rng.random() for _ in range(80)] for _ in range(2)]
            names = ["a", "bb", "ccc", "dddd", "eeeee"]
            features = [base[0], base[1]]
            for _ in names[2:]:
                source, weight = rng.choice(base), rng.choice([0.1, 0.5, 1.0])
                features.append([v + weight * (rng.random() - 0.5) for v in source])
            y = [10 * v + 7 * w + 0.01 * rng.gauss(0, 1) for v, w in zip(*base)]
            groups = {}
            for name, values in zip(names, features):
                for first, others in groups.items():
                    if abs(correlation(values, features[names.index(first)])) >= 0.9:
                        others.append(name)
                        break
                else:
                    groups[name] = []
            got = self.analysed("y," + ",".join(names), zip(y, *features))
            self.assertEqual(len(got["models"]), 1)
            for feature in got["features"]:
                self.assertEqual(feature["also"], groups[feature["name"]])
            self.assertEqual({f["name"] for f in got["features"]} & {"a", "bb"}, {"a", "bb"})

    def test_shares_of_contracts(self):
        # Clopper and Pearson's ends are where the sums of the binomial distribution are 0.025.
        def tail(k, n, p):
            return sum(math.comb(n, i) * p ** i * (1 - p) ** (n - i) for i in range(k, n + 1))
        rng = random.Random(13)
        for _ in range(12):
            n, bound = rng.randrange(5, 60), rng.uniform(0, 1)
            rows = [(rng.random(), 1) for _ in range(n)]
            (self.place / "r.csv").write_text("y,x\n" + "".join(f"{y!r},{x}\n" for y, x in rows), encoding="utf-8")
            (self.place / "c").write_text(f"y(r) <= {bound!r} @p50\n", encoding="utf-8")
            done = subprocess.run([STROBE, "annotate", "--contracts", "c", "--format", "json", "--function", "r", "r.csv"], cwd=self.place,
                                  capture_output=True, text=True, timeout=120, check=False)
            one, = json.loads(done.stdout)["contracts"]
            within = sum(y <= bound for y, _ in rows)
            self.assertEqual((one["records"], one["above"]), (n, n - within))
            low, high = one["share"]
            if within:
                self.assertAlmostEqual(tail(within, n, low), 0.025, places=6)
            else:
                self.assertEqual(low, 0)
            if within < n:
                self.assertAlmostEqual(1 - tail(within + 1, n, high), 0.025, places=6)
            else:
                self.assertEqual(high, 1)
            verdict = "broken" if high < 0.5 else "kept" if low >= 0.5 else "cannot tell"
            self.assertEqual((one["verdict"], done.returncode), (verdict, {"kept": 0, "broken": 1, "cannot tell": 3}[verdict]))


if __name__ == "__main__":
    unittest.main()
