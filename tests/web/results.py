# SPDX-License-Identifier: GPL-3.0-or-later
"""Results as docs/json.md has them, for pages to show: small enough to be known by heart."""

EVIL = "</script><script>document.title='caught'</script><img src=x onerror=alert(1)>"


def functions(scale):
    rows = [("spin", "/usr/bin/example", 4096, "/src/x.c", 10, 5, 600), ("turn", "/usr/bin/example", 8192, "/src/x.c", 40, 7, 300 * scale),
            ("memcpy", "/usr/lib/libc.so.6", 256, None, None, 90, 100)]
    total = sum(row[6] for row in rows)
    keys = "name", "image", "offset", "file", "line", "calls", "instructions"
    return [{**dict(zip(keys, row)), "self_share": row[6] / total, "total_share": None} for row in rows]


def block(offset, executions=100):
    return {"image": "/usr/bin/example", "function": "spin", "offset": offset, "bytes": 8, "length": 3, "ends": "branch", "executions": executions,
            "instructions": 3 * executions, "samples": 0, "inlined": None}


def line(number, instructions):
    return {"file": "/src/x.c", "line": number, "function": "spin", "executions": 100, "instructions": instructions, "samples": 0,
            "inlined": ["helper"] if number == 12 else []}


def hot(scale=1, rows=20000):
    """A result of `strobe run -t hot -t mine`, with a table of many rows, a budget and a metric."""
    return {
        "strobe": {"version": 1, "tool": "hot,mine"},
        "run": {"command": ["./example", "a b"], "exit": 0, "signal": None, "seconds": 2.5, "cpu_seconds": 2.4,
                "slowdown": 1.25, "slowdown_least": 1.1, "slowdown_most": 1.5, "cache_share": 1.0},
        "blocks": 350, "instructions": 700 + 300 * scale,
        "functions": functions(scale),
        "samples": {"hz": 1000, "program": 8, "kernel": 3, "engine": 1, "dropped": 0, "stacks": 0, "stacks_cut": 0}, "share_of": "instructions",
        "lines": [line(11, 100), line(12, 500)],
        "basic_blocks": [block(4096), block(4104, 150)],
        "images": [{"path": "/usr/bin/example", "build_id": "abc", "symbols": "full", "blocks": 3, "instructions": 900, "samples": 0}],
        "threads": [{"pid": 7, "tid": 7, "name": "example", "begin_ns": 0, "end_ns": None, "samples": 8},
                    {"pid": 7, "tid": 8, "name": "worker", "begin_ns": 500000000, "end_ns": 1500000000, "samples": 2}],
        "many": [{"key": f"key {n}", "count": rows - n} for n in range(rows)],
        "budget": {"amount_ns": 10000000, "period_ns": 100000000, "share": "thread", "sampling": "window", "bursts": 0, "charged_ns": 90000000,
                   "cpu_ns": 1000000000, "measured_ns": 95000000, "periods": 9, "windows": 10, "rests": 0, "native": True,
                   "parts": {"measured": 0.1, "plain": 0, "native": 0.9}, "ticks": {"measured": 10, "plain": 0, "native": 90},
                   "overshoots": [{"below_ns": 250, "count": 9}, {"below_ns": None, "count": 1}],
                   "most_overshoot_ns": 4000},
        "qos": {"source": "cmd:x", "policy": "hold", "min": 3.0, "readings": 3, "kept": 2,
                "rows": [{"time_ns": n * 1000000000, "value": value, "budget_ns": n * 1000000, "state": state}
                         for n, value, state in ((1, 5.0, "kept"), (2, 4.0, "kept"), (3, 2.0, "missed"), (4, None, "silent"))]},
        "fallbacks": [], "notes": [f"A note with {EVIL}"],
    }


def node(name, count, children=(), **more):
    return {"name": name, "count": count, "children": list(children), "image": "/usr/bin/example", "offset": 4096, "line": 10,
            "instructions": 10 * count, "time_ns": 1000 * count, **more}


def paths(scale=1):
    """A result of `strobe run -t paths`: main calls spin and turn, spin calls memcpy."""
    memcpy = {"image": "/usr/lib/libc.so.6"}
    ksf = [{"name": "__root__", "count": 1, "children": [
        node("main", 1, [node("spin", 20, [node("memcpy", 70, **memcpy)]), node("turn", 9 * scale, [node("memcpy", 5, **memcpy)])])]}]
    kccf = [node("memcpy", 75, [node("spin", 70, [node("main", 70)]), node("turn", 5, [node("main", 5)])], **memcpy),
            node("spin", 20, [node("main", 20)]), node("turn", 9 * scale, [node("main", 9 * scale)]), node("main", 1), node(EVIL, 3)]
    return {"strobe": {"version": 1, "tool": "paths"}, "mode": "func", "k": "inf",
            "threads": [{"thread": 1, "ksf": ksf, "kccf": kccf}, {"thread": 2, "ksf": [node("worker", 4)], "kccf": [node("worker", 4)]}]}


def sampled():
    """The stacks of samples: of 10, 6 were in spin, 3 in what it called, and of one the callers are unknown."""
    def frame(name, count, children=()):
        return {"name": name, "count": count, "children": list(children), "image": "/usr/bin/example", "offset": 4096}
    ksf = [frame("main", 0, [frame("spin", 6, [frame("memcpy", 3)])]),
           {"name": "__unknown__", "count": 0, "children": [frame("turn", 1)]}]
    kccf = [frame("spin", 6, [frame("main", 6)]), frame("memcpy", 3, [frame("spin", 3, [frame("main", 3)])]), frame("turn", 1)]
    return {"strobe": {"version": 1, "tool": "paths"}, "mode": "func", "counted": "samples", "k": "inf",
            "threads": [{"thread": 1, "ksf": ksf, "kccf": kccf}]}


def loop(name, line, entries, iterations, least, most, *classes):
    function = name.partition("+")[0]
    return {"name": name, "function": function, "image": "/usr/bin/example", "offset": 4096 + line, "file": "/src/x.c", "line": line, "column": 3,
            "loop": {"entries": entries, "iterations": iterations, "min": least, "mean": iterations / entries, "max": most,
                     "histogram": [{"from": least, "entries": n} for least, n in classes]}}


def loops():
    """A result of `strobe paths --mode intra --loops`: an inner and an outer loop of spin, one of turn."""
    inner, outer = loop("spin+24", 12, 10, 300, 1, 60, (1, 2), (16, 5), (32, 3)), loop("spin+8", 11, 2, 10, 5, 5, (4, 2))
    tree = node("spin+0", 2, [{**node("spin+8", 10, [{**node("spin+24", 300), "loop": inner["loop"]}]), "loop": outer["loop"]}])
    return {"strobe": {"version": 1, "tool": "paths"}, "mode": "intra", "k": "inf",
            "threads": [{"thread": 1, "functions": [{"name": "spin", "image": "/usr/bin/example", "offset": 4096, "ksf": [tree]}]}],
            "all_loops": [outer, inner, loop("turn+4", 40, 1, 7000, 7000, 7000, (4096, 1))]}


def study():
    """A study of strobe tune: two budgets, two periods, three repetitions of one program."""
    runs = [{"program": 0, "repetition": repetition, "budget": budget, "period": period,
             "native": {"seconds": 1, "cpu_seconds": 1}, "measured": {"seconds": 1 + budget, "cpu_seconds": 1 + budget + 0.01 * repetition - 0.01},
             "instructions": 50 + repetition, "raw_instructions": 500}
            for repetition in range(3) for budget in (0.1, 0.5) for period in (1, 4)]
    return {"strobe": {"version": 1, "study": 1}, "tool": "branches", "policy": "native", "seed": "1", "repeat": 3, "complete": True,
            "budgets": [0.1, 0.5], "periods": [1, 4],
            "programs": [{"command": ["gzip", "-9"], "exit": 0, "native": {"seconds": 1, "cpu_seconds": 1}, "measured": {"seconds": 9, "cpu_seconds": 9},
                          "instructions": 100, "raw_instructions": 1000}],
            "runs": runs}


def traced(name, offset, calls, outermost, exclusive, histogram, **more):
    return {"name": name, "image": "/usr/bin/example", "offset": offset, "file": "/src/x.c", "line": offset // 16, "calls": calls, "lost": 0,
            "inclusive_ns": outermost, "outermost_ns": outermost, "exclusive_ns": exclusive, "min_ns": 10, "p50_ns": 64, "p90_ns": 1000,
            "p99_ns": 5000, "max_ns": 100000, "histogram": histogram, **more}


def trace():
    """A result of `strobe trace`: main calls work and idle, work itself and leaf, of which one call was lost. Its histograms are those of a page."""
    pair = {"caller": "work", "callee": "work", "caller_index": 1, "callee_index": 1, "calls": 30, "inclusive_ns": 900000, "outermost_ns": 0}
    return {"strobe": {"version": 1, "tool": "trace"}, "engine": "probe",
            "run": {"command": ["./example"], "exit": 0, "signal": None, "seconds": 0.01, "cpu_seconds": 0.01, "cache_share": None},
            "quantile_error": 0.02,
            "functions": [traced("leaf", 160, 1000, 6000000, 6000000, [10, 400, 64, 500, 66, 50, 5000, 49, 100000, 1], lost=1),
                          traced("work", 320, 40, 8500000, 2500000, [64, 40], inclusive_ns=9400000),
                          traced("main", 480, 1, 10000000, 1500000, [9900000, 1], p50_ns=10000000, p99_ns=10000000, max_ns=10000000),
                          traced(EVIL, 640, 0, 0, 0, [], lost=1, p50_ns=None, p90_ns=None, p99_ns=None, min_ns=None, max_ns=None, file=None, line=None)],
            "pairs": [{"caller": None, "callee": "main", "caller_index": None, "callee_index": 2, "calls": 1, "inclusive_ns": 10000000, "outermost_ns": 10000000},
                      {**pair, "caller": "main", "caller_index": 2, "calls": 10, "inclusive_ns": 8500000, "outermost_ns": 8500000},
                      {**pair, "callee": "leaf", "callee_index": 0, "calls": 1000, "inclusive_ns": 6000000, "outermost_ns": 6000000}, pair],
            "refused": [{"name": "tiny", "image": "/usr/bin/example", "offset": 800, "reason": "its code is too short for a jump"}],
            "lost": {"returns": 2, "nested": 0, "records": 0, "entries": 0, "malformed_lines": 0}}


def limited_trace():
    """Returns trace() under a budget: calls of leaf are sampled, the probe of work is removed, and two functions are left out from the beginning."""
    result, of = trace(), {"image": "/usr/bin/example"}
    leaf, work = result["functions"][:2]
    leaf.update(timed=100, estimated=True, inclusive_error_ns=250000, resolved=False)
    work.update(timed=1, estimated=True, inclusive_error_ns=None, resolved=True, dropped=True)
    result["functions"][2].update(timed=0, estimated=True, inclusive_error_ns=0, resolved=True)
    result.update(probe={"ns": 30.0, "error_ns": 0.5, "between_ns": 12.25},
                  budget={"share": 0.02, "cost_share": 0.0125, "cost_ns": 125000, "cost_error_ns": 31250, "cpu_ns": 10125000},
                  sampled=[{"name": "leaf", "offset": 160, "calls": 1001, "timed": 100, "steps": [{"at_ns": 2000000, "every": 8}, {"at_ns": 4000000, "every": 16}], **of}],
                  dropped=[{"name": "work", "offset": 320, "at_ns": 5000000, "calls": 40, **of}],
                  left_out=[{"name": name, "offset": 900 + i, "reason": "it was called 200000 times", **of} for i, name in enumerate(("often", EVIL))])
    return result
