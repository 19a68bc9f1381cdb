#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: test_build.py BUILD.SH
Without npm, or without what it would fetch, the build goes on, says what is missing, and tries again the next time."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.abspath(sys.argv.pop(1))
FETCHES = "mkdir -p node_modules/esbuild"
NEEDED = "sh", "dirname", "realpath", "mkdir", "cat", "cmp", "cp", "rm", "find"


class Build(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="strobe-web-")
        self.addCleanup(place.cleanup)
        self.place, self.tools = place.name, os.path.join(place.name, "bin")
        os.mkdir(self.tools)
        for name in NEEDED:
            os.symlink(shutil.which(name), os.path.join(self.tools, name))

    def tool(self, name, text):
        path = os.path.join(self.tools, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"#!{self.tools}/sh\n{text}\n")
        os.chmod(path, 0o755)

    def read(self, name):
        with open(os.path.join(self.place, name), encoding="utf-8") as f:
            return f.read()

    def build(self, code=0):
        done = subprocess.run([os.path.join(self.tools, "sh"), SCRIPT, "out.S", "out.d"], cwd=self.place, capture_output=True, text=True, env={"PATH": self.tools})
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def built_without(self, problem):
        self.assertIn(problem, self.build())
        self.assertIn(f'.asciz "{problem}"', self.read("out.S"))
        self.assertEqual((self.read("page/page.head"), self.read("page/page.tail")), ("", ""))
        first = self.read("out.d").split()[1]
        self.assertEqual(os.path.basename(first), "missing")
        self.assertFalse(os.path.exists(first), "what is not there makes ninja try again")

    def test_without_npm(self):
        self.built_without("npm was not found")

    def test_without_the_network(self):
        self.tool("node", "exit 0")
        self.tool("npm", "exit 1")
        self.built_without("npm could not fetch the packages of web/package-lock.json")

    def test_with_both(self):
        """The packages are fetched once, and the bundle made each time."""
        self.tool("npm", FETCHES + '; echo "$@" >>../npm.log')
        self.tool("node", "echo head >page/page.head; echo tail >page/page.tail; echo >>node.log")
        for _ in range(2):
            self.assertEqual(self.build(), "")
        self.assertEqual(len(self.read("npm.log").splitlines()), 1)
        self.assertTrue(self.read("npm.log").startswith("ci --ignore-scripts"))
        self.assertEqual(len(self.read("node.log").splitlines()), 2)
        self.assertIn('.asciz ""', self.read("out.S"))
        files = self.read("out.d").split()[1:]
        self.assertEqual([file for file in files if not os.path.isfile(file)], [])
        self.assertIn("main.js", [os.path.basename(file) for file in files])

    def test_a_mistake_in_the_sources_stops_the_build(self):
        self.tool("npm", FETCHES)
        self.tool("node", "echo what is wrong; exit 1")
        self.assertEqual(self.build(1), "what is wrong\n")


if __name__ == "__main__":
    unittest.main()
