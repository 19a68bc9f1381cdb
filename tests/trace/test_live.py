#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`strobe trace --top` on a terminal: the functions that run are shown, the result is complete, and the terminal is given back.

usage: test_live.py STROBE CALLS (the program of programs/calls.c)"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "paths"))
from terminal import Terminal  # noqa: E402

STROBE, CALLS = [os.path.abspath(name) for name in sys.argv[1:3]]
SPIN = r"^  +\d+\.\d%  +\d\S*  +\d\S*  +\d\S*  t_spin$"
FIB = r"^  +\d+\.\d%  +\d\S*  +\d\S*  +\d\S*  t_fib$"


class Live(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-live-")
        self.addCleanup(folder.cleanup)
        self.result = Path(folder.name) / "result.json"

    def terminal(self, *words):
        terminal = Terminal([STROBE, "trace", "-q", "--interval", "100ms", "--top", "-o", self.result, *words])
        self.addCleanup(terminal.close)
        return terminal

    def calls(self):
        return {f["name"]: f["calls"] for f in json.loads(self.result.read_text())["functions"]}

    def given_back(self, terminal, settings):
        self.assertIsNone(terminal.screen.other)
        self.assertFalse(terminal.screen.hidden)
        self.assertEqual(terminal.screen.region, (0, terminal.screen.rows - 1))
        self.assertEqual(terminal.settings(), settings)

    def test_program(self):
        """A program that never ends by itself: it is interrupted."""
        terminal = self.terminal("--", CALLS, "waits")
        settings = terminal.before
        terminal.shows(r"^strobe trace: trace-calls, \d+\.\d s, 1 thread, \d+ functions?$")
        terminal.shows(SPIN)
        terminal.send(b"\x03")
        self.assertEqual(terminal.end(), 128 + signal.SIGINT)
        self.given_back(terminal, settings)
        self.assertGreater(self.calls()["t_spin"], 1)

    def test_budget(self):
        """The view and the budget both look."""
        terminal = self.terminal("-b", "1%", "--", CALLS, "waits")
        settings = terminal.before
        terminal.shows(SPIN)
        terminal.send(b"\x03")
        self.assertEqual(terminal.end(), 128 + signal.SIGINT)
        self.given_back(terminal, settings)
        self.assertAlmostEqual(json.loads(self.result.read_text())["budget"]["share"], 0.01)

    def test_process(self):
        """A process goes on when the view is left."""
        with subprocess.Popen([CALLS, "forever"], stdout=subprocess.PIPE, text=True) as program:
            try:
                self.assertEqual(program.stdout.readline(), "ready\n")
                terminal = self.terminal("--pid", str(program.pid))
                settings = terminal.before
                terminal.shows(rf"^strobe trace: trace-calls \({program.pid}\), ")
                terminal.shows(FIB)
                terminal.send(b"q")
                self.assertEqual(terminal.end(), 0)
                self.given_back(terminal, settings)
                self.assertGreater(self.calls()["t_fib"], 1000)
            finally:
                program.send_signal(signal.SIGUSR1)
            self.assertEqual(program.stdout.readline(), "right\n")


class Refused(Live):
    def refuse(self, sentence, *words):
        done = subprocess.run([STROBE, "trace", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, start_new_session=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (125, "", f"strobe: {sentence}\n"))

    def test_options(self):
        self.refuse("--top needs a terminal, and there is none: leave it out, and look at the result", "--top", "--", CALLS)
        self.refuse("--interval sets how often --top is updated: add --top, or leave out --interval", "--interval", "1s", "--", CALLS)
        self.refuse("--interval takes 100 ms at least", "--top", "--interval", "10ms", "--", CALLS)
        self.refuse("--top takes no number; for the number of rows, say -n 5", "--top", "5", "--", CALLS)
        self.refuse("--top is for running a program, and --from runs none: leave out one of them", "--top", "--from", "x.db")
        self.refuse("--top shows what probes measure: leave it out, or use --engine probe and no option that this engine does not have",
                    "--top", "-e", "jit", "--", CALLS)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
