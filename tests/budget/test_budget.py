#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The time budget: test_budget.py STROBE PROGRAM INCLUDE HANDLED. What it costs is measured by bench/, not here."""
import contextlib
import csv
import ctypes
import functools
import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE, PROGRAM, INCLUDE, HANDLED = (os.path.abspath(path) for path in sys.argv[1:5])
ROUNDS = "40"
SMALL = ("-b", "1%", "-T", "20ms")
MS = 1_000_000  # in ns
# By how much a thread may exceed its budget before it is stopped: memory that is mapped, plain code that is translated first. A period pays what the one
# before it exceeded, so in the end each thread is ahead by one of these. Measured: 9 ms at the most; all of a run's work takes ten times as long.
MOST_OVERSHOOT = 20 * MS

GAPS = """
#include <strobe/tool.h>
STROBE_COUNTER(blocks, "blocks");
STROBE_TABLE(gaps, "gaps that the tool is told of", STROBE_KEY("known", STROBE_NUMBER), STROBE_SUM("count", STROBE_NUMBER));
static void on_block(strobe_block *b) { strobe_count(strobe_at(b), &blocks, 1); }
static void on_gap(strobe_thread *t, uint64_t from) { (void)t; strobe_cell_add(strobe_cell_of(&gaps, 1, (uint64_t)(from != 0)), 1); }
STROBE_TOOL(gaps, .help = "counts gaps", .block = on_block, .gap = on_gap);
"""

# Slow to consume, so that a budget is spent in the middle of a buffer.
ROWS = """
#include <strobe/tool.h>
STROBE_COUNTER(blocks, "blocks");
STROBE_TABLE(consumed, "rows that were consumed", STROBE_KEY("in order", STROBE_NUMBER), STROBE_SUM("rows", STROBE_NUMBER), STROBE_SUM("pieces", STROBE_NUMBER));
static void consume(strobe_thread *t, const strobe_rows *rows);
STROBE_STREAM(times, "blocks", consume, STROBE_COLUMN("time", STROBE_NUMBER));
static void consume(strobe_thread *t, const strobe_rows *rows)
{
	uint64_t *last = strobe_state(t), n[2] = {0};
	for (const strobe_row *r = rows->first; r < rows->end; r = strobe_next_row(r)) {
		for (volatile int i = 0; i < 50; i++)
			;
		n[strobe_value(rows, r, 0) > *last]++;
		*last = strobe_value(rows, r, 0);
	}
	for (unsigned i = 0; i < 2; i++)
		if (n[i])
			strobe_cell_add(strobe_cell_of(&consumed, 1, i), n[i]);
	strobe_cell_add(strobe_cell_of(&consumed, 2, 1), 1);
}
static void on_block(strobe_block *b)
{
	strobe_count(strobe_at(b), &blocks, 1);
	strobe_record(strobe_at(b), &times, strobe_timestamp());
}
STROBE_TOOL(rows, .help = "rows", .block = on_block, .state = sizeof(uint64_t));
"""


@functools.cache
def native_output(program):
    """What a program prints is the same in each run."""
    return subprocess.run(program, capture_output=True, text=True, timeout=60, check=True).stdout


def used_by_children():
    """CPU time in ns of all children that have ended, theirs included."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return round((usage.ru_utime + usage.ru_stime) * 1e9)


def can_make_calls_natively():
    """What the kernel and the processor need to have: system calls that it tells of (PR_SET_SYSCALL_USER_DISPATCH, here of none, as all code is in the range
    that is left alone), and a GS base that a program may set."""
    SET_SYSCALL_USER_DISPATCH, OFF, ON = 59, 0, 1
    prctl = ctypes.CDLL(None).prctl
    numbers = [ctypes.c_ulong(number) for number in (0, 1 << 47, 0)]
    told = prctl(SET_SYSCALL_USER_DISPATCH, ctypes.c_ulong(ON), *numbers) == 0
    prctl(SET_SYSCALL_USER_DISPATCH, ctypes.c_ulong(OFF), *[ctypes.c_ulong(0)] * 3)
    with open("/proc/cpuinfo") as file:
        return told and " fsgsbase " in file.read()


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-budget-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "result.json"

    def strobe(self, *arguments, program=(PROGRAM, ROUNDS), form="json"):
        expected = native_output(program)
        self.assertTrue(expected.endswith("done\n"))
        line = [STROBE, "run", "-q", "--format", form, "-o", str(self.file), *arguments, "--", *program]
        before = used_by_children()
        done = subprocess.run(line, capture_output=True, text=True, timeout=120)
        self.used = used_by_children() - before
        self.assertEqual((done.stdout, done.returncode), (expected, 0), done.stderr)
        return json.loads(self.file.read_text()) if form == "json" else None

    def check_account(self, budget, amount, period, threads=1):
        """Of each period's budget no more is charged than there is, but for an overshoot of each thread. How many periods there can have been is
        said by the kernel, which knows the CPU time of strobe and the program together."""
        self.assertLessEqual(budget["cpu_ns"], self.used)
        self.assertLessEqual(sum(row["count"] for row in budget["overshoots"]), budget["windows"])
        self.check_overshoots(budget)
        self.assertLessEqual(budget["charged_ns"], (self.used / period + threads) * amount + threads * MOST_OVERSHOOT)

    def check_overshoots(self, budget):
        """The largest is one of those that are counted."""
        least = 0
        for row in budget["overshoots"]:
            if row["count"]:
                from_ns, below_ns = least, row["below_ns"]
            least = row["below_ns"]
        if any(row["count"] for row in budget["overshoots"]):
            self.assertGreaterEqual(budget["most_overshoot_ns"], from_ns)
            self.assertTrue(below_ns is None or budget["most_overshoot_ns"] < below_ns)
        else:
            self.assertEqual(budget["most_overshoot_ns"], 0)


class Budget(Case):
    def test_loop_that_is_not_left(self):
        """Where a thread executes plain code that never comes to the dispatcher, it is not measured, whatever it was granted."""
        counted, program = ("-t", "inscount", "--images", "budget"), (PROGRAM, "loop")
        whole = self.strobe(*counted, program=program)["instructions"]
        for policy in ("native", "trace", "strict", "conditional"):
            with self.subTest(policy=policy):
                part = self.strobe(*counted, *SMALL, "--budget-policy", policy, program=program)
                budget = part["budget"]
                self.assertEqual(budget["measured_ns"] > budget["cpu_ns"] / 2, part["instructions"] > whole / 2)
                if policy == "strict":
                    self.assertLess(budget["windows"], 4)
                    self.assertLess(budget["ticks"]["measured"], budget["ticks"]["plain"])

    def test_periods_of_a_log(self):
        """A program that its log knows to take few periods has shorter ones, unless the user says how long they are."""
        some = ("-t", "bbcount", "-b", "10%", "--unique-log", str(self.folder / "log"))
        first = self.strobe(*some)["budget"]
        self.assertEqual((first["amount_ns"], first["period_ns"]), (100_000_000, 1_000_000_000))
        later = self.strobe(*some)["budget"]
        self.assertTrue(50_000_000 <= later["period_ns"] < 1_000_000_000)
        self.assertAlmostEqual(later["amount_ns"] / later["period_ns"], 0.1, places=6)
        self.assertEqual(self.strobe(*some, "-T", "2s")["budget"]["period_ns"], 2_000_000_000)
        self.assertEqual(self.strobe("-b", "100ms", *some[:2], *some[4:])["budget"]["period_ns"], 1_000_000_000)

    def test_one_figure(self):
        """How much was measured is the same in all reports."""
        self.file = self.folder / "result.db"
        self.strobe("-t", "inscount", *SMALL, program=(PROGRAM, "100"), form="db")
        shown = {form: subprocess.run([STROBE, "show", *words, str(self.file)], capture_output=True, text=True, timeout=60, check=True).stdout
                 for form, words in (("text", ()), ("json", ("--format", "json")))}
        budget = json.loads(shown["json"])["budget"]
        self.assertAlmostEqual(sum(budget["parts"].values()), 1)
        self.assertAlmostEqual(budget["parts"]["measured"], budget["measured_ns"] / budget["cpu_ns"])
        note = "  the program ended within its first period, whose budget was granted at once; use a shorter --period for a program that runs so briefly\n"
        self.assertEqual(note in shown["text"], budget["cpu_ns"] < budget["period_ns"] and budget["parts"]["measured"] > budget["amount_ns"] / budget["period_ns"])
        self.assertIn("measured for {measured:.1%} of the CPU time, native for {native:.1%}, in the engine but not measured for {plain:.1%}\n"
                      .format(**budget["parts"]).replace("%", " %"), shown["text"])

    def test_period_by_the_clock(self):
        """Threads that sleep most of the time are seen when periods are of the time of day: by CPU time none of them earns anything."""
        counted, program = ("-t", "inscount", "--images", "budget"), (PROGRAM, "plays")
        some = ("-b", "50%", "-T", "500ms")
        whole = self.strobe(*counted, program=program)["instructions"]
        cpu = self.strobe(*counted, *some, program=program)
        self.assertEqual(cpu["budget"]["clock"], "cpu")
        wall = self.strobe(*counted, *some, "--period-clock", "wall", program=program)
        self.assertEqual(wall["budget"]["clock"], "wall")
        self.assertGreater(wall["instructions"], cpu["instructions"])
        for share in ("process", "tree"):
            with self.subTest(share=share):
                shared = self.strobe(*counted, *some, "--period-clock", "wall", "--budget-share", share, program=program)
                self.assertEqual(shared["instructions"], whole)
                self.assertGreater(shared["budget"]["periods"], 0)

    def test_clock_of_children(self):
        """A fork's child has periods by the same clock as its parent."""
        some = ("-f", "-t", "inscount", "--images", "budget", "-b", "50%", "-T", "500ms")
        cpu = self.strobe(*some, program=(PROGRAM, "child-plays"))
        wall = self.strobe(*some, "--period-clock", "wall", program=(PROGRAM, "child-plays"))
        self.assertGreater(wall["instructions"], cpu["instructions"])

    def test_lent_to_a_child(self):
        """What a vfork's child does is not timed with the clock of the thread that it borrows, nor the other way round."""
        border = ("--start-at", "seen_from_here", "--stop-at", "seen_to_here")
        budget = self.strobe("-t", "inscount", "-b", "100%", "-T", "1s", *border, program=(PROGRAM, "lends"))["budget"]
        self.assertGreater(budget["measured_ns"], 0)
        self.assertLess(budget["measured_ns"], budget["cpu_ns"] // 2)

    def test_of_plenty(self):
        """A budget that is never spent changes no count."""
        whole = self.strobe("--images", "budget", "-t", "inscount", "-t", "branches")
        plenty = self.strobe("--images", "budget", "-t", "inscount", "-t", "branches", "-b", "100%", "-T", "1h")
        self.assertEqual(plenty["instructions"], whole["instructions"])
        self.assertEqual(plenty["branches"], whole["branches"])
        self.assertEqual(plenty["budget"]["windows"], 1)
        self.assertGreater(plenty["budget"]["charged_ns"], 0)
        self.assertNotIn("budget", whole)

    def test_clock(self):
        """The account is what the clock says, also of a program that makes no system call after a signal's handler."""
        budget = self.strobe("-t", "inscount", "-b", "10%", program=(HANDLED,))["budget"]
        self.assertNotEqual(budget["charged_ns"], budget["model_ns"])

    def test_clock_of_sleepers(self):
        """Nor is it left to the model when a thread sleeps in a system call now and then."""
        budget = self.strobe("-t", "inscount", "-b", "100%", "-T", "100ms", program=(PROGRAM, "sleeps"))["budget"]
        self.assertGreater(budget["measured_ns"], 0)
        self.assertGreater(budget["audited_ns"], budget["measured_ns"] // 2)
        self.assertLessEqual(budget["audited_ns"], budget["measured_ns"])

    def test_periods(self):
        """A period is of what the program takes natively: what measuring costs does not make the next one begin sooner."""
        for share in ("thread", "process"):
            with self.subTest(share=share):
                budget = self.strobe("-t", "inscount", "-b", "100%", "-T", "20ms", "--budget-share", share, program=(PROGRAM, "200"))["budget"]
                natively = budget["cpu_ns"] - budget["charged_ns"] + budget["controller_ns"]
                self.assertGreater(budget["charged_ns"], budget["amount_ns"])
                self.assertLessEqual(budget["periods"], natively / budget["period_ns"] + 1)

    def test_controller(self):
        """What strobe itself does while the program runs is paid by the budget, too; no more than half of what a period has goes there."""
        for share in ("thread", "process", "tree"):
            with self.subTest(share=share):
                budget = self.strobe("-f", "-t", "branches", "-b", "10%", "-T", "100ms", "--budget-share", share, program=(PROGRAM, "100"))["budget"]
                self.assertGreater(budget["controller_ns"], 0)
                self.assertLessEqual(budget["controller_ns"], (budget["periods"] + 1) * budget["amount_ns"] / 2)

    def test_spent(self):
        """What is counted then is a part of the whole, branch by branch."""
        whole = {(r["image"], r["source"], r["target"]): r for r in self.strobe("--images", "budget", "-t", "branches")["branches"]}
        for policy in ("native", "trace", "strict", "conditional"):
            with self.subTest(policy=policy):
                part = self.strobe("--images", "budget", "-t", "branches", "-b", "10%", "-T", "20ms", "--budget-policy", policy)
                budget = part["budget"]
                self.assertEqual((budget["amount_ns"], budget["period_ns"]), (2_000_000, 20_000_000))
                self.assertGreater(budget["windows"], 1)
                if policy != "conditional":
                    self.check_account(budget, 2 * MS, 20 * MS)
                self.assertTrue(part["branches"])
                for row in part["branches"]:
                    most = whole[row["image"], row["source"], row["target"]]
                    self.assertLessEqual(row["taken"], most["taken"])
                    self.assertLessEqual(row["not_taken"], most["not_taken"])
                self.assertLess(sum(r["taken"] for r in part["branches"]), sum(r["taken"] for r in whole.values()))
                if policy != "native":
                    self.assertEqual((budget["native"], budget["ticks"]["native"]), (False, 0))

    def check_gates(self, mode, least):
        budget = self.strobe("-t", "bbcount", "-b", "1us", program=(PROGRAM, mode))["budget"]
        result = self.folder / "calls.db"
        line = [STROBE, "run", "-q", "-o", result, "-t", "bbcount", "-b", "1us", "--", PROGRAM, mode]
        subprocess.run(line, stdout=subprocess.DEVNULL, timeout=120, check=True)
        with contextlib.closing(sqlite3.connect(result)) as db:
            gates, = db.execute("SELECT total FROM statistic WHERE name = 'gates'").fetchone()
        possible = can_make_calls_natively()
        self.assertEqual(gates >= least, possible)
        if possible:
            self.assertGreater(budget["ticks"]["native"], 0)

    def test_calls(self):
        """A thread that makes many system calls makes them natively; a child that is left alone has its own code."""
        self.check_gates("calls", 1)

    def test_changed_calls(self):
        """Calls that are written over or mapped over are what is there now."""
        self.check_gates("changed", 4)

    def test_threads(self):
        """Each has its own; those that are born begin with nothing."""
        budget = self.strobe("-t", "bbcount", *SMALL, program=(PROGRAM, ROUNDS, "4"))["budget"]
        self.assertGreater(budget["windows"], 4)
        self.check_account(budget, 0.2 * MS, 20 * MS, threads=5)

    def test_shared(self):
        """The threads of a process have one budget together, of periods of the process' CPU time."""
        for share in ("process", "priority"):
            for policy in ("native", "strict"):
                with self.subTest(share=share, policy=policy):
                    budget = self.strobe("-t", "bbcount", *SMALL, "--budget-share", share, "--budget-policy", policy, program=(PROGRAM, ROUNDS, "4"))["budget"]
                    self.assertGreater(budget["windows"], 1)
                    self.assertEqual(budget["share"], share)
                    self.assertLessEqual(budget["periods"], budget["cpu_ns"] / budget["period_ns"] + 1)
                    self.check_account(budget, 0.2 * MS, 20 * MS, threads=5)
        plenty = self.strobe("-t", "bbcount", "-b", "100%", "-T", "1h", "--budget-share", "process", program=(PROGRAM, ROUNDS, "4"))
        self.assertEqual(plenty["budget"]["periods"], 0)
        alone = self.strobe("-t", "inscount", "--images", "budget", "-b", "100%", "-T", "1h", "--budget-share", "process")
        self.assertEqual(alone["instructions"], self.strobe("-t", "inscount", "--images", "budget")["instructions"])

    def test_periods_used(self):
        """Of whole periods of a thread, those that used nine tenths of its budget: where there is more than the tool can use, none."""
        some = self.strobe("-t", "bbcount", *SMALL)["budget"]
        self.assertGreater(some["own_periods_used"], 0)
        self.assertEqual(some["own_periods_used"] <= some["own_periods"] <= some["periods"], True)
        more = self.strobe("-t", "bbcount", "--unique", "-b", "90%", "-T", "100ms", program=(PROGRAM, "400"))["budget"]
        self.assertGreater(more["own_periods"], 0)
        self.assertEqual(more["own_periods_used"], 0)
        self.assertEqual(self.strobe("-t", "bbcount", *SMALL, "--budget-share", "process")["budget"]["own_periods"], 0)

    def test_shared_with_short_threads(self):
        """Threads are seen from their first instruction on, as long as there is something left for all."""
        counted = ("-t", "inscount", "--images", "budget")
        for share in ("process", "priority"):
            with self.subTest(share=share):
                plenty = self.strobe(*counted, "-b", "100%", "-T", "1h", "--budget-share", share, program=(PROGRAM, "3", "4"))
                self.assertEqual(plenty["instructions"], self.strobe(*counted, program=(PROGRAM, "3", "4"))["instructions"])

    def test_shared_with_sleepers(self):
        """Threads that sleep keep nothing of a shared budget: each of 300 has taken a 256th of it, and used a little of that."""
        counted, program = ("-t", "inscount", "--images", "budget"), (PROGRAM, "sleepers")
        whole = self.strobe(*counted, program=program)["instructions"]
        for share in ("process", "tree"):
            with self.subTest(share=share):
                plenty = self.strobe(*counted, "-b", "400ms", "-T", "1h", "--budget-share", share, program=program)
                self.assertEqual(plenty["instructions"], whole)

    def test_shared_in_children(self):
        """Children that are taken along have budgets of the same kind."""
        script = f'"{PROGRAM}" 5 2; true'
        for number, share in enumerate(("thread", "process", "priority", "tree")):
            with self.subTest(share=share):
                result = self.folder / f"{share}.db"
                line = [STROBE, "run", "-q", "-o", result, "-t", "bbcount", "-f", *SMALL, "--budget-share", share, "--", "sh", "-c", f"({script}); ({script})"]
                subprocess.run(line, stdout=subprocess.DEVNULL, timeout=120, check=True)
                with contextlib.closing(sqlite3.connect(result)) as db:
                    processes = [row[0] for row in db.execute("SELECT id FROM process")]
                    shares = dict(db.execute("SELECT process, total FROM statistic WHERE name = 'budget_share'"))
                self.assertGreaterEqual(len(processes), 5)
                self.assertEqual(shares, dict.fromkeys(processes, number))

    def test_first_window(self):
        """When a second sweep has found nothing, the first window of the third run begins a quarter of the second one's CPU time later: that is
        what the log says of it."""
        for share in ("thread", "process", "tree"):
            for cpu_ns, some in ((100_000_000_000, False), (20_000_000, True)):
                with self.subTest(share=share, cpu_ns=cpu_ns):
                    log = self.folder / f"{share}-{cpu_ns}.log"
                    options = ("-t", "bbcount", "-b", "1%", "-T", "1h", "--budget-share", share, "--unique-log", str(log))
                    for _ in range(2):
                        self.assertEqual(self.strobe(*options)["budget"]["windows"], 1)
                    with contextlib.closing(sqlite3.connect(log)) as db, db:
                        db.execute("UPDATE run SET cpu_ns = ?, until_ns = 0", (cpu_ns,))
                    self.assertEqual(self.strobe(*options)["budget"]["windows"] >= 1, some)
                    with contextlib.closing(sqlite3.connect(log)) as db:
                        self.assertEqual(db.execute("SELECT first_ns FROM run ORDER BY id").fetchall(), [(0,), (0,), (cpu_ns // 4,)])
                        used, until = db.execute("SELECT cpu_ns, until_ns FROM run WHERE id = 3").fetchone()
                        self.assertLessEqual(until, used)  # the rest of the period that was before it does not count

    def test_killed(self):
        """The CPU time of a child that has borrowed the memory of a thread is not that thread's."""
        for share in ("thread", "process", "tree"):
            line = [STROBE, "run", "-q", "--format", "json", "-o", str(self.file), "-t", "bbcount", *SMALL, "--budget-share", share, "--", PROGRAM, "killed"]
            self.assertEqual(subprocess.run(line, timeout=60).returncode, 128 + signal.SIGKILL)
            self.assertLess(json.loads(self.file.read_text())["budget"]["cpu_ns"], 60_000_000_000)

    def tree(self, *options, script):
        return self.strobe("-f", "--images", "budget", "--budget-share", "tree", *options, program=("sh", "-c", script + "; echo done"))

    def check_pool(self, budget, amount, period, threads):
        """No more is charged than there is in all periods together, but for an overshoot of each thread of each process."""
        self.assertLessEqual(budget["cpu_ns"], self.used)
        self.assertLessEqual(budget["charged_ns"], (self.used // period + 1) * amount + threads * MOST_OVERSHOOT)
        self.assertEqual(budget["share"], "tree")
        self.assertLessEqual(budget["periods"], self.used // period)

    def test_tree_once(self):
        """There is one budget for all processes: together they spend it, and no more."""
        work = f'"{PROGRAM}" 20'
        for script in (" & ".join([work] * 8) + " & wait", f"({work} 2; {work}); exec sh -c 'exec {work}'"):
            for policy in ("native", "strict"):
                with self.subTest(script=script, policy=policy):
                    budget = self.tree("-t", "bbcount", "-b", "5ms", "-T", "1h", "--budget-policy", policy, script=script)["budget"]
                    self.assertEqual(budget["periods"], 0)
                    self.assertGreater(budget["charged_ns"], budget["amount_ns"] / 2)
                    self.check_pool(budget, 5 * MS, 3600_000 * MS, threads=8)

    def test_overshoots_over_time(self):
        """A row each time that the budget was spent, as often as the classes say, also in the profile's file."""
        self.file = self.folder / "result.db"
        self.strobe("-t", "bbcount", "-b", "5%", "-T", "20ms", form="db")
        show = [STROBE, "show", str(self.file), "--format"]
        table = subprocess.run([*show, "csv", "--table", "overshoots", "--top", "0"], capture_output=True, text=True, timeout=60, check=True).stdout
        rows = list(csv.DictReader(table.splitlines()))
        budget = json.loads(subprocess.run([*show, "json"], capture_output=True, text=True, timeout=60, check=True).stdout)["budget"]
        self.assertGreater(len(rows), 2)
        self.assertEqual(len(rows), sum(row["count"] for row in budget["overshoots"]))
        times, over = [int(row["time_ns"]) for row in rows], [int(row["over_ns"]) for row in rows]
        self.assertEqual(times, sorted(times))
        self.assertGreater(times[0], 0)
        self.assertLessEqual(max(over), budget["most_overshoot_ns"])
        below = 0
        for each in budget["overshoots"]:
            above, below = below, each["below_ns"] or float("inf")
            self.assertEqual(sum(above <= n < below for n in over), each["count"])
        text = subprocess.run(show[:-1], capture_output=True, text=True, timeout=60, check=True).stdout
        self.assertRegex(text, rf"\n  the budget was used up {len(rows):,} times, and exceeded by at most \S+ [num]?s in half of these cases, \S+ [num]?s in 99 %, \S+ [num]?s in all\n")

    def test_tree_plenty(self):
        """Every process is seen from its first instruction on, however short it is."""
        script = f'("{PROGRAM}" 3); "{PROGRAM}" 2; "{PROGRAM}" 0 2 & wait; exec "{PROGRAM}" 3'
        whole = self.strobe("-f", "--images", "budget", "-t", "inscount", program=("sh", "-c", script))
        plenty = self.strobe("-f", "--images", "budget", "-t", "inscount", "-b", "100%", "-T", "1h", "--budget-share", "tree", program=("sh", "-c", script))
        self.assertEqual(plenty["instructions"], whole["instructions"])
        self.assertEqual(plenty["budget"]["overshoots"], [dict(row, count=0) for row in plenty["budget"]["overshoots"]])

    def test_tree_periods(self):
        """Many that are short, of which some are killed: the periods are of the CPU time of all, and go on."""
        script = f'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do "{PROGRAM}" 0; "{PROGRAM}" 1 2; "{PROGRAM}" killed; done 2>/dev/null; "{PROGRAM}" 40 2'
        budget = self.tree("-t", "bbcount", "-b", "5%", "-T", "20ms", script=script)["budget"]
        self.assertGreater(budget["periods"], 2)
        self.assertGreater(budget["windows"], 2)
        self.check_pool(budget, MS, 20 * MS, threads=3)
        alone = self.strobe("-t", "bbcount", "-b", "5%", "-T", "20ms", "--budget-share", "tree", program=(PROGRAM, ROUNDS, "4"))["budget"]
        self.assertGreater(alone["periods"], 2)
        self.check_pool(alone, MS, 20 * MS, threads=5)

    def test_bursts(self):
        """The budget of a period in parts: no more than the first of them before the second begins, no more than all of them."""
        for share in ("thread", "process", "priority", "tree"):
            with self.subTest(share=share):
                first = self.strobe("-t", "branches", "-b", "2ms", "-T", "1h", "--sampling", "bursts:2", "--budget-share", share)["budget"]
                self.assertEqual((first["sampling"], first["bursts"], first["periods"]), ("bursts", 2, 0))
                windows = [(1, 1)]
                if share == "tree":
                    # A process that waits for a CPU may spend less than its part, which makes a second window.
                    windows.append((2, 2))
                self.assertIn((first["windows"], sum(row["count"] for row in first["overshoots"])), windows)
                # Of half of 2 ms 95 % are granted; when they are spent the clock may say that it was half of that, or twice.
                granted = 950_000
                self.assertGreaterEqual(first["charged_ns"], granted // 2 - 10_000)
                self.assertLessEqual(first["charged_ns"], 2 * (granted + MOST_OVERSHOOT))
        for policy in ("native", "trace", "strict", "conditional"):
            with self.subTest(policy=policy):
                # Enough that one overshoot, when the machine takes the CPU away, does not use up what all bursts have.
                some = self.strobe("-t", "branches", "-b", "10%", "-T", "160ms", "--sampling", "bursts:16", "--budget-policy", policy, program=(PROGRAM, "200"))["budget"]
                self.assertGreater(some["windows"], some["periods"] + 1)
                if policy != "conditional":
                    self.check_account(some, 16 * MS, 160 * MS)
                    self.assertLessEqual(some["windows"], 16 * (some["periods"] + 1))

    def test_bursts_of_plenty(self):
        """What a burst does not use is there for the next one: nothing is missed, and no window ends."""
        whole = self.strobe("--images", "budget", "-t", "inscount", "-t", "branches")
        for options in (("-T", "1h", "--sampling", "bursts"), ("-T", "1h", "--sampling", "bursts:2", "--budget-share", "process")):
            plenty = self.strobe("--images", "budget", "-t", "inscount", "-t", "branches", "-b", "100%", *options)
            self.assertEqual((plenty["instructions"], plenty["branches"]), (whole["instructions"], whole["branches"]))
            self.assertEqual(plenty["budget"]["windows"], 1)

    def test_bursts_of_many(self):
        """Threads that are born later, children, and processes that are attached, have bursts, too."""
        bursts = (*SMALL, "--sampling", "bursts:2")
        for share in ("thread", "process"):
            budget = self.strobe("-t", "bbcount", *bursts, "--budget-share", share, program=(PROGRAM, ROUNDS, "4"))["budget"]
            self.assertEqual(budget["bursts"], 2)
            self.check_account(budget, 0.2 * MS, 20 * MS, threads=5)
        children = self.strobe("-t", "inscount", "-f", *bursts, program=("sh", "-c", f'"{PROGRAM}" 20; "{PROGRAM}" 20; echo done'))["budget"]
        self.assertEqual((children["sampling"], children["bursts"]), ("bursts", 2))

    def executions(self, *arguments, program=(PROGRAM, ROUNDS)):
        """How often each block of the program was measured, and what became of the budget."""
        self.file = self.folder / "result.db"
        self.strobe("-t", "hot", "--sample-hz", "0", "--images", "budget", *arguments, program=program, form="db")
        with contextlib.closing(sqlite3.connect(self.file)) as db:
            blocks = dict(db.execute("SELECT offset << 16 | bytes, executions FROM block"))
            return blocks, dict(db.execute("SELECT name, total FROM statistic WHERE name LIKE 'budget_%'"))

    def test_adaptive(self):
        """A block is measured 64 times in each of its turns: without a second window, as often as it is executed, but 64 times at the most."""
        whole, _ = self.executions()
        part, budget = self.executions("-b", "100%", "-T", "1h", "--sampling", "adaptive")
        self.assertEqual(part, {block: min(times, 64) for block, times in whole.items()})
        self.assertEqual((budget["budget_sampling"], budget["budget_bursts"], budget["budget_windows"]), (2, 0, 1))
        self.assertGreaterEqual(budget["budget_rests"], 1)
        self.assertLessEqual(budget["budget_rests"], sum(times >= 64 for times in whole.values()))
        threads, _ = self.executions("-b", "100%", "-T", "1h", "--sampling", "adaptive", program=(PROGRAM, ROUNDS, "4"))
        self.assertLessEqual(max(threads.values()), 5 * 64)

    def test_adaptive_again(self):
        """Its second turn comes after ten windows, the third after a hundred more, the fourth after a thousand."""
        for policy in ("native", "trace", "strict"):
            with self.subTest(policy=policy):
                part, budget = self.executions("-b", "1%", "-T", "20ms", "--sampling", "adaptive:2", "--budget-policy", policy, program=(PROGRAM, "300"))
                windows = budget["budget_windows"]
                self.assertGreater(windows, 20)
                self.assertLess(windows, 1000)
                self.assertLessEqual(max(part.values()), 64 * (1 + (windows > 10) + (windows > 110)))
                self.assertGreater(max(part.values()), 64)

    def test_adaptive_of_many(self):
        """Threads, children, tools that make rows and that wait for returns, and shared budgets."""
        for options in ((), ("--budget-share", "process"), ("--budget-share", "tree"), ("--budget-policy", "conditional"), ("-t", "calls", "-t", "memtrace"), ("-t", "dcache")):
            with self.subTest(options=options):
                budget = self.strobe("-t", "branches", "-b", "2%", "-T", "20ms", "--sampling", "adaptive:2", *options, program=(PROGRAM, ROUNDS, "4"))["budget"]
                self.assertEqual((budget["sampling"], budget["bursts"]), ("adaptive", 2))
                self.assertGreater(budget["rests"], 0)
        budget = self.strobe("-t", "inscount", "-f", *SMALL, "--sampling", "adaptive", program=("sh", "-c", f'"{PROGRAM}" 20; "{PROGRAM}" 20; echo done'))["budget"]
        self.assertGreater(budget["rests"], 0)

    def build(self, name, text):
        """A tool's file."""
        source = self.folder / f"{name}.c"
        source.write_text(text)
        done = subprocess.run([STROBE, "build-tool", "-q", "-I", INCLUDE, str(source)], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return str(self.folder / f"{name}.tool")

    def test_rows_in_pieces(self):
        """A budget that ends within a buffer of rows: each of them is consumed once, in their order, whenever that goes on."""
        tool = self.build("rows", ROWS)
        for options in (("-b", "2%"), ("-b", "2%", "--budget-policy", "strict"), ("-b", "2%", "--budget-share", "process"), ("-b", "100%", "--sampling", "bursts:2")):
            with self.subTest(options=options):
                part = self.strobe("-t", tool, "-T", "20ms", *options)
                consumed, = part["consumed"]
                self.assertEqual((consumed["in order"], consumed["rows"]), (1, part["blocks"]))
                self.assertGreater(consumed["rows"], consumed["pieces"])

    def test_gaps(self):
        part = self.strobe("-t", self.build("gaps", GAPS), "-b", "10%", "-T", "20ms")
        gaps, = part["gaps"]
        self.assertEqual(gaps["known"], 1)
        self.assertLessEqual(gaps["count"], part["budget"]["windows"])

    def test_tree_of_one(self):
        """Without --follow there are no other processes."""
        file = self.folder / "one.db"
        for options, text in ((("-f",), "of all processes together"), ((), "of all threads together")):
            subprocess.run([STROBE, "run", "-q", "-t", "bbcount", "-b", "5%", "--budget-share", "tree", "-o", str(file), *options, "--", PROGRAM, "1"],
                           capture_output=True, timeout=120, check=True)
            shown = subprocess.run([STROBE, "show", str(file)], capture_output=True, text=True, timeout=60, check=True).stdout
            self.assertIn(f"CPU time {text};", shown)

    def test_first_gap(self):
        """A thread that begins without a budget is not measured from its start, which its tools are told of."""
        file = self.folder / "path.db"
        subprocess.run([STROBE, "run", "-q", "-t", "branches:trace", "-b", "5%", "-T", "20ms", "-o", str(file), "--", PROGRAM, "40", "4"],
                       capture_output=True, timeout=120, check=True)
        path = subprocess.run([STROBE, "reconstruct", "--format", "json", str(file)], capture_output=True, text=True, timeout=120, check=True)
        begun = [(thread["pid"] == thread["tid"], thread["from_start"]) for thread in json.loads(path.stdout)["threads"]]
        self.assertGreater(len(begun), 1)
        self.assertEqual(set(begun), {(True, True), (False, False)})

    def test_children(self):
        """Each process has its own."""
        script = f'"{PROGRAM}" 20; "{PROGRAM}" 20; echo done'
        budget = self.strobe("-t", "inscount", "-f", *SMALL, program=("sh", "-c", script))["budget"]
        self.assertEqual((budget["amount_ns"], budget["period_ns"]), (200_000, 20_000_000))
        self.assertGreater(budget["windows"], 2)

    def test_region(self):
        """Borders are seen, and crossed, also by a thread whose budget is spent."""
        late = self.strobe("-t", "inscount", "-b", "1us", "-T", "1h", "--start-at", "finish")
        self.assertEqual([note for note in late["notes"] if "never" in note], [])
        for options in (SMALL, ("-b", "10%", "-T", "20ms"), ("-b", "0.2%", "-T", "20ms", "--threads", "0")):
            part = self.strobe("-t", "bbcount", *options, "--start-at", "on_signal", "--stop-at", "work")
            self.assertGreater(part["budget"]["windows"], 0)

    def test_attached(self):
        """Threads that are outside when the process is detached go on by themselves."""
        with subprocess.Popen([PROGRAM, "1000", "2"], stdout=subprocess.PIPE, text=True) as process:
            for share in ("thread", "process", "tree"):
                line = [STROBE, "attach", "-q", "-t", "bbcount", "--for", "200ms", "--format", "json", "-o", str(self.file), *SMALL, "--budget-share", share,
                        str(process.pid)]
                done = subprocess.run(line, capture_output=True, text=True, timeout=60)
                self.assertEqual((done.returncode, process.poll()), (0, None), done.stderr)
                budget = json.loads(self.file.read_text())["budget"]
                self.assertEqual((budget["amount_ns"], budget["share"]), (200_000, share))
            self.assertTrue(process.communicate(timeout=60)[0].endswith("done\n"))

    def test_summary(self):
        done = subprocess.run([STROBE, "run", "-o", str(self.folder / "r.db"), "-t", "inscount", *SMALL, "--", PROGRAM, ROUNDS],
                              capture_output=True, text=True, timeout=60)
        self.assertIn("budget: 200.0 us for each 20.0 ms of CPU time of each thread; ", done.stderr)
        done = subprocess.run([STROBE, "run", "-o", str(self.folder / "r.db"), "-t", "inscount", *SMALL, "--sampling", "bursts", "--", PROGRAM, ROUNDS],
                              capture_output=True, text=True, timeout=60)
        self.assertIn("budget: 200.0 us for each 20.0 ms of CPU time of each thread, in 2 bursts; ", done.stderr)

    def test_mistakes(self):
        for options in (("-b", "0%"), ("-b", "101%"), ("-b", "much"), ("-b", "2s"), ("-b", "-5%"), ("-b", "nan%"), ("-T", "1s"),
                        ("-b", "5%", "-T", "1ms"), ("-b", "5%", "-T", "2h"), ("-b", "5%", "--budget-policy", "no"), ("--budget-policy", "trace"),
                        ("-b", "5%", "--budget-share", "no"), ("--budget-share", "process"), ("--budget-share", "tree"),
                        ("--sampling", "bursts"), ("-b", "5%", "--sampling", "much"), ("-b", "5%", "--sampling", "bursts:1"), ("-b", "5%", "--sampling", "bursts:"),
                        ("-b", "5%", "--sampling", "window:2"), ("-b", "5%", "--sampling", "adaptive:1"), ("-b", "5%", "--sampling", "adaptive", "--unique"),
                        ("-b", "5%", "--sampling", "bursts:126"), ("-b", "5%", "-T", "20ms", "--sampling", "bursts:3")):
            with self.subTest(options=options):
                done = subprocess.run([STROBE, "run", *options, "--", PROGRAM, "1"], capture_output=True, text=True, timeout=60)
                self.assertEqual((done.returncode, done.stdout), (125, ""))
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


unittest.main(argv=sys.argv[:1])
