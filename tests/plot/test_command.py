#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""strobe plot: draws each kind of picture from known data. test_command.py STROBE."""
import contextlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "store"))
from project import Project  # noqa: E402

Project.strobe = os.path.abspath(sys.argv.pop(1))
SVG = "{http://www.w3.org/2000/svg}"
POINTS = "metric,unit,function,value,size\n" + "".join(f"time,ns,sort,{100 * n + 7 * (-1) ** n},{n}\n" for n in range(1, 21))
CALLGRIND = """# callgrind format
events: Ir
fl=a.c
fn=work
3 100
fn=main
10 50
cfn=work
calls=2 3
11 100
"""
# A memory profile of Perun, with stacks of calls.
STACKS = [("main", 1, "f", 2, 100), ("main", 1, "g", 3, 40), ("main", 5, "f", 2, 60)]


def stacks(amounts=STACKS):
    rows = [{"amount": amount, "type": "memory", "subtype": "malloc", "uid": {"source": "a.c", "function": callee, "line": line},
             "trace": [{"source": "a.c", "function": "malloc", "line": 0}, {"source": "a.c", "function": callee, "line": line},
                       {"source": "a.c", "function": caller, "line": call}]} for caller, call, callee, line, amount in amounts]
    return json.dumps({"header": {"type": "memory", "cmd": "a", "args": "", "workload": "", "units": {"memory": "B"}},
                       "collector_info": {"name": "memory", "params": {}}, "postprocessors": [], "global": {"timestamp": 0, "resources": rows}})


class Plot(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-plot-")
        self.addCleanup(folder.cleanup)
        self.p = Project(Path(folder.name) / "project")

    def made(self, name, text, end="csv"):
        file = self.p.folder / f"{name}.{end}"
        file.write_text(text, encoding="utf-8")
        self.p.ask("import", "-q", file, "-o", self.p.folder / f"{name}.db")
        return f"{name}.db"

    def draw(self, *words):
        """Returns the root of the picture, its texts, and the hints at the pointer."""
        root = ET.fromstring(self.p.ask("plot", *words, "-o", "-"))
        texts = ["".join(each.itertext()) for each in root.iter(f"{SVG}text")]
        return root, texts, [each.text for each in root.iter(f"{SVG}title")][1:]

    def shapes(self, root, kind, name):
        return [each for each in root.iter(SVG + kind) if each.get("class", "").split()[0] == name]


class Scatter(Plot):
    def test_each_value_is_a_point(self):
        root, texts, hints = self.draw("scatter", self.made("p", POINTS))
        self.assertEqual(len(self.shapes(root, "circle", "point")), 20)
        self.assertEqual(hints, [f"{n}: {'%d ns' % v if v < 1000 else '%.1f us' % (v / 1000)}" for n in range(1, 21) for v in [100 * n + 7 * (-1) ** n]])
        self.assertIn("sort", texts)
        self.assertIn("size", texts)

    def test_the_curve_is_that_of_the_model(self):
        file = self.made("p", POINTS)
        root, texts, _ = self.draw("scatter", file)
        model = json.loads(self.p.ask("model", "--kind", "linear", "--at", "1,20", "--format", "json", file))["subjects"][0]
        caption = next(text for text in texts if "r²" in text)
        self.assertIn("linear", caption)
        b0, b1 = (float(re.search(rf"{name} = (\S+)", caption)[1]) for name in ("b0", "b1"))
        ends = [float(y) for y in (self.shapes(root, "path", "curve")[0].get("d").split("L")[i].split()[1] for i in (0, -1))]
        # 0 to 2.5 us is 416 to 44.
        for y, n in zip(ends, (1, 20)):
            self.assertAlmostEqual(y, 416 - (b0 + b1 * n) / 2500 * 372, delta=0.02)
        self.assertEqual((b0, b1), tuple(float(f"{each['value']:.5g}") for each in model["models"][0]["coeffs"][:2]))

    def test_options(self):
        file = self.made("p", POINTS)
        root, texts, _ = self.draw("scatter", "--no-model", "--title", "a <title>", "--x", "sequence", file)
        self.assertEqual(self.shapes(root, "path", "curve"), [])
        self.assertEqual([texts[0], "sequence" in texts], ["a <title>", True])
        root, texts, _ = self.draw("scatter", "--log", file)
        self.assertEqual([text for text in texts if text in ("1", "10", "100", "10 ns", "100 ns", "1.0 us", "10.0 us")],
                         ["10 ns", "100 ns", "1.0 us", "10.0 us", "1", "10", "100"])
        (self.p.folder / "points.csv").write_text("a;b\n1;2\n2;4\n3;6.1\n", encoding="utf-8")
        root, texts, hints = self.draw("scatter", "--csv", "points.csv", "--x", "a", "--metric", "b")
        self.assertEqual(hints[:3], ["1: 2", "2: 4", "3: 6.1"])
        root, texts, _ = self.draw("scatter", "--csv", "points.csv", "--log")
        self.assertEqual((len(self.shapes(root, "circle", "point")), self.shapes(root, "path", "curve")), (3, []))
        self.assertIn("There are too few points to tell which kind of growth it is.", texts)

    def test_a_series_for_each_location(self):
        """Series of one metric share a picture: a colour, a curve and a name in the legend for each."""
        other = "".join(f"time,ns,other,{n * n},{n}\n" for n in range(1, 21))
        root, texts, hints = self.draw("scatter", self.made("two", POINTS + other))
        self.assertEqual([len([e for e in self.shapes(root, "circle", "point") if e.get("class") == f"point c{i}"]) for i in (0, 1)], [20, 20])
        self.assertEqual([e.get("class") for e in self.shapes(root, "path", "line")], ["line c0", "line c1"])
        self.assertEqual([text for text in texts if text in ("sort", "other")], ["sort", "other"])
        self.assertEqual(hints[-1], "other, 20: 400 ns")
        self.assertTrue(any("sort: " in text and "linear" in text for text in texts), texts)

    def test_commands_over_sizes(self):
        """The profiles of a job: a series has all sizes of one command; its workload, and nothing else, is left out of its name."""
        self.p.commit("first")
        self.p.ask("init")
        for at, (options, size) in enumerate((options, size) for options in ([], ["--fast"]) for size in (10, 20, 30)):
            file = self.p.folder / self.made(f"m{at}", f"wall,ns,value,size\nwall,ns,{size + at},{size}\n".replace("wall,ns,value", "metric,unit,value"))
            with contextlib.closing(sqlite3.connect(file)) as db:
                db.execute("DELETE FROM argument")
                db.executemany("INSERT INTO argument(value) VALUES(?)", [(word,) for word in ["/x/sort", *options, str(size)]])
                db.execute("UPDATE run SET start_ns = ?", (at,))
                db.commit()
            self.p.ask("add", "-q", file)
        root, texts, hints = self.draw("scatter", "--rev", "HEAD")
        self.assertLessEqual({"sort *", "sort --fast *"}, set(texts))
        self.assertEqual(sorted(hints), sorted([f"sort *, {n}: {n + i} ns" for i, n in enumerate((10, 20, 30))] + [f"sort --fast *, {n}: {n + i} ns" for i, n in enumerate((10, 20, 30), 3)]
                                               + ["sort *", "sort --fast *"]))
        self.p.commit("second")
        self.assertIn("no profile is stored of HEAD", self.p.refused("plot", "scatter", "--rev", "HEAD"))

    def test_commands_of_one_file(self):
        """The results of hyperfine have their commands as labels."""
        results = [{"command": f"sort {kind}", "parameters": {"kind": kind, "size": str(size)}, "times": [size, size + 1]} for kind in ("a", "b") for size in (1, 2, 3)]
        _, texts, hints = self.draw("scatter", "--metric", "wall", self.made("h", json.dumps({"results": results}), "json"))
        self.assertLessEqual({"kind a", "kind b"}, set(texts))
        self.assertEqual(len(hints), 14)

    def test_two_points_have_no_model(self):
        root, texts, _ = self.draw("scatter", self.made("few", "\n".join(POINTS.splitlines()[:3])))
        self.assertEqual(len(self.shapes(root, "circle", "point")), 2)
        self.assertTrue(any(text.startswith("No model: ") for text in texts), texts)

    def test_refused(self):
        two = self.made("two", POINTS + "bytes,B,other,1,1\n")
        self.assertEqual(self.p.refused("plot", "scatter", two, code=2), "strobe: a picture has one metric: choose with --metric; they are time, bytes\n")
        self.assertIn("leave out --rev or two.db", self.p.refused("plot", "scatter", "--rev", "HEAD", two, code=2))
        self.assertIn("no measurements of two.db fit --of nobody", self.p.refused("plot", "scatter", two, "--of", "nobody", code=2))
        self.assertIn("has no feature 'depth'; --x takes sequence, size", self.p.refused("plot", "scatter", two, "--of", "sort", "--x", "depth", code=2))
        self.assertIn("leave out the profile two.db", self.p.refused("plot", "scatter", "--csv", "points.csv", two, code=2))
        self.assertFalse((self.p.folder / "scatter.svg").exists(), "no half of a picture")


class Flame(Plot):
    def widths(self, *words):
        root, _, hints = self.draw("flame", *words)
        frames = self.shapes(root, "rect", "frame")
        return [(frame.find(f"{SVG}title").text.split(":")[0] if "(" not in hint else hint.split("): ")[0] + ")", float(frame.get("width")), float(frame.get("y")))
                for frame, hint in zip(frames, hints)], hints

    def test_width_is_the_share_down_to_the_line(self):
        frames, hints = self.widths(self.made("m", stacks(), "json"))
        self.assertEqual(frames[0][:2], ("all", 1180))
        self.assertEqual({(name, round(width, 1)) for name, width, _ in frames[1:] if not name.startswith("malloc")},
                         {("main (a.c:1)", 826.0), ("main (a.c:5)", 354.0), ("f (a.c:2)", 590.0), ("g (a.c:3)", 236.0), ("f (a.c:2)", 354.0)})
        self.assertIn("g (a.c:3): 40 bytes, 20.00 %", hints)

    def test_callees_first(self):
        frames, _ = self.widths("--inverted", self.made("m", stacks(), "json"))
        second = sorted((round(width), name) for name, width, y in frames if y == 92)
        self.assertEqual(second, [(236, "g (a.c:3)"), (944, "f (a.c:2)")])

    def test_difference(self):
        before = self.made("before", stacks(), "json")
        after = self.made("after", stacks([("main", 1, "f", 2, 100), ("main", 9, "h", 3, 300)]), "json")
        _, hints = self.widths(before, after)
        self.assertIn("h: 0 bytes before, 300 bytes now; 0.00 %, 75.00 %", hints)
        self.assertIn("g: 40 bytes before, 0 bytes now; 20.00 %, 0.00 %", hints)
        self.assertIn("f: 160 bytes before, 100 bytes now; 80.00 %, 25.00 %", hints)
        self.assertIn("main: 200 bytes before, 400 bytes now; 100.00 %, 100.00 %", hints)
        root, _, _ = self.draw("flame", before, before)
        self.assertEqual({frame.get("style") for frame in self.shapes(root, "rect", "frame")}, {"fill:#e4e4e4"}, "nothing differs")

    def test_refused(self):
        points, deep = self.made("p", POINTS), self.made("m", stacks(), "json")
        self.assertIn("have no stacks of calls: strobe plot", self.p.refused("plot", "flame", points))
        self.assertIn("has no metric 'time' with stacks of calls; it has", self.p.refused("plot", "flame", "--metric", "time", deep, code=2))
        self.assertIn("leave it out to compare two", self.p.refused("plot", "flame", "--inverted", deep, deep, code=2))
        self.assertIn("takes at most 2 profiles; 'c' is one too many", self.p.refused("plot", "flame", "a", "b", "c", code=2))
        self.assertIn("no profile to draw", self.p.refused("plot", "flame", code=2))
        self.assertIn("has no stacks of calls: strobe run -t hot, strobe paths", self.p.refused("plot", "flame", self.p.profile("run.db", 1)))
        self.assertFalse((self.p.folder / "flame.svg").exists())


class Contexts(Plot):
    def test_metrics_of_contexts(self):
        self.p.ask("paths", "-q", "-o", "c.db", "--instructions", "--", "/bin/true")
        trees = self.p.json("paths", "--from", "c.db")
        total = {"count": 0, "instructions": 0}
        work = [node for thread in trees["threads"] for node in thread["ksf"]]
        while work:
            node = work.pop()
            work += node.get("children", [])
            for key in total:
                total[key] += node[key]
        for metric, value in total.items():
            _, _, hints = self.draw("flame", "--metric", metric, "c.db")
            self.assertEqual(hints[0], f"all: {value:.6g}, 100.00 %")
        self.assertIn("c.db has no time: measure it with strobe paths --time", self.p.refused("plot", "flame", "--metric", "time", "c.db", code=2))
        self.assertIn("--metric takes time, instructions or count", self.p.refused("plot", "flame", "--metric", "bytes", "c.db", code=2))
        self.p.ask("paths", "-q", "-o", "plain.db", "--", "/bin/true")
        self.assertIn("plain.db has no metric 'instructions' of contexts, but c.db has: ", self.p.refused("plot", "flame", "c.db", "plain.db", code=2))
        _, _, hints = self.draw("flame", "--metric", "count", "c.db", "plain.db")
        self.assertRegex(hints[0], r"^all: \S+ before, \S+ now; 100\.00 %, 100\.00 %$")


class History(Plot):
    def setUp(self):
        super().setUp()
        self.commits = [self.p.commit("first")]
        self.p.ask("init")
        for i, values in enumerate((range(10, 17), (20, 40), (30,))):
            if i:
                self.commits.append(self.p.commit(f"change {i}"))
            (self.p.home / "m.csv").write_text("metric,unit,function,value\n" + "".join(f"mem,B,f,{v}\nmem,B,g,{v + 100}\ntime,ns,f,{v}\n" for v in values), encoding="utf-8")
            self.p.ask("import", "-q", self.p.home / "m.csv", "-o", self.p.home / f"m{i}.db")
            self.p.ask("add", "-q", self.p.home / f"m{i}.db")

    def test_versions_with_their_spread(self):
        root, texts, hints = self.draw("history", "--of", "f")
        short = [commit[:10] for commit in self.commits]
        self.assertEqual(hints, [f"{short[0]}, f: 13 bytes (10 bytes to 16 bytes)", f"{short[1]}, f: 30 bytes", f"{short[2]}, f: 30 bytes"])
        self.assertEqual([text for text in texts if text in short], short, "the oldest is at the left")
        self.assertEqual([len(self.shapes(root, "line", name)) for name in ("interval", "range")], [1, 3])
        self.assertTrue(any("Other metrics (--metric): time." in text for text in texts), texts)
        self.assertIn("mem of f", texts)

    def test_choices(self):
        root, texts, hints = self.draw("history", "--of", "f", "--metric", "time")
        self.assertEqual(hints[0].split(": ")[1], "13 ns (10 ns to 16 ns)")
        self.assertFalse(any("Other metrics" in text for text in texts))
        root, _, hints = self.draw("history", "--of", "?", "--metric", "mem")
        self.assertEqual(len(self.shapes(root, "path", "line")), 2, "a line for each location")
        _, _, hints = self.draw("history", "--of", "f", "--rev", "HEAD~1")
        self.assertEqual(len(hints), 2)
        _, _, hints = self.draw("history", "--of", "f", "-n", "1")
        self.assertEqual(len(hints), 1)

    def test_functions_and_counters(self):
        (self.p.home / "callgrind.out").write_text(CALLGRIND, encoding="utf-8")
        self.p.ask("import", "-q", self.p.home / "callgrind.out", "-o", self.p.home / "c.db")
        self.p.ask("add", "-q", self.p.home / "c.db")
        rows = self.p.json("log", "--of", "work")["history"]
        self.assertEqual([(row["metric"], row["n"], row["median"]) for row in rows], [("instructions", 1, 100), ("calls", 1, 2)])
        _, texts, hints = self.draw("history", "--of", "work", "--metric", "calls")
        self.assertEqual(hints, [f"{self.commits[2][:10]}, work: 2"])
        self.assertIn("calls of work", texts)
        file = self.p.profile("1.db", 1, folder=self.p.home)
        self.p.ask("add", "-q", file)
        total = json.loads(self.p.ask("show", file, "--format", "json"))["blocks"]
        self.assertEqual([row["median"] for row in self.p.json("log", "--of", "blocks")["history"]], [total])

    def test_refused(self):
        self.assertIn("no function to draw", self.p.refused("plot", "history", code=2))
        self.assertIn("has a function or series 'x'", self.p.refused("plot", "history", "--of", "x"))
        self.assertIn("'f' with the metric time2", self.p.refused("plot", "history", "--of", "f", "--metric", "time2"))
        self.assertIn("leave out m0.db", self.p.refused("plot", "history", "--of", "f", "m0.db", code=2))

    def test_stored_profiles_by_version(self):
        _, _, hints = self.draw("scatter", "HEAD~1", "--of", "f", "--metric", "mem")
        self.assertEqual(hints, ["1: 20 bytes", "2: 40 bytes"])


class Over(Plot):
    """Bars, flows and heat maps of measurements over a feature."""
    ROWS = [("f", 10, 1, 1), ("f", 30, 2, 2), ("f", 62, 4, 2), ("g", 5, 1, 1), ("g", 7, 3, 2), ("h", 1, 3, 3)]

    def setUp(self):
        super().setUp()
        self.file = self.made("p", "metric,unit,function,value,size,snapshot\n" + "".join(f"mem,,{f},{v},{n},{t}\n" for f, v, n, t in self.ROWS))

    def values(self, kind, *words):
        """Returns {(x, location): value} from the hints at the pointer."""
        _, _, hints = self.draw(kind, *words, self.file)
        values = {}
        for hint in (hint for hint in hints if ": " in hint):  # not the names at the right
            where, value = re.sub(r" \(95 %.*| \(values.*", "", hint).split(": ")
            x, name = where.split(", ") if kind == "bars" else where.split(", from ")[::-1]
            values[x, name] = float(value)
        return values

    def test_bars_add_up(self):
        for per, at in (("size", 2), ("snapshot", 3)):
            want = {}
            for row in self.ROWS:
                key = str(row[at]), row[0]
                want[key] = want.get(key, 0) + row[1]
            self.assertEqual(self.values("bars", "--per", per), want)
            self.assertEqual(sum(want.values()), 115)
        self.assertEqual(self.values("bars"), self.values("bars", "--per", "size"), "size is the usual feature")

    def test_functions(self):
        for func, f2 in (("mean", 46), ("median", 46), ("min", 30), ("max", 62), ("count", 2), ("sum", 92)):
            self.assertEqual(self.values("bars", "--per", "snapshot", "--func", func)["2", "f"], f2, func)

    def test_rows(self):
        self.assertEqual(self.values("bars", "--of", "g"), {("1", "g"): 5, ("3", "g"): 7})
        self.assertEqual(self.values("bars", "-n", "1"), {("1", "f"): 10, ("2", "f"): 30, ("4", "f"): 62, ("1", "(others)"): 5, ("3", "(others)"): 8})
        _, texts, _ = self.draw("bars", "-n", "1", self.file)
        self.assertIn("2 locations have no row: (others) has the sum.", texts)
        _, texts, _ = self.draw("bars", "-n", "1", "--func", "mean", self.file)
        self.assertIn("2 locations have no row; -n 0 shows all.", texts)

    def test_stacked_and_grouped(self):
        def at(*words):
            root, _, _ = self.draw("bars", "--per", "snapshot", *words, self.file)
            return [(float(bar.get("x")), float(bar.get("width"))) for bar in self.shapes(root, "rect", "bar")][:2]
        (x, width), (other, _) = at()
        self.assertEqual(x, other)
        (x, third), (other, _) = at("--grouped")
        self.assertAlmostEqual(third, width / 3, delta=0.01)
        self.assertAlmostEqual(other, x + third, delta=0.01)

    def test_means_and_medians_have_a_spread(self):
        # t(0.975, 2 degrees) is 4.3026527; the deviation of 8, 10 and 12 is 2.
        half = 4.302652729911275 * 2 / 3 ** 0.5
        self.file = self.made("s", "metric,unit,function,value,size\n" + "".join(f"m,,f,{v},1\n" for v in (8, 10, 12)) + "m,,f,5,2\nm,,g,3,1\n")
        root, texts, hints = self.draw("bars", "--func", "mean", "--grouped", self.file)
        found = re.fullmatch(r"1, f: 10 \(95 % interval: (\S+) to (\S+); values: 8 to 12\)", next(hint for hint in hints if hint.startswith("1, f")))
        self.assertAlmostEqual(float(found[1]), 10 - half, delta=0.01)
        self.assertAlmostEqual(float(found[2]), 10 + half, delta=0.01)
        self.assertEqual([hint for hint in hints if ": " in hint][1:], ["1, g: 3", "2, f: 5"])
        self.assertEqual((len(self.shapes(root, "line", "reach")), len(self.shapes(root, "line", "certain"))), (1, 1))
        self.assertIn("Thick: 95 % interval of the mean; thin: least to greatest value.", texts)
        # A median has its interval from six values on; a sum is no estimate; stacks have no lines.
        root, _, hints = self.draw("bars", "--func", "median", "--grouped", "-n", "1", self.file)
        self.assertIn("1, f: 10 (values: 8 to 12)", hints)
        for words in (("--func", "mean"), ("--grouped",), ("--func", "mean", "--grouped", "--accumulate")):
            root, texts, _ = self.draw("bars", *words, self.file)
            self.assertEqual((self.shapes(root, "line", "reach"), [text for text in texts if "interval" in text]), ([], []), words)

    def test_flow_and_its_sums(self):
        root, texts, hints = self.draw("flow", self.file)
        self.assertEqual((hints[3:], "size" in texts, "mem" in texts), (["f", "g", "h"], True, True))
        # 0 to 80 is 416 to 44, 1 to 4 is 100 to 700; f has no value at 3.
        self.assertEqual(self.shapes(root, "path", "line")[0].get("d"), "M100 369.5L300 276.5L700 127.7")
        root, _, _ = self.draw("flow", "--accumulate", "--func", "sum", self.file)
        ys = [float(part.split()[1]) for part in self.shapes(root, "path", "line")[0].get("d")[1:].split("L")]
        self.assertEqual([round((416 - y) / 372 * 120, 1) for y in ys], [10, 40, 40, 102], "each value is the sum of all up to it")
        root, _, _ = self.draw("flow", "--stacked", self.file)
        self.assertEqual(len(self.shapes(root, "path", "area")), 3)

    def test_heat(self):
        self.assertEqual(self.values("heat"), {("1", "f"): 10, ("2", "f"): 30, ("4", "f"): 62, ("1", "g"): 5, ("3", "g"): 7, ("3", "h"): 1})

    def test_refused(self):
        self.assertIn("no value of mem in p.db has a feature 'depth'; --per takes size, snapshot", self.p.refused("plot", "bars", "--per", "depth", self.file, code=2))
        self.assertIn("fit --of nobody", self.p.refused("plot", "flow", "--of", "nobody", self.file, code=2))
        self.assertIn("--func takes sum, mean, median, min, max or count", self.p.refused("plot", "flow", "--func", "mode", self.file, code=2))
        many = self.made("many", "metric,unit,function,value,size\n" + "".join(f"t,,f,1,{n}\n" for n in range(61)))
        self.assertIn("has 61 different values of size, too many for bars: strobe plot flow", self.p.refused("plot", "bars", many))
        self.assertIn("neither repeated measurements nor memory over time", self.p.refused("plot", "heat", self.p.profile("run.db", 1)))
        self.assertIn("takes at most 1 profile; ", self.p.refused("plot", "flow", self.file, self.file, code=2))


class Locations(Plot):
    def test_bars_of_several_profiles(self):
        files = [self.made(name, "# callgrind format\nevents: Ir\nfl=a.c\n" + "".join(f"fn={f}\n1 {n}\n" for f, n in rows.items()), "out")
                 for name, rows in (("a", {"f": 100, "g": 50, "h": 1}), ("b", {"f": 70, "i": 60}))]
        _, texts, hints = self.draw("bars", *files)
        self.assertEqual(hints[0:2], ["a.db", "b.db"], "the names of the profiles")
        self.assertEqual(hints[2:], ["f, a.db: 100", "f, b.db: 70", "i, b.db: 60", "g, a.db: 50", "h, a.db: 1"])
        _, texts, hints = self.draw("bars", "-n", "1", files[0])
        self.assertEqual(hints, ["f, a.db: 100"])
        self.assertIn("2 locations are not drawn; -n 0 draws all.", texts)
        self.assertIn("instructions", texts)
        self.assertIn("takes at most 10 profiles; 'k' is one too many", self.p.refused("plot", "bars", *"abcdefghijk", code=2))
        self.assertIn("no location of a.db fits --of x*", self.p.refused("plot", "bars", "--of", "x*", files[0], code=2))

    def test_repetitions_have_a_spread(self):
        """The bar is the median. Of six values, its interval is from the least to the greatest one; fewer have none."""
        def bars(*values):
            return self.made(f"n{len(values)}", "metric,unit,function,value\n" + "".join(f"time,,f,{v}\n" for v in values))
        root, texts, hints = self.draw("bars", bars(1, 2, 3, 5, 8, 13), bars(4, 6, 9), bars(7))
        self.assertEqual(hints[3:], ["f, n6.db: 4 (95 % interval: 1 to 13; values: 1 to 13)", "f, n3.db: 6 (values: 4 to 9)", "f, n1.db: 7"])
        self.assertEqual((len(self.shapes(root, "line", "reach")), len(self.shapes(root, "line", "certain"))), (2, 1))
        self.assertIn("Bars: median; thick: its 95 % interval, from six values on; thin: least to greatest value.", texts)
        _, texts, _ = self.draw("bars", "n1.db")
        self.assertEqual([text for text in texts if "median" in text], [], "one value has no spread")
        left_out = self.made("left_out", "metric,unit,function,value\ntime,,f,9\n" + "".join(f"time,,g,{v}\n" for v in (1, 2, 3)))
        root, texts, hints = self.draw("bars", "-n", "1", left_out)
        self.assertEqual((hints, self.shapes(root, "line", "reach")), (["f, left_out.db: 9"], []))
        self.assertIn("1 location is not drawn; -n 0 draws all.", texts, "no word of lines that no bar has")
        # The second and the last but one of eight values would contain the median in 93 % of cases only; of nine they do so in 96 %.
        _, _, hints = self.draw("bars", bars(*range(10, 90, 10)))
        self.assertEqual(hints, ["f, n8.db: 45 (95 % interval: 10 to 80; values: 10 to 80)"])
        _, _, hints = self.draw("bars", bars(*range(10, 100, 10)))
        self.assertEqual(hints, ["f, n9.db: 50 (95 % interval: 20 to 80; values: 10 to 90)"])


class Memory(Plot):
    def test_live_memory_over_time(self):
        self.p.ask("mem", "-q", "--interval", "100us", "-o", "m.db", "--", "/usr/bin/python3", "-S", "-c", "x = [bytes(1000) for i in range(20000)]")
        snapshots = self.p.json("mem", "--from", "m.db")["snapshots"]
        self.assertGreater(len(snapshots), 1)
        root, texts, hints = self.draw("bars", "--per", "time", "m.db")
        total = 0
        for bar in self.shapes(root, "rect", "bar"):
            total += float(bar.get("height"))
        # Stacks add up to the live memory; the first and the last snapshot are among those that are drawn.
        n, most = len(snapshots), min(12, len(snapshots))
        drawn = [snapshots[i * (n - 1) // (most - 1)]["live"] if n > 12 else snapshots[i]["live"] for i in range(most)]
        ticks = [text for text in texts if text.endswith(("MiB", "KiB", "bytes"))]
        top = float(ticks[-1].split()[0]) * {"MiB": 1 << 20, "KiB": 1 << 10, "bytes": 1}[ticks[-1].split()[1]]
        self.assertAlmostEqual(total / 372 * top / sum(drawn), 1, delta=0.02)
        root, texts, _ = self.draw("flow", "m.db")
        self.assertGreater(len(self.shapes(root, "path", "area")), 0, "memory is stacked")
        root, texts, _ = self.draw("heat", "--by", "address", "-n", "0", "m.db")
        rows = [text for text in texts if text.startswith("0x")]
        self.assertEqual(rows, sorted(rows, key=lambda text: -int(text, 16)))
        size = re.match(r"A row is (\S+) (\S+) of addresses", next(text for text in texts if text.startswith("A row")))
        bytes_of = float(size[1]) * {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}[size[2]]
        self.assertEqual({int(text, 16) % bytes_of for text in rows}, {0})
        self.assertGreater(len(self.shapes(root, "rect", "cell")), 0)
        # With fewer rows the ranges are longer, and no memory is left out: the end of the flow is the live memory.
        for top in ("1", "5", "0"):
            root, texts, _ = self.draw("flow", "--by", "address", "-n", top, "m.db")
            self.assertEqual([text for text in texts if re.search("locations? ha(s|ve) no row", text)], [])
            if top != "0":
                self.assertLessEqual(len(self.shapes(root, "path", "area")), int(top))
        self.assertIn("leave out --of f, or --by address", self.p.refused("plot", "heat", "--by", "address", "--of", "f", "m.db", code=2))
        self.assertIn("is no profile of strobe mem", self.p.refused("plot", "heat", "--by", "address", self.made("p", POINTS), code=2))
        # Ranges of a damaged file whose sizes would be doubled beyond 64 bits.
        shutil.copy(self.p.folder / "m.db", self.p.folder / "damaged.db")
        with contextlib.closing(sqlite3.connect(self.p.folder / "damaged.db")) as db, db:
            db.execute("UPDATE table_totals SET heap = 1 << 62 WHERE what = 'bytes of a range of addresses'")
            db.execute("UPDATE table_addresses SET address = -1 WHERE rowid % 2")
        self.assertIn("the tables of allocations do not fit together", self.p.refused("plot", "heat", "--by", "address", "-n", "1", "damaged.db"))
        self.assertIn("--by takes function or address", self.p.refused("plot", "heat", "--by", "size", "m.db", code=2))
        root, _, _ = self.draw("heat", "m.db")
        self.assertGreater(len(self.shapes(root, "rect", "cell")), 0)
        self.assertIn("leave out --metric peak", self.p.refused("plot", "flow", "--metric", "peak", "m.db", code=2))
        self.assertIn("leave out --per size", self.p.refused("plot", "heat", "--per", "size", "m.db", code=2))
        self.assertIn("asks for memory in 'nobody'", self.p.refused("plot", "heat", "--of", "nobody", "m.db", code=2))


class Command(Plot):
    def test_bad_kinds(self):
        self.assertEqual(self.p.refused("plot", "histori", code=2), "strobe: no kind of picture 'histori'; did you mean 'history'?\n")
        self.assertIn("the kinds are history, scatter, flame, bars, flow, heat", self.p.refused("plot", "zzzzzz", code=2))
        self.assertIn("no kind of picture: strobe plot KIND", self.p.refused("plot", code=2))
        self.assertIn("none.db", self.p.refused("plot", "flame", "none.db"))

    def test_file(self):
        file = self.made("p", POINTS)
        self.p.ask("plot", "scatter", file)
        self.assertEqual(ET.parse(self.p.folder / "scatter.svg").getroot().tag, SVG + "svg")
        before = (self.p.folder / file).read_bytes()
        self.p.refused("plot", "scatter", file, "-o", file, code=2)
        self.assertEqual((self.p.folder / file).read_bytes(), before)
        with open("/dev/full", "wb") as full:
            done = subprocess.run([self.p.strobe, "plot", "scatter", file, "-o", "-"], cwd=self.p.folder, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (125, "strobe: cannot write to standard output: No space left on device\n"))
        self.assertIn("/none/x.svg", self.p.refused("plot", "scatter", file, "-o", "/none/x.svg"))


if __name__ == "__main__":
    unittest.main()
