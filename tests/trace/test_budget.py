#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`strobe trace --engine probe --budget`: what probes cost, what is not timed, and what is true all the same.

usage: test_budget.py STROBE MIX CALLS THROWS WALKS CROWD

The programs are those of programs/mix.c, calls.c, throws.cc, walks.c and crowd.c."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE, MIX, CALLS, THROWS, WALKS, CROWD = [os.path.abspath(name) for name in sys.argv[1:7]]


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


class Budget(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-budget-")
        self.addCleanup(folder.cleanup)
        self.at = Path(folder.name)

    def strobe(self, *arguments):
        return subprocess.run([STROBE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, check=False)

    def trace(self, *options, command):
        """The trace, its functions by name, and what the program printed."""
        file = self.at / "trace.json"
        done = self.strobe("trace", "-q", *options, "-o", file, "--", *command)
        self.assertEqual(done.returncode, 0, done.stderr)
        trace = json.loads(file.read_text())
        return trace, {f["name"]: f for f in trace["functions"]}, done.stdout

    def within(self, share, *options, command):
        """Runs the program, longer and longer, until what came before there was an account no longer matters. What strobe does about the
        cost waits for a CPU on a busy machine: then a share that is missed is at least far less than that of the first second."""
        shares = []
        for seconds in 1, 2, 4, 8:
            result = self.trace("-b", f"{100 * share}%", *options, command=[command[0], str(seconds), *command[1:]])
            account = result[0]["budget"]
            self.assertAlmostEqual(account["share"], share, places=5)
            self.assertAlmostEqual(account["cost_share"], account["cost_ns"] / (account["cpu_ns"] - account["cost_ns"]), places=6)
            self.assertGreater(account["cpu_ns"], 0.9e9 * seconds)
            shares.append(account["cost_share"])
            if shares[-1] <= share:
                return result
        self.assertLess(shares[-1], shares[0] / 2)
        return result


class Mix(Budget):
    def exact(self, f, rounds):
        """Calls are counted, whether they are timed or not."""
        self.assertEqual({name: f[name]["calls"] for name in ("m_round", "m_once", "m_tenth", "m_often")},
                         {"m_round": rounds, "m_once": rounds, "m_tenth": 100 * rounds, "m_often": 1000 * rounds})

    def natural(self):
        """The share that probes cost when all calls are timed, by what a probe costs."""
        trace, f, _ = self.trace("-b", "100%", command=[MIX, "1"])
        self.assertEqual(trace["sampled"], [])
        return trace["budget"]["cost_share"]

    def test_sampled(self):
        """The function that is called most often is timed seldom; all calls are counted, and no estimate is below what the calls take."""
        trace, f, printed = self.within(0.8 * self.natural(), command=[MIX])
        rounds = int(printed.split()[0])
        self.assertEqual(trace["engine"], "probe")
        self.assertEqual(trace["dropped"], [])
        self.exact(f, rounds)
        self.assertNotIn("estimated", f["main"])
        self.assertIn("m_often", {s["name"] for s in trace["sampled"]})
        for s in trace["sampled"]:
            g = f[s["name"]]
            self.assertIs(g["estimated"], True)
            self.assertEqual((s["calls"], s["timed"]), (g["calls"] + g["lost"], g["timed"]))
            self.assertLess(g["timed"], g["calls"])
            self.assertGreater(s["steps"][0]["every"], 1)
            times = [step["at_ns"] for step in s["steps"]]
            self.assertEqual(times, sorted(times))
        self.assertGreaterEqual(f["m_tenth"]["inclusive_ns"], 0.98 * 2e3 * f["m_tenth"]["calls"])
        self.assertGreaterEqual(f["m_once"]["inclusive_ns"], 0.98 * 100e3 * rounds)
        self.assertEqual({(p["caller"], p["callee"]): p["calls"] for p in trace["pairs"]}[("m_round", "m_often")], 1000 * rounds)

    def test_dropped(self):
        """With next to nothing to spend, probes are taken out: the program computes the same, and calls are a lower bound."""
        trace, f, printed = self.within(0.0005, command=[MIX])
        rounds = int(printed.split()[0])
        dropped = {d["name"]: d for d in trace["dropped"]}
        self.assertIn("m_often", dropped)
        for name, most in ("m_often", 1000), ("m_tenth", 100), ("m_once", 1), ("m_round", 1):
            if name in dropped:
                self.assertIs(f[name]["dropped"], True)
                self.assertEqual(dropped[name]["calls"], f[name]["calls"] + f[name]["lost"])
                self.assertLess(f[name]["calls"], most * rounds)
                self.assertLess(f[name]["calls"], most * rounds / 2, "its probe is still there")
                self.assertGreater(dropped[name]["at_ns"], 0)
            else:
                self.assertNotIn("dropped", f[name])
                self.assertEqual(f[name]["calls"], most * rounds)

    def test_enough(self):
        """A budget that is not spent changes nothing."""
        trace, f, printed = self.trace("-b", "100%", command=[MIX, "0.3", "100"])
        self.exact(f, int(printed.split()[0]))
        self.assertEqual((trace["sampled"], trace["dropped"]), ([], []))
        self.assertEqual({g["calls"] - g["timed"] for g in f.values()}, {0})

    def test_no_less_than_asked(self):
        """One of 8 calls at most."""
        trace, f, printed = self.within(0.8 * self.natural(), "--every", "8", command=[MIX])
        self.exact(f, int(printed.split()[0]))
        for g in f.values():
            self.assertLessEqual(g["timed"], g["calls"] // 8 + 1, g)
        for s in trace["sampled"]:
            self.assertGreaterEqual(min(step["every"] for step in s["steps"]), 8)

    def test_kept_in_the_profile(self):
        """A profile has what JSON has, and the tables say it."""
        file = self.at / "trace.db"
        self.assertEqual(self.strobe("trace", "-q", "-b", "0.05%", "-o", file, MIX, "1").returncode, 0)
        trace = json.loads(self.strobe("trace", "--from", file, "--format", "json").stdout)
        self.assertIn("m_often", {d["name"] for d in trace["dropped"]})
        self.assertAlmostEqual(trace["budget"]["share"], 0.0005)
        text = self.strobe("trace", "--from", file).stdout
        self.assertIn("budget: 0.05 % of the CPU time without probes", text)
        self.assertIn("functions whose probes were taken out to keep the budget", text)
        self.assertRegex(text, r"m_often \[trace-mix\]( \*)? \+\n")
        self.assertIn("note: +: there were more calls", text)

    def test_cpu_time(self):
        """Time stamps by a system call, with their own cost."""
        trace, f, printed = self.within(0.05, "--cpu", command=[MIX])
        self.assertGreater(int(printed.split()[0]), 0)
        self.assertGreater(trace["probe"]["ns"], 0)
        self.assertGreater(f["main"]["calls"], 0)


class Windows(Budget):
    def test_calls_and_estimates(self):
        """Calls are counted all the time and timed in windows; no estimate is below what the calls take, or far above it."""
        trace, f, printed = self.trace("--windows", "20ms/60ms", command=[MIX, "1"])
        rounds = int(printed.split()[0])
        self.assertEqual(trace["engine"], "probe")
        self.assertEqual({name: f[name]["calls"] for name in ("m_round", "m_once", "m_tenth", "m_often")},
                         {"m_round": rounds, "m_once": rounds, "m_tenth": 100 * rounds, "m_often": 1000 * rounds})
        for name in "m_round", "m_once", "m_tenth", "m_often":
            self.assertIs(f[name]["estimated"], True)
            self.assertLess(f[name]["timed"], f[name]["calls"])
            self.assertGreater(f[name]["timed"], 0)
            self.assertLess(f[name]["inclusive_ns"], 10 * f["main"]["inclusive_ns"])
        self.assertGreaterEqual(f["m_tenth"]["inclusive_ns"], 0.98 * 2e3 * f["m_tenth"]["calls"])
        self.assertGreaterEqual(f["m_once"]["inclusive_ns"], 0.98 * 100e3 * rounds)

    def test_attached(self):
        with subprocess.Popen([CALLS, "forever"], stdout=subprocess.PIPE, text=True) as program:
            try:
                self.assertEqual(program.stdout.readline(), "ready\n")
                before = code_of(program.pid)
                file = self.at / "trace.json"
                done = self.strobe("trace", "-q", "--windows", "10ms/40ms", "--for", "0.5s", "--pid", str(program.pid), "-o", file)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                trace = json.loads(file.read_text())
                f = {f["name"]: f for f in trace["functions"]}
                self.assertLess(f["t_fib"]["timed"], f["t_fib"]["calls"])
                self.assertGreater(trace["run"]["cpu_seconds"], 0)
                self.assertEqual(code_of(program.pid), before)
            finally:
                program.send_signal(signal.SIGUSR1)
            self.assertEqual(program.stdout.readline(), "right\n")
        self.assertEqual(program.returncode, 0)

    def test_refused(self):
        for words in "10ms", "5ms/10ms", "10ms/15ms", "10ms/", "/10ms", "x/y", "-1s/1s":
            done = self.strobe("trace", f"--windows={words}", "--", "true")
            self.assertEqual((done.returncode, done.stderr.count("\n")), (125, 1))
            self.assertIn(f"--windows takes two times such as 10ms/100ms, the first at least 10ms and the second at least 10ms longer, not '{words}'",
                          done.stderr)
        for options, name in (["-b", "1%"], "--budget"), (["--follow"], "--follow"), (["--events"], "--events"):
            done = self.strobe("trace", "-e", "probe", "--windows", "10ms/100ms", *options, "--", "true")
            self.assertEqual((done.returncode, done.stderr), (125, f"strobe: --windows together with {name} is not possible: leave one of them out\n"))


class Unharmed(Budget):
    def test_programs(self):
        """Exceptions, patched exits, 6,000 threads, recursion, exit: the same output, whatever is taken out."""
        for command in [THROWS], [WALKS], [CROWD, "threads"], [CALLS, "deep"], [CALLS, "exits"], [CALLS, "many"], [CALLS, "jumps"]:
            native = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
            for share in "0.01%", "3%":
                with self.subTest(command=command, share=share):
                    self.assertEqual(self.trace("--all", "-b", share, command=command)[2], native)

    def test_ends_are_seen(self):
        """How the program ends is what strobe ends with, also while probes are taken out."""
        for code in range(6):
            done = self.strobe("trace", "-q", "-b", "0.01%", "--all", "-o", self.at / "x.db", "--", "sh", "-c",
                               f"i=0; while test $i -lt {code}0000; do i=$((i+1)); done; exit {code}")
            self.assertEqual((done.returncode, done.stderr), (code, ""))
        done = self.strobe("trace", "-q", "-b", "0.01%", "--all", "-o", self.at / "x.db", "--", "sh", "-c", "kill -KILL $$")
        self.assertEqual(done.returncode, 128 + 9, done.stderr)

    def test_attached(self):
        """A process with four threads that never stop calling is attached and left: its code is what it was, also where probes were taken out."""
        with subprocess.Popen([CALLS, "forever"], stdout=subprocess.PIPE, text=True) as program:
            try:
                self.assertEqual(program.stdout.readline(), "ready\n")
                before = code_of(program.pid)
                # On a busy machine strobe may get no CPU within half a second: then it has to be attached for longer.
                dropped = []
                for time in "0.5s", "0.5s", "0.5s", "5s", "30s":
                    if len(dropped) >= 3 and any(dropped):
                        break
                    file = self.at / "trace.json"
                    done = self.strobe("trace", "-q", "-b", "0.1%", "--for", time, "--pid", str(program.pid), "-o", file)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    trace = json.loads(file.read_text())
                    self.assertEqual(trace["engine"], "probe")
                    dropped.append("t_fib" in {d["name"] for d in trace["dropped"]})
                    self.assertEqual(code_of(program.pid), before)
                self.assertTrue(any(dropped))
            finally:
                program.send_signal(signal.SIGUSR1)
            self.assertEqual(program.stdout.readline(), "right\n")
        self.assertEqual(program.returncode, 0)


class Refusals(Budget):
    def test_options(self):
        """What a budget of probes does not know is said, and auto takes the code cache for it."""
        for option in ["--depth", "3"], ["--main", "main"], ["--budget-policy", "strict"], ["--budget-share", "process"], ["--period-clock", "wall"]:
            with self.subTest(option=option):
                done = self.strobe("trace", "-e", "probe", "-b", "5%", *option, "--", CALLS)
                self.assertEqual((done.returncode, done.stdout, done.stderr),
                                 (125, "", f"strobe: --budget together with {option[0]} is not possible with --engine probe: "
                                  "leave one of them out, or use --engine jit\n"))
        self.assertEqual(self.trace("-b", "50%", "--depth", "3", command=[CALLS, "levels"])[0]["engine"], "jit")

    def test_settings(self):
        for options, sentence in [(["--period", "1s"], "--period needs --budget"),
                                  (["-b", "2s", "--period", "1s"], "a budget of 2 s does not fit into a period of 1 s"),
                                  (["-b", "much"], "--budget takes a share or a time, such as 10% or 100ms, not 'much'")]:
            done = self.strobe("trace", "-e", "probe", *options, "--", CALLS)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (125, "", f"strobe: {sentence}\n"))

    def test_kernel(self):
        done = self.strobe("trace", "-e", "ebpf", "-b", "5%", "--", CALLS)
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        if "--budget is not possible with --engine ebpf: leave it out, or use --engine probe" not in done.stderr:
            self.assertIn("ebpf", done.stderr)  # this build has none


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[7:])
