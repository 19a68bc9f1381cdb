# SPDX-License-Identifier: GPL-3.0-or-later
"""stress-ng: a fixed number of operations of each stressor with its own verification, children taken along."""
from harness.case import case

# Stressors by class, with operations that take about a second natively.
CLASSES = {
    "cpu": {"cpu": 60, "bsearch": 20, "qsort": 6, "matrix": 500, "hash": 10, "fp": 20, "atomic": 30, "str": 200, "wcs": 200, "crypt": 30,
            "vecmath": 20, "vecwide": 40, "vecfp": 10, "vecshuf": 10, "funccall": 40, "funcret": 40, "longjmp": 20000, "nop": 500, "tree": 1,
            "memcpy": 100, "goto": 200, "branch": 200, "jpeg": 20, "zlib": 10, "far-branch": 100, "opcode": 0, "prime": 2000},
    "vm": {"vm": 3000, "bigheap": 50, "brk": 20000, "stack": 20, "mremap": 200, "malloc": 20000, "shm": 10, "memfd": 30, "madvise": 100,
           "mincore": 5000, "mlock": 1000, "stackmmap": 3, "vm-segv": 30, "userfaultfd": 2},
    "mmap": {"mmap": 20, "mmapfork": 3, "mmapaddr": 500, "mmapfixed": 500, "mmapmany": 2, "munmap": 20, "mprotect": 300, "pagemove": 20,
             "remap": 5, "tlb-shootdown": 30, "msync": 200, "prefetch": 10},
    "signal": {"signal": 20000, "sigsegv": 2000, "sigfpe": 2000, "sigpending": 20000, "sigsuspend": 5000, "sigq": 5000, "sigio": 200,
               "sigabrt": 30, "sigchld": 200, "sigrt": 1000, "sigtrap": 5000, "sigpipe": 500, "sigfd": 2000, "sigxcpu": 500, "sigxfsz": 500,
               "kill": 2000, "itimer": 200, "timer": 500, "timerfd": 500, "alarm": 2, "rt-priority": 0, "sigaltstack": 0, "nanosleep": 20},
    "fork": {"fork": 300, "vfork": 500, "vforkmany": 300, "clone": 200, "exec": 30, "spawn": 30, "wait": 200, "zombie": 100, "daemon": 10,
             "fork-heavy": 0, "forkheavy": 1, "pidfd": 300, "session": 50, "procfs": 2, "env": 2, "set": 200, "dynlib": 100, "loadavg": 2},
    "thread": {"pthread": 300, "mutex": 2000, "sem": 20000, "switch": 5000, "context": 20000, "mergesort": 3, "lockmix": 0, "poll": 200,
               "pipe": 5000, "eventfd": 5000, "epoll": 20, "tee": 500, "matrix-3d": 10, "peterson": 20000, "dekker": 20000, "membarrier": 100,
               "rseq": 1000, "sem-sysv": 5000, "mq": 5000, "flock": 2000, "locka": 1000},
    "futex": {"futex": 20000, "mutex": 5000, "pthread": 100},
    "scheduler": {"yield": 20000, "affinity": 500, "nice": 3, "sleep": 50, "schedpolicy": 200, "resched": 1, "getrandom": 200, "cpu-online": 0,
                  "sched-deadline": 0, "softlockup": 0, "clock": 200, "hrtimers": 0, "sockpair": 300, "prctl": 3, "get": 100, "seccomp": 100},
}
CLEAN = (
    (r"^stress-ng: ", ""), (r"\[\d+\] ?", ""), (r" in \d+\.\d+s.*$", ""), (r"^.*(metrc|defaulting|setting to|dispatching).*\n", ""),
)


def script(stressors):
    lines = []
    for name, operations in stressors.items():
        if operations:
            lines.append(f"one {name} {operations}")
    return r'''
cd "$TMPDIR"
one() {
	under-all stress-ng --no-rand-seed --verify --temp-path "$TMPDIR" --timeout "${LIMIT:-60}" --$1 1 --$1-ops $2 >"$1.log" 2>&1
	echo "$1 $? $(grep -o -E 'successful run completed|unsuccessful run completed|skipped: 1|fail:.*' "$1.log" | sort -u | tr '\n' ' ')"
}
''' + "\n".join(lines)


for name, stressors in CLASSES.items():
    case("stress-ng-" + name, script(stressors), packages="stress-ng", heavy=True, timeout=200, clean=CLEAN)
case("stress-ng-short", script({"cpu": 10, "signal": 2000, "fork": 30, "pthread": 30, "futex": 2000, "mmap": 2, "context": 1000}),
     packages="stress-ng", short=True, clean=CLEAN)
