#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The built-in tools on programs that keep books of what they do (tests/tools/books): both must tell the same, without tolerance."""

import argparse
import bisect
import contextlib
import functools
import json
import re
import shlex
import shutil
import sqlite3
import struct
import sys
import tempfile
from collections import Counter
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


class CallBook:
    """What callbook.c has written: the calls of functions that were compiled with its hooks, by their addresses."""

    def __init__(self, program, file):
        code = run(["nm", "-n", str(program)])[0].splitlines()
        self.starts = sorted({int(line.split()[0], 16) for line in code if re.match(r"\w+ [tTwW] ", line)})
        data, at, self.notes = file.read_bytes(), 0, {}
        while at < len(data):
            tid, n = struct.unpack_from("=QQ", data, at)
            at += 16 + 24 * n
            self.notes[tid] = list(struct.iter_unpack("=QQQ", data[at - 24 * n:at]))
        self.known = {a for notes in self.notes.values() for kind, a, _ in notes if kind == 0}
        # No call leads to the handler of a signal.
        handler = symbols(program).get("on_signal")
        self.notes = {tid: [n for n in notes if n[0] > 1 or n[1] != handler] for tid, notes in self.notes.items()}
        self.known.discard(handler)

    def function(self, address):
        """That of the program to which an address belongs; 0: one without hooks."""
        i = bisect.bisect(self.starts, address)
        return self.starts[i - 1] if i and self.starts[i - 1] in self.known else 0

    def pairs(self):
        return Counter((self.function(b - 1), a) for notes in self.notes.values() for kind, a, b in notes if kind == 0)

    def trace(self, tid):
        """(event, depth, caller, callee, first arguments or None) for each call and each return that happened."""
        rows, stack, unwound = [], [], 0  # unwound: so many are to be left without a return
        for kind, a, b in self.notes[tid]:
            if kind == 0:
                stack.append((self.function(b - 1), a))
                rows.append(["call", len(stack), *stack[-1], None])
            elif kind == 1:
                if len(stack) > unwound:
                    rows.append(["return", len(stack), *stack[-1], None])
                stack.pop()
                unwound = min(unwound, len(stack))
            elif kind == 2:
                rows[-1][4] = (a, b)
            elif kind == 5:
                while stack[-1][1] != self.function(a - 1):
                    stack.pop()
            unwound = {3: len(stack), 4: 0}.get(kind, unwound)
        return rows


def traced(rows, book, program, tid):
    """The rows of a thread as CallBook.trace has them: depths are counted over the functions with hooks."""
    found, stack = [], []
    for row in rows:
        if int(row["tid"]) != tid:
            continue
        depth, callee, inside = int(row["depth"]), int(row["callee"]), row["callee_image"] == program
        key = depth, callee, inside and callee in book.known
        while stack and stack[-1][0] >= depth + (row["event"] == "return"):
            stack.pop()
        level = sum(known for _, _, known in stack) + (row["event"] == "call")
        if row["event"] == "call":
            stack.append(key)
        elif not stack or stack.pop() != key:
            raise Failure(f"a return of a call that was not seen: {row}")
        if inside and callee in book.known:
            caller = book.function(int(row["caller"])) if row["caller_image"] == program else 0
            found.append([row["event"], level, caller, callee, (int(row["arg1"], 16), int(row["arg2"], 16))])
    return found


def calls(options, folder, stress, name):
    program, file = options.programs / name, Path(folder) / "books"
    r = Run(options, folder, "calls:args=2", stress, [str(program), str(file)])
    book = CallBook(program, file)
    got = Counter()
    for row in r.json()["pairs"]:
        if row["callee_image"] == str(program) and row["callee_offset"] in book.known:
            caller = row["caller_offset"] if row["caller_image"] == str(program) else 0
            got[caller if caller in book.known else 0, row["callee_offset"]] += row["count"]
    differ("pairs", dict(got), dict(book.pairs()), r.again)
    rows = r.rows("trace")
    for tid in book.notes:
        want, found = book.trace(tid), traced(rows, book, str(program), tid)
        for row, wanted in zip(found, want):
            row[4] = row[4] if wanted[4] else None
        differ(f"trace of thread {tid}", found, want, r.again)


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


def branches_of(options, folder, stress, name, how):
    """The symbols and the run of a program that signals hit."""
    program = options.programs / name
    r = Run(options, folder, "branches", stress, [str(program), how])
    if int(booked(r.output, "signals")[0][0]) < 50:
        raise Failure("too few signals came")
    return symbols(program), r


def ways(options, folder, stress, how):
    """What each way leads to has counted itself: targets of branches, and behind conditional ones what is not taken."""
    at, r = branches_of(options, folder, stress, "book-ways", how)
    count = {int(address, 16): int(times) for address, times in booked(r.output, "way")}
    rows = [row for row in r.json()["branches"] if at["ways_begin"] <= row["source"] < at["ways_end"]]
    to = {address: sum(row["taken"] for row in rows if row["target"] == address) for address in count}
    behind = {"ways_jc": "ways_even", "ways_jrcxz": "ways_not_zero", "ways_back": "ways_out"}
    for source, target in behind.items():
        to[at[target]] += sum(row["not_taken"] for row in rows if row["source"] == at[source])
    differ("ways", to, count, r.again)


def many(options, folder, stress, how):
    """One place calls 5,000 functions: those have counted calls, and the place behind the call has counted their returns."""
    at, r = branches_of(options, folder, stress, "book-many", how)
    book = [tuple(map(int, words)) for words in booked(r.output, "function")]
    to, back = Counter(), Counter()
    for row in r.json()["branches"]:
        if row["source"] == at["many_site"]:
            to[(row["target"] - at["many_functions"]) // 16] += row["taken"]
        elif row["target"] == at["many_back"]:
            back[(row["source"] - at["many_functions"]) // 16] += row["taken"]
    differ("calls and returns", [(to[i], back[i]) for i in range(len(book))], book, r.again)
    # 8 links and twice 16 lead to a branch at the most, and not half of all. They are made anew where signals have stopped the caller.
    passes = int(re.search(r"([\d,]+) +target_passes", r.show("--stats")).group(1).replace(",", ""))
    if not stress and passes > 400 * len(book):
        raise Failure(f"{passes} links passed for {len(book)} new ones\n    {r.again}")


def judged_memory(program):
    """Allocations, their bytes, the most that was live and what is left, as valgrind counts if it lets libc keep what it keeps."""
    _, err, code = run(["valgrind", "--run-libc-freeres=no", "--run-cxx-freeres=no", *program])
    found = re.search(r"in use at exit: ([\d,]+) .*total heap usage: ([\d,]+) allocs, [\d,]+ frees, ([\d,]+) bytes", err, re.S)
    _, more, other = run(["valgrind", "--tool=dhat", "--dhat-out-file=/dev/null", *program])
    most = re.search(r"At t-gmax: ([\d,]+) bytes", more)
    if code or other or not found or not most:
        raise Failure(f"valgrind ended with {code} and {other}: {err[-300:]} {more[-300:]}")
    return {key: int(n.replace(",", "")) for key, n in zip(("live", "count", "bytes", "peak"), (*found.groups(), most.group(1)))}


def calls_of(program):
    """The addresses of a program's calls: of each, all of its bytes but the first, which a place within it may be."""
    found = re.findall(r"^ *([0-9a-f]+):\t([0-9a-f ]+)\tcall", run(["objdump", "-d", "-w", str(program)])[0], re.M)
    return {int(at, 16) + i for at, code in found for i in range(len(code.split()))}


def heap(options, folder, stress, line):
    """As valgrind counts. A program of ours says what each of its functions that ask was given; each asks at one place."""
    words = shlex.split(line)
    program = [words[0] if words[0][0] == "/" else str(options.programs / words[0]), *words[1:]]
    judged = judged_memory(program)
    r = Run(options, folder, "alloc", stress, program)
    result = r.json()
    differ("memory", {key: result["totals"][0][key] for key in judged}, judged, r.again)
    want = {name: tuple(map(int, numbers)) for name, *numbers in booked(r.output, "site")}
    if not want:
        return
    sites = [s for s in result["sites"] if s["site_image"] == program[0] and s["site_function"] in want]
    differ("sites", {s["site_function"]: tuple(s[key] for key in ("count", "bytes", "live", "peak")) for s in sites}, want, r.again)
    known = calls_of(program[0])
    differ("places within a call", {s["site"]: s["site"] in known for s in sites}, {s["site"]: True for s in sites}, r.again)


CHECKS = {"calls of C": functools.partial(calls, name="book-callers"), "calls of C++": functools.partial(calls, name="book-callers-cpp"),
          "signals, handlers return": functools.partial(storm, how="return"), "signals, handlers jump": functools.partial(storm, how="jump"),
          "branches, handlers return": functools.partial(ways, how="return"), "branches, handlers jump": functools.partial(ways, how="jump"),
          "branches, step by step": functools.partial(ways, how="step")} | {
              f"branches to one place, {what}": functools.partial(many, how=how)
              for what, how in (("handlers return", "return"), ("handlers jump", "jump"), ("threads", "threads"))} | {
          "interrupted system calls": interrupted, "memory accesses": accesses}


def judged_coverage(folder, source):
    """Executions by line and calls by function (its name, and the line of that), as gcov counts."""
    out, err, code = run(["gcc", "-w", "-O0", "--coverage", "-dumpdir", f"{folder}/judged-", "-o", f"{folder}/judged", str(source)])
    if not code:
        out, err, code = run([f"{folder}/judged"])
    if not code:
        out, err, code = run(["gcov", "-t", "-j", f"{folder}/judged-lines.gcda"])
    if code:
        raise Failure(f"gcov or its program ended with {code}: {err[-300:]}")
    file = json.loads(out)["files"][0]
    return ({line["line_number"]: line["count"] for line in file["lines"]},
            {(f["name"], f["start_line"]): f["execution_count"] for f in file["functions"]})


def traced_coverage(r, source):
    """What the tool's tracefile says of the source: of lines, of functions; its totals are compared."""
    part = re.search(rf"^SF:{re.escape(str(source))}$(.*?)^end_of_record$", r.show("--format", "lcov"), re.M | re.S)
    words = re.findall(r"^(\w+):([^,\n]*),?(.*)$", part.group(1) if part else "", re.M)
    lines = {int(a): int(b) for kind, a, b in words if kind == "DA"}
    at = {b: int(a) for kind, a, b in words if kind == "FN"}
    functions = {(b, at.get(b)): int(a) for kind, a, b in words if kind == "FNDA"}
    totals = {kind: int(a) for kind, a, b in words if kind in ("LF", "LH", "FNF", "FNH")}
    hit = sum(n != 0 for n in lines.values()), sum(n != 0 for n in functions.values())
    differ("totals", totals, {"LF": len(lines), "LH": hit[0], "FNF": len(functions), "FNH": hit[1]}, r.again)
    return lines, functions


def known_lines(text, gcov, got, again):
    """gcov has a function's entry in the line of its name and counts labels; the line table has it in that of its brace, and its exit."""
    want = {}
    for number, line in enumerate(text, 1):
        said = re.search(r"/\* gcov (\d+), coverage (\d+) \*/", line)
        name = number in gcov and number < len(text) and text[number] == "{"
        if said:
            differ("gcov", {number: gcov[number]}, {number: int(said.group(1))}, again)
            want[number] = int(said.group(2))
        elif name:
            want[number + 1] = gcov[number]
        elif line == "}" and number in got:
            want[number] = got[number]
        elif number in gcov and not line.endswith(":"):
            want[number] = gcov[number]
    return want


def coverage(options, folder, stress):
    source = HERE / "books/lines.c"
    lines, functions = judged_coverage(folder, source)
    program = f"{folder}/lines"
    out, err, code = run(["gcc", "-w", "-O0", "-g", "-o", program, str(source)])
    if code:
        raise Failure(out + err)
    r = Run(options, folder, "coverage", stress, [program])
    got, calls_got = traced_coverage(r, source)
    want = known_lines(source.read_text().splitlines(), lines, got, r.again)
    differ("lines", got, want, r.again)
    differ("functions", calls_got, functions, r.again)
    blocks = r.json()["blocks"]
    differ("blocks", {"coverage": blocks}, {"coverage": Run(options, folder, "bbcount", stress, [program]).json()["blocks"]}, r.again)
    r = Run(options, folder, "coverage:unique", stress, [program])
    seen, entered = traced_coverage(r, source)
    differ("lines that were executed", {k: n > 0 for k, n in seen.items()}, {k: n > 0 for k, n in got.items()}, r.again)
    differ("functions that were", {k: n > 0 for k, n in entered.items()}, {k: n > 0 for k, n in calls_got.items()}, r.again)
    with contextlib.closing(sqlite3.connect(r.file)) as db:
        each = {executions for executions, in db.execute("SELECT executions FROM block")}
    differ("executions of each block", {"unique": each}, {"unique": {1}}, r.again)


JUDGED = {"lines": ("gcov", coverage)} | {f"memory of {line}": ("valgrind", functools.partial(heap, line=line))
          for line in ("book-heap", "/bin/ls -l /usr/lib", "/usr/bin/sort /etc/passwd", "/usr/bin/find /etc/pam.d -ls")}


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
    checks = CHECKS | {name: check for name, (judge, check) in JUDGED.items() if shutil.which(judge)}
    missing = sorted({judge for judge, _ in JUDGED.values() if not shutil.which(judge)})
    for judge in missing:
        print(f"skipped: {judge} is not installed")
    passed = failed = 0
    for stress in options.stress or [""]:
        for name, check in checks.items():
            if options.filter and not re.search(options.filter, name):
                continue
            try:
                with tempfile.TemporaryDirectory(prefix="strobe-books-") as folder:
                    check(options, folder, stress)
                passed += 1
            except Failure as failure:
                failed += 1
                print(f"FAILED {name}{' [' + stress + ']' if stress else ''}:\n  {failure}", flush=True)
    print(f"{passed} passed, {failed} failed, {len(missing)} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
