#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`strobe trace`: counts that are known, times that are known, raw files, and what it refuses.

usage: test_trace.py STROBE CALLS PATHS OLD NEW

CALLS is the program of programs/calls.c, PATHS the folder of the programs of tests/paths, OLD and NEW are the builds of programs/changed.c."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections import Counter
from pathlib import Path

STROBE, CALLS, PATHS, OLD, NEW = None, None, None, None, None


class Trace(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="strobe-trace-")
        self.at = Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def strobe(self, *arguments, code=0, **more):
        done = subprocess.run([STROBE, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.at,
                              timeout=120, check=False, **more)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def trace(self, options, *command, code=0):
        file = self.at / "trace.json"
        self.strobe("trace", "-q", *options, "-o", file, "--", *command, code=code)
        return json.loads(file.read_text())

    def raw(self, text, *options):
        file = self.at / "raw"
        file.write_text(text)
        return json.loads(self.strobe("trace", "--from-raw", file, "--format", "json", *options).stdout)

    def by_name(self, trace):
        return {f["name"]: f for f in trace["functions"]}

    def error(self, code, sentence, *arguments):
        done = self.strobe("trace", *arguments, code=code)
        self.assertEqual((done.stdout, done.stderr), ("", f"strobe: {sentence}\n"))


class Plan(Trace):
    """--dry-run: which functions would be traced."""

    def plan(self, options, *command):
        return json.loads(self.strobe("trace", "--dry-run", "--format", "json", *options, "--", *command).stdout)

    def test_own_functions(self):
        """Those that nm shows, with their addresses and where they stand, and nothing is run."""
        plan = self.plan([], CALLS, "fib")
        symbols = subprocess.run(["nm", CALLS], capture_output=True, text=True, check=True).stdout.splitlines()
        own = {name: int(value, 16) for value, kind, name in (line.split() for line in symbols if line[0] != " ")
               if kind in "tT" and (name == "main" or name.startswith(("t_", "on_")))}
        self.assertEqual({f["name"]: f["offset"] for f in plan["functions"]}, own)
        self.assertEqual({(f["image"], os.path.basename(f["file"])) for f in plan["functions"]}, {(os.path.realpath(CALLS), "calls.c")})
        self.assertTrue(all(f["line"] for f in plan["functions"]))
        self.assertEqual((plan["strobe"], plan["dry_run"]), ({"version": 1, "tool": "trace"}, True))
        self.strobe("trace", "--dry-run", "--", "/usr/bin/touch", self.at / "made")
        self.assertEqual(list(self.at.iterdir()), [])

    def test_is_what_a_run_traces(self):
        """Each function that a run has traced or refused was announced, and with --funcs each one that was announced and called is traced."""
        for options in [], ["--all"], ["--all", "-x", "t_fib,_*"], ["--funcs", "t_level*,main"], ["--images", "libc.so*"], ["--main", "t_level3"]:
            planned = {(f["image"], f["offset"]) for f in self.plan(options, CALLS, "levels")["functions"]}
            for engine in "probe", "jit":
                with self.subTest(options=options, engine=engine):
                    run = self.trace(["-e", engine, *options], CALLS, "levels")
                    found = {(os.path.realpath(f["image"]), f["offset"]) for f in run["functions"] + run["refused"] if f["image"][0] == "/"}
                    self.assertEqual(found - planned, set())
        self.assertEqual({f["name"] for f in self.plan(["--funcs", "t_level*"], CALLS)["functions"]}, {f"t_level{i}" for i in range(1, 6)})

    def test_names(self):
        """The text has a line for each; names that fit nothing are named, with the nearest one."""
        done = self.strobe("trace", "--dry-run", "--funcs", "t_fib,t_lavel1", "--", CALLS)
        self.assertRegex(done.stdout, r"^ +offset +image +source +function\n +0x[0-9a-f]+ +\S+ +calls.c:\d+ +t_fib\n\n1 function would be traced\n$")
        unknown = "strobe: --funcs t_lavel1: no function of that name was loaded; did you mean 't_level1'?\n"
        self.assertEqual(done.stderr, unknown)
        done = self.strobe("trace", "--dry-run", "--funcs", "t_lavel1", "--", CALLS, code=125)
        self.assertEqual((done.stdout, done.stderr),
                         ("", unknown + "strobe: nothing would be traced, because nothing in the program matches --funcs\n"))

    def test_many_names(self):
        names = [f"t_level{1 + i % 5}" for i in range(300)]
        for options in ["--funcs", ",".join(names)], [word for name in names for word in ("--funcs", name)]:
            self.assertEqual({f["name"] for f in self.plan(options, CALLS)["functions"]}, set(names))
        done = self.strobe("trace", "--dry-run", "--funcs", ",".join(["a"] * 10001), "--", CALLS, code=125)
        self.assertEqual((done.stdout, done.stderr), ("", "strobe: --funcs: at most 10000 patterns\n"))

    def test_of_a_process(self):
        with subprocess.Popen(["sleep", "100"]) as process:
            try:
                maps = Path(f"/proc/{process.pid}/maps")
                deadline = time.monotonic() + 60
                while "/libc" not in maps.read_text() and time.monotonic() < deadline:  # at first, there is only ld.so
                    time.sleep(0.01)
                plan = json.loads(self.strobe("trace", "--dry-run", "--format", "json", "--funcs", "malloc", "--pid", process.pid).stdout)
                self.assertIn("malloc", {f["name"] for f in plan["functions"]})
                self.assertIsNone(process.poll())
            finally:
                process.kill()

    def test_output(self):
        self.strobe("trace", "--dry-run", "-o", self.at / "plan.json", "--", CALLS)
        self.assertTrue(json.loads((self.at / "plan.json").read_text())["dry_run"])
        self.error(125, "--dry-run prints functions, not calls: say --format text or json", "--dry-run", "--format", "db", CALLS)
        self.error(125, "--dry-run is for running a program, and --from runs none: leave out one of them", "--dry-run", "--from", "x")


class Changed(Trace):
    """--changed-since: functions whose code differs between two builds, and not those that have only moved."""

    CHANGED = {"c_new", "c_differs", "c_calls"}

    def planned(self, *options):
        done = self.strobe("trace", "--dry-run", "--format", "json", *options)
        return {f["name"] for f in json.loads(done.stdout)["functions"]}, done.stderr

    def test_builds(self):
        self.assertEqual(self.planned("--changed-since", OLD, "--", NEW), (self.CHANGED, ""))
        self.assertEqual(self.planned("--changed-since", NEW, "--", OLD), (self.CHANGED - {"c_new"}, ""))
        self.assertEqual(self.planned("--changed-since", NEW, "--", NEW), (set(), ""))
        self.assertEqual(self.planned("--changed-since", OLD, "-x", "c_calls", "--", NEW)[0], self.CHANGED - {"c_calls"})
        run = self.by_name(self.trace(["-e", "probe", "--changed-since", OLD], NEW))
        self.assertEqual({name: f["calls"] for name, f in run.items()}, {"c_differs": 1, "c_calls": 1})

    def test_by_base_name(self):
        """Where several files are chosen, the one of the same base name is compared, and functions of others are not known to have changed."""
        for folder, build in ("old", OLD), ("new", NEW):
            (self.at / folder).mkdir()
            shutil.copy(build, self.at / folder / "program")
        new = self.at / "new" / "program"
        self.assertEqual(self.planned("--all", "--changed-since", "old/program", "--", new), (self.CHANGED, ""))
        self.assertEqual(self.planned("--all", "--changed-since", OLD, "--", new),
                         (set(), f"strobe: --changed-since {OLD}: none of the files whose functions are chosen has the name of a file of that build, "
                          "so nothing is known to have changed\n"))
        self.strobe("trace", "-q", "-o", "old.db", "--", self.at / "old" / "program")
        self.assertEqual(self.planned("--changed-since", "old.db", "--", new), (self.CHANGED, ""))
        shutil.copy(NEW, self.at / "old" / "program")
        self.error(125, "none of the files that old.db is about is still as it was: --changed-since needs a copy of the other build",
                   "--dry-run", "--changed-since", "old.db", "--", new)

    def test_not_in_the_code_cache(self):
        self.error(125, "--changed-since is not possible with --engine jit: leave it out, or use --engine probe", "-e", "jit", "--changed-since", OLD, "--", NEW)


class Reduced(Trace):
    """--reduce-by: what is left out by an earlier trace that was worked out by hand."""

    def earlier(self):
        lines, now = ["#unit ns"], 0

        def call(name, ns, inner=None, inner_ns=0):
            nonlocal now
            lines.append(f"0 1 {now};{name}")
            if inner:
                lines.extend([f"0 1 {now};{inner}", f"1 1 {now + inner_ns};{inner}"])
            now += ns
            lines.append(f"1 1 {now};{name}")
            now += 1
        for i in range(100001):
            call("t_lands", 20000 + i % 2 * 10000)  # too often, whatever it does
        for i in range(1001):
            call("t_spin", 5)  # often, and short
            call("t_deep", 20000)  # often, and always the same
            call("t_jumps", 20000 + i % 2 * 10000)  # often, and neither
        for i in range(1000):
            call("t_fib", 5)  # not often
        for i in range(10):
            call("t_level1", 1000, "t_level2", 900)  # nothing but a call
            call("t_level3", 1000, "t_level4", 700)  # more than that
            call("t_level3", 1000, "t_level5", 900)  # half of its calls
        (self.at / "earlier.raw").write_text("\n".join(lines) + "\n")
        return self.at / "earlier.raw"

    LEFT_OUT = {"t_lands": "it was called 100,001 times",
                "t_spin": "it was called 1,001 times, with a median of 5 ns",
                "t_deep": "it was called 1,001 times, which all lasted about as long",
                "t_level2": "it is most of its only caller, t_level1"}

    def test_rules(self):
        earlier = self.earlier()

        def planned(*options):
            done = self.strobe("trace", "--dry-run", "--format", "json", *options, "--", CALLS, "levels")
            return {f["name"] for f in json.loads(done.stdout)["functions"]}
        self.assertEqual(planned() - planned("--reduce-by", earlier), set(self.LEFT_OUT))
        run = self.trace(["-e", "probe", "--reduce-by", earlier], CALLS, "levels")
        self.assertEqual({f["name"]: f["reason"] for f in run["left_out"]}, self.LEFT_OUT)
        self.assertEqual({os.path.basename(f["image"]) for f in run["left_out"]}, {os.path.basename(CALLS)})
        self.assertEqual((run["refused"], set(self.by_name(run))), ([], {"main", "t_level1", "t_level3", "t_level4", "t_level5"}))

    def shaped(self, shape, calls):
        """The functions that are left out by the graph of these pairs, with their reasons."""
        lines, now = ["#unit ns"], 0
        for path in calls:
            for kind, names in (0, path), (1, list(reversed(path))):
                for name in names:
                    lines.append(f"{kind} 1 {now};{name}")
                    now += 1
        (self.at / "graph.raw").write_text("\n".join(lines) + "\n")
        run = self.trace(["-e", "probe", "--reduce-by", "graph.raw", "--shape", shape], CALLS, "levels")
        return {f["name"]: f["reason"] for f in run["left_out"]}

    def test_shape(self):
        """Levels 0 to 5, of which three are kept; t_spin is on level 2, because t_level1 calls it."""
        graph = [["main", "t_level1", "t_level2", "t_level3", "t_level4", "t_level5"], ["main", "t_level1", "t_spin"], ["main", "t_level1", "t_level2", "t_spin"],
                 ["main", "t_fib", "t_fib"]]
        self.assertEqual(self.shaped("top-down", graph), {f"t_level{n}": f"it is on level {n} of the call graph, and levels 0 to 2 are kept" for n in (3, 4, 5)})
        # t_level5, t_spin and t_fib call no other; t_level4, t_level2 and t_level1 are one call away, t_level3 and main two.
        self.assertEqual(self.shaped("bottom-up", graph), {})
        long = [graph[0] + ["t_part"], ["main", "t_lands", "t_jumps"]]
        self.assertEqual(self.shaped("bottom-up", long), {f"t_level{n}": f"{6 - n} calls lead from it down to a function that calls no other, "
                                                          "and functions with fewer than 4 are kept" for n in (1, 2)})
        left_out = self.shaped("match", graph)
        self.assertEqual(set(left_out.values()), {"it was not called"})
        self.assertEqual({name for name in left_out if name.startswith("t_")},
                         {"t_jumps", "t_lands", "t_outer", "t_catches", "t_thread", "t_deep", "t_part", "t_equal", "t_exits", "t_worker"})

    def test_shape_without_leaves(self):
        """Of 21 functions those that call no other are left out, except where the graph begins; of 20 they stay."""
        graph = [["main", "t_level1", "t_level2"], ["main", "t_spin"], ["t_part"]] + [["main", f"other{i}"] for i in range(15)]
        self.assertEqual(self.shaped("top-down", graph), {"t_level2": "it is on level 2 of the call graph, and levels 0 to 1 are kept"})
        graph.append(["main", "other15"])
        self.assertEqual(self.shaped("top-down", graph), {"t_level2": "it is on level 2 of the call graph, and levels 0 to 1 are kept",
                                                          "t_spin": "it calls no other function"})

    def test_shape_of_nothing(self):
        self.error(125, "--shape is about the call graph of an earlier trace: add --reduce-by FILE, or leave it out", "--shape", "match", CALLS)
        self.error(125, "--shape takes top-down, bottom-up or match, not 'round'", "--shape", "round", CALLS)

    def test_by_a_profile(self):
        """A profile is as good as a raw file, and the text says what was left out."""
        self.strobe("trace", "-q", "-e", "probe", "-o", "earlier.db", "--", CALLS, "fib")
        done = self.strobe("trace", "-e", "probe", "--reduce-by", "earlier.db", "-o", "t.db", "--", CALLS, "fib")
        self.assertRegex(done.stderr, r"note: 1 function was left out:\n    t_fib \[\S+\]: it was called 1,973 times, with a median of \d+ ns\n")
        self.assertEqual(set(self.by_name(json.loads(self.strobe("trace", "--from", "t.db", "--format", "json").stdout))), {"main"})

    def test_refusals(self):
        self.error(125, "--reduce-by is not possible with --engine jit: leave it out, or use --engine probe", "-e", "jit", "--reduce-by", self.earlier(), CALLS)
        self.assertIn("none", self.strobe("trace", "--reduce-by", "none", CALLS, code=125).stderr)


class Text(Trace):
    def text(self, *arguments):
        return self.strobe("trace", "-o", self.at / "trace.db", *arguments).stderr

    def test_heading(self):
        """It has the command's name and not the tool's, whatever the engine."""
        for engine in "probe", "jit":
            self.assertTrue(self.text("-e", engine, "-x", "t_spin", "--", CALLS, "fib").startswith(f"strobe: trace of {CALLS} fib\n"))

    def test_code_in_libraries(self):
        """A program that is one function, as python3 often is: there is more in its libraries, unless that was asked for."""
        note = "\n  note: only one function of the program's own file was called; --all traces the functions of its libraries, too\n"
        for options, word, has in ([], "fib", False), ([], "nothing", True), (["-x", "t_fib"], "fib", False), (["--funcs", "main"], "fib", False):
            with self.subTest(options=options, word=word):
                self.assertEqual(note in self.text(*options, "--", CALLS, word), has)


class Counts(Trace):
    def test_recursion(self):
        fib = self.by_name(self.trace(["-e", "jit"], CALLS, "fib"))["t_fib"]
        self.assertEqual((fib["calls"], fib["lost"]), (1973, 0))
        self.assertLessEqual(fib["exclusive_ns"], fib["outermost_ns"])
        self.assertLess(fib["outermost_ns"], fib["inclusive_ns"])
        self.assertEqual(fib["max_ns"], fib["outermost_ns"])
        self.assertTrue(fib["min_ns"] <= fib["p50_ns"] <= fib["p90_ns"] <= fib["p99_ns"] <= fib["max_ns"])
        self.assertEqual(fib["file"].rsplit("/", 1)[-1], "calls.c")

    def test_pairs(self):
        trace = self.trace([], CALLS, "fib")
        pairs = {(p["caller"], p["callee"]): p["calls"] for p in trace["pairs"]}
        self.assertEqual(pairs["t_fib", "t_fib"], 1972)
        self.assertEqual(pairs["main", "t_fib"], 1)
        for pair in trace["pairs"]:
            self.assertEqual(trace["functions"][pair["callee_index"]]["name"], pair["callee"])

    def test_depth_beyond_every_table(self):
        deep = self.by_name(self.trace([], CALLS, "deep"))["t_deep"]
        self.assertEqual((deep["calls"], deep["lost"]), (100001, 0))

    def test_depth_is_limited(self):
        trace = self.by_name(self.trace(["--depth", "2"], CALLS, "levels"))
        self.assertEqual((trace["main"]["calls"], trace["t_level1"]["calls"]), (1, 5))
        self.assertNotIn("t_level2", trace)

    def test_longjmp(self):
        trace = self.trace([], CALLS, "jumps")
        names = self.by_name(trace)
        self.assertEqual((names["t_lands"]["calls"], names["t_lands"]["lost"]), (4, 0))
        self.assertEqual((names["t_jumps"]["calls"], names["t_jumps"]["lost"]), (0, 12))
        self.assertEqual(trace["lost"]["returns"], 12)
        self.assertIsNone(names["t_jumps"]["p50_ns"])

    def test_under_way_at_the_end(self):
        names = self.by_name(self.trace([], CALLS, "exits"))
        self.assertEqual((names["main"]["calls"], names["t_exits"]["calls"]), (1, 1))
        self.assertLessEqual(names["t_exits"]["inclusive_ns"], names["main"]["inclusive_ns"])

    def test_threads(self):
        together = self.by_name(self.trace([], CALLS, "threads"))
        self.assertEqual((together["t_thread"]["calls"], together["t_fib"]["calls"]), (3, 45))
        apart = self.trace(["--per-thread"], CALLS, "threads")["functions"]
        fibs = [f for f in apart if f["name"] == "t_fib"]
        self.assertEqual([f["calls"] for f in fibs], [15, 15, 15])
        self.assertEqual(len({f["tid"] for f in fibs}), 3)

    def test_selection(self):
        self.assertEqual(set(self.by_name(self.trace(["--funcs", "t_level*"], CALLS, "levels"))), {f"t_level{i}" for i in range(1, 6)})
        own = set(self.by_name(self.trace([], CALLS, "fib")))
        self.assertEqual(own, {"main", "t_fib"})
        everything = self.trace(["--all"], CALLS, "fib")
        images = {os.path.basename(f["image"]) for f in everything["functions"]}
        self.assertIn(os.path.basename(CALLS), images)
        self.assertGreater(len(images), 1)
        self.assertFalse([f["name"] for f in everything["functions"] if f["name"].endswith("@plt")])

    def test_exclude(self):
        everything = {"main", "t_spin"} | {f"t_level{i}" for i in range(1, 6)}
        for patterns, left_out in [(["t_spin"], {"t_spin"}), (["t_level?"], everything - {"main", "t_spin"}), (["*5,main"], {"t_level5", "main"}),
                                   (["t_*1", "-x", "t_spi"], {"t_level1"}), (["t_spin(double)"], {"t_spin"})]:
            self.assertEqual(set(self.by_name(self.trace(["--exclude", *patterns], CALLS, "levels"))), everything - left_out)

    def test_unknown_names(self):
        """What --main and --exclude name and no image has: with the nearest name, and without --main nothing can be traced."""
        unknown = "strobe: --{}: no function of that name was loaded{}\n"

        def err(*options, code):
            return self.strobe("trace", "-q", *options, "-o", self.at / "trace.db", "--", CALLS, "levels", code=code).stderr
        self.assertEqual(err("--main", "t_lavel4", code=125), unknown.format("main t_lavel4", "; did you mean 't_level4'?")
                         + "strobe: nothing was measured, because nothing in the program matches --main\n")
        self.assertEqual(err("-x", "t_spim(double),t_level1,none*", code=0), unknown.format("exclude t_spim", "; did you mean 't_spin'?")
                         + unknown.format("exclude none*", ""))

    def test_main(self):
        names = self.by_name(self.trace(["--main", "t_level4"], CALLS, "levels"))
        self.assertEqual({n: f["calls"] for n, f in names.items()}, {"t_level4": 5, "t_level5": 5, "t_spin": 10})
        names = self.by_name(self.trace(["--main", "t_lands", "--funcs", "t_jumps,main"], CALLS, "jumps"))
        self.assertEqual({n: (f["calls"], f["lost"]) for n, f in names.items()}, {"t_lands": (4, 0), "t_jumps": (0, 12)})

    def test_script(self):
        script = self.at / "script"
        script.write_text("#!/bin/sh\nexit 3\n")
        script.chmod(0o755)
        done = self.strobe("trace", "-o", "s.json", script, code=3)
        self.assertIn("  result: s.json", done.stderr)
        trace = json.loads((self.at / "s.json").read_text())
        shell = os.path.realpath("/bin/sh")
        self.assertTrue(trace["functions"])
        self.assertEqual({f["image"] for f in trace["functions"]}, {shell})

    def test_script_by_env(self):
        script = self.at / "script"
        script.write_text("#!/usr/bin/env sh\nexit 3\n")
        script.chmod(0o755)
        names = self.trace([], script, code=3)["functions"]
        self.assertEqual({f["image"] for f in names}, {os.path.realpath("/bin/sh")})

    def test_program_keeps_its_output(self):
        done = self.strobe("trace", "-q", "-o", "e.db", "--", "/bin/echo", "out", code=0)
        self.assertEqual((done.stdout, done.stderr), ("out\n", ""))


class AgainstPaths(Trace):
    """Another tool counts the same calls: what its forests say is tested against what is true (tests/paths)."""

    PROGRAMS = ["prog1-O2", "prog7-O0", "callbacks-O2", "cold-O2", "coroutines-O0", "ends-O2", "exceptions-O0", "exceptions-O2", "fork-O2",
                "longjmp-O2", "longjmp-frames", "loops-O2", "setcontext-O2", "signals-O2", "tails-O2", "threads_end-O2", "vfork-O2", "prog9-lazy",
                "entries-lazy", "reload-O2"]

    # Nobody calls the first one; a loop of the second begins within its first five bytes, without padding nearby; the third is the linker's.
    REFUSED = {"_start", "f_a", "func_1020"}

    def functions(self, engine, program):
        """Counts, and the names of functions that take no probe."""
        counts, trace = Counter(), self.trace(["--engine", engine, "--images", program.name, "--funcs", "*"], program)
        for f in trace["functions"]:
            counts[f["name"]] += f["calls"] + f["lost"]
        return counts, {f["name"] for f in trace["refused"]}

    def contexts(self, program):
        file = self.at / "paths.json"
        self.strobe("paths", "-q", "-k", "0", "--images", program.name, "-o", file, "--", program)
        counts, todo = Counter(), [node for thread in json.loads(file.read_text())["threads"] for node in thread["ksf"]]
        while todo:
            node = todo.pop()
            todo += node["children"]
            if not node["name"].startswith("__ro"):
                counts[node["name"]] += node["count"]
        return counts

    def test_counts(self):
        for name in self.PROGRAMS:
            with self.subTest(name):
                program = Path(PATHS) / "programs" / name
                counts = self.contexts(program)
                self.assertEqual(self.functions("jit", program), (counts, set()))
                probed, refused = self.functions("probe", program)
                self.assertLessEqual(refused, self.REFUSED)
                self.assertEqual(probed, Counter({name: n for name, n in counts.items() if name not in refused}))


class Times(Trace):
    def test_nested_levels(self):
        """Five levels, each of which works for 2 ms by a clock of its own, five times: what lies between is at most scheduling, which only adds."""
        names = self.by_name(self.trace([], CALLS, "levels"))
        spin = names["t_spin"]
        self.assertEqual(spin["calls"], 25)
        self.assertGreaterEqual(spin["inclusive_ns"], 25 * 2000000 * 0.98)
        for level in range(1, 6):
            f = names[f"t_level{level}"]
            self.assertEqual(f["calls"], 5)
            self.assertGreaterEqual(f["inclusive_ns"], (6 - level) * 5 * 2000000 * 0.98)
        # What each function has spent is the whole, to the nanosecond but for rounding.
        whole = sum(f["exclusive_ns"] for f in names.values())
        self.assertAlmostEqual(whole, names["main"]["inclusive_ns"], delta=20 * len(names))

    def test_left_by_longjmp(self):
        """The 20 ms are those of what was called, and the time of the call that was left is nobody's."""
        names = self.by_name(self.trace([], CALLS, "left"))
        self.assertGreaterEqual(names["t_spin"]["exclusive_ns"], 20000000 * 0.98)
        self.assertEqual((names["t_outer"]["calls"], names["t_outer"]["lost"]), (0, 1))
        self.assertLess(names["t_catches"]["exclusive_ns"], names["t_spin"]["exclusive_ns"] / 2)
        for f in names.values():
            self.assertLessEqual(f["exclusive_ns"], f["outermost_ns"])
        self.assertLessEqual(sum(f["exclusive_ns"] for f in names.values()), names["main"]["inclusive_ns"] + 20 * len(names))


class Raw(Trace):
    NESTED = "0 7 0;main\n0 7 100;a\n0 7 150;b\n1 7 250;b\n1 7 400;a\n0 7 500;b\n1 7 550;b\n1 7 900;main\n"

    def test_nested(self):
        names = self.by_name(self.raw(self.NESTED))
        self.assertEqual({n: (f["calls"], f["inclusive_ns"], f["exclusive_ns"]) for n, f in names.items()},
                         {"main": (1, 900, 550), "a": (1, 300, 200), "b": (2, 150, 150)})

    def test_units(self):
        for text, options, scale in [(self.NESTED, ("--unit", "us"), 1000), ("#unit us\n" + self.NESTED, (), 1000),
                                     ("#unit us\n" + self.NESTED, ("--unit", "ns"), 1), (self.NESTED, ("--unit", "ns"), 1)]:
            self.assertEqual(self.by_name(self.raw(text, *options))["main"]["inclusive_ns"], 900 * scale)

    def test_malformed_lines(self):
        lines = self.NESTED.splitlines()
        bad = ["", "# a comment", "0 7 5", "x 7 5;f", "0 7 ;f", "9 7 5;f", "0 7 5;", "0 -7 5;f", "0 7 99999999999999999999999;f", "0 7 5 6 7 8;f"]
        mixed = "\n".join(line for pair in zip(lines, bad) for line in pair) + "\n" + "\n".join(bad[len(lines):]) + "\n"
        trace = self.raw(mixed)
        self.assertEqual(trace["lost"]["malformed_lines"], 8)
        self.assertEqual(self.by_name(trace)["main"]["exclusive_ns"], 550)

    def test_lost(self):
        trace = self.raw("0 7 0;main\n0 7 100;a\n0 7 150;b\n1 7 400;a\n1 7 500;c\n1 7 900;main\n")
        self.assertEqual(trace["lost"], {"returns": 1, "nested": 0, "records": 0, "entries": 1, "malformed_lines": 0})
        names = self.by_name(trace)
        self.assertEqual(names["a"]["exclusive_ns"], 300)
        self.assertEqual((names["b"]["calls"], names["b"]["lost"]), (0, 1))
        self.assertNotIn("c", names)

    def test_threads_and_processes(self):
        trace = self.raw("7 40 40 1 0;prog\n5 41 40 1 10;prog\n0 41 20;f\n1 41 30;f\n6 41 40 1 50;prog\n8 40 40 1 90;prog\n")
        self.assertEqual(trace["lanes"], [
            {"kind": "process", "name": "prog", "tid": 40, "pid": 40, "ppid": 1, "begin_ns": 0, "end_ns": 90},
            {"kind": "thread", "name": "prog", "tid": 41, "pid": 40, "ppid": 1, "begin_ns": 10, "end_ns": 50}])

    def test_per_thread(self):
        trace = self.raw("0 1 0;f\n0 2 10;f\n1 2 20;f\n1 1 90;f\n", "--per-thread")
        self.assertEqual([(f["tid"], f["exclusive_ns"]) for f in trace["functions"]], [(1, 90), (2, 10)])

    def test_text(self):
        (self.at / "raw").write_text(self.NESTED)
        lines = self.strobe("trace", "--from-raw", "raw").stdout.splitlines()
        self.assertEqual(lines[:3], ["", "functions, by the time spent in their own code",
                                     "    self     %   total  calls     p50     p99     max  function"])
        self.assertEqual(lines[3].split(), ["550", "ns", "61.1", "900", "ns", "1", "900", "ns", "900", "ns", "900", "ns", "main"])

    def test_names_do_not_reach_the_terminal_raw(self):
        (self.at / "raw").write_text("0 7 0;a\033[31mb\n1 7 100;a\033[31mb\n")
        self.assertNotIn("\033", self.strobe("trace", "--from-raw", "raw").stdout)

    def test_not_raw(self):
        (self.at / "bad").write_text("hello\nworld\n")
        (self.at / "empty").write_text("# nothing\n")
        (self.at / "folder").mkdir()
        self.error(125, "bad is no raw trace: none of its 2 lines is of the form 'TYPE TID TIME;NAME'", "--from-raw", "bad")
        (self.at / "one").write_text("hello\n")
        self.error(125, "one is no raw trace: none of its 1 line is of the form 'TYPE TID TIME;NAME'", "--from-raw", "one")
        self.error(125, "empty is empty: there is no event in it", "--from-raw", "empty")
        self.error(125, "cannot read folder: it is a directory", "--from-raw", "folder")
        (self.at / "ms").write_text("#unit ms\n" + self.NESTED)
        self.error(125, "ms says that its times are in a unit that strobe does not know: it knows ns and us; convert the times, or say --unit",
                   "--from-raw", "ms")
        self.assertEqual(self.by_name(self.raw("#unit ms\n" + self.NESTED, "--unit", "ns"))["main"]["calls"], 1)
        self.error(125, "cannot read none: No such file or directory", "--from-raw", "none")


class Files(Trace):
    def test_from_profile(self):
        self.strobe("trace", "-q", "-o", "t.db", "--", CALLS, "fib")
        trace = json.loads(self.strobe("trace", "--from", "t.db", "--format", "json").stdout)
        self.assertEqual(self.by_name(trace)["t_fib"]["calls"], 1973)
        self.assertEqual(trace["run"]["command"], [CALLS, "fib"])
        self.strobe("trace", "--from", "t.db", "-o", "t.json")
        self.assertEqual(json.loads((self.at / "t.json").read_text()), trace)
        self.assertIn("t_fib", self.strobe("show", "t.db", "--table", "functions").stdout)

    def test_events(self):
        self.strobe("trace", "-q", "--events", "-o", "t.db", "--", CALLS, "jumps")
        rows = self.strobe("show", "t.db", "--rows", "events", "--format", "csv", "-n", "0").stdout.splitlines()
        kinds = Counter(kind for row in rows[1:] for kind in ("entry", "return") if f",{kind}," in row)
        self.assertEqual(kinds, {"entry": 4 + 12 + 1, "return": 4 + 1})

    def test_raw_gives_the_same(self):
        self.strobe("trace", "-q", "--events", "-o", "t.db", "--", CALLS, "jumps")
        self.strobe("trace", "--from", "t.db", "-o", "t.raw")
        first = self.by_name(json.loads(self.strobe("trace", "--from", "t.db", "--format", "json").stdout))
        again = self.by_name(json.loads(self.strobe("trace", "--from-raw", "t.raw", "--format", "json").stdout))
        counts = [{n: (f["calls"], f["lost"]) for n, f in names.items()} for names in (first, again)]
        self.assertEqual(*counts)
        self.assertGreaterEqual(again["main"]["inclusive_ns"], first["main"]["inclusive_ns"])

    def test_callgrind(self):
        """The format read as its manual has it gives the numbers of the JSON."""
        self.strobe("trace", "-q", "-o", "t.db", "--", CALLS, "levels")
        trace = json.loads(self.strobe("trace", "--from", "t.db", "--format", "json").stdout)
        lines = self.strobe("trace", "--from", "t.db", "--format", "callgrind").stdout.splitlines()
        names, costs, calls, here, callee = {}, {}, {}, None, None
        for line in lines[lines.index("") + 1:]:
            key, _, value = line.partition("=")
            if key in ("fn", "cfn"):
                number, _, name = value.partition(" ")
                name = names.setdefault(number, name)
                here, callee = (name, None) if key == "fn" else (here, name)
            elif key == "calls":
                calls[here, callee] = [int(value.split()[0])]
            elif line and line[0].isdigit():
                cost = int(line.split()[1])
                if callee:
                    calls[here, callee].append(cost)
                else:
                    costs[here] = cost
        self.assertEqual(costs, {f["name"]: f["exclusive_ns"] for f in trace["functions"]})
        self.assertEqual(calls, {(p["caller"], p["callee"]): [p["calls"], p["inclusive_ns"]] for p in trace["pairs"] if p["caller"]})
        self.assertIn(f"summary: {sum(costs.values())}", lines)

    def test_timeline(self):
        """Each slice that begins ends, in its thread, and lies within the one around it."""
        self.strobe("trace", "-q", "--format", "timeline", "-o", "t.json", "--", CALLS, "threads")
        events, open_slices, slices = json.loads((self.at / "t.json").read_text())["traceEvents"], {}, Counter()
        self.assertEqual([e["args"]["name"] for e in events if e["ph"] == "M"], [CALLS])
        for e in events:
            stack = open_slices.setdefault((e["pid"], e["tid"]), [])
            if e["ph"] == "B":
                self.assertTrue(not stack or stack[-1][1] <= e["ts"])
                stack.append((e["name"], e["ts"]))
            elif e["ph"] == "E":
                name, begin = stack.pop()
                self.assertLessEqual(begin, e["ts"])
                slices[name] += 1
        self.assertEqual(slices, {"main": 1, "t_thread": 3, "t_fib": 45})
        self.assertFalse([stack for stack in open_slices.values() if stack])

    def test_stacks(self):
        """Each function has the own time that the tables of the same events give it, by exact stacks, in all formats of stacks."""
        for word, stacks in (("jumps", {"main", "main;t_lands"}), ("levels", None), ("threads", None)):
            self.strobe("trace", "-q", "--events", "-o", "t.db", "--", CALLS, word)
            self.strobe("trace", "--from", "t.db", "--format", "raw", "-o", "t.raw")
            table = json.loads(self.strobe("trace", "--from-raw", "t.raw", "--format", "json").stdout)
            own = {f["name"]: f["exclusive_ns"] for f in table["functions"] if f["exclusive_ns"]}
            self.strobe("trace", "--from", "t.db", "-o", "t.folded")
            lines = [line.rsplit(" ", 1) for line in (self.at / "t.folded").read_text().splitlines()]
            folded = Counter()
            for stack, ns in lines:
                folded[stack.split(";")[-1]] += int(ns)
            self.assertEqual(folded, own)
            if stacks:
                self.assertEqual({stack for stack, _ in lines}, stacks)
            self.strobe("trace", "--from", "t.db", "-o", "t.speedscope")
            scope = json.loads((self.at / "t.speedscope").read_text())
            frames, speedscope = [f["name"] for f in scope["shared"]["frames"]], Counter()
            for profile in scope["profiles"]:
                self.assertRegex(profile["name"], r"^thread \d+ \(tid \d+")
                for sample, ns in zip(profile["samples"], profile["weights"], strict=True):
                    speedscope[";".join(frames[i] for i in sample)] += ns
            self.assertEqual(len(scope["profiles"]), 4 if word == "threads" else 1)
            whole = Counter()
            for stack, ns in lines:
                whole[stack] += int(ns)
            self.assertEqual(speedscope, whole)
            self.assertEqual({os.path.basename(f["file"]) for f in scope["shared"]["frames"]}, {"calls.c"})
            pprof = self.strobe("trace", "--from", "t.db", "--format", "pprof", "-o", "t.pprof")
            self.assertEqual(pprof.stderr, "")
            samples = self.pprof_samples((self.at / "t.pprof").read_bytes())
            self.assertEqual(sum(ns for _, ns in samples), sum(own.values()))
            self.assertEqual(sum(calls for calls, _ in samples), sum(f["calls"] for f in table["functions"]))

    def pprof_samples(self, data):
        """The values of all samples of a profile.proto: field 2, and in it field 2, packed."""

        def fields(data):
            at = 0

            def varint():
                nonlocal at
                value = shift = 0
                while True:
                    byte = data[at]
                    at += 1
                    value |= (byte & 127) << shift
                    shift += 7
                    if byte < 128:
                        return value
            while at < len(data):
                key = varint()
                value = varint()
                if key & 7 == 2:
                    value, at = data[at:at + value], at + value
                yield key >> 3, value

        def numbers(data):
            value = shift = 0
            for byte in data:
                value |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    yield value
                    value = shift = 0
        return [tuple(numbers(value)) for field, sample in fields(data) if field == 2 for inner, value in fields(sample) if inner == 2]

    def test_stacks_of_a_run(self):
        """--format folded records events, and a run in which nothing was called has none."""
        self.strobe("trace", "-q", "-o", "t.folded", "--", CALLS, "fib")
        stacks = {line.rsplit(" ", 1)[0] for line in (self.at / "t.folded").read_text().splitlines()}
        self.assertEqual(stacks, {"main" + depth * ";t_fib" for depth in range(16)})
        self.strobe("trace", "-q", "--funcs", "t_fib", "-o", "t.folded", "--", CALLS, "levels")
        self.assertEqual((self.at / "t.folded").read_text(), "")

    def test_nothing_was_called(self):
        self.strobe("trace", "-q", "--funcs", "t_fib", "--format", "timeline", "-o", "t.json", "--", CALLS, "levels")
        self.assertEqual(json.loads((self.at / "t.json").read_text()), {"traceEvents": []})

    def test_rows_are_not_replaced(self):
        self.strobe("trace", "-q", "--events", "-o", "t.db", "--", CALLS, "jumps")
        rows = (self.at / "t.db.events.rows").read_bytes()
        self.strobe("trace", "--from", "t.db", "--format", "raw", "-o", "t.db.events.rows", code=125)
        self.assertEqual((self.at / "t.db.events.rows").read_bytes(), rows)

    def test_no_events(self):
        self.strobe("trace", "-q", "-o", "t.db", "--", CALLS, "jumps")
        self.error(125, "t.db has no entries and returns: record them with strobe trace --events", "--from", "t.db", "--format", "raw")
        self.error(125, "t.db has no entries and returns: record them with strobe trace --events", "--from", "t.db", "--format", "folded")

    def test_other_profile(self):
        self.strobe("run", "-q", "-t", "null", "-o", "n.db", "--", "true")
        self.error(125, "the result has no trace of functions: it was made with the tool null, not with strobe trace", "--from", "n.db")

    def test_attach(self):
        with subprocess.Popen([CALLS, "waits"]) as program:
            try:
                time.sleep(0.2)
                self.strobe("trace", "-q", "--pid", program.pid, "--for", "0.5s", "-o", "a.json")
                names = self.by_name(json.loads((self.at / "a.json").read_text()))
                self.assertGreater(names["t_spin"]["calls"], 10)
                self.assertIsNone(program.poll())
            finally:
                program.send_signal(signal.SIGKILL)


class Mistakes(Trace):
    def test_mistakes(self):
        for sentence, *arguments in [
                ("no program to run: strobe trace [options] -- PROGRAM, or --pid PID for one that is running",),
                ("--user and --all choose different functions: leave out one of them", "-u", "-a", "true"),
                ("--all and --funcs choose different functions: leave out one of them", "-a", "--funcs", "f", "true"),
                ("--main takes the name of one function, not ''; --funcs takes patterns", "--main", "", "true"),
                ("--main takes the name of one function, not 't_*'; --funcs takes patterns", "--main", "t_*", "true"),
                ("--unit is about a raw file: add --from-raw, or leave it out", "--unit", "us", "true"),
                ("--pid names a running process: leave out the program 'true'", "--pid", "1", "true"),
                ("--from shows an earlier run: leave out the program 'true'", "--from", "x", "true"),
                ("--all is for running a program, and --from runs none: leave out one of them", "--all", "--from", "x"),
                ("--from and --from-raw read different files: leave out one of them", "--from", "x", "--from-raw", "y"),
                ("--unique measures each piece of code once, and a trace needs all calls: leave it out", "--unique", "true"),
                ("standard output belongs to the program: give -o a file, then use strobe trace --from", "-o", "-", "true"),
                ("x cannot be written as db: say --format text, json or callgrind", "--from", "x", "--format", "db"),
                ("the name y.z does not say which format to write: add --format", "--from", "x", "-o", "y.z")]:
            self.error(125, sentence, *arguments)

    def test_nothing_matches(self):
        done = self.strobe("trace", "--funcs", "t_fibb", "-o", "x.db", "--", CALLS, "fib", code=125)
        self.assertIn("nothing in the program matches --funcs", done.stderr)
        self.assertIn("t_fib", done.stderr)

    def test_no_such_program(self):
        self.error(127, "no-such-program: no such program in PATH", "--", "no-such-program")


if __name__ == "__main__":
    STROBE, CALLS, PATHS, OLD, NEW = sys.argv[1:6]
    unittest.main(argv=sys.argv[:1] + sys.argv[6:])
