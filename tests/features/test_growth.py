#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of the costs of callees in records, and of strobe annotate --explain, with callers whose growth has a known cause.

usage: test_growth.py STROBE GROWTH

GROWTH is programs/growth.c. Allocated bytes are exact, so that every number of an explanation is known."""

import json
import math
import os
import subprocess
import sys
import tempfile
import unittest

import records

STROBE, GROWTH = [os.path.abspath(name) for name in sys.argv[1:3]]
SIZES = 40
NAMES = "callee_grows,own_grows,small,merge,finish,recovers,leaves"


class Growth(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="strobe-growth-")
        cls.at = cls.folder.name
        done = cls.strobe("-q", "-m", "time,allocated,callees", "-F", NAMES, "-o", "r.txt", "--", GROWTH, SIZES)
        assert (done.returncode, done.stderr, done.stdout) == (0, "", "done\n"), done
        cls.functions, cls.notes = records.read(os.path.join(cls.at, "r.txt"))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def strobe(cls, *words):
        return subprocess.run([STROBE, "annotate", *map(str, words)], capture_output=True, text=True, timeout=120, cwd=cls.at, check=False)

    def explain(self, name, *options, code=0, file="r.txt"):
        done = self.strobe("--format", "json", "--explain", name, *options, file)
        self.assertEqual((done.returncode, done.stderr), (code, ""))
        got = json.loads(done.stdout)
        self.assertEqual(got["strobe"], {"version": 1, "tool": "annotate-explain"})
        return got["explanations"]

    def error(self, code, text, *words):
        done = self.strobe(*words)
        self.assertEqual((done.returncode, done.stderr, done.stdout), (code, f"strobe: {text}\n", ""))


class Records(Growth):
    def test_costs_of_callees_are_exact(self):
        f = self.functions["callee_grows"]
        wanted = [(n, n, 16 * n, n, 4 * n * (n - 1), 1, 100, 0, 0) for n in range(1, SIZES + 1)]
        self.assertEqual(f.columns("n", "calls_of_small", "allocated_in_small", "calls_of_merge", "allocated_in_merge", "calls_of_finish",
                                   "allocated_in_finish", "calls_of_others", "allocated_in_others"), wanted)
        f = self.functions["own_grows"]
        wanted = [(n, n, 16 * n, 1, 100) for n in range(1, SIZES + 1)]
        self.assertEqual(f.columns("n", "calls_of_small", "allocated_in_small", "calls_of_finish", "allocated_in_finish"), wanted)
        self.assertNotIn("calls_of_merge", [name for name, _ in f.metrics])

    def test_callees_have_times(self):
        rows = self.functions["callee_grows"].columns("time_in_small", "time_in_merge", "time_in_finish")
        self.assertGreater(sum(merge for _, merge, _ in rows), 0)

    def test_calls_that_are_left_are_not_counted(self):
        # leaves(n) does not return if n is divisible by 3; recovers(n + 1000) calls recovers(n) once.
        for n, calls, size, again in self.functions["recovers"].columns("n", "calls_of_leaves", "allocated_in_leaves", "calls_of_recovers"):
            self.assertEqual((calls, size, again), (int(n % 3 != 0), n if n % 3 else 0, int(n > 1000)))

    def test_calls_that_are_not_kept_are_costs_of_kept_ones(self):
        done = self.strobe("-q", "-k", 30, "-m", "callees,allocated", "-F", "callee_grows,merge", "-o", "few.txt", "--", GROWTH, SIZES)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        functions, _ = records.read(os.path.join(self.at, "few.txt"))
        self.assertEqual([len(functions[name].rows) for name in ("callee_grows", "merge")], [30, 30])
        for n, calls, size in functions["callee_grows"].columns("n", "calls_of_merge", "allocated_in_merge"):
            self.assertEqual((calls, size), (n, 4 * n * (n - 1)))

    def test_costs_of_callees_get_annotations_only_by_name(self):
        got = json.loads(self.strobe("--format", "json", "-F", "callee_grows", "r.txt").stdout)["annotations"]
        self.assertEqual([a["metric"] for a in got], ["time", "allocated"])
        got, = json.loads(self.strobe("--format", "json", "-F", "callee_grows", "-m", "calls_of_merge", "r.txt").stdout)["annotations"]
        self.assertEqual((got["metric"], [m["mean"] for m in got["models"]]), ("calls_of_merge", ["n"]))


class Explain(Growth):
    def shares(self, term):
        return {s["callee"] or s["part"]: (round(s["share"], 9), s["verdict"]) for s in term["shares"]}

    def test_a_callee_carries_the_growth(self):
        x, = self.explain("callee_grows", "-m", "allocated")
        self.assertEqual((x["function"], x["metric"], x["records"]), ("callee_grows", "allocated", SIZES))
        self.assertEqual(x["annotation"]["models"][0]["mean"], "100 + 12 * n + 4 * n^2")
        self.assertLess(x["difference"], 1e-9)
        scope, = x["scopes"]
        self.assertEqual((scope["condition"], scope["reason"], scope["undecided"], scope["records"]), (None, None, False, SIZES))
        square, linear = scope["terms"]
        self.assertEqual((square["term"], linear["term"]), ("n^2", "n"))
        self.assertEqual(self.shares(square), {"small": (0, "does not carry"), "merge": (1, "carries"), "finish": (0, "does not carry"),
                                               "own": (0, "does not carry")})
        # 12 n is 16 n of small and -4 n of merge, whose costs are 4 n^2 - 4 n.
        self.assertEqual({k: v[0] for k, v in self.shares(linear).items()}, {"small": round(16 / 12, 9), "merge": round(-4 / 12, 9), "finish": 0, "own": 0})
        small, merge, finish, own = x["parts"]
        self.assertEqual([p["part"] for p in x["parts"]], ["callee", "callee", "callee", "own"])
        self.assertEqual((merge["number"]["models"][0]["mean"], merge["annotation"]["models"][0]["mean"]), ("n", "8 * length"))
        self.assertEqual((merge["cost"]["models"][0]["class"], merge["each"]["models"][0]["class"]), ("quadratic", "linear"))
        self.assertEqual((small["each"]["models"][0]["mean"], finish["calls"], own["mean"], own["calls"]), ("16", 1, 0, None))

    def test_its_own_code_carries_the_growth(self):
        x, = self.explain("own_grows", "-m", "allocated")
        self.assertEqual(x["annotation"]["models"][0]["mean"], "100 + 16 * n + 8 * n^2")
        square, = x["scopes"][0]["terms"]
        self.assertEqual(self.shares(square), {"small": (0, "does not carry"), "finish": (0, "does not carry"), "own": (1, "carries")})

    def test_cost_without_growth(self):
        x, = self.explain("small", "-m", "allocated")
        scope, = x["scopes"]
        self.assertEqual((scope["reason"], scope["undecided"], scope["terms"]), ("the cost does not grow with a feature", False, []))

    def test_text(self):
        done = self.strobe("--explain", "callee_grows", "-m", "allocated", "r.txt")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for line in ("allocated of callee_grows, 40 records:\n  Norm(100 + 12 * n + 4 * n^2, 0)\n",
                     "  growth by n^2 (coefficient 4, up to 6396 bytes of a call)\n    merge: 100 % (100 % to 100 %): carries\n",
                     "    calls: Norm(n, 0)\n", "    each, by its own data: Norm(8 * length, 0)\n",
                     "  The sum of the models of these parts differs from the model of callee_grows by at most "):
            self.assertIn(line, done.stdout)

    def test_time_is_explained_as_well(self):
        # Whether times have a model depends on the machine; the parts are there in any case.
        got = self.strobe("--format", "json", "--explain", "callee_grows", "r.txt")
        self.assertIn(got.returncode, (0, 3))
        time, size = json.loads(got.stdout)["explanations"]
        self.assertEqual((time["metric"], size["metric"]), ("time", "allocated"))
        self.assertAlmostEqual(sum(p["mean"] for p in time["parts"]), time["mean"], delta=1e-6 * time["mean"])

    def test_errors(self):
        self.error(2, "no function of the records matches 'none'; the first one is small", "--explain", "none", "r.txt")
        self.error(2, "no metric of merge is named 'cpu'", "--explain", "merge", "-m", "cpu", "r.txt")
        self.error(2, "--explain already names the function: leave out --func", "--explain", "merge", "-F", "merge", "r.txt")
        self.error(2, "--explain is not a check: leave out --explain or --check", "--explain", "merge", "--check", "r.txt")
        self.error(2, "--explain makes no annotations: leave out --save", "--explain", "merge", "--save", "r.txt")
        with open(os.path.join(self.at, "plain.txt"), "w", encoding="utf-8") as plain:
            plain.write("#strobe-records,1\n#function,1,f\n#metric,1,time,ns\n#feature,1,n\n" + "".join(f"1,{n},{n}\n" for n in range(9)))
        self.error(125, "the records of f do not say what its callees cost: record it and its callees with strobe annotate -o FILE -m callees",
                   "--explain", "f", "plain.txt")
        self.error(125, "the records of f do not say what its callees cost: record it and its callees with strobe annotate -o FILE -m time,callees",
                   "--explain", "f", "-m", "time", "plain.txt")


class Planted(Growth):
    """Records that are written here: noise, conditions, modes, missing columns."""

    HEAD = ("#strobe-records,1\n#function,1,f\n#metric,1,time,ns\n#metric,1,calls_of_g,,calls,g\n#metric,1,time_in_g,ns,time,g\n"
            "#metric,1,time_in_h,ns,time,h\n#feature,1,n\n")

    def file(self, rows, head=HEAD):
        with open(os.path.join(self.at, "p.txt"), "w", encoding="utf-8") as out:
            out.write(head + "".join("1," + ",".join(str(x) for x in row) + "\n" for row in rows))
        return "p.txt"

    def test_parts_of_a_coefficient(self):
        # 10 n^2: 6 of g, 3 of h, 1 of f.
        x, = self.explain("f", file=self.file([(10 * n * n + 7, n, 6 * n * n, 3 * n * n, n) for n in range(1, 30)]))
        term, = x["scopes"][0]["terms"]
        self.assertEqual({s["callee"] or s["part"]: (round(s["share"], 6), s["verdict"]) for s in term["shares"]},
                         {"g": (0.6, "carries"), "h": (0.3, "carries a part"), "own": (0.1, "carries a part")})
        self.assertEqual(x["parts"][1]["calls"], None)

    def test_terms_that_cancel_are_one(self):
        # n and n log n grow in opposite directions, by far more than the cost, 3/4 of which is g's.
        law = [(1e6 * n - 1e5 * n * math.log2(n), n) for n in range(100, 200)]
        head = self.HEAD.replace("time_in_g,ns", "time_in_g,").replace("time_in_h,ns", "time_in_h,").replace("time,ns", "time,")
        x, = self.explain("f", file=self.file([(repr(y), n, repr(0.75 * y), 0, n) for y, n in law], head))
        term, = x["scopes"][0]["terms"]
        self.assertEqual(term["coefficient"], 1)
        self.assertAlmostEqual(term["growth"], law[-1][0] - law[0][0], delta=1)
        self.assertEqual({s["callee"] or s["part"]: (round(s["share"], 6), s["verdict"]) for s in term["shares"]},
                         {"g": (0.75, "carries"), "own": (0.25, "carries a part")})
        self.assertIn("  growth by 1e+06 * n - 1e+05 * (n * log(n)) (up to 1.347e+07 of a call)\n", self.strobe("--explain", "f", "p.txt").stdout)

    def test_recording_is_not_the_own_code(self):
        # The time of f has 53 ns for each call of g, which recording (57 ns) may have added. Of the growth by n^2 in g it adds nothing.
        head = self.HEAD + "#overhead,1,time,57.0,0.2\n"
        rows = [(70 * n + 5 * n * n + 20, n, 17 * n + 5 * n * n, 0, n) for n in range(1, 80)]
        x, = self.explain("f", file=self.file(rows, head), code=3)
        square, line = x["scopes"][0]["terms"]
        self.assertEqual({s["callee"] or s["part"]: s["verdict"] for s in square["shares"]}, {"g": "carries", "own": "does not carry"})
        self.assertEqual({s["verdict"] for s in line["shares"]}, {"cannot tell"})
        for share in line["shares"]:
            middle, half = {"g": 17 / 70, None: 53 / 70}[share["callee"]], 57 / 70
            self.assertEqual([round(v, 6) for v in share["interval"]], [round(middle - half, 6), round(middle + half, 6)])
        self.assertIn("  Recording a call may add its overhead to the times of the callees", self.strobe("--explain", "f", "p.txt").stdout)
        # Without calls of short functions there is nothing to allow for.
        rows = [(70 * n + 20, 1, 17 * n, 0, n) for n in range(1, 80)]
        x, = self.explain("f", file=self.file(rows, head))
        self.assertEqual({s["callee"] or s["part"]: s["verdict"] for s in x["scopes"][0]["terms"][0]["shares"]}, {"g": "carries a part", "own": "carries"})

    def test_noise_that_hides_the_share(self):
        # The noise of g and of h cancels in the sum, so that the caller is exact and the parts are not known.
        noise = [400, -380, 420, -410, 390, -400]
        rows = [(10 * n + 7, 1, 5 * n + noise[n % 6], 5 * n - noise[n % 6], n) for n in range(1, 30)]
        x, = self.explain("f", file=self.file(rows), code=3)
        term, = x["scopes"][0]["terms"]
        self.assertFalse(term["explained"])
        self.assertEqual({s["verdict"] for s in term["shares"] if s["part"] == "callee"}, {"cannot tell"})

    def test_modes_cannot_be_explained(self):
        rows = [(100 if n * 7 % 5 < 2 else 9000, 1, 50, 1, n % 4) for n in range(200)]
        x, = self.explain("f", file=self.file(rows), code=3)
        self.assertEqual((x["scopes"][0]["reason"], x["scopes"][0]["undecided"]), ("the cost has modes that no feature explains", True))
        self.assertIn("  cannot tell: the cost has modes that no feature explains\n", self.strobe("--explain", "f", "p.txt").stdout)

    def test_callee_that_a_run_did_not_call(self):
        # Its column is missing in the second file, whose calls of it cost nothing.
        rows = [(10 * n, n, 6 * n, 3 * n, n) for n in range(10, 30)]
        head = "#strobe-records,1\n#function,1,f\n#metric,1,time,ns\n#metric,1,time_in_others,ns,time,\n#feature,1,n\n"
        self.file(rows)
        with open(os.path.join(self.at, "p.txt"), "a", encoding="utf-8") as out:
            out.write(head + "".join(f"1,{n},0,{n}\n" for n in range(200, 210)))
        x, = self.explain("f", file="p.txt", code=self.strobe("--explain", "f", "p.txt").returncode)
        self.assertEqual([(p["callee"] or p["part"], round(p["mean"] * 30)) for p in x["parts"]],
                         [("g", 6 * sum(range(10, 30))), ("h", 3 * sum(range(10, 30))), ("own", sum(range(10, 30)) + sum(range(200, 210)))])

    def test_wrong_columns(self):
        head = "#strobe-records,1\n#function,1,f\n#metric,1,time,ns\n#metric,1,a,ns,,g\n"
        self.error(2, "p.txt:4:16: the name of a metric is expected, or calls", "--explain", "f", self.file([], head))
        head = ("#strobe-records,1\n#function,1,f\n#metric,1,time_in_g,ns,time,g(int)\n1,2\n"
                "#strobe-records,1\n#function,1,f\n#metric,1,time_in_g,ns,time,g(long)\n")
        self.error(2, "p.txt:7:29: the metric 'time_in_g' is of the callee 'g(long)' here, and of 'g(int)' in records before",
                   "--explain", "f", self.file([], head))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
