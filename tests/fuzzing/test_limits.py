#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits of strobe fuzz on time, executions and sizes, and why it cannot execute a program: test_limits.py STROBE LINEAR."""
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

    def campaign(self, *words, said=""):
        """The number of executions of the search, and the sizes of the inputs that were kept, by a program whose work is that of reading."""
        (self.place / "letters.c").write_text("#include <stdio.h>\nint main(void) { int n = 0, c; while ((c = getchar()) != EOF) n += c == 'e'; return n > 99999; }\n")
        subprocess.run(["gcc", "-O1", "-o", "letters", "letters.c"], cwd=self.place, check=True)
        done = subprocess.run([STROBE, "fuzz", "-s", "seed", "--judge", "1ms", "--rules", "double-line", "--rate", "1", "-o", "out", *words, "--", "./letters"],
                              cwd=self.place, capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(said, done.stdout)
        sizes = [path.stat().st_size for path in (self.place / "out" / "results").iterdir()]
        executions = len((self.place / "out" / "journal").read_text().splitlines()) - 1
        shutil.rmtree(self.place / "out")
        return executions, sizes

    def test_time(self):
        """The seed is executed twice, which takes longer than the limit: nothing follows."""
        self.assertEqual(self.campaign("-t", "1us")[0], 2)

    def test_time_with_hangs(self):
        """Executions that are under way when the time is over are ended, and not executed one after the other until --hang."""
        (self.place / "stops.c").write_text("#include <stdio.h>\n#include <unistd.h>\n"
                                            "int main(void) { int n = 0; while (getchar() != EOF) n++; return n > 12 ? pause() : 0; }\n")
        subprocess.run(["gcc", "-O1", "-o", "stops", "stops.c"], cwd=self.place, check=True)
        fuzz = [STROBE, "fuzz", "-s", "seed", "-j", "2", "--hang", "3000s", "--judge", "1us", "--rules", "double-line", "-N", "100", "-o", "out"]
        for more in [], ["--resume"]:
            done = subprocess.run([*fuzz, "-t", "1s", *more, "--", "./stops"], cwd=self.place, capture_output=True, text=True, timeout=1000, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            # Lines of 22, 44, 88 and 99 bytes, and a newline.
            self.assertIn("note: the time was over before 4 inputs were executed: a longer --time, or --resume, executes them\n", done.stdout)
            result = json.loads((self.place / "out/fuzz.json").read_text())
            self.assertEqual((result["executions"], result["hangs"], result["not_executed"], result["exhausted"]), (2, 0, 4, False))
        done = subprocess.run([*fuzz, "-t", "600s", "--resume", "--hang", "1s", "--", "./stops"], cwd=self.place, capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual((done.returncode, done.stderr), (125, "strobe: cannot resume the campaign of out/journal: --hang was 3000 and is now 1; use the same as before, "
                                                          "or name another folder with -o\n"))

    def test_executions(self):
        for n in 3, 50:
            self.assertEqual(self.campaign("-t", "600s", "--executions", str(n), "--rules", "change-character")[0], n)

    def test_exhausted(self):
        """The line of 11 bytes and a newline is doubled until it is cut: each size is executed once, and the seed twice."""
        for limit in 4000, 5000, 12288:
            executions, sizes = self.campaign("-t", "600s", "--executions", "500", "-N", str(limit), said="note: the search ended early, because the rules make no further inputs: ")
            self.assertEqual(sorted(sizes), [size for size in ((11 << k) + 1 for k in range(1, 11)) if size < limit] + [limit])
            self.assertEqual(executions, 2 + len(sizes))

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
