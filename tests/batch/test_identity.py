#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A campaign goes on only with the programs and versions that it was begun with: test_identity.py STROBE."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE = os.path.abspath(sys.argv.pop(1))
ALL = ["--counts", "0", "--limit", "0.0001", "--alarm", "0.0001", "--miss", "0.0001", "--seed", "7", "--pairs", "3"]  # no verdict before the last pair
REFUSED = "strobe: campaign has the campaign of another command, or of other versions or programs: name another folder with --campaign, or remove it\n"


class Identity(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-identity-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.environment = {**os.environ, "OUT": str(self.folder / "ran"), "HOME": folder.name, "XDG_CONFIG_HOME": folder.name}

    def program(self, text):
        script = self.folder / "p.sh"
        script.write_text(f"#!/bin/sh\n# {text}\necho run >> \"$OUT\"\n", encoding="utf-8")
        script.chmod(0o755)

    def runs(self):
        return len((self.folder / "ran").read_text(encoding="utf-8").split())

    def gate(self, *words):
        done = subprocess.run([STROBE, "gate", *ALL, "--on", "local:1", "--noise", "0", "--campaign", "campaign", *words], cwd=self.folder, env=self.environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=240)
        return done.returncode, done.stderr

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@b", *words], cwd=self.folder, env=self.environment, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def commit(self, text):
        self.program(text)
        self.git("add", "p.sh")
        self.git("commit", "-m", text)

    def test_program(self):
        """The same programs give the results of before; a program that was built again is another one."""
        for words in ("--base", "./p.sh base", "--target", "./p.sh target"), ("--base", "p.sh base", "--target", "p.sh target"):
            self.environment["PATH"] = f"{self.folder}:{os.environ['PATH']}"
            self.program("first")
            (self.folder / "ran").unlink(missing_ok=True)
            self.assertEqual(self.gate(*words), (3, ""))
            self.assertEqual(self.gate(*words), (3, ""))
            self.assertEqual(self.runs(), 6)
            self.program("second, of another size")
            self.assertEqual(self.gate(*words), (125, REFUSED))
            subprocess.run(["rm", "-r", self.folder / "campaign"], check=True)

    def test_script(self):
        """The script of an interpreter belongs to the command, and data that it reads or changes does not."""
        words = ("--base", "sh -e p.sh data", "--target", "env A=b sh ./p.sh data")
        self.program("first")
        (self.folder / "data").write_text("1", encoding="utf-8")
        self.assertEqual(self.gate(*words), (3, ""))
        (self.folder / "data").write_text("other data", encoding="utf-8")
        self.assertEqual(self.gate(*words), (3, ""))
        self.assertEqual(self.runs(), 6)
        self.program("second, of another size")
        self.assertEqual(self.gate(*words), (125, REFUSED))
        self.assertEqual(self.runs(), 6)

    def test_option_of_a_shell(self):
        """No code follows -e of a shell, as it follows -e of perl: the script belongs to the command."""
        words = ("--base", "sh -e p.sh", "--target", "env A=b sh -xe p.sh")
        self.program("first")
        self.assertEqual(self.gate(*words), (3, ""))
        self.program("second, of another size")
        self.assertEqual(self.gate(*words), (125, REFUSED))
        self.assertEqual(self.runs(), 6)

    def test_code_in_words(self):
        """After -c, the first file is data."""
        words = ("--base", "sh -c true data", "--target", "sh -c : data")
        (self.folder / "data").write_text("1", encoding="utf-8")
        self.assertEqual(self.gate(*words), (3, ""))
        (self.folder / "data").write_text("other data", encoding="utf-8")
        self.assertEqual(self.gate(*words), (3, ""))

    def test_version(self):
        """The branch of the base gets another commit."""
        self.git("init", "-b", "main")
        self.commit("first")
        self.git("checkout", "-b", "change")
        self.commit("second")
        words = ("--base", "main", "--target", "change", "--", "./p.sh")
        self.assertEqual(self.gate(*words), (3, ""))
        self.assertEqual(self.gate(*words), (3, ""))
        self.assertEqual(self.runs(), 6)
        self.git("checkout", "main")
        self.commit("third")
        self.assertEqual(self.gate(*words), (125, REFUSED))


if __name__ == "__main__":
    unittest.main(verbosity=2)
