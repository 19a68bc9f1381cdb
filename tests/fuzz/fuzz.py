#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Differential fuzzer: random instruction sequences natively and under the engine, outputs compared.

fuzz.py runs batches of `insnfuzz` natively and under each combination of tool and stress mode. A sequence whose line
differs is run alone, then minimised unit by unit while the difference persists, and written to the output folder
with the command lines that show it, its code, and what differs.
"""

import argparse
import concurrent.futures
import difflib
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time

RESULT = "strobe.fuzz.json"  # stands for a file of its own in each run
# What the engine says to hand over to native execution, and a sequence comes to by a jump into the middle of an instruction.
HANDED_OVER = ("far jump, far call, far return or iret", "int n or sysenter, a system call that the engine cannot see")
CORPUS_PLACES = ("/usr/bin", "/usr/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu/openssl",
                 "/usr/lib/gcc/x86_64-linux-gnu/12")
CORPUS_SEEDS = ("libcrypto", "libavcodec", "libx264", "libgmp", "libc.so", "libm.so", "libgcrypt", "libzstd", "python3",
                "libopenblas", "libgnutls", "libnettle", "libmvec", "perl", "gcc", "libblas", "libz3", "libstdc++",
                "libgomp", "libdav1d", "libjpeg", "libx265", "libaom", "libvpx", "qemu-x86_64", "libsqlite")


def make_corpus(minecorpus, path, megabytes):
    """Mine the programs of this machine: vector-heavy libraries first, then others up to the given size."""
    files = []
    for place in CORPUS_PLACES:
        if not os.path.isdir(place):
            continue
        for name in sorted(os.listdir(place)):
            full = os.path.join(place, name)
            if os.path.isfile(full) and not os.path.islink(full):
                files.append((not name.startswith(CORPUS_SEEDS), full, os.path.getsize(full)))
    files.sort()
    budget, chosen = megabytes << 20, []
    for _, full, size in files:
        if size <= budget:
            chosen.append(full)
            budget -= size
    subprocess.run([minecorpus, "-o", path], input="\n".join(chosen), text=True, check=True)


def make_corpus_of_text(minecorpus, path, text):
    """The forms of a text that minecorpus -x has written: the same on every machine."""
    with open(text, encoding="ascii") as forms:
        subprocess.run([minecorpus, "-t", "-o", path], stdin=forms, check=True)


class Engine:
    """One way to run insnfuzz: natively (an empty prefix) or under an engine."""

    def __init__(self, name, prefix):
        self.name = name
        self.prefix = prefix


class Run:
    """What one run of insnfuzz printed and how it ended."""

    def __init__(self, lines, status, at, handed_over):
        self.lines = lines    # index -> line
        self.status = status  # exit code, or a text such as "timeout"
        self.at = at          # the sequence it was at when it ended
        self.handed_over = handed_over  # what came after some sequence ran natively

    def bad(self):
        return self.status != 0


class Fuzzer:
    def __init__(self, args):
        self.args = args
        self.common = shlex.split(args.insn_args)
        if args.corpus:
            self.common += ["--corpus", args.corpus]
        self.env = dict(os.environ, LC_ALL="C")
        self.native = Engine("native", [])
        self.findings = 0
        self.sequences = 0
        self.started = time.time()
        self.skipped = []
        self.fallbacks = set()
        self.handed_over = 0
        # Address-space randomisation off: the regions are fixed, and must not meet the program's own mappings.
        self.outer = ["setarch", "-R"] if args.aslr_off else []

    def command(self, engine, extra):
        return self.outer + engine.prefix + [self.args.insnfuzz] + self.common + extra

    def note_fallbacks(self, path):
        """An engine that went on natively has not been tested: say so, and count it as a failure. Returns whether it did so
        only for what it is known to hand over."""
        try:
            with open(path, encoding="utf-8") as f:
                fallbacks = json.load(f).get("fallbacks", [])
        except (OSError, ValueError):
            return False
        others = [fallback for fallback in fallbacks if fallback.get("cause") not in HANDED_OVER]
        for text in map(json.dumps, others):
            if text not in self.fallbacks:
                print(f"the engine went native: {text}", flush=True)
            self.fallbacks.add(text)
        return bool(fallbacks) and not others

    def run(self, engine, extra, timeout=None, text=False):
        """Run insnfuzz; its lines by index, or all its text."""
        with tempfile.NamedTemporaryFile(prefix="fuzz-progress-") as progress, \
             tempfile.NamedTemporaryFile(prefix="fuzz-result-", dir=self.args.work) as result, \
             tempfile.TemporaryFile("w+", errors="replace") as out:
            cmd = [result.name if word == RESULT else word
                   for word in self.command(engine, extra + ["--progress", progress.name])]
            proc = subprocess.Popen(cmd, stdout=out, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=self.env,
                                    cwd=self.args.work, start_new_session=True)
            try:
                status = proc.wait(timeout or self.args.timeout)
            except subprocess.TimeoutExpired:
                os.killpg(proc.pid, 9)
                proc.wait()
                status = "timeout"
            handed_over = RESULT in engine.prefix and self.note_fallbacks(result.name)
            at = int.from_bytes(progress.read(8).ljust(8, b"\0"), "little")
            out.seek(0)
            if text:
                return out.read(), status
            lines = {}
            for line in out:
                fields = line.split()
                if len(fields) == 3 and line.endswith("\n"):
                    lines[int(fields[0])] = line
            return Run(lines, status, at, handed_over)

    def differs(self, engine, extra, timeout=20):
        """Does this selection of sequences and units differ from native? A native failure is no difference."""
        want = self.run(self.native, extra, timeout)
        if want.bad():
            return False
        got = self.run(engine, extra, timeout)
        return not got.handed_over and (got.bad() or got.lines != want.lines)

    def first_difference(self, want, got, indices):
        """The first index at which the two runs differ, or None."""
        for i in indices:
            if want.lines.get(i) != got.lines.get(i):
                # A run that died has lost the lines it had not written yet.
                return got.at if got.bad() and i not in got.lines and got.at >= i else i
        return None

    def batch(self, engines, seed, first, count):
        """Compare one batch under all engines. Returns the number of findings."""
        base = ["--seed", str(seed)]
        extra = base + ["--from", str(first), "--count", str(count)]
        want = self.run(self.native, extra)
        end = first + count
        if want.bad():
            # The generator made something that does not end natively, or kills the process: leave it out.
            self.skipped.append((seed, want.at, want.status))
            if len(self.skipped) > 20:
                raise SystemExit(f"fuzz.py: insnfuzz keeps failing natively (last: {want.status}); try it by hand: " +
                                 shlex.join(self.command(self.native, extra)))
            found = 0
            if want.at > first:
                found += self.batch(engines, seed, first, want.at - first)
            if want.at + 1 < end:
                found += self.batch(engines, seed, max(want.at, first) + 1, end - max(want.at, first) - 1)
            return found
        found = 0
        self.sequences += count * len(engines)
        with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
            results = list(pool.map(lambda e: self.run(e, extra), engines))
        for engine, got in zip(engines, results):
            if got.handed_over:
                found += self.around_native(engine, seed, first, count)
                continue
            at = self.first_difference(want, got, range(first, end))
            if at is None and not got.bad():
                continue
            found += 1
            self.report(engine, base, first, end, end - 1 if at is None else at, got.status)
        return found

    def around_native(self, engine, seed, first, count):
        """A sequence went native, and so did all after it: compares the others, and leaves that one out."""
        self.sequences -= count
        if count == 1:
            self.handed_over += 1
            return 0
        half = count // 2
        return self.batch([engine], seed, first, half) + self.batch([engine], seed, first + half, count - half)

    def history(self, engine, base, first, at):
        """The shortest list of sequences, ending with `at`, that shows the difference; None: it is gone."""
        if self.differs(engine, base + ["--index", str(at)]):
            return [at]
        length = 1
        while True:
            length = min(length * 4, at - first)
            chosen = list(range(at - length, at + 1))
            if self.differs(engine, base + ["--index", ",".join(map(str, chosen))], 120):
                break
            if length == at - first:
                return None
        step = max(1, (len(chosen) - 1) // 2)
        while step:
            start = 0
            while start < len(chosen) - 1:
                shorter = chosen[:start] + chosen[min(start + step, len(chosen) - 1):]
                if self.differs(engine, base + ["--index", ",".join(map(str, shorter))], 120):
                    chosen = shorter
                else:
                    start += step
            step //= 2
        return chosen

    def minimise(self, engine, extra, base, indices):
        """The smallest set of units found that still differs; drops runs of units, halving their length.

        Several sequences share one set: a unit is dropped when all can do without theirs."""
        text, _ = self.run(self.native, base + ["--index", ",".join(map(str, indices)), "--units"], text=True)
        units = list(range(max((int(line.split()[1]) for line in text.splitlines()), default=0)))
        if not units or not self.differs(engine, extra + ["--only", ",".join(map(str, units))]):
            return None
        step = max(1, len(units) // 2)
        deadline = time.time() + self.args.minimise_seconds
        while step:
            start = 0
            while start < len(units) and time.time() < deadline:
                shorter = units[:start] + units[start + step:]
                if self.differs(engine, extra + ["--only", ",".join(map(str, shorter or [95]))]):
                    units = shorter
                else:
                    start += step
            step //= 2
        return units or [95]

    def report(self, engine, base, first, end, at, status):
        """Write a reproduction of a difference that was seen first at sequence `at`."""
        self.findings += 1
        seed, after = base[1], time.time() - self.started
        folder = os.path.join(self.args.out, f"{engine.name}-seed{seed}-{at}".replace("/", "_").replace(",", "_"))
        os.makedirs(folder, exist_ok=True)
        indices = self.history(engine, base, first, at)
        if indices is None:
            extra = base + ["--from", str(first), "--count", str(end - first)]
            note = "only in the whole batch; it may depend on timing"
        else:
            extra = base + ["--index", ",".join(map(str, indices))]
            note = "alone" if len(indices) == 1 else f"after {len(indices) - 1} other sequences"
        if indices is not None and len(indices) <= 8:
            units = self.minimise(engine, extra, base, indices)
            if units:
                extra += ["--only", ",".join(map(str, units))]
            if self.differs(engine, extra + ["--repeat", "1"]):
                extra += ["--repeat", "1"]
        self.write(folder, engine, extra, note, status)
        print(f"DIFFERENCE under {engine.name}: seed {seed}, sequence {at} ({note}; engine ended with {status}; "
              f"seen after {after:.1f} s): {folder}", flush=True)

    def write(self, folder, engine, extra, note, status):
        native = shlex.join(self.command(self.native, extra + ["--verbose"]))
        under = shlex.join(self.command(engine, extra + ["--verbose"]))
        want, _ = self.run(self.native, extra + ["--verbose"], 60, text=True)
        got, got_status = self.run(engine, extra + ["--verbose", "--flush"], 60, text=True)
        code, _ = self.run(self.native, extra + ["--list"], 60, text=True)
        for name, content in (("native.txt", want), ("engine.txt", got), ("code.txt", code)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(content)
        # The dumps are alike line by line but for a few; difflib alone would be slow on thousands of lines.
        a, b = want.splitlines(), got.splitlines()
        start = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        different = list(difflib.unified_diff(a[start:start + 400], b[start:start + 400], "native", "engine", n=0,
                                              lineterm=""))[:80]
        with open(os.path.join(folder, "README"), "w", encoding="utf-8") as f:
            f.write(f"Seen {note}; the engine's run ended with {status}, this one with {got_status}.\n\n"
                    f"native: {native}\nengine: {under}\n\n{code}\n" + "\n".join(different) + "\n")

    def loop(self, engines):
        deadline = time.time() + self.args.seconds if self.args.seconds else None
        seed, done, reported = self.args.seed, 0, time.time()
        while (deadline is None or time.time() < deadline) and \
              (self.args.batches == 0 or done < self.args.batches) and self.findings < self.args.max_findings:
            use = engines if self.args.all else [engines[done % len(engines)]]
            self.batch(use, seed, 0, self.args.count)
            seed, done = seed + 1, done + 1
            if time.time() - reported > 60:
                reported = time.time()
                print(f"{reported - self.started:.0f} s: {done} batches, {self.sequences} comparisons, {self.findings} "
                      "differences", flush=True)
        return done


def engines_of(args):
    if args.engine:
        return [Engine("engine", shlex.split(args.engine))]
    result = []
    for tool in args.tools.split(","):
        for stress in args.stress.split(";"):
            prefix = [args.strobe, "run", "-t", tool, "--format", "json", "-o", RESULT]
            if stress and stress != "none":
                prefix += ["--stress", stress]
            result.append(Engine(f"{tool}-{stress or 'none'}", prefix + ["--"]))
    return result


def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--insnfuzz", required=True, help="the program that runs sequences")
    p.add_argument("--minecorpus", help="make a corpus with this program if the corpus file does not exist")
    p.add_argument("--corpus", help="the corpus file")
    p.add_argument("--forms", help="make it of this text instead of the programs of this machine")
    p.add_argument("--corpus-megabytes", type=int, default=150)
    p.add_argument("--strobe", help="the engine")
    p.add_argument("--tools", default="null,bbcount")
    p.add_argument("--stress", default="none", help="stress modes, separated by semicolons; each may be a list")
    p.add_argument("--engine", help="another engine: the words before the program, as for a shell")
    p.add_argument("--insn-args", default="", help="more arguments for insnfuzz")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=1000, help="sequences per batch")
    p.add_argument("--batches", type=int, default=0, help="0: until the time is over")
    p.add_argument("--seconds", type=float, default=0)
    p.add_argument("--all", action="store_true", help="each batch under every engine, instead of in turn")
    p.add_argument("--jobs", type=int, default=1, help="engines at once, with --all")
    p.add_argument("--timeout", type=float, default=120, help="seconds for one batch")
    p.add_argument("--minimise-seconds", type=float, default=60)
    p.add_argument("--max-findings", type=int, default=5)
    p.add_argument("--keep-aslr", dest="aslr_off", action="store_false")
    p.add_argument("--out", default="fuzz-findings")
    args = p.parse_args()
    if not args.engine and not args.strobe:
        p.error("give --strobe or --engine")
    if not args.seconds and not args.batches:
        p.error("give --seconds or --batches")
    return args


def main():
    args = parse()
    args.insnfuzz = os.path.abspath(args.insnfuzz)
    args.out = os.path.abspath(args.out)
    if args.strobe:
        args.strobe = os.path.abspath(args.strobe)
    if args.corpus:
        args.corpus = os.path.abspath(args.corpus)
        if args.forms and args.minecorpus:
            make_corpus_of_text(args.minecorpus, args.corpus, args.forms)
        elif not os.path.exists(args.corpus) and args.minecorpus:
            make_corpus(args.minecorpus, args.corpus, args.corpus_megabytes)
    with tempfile.TemporaryDirectory(prefix="strobe-fuzz-") as work:
        args.work = work
        fuzzer = Fuzzer(args)
        done = fuzzer.loop(engines_of(args))
    for seed, at, status in fuzzer.skipped:
        print(f"left out: seed {seed}, sequence {at} ends natively with {status}")
    if fuzzer.handed_over:
        print(f"left out: {fuzzer.handed_over} sequences that the engine hands over to native execution")
    print(f"{done} batches, {fuzzer.sequences} comparisons, {fuzzer.findings} differences, "
          f"{len(fuzzer.fallbacks)} native fallbacks")
    if fuzzer.sequences == 0:
        print("nothing was compared: insnfuzz does not run natively here", file=sys.stderr)
        return 2
    # What is left out may be so few, or the engine takes what is none of that for it.
    most = 2 + fuzzer.sequences // 10000
    return 1 if fuzzer.findings or fuzzer.fallbacks or fuzzer.handed_over > most else 0


if __name__ == "__main__":
    sys.exit(main())
