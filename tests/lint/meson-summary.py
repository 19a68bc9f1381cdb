# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts what a `meson test` run did, test case by test case: meson-summary.py testlog.json

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


def main():
    with open(sys.argv[1]) as log:
        tests = [json.loads(line) for line in log if line.strip()]
    rows = [(test, counts(test)) for test in tests]
    for test, (p, f, s) in rows:
        print(f"{test['name']}: {p} passed, {f} failed, {s} skipped ({test['result']})")
    for test, _ in rows:
        if test["result"] not in (*GOOD, "SKIP"):
            print(f"{test['name']} says:\n{complaint(test)}")
    total = [sum(row[1][i] for row in rows) for i in range(3)]
    print("%d passed, %d failed, %d skipped" % tuple(total))
    return 1 if total[1] or not rows else 0


sys.exit(main())
