#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`strobe trace --engine probe`: the same calls as the code cache sees, programs unharmed.

usage: test_probe.py STROBE CALLS THROWS LOADS WALKS CROWD FORKS STACKS

CALLS, THROWS, LOADS, WALKS, CROWD, FORKS and STACKS are the programs of programs/calls.c, throws.cc, loads.c, walks.c, crowd.c, forks.c
and stacks.c."""

import csv
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections import Counter
from pathlib import Path

STROBE, CALLS, THROWS, LOADS, WALKS, CROWD, FORKS, STACKS = [os.path.abspath(name) for name in sys.argv[1:9]]


class Probe(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-probe-")
        self.addCleanup(folder.cleanup)
        self.at = Path(folder.name)

    def trace(self, engine, *options, command):
        """The trace and what the program printed."""
        file = self.at / "trace.json"
        done = subprocess.run([STROBE, "trace", "-q", "--engine", engine, *options, "-o", file, "--", *command], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(file.read_text()), done.stdout

    def calls(self, trace):
        """By function: calls that have ended, and those whose return was not seen."""
        return {f["name"]: (f["calls"], f["lost"]) for f in trace["functions"]}

    def pairs(self, trace):
        return {(p["caller"], p["callee"]): p["calls"] for p in trace["pairs"] if p["calls"]}


class Counts(Probe):
    def test_same_as_code_cache(self):
        """Recursion, longjmp out of and into traced functions, threads, 100,000 levels, exit and pauses."""
        for what in "", "levels", "fib", "jumps", "left", "threads", "deep", "exits":
            with self.subTest(what=what):
                jit, _ = self.trace("jit", command=[CALLS, what])
                probe, _ = self.trace("probe", command=[CALLS, what])
                self.assertEqual((jit["engine"], probe["engine"]), ("jit", "probe"))
                self.assertEqual(self.calls(probe), self.calls(jit))
                self.assertEqual(self.pairs(probe), self.pairs(jit))
                self.assertEqual(probe["refused"], [])

    def test_exceptions(self):
        """20,000 exceptions through three traced functions, each third call; backtrace from 6 levels; threads that end by pthread_exit."""
        native = subprocess.run([THROWS], stdout=subprocess.PIPE, text=True, check=True).stdout
        for options in [], ["--all"]:
            with self.subTest(options=options):
                trace, printed = self.trace("probe", *options, command=[THROWS])
                self.assertEqual(printed, native)
                calls = {name.split("(")[0]: sum(n) for name, n in self.calls(trace).items()}
                for name in "first", "second", "third":
                    self.assertEqual(calls[name], 64000)
                self.assertEqual((calls["backtrace_of"], calls["rethrows"], calls["thread"]), (7, 4000, 4))

    def test_libraries_that_come_and_go(self):
        """A library that is loaded and unloaded three times has its probes each time."""
        trace, printed = self.trace("probe", "--funcs", "cbrt,main", command=[LOADS])
        self.assertEqual(printed, "7494.723\n" * 3)
        self.assertEqual(self.calls(trace), {"cbrt": (3000, 0), "main": (1, 0)})

    def test_stack_that_is_gone(self):
        """Return addresses are read while a call has not returned whose stack is unmapped."""
        trace, printed = self.trace("probe", command=[STACKS])
        self.assertEqual(printed, "done\n")
        calls = {name: sum(n) for name, n in self.calls(trace).items()}
        self.assertEqual((calls["t_reads"], calls["t_add"], calls["t_leaves"]), (1001, 1000, 1))

    def test_exits_are_patched(self):
        """In a program whose runtime reads return addresses they stay, and calls are timed all the same."""
        native = subprocess.run([WALKS], stdout=subprocess.PIPE, text=True, check=True).stdout
        trace, printed = self.trace("probe", command=[WALKS])
        self.assertEqual(printed, native)
        self.assertTrue(printed.endswith("\n0 wrong\n"))
        self.assertLessEqual({f["name"] for f in trace["refused"]}, {"caml_call_gc"})
        self.assertEqual(self.calls(trace), {"main": (1, 0), "t_sum": (1, 0), "t_fib": (200 * (1 + 1 + 3 + 5 + 9) + 1973, 0)})
        self.assertGreater({f["name"]: f for f in trace["functions"]}["t_sum"]["outermost_ns"], 0)

    def test_many_threads(self):
        """6,000 threads that come and go: each is traced."""
        trace, printed = self.trace("probe", command=[CROWD, "threads"])
        self.assertEqual(printed, "6000\n")
        self.assertEqual(self.calls(trace), {"main": (1, 0), "t_fib": (6000, 0), "thread": (6000, 0)})

    def test_clones_with_the_same_thread_pointer(self):
        """They cannot be told from who makes them: the program computes the same, and it is said why nothing is timed."""
        trace, printed = self.trace("probe", command=[CROWD, "clones"])
        self.assertEqual(printed, "20\n")
        self.assertIn("t_fib", {f["name"] for f in trace["refused"]})

    def test_children(self):
        """A child of fork computes the same, and is not measured."""
        command = ["sh", "-c", "for i in 1 2 3; do (echo $i; exit $i); echo $?; done; ls / | wc -l > /dev/null"]
        trace, printed = self.trace("probe", "--all", command=command)
        self.assertEqual(printed, "1\n1\n2\n2\n3\n3\n")
        self.assertIn("malloc", {f["name"] for f in trace["functions"]})


class Times(Probe):
    def test_nested(self):
        """Five levels, each of which works 2 ms by itself five times."""
        trace, _ = self.trace("probe", command=[CALLS, "levels"])
        f = {f["name"]: f for f in trace["functions"]}
        for level in range(1, 6):
            self.assertGreaterEqual(f["t_level%d" % level]["min_ns"], 0.98 * 2e6 * (6 - level))
        self.assertGreaterEqual(f["t_spin"]["exclusive_ns"], 0.98 * 2e6 * 25)
        own = sum(function["exclusive_ns"] for function in trace["functions"])
        self.assertAlmostEqual(own / f["main"]["inclusive_ns"], 1, delta=0.01)

    def test_cost_is_taken_off(self):
        """A function that does nothing but call an empty one has not spent the time of the probes."""
        trace, _ = self.trace("probe", command=[CALLS, "fib"])
        fib = {f["name"]: f for f in trace["functions"]}["t_fib"]
        self.assertLessEqual(fib["exclusive_ns"], fib["outermost_ns"] * 1.01 + 1000)


class Samples(Probe):
    def test_one_of_ten(self):
        """1000 equal calls: 100 are timed, and all are counted, also by their callers."""
        trace, _ = self.trace("auto", "--every", "10", command=[CALLS, "equal"])
        f = {f["name"]: f for f in trace["functions"]}
        self.assertEqual(trace["engine"], "probe")
        self.assertEqual({name: (g["calls"], g["timed"], g["lost"]) for name, g in f.items()},
                         {"main": (1, 1, 0), "t_equal": (1000, 100, 0), "t_part": (2000, 200, 0), "t_spin": (3000, 300, 0)})
        self.assertEqual(self.pairs(trace), {(None, "main"): 1, ("main", "t_equal"): 1000, ("t_equal", "t_part"): 2000,
                                             ("t_equal", "t_spin"): 1000, ("t_part", "t_spin"): 2000})
        self.assertNotIn("estimated", f["main"])
        for name, us in ("t_equal", 40), ("t_part", 10), ("t_spin", 10):
            self.assertIs(f[name]["estimated"], True)
            self.assertGreaterEqual(f[name]["min_ns"], 0.98 * us * 1000)
            self.assertGreaterEqual(f[name]["inclusive_ns"], 0.98 * us * 1000 * f[name]["calls"])
            self.assertIsNotNone(f[name]["p99_ns"])
            self.assertGreater(f[name]["inclusive_error_ns"], 0)

    def test_by_function(self):
        """For each function, the last --every that fits it counts."""
        for options, timed in [(["t_part=10"], (1000, 200, 3000)), (["t_part=10", "t_*=5"], (200, 400, 600)),
                               (["10", "t_s*=1"], (100, 200, 3000)), (["t_spin=7", "2"], (500, 1000, 1500)), (["t_e[pq]ual=1000"], (1, 2000, 3000))]:
            with self.subTest(options=options):
                trace, _ = self.trace("auto", *(word for option in options for word in ("--every", option)), command=[CALLS, "equal"])
                self.assertEqual(trace["engine"], "probe")
                f = {f["name"]: f for f in trace["functions"]}
                self.assertEqual(tuple(f[name]["timed"] for name in ("t_equal", "t_part", "t_spin")), timed)
                self.assertEqual(tuple(f[name]["calls"] for name in ("t_equal", "t_part", "t_spin")), (1000, 2000, 3000))

    def test_unknown_function(self):
        done = subprocess.run([STROBE, "trace", "-q", "--every", "t_spim=3", "--every", "no*=2", "-o", self.at / "x.db", CALLS, "levels"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertRegex(done.stderr, r"^strobe: --every t_spim=3: no traced function has that name; did you mean '?t_spin'?.*\n"
                         r"strobe: --every no\*=2: no traced function has that name\n$")

    def test_not_a_number(self):
        for value in "0", "x", "t_spin=", "=3", "t_spin=0", "t_spin=1000001", "":
            done = subprocess.run([STROBE, "trace", "--every", value, CALLS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (125, "", "strobe: --every takes a number from 1 to 1000000, "
                                                                           f"or FUNCTION=N with such a number, not '{value}'\n"))

    def test_same_calls(self):
        """All calls and pairs are counted: in recursion, after longjmp, in threads, at 100,000 levels."""
        for what in "levels", "fib", "threads", "deep", "exits":
            with self.subTest(what=what):
                every, _ = self.trace("probe", command=[CALLS, what])
                some, _ = self.trace("probe", "--every", "3", command=[CALLS, what])
                self.assertEqual(self.calls(some), self.calls(every))
                self.assertEqual(self.pairs(some), self.pairs(every))
        some, _ = self.trace("probe", "--every", "3", command=[CALLS, "jumps"])
        every, _ = self.trace("probe", command=[CALLS, "jumps"])
        self.assertEqual({name: sum(n) for name, n in self.calls(some).items()}, {name: sum(n) for name, n in self.calls(every).items()})

    def test_programs_unharmed(self):
        """Exceptions through functions of which some are timed, and functions whose exits are patched."""
        for command in [THROWS], [WALKS]:
            native = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
            for every in "2", "7":
                trace, printed = self.trace("probe", "--all", "--every", every, command=command)
                self.assertEqual(printed, native)
        self.assertEqual(self.calls(trace)["t_fib"], (200 * (1 + 1 + 3 + 5 + 9) + 1973, 0))

    def test_kept_in_the_profile(self):
        """A profile has what JSON has."""
        file = self.at / "trace.db"
        subprocess.run([STROBE, "trace", "-q", "--every", "10", "-o", file, CALLS, "equal"], check=True)
        shown = subprocess.run([STROBE, "trace", "--from", file, "--format", "json"], stdout=subprocess.PIPE, check=True).stdout
        self.assertEqual({f["name"]: f["timed"] for f in json.loads(shown)["functions"]}, {"main": 1, "t_equal": 100, "t_part": 200, "t_spin": 300})
        text = subprocess.run([STROBE, "trace", "--from", file], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertIn("note: 5,400 calls were counted and not timed: times of these functions are estimates", text)


class Cost(Probe):
    def test_is_said(self):
        """The cost of a probe, and the functions that are shorter than what it adds to an empty call."""
        for options in [], ["--cpu"]:
            trace, _ = self.trace("probe", *options, command=[CALLS, "equal"])
            probe = trace["probe"]
            self.assertLess(probe["between_ns"], probe["ns"])
            self.assertGreater(probe["between_ns"], 0)
            self.assertGreaterEqual(probe["error_ns"], 0)
            for f in trace["functions"]:
                self.assertEqual(f["resolved"], f["inclusive_ns"] >= f["calls"] * (probe["between_ns"] + probe["error_ns"]), f)
        jit, _ = self.trace("jit", command=[CALLS, "equal"])
        self.assertNotIn("probe", jit)
        self.assertNotIn("resolved", jit["functions"][0])


class Presets(Probe):
    def timed(self, *options):
        trace, _ = self.trace("auto", *options, command=[CALLS, "equal"])
        return trace["engine"], {f["name"]: f["timed"] for f in trace["functions"]}

    def test_quick(self):
        """1000, 2000 and 3000 calls, of which one of 16 is timed: in the last, unfinished 16, one may be."""
        engine, timed = self.timed("--preset", "quick")
        self.assertEqual((engine, set(timed)), ("probe", {"main", "t_equal", "t_part", "t_spin"}))
        for name, calls in ("main", 1), ("t_equal", 1000), ("t_part", 2000), ("t_spin", 3000):
            self.assertIn(timed[name], (calls // 16, calls // 16 + 1))

    def test_others_override(self):
        self.assertEqual(self.timed("--preset", "quick", "--every", "1")[1], {"main": 1, "t_equal": 1000, "t_part": 2000, "t_spin": 3000})
        self.assertEqual(self.timed("--preset", "quick", "--events"), ("probe", {"main": 1, "t_equal": 1000, "t_part": 2000, "t_spin": 3000}))
        self.assertEqual(self.timed("--preset", "thorough", "--funcs", "t_part")[1], {"t_part": 2000})
        self.assertEqual(set(self.timed("--preset", "thorough", "--user")[1]), {"main", "t_equal", "t_part", "t_spin"})

    def test_thorough(self):
        _, timed = self.timed("--preset", "thorough")
        self.assertEqual(timed["t_spin"], 3000)
        self.assertIn("exit", timed)

    def test_unknown(self):
        done = subprocess.run([STROBE, "trace", "--preset", "slow", CALLS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn("--preset", done.stderr)


def code_of(pid):
    """All bytes of code of the process, and how many mappings it has."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        lines, code = maps.readlines(), b""
        for line in lines:
            addresses, access, *_, name = line.split()
            if "x" in access and name.startswith("/"):
                begin, end = (int(word, 16) for word in addresses.split("-"))
                memory.seek(begin)
                code += memory.read(end - begin)
    return code, len(lines)


def child_of(pid):
    """The only child of a process, as soon as it has one."""
    children = []
    while not children:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(children[0])


class Attaching(Probe):
    def test_leaves_nothing(self):
        """A process with four threads that never stop calling is attached and left five times: its code and mappings are what they were."""
        with subprocess.Popen([CALLS, "forever"], stdout=subprocess.PIPE, text=True) as program:
            try:
                self.assertEqual(program.stdout.readline(), "ready\n")
                before = code_of(program.pid)
                for _ in range(5):
                    file = self.at / "trace.json"
                    done = subprocess.run([STROBE, "trace", "-q", "--engine", "probe", "--for", "0.2s", "--pid", str(program.pid), "-o", file],
                                          stderr=subprocess.PIPE, text=True, timeout=60, check=False)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    calls = self.calls(json.loads(file.read_text()))
                    self.assertGreater(calls["t_fib"][0], 1000)
                    self.assertEqual(code_of(program.pid), before)
            finally:
                program.send_signal(signal.SIGUSR1)
            self.assertEqual(program.stdout.readline(), "right\n")
        self.assertEqual(program.returncode, 0)


class TimeLimit(Probe):
    """--for with a program."""

    def test_endless_program(self):
        """When the time is over, the code of the program is what it was; the program runs on until it is told to end."""
        file = self.at / "trace.json"
        with subprocess.Popen([CALLS, "forever"], stdout=subprocess.PIPE, text=True) as program:
            self.assertEqual(program.stdout.readline(), "ready\n")
            native, _ = code_of(program.pid)
            program.send_signal(signal.SIGUSR1)
        with subprocess.Popen([STROBE, "trace", "-q", "--engine", "probe", "--for", "0.3s", "-o", file, "--", CALLS, "forever"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as strobe:
            self.assertEqual(strobe.stdout.readline(), "ready\n")
            program = child_of(strobe.pid)
            while code_of(program)[0] != native:
                self.assertIsNone(strobe.poll())
                time.sleep(0.01)
            os.kill(program, signal.SIGUSR1)
            printed, said = strobe.communicate(timeout=60)
        self.assertEqual((strobe.returncode, printed, said), (0, "right\n", ""))
        trace = json.loads(file.read_text())
        self.assertEqual(trace["notes"], ["the trace ended after 0.3 s, as --for says: the program went on without probes"])
        calls = self.calls(trace)
        self.assertEqual(calls["main"], (1, 0))
        self.assertGreater(calls["t_fib"][0], 1000)

    def test_signal(self):
        """A program that a signal ends after the time is reported as ended by it."""
        file = self.at / "trace.json"
        with subprocess.Popen([STROBE, "trace", "-q", "--engine", "probe", "--for", "0.1s", "-o", file, "--", CALLS, "waits"],
                              stderr=subprocess.PIPE, text=True) as strobe:
            time.sleep(1)
            strobe.send_signal(signal.SIGTERM)
            _, said = strobe.communicate(timeout=60)
        self.assertEqual((strobe.returncode, said), (128 + signal.SIGTERM, ""))
        self.assertEqual(json.loads(file.read_text())["run"]["signal"], signal.SIGTERM)

    def test_program_that_ends_before(self):
        trace, _ = self.trace("probe", "--for", "100s", command=[CALLS, "fib"])
        self.assertEqual(trace["notes"], [])
        self.assertEqual(self.calls(trace)["t_fib"], (1973, 0))


class Events(Probe):
    """--events: entries and returns one by one."""

    def events(self, engine, *options, command):
        """By thread in the order in which they began: what, function, depth; and the times."""
        file = self.at / "trace.db"
        done = subprocess.run([STROBE, "trace", "-q", "--engine", engine, "--events", *options, "-o", file, "--", *command], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=120, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        shown = subprocess.run([STROBE, "show", file, "--rows", "events", "--format", "csv", "-n", "0"], stdout=subprocess.PIPE, text=True, check=True)
        threads = {}
        for row in csv.DictReader(shown.stdout.splitlines()):
            threads.setdefault(row["thread"], []).append((int(row["time"]), row["event"], row["function"], int(row["depth"])))
        return sorted(threads.values())

    def test_same_as_code_cache(self):
        """Recursion, longjmp out of and into traced functions, threads, 100,000 levels, and exit with calls under way."""
        for what in "", "levels", "fib", "jumps", "left", "threads", "deep", "exits":
            with self.subTest(what=what):
                jit, probe = ([[event[1:] for event in thread] for thread in self.events(engine, command=[CALLS, what])] for engine in ("jit", "probe"))
                self.assertEqual(probe[0], jit[0])
                self.assertEqual(sorted(probe), sorted(jit))

    def test_times(self):
        """Times of a thread do not go back, also over pauses in which the lower bits of the clock that are recorded begin again: 300 ms."""
        thread, = self.events("probe", command=[CALLS, "naps"])
        times = [event[0] for event in thread]
        self.assertEqual(times, sorted(times))
        naps = [event for event in thread if event[2] == "on_nap"]
        self.assertEqual(len(naps), 6)
        for entry, end in zip(naps[::2], naps[1::2]):
            self.assertGreaterEqual(end[0] - entry[0], 300000000)

    def test_all_are_there(self):
        """1,271,244 events: more than wait for strobe at a time. The table is made of the same calls."""
        for command, calls in (["many"], 635622), (["threads"], None):
            with self.subTest(command=command):
                program = [CALLS if calls else CROWD, *command]
                threads = self.events("probe", command=program)
                done = subprocess.run([STROBE, "trace", "--from", self.at / "trace.db", "--format", "json"], stdout=subprocess.PIPE, check=True)
                trace = json.loads(done.stdout)
                table = {f["name"]: f["calls"] + f["lost"] for f in trace["functions"]}
                entered = Counter(event[2] for thread in threads for event in thread if event[1] == "entry")
                self.assertEqual(entered, table)
                self.assertEqual(trace["lost"]["records"], 0)
                if calls:
                    self.assertEqual(sum(table.values()), calls)

    def test_formats(self):
        """The formats that are made of events take those of probes: auto chooses them."""
        for form in "timeline", "raw", "folded", "speedscope":
            with self.subTest(form=form):
                file = self.at / "out"
                subprocess.run([STROBE, "trace", "-q", "--format", form, "-o", file, "--", CALLS, "levels"], timeout=120, check=True)
                self.assertIn("t_level3", file.read_text())
        profile = self.at / "auto.db"
        subprocess.run([STROBE, "trace", "-q", "--events", "-o", profile, "--", CALLS, "fib"], timeout=120, check=True)
        done = subprocess.run([STROBE, "trace", "--from", profile, "--format", "json"], stdout=subprocess.PIPE, check=True)
        self.assertEqual(json.loads(done.stdout)["engine"], "probe")

    def test_killed(self):
        """Strobe is killed while four threads record: they go on, and what they compute is right."""
        with subprocess.Popen([STROBE, "trace", "-q", "--engine", "probe", "--events", "-o", self.at / "t.db", "--", CALLS, "forever"],
                              stdout=subprocess.PIPE, text=True) as strobe:
            self.assertEqual(strobe.stdout.readline(), "ready\n")
            program = child_of(strobe.pid)
            strobe.kill()
            strobe.wait()
            time.sleep(3)
            os.kill(program, signal.SIGUSR1)
            self.assertEqual(strobe.stdout.readline(), "right\n")

    def test_attached(self):
        """A process with four threads; a fork in a traced process records nothing in its child."""
        with subprocess.Popen([CALLS, "forever"], stdout=subprocess.PIPE, text=True) as program:
            self.assertEqual(program.stdout.readline(), "ready\n")
            file = self.at / "trace.db"
            done = subprocess.run([STROBE, "trace", "-q", "--engine", "probe", "--events", "--for", "0.1s", "--pid", str(program.pid), "-o", file],
                                  stderr=subprocess.PIPE, text=True, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            program.send_signal(signal.SIGUSR1)
            self.assertEqual(program.stdout.readline(), "right\n")
        shown = subprocess.run([STROBE, "show", file, "--rows", "events", "--format", "csv", "-n", "0"], stdout=subprocess.PIPE, text=True, check=True)
        rows = list(csv.DictReader(shown.stdout.splitlines()))
        self.assertEqual({row["function"] for row in rows}, {"t_fib"})
        self.assertEqual(len({row["thread"] for row in rows}), 4)

    def test_what_does_not_fit(self):
        for option, value in ("--cpu", None), ("--every", "10"):
            options = [option, value] if value else [option]
            done = subprocess.run([STROBE, "trace", "--engine", "probe", "--events", *options, "--", CALLS], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (125, "", f"strobe: --events records each call by the clock: leave out {option}\n"))


class Follow(Probe):
    """--follow: children by fork, vfork and posix_spawn, what they become, and their threads."""

    def test_same_as_code_cache(self):
        """And what the processes print is what they print natively."""
        for what in "fork", "exec", "fails", "becomes":
            with self.subTest(what=what):
                native = subprocess.run([FORKS, what], stdout=subprocess.PIPE, text=True, check=True).stdout
                jit, _ = self.trace("jit", "--follow", command=[FORKS, what])
                probe, printed = self.trace("probe", "--follow", command=[FORKS, what])
                self.assertEqual(printed, native)
                self.assertNotIn("wrong", native)
                self.assertEqual(probe["notes"], [])
                # A call that a child of vfork leaves by execve is lost for its parent.
                self.assertEqual(*({name: sum(n) for name, n in self.calls(trace).items()} for trace in (probe, jit)))
                self.assertEqual(probe["lost"]["returns"], what == "exec")

    def test_callers(self):
        """Calls of a child of fork have those of its parent around them, which are not its own."""
        trace, _ = self.trace("probe", "--follow", command=[FORKS, "fork"])
        self.assertEqual(self.pairs(trace), {
            (None, "main"): 1, ("main", "t_forks"): 1, ("t_forks", "t_forks"): 1, ("t_forks", "t_work"): 2, ("t_forks", "wait_for"): 2,
            ("t_work", "t_fib"): 2, (None, "t_thread"): 2, ("t_thread", "t_fib"): 2, ("t_fib", "t_fib"): 380})
        self.assertEqual(self.calls(trace)["main"], (1, 0))

    def test_program_that_names_another_process(self):
        """A program cannot make strobe trace a process that is none of its own."""
        with subprocess.Popen(["sleep", "100"]) as other:
            try:
                trace, printed = self.trace("probe", "--follow", command=[FORKS, "accuses", str(other.pid)])
                self.assertEqual(printed, "traced by 0\ndone\n")
                self.assertIn("it may not be traced", " ".join(trace["notes"]))
            finally:
                other.kill()

    def test_auto(self):
        trace, _ = self.trace("auto", "--follow", command=[FORKS, "fork"])
        self.assertEqual(trace["engine"], "probe")

    def test_without_it(self):
        """Children run without being measured."""
        trace, _ = self.trace("probe", command=[FORKS, "exec"])
        self.assertNotIn("t_fib", self.calls(trace))

    def test_programs_of_children(self):
        """Their own functions are traced, too: the shell executes one in a child, and goes on."""
        for engine in "probe", "jit":
            for shell in filter(shutil.which, ("dash", "bash")):
                with self.subTest(engine=engine, shell=shell):
                    trace, _ = self.trace(engine, "--follow", command=[shell, "-c", f"{FORKS} leaf; true"])
                    self.assertEqual(self.calls(trace)["t_fib"], (67, 0))

    def test_executed_without_it(self):
        """What the process itself executes is traced; its own functions are those of the program that it is at the time."""
        whole, _ = self.trace("probe", "--follow", command=[FORKS, "becomes"])
        script = self.at / "shim"
        script.write_text(f"#!/bin/sh\n{FORKS} leaf | cat\nexec {FORKS} becomes\n")
        script.chmod(0o755)
        for engine in "probe", "jit":
            with self.subTest(engine=engine):
                trace, printed = self.trace(engine, command=[FORKS, "becomes"])
                self.assertEqual(printed, "done\n")
                self.assertEqual(self.calls(trace), self.calls(whole))
                trace, printed = self.trace(engine, command=[script])
                self.assertEqual(printed, "done\ndone\n")
                calls = self.calls(trace)
                self.assertEqual(calls["t_fib"], (9 + 67, 0))
                self.assertGreater(len(calls), len(self.calls(whole)))
                self.assertNotIn("/images", " ".join(trace["notes"]))

    def test_note_of_what_is_not_traced(self):
        """With these options the trace ends with the first program: a note names the other one."""
        for options in ["--events"], ["--for", "60"], ["--windows", "20ms/50ms"], ["--budget", "5%"]:
            with self.subTest(options=options):
                trace, _ = self.trace("probe", *options, command=["sh", "-c", f"exec {FORKS} leaf"])
                self.assertRegex(" ".join(trace["notes"]), r"the process executed another program, (\S*/)?trace-forks, which is not traced: name")
                trace, _ = self.trace("probe", *options, command=[FORKS, "leaf"])
                self.assertNotIn("executed another", " ".join(trace["notes"]))

    def test_end_of_what_was_executed(self):
        file = self.at / "trace.db"
        done = subprocess.run([STROBE, "trace", "--engine", "probe", "--funcs", "t_fib", "-o", file, "--", "sh", "-c", f"exec {FORKS} becomes"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=60, check=True)
        self.assertIn("\n  totals of 3 programs that the process executed: sh, trace-forks, trace-forks\n", done.stderr)
        shown = subprocess.run([STROBE, "show", file, "--format", "json"], stdout=subprocess.PIPE, check=True)
        self.assertEqual([(p["state"], p["exit"]) for p in json.loads(shown.stdout)["processes"]],
                         [("replaced itself by execve", None)] * 2 + [("exited", 0)])

    def test_signal_while_it_executes(self):
        """The signal may end the process while strobe traces it: its end is the result's all the same."""
        script, file, ran = self.at / "again", self.at / "trace.db", self.at / "ran"
        script.write_text(f'#!/bin/sh\necho >>{ran}\nexec "$0"\n')
        script.chmod(0o755)
        for i in range(10):
            signo = (signal.SIGTERM, signal.SIGINT)[i % 2]
            with subprocess.Popen([STROBE, "trace", "-q", "--engine", "probe", "-o", file, "--", script], stderr=subprocess.PIPE,
                                  text=True) as strobe:
                while not ran.exists() or ran.stat().st_size < 5:
                    time.sleep(0.01)
                time.sleep(0.0037 * i)
                strobe.send_signal(signo)
                _, said = strobe.communicate(timeout=60)
            self.assertEqual((strobe.returncode, said), (128 + signo, ""))
            shown = subprocess.run([STROBE, "show", file, "--format", "json"], stdout=subprocess.PIPE, check=True)
            self.assertEqual(json.loads(shown.stdout)["processes"][-1]["signal"], signo)
            shutil.rmtree(file) if file.is_dir() else file.unlink()
            ran.unlink()

    def test_processes(self):
        """The profile has each process: of a fork the child and its child, of an exec what it has become."""
        for what, commands in ("fork", [FORKS] * 3), ("becomes", [FORKS] * 2):
            file = self.at / "trace.db"
            subprocess.run([STROBE, "trace", "-q", "--engine", "probe", "--follow", "-o", file, "--", FORKS, what], stdout=subprocess.DEVNULL,
                           timeout=60, check=True)
            shown = subprocess.run([STROBE, "show", file, "--format", "json"], stdout=subprocess.PIPE, check=True)
            self.assertEqual([p["command"] for p in json.loads(shown.stdout)["processes"]], commands)

    def test_children_that_stay(self):
        """Strobe waits for a child that outlives the program."""
        trace, printed = self.trace("probe", "--follow", command=[FORKS, "leaves"])
        self.assertEqual(printed, "done\ndone\n")
        self.assertEqual(self.calls(trace), {"main": (2, 0), "become": (1, 0), "t_fib": (67, 0)})

    def test_script(self):
        """A pipe, a subshell, a command that is not there, one in the background, and exec."""
        script = self.at / "script"
        script.write_text(f"{FORKS} leaf | cat\n({FORKS} leaf)\nnosuchcommand 2>/dev/null\n{FORKS} leaf & wait\nexec {FORKS} leaf\n")
        trace, printed = self.trace("probe", "--follow", "--funcs", "main,t_*", "--images", "trace-forks", command=["sh", script])
        self.assertEqual(printed, "done\n" * 4)
        self.assertEqual(self.calls(trace), {"main": (4, 0), "t_fib": (4 * 67, 0)})

    def test_killed(self):
        """Strobe is killed while the program and its child compute: both go on, and are right."""
        with subprocess.Popen([STROBE, "trace", "-q", "--engine", "probe", "--follow", "-o", self.at / "t.db", "--", FORKS, "forever"],
                              stdout=subprocess.PIPE, text=True) as strobe:
            processes = [int(strobe.stdout.readline()) for _ in range(2)]
            strobe.kill()
            strobe.wait()
            for process in processes:
                os.kill(process, signal.SIGUSR1)
            self.assertEqual([strobe.stdout.readline() for _ in range(4)], ["right\n", "done\n"] * 2)


class Limits(Probe):
    PROGRAM = """
import mmap
maps = []
try:
    while len(maps) < 200:
        maps.append(mmap.mmap(-1, 16 << 20))
except OSError:
    pass
print(len(maps))"""

    def test_address_space(self):
        """The program has as much of what ulimit -v leaves it as it has natively."""
        def limited():
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, resource.RLIM_INFINITY))
        command = ["/usr/bin/python3", "-c", self.PROGRAM]
        native = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, preexec_fn=limited).stdout
        traced = subprocess.run([STROBE, "trace", "-q", "--engine", "probe", "-o", self.at / "t.json", "--", *command],
                                stdout=subprocess.PIPE, text=True, check=True, preexec_fn=limited).stdout
        self.assertLess(int(native), 64)
        self.assertLessEqual(abs(int(native) - int(traced)), 1)


class Choices(Probe):
    def test_depth(self):
        """The outermost three of five levels."""
        trace, _ = self.trace("probe", "--depth", "3", command=[CALLS, "levels"])
        self.assertEqual({name: n[0] for name, n in self.calls(trace).items()}, {"main": 1, "t_level1": 5, "t_level2": 5, "t_spin": 5})

    def test_scope(self):
        """Only what runs while t_level3 does."""
        trace, _ = self.trace("probe", "--main", "t_level3", command=[CALLS, "levels"])
        self.assertEqual({name: n[0] for name, n in self.calls(trace).items()}, {"t_level3": 5, "t_level4": 5, "t_level5": 5, "t_spin": 15})

    def test_same_choices(self):
        """Patterns choose the same functions as with the code cache."""
        for options in ["--funcs", "t_level[1-3]"], ["--exclude", "t_spin,t_level*"], ["--images", "trace-calls"]:
            with self.subTest(options=options):
                jit, _ = self.trace("jit", *options, command=[CALLS, "levels"])
                probe, _ = self.trace("probe", *options, command=[CALLS, "levels"])
                refused = {f["name"] for f in probe["refused"]}
                self.assertEqual(self.calls(probe), {name: n for name, n in self.calls(jit).items() if name not in refused})

    def test_refused_are_named(self):
        """The linker's functions take no probe; those that were asked for are named with the reason, and are not unknown names."""
        for options in ["--funcs", "_dl_*"], ["--all"]:
            with self.subTest(options=options):
                trace, _ = self.trace("probe", *options, command=[CALLS, "levels"])
                linker = [f for f in trace["refused"] if os.path.basename(f["image"]).startswith("ld-linux")]
                self.assertGreater(len(linker), 20)
                self.assertEqual({f["reason"] for f in linker}, {"it is part of the dynamic linker"})
                self.assertEqual([note for note in trace.get("notes", []) if "no function of that name" in note], [])


class Slowdown(Probe):
    def test_estimate(self):
        """Few calls cost nothing that could be seen. When nearly all of the CPU time is the probes', the slowdown is unknown: never 1."""
        trace, _ = self.trace("probe", command=[CALLS, "levels"])
        run = trace["run"]
        self.assertTrue(1 <= run["slowdown_least"] <= run["slowdown"] <= run["slowdown_most"] < 1.1, run)
        trace, _ = self.trace("probe", command=[CALLS, "many"])
        run = trace["run"]
        if run["slowdown"] is not None:
            self.assertGreater(run["slowdown_most"], 1.5)


class Refusals(Probe):
    def test_options(self):
        for option in ["--events"], ["--for", "1s"]:
            done = subprocess.run([STROBE, "trace", "--engine", "probe", "--follow", *option, "--", CALLS], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (125, "", f"strobe: --follow together with {option[0]} is not possible with --engine probe: leave one of them out, "
                                       "or use --engine jit\n"))

    def test_every(self):
        for engine in "jit", "ebpf":
            done = subprocess.run([STROBE, "trace", "--engine", engine, "--every", "10", "--", CALLS], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (125, ""))
            if f"--every is not possible with --engine {engine}: leave it out, or use --engine probe" not in done.stderr:
                self.assertEqual(engine, "ebpf", done.stderr)  # this build has none


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
