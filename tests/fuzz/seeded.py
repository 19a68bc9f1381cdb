#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Does the fuzzer find each of the twenty engine bugs of seeded.md?

seeded.py SOURCE BUILD configures a build folder of its own, builds the engine with one bug after another, and runs
fuzz.py on each until it reports a difference. Without a bug it must report none.
"""

import argparse
import os
import re
import subprocess
import sys

# Where a bug cannot show without them: the tool, and stress modes.
TOOLS = {10: "bbcount", 12: "bbcount"}
STRESS = {8: "far", 13: "far", 14: "far"}


def build(source, folder, bug):
    """The engine with this bug; the rest of the build folder stays as it is."""
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        subprocess.run(["meson", "setup", folder, source], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["meson", "configure", folder, f"-Dseeded_bug={bug}"], check=True, stdout=subprocess.DEVNULL)
    targets = ["strobe", "tests/fuzz/insnfuzz", "tests/fuzz/minecorpus"]
    subprocess.run(["ninja", "-C", folder, *targets], check=True, stdout=subprocess.DEVNULL)


def fuzz(source, folder, bug, seconds):
    """What fuzz.py says: its exit code and its output."""
    command = [sys.executable, os.path.join(source, "tests/fuzz/fuzz.py"),
               "--insnfuzz", os.path.join(folder, "tests/fuzz/insnfuzz"),
               "--minecorpus", os.path.join(folder, "tests/fuzz/minecorpus"),
               "--corpus", os.path.join(folder, "seeded.corpus"), "--corpus-megabytes", "60",
               "--strobe", os.path.join(folder, "strobe"),
               "--tools", TOOLS.get(bug, "null"), "--stress", STRESS.get(bug, "none"),
               "--seconds", str(seconds), "--count", "500", "--timeout", "60", "--minimise-seconds", "5",
               "--max-findings", "1", "--out", os.path.join(folder, f"seeded-{bug}")]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout


def sequences(line, batch=500):
    """How many sequences were compared up to a difference: seeds count from 1, each is a batch."""
    where = re.search(r"seed (\d+), sequence (\d+)", line)
    return (int(where[1]) - 1) * batch + int(where[2]) + 1 if where else 0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("source", help="the repository")
    p.add_argument("build", help="a build folder for this alone; made if it does not exist")
    p.add_argument("--bugs", default=",".join(map(str, range(21))), help="which; 0 is the engine without a bug")
    p.add_argument("--seconds", type=float, default=60, help="at most, for each")
    args = p.parse_args()
    source, folder = os.path.abspath(args.source), os.path.abspath(args.build)
    wrong = 0
    for bug in map(int, args.bugs.split(",")):
        build(source, folder, bug)
        code, text = fuzz(source, folder, bug, args.seconds)
        found = code == 1 and "DIFFERENCE" in text
        right = found == (bug != 0)
        wrong += not right
        first = next((line for line in text.splitlines() if line.startswith("DIFFERENCE")), "")
        what = f"found after {sequences(first)} sequences: {first}" if found else f"not found: {text.strip()}"
        print(f"{'ok' if right else 'WRONG'}: bug {bug} {what}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
