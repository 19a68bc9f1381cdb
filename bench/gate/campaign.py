#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the error rates of strobe gate: gates of a program against itself, or against one that does more work.

usage: campaign.py STROBE [--gates N] [--pairs N] [--metric cpu|wall] [--duet shared|alternate|together] [--more PERCENT] [--what time|function|counts] [--rounds N] [--short]
       campaign.py STROBE --all [--short]

With --what function, a function that has 10 % of the time of the program does more work, and traced pairs measure it; a gate finds it if the
verdict is a regression that names this function and no other. With --what counts, one counted run of each side has to find the change. --all
runs all campaigns of docs/benchmarks.md: about 8 minutes on a quiet machine."""
import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

# Nine tenths of the rounds are those of three other functions.
SOURCE = """#include <stdlib.h>
volatile long sum;
#define F(name) __attribute__((noipa)) static void name(long n) { for (long i = 0; i < n; i++) sum += i; }
F(changed) F(first) F(second) F(third)
int main(int argc, char **argv) {
	const long n = atol(argv[1]), more = argc > 2 ? atol(argv[2]) : 0;
	for (int i = 0; i < 10; i++) { changed(n / 100 + more / 10); first(n * 3 / 100); second(n * 3 / 100); third(n * 3 / 100); }
	return 0;
}
"""
WORDS = {"time": ("-c", "0"), "function": ("-c", "0", "-p", "0"), "counts": ("-c", "1", "-p", "0")}
# Of --all: what is measured, gates, pairs, duet, percents more, rounds.
ALL = [("time", 300, 20, "shared", 0, 5000000), ("time", 300, 20, "alternate", 0, 5000000), ("time", 100, 20, "shared", 5, 5000000),
       ("time", 120, 20, "shared", 0, 80000000), ("time", 60, 20, "alternate", 0, 80000000), ("time", 30, 20, "shared", 5, 80000000),
       ("function", 15, 20, "shared", 0, 160000000), ("function", 20, 20, "shared", 5, 160000000), ("counts", 20, 1, "shared", 1, 5000000)]


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


def gate(strobe, program, what, pairs, duet, metric, more, rounds, seed):
    """One gate: its verdict, whether it names the changed function and no other, pairs and spread of the quantity."""
    share = 10 if what == "function" else 1
    words = list(WORDS[what]) + (["--functions", str(pairs)] if what == "function" else ["-p", str(pairs)] if what == "time" else [])
    done = subprocess.run([strobe, "gate", "-b", f"{program} {rounds}", "-t", f"{program} {rounds} {round(rounds * more / 100 / share)}", *words, "--metric", metric,
                           "--duet", duet, "--seed", str(seed), "-f", "json"], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 3):
        sys.exit(f"campaign.py: {done.stderr.strip()}")
    found = json.loads(done.stdout)
    [benchmark] = found["benchmarks"]
    if what == "time":
        return found["verdict"], False, benchmark["time"]["pairs"], benchmark["time"]["spread"]
    if what == "counts":
        return found["verdict"], False, 1, 0
    functions = benchmark["function_times"]["functions"]
    named = [f["function"] for f in functions if f["verdict"] == "regression"]
    changes = next((sorted(f["changes"]) for f in functions if f["function"] == "changed"), [])
    middle = changes[len(changes) // 2] if changes else 0
    spread = 1.4826 * sorted(abs(c - middle) for c in changes)[len(changes) // 2] if changes else 0
    return found["verdict"], named == ["changed"], benchmark["function_times"]["pairs"], spread


def campaign(strobe, program, what, gates, pairs, duet, metric, more, rounds):
    begin = time.monotonic()
    results = [gate(strobe, program, what, pairs, duet, metric, more, rounds, seed) for seed in range(gates)]
    verdicts = Counter(verdict for verdict, _, _, _ in results)
    alarms = verdicts["regression"]
    counts = " / ".join(str(verdicts[v]) for v in ("pass", "inconclusive", "regression"))
    known = f"at most {upper(alarms, gates):.1%} (95 %)" if not more else f"{sum(named for _, named, _, _ in results)} name it alone" if what == "function" else ""
    middles = [sorted(values)[gates // 2] for values in ([r[2] for r in results], [r[3] for r in results])]
    print(f"| {what}, {metric}, {duet} | {rounds / 1e6:g} | +{more:g} % | {gates} | {counts} | {alarms / gates:.1%} {known} | {middles[0]} | {middles[1]:.1%} | "
          f"{time.monotonic() - begin:.0f} |", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("strobe")
    arguments.add_argument("--all", action="store_true", help="all campaigns of docs/benchmarks.md")
    arguments.add_argument("--what", default="time", choices=WORDS)
    arguments.add_argument("--gates", type=int, default=200)
    arguments.add_argument("--pairs", type=int, default=20)
    arguments.add_argument("--metric", default="cpu")
    arguments.add_argument("--duet", default="shared")
    arguments.add_argument("--more", type=float, default=0, help="additional work of the target, in percent (default: 0)")
    arguments.add_argument("--rounds", type=int, default=5000000)
    arguments.add_argument("--short", action="store_true", help="two or ten gates of at most 8 pairs of a short program: whether it works, and no rate")
    a = arguments.parse_args()
    todo = ALL if a.all else [(a.what, a.gates, a.pairs, a.duet, a.more, a.rounds)]
    if a.short:
        todo = [(what, 2 if a.all else 10, min(pairs, 8), duet, more, 1000000) for what, _, pairs, duet, more, _ in todo]
    with tempfile.TemporaryDirectory() as place:
        program = Path(place) / "program"
        program.with_suffix(".c").write_text(SOURCE, encoding="utf-8")
        subprocess.run(["gcc", "-O1", "-o", program, program.with_suffix(".c")], check=True)
        print("| what | million rounds | target | gates | pass / inconclusive / regression | regressions | pairs | spread | s |\n" + "|-" * 9 + "|")
        for what, gates, pairs, duet, more, rounds in todo:
            campaign(a.strobe, program, what, gates, pairs, duet, a.metric, more, rounds)


if __name__ == "__main__":
    main()
