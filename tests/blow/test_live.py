#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests experiments of `strobe blow` in a running process: it must answer each request, and be as before afterwards.

usage: test_live.py STROBE PLANTED [CLASS...]

PLANTED is programs/planted.c. Nothing here depends on times of the machine."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

from command import STROBE, Case

PLANTED = os.path.abspath(sys.argv[2])


class Server:
    """A process of `planted answer`, and a client that waits for the answer to each line before it sends the next one."""

    def __init__(self):
        self.process = subprocess.Popen([PLANTED, "answer"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self.process.pid
        self.answered, self.wrong, self.ends = 0, 0, False
        self.log = None
        self.client = threading.Thread(target=self.ask)
        self.client.start()

    def ask(self):
        while not self.ends and self.process.poll() is None:
            line = b"%d\n" % self.answered
            try:
                self.process.stdin.write(line)
                self.process.stdin.flush()
            except BrokenPipeError:
                return
            self.wrong += self.process.stdout.readline() != line
            self.answered += 1
            if self.log:
                self.log.write(b"answer.\n")
                self.log.flush()

    def log_to(self, path):
        """Writes a line of eight bytes for each answer from now on."""
        self.log = open(path, "wb")  # pylint: disable=consider-using-with

    def wait_for(self, more):
        end = self.answered + more
        while self.answered < end and self.process.poll() is None:
            time.sleep(0.01)

    def close(self):
        """The exit code."""
        self.ends = True
        self.client.join()
        self.process.stdin.close()
        code = self.process.wait()
        self.process.stdout.close()
        if self.log:
            self.log.close()
        return code

    def kill(self):
        """For tests that have failed."""
        self.ends = True
        self.process.kill()
        self.process.wait()

    def maps(self):
        return Path(f"/proc/{self.pid}/maps").read_text()

    def code(self):
        """The bytes of all executable mappings of files."""
        bytes_of = {}
        with open(f"/proc/{self.pid}/mem", "rb") as memory:
            for line in self.maps().splitlines():
                fields = line.split()
                if "x" in fields[1] and fields[-1].startswith("/"):
                    begin, end = (int(number, 16) for number in fields[0].split("-"))
                    memory.seek(begin)
                    bytes_of[fields[0]] = memory.read(end - begin)
        return bytes_of

    def cpu_seconds(self):
        fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def tracer(self):
        return [line.split()[1] for line in Path(f"/proc/{self.pid}/status").read_text().splitlines() if line.startswith("TracerPid")]


class Live(Case):
    def serve(self):
        server = Server()
        self.addCleanup(server.kill)
        server.wait_for(3)
        return server

    def result(self, file="r.json"):
        return json.loads((self.at / file).read_text())


class Pid(Live):
    FUNCTIONS = ("-F", "quarter,other_half", "--progress", "answer_line")

    def test_slow_down(self):
        """Windows with noise and without, in one process that loses no request and is the same afterwards."""
        server = self.serve()
        code, maps = server.code(), server.maps()
        self.strobe("-q", "--pid", server.pid, *self.FUNCTIONS, "--window", "100ms", "--noise", "nanosleep,busy", "-i", "12", "-o", "r.json")
        self.assertEqual(server.code(), code)
        self.assertEqual(server.maps(), maps)
        server.wait_for(3)
        self.assertEqual((server.close(), server.wrong), (0, 0))
        result = self.result()
        self.assertEqual((result["mode"], result["windows"], result["faults"]), ("slow-down", True, []))
        self.assertEqual(result["run"]["command"], [PLANTED, "answer"])
        self.assertEqual([(point["name"], point["kind"]) for point in result["progress"]], [("answer_line", "throughput")])
        self.assertEqual(sorted(target["function"] for target in result["targets"]), ["other_half", "quarter"])
        noisy = [run for run in result["experiments"] if run["noise"]]
        quiet = [run for run in result["experiments"] if not run["noise"]]
        self.assertEqual(len(noisy), 12)
        self.assertGreaterEqual(len(quiet), 5)
        self.assertEqual(result["baseline"]["runs"], len(quiet))
        self.assertLessEqual(result["control"]["lo"], result["control"]["gain"])
        for run in noisy:
            noise = run["noise"]
            # One request after the other is answered, so the function's time is part of the window's.
            self.assertLessEqual(run["function_ns"], 1.01 * run["total_ns"])
            self.assertLessEqual(noise["strength"], 100e6 / 8)
            # The call that runs when the window ends may be counted before its noise, or after it.
            self.assertGreaterEqual(noise["measured_ns"], 0.998 * noise["calls"] * noise["strength"])
            self.assertGreaterEqual(run["total_ns"], 100e6)
        self.assertGreater(sum(run["noise"]["calls"] for run in noisy), 0)

    def test_text(self):
        server = self.serve()
        text = self.strobe("--pid", server.pid, *self.FUNCTIONS, "--window", "50ms", "-i", "4", "--noise", "busy", "-o", "r.db").stdout
        self.assertRegex(text, r"\n4 experiments on 2 of \d+ functions, in windows of \d+ ms of one process\nprogress by answer_line: \S+ calls per second "
                               r"without noise, standard deviation \S+ % \(\d+ windows\)\ncontrol: one half of these windows took ")
        self.assertEqual(text.split("\n", 1)[1], self.strobe("--from", "r.db").stdout)
        shown = self.strobe("--pid", server.pid, *self.FUNCTIONS, "--show-functions").stdout
        self.assertIn("CORPUS (2):\nquarter <==> quarter\nother_half <==> other_half\n", shown.replace("other_half <==> other_half\nquarter <==> quarter\n",
                                                                                                      "quarter <==> quarter\nother_half <==> other_half\n"))
        self.assertEqual((server.close(), server.wrong), (0, 0))

    def test_causal(self):
        server = self.serve()
        code = server.code()
        self.strobe("-q", "-m", "causal", "--pid", server.pid, "-F", "quarter", "--progress", "answer_line", "--window", "200ms", "-r", "2", "-o", "r.json")
        self.assertEqual(server.tracer(), ["0"])
        self.assertEqual(server.code(), code)
        self.assertEqual((server.close(), server.wrong), (0, 0))
        result = self.result()
        self.assertEqual((result["mode"], result["windows"]), ("causal", True))
        (target,) = result["targets"]
        self.assertEqual(sorted(run["noise"]["strength"] for run in result["experiments"] if run["noise"]), [25, 25, 50, 50, 75, 75, 100, 100])
        # An answer takes some milliseconds. On a very busy machine, one of the two windows may have none, and gives no gain.
        self.assertEqual([row["speedup"] for row in target["virtual"]], [0.25, 0.5, 0.75, 1.0])
        for row in target["virtual"]:
            self.assertIn(row["runs"], (1, 2))
        for run in result["experiments"]:
            if run["noise"]:
                # There is only one thread: nobody has to wait for it, but it counts its own time as paid.
                self.assertLessEqual(run["noise"]["measured_ns"], run["noise"]["strength"] / 100 * 1.5 * run["total_ns"])

    def test_metric(self):
        """A log of the answers is progress as much as the function that gives them, in windows with noise and with speed-ups."""
        server = self.serve()
        log = self.at / "log"
        server.log_to(log)
        for options in (("--noise", "busy", "-i", "4"), ("-m", "causal", "-r", "1")):
            self.strobe("-q", *options, "--pid", server.pid, "-F", "quarter", "--progress", "answer_line", "--progress", f"qos:growth:{log}", "--progress",
                        f"qos:rate:{log}:^answer", "--window", "200ms", "-o", "r.json")
            result = self.result()
            points = result["progress"]
            self.assertEqual([(point["name"], point["kind"], point["inferred"]) for point in points],
                             [("answer_line", "throughput", False), (f"qos:growth:{log}", "metric", False), (f"qos:rate:{log}:^answer", "metric", False)])
            quiet = len([run for run in result["experiments"] if not run["noise"]])
            self.assertGreaterEqual(quiet, 5)
            # Each answer is a line of eight bytes. The log is read a moment before and after the calls, and at the same moments for both metrics: they
            # differ by what is written in between. Rates are means over windows, in each of which a few answers are counted by one of them only.
            calls, bytes_, lines = points[0]["calls_per_second"], points[1]["per_second"], points[2]["per_second"]
            self.assertGreater(lines, 0)
            self.assertLess(abs(bytes_ / 8 - lines), 2 / 0.2 + lines / 4)
            self.assertLess(abs(calls - lines), 3 / 0.2 + lines)
            if "causal" in options:
                rows = result["targets"][0]["virtual"]
                self.assertEqual([(row["kind"], row["speedup"]) for row in rows],
                                 [(kind, part) for kind in ("throughput", "metric", "metric") for part in (0.25, 0.5, 0.75, 1.0)])
            (self.at / "r.json").unlink()
        self.assertEqual((server.close(), server.wrong), (0, 0))

    def test_interrupt(self):
        """Ctrl-C ends the campaign: what is known is kept, and the process is as before."""
        server = self.serve()
        code, maps = server.code(), server.maps()
        for options in ((), ("-m", "causal")):
            strobe = subprocess.Popen([STROBE, "blow", "-q", *options, "--pid", str(server.pid), *self.FUNCTIONS, "--timeout", "0", "-r", "100000", "-o", "r.json"],
                                      cwd=self.at, stderr=subprocess.PIPE)
            while not any(name.endswith(":strobe") or "strobe" in name for name in server.maps().splitlines() if name not in maps) and strobe.poll() is None:
                time.sleep(0.05)
            time.sleep(2)
            strobe.send_signal(signal.SIGINT)
            _, errors = strobe.communicate(timeout=100)
            self.assertEqual(strobe.returncode, 130, errors)
            self.assertEqual(server.code(), code)
            self.assertEqual(server.maps(), maps)
            self.assertIn("interrupted", "".join(self.result()["notes"]))
            (self.at / "r.json").unlink()
        self.assertEqual((server.close(), server.wrong), (0, 0))

    def test_kill(self):
        """After Strobe was killed in the middle of noise, the noise ends: the process sleeps, as it does without noise."""
        server = self.serve()
        code = server.code()
        strobe = subprocess.Popen([STROBE, "blow", "-q", "--pid", str(server.pid), *self.FUNCTIONS, "--window", "200ms", "--noise", "busy", "--timeout", "0",
                                   "-r", "100000", "--busy-waiting-noise-min", "10ms", "--busy-waiting-noise-max", "20ms", "-o", "r.json"], cwd=self.at)
        before = server.cpu_seconds()
        while server.cpu_seconds() < before + 0.3 and strobe.poll() is None:
            time.sleep(0.02)
        self.assertIsNone(strobe.poll())
        strobe.kill()
        strobe.wait()
        time.sleep(1)
        before = server.cpu_seconds()
        server.wait_for(40)
        # With noise, it would be 400 ms.
        self.assertLess(server.cpu_seconds() - before, 0.2)
        self.strobe("--pid", server.pid, "--remove", command="trace")
        self.assertEqual(server.code(), code)
        self.assertEqual((server.close(), server.wrong), (0, 0))

    def test_end(self):
        """The process ends during the campaign: the result has the windows until then."""
        server = self.serve()
        strobe = subprocess.Popen([STROBE, "blow", "--pid", str(server.pid), *self.FUNCTIONS, "--window", "50ms", "--timeout", "0", "-r", "100000", "-o", "r.json"],
                                  cwd=self.at, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(3)
        self.assertEqual((server.close(), server.wrong), (0, 0))
        text, errors = strobe.communicate(timeout=100)
        if strobe.returncode == 125:  # a very busy machine
            self.assertIn("has ended before functions were selected", errors)
            return
        self.assertEqual(strobe.returncode, 0, errors)
        self.assertIn(": the process has ended\n", text)
        self.assertEqual(self.result()["notes"], ["the process ended during the campaign"])


class Started(Live):
    def test_service(self):
        """A program that Strobe starts serves all experiments, and is ended afterwards."""
        mark = f"strobe-live-{os.getpid()}"
        self.strobe("-q", "--window", "50ms", "-F", "read_request,answer_request", "--progress", "serve_request", "--noise", "busy", "-i", "6", "-o", "r.json", "--",
                    PLANTED, "service", mark)
        result = self.result()
        self.assertTrue(result["windows"])
        self.assertEqual(len([run for run in result["experiments"] if run["noise"]]), 6)
        self.assertEqual(sorted(target["function"] for target in result["targets"]), ["answer_request", "read_request"])
        for process in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                self.assertNotIn(mark.encode(), process.read_bytes())
            except (FileNotFoundError, ProcessLookupError):
                pass

    def test_latency(self):
        """Eight requests are in flight, from the first window to the last; those that began before the probes were there are known when all of them have ended."""
        self.strobe("-q", "-m", "causal", "--window", "100ms", "-F", "work_on_request", "--latency", "accept_request,finish_request", "-r", "1", "-o", "r.json", "--",
                    PLANTED, "eight")
        result = self.result()
        (point,) = [point for point in result["progress"] if point["kind"] == "latency"]
        self.assertLessEqual(point["in_flight"], 8.001)
        self.assertGreaterEqual(point["in_flight"], 0)
        self.assertEqual([row["speedup"] for row in result["targets"][0]["virtual"] if row["kind"] == "latency"], [0.25, 0.5, 0.75, 1.0])

    def test_ends_at_once(self):
        done = self.strobe("--window", "50ms", "--progress", "quarter", "--", PLANTED, "never", code=125)
        self.assertRegex(done.stderr, r"^strobe: (the program|process \d+) has ended before ")

    def test_mistakes(self):
        def refused(*options, code=2):
            error = self.strobe(*options, code=code).stderr
            self.assertEqual(error.count("\n"), 1, error)
            return error
        point = ("--progress", "answer_line")
        self.assertIn("leave out the program", refused("--pid", os.getpid(), *point, "--", PLANTED))
        self.assertIn("name a function whose calls are the work with --progress", refused("--pid", os.getpid()))
        self.assertIn("--journal does not do", refused("--pid", os.getpid(), *point, "--journal", "j"))
        self.assertIn("--full-analysis does not do", refused("--window", "1s", *point, "--full-analysis", "--", PLANTED))
        self.assertIn("--mode speed-up does not do", refused("--window", "1s", *point, "-m", "speed-up", "--", PLANTED))
        self.assertIn("--stdin is the input", refused("--pid", os.getpid(), *point, "--stdin", "/dev/zero"))
        self.assertIn("at least 10ms", refused("--window", "1ms", *point, "--", PLANTED))
        self.assertIn("no program to run", refused(*point))
        self.assertIn("is not a process number", refused("--pid", "x", *point))
        refused("--pid", "999999999", *point, code=127)
        server = self.serve()
        self.assertIn("the program has no such function", refused("--pid", server.pid, "--progress", "not_there", "--window", "10ms"))
        self.assertIn("there is no such file\n", refused("--pid", server.pid, *point, "--progress", "qos:growth:none", "--window", "10ms", code=125))
        self.assertIn("--progress qos: there is no source 'none:1'", refused("--pid", server.pid, "--progress", "qos:none:1"))
        self.assertIn("is a metric of a program that goes on", refused("-m", "causal", "--progress", "qos:growth:log", "--", PLANTED, "answer"))
        self.assertEqual((server.close(), server.wrong), (0, 0))


if __name__ == "__main__":
    unittest.main(argv=["test_live.py", *sys.argv[3:]], verbosity=2)
