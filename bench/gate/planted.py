#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts in how many of 96 pairs of profiles each method of strobe check finds the planted change, in the right direction.

usage: planted.py STROBE [--short] [--kind KIND]... [--method METHOD]... [--seed N]

Each kind of change has 96 pairs: eight sizes of the change (x1.02 to x5), slower and faster, and six laws by which the function depends on its input. A side has
eight runs. A pair is right if the method reports the function in the right direction, silent if it reports no change of it, and wrong otherwise; others counts
pairs in which another function is reported. --short takes 8 pairs of each kind, spread over all sizes and laws."""
import argparse
import json
import math
import random
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

FACTORS = (1.02, 1.05, 1.1, 1.2, 1.5, 2, 3, 5)
LAWS = {"constant": lambda n: 1000, "logarithmic": lambda n: 300 * math.log(n + 1), "linear": lambda n: 20 * n, "nlogn": lambda n: 5 * n * math.log(n + 1),
        "quadratic": lambda n: 0.4 * n * n, "cubic": lambda n: 0.006 * n ** 3}
KINDS = ("cost", "calls", "one of 400", "local", "order")
METHODS = ("distribution", "average-amount", "best-model-order", "integral", "linear-regression", "polynomial-regression", "fast-check", "local-statistics",
           "exclusive-time-outliers")
RUNS, POINTS, NOISE = 8, 40, 0.01
SIZES = [5 * (i + 1) for i in range(POINTS)]


def changed(kind, law, factor):
    """The times of one run of f by size, with the change: (size, cost) for each call."""
    if kind == "calls":  # as many calls more as the factor says, spread over the sizes
        calls = [(n, law(n)) for n in SIZES for _ in range(10)]
        return [calls[int(i * len(calls) / round(len(calls) * factor))] for i in range(round(len(calls) * factor))]
    if kind == "local":  # a fifth of the sizes, in the middle
        return [(n, law(n) * (factor if 80 < n <= 120 else 1)) for n in SIZES]
    if kind == "order":  # the exponent grows so that the largest size takes factor times as long
        return [(n, law(n) * n ** (math.log(factor) / math.log(SIZES[-1]))) for n in SIZES]
    return [(n, law(n) * factor) for n in SIZES]


def runs(place, name, kind, law, factor, noise):
    """The files of the runs of one side."""
    files = []
    usual = changed("calls" if kind == "calls" else "cost", law, 1)
    for run in range(RUNS):
        functions = {"f": usual if factor == 1 else changed(kind, law, factor)}
        for i in range(400 if kind == "one of 400" else 20):
            functions[f"g{i}"] = [(n, 1000 / (i + 1)) for n in SIZES[::10 if kind == "one of 400" else 1]]
        speed = noise.gauss(1, NOISE)  # of the whole run
        resources = [{"uid": f, "type": "time", "amount": cost * speed * noise.gauss(1, NOISE), "structure-unit-size": n}
                     for f, calls in functions.items() for n, cost in calls]
        file = place / f"{name}{run}.perf"
        file.write_text(json.dumps({"header": {"type": "time", "units": {"time": "ns"}}, "global": {"resources": resources}}), encoding="utf-8")
        files.append(str(file))
    return files


def judge(found, slower):
    """Right, silent or wrong; and whether another function is reported."""
    directions = {"Degradation": True, "Optimization": False, "NotInBaseline": True, "NotInTarget": False}
    said = {c["function"]: next((up for name, up in directions.items() if c["change"].endswith(name)), None) for c in found["changes"]}
    mine = said.pop("f", None)
    return "silent" if mine is None else "right" if mine == slower else "wrong", any(up is not None for up in said.values())


def pairs_of(short):
    every = list(product(FACTORS, (True, False), LAWS))
    # With --short, each size once, and all laws and both directions in turn.
    return [(f, i % 2 == 0, list(LAWS)[i % len(LAWS)]) for i, f in enumerate(FACTORS)] if short else every


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("strobe")
    arguments.add_argument("--short", action="store_true", help="8 pairs of each kind, not 96")
    arguments.add_argument("--kind", action="append", choices=KINDS, help="only this kind of change (default: all)")
    arguments.add_argument("--method", action="append", choices=METHODS, help="only this method (default: all)")
    arguments.add_argument("--seed", type=int, default=1)
    a = arguments.parse_args()
    kinds, methods, pairs = a.kind or KINDS, a.method or METHODS, pairs_of(a.short)
    print(f"{len(pairs)} pairs of each kind, {RUNS} runs of each side, noise {NOISE:.0%}, seed {a.seed}: right / silent / wrong (others)")
    print("| method | " + " | ".join(kinds) + " |\n|-|" + "-|" * len(kinds))
    counts = {(m, k): {"right": 0, "silent": 0, "wrong": 0, "others": 0} for m in methods for k in kinds}
    for kind in kinds:
        for at, (factor, slower, law) in enumerate(pairs):
            noise = random.Random(f"{a.seed} {kind} {at}")
            with tempfile.TemporaryDirectory(prefix="strobe-planted-") as place:
                files = [runs(Path(place), name, kind, LAWS[law], by, noise) for name, by in (("base", 1), ("target", factor if slower else 1 / factor))]
                for method in methods:
                    done = subprocess.run([a.strobe, "check", "--method", method, "--format", "json", "-n", "0", *files[0], "vs", *files[1]],
                                          capture_output=True, text=True, timeout=300, check=False)
                    if done.returncode:
                        sys.exit(f"planted.py: strobe check --method {method}: {done.stderr.strip()}")
                    verdict, others = judge(json.loads(done.stdout), slower)
                    counts[method, kind][verdict] += 1
                    counts[method, kind]["others"] += others
    for method in methods:
        cells = [counts[method, kind] for kind in kinds]
        print(f"| {method} | " + " | ".join(f"{c['right']} / {c['silent']} / {c['wrong']} ({c['others']})" for c in cells) + " |")


if __name__ == "__main__":
    main()
