#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole jobs: each profile once, of the version that it is of, and the user's files as they were: test_job.py STROBE."""
import json
import os
import shutil
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "store"))
from project import Project  # noqa: E402

Project.strobe = os.path.abspath(sys.argv.pop(1))


class Job(unittest.TestCase):
    maxDiff = None
    git = True

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-job-test-")
        self.addCleanup(folder.cleanup)
        self.p = Project(Path(folder.name) / "project", git=self.git)
        self.p.environment["TMPDIR"] = folder.name

    def job(self, text):
        (self.p.folder / ".strobe").mkdir(exist_ok=True)
        (self.p.folder / ".strobe/job.yaml").write_text(text, encoding="utf-8")

    def file(self, name, text, mode=0o755):
        path = self.p.folder / name
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        return path

    def commit(self, text):
        self.p.git("add", "-A")
        return self.p.commit(text)

    def outcome(self, *words, code=0):
        """What `strobe job run --format json WORDS` says of each version."""
        done = self.p.run(Project.strobe, *(words or ("job", "run")), "--format", "json", fail=code != 0)
        self.assertEqual((done.returncode, done.stderr), (code, ""))
        return json.loads(done.stdout)["versions"]

    def stored(self, rev="HEAD"):
        """The profiles of a version: [{collector, command, workload, id...}]."""
        return self.p.json("show", rev)["profiles"]

    def series(self, profile):
        shown = self.p.json("show", profile)
        return {s["metric"]: s for s in shown["measurements"]}, shown


class Store(Job):
    def setUp(self):
        super().setUp()
        self.p.ask("init")

    def test_two_by_two_by_two_by_two(self):
        self.file("a.sh", "#!/bin/sh\necho a \"$@\" >> \"$OUT\"\n")
        self.file("b.sh", "#!/bin/sh\necho b \"$@\" >> \"$OUT\"\n")
        self.job("commands: [./a.sh, ./b.sh]\narguments: ['', --fast]\nworkloads: [{integer: {min: 1, max: 2}}]\ncollectors: [{time: [-r 1, -r 3]}]\n")
        commit = self.commit("first")
        out = self.p.folder.parent / "ran"
        self.p.environment["OUT"] = str(out)
        [version] = self.outcome()
        self.assertEqual((version["version"], version["state"], version["runs"], len(set(version["profiles"]))), (commit, "complete", 16, 16))
        ran = Counter(out.read_text(encoding="utf-8").splitlines())
        self.assertEqual(ran, {f"{c}{a} {n}": 4 for c in "ab" for a in ("", " --fast") for n in (1, 2)})
        stored = self.stored()
        self.assertEqual(Counter((s["command"], s["workload"]) for s in stored),
                         {(f"{c}.sh{a} {n}", f"integer_{n}"): 2 for c in "ab" for a in ("", " --fast") for n in (1, 2)})
        self.assertEqual(len({(s["command"], s["parameters"]) for s in stored}), 16)
        self.assertEqual(self.p.git("status", "--short"), "")
        self.assertEqual(os.listdir(self.p.folder / ".git/strobe/jobs"), ["lock"])

    def test_sizes(self):
        """The size is a feature of each value: of time as of counts, and the counts of a quadratic program say so."""
        if not shutil.which("gcc"):
            self.skipTest("no gcc")
        self.file("quad.c", "#include <stdlib.h>\nvolatile long sum;\nint main(int c, char **v) { long n = atol(v[1]);\n"
                            "for (long i = 0; i < n * n; i++) sum++;\nreturn 0; }\n")
        self.p.run("gcc", "-O1", "-o", "quad", "quad.c")
        self.job("commands: ./quad\nworkloads: [{integer: {min: 200, max: 1000, step: 200}}]\ncollectors: [time, {run: -t bbcount}]\nrepeat: 2\n")
        self.commit("first")
        [version] = self.outcome()
        self.assertEqual((version["runs"], len(version["profiles"])), (20, 20))
        counts = {}
        for profile in version["profiles"]:
            found, shown = self.series(profile)
            size = int(shown["run"]["command"][1])
            for series in found.values():
                self.assertEqual(set(series["features"]["size"]), {size})
                self.assertEqual(series["labels"], {"workload": f"integer_{size}"})
                self.assertIn(series["features"]["round"], ([1], [2]))
            if "instructions" in found:
                counts.setdefault(size, set()).update(found["instructions"]["values"])
            self.assertRegex([n for n in shown["notes"] if n.startswith("environment: ")][0], "CPUs all, addresses not randomised, governor .*, turbo .*")
        self.assertEqual(sorted(counts), [200, 400, 600, 800, 1000])
        least = {size: min(values) for size, values in counts.items()}
        # n * n rounds of the same loop: second differences are constant but for what starting the program takes.
        steps = [least[n + 200] - least[n] for n in (200, 400, 600, 800)]
        for a, b in zip(steps, steps[1:]):
            self.assertAlmostEqual((b - a) / (2 * 200 * 200), (steps[1] - steps[0]) / (2 * 200 * 200), delta=0.2)
        self.assertGreater(steps[1] - steps[0], 2 * 200 * 200)


if __name__ == "__main__":
    unittest.main()
