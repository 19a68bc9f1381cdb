#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The built-in tools on programs that keep books of what they do (tests/tools/books): both must tell the same, without tolerance."""

import argparse
import re
import struct
import sys
import tempfile
from pathlib import Path

from truth import Failure, Run, differ

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


CHECKS = {"interrupted system calls": interrupted, "memory accesses": accesses}


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strobe", type=Path, default=HERE / "../../build/strobe")
    parser.add_argument("--programs", type=Path, default=HERE / "../../build/tests/tools")
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
