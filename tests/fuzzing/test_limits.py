#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits of strobe fuzz on time, executions and sizes, and why it cannot execute a program: test_limits.py STROBE LINEAR."""
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

STROBE, LINEAR = map(os.path.abspath, sys.argv[1:3])
del sys.argv[1:3]


class Limits(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="strobe-limits-")
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)
        (self.place / "seed").write_text("a few words\n")

    def fuzz(self, program, **more):
        done = subprocess.run([STROBE, "fuzz", "-q", "-s", "seed", "--executions", "5", "--judge", "1ms", "-o", "out", "--", program],
                              cwd=self.place, capture_output=True, text=True, timeout=120, **more)
        self.assertEqual(done.returncode, 125)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    def test_program_that_executes_another(self):
        """One note names the case; a child that does so is no such case."""
        for fresh in [], ["--fresh"]:
            for program, said in ("exec cat", "strobe: with seed 1, sh executes another program, which is not measured; "
                                  "to test that program, give its name instead of sh\n"), ("cat; true", ""):
                with self.subTest(fresh=fresh, program=program):
                    (self.place / "one").write_text("hello\n")
                    done = subprocess.run([STROBE, "fuzz", "-q", *fresh, "-s", "one", "--executions", "5", "--judge", "1ms", "-o", "executing", "--",
                                           "sh", "-c", program], cwd=self.place, capture_output=True, text=True, timeout=120, check=False)
                    self.assertEqual((done.returncode, done.stderr), (0, said))
                    shutil.rmtree(self.place / "executing")

    def campaign(self, *words):
        """The number of executions of the search, and the sizes of the inputs that were kept, by a program whose work is that of reading."""
        (self.place / "letters.c").write_text("#include <stdio.h>\nint main(void) { int n = 0, c; while ((c = getchar()) != EOF) n += c == 'e'; return n > 99999; }\n")
        subprocess.run(["gcc", "-O1", "-o", "letters", "letters.c"], cwd=self.place, check=True)
        done = subprocess.run([STROBE, "fuzz", "-q", "-s", "seed", "--judge", "1ms", "--rules", "double-line", "--rate", "1", "-o", "out", *words, "--", "./letters"],
                              cwd=self.place, capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        sizes = [path.stat().st_size for path in (self.place / "out" / "results").iterdir()]
        executions = len((self.place / "out" / "journal").read_text().splitlines()) - 1
        shutil.rmtree(self.place / "out")
        return executions, sizes

    def test_time(self):
        """The seed is executed twice, which takes longer than the limit: nothing follows."""
        self.assertEqual(self.campaign("-t", "1us")[0], 2)

    def test_executions(self):
        for n in 3, 50:
            self.assertEqual(self.campaign("-t", "600s", "--executions", str(n))[0], n)

    def test_sizes(self):
        """The line of 12 bytes is doubled again and again; what is too long is cut."""
        for words, most in ((("-N", "20"), 20), (("--size-ratio", "1.5"), 18), (("--size-ratio", "7.8"), 93)):
            _, sizes = self.campaign("-t", "600s", "--executions", "40", *words)
            self.assertEqual(max(sizes), most, words)
        self.campaign("-t", "600s", "--executions", "5", "--size-ratio", "1e300")
        _, sizes = self.campaign("-t", "600s", "--executions", "40", "-N", "12")
        self.assertEqual(sizes, [])

    def test_a_seed_as_large_as_the_limit(self):
        """Rules that keep the size still change it."""
        for words in ("-N", "12"), ("--size-ratio", "1"):
            self.assertEqual(self.campaign("-t", "600s", "--executions", "20", "--rules", "flip-bit", *words)[0], 20)

    def test_too_few_descriptors(self):
        error = self.fuzz(LINEAR, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40)))
        self.assertIn("Too many open files; strobe fuzz needs 200 file descriptors (ulimit -n)", error)

    def test_a_program_that_kills_its_parent(self):
        (self.place / "p.c").write_text("#include <signal.h>\n#include <unistd.h>\nint main(void) { return kill(getppid(), SIGKILL); }\n")
        subprocess.run(["gcc", "-O1", "-o", "p", "p.c"], cwd=self.place, check=True)
        self.assertIn("was ended before it wrote a result: use a program that sends no signals to its parent", self.fuzz("./p"))

    def test_interrupted_in_a_seed(self):
        """The exit code says which signal it was, as later in the search."""
        (self.place / "waits.c").write_text('#include <stdio.h>\n#include <unistd.h>\nint main(void) { fclose(fopen("began", "w")); pause(); }\n')
        subprocess.run(["gcc", "-O1", "-o", "waits", "waits.c"], cwd=self.place, check=True)
        with subprocess.Popen([STROBE, "fuzz", "-q", "-s", "seed", "--hang", "100s", "-o", "out", "--", "./waits"], cwd=self.place, stderr=subprocess.PIPE, text=True,
                              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler)) as strobe:
            while not (self.place / "began").exists():
                self.assertIsNone(strobe.poll())
                time.sleep(0.01)
            strobe.send_signal(signal.SIGINT)
            self.assertEqual((strobe.communicate(timeout=100)[1], strobe.returncode), ("strobe: interrupted before all seeds were executed\n", 128 + signal.SIGINT))


if __name__ == "__main__":
    unittest.main()
