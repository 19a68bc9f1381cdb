#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The man pages against the lists in commands.h: every option and command is explained, and nothing that is not there."""
import os
import re
import subprocess
import sys
import unittest

STROBE, MAN = os.path.abspath(sys.argv.pop(1)), sys.argv.pop(1)
PAGES = {"run": "strobe-run.1", "attach": "strobe-attach.1", "show": "strobe-show.1", "doctor": "strobe-doctor.1", "tools": "strobe-tools.1",
         "help": "strobe.1", "version": "strobe.1"}


def page(name):
    with open(os.path.join(MAN, name), encoding="utf-8") as f:
        return f.read().replace("\\-", "-")


def options(command):
    """(letter or '', name, argument or '') of each option, from strobe help COMMAND."""
    text = subprocess.run([STROBE, "help", command], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^  (?:-(\w), |    )--([\w-]+)(?: ([A-Z]+))?", text, re.M)


class Pages(unittest.TestCase):
    def test_options(self):
        for command, name in PAGES.items():
            text = page(name)
            found = options(command)
            self.assertTrue(found)
            for letter, option, argument in found:
                if name == "strobe.1" and option == "help":
                    continue  # explained once for all commands
                name_of = (f"-{letter}, " if letter else "") + "--" + option
                heading = f'.BI "{name_of} " {argument}' if argument else f'.B "{name_of}"'
                self.assertIn(heading, text.splitlines(), f"{name}: --{option}")

    def test_no_others(self):
        for command in ("run", "attach", "show", "doctor", "tools"):
            known = {name for _, name, _ in options(command)}
            declared = set(re.findall(r'^\.(?:B|BI) "?(?:-\w, )?--([\w-]+)', page(PAGES[command]), re.M))
            self.assertEqual(declared, known, command)

    def test_commands(self):
        overview = subprocess.run([STROBE, "help"], capture_output=True, text=True, check=True).stdout
        for command in re.findall(r"^  (\w+) ", overview, re.M):
            self.assertRegex(page("strobe.1"), re.compile(rf"^\.B(R)? .*{command}", re.M))

    def test_exit_codes(self):
        text = page("strobe.1")
        for code in ("0", "2", "125", "126", "127", "128+"):
            self.assertRegex(text, re.compile(rf"^\.BI? {re.escape(code)}", re.M))

    def test_they_format(self):
        for name in sorted(set(PAGES.values())):
            done = subprocess.run(["man", "--warnings", "-l", os.path.join(MAN, name)], capture_output=True, text=True,
                                  env=dict(os.environ, MANWIDTH="100", LC_ALL="C.UTF-8"))
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)
            self.assertIn("NAME", done.stdout)


if __name__ == "__main__":
    unittest.main()
