#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Case study of strobe blow: z3 with several threads. z3.py STROBE [ROUNDS [REPEAT]]

The problem of section 7.2 of J. Pavela's thesis, in which noise made z3 hang: ROUNDS campaigns with its noise, with 2 threads, and with 8 threads on a machine that seems to have
8 processors, as that of the thesis. Then a causal campaign with a problem that takes longer: waits bring nothing. Needs z3 and gcc."""
import collections
import subprocess
import sys
import tempfile
from pathlib import Path

from case import Case, Failed, numbers

SHORT = """
(set-logic QF_LIA) (declare-const x Int) (declare-const y Int)
(assert (> (+ (mod x 4) (* 3 (div y 2))) (- x y))) (check-sat)
"""
# The factors of a product of two primes.
LONG = """
(set-logic QF_BV) (declare-const x (_ BitVec 32)) (declare-const y (_ BitVec 32))
(assert (bvult x #x00010000)) (assert (bvult y #x00010000)) (assert (bvugt x #x00000001)) (assert (bvule x y))
(assert (= (bvmul x y) (_ bv268140589 32))) (check-sat)
"""
WAITS = "pthread_cond_wait,std::condition_variable::wait*,__lll_lock_wait,std::thread::join*"
WAKES = "pthread_cond_broadcast,std::condition_variable::notify_*"


def hangs(case, threads, rounds, extra):
    """Campaigns with sleeps of 27 and 81 ms in functions that wait or wake; prints what each fault was, and one of them with its stacks."""
    sleeps = ["--full-analysis", "--noise", "nanosleep", "--timed-noise-min", "27ms", "--timed-noise-max", "81ms", "--noise-growth-index", "3"]
    program, runs, found, example = z3("short", threads), collections.Counter(), collections.Counter(), None
    for seed in range(1, rounds + 1):
        options = ["-F", f"{WAITS},{WAKES}", *sleeps, "--seed", seed, "--limit", "3s"]
        try:
            case.ask("-q", "--timeline", "none", *options, "-o", "hangs.db", "--", *program, extra=extra)
        except Failed as failed:
            if "without noise" not in str(failed):
                raise
            print(failed)  # z3 can hang without noise, too
            continue
        result = case.result("hangs")
        for run in result["experiments"]:
            runs[run["function"]] += run["function"] is not None
        for fault in result["faults"]:
            (noise,) = (run["noise"] for run in result["experiments"] if run["experiment"] == fault["experiment"])
            found[fault["function"], noise["strength"], fault["kind"]] += 1
        if result["faults"] and not example:
            example = case.ask("--from", "hangs.db", "--full", "--threads")
    print(f"## z3 with {threads} threads: {sum(runs.values())} experiments with noise in {len(+runs)} functions, {sum(found.values())} faults")
    for (function, strength, kind), count in sorted(found.items()):
        print(f"{kind}: {count} times, of {runs[function]} experiments with the function, with {strength / 1e6:.0f} ms in {function}")
    print(example or "", flush=True)


def z3(problem, threads):
    return ["z3", "parallel.enable=true", f"parallel.threads.max={threads}", f"{problem}.smt2"]


def main():
    strobe, (rounds, repeat) = sys.argv[1], numbers(8, 2)
    with tempfile.TemporaryDirectory(prefix="strobe-z3-") as place:
        case, here = Case(strobe, place), Path(place)
        for name, text in (("short.smt2", SHORT), ("long.smt2", LONG), ("eight.c", "int get_nprocs(void) { return 8; }\n")):
            (here / name).write_text(text)
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", "eight.so", "eight.c"], cwd=place, check=True)
        hangs(case, 2, rounds, {})
        hangs(case, 8, rounds, {"LD_PRELOAD": f"{place}/eight.so"})
        case.campaign("z3 with 2 threads, a longer problem, faster", "causal", ["-m", "causal", "-F", f"{WAITS},malloc,free", "-r", repeat, "--timeout", "3m"], z3("long", 2))


if __name__ == "__main__":
    main()
