#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests `strobe blow` on programs with known results. Times have margins that a busy machine keeps.

usage: test_blow.py STROBE PLANTED CORPUS [CLASS...]

PLANTED and CORPUS are programs/planted.c and programs/corpus.c."""

import json
import os
import re
import subprocess
import sys
import unittest

from command import STROBE, Case

PLANTED, CORPUS = [os.path.abspath(name) for name in sys.argv[2:4]]


class Blow(Case):
    def measure(self, what, *options):
        self.strobe("-q", "--baseline-runs", "3", "--timeout", "0", *options, "-o", "r.json", "--", PLANTED, what)
        return json.loads((self.at / "r.json").read_text())


class Measured(Blow):
    def test_serial(self):
        """Each experiment adds at least its noise to the time of the function, and that time is part of the run time."""
        result = self.measure("serial", "-F", "quarter,other_half", "--noise", "nanosleep,busy", "--iterations", "4")
        self.assertEqual(result["mode"], "slow-down")
        self.assertEqual({target["function"] for target in result["targets"]}, {"quarter", "other_half"})
        self.assertGreaterEqual(result["baseline"]["runs"], 3)
        self.assertEqual(result["faults"], [])
        noisy = [run for run in result["experiments"] if run["noise"]]
        self.assertEqual(len(noisy), 4)
        for run in noisy:
            noise = run["noise"]
            self.assertEqual(noise["calls"], 10)
            self.assertEqual(noise["unit"], "ns")
            # Sleeps and waits last at least as long; the clocks agree to a thousandth.
            self.assertGreaterEqual(noise["measured_ns"], 0.998 * 10 * noise["strength"])
            self.assertGreaterEqual(run["function_ns"], 0.99 * noise["measured_ns"])
            self.assertGreaterEqual(run["total_ns"], 0.99 * run["function_ns"])
        for target in result["targets"]:
            self.assertEqual(target["calls"], 10)
            self.assertGreater(target["time_share"], 0)
            self.assertLess(target["time_share"], 1)
            if target["slope"]["state"] == "measured":
                self.assertLessEqual(target["slope"]["lo"], target["slope"]["value"])
                self.assertLessEqual(target["slope"]["value"], target["slope"]["hi"])

    def test_overhead(self):
        """Runs without noise are compared with runs without probes. On a busy machine, they may differ too much to tell the overhead."""
        probes = self.measure("serial", "-F", "quarter", "--noise", "busy", "--iterations", "1", "--native-runs", "2", "--timeline", "none")["baseline"]["probes"]
        self.assertEqual(probes["pairs"], 2)
        for what in ("run_time", "cpu_time"):
            values = [probes[what][key] for key in ("lo", "value", "hi")]
            if values != [None, None, None]:
                self.assertEqual(values, sorted(values))
                self.assertLessEqual((1 + probes[what]["hi"]) / (1 + probes[what]["value"]), 2)
        result = self.measure("serial", "-F", "quarter", "--noise", "busy", "--iterations", "1", "--native-runs", "0", "--timeline", "none")
        self.assertIsNone(result["baseline"]["probes"])
        self.assertEqual(result["options"]["native-runs"], "0")

    def test_full_analysis(self):
        """A full analysis tries all types and strengths: two sleeps of each type."""
        result = self.measure("serial", "-F", "quarter", "--noise", "nanosleep,usleep,sleep", "--timed-noise-min", "1ms", "--timed-noise-max", "2ms",
                              "--full-analysis")
        noises = [(run["noise"]["type"], run["noise"]["strength"]) for run in result["experiments"] if run["noise"]]
        self.assertEqual(sorted(noises), sorted([("nanosleep", 1000000), ("nanosleep", 2000000), ("usleep", 1000), ("usleep", 2000), ("sleep", 1),
                                                 ("sleep", 2)]))

    def test_yield(self):
        result = self.measure("serial", "-F", "quarter", "--noise", "yield", "--yield-noise-min", "10", "--yield-noise-max", "10", "--full-analysis")
        noisy = [run["noise"] for run in result["experiments"] if run["noise"]]
        self.assertEqual([(noise["strength"], noise["unit"], noise["calls"]) for noise in noisy], [(10, "yields", 10)])
        self.assertGreater(noisy[0]["measured_ns"], 0)

    def test_yield_to_others(self):
        """On the processor of a program that computes, each yield takes milliseconds: --max-slowdown ends them."""
        before = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, before)
        os.sched_setaffinity(0, {min(before)})
        self.begin(sys.executable, "-c", "while True: pass")
        result = self.measure("serial", "-F", "main", "--noise", "yield", "--yield-noise-min", "20000", "--yield-noise-max", "20000", "--iterations", "1", "--native-runs", "0",
                              "--clock-runs", "0", "--timeline", "none")
        (noise,) = [run["noise"] for run in result["experiments"] if run["noise"]]
        self.assertEqual((noise["type"], noise["strength"], noise["calls"]), ("yield", 20000, 1))
        self.assertLess(noise["measured_ns"], 2 * result["baseline"]["total_ns"] + 1e8)

    def test_threads(self):
        result = self.measure("pair", "-F", "left_part,right_part", "--iterations", "2")
        self.assertEqual({target["function"]: target["calls"] for target in result["targets"]}, {"left_part": 10, "right_part": 10})


class SpeedUp(Blow):
    def test_serial(self):
        """Noise is in all functions except one. By the formulas of the thesis, the score is then the share of that function, for noise of any strength."""
        result = self.measure("serial", "-m", "speed-up", "-F", "main,quarter,other_half", "--sampling", "50")
        self.assertEqual(result["mode"], "speed-up")
        self.assertEqual(result["faults"], [])
        targets = {target["function"]: target for target in result["targets"]}
        self.assertEqual(sorted(targets), ["main", "other_half", "quarter"])
        whole = targets["main"]["mean_ns"]
        for target in targets.values():
            self.assertIsNone(target["slope"])
            self.assertGreaterEqual(target["experiments"], 1)
            # On a busy machine, runs with noise may take less time than those without: then there is no score.
            if target["fitness"]:
                self.assertAlmostEqual(target["fitness"], target["calls"] * target["mean_ns"] / whole, delta=0.001)
        calls = {"main": 20, "quarter": 11, "other_half": 11}
        for run in result["experiments"]:
            if run["noise"]:
                self.assertEqual(run["noise"]["calls"], calls[run["function"]])
                self.assertGreaterEqual(run["noise"]["measured_ns"], 0.998 * run["noise"]["calls"] * run["noise"]["strength"])
        self.strobe("-q", "-m", "speed-up", "-F", "main,quarter", "--iterations", "3", "--baseline-runs", "3", "-o", "s.db", "--", PLANTED, "serial")
        text = self.strobe("--from", "s.db").stdout
        self.assertRegex(text, r"\n  id  fitness  exp  time %  wait %  calls +mean us  function\n   1  [01]\.\d{5} ")
        self.assertIn("--mode causal measures that", text)
        self.assertIn("rank correlation", self.strobe("--from", "s.db", "--compare", "s.db").stdout)

    def test_choice(self):
        """Only the mean time counts by default."""
        text = self.strobe("-m", "speed-up", "--min-func-time", "1h", "--show-functions", "--", PLANTED, "serial").stdout
        self.assertIn("CORPUS (0):\n", text)

    def test_mistakes(self):
        self.assertIn("leave out --noise", self.strobe("-m", "speed-up", "--noise", "busy", "--", PLANTED, code=2).stderr)
        self.assertIn("--sampling is for --mode speed-up", self.strobe("--sampling", "5", "--", PLANTED, code=2).stderr)
        for value in ("0", "101", "x"):
            self.assertIn("--sampling takes a percentage", self.strobe("-m", "speed-up", "--sampling", value, "--", PLANTED, code=2).stderr)


class Causal(Blow):
    def test_virtual(self):
        """Times depend on the machine, so only bounds are checked: a thread never pays more than the CPU time of the function allows."""
        result = self.measure("compute", "-m", "causal", "-F", "worker_part,main_part", "--repeat", "1")
        self.assertEqual(result["mode"], "causal")
        self.assertEqual(result["progress"], [{"name": "end of the run", "kind": "end", "inferred": True}])
        self.assertEqual(result["faults"], [])
        self.assertEqual(sorted(target["function"] for target in result["targets"]), ["main_part", "worker_part"])
        for target in result["targets"]:
            self.assertEqual([row["speedup"] for row in target["virtual"]], [0.25, 0.5, 0.75, 1.0])
            self.assertEqual(target["experiments"], 4)
            for row in target["virtual"]:
                self.assertEqual((row["runs"], row["progress"]), (1, "end of the run"))
                # On a busy machine, one run gives no interval, or a gain that no speed-up brings.
                self.assertEqual(row["noisy"], row["gain"] is None)
                if row["gain"] is not None:
                    self.assertLessEqual(abs(row["gain"]), 1)
                if row["lo"] is not None:
                    self.assertLessEqual(row["lo"], row["gain"])
                    self.assertLessEqual(row["gain"], row["hi"])
        noisy = [run for run in result["experiments"] if run["noise"]]
        self.assertEqual(len(noisy), 8)
        for run in noisy:
            self.assertEqual((run["noise"]["type"], run["noise"]["unit"], run["exit"]), ("virtual", "%", 0))
            # The saved time is a share of the CPU time of one thread.
            if run["function"] == "main_part":
                self.assertLessEqual(run["noise"]["measured_ns"], run["noise"]["strength"] / 100 * run["cpu_ns"])

    def test_signals_and_threads(self):
        """A program with signals, threads, children and exec behaves as without Strobe."""
        result = self.measure("hazards", "-m", "causal", "-F", "worker_part", "--iterations", "2")
        self.assertEqual(result["faults"], [])
        self.assertEqual(result["baseline"]["exit"], 7)
        self.assertTrue(result["baseline"]["same_output"])
        self.assertEqual({run["exit"] for run in result["experiments"]}, {7})

    def test_table(self):
        done = self.strobe("-m", "causal", "-F", "main_part", "--iterations", "1", "--baseline-runs", "3", "--timeout", "0", "-o", "r.db", "--", PLANTED, "compute")
        self.assertIn("decrease of the run time in %", done.stdout)
        self.assertEqual(done.stdout.split("\n", 1)[1], self.strobe("--from", "r.db").stdout)
        samples = subprocess.run([STROBE, "show", "-t", "samples", "--format", "csv", "r.db"], cwd=self.at, capture_output=True, text=True, check=True).stdout
        keys = [tuple(line.split(",")[:3]) for line in samples.splitlines()[1:]]
        self.assertEqual(len(keys), len(set(keys)), samples)

    def test_left_out(self):
        """The table says how many functions --top leaves out."""
        done = self.strobe("-m", "causal", "-F", "main_part,worker_part", "--iterations", "1", "--baseline-runs", "3", "--timeout", "0", "-n", "1", "-o", "r.db",
                           "--", PLANTED, "compute")
        self.assertIn("... and 1 more; -n 0 prints all\n", done.stdout)

    def test_mistakes(self):
        for option, value in (("--noise", "busy"), ("--timed-noise-min", "1ms"), ("--noise-growth-index", "3"), ("--max-slowdown", "3")):
            self.assertIn(f"{option} is about", self.strobe("-m", "causal", option, value, "--", PLANTED, code=2).stderr)
        self.assertIn("--repeat is for", self.strobe("--repeat", "2", "--", PLANTED, code=2).stderr)
        self.assertIn("--mode", self.strobe("-m", "fast", "--", PLANTED, code=2).stderr)
        self.assertIn("--noise takes", self.strobe("--noise", "virtual", "--", PLANTED, code=2).stderr)


class Progress(Blow):
    SERVICE = ("-m", "causal", "-F", "answer_request", "--progress", "serve_request", "--repeat", "1")

    def test_service(self):
        """A program that does not end is measured by the calls of a function."""
        result = self.measure("service", *self.SERVICE, "--for", "1s")
        (point,) = result["progress"]
        self.assertEqual((point["name"], point["kind"], point["inferred"]), ("serve_request", "throughput", False))
        # A call takes a millisecond of CPU time.
        self.assertGreater(point["calls_per_second"], 0)
        self.assertLessEqual(point["calls_per_second"], 1000)
        self.assertEqual(sorted(target["function"] for target in result["targets"]), ["answer_request"])
        self.assertEqual(result["faults"], [])
        self.assertEqual((result["baseline"]["exit"], result["baseline"]["same_output"]), (0, True))
        self.assertEqual(len(result["experiments"]), 3 + 4)
        for run in result["experiments"]:
            self.assertEqual((run["exit"], run["fault"]), (0, None))
            self.assertGreaterEqual(run["total_ns"], 0.9e9)
        for target in result["targets"]:
            self.assertEqual([(row["speedup"], row["runs"], row["progress"]) for row in target["virtual"]],
                             [(part, 1, "serve_request") for part in (0.25, 0.5, 0.75, 1.0)])

    def test_both_points(self):
        """A run that ends has the end of the run as well, and the forecast has a row for each progress point."""
        options = ("-m", "causal", "-F", "worker_part", "--progress", "main_part", "--repeat", "1", "--baseline-runs", "3", "--timeout", "0")
        done = self.strobe(*options, "-o", "r.db", "--", PLANTED, "compute")
        self.assertRegex(done.stdout, r"progress by main_part: [0-9.e+]+ calls per second without a speed-up, standard deviation")
        self.assertIn("\nincrease of the calls of main_part per second in %, with 95 % intervals, if a function were faster:\n", done.stdout)
        self.assertIn("\ndecrease of the run time in %, with 95 % intervals, if a function were faster:\n", done.stdout)
        result = json.loads(self.strobe("--from", "r.db", "--format", "json", "--what-if", "worker_part=25%").stdout)
        self.assertEqual([(point["name"], point["kind"]) for point in result["progress"]], [("main_part", "throughput"), ("end of the run", "end")])
        rows = {(row["progress"], row["speedup"]): row for row in result["targets"][0]["virtual"]}
        self.assertEqual(len(rows), 8)
        self.assertEqual([row["progress"] for row in result["what_if"]], ["main_part", "end of the run"])
        for row in result["what_if"]:
            if rows[row["progress"], 0.25]["noisy"] or row["gain"] is None:  # on a busy machine
                self.assertNotEqual(row["state"], "measured")
                continue
            self.assertEqual(row["state"], "measured")
            for key in ("gain", "lo", "hi"):
                measured = rows[row["progress"], 0.25][key]
                # On a busy machine, an interval may exceed the whole run time; a forecast ends there. A gain of one run may have no interval.
                if measured is None:
                    continue
                self.assertAlmostEqual(row[key], min(measured, 1) if row["progress"] == "end of the run" else measured)
            self.assertEqual((row["functions"][0]["function"], row["functions"][0]["speedup"]), ("worker_part", 0.25))
        text = self.strobe("--from", "r.db", "--what-if", "worker_part=30%").stdout
        self.assertIn("forecast if worker_part were 30 % faster, with 95 % intervals:\n  increase of the calls of main_part per second: ", text)
        self.assertRegex(text, r"  decrease of the run time: (.*, between measured speed-ups|cannot tell: .*)\n")
        self.assertIn("did not make 'main_part' faster", self.strobe("--from", "r.db", "--what-if", "main_part=30%", code=2).stderr)

    def test_mistakes(self):
        def refused(*options, code=2):
            return self.strobe(*options, "--", PLANTED, "service", code=code).stderr
        self.assertIn("--progress is for virtual speed-ups", refused("--progress", "serve_request"))
        self.assertIn("--what-if is for virtual speed-ups", refused("--what-if", "read_request=5%"))
        self.assertIn("--for ends runs early", refused("-m", "causal", "--for", "1s"))
        self.assertIn("leave out one of them", refused(*self.SERVICE, "--for", "1s", "--limit", "2s"))
        self.assertIn("--what-if takes", refused(*self.SERVICE, "--what-if", "read_request=5"))
        self.assertIn("the program has no such function", refused(*self.SERVICE, "--progress", "not_there", "--for", "100ms"))
        self.assertIn("did not return in the run", refused(*self.SERVICE, "--progress", "never_called", "--for", "100ms", code=125))
        self.assertIn("no function is left", refused("-m", "causal", "-F", "serve_request", "--progress", "serve_request", "--for", "1s", code=125))
        self.assertIn("did not make 'serve_request' faster", refused(*self.SERVICE, "--for", "1s", "--what-if", "serve_request=5%"))


class Latency(Blow):
    def point(self, result, kind="latency"):
        (point,) = [point for point in result["progress"] if point["kind"] == kind]
        self.assertFalse(point["inferred"])
        return point

    def test_calls(self):
        """The calls of a function, one after the other in one thread: at most one is in flight, and the time of a call is the latency."""
        result = self.measure("service", "-m", "causal", "-F", "answer_request", "--latency", "serve_request", "--for", "500ms", "--repeat", "1")
        self.assertEqual([(point["name"], point["kind"]) for point in result["progress"]],
                         [("serve_request", "throughput"), ("latency of serve_request", "latency")])
        point = self.point(result)
        self.assertGreater(point["in_flight"], 0)
        self.assertLessEqual(point["in_flight"], 1.001)
        # A call takes a millisecond of CPU time; nothing is known of how long that takes on a busy machine.
        self.assertGreater(point["latency_ns"], 0.9e6)
        self.assertGreater(point["calls_per_second"], 0)
        (target,) = result["targets"]
        self.assertEqual([(row["kind"], row["speedup"]) for row in target["virtual"]],
                         [(kind, part) for kind in ("throughput", "latency") for part in (0.25, 0.5, 0.75, 1.0)])
        for row in target["virtual"]:
            if row["kind"] == "latency":
                self.assertLessEqual(row["gain"], 1)
                if row["lo"] is not None:  # one run gives none on a busy machine
                    self.assertLessEqual(row["lo"], row["gain"])

    def test_two_threads(self):
        """Eight requests are in flight, or fewer by the number of threads that have just ended one: Little's law, whoever ends them."""
        done = self.strobe("-m", "causal", "-F", "work_on_request", "--latency", "accept_request,finish_request", "--for", "1s", "--repeat", "1",
                           "--baseline-runs", "3", "--timeout", "0", "-o", "r.db", "--", PLANTED, "eight")
        self.assertRegex(done.stdout, r"\nlatency from accept_request to finish_request: \S+ ms without a speed-up, standard deviation \S+ %; \S+ per second, "
                                      r"\S+ in flight \(3 runs\)\n")
        self.assertIn("\ndecrease of the latency from accept_request to finish_request in %, with 95 % intervals, if a function were faster:\n", done.stdout)
        result = json.loads(self.strobe("--from", "r.db", "--format", "json", "--what-if", "work_on_request=20%").stdout)
        point = self.point(result)
        # The first requests begin some time after the run.
        self.assertLessEqual(point["in_flight"], 8.001)
        self.assertGreater(point["in_flight"], 1)
        self.assertGreater(point["latency_ns"] * 1e-9 * point["calls_per_second"], 0.5 * point["in_flight"])
        self.assertAlmostEqual(point["calls_per_second"], self.point(result, "throughput")["calls_per_second"],
                               delta=0.2 * point["calls_per_second"])
        self.assertEqual([row["progress"] for row in result["what_if"]], ["finish_request", "latency from accept_request to finish_request"])
        self.assertIn("  decrease of the latency from accept_request to finish_request: ", self.strobe("--from", "r.db", "--what-if", "work_on_request=20%").stdout)

    def test_mistakes(self):
        def refused(*options, code=2):
            error = self.strobe(*options, "--", PLANTED, "service", code=code).stderr
            self.assertEqual(error.count("\n"), 1, error)
            return error
        self.assertIn("--latency is for virtual speed-ups", refused("--latency", "serve_request"))
        self.assertIn("--latency takes a function, or the functions BEGIN,END of a request, not 'a,b,c'", refused("--latency", "a,b,c"))
        self.assertIn("--latency not_there: the program has no such function",
                      refused("-m", "causal", "-F", "read_request", "--latency", "serve_request,not_there", "--for", "100ms"))
        self.assertIn("--latency never_called: the function did not return",
                      refused("-m", "causal", "-F", "read_request", "--latency", "never_called,serve_request", "--for", "100ms", code=125))
        self.assertIn("since those of --progress and --latency get none",
                      refused("-m", "causal", "-F", "read_request", "--latency", "read_request", "--for", "1s", code=125))


class Faults(Blow):
    LATE = ("-F", "may_be_late", "--noise", "nanosleep", "--timed-noise-min", "1500ms", "--timed-noise-max", "1500ms", "--full-analysis")

    def fault(self, what, *options):
        result = self.measure(what, *self.LATE, *options)
        self.assertEqual(result["targets"][0]["experiments"], 0)
        self.assertEqual(result["targets"][0]["slope"]["value"], None)
        self.faults = result["faults"]
        return [(fault["kind"], fault["exit"], fault["function"]) for fault in result["faults"]]

    def frames(self):
        """The functions on the stacks of the threads, by thread."""
        return [[frame["function"] for frame in stack["frames"]] for stack in self.faults[0]["stacks"]]

    def test_crash(self):
        self.assertEqual(self.fault("crash"), [("crash", 134, "may_be_late")])

    def test_exit(self):
        self.assertEqual(self.fault("exit"), [("exit code", 1, "may_be_late")])

    def test_output(self):
        self.assertEqual(self.fault("output"), [("output", 0, "may_be_late")])

    def test_hang(self):
        self.assertEqual(self.fault("hang", "--limit", "5s"), [("deadlock", 137, "may_be_late")])
        self.assertRegex(self.faults[0]["cause"], r"^thread \d+ \(blow-planted\) waits for a lock that it holds$")
        (frames,) = self.frames()
        self.assertIn("wait_for_ever", frames)
        self.assertIn("main", frames)

    def test_deadlock(self):
        """Two threads that wait for each other's locks: the result has the cycle, and both stacks."""
        self.assertEqual(self.fault("deadlock", "--limit", "5s"), [("deadlock", 137, "may_be_late")])
        cycle = re.fullmatch(r"thread (\d+) \(blow-planted\) waits for a lock of thread (\d+) \(blow-planted\); "
                             r"thread (\d+) \(blow-planted\) waits for a lock of thread (\d+) \(blow-planted\)", self.faults[0]["cause"])
        self.assertIsNotNone(cycle, self.faults[0]["cause"])
        first, second, third, fourth = cycle.groups()
        self.assertEqual((first, second), (fourth, third))
        self.assertNotEqual(first, second)
        stacks = self.frames()
        self.assertEqual(len(stacks), 2)
        for frames in stacks:
            self.assertIn("take_second_lock", frames)
        self.assertEqual(sorted(("main" in frames, "other_order" in frames) for frames in stacks), [(False, True), (True, False)])

    def test_lost_wakeup(self):
        self.assertEqual(self.fault("lost", "--limit", "5s"), [("lost wake-up", 137, "may_be_late")])
        self.assertIn("suspected: all threads wait for a wake-up", self.faults[0]["cause"])
        states = sorted(re.sub(r"\d+", "N", stack["thread"]) for stack in self.faults[0]["stacks"])
        self.assertEqual(states, ["thread N (blow-planted) waits for a wake-up", "thread N (blow-planted) waits for the end of thread N (blow-planted)"])

    def test_livelock(self):
        self.assertEqual(self.fault("spin", "--limit", "5s"), [("livelock", 137, "may_be_late")])
        self.assertIn("suspected: threads used processors", self.faults[0]["cause"])
        (frames,) = self.frames()
        self.assertEqual(frames[0], "spin")

    def test_slow(self):
        """A function that returns again and again is progress; the text and the profile have the stack, too."""
        self.strobe("-q", "--baseline-runs", "3", "--timeout", "0", "-F", "may_be_late,serve_request", "--called-threshold", "1", *self.LATE[2:], "--limit", "5s",
                    "-o", "r.db", "--", PLANTED, "late-service")
        result = json.loads(self.strobe("--from", "r.db", "--format", "json").stdout)
        (fault,) = result["faults"]
        self.assertEqual((fault["kind"], fault["cause"]), ("slow", None))
        text = self.strobe("--from", "r.db").stdout
        self.assertIn("slow (exit code 137): nanosleep 1500000000 ns in may_be_late\n  --full prints the stacks of their threads\n", text)
        full = self.strobe("--from", "r.db", "--full").stdout
        self.assertRegex(full, r"\n    thread \d+ \(blow-planted\) is in [a-z0-9_ ]+\n      .")
        self.assertNotIn("--full prints", full)

    def test_no_end(self):
        """A program that does not end without noise has no baseline."""
        done = self.strobe("-F", "wait_for_ever", "--limit", "1s", "--", PLANTED, "for-ever", code=125)
        self.assertIn("does not end within 1 s in more than half of the runs without noise (", done.stderr)

    def test_rare_hang_without_noise(self):
        """The second run without noise hangs: it is listed with its cause and stack, is made again without noise, and the campaign goes on."""
        self.strobe("-q", "--baseline-runs", "3", "--native-runs", "0", "--timeout", "0", "-F", "may_be_late,wait_rarely,main", "--called-threshold", "1", "--iterations", "3", "--noise", "busy", "--limit", "5s",
                    "--timeline", "none", "-o", "r.db", "--", PLANTED, "rarely", str(self.at / "runs"), "3")
        result = json.loads(self.strobe("--from", "r.db", "--format", "json").stdout)
        (fault,) = result["faults"]
        self.assertEqual((fault["kind"], fault["experiment"], fault["function"], fault["noise"]), ("deadlock", 1, None, None))
        # The return addresses of the two callers of wait_for_ever are those of probes.
        (stack,) = fault["stacks"]
        frames = [frame["function"] for frame in stack["frames"]]
        self.assertEqual(frames[frames.index("wait_for_ever"):][:3], ["wait_for_ever", "wait_rarely", "main"])
        self.assertIn("_start", frames)
        self.assertIsNone(stack["missing"])
        self.assertEqual((result["baseline"]["runs"], sum(target["experiments"] for target in result["targets"])), (3, 3))
        (self.at / "runs").write_bytes(b"..")
        again = json.loads(self.strobe("--from", "r.db", "--again", "1", "--limit", "5s", "--format", "json").stdout)
        self.assertEqual([(run["fault"], run["function"], run["noise"]) for run in again["runs"]], [("deadlock", None, None)])

    def test_crash_without_noise(self):
        done = self.strobe("-F", "may_be_late", "--", PLANTED, "abort", code=125)
        self.assertIn("signal 6", done.stderr)


class Corpus(Blow):
    """The functions of programs/corpus.c that each criterion chooses."""

    def corpus(self, *options):
        text = self.strobe("--show-functions", *options, "--", CORPUS).stdout
        return sorted(line.split(" <==> ")[0] for line in text.split("CORPUS ")[1].splitlines()[1:])

    def test_code(self):
        """One function for each criterion that the code decides, and near misses of all of them."""
        self.assertEqual(self.corpus("--criteria", "io"), ["leads_to_read", "main", "reads", "writes_directly"])
        self.assertEqual(self.corpus("--criteria", "locks"), ["locks", "wakes"])
        self.assertEqual(self.corpus("--criteria", "call-sites"), ["has_two_sites"])
        self.assertEqual(self.corpus("--criteria", "call-sites", "--call-sites-threshold", "3"), [])
        self.assertEqual(self.corpus("--criteria", "io,locks"), ["leads_to_read", "locks", "main", "reads", "wakes", "writes_directly"])
        self.assertNotIn("has_two_sites", self.corpus("--criteria", "complexity"))
        self.assertIn("has_a_loop", self.corpus("--criteria", "complexity"))

    def test_added(self):
        """Options of criteria add to those that count by default, which no function meets here."""
        none = ("--min-func-time", "1h")
        self.assertEqual(self.corpus(*none), [])
        self.assertEqual(self.corpus(*none, "--locks"), ["locks", "wakes"])
        self.assertEqual(self.corpus(*none, "--call-sites-threshold", "2"), ["has_two_sites"])
        self.assertEqual(self.corpus(*none, "--io-functions"), ["leads_to_read", "main", "reads", "writes_directly"])
        self.assertEqual(self.corpus("--criteria", "call-sites", "--locks"), ["has_two_sites", "locks", "wakes"])
        self.assertEqual(self.corpus("--locks", "--criteria", "call-sites"), ["has_two_sites", "locks", "wakes"])
        self.assertEqual(self.corpus("--called-threshold", "1", "-F", "*locks,has_*", "--criteria", "locks"), ["locks"])

    def test_complexity(self):
        """A model decides before the code does."""
        (self.at / "models.ann").write_text("has_a_loop.time(n) { Norm(5, 1); }\n"
                                            "has_two_sites.calls(again) { 1; }\n"
                                            "has_two_sites.time(again) { number n = again; Norm(5 * n, 1); }\n")
        chosen = self.corpus("--complexity", "models.ann", "--min-func-time", "1h")
        self.assertIn("has_two_sites", chosen)
        self.assertNotIn("has_a_loop", chosen)
        self.assertIn("main", chosen)

    def test_file(self):
        (self.at / "names").write_text("# a comment\n\n  locks \nhas_*\n")
        self.assertEqual(self.corpus("--corpus", "names"), ["has_a_loop", "has_two_sites", "locks"])
        self.assertEqual(self.corpus("--corpus", "names", "--criteria", "locks"), ["locks"])
        (self.at / "names").write_text("locks\nnot_there\n")
        self.assertIn("has no function 'not_there'", self.strobe("--corpus", "names", "--", CORPUS, code=2).stderr)
        (self.at / "names").write_text("# nothing\n")
        self.assertIn("names no function", self.strobe("--corpus", "names", "--", CORPUS, code=2).stderr)
        (self.at / "names").write_bytes(b"a\0b")
        self.assertIn("is no text", self.strobe("--corpus", "names", "--", CORPUS, code=2).stderr)
        self.assertIn("nowhere", self.strobe("--corpus", "nowhere", "--", CORPUS, code=125).stderr)
        self.assertIn("--criteria takes", self.strobe("--criteria", "calls,size", "--", CORPUS, code=2).stderr)

    def test_result(self):
        """The result has the criteria that a function meets."""
        self.strobe("-q", "--criteria", "locks,call-sites,calls", "--noise", "busy", "--iterations", "3", "--baseline-runs", "3", "--timeout", "0", "-o", "r.db", "--", CORPUS)
        result = json.loads(self.strobe("--from", "r.db", "--format", "json").stdout)
        self.assertEqual({target["function"]: target["criteria"] for target in result["targets"]},
                         {"locks": ["locks"], "wakes": ["locks"], "has_two_sites": ["call-sites"]})


class Results(Blow):
    def test_again(self):
        """--from prints the same text from the file."""
        done = self.strobe("-F", "quarter", "--iterations", "2", "--baseline-runs", "3", "--timeout", "0", "-o", "r.db", "--", PLANTED, "serial")
        self.assertIn("the campaign ended after", done.stdout)
        self.assertIn("result: r.db", done.stderr)
        text = self.strobe("--from", "r.db").stdout
        self.assertEqual(done.stdout.split("\n", 1)[1], text)
        self.assertIn("2 experiments on 1 of 1 function", text)
        self.assertIn("quarter", text)
        again = json.loads(self.strobe("--from", "r.db", "--format", "json").stdout)
        self.assertEqual(again["strobe"], {"version": 1, "tool": "blow"})
        self.strobe("--from", "r.db", "-o", "r.txt")
        self.assertEqual((self.at / "r.txt").read_text(), text)
        shown = subprocess.run([STROBE, "show", "-t", "runs", "r.db"], cwd=self.at, capture_output=True, text=True, check=False)
        self.assertEqual(shown.returncode, 0, shown.stderr)

    def test_compare(self):
        """A campaign ranks functions as it does itself; a campaign of another mode cannot be compared."""
        self.strobe("-q", "-F", "quarter,other_half", "--noise", "nanosleep", "--iterations", "4", "--baseline-runs", "3", "--timeout", "0", "-o", "r.db", "--",
                    PLANTED, "serial")
        text = self.strobe("--from", "r.db", "--compare", "r.db").stdout
        self.assertRegex(text, r"^functions measured in both campaigns: \d; not measured in one of them: \d; tried only in the first one: 0, only in the other one: 0\n"
                               r"rank correlation \(Spearman\): ")
        result = json.loads(self.strobe("--from", "r.db", "--compare", "r.db", "--format", "json").stdout)
        self.assertEqual((result["compared"], result["only_a"], result["only_b"]), ("slope", 0, 0))
        self.assertEqual(len(result["functions"]) + result["not_measured"], 2)
        for function in result["functions"]:
            self.assertEqual(function["a"], function["b"])
            self.assertIs(function["differ"], False)
        self.strobe("-q", "-m", "causal", "-F", "main_part", "--iterations", "1", "--baseline-runs", "3", "--timeout", "0", "-o", "c.db", "--", PLANTED, "compute")
        self.assertIn("the same mode", self.strobe("--from", "r.db", "--compare", "c.db", code=2).stderr)
        self.assertIn("--compare needs a result", self.strobe("--compare", "c.db", "--", PLANTED, code=2).stderr)
        self.assertIn("different reports", self.strobe("--from", "c.db", "--compare", "c.db", "--what-if", "main_part=1%", code=2).stderr)
        self.assertIn("nowhere.db", self.strobe("--from", "r.db", "--compare", "nowhere.db", code=125).stderr)

    def test_functions(self):
        text = self.strobe("--show-functions", "--called-threshold", "10", "--min-func-time", "1h", "--", PLANTED, "serial").stdout
        all_functions, corpus = text.split("CORPUS (4):\n")
        self.assertTrue(all_functions.startswith("ALL FUNCTIONS (5):\n"))
        self.assertIn("quarter <==> quarter\n", all_functions)
        self.assertEqual(sorted(line.split(" <==> ")[0] for line in corpus.splitlines()), ["nap_us", "other_half", "quarter", "the_rest"])
        self.assertEqual(list(self.at.iterdir()), [])
        times = self.strobe("--show-functions-w-time", "-F", "quarter", "--", PLANTED, "serial").stdout
        self.assertRegex(times, r"quarter <==> quarter ==> \d+\.\d{3} us\n")

    def plot(self, *arguments, code=0):
        done = subprocess.run([STROBE, "plot", "causal", *arguments], cwd=self.at, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout or done.stderr

    def test_picture(self):
        """A line for each function, with a point for each experiment and one for the runs without noise."""
        self.strobe("-q", "-F", "quarter,other_half", "--noise", "busy", "--iterations", "4", "--baseline-runs", "3", "--timeout", "0", "-o", "r.db", "--", PLANTED, "serial")
        svg = self.plot("r.db", "-o", "-")
        self.assertEqual(len(re.findall("<circle ", svg)), 4 + 2)
        self.assertEqual(len(re.findall('<path class="line', svg)), 2)
        self.assertIn("causal profiles of r.db (slow-down)", svg)
        self.assertRegex(svg, "quarter: 1, 1<")
        svg = self.plot("r.db", "--of", "qu*", "-o", "-")
        self.assertIn("quarter", svg)
        self.assertNotIn("other_half", svg)
        self.assertEqual(len(re.findall('<path class="line', self.plot("r.db", "-n", "1", "-o", "-"))), 1)
        self.assertEqual(self.plot("r.db", "--up-to", "1e9", "-o", "-"), self.plot("r.db", "-o", "-"))
        self.assertIn("no experiment is at most -1 on the x axis", self.plot("r.db", "--up-to", "-1", "-o", "-", code=2))
        self.assertIn("--up-to takes a number, a value of the x axis, not '50%'", self.plot("r.db", "--up-to", "50%", "-o", "-", code=2))
        self.assertIn("no experiment to draw with nothing", self.plot("r.db", "--of", "nothing", "-o", "-", code=125))
        self.strobe("-q", "-m", "speed-up", "-F", "left_part,right_part,main", "--sampling", "50", "--baseline-runs", "3", "--timeout", "0", "-o", "s.db", "--", PLANTED, "pair")
        drawn = subprocess.run([STROBE, "plot", "causal", "s.db", "-o", "-"], cwd=self.at, capture_output=True, text=True, check=False)
        # On a busy machine, runs with noise may take less time than those without, and are not drawn.
        if drawn.returncode:
            self.assertIn("no experiment to draw", drawn.stderr)
        else:
            self.assertRegex(drawn.stdout, "(main|left_part|right_part), thread [01]")
            self.assertIn("runtime optimisation of the thread in %", drawn.stdout)
        subprocess.run([STROBE, "run", "-q", "-t", "inscount", "-o", "other.db", "--", PLANTED], cwd=self.at, check=True)
        self.assertIn("is not of strobe blow", self.plot("other.db", "-o", "-", code=2))

    def test_threads(self):
        """Each of two threads calls its own function. The first one enters main before the other one exists, so their numbers are certain."""
        self.strobe("-q", "-F", "main,left_part,right_part", "--iterations", "1", "--baseline-runs", "3", "--timeout", "0", "-o", "r.db", "--", PLANTED, "pair")
        result = json.loads(self.strobe("--from", "r.db", "--format", "json").stdout)
        threads = {target["function"]: target["threads"] for target in result["targets"]}
        self.assertEqual(threads, {"main": [{"thread": 0, "calls": 1}], "left_part": [{"thread": 0, "calls": 10}], "right_part": [{"thread": 1, "calls": 10}]})
        text = self.strobe("--from", "r.db", "--threads").stdout
        matrix = text.split("calls by thread, without noise:\n")[1].splitlines()
        self.assertEqual(matrix[0].split(), ["thread", "0", "1", "function"])
        self.assertEqual(sorted(line.split() for line in matrix[1:4]), [["-", "10", "right_part"], ["1", "-", "main"], ["10", "-", "left_part"]])

    def test_resume(self):
        options = ("-q", "-F", "quarter", "--noise", "nanosleep", "--timed-noise-max", "2ms", "--full-analysis", "--baseline-runs", "3", "--timeout", "0", "--journal", "j", "-o", "r.json")
        self.strobe(*options, "--", PLANTED, "serial")
        first = json.loads((self.at / "r.json").read_text())["experiments"]
        self.strobe(*options, "--", PLANTED, "serial")
        self.assertEqual(json.loads((self.at / "r.json").read_text())["experiments"], first)
        done = self.strobe(*options, "--", PLANTED, "pair", code=125)
        self.assertIn("is of another experiment, which has 'serial' where this one has 'pair'", done.stderr)

    def test_executed(self):
        """Another program that the process executes has no probes; the selection tells, and the journal and the result keep it."""
        pattern = r"the program executed another one, \S*sh, which is not measured: name that program itself"
        options = ("-F", "worker_part", "--noise", "busy", "--iterations", "1", "--baseline-runs", "3", "--native-runs", "0", "--timeline", "none", "--journal", "j")
        for _ in range(2):
            done = self.strobe(*options, "-o", "r.json", "--", PLANTED, "hazards")
            self.assertRegex(done.stderr, f"^strobe: {pattern}\n")
            (note,) = json.loads((self.at / "r.json").read_text())["notes"]
            self.assertRegex(note, f"^{pattern}$")
        self.assertEqual(self.strobe("-q", *options[:-2], "-o", "r.json", "--", PLANTED, "hazards").stderr, "")
        error = self.strobe("--main", "never_called", "--", PLANTED, "hazards", code=125).stderr
        self.assertRegex(error, f"^strobe: {pattern}\n$")
        self.assertNotIn("executed", self.strobe("--show-functions", "--", PLANTED, "serial").stderr)


class Mistakes(Blow):
    def refused(self, *arguments, code=2):
        return self.strobe(*arguments, code=code).stderr

    def test_arguments(self):
        self.assertIn("no program to run", self.refused())
        self.assertIn("--noise takes", self.refused("--noise", "loud", "--", PLANTED))
        self.assertIn("--sort", self.refused("--sort", "size", "--", PLANTED))
        self.assertIn("--pick", self.refused("--pick", "worst", "--", PLANTED))
        self.assertIn("greater than 1", self.refused("--noise-growth-index", "1", "--", PLANTED))
        self.assertIn("--baseline-runs", self.refused("--baseline-runs", "2", "--", PLANTED))
        self.assertIn("--timed-noise-min is more than", self.refused("--timed-noise-min", "2s", "--", PLANTED))
        self.assertIn("--yield-noise-min is more than", self.refused("--yield-noise-min", "2000000", "--", PLANTED))
        self.assertIn("takes a time", self.refused("--min-func-time", "0", "--", PLANTED))
        self.assertIn("a database", self.refused("-o", "-", "--", PLANTED))
        self.assertIn("leave out the program", self.refused("--from", "r.db", "--", PLANTED))
        self.assertIn("leave out one", self.refused("--from", "r.db", "--pick", "best"))

    def test_programs(self):
        self.assertIn("nothing-there", self.refused("-F", "x", "--", "nothing-there", code=127))
        self.assertIn("--funcs", self.refused("-F", "not_there", "--", PLANTED, "serial", code=125))
        self.assertIn("lower", self.refused("--called-threshold", "1000", "--min-func-time", "1h", "--", PLANTED, "serial", code=125))
        self.assertIn("--stdin", self.refused("--stdin", "nowhere", "--", PLANTED, "serial", code=125))

    def test_other_profile(self):
        subprocess.run([STROBE, "run", "-q", "-t", "inscount", "-o", "other.db", "--", PLANTED], cwd=self.at, check=True)
        self.assertIn("is not of strobe blow", self.refused("--from", "other.db"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
