#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of strobe annotate on running processes, for a limited time, and on children.

usage: test_running.py STROBE SERVES

SERVES is programs/serves.c: serve(n) calls answer(n) three times, and each allocates 8 n bytes."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import records

STROBE, SERVES = [os.path.abspath(name) for name in sys.argv[1:3]]
METRICS = "time,allocated,callees"


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


class Running(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-running-")
        self.addCleanup(folder.cleanup)
        self.at = folder.name

    def strobe(self, *words):
        return subprocess.run([STROBE, "annotate", *map(str, words)], capture_output=True, text=True, timeout=120, cwd=self.at, check=False)

    def read(self, name="r.txt"):
        return records.read(os.path.join(self.at, name))

    def check(self, functions, sizes):
        """Each call has the costs that its argument says."""
        for n, allocated, calls, inner in functions["serve"].columns("n", "allocated", "calls_of_answer", "allocated_in_answer"):
            self.assertEqual((allocated, calls, inner), (24 * n, 3, 24 * n))
        for n, allocated in functions["answer"].columns("n", "allocated"):
            self.assertEqual(allocated, 8 * n)
        self.assertLessEqual({n for n, in functions["serve"].columns("n")}, sizes)

    def error(self, code, text, *words):
        done = self.strobe(*words)
        self.assertEqual((done.returncode, done.stderr, done.stdout), (code, f"strobe: {text}\n", ""))

    def serving(self):
        program = subprocess.Popen([SERVES, "forever"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        self.assertEqual(program.stdout.readline(), "ready\n")
        return program


class Attaching(Running):
    def record(self, pid, *words):
        """Records the calls of a process. On a busy machine it may make none in half a second."""
        for seconds in "0.5s", "5s", "30s":
            done = self.strobe("--pid", pid, "--for", seconds, "-o", "r.txt", *words)
            if "ptrace" in done.stderr:
                self.skipTest(done.stderr)
            if not done.stderr.startswith("strobe: nothing was recorded"):
                break
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def test_leaves_nothing(self):
        """A process with threads that never stop calling is recorded three times: its code and mappings are what they were."""
        program = self.serving()
        # The C library maps memory for the threads when they first allocate.
        self.assertEqual(self.record(program.pid, "-q", "-m", METRICS, "-F", "serve,answer"), "")
        before, _ = code_of(program.pid)
        for _ in range(3):
            self.assertEqual(self.record(program.pid, "-q", "-m", METRICS, "-F", "serve,answer"), "")
            functions, notes = self.read()
            # Threads may be in each other's way; a call that is not kept then is no error.
            self.assertEqual([note for note in notes if "another record was being written" not in note], [])
            self.assertGreater(len(functions["serve"].rows), 0)
            self.check(functions, set(range(1, 41)))
            self.assertEqual(code_of(program.pid)[0], before)
        program.send_signal(signal.SIGUSR1)
        self.assertEqual(program.stdout.readline(), "right\n")
        self.assertEqual(program.wait(), 0)
        native = self.serving()  # and the first time has changed nothing either
        self.assertEqual(len(code_of(native.pid)[0]), len(before))

    def test_code_after_the_first_time(self):
        program = self.serving()
        before, _ = code_of(program.pid)
        self.assertEqual(self.record(program.pid, "-q", "-F", "serve,answer"), "")
        self.assertEqual(code_of(program.pid)[0], before)

    def test_origin(self):
        program = self.serving()
        self.assertRegex(self.record(program.pid, "-F", "serve"), r"^strobe: wrote r.txt: [\d,]+ of [\d,]+ calls of 1 function\n$")
        with open(os.path.join(self.at, "r.txt"), encoding="utf-8") as file:
            self.assertEqual(file.read().splitlines()[:2], ["#strobe-records,1", f"#program,{SERVES},forever"])

    def test_function_that_is_not_called(self):
        program = self.serving()
        self.record(program.pid, "-F", "serve")  # or skips
        os.unlink(os.path.join(self.at, "r.txt"))
        self.error(125, "nothing was recorded, because the process did not call serve_range: record it for longer, with --for",
                   "-p", program.pid, "--for", "0.5s", "-F", "serve_range", "-o", "r.txt")
        self.assertFalse(os.path.exists(os.path.join(self.at, "r.txt")))

    def test_usage(self):
        self.error(2, "'x' is not a process number; give a PID, such as 4711", "--pid", "x", "-o", "r.txt")
        self.error(2, "--pid needs a file for the records: strobe annotate --pid 1 -o RECORDS", "--pid", 1)
        self.error(2, "--pid records a running process: leave out 'ls'", "--pid", 1, "-o", "r.txt", "--", "ls")
        self.error(2, "--pid records a running process: leave out 'a.txt'", "--pid", 1, "-o", "r.txt", "a.txt")
        self.error(2, "--features takes a program: give its name instead of --pid", "--pid", 1, "--features", "-o", "r.txt")
        self.error(2, "--follow needs a program that strobe starts: the children of an attached process run natively",
                   "--pid", 1, "--follow", "-o", "r.txt")
        self.error(2, "--for is for recording: strobe annotate -o FILE -- PROGRAM", "--for", "1s", "a.txt")


class Limited(Running):
    def test_time_is_over(self):
        """After the time the program goes on without probes, and strobe with it."""
        with subprocess.Popen([STROBE, "annotate", "-q", "--for", "2s", "-m", METRICS, "-F", "serve,answer", "-o", "r.txt", "--", SERVES, "forever"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.at) as strobe:
            self.assertEqual(strobe.stdout.readline(), "ready\n")
            with self.assertRaises(subprocess.TimeoutExpired):
                strobe.wait(3)
            child = None
            while not child:
                with open(f"/proc/{strobe.pid}/task/{strobe.pid}/children", encoding="utf-8") as children:
                    child = children.read().split()
            os.kill(int(child[0]), signal.SIGUSR1)
            printed, said = strobe.communicate(timeout=60)
        self.assertEqual((strobe.returncode, printed, said), (0, "right\n", ""))
        functions, _ = self.read()
        self.check(functions, set(range(1, 41)))


class Killed(Running):
    """Strobe gets SIGKILL: the file has the calls until about a second before, and says so."""

    def kill_when_written(self, mode, *words):
        """Returns how many seconds of the run the file has."""
        strobe = subprocess.Popen([STROBE, "annotate", "-q", *words, "-o", "r.txt", "--", SERVES, mode], stdout=subprocess.PIPE, cwd=self.at)
        self.addCleanup(strobe.stdout.close)
        self.addCleanup(strobe.wait)
        self.addCleanup(strobe.kill)
        self.assertEqual(strobe.stdout.readline(), b"ready\n")
        with open(f"/proc/{strobe.pid}/task/{strobe.pid}/children", encoding="utf-8") as children:
            self.addCleanup(os.kill, int(children.read().split()[0]), signal.SIGKILL)
        end = time.monotonic() + 60
        while not os.path.exists(os.path.join(self.at, "r.txt")) and time.monotonic() < end:
            time.sleep(0.05)
        strobe.kill()
        strobe.wait()
        with open(os.path.join(self.at, "r.txt"), encoding="utf-8") as file:
            seconds, = (float(line.split(",")[1]) for line in file if line.startswith("#unfinished"))
        self.assertGreaterEqual(seconds, 1)
        return seconds

    def kill(self, *words):
        seconds = self.kill_when_written("forever", "-F", "serve,answer", "-k", "200", *words)
        done = self.strobe("-F", "serve", "r.txt")
        self.assertEqual((done.returncode, done.stderr.splitlines()[0]), (0, f"strobe: a file has only the calls of the first {seconds:.0f} s, because its recording was killed or has not ended; "
                                                                             "the analysis uses these calls"))
        self.assertNotIn("recording was killed", self.strobe("-q", "-F", "serve", "r.txt").stderr)
        return self.read()[0]

    def test_probes(self):
        functions = self.kill("-m", METRICS)
        self.check(functions, set(range(1, 41)))
        for f in functions.values():
            calls, kept, _ = f.calls
            self.assertEqual(len(f.rows), kept)
            self.assertLessEqual(kept, min(calls, 200))
            self.assertGreater(kept, 0)

    def test_engine(self):
        serve = self.kill("--branches", "-m", "instructions")["serve"]
        self.assertEqual(len(serve.rows), serve.calls[1])
        for branches in serve.outcomes:
            self.assertEqual(branches, [[(1, 2), (0, 1)]])

    def test_last_call(self):
        """The only call returns after the first attempt to write the file: it is written although no other call begins."""
        self.kill_when_written("late", "-F", "late")
        late = self.read()[0]["late"]
        self.assertEqual((late.calls, late.columns("n")), ((1, 1, 0), [(7,)]))

    def test_end(self):
        """A recording that ends replaces such a file by one that does not say so."""
        self.strobe("-q", "--follow", "-F", "serve", "-k", "50", "-o", "r.txt", "--", "sh", "-c", f"timeout -s KILL 3 {SERVES} forever; true")
        with open(os.path.join(self.at, "r.txt"), encoding="utf-8") as file:
            self.assertNotIn("#unfinished", file.read())


class Following(Running):
    def test_children(self):
        for _ in range(3):
            done = self.strobe("-q", "--follow", "-m", METRICS, "-F", "serve,answer", "-o", "r.txt", "--", SERVES, "children")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "right\n", ""))
            done = self.strobe("--format", "json", "r.txt")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            with open(os.path.join(self.at, "r.txt"), encoding="utf-8") as file:
                lines = [line.strip().split(",") for line in file if line[0] != "#" or line.startswith("#function") or line.startswith("#calls")]
            names = {line[1]: line[2] for line in lines if line[0] == "#function"}
            self.assertEqual(sorted(names.values()), ["answer", "answer", "serve", "serve"])
            serves = [line for line in lines if names.get(line[0]) == "serve"]
            self.assertEqual(sorted(int(line[9]) for line in serves), list(range(1, 31)))
            self.assertEqual({(int(line[2]), int(line[3])) for line in serves}, {(24 * n, 3) for n in range(1, 31)})
            # The fork shares the records of its parent; the new program has its own.
            self.assertEqual(sorted(int(line[2]) for line in lines if line[0] == "#calls"), [10, 20, 30, 60])

    def test_without(self):
        done = self.strobe("-q", "-m", METRICS, "-F", "serve,answer", "-o", "r.txt", "--", SERVES, "children")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "right\n", ""))
        functions, _ = self.read()
        self.assertEqual(functions["serve"].columns("n"), [(n,) for n in range(1, 11)])
        self.check(functions, set(range(1, 11)))


class Engine(Running):
    """The same with the engine, which records branches and instructions. In serve, one branch jumps back twice and then not."""

    def check_serve(self, sizes, name="r.txt"):
        functions, notes = self.read(name)
        f = functions["serve"]
        self.assertEqual(notes, [])
        self.assertEqual(f.metrics, [("instructions", "")])
        self.assertGreater(len(f.rows), 0)
        self.assertLessEqual({n for n, in f.columns("n")}, sizes)
        self.assertEqual(len(f.branches), 1)
        self.assertEqual(len(f.outcomes), len(f.rows))
        for branches in f.outcomes:
            self.assertEqual(branches, [[(1, 2), (0, 1)]])
        return f

    def test_attach(self):
        """A process with threads runs under the engine for a time, and then goes on natively."""
        program = self.serving()
        for _ in range(2):
            for seconds in "0.5s", "5s", "30s":
                done = self.strobe("--branches", "--pid", program.pid, "--for", seconds, "-F", "serve", "-o", "r.txt")
                if done.returncode and not done.stderr.startswith("strobe: nothing was recorded"):
                    self.skipTest(done.stderr)
                if not done.returncode:
                    break
            self.assertRegex(done.stderr, r"^strobe: wrote r.txt: [\d,]+ of [\d,]+ calls of 1 function\n$")
            self.check_serve(set(range(1, 41)))
        done = self.strobe("-m", "instructions", "--pid", program.pid, "--for", "0.5s", "-F", "serve_range", "-o", "none.txt")
        self.assertEqual((done.returncode, done.stderr), (125, "strobe: nothing was recorded, because the process did not call serve_range: "
                                                               "record it for longer, with --for\n"))
        program.send_signal(signal.SIGUSR1)
        self.assertEqual(program.stdout.readline(), "right\n")
        self.assertEqual(program.wait(), 0)

    def limited(self, seconds):
        """Records the program for a time, and ends it when it has gone on without recording. Returns the exit code and both outputs."""
        with subprocess.Popen([STROBE, "annotate", "-q", "--branches", "--for", f"{seconds}s", "-F", "serve", "-o", "r.txt", "--", SERVES, "forever"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.at) as strobe:
            self.assertEqual(strobe.stdout.readline(), "ready\n")
            with self.assertRaises(subprocess.TimeoutExpired):
                strobe.wait(seconds + 1)
            with open(f"/proc/{strobe.pid}/task/{strobe.pid}/children", encoding="utf-8") as children:
                child = int(children.read().split()[0])
            os.kill(child, signal.SIGUSR1)
            printed, said = strobe.communicate(timeout=60)
        return strobe.returncode, printed, said

    def test_time_is_over(self):
        for seconds in 1, 5, 30:  # on a busy machine the program may not be there in a second
            done = self.limited(seconds)
            if not done[2].startswith("strobe: nothing was recorded"):
                break
        self.assertEqual(done, (0, "right\n", ""))
        self.check_serve(set(range(1, 41)))

    def test_children(self):
        """The parent, its child and the program that this becomes have their own functions, and an analysis takes them together."""
        done = self.strobe("-q", "--branches", "--follow", "-F", "serve", "-o", "r.txt", "--", SERVES, "children")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "right\n", ""))
        with open(os.path.join(self.at, "r.txt"), encoding="utf-8") as file:
            lines = [line.strip().split(",") for line in file]
        self.assertEqual([line[1:3] for line in lines if line[0] == "#function"], [[str(i), "serve"] for i in (1, 2, 3)])
        self.assertEqual([line[1:] for line in lines if line[0] == "#calls"], [[str(i), "10", "10", "0"] for i in (1, 2, 3)])
        rows = [line for line in lines if line[0].isdigit()]
        self.assertEqual(sorted(int(line[2]) for line in rows), list(range(1, 31)))
        self.assertEqual({tuple(line[-3:]) for line in rows}, {("1*2", "0", "#")})
        found = json.loads(self.strobe("--format", "json", "r.txt").stdout)["annotations"]
        self.assertEqual([(a["function"], a["records"]) for a in found], [("serve", 30)])

    def test_first_process(self):
        done = self.strobe("-q", "--branches", "-F", "serve", "-o", "r.txt", "--", SERVES, "children")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "right\n", ""))
        self.assertEqual(self.check_serve(set(range(1, 11))).columns("n"), [(n,) for n in range(1, 11)])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
