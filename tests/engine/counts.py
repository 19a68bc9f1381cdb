#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the counts of inscount, bbcount and hot against the truth, without tolerance: programs whose counts are known by
hand (`strobe-count:` in tests/programs/count), an independent count by single steps (stepcount) of programs with and
without libc, and the calls of each function that -finstrument-functions saw."""

import argparse
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TIMEOUT = 120
# Without address-space randomization and rseq (which the engine refuses, natively it would be registered) a program takes
# the same path every time; string functions then see the same alignments.
FIXED = ["setarch", "-R"]
ENVIRONMENT = {"GLIBC_TUNABLES": "glibc.pthread.rseq=0", "PATH": "/usr/bin:/bin"}
STEPPED = ["start-bare", "start-hello-static one two", "start-hello-static-pie", "start-hello-nonpie", "start-hello one",
           "/bin/true", "/bin/echo hello", "/usr/bin/expr 6 * 7"]


class Failure(Exception):
    pass


def run(command):
    """Runs a command; its stdout, stderr and code. The whole group ends when time is up."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=ENVIRONMENT, start_new_session=True)
    try:
        out, err = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise Failure(f"no end within {TIMEOUT} s") from None
    return out.decode(errors="replace"), err.decode(errors="replace"), process.returncode


def strobe(options, tool, stress, program, follow=False):
    """The JSON object of a run under a tool, and the words that repeat it."""
    with tempfile.TemporaryDirectory(prefix="strobe-counts-") as folder:
        result = Path(folder) / "result.json"
        words = [str(options.strobe), "run", "-t", tool, "--format", "json", "-o", str(result)]
        words += ["--stress", stress] if stress else []
        words += ["--follow"] if follow else []
        command = FIXED + words + ["--", *program]
        again = " ".join(f"{k}={v}" for k, v in ENVIRONMENT.items()) + " " + shlex.join(command)
        _, err, got = run(command)
        if got:
            raise Failure(f"exit code {got}, should be 0: {err.strip()[-300:]}\n    {again}")
        try:
            return json.loads(result.read_text()), again
        except (OSError, ValueError) as error:
            raise Failure(f"no JSON result: {error}\n    {again}") from None


def known_counts(source, kind="count"):
    found = re.search(rf"strobe-{kind}:(.*) \*/", source.read_text())
    return {k: int(v) for k, v in (word.split("=") for word in found.group(1).split())} if found else None


STEPPED_SO_FAR = {}


def stepped_counts(options, program):
    """Each program is stepped once: a step takes up to 50 us."""
    if tuple(program) not in STEPPED_SO_FAR:
        STEPPED_SO_FAR[tuple(program)] = step(options, program)
    return STEPPED_SO_FAR[tuple(program)]


def step(options, program):
    _, err, code = run(FIXED + [str(options.stepcount), *program])
    found = re.search(r"^instructions (\d+) blocks (\d+)$", err, re.M)
    if not found or code:
        raise Failure(f"stepcount ended with {code}: {err.strip()[-300:]}")
    return {"instructions": int(found.group(1)), "blocks": int(found.group(2))}


def compare_counts(options, stress, program, want):
    """The run under each counting tool must give exactly the wanted numbers."""
    wrong = []
    for tool, fields in (("inscount", ["instructions"]), ("bbcount", ["instructions", "blocks"])):
        result, again = strobe(options, tool, stress, program)
        for field in fields:
            if field in want and result.get(field) != want[field]:
                wrong.append(f"{tool} counts {result.get(field)} {field}, should be {want[field]}\n    {again}")
    if wrong:
        raise Failure("\n  ".join(wrong))


def compare_sum(options, stress, program, want):
    """Every executed instruction belongs to one function of hot's table, so that they sum up to all."""
    result, again = strobe(options, "hot", stress, program)
    total = sum(f["instructions"] for f in result["functions"])
    if total != want["instructions"]:
        raise Failure(f"hot's functions sum up to {total} instructions, should be {want['instructions']}\n    {again}")


def compare_children(options, stress, program, want):
    """With --follow, the program and each of its children must have exactly their own counts."""
    wrong = []
    for tool, fields in (("inscount", ["instructions"]), ("bbcount", ["instructions", "blocks"])):
        result, again = strobe(options, tool, stress, program, follow=True)
        processes = sorted(result["processes"], key=lambda p: p["pid"])
        if len(processes) != 1 + want["children"]:
            wrong.append(f"{tool} knows {len(processes)} processes, should be {1 + want['children']}\n    {again}")
            continue
        for n, process in enumerate(processes):
            for field in fields:
                right = want[field if n == 0 else "child_" + field]
                if process[field] != right:
                    wrong.append(f"{tool} counts {process[field]} {field} in process {n}, should be {right}\n    {again}")
    if wrong:
        raise Failure("\n  ".join(wrong))


def compare_calls(options, stress, name):
    """The calls of each function under hot against those that the instrumented twin counted."""
    out, err, code = run([str(options.programs / "count-functions-truth")])
    want = {n: int(c) for n, c in re.findall(r"^calls (\S+) (\d+)$", out, re.M)}
    if code or len(want) < 5:
        raise Failure(f"count-functions-truth ended with {code}, {len(want)} functions: {err}")
    result, again = strobe(options, "hot", stress, [str(options.programs / name)])
    image = str(options.programs / name)
    rows = [f for f in result["functions"] if f["image"] and Path(f["image"]).name == Path(image).name]
    got = {f["name"]: f["calls"] for f in rows}
    wrong = [f"{n} was called {c} times, hot says {got.get(n)}" for n, c in sorted(want.items()) if got.get(n) != c]
    if got.get("never", 0):
        wrong.append(f"never was not called, hot says {got['never']}")
    if wrong:
        raise Failure("\n  ".join(wrong + [again]))


def checks(options):
    """Every check as a name and a function of the stress mode."""
    for source in sorted((options.sources / "count").glob("*.S")):
        program, want = [str(options.programs / f"count-{source.stem}")], known_counts(source)
        if want:
            yield f"known {source.stem}", lambda s, p=program, w=want: compare_counts(options, s, p, w)
    for source in sorted((options.sources / "count").glob("*.S")):
        program, want = [str(options.programs / f"count-{source.stem}")], known_counts(source, "follow")
        if want:
            yield f"children of {source.stem}", lambda s, p=program, w=want: compare_children(options, s, p, w)
    for source in sorted((options.sources / "count").glob("*.S")):
        want = known_counts(source)
        if want and want["instructions"] < 30000:
            program = [str(options.programs / f"count-{source.stem}")]
            yield f"stepcount agrees on {source.stem}", lambda s, p=program, w=want: agree(options, p, w)
    for line in STEPPED:
        words = line.split()
        program = [words[0] if words[0][0] == "/" else str(options.programs / words[0]), *words[1:]]
        yield f"hot sums of {line}", lambda s, p=program: compare_sum(options, s, p, stepped_counts(options, p))
        yield f"stepped {line}", lambda s, p=program: compare_counts(options, s, p, stepped_counts(options, p))
    for name in ("count-functions", "count-functions-static"):
        yield f"calls of {name}", lambda s, n=name: compare_calls(options, s, n)


def agree(options, program, want):
    """The step counter itself against the counts known by hand."""
    got = stepped_counts(options, program)
    for field, value in want.items():
        if got[field] != value:
            raise Failure(f"stepcount counts {got[field]} {field}, should be {value}")


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strobe", type=Path, default=HERE / "../../build/strobe")
    parser.add_argument("--programs", type=Path, default=HERE / "../../build/tests/programs")
    parser.add_argument("--stepcount", type=Path, default=HERE / "../../build/tests/engine/stepcount")
    parser.add_argument("--sources", type=Path, default=HERE / "../programs")
    parser.add_argument("--stress", action="append", help="stress modes of one pass, comma-separated; may be repeated; '' is none")
    parser.add_argument("--filter", help="only checks whose name matches this regular expression")
    options = parser.parse_args()
    for name in ("strobe", "programs", "stepcount", "sources"):
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
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
