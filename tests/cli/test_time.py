#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""strobe time: each metric against a program that does a known amount of it, and what becomes of programs that fail."""
import json
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

STROBE = os.path.abspath(sys.argv.pop(1))
PYTHON = "/usr/bin/python3"
METRICS = ["wall", "user", "system", "peak memory", "minor faults", "major faults", "voluntary switches", "involuntary switches"]


class Time(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="strobe-time-")
        self.addCleanup(place.cleanup)
        self.place = place.name

    def strobe(self, *arguments, **more):
        return subprocess.run([STROBE, *arguments], cwd=self.place, capture_output=True, text=True, timeout=120, **more)

    def series(self, *arguments, code=0):
        """By metric: the series of `strobe time ARGUMENTS`."""
        done = self.strobe("time", "--format", "json", *arguments)
        self.assertEqual((done.returncode, done.stderr), (code, ""))
        self.whole = json.loads(done.stdout)
        # That a program is too small for its memory to be seen depends on the shell that runs it.
        self.notes = [note for note in self.whole["notes"] if "upper bound" not in note]
        return {s["metric"]: s for s in self.whole["measurements"]}

    def error(self, code, text, *arguments):
        done = self.strobe("time", *arguments)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (code, "", f"strobe: {text}\n"))

    def path(self, name):
        return os.path.join(self.place, name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            return f.read()


class Metrics(Time):
    def test_all_are_there(self):
        found = self.series("-r", "7", "-w", "0", "--", "true")
        self.assertEqual(list(found), METRICS)
        for s in found.values():
            self.assertEqual((s["n"], len(s["values"]), s["image"]), (7, 7, "true"))
            self.assertEqual(s["features"], {"repetition": list(range(1, 8)), "exit": [0] * 7})
            self.assertEqual((s["min"], s["max"], s["sum"]), (min(s["values"]), max(s["values"]), sum(s["values"])))
            self.assertEqual((s["median"], s["median_low"], s["median_high"]), (sorted(s["values"])[3], s["min"], s["max"]))
        self.assertEqual({s["unit"] for s in found.values()}, {"ns", "B", ""})

    def test_wall_is_elapsed_time(self):
        begin = time.monotonic_ns()
        found = self.series("-r", "2", "-w", "0", "--", "sleep", "0.2")
        elapsed = time.monotonic_ns() - begin
        self.assertGreaterEqual(found["wall"]["min"], 200_000_000)
        self.assertLess(found["wall"]["sum"], elapsed)

    def test_cpu_time_is_of_the_program_and_its_children(self):
        burn = "import time\nwhile time.process_time() < 0.2: pass"
        found = self.series("-r", "2", "-w", "0", "--", "sh", "-c", f"{PYTHON} -c '{burn}'; true")
        for user, system in zip(found["user"]["values"], found["system"]["values"]):
            self.assertGreaterEqual(user + system, 200_000_000)
            self.assertEqual((user % 1000, system % 1000), (0, 0))

    def test_memory_and_faults(self):
        size = 64 << 20
        found = self.series("-r", "2", "-w", "0", "--", PYTHON, "-c", f"x = b'x' * {size}")
        small = self.series("-r", "2", "-w", "0", "--", PYTHON, "-c", "pass")
        for big, little in zip(found["peak memory"]["values"], small["peak memory"]["values"]):
            self.assertGreaterEqual(big, size)
            self.assertLess(big - little, size + (16 << 20))
            self.assertGreaterEqual(big - little, size // 2)  # nothing less than strobe's own child is seen, which sanitizers enlarge
            self.assertEqual(big % 1024, 0)

    def test_switches(self):
        found = self.series("-r", "1", "-w", "0", "--", PYTHON, "-c", "import time\nfor i in range(40): time.sleep(0.001)")
        self.assertGreaterEqual(found["voluntary switches"]["min"], 40)

    def test_peak_memory_of_a_tiny_program_is_a_bound(self):
        """Nothing smaller than strobe's own child can be seen, and that is said."""
        with open(self.path("tiny.S"), "w", encoding="utf-8") as f:
            f.write(".globl _start\n_start: mov $60, %eax\nxor %edi, %edi\nsyscall\n")
        if not shutil.which("gcc"):
            self.skipTest("no gcc")
        with open(STROBE, "rb") as file:
            if b"__asan_init" in file.read():
                self.skipTest("with a sanitizer, strobe's process grows between what it says and its execve")
        subprocess.run(["gcc", "-nostdlib", "-static", "-o", "tiny", "tiny.S"], cwd=self.place, check=True)
        self.series("-r", "3", "-w", "0", "--", "./tiny")
        self.assertEqual(self.whole["notes"], ["peak memory is an upper bound in 3 of 3 runs: the program used less than strobe's "
                                               "process did before it became the program"])

    @unittest.skipUnless(shutil.which("hyperfine"), "no hyperfine")
    def test_against_hyperfine(self):
        """Both time the same sleep: neither can see less, and CPU time is what the sleeper cannot have used."""
        subprocess.run(["hyperfine", "-N", "--runs", "3", "--export-json", "h.json", "sleep 0.1"], cwd=self.place, check=True, capture_output=True)
        theirs = json.loads(self.read("h.json"))["results"][0]
        ours = self.series("-r", "3", "--", "sleep", "0.1")
        self.assertEqual(len(theirs["times"]), ours["wall"]["n"])
        for seconds in [ns / 1e9 for ns in ours["wall"]["values"]] + theirs["times"]:
            self.assertGreaterEqual(seconds, 0.1)
        self.assertLess(ours["user"]["mean"] / 1e9, 0.1)


class Programs(Time):
    def test_failure_is_said(self):
        self.series("-r", "3", "--", "false", code=1)
        self.assertEqual(self.notes, ["the program failed in 3 of 3 runs: it exited with 1"])
        found = self.series("-r", "3", "-w", "0", "--", "sh", "-c", "kill -9 $$", code=137)
        self.assertEqual(found["wall"]["features"]["exit"], [137] * 3)
        self.assertEqual(self.whole["run"]["signal"], 9)
        self.assertEqual(self.notes, ["the program failed in 3 of 3 runs: Killed (signal 9)"])

    def test_the_first_failure_is_the_exit_code(self):
        script = "echo >> n; test $(wc -l < n) -lt 3 && exit 0; exit $(wc -l < n)"
        found = self.series("-r", "4", "-w", "0", "--", "sh", "-c", script, code=3)
        self.assertEqual(found["wall"]["features"]["exit"], [0, 0, 3, 4])
        self.assertEqual(self.notes, ["the program failed in 2 of 4 runs: it exited with 3"])

    def test_what_cannot_run(self):
        self.error(127, "cannot run ./nothing: No such file or directory", "./nothing")
        self.error(126, "cannot run ./: Permission denied", "./")
        self.assertEqual(os.listdir(self.place), [])

    def test_streams(self):
        with open(self.path("in"), "w", encoding="utf-8") as f:
            f.write("given\n")
        with open(self.path("out"), "w", encoding="utf-8") as f:
            f.write("old\n")
        self.series("-r", "2", "-w", "1", "--stdin", "in", "--stdout", "out", "--", "sh", "-c", "cat; echo error >&2")
        self.assertEqual(self.read("out"), "given\nerror\n" * 3)
        self.error(125, "cannot use nowhere: No such file or directory", "--stdin", "nowhere", "true")

    def test_by_default_it_reads_and_writes_nothing(self):
        found = self.series("-r", "1", "-w", "0", "--", "sh", "-c", "cat; echo text; echo text >&2")
        self.assertEqual(found["wall"]["n"], 1)


class Options(Time):
    def test_closed_descriptors(self):
        """The command has its standard descriptors also if strobe itself has none."""
        script = "for fd in 0 1 2; do [ -e /proc/self/fd/$fd ] || exit 7; done"
        for closed in "0<&-", "1>&-", "0<&- 1>&-", "0<&- 1>&- 2>&-":
            with self.subTest(closed):
                done = subprocess.run(["sh", "-c", f'exec "$@" {closed}', "sh", STROBE, "time", "-q", "-r", "1", "-w", "0", "-o", "q.db", "--", "sh", "-c", script],
                                      cwd=self.place, capture_output=True, text=True, timeout=120, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_warmups_are_run_and_not_recorded(self):
        found = self.series("-r", "4", "-w", "3", "--", "sh", "-c", "echo >> n")
        self.assertEqual((self.read("n"), found["wall"]["n"]), ("\n" * 7, 4))

    def test_prepare(self):
        found = self.series("-r", "2", "-w", "1", "--prepare", "echo p >> n; sleep 0.3", "--", "sh", "-c", "echo r >> n")
        self.assertEqual(self.read("n"), "p\nr\n" * 3)
        self.assertEqual(found["wall"]["n"], 2)
        self.assertGreaterEqual(self.whole["run"]["seconds"], 0.9)
        self.error(125, "the command of --prepare exited with 4 before run 1: exit 4", "--prepare", "exit 4", "true")

    def test_cpu(self):
        cpu = sorted(os.sched_getaffinity(0))[-1]
        self.series("-r", "1", "-w", "0", "--cpu", str(cpu), "--stdout", "out", "--",
                    PYTHON, "-c", "import os; print(os.sched_getaffinity(0))")
        self.assertEqual(self.read("out"), f"{{{cpu}}}\n")
        for bad in "", "one", "3-1", "1,", "0-99999", "-1":
            self.error(125, f"--cpu takes numbers of CPUs such as 0,2-4, not '{bad}'", f"--cpu={bad}", "true")
        if 1023 not in os.sched_getaffinity(0):
            self.error(125, "strobe may not use CPU 1023; nproc and taskset -p $$ say which CPUs there are", "--cpu", "1023", "true")

    def test_workload(self):
        found = self.series("-r", "2", "--workload", "large", "--size", "1e6", "--", "true")
        self.assertEqual(found["user"]["labels"], {"workload": "large"})
        self.assertEqual(found["user"]["features"]["size"], [1000000, 1000000])
        self.error(125, "--size takes a number, not 'big'", "--size", "big", "true")

    def test_mistakes(self):
        self.error(125, "no program to time: strobe time [options] -- PROGRAM", "-r", "2")
        self.error(125, "--repeat takes a number from 1 to 1000000, not '0'", "-r", "0", "true")
        self.error(125, "--warmups takes a number from 0 to 1000000, not '-1'", "--warmups=-1", "true")
        self.error(125, "no format 'xml'; the formats are text and json", "--format", "xml", "true")
        self.error(125, "the result is a database: give -o a file, or use --format json", "-o", "-", "true")


class Results(Time):
    def test_the_file_has_what_was_printed(self):
        self.series("-r", "6", "-o", "t.db", "-q", "--", "sh", "-c", "exit 5", code=5)
        shown = json.loads(self.strobe("show", "--format", "json", "t.db").stdout)
        self.assertEqual(shown, self.whole)
        db = sqlite3.connect(self.path("t.db"))
        self.addCleanup(db.close)
        self.assertEqual(db.execute("SELECT value FROM named_measurement WHERE metric = 'wall' ORDER BY id").fetchall(),
                         [(v,) for v in self.whole["measurements"][0]["values"]])
        self.assertEqual(db.execute("SELECT exit, options FROM run").fetchall(), [(5, "--format json -r 6 -o t.db -q")])

    def test_text(self):
        done = self.strobe("time", "-r", "6", "--", "true")
        self.assertEqual(done.returncode, 0)
        name, = os.listdir(self.place)
        self.assertEqual(done.stderr, f"strobe: result: {name}\n")
        self.assertRegex(name, r"^strobe\.true\.\d+\.db$")
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "strobe: time of true")
        self.assertEqual(lines[2].split(), "metric n mean 95 % median 95 % min max std dev".split())
        self.assertEqual([line[2:24].rstrip(" 0123456789") for line in lines[3:11]], METRICS)
        self.assertEqual(self.strobe("show", name).stdout, done.stdout)
        for line in lines[3:11]:
            self.assertNotRegex(line, r"-\d", "no value is below zero")
        for line in lines[7:11]:
            self.assertNotRegex(line, r"\d\.\d{3}", "counts have at most two decimals")

    def test_one_run_has_no_interval(self):
        found = self.series("-r", "1", "--", "true")["wall"]
        self.assertEqual([found[key] for key in ("mean_low", "mean_high", "median_low", "median_high", "deviation")], [None] * 5)
        self.assertEqual(found["mean"], found["values"][0])

    def test_a_full_disk_is_said(self):
        done = self.strobe("time", "-r", "1", "-o", "t.db", "--", "true",
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
        self.assertEqual(done.returncode, 125)
        self.assertIn("cannot write", done.stderr)
        self.assertEqual(os.listdir(self.place), [])


class Signals(Time):
    def start(self, *arguments):
        return subprocess.Popen([STROBE, "time", *arguments], cwd=self.place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def await_lines(self, n):
        end = time.monotonic() + 60
        while time.monotonic() < end and (not os.path.exists(self.path("n")) or len(self.read("n")) < n):
            time.sleep(0.01)

    def test_what_was_complete_is_kept(self):
        process = self.start("-r", "9", "-w", "0", "-o", "t.db", "-q", "--", "sh", "-c", "echo >> n; test $(wc -l < n) -lt 3 || exec sleep 60")
        self.await_lines(3)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        db = sqlite3.connect(self.path("t.db"))
        self.addCleanup(db.close)
        self.assertEqual(db.execute("SELECT n FROM series").fetchall(), [(2,)] * len(METRICS))

    def test_nothing_complete(self):
        process = self.start("-o", "t.db", "--", "sh", "-c", "echo >> n; exec sleep 60")
        self.await_lines(1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (130, ""))
        self.assertEqual(err, "strobe: interrupted before the first repetition was complete: nothing is kept\n")
        self.assertEqual(os.listdir(self.place), ["n"])


if __name__ == "__main__":
    unittest.main()
