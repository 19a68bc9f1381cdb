#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""strobe show -i on a terminal: what it shows, keys, sizes, colours, and that the terminal is given back. test_browse.py STROBE"""
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from curses_screen import CursesTerminal

STROBE = os.path.abspath(sys.argv.pop(1))
# A profile of perf script: three functions with 60, 30 and 10 samples.
SCRIPT = "".join(f"app 1 [000] {i}.000000: 1 cycles:\n\t{address} {name} (/bin/app)\n{below}\n"
                 for i, (address, name, below) in enumerate(
                     [("401000", "wörk", "\t402000 main (/bin/app)\n")] * 60 + [("401100", "中文", "\t402000 main (/bin/app)\n")] * 30
                     + [("402000", "main", "")] * 10))
MAIN = r"^ +10\.00 .* main "


class Browse(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="strobe-tui-")
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)
        (self.place / "perf.txt").write_text(SCRIPT, encoding="utf-8")
        self.profile = self.place / "p.db"
        subprocess.run([STROBE, "import", "-q", self.place / "perf.txt", "-o", self.profile], check=True, timeout=60)

    def browse(self, *words, env=None, **more):
        usual = {"LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "NO_COLOR": ""}
        terminal = CursesTerminal([STROBE, "show", "-i", *words, self.profile], env={**usual, **(env or {})}, **more)
        self.addCleanup(terminal.close)
        return terminal

    def given_back(self, terminal):
        self.assertIsNone(terminal.screen.other)
        self.assertFalse(terminal.screen.hidden)
        self.assertFalse(terminal.screen.keypad)
        self.assertEqual(terminal.settings(), terminal.before)

    def quits(self, terminal, keys=b"q", code=0):
        terminal.send(keys)
        self.assertEqual(terminal.end(), code)
        self.given_back(terminal)


class Screens(Browse):
    def test_functions_and_quit(self):
        terminal = self.browse()
        terminal.shows(r"^\? help  q quit  / search  v views")
        lines = terminal.screen.text().split("\n")
        self.assertRegex(lines[0], r"^p\.db  functions by samples +1/3$")
        self.assertRegex(lines[1], r"^self %  total %  samples .*function$")
        self.assertRegex(lines[2], r"^ 60\.00 .* wörk \[app\]$")
        self.assertRegex(lines[3], r"^ 30\.00 .* 中文 \[app\]$")
        self.assertTrue(lines[23].startswith("? help"), lines)
        terminal.wait_for(lambda screen: (screen.row, screen.hidden) == (2, True), "hidden cursor in the first row")
        self.quits(terminal)

    def test_search(self):
        terminal = self.browse()
        terminal.shows(MAIN)
        terminal.press(b"/ma", r"^/ma$")
        terminal.wait_for(lambda screen: (screen.row, screen.column, screen.hidden) == (23, 3, False), "cursor after the text")
        terminal.press(b"\r", r" 3/3$")
        terminal.press("/wö\r".encode(), r" 1/3$")
        terminal.press(b"/none\r", "^no row has 'none'$")
        self.quits(terminal)

    def test_keys_with_sequences(self):
        terminal = self.browse()
        terminal.shows(MAIN)
        terminal.press(b"\x1bOB", r" 2/3$")  # Down
        terminal.press(b"\x1bOF", r" 3/3$")  # End
        terminal.press(b"\x1b[5~", r" 1/3$")  # PgUp
        terminal.press(b"\x1bOP", r"^Move$")  # F1
        terminal.press(b"\x1b", r" 1/3$")  # Esc alone
        self.quits(terminal)

    def test_bytes_that_are_not_utf8_are_skipped(self):
        for bad in (b"\x80", b"\xe9", b"\xff", b"\x1b[M \xf0\x90", b"\xff" * 5000, b"\xf0\x90" * 2000):
            with self.subTest(bad[:8]):
                terminal = self.browse()
                terminal.shows(MAIN)
                terminal.press(bad + b"g\x1bOB", r" 2/3$")  # Down; g: the space after "ESC [ M" is a key, too
                terminal.press("/wö\r".encode(), r" 1/3$")
                self.quits(terminal, bad + b"q")

    def test_sort_menu(self):
        terminal = self.browse()
        terminal.shows(MAIN)
        terminal.press(b"s", "^function$")
        terminal.press(b"G\r", r" 1/3$")
        terminal.wait_for(lambda screen: "main" in screen.line(2), "main in the first row")
        self.quits(terminal)

    def test_columns_of_a_table(self):
        """They are those that strobe show --table prints, in the same order."""
        (self.place / "m.csv").write_text("metric,unit,function,line,value\nwall,ns,f,7,30\n", encoding="utf-8")
        self.profile = self.place / "m.db"
        subprocess.run([STROBE, "import", "-q", self.place / "m.csv", "-o", self.profile], check=True, timeout=60)
        printed = subprocess.run([STROBE, "show", "--table", "measurements", self.profile], check=True, timeout=60, capture_output=True, text=True).stdout
        titles = printed.splitlines()[2].split()
        self.assertEqual(titles[-1], "location")
        terminal = self.browse("--table", "measurements", columns=200)
        terminal.wait_for(lambda screen: screen.line(1).split() == titles, "titles of the columns")
        self.quits(terminal)

    def test_table_and_order_of_the_command_line(self):
        terminal = self.browse("--table", "images", "--sort", "samples")
        terminal.shows(r"^p\.db  images +1/1$")
        terminal.shows("/bin/app$")
        self.quits(terminal)


class Calls(Browse):
    def test_function_of_the_command_line(self):
        terminal = self.browse("-F", "main")
        terminal.shows(r"^p\.db  functions by samples > main ")
        terminal.press(b"\x1b", r" 3/3$")
        self.quits(terminal)

    def test_callers_of_a_function(self):
        terminal = self.browse()
        terminal.shows(MAIN)
        terminal.press(b"\r", r"^p\.db  functions by samples > wörk ")
        terminal.shows("^ +60 +60.00 %  main \\[app\\]$")
        terminal.press(b"]j\r", r"^p\.db  functions by samples > wörk > main ")
        terminal.shows("^ +30 +30.00 %  中文 \\[app\\]$")
        terminal.press(b"\x1bOD\x1bOD", r"^p\.db  functions by samples +1/3$")  # Left
        self.quits(terminal)

    def test_tree(self):
        terminal = self.browse("--table", "calls")
        terminal.shows(r"^ 100\.00 +10\.00 +100  \+ main \[app\]$")
        terminal.press(b"\x1bOC", r"^  60\.00 +60\.00 +60     wörk \[app\]$")  # Right
        terminal.press("/文\r".encode(), r" 3/3$")
        terminal.press(b"\x1bOD", r" 1/3$")
        terminal.press(b"-", r" 1/1$")
        terminal.press(b"\t", r"^  60\.00 +60  \+ wörk \[app\]$")
        terminal.press(b"*", r"^  60\.00 +60     main \[app\]$")
        self.quits(terminal)

    def test_no_choice(self):
        terminal = self.browse("--table", "calls")
        terminal.shows("main")
        terminal.press(b"t", "^the profile does not tell threads apart, or has one only$")
        terminal.press(b"m", "^the profile has one metric only: count$")
        self.quits(terminal)


class Sizes(Browse):
    def test_resized(self):
        terminal = self.browse()
        terminal.shows(MAIN)
        terminal.resize(10, 40)
        terminal.shows(r"^p\.db  functions by samples +1/3$")
        terminal.wait_for(lambda screen: screen.line(9).startswith("? help  q quit"), "last line")
        self.assertEqual([line.split()[-1] for line in terminal.screen.text().split("\n")[1:5]], ["function", "[app]", "[app]", "[app]"])
        terminal.resize(2, 12)
        terminal.press(b"j", "^ 30.00")
        terminal.resize(1, 3)
        terminal.press(b"j", r"\Amai\Z")
        terminal.resize(30, 100)
        terminal.press(b"", r" 3/3$")
        self.quits(terminal)

    def test_begins_tiny(self):
        terminal = self.browse(rows=3, columns=20)
        terminal.shows("^ 60.00 ")
        self.quits(terminal)


class Colours(Browse):
    def test_colours(self):
        terminal = self.browse()
        terminal.shows(MAIN)
        self.assertTrue(terminal.screen.colours)
        self.quits(terminal)

    def test_no_color(self):
        terminal = self.browse(env={"NO_COLOR": "1"})
        terminal.shows(MAIN)
        self.assertFalse(terminal.screen.colours)
        self.quits(terminal)

    def test_a_terminal_without_colours(self):
        terminal = self.browse(env={"TERM": "vt100"})
        terminal.wait_for(lambda screen: re.search(MAIN, screen.text(), re.M), "functions")
        self.assertFalse(terminal.screen.colours)
        terminal.send(b"q")
        self.assertEqual(terminal.end(), 0)
        self.assertEqual(terminal.settings(), terminal.before)

    def test_names_in_a_locale_that_is_not_utf8(self):
        terminal = self.browse(env={"LC_ALL": "C"})
        terminal.shows("wörk")
        self.quits(terminal)


class Ends(Browse):
    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGABRT):
            with self.subTest(number):
                if number != signal.SIGINT:  # a command in the background of a script inherits that SIGQUIT is ignored
                    signal.signal(number, signal.SIG_DFL)
                terminal = self.browse()
                terminal.shows(MAIN)
                os.kill(terminal.pid, number)
                self.assertEqual(terminal.end(), -number)
                self.given_back(terminal)

    def test_ctrl_c(self):
        terminal = self.browse()
        terminal.shows(MAIN)
        self.quits(terminal, b"\x03", -signal.SIGINT)

    def test_stopped_and_continued(self):
        """By a shell: without one, nobody could continue it, and the kernel does not stop it."""
        terminal = CursesTerminal(["bash", "--norc", "--noprofile", "--noediting", "-i"], columns=200, env={"PS1": "> ", "LC_ALL": "C.UTF-8"})
        self.addCleanup(terminal.close)
        terminal.shows("^>$")
        terminal.send(f"{STROBE} show -i {self.profile}\n".encode())
        terminal.shows(MAIN)
        terminal.send(b"\x1a")
        terminal.shows("Stopped")
        self.assertIsNone(terminal.screen.other)
        terminal.send(b"fg\n")
        terminal.wait_for(lambda screen: screen.other, "browser")
        terminal.press(b"G", r" 3/3$")
        terminal.send(b"q")
        terminal.wait_for(lambda screen: screen.other is None, "usual screen")
        terminal.send(b"exit\n")
        self.assertEqual(terminal.end(), 0)


class Refused(Browse):
    def error(self, *words, text, code=2, env=None, **streams):
        done = subprocess.run([STROBE, "show", *words], capture_output=not streams, text=True, timeout=60, check=False,
                              stdin=subprocess.DEVNULL, env={**os.environ, **(env or {})})
        self.assertEqual((done.stderr, done.returncode, done.stdout), (f"strobe: {text}\n", code, ""))

    def test_no_terminal(self):
        self.error("-i", self.profile, text="--interactive needs a terminal, and standard input is none: leave it out to print the tables, "
                   "or make a page with strobe report")

    def test_other_options(self):
        for words in (["-n", "3"], ["--lines"], ["--format", "json"], ["-o", "x"], ["-F", "main", "-t", "images"]):
            with self.subTest(words):
                self.error("-i", *words, self.profile, text="--interactive shows all of the profile: leave out the other options, apart "
                           "from --func or --table, --sort, --process, --hide-loader and --debuginfod")

    def on_terminal(self, words, pattern, code=2, env=None):
        terminal = self.browse(*words, env=env, columns=300)
        self.assertEqual(terminal.end(), code)
        self.assertRegex(terminal.screen.text(), pattern)
        self.given_back(terminal)

    def test_terminals_that_cannot_be_drawn_on(self):
        self.on_terminal([], r"^strobe: --interactive cannot draw on this terminal \(TERM is dumb\): leave it out", env={"TERM": "dumb"})
        self.on_terminal([], r"^strobe: --interactive cannot draw on this terminal \(TERM is nonsense\): it is not known here",
                         env={"TERM": "nonsense"})

    def test_sizes_that_cannot_be_used(self):
        for rows, columns in ((65535, 65535), (24, 32768), (32768, 80), (2100, 2100)):
            with self.subTest(rows=rows, columns=columns):
                terminal = CursesTerminal(["sh", "-c", 'stty rows "$2" cols "$3"; exec "$0" show -i "$1"', STROBE, self.profile,
                                           str(rows), str(columns)], columns=300, env={"TERM": "xterm"})
                self.addCleanup(terminal.close)
                self.assertEqual(terminal.end(), 2)
                self.assertEqual(terminal.screen.text().strip(),
                                 f"strobe: --interactive cannot use the size of this terminal, {rows} lines and {columns} columns: set "
                                 "another one with stty rows and cols")
                self.given_back(terminal)

    def test_no_such_table(self):
        self.on_terminal(["-t", "image"], "^strobe: the profile has no table 'image'; did you mean 'images'?")
        self.on_terminal(["-F", "mein"], "^strobe: no function 'mein' ran; leave out --func, and search with /")
        self.on_terminal(["-s", "size"], "^strobe: the first page has no column 'size'; s lists the columns")


if __name__ == "__main__":
    unittest.main(verbosity=2)
