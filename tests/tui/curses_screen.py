# SPDX-License-Identifier: GPL-3.0-or-later
"""The terminal of tests/paths/terminal.py, with what curses sends to an xterm besides: UTF-8, attributes, lines and characters that are
inserted, deleted, erased and repeated."""

import re
import sys
import unicodedata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "paths"))
from terminal import Screen, Terminal  # noqa: E402


def width(character):
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


class CursesScreen(Screen):
    """Cells: a character that is two columns wide is followed by an empty one."""

    SEQUENCE = re.compile(rb"\x1b(?:\[([?>]?)([\d;]*)([A-Za-z@])|([78DM=>])|[()]([AB0])|\]104\x07)")
    encoding = "utf-8"

    def __init__(self, rows, columns):
        super().__init__(rows, columns)
        self.look, self.colours, self.keypad = "", False, False
        self.looks = {}  # of the cell at (row, column): numbers of its attributes
        self.clear()

    def clear(self):
        self.cells = [[" "] * self.columns for _ in range(self.rows)]
        self.looks = {}

    def resize(self, rows, columns):
        self.rows, self.columns, self.region = rows, columns, (0, rows - 1)
        self.row, self.column = min(self.row, rows - 1), min(self.column, columns - 1)
        self.clear()

    def text(self):
        return "\n".join("".join(row).rstrip() for row in self.cells)

    def line(self, number):
        return "".join(self.cells[number]).rstrip()

    def put(self, character):
        wide = width(character)
        if wide == 0:
            self.cells[self.row][max(self.column - 1, 0)] += character
            return
        if self.column + wide > self.columns:
            self.column = 0
            self.down()
        self.cells[self.row][self.column] = character
        self.looks[self.row, self.column] = self.look
        if wide == 2:
            self.cells[self.row][self.column + 1] = ""
        self.column += wide
        self.last = character

    def down(self):
        top, bottom = self.region
        if self.row != bottom:
            self.row = min(self.row + 1, self.rows - 1)
            return
        self.scroll(top, bottom, 1)

    def scroll(self, top, bottom, lines):
        for _ in range(abs(lines)):
            gone, new = (top, bottom) if lines > 0 else (bottom, top)
            self.cells.pop(gone)
            self.cells.insert(new, [" "] * self.columns)

    def erase(self, row, start, end):
        self.cells[row][start:end] = [" "] * (end - start)

    def erase_lines(self, start, end):
        for row in range(start, end):
            self.erase(row, 0, self.columns)

    def attributes(self, numbers):
        self.look = ";".join(str(n) for n in numbers if n)
        self.colours |= any(30 <= n <= 48 for n in numbers)

    def control(self, private, numbers, what):
        n = [int(word) if word else 0 for word in numbers.decode().split(";")]
        name, many = private.decode() + what.decode(), max(n[0], 1)
        here, cells = self.column, self.cells[self.row]
        if name == "m":
            self.attributes(n)
        elif name in "ABCD":
            self.row += {"A": -many, "B": many}.get(name, 0)
            self.column += {"C": many, "D": -many}.get(name, 0)
        elif name == "G":
            self.column = many - 1
        elif name == "d":
            self.row = many - 1
        elif name == "X":
            self.erase(self.row, here, here + many)
        elif name == "K":
            start, end = ((here, self.columns), (0, here + 1))[n[0]]
            self.erase(self.row, start, end)
        elif name == "J":
            if n[0] == 2:
                self.clear()
            else:
                self.erase(self.row, here, self.columns)
                self.erase_lines(self.row + 1, self.rows)
        elif name == "b":
            for _ in range(many):
                self.put(self.last)
        elif name == "@":
            self.cells[self.row] = (cells[:here] + [" "] * many + cells[here:])[:self.columns]
        elif name == "P":
            self.cells[self.row] = (cells[:here] + cells[here + many:]).__add__([" "] * many)[:self.columns]
        elif name in "LM":
            self.scroll(self.row, self.region[1], many if name == "M" else -many)
        elif name in "ST":
            self.scroll(*self.region, many if name == "S" else -many)
        elif name in ("?h", "?l") and n == [1]:
            self.keypad = name == "?h"
        elif name in ("?h", "?l") and n == [1049]:
            self.other = True if name == "?h" else None
        elif name == "t" or (name in ("h", "l") and n == [4]) or (name in ("?h", "?l") and n[0] == 12):
            self.hidden = self.hidden and 25 not in n
        else:
            super().control(private, numbers, what)
        self.row, self.column = min(self.row, self.rows - 1), min(self.column, self.columns - 1)  # what was sent before a resize, too

    def sequence(self, found):
        if found[3]:
            self.control(found[1], found[2], found[3])
        elif found[4] == b"M":
            self.scroll(*self.region, -1) if self.row == self.region[0] else self.control(b"", b"1", b"A")
        elif found[4] and found[4] in b"78D":
            self.escape(found[4])

    def show(self, character):
        if character == "\b":
            self.column -= 1
        elif character == "\t":
            self.column = (self.column // 8 + 1) * 8
        elif character not in "\x0e\x0f":
            super().show(character)


class CursesTerminal(Terminal):
    """A command on such a terminal."""

    def __init__(self, words, rows=24, columns=80, **more):
        super().__init__(words, rows, columns, **more)
        self.screen = CursesScreen(rows, columns)

    def press(self, keys, pattern):
        """Keys, and what the screen shows then."""
        self.send(keys)
        self.shows(pattern)
