#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a program executes in its own place (execve) is measured without --follow; what its children execute is not."""
import json
import os
import stat
import struct
import subprocess
import sys
import tempfile
import unittest

STROBE, EXECUTING = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
EXECED, EXITED = "replaced itself by execve", "exited"
NATIVELY = "executed another program (execve), which ran natively: "
# mov edi, 3; mov eax, 231; syscall
TINY, TINY_INSTRUCTIONS = bytes.fromhex("bf03000000 b8e7000000 0f05"), 3


def elf64(code):
    head = b"\x7fELF\2\1\1".ljust(16, b"\0") + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0x400078, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    return head + struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, 120 + len(code), 120 + len(code), 4096) + code


def elf32(code):
    head = b"\x7fELF\1\1\1".ljust(16, b"\0") + struct.pack("<HHIIIIIHHHHHH", 2, 3, 1, 0x8048054, 52, 0, 0, 52, 32, 1, 0, 0, 0)
    return head + struct.pack("<IIIIIIII", 1, 0, 0x8048000, 0x8048000, 84 + len(code), 84 + len(code), 5, 4096) + code


class Executed(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="strobe-executed-")
        self.addCleanup(place.cleanup)
        self.place = place.name
        self.result = os.path.join(self.place, "result.json")
        self.tiny = self.file("tiny", elf64(TINY))

    def file(self, name, content, mode=0o755):
        path = os.path.join(self.place, name)
        with open(path, "wb") as file:
            file.write(content)
        os.chmod(path, mode)
        return path

    def run_strobe(self, *program, code=3, tool="inscount", options=(), text=False):
        given = ["-o", self.result + ".db"] if text else ["-q", "--format", "json", "-o", self.result]
        done = subprocess.run([STROBE, "run", "-t", tool, *given, *options, "--", *program], cwd=self.place, capture_output=True,
                              text=True, timeout=200, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        self.output = done.stdout
        return done.stderr

    def measured(self, *program, **how):
        """The processes, by command, state and instructions."""
        self.assertEqual(self.run_strobe(*program, **how), "")
        with open(self.result, encoding="utf-8") as file:
            self.profile = json.load(file)
        processes = self.profile.get("processes", [])
        self.assertLessEqual(len({p["pid"] for p in processes}), 1)
        return [(os.path.basename(p["command"]), p["state"]) for p in processes]

    def instructions(self):
        return [p["instructions"] for p in self.profile["processes"]]

    def test_a_shell_executes_a_program(self):
        self.assertEqual(self.measured("sh", "-c", f"exec {self.tiny}"), [("sh", EXECED), ("tiny", EXITED)])
        self.assertEqual(self.instructions()[1], TINY_INSTRUCTIONS)
        self.assertEqual(sum(self.instructions()), self.profile["instructions"])
        self.assertEqual(self.profile["notes"], [])

    def test_a_shim(self):
        """As those of pyenv and rbenv: a script that finds the program and executes it by env."""
        self.file("shim", b'#!/bin/sh\nset -e\nexec ./inner "$@"\n')
        self.file("inner", b'#!/usr/bin/env sh\nexec env NAME=VALUE "$@"\n')
        # env executes sh, which reads the script.
        self.assertEqual(self.measured("./shim", self.tiny),
                         [("shim", EXECED), ("env", EXECED), ("sh", EXECED), ("env", EXECED), ("tiny", EXITED)])
        self.assertEqual(self.instructions()[-1], TINY_INSTRUCTIONS)

    def test_many_one_after_the_other_also_from_threads(self):
        for tool in "inscount", "hot", "bbcount":
            with self.subTest(tool):
                self.assertEqual(self.measured(EXECUTING, "chain", "20", "9", code=9, tool=tool),
                                 [("executing", EXECED)] * 20 + [("executing", EXITED)])

    def test_executes_that_fail(self):
        """The program goes on, and can execute another one after that."""
        plain = self.file("plain", b"no program", 0o644)
        text = self.file("text", b"no program")
        self.assertEqual(self.measured(EXECUTING, "try", "/nonexistent", plain, text, code=4), [])
        self.assertEqual(self.output, "No such file or directory\nPermission denied\nExec format error\n")
        self.assertEqual(self.profile["notes"], [])
        whole = self.profile["instructions"]
        self.assertEqual(self.measured(EXECUTING, "try", "/nonexistent", self.tiny), [("executing", EXECED), ("tiny", EXITED)])
        self.assertEqual(self.instructions()[1], TINY_INSTRUCTIONS)
        self.assertLess(self.instructions()[0], whole)

    def test_children_are_not_followed(self):
        said = "2 child processes ran natively and were not measured: --follow measures them, too"
        self.assertEqual(self.measured("sh", "-c", f"{self.tiny}; {self.tiny}; exec {self.tiny}"), [("sh", EXECED), ("tiny", EXITED)])
        self.assertEqual(self.profile["notes"], [said])
        self.assertEqual(self.instructions()[1], TINY_INSTRUCTIONS)

    def test_a_child_of_vfork_is_a_child(self):
        said = "1 child process ran natively and was not measured: --follow measures it, too"
        self.assertEqual(self.measured(EXECUTING, "vfork", "/bin/true", self.tiny), [("executing", EXECED), ("tiny", EXITED)])
        self.assertEqual(self.profile["notes"], [said])
        self.assertEqual(self.measured(EXECUTING, "vfork", "/nonexistent", self.tiny), [("executing", EXECED), ("tiny", EXITED)])

    def test_a_child_that_shares_descriptors(self):
        """Its end does not take away the process' way to strobe."""
        self.assertEqual(self.measured(EXECUTING, "files", self.tiny), [("executing", EXECED), ("tiny", EXITED)])

    def test_a_32_bit_program_runs_natively(self):
        other = self.file("other", elf32(bytes.fromhex("bb03000000 b801000000 cd80")))
        if subprocess.run([other], check=False).returncode != 3:
            self.skipTest("the kernel executes no 32-bit programs")
        self.assertEqual(self.measured("sh", "-c", f"exec {other}"), [])
        self.assertRegex(self.profile["notes"][0], f"^process [0-9]+ {NATIVELY.replace('(', '[(]').replace(')', '[)]')}"
                                                   "it is not a 64-bit x86 program$")

    @unittest.skipUnless(os.getuid() == 0, "makes a set-uid program")
    def test_a_set_uid_program_runs_natively(self):
        """It would lose its privileges under a tracer; one that gains none is measured."""
        other = self.file("other", elf64(TINY))
        os.chmod(other, stat.S_ISUID | 0o755)
        self.assertEqual(self.measured("sh", "-c", f"exec {other}"), [("sh", EXECED), ("other", EXITED)])
        os.chown(other, 65534, 65534)
        os.chmod(other, stat.S_ISUID | 0o755)
        self.assertEqual(self.measured("sh", "-c", f"exec {other}"), [])
        self.assertEqual(len(self.profile["notes"]), 1)
        self.assertTrue(self.profile["notes"][0].endswith(NATIVELY + "it has privileges of its own: set-uid, or file capabilities"))

    def test_the_end_is_that_of_the_last_program(self):
        self.assertEqual(self.measured("sh", "-c", "exec sh -c 'kill -9 $$'", code=137), [("sh", EXECED), ("sh", "ended without notice")])
        self.assertEqual((self.profile["run"]["exit"], self.profile["run"]["signal"]), (137, 9))

    def test_under_a_budget(self):
        for options in ("-b 5% -T 20ms", "-b 5% -T 20ms --budget-share tree", "--unique"):
            with self.subTest(options):
                self.assertEqual(self.measured(EXECUTING, "chain", "6", "9", code=9, options=options.split()),
                                 [("executing", EXECED)] * 6 + [("executing", EXITED)])

    def test_before_a_region(self):
        """It has not begun in any of the programs."""
        said = self.run_strobe("sh", "-c", f"exec {self.tiny}", options=["--delay", "1000s"])
        self.assertEqual(said, "strobe: nothing was measured: the program ended before the delay\n")
        with open(self.result, encoding="utf-8") as file:
            self.assertEqual([p["instructions"] for p in json.load(file)["processes"]], [0, 0])

    def test_in_a_region_of_a_child(self):
        for options in [], ["--for", "1000s"]:
            with self.subTest(options):
                self.run_strobe("sh", "-c", f"({self.tiny}); (exec {self.tiny}); exit 3", options=["--follow", *options])
                with open(self.result, encoding="utf-8") as file:
                    self.assertEqual([p["instructions"] for p in json.load(file)["processes"] if p["command"] == self.tiny],
                                     [TINY_INSTRUCTIONS] * 2)

    def test_calling_contexts(self):
        done = subprocess.run([STROBE, "paths", "-q", "--format", "json", "-o", self.result, "--", EXECUTING, "chain", "2", "9"],
                              capture_output=True, text=True, timeout=200, check=False)
        self.assertEqual((done.returncode, done.stderr), (9, ""))
        with open(self.result, encoding="utf-8") as file:
            self.assertEqual([os.path.basename(p["command"]) for p in json.load(file)["processes"]], ["executing"] * 3)

    def test_the_header_names_the_programs(self):
        said = self.run_strobe("sh", "-c", f"exec env {self.tiny}", text=True)
        self.assertIn("\n  totals of 3 programs that the process executed: sh, env, tiny\n", said)
        said = self.run_strobe(EXECUTING, "chain", "8", "9", code=9, text=True)
        names = ", ".join(["executing"] * 3 + ["..."] + ["executing"] * 3)
        self.assertIn(f"\n  totals of 9 programs that the process executed: {names}\n", said)
        said = self.run_strobe("sh", "-c", f"{self.tiny}; exec {self.tiny}", text=True, options=["--follow"])
        self.assertIn("\n  totals of 2 processes; the first one executed: sh, tiny\n", said)
        shown = subprocess.run([STROBE, "show", "--process", "tiny", self.result + ".db"], capture_output=True, text=True, timeout=60, check=True).stdout
        self.assertRegex(shown, r"\n  \d of \d programs that 2 processes have executed\n")
        said = self.run_strobe("sh", "-c", f"{self.tiny}; exit 3", text=True, options=["--follow"])
        self.assertIn("\n  totals of 2 processes\n", said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
