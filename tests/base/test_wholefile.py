#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that users name: each command refuses what is endless, huge or silent at once, in one line: test_wholefile.py STROBE."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE = os.path.abspath(sys.argv.pop(1))
FOLDED = "main;f 1\nmain;g 2\n"


class Whole(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-whole-")
        self.addCleanup(folder.cleanup)
        self.place = Path(folder.name)
        self.fifo, self.sparse = self.place / "fifo", self.place / "sparse"
        os.mkfifo(self.fifo)
        with open(self.sparse, "wb") as out:
            out.truncate(10 << 30)
        (self.place / "p.csv").write_text("metric,unit,function,value\nwall,ns,f,1\n", encoding="utf-8")
        self.run_("import", "-q", "p.csv", "-o", "p.db")

    def run_(self, *words, **more):
        return subprocess.run([STROBE, *map(str, words)], cwd=self.place, capture_output=True, timeout=60, check=False, **more)

    # A reader of a file that the user names.
    READERS = {
        "import": ("import", "-o", "out.db", "FILE"),
        "job": ("job", "run", "--file", "FILE"),
        "check": ("check", "--rules", "FILE", "p.db", "p.db"),
        "gate": ("gate", "--rules", "FILE", "--base", "/bin/true", "--", "/bin/true"),
        "annotate": ("annotate", "FILE"),
        "fuzz": ("fuzz", "--dictionary", "FILE", "-o", "f", "-i", "p.csv", "--", "/bin/cat", "@@"),
        "model": ("model", "--csv", "FILE"),
        "tune": ("tune", "--from", "FILE"),
    }

    def test_refused(self):
        for name, words in self.READERS.items():
            most = "16 MiB" if name == "fuzz" else "1 "
            for file, cause in (self.fifo, "it is a pipe that no process writes to"), ("/dev/zero", "it is neither a regular file nor a pipe"), (self.sparse, f"it has more than {most}"):
                with self.subTest(reader=name, file=str(file)):
                    done = self.run_(*[file if word == "FILE" else word for word in words])
                    said = done.stderr.decode()
                    self.assertIn(done.returncode, (2, 125), said)
                    self.assertIn(cause, said)
                    self.assertTrue(said.startswith("strobe: cannot read "), said)
                    self.assertEqual(said.count("\n"), 1, said)

    def test_pipes(self):
        """Process substitution and standard input are pipes with a writer."""
        for words in "cat good | $0 import -q -o out.db -", "$0 import -q -o out.db <(sleep 0.2; cat good)":
            (self.place / "good").write_text(FOLDED, encoding="utf-8")
            (self.place / "out.db").unlink(missing_ok=True)
            done = subprocess.run(["bash", "-c", words, STROBE], cwd=self.place, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)
            self.assertEqual(json.loads(self.run_("show", "--format", "json", "out.db").stdout)["strobe"]["version"] > 0, True)

    def test_endless_input(self):
        """More than the limit through a pipe is refused when the limit is reached, not at the end."""
        with subprocess.Popen(["cat", "/dev/zero"], stdout=subprocess.PIPE) as zeros:
            done = self.run_("check", "--rules", "/dev/stdin", "p.db", "p.db", stdin=zeros.stdout)
            zeros.kill()
            zeros.stdout.close()
        self.assertIn(b"it has more than 1 MiB", done.stderr)


if __name__ == "__main__":
    unittest.main()
