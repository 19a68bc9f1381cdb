#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs on a real Slurm with two nodes on this machine: test_slurm.py STROBE. Skipped where Slurm's daemons cannot start."""
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

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "store"))
import slurm  # noqa: E402
from project import Project  # noqa: E402

Project.strobe = os.path.abspath(sys.argv.pop(1))
LONG = 240  # s: far more than any step takes
SIZES, REPEAT = 10, 3


class OnSlurm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="strobe-slurm-test-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        try:
            cls.slurm = slurm.Slurm(Path(cls.folder) / "slurm").__enter__()
        except slurm.Unavailable as why:
            raise unittest.SkipTest(f"Slurm does not run here: {why}") from why
        cls.addClassCleanup(cls.slurm.stop)

    def setUp(self):
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        self.p = Project(folder / "project")
        self.out, self.calls = folder / "ran", folder / "calls"
        bin_folder = folder / "bin"
        bin_folder.mkdir()
        wrapper = bin_folder / "sbatch"
        wrapper.write_text(f"#!/bin/sh\necho call >> {self.calls}\nexec {shutil.which('sbatch')} \"$@\"\n", encoding="utf-8")
        wrapper.chmod(0o755)
        self.p.environment.update(self.slurm.environment, OUT=str(self.out), PATH=f"{bin_folder}:{os.environ['PATH']}")
        script = self.p.folder / "own.sh"
        script.write_text("#!/bin/sh\nsleep 0.1\necho \"$STROBE_SIZE\" >> \"$OUT\"\nprintf 'metric\\tunit\\tvalue\\nsize\\tB\\t%s\\n' \"$STROBE_SIZE\"\n",
                          encoding="utf-8")
        script.chmod(0o755)
        (self.p.folder / ".strobe").mkdir()
        (self.p.folder / ".strobe/job.yaml").write_text(
            f"commands: 'true'\nworkloads: [{{integer: {{min: 1, max: {SIZES}}}}}]\ncollectors: ./own.sh\nrepeat: {REPEAT}\n", encoding="utf-8")
        self.p.ask("init")
        self.p.git("add", "-A")
        self.p.commit("first")
        self.started = []
        self.addCleanup(self.end_all)

    def end_all(self):
        for process in self.started:
            process.kill()
            process.communicate()

    def start(self):
        process = subprocess.Popen([Project.strobe, "job", "run", "--on", "slurm:test", "--noise", "0", "--format", "json"], cwd=self.p.folder,
                                   env=self.p.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.started.append(process)
        return process

    def assert_complete(self, process):
        out, errors = process.communicate(timeout=LONG)
        self.assertEqual((process.returncode, errors), (0, ""))
        [version] = json.loads(out)["versions"]
        self.assertEqual((version["state"], version["runs"], version["failures"], len(set(version["profiles"]))), ("complete", SIZES * REPEAT, [], SIZES * REPEAT))
        found = Counter()
        for profile in version["profiles"]:
            [series] = self.p.json("show", profile)["measurements"]
            found[series["values"][0], series["features"]["round"][0]] += 1
        self.assertEqual(found, {(n, r): 1 for n in range(1, SIZES + 1) for r in range(1, REPEAT + 1)})
        calls = len(self.calls.read_text(encoding="utf-8").split())
        self.assertIn(calls, range(1, 11))

    def wait(self, true):
        until = time.monotonic() + LONG
        while not true():
            self.assertLess(time.monotonic(), until, "nothing happens")
            time.sleep(0.02)

    def ran(self):
        return Counter(self.out.read_text(encoding="utf-8").split()) if self.out.exists() else Counter()

    def workers(self):
        folders = list((self.p.folder / ".git/strobe/jobs").glob("*/campaign-*/workers"))
        return [name.rsplit(".", 2) for folder in folders for name in os.listdir(folder)]

    @staticmethod
    def kill(pid):
        try:
            if b"campaign\0worker\0" in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(int(pid), signal.SIGKILL)
        except (FileNotFoundError, ProcessLookupError):
            pass

    def test_few_calls(self):
        """All runs, each once, by few calls of sbatch: one, unless Slurm itself loses a pilot."""
        self.assert_complete(self.start())
        self.assertEqual(set(self.ran()), {str(n) for n in range(1, SIZES + 1)})

    def test_killed(self):
        """A worker, the daemon of a node and the controller are killed; the pilots continue without the controller, and a later one takes all."""
        controller = self.start()
        self.wait(lambda: sum(self.ran().values()) >= 3 and self.workers())
        nodes = {node for node, _, _ in self.workers()}
        self.assertLessEqual(nodes, {"n1", "n2"})
        self.kill(self.workers()[0][1])
        self.slurm.daemons["n2"].kill()
        self.slurm.daemons["n2"].wait()
        self.wait(lambda: sum(self.ran().values()) >= 8)
        controller.kill()
        controller.communicate()
        self.slurm.start_node("n2")
        self.assert_complete(self.start())
        self.assertTrue(all(times >= REPEAT for times in self.ran().values()))

    def test_gate(self):
        """The pairs of a gate: a worker and the controller are killed, squeue fails for a while, and each pair has one result."""
        pairs, folder = 30, self.p.folder.parent / "gate"
        script = self.p.folder / "pair.sh"
        script.write_text("#!/bin/sh\nsleep 0.05\necho \"$1 ${#STROBE_GATE} $SLURMD_NODENAME\" >> \"$OUT\"\n", encoding="utf-8")
        script.chmod(0o755)
        squeue = self.calls.parent / "bin/squeue"
        squeue.write_text(f"#!/bin/sh\nif mkdir {self.calls}.asked 2>/dev/null; then echo Socket timed out; exit 1; fi\nexec {shutil.which('squeue')} \"$@\"\n", encoding="utf-8")
        squeue.chmod(0o755)
        words = ["gate", "--base", "./pair.sh base", "--target", "./pair.sh target", "--counts", "0", "--limit", "0.0001", "--alarm", "0.0001", "--miss", "0.0001", "--pairs",
                 str(pairs), "--on", "slurm:test", "--noise", "0", "--campaign", folder, "--format", "json", "--metric", "wall"]
        controller = subprocess.Popen([Project.strobe, *words], cwd=self.p.folder, env=self.p.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True)
        self.started.append(controller)
        results, workers = folder / "results", folder / "workers"
        self.wait(lambda: results.exists() and len(os.listdir(results)) >= 4 and os.listdir(workers))
        self.kill(os.listdir(workers)[0].rsplit(".", 2)[1])
        self.wait(lambda: len(os.listdir(results)) >= 8)
        controller.kill()
        controller.communicate()
        done = subprocess.run([Project.strobe, "campaign", "resume", "--format", "json", folder], cwd="/", env=self.p.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=LONG)
        self.assertEqual((done.returncode, done.stderr), (3, ""))
        self.assertEqual(json.loads(done.stdout)["benchmarks"][0]["time"]["pairs"], pairs)
        self.assertEqual({int(name) for name in os.listdir(results)}, set(range(pairs)))
        ran = Counter(self.out.read_text(encoding="utf-8").splitlines())
        self.assertLessEqual({line.split()[2] for line in ran}, {"n1", "n2"})
        for side in ("base", "target"):
            self.assertGreaterEqual(sum(n for line, n in ran.items() if line.startswith(side + " ")), pairs)
        self.assertLessEqual(sum(ran.values()), 2 * pairs + 4)

    def test_no_such_partition(self):
        done = self.p.run(Project.strobe, "job", "run", "--on", "slurm:night", fail=True)
        self.assertEqual((done.returncode, done.stderr), (125, "strobe: no node of Slurm's partition night is up: sinfo shows the partitions\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
