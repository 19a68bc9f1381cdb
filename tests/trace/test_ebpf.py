#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`strobe trace --engine ebpf`: the calls that the engine jit counts, and what the kernel's probes cannot do.

usage: test_ebpf.py STROBE CALLS PROBES PATHS

CALLS and PROBES are the programs of programs/calls.c and programs/probes.c, PATHS the folder of the programs of tests/paths."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections import Counter
from pathlib import Path

STROBE, CALLS, PROBES, PATHS = None, None, None, None


def why_not():
    """The reason why this machine, or this build, has no such engine; None: it has it."""
    with tempfile.TemporaryDirectory(prefix="strobe-ebpf-") as folder:
        done = subprocess.run([STROBE, "trace", "-q", "-e", "ebpf", "-o", f"{folder}/t.json", "--", CALLS, "fib"], capture_output=True, text=True,
                              check=False, timeout=120)
    if done.returncode == 125 and any(reason in done.stderr for reason in ("needs root", "was built without", "type information", "does not take")):
        return done.stderr.strip()
    return None


class Ebpf(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="strobe-ebpf-")
        self.at = Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def strobe(self, *arguments, code=0, **more):
        done = subprocess.run([STROBE, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.at,
                              timeout=120, check=False, **more)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def trace(self, options, *command, engine="ebpf", code=0):
        file = self.at / "trace.json"
        self.output = self.strobe("trace", "-q", "-e", engine, *options, "-o", file, "--", *command, code=code).stdout
        return json.loads(file.read_text())

    def by_name(self, trace):
        return {f["name"]: f for f in trace["functions"]}

    def counts(self, trace):
        counts = Counter()
        for f in trace["functions"]:
            counts[f["name"]] += f["calls"] + f["lost"]
        return counts


class Counts(Ebpf):
    def test_recursion(self):
        trace = self.trace([], CALLS, "fib")
        fib = self.by_name(trace)["t_fib"]
        self.assertEqual(trace["engine"], "ebpf")
        self.assertEqual((fib["calls"], fib["lost"]), (1973, 0))
        self.assertTrue(fib["min_ns"] <= fib["p50_ns"] <= fib["p99_ns"] <= fib["max_ns"])
        self.assertEqual(fib["max_ns"], fib["outermost_ns"])
        self.assertEqual(os.path.basename(fib["file"]), "calls.c")
        pairs = {(p["caller"], p["callee"]): p["calls"] for p in trace["pairs"]}
        self.assertEqual(pairs, {(None, "main"): 1, ("main", "t_fib"): 1, ("t_fib", "t_fib"): 1972})

    def test_nested_too_deep(self):
        """100 calls within each other: the kernel waits for 64 returns of a thread."""
        trace = self.trace(["--funcs", "t_deep"], CALLS, "deep100")
        deep = self.by_name(trace)["t_deep"]
        self.assertEqual((deep["calls"], deep["lost"]), (64, 36))
        self.assertEqual((trace["lost"]["returns"], trace["lost"]["nested"]), (36, 36))
        text = self.strobe("trace", "-e", "ebpf", "--funcs", "t_deep", "-o", "t.db", "--", CALLS, "deep100").stderr
        self.assertIn("36 of these returns were lost, because the kernel follows at most 64 calls within each other", text)

    def test_threads(self):
        together = self.by_name(self.trace([], CALLS, "threads"))
        self.assertEqual((together["t_thread"]["calls"], together["t_fib"]["calls"]), (3, 45))
        apart = self.trace(["--per-thread"], CALLS, "threads")["functions"]
        self.assertEqual([f["calls"] for f in apart if f["name"] == "t_fib"], [15, 15, 15])

    def test_longjmp(self):
        trace = self.trace([], CALLS, "jumps")
        names = self.by_name(trace)
        self.assertEqual((names["t_lands"]["calls"], names["t_lands"]["lost"]), (4, 0))
        self.assertEqual((names["t_jumps"]["calls"], names["t_jumps"]["lost"]), (0, 12))
        self.assertEqual((trace["lost"]["returns"], trace["lost"]["nested"]), (12, 0))

    def test_under_way_at_the_end(self):
        names = self.by_name(self.trace([], CALLS, "exits"))
        self.assertEqual((names["main"]["calls"], names["t_exits"]["calls"]), (1, 1))

    def test_limits(self):
        trace = self.by_name(self.trace(["--depth", "2"], CALLS, "levels"))
        self.assertEqual((trace["main"]["calls"], trace["t_level1"]["calls"]), (1, 5))
        self.assertNotIn("t_level2", trace)
        names = self.by_name(self.trace(["--main", "t_level4"], CALLS, "levels"))
        self.assertEqual({n: f["calls"] for n, f in names.items()}, {"t_level4": 5, "t_level5": 5, "t_spin": 10})
        self.assertEqual(set(self.by_name(self.trace(["--exclude", "t_level?,main"], CALLS, "levels"))), {"t_spin"})

    def test_times(self):
        names = self.by_name(self.trace([], CALLS, "levels"))
        for level in range(1, 6):
            self.assertGreaterEqual(names[f"t_level{level}"]["inclusive_ns"], (6 - level) * 5 * 2000000 * 0.98)
        whole = sum(f["exclusive_ns"] for f in names.values())
        self.assertAlmostEqual(whole, names["main"]["inclusive_ns"], delta=20 * len(names))


class AgainstJit(Ebpf):
    """Exceptions, coroutines and the like: the program is unharmed, and both engines count the same calls."""

    PROGRAMS = ["prog1-O2", "prog7-O0", "callbacks-O2", "cold-O2", "coroutines-O0", "ends-O2", "exceptions-O0", "exceptions-O2", "fork-O2",
                "longjmp-O2", "longjmp-frames", "loops-O2", "setcontext-O2", "signals-O2", "tails-O2", "threads_end-O2", "prog9-lazy",
                "entries-lazy", "reload-O2"]

    def test_counts(self):
        for name in self.PROGRAMS:
            with self.subTest(name):
                program = Path(PATHS) / "programs" / name
                counts, refused = {}, set()
                for engine in ("jit", "ebpf"):
                    trace = self.trace(["--images", name, "--funcs", "*"], program, engine=engine)
                    counts[engine] = self.counts(trace), self.output
                    refused |= {r["name"] for r in trace["refused"]}
                self.assertLessEqual({"_start"}, refused)
                self.assertLessEqual(refused, {"_start", "func_1020"})  # the second is the linker's, at the beginning of the .plt
                del counts["jit"][0]["_start"]
                self.assertEqual(counts["ebpf"], counts["jit"])

    def test_libraries(self):
        """All of libc and the dynamic linker: nothing that reads its return address is probed so that it breaks."""
        trace = self.trace(["--all"], CALLS, "fib")
        self.assertEqual(self.by_name(trace)["t_fib"]["calls"], 1973)
        self.assertGreater(len({f["image"] for f in trace["functions"]}), 2)
        refused = {r["name"]: r["reason"] for r in trace["refused"]}
        self.assertEqual(refused["_start"], "it is not called: there is no return that could be seen")
        self.assertEqual(refused["pthread_spin_lock"], "the kernel cannot probe its first instruction")

    def test_children(self):
        program = Path(PATHS) / "programs" / "fork-O2"
        options = ["--follow", "--images", "fork-O2", "--funcs", "f_*"]
        self.assertEqual(self.counts(self.trace(options, program)), self.counts(self.trace(options, program, engine="jit")))


class Runs(Ebpf):
    def test_profile(self):
        self.strobe("trace", "-q", "-e", "ebpf", "-o", "t.db", "--", CALLS, "fib")
        trace = json.loads(self.strobe("trace", "--from", "t.db", "--format", "json").stdout)
        self.assertEqual((trace["engine"], self.by_name(trace)["t_fib"]["calls"]), ("ebpf", 1973))
        self.assertEqual(trace["run"]["command"], [CALLS, "fib"])
        self.assertIn("t_fib", self.strobe("show", "t.db", "--table", "functions").stdout)

    def test_says_what_is_slow_before_it_starts(self):
        done = self.strobe("trace", "-e", "ebpf", "-o", "t.db", "--", CALLS, "fib")
        self.assertRegex(done.stderr.splitlines()[0], r"^strobe: \d+ functions are probed; the kernel single-steps the first instruction of \d+, ")

    def test_program_that_executes_another(self):
        done = self.strobe("trace", "-e", "ebpf", "-o", "t.db", "--", "/bin/sh", "-c", f"exec {CALLS} fib")
        said = done.stdout + done.stderr
        self.assertRegex(said, r"note: the process executed another program(, \S+)?, which is not traced: name that program itself, or use --engine probe\n")
        self.assertNotIn("t_fib", said)
        done = self.strobe("trace", "-e", "ebpf", "-o", "u.db", "--", "/bin/sh", "-c", f"{CALLS} fib; exit 0")
        self.assertNotIn("executed another", done.stdout + done.stderr, "a child did")

    def test_exit_code_and_output(self):
        done = self.strobe("trace", "-q", "-e", "ebpf", "-o", "t.db", "--", "/bin/sh", "-c", "echo out; exit 3", code=3)
        self.assertEqual((done.stdout, done.stderr), ("out\n", ""))
        self.strobe("trace", "-q", "-e", "ebpf", "-o", "t.db", "--", "/bin/sh", "-c", "kill -9 $$", code=128 + 9)

    def test_attach(self):
        with subprocess.Popen([CALLS, "waits"]) as program:
            try:
                time.sleep(0.2)
                self.strobe("trace", "-q", "-e", "ebpf", "--pid", program.pid, "--for", "0.5s", "-o", "a.json")
                self.assertGreater(self.by_name(json.loads((self.at / "a.json").read_text()))["t_spin"]["calls"], 10)
                with subprocess.Popen([STROBE, "trace", "-e", "ebpf", "--pid", str(program.pid), "-o", "b.json"], cwd=self.at,
                                      stderr=subprocess.PIPE) as strobe:
                    self.assertIn(b"are probed", strobe.stderr.readline())
                    time.sleep(0.5)
                    strobe.send_signal(signal.SIGINT)
                    strobe.stderr.read()
                    self.assertEqual(strobe.wait(60), 0)
                self.assertGreater(self.by_name(json.loads((self.at / "b.json").read_text()))["t_spin"]["calls"], 10)
                self.assertIsNone(program.poll())
            finally:
                program.kill()

    def test_killed(self):
        """What is left of a strobe that was killed is a program that runs on."""
        with subprocess.Popen([CALLS, "waits"]) as program:
            try:
                with subprocess.Popen([STROBE, "trace", "-e", "ebpf", "--pid", str(program.pid), "-o", "b.json"], cwd=self.at,
                                      stderr=subprocess.PIPE) as strobe:
                    self.assertIn(b"are probed", strobe.stderr.readline())
                    strobe.kill()
                time.sleep(0.5)
                self.assertIsNone(program.poll())
            finally:
                program.kill()


class StaticProbes(Ebpf):
    def test_list(self):
        lines = [line.split() for line in self.strobe("trace", "--list-usdt", "--", PROBES).stdout.splitlines()]
        found = {line[0]: line for line in lines if line[0].startswith("strobetest:")}
        self.assertEqual(set(found), {f"strobetest:{name}" for name in ("single", "query__start", "query__end", "odd", "even")})
        self.assertEqual(found["strobetest:query__start"][1], "query__end")
        self.assertIn("-4@$1 8@%rsp", " ".join(found["strobetest:query__start"]))
        self.assertNotEqual(found["strobetest:single"][2], "-")

    def test_pairs(self):
        """A single one is a call of no duration, and a pair a timed one; the semaphore says that somebody listens."""
        trace = self.trace(["--usdt", "strobetest:*"], PROBES, "5")
        names = self.by_name(trace)
        self.assertEqual({n: (f["calls"], f["lost"]) for n, f in names.items()},
                         {"strobetest:single": (5, 0), "strobetest:query__start#query__end": (10, 0), "strobetest:odd": (1, 0), "strobetest:even": (1, 0)})
        self.assertEqual(names["strobetest:single"]["inclusive_ns"], 0)
        self.assertGreaterEqual(names["strobetest:query__start#query__end"]["min_ns"], 1000000 * 0.98)
        self.assertEqual(self.output, "listened to\n")

    def test_written_pair(self):
        trace = self.trace(["--usdt", "strobetest:odd#even"], PROBES, "1")
        self.assertEqual(set(self.by_name(trace)), {"strobetest:odd#even"})
        self.assertEqual(self.output, "alone\n")

    def test_with_functions(self):
        names = self.by_name(self.trace(["--usdt", "strobetest:query__*", "--funcs", "ends"], PROBES, "2"))
        self.assertEqual({n: f["calls"] for n, f in names.items()}, {"ends": 4, "strobetest:query__start#query__end": 4})

    def test_none(self):
        done = self.strobe("trace", "-q", "--usdt", "strobetest:none", "-o", "t.json", "--", PROBES, code=125)
        self.assertIn("nothing in the program matches --usdt", done.stderr)
        done = self.strobe("trace", "-e", "jit", "--usdt", "a:b", "--", PROBES, code=125)
        self.assertEqual(done.stderr, "strobe: --usdt needs the probes of the kernel: use --engine ebpf, or leave out --engine jit\n")


class Mistakes(Ebpf):
    def error(self, code, sentence, *arguments):
        done = self.strobe("trace", "-e", "ebpf", *arguments, code=code)
        self.assertEqual((done.stdout, done.stderr), ("", f"strobe: {sentence}\n"))

    def test_mistakes(self):
        self.error(125, "--budget is not possible with --engine ebpf: leave it out, or use --engine probe", "-b", "5%", "true")
        self.error(125, "--events is not possible with --engine ebpf: leave it out, or use --engine probe", "--events", "true")
        self.error(127, "no-such-program: no such program in PATH", "no-such-program")

    def test_nothing_matches(self):
        done = self.strobe("trace", "-e", "ebpf", "--funcs", "t_fibb", "-o", "x.db", "--", CALLS, "fib", code=125)
        self.assertIn("did you mean 't_fib'?", done.stderr)

    def test_user(self):
        if os.geteuid():
            self.skipTest("needs root to become somebody else")
        done = subprocess.run(["setpriv", "--reuid", "65534", "--clear-groups", STROBE, "trace", "-e", "ebpf", "-o", "/dev/null", "true"],
                              capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual((done.returncode, done.stderr),
                         (125, "strobe: --engine ebpf needs root, or the capabilities CAP_BPF and CAP_PERFMON: use --engine jit, "
                               "which needs neither\n"))


if __name__ == "__main__":
    STROBE, CALLS, PROBES, PATHS = sys.argv[1:5]
    if reason := why_not():
        print(reason)
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
