# SPDX-License-Identifier: GPL-3.0-or-later
"""Campaigns of strobe blow with known numbers, as docs/json.md describes them."""
from results import EVIL


def target(name, **more):
    """A function that was tried 4 times; a name from results is no C identifier."""
    return {"function": name, "symbol": f"_Z{len(name)}{name}v", "image": "/usr/bin/example", "offset": 4096, "criteria": ["calls"], "experiments": 4, "time_share": 0.25,
            "calls": 10, "mean_ns": 1500000, "threads": [{"thread": 0, "calls": 10}], **more}


def slope(value=None, lo=None, hi=None, state="measured"):
    return {"value": value, "lo": lo, "hi": hi, "state": state}


def waiting(cpu_ns, wait_ns, lo, hi):
    return {"runs": 3, "cpu_ns": cpu_ns, "wait_ns": wait_ns, "value": wait_ns / (cpu_ns + wait_ns), "lo": lo, "hi": hi, "state": "measured"}


def campaign(mode, targets, **more):
    return {"strobe": {"version": 1, "tool": "blow"},
            "run": {"command": ["./example", "two words"], "exit": 0, "signal": None, "seconds": 20, "cpu_seconds": 12, "cache_share": None},
            "mode": mode, "windows": False, "notes": [f"A note with {EVIL}"],
            "baseline": {"runs": 5, "total_ns": 60000000, "total_deviation_ns": 600000, "cpu_ns": 59000000, "exit": 0, "same_output": True},
            "targets": targets, "faults": [], "experiments": [], "timeline": None, **more}


def curves(x, y, note, zero, lines, progress=None):
    return {"progress": progress, "x": x, "y": y, "note": note, "zero": zero, "lines": [{"function": name, "thread": thread, "points": points} for name, thread, points in lines]}


def slow_down(**more):
    """Three functions that are measured, in the order of their slopes, and one that is not."""
    return campaign("slow-down", [
        target("main", fitness=1.05286, slope=slope(0.8603, 0.764, 0.9567), experiments=25, time_share=0.8731, calls=1, mean_ns=52000000),
        target("quarter", fitness=0.34676, slope=slope(0.2526, 0.2217, 0.2835), criteria=["calls", "time"], threads=[{"thread": 0, "calls": 4}, {"thread": 2, "calls": 6}]),
        target("the_rest", fitness=0.30799, slope=slope(-0.0123, -0.03, 0.0054), experiments=5, calls=2.5, criteria=[]),
        target(EVIL, fitness=0.0, slope=slope(state="noise lost in the spread"), experiments=1, time_share=None, calls=0, mean_ns=None, threads=[])],
        curves=[curves("time of the function", "run time", "A note on slopes.", 1, [("main", None, [[1, 1], [2, 1.9], [3.5, 3.2]]), ("quarter", None, [[1, 1], [5, 2], [140000, 35000]])])], **more)


def speed_up():
    return campaign("speed-up", [target("wait", fitness=6.03911, time_share=0.5046), target("join", fitness=0.11902, mean_ns=None)],
                    curves=[curves("function optimisation in %", "runtime optimisation of the thread in %", "The slope is the share.", 0,
                                   [("wait", 0, [[0, 0], [50, 43]]), ("wait", 3, [[0, 0], [50, 42]])])])


def gains(*points):
    return [{"speedup": speedup, "gain": gain, "lo": lo, "hi": hi, "runs": 5, "progress": progress} for progress, speedup, gain, lo, hi in points]


def causal():
    """A progress point besides the end of the run. One function was tried with one speed-up only, of another one there were too few runs."""
    end = "end of the run"
    return campaign("causal", [
        target("parse", virtual=gains(("serve", 0.5, 0.25, 0.2, 0.31), ("serve", 1, 1.0, 0.8, None), (end, 0.5, 0.06, 0.05, 0.07), (end, 1, 0.125, 0.11, 0.14))),
        target("print", virtual=gains(("serve", 1, 0.0, -0.02, 0.02), (end, 1, -0.001, -0.01, 0.008))),
        target("never", experiments=0, virtual=gains((end, 0.5, None, None, None)))],
        progress=[{"name": "serve", "kind": "throughput", "inferred": False, "calls_per_second": 1000, "deviation": 10}, {"name": end, "kind": "end", "inferred": True}],
        curves=[curves("virtual speed-up of the function in %", y, "Lines at the points are 95 % intervals.", 0, lines, name) for name, y, lines in (
            ("serve", "increase of the calls per second in %", [("parse", None, [[0, 0], [50, 25, 20, 31], [100, 100, 80, None]]), ("print", None, [[0, 0], [100, 0, -2, 2]])]),
            (end, "decrease of the run time in %", [("parse", None, [[0, 0], [50, 6, 5, 7], [100, 12.5, 11, 14]]), ("print", None, [[0, 0], [100, -0.1, -1, 0.8]])]))])


def many(n):
    """As many functions, in the order of their slopes."""
    return campaign("slow-down", [target(f"f{i:03}", fitness=(i * 37 % n) / n, slope=slope(1 - i / n, 0.5 - i / n, 1.5 - i / n)) for i in range(n)],
                    curves=[curves("x", "y", "note", 1, [(f"f{i:03}", None, [[1, 1], [2, 2 - i / n]]) for i in range(n)])])


def frame(name, offset):
    return {"function": name, "image": "/usr/lib/libc.so.6", "offset": offset}


def with_faults(n=0):
    """A deadlock of two threads, a crash, and n wrong outputs."""
    noise = {"type": "nanosleep", "strength": 27000000, "unit": "ns", "calls": 7, "measured_ns": 190000000}
    stacks = [{"thread": f"thread 11 ({EVIL}) waits for a lock of thread 12", "frames": [frame("pthread_mutex_lock", 4660), frame("main", 10)], "missing": None},
              {"thread": "thread 12 waits for a lock of thread 11", "frames": [], "missing": "code that belongs to no file"}]
    crash = {"kind": "crash", "experiment": 9, "function": "main", "noise": {**noise, "type": "yield", "strength": 1000, "unit": "yields"}, "exit": 139, "cause": None, "stacks": []}
    return slow_down(faults=[{"kind": "deadlock", "experiment": 7, "function": "quarter", "noise": noise, "exit": 137, "cause": "two threads wait for each other", "stacks": stacks}, crash,
                             *({**crash, "kind": "output", "experiment": 10 + i, "exit": 0} for i in range(n))])
