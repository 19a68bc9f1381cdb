# SPDX-License-Identifier: GPL-3.0-or-later
"""The workloads that bench/run measures: unmodified programs from Debian on generated inputs, and small C programs that
stress one thing. Each is one process started directly, so that a prefix can go before it."""
import dataclasses
import os
import shutil
import subprocess

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@dataclasses.dataclass
class Workload:
    name: str
    kind: str         # loop, calls, generated or cold: what the engine finds hard about it
    packages: str
    prepare: str      # shell script, run in the folder of inputs; $SIZE is the size below, $BENCH this folder
    command: list     # {size} and {in} are replaced
    full: int         # size for a native run of about 3 to 10 seconds
    short: int        # about a tenth of it
    slow: tuple = ()  # yardsticks that cannot run it, with the cause: (("valgrind", "why"), ...)

    def size(self, scale):
        return self.full if scale == "full" else self.short

    def make(self, folder, scale):
        """Makes the inputs; returns the command line, the program as a full path."""
        size = self.size(scale)
        done = os.path.join(folder, f".{self.name}-{size}")
        if self.prepare and not os.path.exists(done):
            subprocess.run(["bash", "-ec", self.prepare], cwd=folder, check=True, stdin=subprocess.DEVNULL,
                           env=dict(os.environ, SIZE=str(size), BENCH=BENCH, GEN=f"/usr/bin/python3 {BENCH}/harness/inputs.py"))
            open(done, "w").close()
        words = [word.format(size=size, **{"in": folder}) for word in self.command]
        if words[0].startswith("cc1"):
            words[0] = subprocess.run(["gcc", "-print-prog-name=cc1"], check=True, capture_output=True, text=True).stdout.strip()
        path = shutil.which(words[0], path="/usr/bin:/bin:/usr/sbin")
        if not path:
            raise FileNotFoundError(f"{words[0]} is not installed (packages: {self.packages})")
        return [path] + words[1:]


def micro(name, arguments, full, short):
    return Workload(name, "calls", "gcc libc6-dev", f'gcc -O2 -pthread -o {name} "$BENCH/micro/{name}.c"',
                    ["{in}/" + name] + arguments, full, short)


TEXT = "$GEN text $SIZE > text.$SIZE"

WORKLOADS = [
    Workload("bzip2", "loop", "bzip2", TEXT, ["bzip2", "-9", "-k", "-c", "{in}/text.{size}"], 60, 6),
    Workload("xz", "loop", "xz-utils", TEXT, ["xz", "-6", "-T1", "-k", "-c", "{in}/text.{size}"], 12, 1),
    Workload("openssl", "loop", "openssl", TEXT + "; for i in $(seq 40); do ln -sf text.$SIZE copy.$SIZE.$i; done",
             ["openssl", "dgst", "-sha3-256", "-r"] + [f"{{in}}/copy.{{size}}.{i}" for i in range(1, 41)], 40, 4),
    Workload("x264", "loop", "x264 ffmpeg",
             "ffmpeg -v error -y -f lavfi -i testsrc2=size=640x360:rate=25:duration=$SIZE -pix_fmt yuv420p clip.$SIZE.y4m",
             ["x264", "--quiet", "--threads", "2", "--preset", "medium", "--crf", "24", "-o", "/dev/stdout", "--demuxer", "y4m",
              "--muxer", "raw", "{in}/clip.{size}.y4m"], 24, 3),
    Workload("sqlite3", "calls", "sqlite3", "$GEN sql $SIZE > script.$SIZE.sql",
             ["sqlite3", "-batch", "-init", "{in}/script.{size}.sql", ":memory:", ".exit"], 700000, 70000),
    Workload("lua", "calls", "lua5.4", "", ["lua5.4", BENCH + "/workloads/mix.lua", "{size}"], 100, 10),
    Workload("perl", "calls", "perl", "$GEN text 1 > text.1", ["perl", BENCH + "/workloads/mix.pl", "{size}", "{in}/text.1"], 40, 4),
    Workload("python3", "calls", "python3", "", ["/usr/bin/python3", "-I", "-S", BENCH + "/workloads/mix.py", "{size}"], 100, 10),
    Workload("z3", "calls", "z3", "$GEN holes $SIZE > holes.$SIZE", ["z3", "-smt2", "{in}/holes.{size}"], 10, 9),
    micro("returns", ["36", "{size}"], 100, 10),
    micro("callbacks", ["200000", "{size}"], 120, 12),
    micro("recursion", ["{size}"], 1500, 150),
    Workload("luajit", "generated", "luajit", "", ["luajit", BENCH + "/workloads/mix.lua", "{size}"], 250, 25),
    Workload("node", "generated", "nodejs", "", ["node", BENCH + "/workloads/mix.js", "{size}"], 80, 8),
    Workload("cc1", "cold", "gcc", "$GEN c $SIZE > step.$SIZE.c", ["cc1", "-quiet", "-O2", "-o", "/dev/stdout", "{in}/step.{size}.c"],
             280, 28),
]
# What the engine should stay below with the null tool, by kind (CPU time over native).
NULL_LIMIT = {"loop": 1.05, "calls": 1.7, "generated": 1.8, "cold": 2.0}
MEAN_LIMIT = {"null": 1.4, "bbcount": 1.8, "inscount": 1.8, "hot": 2.0, "opmix": 2.0, "regmix": 2.0, "branches": 3.0, "calls": 2.0,
              "syscalls": 1.6, "dcache": 12.0, "memtrace": 25.0}
BUDGET_LIMIT = {"0.01%": 1.02, "1%": 1.03, "10%": 1.12, "25%": 1.28}


def mean_limit(name):
    """The aim for the geometric mean of a prefix, or None."""
    tool, _, budget = name.partition("@")
    return BUDGET_LIMIT.get(budget) if budget else MEAN_LIMIT.get(tool)


def threads(n, full, short):
    """The same work in each of n threads, for bench/budget: what a budget of each costs all of them together."""
    return Workload(f"threads-{n}", "calls", "gcc libc6-dev", 'gcc -O2 -pthread -o threads "$BENCH/micro/threads.c"',
                    ["{in}/threads", str(n), "{size}"], full, short)


# About four seconds of CPU time in all.
THREADS = [threads(1, 40000, 4000), threads(2, 20000, 2000), threads(8, 5000, 500)]
