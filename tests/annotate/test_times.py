#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of times: differences between processes, other speeds of the processor, and slow calls.

usage: test_times.py STROBE
"""
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

STROBE = pathlib.Path(sys.argv.pop(1)).resolve()


class Times(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(folder.cleanup)
        self.place = pathlib.Path(folder.name)
        self.chance = random.Random(1)

    def records(self, name, factor=1.0, pace=None, slow=0.0, calls=100, law=lambda n: 1000 + 50 * n):
        """A file of one process, whose calls are `factor` times as long as the law says."""
        lines = ["#strobe-records,1", "#function,1,f,/bin/f", "#metric,1,time,ns", "#feature,1,n,number"]
        lines += [f"#pace,1,{pace},8"] if pace else []
        slow_calls = set(self.chance.sample(range(calls), round(slow * calls)))
        for i in range(calls):
            n = 1 + i * 7 % 50
            far = 4 if i in slow_calls else 1
            lines.append(f"1,{far * factor * law(n) * (1 + 0.001 * self.chance.gauss(0, 1)):.3f},{n}")
        (self.place / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        return name

    def strobe(self, *words, codes=(0,)):
        done = subprocess.run([STROBE, "annotate", *words], cwd=self.place, capture_output=True, text=True, timeout=100, check=False)
        self.assertIn(done.returncode, codes, done.stderr + done.stdout)
        return done.returncode, done.stdout

    def annotate(self, *files):
        self.strobe("-o", "kept.ann", *files)
        return (self.place / "kept.ann").read_text(encoding="utf-8")

    def check(self, *files):
        """The verdict, and the findings by their aspects."""
        code, output = self.strobe("--check", "--kept", "kept.ann", "--format", "json", *files, codes=(0, 1, 3))
        one, = json.loads(output)["checks"]
        self.assertEqual(code, {"kept": 0, "lower": 0, "broken": 1, "cannot tell": 3}[one["verdict"]])
        return one["verdict"], {finding["aspect"]: finding for finding in one["findings"]}, one

    def test_differences_between_processes(self):
        """The interval is that of three processes that differ by 10 %, so 20 % more in a new one says nothing."""
        text = self.annotate(*[self.records(f"{i}.txt", 1.1 ** i) for i in range(3)])
        line = [line for line in text.splitlines() if line.startswith("//: processes 3 ")]
        self.assertAlmostEqual(float(line[0].split()[3]), math.log(1.1), places=3)
        self.assertEqual(self.check(self.records("new.txt", 1.2))[0], "cannot tell")
        self.assertEqual(self.check(self.records("new.txt", 20))[0], "broken")
        self.annotate(*[self.records(f"{i}.txt") for i in range(3)])
        self.assertEqual(self.check(self.records("new.txt", 1.2))[0], "broken")
        self.assertEqual(self.check(self.records("new.txt"))[0], "kept")

    def test_interval_by_hand(self):
        """Two processes, 0 and 20 % above: the standard error is their difference's, with one degree of freedom."""
        self.annotate(self.records("a.txt"), self.records("b.txt", 1.2))
        mean = self.check(self.records("new.txt", 1.1))[1]["mean"]
        between = math.log(1.2) / math.sqrt(2) * mean["annotated"] * math.sqrt(1 / 1 + 1 / 2)
        # t with 1 degree of freedom: tan(pi * (1/2 - a)), with the default probability of 1 % for four findings
        half = math.tan(math.pi * (0.5 - 0.01 / 4)) * between
        self.assertAlmostEqual((mean["interval"][1] - mean["value"]) / half, 1, delta=0.1)

    def test_one_process_has_no_differences(self):
        self.assertNotIn("processes", self.annotate(self.records("a.txt")))
        self.assertEqual(self.check(self.records("new.txt", 1.2))[0], "broken")

    def test_slower_processor(self):
        """The loop takes 1.5 times as long: costs up to twice as high say nothing, ten times as high do."""
        self.assertIn("\n//: pace 100\n", self.annotate(self.records("a.txt", pace=90), self.records("b.txt", pace=110)))
        verdict, _, one = self.check(self.records("new.txt", 1.5, pace=150))
        self.assertEqual((verdict, one["pace"]), ("cannot tell", 1.5))
        self.assertEqual(self.check(self.records("new.txt", 10, pace=150))[0], "broken")
        self.assertEqual(self.check(self.records("new.txt", 1.5, pace=105))[0], "broken")
        self.assertEqual(self.check(self.records("new.txt", 1, pace=150))[0], "kept")
        _, output = self.strobe("--check", "--kept", "kept.ann", self.records("new.txt", 1.5, pace=150), codes=(3,))
        self.assertIn("the processor took 1.5 times as long for a fixed loop as for the annotation: make the records again when nothing else runs", output)

    def test_slower_processes_are_left_out(self):
        """Of the annotation, two of five processes: the processor needed twice as long for the loop."""
        files = [self.records(f"{i}.txt", factor, pace=pace) for i, (factor, pace) in enumerate([(1, 100), (2, 200), (1, 104), (1.9, 190), (1, 108)])]
        text = self.annotate(*files)
        self.assertIn("\n//: pace 104\n", text)
        self.assertRegex(text, r"//: records 300\n//: processes 3 \S*e-05\n")
        self.assertIn("//: note the records of 2 of 5 processes are left out, because the processor was slower then: it took more than 1.1 times as long for a fixed loop\n", text)
        self.assertEqual(self.check(self.records("new.txt", pace=104))[0], "kept")
        # Of two, one would remain: both are kept.
        text = self.annotate(*files[:2])
        self.assertIn("//: records 200\n//: processes 2 0.4", text)
        self.assertNotIn("left out, because", text)

    def test_faster_processor(self):
        """It would hide calls that cost more; not if the calls are faster, too."""
        self.annotate(self.records("a.txt", pace=150), self.records("b.txt", pace=150))
        self.assertEqual(self.check(self.records("new.txt", pace=100))[0], "cannot tell")
        self.assertIn(self.check(self.records("new.txt", 1 / 1.5, pace=100))[0], ("kept", "lower"))

    def test_slow_calls(self):
        """A share that may be the machine's decides nothing; one that is far larger does."""
        self.annotate(*[self.records(f"{i}.txt", slow=0.05) for i in range(3)])
        for slow, verdict in [(0, "kept"), (0.05, "kept"), (0.25, "cannot tell")]:
            word, findings, one = self.check(self.records("new.txt", slow=slow, calls=1000))
            self.assertEqual((word, one["disturbed"]), (verdict, 1000 * slow))
            if slow:
                self.assertEqual((round(findings["slow"]["annotated"], 3), findings["slow"]["value"]), (0.05, slow))
            self.assertEqual(findings["mean"]["verdict"], "kept")
        self.assertEqual(self.check(self.records("new.txt", slow=0.38, calls=1000))[0], "broken")

    def test_law_without_a_constant(self):
        """A single addend is a law, too: slow calls are left out of the mean."""
        (self.place / "kept.ann").write_text("//: unit ns\nf.time(n) {\n\tnumber n = n; //: range 1 50\n\tNorm(50 * n, 1); //: n 300; se 0.01\n}\n", encoding="utf-8")
        _, findings, one = self.check(self.records("new.txt", slow=0.05, calls=1000, law=lambda n: 50 * n))
        self.assertEqual((one["disturbed"], findings["mean"]["verdict"]), (50, "kept"))

    def test_processes_that_alternate(self):
        """Two processes whose records alternate in a file are two, not one for each record."""
        self.annotate(self.records("a.txt"), self.records("b.txt", 1.2))
        self.records("new.txt", 1.1)
        once = self.check("new.txt")[1]["mean"]["interval"]
        head, rows = [], []
        for line in (self.place / "new.txt").read_text(encoding="utf-8").splitlines():
            (rows if line.startswith("1,") else head).append(line)
        head += [line.replace(",1,", ",2,", 1) for line in head[1:]]
        rows = [line if i % 2 else "2" + line[1:] for i, line in enumerate(rows)]
        (self.place / "new.txt").write_text("\n".join(head + rows) + "\n", encoding="utf-8")
        twice = self.check("new.txt")[1]["mean"]["interval"]
        # The variance between processes has the factor 1/1 + 1/2 with one new process, and 1/2 + 1/2 with two; with one for each record it would be 1/100 + 1/2, and the ratio 1.7.
        self.assertAlmostEqual((once[1] - once[0]) / (twice[1] - twice[0]), math.sqrt(1.5), delta=0.1)

    def test_slow_calls_without_a_law(self):
        """They are a part of the cost: that they become slower is found, and the same share of them is no lower cost."""
        for slow in (0.02, 0.05):
            self.annotate(*[self.records(f"{i}.txt", slow=slow, calls=1000, law=lambda n: 1000) for i in range(3)])
            verdict, _, one = self.check(self.records("new.txt", slow=slow, calls=1000, law=lambda n: 1000))
            self.assertIn(verdict, ("kept", "cannot tell"))
            self.assertEqual(one["disturbed"], 0)
            self.records("new.txt", slow=slow, calls=1000, law=lambda n: 1000)
            text = (self.place / "new.txt").read_text(encoding="utf-8").splitlines()
            rows = [f"1,{10 * float(line.split(',')[1]):.1f},{line.split(',')[2]}" if line.startswith("1,") and float(line.split(",")[1]) > 2000 else line for line in text]
            (self.place / "new.txt").write_text("\n".join(rows) + "\n", encoding="utf-8")
            self.assertEqual(self.check("new.txt")[0], "broken")

    def test_terms_that_resemble_each_other(self):
        """The errors of n and n * log(n) are large and cancel: the interval of the mean is not."""
        self.annotate(*[self.records(f"{i}.txt", law=lambda n: 1000 + 100 * n + 5 * n * math.log2(n)) for i in range(3)])
        mean = self.check(self.records("new.txt", law=lambda n: 1000 + 100 * n + 5 * n * math.log2(n)))[1]["mean"]
        self.assertEqual(mean["verdict"], "kept")
        self.assertLess(mean["interval"][1] - mean["interval"][0], 0.01 * mean["annotated"])

    def test_bad_pace(self):
        for line, why in [("#pace,1", "a number of nanoseconds is expected"), ("#pace,1,0,4", "a time above 0 is expected"), ("#pace,2,5,4", "")]:
            text = f"#strobe-records,1\n#function,1,f\n#metric,1,time,ns\n{line}\n1,5\n"
            (self.place / "bad.txt").write_text(text, encoding="utf-8")
            done = subprocess.run([STROBE, "annotate", "bad.txt"], cwd=self.place, capture_output=True, text=True, timeout=100, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn("bad.txt:4:", done.stderr)
            self.assertIn(why, done.stderr)

    def test_bad_note(self):
        self.annotate(*[self.records(f"{i}.txt") for i in range(2)])
        text = (self.place / "kept.ann").read_text(encoding="utf-8")
        for bad in ["processes 1 0.1", "processes 2", "processes 2 -1"]:
            lines = [f"//: {bad}" if line.startswith("//: processes") else line for line in text.splitlines()]
            (self.place / "kept.ann").write_text("\n".join(lines) + "\n", encoding="utf-8")
            done = subprocess.run([STROBE, "annotate", "--check", "--kept", "kept.ann", "0.txt"], cwd=self.place, capture_output=True, text=True, timeout=100, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn("the note 'processes' has their number, at least 2, and the standard deviation between them", done.stderr)


if __name__ == "__main__":
    unittest.main()
