#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests the commands strobe annotate FILE and strobe predict. Usage: test_command.py STROBE."""
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE = os.path.abspath(sys.argv.pop(1))
HEADER = """#strobe-records,1
#function,1,"sort(int*, long)",/bin/sort,aa,0x1
#metric,1,time,ns
#metric,1,bytes,bytes
#feature,1,n,number,parameter,value,n
#feature,1,twice,number,member,value,v->twice
#feature,1,kind,category,parameter,value,kind
"""


class Annotate(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="strobe-annotate-")
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)

    def file(self, text, name="records.csv"):
        (self.place / name).write_text(text, encoding="utf-8")
        return name

    def strobe(self, *words, **more):
        return subprocess.run([STROBE, *words], cwd=self.place, capture_output=True, text=True, timeout=120, **more)

    def printed(self, *words, **more):
        done = self.strobe(*words, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def read(self, *words, **more):
        got = json.loads(self.printed("annotate", "--format", "json", *words, **more))
        self.assertEqual(got["strobe"], {"version": 1, "tool": "annotate"})
        return got["annotations"]

    def error(self, code, text, *words, **more):
        done = self.strobe(*words, **more)
        self.assertEqual((done.returncode, done.stderr, done.stdout), (code, f"strobe: {text}\n", ""))


class Records(Annotate):
    """Files of records are pooled, kept apart and filtered."""

    def rows(self, numbers):
        return "".join(f"1,{3 + 2 * n},{24 * n},{n},{2 * n + 1},{'list' if n % 2 else 'vector'}\n" for n in numbers)

    def test_exact_law(self):
        time, size = self.read(self.file(HEADER + self.rows(range(20)), "a.txt"))
        self.assertEqual((time["function"], time["image"], time["metric"], time["unit"], time["records"]),
                         ("sort(int*, long)", "/bin/sort", "time", "ns", 20))
        self.assertEqual(time["features"], [{"name": "n", "path": "n", "kind": "number", "low": 0, "high": 19, "also": ["twice"]}])
        model, = time["models"]
        self.assertEqual((model["mean"], model["sd"], model["class"], model["r2"], model["r2_cv"], model["n"]), ("3 + 2 * n", "0", "linear", 1, 1, 20))
        self.assertEqual([(t["term"], t["coefficient"]) for t in model["terms"]], [("1", 3), ("n", 2)])
        self.assertEqual(size["models"][0]["mean"], "24 * n")

    def test_files_are_pooled(self):
        first, second = self.file(HEADER + self.rows(range(20)), "a.txt"), self.file(HEADER + self.rows(range(20, 40)), "b.txt")
        whole = self.file(HEADER + self.rows(range(40)), "c.txt")
        pooled, at_once = self.read(first, second), self.read(whole)
        # Appended to each other they are one file.
        both = self.file((self.place / "a.txt").read_text() + (self.place / "b.txt").read_text(), "d.txt")
        self.assertEqual(self.read(both), pooled)
        for annotation, processes in [(pooled, (2, 0)), (at_once, (1, None))]:
            for each in annotation:
                self.assertEqual((each.pop("processes"), each.pop("between_processes")), processes)
        self.assertEqual(pooled, at_once)

    def test_overloads_are_apart(self):
        text = (HEADER + self.rows(range(20))).replace('"sort(int*, long)"', "sort(int)").replace("0x1", "0x2")
        got = self.read(self.file(HEADER + self.rows(range(20)), "a.txt"), self.file(text, "b.txt"))
        self.assertEqual([a["function"] for a in got], ["sort(int*, long)"] * 2 + ["sort(int)"] * 2)
        self.assertEqual(len(self.read("a.txt", "b.txt", "-F", "sort")), 4)
        self.assertEqual([a["metric"] for a in self.read("a.txt", "b.txt", "-F", "sort(int)", "-m", "bytes")], ["bytes"])

    def test_without(self):
        self.file("time,n,buffer_sum,buffer_last\n" + "".join(f"{10 * i + 2 * (i * i % 13)},{i},{i * i % 13},{i % 5}\n" for i in range(40)), "c.csv")
        every, few, none = (self.read("c.csv", *words)[0] for words in
                            [[], ["-q", "--without", "buffer_*", "--where", "buffer_sum > 0"], ["--without", "n,buffer_*"]])
        self.assertEqual(([m["mean"] for m in every["models"]], every["records"]), (["10 * n + 2 * buffer_sum"], 40))
        self.assertEqual(([f["name"] for f in few["features"]], few["records"], few["models"][0]["class"]), (["n"], 36, "linear"))
        self.assertEqual(none["features"], [])
        self.file(HEADER.replace("twice,number,member,value,v->twice", "machine_load,number,system,value,machine.load") + self.rows(range(20)), "m.txt")
        self.assertEqual([feature.get("also", []) for words in ([], ["--without", "machine.*"], ["--without", "machine_*"])
                          for feature in self.read("m.txt", *words)[0]["features"]], [["machine_load"], [], []])
        self.error(2, "no feature of the records matches 'b'; the first one is n", "annotate", "c.csv", "--without", "b")
        self.error(2, "c has no feature that --without 'n' could leave out", "annotate", "c.csv", "--without", "*", "--without", "n")
        self.error(2, "--check needs the features that it names: leave out --without", "annotate", "--check", "c.csv", "--without", "n")

    def test_a_dominant_cluster_has_half_of_the_records(self):
        def selection(dominant):
            chance = random.Random(1)
            rows = [(1000 * n + chance.gauss(0, 1), n) for n in range(1, 11) for _ in range(dominant)]
            rows += [(chance.uniform(20000, 900000), n) for n in range(1, 11) for _ in range(20 - dominant)]
            self.file("time,n\n" + "".join(f"{y:.3f},{n}\n" for y, n in rows), "c.csv")
            return {m["selection"] for m in self.read("c.csv", "-m", "time")[0]["models"]}
        self.assertEqual(selection(11), {"dominant"})
        self.assertNotIn("dominant", selection(9))

    def test_a_part_without_scatter_does_not_hide_another_change(self):
        # Page faults of a sort in little memory: none, then one for each element beyond a size, then a step.
        sizes = [11667 * i for i in range(1, 61)]
        faults = {n: 0 if n <= 240000 else round(1.05 * n) - 251000 + (290000 if n > 524288 else 0) + n * 7919 % 9000 for n in sizes}
        self.file("faults,n\n" + "".join(f"{faults[n]},{n}\n" for n in sizes), "c.csv")
        models = self.read("c.csv")[0]["models"]
        self.assertEqual([m["class"] for m in models], ["constant", "linear", "linear"])
        self.assertEqual([m["n"] for m in models], [20, 24, 16])

    def test_a_mode_has_six_records(self):
        costs = [300] * 2 + [500] * 6 + [100, 200] * 16
        self.file("cost,n\n" + "".join(f"{cost},{i * 37 % 41}\n" for i, cost in enumerate(costs)), "c.csv")
        got, = self.read("c.csv")
        self.assertEqual([m["n"] for m in got["models"]], [16, 18, 6])

    def test_a_coefficient_takes_three_records(self):
        def terms(n):
            chance = random.Random(1)
            rows = [[chance.randrange(100) for _ in range(4)] for _ in range(n)]
            self.file("cost,a,b,c,d\n" + "".join(f"{5 + a + 20 * b + 300 * c + 4000 * d},{a},{b},{c},{d}\n" for a, b, c, d in rows), "c.csv")
            return [[term["term"] for term in m["terms"]] for m in self.read("c.csv")[0]["models"]]
        self.assertEqual(terms(15), [["1", "a", "b", "c", "d"]])
        self.assertEqual(terms(14), [["1", "b", "c", "d"]])
        self.assertEqual(terms(8), [["1", "d"]])

    def test_explained_shares_leave_disturbed_times_out(self):
        """The shares are those of the model, which leaves the time of one call out that is a thousand times as long."""
        head = HEADER[:HEADER.index("#metric")] + "#metric,1,time,ns\n#metric,1,time_in_g,ns,time,g\n#metric,1,calls_of_g,,calls,g\n#feature,1,n,number,parameter,value,n\n"
        rows = [f"1,{50 + 30 * n + (1000000 if i == 7 else 0)},{20 * n},{n},{n}\n" for i, n in enumerate([*range(1, 51)] * 4)]
        self.file(head + "".join(rows), "a.txt")
        x, = json.loads(self.printed("annotate", "--format", "json", "--explain", "sort", "a.txt"))["explanations"]
        model, = x["annotation"]["models"]
        self.assertEqual((model["mean"], model["selection"], model["dropped"], model["n"]), ("50 + 30 * n", "dominant", 1 / 200, 199))
        scope, = x["scopes"]
        self.assertEqual((scope["records"], [term["term"] for term in scope["terms"]]), (199, ["n"]))
        self.assertEqual([(s["callee"], round(s["share"], 9)) for s in scope["terms"][0]["shares"]], [("g", round(2 / 3, 9)), (None, round(1 / 3, 9))])

    def test_a_byte_order_mark_is_no_part_of_a_name(self):
        rows = "".join(f"{3 * n},{n}\n" for n in range(10))
        self.file("\ufeffcost,n\n" + rows, "c.csv")
        self.file("\ufeff" + HEADER + self.rows(range(10)), "a.txt")
        self.assertEqual([a["metric"] for a in self.read("c.csv", "-m", "cost")], ["cost"])
        self.assertEqual(self.read("a.txt")[0]["records"], 10)

    def test_truncated(self):
        """#calls says how many records there are, for each file; a file that was cut after a line has fewer."""
        head = HEADER + "#calls,1,50,20,0\n"
        self.printed("annotate", self.file(head + self.rows(range(20)), "a.txt"), "a.txt")
        said = "strobe: a file is truncated: {} of sort(int*, long) that its header announces (#calls) {} missing; record again to have all of them\n"
        for n, text in (15, said.format("5 records", "are")), (19, said.format("1 record", "is")):
            done = self.strobe("annotate", "a.txt", self.file(head + self.rows(range(n)), "b.txt"))
            self.assertEqual((done.returncode, done.stderr), (0, text))
            self.printed("annotate", "-q", "a.txt", "b.txt")
        self.printed("annotate", self.file(HEADER + "#calls,1,50,3,0\n" + self.rows(range(20)), "c.txt"))

    def test_where(self):
        self.file(HEADER + self.rows(range(40)), "a.txt")
        done = self.strobe("annotate", "--format", "json", "a.txt", "-m", "time", "--where", 'n >= 10 && kind == "list"')
        self.assertEqual((done.returncode, done.stderr), (0, "strobe: --where keeps 15 of 40 records\n"))
        got, = json.loads(done.stdout)["annotations"]
        self.assertEqual((got["records"], got["features"][0]["low"], got["features"][0]["high"]), (15, 11, 39))
        self.error(125, "--where 'n > 99' leaves none of 40 records", "annotate", "a.txt", "--where", "n > 99")
        self.error(2, "the records have no feature and no metric 'm' for --where", "annotate", "a.txt", "--where", "m > 99")
        self.error(2, "--where:1:4: a number, a name or an expression is expected here", "annotate", "a.txt", "--where", "n >")

    def test_absent_values(self):
        # Metrics that were not measured do not count as zeros. A feature that is absent in some records is a condition, not a term.
        rows = "".join(f"1,{3 + 2 * n if n % 4 else ''},{100 if n % 2 else 7},{n},{n if n % 2 else ''},\n" for n in range(48))
        time, size = self.read(self.file(HEADER + rows, "a.txt"))
        self.assertEqual((time["records"], time["models"][0]["mean"]), (36, "3 + 2 * n"))
        self.assertEqual([(m["condition"], m["mean"], m["sd"]) for m in size["models"]],
                         [("twice == twice", "100", "0"), ("!(twice == twice)", "7", "0")])

    def test_branch_gives_the_condition(self):
        # The cost is b^2 if a > 10, else 500; the branch gives the exact bound.
        text = HEADER.replace("twice", "b") + "#branch,1,sort+0x10\n"
        rows = "".join(f"1,{b * b if a > 10 else 500},1,{a},{b},k,{int(a > 10)},0,#\n" for a in range(0, 22) for b in range(8, 20))
        time = self.read(self.file(text + rows, "a.txt"), "-m", "time")[0]
        self.assertEqual([(m["condition"], m["mean"], m["sd"]) for m in time["models"]], [("n <= 10", "500", "0"), ("n > 10", "b^2", "0")])

    def test_wrong_files(self):
        for text, cause in [
            ("#strobe-records,2\n", ":1:17: this version of strobe reads version 1 of the format, not '2'"),
            ("#strobe-records,1\n1,2\n", ":2:1: no line '#function,1,NAME' precedes this line"),
            ("#strobe-records,1\n#function,x,f\n", ":2:11: the number of a function is expected, not 'x'"),
            ("#strobe-records,1\n#function,1,f\n#function,1,g\n", ":3:11: another function has the number 1 already"),
            ("#strobe-records,1\n#function,1,f\n#metric,1,2x\n", ":3:11: a name of letters, digits and _ is expected, not '2x'"),
            ("#strobe-records,1\n#function,1,f\n#metric,1,x\n#feature,1,x\n", ":4:12: the name 'x' occurs twice"),
            ("#strobe-records,1\n#function,1,f\n#feature,1,x,text\n", ":3:14: 'text' is not one of the words for a feature; the first one is number"),
            (HEADER + "1,2,3\n", ":8:5: the record has 3 fields, and the header says 6"),
            (HEADER + self.rows(range(9)) + "1,2", ":17:3: the record has 2 fields, and the header says 6: the file ends within this line, so it is truncated"),
            (HEADER + "1,2,-1e180,4,5,k\n", ":8:5: a metric of -1e180 is not between 1e-100 and 1e100: use another unit"),
            (HEADER + "1,2e-310,3,4,5,k\n", ":8:3: a metric of 2e-310 is not between 1e-100 and 1e100: use another unit"),
            (HEADER + "1,2,3,4,5,k,0\n", ":8:13: the record has more fields than the header says"),
            (HEADER + "1,2,3,four,5,k\n", ":8:7: 'four' is not a number"),
            (HEADER + '1,2,3,4,5,"k\n', ":8:11: the quotation mark that begins here is not closed"),
            (HEADER + '1,2,3,4,5,"k"x\n', ":8:11: something follows the closing quotation mark"),
        ]:
            with self.subTest(cause):
                self.error(2, "a.txt" + cause, "annotate", self.file(text, "a.txt"))
        self.error(125, "a.txt has no record: the program has no debug information",
                   "annotate", self.file("#strobe-records,1\n#note,the program has no debug information\n", "a.txt"))
        self.error(125, "cannot read the records 'none': No such file or directory", "annotate", "none")
        self.error(125, "sort(int*, long) has 5 records with time, and a model needs 6: record more calls",
                   "annotate", self.file(HEADER + self.rows(range(5)), "a.txt"), "-m", "time")
        (self.place / "b").write_bytes(b"\x7fELF\0\0")
        self.error(2, "b has a byte that is 0: it is neither a file of records nor a text file of columns; "
                      "if it is a program, write -- before it", "annotate", "b")
        self.error(2, "no function of the records matches 'g*'; the first one is sort(int*, long)", "annotate", "a.txt", "-F", "g*")
        self.error(2, "no metric of the records is named 'x'; the first one is time", "annotate", "a.txt", "-m", "x")


class Columns(Annotate):
    """Text files of columns."""

    def test_law(self):
        text = "y,x\n" + "".join(f"{3 + 2 * x},{x}\n" for x in range(10))
        for form in (text, text.replace(",", ";"), text.replace(",", "\t"), text.replace("\n", "\r\n"), text[:-1]):
            got, = self.read(self.file(form, "calls.csv"))
            self.assertEqual((got["function"], got["metric"], got["models"][0]["mean"]), ("calls", "y", "3 + 2 * x"))
        got, = self.read("-", "--function", "f", input=text)
        self.assertEqual(got["function"], "f")

    def test_chosen_metrics_and_categories(self):
        text = "n,kind,wall time,mem\n" + "".join(f"{n},{k},{n * n if k == 'a' else 7},{n}\n" for n in range(12) for k in "ab")
        time, memory = self.read(self.file(text), "-m", "wall time:ms,mem")
        self.assertEqual((time["metric"], time["unit"], memory["unit"]), ("wall_time", "ms", None))
        self.assertEqual([(m["condition"], m["mean"]) for m in time["models"]], [('kind == "a"', "n^2"), ('kind == "b"', "7")])
        self.error(2, "records.csv:1:1: there is no column 'x'; the first is 'n'", "annotate", "records.csv", "-m", "x")

    def test_large_and_small_features(self):
        """Features may be so large that their squares are no numbers; they are still compared with each other."""
        for scale in ("e160", "e-160"):
            got, = self.read(self.file("y,x,twice\n" + "".join(f"{n},{n}{scale},{2 * n}{scale}\n" for n in range(1, 30))))
            self.assertEqual((got["features"][0]["name"], got["features"][0]["also"]), ("x", ["twice"]))

    def test_wrong_lines(self):
        self.error(2, "records.csv:3:1: the line has 1 fields, and the first line 2: the file ends within this line, so it is truncated",
                   "annotate", self.file("y,x\n1,2\n1"))
        self.error(2, "records.csv:2:1: a metric of 1e200 is not between 1e-100 and 1e100: use another unit", "annotate", self.file("y,x\n1e200,2\n"))
        self.error(2, "records.csv:3:5: the line has 3 fields, and the first line 2", "annotate", self.file("y,x\n1,2\n1,2,3\n"))
        self.error(2, "records.csv:2:1: 'one' is not a number", "annotate", self.file("y,x\none,2\n"))
        self.error(125, "records.csv has no record after its first line", "annotate", self.file("y,x\n"))
        self.error(125, "records.csv has no record: it is empty", "annotate", self.file(""))


class Predict(Annotate):
    """Predictions from files, and the formats of annotations."""

    def setUp(self):
        super().setUp()
        rng = random.Random(7)
        self.file("time,n\n" + "".join(f"{100 + 20 * n + rng.gauss(0, 5)},{n}\n" for n in range(200)), "f.csv")
        self.printed("annotate", "f.csv", "-m", "time:us", "-o", "f.ann")

    def test_values_of_other_scopes_are_not_needed(self):
        text = ("f.time(kind, n) {\n    number kind = kind; //: range 0 1\n    number n = n; //: range 1 9\n"
                "    [kind == 0] Norm(5, 1);\n    [kind == 1] Norm(2 * n, 1);\n}\n")
        self.file(text, "scopes.ann")
        self.assertIn(" 5, standard deviation 1,", self.printed("predict", "scopes.ann", "f", "time", "kind=0"))
        self.assertIn(" 8, standard deviation 1,", self.printed("predict", "scopes.ann", "f", "time", "kind=1", "n=4"))
        self.error(2, "f.time depends on 'n': give its value as n=VALUE", "predict", "scopes.ann", "f", "time", "kind=1")
        self.error(2, "f.time depends on 'kind': give its value as kind=VALUE", "predict", "scopes.ann", "f", "time", "n=4")
        self.error(2, "'n' is given twice", "predict", "scopes.ann", "f", "time", "kind=1", "n=4", "n=5")

    def test_a_selection_is_said(self):
        self.file("f.time(n) {\n    number n = n; //: range 1 9\n    Norm(2 * n, 1); //: n 71; selection dominant; dropped 0.29\n}\n", "part.ann")
        done = subprocess.run([STROBE, "predict", "part.ann", "f", "time", "n=4"], cwd=self.place, capture_output=True, text=True, timeout=120, check=True)
        self.assertEqual(done.stderr, "strobe: the model leaves out 29 % of the records (selection): the same share of the calls can cost more or less\n")
        self.assertEqual(json.loads(self.printed("predict", "part.ann", "f", "time", "n=4", "--format", "json"))["left_out"], 0.29)

    def test_same_as_the_model(self):
        model = self.read("f.csv", "-m", "time:us")[0]["models"][0]
        b = [t["coefficient"] for t in model["terms"]]
        got = json.loads(self.printed("predict", "f.ann", "f", "time", "n=50", "--format", "json"))
        self.assertEqual((got["mean"], got["sd"], got["inside"]), (b[0] + b[1] * 50, float(model["sd"]), True))
        for end, sign in zip(got["interval"], (-1, 1)):
            self.assertAlmostEqual(end, got["mean"] + sign * 1.959963984540054 * got["sd"], places=6)
        self.assertAlmostEqual(b[1], 20, delta=4 * model["terms"][1]["se"])
        wide = json.loads(self.printed("predict", "f.ann", "f", "time", "n=50", "--format", "json", "--level", "99"))
        self.assertAlmostEqual(wide["interval"][1], got["mean"] + 2.5758293035489004 * got["sd"], places=6)

    def test_outside(self):
        done = self.strobe("predict", "f.ann", "f", "time", "n=1000")
        self.assertEqual((done.returncode, done.stderr), (0, "strobe: n = 1000 is outside the observed range, 0 to 199\n"))
        self.assertRegex(done.stdout, r"^time of f: 20\d\d\d(\.\d+)? us, standard deviation \S+, 95 % between \S+ and \S+\n$")
        self.assertFalse(json.loads(self.printed("predict", "f.ann", "f", "time", "n=1000", "--format", "json"))["inside"])

    def test_a_time_is_not_below_0(self):
        """The normal distribution of a small time reaches below 0: its interval does not. Counts keep theirs."""
        law = "f.%s(n) {\n    number n = n; //: range -9 9\n    Norm(10 * n, 10);\n}\n"
        self.file("//: unit ns\n" + law % "time" + "\n" + law % "balance", "low.ann")
        for metric, low in (("time", 0), ("balance", 10 - 19.59963984540054)):
            got = json.loads(self.printed("predict", "low.ann", "f", metric, "n=1", "--format", "json"))
            self.assertAlmostEqual(got["interval"][0], low, places=6)
            self.assertAlmostEqual(got["interval"][1], 10 + 19.59963984540054, places=6)
        self.assertEqual(self.printed("predict", "low.ann", "f", "time", "n=1"), "time of f: 10 ns, standard deviation 10, 95 % between 0 and 29.5996\n")
        done = self.strobe("predict", "low.ann", "f", "time", "n=-9")
        self.assertEqual((done.stdout, done.stderr), ("time of f: -90 ns, standard deviation 10, 95 % between 0 and 0\n",
                                                      "strobe: the model predicts a time below 0, so that it does not hold for these values\n"))

    def test_numbers_for_people(self):
        self.file("f.count(n) {\n    number n = n; //: range 1 1e7\n    Norm(12.3456789 * n, 1.23456789);\n}\n", "long.ann")
        for n, mean in (("1", "12.3457"), ("1e3", "12345.7"), ("1e6", "12345679"), ("1e16", "1.23457e+17")):
            self.assertEqual(self.strobe("predict", "long.ann", "f", "count", f"n={n}").stdout.split(", ")[:2],
                             [f"count of f: {mean}", "standard deviation 1.23457"])
        self.assertEqual(json.loads(self.printed("predict", "long.ann", "f", "count", "n=1", "--format", "json"))["mean"], 12.3456789)

    def test_the_interval_of_an_exact_model_is_its_value(self):
        self.file("f.x(n) { number n = n; [n <= 5] Norm(0.1 + 0.2 * n, 0); [n > 5] { {0.5} Norm(0.3, 0); {0.5} Norm(0.7, 0); } }", "p.ann")
        for n, interval in ((1, [0.1 + 0.2 * 1] * 2), (3, [0.1 + 0.2 * 3] * 2), (7, [0.3, 0.7])):
            self.assertEqual(json.loads(self.printed("predict", "p.ann", "f", "x", f"n={n}", "--format", "json"))["interval"], interval)

    def test_sources_of_any_kind(self):
        for path, parameter in (("v->end - v->begin", "v"), ("strlen(*s)", "s"), ("v.size()", "v"), ("p->a[2] * 4", "p"), ("*v == NULL", "v"),
                                (";", ""), ("/* x */ v", "")):
            with self.subTest(path):
                self.file(HEADER.replace(",n\n", f",{path}\n", 1) + "".join(f"1,{3 + 2 * n},,{n},,\n" for n in range(20)), "g.txt")
                self.printed("annotate", "g.txt", "-m", "time", "-o", "g.ann")
                self.assertEqual(self.printed("predict", "g.ann", "sort", "time", "n=5"),
                                 "time of sort(int*, long): 13 ns, standard deviation 0, 95 % between 13 and 13\n")
                self.assertIn(f".time({parameter})", (self.place / "g.ann").read_text())

    def test_no_scope(self):
        self.file("f.time(n) { number n = n; [n < 10] Norm(n, 1); }\n", "g.ann")
        self.assertEqual(self.printed("predict", "g.ann", "f", "time", "n=10"),
                         "time of f: cannot tell: no condition of the annotation holds for these values\n")
        self.assertEqual(json.loads(self.printed("predict", "g.ann", "f", "time", "n=10", "--format", "json")),
                         {"mean": None, "sd": None, "interval": None, "inside": False, "left_out": 0})

    def test_categories(self):
        self.file('"f(int)".time(k) { category k = k; [k == "IN"] 5; [k != "IN"] 7; }\n', "g.ann")
        self.assertEqual(self.printed("predict", "g.ann", "f", "time", "k=IN"), "time of f(int): 5\n")
        self.assertEqual(self.printed("predict", "g.ann", "f(int)", "time", "k=OR"), "time of f(int): 7\n")

    def test_errors(self):
        self.error(2, "f.time depends on 'n': give its value as n=VALUE", "predict", "f.ann", "f", "time")
        self.error(2, "f.time does not depend on 'm'; did you mean 'n'?", "predict", "f.ann", "f", "time", "m=1")
        self.error(2, "f.ann has no annotation of the metric 'bytes' of f", "predict", "f.ann", "f", "bytes", "n=1")
        self.error(2, "a value is given as NAME=VALUE, not as '5'", "predict", "f.ann", "f", "time", "5")
        self.error(2, "a function and a metric are needed: strobe predict [FILE] FUNCTION METRIC NAME=VALUE...",
                   "predict", "f.ann")
        self.error(125, "cannot read the annotations 'none': No such file or directory", "predict", "none", "f", "time")
        self.file("g.time(n) { number n = n; Norm(log(n), 1); }", "g.ann")
        self.error(125, "the model of g.time is undefined for these values: it holds in the observed ranges only", "predict", "g.ann", "g", "time", "n=0")
        self.error(2, "g.time calculates with 'n': its value must be a number", "predict", "g.ann", "g", "time", "n=x")
        self.file("f.time( {", "g.ann")
        self.error(2, "g.ann:1:9: the name of a parameter is expected here", "predict", "g.ann", "f", "time")

    def test_forms(self):
        markdown = self.printed("annotate", "f.csv", "-m", "time:us", "--format", "markdown")
        self.assertTrue(markdown.startswith("### time of `f`\n\n200 records, in us.\n\n- `n` is `n`, observed from 0 to 199\n"), markdown)
        comment = self.printed("annotate", "f.csv", "-m", "time:us", "--format", "c")
        self.assertTrue(comment.startswith("/*\n * //: unit us\n") and comment.endswith(" * }\n */\n"), comment)
        # The terminal shows the same language with fewer digits.
        (self.place / "shown.ann").write_text(self.printed("annotate", "f.csv", "-m", "time:us"))
        shown = json.loads(self.printed("predict", "shown.ann", "f", "time", "n=50", "--format", "json"))
        whole = json.loads(self.printed("predict", "f.ann", "f", "time", "n=50", "--format", "json"))
        self.assertAlmostEqual(shown["mean"] / whole["mean"], 1, delta=1e-4)


class Contracts(Annotate):
    """Contracts: verdicts, exit codes and messages."""

    def setUp(self):
        super().setUp()
        self.file("time,count,n\n" + "".join(f"{5 * n},{12 * n + 300},{n}\n" for n in range(1, 101)), "parse.csv")

    def check(self, code, contracts, *words):
        self.file(contracts, "contracts")
        done = self.strobe("annotate", "--contracts", "contracts", "-m", "time:us,count", "parse.csv", *words)
        self.assertEqual((done.returncode, done.stderr), (code, ""))
        return done.stdout

    def test_verdicts(self):
        self.assertEqual(self.check(0, "# bounds\n\ncount(parse) <= 12*n + 300\n"),
                         "kept: count(parse) <= 12*n + 300\n"
                         "  0 of 100 records are above the bound; record 1 has 312, and its bound is 312\n")
        self.assertEqual(self.check(0, "count(parse) <= 12*n + 300\n", "-q"), "")
        self.assertEqual(self.check(1, "count(parse) <= 12*n + 300\ncount(parse) <= 13*n + 250 @p90\n", "-q"),
                         "broken: count(parse) <= 13*n + 250 @p90\n"
                         "  49 of 100 records are above the bound; record 1 has 312, and its bound is 263\n"
                         "  40.8 % to 61.14 % of the calls are within the bound (95 % confidence)\n")
        self.assertEqual(self.check(1, "time(sort) <= 5ms\n"),
                         "not exercised: time(sort) <= 5ms\n  the contract applies to no record: record calls of sort with the metric time\n")
        got = json.loads(self.check(3, "time(parse) <= 0.0051ms*n @p99 for n in 1..20\n", "--format", "json"))
        self.assertEqual(got["strobe"], {"version": 1, "tool": "contracts"})
        one, = got["contracts"]
        self.assertEqual((one["verdict"], one["records"], one["above"], one["quantile"], one["line"]), ("cannot tell", 20, 0, 0.99, 1))
        self.assertAlmostEqual(one["share"][0], 0.8315665, places=6)  # 0.025 ** (1 / 20)

    def growth(self, code, rows, expression):
        self.file("y,n\n" + "".join(f"{y!r},{n}\n" for n, y in rows), "f.csv")
        self.file(f"y(f) ~ {expression}", "growth")
        done = self.strobe("annotate", "--contracts", "growth", "--format", "json", "f.csv")
        self.assertEqual((done.returncode, done.stderr), (code, ""))
        return json.loads(done.stdout)["contracts"][0]

    def test_growth(self):
        sizes = range(1, 200)
        for code, law, expression in (
                (0, lambda n: 3 * n + 5, "n"), (0, lambda n: 7, "n"), (0, lambda n: math.ceil(math.log2(n)), "n"),
                (1, lambda n: round(n * math.log2(n)), "n"), (1, lambda n: n * n, "n"),
                (0, lambda n: round(n * math.log2(n)), "n*log(n)"), (1, lambda n: n * n, "n*log(n)"), (0, lambda n: n * n, "n^2"),
                (0, lambda n: 1000 - n, "n"), (1, lambda n: n, "sqrt(n)")):
            self.growth(code, [(n, law(n)) for n in sizes], expression)
        self.growth(0, [(n, 2 ** math.ceil(math.log2(n))) for n in range(1, 1000)], "n")
        # Three sizes show that n became n^2.
        self.growth(0, [(n, 4 * n) for n in (100, 200, 400)] * 2, "n")
        got = self.growth(1, [(n, n * n) for n in (100, 200, 400)] * 2, "n")
        # n^2 from 100 to 400 begins with the slope 200: 60,000 of its growth of 150,000 is on the line, and 90,000 is above it.
        self.assertAlmostEqual(got["growth"]["bend"], 0.6, places=9)
        self.assertEqual((got["growth"]["range"], got["records"], got["worst"]), ([100, 400], 6, None))
        # A metric that is always 0 does not grow.
        self.assertIsNone(self.growth(0, [(n, 0) for n in sizes], "n")["growth"]["bend"])
        # Two sizes, two sizes and one that hardly differs from them, three records, and a narrow range decide nothing.
        for rows in ([(n, n) for n in (1, 2)] * 9, [(n, n) for n in (1, 2, 10 ** 7)] * 9, [(n, n) for n in (1, 2, 3)],
                     [(n, n) for n in range(100, 199)]):
            self.assertEqual(self.growth(3, rows, "n")["verdict"], "cannot tell")

    def test_growth_as_by_hand(self):
        # The bend and HC3 of its difference from the line, by other formulas: the parabola in polynomials that are orthogonal over the sizes.
        rng = random.Random(5)
        rows = [(n, 50 + 2 * n + 0.02 * n * n + n * rng.uniform(-0.3, 0.3)) for n in range(5, 80)]
        got = self.growth(1, rows, "n")["growth"]
        z = [(n - 5) / 74 for n, _ in rows]
        basis = []
        for power in range(3):
            v = [x ** power for x in z]
            for u in basis:
                dot = sum(a * b for a, b in zip(u, v))
                v = [b - dot * a for a, b in zip(u, v)]
            size = math.sqrt(sum(a * a for a in v))
            basis.append([a / size for a in v])
        y = [cost for _, cost in rows]
        fit = [sum(u[i] * sum(a * b for a, b in zip(u, y)) for u in basis) for i in range(len(y))]
        leverage = [sum(u[i] ** 2 for u in basis) for i in range(len(y))]
        # z is even, so that differences of three fitted values give the parabola.
        c = (fit[0] - 2 * fit[37] + fit[74]) / (2 * 0.25)
        bend = c / (fit[74] - fit[0])
        self.assertAlmostEqual(got["bend"], bend, places=9)

        def part(i, values):
            """What the cost i adds to (1 - bend) c - bend b of a fit."""
            at = [sum(u[k] * u[i] for u in basis) for k in (0, 37, 74)]
            return ((at[0] - 2 * at[1] + at[2]) / 0.5 - bend * (at[2] - at[0])) * values[i]
        residuals = [(a - b) / (1 - h) for a, b, h in zip(y, fit, leverage)]
        own = sum(part(i, residuals) ** 2 for i in range(len(y)))
        ones = [1] * len(y)
        usual = sum(part(i, ones) ** 2 for i in range(len(y))) * sum((a - b) ** 2 for a, b in zip(y, fit)) / (len(y) - 3)
        half = (got["interval"][1] - got["interval"][0]) / 2 * (fit[74] - fit[0])
        quantile = half / math.sqrt(max(own, usual))
        self.assertTrue(3.3 < quantile < 4.6, quantile)  # Student's at 0.0005, with 10 to infinitely many degrees of freedom

    def test_errors(self):
        self.file("time(parse) <= m", "contracts")
        self.error(2, "the records of parse have no feature 'm' for the contract in line 1", "annotate", "--contracts", "contracts", "parse.csv")
        self.file("time(parse) <= 1000 / (n - 7)", "contracts")
        self.error(2, "the bound of the contract in line 1 is not a finite number for record 7 of parse, for example after a division by 0: change the bound, or "
                   "exclude the record with 'for NAME in LOW..HIGH'", "annotate", "--contracts", "contracts", "parse.csv")
        self.file("time(parse) <= 9ns*n", "contracts")
        self.error(2, "the contract in line 1 has a time in ns, but the unit of time in the records of parse is not one of time: write the bound "
                   "without a unit, or name the unit of a column with -m NAME:UNIT", "annotate", "--contracts", "contracts", "parse.csv")
        self.file("\ntime(parse) < 3", "contracts")
        self.error(2, "contracts:2:13: '<=' is expected after the function, not '<'", "annotate", "--contracts", "contracts", "parse.csv")
        self.error(2, "--contracts makes no annotations: leave out --output", "annotate", "--contracts", "contracts", "-o", "x", "parse.csv")
        self.error(125, "cannot read the contracts 'none': No such file or directory", "annotate", "--contracts", "none", "parse.csv")


class Kept(Annotate):
    """Annotations that a project keeps."""

    def setUp(self):
        super().setUp()
        (self.place / ".strobe").mkdir()
        self.file(HEADER + "".join(f"1,{3 + 2 * n},{24 * n},{n},1,k\n" for n in range(20)), "a.txt")
        self.file("#strobe-records,1\n#function,1,find(int),/lib/libfind.so,aa,0x1\n#metric,1,time,ns\n#feature,1,n\n" +
                  "".join(f"1,{7 * n},{n}\n" for n in range(20)), "b.txt")

    def save(self, *words):
        done = self.strobe("annotate", "--save", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def kept(self):
        folder = self.place / ".strobe/annotations"
        return {p.name: [line for line in p.read_text().splitlines() if line[:1] not in "\t}/ "] for p in sorted(folder.iterdir())}

    def test_files_of_images(self):
        place = os.path.realpath(self.place)
        self.assertEqual(self.save("a.txt", "b.txt"), f"strobe: kept 2 annotations in {place}/.strobe/annotations/sort.ann\n"
                                                      f"strobe: kept 1 annotation in {place}/.strobe/annotations/libfind.so.ann\n")
        self.assertEqual({name: len(lines) for name, lines in self.kept().items()}, {"sort.ann": 2, "libfind.so.ann": 1})
        # The file has every digit that predictions need, and is what an analysis with -o writes.
        self.printed("annotate", "-o", "whole.ann", "a.txt", "b.txt")
        whole = (self.place / "whole.ann").read_text()
        self.assertEqual("\n".join((self.place / ".strobe/annotations" / name).read_text() for name in ("sort.ann", "libfind.so.ann")), whole)

    def test_others_stay(self):
        self.save("-q", "a.txt")
        before = self.kept()
        self.assertEqual(self.save("-q", "b.txt"), "")
        self.assertEqual(self.kept() | before, self.kept())
        # One metric of the two is replaced: the other one and the order stay.
        rows = "".join(f"1,{5 + 4 * n},{24 * n},{n},1,k\n" for n in range(20))
        self.save("-q", "-m", "time", self.file(HEADER + rows, "c.txt"))
        self.assertEqual({name: len(lines) for name, lines in self.kept().items()}, {"sort.ann": 2, "libfind.so.ann": 1})
        self.assertIn(" 65 ns", self.printed("predict", "sort", "time", "n=15"))
        self.assertIn(" 360 bytes", self.printed("predict", "sort", "bytes", "n=15"))

    def test_predict(self):
        self.error(2, f"the project has no annotations in {os.path.realpath(self.place)}/.strobe/annotations: make some with strobe annotate "
                      "--save FILE..., or name a file of annotations", "predict", "sort", "time", "n=3")
        self.save("a.txt", "b.txt")
        (self.place / "below").mkdir()
        for words, mean in ((("sort", "time", "n=3"), "9 ns"), (("sort(int*, long)", "bytes", "n=3"), "72 bytes"), (("find", "time", "n=2"), "14 ns")):
            self.assertIn(f" {mean}", self.printed("predict", *words))
            done = subprocess.run([STROBE, "predict", *words], cwd=self.place / "below", capture_output=True, text=True, timeout=120)
            self.assertIn(f" {mean}", done.stdout)
        folder = f"{os.path.realpath(self.place)}/.strobe/annotations"
        self.error(2, f"{folder} has no annotation of the metric 'cpu' of find", "predict", "find", "cpu")
        self.error(2, "a value is given as NAME=VALUE, not as 'time'", "predict", "find", "time", "n=1", "time")

    def test_no_image(self):
        self.save("-q", self.file("y,n\n" + "".join(f"{n},{n}\n" for n in range(9)), "plain.csv"))
        self.assertEqual(list(self.kept()), ["no-image.ann"])
        self.assertIn(": 4", self.printed("predict", "plain", "y", "n=4"))

    def test_damaged_file(self):
        (self.place / ".strobe/annotations").mkdir()
        (self.place / ".strobe/annotations/sort.ann").write_text("f.time(")
        done = self.strobe("predict", "f", "time")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"/\.strobe/annotations/sort\.ann:1:8: ")
        done = self.strobe("annotate", "--save", "a.txt")
        self.assertEqual(done.returncode, 2)
        self.assertEqual((self.place / ".strobe/annotations/sort.ann").read_text(), "f.time(")

    def test_usage(self):
        self.error(2, "--contracts makes no annotations: leave out --save", "annotate", "--contracts", "c", "--save", "a.txt")
        self.error(125, "--where, --without, --function, --contracts, --check, --explain, --save, --class and --min-r2 are for the analysis of records: strobe annotate FILE...",
                   "annotate", "--save", "-o", "x", "--", "true")


class Check(Annotate):
    """New records against an annotation."""

    def setUp(self):
        super().setUp()
        self.rng = random.Random(7)
        self.records("old.csv", lambda n: 50 + 3 * n + self.rng.gauss(0, 10), range(1, 300))
        self.printed("annotate", "--function", "f", "-o", "old.ann", "old.csv")

    def records(self, name, cost, sizes):
        return self.file("y,n\n" + "".join(f"{cost(n)},{n}\n" for n in sizes), name)

    def check(self, code, name, *words, kept="old.ann"):
        done = self.strobe("annotate", "--function", "f", "--check", "--kept", kept, "--format", "json", name, *words)
        self.assertEqual((done.returncode, done.stderr), (code, ""), done.stdout)
        got = json.loads(done.stdout)
        self.assertEqual(got["strobe"], {"version": 1, "tool": "annotate-check"})
        return got["checks"][0]

    def verdicts(self, got):
        return {f["aspect"]: f["verdict"] for f in got["findings"]}

    def test_unchanged(self):
        got = self.check(0, self.records("new.csv", lambda n: 50 + 3 * n + self.rng.gauss(0, 10), range(1, 300)))
        self.assertEqual(self.verdicts(got), {"mean": "kept", "largest": "kept", "spread": "kept"})
        self.assertEqual((got["compared"], got["outside"], got["uncovered"], got["now"], got["reason"]), (299, 0, 0, None, None))
        # The findings as they are by hand: the means of the costs and of the predictions.
        model, = got["annotation"]["models"]
        b, a = (t["coefficient"] for t in model["terms"])
        mean, largest, spread = got["findings"]
        new = [tuple(map(float, line.split(","))) for line in (self.place / "new.csv").read_text().split()[1:]]
        self.assertAlmostEqual(mean["value"], sum(y for y, _ in new) / 299, places=6)
        self.assertAlmostEqual(mean["annotated"], b + a * 150, places=6)
        self.assertAlmostEqual(largest["annotated"], b + a * 299, places=6)
        rest = [(n, y - b - a * n) for y, n in new]
        slope = sum((n - 150) * r for n, r in rest) / sum((n - 150) ** 2 for n, _ in rest)
        shift = sum(r for _, r in rest) / 299
        self.assertAlmostEqual(largest["value"] - largest["annotated"], shift + slope * 149, places=6)
        self.assertAlmostEqual(spread["value"], math.sqrt(sum((r - shift - slope * (n - 150)) ** 2 for n, r in rest) / 297), places=6)
        self.assertAlmostEqual(spread["annotated"], float(model["sd"]), places=6)

    def test_growth_became_quadratic(self):
        # One run of three sizes shows it, with noise and with exact counts.
        self.assertEqual(self.check(1, self.records("new.csv", lambda n: n * n, [100, 150, 200] * 2))["now"]["models"][0]["mean"], "n^2")
        self.records("exact.csv", lambda n: 4 * n, range(1, 40))
        self.printed("annotate", "--function", "f", "-o", "exact.ann", "exact.csv")
        got = self.check(1, self.records("new.csv", lambda n: n * n, [10, 20, 30] * 2), kept="exact.ann")
        self.assertEqual((got["verdict"], got["now"]["models"][0]["class"]), ("broken", "quadratic"))
        got = self.check(0, self.records("new.csv", lambda n: 4 * n, [10, 20, 30] * 2), kept="exact.ann")
        for finding, value in zip(got["findings"], (80, 120, 0)):
            self.assertAlmostEqual(finding["interval"][0], value)
            self.assertAlmostEqual(finding["interval"][1], value)

    def test_margin(self):
        self.records("new.csv", lambda n: 1.1 * (50 + 3 * n) + self.rng.gauss(0, 10), range(1, 300))
        self.assertEqual(self.verdicts(self.check(1, "new.csv")), {"mean": "broken", "largest": "broken", "spread": "kept"})
        self.check(0, "new.csv", "--margin", "20")
        self.check(3, "new.csv", "--margin", "10")
        self.records("new.csv", lambda n: 0.8 * (50 + 3 * n) + self.rng.gauss(0, 10), range(1, 300))
        self.assertEqual(self.check(0, "new.csv")["verdict"], "lower")

    def test_spread(self):
        got = self.check(1, self.records("new.csv", lambda n: 50 + 3 * n + self.rng.gauss(0, 80), range(1, 300)))
        self.assertEqual(self.verdicts(got)["spread"], "broken")

    def test_shares(self):
        def modes(*costs):
            return lambda n: self.rng.choice(costs) + self.rng.gauss(0, 10)
        self.records("modes.csv", modes(900, 600, 300), range(1, 5000))
        self.printed("annotate", "--function", "f", "-o", "modes.ann", "modes.csv")
        got = self.check(0, self.records("new.csv", modes(900, 600, 300), range(1, 5000)), "--margin", "10", kept="modes.ann")
        self.assertEqual([(f["scope"], f["mode"], f["verdict"]) for f in got["findings"]][2:], [(0, 1, "kept"), (0, 2, "kept")])
        new = [float(line.split(",")[0]) for line in (self.place / "new.csv").read_text().split()[1:]]
        for finding, bound in zip(got["findings"][2:], (450, 750)):
            self.assertAlmostEqual(finding["value"], sum(y > bound for y in new) / len(new), places=9)
        got = self.check(1, self.records("new.csv", modes(900, 900, 900, 600, 300), range(1, 3000)), kept="modes.ann")
        self.assertEqual([f["verdict"] for f in got["findings"] if f["aspect"] == "share"], ["broken", "broken"])
        got = self.check(0, self.records("new.csv", modes(900, 600, 300, 300, 300), range(1, 3000)), kept="modes.ann")
        self.assertEqual(got["verdict"], "lower")

    def test_nothing_to_compare(self):
        got = self.check(3, self.records("new.csv", lambda n: n, range(400, 600)))
        self.assertEqual((got["verdict"], got["outside"], got["records"], got["findings"]), ("cannot tell", 200, 200, []))
        self.assertEqual(got["reason"], "0 records are inside the observed ranges and conditions, and 6 are needed")
        got = self.check(3, self.file("y,m\n" + "1,2\n" * 9, "new.csv"))
        self.assertEqual(got["reason"], "the records have no feature 'n', which the annotation needs")
        self.file("f.y(n) {\n\tnumber n = n;\n\t[n < 9] Norm(n, 1); //: n 20; selection lower\n}\ng.y(n) { 3; }\n", "hand.ann")
        self.records("new.csv", lambda n: n, range(5, 20))
        self.assertEqual(self.check(3, "new.csv", kept="hand.ann")["reason"], "its model describes selected records only (selection lower)")
        self.file("f.y(n) {\n\tnumber n = n;\n\t[n < 12] 1 * n;\n}\n", "hand.ann")
        got = self.check(0, "new.csv", kept="hand.ann")
        self.assertEqual((got["compared"], got["uncovered"], self.verdicts(got)), (7, 8, {"mean": "kept", "largest": "kept"}))

    def test_text_and_project(self):
        (self.place / ".strobe").mkdir()
        self.printed("annotate", "-q", "--save", "--function", "f", self.records("a.csv", lambda n: 2 * n, range(1, 20)))
        self.printed("annotate", "-q", "--save", "--function", "g", "a.csv")
        done = self.strobe("annotate", "--check", "--function", "f", self.records("b.csv", lambda n: 4 * n, range(1, 20)))
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertEqual(done.stdout, "broken: y of f\n  19 records are compared\n  mean: 40, +100 % (+100 % to +100 %): broken\n"
                                      "  where 38 is predicted: 76, +100 % (+100 % to +100 %): broken\n"
                                      "  standard deviation: 0 (0 to 0), annotated: 0: kept\n"
                                      "  annotation: Norm(2 * n, 0)\n  records: Norm(4 * n, 0)\n"
                                      "not exercised: y of g\n  the records have no call of this function with this metric\n")
        self.assertEqual(self.printed("annotate", "--check", "--function", "f", "-F", "f", "-q", "a.csv"), "")
        self.assertEqual(self.strobe("annotate", "--check", "--function", "f", "a.csv").returncode, 3)
        self.error(2, f"{os.path.realpath(self.place)}/.strobe/annotations has no annotation of a function and a metric of the records",
                   "annotate", "--check", "--function", "h", "a.csv")
        # A cost of 0 has no percents.
        self.printed("annotate", "-q", "--save", "--function", "f", self.records("zero.csv", lambda n: 0, range(1, 20)))
        done = self.strobe("annotate", "--check", "-F", "f", "--function", "f", self.records("one.csv", lambda n: 1, range(1, 20)))
        self.assertEqual(done.returncode, 1)
        self.assertIn("  mean: 1 (1 to 1), annotated: 0: broken\n", done.stdout)

    def test_equal_names(self):
        # Static functions of two source files: the last one is kept, and it is compared.
        (self.place / ".strobe").mkdir()
        header = '#function,{0},f,/bin/p,aa,0x{0}\n#metric,{0},y,ns\n#feature,{0},n\n'
        text = "#strobe-records,1\n" + header.format(1) + header.format(2)
        self.file(text + "".join(f"1,{9 * n},{n}\n2,{2 * n},{n}\n" for n in range(1, 20)), "two.txt")
        self.printed("annotate", "-q", "--save", "two.txt")
        self.assertEqual(self.printed("annotate", "--check", "-q", "two.txt"), "")

    def test_records_that_are_not_compared(self):
        self.file("f.y(n) {\n\tnumber n = n;\n\t[n < 12] 1 * n;\n}\n", "hand.ann")
        self.records("new.csv", lambda n: n, range(5, 20))
        self.assertTrue(self.printed("annotate", "--function", "f", "--check", "--kept", "hand.ann", "new.csv").startswith(
            "kept: y of f\n  7 records are compared\n"
            "  not compared: 0 with features outside the observed ranges, 8 for which no condition holds\n  mean: "))

    def test_usage(self):
        self.error(2, "--margin can only be used with --check", "annotate", "--margin", "3", "old.csv")
        self.error(125, "--alarm can only be used with --check", "annotate", "--alarm", "3", "-o", "x", "--", "true")
        self.error(2, "--alarm takes percents from 0.0001 to 100, not '0'", "annotate", "--check", "--alarm", "0", "old.csv")
        self.error(2, "--margin takes percents from 0 to 100, not '-1'", "annotate", "--check", "--margin=-1", "old.csv")
        self.error(2, "--check makes no annotations: leave out --save", "annotate", "--check", "--save", "old.csv")
        self.error(2, "--check and --contracts are different checks: give one of them", "annotate", "--check", "--contracts", "c", "old.csv")
        self.error(125, "cannot read the annotations 'none': No such file or directory", "annotate", "--check", "--kept", "none", "old.csv")


class Usage(Annotate):
    def test_errors(self):
        self.error(2, "no records given: strobe annotate FILE... analyses records of calls; strobe annotate -o FILE [-F NAMES] -- PROGRAM "
                      "makes them", "annotate")
        self.error(2, "--min-r2 takes a number between 0 and 1, not '2'", "annotate", "--min-r2", "2", "x")
        for option in ("--depth", "--max-features", "--keep", "--image"):
            self.error(2, f"{option} is for recording: strobe annotate -o FILE -- PROGRAM", "annotate", option, "3", "x")
        done = self.strobe("annotate", "--class", "cube", "x")
        self.assertEqual(done.returncode, 2)
        self.assertIn("nlogn", done.stderr)

    def test_classes_on_request(self):
        rows = "".join(f"{5 * math.sqrt(x) + 1},{x}\n" for x in range(0, 400, 3))
        got, = self.read(self.file("y,x\n" + rows), "--class", "constant,sqrt,linear")
        self.assertEqual([(m["class"], m["mean"]) for m in got["models"]], [("sqrt", "1 + 5 * sqrt(x)")])
        cubic = "".join(f"{2 * x ** 3},{x}\n" for x in range(30))
        self.assertEqual(self.read(self.file("y,x\n" + cubic), "--class", "cubic")[0]["models"][0]["mean"], "2 * x^3")

    def test_same_result_twice(self):
        rng = random.Random(3)
        text = "y,a,b\n" + "".join(f"{rng.choice([900, 600, 300]) + rng.gauss(0, 10)},{rng.random()},{rng.random()}\n" for _ in range(500))
        self.file(text)
        first = self.printed("annotate", "records.csv")
        self.assertEqual(first, self.printed("annotate", "records.csv"))
        self.assertEqual(len(re.findall(r"^\t\{0\.\d+\} Norm", first, re.M)), 3)


if __name__ == "__main__":
    unittest.main()
