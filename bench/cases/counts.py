# SPDX-License-Identifier: GPL-3.0-or-later
"""inscount against valgrind's lackey, an independent counter, on whole programs: what was executed in the code cache is all
that was executed. (Exact counts, instruction by instruction, are the business of tests/engine/counts.py.)

The two need not agree to the last digit: valgrind maps a library of its own into the program, which the dynamic linker then
relocates, and its cpuid offers fewer extensions, so that libraries choose other code. The tunables below make the C library
choose alike; what is left is below one per cent and 50,000 instructions."""
import json
import os
import re
import subprocess

from harness.case import case

TUNABLES = ("GLIBC_TUNABLES=glibc.pthread.rseq=0:glibc.cpu.x86_rep_movsb_threshold=1000000000:"
            "glibc.cpu.x86_rep_stosb_threshold=1000000000:"
            "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX2,-AVX2_Usable,-BMI2,-ERMS,-FSRM")
SHARE, SLACK = 0.01, 50000


def counted(program):
    """A verify function for a program: runs it under both counters."""
    def verify(harness, one):
        folder, output = harness.folder(one, "in"), harness.folder(one, "count.json")
        words = ["setarch", "-R", "env", "-i", "PATH=/usr/bin:/bin", "LC_ALL=C", "PYTHONHASHSEED=0", TUNABLES]
        quiet = {"cwd": folder, "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "timeout": 600}
        ours = subprocess.run(words + harness.prefix("inscount", False, output) + program, stderr=subprocess.PIPE, **quiet)
        theirs = subprocess.run(words + ["valgrind", "--tool=lackey", "--basic-counts=yes"] + program,
                                stderr=subprocess.PIPE, text=True, **quiet)
        found = re.search(r"guest instrs:\s+([\d,]+)", theirs.stderr)
        if ours.returncode or theirs.returncode or not found or not os.path.exists(output):
            return False, f"exit codes {ours.returncode} and {theirs.returncode}; {ours.stderr[-300:]} {theirs.stderr[-300:]}"
        with open(output) as file:
            mine = json.load(file)["instructions"]
        other = int(found.group(1).replace(",", ""))
        text = f"{mine} instructions, valgrind {other}, {100 * (mine - other) / other:+.3f} %"
        return abs(mine - other) <= SHARE * other + SLACK, text
    return verify


PROGRAMS = {
    "true": (["/bin/true"], "coreutils", ""),
    "gzip": (["gzip", "-c", "text"], "gzip", "inputs text 1 > text"),
    "bzip2": (["bzip2", "-c", "text"], "bzip2", "inputs text 1 > text"),
    "xz": (["xz", "-1", "-T1", "-c", "text"], "xz-utils", "inputs text 1 > text"),
    "perl": (["perl", "-e", "$t += $_ * 3 for 1 .. 300000; print $t, sort map { $_ % 97 } 1 .. 5000"], "perl", ""),
    "lua": (["lua5.4", "-e", "local t = {} for i = 1, 300000 do t[i % 977] = tostring(i) end print(#t)"], "lua5.4", ""),
    "python3": (["/usr/bin/python3", "-I", "-S", "-c", "print(sum(i * i for i in range(100000)), sorted(str(i) for i in range(9000))[77])"],
                "python3", ""),
    "sqlite3": (["sqlite3", "-batch", "-init", "script.sql", ":memory:", ".exit"], "sqlite3", "inputs sql 4000 > script.sql"),
    "cc1": (["./cc1", "-quiet", "-O1", "-o", "/dev/null", "step.c"], "gcc",
            'inputs c 6 > step.c; ln -s "$(gcc -print-prog-name=cc1)" cc1'),
    "z3": (["z3", "holes.smt2"], "z3", "inputs holes 6 > holes.smt2"),
}

for name, (program, package, prepare) in PROGRAMS.items():
    case("count-" + name, packages=f"valgrind {package}", prepare=prepare, verify=counted(program), short=name in ("true", "bzip2"))
