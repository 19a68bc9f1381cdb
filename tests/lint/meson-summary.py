# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts what a `meson test` run did, test case by test case: meson-summary.py testlog.json UNSTABLE EXIT

A cmocka program is one test to meson but many to us; programs that print `N passed, N failed, N skipped` count as they
say; anything else counts as one. UNSTABLE is the list of tests that are known to fail now and then: when one of them
fails it is named with its cause, and counts as skipped. EXIT is the exit code of `meson test`, the number of tests that
failed: another one says that it has not run them all."""
import json
import re
import sys

CMOCKA = {
    "passed": re.compile(r"^\[  PASSED  \] (\d+) test\(s\)", re.M),
    "failed": re.compile(r"^\[  FAILED  \] (\d+) test\(s\)", re.M),
    "skipped": re.compile(r"^\[  SKIPPED \] (\d+) test\(s\)", re.M),
}
OWN = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", re.M)
GOOD = ("OK", "EXPECTEDFAIL")
QUIET = re.compile(r"\[( RUN  |       OK|=+|  PASSED  )")
LINES = 20


def counts(test):
    """(passed, failed, skipped) of one test program."""
    out = (test.get("stdout") or "") + "\n" + (test.get("stderr") or "")
    own = OWN.findall(out)
    if own:
        passed, failed, skipped = map(int, own[-1])
    else:
        passed, failed, skipped = (sum(map(int, CMOCKA[k].findall(out))) for k in CMOCKA)
    if test["result"] == "SKIP":
        return 0, 0, 1
    if test["result"] not in GOOD:
        return passed, max(failed, 1), skipped
    return (passed, failed, skipped) if passed + failed + skipped else (1, 0, 0)


def complaint(test):
    """The lines of a failed test's output that say why, at most LINES."""
    lines = ((test.get("stdout") or "") + "\n" + (test.get("stderr") or "")).splitlines()
    said = [line for line in lines if line.strip() and not QUIET.match(line)]
    return "\n".join(f"  {line}" for line in said[-LINES:])


def is_bad(test):
    return test["result"] not in (*GOOD, "SKIP")


def read_log(path):
    try:
        with open(path) as log:
            return [json.loads(line) for line in log if line.strip()]
    except FileNotFoundError:
        return []


def read_unstable(path):
    """Cause by test: lines `NAME: CAUSE`."""
    with open(path) as file:
        lines = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    for line in lines:
        if ": " not in line:
            sys.exit(f"{path}: '{line}' is not of the form NAME: CAUSE")
    return dict(line.split(": ", 1) for line in lines)


def main():
    tests, unstable, code = read_log(sys.argv[1]), read_unstable(sys.argv[2]), int(sys.argv[3])
    total, bad = [0, 0, 0], 0
    for test in sorted(tests, key=is_bad):  # those that failed last: ./check prints the end of its logs
        bad += is_bad(test)
        row = list(counts(test))
        cause = unstable.get(test["name"].split(" / ")[-1]) if is_bad(test) else None
        if cause:
            row = [row[0], 0, row[2] + row[1]]
        print(f"{test['name']}: {row[0]} passed, {row[1]} failed, {row[2]} skipped ({test['result']}, {test.get('duration', 0):.0f} s)")
        if is_bad(test):
            print(f"{'UNSTABLE ' if cause else ''}{test['name']} says:\n{complaint(test)}")
        if cause:
            print(f"  known: {cause}")
        total = [a + b for a, b in zip(total, row)]
    if code != bad:
        print(f"meson test ended with {code}, but {bad} tests failed: not all were run")
        total[1] += 1
    print("%d passed, %d failed, %d skipped" % tuple(total))
    return 1 if total[1] or not tests else 0


sys.exit(main())
