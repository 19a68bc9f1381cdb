#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`strobe trace --engine probe` and the memory that it takes of a program.

usage: test_leftovers.py STROBE CALLS FORKS MEMORY

CALLS, FORKS and MEMORY are the programs of programs/calls.c, forks.c and memory.c."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from random import Random

STROBE, CALLS, FORKS, MEMORY = [os.path.abspath(name) for name in sys.argv[1:5]]


class Leftovers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-leftovers-")
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "trace.json"

    def calls(self):
        return {f["name"]: f["calls"] for f in json.loads(self.file.read_text())["functions"]}


class Memory(Leftovers):
    """What a program may do with its memory, and 20 threads, of which the runtime has memory for four at the beginning."""

    CALLS = {"main": 1, "make_threads": 1, "t_thread": 20, "t_fib": 20 * 177}

    def trace(self, what, *options):
        done = subprocess.run([STROBE, "trace", "-q", "--engine", "probe", *options, "-o", self.file, "--", MEMORY, what], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=120, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        trace = json.loads(self.file.read_text())
        self.assertEqual(trace["lost"]["records"], 0)
        calls = self.calls()
        self.assertEqual({name: calls.get(name) for name in self.CALLS}, self.CALLS)
        return done.stdout.splitlines()

    def test_all_is_locked(self):
        """mlockall makes memory of all that is mapped: it was 13 GiB."""
        native = subprocess.run([MEMORY, "locks"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
        if native[0] != "locked":
            self.skipTest("mlockall is not permitted here")
        for options, most in ([], 1000), (["--events"], 1200):
            said, mib, done = self.trace("locks", *options)
            self.assertEqual((said, done), ("locked", "done"))
            self.assertLess(int(mib) - int(native[1]), most)

    def test_address_space_is_limited(self):
        """The program sets a limit of 1 GiB itself: at most 300 MiB of that are missing, where it had nothing left before."""
        native = subprocess.run([MEMORY, "limits"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
        for options, missing in ([], 300), (["--events"], 500):
            pieces, done = self.trace("limits", *options)
            self.assertEqual(done, "done")
            self.assertGreaterEqual(int(pieces), int(native[0]) - missing // 16)


def code_of(pid):
    """All bytes of code of files that the process has mapped, and the same bytes of the files."""
    code, files = b"", b""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            addresses, access, offset, _, _, *name = line.split()
            if "x" in access and name and name[0].startswith("/") and os.path.exists(name[0]):
                begin, end = (int(word, 16) for word in addresses.split("-"))
                memory.seek(begin)
                code += memory.read(end - begin)
                with open(name[0], "rb") as file:
                    file.seek(int(offset, 16))
                    files += file.read(end - begin).ljust(end - begin, b"\0")
    return code, files


def mappings_of(pid):
    return len(Path(f"/proc/{pid}/maps").read_text().splitlines())


class Killed(Leftovers):
    """Strobe is killed while its probes are in a process."""

    def attach_and_kill(self, pid, *options):
        """strobe trace --pid, which is killed as soon as its probes are there. Its process, and its number."""
        with subprocess.Popen([STROBE, "trace", "-q", "--engine", "probe", *options, "--pid", str(pid), "-o", self.file], stderr=subprocess.DEVNULL) as strobe:
            while "strobe-probes" not in Path(f"/proc/{pid}/maps").read_text() or len({*code_of(pid)}) == 1:
                self.assertIsNone(strobe.poll())
                time.sleep(0.01)
            while Path(f"/proc/{pid}/status").read_text().split("TracerPid:")[1].split()[0] != "0":
                time.sleep(0.01)
            strobe.kill()
        return strobe.pid

    def remove(self, pid, *options):
        done = subprocess.run([STROBE, "trace", "--remove", *options, "--pid", str(pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=60, check=False)
        return done.returncode, done.stdout, done.stderr

    def assertOwn(self, pid, mappings):
        """The code is that of the files, and no memory of strobe's is left."""
        code, files = code_of(pid)
        self.assertEqual(code, files)
        self.assertEqual(mappings_of(pid), mappings)

    def running(self):
        program = subprocess.Popen([CALLS, "forever"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        self.assertEqual(program.stdout.readline(), "ready\n")
        return program

    def end(self, program):
        """Its results are right."""
        program.send_signal(signal.SIGUSR1)
        self.assertEqual(program.stdout.readline(), "right\n")
        self.assertEqual(program.wait(), 0)

    def test_next_trace(self):
        """The next strobe removes them, and traces; twice, once with --all and --events."""
        program = self.running()
        before = mappings_of(program.pid)
        self.assertOwn(program.pid, before)
        for options in [], ["--all", "--events"]:
            self.attach_and_kill(program.pid, *options)
            done = subprocess.run([STROBE, "trace", "-q", "--engine", "probe", "--for", "0.2s", "--pid", str(program.pid), "-o", self.file],
                                  stderr=subprocess.PIPE, text=True, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            trace = json.loads(self.file.read_text())
            self.assertEqual([note for note in trace["notes"] if "killed" in note],
                             ["the process had probes of a killed strobe, which were removed before the trace began"])
            self.assertEqual(trace["engine"], "probe")
            self.assertOwn(program.pid, before)
        self.end(program)

    def test_remove(self):
        program = self.running()
        before = mappings_of(program.pid)
        self.attach_and_kill(program.pid)
        code, says, wrong = self.remove(program.pid)
        self.assertEqual((code, wrong), (0, ""))
        self.assertRegex(says, rf"\Aremoved the probes that strobe had left in process {program.pid} when it was killed: [1-9]\d* places of its code\n\Z")
        self.assertOwn(program.pid, before)
        self.assertEqual(self.remove(program.pid), (0, f"there are no probes in process {program.pid}\n", ""))
        self.assertEqual(self.remove(program.pid, "-q"), (0, "", ""))
        self.end(program)

    def test_while_it_attaches(self):
        """Strobe is killed before all probes are there, with all threads stopped: they go on, and find the code whole."""
        for _ in range(8):
            program = self.running()
            with subprocess.Popen([STROBE, "trace", "-q", "--engine", "probe", "--all", "--pid", str(program.pid), "-o", self.file]) as strobe:
                while "strobe-probes" not in Path(f"/proc/{program.pid}/maps").read_text():
                    self.assertIsNone(strobe.poll())
                strobe.kill()
            self.assertEqual(self.remove(program.pid)[::2], (0, ""))
            self.assertEqual(*code_of(program.pid))
            self.end(program)

    def test_program_that_has_just_started(self):
        """It has no thread pointer yet when it is attached."""
        for _ in range(8):
            with subprocess.Popen([CALLS, "forever"], stdout=subprocess.PIPE, text=True) as program:
                done = subprocess.run([STROBE, "trace", "-q", "--engine", "probe", "--for", "0.05s", "--pid", str(program.pid), "-o", self.file],
                                      stderr=subprocess.PIPE, text=True, timeout=60, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(program.stdout.readline(), "ready\n")
                self.end(program)

    def test_started_program(self):
        """A program that strobe has started, and that has loaded libraries and made a child by then: both get their code back."""
        with subprocess.Popen([STROBE, "trace", "-q", "--engine", "probe", "--all", "-o", self.file, "--", FORKS, "forever"],
                              stdout=subprocess.PIPE, text=True) as strobe:
            processes = [int(strobe.stdout.readline()) for _ in range(2)]
            strobe.kill()
            strobe.wait()
            for process in processes:
                code, files = code_of(process)
                self.assertNotEqual(code, files)
                self.assertEqual(self.remove(process)[0], 0)
                code, files = code_of(process)
                self.assertEqual(code, files)
                self.assertNotIn("strobe-probes", Path(f"/proc/{process}/maps").read_text())
            for process in processes:
                os.kill(process, signal.SIGUSR1)
            self.assertEqual([strobe.stdout.readline() for _ in range(4)], ["right\n", "done\n"] * 2)

    def test_owner_lives(self):
        """Probes that are in use stay."""
        program = self.running()
        with subprocess.Popen([STROBE, "trace", "-q", "--engine", "probe", "--pid", str(program.pid), "-o", self.file]) as strobe:
            while len({*code_of(program.pid)}) == 1:
                time.sleep(0.01)
            said = f"strobe: process {program.pid} has probes of a running strobe, process {strobe.pid}: end that one first\n"
            while Path(f"/proc/{program.pid}/status").read_text().split("TracerPid:")[1].split()[0] != "0":
                time.sleep(0.01)
            self.assertEqual(self.remove(program.pid), (125, "", said))
            self.assertNotEqual(*code_of(program.pid))
            strobe.send_signal(signal.SIGINT)
        self.assertEqual(*code_of(program.pid))
        self.end(program)

    def area_of(self, pid):
        line = next(line for line in Path(f"/proc/{pid}/maps").read_text().splitlines() if "strobe-probes" in line)
        return int(line.split("-")[0], 16)

    def change(self, pid, at, new):
        with open(f"/proc/{pid}/mem", "r+b", 0) as memory:
            memory.seek(at)
            was = memory.read(len(new))
            memory.seek(at)
            memory.write(new)
        return was

    def test_another_version(self):
        program = self.running()
        before = mappings_of(program.pid)
        self.attach_and_kill(program.pid)
        was = self.change(program.pid, self.area_of(program.pid), b"\xff\xff\xff\xff")
        said = f"strobe: process {program.pid} has probes of another version of strobe: use that version, or restart the program\n"
        self.assertEqual(self.remove(program.pid), (125, "", said))
        self.change(program.pid, self.area_of(program.pid), was)
        self.assertEqual(self.remove(program.pid)[0], 0)
        self.assertOwn(program.pid, before)
        self.end(program)

    def test_new_area(self):
        """Strobe was killed when the area was mapped, and nothing was written yet."""
        program = self.running()
        self.attach_and_kill(program.pid)
        area = self.area_of(program.pid)
        was = self.change(program.pid, area, bytes(4))
        self.assertEqual(self.remove(program.pid), (0, f"there are no probes in process {program.pid}\n", ""))
        self.assertNotIn("strobe-probes", Path(f"/proc/{program.pid}/maps").read_text())
        self.assertNotEqual(was, bytes(4))

    def test_damaged(self):
        """If the program has overwritten the lists, strobe does not crash, and writes to no other process."""
        random = Random(7)
        for _ in range(3):
            program = self.running()
            self.attach_and_kill(program.pid)
            area = self.area_of(program.pid)
            for _ in range(3):
                self.change(program.pid, area + random.randrange(4, 256), random.randbytes(random.choice([1, 4, 8])))
            code, says, wrong = self.remove(program.pid)
            self.assertIn(code, (0, 125, 126, 127), wrong)  # the last two: the program has not survived it
            self.assertEqual((says + wrong).count("\n"), 1)
            program.kill()

    def test_bad_input(self):
        for options, said in (["--remove"], "--remove removes probes from a running process: add --pid PID"), \
                             (["--remove", "--pid", "1", "--all"], "--remove traces nothing: leave out --all, or --remove, which is not needed before a trace"), \
                             (["--remove", "--pid", "1", "--", "true"], "--remove applies to a running process: leave out the program 'true'"):
            done = subprocess.run([STROBE, "trace", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (125, "", f"strobe: {said}\n"))
        code, _, wrong = self.remove(999999999)
        self.assertEqual((code, re.sub(r"\d+", "N", wrong)), (127, "strobe: there is no process N\n"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
