#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`strobe mem`: exact numbers of programs whose allocations are known, the same from a static program, and what massif says of them.

usage: test_mem.py STROBE SCRIPTED STATIC OBJECTS

SCRIPTED and STATIC are programs/scripted.c, OBJECTS is programs/objects.cc."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE, SCRIPTED, STATIC, OBJECTS = [os.path.abspath(name) for name in sys.argv[1:5]]
PAGE = 4096


class Mem(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-mem-")
        self.addCleanup(folder.cleanup)
        self.at = Path(folder.name)

    def strobe(self, *arguments, code=0):
        done = subprocess.run([STROBE, "mem", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120,
                              cwd=self.at, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def measure(self, *command, options=()):
        self.strobe("-q", *options, "-o", "r.json", "--", *command)
        return json.loads((self.at / "r.json").read_text())

    def path(self, result, context):
        """Functions of a context, the outermost first, from main or the thread's function on."""
        frames, names = result["frames"], []
        at = context["frame"]
        while at is not None:
            names.append(frames[at]["function"].split("(")[0])
            at = frames[at]["parent"]
        names.reverse()
        for i, name in enumerate(names):
            if name in ("main", "in_thread"):
                return tuple(names[i:])
        return tuple(names)

    def contexts(self, result):
        """By path: calls, bytes, live at the peak, live at the end. What the C library needs for itself has no main in its path."""
        out = {}
        for context in result["contexts"]:
            path = self.path(result, context)
            if path[0] in ("main", "in_thread"):
                row = out.setdefault(path, [0, 0, 0, 0])
                for i, key in enumerate(("allocations", "bytes", "peak", "live")):
                    row[i] += context[key]
        return {path: tuple(row) for path, row in out.items()}


class Truth(Mem):
    def test_peak(self):
        for program in SCRIPTED, STATIC:
            with self.subTest(program=program):
                result = self.measure(program, "peak")
                heap = result["heap"]
                contexts = self.contexts(result)
                self.assertEqual(contexts[("main", "peak", "from_left", "take", "malloc")], (10, 10000, 10000, 2000))
                right = [row for path, row in contexts.items() if "from_right" in path]
                self.assertEqual(tuple(map(sum, zip(*right))), (8, 2400, 1500, 0))
                if program == SCRIPTED:  # a static one allocates before main
                    self.assertEqual((heap["allocations"], heap["bytes"], heap["peak"], heap["live"], heap["live_blocks"], heap["frees"]),
                                     (18, 12400, 11500, 2000, 2, 16))
                self.assertEqual((result["missed"], heap["unknown_frees"], heap["failed"]), (0, 0, 0))

    def test_addresses(self):
        """At the end, the ranges have what is live then; a large block covers the addresses that it takes."""
        large = ["/usr/bin/python3", "-S", "-c", "import os; x = bytearray(4 << 20); os._exit(0)"]
        for command in ([SCRIPTED, "peak"], [SCRIPTED, "threads"], large):
            with self.subTest(command=command):
                self.strobe("-q", "-o", "r.db", "--", *command)
                live = json.loads(self.strobe("--from", "r.db", "--format", "json").stdout)["heap"]["live"]
                rows = [(row["time"], row["address"], row["live"]) for row in self.table("addresses")]
                end = max(time for time, _, _ in rows)
                ranges = [n for time, _, n in rows if time == end and n]
                size = next(row["heap"] for row in self.table("totals") if row["what"] == "bytes of a range of addresses")
                self.assertEqual(sum(ranges), live)
                self.assertEqual({address % size for _, address, _ in rows}, {0})
                if command is large:
                    self.assertGreaterEqual(len(ranges) * size, 4 << 20)

    def table(self, name):
        shown = subprocess.run([STROBE, "show", "--format", "json", "-n", "0", "-t", name, "r.db"], stdout=subprocess.PIPE, cwd=self.at, check=True)
        return json.loads(shown.stdout)[name]

    def test_sums(self):
        """Totals are the sums of the contexts, and of the sites; the peak is what the contexts had then."""
        for command in ([SCRIPTED, "peak"], [SCRIPTED, "threads"], [OBJECTS], ["/bin/ls", "/"]):
            with self.subTest(command=command):
                result = self.measure(*command)
                for kind in "heap", "mapped":
                    for rows in "contexts", "sites":
                        for key in "allocations", "bytes", "peak", "live", "live_blocks", "short_lived":
                            self.assertEqual(sum(row[key] for row in result[rows] if row["kind"] == kind), result[kind][key], (kind, rows, key))
                    self.assertEqual(sum(row["allocations"] for row in result[kind]["sizes"]), result[kind]["allocations"])

    def test_lines(self):
        result = self.measure(SCRIPTED, "peak")
        source = (Path(__file__).parent / "programs" / "scripted.c").read_text().splitlines()
        site = next(row for row in result["sites"] if result["frames"][row["frame"]]["function"] == "take")
        frame = result["frames"][site["frame"]]
        self.assertEqual(os.path.basename(frame["file"]), "scripted.c")
        self.assertIn("malloc(n)", source[frame["line"] - 1])

    def test_family(self):
        for program in SCRIPTED, STATIC:
            with self.subTest(program=program):
                result = self.measure(program, "family")
                got = {path[-1]: row for path, row in self.contexts(result).items()}
                self.assertEqual(sum(row[1] for row in got.values()), 100 + 200 + 300 + 400 + 512 + 600 + 700 + 800)
                self.assertEqual(sum(row[0] for row in got.values()), 8)
                self.assertEqual(result["heap"]["failed"], 2)
                self.assertEqual(sum(row[3] for row in got.values()), 0)
                self.assertEqual(sum(row[2] for row in got.values()), 100 + 200 + 300 + 400 + 512 + 600 + 700 + 800)

    def test_sizes(self):
        sizes = {row["from"]: row["allocations"] for row in self.measure(SCRIPTED, "family")["heap"]["sizes"]}
        self.assertEqual(sizes, {64: 1, 128: 1, 256: 2, 512: 4})

    def test_reallocations(self):
        heap = self.measure(SCRIPTED, "reallocations")["heap"]
        self.assertEqual((heap["reallocations_in_place"], heap["reallocations_moved"], heap["failed"]), (1, 1, 1))
        self.assertEqual(heap["bytes"], 100 + 50 + (1 << 16) + (1 << 20))
        self.assertEqual(heap["peak"], (1 << 16) + (1 << 20))
        self.assertEqual((heap["live"], heap["live_blocks"], heap["allocations"], heap["frees"]), (0, 0, 4, 4))

    def test_mappings(self):
        result = self.measure(SCRIPTED, "mappings")
        mapped = result["mapped"]
        rows = [row for row in result["contexts"] if row["kind"] == "mapped" and "mappings" in self.path(result, row)]
        # What the process has of its own is not in main: subtract it.
        self.assertEqual(sum(row["bytes"] for row in rows), (10 + 5 + 3 + 50) * PAGE)
        self.assertEqual(sum(row["live"] for row in rows), (1 + 3) * PAGE)
        self.assertEqual(sum(row["live_blocks"] for row in rows), 2)
        self.assertEqual(mapped["live_blocks"], sum(row["live_blocks"] for row in result["contexts"] if row["kind"] == "mapped"))
        self.assertLess(mapped["live_blocks"], mapped["allocations"])
        self.assertEqual(mapped["failed"], 1)
        self.assertEqual(mapped["reallocations_in_place"] + mapped["reallocations_moved"], 2)

    def test_threads(self):
        for program in SCRIPTED, STATIC:
            with self.subTest(program=program):
                contexts = self.contexts(self.measure(program, "threads"))
                rows = [row for path, row in contexts.items() if path[0] == "in_thread"]
                self.assertEqual(tuple(map(sum, zip(*rows)))[:2], (8000, 128000))
                self.assertEqual(sum(row[3] for row in rows), 64000)

    def test_executed(self):
        """What the process executes is not measured, and a note says so."""
        for program, noted in (f"exec {SCRIPTED}", 1), ("true", 0):
            done = self.strobe("-o", self.at / f"executed{noted}.db", "--", "sh", "-c", program)
            name = os.path.basename(SCRIPTED)[:15]
            self.assertEqual(len(re.findall(rf"the process executed another program, (\S*/)?{name}\S*, which is not measured: name", done.stderr)), noted)

    def test_children(self):
        heap = self.measure(SCRIPTED, "children")["heap"]
        self.assertEqual((heap["allocations"], heap["bytes"], heap["live"]), (2, 33, 0))

    def test_jumps(self):
        heap = self.measure(SCRIPTED, "jumps")["heap"]
        self.assertEqual((heap["allocations"], heap["bytes"], heap["live"]), (100, 50 * 7 + 50 * 9, 0))

    def test_recursion(self):
        """601 levels: of the deepest ones the outermost callers are not known, and that is said."""
        result = self.measure(SCRIPTED, "recurse")
        self.assertEqual((result["heap"]["allocations"], result["heap"]["short_lived"]), (601, 601))
        deepest = max((self.path(result, c) for c in result["contexts"]), key=len)
        self.assertGreaterEqual(len(deepest), 500)
        self.assertGreater(result["unknown_callers"], 0)
        self.assertLess(result["unknown_callers"], 120)

    def test_variable_frames(self):
        contexts = self.contexts(self.measure(SCRIPTED, "variable"))
        self.assertEqual(contexts, {("main", "variable", "take", "malloc"): (99, 99 * 100 // 2, 99, 0)})

    def test_objects(self):
        result = self.measure(OBJECTS)
        contexts = self.contexts(result)

        def of(function):
            rows = [row for path, row in contexts.items() if function in path]
            return tuple(map(sum, zip(*rows)))
        self.assertEqual(of("objects"), (4, 4 + 1000 + 128 + 8, of("objects")[2], 0))
        self.assertEqual(of("grow")[:2], (1, 400))
        sites = {result["frames"][row["frame"]]["function"].split("(")[0] for row in result["sites"]}
        self.assertLessEqual({"objects", "grow", "throws"}, sites)
        throws = [row for path, row in contexts.items() if path[-2:] == ("throws", "malloc")]
        self.assertEqual(tuple(map(sum, zip(*throws)))[:2], (40, 2000))
        self.assertEqual(result["missed"], 0)


class Peers(Mem):
    @unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed")
    def test_massif(self):
        """Peaks of the heap, and what valgrind says of the totals."""
        for word in "peak", "family", "reallocations":
            with self.subTest(word=word):
                done = subprocess.run(["valgrind", "--tool=massif", "--heap-admin=0", "--peak-inaccuracy=0.0", "--massif-out-file=" + str(self.at / "m"),
                                       SCRIPTED, word], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                peak = max(int(line.split("=")[1]) for line in (self.at / "m").read_text().splitlines() if line.startswith("mem_heap_B="))
                self.assertEqual(self.measure(SCRIPTED, word)["heap"]["peak"], peak)

    @unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed")
    def test_memcheck(self):
        for word in "peak", "family":
            with self.subTest(word=word):
                done = subprocess.run(["valgrind", "--tool=memcheck", SCRIPTED, word], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                      check=False)
                line = next(line for line in done.stderr.splitlines() if "total heap usage" in line)
                calls, frees, size = [int(word.replace(",", "")) for word in line.split() if word.replace(",", "").isdigit()]
                heap = self.measure(SCRIPTED, word)["heap"]
                failed = heap["failed"]
                self.assertIn(calls - heap["allocations"], (0, failed), line)
                self.assertEqual((heap["frees"], heap["bytes"]), (frees, size), line)


class Shown(Mem):
    def setUp(self):
        super().setUp()
        self.strobe("-q", "-o", "r.db", "--", SCRIPTED, "peak")

    def test_file_is_the_same(self):
        """What is read from the file is what a run writes at once."""
        again = json.loads(self.strobe("--from", "r.db", "--format", "json").stdout)
        once = self.measure(SCRIPTED, "peak")
        for key in "heap", "mapped", "missed", "sites":
            strip = [(dict(row, frame=0) if isinstance(row, dict) else row) for row in again[key]] if key == "sites" else again[key]
            other = [(dict(row, frame=0) if isinstance(row, dict) else row) for row in once[key]] if key == "sites" else once[key]
            self.assertEqual(strip, other)
        self.assertEqual(self.contexts(again), self.contexts(once))

    def test_text(self):
        text = self.strobe("--from", "r.db", "--callers").stdout
        self.assertIn("peak 11,500 bytes", text)
        self.assertIn("18 allocations of 12,400 bytes in all", text)
        self.assertIn("never freed: 2 blocks of 2,000 bytes", text)
        self.assertRegex(text, r"(?m)^ *11,500 +2,000 +12,400 +18 +0 +100\.0 +take \(scripted\.c:\d+\)$")
        self.assertRegex(text, r"from_left \(scripted\.c:\d+\)\n +peak \(scripted\.c:\d+\)\n +main")

    def test_metrics(self):
        for metric, value in ("peak", 11500), ("live", 2000), ("total", 12400), ("calls", 18):
            with self.subTest(metric=metric):
                folded = self.strobe("--from", "r.db", "--format", "folded", "--metric", metric).stdout
                self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()), value)
                self.assertTrue(all(line.startswith("_start;") for line in folded.splitlines()))

    def test_speedscope(self):
        made = json.loads(self.strobe("--from", "r.db", "--format", "speedscope").stdout)
        self.assertEqual(made["profiles"][0]["unit"], "bytes")
        self.assertEqual(sum(made["profiles"][0]["weights"]), 11500)

    def test_callgrind(self):
        text = self.strobe("--from", "r.db", "--format", "callgrind", "--metric", "total").stdout
        self.assertIn("event: Count : total\n", text)
        self.assertIn("fn=", text)

    def test_pprof(self):
        self.strobe("--from", "r.db", "--format", "pprof", "-o", "r.pb")
        data = (self.at / "r.pb").read_bytes()
        self.assertIn(b"peak", data)
        self.assertIn(b"bytes", data)

    def test_show_and_page(self):
        """Commands for all results know the tables, too."""
        done = subprocess.run([STROBE, "show", "-t", "sites", "--format", "csv", self.at / "r.db"], stdout=subprocess.PIPE, text=True, check=True)
        self.assertIn("11500,12400,18,2000,2,0", done.stdout.replace(" ", ""))
        subprocess.run([STROBE, "report", "-o", self.at / "r.html", self.at / "r.db"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        self.assertIn("short_lived", (self.at / "r.html").read_text())

    def test_snapshots(self):
        result = self.measure("/bin/sleep", "0.3", options=("--interval", "20ms"))
        shots = result["snapshots"]
        self.assertEqual(result["interval_ns"], 20000000)
        times = [shot["time_ns"] for shot in shots]
        self.assertEqual(times, sorted(set(times)))
        self.assertGreaterEqual(len(shots), 2)
        self.assertEqual(shots[-1]["live"], result["heap"]["live"])
        for shot in shots:
            self.assertEqual(sum(row["live"] for row in shot["contexts"]), shot["live"] + shot["mapped"])


class Refusals(Mem):
    def complains(self, text, *arguments, code=125):
        self.assertIn(text, self.strobe(*arguments, code=code).stderr)

    def test_bad_input(self):
        self.complains("no program to run")
        self.complains("--metric takes peak, live, total or calls, not 'size'", "--metric", "size")
        self.complains("--interval takes a time", "--interval", "often", "--", "/bin/true")
        self.complains("no format 'svg'", "--format", "svg", "--", "/bin/true")
        self.complains("--from shows an earlier run: leave out the program", "--from", "r.db", "/bin/true")
        self.complains("standard output belongs to the program", "-o", "-", "--", "/bin/true")
        self.complains("No such file", "--from", "none.db", code=125)
        self.complains("nosuch", "--", "./nosuch", code=127)
        subprocess.run([STROBE, "run", "-q", "-t", "bbcount", "-o", self.at / "b.db", "--", "/bin/true"], check=True)
        self.complains("it was made with the tool bbcount, not with strobe mem", "--from", "b.db", code=125)

    def test_exit_code(self):
        self.strobe("-q", "-o", "r.db", "--", "/bin/sh", "-c", "exit 7", code=7)
        self.strobe("-q", "-o", "r.db", "--", "/bin/sh", "-c", "kill -9 $$", code=137)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
