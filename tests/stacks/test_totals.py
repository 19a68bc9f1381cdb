#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Inclusive shares of a program that says what they must be (shape.c)."""
import gzip
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest

STROBE, SHAPE = sys.argv[1:3]
SLACK = 0.06  # of a share, which comes from a few hundred samples


def profile(*options):
    """The result, and what CPU time the program says each of its parts has taken."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "result.json")
        done = subprocess.run([STROBE, "run", "-q", "--format", "json", "-o", path, *options, "--", SHAPE], check=True,
                              stdout=subprocess.PIPE, text=True)
        parts = dict(line.split() for line in done.stdout.splitlines())
        with open(path, encoding="utf-8") as file:
            return json.load(file), {name: int(ns) for name, ns in parts.items()}


def exported(*words):
    return subprocess.run([STROBE, *words], check=True, stdout=subprocess.PIPE).stdout


def number(data, at):
    """A number of a protocol buffer, and where it ends."""
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """The fields of a protocol buffer: number and value, which is bytes of what is nested."""
    at = 0
    while at < len(data):
        key, at = number(data, at)
        value, at = number(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        yield key >> 3, value


class Stacks(unittest.TestCase):
    """The call stacks of the samples, as the profile keeps them."""
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, "result.db")
        subprocess.run([STROBE, "run", "-q", "-o", cls.path, "--", SHAPE], check=True, stdout=subprocess.DEVNULL)
        cls.result = json.loads(exported("show", "--format", "json", cls.path))
        cls.folded = {}
        for line in exported("export", "--to", "folded", cls.path).decode().splitlines():
            stack, samples = line.rsplit(" ", 1)
            stack = tuple(stack.split(";"))
            cls.folded[stack] = cls.folded.get(stack, 0) + int(samples)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def below(self, *names):
        """Samples with these functions one below the other."""
        n = len(names)
        return sum(samples for stack, samples in self.folded.items()
                   if any(stack[i:i + n] == names for i in range(len(stack) - n + 1)))

    def test_each_sample_has_one_stack(self):
        self.assertEqual(sum(self.folded.values()), self.result["samples"]["stacks"])

    def test_totals_are_those_of_the_stacks(self):
        names = [function["name"] for function in self.result["functions"]]
        for function in self.result["functions"]:
            if names.count(function["name"]) > 1:  # the dynamic linker and the program have a _start each
                continue
            on_stack = sum(samples for stack, samples in self.folded.items() if function["name"] in stack)
            self.assertAlmostEqual((function["total_share"] or 0) * self.result["samples"]["stacks"], on_stack, delta=0.01,
                                   msg=function["name"])

    def test_functions_are_below_their_callers(self):
        for pair in ("main", "caller_of_three"), ("caller_of_three", "spin"), ("recursive", "recursive"), ("recursive", "spin"), \
                ("on_signal", "spin"), ("compare", "spin"), ("without_frame_pointer", "spin"), ("thread", "spin"):
            self.assertGreater(self.below(*pair), 0, pair)
        for pair in ("main", "spin"), ("main", "on_signal"), ("thread", "caller_of_three"), ("spin", "spin"):
            self.assertEqual(self.below(*pair), 0, pair)

    def test_recursion_has_its_depth(self):
        deepest = max(stack.count("recursive") for stack in self.folded)
        self.assertEqual(deepest, 301)

    def test_threads_are_apart(self):
        data = json.loads(exported("export", "--to", "speedscope", self.path))
        names = [frame["name"] for frame in data["shared"]["frames"]]
        threads = [{names[frame] for stack in each["samples"] for frame in stack} for each in data["profiles"]]
        self.assertEqual(len(threads), 2)
        self.assertEqual([{"main", "thread"} & each for each in threads], [{"main"}, {"thread"}])
        self.assertEqual(sum(sum(each["weights"]) for each in data["profiles"]), self.result["samples"]["stacks"])

    def test_callgrind_counts_samples(self):
        lines = exported("export", "--to", "callgrind", self.path).decode().splitlines()
        self.assertIn("event: Samples : Samples of CPU time", lines)
        summary = next(line for line in lines if line.startswith("summary: "))
        self.assertEqual(sorted(int(n) for n in summary.split()[1:]), sorted([self.result["samples"]["program"], self.result["instructions"]]))

    def test_pprof_comes_back(self):
        path = os.path.join(self.folder.name, "x.pb")
        subprocess.run([STROBE, "export", "--to", "pprof", "-o", path, self.path], check=True)
        back = os.path.join(self.folder.name, "back.db")
        subprocess.run([STROBE, "import", "-q", "--from", "pprof", "-o", back, path], check=True)
        lines = exported("export", "--to", "folded", back).decode().splitlines()
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in lines), self.result["samples"]["stacks"])
        shown = exported("show", back).decode()  # a profile of pprof has the time of the run, but not its end, and no counts of executions
        self.assertNotIn("exited", shown)
        self.assertRegex(shown, r"(?m)^ +[\d.]+ +[\d.]+ +\d+ +- +- +- +\S")

    def test_the_first_mapping_of_pprof_is_the_program(self):
        path = os.path.join(self.folder.name, "first.pb")
        subprocess.run([STROBE, "export", "--to", "pprof", "-o", path, self.path], check=True)
        with open(path, "rb") as file:
            texts, mappings = [], []
            for field, value in fields(file.read()):
                if field == 3:
                    mappings.append(dict(fields(value)))
                elif field == 6:
                    texts.append(value.decode())
        images = [texts[mapping[5]] for mapping in mappings]
        self.assertEqual(os.path.basename(images[0]), os.path.basename(self.result["run"]["command"][0]))
        self.assertGreater(len(images), 1)
        self.assertEqual((sorted(mapping[1] for mapping in mappings), len(set(images))), (list(range(1, len(images) + 1)), len(images)))

    def export(self, name):
        path = os.path.join(self.folder.name, name)
        subprocess.run([STROBE, "export", "-o", path, self.path], check=True)
        with open(path, "rb") as file:
            return file.read()

    def test_names_choose_the_format(self):
        for name, to in ("x.pb", "pprof"), ("callgrind.out.1", "callgrind"), ("x.speedscope.json", "speedscope"), ("x.folded", "folded"):
            self.assertEqual(self.export(name), exported("export", "--to", to, self.path), name)
        packed = self.export("x.pb.gz")
        self.assertEqual(packed[:2], b"\x1f\x8b")
        self.assertEqual(gzip.decompress(packed), exported("export", "--to", "pprof", self.path))
        direct = os.path.join(self.folder.name, "y.speedscope.json")
        subprocess.run([STROBE, "paths", "--from", self.path, "-o", direct], check=True)
        with open(direct, "rb") as file:
            self.assertEqual(file.read(), self.export("x.speedscope.json"))

    def test_names_that_say_nothing(self):
        for words, said in ((["-o", "x.bin"], "the name x.bin does not say which format to write: add --to FORMAT"),
                            (["-o", "x.csv.gz", "--to", "lcov"], "give -o a name without .gz"), ([], "no format to export to")):
            done = subprocess.run([STROBE, "export", *words, self.path], cwd=self.folder.name, stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)

    def test_the_newest_is_shown_and_reported(self):
        with open(self.path, "rb") as file:
            whole = file.read()
        with tempfile.TemporaryDirectory() as place:
            for number, name in enumerate(("strobe.b.1.db", "strobe.a.2.db", "x.db", ".hidden.db", "x.json", "empty.db", "other.db", "text.db")):
                with open(os.path.join(place, name), "wb") as file:
                    file.write({"empty.db": b"", "text.db": b"text, " * 100}.get(name, whole))
                if name == "other.db":
                    sqlite3.connect(os.path.join(place, name)).execute("PRAGMA application_id = 1")
                os.utime(os.path.join(place, name), (1000 + number, 1000 + number))
            done = subprocess.run([STROBE, "show", "--images"], cwd=place, capture_output=True, text=True, check=True)
            self.assertEqual(done.stderr, "strobe: reading x.db, the newest result in this directory\n")
            self.assertIn("libstrobe-stacks.so", done.stdout)
            done = subprocess.run([STROBE, "report"], cwd=place, stderr=subprocess.PIPE, text=True, check=False)
            self.assertIn("reading x.db", done.stderr)
            if done.returncode == 0:
                self.assertIn("strobe: wrote strobe.html: open it in a browser\n", done.stderr)
                self.assertTrue(os.path.exists(os.path.join(place, "strobe.html")))
                done = subprocess.run([STROBE, "report"], cwd=place, stderr=subprocess.PIPE, text=True, check=True)
                self.assertIn("strobe: wrote strobe.html in place of the earlier one: open it in a browser\n", done.stderr)

    def test_without_a_result_there_is_nothing_to_show_and_report(self):
        with tempfile.TemporaryDirectory() as place:
            for command, said in (("show", "no profile to show: strobe show FILE, or a stored profile or version; there is no result in this directory"),
                                  ("report", "nothing to report: strobe report FILE..., or strobe report --history NAME in a project with a store; "
                                   "there is no result in this directory")):
                done = subprocess.run([STROBE, command], cwd=place, capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", f"strobe: {said}\n"))
            self.assertEqual(os.listdir(place), [])

    def test_children_that_run_natively_are_counted(self):
        script = "/bin/true; /bin/true; (exit 0); exit 0"
        for options, said in ((["--sample-hz", "100"], "3 child processes ran natively and were not measured: --follow measures them, too"),
                              (["--follow"], None)):
            done = subprocess.run([STROBE, "run", *options, "-o", os.path.join(self.folder.name, "sh.db"), "--", "/bin/sh", "-c", script],
                                  stderr=subprocess.PIPE, text=True, check=True)
            if said:
                self.assertIn(said, done.stderr)
            else:
                self.assertNotIn("ran natively", done.stderr)

    def test_cpu_time_is_that_of_the_children_too(self):
        """Children that ran natively are in it, and the text says so."""
        burn = "import time\nwhile time.process_time() < 0.5: pass"
        path = os.path.join(self.folder.name, "children.db")
        subprocess.run([STROBE, "run", "-q", "-o", path, "--", "/bin/sh", "-c", '"$0" -S -E -c "$1"; exit 0', sys.executable, burn], check=True)
        run = json.loads(exported("show", "--format", "json", path))["run"]
        self.assertGreaterEqual(run["cpu_seconds"], 0.5)
        self.assertRegex(exported("show", path).decode(), r"\n  exited with 0 after \S+ m?s, CPU \S+ m?s \(with children\)")

    def test_flame_graph(self):
        path = os.path.join(self.folder.name, "x.svg")
        subprocess.run([STROBE, "plot", "flame", "-o", path, self.path], check=True)
        with open(path, encoding="utf-8") as file:
            self.assertIn("caller_of_three", file.read())

    def test_show_has_callers_and_callees(self):
        text = exported("show", "--func", "caller_of_three", self.path).decode()
        caller, callee = text.index("total %  caller"), text.index("total %  callee")
        samples = self.below("caller_of_three", "spin")
        self.assertIn(f"{samples:>9}", text[caller:callee])
        self.assertIn("main [shape]", text[caller:callee])
        self.assertIn("spin [libstrobe-stacks.so]", text[callee:])

    def test_show_has_the_stacks(self):
        text = exported("show", "--stacks", "--top", "0", self.path).decode()
        self.assertIn(f"call stacks of {self.result['samples']['stacks']} samples", text)
        self.assertIn("recursive (301 levels)", text)
        siblings = []  # the samples of the last row at each depth
        for samples, indent in re.findall(r"^ +[\d.]+ +[\d.]+ +([\d,]+)  ( *)\S", text, re.M):
            depth, samples = len(indent), int(samples.replace(",", ""))
            self.assertLessEqual(samples, siblings[depth] if depth < len(siblings) else samples, text)
            siblings[depth:] = [samples]
        self.assertGreater(len(siblings), 0)

    def test_the_page_has_them(self):
        page = os.path.join(self.folder.name, "x.html")
        done = subprocess.run([STROBE, "report", "-o", page, self.path], stderr=subprocess.PIPE, text=True, check=False)
        if "has no page" in done.stderr or "npm" in done.stderr:
            self.skipTest("this strobe was built without its page")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(page, encoding="utf-8") as file:
            self.assertIn('"counted":"samples"', file.read())

    def test_counted_contexts_are_not_mixed_with_samples(self):
        counted = os.path.join(self.folder.name, "counted.db")
        subprocess.run([STROBE, "paths", "-q", "-o", counted, "--", "true"], check=True)
        done = subprocess.run([STROBE, "plot", "flame", "-o", "-", self.path, counted], stderr=subprocess.PIPE, text=True, check=False)
        self.assertIn("has stacks of samples, and", done.stderr)
        done = subprocess.run([STROBE, "show", "--stacks", counted], stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("were counted, not sampled", done.stderr)


class Totals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.result, cls.parts = profile()
        cls.functions = {f["name"]: f for f in cls.result["functions"]}

    def share(self, name, *parts):
        """The function's is that of these parts of the program, or of the one of its name."""
        wanted = sum(self.parts[part] for part in parts or [name]) / sum(self.parts.values())
        self.assertAlmostEqual(self.functions[name]["total_share"], wanted, delta=SLACK, msg=name)

    def test_stacks_are_whole(self):
        samples = self.result["samples"]
        self.assertEqual(samples["stacks"], samples["program"])
        self.assertLessEqual(samples["stacks_cut"], samples["stacks"] // 50)

    def test_work_is_at_the_bottom(self):
        self.share("spin", *self.parts)
        self.assertGreater(self.functions["spin"]["self_share"], 0.9)

    def test_caller_without_work_of_its_own(self):
        self.share("caller_of_three")
        self.assertLess(self.functions["caller_of_three"]["self_share"], 0.01)

    def test_recursion_counts_once(self):
        self.share("recursive")
        self.assertEqual(self.functions["recursive"]["calls"], 301)

    def test_through_a_signal_handler(self):
        self.share("on_signal", "interrupted")
        self.share("interrupted")

    def test_callbacks_of_a_library(self):
        self.share("compare", "sorts")
        self.share("sorts")

    def test_library_without_frame_pointers(self):
        self.share("without_frame_pointer")

    def test_threads(self):
        self.share("thread")
        self.share("main", *(part for part in self.parts if part != "thread"))

    def test_without_samples_there_are_no_totals(self):
        for function in profile("--sample-hz", "0")[0]["functions"]:
            self.assertIsNone(function["total_share"])

    def test_without_samples_there_are_no_stacks_to_export(self):
        with tempfile.TemporaryDirectory() as place:
            subprocess.run([STROBE, "run", "-q", "--sample-hz", "0", "-o", "none.db", "--", "true"], cwd=place, check=True)
            for words in ("-o", "x.pb.gz"), ("-o", "x.folded"), ("--to", "speedscope", "-o", "x.speedscope"):
                done = subprocess.run([STROBE, "export", *words, "none.db"], cwd=place, capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stdout, done.stderr),
                                 (125, "", "strobe: none.db has no call stacks, because no sample was in the code of the program: it ended too soon, or --sample-hz was 0\n"), words)
            self.assertEqual(os.listdir(place), ["none.db"])


unittest.main(argv=sys.argv[:1])
