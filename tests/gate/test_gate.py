#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""strobe gate on simulated times, on counts and in repositories; nothing depends on how fast the machine is: test_gate.py STROBE."""
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).parent.parent / "store"))
from project import Project  # noqa: E402

STROBE = os.path.abspath(sys.argv.pop(1))


class Gate(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="strobe-gate-")
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)
        self.environment = {**os.environ, "LC_ALL": "C.UTF-8", "HOME": place.name, "XDG_CONFIG_HOME": place.name, "TMPDIR": place.name}

    def strobe(self, *words, **more):
        return subprocess.run([STROBE, *map(str, words)], cwd=more.get("cwd", self.place), env=self.environment, capture_output=True, text=True, timeout=120)

    def times(self, pairs):
        path = self.place / "times"
        path.write_text("".join(f"{base!r} {target!r}\n" for base, target in pairs), encoding="utf-8")
        return path

    def simulate(self, pairs, *words, code):
        """The gate's JSON on these times."""
        done = self.strobe("gate", "--base", "./old", "--target", "./new", "--seed", 1, "--counts", 0, "--times", self.times(pairs), *words, "-f", "json")
        self.assertEqual((done.returncode, done.stderr), (code, ""))
        return json.loads(done.stdout)


def noisy(n, factor, sd, seed=1):
    """Pairs around 10 ms: the target takes factor times as long, with noise."""
    chance = random.Random(seed)
    return [(1e7 * math.exp(chance.gauss(0, sd)), 1e7 * factor * math.exp(chance.gauss(0, sd))) for _ in range(n)]


class Time(Gate):
    def test_regression(self):
        found = self.simulate(noisy(60, 1.10, 0.01), code=1)
        [benchmark] = found["benchmarks"]
        time = benchmark["time"]
        self.assertEqual((found["verdict"], benchmark["verdict"], time["verdict"], benchmark["benchmark"]), ("regression", "regression", "regression", "./new"))
        self.assertLess(time["pairs"], 16)
        self.assertEqual(len(time["changes"]), time["pairs"])
        self.assertGreaterEqual(time["evidence"], 100)
        low, high = time["interval"]
        self.assertLess(0, low)
        self.assertLess(low, 0.10)
        self.assertLess(0.10, high)
        self.assertEqual(found["rule"], {"alarm": 0.01, "miss": 0.05, "limit": 0.02, "pairs": 60, "seconds": 600.0, "duet": "shared", "seed": 1})

    def test_pass_of_equal_and_of_faster(self):
        for factor in (1, 0.7):
            found = self.simulate(noisy(60, factor, 0.005), code=0)
            self.assertEqual(found["verdict"], "pass")
            self.assertLess(found["benchmarks"][0]["time"]["pairs"], 30)

    def test_repository_that_cannot_be_opened(self):
        """Programs are compared wherever they lie: without calibrations if git refuses the repository."""
        (self.place / ".git").mkdir()
        for name in "old", "new":
            (self.place / name).touch()
        found = self.simulate(noisy(60, 1.10, 0.01), code=1)
        self.assertEqual([b["time"]["verdict"] for b in found["benchmarks"]], ["regression"])

    def test_small_certain_change_passes(self):
        """A certain change of 1 % is below the default limit, and above a limit of 0.5 %."""
        pairs = noisy(60, 1.01, 0.001)
        self.assertEqual(self.simulate(pairs, code=0)["benchmarks"][0]["time"]["verdict"], "pass")
        self.assertEqual(self.simulate(pairs, "--limit", "0.5", code=1)["verdict"], "regression")

    def test_inconclusive(self):
        found = self.simulate(noisy(12, 1, 0.3), "--pairs", 12, code=3)
        self.assertEqual((found["verdict"], found["benchmarks"][0]["time"]["pairs"]), ("inconclusive", 12))
        found = self.simulate([(1e7, 1e7)], "--pairs", 1, code=3)
        time = found["benchmarks"][0]["time"]
        self.assertEqual((time["change"], time["interval"], time["spread"]), (0, [-1, None], None))

    def test_outliers(self):
        """Every fifth pair is ten times off, to either side: the answer is the same."""
        pairs = [(base * (10 if i % 10 == 0 else 1), target * (10 if i % 10 == 5 else 1)) for i, (base, target) in enumerate(noisy(60, 1.10, 0.01))]
        self.assertEqual(self.simulate(pairs, code=1)["verdict"], "regression")
        pairs = [(base * (10 if i % 10 == 0 else 1), target * (10 if i % 10 == 5 else 1)) for i, (base, target) in enumerate(noisy(60, 1, 0.002))]
        self.assertEqual(self.simulate(pairs, code=0)["verdict"], "pass")

    def test_level(self):
        """Thirty gates of equal sides with different noise: with these seeds, none raises an alarm."""
        for seed in range(30):
            done = self.strobe("gate", "-b", "a", "-t", "a", "-c", 0, "--times", self.times(noisy(20, 1, 0.05, seed)), "-p", 20, "-q", "--seed", seed)
            self.assertIn(done.returncode, (0, 3), seed)

    def test_text(self):
        done = self.strobe("gate", "-b", "./old", "-t", "./new", "-c", 0, "--times", self.times([(1e7, 1.2e7)] * 9), "-p", 9, "--", "x", "y")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertIn("regression: ./new against ./old\n./new x y: regression\n  CPU time: 10.0 ms -> 12.0 ms, +20.00 % (90 %: ", done.stdout)
        self.assertIn("), 8 pairs\n", done.stdout)
        self.assertIn("the target is slower: with equal sides, at most one gate in ", done.stdout)
        done = self.strobe("gate", "-b", "./old", "-t", "./new", "-c", 0, "--times", self.times([(1e7, 1.2e7)]), "-p", 1)
        self.assertEqual(done.returncode, 3)
        self.assertIn("allow more with --pairs and --for", done.stdout)


SOURCE = r"""
#include <stdlib.h>
volatile long sum;
#define APART __attribute__((noinline))
APART void work(long n) { for (long i = 0; i < n; i++) sum += i; }
APART void other(long n) { for (long i = 0; i < n; i++) sum -= i; }
#ifdef MOVED
APART void early(void) { sum = 7; }
#endif
#ifndef TABLE
#define TABLE 1
#endif
static char *table;
APART char *make_table(void) { char *t = malloc(5000); for (int i = 0; i < 5000; i++) t[i] = (char)i; return t; }
APART int look_up(int i) { if (!table || TABLE != 1) { free(table); table = make_table(); } return table[i % 5000]; }
#ifndef WORK
#define WORK 90000
#endif
#ifndef OTHER
#define OTHER 10000
#endif
int main(int argc, char **argv) {
    (void)argv;
    if (argc > 5) abort();
    work(WORK); other(OTHER);
    for (int i = 0; i < 200; i++) sum += look_up(i);
    return 0;
}
"""


def compiles(test):
    return unittest.skipUnless(shutil.which("gcc"), "no gcc")(test)


@compiles
class Counts(Gate):
    def build(self, name, *flags):
        (self.place / "program.c").write_text(SOURCE, encoding="utf-8")
        (self.place / name).mkdir(exist_ok=True)
        subprocess.run(["gcc", "-O1", "-g", *flags, "-o", self.place / name / "program", self.place / "program.c"], check=True)
        return self.place / name / "program"

    def count(self, *flags, code, words=()):
        """The counts of a build with these flags against one without."""
        base, target = self.build("old"), self.build("new", *flags)
        done = self.strobe("gate", "-b", base, "-t", target, "-p", 0, "-f", "json", *words)
        self.assertEqual((done.returncode, done.stderr), (code, ""))
        [benchmark] = json.loads(done.stdout)["benchmarks"]
        self.assertIsNone(benchmark["time"])
        return benchmark["counts"], {f["function"]: f for f in benchmark["counts"]["functions"]}

    def test_same(self):
        """The same code, and the same code at other addresses, is a pass without any function."""
        for flags in ((), ("-DMOVED",)):
            counts, functions = self.count(*flags, code=0)
            self.assertEqual((counts["verdict"], functions, counts["runs"]), ("pass", {}, 2))
            self.assertEqual(counts["program"]["bytes allocated"]["base"], 5000)
            self.assertLess(abs(counts["program"]["instructions"]["change"]), 0.002)

    def test_other_code_of_one_function(self):
        """A function with a tenth of the instructions grows by 5 %, the program by 0.5 %: one run of each side finds it."""
        for runs in (1, 2):
            counts, functions = self.count("-DOTHER=10500", "-DWORK=90001", words=("-c", runs), code=1)
            self.assertEqual((counts["verdict"], counts["program"]["instructions"]["verdict"], list(functions)), ("regression", "pass", ["other"]))
            other = functions["other"]
            self.assertEqual((other["instructions"]["verdict"], other["calls"]["base"], other["calls"]["target"]), ("regression", 1, 1))
            self.assertAlmostEqual(other["instructions"]["change"], 0.05, delta=0.001)
            # The loop is the same: main gives another number.
            self.assertEqual((other["why"], other["code"], other["blamed"]), ("other inputs", "same", False))
            self.assertIn("each call executes ", other["explanation"])

    def test_more_calls(self):
        """The flag of a lazily made table is lost: the table is made at each call, the caller's code changed, its own did not."""
        counts, functions = self.count("-DTABLE=0", code=1)
        self.assertEqual(counts["functions"][0]["function"], "make_table")
        table = functions["make_table"]
        self.assertEqual((table["calls"]["base"], table["calls"]["target"], table["why"], table["code"], table["blamed"]), (1, 200, "more calls", "same", False))
        self.assertEqual(table["callers"], [{"function": "look_up", "code": "changed", "base": 1, "target": 200}])
        self.assertEqual(table["explanation"], "more calls (1 -> 200), most from look_up, whose code changed (1 -> 200); its own code is the same")
        program = counts["program"]
        self.assertEqual((program["allocations"]["base"], program["allocations"]["target"]), (1, 200))
        self.assertEqual((program["bytes allocated"]["target"], program["bytes allocated"]["verdict"], program["bytes allocated"]["exact"]), (10**6, "regression", True))
        self.assertIsNone(functions["free"]["instructions"]["change"])
        self.assertEqual((functions["free"]["why"], functions["free"]["callers"][0]["function"]), ("called for the first time", "look_up"))
        self.assertEqual((functions["malloc"]["why"], functions["malloc"]["callers"][0]["function"]), ("more calls", "make_table"))

    def test_moved_work(self):
        """Work that moves from one function to another is no regression; both functions are shown."""
        counts, functions = self.count("-DWORK=80000", "-DOTHER=20000", code=0)
        self.assertEqual((counts["verdict"], sorted(functions)), ("pass", ["other", "work"]))
        self.assertEqual((functions["other"]["offset"], functions["other"]["instructions"]["verdict"], functions["work"]["why"]), (True, "pass", "less"))
        self.assertIn("other inputs here, and as much less elsewhere", functions["other"]["explanation"])

    def test_less(self):
        counts, functions = self.count("-DWORK=50000", code=0)
        self.assertEqual((counts["verdict"], list(functions), functions["work"]["instructions"]["verdict"]), ("pass", ["work"], "pass"))

    def test_text(self):
        self.build("old"), self.build("new", "-DTABLE=0")
        done = self.strobe("gate", "-b", "old/program", "-t", "new/program", "-p", 0)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertTrue(done.stdout.startswith("regression: new/program against old/program\nnew/program: regression\n  instructions: "), done.stdout)
        self.assertIn("  bytes allocated: 5,000 -> 1,000,000, +19900.00 % (exact): regression\n", done.stdout)
        self.assertRegex(done.stdout, r"\n    make_table of program: instructions \+19900.00 %, \+\d+\.\d\d % of the program, regression: more calls \(1 -> 200\)")


class Rules(Gate):
    """.strobe/gate.yaml, without git beside the current folder."""

    def rules(self, text, name=".strobe/gate.yaml"):
        path = self.place / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def test_limits(self):
        """The file sets limits; options on the command line override them."""
        pairs = noisy(60, 1.03, 0.001)
        self.assertEqual(self.simulate(pairs, code=1)["verdict"], "regression")
        self.rules("alarm: 2%\nmiss: 10\npairs: 30\nfor: 1m\ncounts: 0\nlimits: {time: 5}\n")
        found = self.simulate(pairs, code=0)
        self.assertEqual({k: found["rule"][k] for k in ("alarm", "miss", "limit", "pairs", "seconds")},
                         {"alarm": 0.02, "miss": 0.1, "limit": 0.05, "pairs": 30, "seconds": 60.0})
        self.assertEqual(self.simulate(pairs, "--limit", 1, code=1)["rule"]["limit"], 0.01)
        self.rules("limits: {time: 1}\n", "other.yaml")
        self.assertEqual(self.simulate(pairs, "--rules", "other.yaml", code=1)["rule"]["limit"], 0.01)

    def test_exceptions(self):
        pairs = noisy(60, 1.10, 0.005)
        self.rules("exceptions:\n  - {quantity: time, limit: 20, until: 2999-12-31, reason: new syntax}\n")
        found = self.simulate(pairs, code=0)
        self.assertEqual((found["rule"]["limit"], found["notes"]), (0.2, ["an exception for time of the program holds until 2999-12-31: new syntax"]))
        self.rules("exceptions:\n  - {quantity: time, limit: 20, until: 2000-12-31, reason: new syntax}\n")
        found = self.simulate(pairs, code=1)
        self.assertEqual((found["rule"]["limit"], found["notes"]), (0.02, ["the exception for time of the program has expired on 2000-12-31 and is not applied: new syntax"]))

    @compiles
    def test_functions(self):
        """An exception for a function applies to that function only; the limit none is no limit."""
        old, new = Counts.build(self, "old"), Counts.build(self, "new", "-DOTHER=10500", "-DWORK=90001")
        words = ("gate", "-b", old, "-t", new, "-p", 0, "-c", 1, "-f", "json")
        self.assertEqual(self.strobe(*words).returncode, 1)
        for text, code, notes in (("exceptions: [{function: 'oth*', until: 2999-12-31, reason: r}]", 0, ["an exception for instructions of oth* holds until 2999-12-31: r"]),
                                  ("exceptions: [{function: 'oth*', limit: 4, until: 2999-12-31, reason: r}]", 1, ["an exception for instructions of oth* holds until 2999-12-31: r"]),
                                  ("exceptions: [{function: work, until: 2999-12-31, reason: r}]", 1, []),
                                  ("limits: {function: 6}", 0, []), ("limits: {least: 1}", 0, []),
                                  ("limits: {function: none, instructions: 0.1}", 1, []), ("limits: {function: none, instructions: none}", 0, [])):
            self.rules(text + "\n")
            done = self.strobe(*words)
            self.assertEqual((done.returncode, done.stderr), (code, ""), text)
            self.assertEqual(json.loads(done.stdout)["notes"], notes, text)

    def test_refused(self):
        for text, message in (("", ".strobe/gate.yaml is empty"), ("limit: 3", ":1:1: unknown key 'limit' of the gate; did you mean 'limits'?"),
                              ("alarm: 80", ":1:8: alarm takes percents that are greater than 0 and at most 50, not '80'"),
                              ("limits: {time: none}", ":1:16: time needs a limit"), ("pairs: -1", ":1:8: pairs is a whole number"), ("for: 0", ":1:6: for is a time"),
                              ("exceptions: [{function: x, reason: y}]", ":1:14: an exception needs a date until which it holds"),
                              ("exceptions: [{function: x, until: 2999-12-31}]", ":1:14: an exception needs a reason"),
                              ("exceptions: [{function: x, until: tomorrow, reason: y}]", "until is a date such as 2026-12-31, not 'tomorrow'"),
                              ("exceptions: [{function: x, quantity: time, until: 2999-12-31, reason: y}]", "an exception for a function has the quantity instructions, not time"),
                              ("exceptions: [{quantity: speed, until: 2999-12-31, reason: y}]", "unknown quantity 'speed'")):
            self.rules(text)
            done = self.strobe("gate", "-b", "true", "-t", "true")
            self.assertEqual((done.returncode, done.stdout), (2, ""), text)
            self.assertIn(message, done.stderr)
        done = self.strobe("gate", "-b", "true", "-t", "true", "--rules", "none.yaml")
        self.assertEqual((done.returncode, done.stderr), (2, "strobe: cannot read none.yaml: No such file or directory\n"))


class Repository(Gate):
    def setUp(self):
        super().setUp()
        self.p = Project(self.place / "project")
        self.p.environment["TMPDIR"] = str(self.place)
        (self.p.folder / ".strobe").mkdir()
        self.write(".strobe/job.yaml", "build: [gcc -O1 -g -o program program.c]\ncommands: [./program]\n")
        self.write("program.c", SOURCE)
        self.first = self.commit("first")

    def write(self, name, text):
        (self.p.folder / name).write_text(text, encoding="utf-8")

    def commit(self, text):
        self.p.git("add", "-A")
        return self.p.commit(text)

    def clean(self):
        """No work tree and no temporary file is left."""
        self.assertEqual(self.p.git("worktree", "list", "--porcelain").count("worktree "), 1)
        self.assertEqual([f.name for f in self.place.iterdir() if f.name.startswith("strobe-")], [])


@compiles
class Versions(Repository):
    def gate(self, *words, code):
        done = self.p.run(STROBE, "gate", "-p", 0, "-c", 1, "-f", "json", *words, fail=code != 0)
        self.assertEqual((done.returncode, done.stderr), (code, ""))
        return json.loads(done.stdout)

    def test_versions(self):
        self.write("program.c", SOURCE.replace("TABLE 1", "TABLE 0"))
        slow = self.commit("lose the flag")
        self.write("program.c", "/* Neutral. */\n" + SOURCE.replace("TABLE 1", "TABLE 0"))
        self.commit("comment")
        self.p.git("branch", "topic", "HEAD~1")
        found = self.gate("--base", "HEAD~2", "--target", "topic", code=1)
        self.assertEqual((found["base_commit"], found["target_commit"], found["base"], found["target"]), (self.first, slow, "HEAD~2", "topic"))
        [benchmark] = found["benchmarks"]
        self.assertEqual((benchmark["benchmark"], benchmark["counts"]["functions"][0]["function"]), ("./program", "make_table"))
        found = self.gate("--base", "HEAD~1", code=0)
        self.assertEqual((found["target"], found["benchmarks"][0]["counts"]["functions"]), ("HEAD", []))
        self.clean()
        self.assertEqual(self.p.git("status", "--short"), "")

    def test_benchmarks_of_the_job(self):
        """Every command with every set of arguments and every workload, whatever the collectors; the alarm is shared."""
        self.write(".strobe/job.yaml", "build: [gcc -O1 -o program program.c]\ncommands: [./program]\narguments: ['', -x]\nworkloads: [1, 2]\n"
                                       "collectors: [time, {run: -t bbcount}]\n")
        self.commit("benchmarks")
        found = self.gate("--base", "HEAD", code=0)
        self.assertEqual([b["benchmark"] for b in found["benchmarks"]], ["./program 1", "./program 2", "./program -x 1", "./program -x 2"])
        found = self.gate("--base", "HEAD", "--", "./program", "one", code=0)
        self.assertEqual([b["benchmark"] for b in found["benchmarks"]], ["./program one"])
        # The folder of generated files is left out, because it differs from clone to clone.
        self.write(".strobe/job.yaml", "build: [gcc -O1 -o program program.c]\ncommands: [./program, './program --in={workload}']\n"
                                       "workloads: {textfile: {min: 3, max: 3, step: 1}}\n")
        found = self.gate("--base", "HEAD", code=0)
        self.assertEqual([b["benchmark"] for b in found["benchmarks"]], ["./program textfile_3.txt", "./program --in=textfile_3.txt"])

    def test_example(self):
        """The unchanged example of a job compares a program with itself, whatever the versions are: no verdict."""
        self.p.run("rm", "-f", ".strobe/job.yaml")
        self.p.run(STROBE, "job", "init")
        message = "the command of .strobe/job.yaml is that of the example, /bin/true: replace it by a benchmark of the project"
        self.refused(125, message, "--base", "HEAD")
        self.gate("--base", "HEAD", "--", "/bin/true", code=0)

    def test_work(self):
        """The current files and their build against a version."""
        self.write("program.c", SOURCE.replace("TABLE 1", "TABLE 0"))
        self.p.run("gcc", "-O1", "-g", "-o", "program", "program.c")
        found = self.gate("--base", "HEAD", "--target", ".", code=1)
        self.assertEqual((found["base_commit"], found["target_commit"]), (self.first, None))
        self.clean()

    def refused(self, code, message, *words):
        done = self.p.run(STROBE, "gate", "-p", 0, "-c", 1, *words, fail=True)
        self.assertEqual((done.returncode, done.stdout), (code, ""))
        self.assertIn(message, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.clean()

    def test_refused(self):
        self.write("program.c", "int main(void) { return missing(); }")
        broken = self.commit("broken")
        self.refused(125, f"cannot build the target, {broken[:10]}: the command of build 'gcc -O1 -g -o program program.c' exited with 1; its output is in ", "--base", "HEAD~1")
        self.assertIn("missing", (self.p.folder / f".strobe/jobs/gate-{broken[:10]}.log").read_text(encoding="utf-8"))
        self.refused(2, "the base 'HEAD~1' is a version and the target './x y' is not: give two versions or two commands", "--base", "HEAD~1", "--target", "./x y")
        self.p.git("rm", "-q", ".strobe/job.yaml")
        self.refused(2, "nothing to run: give the command after the options, or describe it in .strobe/job.yaml", "--base", "HEAD~1")
        self.write(".strobe/job.yaml", "comands: [./program]\n")
        self.refused(2, ".strobe/job.yaml:1:1: ", "--base", "HEAD~1")


@compiles
class Formats(Gate):
    build = Counts.build

    def setUp(self):
        super().setUp()
        self.build("old"), self.build("new", "-DTABLE=0")
        self.words = ("gate", "-b", "old/program", "-t", "new/program", "-c", 1, "-p", 2, "--times", self.times([(1e7, 1.1e7)] * 2), "--", "<&|>")

    def test_files(self):
        """One gate writes all of them; each has the same findings."""
        names = [self.place / f"out{e}" for e in (".md", ".xml", ".sarif", ".json", ".txt")]
        done = self.strobe(*self.words[:-2], *(w for n in names for w in ("-o", n)), "-q", *self.words[-2:])
        self.assertEqual((done.returncode, done.stdout, done.stderr), (1, "", ""))
        markdown, xml, sarif, found, text = (n.read_text(encoding="utf-8") for n in names)
        found = json.loads(found)
        functions = found["benchmarks"][0]["counts"]["functions"]
        self.assertTrue(text.startswith("regression: new/program against old/program\n"))

        rows = markdown.splitlines()
        self.assertEqual(rows[0], "### &#10060; Performance: regression")
        self.assertEqual(rows[2:6], ["new/program against old/program", "", "| | benchmark | verdict | finding |", "|-|-|-|-|"])
        # Instructions, bytes, the functions, time; no cell ends early.
        self.assertEqual(len(rows), 6 + 2 + len(functions) + 1)
        for row in rows[4:]:
            self.assertEqual(len(re.findall(r"(?<!\\)\|", row)), 5, row)
        self.assertIn("new/program &lt;&\\|> | regression | make\\_table: instructions +19900.00 %", markdown)

        suite = ElementTree.fromstring(xml)
        cases = suite.findall("testcase")
        self.assertEqual((suite.get("tests"), suite.get("failures"), suite.get("skipped"), suite.get("errors")), (str(3 + len(functions)), str(2 + len(functions)), "1", "0"))
        self.assertEqual({c.get("classname") for c in cases}, {"new/program <&|>"})
        self.assertIn("more calls (1 -> 200)", next(c for c in cases if c.get("name") == "instructions of make_table").find("failure").get("message"))
        self.assertIsNotNone(next(c for c in cases if c.get("name") == "time").find("skipped"))

        [run] = json.loads(sarif)["runs"]
        results = run["results"]
        self.assertEqual(len(results), 3 + len(functions))
        rules = {r["id"] for r in run["tool"]["driver"]["rules"]}
        self.assertEqual({r["ruleId"] for r in results} - rules, set())
        table = next(r for r in results if "make_table: " in r["message"]["text"])
        line = 1 + SOURCE.splitlines().index(next(row for row in SOURCE.splitlines() if "make_table(void)" in row))
        self.assertEqual(table["locations"], [{"physicalLocation": {"artifactLocation": {"uri": "program.c", "uriBaseId": "%SRCROOT%"}, "region": {"startLine": line}}}])
        self.assertEqual((table["level"], results[0]["level"], results[-1]["level"]), ("note", "error", "warning"))
        # GitHub refuses results without a location: those without a file are at the description of the benchmarks.
        job = {"physicalLocation": {"artifactLocation": {"uri": ".strobe/job.yaml", "uriBaseId": "%SRCROOT%"}, "region": {"startLine": 1}}}
        self.assertEqual((results[0]["locations"], results[-1]["locations"]), ([job], [job]))

    def test_github(self):
        done = self.strobe(*self.words[:-2], "-f", "github", *self.words[-2:])
        lines = done.stdout.splitlines()
        self.assertEqual(done.returncode, 1)
        self.assertTrue(all(re.match(r"::(error|warning|notice) (file=program.c,line=\d+,)?title=Performance (regression|inconclusive)::new/program <&\|>: ", x) for x in lines), lines)
        self.assertTrue(lines[0].startswith("::error title=Performance regression::new/program <&|>: instructions: "))
        self.assertNotRegex(done.stdout, "%(?!25)")
        self.assertEqual(sum(x.startswith("::notice file=program.c,line=") for x in lines), 1)

    def test_pass(self):
        done = self.strobe("gate", "-b", "old/program", "-t", "old/program", "-c", 1, "-p", 0, "-f", "github", "-o", "out.sarif", "-o", "out.xml")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(json.loads((self.place / "out.sarif").read_text(encoding="utf-8"))["runs"][0]["results"], [])
        suite = ElementTree.parse(self.place / "out.xml").getroot()
        self.assertEqual((suite.get("tests"), suite.get("failures"), [c.get("name") for c in suite]), ("2", "0", ["instructions", "bytes allocated"]))

    def test_refused(self):
        for code, name, message in ((2, "out.pdf", "the ending of 'out.pdf' names no format: use .md, .xml"), (2, "out", "the ending of 'out' names no format"),
                                    (125, "none/out.md", "cannot write the result to none/out.md: ")):
            done = self.strobe("gate", "-b", "true", "-t", "true", "-o", name)
            self.assertEqual(done.returncode, code)
            self.assertIn(message, done.stderr)


@compiles
class Bisect(Repository):
    def history(self, flags):
        """A commit for each flag: the program with it, or one that does not build."""
        commits = []
        for i, flag in enumerate(flags):
            self.write("program.c", f"/* {i} */\n" + ("broken" if flag == "x" else SOURCE.replace("TABLE 1", f"TABLE {1 if flag == 'g' else 0}")))
            commits.append(self.commit(f"commit {i}"))
        return commits

    def bisect(self, *words, code):
        done = self.p.run(STROBE, "bisect", "-p", 0, "-c", 1, "-f", "json", *words, fail=code != 0)
        self.assertEqual((done.returncode, done.stderr), (code, ""))
        self.clean()
        return json.loads(done.stdout)

    def test_found(self):
        """The commit that lost the flag, with its explanation; the one that does not build is left out."""
        commits = self.history("gxbb")
        found = self.bisect(self.first, "HEAD", code=3)
        self.assertEqual((found["first_bad"], found["quantity"], found["benchmark"]), (commits[1:3], "instructions", "./program"))
        self.assertEqual([s["state"] for s in found["steps"]], ["good", "not built", "bad", "bad"])
        self.assertIn("the command of build", found["steps"][1]["reason"])
        self.assertIsNone(found["why"])

    def test_explained(self):
        commits = self.history("gbb")
        found = self.bisect(self.first, "HEAD", code=0)
        self.assertEqual(found["first_bad"], [commits[1]])
        [table] = [f for f in found["why"]["functions"] if f["function"] == "make_table"]
        self.assertEqual((table["why"], table["callers"][0]["code"]), ("more calls", "changed"))
        low, high = found["values"]
        self.assertEqual((found["steps"][1]["value"], found["steps"][2]["value"]), (high, high))
        self.assertLess(found["steps"][0]["value"], (low + high) / 2)
        done = self.p.run(STROBE, "bisect", "-p", 0, "-c", 1, commits[0], commits[1], "--", "./program")
        self.assertIn(f"\nthe first bad commit is {commits[1]}\n", done.stdout)
        self.assertIn("make_table of program: ", done.stdout)

    def test_nothing(self):
        self.history("g")
        found = self.bisect(self.first, "HEAD", code=3)
        self.assertEqual((found["first_bad"], found["quantity"], found["ends"]["verdict"]), ([], None, "pass"))
        done = self.p.run(STROBE, "bisect", "-p", 0, "-c", 1, "-q", "-f", "json", self.first, "HEAD", fail=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (3, "", ""))
        done = self.p.run(STROBE, "bisect", "-p", 0, "-c", 1, self.first, "HEAD", fail=True)
        self.assertTrue(done.stdout.startswith("nothing to bisect: the gate of the two ends says pass\n"))

    def test_refused(self):
        for words, message in ((("HEAD",), "strobe bisect takes two versions: one that is good"), (("HEAD", "HEAD", "x"), "'x' is one too many: put -- before the command"),
                               (("HEAD", "none"), "'none' is no version of a project"), (("HEAD", "."), "'.' is no version")):
            done = self.p.run(STROBE, "bisect", *words, fail=True)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1))
            self.assertIn(message, done.stderr)
        # The later end has to contain the earlier one.
        bad = self.history("b")[0]
        self.p.git("checkout", "-q", "-b", "side", self.first)
        [side] = self.history("g")
        done = self.p.run(STROBE, "bisect", "-p", 0, "-c", 1, side, bad, fail=True)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn(f"'{bad}' does not come after '{side}'", done.stderr)


class Calibrate(Repository):
    """Gates of the base against itself; their largest change is the least limit of later gates on this machine."""

    def gate(self, pairs, *words, code=0):
        done = self.p.run(STROBE, "gate", "--base", "./old", "-c", 0, "--seed", 1, "--times", self.times(pairs), *words, fail=code != 0)
        self.assertEqual((done.returncode, done.stderr), (code, ""))
        return done.stdout

    def calibrate(self, pairs, *words):
        [found] = json.loads(self.gate(pairs, "--calibrate", "-f", "json", *words))["calibrations"]
        return found

    def kept(self):
        return self.p.folder / ".git/strobe/gate-calibrations.json"

    def against(self, pairs, *words, code):
        found = json.loads(self.gate(pairs, "--target", "./new", "-f", "json", *words, code=code))
        return found["benchmarks"][0]["time"], found["notes"]

    def test_quiet_machine(self):
        pairs = noisy(1200, 1, 0.002)
        found = self.calibrate(pairs)
        self.assertEqual({k: found[k] for k in ("benchmark", "metric", "duet", "gates", "false_alarms", "rate", "alarm", "limit_before", "limit")},
                         {"benchmark": "./old", "metric": "cpu", "duet": "shared", "gates": 20, "false_alarms": 0, "rate": 0, "alarm": 0.01,
                          "limit_before": 0.02, "limit": 0.02})
        self.assertEqual(found["rate_interval"][0], 0)
        self.assertAlmostEqual(found["rate_interval"][1], 1 - 0.025 ** (1 / 20), places=6)
        self.assertAlmostEqual(found["exceeded"], 1 / 21, places=6)
        self.assertEqual(len(found["changes"]), 20)
        self.assertAlmostEqual(found["largest"], max(map(abs, found["changes"])), places=8)
        self.assertLess(found["largest"], 0.01)
        # Each gate takes other pairs: their changes differ.
        self.assertEqual(len(set(found["changes"])), 20)
        time, [note] = self.against(noisy(60, 1.10, 0.002), code=1)
        self.assertEqual(time["limit"], 0.02)
        self.assertRegex(note, r"^calibration of ./old, made on \d{4}-\d\d-\d\d on this machine: 0 of 20 gates raised a false alarm \(0 %; 95 %: 0 % to 16.8 %\), and "
                               r"equal sides differed by at most 0\.\d+ %; the limit remains 2 %$")

    def test_noisy_machine(self):
        found = self.calibrate(noisy(1200, 1, 0.3), "--gates", 10)
        self.assertEqual((found["gates"], found["pairs"], found["limit"]), (10, 600, found["largest"]))
        self.assertGreater(found["largest"], 0.03)
        slower = noisy(60, 1 + found["largest"] / 2, 0.0005)
        time, [note] = self.against(slower, code=0)
        self.assertEqual((time["verdict"], time["limit"]), ("pass", found["largest"]))
        self.assertTrue(note.endswith(f"; the limit is {found['largest'] * 100:.3g} % instead of 2 %"), note)
        time, [note] = self.against(slower, "--limit", 1, code=1)
        self.assertEqual((time["verdict"], time["limit"]), ("regression", 0.01))
        self.assertTrue(note.endswith("; --limit 1 overrides this"), note)
        # Another base, metric or way to pair has no calibration.
        for words in (("--base", "./other"), ("--metric", "wall"), ("--duet", "together"), ("--duet", "alternate")):
            self.assertEqual(self.against(slower, *words, code=1)[1], [])
        self.assertIn("the target is not slower by ", self.gate(slower, "--target", "./new"))

    def test_sides_that_differ(self):
        """If the base is slower than itself, because its two builds differ, the text says so."""
        text = self.gate(noisy(600, 1.2, 0.01), "--calibrate", "--gates", 10)
        self.assertRegex(text, r"^calibration of ./old: 10 gates of the base against itself, \d+ pairs\n"
                               r"  false alarms: 10 of 10, 100 % \(95 %: 69.2 % to 100 %\), with the limit 2 %\n"
                               r"  these are more than the 1 % of --alarm: the two builds of the base differ in speed\n"
                               r"  changes of the CPU time: at most \d+(\.\d+)? %; a further gate of equal sides exceeds this with a probability of at most 9.09 %\n"
                               r"  limit on this machine: \d+(\.\d+)? %, raised from 2 %\nkept in .*/.git/strobe/gate-calibrations.json for this machine\n$")

    def test_too_few(self):
        text = self.gate(noisy(600, 1, 0.002), "--calibrate", "--gates", 1)
        self.assertIn("\n  1 gate is too few to tell whether the rate is at most the 1 % of --alarm; 368 gates without a false alarm would show it\n", text)
        self.assertIn("\n  limit on this machine: 2 %, as before\n", text)

    def test_replaced_and_added(self):
        pairs = noisy(600, 1, 0.002)
        self.calibrate(pairs, "--gates", 3)
        self.calibrate(pairs, "--gates", 4)
        self.calibrate(pairs, "--gates", 5, "--metric", "wall")
        kept = json.loads(self.kept().read_text(encoding="utf-8"))
        self.assertEqual([(c["metric"], c["duet"], c["gates"]) for c in kept["calibrations"]], [("cpu", "shared", 4), ("wall", "alternate", 5)])
        self.gate(pairs, "--calibrate", "--gates", 6, "-q", "-o", self.place / "made.json")
        self.assertEqual(json.loads((self.place / "made.json").read_text(encoding="utf-8"))["calibrations"][0]["gates"], 6)

    def test_other_machine(self):
        self.calibrate(noisy(600, 1, 0.3), "--gates", 5)
        kept = json.loads(self.kept().read_text(encoding="utf-8"))
        kept["calibrations"][0]["machine"] = re.sub("^cores=.*$", "cores=1000", kept["calibrations"][0]["machine"], flags=re.M)
        self.kept().write_text(json.dumps(kept), encoding="utf-8")
        time, [note] = self.against(noisy(60, 1.10, 0.002), code=1)
        self.assertEqual(time["limit"], 0.02)
        self.assertRegex(note, r"^the calibration of ./old was made on another machine \(cores: 1000, here \d+\) and is not applied; strobe gate --calibrate makes one here$")
        # A calibration that is made here stands beside it.
        self.calibrate(noisy(600, 1, 0.002), "--gates", 5)
        self.assertEqual(len(json.loads(self.kept().read_text(encoding="utf-8"))["calibrations"]), 2)
        self.assertIn("on this machine", self.against(noisy(60, 1.10, 0.002), code=1)[1][0])

    @compiles
    def test_version(self):
        """Both sides are builds of one version, measured for real."""
        done = self.p.run(STROBE, "gate", "--base", "HEAD", "--calibrate", "--gates", 2, "-p", 2, "--metric", "wall", "-f", "json")
        found = json.loads(done.stdout)
        self.assertEqual((found["base_commit"], found["base"], found["calibrations"][0]["benchmark"], found["calibrations"][0]["pairs"]), (self.first, "HEAD", "./program", 4))
        self.clean()

    def refused(self, code, message, *words):
        done = self.p.run(STROBE, "gate", *words, fail=True)
        self.assertEqual((done.returncode, done.stdout), (code, ""))
        self.assertIn(message, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_refused(self):
        self.refused(2, "--calibrate compares the base with itself: leave out --target", "-b", "./old", "-t", "./new", "--calibrate")
        self.refused(2, "--gates is the number of gates of a calibration: add --calibrate", "-b", "./old", "-t", "./new", "--gates", 3)
        self.refused(2, "--calibrate measures time, and --pairs 0 does not: leave out one of them", "-b", "./old", "--calibrate", "-p", 0)
        self.refused(2, "a calibration is written as text or JSON, not as sarif", "-b", "./old", "--calibrate", "-o", "x.sarif")
        self.refused(2, "a calibration is written as text or JSON, not as github", "-b", "./old", "--calibrate", "-f", "github")
        self.refused(2, "no base to compare with", "--calibrate")
        self.refused(2, "has only ", "-b", "./old", "--calibrate", "-c", 0, "--times", self.times(noisy(20, 1, 0.002)))
        self.assertFalse(self.kept().exists())
        for text in ("", "{", "[]", '{"calibrations": [{}]}', '{"calibrations": 1}'):
            self.kept().parent.mkdir(exist_ok=True)
            self.kept().write_text(text, encoding="utf-8")
            self.refused(125, "gate-calibrations.json has no calibrations that strobe can read: remove it, and make them again with strobe gate --calibrate",
                         "-b", "./old", "-t", "./new", "-c", 0, "--times", self.times([(1, 1)]))
        done = self.strobe("gate", "-b", "./old", "--calibrate", "--times", self.times([(1, 1)]))
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn("there is no repository around the current folder to keep the calibration in", done.stderr)


class Errors(Gate):
    def refused(self, code, message, *words):
        done = self.strobe("gate", *words)
        self.assertEqual((done.returncode, done.stdout), (code, ""))
        self.assertIn(message, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_usage(self):
        both = ("-b", "a", "-t", "b", "-c", "0")
        self.refused(2, "no base to compare with: strobe gate --base REV", "-t", "b")
        self.refused(2, "the base 'b' is a command, and there is no command to compare it with: name one with --target", "-b", "b")
        self.refused(2, "--limit takes percents that are greater than 0 and at most 1000, not '0'", *both, "--limit", "0")
        self.refused(2, "--alarm takes percents that are greater than 0 and at most 50, not '60'", *both, "--alarm", "60")
        self.refused(2, "--metric takes", *both, "--metric", "x")
        self.refused(2, "--duet takes", *both, "--duet", "x")
        self.refused(2, "--duet shared compares CPU time, because two runs on one CPU wait for each other: use --duet alternate with --metric wall",
                     *both, "--metric", "wall", "--duet", "shared")
        self.refused(2, "--for takes a time", *both, "--for", "0")
        self.refused(2, "--pairs", *both, "--pairs", "-1")
        self.refused(2, "a quote of the command is not closed", "-b", "'a", "-t", "b")
        self.refused(2, "--pairs 0 and --counts 0 leave nothing to measure", *both, "-p", "0")
        self.refused(2, "the base is an empty command", "-b", "", "-t", "b")
        self.refused(2, "has only 1 pair of times", *both, "--times", self.times([(1, 1)]))
        self.refused(2, "cannot read", *both, "--times", self.place / "none")

    def test_nothing_measured(self):
        """No time, no success: an error and never a pass."""
        self.refused(125, "the gate measured nothing: a run of the target took no time", "-c", "0", "-b", "a", "-t", "b", "--times", self.times([(1, 0)]))
        self.refused(125, "the gate measured nothing: false of the base exited with 1; run it by hand to see why, or use --duet alternate if two of them cannot run at once",
                     "-c", 0, "-b", "false", "-t", "true", "--seed", 1)
        self.refused(125, "the gate measured nothing: false of the target exited with 1; run it by hand to see why\n", "-c", 0, "-b", "true", "-t", "false", "--duet", "alternate")
        self.refused(125, "the gate measured nothing: false of the base exited with 1 under the engine", "-b", "false", "-t", "true")
        self.refused(127, "cannot run /none", "-b", "true", "-t", "/none", "-p", 0)
        for duet in "shared", "alternate":
            for seed in 1, 2, 3:
                self.refused(127, "cannot run /none", "-c", 0, "-b", "true", "-t", "/none", "--seed", seed, "--duet", duet)


@compiles
class Functions(Gate):
    """The times of functions by traces. How fast they are is nobody's to say here: test_functiontime.c has the verdicts."""

    def setUp(self):
        super().setUp()
        (self.place / "p.c").write_text("volatile unsigned sum;\n#define F __attribute__((noipa)) void\nF f(void) { for (int i = 0; i < 100000; i++) sum += i; }\n"
                                        "F g(void) { for (int i = 0; i < 100000; i++) sum ^= i; }\n"
                                        "int main(int c, char **v) { (void)v; for (int i = 0; i < 20; i++) { f(); g(); } return c > 1; }\n", encoding="utf-8")
        for name in "old", "new":
            subprocess.run(["gcc", "-O1", "-o", self.place / name, self.place / "p.c"], check=True)
        traced = self.strobe("trace", "-q", "--cpu", "-f", "-o", "t.db", "--", "./old")
        if traced.returncode:
            self.skipTest(f"no trace: {traced.stderr}")

    def test_json(self):
        for metric in "cpu", "wall":
            done = self.strobe("gate", "-b", "./old", "-t", "./new", "-c", 0, "-p", 0, "--functions", 3, "-m", metric, "--seed", 1, "-f", "json")
            self.assertEqual(done.stderr, "")
            found = json.loads(done.stdout)
            [benchmark] = found["benchmarks"]
            times = benchmark["function_times"]
            # Three pairs cannot decide at 1 %; and where nothing else was measured, that is no pass.
            self.assertEqual((done.returncode, found["verdict"], benchmark["verdict"], benchmark["counts"], benchmark["time"]), (3, "inconclusive", "inconclusive", None, None))
            self.assertEqual((times["pairs"], times["alarm"], times["verdict"]), (3, 0.01, "pass"))
            by_name = {f["function"]: f for f in times["functions"]}
            self.assertLessEqual({"f", "g"}, set(by_name))
            for name in "f", "g":
                f = by_name[name]
                self.assertEqual((f["image"], f["verdict"], f["pairs"], len(f["changes"]), f["offset"]), ("the program", "inconclusive", 3, 3, False))
                self.assertTrue(0.01 <= f["share"] <= 1 and f["base_ns"] > 0 and f["target_ns"] > 0 and 0 < f["p"] <= 1, f)

    def test_duets(self):
        """Traced runs are pairs of each kind, too."""
        for duet in "shared", "alternate", "together":
            done = self.strobe("gate", "-b", "./old", "-t", "./new", "-c", 0, "-p", 0, "--functions", 2, "--duet", duet, "--seed", 1, "-f", "json")
            if "needs two CPUs" in done.stderr:
                continue
            self.assertEqual((done.returncode, done.stderr), (3, ""))
            found = json.loads(done.stdout)
            self.assertEqual((found["rule"]["duet"], found["benchmarks"][0]["function_times"]["pairs"]), (duet, 2))

    def test_level_is_shared(self):
        """The time of the program and those of functions together have the probability --alarm; counts decide as before."""
        done = self.strobe("gate", "-b", "./old", "-t", "./new", "-c", 1, "-p", 1, "--functions", 1, "--alarm", 4, "-f", "json")
        [benchmark] = json.loads(done.stdout)["benchmarks"]
        self.assertEqual((benchmark["function_times"]["alarm"], benchmark["counts"]["verdict"], benchmark["verdict"]), (0.02, "pass", "inconclusive"))
        done = self.strobe("gate", "-b", "./old", "-t", "./new", "-c", 1, "-p", 0, "--functions", 1)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(", by 1 pair of traced runs; at most 1 % of gates of equal sides raise an alarm for any of them\n", done.stdout)
        self.assertRegex(done.stdout, r"\n    f of the program: run time: .* -> .*, 1 pair: inconclusive\n")

    def test_formats(self):
        done = self.strobe("gate", "-b", "./old", "-t", "./new", "-c", 0, "-p", 0, "--functions", 1, "-f", "markdown")
        self.assertRegex(done.stdout, r"\n\| \S+ \| \./new \| inconclusive \| f: run time: ")
        done = self.strobe("gate", "-b", "./old", "-t", "./new", "-c", 0, "-p", 0, "--functions", 1, "-f", "junit")
        self.assertIn('name="run time of f"', done.stdout)

    def test_refused(self):
        def refused(code, message, *words):
            done = self.strobe("gate", "-c", 0, "-p", 0, *words)
            self.assertEqual((done.returncode, done.stdout), (code, ""))
            self.assertIn(message, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)
        refused(2, "--functions takes a number from 0 to 5000, not 'x'", "-b", "./old", "-t", "./new", "--functions", "x")
        refused(125, "the gate measured nothing: ./old of the base exited with 1 while its functions were traced", "-b", "./old x", "-t", "./new", "--functions", 1)
        refused(125, ", or use --duet alternate if two of them cannot run at once", "-b", "./old x", "-t", "./new", "--functions", 1)
        refused(2, "--calibrate measures the time of programs: leave out --functions", "-b", "./old", "--calibrate", "--functions", 1, "-p", 1)


if __name__ == "__main__":
    unittest.main()
