#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ten thousand tasks of 5 ms by two workers of this machine and by two nodes of a Slurm that is started for it, without and with disturbances: the controller,
workers and slurmd are killed at random, a worker gets half of the time, and the disk is full in the middle. Each task must have exactly one result, which belongs to it.

usage: bench/campaign/many.py BUILD [--tasks N] [--kills N] [--only local|slurm] [--seed N]

BUILD is the build folder. It takes about three minutes and prints a table. Slurm and the small disk need root; without it, the table names what was left out."""
import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/batch"), str(ROOT / "tests/job")]
import many  # noqa: E402
import slurm  # noqa: E402


def measure(a, folder, place, disturbed, environment=None, cluster=None, calls=lambda: 0):
    """A row of the table."""
    programs = [a.build / "strobe", a.build / "tests/batch/batch-many", a.build / "tests/batch/batch-nap"]
    # Half of the results fit, beside the list of tasks.
    kilobytes = a.tasks * 4 // 2 + a.tasks * 200 // 1024 + 400 if disturbed else 0
    before, begin = calls(), time.monotonic()
    with many.small_disk(folder / "disk", kilobytes) as grow:
        run = many.Many(programs, folder / "disk", place, a.tasks, a.seed, environment, cluster, grow)
        done = run.run(a.kills if disturbed else 0, slow=disturbed)
        again = run.check()
    seconds = time.monotonic() - begin
    killed = ", ".join(f"{n} {what}" for what, n in sorted(run.kills.items())) or "none"
    overhead = "" if disturbed else f"{(2 * done['seconds'] - done['runs']) * 1e3 / a.tasks:.2f} ms"
    full = "none" if not disturbed else "not tried: no mount" if not grow else "at half"
    if disturbed and grow and not run.full:
        full = "not reached"
    return [place, f"{a.tasks}", f"{seconds:.1f} s", overhead, killed, full, f"{again}", f"{calls() - before}" if cluster else ""]


def local(a, rows):
    for disturbed in (False, True):
        with tempfile.TemporaryDirectory(prefix="strobe-many-") as folder:
            rows.append(measure(a, Path(folder), "local:2", disturbed))


def cluster(a, rows):
    with tempfile.TemporaryDirectory(prefix="strobe-many-slurm-") as name:
        top = Path(name)
        with slurm.Slurm(top / "slurm") as daemons:
            environment = dict(daemons.environment)
            calls = many.count_sbatch(top, environment)
            for disturbed in (False, True):
                folder = top / f"run{disturbed:d}"
                folder.mkdir()
                rows.append(measure(a, folder, "slurm:test", disturbed, environment, daemons, calls))
                daemons.run("scancel", "--user=root")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build", type=lambda path: Path(path).resolve())
    p.add_argument("--tasks", type=int, default=10000)
    p.add_argument("--kills", type=int, default=12)
    p.add_argument("--only", choices=("local", "slurm"))
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    rows, failed = [], False
    for name, part in (("local", local), ("slurm", cluster)):
        if a.only in (None, name):
            try:
                part(a, rows)
            except slurm.Unavailable as why:
                print(f"Slurm does not run here: {why}")
            except many.Wrong as why:
                print(f"WRONG: {name}: {why}")
                failed = True
    print("| workers | tasks | time | overhead of a task | killed with SIGKILL | full disk | executed again | calls of sbatch |\n|-|-:|-:|-:|-|-|-:|-:|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(f"load: {os.getloadavg()[0]:.1f}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
