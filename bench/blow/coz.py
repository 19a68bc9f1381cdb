#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Forecasts of strobe blow --mode causal and of coz beside the gain of real changes: usage: coz.py STROBE [REPEAT [PAIRS]]

Each function of the planted programs (planted.c) is to take half of its time. Strobe forecasts from the program's own binary; coz needs debug information, in the
format of DWARF 4, and a progress point in the source. The real gain is that of the same program with half of the work. REPEAT: runs with and without each speed-up
(default: 10); coz has two fifths as many pairs of runs. PAIRS: default 10. Takes about ten minutes on an idle machine. Needs gcc and coz-profiler; without coz, its
column is empty."""
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from case import Case, numbers, quantile, realised

SOURCE = Path(__file__).with_name("planted.c")
CASES = {"serial": "fg", "barrier": "fg", "pipeline": "fgh", "producer": "fg", "convoy": "fg", "io": "gh", "sleep": "g", "both": "f"}
ROUNDS = 70
COZ_ROUNDS = 5 * ROUNDS  # an experiment of coz lasts half a second


def line_of(name):
    """The number of the line that is the work of the function."""
    lines = SOURCE.read_text().splitlines()
    return next(i + 1 for i, line in enumerate(lines) if line.endswith(f"/* {name} */"))


def period(place, program, line, percent):
    """The time of a round in a run of coz with a virtual speed-up of the line; None: coz made no experiment, or failed, which is said on the standard error."""
    profile = place / "profile.coz"
    profile.unlink(missing_ok=True)
    words = ["coz", "run", "--source-scope", "%planted.c", "--binary-scope", "MAIN", "--fixed-line", f"{SOURCE.resolve()}:{line}", "--fixed-speedup", str(percent), "---", *program]
    try:
        done = subprocess.run(words, cwd=place, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        print(f"coz did not end within 300 s: {' '.join(program)}", file=sys.stderr)
        return None
    if done.returncode or not profile.exists():
        print(f"coz ended with {done.returncode}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    pairs = re.findall(r"^experiment\t.*\bduration=(\d+).*\nthroughput-point\t.*\bdelta=(\d+)", profile.read_text(), re.M)
    rounds = sum(int(delta) for _, delta in pairs)
    return sum(int(duration) for duration, _ in pairs) / rounds if rounds else None


def coz_gain(place, program, name, repeat):
    """(gain, lower, upper) by pairs of runs with a speed-up of 0 and of 50 %."""
    logs = []
    for i in range(repeat):
        order = (0, 50) if i % 2 else (50, 0)
        periods = {percent: period(place, program, line_of(name), percent) for percent in order}
        if all(periods.values()):
            logs.append(math.log(periods[50] / periods[0]))
    if len(logs) < 3:
        return None
    mean, half = statistics.mean(logs), quantile(len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    return tuple(1 - math.exp(x) for x in (mean, mean + half, mean - half))


def strobe_gains(case, program, names, repeat):
    case.ask("-q", "--mode", "causal", "-F", ",".join(names), "--repeat", repeat, "--baseline-runs", max(repeat, 3), "--native-runs", 0, "--timeout", 0, "--timeline", "none", "-o", "c.db", "--", *program)
    gains = {}
    for target in case.result("c")["targets"]:
        for row in target["virtual"]:
            if row["speedup"] == 0.5 and row["lo"] is not None:
                gains[target["function"]] = (row["gain"], row["lo"], row["hi"])
    return gains


def show(gain):
    return "{:.1f} % ({:.1f} to {:.1f})".format(*(100 * x for x in gain)) if gain else "–"


def main():
    repeat, pairs = numbers(10, 10)
    with tempfile.TemporaryDirectory(prefix="strobe-coz-") as folder:
        place = Path(folder)
        case = Case(sys.argv[1], folder)
        for name, words in (("plain", []), ("probed", ["-DWITH_COZ", "-g", "-gdwarf-4", "-gstrict-dwarf", "-ldl"])):
            subprocess.run(["gcc", "-O1", str(SOURCE.resolve()), *words, "-lpthread", "-o", name], cwd=place, check=True)
        has_coz = shutil.which("coz") is not None
        print(f"half of the time of each function; load: {os.getloadavg()[0]:.1f}\n| program | function | real gain | strobe | coz | off by |\n|-|-|-|-|-|-|")
        for what, names in CASES.items():
            words = [what, str(ROUNDS), "100", "100", "100"]
            gains = strobe_gains(case, ["./plain", *words], names, repeat)
            for name in names:
                faster = [what, str(ROUNDS), *("50" if name == each else "100" for each in "fgh")]
                real = realised(lambda: case.run_time(["./plain", *words]), lambda: case.run_time(["./plain", *faster]), pairs)
                coz = coz_gain(place, ["./probed", what, str(COZ_ROUNDS), "100", "100", "100"], name, max(2 * repeat // 5, 3)) if has_coz else None
                off = [f"{100 * (gain[0] - real[0]):+.1f}" if gain else "–" for gain in (gains.get(name), coz)]
                print(f"| {what} | {name} | {show(real)} | {show(gains.get(name))} | {show(coz)} | {' / '.join(off)} |", flush=True)
        print(f"load at the end: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
