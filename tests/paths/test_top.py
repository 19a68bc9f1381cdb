#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`strobe paths --top` on a terminal: the view shows what is hot, the program's output stays whole, the result is complete, and the
terminal is given back as it was.

usage: test_top.py STROBE FOLDER (with programs/NAME-WAY)"""

import json
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from terminal import Terminal

STROBE = Path(sys.argv.pop(1)).resolve()
BUSY = Path(sys.argv.pop(1)).resolve() / "programs" / "busy-O2"
LEAF = r"^  +\d+\.\d%  +\d\S*  +\d\S*  leaf$"
CONTEXT = r"^  +\d+\.\d%  +\d\S*  +\d\S*  .*main > leaf$"


class Top(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="strobe-top-")
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)
        self.profile = self.place / "result.db"

    def terminal(self, words, **more):
        terminal = Terminal(words, **more)
        self.addCleanup(terminal.close)
        return terminal

    def strobe(self, *words):
        return [STROBE, "paths", "-q", "--interval", "100ms", "--top", "-o", self.profile, *words]

    def elsewhere(self, *streams):
        """Files in the place of standard streams."""
        return {number: "/dev/null" if number == 0 else self.place / str(number) for number in streams}

    def calls(self):
        """Of leaf, in the result."""
        done = subprocess.run([STROBE, "paths", "--from", self.profile, "--format", "json", "--join-threads"], capture_output=True, check=True)
        stack, sum_ = [tree for thread in json.loads(done.stdout)["threads"] for tree in thread["ksf"]], 0
        while stack:
            node = stack.pop()
            stack += node["children"]
            sum_ += node["count"] if node["name"] == "leaf" else 0
        return sum_

    def given_back(self, terminal, settings):
        screen = terminal.screen
        self.assertIsNone(screen.other)
        self.assertFalse(screen.hidden)
        self.assertEqual(screen.region, (0, screen.rows - 1))
        self.assertEqual(terminal.settings(), settings)

    def said(self, lines):
        """What the program says; how often it has called."""
        self.assertEqual(lines[:-1], [f"line {i}" for i in range(len(lines) - 1)])
        return int(re.fullmatch(r"calls (\d+)", lines[-1])[1])


class Shared(Top):
    """The program writes to the same terminal."""

    def start(self, **more):
        terminal = self.terminal(self.strobe("--", BUSY), **more)
        settings = terminal.before
        terminal.shows(LEAF)
        return terminal, settings

    def finish(self, terminal, settings):
        terminal.send(b"\x03")
        self.assertEqual(terminal.end(), 5)
        self.given_back(terminal, settings)
        lines = [line.replace("^C", "") for line in terminal.screen.everything()]
        self.assertEqual(self.calls(), self.said(lines))

    def test_output_stays_whole(self):
        terminal, settings = self.start()
        terminal.shows(CONTEXT)
        terminal.shows("line 30")
        lines = terminal.screen.text().split("\n")
        self.assertTrue(all(re.fullmatch(r"line \d+|", line) for line in lines[:8]), lines)
        self.assertTrue(lines[8].startswith("strobe paths: busy-O2, "), lines)
        self.assertEqual(terminal.settings(), settings)  # the keys are the program's
        self.finish(terminal, settings)

    def test_another_size(self):
        terminal, settings = self.start(rows=30, columns=100)
        terminal.shows("line 12")
        terminal.resize(15, 60)
        terminal.wait_for(lambda screen: screen.region == (0, 4), "smaller region")
        terminal.shows(LEAF)
        terminal.resize(40, 120)
        terminal.wait_for(lambda screen: screen.region == (0, 12), "larger region")
        terminal.shows("line 40")
        lines = terminal.screen.text().split("\n")
        self.assertTrue(lines[13].startswith("strobe paths: "), lines)
        terminal.resize(4, 20)  # too small: it is the program's alone
        terminal.wait_for(lambda screen: re.fullmatch(r"(line \d+\n)*(line \d+)?\n*", screen.text()), "program alone")
        terminal.resize(20, 80)
        terminal.shows(LEAF)
        self.finish(terminal, settings)

    def test_stopped_and_continued(self):
        words = " ".join(map(str, self.strobe("--", BUSY)))
        terminal = self.terminal(["bash", "--norc", "--noprofile", "--noediting", "-i"], columns=400, env={"PS1": "> "})
        terminal.shows("^>$")
        terminal.send(words.encode() + b"\n")
        terminal.shows(LEAF)
        terminal.send(b"\x1a")
        terminal.shows("Stopped")
        self.assertEqual(terminal.screen.region, (0, 23))
        self.assertNotIn("strobe paths: ", terminal.screen.text())
        terminal.send(b"fg\n")
        terminal.shows(LEAF)
        terminal.send(b"\x03")
        terminal.shows("calls ")
        terminal.send(b"exit\n")
        terminal.end()
        self.assertGreater(self.calls(), 0)


class Apart(Top):
    """Nobody else writes to the terminal, or reads from it."""

    def start(self, *words, **more):
        terminal = self.terminal(self.strobe(*words, "--", BUSY), files=self.elsewhere(0, 1, 2), **more)
        settings = terminal.before
        terminal.wait_for(lambda screen: screen.other, "screen of its own")
        return terminal, settings

    def finish(self, terminal):
        terminal.send(b"\x03")
        self.assertEqual(terminal.end(), 5)
        return self.said((self.place / "1").read_text().splitlines())

    def test_keys(self):
        terminal, settings = self.start()
        terminal.shows(LEAF)
        terminal.send(b"s")
        terminal.shows("; hottest of all; s: of late, q: quit$")
        terminal.send(b"s")
        terminal.shows(r"; hottest of the last \d+\.\d s; s: of all, q: quit$")
        terminal.resize(15, 60)
        terminal.wait_for(lambda screen: re.search(LEAF, screen.lines[4]), "view of another size")
        terminal.send(b"q")  # the program goes on
        terminal.wait_for(lambda screen: not screen.other and terminal.settings() == settings, "end of the view")
        self.given_back(terminal, settings)
        self.assertEqual(terminal.screen.everything(), [])
        self.assertEqual(self.finish(terminal), self.calls())

    def test_what_is_measured(self):
        for options, shown in (["--time"], r"self/s +self +calls/s  functions$"), (["--instructions"], r"insns/s +insns +calls/s  contexts$"), \
                (["--mode", "intra", "-k", "3"], r"^  +\d.*  leaf\+0$"), (["--mode", "inter", "--roll-loops"], r"^  +\d.* > leaf\+0$"):
            with self.subTest(options):
                terminal, settings = self.start(*options, columns=150)
                terminal.shows(shown)
                terminal.shows(r"^  +\d.*leaf(\+0)?$")  # Ctrl-C kills the program before it handles it
                self.finish(terminal)
                self.given_back(terminal, settings)

    def test_children(self):
        terminal = self.terminal(self.strobe("--follow", "--", "sh", "-c", f"{BUSY}; exit 7"), files=self.elsewhere(0, 1, 2))
        terminal.shows(LEAF)
        terminal.shows(r"^strobe paths: sh, .* of [23] processes, ")
        terminal.send(b"\x03")
        terminal.end()
        self.assertEqual(self.calls(), self.said((self.place / "1").read_text().splitlines()))

    def test_a_signal_ends_strobe(self):
        terminal, settings = self.start()
        terminal.shows(LEAF)
        subprocess.run(["kill", "-SEGV", str(terminal.pid)], check=True)
        self.assertEqual(terminal.end(), -signal.SIGSEGV)
        self.given_back(terminal, settings)


class Attached(Top):
    def test_it_goes_on(self):
        with subprocess.Popen([BUSY], stdout=subprocess.PIPE, text=True) as busy:
            self.addCleanup(busy.kill)
            said = busy.stdout.readline()
            for end in b"q", b"\x03":
                terminal = self.terminal(self.strobe("--pid", busy.pid))
                settings = terminal.before
                terminal.shows(LEAF)
                terminal.shows(rf"^strobe paths: busy-O2 \({busy.pid}\), ")
                terminal.send(end)
                self.assertEqual(terminal.end(), 0)
                self.given_back(terminal, settings)
                self.assertGreater(self.calls(), 0)
            busy.send_signal(signal.SIGINT)
            self.assertGreater(self.said((said + busy.stdout.read()).splitlines()), self.calls())
            self.assertEqual(busy.wait(), 5)


class Refused(Top):
    def refuse(self, sentence, *words, **more):
        done = subprocess.run([STROBE, "paths", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, start_new_session=True, **more)
        self.assertEqual((done.returncode, done.stderr), (125, f"strobe: {sentence}\n"))

    def test_no_terminal(self):
        self.refuse("--top needs a terminal, and there is none: leave it out, and look at the result", "--top", "--", BUSY)
        terminal = self.terminal(self.strobe("--", BUSY), columns=200, env={"TERM": "dumb"})
        self.assertEqual(terminal.end(), 125)
        self.assertEqual(terminal.screen.everything(), ["strobe: --top cannot draw on this terminal (TERM is dumb): leave it out, or use another"])

    def test_options(self):
        self.refuse("--interval sets how often --top is updated: add --top, or leave out --interval", "--interval", "1s", "--", BUSY)
        self.refuse("--interval takes 100 ms at least", "--top", "--interval", "10ms", "--", BUSY)
        self.refuse("--top takes no number; for the number of rows, say -n 5", "--top", "5", "--", BUSY)
        self.refuse("--top is for running a program, and --from runs none: leave out one of them", "--top", "--from", "x.db")
        self.refuse(f"--pid names a running process: leave out the program '{BUSY}'", "--pid", "1", "--", BUSY)
        self.refuse("--follow needs a program that strobe starts: the children of an attached process run natively", "--pid", "1", "--follow")
        self.refuse("'x' is not a process number; give a PID, such as 4711", "--pid", "x")


if __name__ == "__main__":
    unittest.main()
