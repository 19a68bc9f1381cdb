#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The region of interest, and alloc, on a program of which enough is known: test_regions.py STROBE PROGRAM."""
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

STROBE, PROGRAM = (os.path.abspath(path) for path in sys.argv[1:3])


SHIFTED = """
#include <stdio.h>
__attribute__((noipa)) int serve(int x) { return 2 * x; }
int main(void) { int s = 0; for (int i = 0; i < 1000; i++) s += serve(i); puts(s == 999000 ? "done" : "wrong"); return 0; }
"""


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-regions-")
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "result.json"

    def strobe(self, *arguments, program=(PROGRAM,), code=0):
        line = [STROBE, "run", "-q", "--format", "json", "-o", str(self.file), *arguments, "--", *program]
        done = subprocess.run(line, capture_output=True, text=True, timeout=120)
        self.assertEqual((done.stdout, done.returncode), ("done\n", code), done.stderr)
        self.said = done.stderr
        return json.loads(self.file.read_text())

    def count(self, *arguments):
        return self.strobe("-t", "inscount", *arguments).get("instructions", 0)  # none: no code was measured


KILLED = """
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((noipa)) static int serve(int x) { return 2 * x; }
static int (*volatile way)(int) = serve;
int main(int n, char **words) { for (int i = 0; i < 1000; i++) way(n); kill(getpid(), atoi(words[1])); pause(); }
"""


class Killed(Case):
    """What a tool has yet to look at when a signal ends the program: looked at, or said to be lost."""

    def test_by_signals(self):
        source, program = self.file.with_name("killed.c"), self.file.with_name("killed")
        source.write_text(KILLED)
        subprocess.run(["gcc", "-O1", "-o", program, source], check=True)
        for signo in (signal.SIGTERM, signal.SIGINT, signal.SIGPIPE, signal.SIGRTMIN, signal.SIGKILL):
            line = [STROBE, "run", "-q", "--format", "json", "-o", str(self.file), "-t", "calls", "--", program, str(int(signo))]
            self.assertEqual(subprocess.run(line, timeout=60).returncode, 128 + signo)
            result = json.loads(self.file.read_text())
            counts = [row["count"] for row in result["pairs"] if row["callee"] == "serve"]
            lost = any("ended suddenly" in note for note in result["notes"])
            self.assertEqual((counts, lost), ([], True) if signo == signal.SIGKILL else ([1000], False), signo)


class Region(Case):
    def test_halves_are_the_whole(self):
        whole = self.count("--images", "regions")
        first = self.count("--images", "regions", "--stop-at", "border")
        second = self.count("--images", "regions", "--start-at", "border")
        self.assertEqual(first + second, whole)
        self.assertGreater(second, 0)

    def test_between_the_calls(self):
        once = self.count("--funcs", "work")
        loop = (once - 5 * self.overhead()) // 152100
        between = self.count("--region", "--funcs", "work")
        self.assertEqual(between, 2 * 1000 * loop + 2 * self.overhead())

    def overhead(self):
        """Instructions of a call of work() outside its loop: five calls make 152,100 rounds in all, of less than 16 each."""
        return self.count("--funcs", "work") % 152100 // 5

    def test_one_function_for_two_purposes(self):
        self.assertEqual(self.count("--funcs", "border"), self.count("--funcs", "border", "--start-at", "border"))
        self.assertGreater(self.count("--funcs", "border"), 0)

    def test_functions_of_an_image(self):
        """Both limits at once: what is in both."""
        self.assertEqual(self.count("--funcs", "work", "--images", "regions"), self.count("--funcs", "work"))
        self.strobe("-t", "inscount", "--funcs", "work", "--images", "libc*", code=125)
        self.assertIn("nothing was measured", self.said)

    def test_code_of_another_place_than_in_the_file(self):
        """Its first page in the file begins with the end of another segment, as LLD, and so rustc, lays programs out."""
        source, program = self.file.with_name("shifted.c"), self.file.with_name("shifted")
        source.write_text(SHIFTED)
        subprocess.run(["gcc", "-O1", "-no-pie", "-Wl,-z,noseparate-code", "-Wl,--section-start=.text=0x4231c0", "-o", program, source], check=True)
        pairs = self.strobe("-t", "calls", "--funcs", "main", program=(program,))["pairs"]
        self.assertEqual([row["count"] for row in pairs if row["callee"] == "serve"], [1000])
        late = self.strobe("-t", "bbcount", "--start-at", "serve", program=(program,))
        self.assertEqual([note for note in late["notes"] if "--start-at" in note], [])

    def test_threads(self):
        """Numbers in the order of birth, and the name that threads give themselves."""
        whole = self.count("--images", "regions")
        self.assertEqual(self.count("--images", "regions", "--threads", "0") + self.count("--images", "regions", "--threads", "1-4"), whole)
        keep = self.count("--funcs", "keep")
        self.assertEqual(keep % 400, 0)
        for threads, share in (("0", 0), ("1,3", 200), ("2-3,4", 300), ("keeper", 400), ("k*p?r,k*p*r", 400), ("regions", 0)):
            with self.subTest(threads=threads):
                self.assertEqual(self.count("--funcs", "keep", "--threads", threads), keep // 400 * share)

    def test_a_thread_and_a_region(self):
        self.assertEqual(self.count("--funcs", "keep", "--start-at", "border", "--threads", "1"), self.count("--funcs", "keep") // 4)
        self.assertEqual(self.count("--funcs", "keep", "--stop-at", "border", "--threads", "0-4"), 0)

    def test_lists(self):
        both = self.count("--funcs", "work") + self.count("--funcs", "border")
        self.assertEqual(self.count("--funcs", "work,border"), both)
        self.assertEqual(self.count("--funcs", "work", "--funcs", "border"), both)
        own = "--images", "regions"
        self.assertEqual(self.count("--start-at", "zqzq,border", *own), self.count("--start-at", "border", *own))
        self.strobe("-t", "null", "--start-at", "zqzq,border")
        self.assertIn("strobe: --start-at zqzq: no function of that name was loaded\n", self.said)

    def test_what_never_begins(self):
        for option, note in ((["--start-at", "zqzqzqzq"], "--start-at zqzqzqzq: no function of that name was loaded"),
                             (["--start-at", "zq*zq"], "--start-at zq*zq: no function of that name was loaded"),
                             (["--start-at", "brdoer"], "--start-at brdoer: no function of that name was loaded; did you mean 'border'?"),
                             (["--stop-at", "allocat"], "--stop-at allocat: no function of that name was loaded; did you mean 'allocate'?"),
                             (["--funcs", "aloctae"], "--funcs aloctae: no function of that name was loaded; did you mean 'allocate'?"),
                             (["--funcs", "border", "--funcs", "allocaet"], "--funcs allocaet: no function of that name was loaded; did you mean 'allocate'?"),
                             (["--images", "regoins"], "--images regoins: no image of that name was loaded; did you mean 'regions'?"),
                             (["--threads", "keper"], r"--threads keper: there was no such thread among regions tid:\d+(, keeper tid:\d+)+; did you mean 'keeper'\?"),
                             (["--threads", "7,nobody"], r"--threads 7,nobody: there was no such thread among regions tid:\d+(, keeper tid:\d+)+"),
                             (["--start-at", "abort"], "nothing was measured: the program never entered abort"),
                             (["--toggle", "USR2"], "nothing was measured: no SIGUSR2 came"),
                             (["--delay", "100s"], "nothing was measured: the program ended before the delay")):
            with self.subTest(option=option):
                nowhere = ("was loaded" in note or "no such thread" in note) and "border" not in option and "--stop-at" not in option
                result = self.strobe("-t", "inscount", *option, code=125 if nowhere else 0)
                expression = note if "--threads" in option else re.escape(note)
                self.assertTrue(any(re.fullmatch(expression, said) for said in result["notes"]), result["notes"])
                self.assertRegex(self.said, rf"(?m)^strobe: {expression}\n")  # also with -q
                self.assertEqual(f"nothing was measured, because nothing in the program matches {option[0]}\n" in self.said, nowhere)
                if "nothing was" in note:
                    self.assertEqual(result["instructions"], 0)

    def test_mistakes(self):
        for option in (["--delay", "soon"], ["--for", "0s"], ["--toggle", "SIGKILL"], ["--start-at", ""],
                       ["--threads", ""], ["--threads", "3-1"], ["--threads", "1,,2"], ["--threads", "tid:x"], ["--threads", "1x"]):
            with self.subTest(option=option):
                done = subprocess.run([STROBE, "run", *option, "--", PROGRAM], capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 125)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_time(self):
        """A loop in the shell that never ends by itself: measured for 0.3 s after 0.3 s, then killed."""
        line = [STROBE, "run", "-q", "-t", "inscount", "--delay", "300ms", "--for", "300ms", "--format", "json", "-o", str(self.file),
                "--", "sh", "-c", "while :; do :; done"]
        with subprocess.Popen(line, stderr=subprocess.PIPE) as run:
            time.sleep(2.5)
            run.send_signal(signal.SIGTERM)
            run.wait(60)
        self.assertGreater(json.loads(self.file.read_text())["instructions"], 1000)


class Alloc(Case):
    def rows(self):
        result = self.strobe("-t", "alloc")
        sites = {row["site_function"]: row for row in result["sites"] if row["site_function"] in ("keep", "again")}
        self.lines = {name: (os.path.basename(row["line_file"] or ""), row["line_line"]) for name, row in sites.items()}
        return {name: tuple(row[key] for key in ("count", "bytes", "live", "peak")) for name, row in sites.items()}

    def test_known_sites(self):
        """Four threads with 100 pieces of 10 bytes each, 40 freed, 20 made 30 bytes long."""
        rows = self.rows()
        self.assertEqual(rows["keep"][:3], (400, 4000, 4 * 40 * 10))
        self.assertEqual(rows["again"], (80, 2400, 2400, 2400))
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "regions.c"), encoding="utf-8") as f:
            text = f.read().splitlines()
        calls = {name: next(n for n, line in enumerate(text, 1) if call in line) for name, call in (("keep", "= malloc(bytes)"), ("again", "= realloc(p, bytes)"))}
        self.assertEqual(self.lines, {name: ("regions.c", line) for name, line in calls.items()})
        self.assertGreaterEqual(rows["keep"][3], 1000)
        self.assertLessEqual(rows["keep"][3], 4000)


unittest.main(argv=sys.argv[:1])
