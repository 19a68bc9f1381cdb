#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""strobe tune with runs: test_runs.py STROBE KNOWN. KNOWN is a program whose every instruction is known (tests/tools/known.S)."""
import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

STROBE, KNOWN = (os.path.abspath(path) for path in sys.argv[1:3])
# Of known.S: those of _start, divide, outer, inner and calls; and how often they are executed.
INSTRUCTIONS = 13 + 9 + 4 + 1 + 12
EXECUTED = 2 + 1000 * (6 + 9) + 750 + 1 + 3 + (4 + 1) + 58


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-tune-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.tmp = self.folder / "tmp"
        self.tmp.mkdir()
        self.environment = dict(os.environ, TMPDIR=str(self.tmp))

    def line(self, *arguments):
        return [STROBE, "tune", *map(str, arguments)]

    def tune(self, *arguments, code=0):
        done = subprocess.run(self.line(*arguments), capture_output=True, text=True, timeout=200, cwd=self.folder, env=self.environment)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(list(self.tmp.iterdir()), [])
        return done

    def study(self, *arguments):
        return json.loads(self.tune("--format", "json", *arguments).stdout)

    def error(self, code, text, *arguments):
        done = self.tune(*arguments, code=code)
        self.assertEqual((done.stderr, done.stdout), (f"strobe: {text}\n", ""))

    def names(self):
        return sorted(path.name for path in self.folder.iterdir() if path != self.tmp)

    def script(self, text):
        file = self.folder / "script"
        file.write_text("#!/bin/sh\n" + text)
        file.chmod(0o755)
        return file


class Studies(Case):
    def test_for(self):
        """A program that does not end is ended in each run, natively and measured; how it ends then does not matter."""
        script = self.script("trap 'exit $(($$ % 50))' TERM\nwhile :; do :; done\n")
        begin = time.monotonic()
        s = self.study("--for", "300ms", "-r", 2, "-b", "50%", "-T", "20ms", "--", script)
        self.assertTrue(s["complete"])
        self.assertEqual(len(s["runs"]), 2)
        self.assertGreaterEqual(time.monotonic() - begin, 7 * 0.3)

    def test_for_less_than_the_start(self):
        """A run whose time is over before the program has been started is ended later."""
        s = self.study("--for", "1ms", "-r", 2, "-b", "50%", "-T", "20ms", "--", "sleep", "1000")
        self.assertTrue(s["complete"])
        self.assertEqual(len(s["runs"]), 2)
        for run in s["runs"]:
            self.assertLess(run["native"]["seconds"], 100)

    def test_grid(self):
        """Each combination as often as asked, in each repetition once; what is measured without end is all there is."""
        for tool in "branches", "inscount":
            with self.subTest(tool=tool):
                s = self.study("-t", tool, "-r", 3, "-b", "100%,1%", "-T", "1h,20ms", "--seed", 7, "--", KNOWN)
                self.assertEqual((s["strobe"], s["tool"], s["seed"], s["repeat"], s["complete"]), ({"version": 1, "study": 1}, tool, "7", 3, True))
                self.assertEqual((s["budgets"], s["periods"]), ([0.01, 1], [0.02, 3600]))
                program, = s["programs"]
                self.assertEqual((program["command"], program["exit"]), ([KNOWN], 0))
                self.assertEqual((program["instructions"], program["raw_instructions"]), (INSTRUCTIONS, EXECUTED))
                self.assertEqual(len(s["runs"]), 12)
                cells = {(b, t) for b in s["budgets"] for t in s["periods"]}
                for repetition in range(3):
                    runs = s["runs"][4 * repetition:4 * repetition + 4]
                    self.assertEqual({run["repetition"] for run in runs}, {repetition})
                    self.assertEqual({(run["budget"], run["period"]) for run in runs}, cells)
                for run in s["runs"]:
                    whole = (run["budget"], run["period"]) == (1, 3600)
                    self.assertLessEqual(run["instructions"], INSTRUCTIONS)
                    self.assertLessEqual(run["raw_instructions"], EXECUTED)
                    if whole:
                        self.assertEqual((run["unique_coverage"], run["raw_coverage"]), (100, 100))
                    self.assertEqual(run["slowdown_cpu"], run["measured"]["cpu_seconds"] / run["native"]["cpu_seconds"])
                    self.assertEqual(run["slowdown_wall"], run["measured"]["seconds"] / run["native"]["seconds"])
                for name in "slowdown_cpu", "slowdown_wall", "unique_coverage", "raw_coverage":
                    rows = s["analysis"]["anova"][name]
                    self.assertEqual([(row["source"], row["df"]) for row in rows], [("T", 1), ("B", 1), ("T:B", 1), ("residuals", 8)])
                self.assertEqual([h["number"] for h in s["analysis"]["hypotheses"]], [1, 2, 3])
        self.assertEqual(self.names(), [])

    def test_blocks(self):
        """Several programs: each is a block."""
        (self.folder / "list").write_text(f"# two programs\n\n{KNOWN} one\n'{KNOWN}' \"two words\" # three\\ words\n")
        s = self.study("-r", 2, "-p", self.folder / "list", "-b", "10%,20%", "-T", "20ms", "--", KNOWN, "--repeat")
        self.assertEqual([program["command"] for program in s["programs"]],
                         [[KNOWN, "--repeat"], [KNOWN, "one"], [KNOWN, "two words", "#", "three words"]])
        self.assertEqual([(row["source"], row["df"]) for row in s["analysis"]["anova"]["raw_coverage"]], [("B", 1), ("P", 2), ("residuals", 8)])
        self.assertEqual(s["analysis"]["hypotheses"], [])

    def test_again(self):
        """The same from the file as from the runs."""
        printed = self.tune("-r", 2, "-T", "20ms,1h", "-o", self.folder / "study", "--", KNOWN)
        self.assertEqual(printed.stderr, f"strobe: result: {self.folder}/study\n")
        self.assertEqual(self.names(), ["study"])
        again = self.tune("--from", self.folder / "study")
        self.assertEqual((again.stdout, again.stderr), (printed.stdout, ""))
        self.assertIn("strobe: branches on 1 program, 2 budgets and 2 periods, 2 of 2 repetitions; policy native, seed 1\n", again.stdout)
        self.assertIn("\n  1 program needs less CPU time than a period of 3600 s, so its budget is granted once\n", again.stdout)
        for text in "ANOVA", "hypothes":
            self.assertNotIn(text, again.stdout)
        tested = self.tune("--from", self.folder / "study", "--anova")
        self.assertEqual(tested.stdout.count("ANOVA table: "), 4)
        self.assertIn("\nhypotheses, at a significance level of 0.01\n", tested.stdout)
        lines = [line for line in again.stdout.splitlines() if line]
        self.assertEqual([line for line in tested.stdout.splitlines() if line in lines], lines)
        file = (self.folder / "study").read_text()
        self.assertEqual(self.tune("--from", self.folder / "study", "--format", "json").stdout, file)
        self.tune("--from", self.folder / "study", "-o", self.folder / "copy", "-q")
        self.assertEqual((self.folder / "copy").read_text(), file)

    def test_nearest(self):
        """If no combination keeps its slowdown, the one that exceeds 1 + B by the least is named with what it would bring."""
        file = self.folder / "study"
        self.tune("-q", "-r", 1, "-b", "10%,20%", "-T", "20ms", "-o", file, "--", KNOWN)
        study = json.loads(file.read_text())
        study["programs"][0].update(instructions=1000, raw_instructions=4000)
        for run in study["runs"]:
            run["native"]["cpu_seconds"], run["measured"]["cpu_seconds"] = 1, 2 if run["budget"] < 0.15 else 1.5
            run.update(instructions=500, raw_instructions=1000)
        file.write_text(json.dumps(study))
        self.assertTrue(self.tune("--from", file).stdout.endswith(
            "\nno combination keeps its slowdown of CPU time at 1 + B + 0.03 or less: none is recommended\n"
            "  the nearest is -b 20% -T 0.02s, at a slowdown of 1.500, 0.300 above 1 + B; with it, expect 50.00 % of unique and 25.00 % of raw coverage\n"))

    def test_progress(self):
        """On a terminal, a line that tells of the run under way; nothing of it is left."""
        master, slave = pty.openpty()
        line = self.line("-r", 1, "-b", "10%", "-T", "20ms", "-o", self.folder / "study", "--", KNOWN)
        done = subprocess.run(line, stdout=subprocess.DEVNULL, stderr=slave, timeout=200, cwd=self.folder,
                              env=dict(self.environment, TERM="xterm", COLUMNS="30"))
        os.close(slave)
        text = ""
        with contextlib.suppress(OSError):
            while piece := os.read(master, 65536):
                text += piece.decode()
        os.close(master)
        self.assertEqual(done.returncode, 0)
        first, *shown, last = text.split("\r\x1b[K")
        self.assertEqual((first, last), ("", f"strobe: result: {self.folder}/study\r\n"))
        self.assertEqual([piece[:18] for piece in shown], [f"strobe: run {i} of 5" for i in range(1, 6)])
        self.assertEqual({(len(piece), piece[-3:]) for piece in shown}, {(29, "...")})

    def test_default_output(self):
        self.tune("-q", "-r", 1, "-b", "10%", "-T", "20ms", KNOWN)
        name, = self.names()
        self.assertRegex(name, r"^strobe\.known\.\d+\.tune\.json$")

    def test_streams(self):
        """Each run reads the input from its beginning, and writes the output from its beginning."""
        (self.folder / "in").write_text("some\nlines\n")
        self.tune("-q", "-r", 1, "-b", "10%", "-T", "20ms", "-o", self.folder / "study", "--stdin", self.folder / "in", "--stdout", self.folder / "out", "--",
                  "sh", "-c", "cat; echo error >&2")
        self.assertEqual((self.folder / "out").read_text(), "some\nlines\nerror\n")
        self.assertEqual(json.loads((self.folder / "study").read_text())["programs"][0]["exit"], 0)

    def test_children(self):
        """With --follow, what children execute is there too."""
        alone, all_ = (self.study(*follow, "-r", 1, "-b", "100%", "-T", "1h", "--", "sh", "-c", f"{KNOWN}; exit 3") for follow in ((), ("-f",)))
        self.assertEqual((alone["programs"][0]["exit"], all_["programs"][0]["exit"]), (3, 3))
        self.assertGreaterEqual(all_["programs"][0]["raw_instructions"] - alone["programs"][0]["raw_instructions"], EXECUTED // 2)

    def test_rows(self):
        """What a tool records goes the way that it goes in a run, and is not left anywhere."""
        s = self.study("-t", "memtrace", "-r", 1, "-b", "100%", "-T", "1h", "--", KNOWN)
        self.assertEqual((s["runs"][0]["unique_coverage"], s["runs"][0]["raw_coverage"]), (100, 100))

    def test_temporary_folder(self):
        """Its name may be as long as SQLite takes it."""
        folder = self.tmp / ("x" * 200) / ("y" * (470 - len(str(self.tmp)) - 202))
        folder.mkdir(parents=True)
        self.environment["TMPDIR"] = str(folder)
        done = subprocess.run(self.line("-q", "-r", 1, "-b", "10%", "-T", "20ms", "-o", self.folder / "study", "--", KNOWN),
                              capture_output=True, text=True, timeout=200, cwd=self.folder, env=self.environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(list(folder.iterdir()), [])
        self.assertTrue(json.loads((self.folder / "study").read_text())["complete"])


class Refused(Case):
    def test_exit_codes_that_differ(self):
        script = self.script('test -e ran && exit 4\n: >ran\n')
        self.error(125, f"{script} exited with 0 at first and with 4 when it was measured: its runs cannot be compared", "-r", 1, "--", script)
        script = self.script('echo x >>ran\ntest $(wc -l <ran) -le 5\n')
        os.unlink(self.folder / "ran")
        self.error(125, f"{script} exited with 0 at first and with 1 later: its runs cannot be compared", "-r", 9, "-b", "10%", "-T", "20ms", "--seed", 2, "--", script)

    def test_programs_that_cannot_run(self):
        self.error(127, "cannot run no-such-program: No such file or directory", "-r", 1, "--", "no-such-program")
        self.error(126, f"cannot run {self.folder}: Permission denied", "-r", 1, "--", self.folder)

    def test_output(self):
        self.error(2, "without -o the result goes to standard output", "-o", "-", "--", KNOWN)

    def test_temporary_folder(self):
        for length in 471, 5000:
            self.environment["TMPDIR"] = "/" + "x" * (length - 1)
            self.error(125, "the path in TMPDIR is longer than 470 bytes: set it to a shorter one", "--", KNOWN)
        self.assertEqual(self.names(), [])

    def test_places_that_are_not_there(self):
        self.error(125, "cannot read /nonexistent: No such file or directory", "--stdin", "/nonexistent", "--", KNOWN)
        self.error(125, "cannot write the result to /nonexistent/x: No such file or directory; name another place with -o", "-o", "/nonexistent/x", "--", KNOWN)
        self.error(125, "cannot read /nonexistent: No such file or directory", "-p", "/nonexistent")
        self.error(125, "cannot read /nonexistent: No such file or directory", "--from", "/nonexistent")
        (self.folder / "study").write_text("[]")
        self.error(125, f"{self.folder}/study is not a study of strobe tune", "--from", self.folder / "study")


class Interrupted(Case):
    def interrupt(self, runs, signo):
        """Sends the signal when so many runs have begun. The study, or None when nothing is kept."""
        count = self.folder / "count"
        count.write_text("")
        # The run in which the signal is to come waits for it.
        script = self.script(f"echo x >>count\n[ $(wc -l <count) -lt {runs} ] || exec sleep 100\n")
        arguments = self.line("-q", "-r", 1000, "-b", "10%,20%", "-T", "20ms,40ms", "-o", self.folder / "study", "--", script)
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder, env=self.environment) as strobe:
            end = time.monotonic() + 120
            while time.monotonic() < end and len(count.read_text()) < 2 * runs and strobe.poll() is None:
                time.sleep(0.01)
            strobe.send_signal(signo)
            out, err = strobe.communicate(timeout=120)
        self.assertEqual(list(self.tmp.iterdir()), [])
        return strobe.returncode, out, err

    def test_what_was_measured_is_kept(self):
        for signo in signal.SIGINT, signal.SIGTERM:
            with self.subTest(signal=signo):
                code, out, err = self.interrupt(3 + 8 + 1, signo)
                self.assertEqual((code, err), (128 + signo, ""))
                study = json.loads((self.folder / "study").read_text())
                self.assertFalse(study["complete"])
                whole = study["analysis"]["repetitions"]
                self.assertGreaterEqual(whole, 1)
                self.assertEqual(len(study["runs"]) // 4, whole)
                self.assertIn(f"{whole} of 1,000 repetitions", out)
                again = self.tune("--from", self.folder / "study")
                self.assertEqual(again.stdout, out)

    def test_hangup_that_is_ignored(self):
        """As nohup has it: neither the study nor its runs end."""
        count = self.folder / "count"
        count.write_text("")
        script = self.script("echo x >>count\n[ $(wc -l <count) -ne 4 ] || while [ ! -e go ]; do sleep 0.02; done\n")
        arguments = self.line("-q", "-r", 1, "-b", "10%", "-T", "20ms", "-o", self.folder / "study", "--", script)
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder, env=self.environment,
                              preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as strobe:
            end = time.monotonic() + 120
            while time.monotonic() < end and len(count.read_text()) < 2 * 4 and strobe.poll() is None:
                time.sleep(0.01)
            strobe.send_signal(signal.SIGHUP)
            (self.folder / "go").touch()
            _, err = strobe.communicate(timeout=120)
        self.assertEqual((strobe.returncode, err), (0, ""))
        self.assertTrue(json.loads((self.folder / "study").read_text())["complete"])
        self.assertEqual(len(count.read_text()), 2 * 5)

    def test_nothing_to_keep(self):
        code, out, err = self.interrupt(1, signal.SIGINT)
        self.assertEqual((code, out), (128 + signal.SIGINT, ""))
        self.assertEqual(err, "strobe: interrupted before a repetition was complete: nothing is kept\n")
        self.assertFalse((self.folder / "study").exists())


unittest.main(argv=sys.argv[:1] + sys.argv[3:])
