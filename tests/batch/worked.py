# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests of commands with workers have in common: a folder, processes that are ended with the test, and kills."""
import contextlib
import os
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

WORKERS = min(len(os.sched_getaffinity(0)), 2)
LONG = 240  # s: far more than any step takes
ON = ["--on", f"local:{WORKERS}", "--node-noise", "0"]
REFUSED = "strobe: campaign has the campaign of another command, or of other versions or programs: name another folder with --campaign, or remove it\n"


class Case(unittest.TestCase):
    maxDiff = None
    strobe = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-batch-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.environment = {**os.environ, "HOME": folder.name}
        self.started = []
        self.addCleanup(self.end_all)

    def end_all(self):
        for process in self.started:
            process.kill()
            process.communicate()

    def start(self, *words):
        process = subprocess.Popen([self.strobe, *map(str, words)], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.started.append(process)
        return process

    def end(self, process, code):
        out, errors = process.communicate(timeout=LONG)
        self.assertEqual(process.returncode, code, errors)
        return out, errors

    def wait(self, true):
        until = time.monotonic() + LONG
        while not true():
            self.assertLess(time.monotonic(), until, "nothing happens")
            time.sleep(0.01)

    @staticmethod
    def kill_worker(pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if b"campaign\0worker\0" in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)

    def kill_both(self, controller, before, after):
        """Kills a worker when there are `before` results, and the controller when there are `after`. Returns the results."""
        results, workers = self.folder / "campaign/results", self.folder / "campaign/workers"
        # On a busy machine, the campaign may end before the kills: then it is only given again.
        self.wait(lambda: controller.poll() is not None or (results.exists() and len(os.listdir(results)) >= before and os.listdir(workers)))
        for name in os.listdir(workers)[:1]:
            self.kill_worker(int(name.rsplit(".", 2)[1]))
        self.wait(lambda: controller.poll() is not None or len(os.listdir(results)) >= after)
        controller.kill()
        controller.communicate()
        return {name: (results / name).read_bytes() for name in os.listdir(results)}

    def assert_kept(self, kept, n):
        """All n results are there, and those of before are the same."""
        results = self.folder / "campaign/results"
        self.assertEqual({int(name) for name in os.listdir(results)}, set(range(n)))
        for name, text in kept.items():
            self.assertEqual((results / name).read_bytes(), text)
