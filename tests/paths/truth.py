#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`strobe paths` against what is true (README.md): programs whose forests are known, random programs that write down their calls, and
programs with the hooks of -finstrument-functions.

usage: truth.py STROBE BUILT [--only known|random|hooks|text] [-k NAME] [--seeds FROM-TO] [--long] [-j N]"""

import argparse
import fnmatch
import re
import struct
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import forest
from cases import Case, statements
from forest import INFINITE, ROOT
from generate import Program
from reading import Failure, compare, paths, plain, read_json, read_text, run

HERE = Path(__file__).resolve().parent
SEEDS = "7,16,23"  # between them, all that generate.py has
VARIANTS = {"simple": [], "none": ["--unroll-recursion"], "cycles": ["--roll-cycles"]}


def known(options):
    """One test for each program of which something is said, and each way in which it was built: NAME-WAY."""
    for name, said in statements(HERE / "programs" / "truths.txt").items():
        built = sorted((options.built / "programs").glob(name + "-*"))
        programs = [program for program in built if program.is_file() and not program.suffix]
        if not programs:
            raise SystemExit(f"{options.built}: {name} was not built")
        for program in programs:
            yield program.name, lambda program=program, said=said: Case(options, said, program).check()


class Truth:
    """What a program's traces say, found once for each question."""

    def __init__(self, traces, functions):
        self.traces, self.functions, self.found = traces, functions, {}

    def __call__(self, k, how, physical, bases, joined):
        """(k-SF, k-CCF) of each thread, or of all of them."""
        key = k, how, physical, bases
        if key not in self.found:
            self.found[key] = [forest.truth(trace, k, functions=self.functions, how=how, physical=physical, bases=bases) for trace in self.traces]
        threads = self.found[key]
        if joined:
            threads = [tuple(forest.join(part) for part in zip(*threads))]
        return [tuple(forest.plain(tree) for tree in pair) for pair in threads]


def questions(long, jumps):
    """(k, how recursion is rolled, physical tail calls, joined): each k at least once, in a long campaign all of them."""
    ks = [*range(11), INFINITE]
    if long:
        return [(k, how, physical, joined) for k in ks for how in VARIANTS for physical in (False, True)[:1 + jumps] for joined in (False, True)]
    hows = list(VARIANTS)
    chosen = [(k, hows[i % 3 if i % 2 else 0], jumps and i % 4 == 3, i % 3 == 1) for i, k in enumerate(ks)]
    return chosen + [(INFINITE, "cycles", False, False), (2, "cycles", False, False)]


def compare_traces(options, program, arguments, selection, truth, asked, coroutines=False, traces=None):
    """Runs the program for each question. `traces`: reads what the run itself has written down, which must be what it was."""
    bases = ["resumer", "root"] if coroutines else ["resumer"]
    for k, how, physical, joined in asked:
        name = "inf" if k == INFINITE else str(k)
        words = ["-k", name, "--kccf", "--funcs", selection, *VARIANTS[how]]
        words += ["--tail-calls", "physical"] * physical + ["--join-threads"] * joined
        text, again = paths(options.strobe, words, [program, *arguments])
        got = [(plain(thread["ksf"], again), plain(thread["kccf"], again)) for thread in read_json(text, again, "func", name)["threads"]]
        if traces and traces() != truth.traces:
            raise Failure(f"the program has done something else than before\n    {again}")
        wants = {base: truth(k, how, physical, base, joined) for base in bases}
        # Where the first functions of coroutines stand is the same in all runs.
        bases = [base for base in bases if got == wants[base]] or bases
        want = wants[bases[0]]
        if len(got) != len(want):
            raise Failure(f"{len(got)} threads, should be {len(want)}\n    {again}")
        for i, pair in enumerate(got):
            for j, what in enumerate(("k-SF", "k-CCF")):
                compare(f"{what} of thread {i + 1}, k = {name}", pair[j], [want[i][j]], again)
    return len(asked)


def project(nodes, wanted, into):
    """The selected part of a whole calling context tree: functions that are not selected are as if they were not."""
    for node in nodes:
        below = into.child(node["name"]) if wanted(node["name"]) else into
        if below is not into:
            below.count += node["count"]
        project(node["children"], wanted, below)
    return into


def compare_whole(options, program, arguments, truth):
    """What a run of all functions says of the selected ones is what a run of these says."""
    text, again = paths(options.strobe, ["-k", "inf", "--unroll-recursion"], [program, *arguments])
    threads = read_json(text, again, "func", "inf")["threads"]
    wants = truth(INFINITE, "none", False, "resumer", False)
    if len(threads) != len(wants):
        raise Failure(f"{len(threads)} threads, should be {len(wants)}\n    {again}")
    for i, thread in enumerate(threads):
        got = forest.plain(project(thread["ksf"], truth.functions, forest.forest()))
        compare(f"selected functions of all, thread {i + 1}", got, [wants[i][0][ROOT][1]], again)
    return 1


def is_selected(name):
    return name.startswith("f_")


def random_program(options, seed):
    with tempfile.TemporaryDirectory(prefix="strobe-paths-") as folder:
        made = Program(seed)
        program, file = made.build(folder), Path(folder) / "trace"

        def traces():
            return made.traces(file)

        _, err, code = run([str(program), str(file)])
        if code:
            raise Failure(f"natively the program ends with {code}: {err}")
        truth = Truth(traces(), is_selected)
        coroutines = "coroutines" in made.features
        done = compare_traces(options, program, [file], "f_*", truth, questions(options.long, made.jumps), coroutines, traces)
        return done + (0 if coroutines else compare_whole(options, program, [file], truth))


def random_programs(options):
    for part in options.seeds.split(","):
        first, _, last = part.partition("-")
        for seed in range(int(first), int(last or first) + 1):
            yield f"random-{seed}", lambda seed=seed: random_program(options, seed)


def hooked(options, program):
    """A program that the compiler's hooks watch: their events are its trace."""
    symbols = {int(line.split()[0], 16): line.split()[2] for line in run(["nm", str(program)])[0].splitlines() if re.match(r"\w+ [tT] ", line)}
    with tempfile.TemporaryDirectory(prefix="strobe-paths-") as folder:
        file = Path(folder) / "events"

        def traces():
            data = file.read_bytes()
            words = struct.unpack(f"={len(data) // 8}Q", data)
            return [[("leave" if word >> 63 else "enter", symbols[word & (1 << 63) - 1]) for word in words]]

        _, err, code = run([str(program), str(file)])
        if code:
            raise Failure(f"natively the program ends with {code}: {err}")
        trace = traces()
        names = {name for _, name in trace[0]}
        truth = Truth(trace, lambda name: name in names)
        asked = [(k, how, False, False) for k, how in ((INFINITE, "simple"), (0, "simple"), (1, "none"), (3, "simple"), (INFINITE, "cycles"))]
        if options.long:
            asked = questions(True, False)
        done = compare_traces(options, program, [file], ",".join(sorted(names)), truth, asked, traces=traces)
        return done + compare_whole(options, program, [file], truth)


def hooks(options):
    for level in ("O0", "O2"):
        program = options.built / "hooks" / f"json-{level}"
        yield program.name, lambda program=program: hooked(options, program)


def text_form(options):
    """The text of listing 4.5 of Valtchev's thesis (IHPP, 2012), on the program that it is of."""
    program = options.built / "programs" / "prog1-O0"
    want = forest.read("__root__:2(a:2(b:2 c:1 f:1) e:2(d:2(c:4) c:2 a:2(b:2 c:2)))")
    slabs = forest.ksf_of_cct(want, 2)
    words = ["-k", "2", "--kccf", "--join-threads", "--funcs", "a,b,c,d,e,f"]
    text, again = paths(options.strobe, words, [program], "text")
    lines = text.splitlines()
    for line in ("K value: 2", "Nodes count of k slab forest: 20", "Nodes count of kCCF: 25"):
        if line not in lines:
            raise Failure(f"there is no line '{line}'\n    {again}")
    for heading, tree in (("K-SF", slabs), ("K-CCF", forest.inverse(slabs, 2))):
        found = read_text(text, heading)
        if len(found) != 1:
            raise Failure(f"{len(found)} times 'DUMP of {heading}', should be once\n    {again}")
        compare(heading, found[0], [forest.plain(tree)], again)
    text, again = paths(options.strobe, ["-k", "inf", "--funcs", "a,b,c,d,e,f"], [program], "text")
    if "K value: INFINITE" not in text.splitlines():
        raise Failure(f"there is no line 'K value: INFINITE'\n    {again}")
    found = read_text(text, "K-SF")
    wants = "__root__:1(a:1(b:1 c:1) e:2(d:2(c:4) c:2 a:2(b:2 c:2)))", "__root__:1(a:1(b:1 f:1))"
    if len(found) != len(wants) or read_text(text, "K-CCF"):
        raise Failure(f"{len(found)} forests\n    {again}")
    for got, one in zip(found, wants):
        compare("K-SF", got, [forest.plain(forest.read(one))], again)
    return 2


def text(options):
    yield "text", lambda: text_form(options)


GROUPS = {"known": known, "text": text, "hooks": hooks, "random": random_programs}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strobe", type=Path)
    parser.add_argument("built", type=Path, help="the folder in which tests/paths was built")
    parser.add_argument("--only", choices=GROUPS, help="this group")
    parser.add_argument("-k", dest="name", default="*", help="tests with this in their name, or of this pattern")
    parser.add_argument("--seeds", default=SEEDS, help="random programs, as in 1,5,10-20 (%(default)s)")
    parser.add_argument("--long", action="store_true", help="every k with every option")
    parser.add_argument("-j", type=int, default=2, help="number of tests that run at a time (default: %(default)s)")
    options = parser.parse_args()
    tests = [test for group, make in GROUPS.items() if options.only in (None, group) for test in make(options)
             if options.name in test[0] or fnmatch.fnmatch(test[0], options.name)]
    failed = 0
    with ThreadPoolExecutor(options.j) as pool:
        for line in pool.map(outcome, tests):
            failed += line.startswith("FAIL")
            print(line, flush=True)
    print(f"{len(tests) - failed} passed, {failed} failed, 0 skipped")
    return failed > 0 or not tests


def outcome(test):
    name, check = test
    begin = time.monotonic()
    try:
        return f"ok   {name}: {check()} compared ({time.monotonic() - begin:.1f} s)"
    except (Failure, KeyError, TypeError) as failure:
        return f"FAIL {name}: {failure if isinstance(failure, Failure) else repr(failure)}"


if __name__ == "__main__":
    sys.exit(main())
