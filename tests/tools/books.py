#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The built-in tools on programs that keep books of what they do (tests/tools/books): both must tell the same, without tolerance."""

import argparse
import functools
import re
import struct
import sys
import tempfile
from pathlib import Path

from truth import Failure, Run, differ, run

HERE = Path(__file__).resolve().parent


def booked(output, kind):
    """The words of the lines `KIND WORD...` of a program's output."""
    return [line.split()[1:] for line in output.splitlines() if line.split()[:1] == [kind]]


def interrupted(options, folder, stress):
    r = Run(options, folder, "syscalls:trace", stress, [str(options.programs / "book-interrupted")])
    want = {name: (int(count), int(errors)) for name, count, errors in booked(r.output, "call")}
    got = {s["name"]: (s["count"], s["errors"]) for s in r.json()["syscalls"] if s["name"] in want}
    differ("system calls", got, want, r.again)
    rows = [(row["name"], row["error"]) for row in r.rows("trace") if row["name"] in want]
    words = {name: (sum(n == name for n, _ in rows), sum(n == name and e == "EINTR" for n, e in rows)) for name in want}
    differ("rows", words, want, r.again)


def accesses(options, folder, stress):
    """By arena: of each, the order is known."""
    file = Path(folder) / "books"
    r = Run(options, folder, "memtrace:values", stress, [str(options.programs / "book-accesses"), str(file)])
    arenas = [(int(a), int(a) + int(n)) for _, a, n in booked(r.output, "arena")]
    want = [[] for _ in arenas]
    for kind, number, offset, size, value in struct.iter_unpack("=IIIIQ", file.read_bytes()):
        want[number].append((("read", "write", "read-write")[kind], offset, size, value))
    got = [[] for _ in arenas]
    for row in r.rows("accesses"):
        address = int(row["address"], 16)
        for number, (first, end) in enumerate(arenas):
            if first <= address < end:
                got[number].append((row["kind"], address - first, int(row["bytes"]), int(row["value"], 16)))
    for number, (one, other) in enumerate(zip(got, want)):
        differ(f"accesses to arena {number}", one, other, r.again)


def symbols(program):
    """Addresses of a program's symbols."""
    return {name: int(value, 16) for value, _, name in (line.split() for line in run(["nm", str(program)])[0].splitlines() if line[0] != " ")}


def storm(options, folder, stress, how):
    """TURNS values are put. Where a handler has jumped out between an action and its instruction, the action has been done or not."""
    program, turns, limit = options.programs / "book-storm", 400000, 1000
    at, tool = symbols(program), Path(folder) / "sums.tool"
    out, err, code = run([str(options.strobe), "build-tool", "-q", "-I", str(options.include), "-o", str(tool),
                          str(HERE / "books/sums.tool.c")])
    if code:
        raise Failure(out + err)
    r = Run(options, folder, f"{tool}:inc={at['cell_inc']},put={at['storm_put']},at={at['storm_inc']},limit={limit}", stress, [str(program), how])
    inc, at_inc, at_put, after_put, signals = map(int, booked(r.output, "storm")[0])
    got = {row["what"]: (row["count"], row["sum"]) for row in r.json()["sums"]}
    if signals < 100:
        raise Failure(f"only {signals} signals came")
    want = {"plain": (inc, 0)} | {name: (inc, inc * (inc - 1) // 2) for name in ("inc", "row", "call")}
    below, rest = limit - 1, turns - limit
    want |= {"put": (turns, turns * (turns + 1) // 2), "bytes": (0, 8 * turns), "equal": (1, 0), "not equal": (turns - 1, 0),
             "below": (below, 0), "not below": (rest + 1, 0), "above": (rest, 0), "not above": (below + 1, 0),
             "shares": (sum(value & limit != 0 for value in range(1, turns + 1)), 0)}
    if how == "jump":
        slack = {"plain": [0], "put": range(at_put + 1), "bytes": [0]} | dict.fromkeys(("inc", "row", "call"), range(at_inc + 1))
        got = {name: got[name][0] - count in slack.get(name, range(-after_put, 1)) for name, (count, _) in want.items()}
        want = dict.fromkeys(want, True)
    differ("sums", got, want, r.again)


CHECKS = {"signals, handlers return": functools.partial(storm, how="return"), "signals, handlers jump": functools.partial(storm, how="jump"),
          "interrupted system calls": interrupted, "memory accesses": accesses}


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strobe", type=Path, default=HERE / "../../build/strobe")
    parser.add_argument("--programs", type=Path, default=HERE / "../../build/tests/tools")
    parser.add_argument("--include", type=Path, default=HERE / "../../include")
    parser.add_argument("--stress", action="append", help="stress modes of one pass, comma-separated; may be repeated; '' is none")
    parser.add_argument("--filter", help="only checks whose name matches this regular expression")
    options = parser.parse_args()
    options.strobe, options.programs = options.strobe.resolve(), options.programs.resolve()
    return options


def main():
    options = parse_options()
    passed = failed = 0
    for stress in options.stress or [""]:
        for name, check in CHECKS.items():
            if options.filter and not re.search(options.filter, name):
                continue
            try:
                with tempfile.TemporaryDirectory(prefix="strobe-books-") as folder:
                    check(options, folder, stress)
                passed += 1
            except Failure as failure:
                failed += 1
                print(f"FAILED {name}{' [' + stress + ']' if stress else ''}:\n  {failure}", flush=True)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
