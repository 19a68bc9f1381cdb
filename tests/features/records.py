# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a file of records, as docs/annotations-records.md describes it, for tests."""

import csv
import subprocess


def number(text):
    try:
        return int(text)
    except ValueError:
        return float(text)


class Function:
    def __init__(self, name):
        self.name, self.metrics, self.features, self.rows = name, [], [], []
        self.calls = None
        self.branches, self.outcomes = [], []  # (name, {outcome: where}); by record a list for each branch

    def columns(self, *names):
        """The values of these metrics and features, by record; None: absent."""
        order = [m[0] for m in self.metrics] + [f["name"] for f in self.features]
        return [tuple(row[order.index(name)] for name in names) for row in self.rows]


def outcomes(fields):
    """For each branch its outcomes as pairs (outcome, how often), in order; outcomes behind "~" have no order."""
    branches, at = [], []
    for field in fields:
        if field == "#":
            branches.append(at)
            at = []
        else:
            outcome, _, times = field.partition("*")
            at.append((outcome if outcome in "~?" else int(outcome), int(times or 1)))
    assert not at, fields
    return branches


def read(path):
    """Functions by name, and notes."""
    functions, numbers, notes = {}, {}, []
    with open(path, encoding="utf-8", newline="") as file:
        for line in csv.reader(file):
            what = line[0]
            if what == "#strobe-records":
                assert line == ["#strobe-records", "1"], line
            elif what == "#function":
                numbers[line[1]] = functions[line[2]] = Function(line[2])
                functions[line[2]].image, functions[line[2]].address = line[3], int(line[5], 16)
            elif what == "#metric":
                numbers[line[1]].metrics.append((line[2], line[3] if len(line) > 3 else ""))
            elif what == "#feature":
                numbers[line[1]].features.append(dict(zip(("name", "kind", "origin", "how", "path"), line[2:], strict=True)))
            elif what == "#branch":
                numbers[line[1]].branches.append((line[2], dict(zip(map(int, line[3::2]), line[4::2], strict=True))))
            elif what == "#calls":
                numbers[line[1]].calls = tuple(map(int, line[2:]))
            elif what == "#note":
                notes.append(line[1])
            elif not what.startswith("#"):
                f = numbers[what]
                row, values = [], line[1:]
                fixed = len(f.metrics) + len(f.features)
                f.outcomes.append(outcomes(values[fixed:]))
                assert len(values) >= fixed and len(f.outcomes[-1]) == len(f.branches), line
                for i, value in enumerate(values[:fixed]):
                    is_name = i >= len(f.metrics) and f.features[i - len(f.metrics)]["kind"] == "category"
                    row.append(None if value == "" else value if is_name else number(value))
                f.rows.append(row)
    return functions, notes


def build_rust(test, source, program, *options):
    """Compiles a program in Rust; the test is skipped if there is no compiler."""
    try:
        found = subprocess.run(["rustc", "--version"], capture_output=True, text=True, timeout=60, check=False)
    except OSError:
        test.skipTest("rustc is not installed")
    if found.returncode:  # that of rustup may have no toolchain for this user
        test.skipTest("rustc does not run: " + (found.stderr.strip().splitlines() or [""])[0])
    done = subprocess.run(["rustc", "-g", *options, "-o", program, source], capture_output=True, text=True, timeout=200, check=False)
    test.assertEqual(done.returncode, 0, done.stderr)
    return program
