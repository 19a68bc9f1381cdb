#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""strobe plot cost, residuals and passed: pictures of records with known models. test_cost.py STROBE."""
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET
from pathlib import Path

STROBE = os.path.abspath(sys.argv.pop(1))
SVG = "{http://www.w3.org/2000/svg}"
HEADER = "#strobe-records,1\n#function,1,sort(int),/bin/sort\n#metric,1,time,ns\n#feature,1,n\n#feature,1,clock\n#feature,1,kind,category\n"


def wave(i):
    """A spread that is the same in each run."""
    return ((i * 7919) % 101 - 50) / 10


class Cost(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-cost-")
        self.addCleanup(folder.cleanup)
        self.at = Path(folder.name)

    def file(self, rows, name="r.txt", header=HEADER):
        (self.at / name).write_text(header + "".join("1," + ",".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
        return name

    def strobe(self, *words):
        return subprocess.run([STROBE, *words], cwd=self.at, capture_output=True, text=True, timeout=60)

    def draw(self, kind, *words):
        done = self.strobe("plot", kind, "-o", "p.svg", *words)
        self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", ""))
        return ET.parse(self.at / "p.svg").getroot()

    def error(self, code, text, *words):
        done = self.strobe("plot", *words)
        self.assertEqual((done.returncode, done.stderr, done.stdout), (code, f"strobe: {text}\n", ""))
        self.assertEqual(list(self.at.glob("*.svg")), [])

    def shapes(self, root, tag, word):
        return [e for e in root.iter(SVG + tag) if word in e.get("class", "").split()]

    def texts(self, root):
        return [e.text for e in root.iter(SVG + "text")]

    def hints(self, root):
        return [e.find(SVG + "title").text for e in self.shapes(root, "circle", "point")]

    def path(self, element):
        return [tuple(map(float, point)) for point in re.findall(r"(-?[\d.]+)[ ,](-?[\d.]+)", element.get("d"))]

    def law(self, n, c=1.0, kind="list", i=0):
        return (round(100 + 20 * n * c + wave(i), 3), n, c, kind)


class Panels(Cost):
    def test_points_line_and_band(self):
        rows = [self.law(n, i=n) for n in range(1, 61)]
        root = self.draw("cost", self.file(rows))
        self.assertEqual(len(self.shapes(root, "circle", "point")), 60)
        line, = self.shapes(root, "path", "line")
        band, = self.shapes(root, "path", "band")
        self.assertEqual((len(self.path(line)), len(self.path(band))), (65, 130))
        self.assertTrue(any(t.startswith("Norm(") and "* n, " in t for t in self.texts(root)), self.texts(root))
        self.assertTrue({"time of sort(int)", "n", "time"} <= set(self.texts(root)))
        # The line has the mean of the annotation at each x: it is straight, from the first to the last point.
        points = self.path(line)
        (x0, y0), (x1, y1) = points[0], points[-1]
        for x, y in points:
            self.assertAlmostEqual(y, y0 + (y1 - y0) * (x - x0) / (x1 - x0), delta=0.02)
        circles = [(float(e.get("cx")), float(e.get("cy"))) for e in self.shapes(root, "circle", "point")]
        self.assertAlmostEqual(x0, circles[0][0], delta=0.02)
        self.assertAlmostEqual(x1, circles[-1][0], delta=0.02)
        self.assertLess(max(abs(y - (y0 + (y1 - y0) * (x - x0) / (x1 - x0))) for x, y in circles), 3)

    def test_a_panel_for_each_condition(self):
        rows = [self.law(n, i=n) for n in range(1, 41)] + [(5 * n * n + 900 + wave(n), n, 1, "vector") for n in range(1, 41)]
        root = self.draw("cost", self.file(rows))
        self.assertTrue({'kind == "list"', 'kind == "vector"'} <= set(self.texts(root)), self.texts(root))
        self.assertEqual([len(self.shapes(root, *what)) for what in (("path", "line"), ("circle", "point"))], [2, 80])
        # Both panels have the same axes.
        self.assertEqual(self.texts(root).count("n"), 2)
        labels = [t for t in self.texts(root) if t.endswith(" us")]
        self.assertTrue(labels and all(labels.count(t) == 2 for t in labels), labels)

    def test_modes_have_colours(self):
        rows = [((500 if i % 4 == 0 else 100) + wave(i), i * 7 % 5, 1, "list") for i in range(200)]
        root = self.draw("cost", self.file(rows))
        points = self.shapes(root, "circle", "point")
        self.assertEqual(sorted(e.get("class") for e in points), ["point c0"] * 150 + ["point c1"] * 50)
        high = {e.get("class") for e in points if float(e.find(SVG + "title").text.rsplit(": ", 1)[1].split()[0]) > 300}
        self.assertEqual(high, {"point c1"})
        self.assertEqual(len(self.shapes(root, "path", "line")), 2)
        self.assertTrue({"model 1", "model 2"} <= set(self.texts(root)))
        hints = [e.find(SVG + "title").text for e in self.shapes(root, "path", "line")]
        self.assertEqual(hints, ["model 1, probability 0.75", "model 2, probability 0.25"])

    def test_a_line_for_each_level_of_a_second_feature(self):
        rows = [(100 + 20 * n * c + wave(17 * n + int(10 * c)), n, c, "list") for n in range(1, 61) for c in (1, 2, 4)]
        root = self.draw("cost", self.file(rows))
        hints = [e.find(SVG + "title").text for e in self.shapes(root, "path", "line")]
        self.assertEqual(hints, ["clock = 1", "clock = 2", "clock = 4"])
        self.assertTrue({"calls", "least clock", "median clock", "greatest clock"} <= set(self.texts(root)))
        # The slopes of the lines are in proportion to the clock.
        rises = []
        for line in self.shapes(root, "path", "line"):
            points = self.path(line)
            rises.append(points[0][1] - points[-1][1])
        self.assertAlmostEqual(rises[1] / rises[0], 2, delta=0.03)
        self.assertAlmostEqual(rises[2] / rises[0], 4, delta=0.06)
        root = self.draw("cost", "-x", "clock", "r.txt")
        hints = [e.find(SVG + "title").text for e in self.shapes(root, "path", "line")]
        self.assertEqual(hints, ["n = 1", "n = 31", "n = 60"])

    def test_without_a_model(self):
        file = self.file([self.law(n, i=n) for n in range(1, 31)])
        root = self.draw("cost", "--no-model", file)
        self.assertEqual((len(self.shapes(root, "path", "line")), len(self.shapes(root, "circle", "point"))), (0, 30))
        root = self.draw("cost", self.file([self.law(n) for n in range(1, 5)]))
        self.assertEqual(len(self.shapes(root, "circle", "point")), 4)
        self.assertIn("No model: sort(int) has 4 records with time, and a model needs 6: record more calls. ", self.texts(root))

    def test_many_calls_are_thinned(self):
        root = self.draw("cost", self.file([self.law(n % 50, i=n) for n in range(9000)]))
        self.assertEqual(len(self.shapes(root, "circle", "point")), 3000)
        self.assertTrue(any("3,000 of 9,000 calls are drawn." in t for t in self.texts(root)))

    def test_versions_beside_one_annotation(self):
        before = self.file([self.law(n, i=n) for n in range(1, 41)], "before.txt")
        after = self.file([(2 * y, *rest) for y, *rest in (self.law(n, i=n) for n in range(1, 41))], "after.txt")
        done = self.strobe("annotate", before, "-o", "a.ann")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        root = self.draw("cost", "--kept", "a.ann", before, after)
        self.assertTrue({"before.txt", "after.txt"} <= set(self.texts(root)))
        one, two = (self.path(e) for e in self.shapes(root, "path", "line"))
        self.assertEqual([y for _, y in one], [y for _, y in two])

    def test_files_have_the_same_axes(self):
        """Every file is drawn over the feature of the first one, even if another one would suit it better."""
        one = self.file([self.law(n, i=n) for n in range(1, 61)], "one.txt")
        two = self.file([(100 + 20 * n * c + wave(17 * n + c), n, c, "list") for n in range(1, 61) for c in (1, 2, 4)], "two.txt")
        root = self.draw("cost", one, two)
        # Only the second file has curves for levels of a second feature.
        self.assertTrue({"least clock", "median clock", "greatest clock"} <= set(self.texts(root)), self.texts(root))
        other = self.file([(100 + 20 * c + wave(17 * n + c), n % 7, c, "list") for n in range(1, 61) for c in range(1, 30, 3)], "other.txt")
        root = self.draw("cost", one, other)
        self.assertEqual(self.texts(root).count("n"), 2)
        second = [float(e.get("cx")) for e in self.shapes(root, "circle", "point")][60:]
        self.assertEqual(len({round(x, 1) for x in second}), 7)

    def test_columns(self):
        (self.at / "t.csv").write_text("time,n\n" + "".join(f"{3 * n + wave(n)},{n}\n" for n in range(1, 41)), encoding="utf-8")
        root = self.draw("cost", "t.csv")
        self.assertEqual(len(self.shapes(root, "circle", "point")), 40)


class Residuals(Cost):
    def test_distances(self):
        # The annotation is exact, so that the distances are known.
        (self.at / "a.ann").write_text("sort(int).time(n) { number n = n; Norm(100 + 20 * n, 3); }".replace("sort(int)", '"sort(int)"'))
        rows = [self.law(n, i=n) for n in range(1, 41)]
        root = self.draw("residuals", "--kept", "a.ann", self.file(rows))
        got = [float(h.split(": ")[1].split()[0]) for h in self.hints(root)]
        self.assertEqual(len(got), 40)
        for value, n in zip(got, range(1, 41)):
            self.assertAlmostEqual(value, wave(n), delta=0.501)  # times are shown in whole ns
        zero, = self.shapes(root, "path", "line")
        self.assertEqual(len({y for _, y in self.path(zero)}), 1)

    def test_without_a_model(self):
        self.error(125, "there are no distances without a model: sort(int) has 3 records with time, and a model needs 6: record more calls",
                   "residuals", self.file([self.law(n) for n in range(1, 4)]))
        self.error(125, "there are no distances without a model: leave out --no-model", "residuals", "--no-model", "r.txt")


class Passed(Cost):
    def test_shares(self):
        (self.at / "a.ann").write_text('"sort(int)".time(n) { number n = n; Norm(100 + 20 * n, 3); }')
        same = self.file([(100 + 20 * n, n, 1, "list") for n in range(1, 41)], "same.txt")
        half = self.file([(100 + 20 * n + (100 if n % 2 else 0), n, 1, "list") for n in range(1, 41)], "half.txt")
        root = self.draw("passed", "--kept", "a.ann", same, half)
        self.assertTrue({"same.txt", "half.txt"} <= set(self.texts(root)))
        lines = [self.path(e) for e in self.shapes(root, "path", "line")]
        self.assertEqual(len(lines), 2)
        left, right = lines[0][0][0], lines[0][-1][0]

        def rise(points):  # where the curve goes up, as a share of the axis
            return next((x - left) / (right - left) for (x, y), (_, up) in zip(points, points[1:]) if up < y - 1)
        self.assertAlmostEqual(rise(lines[0]), 1, delta=0.001)
        self.assertAlmostEqual(rise(lines[1]), 0.5, delta=0.001)

    def test_exact_counts(self):
        # A standard deviation of 0 predicts the value itself.
        (self.at / "a.ann").write_text('"sort(int)".time(n) { number n = n; Norm(24 * n, 0); }')
        root = self.draw("passed", "--kept", "a.ann", self.file([(24 * n + (n > 30), n, 1, "list") for n in range(1, 41)]))
        line, = self.shapes(root, "path", "line")
        points = self.path(line)
        left, right = points[0][0], points[-1][0]
        self.assertAlmostEqual(next((x - left) / (right - left) for (x, y), (_, up) in zip(points, points[1:]) if up < y - 1), 0.75, delta=0.001)

    def test_nothing_to_compare(self):
        (self.at / "a.ann").write_text("other.time(n) { number n = n; Norm(24 * n, 0); }")
        self.error(125, "no annotation with a spread is of a function and a metric of r.txt", "passed", "--kept", "a.ann", self.file([self.law(1)]))


class Wrong(Cost):
    def test_usage(self):
        self.error(2, "no records to draw: strobe plot cost RECORDS, which strobe annotate -o RECORDS makes", "cost")
        file = self.file([self.law(n) for n in range(1, 11)])
        self.error(2, "sort(int) has no feature 'm'; it has n", "cost", "-x", "m", file)
        self.error(2, "no function of r.txt fits 'g*'; there is sort(int), for example", "cost", "--of", "g*", file)
        self.error(2, "sort(int) of r.txt has no metric 'cpu'; it has time, for example", "cost", "--metric", "cpu", file)
        (self.at / "a.ann").write_text("other.time(n) { number n = n; Norm(24 * n, 0); }")
        self.error(2, "a.ann has no annotation sort(int).time", "cost", "--kept", "a.ann", file)
        self.error(125, "cannot read the records 'none': No such file or directory", "cost", "none")
        two = self.file([self.law(n) for n in range(1, 11)], "two.txt",
                        HEADER + HEADER.replace("#strobe-records,1\n", "").replace(",1,", ",2,").replace("sort(int)", "find(int)"))
        find = self.file([self.law(n) for n in range(1, 11)], "find.txt", HEADER.replace("sort(int)", "find(int)"))
        self.error(2, "a picture has one function, but r.txt has sort(int) and find.txt has find(int): choose with --of", "cost", file, find)
        size = self.file([self.law(n) for n in range(1, 11)], "size.txt", HEADER.replace("time,ns", "size,bytes"))
        self.error(2, "sort(int) of size.txt has no metric 'time'; it has size, for example", "cost", file, size)
        self.error(2, "two.txt has 2 functions, and a picture has one: choose with --of; they are sort(int), find(int)", "cost", two)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
