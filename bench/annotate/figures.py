#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures how good cost annotations are: the cost of recording, the accuracy of models, and the errors of checks.

usage: figures.py STROBE [--only LETTERS] [--share SHARE] [--features PROGRAM] [--folder FOLDER]

  a  cost of a recorded call with five features, and of a call that is counted but not kept, paired with native runs
  b  cross-validated R^2 of functions whose laws are known (controlled.cc)
  c  R^2 of the models of --twice on plain records, and of plain models on records of --twice
  d  time of an analysis of 10,000 records with ten features
  e  time of the feature table of PROGRAM (default: STROBE itself)
  f  checks of unchanged programs that fail
  g  planted quadratic growth that one run of three sizes finds

SHARE (default: 1) makes everything that is repeated fewer times, such as 0.05 for a test. Each line of the table has the
command that repeats it in FOLDER, where the programs and records are kept (default: a temporary folder)."""
import argparse
import json
import math
import os
import random
import re
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests/features"))
import records  # noqa: E402

# The class of each law, by condition where the law has several.
LAWS = {"by_value": ["linear"], "by_pointer": ["linear"], "by_float": ["linear"], "by_size": ["linear"], "by_length": ["linear"],
        "by_square": ["quadratic"], "by_logarithm": ["nlogn"], "by_noisy_square": ["quadratic"], "by_member": ["linear"],
        "by_pair": ["linear"], "by_base": ["linear"], "by_class": ["linear", "linear"], "by_condition": ["linear", "quadratic"],
        "by_valley": ["linear", "linear"], "by_kind": ["constant", "linear", "quadratic"], "by_product": ["linear"],
        "by_sum": ["linear"], "inner": ["linear"], "method": ["linear"]}


class Figures:
    def __init__(self, strobe, share, features, folder):
        self.strobe, self.share, self.features, self.folder = strobe, share, features, Path(folder)
        self.last = ""

    def times(self, n, least=1):
        return max(least, round(n * self.share))

    def run(self, *words, codes=(0,)):
        """Runs a command in the folder; its output."""
        words = [str(word) for word in words]
        self.last = shlex.join(["strobe" if word == self.strobe else word for word in words])
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=600, check=False)
        if done.returncode not in codes:
            sys.exit(f"figures.py: {self.last} ended with {done.returncode}: {done.stderr.strip()}")
        self.code = done.returncode
        return done.stdout

    def annotate(self, *words, codes=(0,)):
        return self.run(self.strobe, "annotate", *words, codes=codes)

    def build(self, name, *flags):
        source = HERE / name
        self.run("g++" if name.endswith(".cc") else "gcc", "-O2", "-g", *flags, "-o", source.stem, source)

    def show(self, figure, aim, measured, command=None):
        print(f"| {figure} | {aim} | {measured} | `{command or self.last}` |", flush=True)

    # ---- a: the cost of recording ----

    def calls(self):
        self.build("calls.c")
        for what, aim, keep, calls in [("recorded call, five features", "< 100 ns", 10000, 10000), ("call that is not kept", "< 30 ns", 1, 2000000)]:
            costs = []
            for _ in range(self.times(21, 3)):
                native = float(self.run("./calls", calls))
                costs.append(float(self.annotate("-q", "-F", "leaf", "-k", keep, "-o", "calls.txt", "--", "./calls", calls)) - native)
            costs.sort()
            self.show(what, aim, f"{statistics.median(costs):.0f} ns ({costs[0]:.0f} to {costs[-1]:.0f}, {len(costs)} pairs)")

    # ---- b, c: controlled functions ----

    def controlled(self, output, *words, metrics="time,preemptions"):
        self.build("controlled.cc")
        self.annotate("-q", "-F", "by_*,space::inner,object::method", "-m", metrics, *words, "-o", output, "--", "./controlled", self.times(4, 2))
        return self.last

    def models(self, output, metric):
        """The annotations by the plain name of the function."""
        where = ["--where", "preemptions == 0"] if metric == "time" else []
        found = json.loads(self.annotate("--format", "json", "-m", metric, *where, output, codes=(0, 3)))
        return {plain_name(a["function"]): a for a in found["annotations"]}

    def accuracy(self):
        for metric in ["instructions", "time"]:
            command = self.controlled(metric + ".txt", metrics=metric if metric == "instructions" else "time,preemptions")
            found = self.models(metric + ".txt", metric)
            shares, wrong = {}, []
            for name, law in LAWS.items():
                models = found[name]["models"] if name in found else []
                varying = [m for m in models if m["class"] != "constant"]
                shares[name] = min((m["r2_cv"] or m["r2"] or 0 for m in varying), default=0)
                if sorted({m["class"] for m in models} - {"constant"}) != sorted(set(law) - {"constant"}):
                    wrong.append(name)
            worst = min(shares, key=shares.get)
            text = f"{shares[worst]:.5f} ({worst}), {sum(s >= 0.99 for s in shares.values())} of {len(shares)} at least 0.99; other classes than the law's: " + (", ".join(wrong) or "none")
            self.show(f"least cross-validated R² of {metric}", "≥ 0.99", text, command)

    def doubled(self):
        commands = [self.controlled("plain.txt"), self.controlled("twice.txt", "--twice")]
        sets = {name: (self.models(name + ".txt", "time"), records.read(self.folder / (name + ".txt"))[0]) for name in ("plain", "twice")}
        for model, data in [("twice", "plain"), ("plain", "twice")]:
            shares = {name: explained(sets[model][0][name], next(f for n, f in sets[data][1].items() if plain_name(n) == name)) for name in LAWS if name in sets[model][0]}
            worst = min(shares, key=shares.get)
            self.show(f"R² of models of {model} on 98 % of the {data} records", "≥ 0.99", f"{shares[worst]:.5f} ({worst}), {sum(s >= 0.99 for s in shares.values())} of {len(LAWS)} at least 0.99, median "
                      f"{statistics.median(shares.values()):.5f}", commands[1])

    # ---- d, e: times of the analyses ----

    def analysis(self):
        chance = random.Random(1)
        names = [f"x{i}" for i in range(10)]
        with open(self.folder / "ten.csv", "w", encoding="utf-8") as file:
            file.write("time," + ",".join(names) + "\n")
            for _ in range(10000):
                x = [chance.randrange(1000) for _ in names]
                file.write(f"{3 * x[0] * x[1] + 50 * x[2] + 7 + chance.gauss(0, 1000):.2f},{','.join(map(str, x))}\n")
        self.shortest("10 features × 10,000 records analysed", "< 0.5 s", "annotate", "ten.csv")

    def table(self):
        size = os.stat(self.features).st_size
        self.shortest(f"feature table of {os.path.basename(self.features)} ({size / 1e6:.0f} MB without separate debug files)", "< 5 s", "annotate", "--features", self.features)

    def shortest(self, figure, aim, *words):
        taken, cpu = [], []
        for _ in range(self.times(5)):
            begin, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
            self.run(self.strobe, *words)
            taken.append(time.perf_counter() - begin)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu.append(after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime)
        self.show(figure, aim, f"{statistics.median(taken):.2f} s ({min(taken):.2f} to {max(taken):.2f}, {len(taken)} runs), CPU time {statistics.median(cpu):.2f} s")

    # ---- f, g: checks ----

    def baseline(self):
        self.build("unchanged.c", "-fno-builtin")
        for seed in range(1, 6):
            self.annotate("-q", "-F", "parse,find,merge,store,flush", "-m", "time,allocated", "-o", f"base-{seed}.txt", "--", "./unchanged", seed, 0)
        self.annotate("-o", "base.ann", *[f"base-{seed}.txt" for seed in range(1, 6)], codes=(0, 3))

    def unchanged(self):
        self.baseline()
        names = ["parse", "find", "merge", "store", "flush"]
        for metric in ["allocated", "time"]:
            broken, undecided, done = dict.fromkeys(names, 0), 0, 0
            for seed in range(self.times(100, 2)):
                self.annotate("-q", "-F", ",".join(names), "-m", metric, "-o", "new.txt", "--", "./unchanged", 1000 + seed, 0)
                for name in names:
                    self.annotate("--check", "--kept", "base.ann", "-F", name, "-m", metric, "new.txt", codes=(0, 1, 3))
                    broken[name] += self.code == 1
                    undecided += self.code == 3
                    done += 1
            n = sum(broken.values())
            where = "".join(f", {times} in {name}" for name, times in broken.items() if times)
            self.show(f"checks of unchanged functions, {metric}: false breaches", "≤ 1 %", f"{n} of {done} ({100 * n / done:.1f} %){where}; {undecided} cannot tell")

    def planted(self):
        self.baseline()
        names = ["parse", "find", "merge", "store"]
        (self.folder / "planted.contracts").write_text("".join(f"allocated({name}) ~ n\n" for name in names), encoding="utf-8")
        chance, found, tries = random.Random(1), dict.fromkeys(["allocated", "time", "contract"], 0), 0
        for seed in range(self.times(25, 2)):
            sizes = ",".join(map(str, [chance.randrange(5, 20), chance.randrange(30, 60), chance.randrange(70, 101)]))
            self.annotate("-q", "-F", ",".join(names), "-m", "time,allocated", "-o", "planted.txt", "--", "./unchanged", 2000 + seed, sizes, 4, "planted")
            for name in names:
                tries += 1
                for metric in ["allocated", "time"]:
                    self.annotate("--check", "--kept", "base.ann", "-F", name, "-m", metric, "planted.txt", codes=(0, 1, 3))
                    found[metric] += self.code == 1
            output = self.annotate("--contracts", "planted.contracts", "planted.txt", codes=(0, 1, 3))
            found["contract"] += output.count("broken:")
        text = ", ".join(f"{100 * n / tries:.0f} % by {'contracts of allocated' if what == 'contract' else '--check of ' + what}" for what, n in found.items())
        self.show("planted n² in one run of three sizes: found", "all", f"{text}; {tries} tries")


# ---- models on other records ----

def plain_name(function):
    return re.split(r"[(<]", function)[0].rsplit("::", 1)[-1]


def value_of(expression, names):
    """An expression of the language of annotations, without categories inside of arithmetic."""
    text = expression.replace("^", "**").replace("&&", " and ").replace("||", " or ")
    functions = {"log": lambda x: math.log2(x) if x > 0 else -1e9 if x < 0 else 0, "abs": abs, "sqrt": math.sqrt, "ln": math.log, "exp": math.exp, "min": min, "max": max}
    return eval(text, {"__builtins__": {}}, {**names, **functions})  # pylint: disable=eval-used


def explained(annotation, function):
    """R^2 of the annotation on the records of the function that a scope with a formula describes, without the 2 % that are farthest
    from it: other programs, and the machine on which a virtual machine runs, disturb a few calls."""
    columns = [f["name"] for f in function.features]
    pairs = []
    for row in function.columns("time", "preemptions", *columns):
        names = dict(zip(columns, row[2:], strict=True))
        for model in annotation["models"]:
            if row[1] == 0 and model["class"] != "constant" and model["probability"] is None and (not model["condition"] or value_of(model["condition"], names)):
                pairs.append((row[0], value_of(model["mean"], names)))
    if not pairs:
        return 0
    pairs = sorted(pairs, key=lambda pair: abs(pair[0] - pair[1]))[:math.ceil(0.98 * len(pairs))]
    mean = statistics.fmean(y for y, _ in pairs)
    return 1 - sum((y - p) ** 2 for y, p in pairs) / sum((y - mean) ** 2 for y, _ in pairs)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("strobe", type=os.path.abspath)
    options.add_argument("--only", default="abcdefg", metavar="LETTERS")
    options.add_argument("--share", type=float, default=1)
    options.add_argument("--features", type=os.path.abspath, metavar="PROGRAM")
    options.add_argument("--folder", metavar="FOLDER")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="strobe-figures-") as scratch:
        folder = Path(chosen.folder or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        figures = Figures(chosen.strobe, chosen.share, chosen.features or chosen.strobe, folder)
        print("| figure | aim | measured | command |\n|-|-|-|-|", flush=True)
        for letter, measure in zip("abcdefg", [figures.calls, figures.accuracy, figures.doubled, figures.analysis, figures.table, figures.unchanged, figures.planted], strict=True):
            if letter in chosen.only:
                measure()


if __name__ == "__main__":
    main()
