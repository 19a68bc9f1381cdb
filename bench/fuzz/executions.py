#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts the executions a second of strobe fuzz, with and without fork servers, and of afl-fuzz -n, which executes
programs natively and sees no coverage: Debian's afl++ has none of its modes for programs as they are installed.

usage: executions.py STROBE [--seconds N] [--rounds N] [--jobs N]

The programs take turns; the median of the rounds is printed."""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

LINES = "#include <stdio.h>\nint main(void) { char line[4096]; int n = 0; while (fgets(line, sizeof line, stdin)) n += line[0] == 'a'; return n > 100; }\n"
SEEDS = {"lines": "a line\nanother line\n", "bc": "2^10 + 3 * (4 - 1)\n", "sqlite3": "create table t(a); insert into t values (1); select sum(a) from t;\n",
         "xmllint": "<a><b c='d'>text</b></a>\n", "jq": '{"a": [1, 2, {"b": null}]}\n'}
WORDS = {"xmllint": ["--noout", "-"], "jq": ["."]}


def strobe_rate(strobe, command, place, seconds, jobs, *words):
    out = place / "out"
    done = subprocess.run([strobe, "fuzz", "-q", "-s", place / "seeds", "-t", f"{seconds}s", "-j", str(jobs), "--judge", "1ms", "--format", "json", "-o", out, *words, "--", *command],
                          capture_output=True, text=True, check=False)
    shutil.rmtree(out, ignore_errors=True)
    if done.returncode:
        raise SystemExit(f"executions.py: {done.stderr.strip()}")
    found = json.loads(done.stdout)
    return found["executions"] / seconds


def afl_rate(command, place, seconds):
    out = place / "afl"
    environment = {**os.environ, "AFL_SKIP_CPUFREQ": "1", "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1", "AFL_NO_UI": "1", "AFL_NO_AFFINITY": "1"}
    subprocess.run(["afl-fuzz", "-n", "-V", str(seconds), "-i", place / "seeds", "-o", out, "--", *command], capture_output=True, env=environment, check=False)
    names, *rows = (out / "plot_data").read_text().lstrip("# ").splitlines()
    shutil.rmtree(out, ignore_errors=True)
    last = dict(zip(names.split(", "), rows[-1].split(", ")))
    return float(last["total_execs"]) / max(float(last["relative_time"]), 1)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("strobe", type=os.path.abspath)
    arguments.add_argument("--seconds", type=int, default=10)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--jobs", type=int, default=1)
    a = arguments.parse_args()
    afl = shutil.which("afl-fuzz")
    print("| program | fork server | `--fresh` | `afl-fuzz -n` |\n|-|-|-|-|")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "lines.c").write_text(LINES, encoding="utf-8")
        subprocess.run(["gcc", "-O1", "-o", place / "lines", place / "lines.c"], check=True)
        for name, seed in SEEDS.items():
            program = str(place / name) if name == "lines" else shutil.which(name)
            if not program:
                print(f"| {name} | not installed | | |")
                continue
            shutil.rmtree(place / "seeds", ignore_errors=True)
            (place / "seeds").mkdir()
            (place / "seeds" / "seed").write_text(seed, encoding="utf-8")
            command = [program, *WORDS.get(name, [])]
            rates = [(strobe_rate(a.strobe, command, place, a.seconds, a.jobs), strobe_rate(a.strobe, command, place, a.seconds, a.jobs, "--fresh"),
                      afl_rate(command, place, a.seconds) if afl and a.jobs == 1 else 0) for _ in range(a.rounds)]
            copied, fresh, dumb = (statistics.median(r[i] for r in rates) for i in range(3))
            print(f"| {name} | {copied:.0f} | {fresh:.0f} | {dumb:.0f} |" if dumb else f"| {name} | {copied:.0f} | {fresh:.0f} | - |", flush=True)


if __name__ == "__main__":
    main()
