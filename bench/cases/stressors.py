# SPDX-License-Identifier: GPL-3.0-or-later
"""stress-ng: a fixed amount of work of each stressor with its own verification, children taken along."""
from harness.case import case

# Stressors by class, with operations that take well under two seconds natively; 0: run for a second.
CLASSES = {
    "cpu": {
        "cpu": 60, "bsearch": 20, "qsort": 6, "matrix": 500, "hash": 300, "fp": 20, "atomic": 30, "str": 2000, "wcs": 2000,
        "crypt": 30, "vecmath": 200, "vecwide": 40, "vecfp": 10, "vecshuf": 10, "funccall": 400, "funcret": 400, "longjmp": 5000,
        "nop": 20000, "tree": 1, "memcpy": 100, "goto": 4000, "branch": 4000, "jpeg": 20, "zlib": 10, "far-branch": 15,
    },
    "vm": {
        "vm": 500, "bigheap": 50, "brk": 100000, "stack": 1, "mremap": 3, "malloc": 20000, "shm": 10, "memfd": 2, "madvise": 20,
        "mincore": 1000, "mlock": 1000, "stackmmap": 3, "vm-segv": 100, "userfaultfd": 2,
    },
    "mmap": {
        "mmap": 1, "mmapaddr": 500, "mmapfixed": 3, "mmapmany": 2, "munmap": 20, "mprotect": 1000, "pagemove": 20, "remap": 5,
        "tlb-shootdown": 30, "msync": 100,
    },
    "signal": {
        "signal": 50000, "sigsegv": 2000, "sigfpe": 2000, "sigpending": 20000, "sigsuspend": 5000, "sigq": 5000, "sigio": 0,
        "sigabrt": 30, "sigchld": 200, "sigrt": 1000, "sigtrap": 5000, "sigpipe": 500, "sigfd": 2000, "kill": 5000, "itimer": 100,
        "timer": 500, "timerfd": 500, "alarm": 2, "nanosleep": 20,
    },
    "fork": {
        "fork": 1000, "vfork": 1000, "vforkmany": 0, "clone": 40, "wait": 200, "zombie": 100, "daemon": 10, "pidfd": 300,
        "session": 50, "procfs": 2, "env": 2, "set": 200, "dynlib": 500, "loadavg": 2,
    },
    "thread": {
        "pthread": 1000, "mutex": 20000, "sem": 0, "switch": 50000, "context": 1500, "mergesort": 3, "poll": 200, "pipe": 50000,
        "eventfd": 5000, "epoll": 20, "tee": 500, "matrix-3d": 10, "peterson": 200000, "dekker": 200000, "membarrier": 30,
        "sem-sysv": 5000, "mq": 5000, "flock": 20000, "locka": 10000,
    },
    "futex": {"futex": 10000, "mutex": 20000, "pthread": 1000},
    "scheduler": {
        "yield": 0, "affinity": 500, "nice": 3, "sleep": 50, "schedpolicy": 20, "resched": 1, "getrandom": 200, "clock": 200,
        "sockpair": 300, "prctl": 3, "get": 100, "seccomp": 100,
    },
}


def script(stressors):
    """A line for each stressor: name, exit code, what it says. stress-ng exits with 7 when it has killed one of its processes
    while that was counting (mprotect: seven processes, one counter, no lock): an accident, natively, too, so it may try again."""
    return r'''
cd "$TMPDIR"
one() {
	local amount=(--timeout 100 "--$1-ops" $(($2 / PART > 0 ? $2 / PART : 1)))
	[ "$2" != 0 ] || amount=(--timeout 1)
	local code=7 tries
	for tries in 1 2 3; do
		[ "$code" = 7 ] || break
		under-all stress-ng --no-rand-seed --verify --temp-path "$TMPDIR" "--$1" 1 "${amount[@]}" >"$1.log" 2>&1
		code=$?
	done
	echo "$1 $code $(grep -o -E '(un)?successful run completed|stressor skipped|fail:.*' "$1.log" | sort -u | tr '\n' ' ')"
}
''' + "\n".join(f"one {name} {operations}" for name, operations in stressors.items())


# What stress-ng says of a process that failed names pids and times: only that it failed is compared.
CLEAN = ((r"fail:.*", "fail"),)

# Why more than 1 % of a class may be native.
NATIVE = {"scheduler": "seccomp's strict mode allows the engine no call of its own, and prctl sets the GS base"}

for name, stressors in CLASSES.items():
    case("stress-ng-" + name, script(stressors), packages="stress-ng", children=2, heavy=True, timeout=200, clean=CLEAN,
         native=NATIVE.get(name, ""))
case("stress-ng-unprivileged", script({"exec": 2, "spawn": 20}), packages="stress-ng", user="nobody", clean=CLEAN)
case("stress-ng-short", script({"cpu": 10, "signal": 2000, "fork": 30, "pthread": 30, "futex": 2000, "mprotect": 30, "context": 300}),
     packages="stress-ng", children=7, short=True, clean=CLEAN)
