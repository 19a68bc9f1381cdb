#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each command with workers on a real Slurm with two nodes on this machine: test_loops_slurm.py STROBE SUMS PLANTED KNOWN LIST. Skipped where Slurm's daemons cannot
start. What the commands compute is tested with workers of this machine (test_annotate.py and the like)."""
import json
import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent / "job")]
import slurm  # noqa: E402
import worked  # noqa: E402

worked.Case.strobe, SUMS, PLANTED, KNOWN, LIST = (os.path.abspath(path) for path in sys.argv[1:6])
del sys.argv[1:6]
ON = ["--on", "slurm:test"]


class OnSlurm(worked.Case):
    @classmethod
    def setUpClass(cls):
        top = tempfile.mkdtemp(prefix="strobe-loops-slurm-")
        cls.addClassCleanup(shutil.rmtree, top, ignore_errors=True)
        try:
            cls.daemons = slurm.Slurm(Path(top) / "slurm").__enter__()
        except slurm.Unavailable as why:
            raise unittest.SkipTest(f"Slurm does not run here: {why}") from why
        cls.addClassCleanup(cls.daemons.stop)

    def setUp(self):
        super().setUp()
        self.environment.update(self.daemons.environment)

    def results(self):
        """The results of a named campaign, and the nodes that have made them."""
        found = {int(path.name): json.loads(path.read_text(encoding="utf-8")[:-5]) for path in (self.folder / "campaign/results").iterdir()}
        nodes = {result["worker"].rsplit(".", 2)[0] for result in found.values()}
        self.assertLessEqual(nodes, {"n1", "n2"})
        return sorted(found)

    def test_annotate(self):
        (self.folder / "in").mkdir()
        for i in range(8):
            (self.folder / "in" / f"{i}").write_text(f"{10 * i}\n", encoding="utf-8")
        self.end(self.start("annotate", "-m", "instructions", "-F", "work", "-o", "records", "-i", "in", *ON, "--noise", "0", "--campaign", "campaign", "--", SUMS, "@@"), 0)
        lines = (self.folder / "records").read_text(encoding="utf-8").splitlines()
        self.assertEqual([int(line.split(",")[2]) for line in lines if not line.startswith("#")], [10 * i for i in range(8)])
        self.assertEqual(self.results(), list(range(8)))

    def test_blow(self):
        self.end(self.start("blow", "-q", "--baseline-runs", "3", "--timeout", "0", "-F", "quarter", "--noise", "nanosleep", "--timed-noise-min", "1ms", "--timed-noise-max", "8ms",
                            "--full-analysis", *ON, "--node-noise", "0", "--campaign", "campaign", "-o", "r.json", "--", PLANTED, "serial"), 0)
        result = json.loads((self.folder / "r.json").read_text(encoding="utf-8"))
        noises = [run["noise"]["strength"] for run in result["experiments"] if run["noise"]]
        self.assertEqual((sorted(noises), result["faults"]), ([1000000, 2000000, 4000000, 8000000], []))
        self.assertRegex(result["notes"][0], r"^the runs were made by workers on n\d ")
        self.assertEqual(self.results(), list(range(1 + 3 + 4)))

    def test_tune(self):
        out, _ = self.end(self.start("tune", "-q", "--format", "json", "-b", "100%", "-T", "1h", "-r", "4", *ON, "--node-noise", "0", "--campaign", "campaign", "--", KNOWN), 0)
        study = json.loads(out)
        self.assertEqual((study["complete"], [run["unique_coverage"] for run in study["runs"]]), (True, [100] * 4))
        self.assertEqual(self.results(), list(range(1 + 4)))

    def test_tune_max(self):
        """A search for the largest budget. Its metric is always good, so the first step, all of the time, is the result."""
        program = ("sh", "-c", "i=0; while [ $i -lt 20 ]; do sleep 0.1; i=$((i + 1)); done")
        out, _ = self.end(self.start("tune", "-q", "--max", "--format", "json", "-T", "20ms", "--qos", "cmd:while :; do echo 100; sleep 0.02; done", "--qos-min", "50", "-r", "1",
                                     *ON, "--node-noise", "0", "--campaign", "campaign", "--", *program), 0)
        search = json.loads(out)
        self.assertEqual((search["of"], search["complete"], search["best"]["budget"], search["best"]["median"], [step["holds"] for step in search["steps"]]), ("budget", True, 1, 100, [True]))
        self.assertEqual(self.results(), [0])

    def test_fuzz(self):
        (self.folder / "seed").write_bytes(b"a few [words] in [brackets]\n")
        out, _ = self.end(self.start("fuzz", "-q", "--format", "json", "-s", "seed", "-t", "600s", "--judge", "600s", "-N", "2000", "--executions", "64", "--rules",
                                     "double-line,copy-line,repeat-word", "-o", "out", *ON, "--node-noise", "0", "--campaign", "campaign", "--", LIST, "@@"), 0)
        [finding] = json.loads(out)["findings"]
        self.assertEqual((finding["function"], finding["law"]["form"]), ("append_bracket", "power"))
        self.assertEqual(self.results(), list(range(4 * 8)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
