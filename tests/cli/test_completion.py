#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: test_completion.py STROBE bash|zsh|fish
What the shell itself offers for command lines that are not complete, with the script of strobe help --completion."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

STROBE, SHELL = os.path.abspath(sys.argv[1]), sys.argv[2]
HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = "/usr/share/bash-completion/bash_completion"


def strobe(*arguments):
    return subprocess.run([STROBE, *arguments], capture_output=True, text=True, check=True).stdout


def usage(command):
    """(usage line, names of the options) as strobe COMMAND --help shows them."""
    text = strobe(command, "--help")
    return text.splitlines()[0], re.findall(r"^  (?:-\w, |    )(--[\w-]+)(?: (\S+))?", text, re.M)


COMMANDS = re.findall(r"^  ([\w-]+) ", strobe("help"), re.M)
TOOLS = re.findall(r"^  (\w+) ", strobe("tools"), re.M)


class Completion(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory(prefix="strobe-complete-")
        cls.addClassCleanup(place.cleanup)
        cls.home = place.name
        cls.work = os.path.join(place.name, "work")
        os.makedirs(os.path.join(cls.work, "folder"))
        for name in ("a file.db", "other.db", "folder/inner.db", "my.tool"):
            open(os.path.join(cls.work, name), "w").close()
        os.symlink("/bin/true", os.path.join(cls.work, "program"))
        cls.script = os.path.join(place.name, "_strobe")
        with open(cls.script, "w", encoding="utf-8") as f:
            f.write(strobe("help", "--completion", SHELL))
        shutil.copy(os.path.join(HERE, "complete-interactive.zsh"), os.path.join(place.name, "interactive"))

    def driver(self, library):
        return {"bash": ["bash", "--norc", os.path.join(HERE, "complete.bash"), self.script, library],
                "zsh": ["zsh", "-f", os.path.join(HERE, "complete.zsh"), self.home],
                "fish": ["fish", os.path.join(HERE, "complete.fish"), self.script]}[SHELL]

    def offered(self, *lines, library=""):
        """The lists of what is offered at the end of each line."""
        folders = {f"XDG_{kind}_HOME": self.home for kind in ("CONFIG", "DATA", "CACHE", "STATE")}
        done = subprocess.run([*self.driver(library), *lines], cwd=self.work, capture_output=True, text=True, timeout=100,
                              env=dict(os.environ, HOME=self.home, TERM="xterm", PATH="/usr/bin:/bin", **folders))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = [part.split("\n") for part in done.stdout.split("== ")[1:]]
        self.assertEqual([part[0] for part in found], list(lines))
        # zsh names a completion once more for each of its groups; fish puts --option= before values, others do not.
        return [sorted({re.sub(r"^--[\w-]+=", "", word) for word in part[1:] if word}) for part in found]

    def expect(self, wanted, library=""):
        """Exactly these words for each line; with an Ellipsis among them, at least these."""
        for (line, words), found in zip(wanted.items(), self.offered(*wanted, library=library)):
            if ... in words:
                self.assertEqual(set(words) - {...} - set(found), set(), line)
            else:
                self.assertEqual(found, sorted(words), line)

    def test_the_shell_reads_it(self):
        subprocess.run([SHELL, "-n", self.script], check=True)

    def test_commands(self):
        self.expect({"strobe ": COMMANDS, "strobe ru": ["run"]})

    def test_options_of_every_command(self):
        self.expect({f"strobe {command} --": [name for name, _ in usage(command)[1]] for command in COMMANDS})

    def test_values_of_every_option(self):
        wanted = {}
        for command in COMMANDS:
            for name, placeholder in usage(command)[1]:
                self.assertFalse(name == "--format" and "|" not in placeholder, "its words are the placeholder: text|json")
                if "|" in placeholder:
                    wanted[f"strobe {command} {name} "] = placeholder.split("|")
                if placeholder == "TOOL":
                    wanted[f"strobe {command} {name} "] = TOOLS + ["my.tool"]
        self.assertIn("strobe run --tool ", wanted)
        self.expect(wanted)

    def test_values(self):
        self.expect({"strobe show --sort ": ["time", "total", "waiting", "total-waiting", "instructions", "calls", "name"],
                     "strobe show -s t": ["time", "total", "total-waiting"],
                     "strobe help --completion ": ["bash", "zsh", "fish"],
                     "strobe help v": ["version"],
                     "strobe run --toggle SIGU": ["SIGUSR1", "SIGUSR2"],
                     "strobe run --top ": [],
                     "strobe run --format=": ["db", "json"],
                     "strobe run --format=j": ["json"],
                     "strobe run --tool=bb": ["bbcount"],
                     "strobe run -fqt bb": ["bbcount"],
                     "strobe run -t hot -t n": ["null"],
                     "strobe run -t opmix:t": ["opmix:trace="] if SHELL == "fish" else ["trace="],
                     "strobe run --tool=hot:": ["hot:wall="] if SHELL == "fish" else ["wall="],
                     "strobe run --tool=null:": [],
                     "strobe run -t no-such-tool:": [],
                     "strobe run --stress ": ["blocks", "cache", "links", "far", ...]})

    def test_lists(self):
        for found in self.offered("strobe run --stress cache,l", "strobe run --stress=cache,l"):
            self.assertEqual([word.removeprefix("cache,") for word in found], ["links", "lookup"])

    def test_files(self):
        tool = ["my.tool"] if SHELL == "zsh" else ["./my.tool"]
        self.expect({"strobe show oth": ["other.db"], "strobe run -o oth": ["other.db"],
                     "strobe run --output=oth": ["other.db"], "strobe show -F main oth": ["other.db"],
                     "strobe run -t ./my": tool})
        words = self.offered("strobe show a")[0]
        self.assertEqual([word.replace("\\", "") for word in words], ["a file.db"])

    def test_nothing_where_nothing_goes(self):
        for words in self.offered("strobe version ", "strobe no-such-command "):
            self.assertEqual([word for word in words if not word.startswith("-")], [])

    def test_program(self):
        self.expect({"strobe run truncat": ["truncate"], "strobe run -- truncat": ["truncate"],
                     "strobe run -t hot -qf truncat": ["truncate"],
                     "strobe run ./prog": ["program"] if SHELL == "zsh" else ["./program"],
                     "strobe run cat oth": ["other.db", ...]})

    def test_options_of_the_program(self):
        """Behind the program it goes on as for that program; strobe's own options are over."""
        if SHELL == "bash" and not os.path.exists(LIBRARY):
            self.skipTest("bash-completion is not installed; only it knows other programs' options")
        zero = ["--zero-terminated", ...]
        self.expect({"strobe run sort --ze": zero, "strobe run -- sort --ze": zero, "strobe run -ft hot sort --ze": zero,
                     "strobe run --top=3 --tool hot sort --ze": zero, "strobe run -q -- sort --fo": []}, LIBRARY)

    def test_processes(self):
        commands = [command for command in COMMANDS if usage(command)[0].endswith(" PID")]
        if not commands:
            self.skipTest("no command takes a PID")
        self.expect({f"strobe {commands[0]} ": [str(os.getpid()), ...]})


if __name__ == "__main__":
    if not shutil.which(SHELL):
        print(f"{SHELL} is not installed")
        sys.exit(77)
    del sys.argv[1:]
    unittest.main()
