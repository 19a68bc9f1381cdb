#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs on workers of this machine: each run once in the store, whoever is killed: test_campaign.py STROBE."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "store"))
from project import Project  # noqa: E402

Project.strobe = os.path.abspath(sys.argv.pop(1))
WORKERS = min(len(os.sched_getaffinity(0)), 2)
LONG = 240  # s: far more than any step takes
COLLECTOR = """#!/bin/sh
# What the program does: one line for each run that comes to its end.
{before}
echo "$STROBE_WORKLOAD" >> "$OUT"
printf 'metric\\tunit\\tvalue\\nsize\\tB\\t%s\\n' "$STROBE_SIZE"
"""


class Campaign(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-campaign-test-")
        self.addCleanup(folder.cleanup)
        self.p = Project(Path(folder.name) / "project")
        self.out = Path(folder.name) / "ran"
        self.flag = Path(folder.name) / "flag"
        self.p.environment.update(OUT=str(self.out), FLAG=str(self.flag), TMPDIR=folder.name)
        self.p.ask("init")
        self.command = [Project.strobe, "job", "run", "--on", f"local:{WORKERS}", "--noise", "0"]
        self.started = []
        self.addCleanup(self.end_all)

    def end_all(self):
        for process in self.started:
            process.kill()
            process.communicate()

    def project(self, sizes, repeat, before=""):
        script = self.p.folder / "own.sh"
        script.write_text(COLLECTOR.format(before=before), encoding="utf-8")
        script.chmod(0o755)
        (self.p.folder / ".strobe").mkdir(exist_ok=True)
        (self.p.folder / ".strobe/job.yaml").write_text(
            f"commands: 'true'\nworkloads: [{{integer: {{min: 1, max: {sizes}}}}}]\ncollectors: ./own.sh\nrepeat: {repeat}\n", encoding="utf-8")
        self.p.git("add", "-A")
        self.p.commit("first")

    def start(self, *words):
        process = subprocess.Popen([*(words or self.command), "--format", "json"], cwd=self.p.folder, env=self.p.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.started.append(process)
        return process

    def end(self, process, code=0):
        out, errors = process.communicate(timeout=LONG)
        self.assertEqual(process.returncode, code, errors)
        return json.loads(out)["versions"][0] if code == 0 else errors

    def run_job(self, *words, code=0):
        return self.end(self.start(*words), code)

    def folder(self):
        found = list((self.p.folder / ".git/strobe/jobs").glob("*/campaign-*"))
        self.assertEqual(len(found), 1)
        return found[0]

    def wait(self, true):
        until = time.monotonic() + LONG
        while not true():
            self.assertLess(time.monotonic(), until, "nothing happens")
            time.sleep(0.01)

    def ran(self):
        return Counter(self.out.read_text(encoding="utf-8").split()) if self.out.exists() else Counter()

    def workers(self):
        """Process numbers of the workers that have reported, as their reports' names have them."""
        folders = list((self.p.folder / ".git/strobe/jobs").glob("*/campaign-*/workers"))
        return [int(name.rsplit(".", 2)[1]) for folder in folders for name in os.listdir(folder)]

    def assert_stored(self, version, sizes, repeat):
        """Each run has one profile, and no profile is there twice."""
        self.assertEqual((version["state"], version["runs"], version["failures"]), ("complete", sizes * repeat, []))
        self.assertEqual(len(set(version["profiles"])), sizes * repeat)
        found = Counter()
        for profile in version["profiles"]:
            [series] = self.p.json("show", profile)["measurements"]
            found[series["values"][0], series["features"]["round"][0]] += 1
        self.assertEqual(found, {(n, r): 1 for n in range(1, sizes + 1) for r in range(1, repeat + 1)})
        self.assertEqual(os.listdir(self.p.folder / ".git/strobe/jobs"), ["lock"])

    def test_each_run_once(self):
        self.project(4, 3)
        version = self.run_job()
        self.assert_stored(version, 4, 3)
        self.assertEqual(self.ran(), {f"integer_{n}": 3 for n in range(1, 5)})
        self.assertEqual(self.p.git("status", "--short"), "")

    def test_calibrated(self):
        """A worker calibrates before its first run, and each profile says what came of it."""
        self.project(1, 2)
        version = self.run_job(*self.command[:-1], "100000")
        self.assertEqual(version["state"], "complete")
        for profile in version["profiles"]:
            [note] = [n for n in self.p.json("show", profile)["notes"] if n.startswith("campaign: ")]
            self.assertRegex(note, r"^campaign: run by .*, where the same work differs by .* %$")

    def test_noisy_node(self):
        self.project(1, 1)
        error = self.run_job(*self.command[:-1], "0.0000001", code=125)
        self.assertRegex(error, r"^strobe: no worker of the campaign is left; node .*: equal work differs by up to .* %, but at most 1e-07 % are allowed: "
                                r"allow more with --noise\n$")
        self.assertFalse(self.out.exists())
        self.assert_stored(self.run_job(), 1, 1)

    def test_killed(self):
        """Workers and the controller are killed; what has finished is never run again, and nothing is lost."""
        self.project(10, 4, "sleep 0.05")
        controller = self.start()
        for n in (2, 6, 10):
            self.wait(lambda n=n: sum(self.ran().values()) >= n and self.workers())
            for worker in self.workers()[:1]:
                self.kill(worker)
        self.wait(lambda: sum(self.ran().values()) >= 15)
        controller.kill()
        controller.communicate()
        for worker in self.workers():
            self.wait(lambda worker=worker: not self.is_running(worker))
        version = self.run_job()
        self.assert_stored(version, 10, 4)
        # A run is only repeated if its worker was killed during it.
        times = self.ran()
        self.assertTrue(all(times[f"integer_{n}"] >= 4 for n in range(1, 11)))
        self.assertLessEqual(sum(times.values()), 40 + 3 + WORKERS)

    @staticmethod
    def kill(pid):
        """Only if it still is a worker: the report of one that is dead stays for a while."""
        try:
            if b"campaign\0worker\0" in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)
        except (FileNotFoundError, ProcessLookupError):
            pass

    @staticmethod
    def is_running(pid):
        try:
            return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] != "Z"
        except (FileNotFoundError, ProcessLookupError):
            return False

    def test_a_run_that_kills_workers(self):
        """It is given up, and told from a program that fails; all others are kept."""
        self.project(3, 1, 'if [ "$STROBE_SIZE" = 2 ] && [ -e "$FLAG" ]; then kill -9 $PPID; exit 1; fi')
        self.flag.touch()
        error = self.run_job(code=125)
        self.assertRegex(error, r"^strobe: run \d of 3 was given up, because 5 workers ended during this run; the results of all others are kept, and the same "
                                r"command tries it again\n$")
        self.flag.unlink()
        # The command that the campaign is of, from anywhere.
        done = subprocess.run([Project.strobe, "campaign", "resume", "--format", "json", self.folder()], cwd="/", env=self.p.environment, stdout=subprocess.PIPE, text=True,
                              check=True, timeout=LONG)
        self.assert_stored(json.loads(done.stdout)["versions"][0], 3, 1)
        self.assertEqual(set(self.ran()), {"integer_1", "integer_2", "integer_3"})

    def test_program_failures_are_results(self):
        self.project(2, 1, 'if [ "$STROBE_SIZE" = 2 ]; then echo "my own fault" >&2; exit 7; fi')
        process = self.start()
        out, _ = process.communicate(timeout=LONG)
        version = json.loads(out)["versions"][0]
        self.assertEqual((process.returncode, version["state"], len(version["profiles"])), (1, "complete", 1))
        self.assertEqual([f["reason"] for f in version["failures"]], ["my own fault"])

    def test_full_disk(self):
        """That is no result of the run: the node stops, and a later attempt has it."""
        self.project(1, 1, 'if [ -e "$FLAG" ]; then echo "cannot write x.db: No space left on device" >&2; exit 125; fi')
        self.flag.touch()
        error = self.run_job(code=125)
        self.assertRegex(error, r"^strobe: no worker of the campaign is left; node .*: cannot write x.db: No space left on device\n$")
        self.flag.unlink()
        self.assert_stored(self.run_job(), 1, 1)

    def test_cancel(self):
        self.project(2, 1, 'while [ -e "$FLAG" ]; do sleep 0.05; done')
        self.flag.touch()
        job = self.start()
        self.wait(self.workers)
        folder = self.folder()
        self.wait(lambda: os.listdir(folder / "leases"))
        status = self.p.json("campaign", "status", folder)
        self.assertEqual((status["state"], status["runs"], status["finished"], status["given_up"], status["quarantine"]), ("running", 2, 0, 0, []))
        self.assertEqual(self.p.ask("campaign", "cancel", folder), "cancelled: {0}; to continue: strobe campaign resume {0}\n".format(os.path.realpath(folder)))
        self.end(job, 128 + signal.SIGTERM)
        self.assertEqual(self.p.json("campaign", "status", folder)["state"], "cancelled")
        self.assertEqual(os.listdir(folder / "leases"), [])
        self.assertIn("state: cancelled; 0 of 2 runs have a result, 0 were given up\n", self.p.ask("campaign", "status", folder))
        # Machines of another key do not work on it.
        (folder / "machine").write_text("cpu=Other\n", encoding="utf-8")
        self.flag.unlink()
        self.assertRegex(self.run_job(code=125), r"^strobe: no worker of the campaign is left; node .*: the machine differs from the first one of the campaign: that one has cpu=Other, this one has cpu=")
        (folder / "machine").unlink()
        self.assert_stored(self.run_job(), 2, 1)

    def test_with_and_without_workers(self):
        """What was run without workers is not run by workers again."""
        self.project(3, 2, 'echo >> "$FLAG.begun"; [ ! -e "$FLAG" ] || [ "$(wc -l < "$FLAG.begun")" -lt 3 ] || sleep 1000')
        begun = Path(f"{self.flag}.begun")
        self.flag.touch()
        job = self.start(*self.command[:3])
        self.wait(lambda: begun.exists() and begun.stat().st_size == 3)
        job.send_signal(signal.SIGINT)
        job.communicate(timeout=LONG)
        self.assertEqual(job.returncode, 128 + signal.SIGINT)
        self.flag.unlink()
        version = self.run_job()
        self.assertEqual(version["resumed"], 2)
        self.assert_stored(version, 3, 2)
        self.assertEqual(self.ran(), {f"integer_{n}": 2 for n in (1, 2, 3)})

    def test_restart(self):
        """Another journal is another campaign."""
        self.project(1, 1, '[ ! -e "$FLAG" ] || sleep 1000')
        self.flag.touch()
        job = self.start()
        self.wait(lambda: self.workers() and os.listdir(self.folder() / "leases"))
        job.send_signal(signal.SIGINT)
        self.end(job, 128 + signal.SIGINT)
        before = self.folder()
        self.flag.unlink()
        (before / "results/0").write_text("failed by an older attempt\nend\n", encoding="utf-8")
        self.assert_stored(self.run_job(*self.command, "--restart"), 1, 1)

    def test_mistakes(self):
        self.project(1, 1)
        too_many = len(os.sched_getaffinity(0)) + 1
        for words, code, text in (
                (("job", "run", "--on", "here"), 2, "--on takes local, local:N, slurm or slurm:PARTITION, not 'here'"),
                (("job", "run", "--on", "local:0"), 2, "--on local: takes a number of workers from 1 to the number of CPUs after the colon, not '0'"),
                (("job", "run", "--on", "local:1", "--lease", "1ms"), 2, "--lease takes a time of a second or more, such as 60s, not '1ms'"),
                (("job", "run", "--on", "local:1", "--noise", "no"), 2, "--noise takes a percentage, such as 5, or 0 for no calibration, not 'no'"),
                (("job", "run", "--on", "slurm", "--rev", "HEAD"), 2, "--rev works with --on local, not with slurm: check the version out instead"),
                (("job", "run", "--on", f"local:{too_many}"), 125, f"--on local:{too_many} needs a CPU for each worker, but strobe may use only {too_many - 1}: use local:{too_many - 1}, or local for all but one"),
                (("campaign", "status", "."), 125, ". is not the folder of a campaign: begin one by a command with --on and --campaign FOLDER"),
                (("campaign", "status"), 2, "strobe campaign status takes the folder of a campaign"),
                (("campaign", "show", "."), 2, "strobe campaign takes status, resume, cancel or worker, not 'show'"),
                (("campaign", "cancel", "a", "b"), 2, "strobe campaign takes one folder; 'b' is one too many"),
        ):
            done = self.p.run(Project.strobe, *words, fail=True)
            self.assertEqual((done.returncode, done.stderr, done.stdout), (code, f"strobe: {text}\n", ""))
        if not shutil.which("sinfo"):
            done = self.p.run(Project.strobe, "job", "run", "--on", "slurm", fail=True)
            self.assertEqual((done.returncode, done.stderr), (125, "strobe: cannot run sinfo: is Slurm installed here?\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
