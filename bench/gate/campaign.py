#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the error rates of strobe gate: gates of a program against itself, or against one that does more work.

usage: campaign.py STROBE [--gates N] [--pairs N] [--metric cpu|wall] [--duet alternate|together] [--more PERCENT] [--rounds N] [--short]"""
import argparse
import json
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

SOURCE = """#include <stdlib.h>
volatile long sum;
int main(int argc, char **argv) { (void)argc; for (long i = 0, n = atol(argv[1]); i < n; i++) sum += i; return 0; }
"""


def upper(hits, n):
    """The upper end of the 95 % interval (one side) of a share, by Clopper and Pearson; the exact tail by bisection."""
    def tail(p):
        term = total = (1 - p) ** n
        for k in range(1, hits + 1):
            term *= (n - k + 1) / k * p / (1 - p)
            total += term
        return total
    low, high = hits / n, 1 - 1e-9
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > 0.05 else (low, middle)
    return high


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("strobe")
    arguments.add_argument("--gates", type=int, default=200)
    arguments.add_argument("--pairs", type=int, default=20)
    arguments.add_argument("--metric", default="cpu")
    arguments.add_argument("--duet", default="shared")
    arguments.add_argument("--more", type=float, default=0, help="additional work of the target, in percent (default: 0)")
    arguments.add_argument("--rounds", type=int, default=5000000)
    arguments.add_argument("--short", action="store_true", help="ten gates of at most 8 pairs of a short program: whether it works, and no rate")
    a = arguments.parse_args()
    if a.short:
        a.gates, a.pairs, a.rounds = 10, 8, 1000000
    with tempfile.TemporaryDirectory() as place:
        program = Path(place) / "program"
        program.with_suffix(".c").write_text(SOURCE, encoding="utf-8")
        subprocess.run(["gcc", "-O1", "-o", program, program.with_suffix(".c")], check=True)
        target = round(a.rounds * (1 + a.more / 100))
        verdicts, pairs, spreads = Counter(), [], []
        for seed in range(a.gates):
            done = subprocess.run([a.strobe, "gate", "-b", f"{program} {a.rounds}", "-t", f"{program} {target}", "-c", "0", "-n", str(a.pairs), "--metric", a.metric,
                                   "--duet", a.duet, "--seed", str(seed), "-f", "json"], capture_output=True, text=True, check=False)
            found = json.loads(done.stdout)
            time = found["benchmarks"][0]["time"]
            verdicts[found["verdict"]] += 1
            pairs.append(time["pairs"])
            spreads.append(time["spread"])
        alarms = verdicts["regression"]
        print(f"{a.gates} gates, {a.metric}, {a.duet}, at most {a.pairs} pairs, target +{a.more:g} %: {dict(verdicts)}")
        print(f"  alarms {alarms / a.gates:.1%}, at most {upper(alarms, a.gates):.1%} (95 %); pairs {sorted(pairs)[len(pairs) // 2]} (median); "
              f"spread of pairs {sorted(spreads)[len(spreads) // 2]:.1%} (median)")


if __name__ == "__main__":
    main()
