#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: test_man.py STROBE MANUAL PROSE
The manual pages that MANUAL makes of the tables and the prose: one for every command and tool, each option explained."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

STROBE, MANUAL, PROSE = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))


def strobe(*arguments):
    return subprocess.run([STROBE, *arguments], capture_output=True, text=True, check=True).stdout


COMMANDS = re.findall(r"^  ([\w-]+) ", strobe("help"), re.M)
TOOLS = re.findall(r"^  (\w+) ", strobe("tools"), re.M)


class Pages(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="strobe-man-")
        self.addCleanup(place.cleanup)
        self.prose, self.out = os.path.join(place.name, "prose"), os.path.join(place.name, "man1")
        shutil.copytree(PROSE, self.prose)

    def generate(self):
        return subprocess.run([MANUAL, self.prose, self.out, self.out + ".d"], capture_output=True, text=True)

    def pages(self):
        """Page name: its roff."""
        done = self.generate()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = {}
        for name in os.listdir(self.out):
            with open(os.path.join(self.out, name), encoding="utf-8") as f:
                found[name.removesuffix(".1")] = f.read()
        return found

    def write(self, name, text):
        with open(os.path.join(self.prose, name), "w", encoding="utf-8") as f:
            f.write(text)

    def refused(self, sentence):
        done = self.generate()
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stderr.endswith(sentence + "\n"), done.stderr)

    def test_every_command_and_tool_has_one(self):
        names = {"strobe"} | {"strobe-" + name for name in COMMANDS + TOOLS}
        self.assertEqual(set(self.pages()), names)
        with open(self.out + ".d", encoding="utf-8") as f:
            self.assertIn(self.prose + "/commands/run.prose", f.read())

    def test_without_prose(self):
        """What a new command or tool has from the tables alone."""
        os.unlink(os.path.join(self.prose, "commands", "run.prose"))
        os.unlink(os.path.join(self.prose, "tools", "hot.prose"))
        pages = self.pages()
        self.assertIn(".SH DESCRIPTION\n\\&Run a program and show what it did.\n", pages["strobe-run"])
        self.assertIn('.TP\n.B "\\-f, \\-\\-follow"\n\\&Measure child processes, too.\n', pages["strobe-run"])
        self.assertIn("strobe\\-hot \\- show the hottest functions", pages["strobe-hot"])
        self.assertEqual(self.problems(), "")

    def test_options(self):
        pages = self.pages()
        for command in COMMANDS:
            listed = re.findall(r"^  (?:-(\w), |    )--([\w-]+)(?: ([A-Z]+(?:[/,][A-Z]+)?|\[\S+|[a-z|-]+\b))?", strobe("help", command), re.M)
            self.assertTrue(listed)
            text = pages["strobe-" + command].replace("\\-", "-")
            for letter, option, argument in listed:
                name = (f"-{letter}, " if letter else "") + "--" + option
                heading = f'.BI "{name} " {argument}\n' if argument else f'.B "{name}"\n'
                self.assertEqual(text.count(".TP\n" + heading), 1, f"{command}: --{option}")
            self.assertEqual(len(re.findall(r"^\.TP\n\.BI? \"-", text, re.M)), len(listed), command)

    def test_options_of_tools(self):
        self.write("tools/opmix.prose", ".SH DESCRIPTION\nText.\n")
        self.write("tools/memtrace.prose", ".SH DESCRIPTION\nText.\n@option values\nLonger text.\n")
        pages = self.pages()
        self.assertIn('.TP\n.BI "trace=" VALUE\n\\&Record the stream of instructions.\nThe default is 0', pages["strobe-opmix"])
        self.assertIn('.TP\n.BI "values=" VALUE\n\\&Record the value that was read or written, too.\nLonger text.\nThe default is 0; the value is a number from 0 to 1.\n', pages["strobe-memtrace"])
        self.assertIn("The tool has no options.\n", pages["strobe-null"])
        self.write("tools/memtrace.prose", "@option size\nText.\n")
        self.refused("tools/memtrace.prose: there is no option 'size'")

    def test_lists(self):
        pages = self.pages()
        for command in COMMANDS:
            self.assertIn(f"\n.BR strobe\\-{command} (1)\n", pages["strobe"])
        for tool in TOOLS:
            for name in ("strobe", "strobe-tools"):
                self.assertIn(f'\n.BR {tool} ", see " strobe\\-{tool} (1)\n', pages[name])

    def test_exit_codes(self):
        text = self.pages()["strobe"]
        for code in ("0", "2", "125", "126", "127", "128+"):
            self.assertRegex(text, re.compile(rf"^\.BI? {re.escape(code)}", re.M))

    def test_stale_prose_is_refused(self):
        self.write("commands/show.prose", ".SH DESCRIPTION\nText.\n@option nothing\nText.\n")
        self.refused("commands/show.prose: there is no option 'nothing'")
        self.write("commands/show.prose", ".SH DESCRIPTION\n@something\n")
        self.refused("commands/show.prose: no list is called '@something'")
        self.write("commands/show.prose", "")
        self.write("tools/gone.prose", ".SH DESCRIPTION\n")
        self.refused("tools/gone.prose: there is no such tool")

    def problems(self):
        """What groff and mandoc, as far as they are there, have to say."""
        said = ""
        for name in sorted(os.listdir(self.out)):
            path = os.path.join(self.out, name)
            if shutil.which("man"):
                done = subprocess.run(["man", "--warnings", "-l", path], capture_output=True, text=True,
                                      env=dict(os.environ, MANWIDTH="100", LC_ALL="C.UTF-8"))
                self.assertIn("NAME", done.stdout)
                said += done.stderr
            if shutil.which("mandoc"):
                said += subprocess.run(["mandoc", "-Tlint", "-Wwarning", path], capture_output=True, text=True).stdout
        return said

    @unittest.skipUnless(shutil.which("man"), "man is not installed")
    def test_they_format(self):
        self.pages()
        self.assertEqual(self.problems(), "")


if __name__ == "__main__":
    unittest.main()
