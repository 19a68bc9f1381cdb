# SPDX-License-Identifier: GPL-3.0-or-later
"""A terminal for tests: what a program draws on it, as rows of text. It knows the sequences that strobe uses, and refuses others."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

PATIENCE = 60  # seconds


class Screen:
    """Rows of the screen, and those that have left it at its top."""

    SEQUENCE = re.compile(rb"\x1b(?:\[(\??)([\d;]*)([A-Za-z])|([78D]))")
    encoding = "latin-1"  # or UTF-8

    def __init__(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.lines, self.history, self.other = [""] * rows, [], None
        self.row = self.column = 0
        self.saved = (0, 0)
        self.region = (0, rows - 1)
        self.hidden, self.rest = False, b""

    def resize(self, rows, columns):
        """As terminals do it: what is below the cursor goes first."""
        while len(self.lines) > rows and self.row < len(self.lines) - 1:
            self.lines.pop()
        while len(self.lines) > rows:
            self.history.append(self.lines.pop(0))
            self.row -= 1
        self.lines += [""] * (rows - len(self.lines))
        self.rows, self.columns, self.region = rows, columns, (0, rows - 1)

    def down(self):
        top, bottom = self.region
        if self.row != bottom:
            self.row = min(self.row + 1, self.rows - 1)
            return
        gone = self.lines.pop(top)
        self.lines.insert(bottom, "")
        if top == 0 and self.other is None:
            self.history.append(gone)

    def put(self, character):
        if self.column >= self.columns:
            raise AssertionError(f"a line is too long: {self.lines[self.row]!r}")
        line = self.lines[self.row].ljust(self.column)
        self.lines[self.row] = line[:self.column] + character + line[self.column + 1:]
        self.column += 1

    def control(self, private, numbers, what):
        n = [int(word) if word else 0 for word in numbers.decode().split(";")]
        name = private.decode() + what.decode()
        if name == "r":
            self.region = (max(n[0], 1) - 1, (n[1] if len(n) > 1 else self.rows) - 1)
            self.row = self.column = 0
        elif name == "A":
            self.row = max(self.row - max(n[0], 1), 0)
        elif name == "H":
            self.row, self.column = max(n[0], 1) - 1, (n[1] if len(n) > 1 else 1) - 1
        elif name == "K":
            self.lines[self.row] = self.lines[self.row][:self.column]
        elif name == "J":
            self.lines[self.row] = self.lines[self.row][:self.column]
            self.lines[self.row + 1:] = [""] * (self.rows - self.row - 1)
        elif name in ("?h", "?l") and n == [25]:
            self.hidden = name == "?l"
        elif name == "?h" and n == [1049]:
            self.other = (self.lines, self.row, self.column)
            self.lines = [""] * self.rows
        elif name == "?l" and n == [1049]:
            self.lines, self.row, self.column = self.other
            self.other = None
        elif name != "m" and n not in ([7], [2004]):
            raise AssertionError(f"unknown: {private}{numbers}{what}")

    def escape(self, letter):
        if letter == b"7":
            self.saved = self.row, self.column
        elif letter == b"8":
            self.row, self.column = self.saved
        else:
            self.down()

    def sequence(self, found):
        if found[4]:
            self.escape(found[4])
        else:
            self.control(found[1], found[2], found[3])

    def size(self, byte):
        """The number of bytes of a character, by its first one."""
        return 1 if self.encoding == "latin-1" or byte < 0xc0 else 2 if byte < 0xe0 else 3 if byte < 0xf0 else 4

    def show(self, character):
        if character == "\n":
            self.down()
        elif character == "\r":
            self.column = 0
        elif character != "\a":
            self.put(character)

    def feed(self, data):
        """What has come so far; a sequence or a character that is not complete is kept for the next time."""
        data = self.rest + data
        at = 0
        while at < len(data):
            if data[at] == 0x1b:
                found = self.SEQUENCE.match(data, at)
                if not found:
                    if len(data) - at > 20:
                        raise AssertionError(f"unknown: {data[at:at + 20]}")
                    break
                self.sequence(found)
                at = found.end()
                continue
            size = self.size(data[at])
            if at + size > len(data):
                break
            self.show(data[at:at + size].decode(self.encoding))
            at += size
        self.rest = data[at:]

    def text(self):
        return "\n".join(line.rstrip() for line in self.lines)

    def everything(self):
        """All lines, also those that have left the screen."""
        return [line.rstrip() for line in self.history + self.lines if line.strip()]


class Terminal:
    """A command that runs on a terminal of its own. files: its standard streams that are others, by number."""

    def __init__(self, words, rows=24, columns=80, files=None, env=None):
        self.screen = Screen(rows, columns)
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.before = self.settings()  # before the command can change them
        self.pid = os.fork()
        if self.pid == 0:
            try:
                self.become([str(word) for word in words], files or {}, {**os.environ, "TERM": "xterm", **(env or {})})
            finally:
                os._exit(99)

    def become(self, words, files, env):
        os.setsid()
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
        for number in range(3):
            os.dup2(os.open(files[number], os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600) if number in files else self.slave, number)
        os.execvpe(words[0], words, env)

    def resize(self, rows, columns):
        self.screen.resize(rows, columns)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def settings(self):
        return termios.tcgetattr(self.master)

    def pump(self, seconds):
        """False: nothing came."""
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        self.screen.feed(os.read(self.master, 65536))
        return True

    def wait_for(self, is_there, what):
        end = time.monotonic() + PATIENCE
        while not is_there(self.screen):
            self.pump(0.1)
            if time.monotonic() > end:
                raise AssertionError(f"no {what}:\n{self.screen.text()}")

    def shows(self, pattern):
        self.wait_for(lambda screen: re.search(pattern, screen.text(), re.M), pattern)

    def send(self, keys):
        os.write(self.master, keys)

    def end(self):
        """The status of the command, as subprocess has it."""
        end = time.monotonic() + PATIENCE
        while not (gone := os.waitpid(self.pid, os.WNOHANG))[0]:
            if time.monotonic() > end:
                raise AssertionError(f"it does not end:\n{self.screen.text()}")
            self.pump(0.1)
        while self.pump(0):
            pass
        return os.waitstatus_to_exitcode(gone[1])

    def close(self):
        """Nothing is left running on it, whatever has failed."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.close(self.slave)
        os.close(self.master)
