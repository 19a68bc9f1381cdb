#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The jobs of docs/ci.md, executed as their systems would, on a clone of each of three commits: test_ci.py STROBE."""
import contextlib
import os
import re
import shutil
import sqlite3
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

    def test_memory(self):
        """Bytes that a function allocates are compared as instructions are: by status and by check."""
        source = "#include <stdlib.h>\nvoid *kept[5000];\n__attribute__((noinline)) void make_blocks(int n)\n{\n\tfor (int i = 0; i < n; i++)\n\t\tkept[i] = malloc(100);\n}\n" \
                 "int main(void)\n{\n\tmake_blocks(BLOCKS);\n\treturn 0;\n}\n"
        self.p.ask("init")
        for number, blocks in enumerate((100, 100, 1600)):
            (self.p.folder / "program.c").write_text(source.replace("BLOCKS", str(blocks)), encoding="utf-8")
            subprocess.run(["cc", "-g", "-O1", "-o", "program", "program.c"], cwd=self.p.folder, check=True)
            (self.p.folder / "file").write_text(f"{number}\n", encoding="utf-8")
            self.p.commit(f"version {number}")
            self.p.run(Project.strobe, "mem", "-q", "-o", f"m{number}.db", "--", "./program")
            self.p.ask("add", "--rev", "HEAD", f"m{number}.db")
            done = subprocess.run([Project.strobe, "status", "--exit-code"], cwd=self.p.folder, env=self.p.environment, capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(done.returncode, int(number == 2), done.stdout + done.stderr)
            if number == 2:
                self.assertRegex(done.stdout, r"10,000.*160,000.*make_blocks")
        self.assertIn("no change is reported", self.p.ask("check", "m0.db", "m1.db"))
        found = self.p.json("check", "m1.db", "m2.db")["changes"]
        self.assertEqual([(c["function"], c["from"], c["to"]) for c in found], [("make_blocks", 10000, 160000)])

    def test_job(self):
        """The profile of a job has the totals of the run, too: they are no second cost of it."""
        self.p.ask("init")
        (self.p.folder / "file").write_text("", encoding="utf-8")
        self.p.commit("first")
        (self.p.folder / "program.c").write_text(SOURCE.replace("ROUNDS", "10"), encoding="utf-8")
        subprocess.run(["make", "-s"], cwd=self.p.folder, check=True)
        (self.p.folder / ".strobe").mkdir(exist_ok=True)
        (self.p.folder / ".strobe/job.yaml").write_text("commands: [./program]\narguments: [large.txt]\ncollectors: [{run: -t hot}]\nrepeat: 1\n", encoding="utf-8")
        self.p.ask("job", "run", "-q")
        profile = self.p.json("show", "HEAD")
        job, plain = self.p.home / "job.db", self.p.home / "plain.db"
        self.p.ask("show", "HEAD", "--extract", job)
        self.p.run(Project.strobe, "run", "-q", "-o", plain, "--", "./program", "large.txt")
        self.assertIn("instructions", [s["metric"] for s in profile["measurements"]])
        with contextlib.closing(sqlite3.connect(job)) as db:
            ((counted,),) = db.execute("SELECT sum(instructions) FROM function")
        total = self.p.json("check", job, job)["total"]
        self.assertEqual((total["from"], total["to"]), (counted, counted), total)
        self.assertEqual([c for c in self.p.json("check", job, plain)["changes"] if c["function"] == "main"], [])

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
