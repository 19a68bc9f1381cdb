#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What threads wait for (hot:wall), in a program whose waits have known lengths (waits.c)."""
import collections
import gzip
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

STROBE, WAITS = sys.argv[1:3]
MS = 1_000_000

Wait = collections.namedtuple("Wait", "stack ns")


def strobe(*words, check=True):
    return subprocess.run([STROBE, *words], check=check, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=240)


def fields(message):
    """The fields of a message of protocol buffers: pairs of number and value."""
    def number(at):
        value = shift = 0
        while True:
            byte = message[at]
            value |= (byte & 127) << shift
            at, shift = at + 1, shift + 7
            if byte < 128:
                return value, at
    at = 0
    while at < len(message):
        key, at = number(at)
        value, at = number(at)
        if key & 7 == 2:
            value, at = message[at:at + value], at + value
        yield key >> 3, value


class Result:
    """A run of the program with these waits, and what strobe says of it."""
    def __init__(self, waits, *options):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "result.db")
        self.run = strobe("run", "-q", "-t", "hot:wall", "-o", self.path, *options, "--", WAITS, waits, check=False)
        self.read()

    def read(self):
        self.json = json.loads(strobe("show", "--format", "json", "--threads", self.path).stdout)
        self.stacks = []
        for line in strobe("export", "--to", "folded", self.path).stdout.splitlines():
            stack, ns = line.rsplit(" ", 1)
            self.stacks.append(Wait(tuple(stack.split(";")), int(ns)))
        self.wall = self.json["run"]["seconds"] * 1e9

    def waited(self, kind, *callers):
        """Time of a kind on the stacks where the functions call each other, perhaps with others between them."""
        total = 0
        for stack, ns in self.stacks:
            rest = iter(stack)
            if stack[-1] == kind and all(name in rest for name in callers):
                total += ns
        return total


class Waits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.result = Result("scplwe")

    @classmethod
    def tearDownClass(cls):
        cls.result.folder.cleanup()

    def between(self, ns, least):
        self.assertGreaterEqual(ns, least)
        self.assertLessEqual(ns, self.result.wall)

    def test_program_ended(self):
        self.assertEqual(self.result.run.returncode, 0, self.result.run.stderr)

    def test_sleep_has_its_stack_and_length(self):
        self.between(self.result.waited("[sleep]", "main", "g", "f", "sleep_ms"), 200 * MS)

    def test_poll_has_its_stack_and_length(self):
        self.between(self.result.waited("[poll]", "main", "look"), 80 * MS)

    # The other side may have begun a while before these waited.
    def test_condition_variable(self):
        self.between(self.result.waited("[futex]", "main", "wait_for_condition", "await"), 20 * MS)

    def test_pipe(self):
        self.between(self.result.waited("[I/O]", "main", "wait_for_pipe", "take"), 20 * MS)

    def test_child(self):
        self.between(self.result.waited("[child]", "main", "mourn"), 20 * MS)

    def test_other_threads_sleep_on_stacks_of_their_own(self):
        self.between(self.result.waited("[sleep]", "start_thread", "signal_late"), 120 * MS)
        self.between(self.result.waited("[sleep]", "start_thread", "write_late"), 120 * MS)
        self.assertEqual(self.result.waited("[sleep]", "main", "signal_late"), 0)

    def test_thread_that_waits_at_the_end_counts(self):
        self.between(self.result.waited("[I/O]", "stay_for_ever", "stay"), 20 * MS)

    def test_functions_have_the_waits_of_what_they_call(self):
        waiting = {f["name"]: f["waiting_ns"] for f in self.result.json["functions"]}
        for name in "g", "look", "await", "take", "mourn", "stay", "sleep_ms", "main":
            on_stack = sum(ns for stack, ns in self.result.stacks if name in stack and stack[-1].startswith("[")
                           and stack[-1] != "[kernel]")
            self.assertEqual(waiting[name], on_stack, name)
        self.assertEqual(waiting["f"], waiting["g"])
        self.assertEqual(sum(f["self_waiting_ns"] for f in self.result.json["functions"]), self.result.json["samples"]["waiting_ns"])

    def test_threads_have_their_own(self):
        threads = self.result.json["threads"]
        self.assertEqual(len(threads), 4)
        self.assertEqual(sum(t["waiting_ns"] for t in threads), self.result.json["samples"]["waiting_ns"])
        self.assertEqual(sum(t["on_cpu_ns"] for t in threads), self.result.json["samples"]["on_cpu_ns"])
        for t in threads:
            self.between(t["waiting_ns"], 20 * MS)
        # It waits for the mutex, too, if the main thread has not been on the CPU meanwhile.
        late = sum(ns for stack, ns in self.result.stacks if "signal_late" in stack and stack[-1].startswith("[") and stack[-1] != "[kernel]")
        self.assertIn(late, [t["waiting_ns"] for t in threads])

    def test_sums_are_those_of_the_stacks(self):
        samples = self.result.json["samples"]
        self.assertEqual(sum(ns for _, ns in self.result.stacks), samples["on_cpu_ns"] + samples["waiting_ns"])

    def test_table_by_kind(self):
        table = self.result.json["waits"]
        self.assertEqual(sum(row["time"] for row in table), self.result.json["samples"]["waiting_ns"])
        rows = {(row["kind"], row["function"]): row["time"] for row in table}
        self.assertEqual(rows["poll", "look"], self.result.waited("[poll]", "look"))
        self.assertEqual(rows["futex", "await"], self.result.waited("[futex]", "await"))
        self.assertEqual(rows["child", "mourn"], self.result.waited("[child]", "mourn"))
        csv = strobe("show", "--table", "waits", "--where", "kind=poll", "--format", "csv", self.result.path).stdout
        self.assertIn(str(rows["poll", "look"]), csv)

    def test_text(self):
        text = strobe("show", "--sort", "waiting", "--top", "0", self.result.path).stdout
        self.assertRegex(text, r"wall time of 4 threads: ([0-9.]+ \S+ on the CPU, )?[0-9.]+ \S+ waiting")
        self.assertRegex(text, r"self % +total % +samples +self waiting +total waiting +calls ")
        self.assertIn("\nwaits: what threads waited for\n", text)
        own = {f["name"]: f["self_waiting_ns"] for f in self.result.json["functions"]}
        functions = [line.split()[-2] for line in text.split("\n\n")[1].splitlines()[1:]]
        waits = [own[name] for name in functions if name in own]
        self.assertEqual(waits[:3], sorted(own.values(), reverse=True)[:3])
        self.assertEqual((own["main"], own["g"], own["sleep_ms"]), (0, 0, 0), "libc waits for them")
        text = strobe("show", "--sort", "total-waiting", "--top", "0", self.result.path).stdout
        functions = [line.split()[-2] for line in text.split("\n\n")[1].splitlines()[1:]]
        self.assertLess(functions.index("main"), functions.index("g"))
        self.assertLess(functions.index("f"), functions.index("look"))

    def folded(self, *words):
        sums = collections.Counter()
        done = strobe("export", "--to", "folded", *words, self.result.path, check=False)
        if done.returncode:  # a program that uses so little CPU time may have no sample
            self.assertIn(words[-1], ("on-cpu", "samples"), done.stderr)
            self.assertIn(self.result.path + " has no ", done.stderr)
        for line in done.stdout.splitlines():
            stack, value = line.rsplit(" ", 1)
            sums[stack] += int(value)
        return sums

    def test_exports_have_the_part_that_is_asked_for(self):
        samples = self.result.json["samples"]
        waiting, on_cpu = self.folded("--metric", "waiting"), self.folded("--metric", "on-cpu")
        self.assertEqual(sum(waiting.values()), samples["waiting_ns"])
        self.assertEqual(sum(on_cpu.values()), samples["on_cpu_ns"])
        self.assertEqual(self.folded("--metric", "wall"), waiting + on_cpu)
        self.assertEqual(sum(self.folded("--metric", "samples").values()), samples["stacks"])

    def test_speedscope_and_callgrind(self):
        whole = self.result.json["samples"]["on_cpu_ns"] + self.result.json["samples"]["waiting_ns"]
        scope = json.loads(strobe("export", "--to", "speedscope", self.result.path).stdout)
        self.assertEqual(sum(sum(p["weights"]) for p in scope["profiles"]), whole)
        self.assertEqual({p["unit"] for p in scope["profiles"]}, {"nanoseconds"})
        self.assertIn("[poll]", [frame["name"] for frame in scope["shared"]["frames"]])
        waiting = strobe("export", "--to", "callgrind", "--metric", "waiting", self.result.path).stdout
        self.assertIn(f"\nsummary: {self.result.json['samples']['waiting_ns']} 0\n", waiting)

    def test_pprof(self):
        path = os.path.join(self.result.folder.name, "x.pb.gz")
        strobe("export", "--metric", "waiting", "-o", path, self.result.path)
        with gzip.open(path) as file:
            profile = list(fields(file.read()))
        texts = [value.decode() for field, value in profile if field == 6]
        mappings = [dict(fields(value)) for field, value in profile if field == 3]
        self.assertEqual(os.path.basename(texts[mappings[0][5]]), os.path.basename(WAITS))  # pprof's main binary
        self.assertEqual([mapping[1] for mapping in mappings], list(range(1, len(mappings) + 1)))
        locations = {location.get(2, 0) for location in (dict(fields(value)) for field, value in profile if field == 4)}
        self.assertLessEqual(locations, set(range(len(mappings) + 1)))
        back = os.path.join(self.result.folder.name, "back.db")
        strobe("import", "-o", back, path)
        lines = strobe("export", "--to", "folded", back).stdout.splitlines()
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in lines), self.result.json["samples"]["waiting_ns"])

    def test_flame_graph(self):
        svg = strobe("plot", "flame", "--metric", "waiting", "-o", "-", self.result.path).stdout
        self.assertRegex(svg, r">look: [0-9.]+ ms, ")
        self.assertIn(">[futex]: ", svg)

    def test_call_graph(self):
        samples = self.result.json["samples"]
        for metric, whole in (("waiting", samples["waiting_ns"]), ("time", samples["on_cpu_ns"] + samples["waiting_ns"])):
            svg = strobe("plot", "callgraph", "--metric", metric, "--least", "0%", "-n", "0", "-o", "-", self.result.path).stdout
            names = re.findall(r'class="middle name"[^>]*>([^<]+)<', svg)
            boxes = dict(zip(names, re.findall(r"self ([0-9.]+) %, total ([0-9.]+) %<", svg), strict=True))
            shares = {name: (float(own), float(total)) for name, (own, total) in boxes.items()}
            self.assertAlmostEqual(sum(own for own, _ in shares.values()), 100, delta=0.005 * len(shares) + 0.001)
            self.assertLessEqual(max(total for _, total in shares.values()), 100)
            for kind in "[sleep]", "[poll]", "[futex]", "[child]", "[I/O]":
                self.assertAlmostEqual(shares[kind][0], 100 * self.result.waited(kind) / whole, delta=0.006, msg=kind)
                self.assertEqual(shares[kind][0], shares[kind][1])
            self.assertAlmostEqual(shares["look"][1], 100 * sum(ns for stack, ns in self.result.stacks if "look" in stack and
                                   (metric == "time" or stack[-1] == "[poll]")) / whole, delta=0.006)

    def test_paths(self):
        shown = json.loads(strobe("paths", "--from", self.result.path, "--metric", "waiting", "--format", "json").stdout)
        roots = [node for thread in shown["threads"] for node in thread["ksf"]]
        self.assertEqual(sum(node["total_ns"] for node in roots), self.result.json["samples"]["waiting_ns"])

    def test_callers(self):
        text = strobe("show", "--func", "f", self.result.path).stdout
        self.assertRegex(text, r"wall time +samples +total % +caller\n *\d+\.\d+ \S+ +\d+ +[-0-9.]+ +g ")

    def test_misuse_of_metric(self):
        for message, words in (("--metric takes wall, on-cpu, waiting or samples, not 'cpu'", ("export", "--to", "folded", "--metric", "cpu")),
                               ("--metric chooses from the wall time of call stacks", ("export", "--to", "csv", "--metric", "wall")),
                               ("--metric is for call stacks", ("export", "--to", "perun-store", "-o", "x", "--metric", "wall"))):
            done = strobe(*words, self.result.path, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(message, done.stderr)
        done = strobe("paths", "--metric", "wall", "--", WAITS, "l", check=False)
        self.assertEqual(done.returncode, 125)
        self.assertIn("--metric chooses from the wall time of an earlier strobe run -t hot:wall: add --from FILE", done.stderr)

    def test_text_of_stacks(self):
        text = strobe("show", "--stacks", "--top", "0", self.result.path).stdout
        self.assertRegex(text, r"\n *total % +self % +on CPU +waiting +stack\n")
        depths = {line.split()[-1]: len(line) - len(line.split()[-1]) for line in text.splitlines() if line}
        self.assertEqual(depths["f"], depths["g"] + 1)
        self.assertEqual(depths["look"], depths["g"])
        self.assertRegex(strobe("show", "--threads", self.result.path).stdout, r"on CPU +waiting +state")

    def test_file_keeps_it(self):
        with sqlite3.connect(self.result.path) as db:
            self.assertEqual(db.execute("SELECT name, value FROM tool_option").fetchall(), [("wall", "1")])


class Other(unittest.TestCase):
    """Other programs, and other ways to measure."""
    def result(self, *words):
        result = Result(*words)
        self.addCleanup(result.folder.cleanup)
        return result

    def test_short_waits_are_sampled_by_their_time(self):
        result = self.result("d")
        doze = result.waited("[sleep]", "main", "doze")
        self.assertGreaterEqual(doze, 0.9 * 1200 * 250_000)
        self.assertLessEqual(doze, result.wall)

    def test_work_of_the_kernel_is_no_waiting(self):
        for waits in "k", "q":
            result = self.result(waits)
            samples = result.json["samples"]
            self.assertLessEqual(samples["on_cpu_ns"] + samples["waiting_ns"], result.wall, waits)
            if samples["kernel"]:
                self.assertGreater(result.waited("[kernel]"), 0, waits)

    def test_death_by_a_signal(self):
        result = self.result("et")
        self.assertEqual(result.run.returncode, 128 + signal.SIGTERM)
        self.assertGreaterEqual(result.waited("[I/O]", "stay"), 20 * MS)

    def test_waits_that_signals_interrupt(self):
        result = self.result("a")
        self.assertEqual(result.run.returncode, 0, result.run.stderr)
        for kind, name in (("[signal]", "by_sigsuspend"), ("[signal]", "by_pause"), ("[sleep]", "by_nanosleep"),
                           ("[poll]", "by_poll"), ("[poll]", "by_select"), ("[I/O]", "by_read")):
            waited = result.waited(kind, "main", "wait_for_alarms", name)
            self.assertGreaterEqual(waited, 100 * MS, (name, result.stacks))  # the timer runs before the wait begins
            self.assertLessEqual(waited, result.wall, name)
        self.assertGreaterEqual(result.waited("[child]", "main", "wait_for_alarms", "by_waitpid"), 220 * MS)
        self.assertLessEqual(result.json["samples"]["waiting_ns"], result.wall)

    def test_death_of_a_thread_that_waits(self):
        result = self.result("x")
        self.assertEqual(result.run.returncode, 128 + signal.SIGALRM)
        self.assertGreaterEqual(result.waited("[sleep]", "main", "die_asleep"), 100 * MS)

    def test_fault_while_another_thread_waits(self):
        result = self.result("v")
        self.assertEqual(result.run.returncode, 128 + signal.SIGSEGV)
        self.assertEqual(result.json["run"]["signal"], signal.SIGSEGV)
        self.assertGreaterEqual(result.waited("[futex]", "main", "wait_for_fault"), 20 * MS)

    def test_executed_program_that_may_not_ask_for_switches(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "result.db")
            strobe("run", "-q", "-t", "hot:wall", "-o", path, "--", WAITS, "f")
            notes = json.loads(strobe("show", "--format", "json", path).stdout)["notes"]
        self.assertIn("a seccomp sandbox forbids what the engine needs", " ".join(notes))

    def test_budget_that_is_spent(self):
        note = ("the budget was spent: what a thread waits for from then to the next period is not counted; "
                "to count all waits, measure without --budget")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "result.db")

            def shown(tool, *options):
                strobe("run", "-q", "-t", tool, "-o", path, *options, "--", WAITS, "s")
                return json.loads(strobe("show", "--format", "json", path).stdout)

            spent = shown("hot:wall", "--budget", "1us", "--period", "10s")
            self.assertIn(note, spent["notes"])
            self.assertEqual(spent["samples"]["waiting_ns"], 0)
            self.assertIn(f"  note: {note}\n", strobe("show", path).stdout)
            self.assertNotIn(note, shown("hot", "--budget", "1us", "--period", "10s")["notes"])
            self.assertNotIn(note, shown("hot:wall")["notes"])

    def test_children(self):
        result = self.result("w", "--follow")
        self.assertEqual(len({t["pid"] for t in result.json["threads"]}), 2)
        self.assertGreaterEqual(result.waited("[sleep]", "mourn", "sleep_ms"), 100 * MS)
        self.assertGreaterEqual(result.waited("[child]", "mourn"), 20 * MS)

    def test_waits_without_samples(self):
        result = self.result("s", "--sample-hz", "0")
        self.assertGreaterEqual(result.waited("[sleep]", "g", "f"), 200 * MS)
        self.assertEqual(result.json["samples"]["on_cpu_ns"], 0)
        self.assertEqual(result.json["samples"]["stacks"], 0)
        self.assertRegex(strobe("show", result.path).stdout,
                         r"\n  wall time of \d+ threads?: [0-9.]+ \S+ waiting; the time on the CPU is unknown, because no sample was in the program: "
                         r"it used too little CPU time, or --sample-hz was 0\n")
        for metric, cause in (("on-cpu", "no time on the CPU, because no sample was taken: the program used too little CPU time, "
                                         "or --sample-hz was 0"),
                              ("samples", "no samples in the code of the program: it used too little CPU time, or --sample-hz was 0")):
            for to in "folded", "speedscope":
                done = strobe("export", "--to", to, "--metric", metric, result.path, check=False)
                self.assertEqual((done.returncode, done.stdout), (125, ""))
                self.assertEqual(done.stderr, f"strobe: {result.path} has {cause}\n")
            file = os.path.join(result.folder.name, "x.folded")
            self.assertEqual(strobe("export", "--to", "folded", "--metric", metric, "-o", file, result.path, check=False).returncode, 125)
            self.assertFalse(os.path.exists(file))
        self.assertEqual(strobe("export", "--to", "folded", "--metric", "waiting", result.path).stdout,
                         strobe("export", "--to", "folded", result.path).stdout)

    def test_without_the_option_nothing_is_said_of_waits(self):
        for tool in "hot", "hot:wall=0":
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "result.db")
                strobe("run", "-q", "-t", tool, "-o", path, "--", WAITS, "l")
                shown = json.loads(strobe("show", "--format", "json", "--threads", path).stdout)
                self.assertNotIn("waits", shown)
                self.assertNotIn("waiting_ns", shown["samples"])
                self.assertNotIn("waiting_ns", shown["threads"][0])
                self.assertNotIn("waiting", strobe("show", path).stdout)
                for words in ("--sort", "waiting"), ("--sort", "waiting", "--format", "json"):
                    done = strobe("show", *words, path, check=False)
                    self.assertEqual((done.returncode, done.stdout), (2, ""))
                    self.assertEqual(done.stderr, "strobe: the profile has no waiting times to sort by: measure with strobe run -t hot:wall\n")
                done = strobe("export", "--to", "folded", "--metric", "wall", path, check=False)
                self.assertNotEqual(done.returncode, 0)
                self.assertTrue("the profile has no wall time, of which --metric could choose: measure with strobe run -t hot:wall"
                                in done.stderr or "--metric chooses from the wall time of call stacks" in done.stderr, done.stderr)

    def attach(self, program, path, seconds):
        time.sleep(0.3)
        done = strobe("attach", "-q", "-t", "hot:wall", "-o", path, "--for", seconds, str(program.pid), check=False)
        if done.returncode == 125 and "ptrace" in done.stderr:
            program.kill()
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, 0, done.stderr)

    def stacks_of_attached(self, program, path, seconds):
        self.attach(program, path, seconds)
        return strobe("export", "--to", "folded", path).stdout.splitlines()

    def test_attached_process(self):
        with subprocess.Popen([WAITS, "s" * 50]) as program, tempfile.TemporaryDirectory() as folder:
            try:
                folded = self.stacks_of_attached(program, os.path.join(folder, "result.db"), "1s")
            finally:
                program.kill()
            slept = [int(line.rsplit(" ", 1)[1]) for line in folded if ";g;f;" in line and "[sleep]" in line]
            self.assertGreaterEqual(sum(slept), 200 * MS)

    def test_process_that_waits_all_the_time(self):
        """Its only wait is recorded when strobe detaches, with the stack up to its end."""
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program, tempfile.TemporaryDirectory() as folder:
            folded = self.stacks_of_attached(program, os.path.join(folder, "result.db"), "1s")
            self.assertEqual(program.communicate("x\n", timeout=60)[0], "x\n")
            self.assertEqual(program.returncode, 0)
            self.assertGreaterEqual(sum(int(line.rsplit(" ", 1)[1]) for line in folded if "[I/O]" in line), 200 * MS)

    def test_detaching_interrupts_no_sleep(self):
        for seconds in "200ms", "500ms":
            with subprocess.Popen([WAITS, "i"], stdin=subprocess.PIPE) as program, tempfile.TemporaryDirectory() as folder:
                self.attach(program, os.path.join(folder, "result.db"), seconds)
                program.stdin.close()
                self.assertEqual(program.wait(60), 0)

    def test_misuse(self):
        done = strobe("run", "-t", "hot:wal", "--", WAITS, "l", check=False)
        self.assertEqual(done.returncode, 125)
        self.assertIn("tool hot has no option 'wal'; did you mean 'wall'?", done.stderr)
        done = strobe("run", "-t", "hot:wall=much", "--", WAITS, "l", check=False)
        self.assertEqual(done.returncode, 125)
        self.assertIn("option wall of tool hot takes a number", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
