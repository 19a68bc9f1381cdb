#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hundreds of tasks, each with one result, while everything is killed: test_many.py local|slurm STROBE MANY NAP. Slurm is skipped where its daemons cannot start, and
the full disk where no file system can be mounted."""
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent / "job")]
import many  # noqa: E402
import slurm  # noqa: E402

PLACE, PROGRAMS = sys.argv[1], [os.path.abspath(path) for path in sys.argv[2:5]]
del sys.argv[1:5]


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-many-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def campaign(self, place, tasks, kills, kilobytes=0, **more):
        """Checks that each task has exactly one result, which belongs to it. Returns the campaign."""
        with many.small_disk(self.folder / "disk", kilobytes) as grow:
            if kilobytes and not grow:
                self.skipTest("no file system can be mounted here")
            run = many.Many(PROGRAMS, self.folder / "disk", place, tasks, grow=grow, **more)
            run.run(kills, slow=kills > 0)
            again = run.check()
            # On a busy machine, the campaign may end before the last kills.
            self.assertIn(sum(run.kills.values()), range(min(kills, 1), kills + 1))
            if not kills:
                self.assertEqual(again, 0)
        return run


@unittest.skipUnless(PLACE == "local", "workers of this machine")
class Local(Folder):
    place = f"local:{min(len(os.sched_getaffinity(0)), 2)}"

    def test_nothing_happens(self):
        """Each task is executed once."""
        run = self.campaign(self.place, 200, 0)
        self.assertEqual((run.starts, run.full), (1, 0))

    def test_kills(self):
        run = self.campaign(self.place, 300, 8)
        self.assertEqual(run.starts, 1 + run.kills["controller"])

    def test_full_disk(self):
        """The disk is full when about half of the tasks have a result; the campaign goes on when it is not."""
        run = self.campaign(self.place, 300, 4, 150 * 4 + 60 + 100)
        self.assertEqual((run.full, run.starts), (1, 2 + run.kills["controller"]))


@unittest.skipUnless(PLACE == "slurm", "nodes of Slurm")
class OnSlurm(Folder):
    def test_kills(self):
        """Also slurmd is killed. Few calls of sbatch are made."""
        environment = {}
        try:
            with slurm.Slurm(self.folder / "slurm") as daemons:
                environment.update(daemons.environment)
                calls = many.count_sbatch(self.folder, environment)
                run = self.campaign("slurm:test", 200, 5, environment=environment, slurm=daemons)
                daemons.run("scancel", "--user=root")
        except slurm.Unavailable as why:
            self.skipTest(f"Slurm does not run here: {why}")
        self.assertEqual(run.starts, 1 + run.kills["controller"])
        self.assertIn(calls(), range(1, 11))


if __name__ == "__main__":
    unittest.main(verbosity=2)
