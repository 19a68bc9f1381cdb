# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts what a `meson test` run did, test case by test case: meson-summary.py testlog.json [again.json]
or names the tests that failed, one to a line: meson-summary.py --failed testlog.json

again.json is of a run that repeated those: tests that passed each time there count as that run says, and are told of.

A cmocka program is one test to meson but many to us; programs that print `N passed, N failed, N skipped` count as they
say; anything else counts as one."""
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
    told = [line for line in lines if line.strip() and not QUIET.match(line)]
    return "\n".join(f"  {line}" for line in told[-LINES:])


def is_bad(test):
    return test["result"] not in (*GOOD, "SKIP")


def read(path):
    try:
        with open(path) as log:
            return [json.loads(line) for line in log if line.strip()]
    except FileNotFoundError:
        return []


def recovered(again):
    """The last run of each test that was repeated and passed each time, by name."""
    bad = {test["name"] for test in again if is_bad(test)}
    return {test["name"]: test for test in again if test["name"] not in bad}


def summary(tests, again):
    rows = [(test, counts(again.get(test["name"], test))) for test in tests]
    for test, (p, f, s) in rows:
        print(f"{test['name']}: {p} passed, {f} failed, {s} skipped ({test['result']})")
    for test, _ in rows:
        if is_bad(test):
            print(f"{'UNSTABLE ' if test['name'] in again else ''}{test['name']} says:\n{complaint(test)}")
    total = [sum(row[1][i] for row in rows) for i in range(3)]
    print("%d passed, %d failed, %d skipped" % tuple(total))
    return 1 if total[1] or not rows else 0


def main():
    if sys.argv[1] == "--failed":
        for test in filter(is_bad, read(sys.argv[2])):
            print(test["name"].split(" / ")[-1])
        return 0
    again = read(sys.argv[2]) if len(sys.argv) > 2 else []
    return summary(read(sys.argv[1]), recovered(again))


sys.exit(main())
