#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Campaigns on a program that does not end: --timeout, signals, and the death of strobe end it.

usage: test_ends.py STROBE PLANTED

PLANTED is programs/planted.c."""

import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from command import STROBE, Case

PLANTED = os.path.abspath(sys.argv[2])


class Ends(Case):
    OPTIONS = ("-F", "wait_for_ever", "--journal", "j")

    def processes(self):
        """The command of each process in the folder of the test, by its number."""
        found = {}
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if os.readlink(entry / "cwd") == str(self.at.resolve()):
                    found[int(entry.name)] = (entry / "cmdline").read_bytes().split(b"\0")[0].decode()
            except OSError:  # it has ended, or is of another user
                pass
        return found

    def wait_until(self, condition):
        end = time.monotonic() + 100
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def begin_campaign(self):
        """Starts a campaign, and waits until its program runs."""
        strobe = subprocess.Popen([STROBE, "blow", *self.OPTIONS, "--timeout", "0", "--", PLANTED, "for-ever"], stdout=subprocess.PIPE,  # pylint: disable=consider-using-with
                                  stderr=subprocess.PIPE, text=True, cwd=self.at)
        self.addCleanup(strobe.kill)
        self.wait_until(lambda: PLANTED in self.processes().values())
        return strobe

    def test_timeout(self):
        done = self.strobe(*self.OPTIONS, "--timeout", "1s", "--", PLANTED, "for-ever", code=125)
        self.assertEqual(done.stderr, "strobe: the 1 s of --timeout ended in the run that selects functions: raise --timeout; if the program does not end by itself, "
                                      "use --for or --window\n")
        self.assertEqual(self.processes(), {})

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            strobe = self.begin_campaign()
            strobe.send_signal(number)
            _, errors = strobe.communicate(timeout=100)
            self.assertEqual((strobe.returncode, errors), (128 + number, "strobe: the campaign was interrupted in the run that selects functions, so there is no result\n"))
            self.assertEqual(self.processes(), {})

    def test_killed(self):
        """Nothing is left of the campaign that would run on, or keep the journal."""
        strobe = self.begin_campaign()
        strobe.kill()
        strobe.communicate(timeout=100)
        self.wait_until(lambda: not self.processes())
        done = self.strobe(*self.OPTIONS, "--timeout", "0", "--", PLANTED, "abort", code=125)
        self.assertIn("is of another experiment", done.stderr)  # which says that it could be read

    def test_in_use(self):
        strobe = self.begin_campaign()
        done = self.strobe(*self.OPTIONS, "--timeout", "0", "--", PLANTED, "for-ever", code=125)
        self.assertRegex(done.stderr, rf"^strobe: the journal j is in use: another strobe( \(process {strobe.pid}\))? executes this experiment; wait until it has ended, or end it\n$")
        strobe.send_signal(signal.SIGTERM)
        strobe.communicate(timeout=100)


if __name__ == "__main__":
    unittest.main(argv=["test_ends.py", *sys.argv[3:]], verbosity=2)
