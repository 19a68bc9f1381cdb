#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Experiments of strobe blow that workers make: test_blow.py STROBE PLANTED."""
import fcntl
import json
import os
import shutil
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import worked  # noqa: E402
from worked import ON  # noqa: E402

worked.Case.strobe, PLANTED = (os.path.abspath(path) for path in sys.argv[1:3])
del sys.argv[1:3]
NOISES = ["-F", "quarter,other_half", "--noise", "nanosleep,usleep", "--timed-noise-min", "1ms", "--timed-noise-max", "8ms", "--full-analysis"]
ALL = sorted((function, kind, strength * unit) for function in ("quarter", "other_half") for kind, unit in (("nanosleep", 1000000), ("usleep", 1000)) for strength in (1, 2, 4, 8))


class Blow(worked.Case):
    def blow(self, *options):
        return self.start("blow", "-q", "--baseline-runs", "3", "--timeout", "0", *options, "-o", "r.json", "--", PLANTED, "serial")

    def result(self):
        return json.loads((self.folder / "r.json").read_text(encoding="utf-8"))

    def assert_complete(self, result):
        """Each noise was in each function once, and the calls are those of the program."""
        noisy = [run for run in result["experiments"] if run["noise"]]
        self.assertEqual(sorted((run["function"], run["noise"]["type"], run["noise"]["strength"]) for run in noisy), ALL)
        self.assertEqual(result["faults"], [])
        # Three runs without noise at first, and one after each eight experiments that others follow.
        self.assertEqual([i for i, run in enumerate(result["experiments"]) if not run["noise"]][:4], [0, 1, 2, 11])
        for run in noisy:
            self.assertEqual(run["noise"]["calls"], 10)
            self.assertGreaterEqual(run["noise"]["measured_ns"], 0.998 * 10 * run["noise"]["strength"] * (1000 if run["noise"]["type"] == "usleep" else 1))
        self.assertEqual({target["function"]: target["calls"] for target in result["targets"]}, {"quarter": 10, "other_half": 10})

    def test_each_once(self):
        out, errors = self.end(self.blow(*NOISES, *ON), 0)
        self.assertEqual((out, errors), ("", ""))
        result = self.result()
        self.assert_complete(result)
        [note] = result["notes"]
        self.assertEqual(note, f"the runs were made by workers on {os.uname().nodename} ({len(result['experiments']) + 1})")
        self.assertEqual(os.listdir(self.folder), ["r.json"])

    def test_killed(self):
        """A worker and the controller are killed; runs that have a result are not made again."""
        kept = self.kill_both(self.blow(*NOISES, *ON, "--campaign", "campaign"), 2, 6)
        self.end(self.start("campaign", "resume", "campaign"), 0)
        result = self.result()
        self.assert_complete(result)
        self.assert_kept(kept, len(result["experiments"]) + 1)
        before = result["experiments"]
        self.end(self.blow(*NOISES, *ON, "--campaign", "campaign"), 0)
        self.assertEqual(self.result()["experiments"], before)
        _, errors = self.end(self.blow(*NOISES[:-1], *ON, "--campaign", "campaign"), 125)
        self.assertEqual(errors, worked.REFUSED)

    def test_only_node(self):
        """This machine is not left out for its noise, since there is no other one, unless the option says what is allowed."""
        for options, noise in (([], 0), (["--node-noise", "100"], 1)):
            folder = f"campaign{noise}"
            self.end(self.blow("-F", "quarter", "--noise", "busy", "--iterations", "1", "--on", "local:1", *options, "--campaign", folder), 0)
            self.assertEqual(json.loads((self.folder / folder / "campaign.json").read_text(encoding="utf-8"))["noise"], noise)

    def test_lines_and_status(self):
        """Lines and blocks are chosen by the samples of the first worker's run. Only results that can be read are finished runs."""
        out, errors = self.end(self.start("blow", "-q", "-m", "causal", "--by", "line,block", "-F", "main_part", *ON, "--baseline-runs", "3", "--timeout", "0",
                                          "--iterations", "2", "--timeline", "none", "--campaign", "campaign", "-o", "r.json", "--", PLANTED, "compute"), 0)
        self.assertEqual((out, errors), ("", ""))
        result = self.result()
        noisy = [run for run in result["experiments"] if run["noise"]]
        self.assertEqual([(run["noise"]["type"], run["exit"]) for run in noisy], [("virtual", 0)] * 2)
        self.assertEqual(len({run["function"] for run in noisy}), 2)
        self.assertTrue(all("line" in target or "block" in target for target in result["targets"]), result["targets"])

        runs = len(result["experiments"]) + 1
        self.assertEqual(self.status(), ("complete", runs, runs))
        self.assertIn(f"\nstate: complete; {runs} of {runs} tasks have a result, 0 were given up\n", self.end(self.start("campaign", "status", "campaign"), 0)[0])
        self.check_cancel(runs)
        (self.folder / f"campaign/results/{runs - 1}").unlink()
        self.assertEqual(self.status(), ("interrupted", runs, runs - 1))
        self.assertIn("\ntime left: about ", self.end(self.start("campaign", "status", "campaign"), 0)[0])
        (self.folder / "campaign/cancelled").touch()
        self.assertEqual(self.status(), ("cancelled", runs, runs - 1))
        self.assertNotIn("time left", self.end(self.start("campaign", "status", "campaign"), 0)[0])
        (self.folder / "campaign/cancelled").unlink()
        for path in (self.folder / "campaign/results").iterdir():
            path.write_text("", encoding="utf-8")
        self.assertEqual(self.status(), ("interrupted", runs, 0))
        for path in (self.folder / "campaign").iterdir():
            if path.name != "campaign.json":
                (shutil.rmtree if path.is_dir() else os.unlink)(path)
        self.assertEqual(self.status(), ("interrupted", 0, 0))

    def status(self):
        status = json.loads(self.end(self.start("campaign", "status", "--format", "json", "campaign"), 0)[0])
        return tuple(status[key] for key in ("state", "runs", "finished"))

    def check_cancel(self, runs):
        """A complete campaign cannot be cancelled. While a controller lives, it may add tasks: the campaign is not complete."""
        folder, controller = os.path.realpath(self.folder / "campaign"), self.folder / "campaign/controller"
        out, _ = self.end(self.start("campaign", "cancel", "campaign"), 0)
        self.assertEqual((out, self.status()), (f"complete: {folder}; nothing was cancelled\n", ("complete", runs, runs)))
        self.assertFalse((self.folder / "campaign/cancelled").exists())
        with open(controller, "r+", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            os.utime(controller, (time.time() + 3600,) * 2)
            self.assertEqual(self.status(), ("running", runs, runs))
            out, _ = self.end(self.start("campaign", "cancel", "campaign"), 0)
            self.assertEqual((out, self.status()), (f"cancelled: {folder}; to continue: strobe campaign resume {folder}\n", ("cancelled", runs, runs)))
        os.utime(controller, (0, 0))
        (self.folder / "campaign/cancelled").unlink()

    def test_failures(self):
        """The controller prints why a worker cannot make a run."""
        _, errors = self.end(self.start("blow", *ON, "--corpus", "corpus", "--", PLANTED, "serial"), 125)
        self.assertIn("corpus", errors)
        self.assertEqual(os.listdir(self.folder), [])
        (self.folder / "corpus").write_text("nosuch\n", encoding="utf-8")
        _, errors = self.end(self.start("blow", *ON, "--corpus", "corpus", "--", PLANTED, "serial"), 125)
        first, second = errors.splitlines()
        self.assertIn("nosuch", first)
        [folder] = [name for name in os.listdir(self.folder) if name.startswith("strobe-campaign-blow.")]
        self.assertEqual(second, f"strobe: all results are kept; to continue: strobe campaign resume {self.folder / folder}")
        shutil.rmtree(self.folder / folder)

    def test_mistakes(self):
        for words, text in (
                (("--on", "there"), "--on takes local, local:N, slurm or slurm:PARTITION, not 'there'"),
                (("--campaign", "x"), "--campaign needs workers: add --on local or --on slurm"),
                (("--node-noise", "1"), "--node-noise needs workers: add --on local or --on slurm"),
                (("--on", "local", "--node-noise", "x"), "--node-noise takes a percentage, such as 5, or 0 for no calibration, not 'x'"),
                (("--on", "local", "--journal", "j"), "--journal cannot be used with --on: leave out one, since the folder of --campaign keeps the runs"),
                (("--on", "local", "--show-functions"), "--show-functions cannot be used with --on: leave out one"),
                (("--on", "local", "--timeline", "f"), "--timeline cannot be used with --on: leave out one"),
                (("--on", "local", "--window", "1s", "--progress", "f"), "--window cannot be used with --on: leave out one"),
                (("--experiment", "select"), "--experiment needs a file for the run: -o FILE"),
                (("--experiment", "0 run", "-o", "x"), "--experiment needs a selection: --reference FILE"),
        ):
            self.assertEqual(self.end(self.start("blow", *words, "--", PLANTED, "serial"), 2), ("", f"strobe: {text}\n"))
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
