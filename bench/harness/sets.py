# SPDX-License-Identifier: GPL-3.0-or-later
"""The three sets of programs of bench/study: what computes, what reads and writes files, what works on its memory. Amounts are for
native runs of 8 to 10 seconds."""
import dataclasses
import json
import os
import re
import shutil
import subprocess

from harness.workloads import WORKLOADS

# As many as SPEC has in C; of one process each, and their work grows with their size.
CPU = ("bzip2", "xz", "openssl", "sqlite3", "lua", "perl", "python3", "luajit", "cc1", "returns", "callbacks", "recursion")

FILE_SIZE = "64m"
FIO = ["fio", "--name={name}", "--filename={folder}/{file}", f"--size={FILE_SIZE}", "--bs=4k", "--randrepeat=1", "--allrandrepeat=1",
       "--disk_util=0", "--output-format=json"]
# The thirteen tests of IOzone, where fio has the like: engine, pattern, MiB; and one that reads again what it has written.
IO = {
    "write": ("sync", "write", 10000), "read": ("sync", "read", 13000), "random": ("sync", "randread", 12000),
    "mix": ("sync", "randrw", 11000), "backwards": ("sync", "read:-8k", 12000), "record": ("sync", "write", 4000),
    "stride": ("sync", "read:60k", 14000), "mmap-write": ("mmap", "write", 16000), "mmap-read": ("mmap", "read", 16000),
    "pwrite": ("psync", "write", 11000), "pread": ("psync", "read", 14000), "pwritev": ("pvsync", "randwrite", 10500),
    "preadv": ("pvsync", "randread", 13000), "verify": ("psync", "randwrite", 3000),
}

STRESS = ["stress-ng", "--no-rand-seed", "--verify", "--temp-path", "{folder}", "--timeout", "600", "--{name}", "1", "--{name}-ops", "{amount}"]
# Table 5.3's; but mmapfork, which takes all of the machine's memory: remap is in its place.
MEMORY = {"bigheap": 160000, "mremap": 14, "brk": 1500000, "msync": 180000, "remap": 300, "stackmmap": 7500, "vm": 230000, "vm-rw": 1000,
          "vm-splice": 1700000, "malloc": 270000}
MORE = {"bigheap": ["--bigheap-growth", "16k"]}

SETS = ("cpu", "io", "memory")
PACKAGES = {"cpu": sorted({p for w in WORKLOADS if w.name in CPU for p in w.packages.split()}), "io": ["fio"], "memory": ["stress-ng"]}


@dataclasses.dataclass
class Program:
    name: str
    words: list

    def says(self, output):
        """What it has found out about its own work, without times and process ids."""
        text = output.decode(errors="replace")
        if self.words[0].endswith("/fio"):
            jobs = json.loads(text[text.index("{"):])["jobs"]
            return [(job["error"], [(job[way]["total_ios"], job[way]["io_bytes"]) for way in ("read", "write")]) for job in jobs]
        if self.words[0].endswith("/stress-ng"):
            return sorted(set(re.findall(r"(?:un)?successful run completed|stressor skipped|fail(?=:)", text)))
        return output


def cpu_programs(folder, scale):
    loads = {w.name: w for w in WORKLOADS}
    for name in CPU:
        load = loads[name]
        yield Program(name, dataclasses.replace(load, full=max(1, round(load.full * scale))).make(folder, "full"))


def io_words(name, folder, scale):
    engine, pattern, megabytes = IO[name]
    amount = max(1, round(megabytes * scale))
    words = [w.format(name=name, folder=folder, file=name if name == "verify" else "data") for w in FIO]
    words += [f"--ioengine={engine}", f"--rw={pattern}"]
    if name == "verify":
        return words + ["--verify=crc32c", "--verify_fatal=1", "--verify_state_save=0", f"--loops={-(-amount // 64)}"]
    if name == "record":  # the same one again and again
        words.append("--size=4k")
    if name == "backwards":  # it ends where the file begins
        return words + [f"--loops={-(-amount // 64)}"]
    return words + [f"--io_size={amount}m"]


def io_programs(folder, scale):
    subprocess.run(["fio", "--name=data", f"--filename={folder}/data", f"--size={FILE_SIZE}", "--rw=write", "--bs=1m", "--output=/dev/null"],
                   check=True, cwd=folder)
    for name in IO:
        yield Program(name, io_words(name, folder, scale))


def memory_programs(folder, scale):
    for name, amount in MEMORY.items():
        words = [w.format(name=name, folder=folder, amount=max(1, round(amount * scale))) for w in STRESS]
        yield Program(name, words + MORE.get(name, []))


def programs(set_, folder, scale):
    """The set's programs, their inputs made in the folder."""
    made = {"cpu": cpu_programs, "io": io_programs, "memory": memory_programs}[set_](os.path.abspath(folder), scale)
    return [Program(p.name, [shutil.which(p.words[0])] + p.words[1:]) for p in made]
