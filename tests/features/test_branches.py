#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of strobe annotate --branches: branches, jump tables and instructions of calls, and the conditions that follow from them.

usage: test_branches.py STROBE EXITS SHAPES PROGRAM...

EXITS is programs/exits.c, SHAPES is programs/shapes.c; the programs are programs/regimes.c, compiled in several ways."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import records

STROBE, EXITS, SHAPES = [os.path.abspath(name) for name in sys.argv[1:4]]
PROGRAMS = [os.path.abspath(name) for name in sys.argv[4:]]
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "regimes.c")
NAMES = "by_if*,by_switch*,loops*,hidden*,nested*"


def lines():
    """Lines of the source by the words of their comments."""
    with open(SOURCE, encoding="utf-8") as file:
        return {m[1]: f"regimes.c:{i}" for i, line in enumerate(file, 1) if (m := re.search(r"/\* LINE: ([^*]+) \*/", line))}


LINES = lines()


def is_optimized(program):
    return "-O2" in program


def short(name):
    return name.split("(")[0]


def run(*words, cwd, code=0):
    done = subprocess.run([STROBE, *map(str, words)], capture_output=True, text=True, timeout=120, cwd=cwd, check=False)
    if done.returncode != code:
        raise AssertionError(f"{words}: {done.returncode} instead of {code}: {done.stderr}")
    return done


class Folder(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-branches-")
        self.addCleanup(folder.cleanup)
        self.at = folder.name

    def strobe(self, *words, code=0):
        return run(*words, cwd=self.at, code=code)

    def records(self, name="r.txt"):
        return records.read(os.path.join(self.at, name))


class Recorded(unittest.TestCase):
    """One run of each program."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="strobe-branches-")
        cls.addClassCleanup(folder.cleanup)
        cls.at, cls.data, cls.output, cls.models = folder.name, {}, {}, {}
        for program in PROGRAMS:
            text = os.path.join(cls.at, os.path.basename(program) + ".txt")
            done = run("annotate", "-q", "--branches", "-F", NAMES, "-o", text, "--", program, cwd=cls.at)
            cls.output[program] = [line.split() for line in done.stdout.splitlines()]
            functions, notes = records.read(text)
            cls.data[program] = {short(name): f for name, f in functions.items()}
            found = json.loads(run("annotate", "--format", "json", text, cwd=cls.at).stdout)["annotations"]
            cls.models[program] = {short(a["function"]): a for a in found}
            assert notes == [], notes

    def own(self, program, name):
        """What the program says of its calls: arguments and steps."""
        return [tuple(map(int, words[1:])) for words in self.output[program] if words[0] == name]

    def test_calls(self):
        for program, functions in self.data.items():
            counts = {name: f.calls for name, f in functions.items()}
            self.assertEqual(counts, {"by_if": (80, 80, 0), "by_switch": (240, 240, 0), "loops": (80, 80, 0), "hidden": (240, 240, 0), "nested": (21, 21, 0)})
            self.assertEqual({tuple(f.metrics) for f in functions.values()}, {(("instructions", ""),)})
            self.assertEqual(functions["by_switch"].columns("kind", "n"), [(k, n) for k, n, _ in self.own(program, "by_switch")])

    def test_instructions_follow_the_steps(self):
        """Each step costs the same number of instructions, so that the records are exact lines of the program's own counts."""
        for program, functions in self.data.items():
            f = functions["loops"]
            cost = dict(zip([n for n, _, _ in self.own(program, "loops")], [i for i, in f.columns("instructions")], strict=True))
            step = cost[3] - cost[2]
            self.assertEqual(cost, {n: cost[1] + step * (n - 1) for n in range(1, 81)}, program)
            # The function as it is disassembled at -O2: 5 instructions, and 9 for a step.
            self.assertGreater(step, 5)

    def test_loop_outcomes(self):
        """A loop of n: n times one way, and once the other way."""
        for program, functions in self.data.items():
            f = functions["loops"]
            of_loop = [i for i, (name, _) in enumerate(f.branches) if name.startswith(LINES["loop"])]
            for (n,), outcomes in zip(f.columns("n"), f.outcomes, strict=True):
                runs = outcomes[of_loop[-1]]
                total = sum(times for _, times in runs)
                # Optimized code tests before the loop and at its end.
                self.assertEqual(total, n if is_optimized(program) else n + 1, (program, runs))
                self.assertEqual(runs[-1][1] if n > 1 or not is_optimized(program) else 1, 1)
                self.assertLessEqual(len(runs), 2)

    def test_recursion(self):
        """Each activation has its own outcomes: only the innermost one stops."""
        for program, functions in self.data.items():
            f = functions["nested"]
            at = next(i for i, (name, _) in enumerate(f.branches) if name.startswith(LINES["deeper"]))
            if len(f.branches) > 1:
                continue  # recursion was turned into a loop in part
            stops = [tuple(outcomes[at]) for outcomes in f.outcomes]
            self.assertEqual(len(set(stops[:-1])), 1, program)
            self.assertNotEqual(stops[-1], stops[0])
            instructions = [i for i, in f.columns("instructions")]
            self.assertEqual(instructions, sorted(instructions, reverse=True))

    def models_of(self, program, name):
        return self.models[program][name]["models"]

    def test_if(self):
        for program in PROGRAMS:
            models = self.models_of(program, "by_if")
            self.assertEqual([(m["condition"], m["class"], m["sd"]) for m in models], [("n <= 40", "linear", "0"), ("n > 40", "quadratic", "0")])
            for m, where in zip(models, ("linear", "quadratic"), strict=True):
                self.assertEqual(m["branch"], f"{LINES['if']} to {LINES[where]}", program)

    def test_switch(self):
        """A dense switch is an indirect jump: its targets are outcomes."""
        classes = ["linear", "quadratic", "linear", "constant", "linear", "linear", "quadratic", "linear"]
        for program in PROGRAMS:
            models = self.models_of(program, "by_switch")
            self.assertEqual([m["condition"] for m in models], [f"kind == {k}" for k in range(8)])
            self.assertEqual([m["class"] for m in models], classes)
            for k, m in enumerate(models):
                self.assertTrue(m["branch"].startswith(LINES["switch"]), m)
                if not is_optimized(program):
                    self.assertTrue(m["branch"].endswith(f" to {LINES[f'case {k}']}"), m)
            self.assertEqual([m["sd"] == "0" for m in models], [k != 6 for k in range(8)])  # n*n/2 is rounded

    def test_no_condition(self):
        """No argument says which way the function goes: the outcomes of its branch are modes, with their shares."""
        for program in PROGRAMS:
            models = self.models_of(program, "hidden")
            slow = sum(steps == 20 * n for n, _, steps in self.own(program, "hidden"))
            self.assertEqual(sorted((m["n"], m["condition"]) for m in models), sorted([(slow, None), (240 - slow, None)]))
            self.assertAlmostEqual(sum(m["probability"] for m in models), 1)
            for m in models:
                self.assertEqual((m["class"], m["sd"], m["probability"]), ("linear", "0", m["n"] / 240))
                self.assertEqual(m["branch"], f"{LINES['hidden']} to {LINES['slow' if m['n'] == slow else 'fast']}")

    def test_annotation_is_kept(self):
        """Annotations are read again as they were printed, and predict what was recorded."""
        for program in PROGRAMS:
            text = os.path.basename(program) + ".txt"
            run("annotate", "-q", text, "-o", "kept.ann", cwd=self.at)
            f = self.data[program]["by_if"]
            (name,) = {a["function"] for a in self.models[program].values() if a["function"].startswith("by_if")}
            for n, instructions in [f.columns("n", "instructions")[i] for i in (0, 38, 39, 40, 79)]:
                done = run("predict", "--format", "json", "kept.ann", name, "instructions", f"n={n}", cwd=self.at)
                self.assertAlmostEqual(json.loads(done.stdout)["mean"], instructions, delta=1e-6 * instructions)
            run("annotate", "--check", "--kept", "kept.ann", "-F", "by_if*", text, cwd=self.at)

    def test_sequences(self):
        """Runs of equal outcomes beyond eight are only counted."""
        text = "#strobe-records,1\n#function,1,f\n#metric,1,y\n#feature,1,n\n#branch,1,x.c:3,0,x.c:4,1,x.c:9\n"
        for i in range(40):
            text += f"1,{i if i < 20 else 500 - 3 * i},{i},{int(i >= 20)}*{i + 1},{int(i < 20)},~,1*7,0,#\n"
        with open(os.path.join(self.at, "s.txt"), "w", encoding="utf-8") as file:
            file.write(text)
        found = json.loads(run("annotate", "--format", "json", "s.txt", cwd=self.at).stdout)["annotations"][0]["models"]
        self.assertEqual([(m["condition"], m["mean"], m["branch"]) for m in found],
                         [("n <= 19", "n", "x.c:3 to x.c:4"), ("n > 19", "500 - 3 * n", "x.c:3 to x.c:9")])


class Runs(Folder):
    def test_sample(self):
        """Of 240 calls 50 are kept, the same ones with the same seed."""
        program = PROGRAMS[0]
        for name in ("r.txt", "again.txt"):
            self.strobe("annotate", "-q", "--branches", "-k", "50", "-F", "by_switch", "-o", name, "--", program)
        first, again = [self.records(name)[0]["by_switch"] for name in ("r.txt", "again.txt")]
        self.assertEqual((first.calls, len(first.rows)), ((240, 50, 0), 50))
        self.assertEqual((first.rows, first.outcomes), (again.rows, again.outcomes))

    def test_same_data_as_probes(self):
        names = "integers,floats,structures,hidden_result,fields,texts,ranges,follow,wild,categories"
        self.strobe("annotate", "-q", "-F", names, "-I", "features-*", "-o", "probes.txt", "--", SHAPES, 8)
        self.strobe("annotate", "-q", "-m", "instructions", "-F", names, "-I", "features-*", "-o", "engine.txt", "--", SHAPES, 8)
        probes, engine = [self.records(name)[0] for name in ("probes.txt", "engine.txt")]
        self.assertEqual(sorted(probes), sorted(engine))
        for name, f in probes.items():
            self.assertEqual([x["path"] for x in f.features], [x["path"] for x in engine[name].features])
            self.assertEqual([row[1:] for row in f.rows], [row[1:] for row in engine[name].rows], name)
            self.assertEqual(engine[name].branches, [])

    def test_longjmp(self):
        """Three of ten calls end by longjmp."""
        self.strobe("annotate", "-q", "--branches", "-F", "leaves", "-o", "r.txt", "--", EXITS)
        f = self.records()[0]["leaves"]
        self.assertEqual(f.calls, (10, 7, 3))
        self.assertEqual(f.columns("n"), [(n,) for n in range(10) if n not in (2, 5, 8)])

    def test_threads(self):
        self.strobe("annotate", "-q", "--branches", "-F", "in_thread,deep", "-o", "r.txt", "--", EXITS, "threads")
        functions = self.records()[0]
        self.assertEqual(sorted(functions["in_thread"].columns("argument")), [(n,) for n in range(200)])
        self.assertEqual(functions["deep"].calls, (10001, 10000, 0))

    def test_refused(self):
        for words, message in (
            (("--branches", "-m", "allocated"), "with --branches, a run measures instructions, blocks, syscalls and time"),
            (("-m", "instructions,callees"), "with the metric instructions, a run measures instructions, blocks, syscalls and time"),
            (("--branches", "-m", "time,lock_held"), "with --branches, a run measures instructions, blocks, syscalls and time"),
        ):
            done = self.strobe("annotate", *words, "-o", "r.txt", "--", PROGRAMS[0], code=125)
            self.assertIn(message, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("--branches is for recording", self.strobe("annotate", "--branches", "r.txt", code=2).stderr)
        done = self.strobe("annotate", "-q", "--branches", "-F", "no_such", "-o", "r.txt", "--", PROGRAMS[0], code=125)
        self.assertIn("no_such", done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.at, "r.txt")))
        bad = "#strobe-records,1\n#function,1,f\n#metric,1,y\n#feature,1,n\n#branch,1,b\n1,1,1,0xz,#\n"
        with open(os.path.join(self.at, "bad.txt"), "w", encoding="utf-8") as file:
            file.write(bad)
        self.assertIn("bad.txt:6:7: '0xz' is not an outcome of a branch", self.strobe("annotate", "bad.txt", code=2).stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
