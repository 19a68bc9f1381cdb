#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Does the fuzzer find and minimise a difference? The "engine" here is a wrapper that runs insnfuzz natively but alters
what it prints for every sequence whose code contains one particular instruction, as a wrong engine would."""

import argparse
import os
import subprocess
import sys
import tempfile

WRAPPER = """#!{python}
import subprocess, sys
cmd = sys.argv[1:]
out = subprocess.run(cmd, stdout=subprocess.PIPE, text=True).stdout
plain = [a for a in cmd if a not in ("--verbose", "--flush")]
if "--units" in cmd or "--list" in cmd:
    sys.stdout.write(out)
    sys.exit(0)
code = subprocess.run(plain + ["--list"], stdout=subprocess.PIPE, text=True).stdout
broken, index = set(), None
for line in code.splitlines():
    if line.startswith("sequence "):
        index = line.split()[1].rstrip(":")
    elif " {needle}" in line:
        broken.add(index)
for line in out.splitlines(True):
    fields = line.split()
    if len(fields) == 3 and fields[0] in broken and len(fields[1]) == 16:
        line = line.replace(fields[1], "f" * 16)
    sys.stdout.write(line)
"""


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--insnfuzz", required=True)
    p.add_argument("--fuzz", required=True)
    args = p.parse_args()
    needle = "lahf"
    with tempfile.TemporaryDirectory(prefix="fuzz-selftest-") as tmp:
        wrapper = os.path.join(tmp, "wrapper")
        with open(wrapper, "w", encoding="utf-8") as f:
            f.write(WRAPPER.format(python=sys.executable, needle=needle))
        os.chmod(wrapper, 0o755)
        out = os.path.join(tmp, "findings")
        proc = subprocess.run([sys.executable, args.fuzz, "--insnfuzz", args.insnfuzz, "--engine", wrapper, "--batches", "1",
                               "--count", "60", "--out", out], stdout=subprocess.PIPE, text=True, check=False)
        print(proc.stdout)
        if proc.returncode != 1 or not os.path.isdir(out):
            print("the fuzzer did not report the difference")
            return 1
        folder = os.path.join(out, sorted(os.listdir(out))[0])
        with open(os.path.join(folder, "code.txt"), encoding="utf-8") as f:
            code = [line for line in f if line.startswith("  ")]
        print("".join(code))
        # One unit and the way out: lahf may come with an instruction that makes flags and one that sets a register.
        if not any(needle in line for line in code) or len(code) > 8:
            print("the reproduction does not have the instruction, or is not minimal")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
