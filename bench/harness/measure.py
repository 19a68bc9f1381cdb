# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs commands and times them: CPU time of the whole tree that was waited for, elapsed time, memory, what came out."""
import dataclasses
import hashlib
import math
import os
import select
import shutil
import sqlite3
import statistics
import subprocess
import tempfile
import time

# The same for every run; what would make a run depend on the user's settings is left out.
ENVIRONMENT = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "0", "HOME": "/"}


@dataclasses.dataclass
class Run:
    exit: int
    cpu: float   # seconds, user and system, with all children that were waited for (the controller included)
    wall: float  # seconds
    digest: str  # of the standard output

    def same(self, other):
        return self.exit == other.exit and self.digest == other.digest


class Started:
    """A command that runs, its output going into a file of the name."""

    def __init__(self, command, scratch, name="output", cpu=None):
        self.path = os.path.join(scratch, name)
        pin = None if cpu is None else lambda: os.sched_setaffinity(0, {cpu})
        with open(self.path, "wb") as out:
            self.begin = time.perf_counter()
            self.process = subprocess.Popen(command, env=ENVIRONMENT, cwd=scratch, stdin=subprocess.DEVNULL, stdout=out,
                                            stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=pin)

    def end(self, limit):
        """Its Run; over the limit it is ended and has exit code None."""
        ended = wait(self.process.pid, limit)
        wall = time.perf_counter() - self.begin
        if ended is None:
            os.killpg(self.process.pid, 9)
            os.wait4(self.process.pid, 0)
            self.process.returncode = -9
            return Run(None, 0.0, wall, "")
        _, status, usage = ended
        self.process.returncode = os.waitstatus_to_exitcode(status)
        with open(self.path, "rb") as out:
            digest = hashlib.file_digest(out, "sha256").hexdigest()
        return Run(self.process.returncode, usage.ru_utime + usage.ru_stime, wall, digest)


def once(command, scratch, limit=1800):
    return Started(command, scratch).end(limit)


def together(native, other, scratch, limit=1800):
    """Both at once on one CPU, so that whatever else the machine does meets both alike: on a machine that others share, one
    run after the other differs by a tenth and more, two at once by less than a hundredth. Only their CPU times say anything."""
    cpu = max(os.sched_getaffinity(0))
    both = Started(native, scratch, "output", cpu), Started(other, scratch, "output-other", cpu)
    return tuple(started.end(limit) for started in both)


def peak(helper, command, scratch):
    """(exit code, peak resident bytes of the largest process) of a command; helper is bench/micro/peak.c, built."""
    done = subprocess.run([helper] + command, env=ENVIRONMENT, cwd=scratch, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return done.returncode, int(done.stderr.split()[-1]) * 1024


def wait(pid, limit):
    """wait4 with a limit that costs no CPU time and no accuracy."""
    poll = select.poll()
    handle = os.pidfd_open(pid)
    try:
        poll.register(handle, select.POLLIN)
        return os.wait4(pid, 0) if poll.poll(limit * 1000) else None
    finally:
        os.close(handle)


class Prefixes:
    """The words before a program, by name: a tool, perhaps with a budget (branches@10%), or another program."""

    def __init__(self, strobe, scratch):
        self.strobe, self.result = strobe, os.path.join(scratch, "result")

    def words(self, name):
        if name == "native":
            return []
        if name == "valgrind":
            return ["/usr/bin/valgrind", "-q", "--tool=none"]
        if name == "qemu":
            return ["/usr/bin/qemu-x86_64"]
        tool, _, budget = name.partition("@")
        if tool.partition(":")[0] == "empty":
            tool = self.empty() + tool.removeprefix("empty")
        return [self.strobe, "run", "-q", "-t", tool, "-o", self.result, *(["-b", budget] if budget else []), "--"]

    def empty(self):
        """The tool of bench/micro/empty.c, built when it is first asked for."""
        tool = os.path.join(os.path.dirname(self.result), "empty.tool")
        if not os.path.exists(tool):
            source = os.path.join(os.path.dirname(__file__), "..", "micro", "empty.c")
            subprocess.run([self.strobe, "build-tool", "-q", "-o", tool, source], check=True)
        return tool

    def missing(self, name):
        path = (self.words(name) or ["/bin/true"])[0]
        return None if os.access(path, os.X_OK) else path + " is not there"


@dataclasses.dataclass
class Factor:
    """One workload under one prefix, against the native runs it was paired with."""
    cpu: float = None
    wall: float = None
    spread: float = 0.0  # half the range of the CPU factors
    rounds: int = 0
    trouble: str = ""


def compare(pairs):
    """The Factor of pairs (native, other)."""
    for native, other in pairs:
        if other.exit is None:
            return Factor(trouble="no end in time", rounds=len(pairs))
        if not other.same(native):
            what = f"exit {other.exit}, natively {native.exit}" if other.exit != native.exit else "output differs"
            return Factor(trouble=what, rounds=len(pairs))
    cpu = [other.cpu / native.cpu for native, other in pairs]
    wall = [other.wall / native.wall for native, other in pairs]
    return Factor(statistics.median(cpu), statistics.median(wall), (max(cpu) - min(cpu)) / 2, len(pairs))


def mean(values):
    """Geometric mean."""
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def paired(command, names, prefixes, rounds, yardstick_rounds, scratch, progress=None):
    """Runs native and each prefix in turn, `rounds` times; yardsticks (valgrind, qemu) fewer times. {name: Factor}, the
    median native CPU seconds."""
    pairs, natives = {name: [] for name in names}, []
    for number in range(rounds):
        native = once(command, scratch)
        natives.append(native)
        for name in names:
            if name in ("valgrind", "qemu") and number >= yardstick_rounds:
                continue
            if pairs[name] and pairs[name][-1][1].exit is None:
                continue
            if progress:
                progress(f"round {number + 1} of {rounds}, {name}")
            pairs[name].append((native, once(prefixes.words(name) + command, scratch, 120 + 100 * native.wall)))
    return {name: compare(pairs[name]) for name in names}, statistics.median(run.cpu for run in natives)


def statistics_of(path):
    """The engine's own statistics in a result file: {name: total}, summed over processes."""
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return dict(db.execute("SELECT name, sum(total) FROM statistic GROUP BY name"))
    finally:
        db.close()


class Scratch:
    """A folder that is gone afterwards."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="strobe-bench-")
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)
