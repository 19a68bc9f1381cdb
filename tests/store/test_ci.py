#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The jobs of docs/ci.md, executed as their systems would, on a clone of each of three commits: test_ci.py STROBE."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from project import ENVIRONMENT, Project  # noqa: E402

DOCUMENT = Path(__file__).parents[2] / "docs/ci.md"
MAKEFILE = "program: program.c\n\tcc -O1 -o program program.c\n"
SOURCE = """#include <stdio.h>
int main(int argc, char **argv)
{
	FILE *f = fopen(argv[argc - 1], "r");
	unsigned sum = 0;
	int c;
	while (f && (c = getc(f)) != EOF)
		for (int i = 0; i < ROUNDS; i++)
			sum = sum * 31 + (unsigned)c;
	return sum == 7;
}
"""
# A server of artifacts: it has what the last job of the branch has kept.
CURL = """#!/bin/sh
for last; do :; done
cp "$ARTIFACTS/store.db" "$last" 2>/dev/null || exit 22
"""


def block(heading):
    """The YAML under a heading."""
    text = DOCUMENT.read_text(encoding="utf-8")
    return re.search(rf"^## {heading}\n.*?^```yaml\n(.*?)^```", text, re.M | re.S)[1]


def github():
    """What follows `run: |`, without its indentation."""
    lines = block("GitHub").splitlines()
    at = next(i for i, line in enumerate(lines) if line.strip() == "- run: |")
    return "\n".join(line.strip() for line in lines[at + 1:])


def gitlab():
    """The commands of `script:`; one in quotes has no escapes."""
    script = re.search(r"^  script:\n(.*?)^  \w", block("GitLab"), re.M | re.S)[1]
    return "\n".join(line.strip()[2:].strip("'") for line in script.splitlines())


class Jobs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-ci-")
        self.addCleanup(folder.cleanup)
        self.top = Path(folder.name)
        self.home = self.top / "home"
        tools = self.top / "bin"
        for place in self.home, tools, self.top / "artifacts":
            place.mkdir()
        (tools / "strobe").symlink_to(Project.strobe)
        (tools / "curl").write_text(CURL, encoding="utf-8")
        (tools / "curl").chmod(0o755)
        self.environment = {**os.environ, **ENVIRONMENT, "HOME": str(self.home), "PATH": f"{tools}:{os.environ['PATH']}", "ARTIFACTS": str(self.top / "artifacts")}
        self.environment.pop("STROBE_CONFIG", None)
        self.p = Project(self.top / "upstream")
        (self.p.folder / "Makefile").write_text(MAKEFILE, encoding="utf-8")
        (self.p.folder / "large.txt").write_text("some text\n" * 400, encoding="utf-8")
        self.p.git("add", "Makefile", "large.txt")

    def version(self, rounds, text):
        (self.p.folder / "program.c").write_text(SOURCE.replace("ROUNDS", str(rounds)), encoding="utf-8")
        self.p.git("add", "program.c")
        return self.p.commit(text)

    def job(self, commit, script, options):
        """Runs a script in a fresh clone with a detached HEAD; returns the clone, the exit code and the output."""
        clone = self.top / f"clone-{commit[:10]}"
        shutil.rmtree(clone, ignore_errors=True)
        self.p.git("clone", "-q", self.p.folder, clone)
        self.p.git("checkout", "-q", "--detach", commit, cwd=clone)
        done = subprocess.run(["bash", *options, "-c", script], cwd=clone, env=self.environment, capture_output=True, text=True, timeout=600, check=False)
        return clone, done.returncode, done.stdout + done.stderr

    def versions(self):
        return self.version(100, "first"), self.version(100, "the same again"), self.version(150, "slower")

    def check(self, codes, outputs):
        self.assertEqual(codes, [0, 0, 1], "\n".join(outputs))
        self.assertIn("main", outputs[2])

    def test_github(self):
        """The store stays in the cache directory."""
        codes, outputs = [], []
        for commit in self.versions():
            _, code, output = self.job(commit, github(), ["-e", "-o", "pipefail"])
            codes.append(code)
            outputs.append(output)
        self.check(codes, outputs)
        self.assertTrue((self.home / "strobe-store").exists())

    def test_gitlab(self):
        """The store of a job on the default branch becomes the artifact that the next job reads."""
        codes, outputs = [], []
        for commit in self.versions():
            clone, code, output = self.job(commit, gitlab(), ["-e", "-o", "pipefail"])
            codes.append(code)
            outputs.append(output)
            shutil.copy(clone / "strobe-store/store.db", self.top / "artifacts/store.db")
        self.check(codes, outputs)


if __name__ == "__main__":
    Project.strobe = os.path.abspath(sys.argv.pop(1))
    unittest.main()
