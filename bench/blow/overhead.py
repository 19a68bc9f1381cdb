#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The overhead of the runs of strobe blow on five programs of Debian: usage: overhead.py STROBE [PAIRS]

For each program, runs without noise are paired with runs without probes (--native-runs): with the probes of --mode slow-down, and with those of --mode causal, which
also traces the threads. Limits: 5 % and 10 % of the run time. PAIRS: default 5. Runs take about a second each on an idle machine."""
import os
import random
import shutil
import subprocess
import sys
import tempfile

from case import Case, Failed, numbers

LIMITS = {"slow-down": 0.05, "causal": 0.10}


def write_inputs(place):
    """Text that compresses as usual text does, a script for sqlite3, and frames for x264."""
    chance = random.Random(1)
    words = ["".join(chance.choices("etaoinshrdlu", k=chance.randint(2, 9))) for _ in range(2000)]
    with open(os.path.join(place, "text"), "w") as out:
        for _ in range(1200000):
            out.write(chance.choice(words) + " ")
    with open(os.path.join(place, "query.sql"), "w") as out:
        out.write("create table t(a, b);\nwith recursive n(i) as (select 1 union all select i + 1 from n where i < 400000) insert into t select i, i * 7919 % 100003 from n;\n")
        out.write("create index u on t(b);\nselect count(*), sum(a) from t where b % 7 = 1;\nselect b, count(*) from t group by b order by 2 desc, 1 limit 5;\n")
    with open(os.path.join(place, "video.y4m"), "wb") as out:
        out.write(b"YUV4MPEG2 W320 H240 F25:1 C420jpeg\n")
        base = chance.randbytes(320 * 240 * 3 // 2)
        for frame in range(40):
            out.write(b"FRAME\n" + base[frame * 320:] + base[:frame * 320])


def programs():
    return [
        ("pigz", ["pigz", "-p2", "-k", "-c", "text"], None),
        ("xz", ["xz", "-T2", "-2", "--block-size=1MiB", "-k", "-c", "text"], None),
        ("sqlite3", ["sqlite3", ":memory:"], "query.sql"),
        ("x264", ["x264", "--threads", "2", "--preset", "veryfast", "-o", "/dev/null", "video.y4m"], None),
        ("python3", ["/usr/bin/python3", "-c", "print(sum(hash(str(i)) % 7 for i in range(1500000)) > 0)"], None),
    ]


def show(increase):
    if increase["value"] is None:
        return "cannot tell"
    if increase["lo"] is None:
        return f"{100 * increase['value']:+.1f} % (one pair)"
    return "{:+.1f} % ({:+.1f} to {:+.1f})".format(*(100 * increase[key] for key in ("value", "lo", "hi")))


def measure(case, name, mode, pairs, program, source):
    """The result of a campaign with one experiment."""
    options = ["--mode", mode, "--baseline-runs", max(pairs, 3), "--native-runs", pairs, "--iterations", 1, "--timeout", 0, "--timeline", "none"]
    case.ask("-q", *options, *(["--stdin", source] if source else []), "-o", f"{name}.db", "--", *program)
    return case.result(name)


def main():
    (pairs,) = numbers(5)
    with tempfile.TemporaryDirectory(prefix="strobe-overhead-") as place:
        write_inputs(place)
        case = Case(sys.argv[1], place)
        print(f"{pairs} pairs of runs; load: {os.getloadavg()[0]:.1f}")
        print("| program | mode | functions with probes | run time | CPU time | limit |\n|-|-|-|-|-|-|")
        for name, program, source in programs():
            if not shutil.which(program[0]):
                print(f"| {name} | not installed | | | | |")
                continue
            for mode, limit in LIMITS.items():
                try:
                    result = measure(case, name, mode, pairs, program, source)
                except (Failed, subprocess.TimeoutExpired) as error:
                    print(f"| {name} | {mode} | failed: {error} | | | |", flush=True)
                    continue
                probes = result["baseline"]["probes"]
                print(f"| {name} | {mode} | {len(result['targets'])} | {show(probes['run_time'])} | {show(probes['cpu_time'])} | {100 * limit:.0f} % |", flush=True)
        print(f"load at the end: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
