# SPDX-License-Identifier: GPL-3.0-or-later
"""Kills strobe add with SIGKILL at random moments, repeatedly on one store: in a file, in a file to which another strobe adds at the same
time, and on a PostgreSQL server that is started for the benchmark. A profile that an add has acknowledged must be in the store, fsck must
find no problem, and it must be possible to add a profile again whose add was killed."""
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from robustness import tries

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "store"))
from postgres import Server, programs  # noqa: E402
from project import Project  # noqa: E402

HELP = "adds to the store"
ONE, TWO, SERVER = "a file", "a file, two at once", "a server"
KILLED, ACKNOWLEDGED = "killed before its end", "acknowledged"
PATIENCE = 120  # seconds, for one command
LOOK = 50  # number of adds between two runs of fsck


def options(a):
    a.add_argument("-n", "--tries", type=int, default=500, help="kills of each kind (default 500)")


class Campaign:
    """One store, and the profiles that must be in it."""

    def __init__(self, args, kind, folder):
        self.kind, self.random = kind, random.Random(f"{args.seed} {kind}")
        self.project = Project(Path(folder) / "project")
        self.project.commit("first")
        self.project.ask("init")
        self.acknowledged, self.killed = set(), []
        self.made = 0
        self.takes = statistics.median(self.undisturbed() for _ in range(5))

    def profile(self):
        """A profile with a table of random data, so that an add writes more than a page."""
        self.made += 1
        return self.project.profile(f"{self.made}.db", self.made, folder=self.project.home,
                                    change="CREATE TABLE noise(a); INSERT INTO noise WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                                           "WHERE i < 500) SELECT randomblob(100) FROM n")

    def start(self, file):
        return subprocess.Popen([Project.strobe, "add", "--format", "json", str(file)], cwd=self.project.folder, env=self.project.environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def end(self, child, file):
        """The verdict on an add that has ended; an add that has printed its answer has acknowledged the profile."""
        said, why = child.communicate(timeout=PATIENCE)
        if said.endswith("}\n"):
            self.acknowledged.add(said.split('"id": "')[1][:64])
            file.unlink()
            return tries.Verdict(note=ACKNOWLEDGED)
        self.killed.append(file)
        return tries.Verdict(note=KILLED) if child.returncode == -9 else tries.Verdict(failure=f"exit code {child.returncode}: {why.strip()}")

    def undisturbed(self):
        file, begin = self.profile(), time.monotonic()
        verdict = self.end(self.start(file), file)
        assert verdict.note == ACKNOWLEDGED, verdict
        return time.monotonic() - begin

    def one(self):
        """One add that is killed; in TWO, another one that runs beside it and is not killed."""
        file, beside = self.profile(), self.profile() if self.kind == TWO else None
        child = self.start(file)
        other = self.start(beside) if beside else None
        time.sleep(self.random.uniform(0, 1.2 * self.takes * (2 if other else 1)))
        child.kill()
        verdict = self.end(child, file)
        if other and self.end(other, beside).note != ACKNOWLEDGED:
            return tries.Verdict(failure="the add beside it was not acknowledged")
        return verdict

    def look(self):
        """The problem of the store, or None."""
        done = subprocess.run([Project.strobe, "fsck"], cwd=self.project.folder, env=self.project.environment, capture_output=True, text=True,
                              timeout=PATIENCE, check=False)
        if done.returncode:
            return f"fsck: {done.stdout}{done.stderr}"
        lost = self.acknowledged - set(self.project.of("HEAD"))
        return f"{len(lost)} acknowledged profiles are lost" if lost else None

    def again(self):
        """Adds the profiles whose add was killed."""
        for file in self.killed:
            child = self.start(file)
            said, why = child.communicate(timeout=PATIENCE)
            if child.returncode:
                return why
            self.acknowledged.add(said.split('"id": "')[1][:64])
        return self.look()


def campaign(args, kind, count):
    """The verdicts on one kind of store."""
    verdicts = []
    with tempfile.TemporaryDirectory(prefix="robust.") as folder:
        c = Campaign(args, kind, folder)
        for i in range(count):
            verdict = c.one()
            if i % LOOK == LOOK - 1 or i == count - 1:
                verdict.failure = verdict.failure or c.look()
            verdicts.append(verdict)
        verdicts[-1].failure = verdicts[-1].failure or c.again()
    return verdicts


def run(args):
    Project.strobe = args.strobe
    count = min(args.tries, 10) if args.short else args.tries
    verdicts = {kind: campaign(args, kind, count) for kind in (ONE, TWO)}
    if programs():
        Project.server = Server()
        try:
            verdicts[SERVER] = campaign(args, SERVER, count)
        finally:
            Project.server.close()
            Project.server = None
    remarks = ["killed with SIGKILL at a random moment between the start of strobe add and a little after the time at which an undisturbed one ends",
               "acknowledged: it had printed its answer; failed: fsck found a problem, an acknowledged profile was not in the store, an add ended "
               "otherwise, or a profile whose add was killed could not be added afterwards"]
    return tries.table_of(verdicts, "store in", [KILLED, ACKNOWLEDGED], remarks)
