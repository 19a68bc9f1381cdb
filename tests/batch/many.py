# SPDX-License-Identifier: GPL-3.0-or-later
"""Thousands of tasks of 5 ms (programs/many.c) while the controller, workers and Slurm's daemons are killed, a worker is slow and the disk is full. The tests run
hundreds of them, bench/campaign/many.py ten thousand."""
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import threading
import time
from collections import Counter
from pathlib import Path

LONG = 600  # s without a new result: far more than any step takes


class Wrong(Exception):
    """A result is missing, or is of another task."""


@contextlib.contextmanager
def small_disk(folder, kilobytes):
    """A file system in memory, in the folder. Yields a function that makes it large, or None where it cannot be mounted, or with 0 kilobytes."""
    folder.mkdir()
    mounted = kilobytes and subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "none", folder], stderr=subprocess.DEVNULL, check=False).returncode == 0
    try:
        yield (lambda: subprocess.run(["mount", "-o", "remount,size=1g", folder], check=True)) if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", "-l", folder], check=True)


class Many:
    """A campaign of `tasks` tasks in `folder`, which is the disk if there is a small one."""

    def __init__(self, programs, folder, place, tasks, seed=1, environment=None, slurm=None, grow=None):
        self.strobe, self.many, self.nap = map(str, programs)
        self.folder, self.place, self.tasks = Path(folder), place, tasks
        self.campaign, self.out = self.folder / "campaign", self.folder.parent / "ran"
        # LeakSanitizer never ends if the process is suspended while it looks for leaks.
        sanitizer = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), "detect_leaks=0"]))
        self.environment = {**os.environ, "ASAN_OPTIONS": sanitizer, **(environment or {}), "OUT": str(self.out)}
        self.random, self.slurm, self.grow = random.Random(seed), slurm, grow
        self.kills, self.full, self.starts = Counter(), 0, 0
        self.controller = None
        self.stopped = threading.Event()

    def start(self):
        self.starts += 1
        words = [self.many, self.strobe, self.place, str(self.campaign), str(self.tasks), "2", self.nap]
        self.controller = subprocess.Popen(words, env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def results(self):
        try:
            return len(os.listdir(self.campaign / "results"))
        except FileNotFoundError:
            return 0

    def workers(self):
        """The processes of workers that live."""
        try:
            found = [int(name.rsplit(".", 2)[1]) for name in os.listdir(self.campaign / "workers")]
        except FileNotFoundError:
            return []
        return [pid for pid in found if self.is_worker(pid)]

    @staticmethod
    def is_worker(pid):
        try:
            return b"campaign\0worker\0" in Path(f"/proc/{pid}/cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            return False

    # ---- disturbances ----

    def kill(self):
        """One of the three, at random."""
        what = self.random.choice(["controller", "worker", "slurmd"] if self.slurm else ["controller", "worker"])
        if what == "controller":
            self.controller.kill()
            self.controller.communicate()
            self.start()
        elif what == "slurmd":
            node = self.random.choice(["n1", "n2"])
            self.slurm.daemons[node].kill()
            self.slurm.daemons[node].wait()
            self.slurm.start_node(node)
        else:
            workers = self.workers()
            if not workers:
                return
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.random.choice(workers), signal.SIGKILL)
        self.kills[what] += 1

    def slow_down(self):
        """A worker gets half of the time."""
        while not self.stopped.wait(0.01):
            pids = self.workers()[:1]
            for signo in (signal.SIGSTOP, signal.SIGCONT):
                for pid in filter(self.is_worker, pids):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signo)
                time.sleep(0.01)

    def end_of_controller(self):
        """Takes its outcome. A full disk is made large once, and the same command is given again."""
        out, errors = self.controller.communicate()
        if self.controller.returncode == 0:
            return json.loads(out)
        # Workers that do not even have room for their report leave no reason.
        full = "No space left on device" in errors or "no worker of the campaign is left" in errors
        if not self.grow or self.full or not full:
            raise Wrong(f"the controller ended with {self.controller.returncode}: {errors.strip()}")
        self.full += 1
        self.grow()
        self.start()
        return None

    # ---- the run ----

    def run(self, kills=0, slow=False):
        """Kills at equal distances of progress. Returns what the last controller has printed."""
        self.start()
        slower = threading.Thread(target=self.slow_down)
        if slow:
            slower.start()
        try:
            return self.watch([self.tasks * (i + 1) // (kills + 1) for i in range(kills)])
        finally:
            self.stopped.set()
            if slow:
                slower.join()
            self.controller.kill()

    def watch(self, thresholds):
        last, since = 0, time.monotonic()
        while True:
            if self.controller.poll() is not None:
                done = self.end_of_controller()
                if done:
                    return done
            now = self.results()
            if now > last:
                last, since = now, time.monotonic()
            if time.monotonic() - since > LONG:
                raise Wrong(f"no result for {LONG} s after {last} of {self.tasks}")
            if thresholds and now >= thresholds[0]:
                thresholds.pop(0)
                self.kill()
            time.sleep(0.01)

    def check(self):
        """Each task has one result, which belongs to it, and was executed. Returns the number of executions beyond the first ones."""
        names = os.listdir(self.campaign / "results")
        if sorted(names, key=int) != [str(i) for i in range(self.tasks)]:
            raise Wrong(f"{len(names)} results of {self.tasks} tasks")
        for name in names:
            text = (self.campaign / "results" / name).read_text(encoding="utf-8")
            if not text.endswith("\nend\n") or json.loads(text[:-5])["runs"][0]["exit"] != int(name) % 100:
                raise Wrong(f"the result of task {name} is {text}")
        ran = Counter(self.out.read_text(encoding="utf-8").split())
        if set(ran) != set(names):
            raise Wrong("a task has a result and was not executed")
        return sum(ran.values()) - self.tasks


def count_sbatch(folder, environment):
    """Puts a wrapper of sbatch into PATH that counts its calls. Returns a function that returns their number."""
    calls, programs = Path(folder) / "calls", Path(folder) / "bin"
    programs.mkdir()
    wrapper = programs / "sbatch"
    wrapper.write_text(f"#!/bin/sh\necho call >> {calls}\nexec {shutil.which('sbatch')} \"$@\"\n", encoding="utf-8")
    wrapper.chmod(0o755)
    environment["PATH"] = f"{programs}:{os.environ['PATH']}"
    return lambda: len(calls.read_text(encoding="utf-8").split()) if calls.exists() else 0
