#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The built-in tools against independent truths, without tolerance: judge.c, which single-steps the same program and decodes
with Zydis, for opmix, regmix, branches and memtrace."""

import argparse
import csv
import io
import itertools
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
TIMEOUT = 120
DIFFERENCES = 40
# As in engine/counts.py: the same path and the same addresses every time.
FIXED = ["setarch", "-R"]
ENVIRONMENT = {"GLIBC_TUNABLES": "glibc.pthread.rseq=0", "PATH": "/usr/bin:/bin"}
STEPPED = ["start-bare", "start-hello-static one two", "start-hello-static-pie", "memory-addresses", "/bin/echo hello"]


class Failure(Exception):
    pass


def run(command):
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=ENVIRONMENT, start_new_session=True)
    try:
        out, err = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise Failure(f"no end within {TIMEOUT} s: {shlex.join(command)}") from None
    return out.decode(errors="replace"), err.decode(errors="replace"), process.returncode


class Run:
    """A run of a program under a tool: its JSON, and rows of its streams."""

    def __init__(self, options, folder, tool, stress, program, more=()):
        self.options, self.file = options, Path(folder) / "run.db"
        words = [str(options.strobe), "run", "-t", tool, "-o", str(self.file)]
        words += ["--stress", stress] if stress else []
        command = FIXED + words + [*more, "--", *program]
        self.again = " ".join(f"{k}={v}" for k, v in ENVIRONMENT.items()) + " " + shlex.join(command)
        self.output, err, self.code = run(command)
        if self.code:
            raise Failure(f"exit code {self.code}, should be 0: {err.strip()[-300:]}\n    {self.again}")

    def show(self, *words):
        out, err, code = run([str(self.options.strobe), "show", str(self.file), *words])
        if code:
            raise Failure(f"strobe show ended with {code}: {err.strip()[-300:]}\n    {self.again}")
        return out

    def json(self):
        return json.loads(self.show("--format", "json"))

    def rows(self, stream):
        return list(csv.DictReader(io.StringIO(self.show("--rows", stream, "--format", "csv"))))


def differ(what, got, want, again):
    """Fails with the first differences of two mappings or lists."""
    if got == want:
        return
    if isinstance(want, list):
        at = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))
        raise Failure(f"{what}: {len(got)} instead of {len(want)}; the first that differs is number {at}:"
                      f" {got[at:at + 2]}, should be {want[at:at + 2]}\n    {again}")
    keys = [k for k in sorted(set(got) | set(want), key=str) if got.get(k) != want.get(k)]
    lines = [f"{k}: {got.get(k)}, should be {want.get(k)}" for k in keys[:DIFFERENCES]]
    raise Failure(f"{what}: {len(keys)} differ:\n    " + "\n    ".join(lines + [again]))


class Judged:
    """What judge.c says of a program."""

    def __init__(self, options, program):
        with tempfile.TemporaryDirectory(prefix="strobe-truth-") as folder:
            file = Path(folder) / "judged"
            _, err, code = run(FIXED + [str(options.judge), str(file), *program])
            if code:
                raise Failure(f"judge ended with {code}: {err.strip()[-300:]}")
            words = [line.split() for line in file.read_text().splitlines()]
        self.sums = {kind: Counter({w[1]: int(w[2]) for w in words if w[0] == kind})
                     for kind in ("mnemonic", "category", "read", "write")}
        self.branches = {(int(w[1], 16), int(w[2], 16), " ".join(w[3:-2])): (int(w[-2]), int(w[-1]))
                         for w in words if w[0] == "branch"}
        self.unjudged = {int(w[1], 16) & 0xfff for w in words if w[0] == "unjudged"}
        self.accesses = [(int(w[1], 16), w[2], int(w[3], 16), int(w[4])) for w in words if w[0] == "access"]


def compare_opmix(options, folder, stress, program, judged):
    r = Run(options, folder, "opmix", stress, program)
    result = r.json()
    differ("mnemonics", {m["mnemonic"]: m["count"] for m in result["mnemonics"] if m["count"]}, dict(judged.sums["mnemonic"]), r.again)
    differ("categories", {m["category"]: m["count"] for m in result["categories"] if m["count"]}, dict(judged.sums["category"]), r.again)


def compare_regmix(options, folder, stress, program, judged):
    r = Run(options, folder, "regmix", stress, program)
    result = r.json()
    for table, kind in (("reads", "read"), ("writes", "write")):
        differ(table, {m["register"]: m["count"] for m in result[table] if m["count"]}, dict(judged.sums[kind]), r.again)


def compare_branches(options, folder, stress, program, judged):
    """Offsets of images are their addresses less a page-aligned base: the last 12 bits tell, with the counts, who is who."""
    r = Run(options, folder, "branches", stress, program)
    got = Counter()
    for b in r.json()["branches"]:
        if not b["taken"] and not b["not_taken"]:
            continue
        got[(b["source"] & 0xfff, b["target"] & 0xfff, b["kind"], b["taken"], b["not_taken"])] += 1
    want = Counter()
    for (source, target, kind), (taken, not_taken) in judged.branches.items():
        want[(source & 0xfff, target & 0xfff, kind, taken, not_taken)] += 1
    differ("branches", dict(got), dict(want), r.again)


def in_order(accesses):
    """Those of one instruction in one order."""
    return [a for _, group in itertools.groupby(accesses, lambda a: a[0]) for a in sorted(group)]


def compare_memtrace(options, folder, stress, program, judged):
    r = Run(options, folder, "memtrace", stress, program)
    rows = r.rows("accesses")
    got = [(int(a["instruction"]) & 0xfff, a["kind"], int(a["address"], 16), int(a["bytes"])) for a in rows]
    got = [a for a in got if a[0] not in judged.unjudged]
    want = [(i & 0xfff, kind, address, size) for i, kind, address, size in judged.accesses if i & 0xfff not in judged.unjudged]
    differ("accesses", in_order(got), in_order(want), r.again)


COMPARISONS = {"opmix": compare_opmix, "regmix": compare_regmix, "branches": compare_branches, "memtrace": compare_memtrace}


def known_counts(source):
    found = re.search(r"strobe-count:(.*) \*/", source.read_text())
    return {k: int(v) for k, v in (word.split("=") for word in found.group(1).split())} if found else None


def compare_known(options, stress, source, want):
    """Threads, handlers, faults, changing code: all mnemonics together are all instructions, and branches end blocks."""
    program = [str(options.programs / f"count-{source.stem}")]
    with tempfile.TemporaryDirectory(prefix="strobe-truth-") as folder:
        r = Run(options, folder, "opmix", stress, program, ["-t", "branches"])
        result = r.json()
    mnemonics = {m["mnemonic"]: m["count"] for m in result["mnemonics"]}
    branches = sum(b["taken"] + b["not_taken"] for b in result.get("branches", []))
    got = {"instructions": sum(mnemonics.values()), "blocks": branches + mnemonics.get("syscall", 0)}
    differ("counts", {k: got[k] for k in want}, want, r.again)


# The shell's children follow one another: two that end at once may send it one SIGCHLD or two.
SYSCALLS = ["/bin/true", "/bin/ls /usr/lib", "/bin/sh -c 'echo one; (exit 3); cat /dev/null; echo two'"]


def compare_syscalls(options, stress, line):
    """As many of each as strace sees, and as many that failed. Known differences: the engine answers rseq itself, and the first
    execve is before it; what depends on time is left out."""
    words = shlex.split(line)
    program = [words[0] if words[0][0] == "/" else str(options.programs / words[0]), *words[1:]]
    with tempfile.TemporaryDirectory(prefix="strobe-truth-") as folder:
        file = Path(folder) / "strace"
        _, err, code = run(["strace", "-f", "-qq", "-o", str(file), "-e", "signal=none", *program])
        if code:
            raise Failure(f"strace ended with {code}: {err.strip()[-300:]}")
        calls, errors = Counter(), Counter()
        for name, rest in re.findall(r"^\d+ +(?:<\.\.\. )?(\w+)(.*)$", file.read_text(), re.M):
            if "<unfinished" in rest:
                continue
            calls[name] += 1
            # rt_sigreturn has no result: what strace shows for one is that of the call which the signal interrupted.
            errors[name] += name != "rt_sigreturn" and bool(re.search(r"= -1 E", rest))
        r = Run(options, folder, "syscalls", stress, program, ["--follow"])
        result = r.json()
    vague = {"execve", "rseq", "futex", "sched_yield", "restart_syscall", "clock_nanosleep", "brk", "exit", "wait4", "madvise", "munmap", "mprotect"}
    got = {s["name"]: (s["count"], s["errors"]) for s in result["syscalls"] if s["name"] not in vague}
    differ("system calls", got, {n: (c, errors[n]) for n, c in calls.items() if n not in vague}, r.again)


GEOMETRIES = ["32768,8,64", "16384,4,32", "8192,1,64"]


def compare_cachegrind(options, stress, geometry):
    """The same accesses and misses of the same caches, exactly: the program has no libc."""
    program = [str(options.programs / "memory-cache")]
    size, ways, line = geometry.split(",")
    last = f"1048576,16,{line}"
    with tempfile.TemporaryDirectory(prefix="strobe-truth-") as folder:
        _, err, code = run(["valgrind", "--tool=cachegrind", "--cache-sim=yes", f"--I1={geometry}", f"--D1={geometry}", f"--LL={last}",
                            f"--cachegrind-out-file={folder}/out", *program])
        if code:
            raise Failure(f"valgrind ended with {code}: {err.strip()[-300:]}")
        r = Run(options, folder, f"dcache:size={size},ways={ways},line={line}", stress, program)
        got = {row["kind"]: (row["accesses"], row["misses"], row["l2_misses"]) for row in r.json()["cache"]}
    want = {}
    for kind, column in (("load", 1), ("store", 2)):
        lines = [re.search(rf"{name}: .*\( *([\d,]+) +rd +\+ +([\d,]+) +wr", err).group(column)
                 for name in ("D +refs", "D1 +misses", "LLd misses")]
        want[kind] = tuple(int(number.replace(",", "")) for number in lines)
    differ("cache", got, want, r.again)


def checks(options):
    """Every check as a name and a function of the stress mode."""
    judgements = {}
    for geometry in GEOMETRIES if shutil.which("valgrind") else []:
        yield f"dcache of {geometry}", lambda s, g=geometry: compare_cachegrind(options, s, g)
    for source in sorted((options.sources / "count").glob("*.S")):
        want = known_counts(source)
        if want and source.stem not in ("forks", "vforks"):
            yield f"known {source.stem}", lambda s, f=source, w=want: compare_known(options, s, f, w)
    for line in SYSCALLS if shutil.which("strace") else []:
        yield f"syscalls of {line}", lambda s, p=line: compare_syscalls(options, s, p)

    def stepped(stress, line, tool):
        words = line.split()
        program = [words[0] if words[0][0] == "/" else str(options.programs / words[0]), *words[1:]]
        if line not in judgements:
            judgements[line] = Judged(options, program)
        with tempfile.TemporaryDirectory(prefix="strobe-truth-") as folder:
            COMPARISONS[tool](options, folder, stress, program, judgements[line])

    for line in options.programs_stepped:
        for tool in COMPARISONS:
            if tool == "memtrace" and line[0] == "/":
                continue  # the maps of what is linked dynamically lie elsewhere under the engine
            yield f"{tool} of {line}", lambda s, p=line, t=tool: stepped(s, p, t)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strobe", type=Path, default=HERE / "../../build/strobe")
    parser.add_argument("--programs", type=Path, default=HERE / "../../build/tests/programs")
    parser.add_argument("--judge", type=Path, default=HERE / "../../build/tests/tools/judge")
    parser.add_argument("--sources", type=Path, default=HERE / "../programs")
    parser.add_argument("--stress", action="append", help="stress modes of one pass, comma-separated; may be repeated; '' is none")
    parser.add_argument("--filter", help="only checks whose name matches this regular expression")
    parser.add_argument("programs_stepped", nargs="*", default=STEPPED, metavar="PROGRAM")
    options = parser.parse_args()
    for name in ("strobe", "programs", "judge", "sources"):
        path = getattr(options, name).resolve()
        if not path.exists():
            parser.error(f"no {path}; build it, or name it with --{name}")
        setattr(options, name, path)
    return options


def main():
    options = parse_options()
    passed = failed = 0
    for stress in options.stress or [""]:
        for name, check in checks(options):
            if options.filter and not re.search(options.filter, name):
                continue
            try:
                check(stress)
                passed += 1
            except Failure as failure:
                failed += 1
                print(f"FAILED {name}{' [' + stress + ']' if stress else ''}:\n  {failure}", flush=True)
    missing = [judge for judge in ("valgrind", "strace") if not shutil.which(judge)]
    for judge in missing:
        print(f"skipped: {judge} is not installed")
    print(f"{passed} passed, {failed} failed, {len(missing)} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
