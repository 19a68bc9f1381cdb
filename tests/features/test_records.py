#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of strobe annotate -o, with programs that write the arguments of their functions.

usage: test_records.py STROBE EXITS PROGRAM...

EXITS is programs/exits.c; the programs are programs/shapes.c and programs/classes.cc, compiled in several ways."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import records

STROBE, EXITS = [os.path.abspath(name) for name in sys.argv[1:3]]
PROGRAMS = [os.path.abspath(name) for name in sys.argv[3:]]
SHAPES = [name for name in PROGRAMS if "shapes" in name]
CLASSES = [name for name in PROGRAMS if "classes" in name]
ROUNDS = 8


class Records(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-records-")
        self.addCleanup(folder.cleanup)
        self.at = folder.name

    def strobe(self, *words, code=0):
        done = subprocess.run([STROBE, "annotate", *map(str, words)], capture_output=True, text=True, timeout=120, cwd=self.at, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def record(self, names, *command, options=(), code=0):
        """The functions, and the lines that the program has written, by their first words."""
        done = self.strobe("-q", *options, "-F", names, "-o", "r.txt", "--", *command, code=code)
        self.assertEqual(done.stderr, "")
        plain = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.stdout, plain.stdout)
        log = {}
        for line in done.stdout.splitlines():
            name, *values = line.split(" ")
            log.setdefault(name, []).append(values)
        functions, notes = records.read(os.path.join(self.at, "r.txt"))
        return functions, log, notes


def numbers(lines):
    return [tuple(map(records.number, line)) for line in lines]


class Shapes(Records):
    def test_truth(self):
        plain = {
            "integers": "abcdefgh",
            "floats": "abcd",
            "structures": ("p_a", "p_b", "w_a", "w_b", "w_c", "m_x", "m_y"),
            "hidden_result": "ab",
            "fields": ("b_low", "b_middle", "b_high", "b_far"),
            "texts": ("s_length", "n"),
            "ranges": ("r_size", "r_anonymous", "r_whole", "t_sum"),
            "changes": ("p", "n"),
            "recursive": ("depth",),
        }
        for program in SHAPES:
            functions, log, notes = self.record(",".join([*plain, "categories", "follow", "wild"]), program, ROUNDS, options=("-I", "features-*"))
            self.assertEqual(notes, [])
            for name, columns in plain.items():
                f = functions[name]
                self.assertEqual(f.columns(*columns), numbers(log[name]), f"{name} of {program}")
                self.assertEqual(f.calls, (len(log[name]), len(log[name]), 0))
                self.assertEqual(f.metrics, [("time", "ns")])
                self.assertEqual((f.image, len(f.rows)), (program, len(log[name])))
            names = {0: "ascending", 7: "descending", -3: "other"}
            wanted = [(names[o], names.get(p, str(p))) for o, p in numbers(log["categories"])]
            self.assertEqual(functions["categories"].columns("o", "p"), wanted)
            rounds = [(0, n, 0, int(name == "-"), None if name == "-" else len(name)) for n, name in log["follow"] if n != "-1"]
            rounds = [(null, int(n), following, unnamed, length) for null, n, following, unnamed, length in rounds]
            rounds[1] = (*rounds[1][:4], 1)
            rounds.insert(3, (1, None, None, None, None))
            self.assertEqual(functions["follow"].columns("n_null", "n_value", "n_next_null", "n_name_null", "n_name_length"), rounds)

    def test_globals(self):
        for program in SHAPES:
            f = self.record("texts", program, ROUNDS, options=("-I", "features-*"))[0]["texts"]
            wanted = [(70 + i * (i - 1) // 2, 20, 39740) for i in range(ROUNDS)]
            self.assertEqual(f.columns("global_count", "table_count", "table_sum"), wanted)

    def test_wild_pointers(self):
        """Pointers to null, to a low address, across and at the end of the last page, and to no address: no fault, and an absent value is not 0."""
        for program in SHAPES:
            f = self.record("wild", program, ROUNDS, options=("-I", "features-*"))[0]["wild"]
            xxxx = int.from_bytes(b"xxxx", "little")
            self.assertEqual(f.columns("p_null", "p"), [(1, None), (0, None), (0, None), (0, xxxx)] + [(0, None)] * (ROUNDS - 4))


class Classes(Records):
    def test_truth(self):
        for program in CLASSES:
            functions, log, notes = self.record("dynamic*,Counter::work*,containers*,handles*,overloaded*,throws*", program, ROUNDS,
                                                options=("-I", "features-*"))
            self.assertEqual(notes, [])
            by = {name.split("(")[0].split("[")[0] + ("(" + name.split("(")[1] if "overloaded" in name else ""): f for name, f in functions.items()}
            self.assertEqual(by["dynamic"].columns("b_weight", "n"), numbers(log["dynamic"]))
            self.assertEqual(by["dynamic"].columns("b_class"), [("Linear" if i % 2 else "Square",) for i in range(ROUNDS)])
            self.assertEqual(by["Counter::work"].columns("this_count", "this_flag", "n", "this_shared", "this_left"), numbers(log["Counter::work"]))
            self.assertEqual(by["Counter::work"].columns("this_class"), [("Counter",)] * ROUNDS)
            columns = ("v_size", "l_size", "s_string_length", "m_node_count")
            self.assertEqual(by["containers"].columns(*columns), numbers(log["containers"]))
            self.assertEqual(by["containers"].columns("v_capacity"), [(2 * i + 1,) for i in range(ROUNDS)])
            self.assertEqual(by["handles"].columns("h_id", "s_a"), numbers(log["handles"]))
            self.assertEqual(by["overloaded(int)"].columns("n"), numbers(log["overloaded(int)"]))
            self.assertEqual(by["overloaded(double)"].columns("n"), numbers(log["overloaded(double)"]))
            # Calls that end by an exception have no record.
            self.assertEqual(by["throws"].calls, (ROUNDS, ROUNDS // 2, ROUNDS // 2))
            self.assertEqual(by["throws"].columns("n"), [(i,) for i in range(0, ROUNDS, 2)])


class Exits(Records):
    def test_longjmp(self):
        """Three of ten calls end by longjmp."""
        functions, _, _ = self.record("leaves", EXITS)
        f = functions["leaves"]
        self.assertEqual(f.calls, (10, 7, 3))
        self.assertEqual(f.columns("n"), [(n,) for n in range(10) if n not in (2, 5, 8)])

    def test_threads(self):
        """Two hundred threads, and ten thousand nested calls."""
        functions, _, _ = self.record("in_thread,deep", EXITS, "threads")
        self.assertEqual(sorted(functions["in_thread"].columns("argument")), [(n,) for n in range(200)])
        self.assertEqual(functions["deep"].calls, (10001, 10000, 0))
        self.assertEqual(len(functions["deep"].rows), 10000)
        # What ten thousand records took is subtracted from the outermost call; the cost of one is known to some ns only.
        times = functions["deep"].columns("time", "n")
        self.assertGreater(times[0][0], -10000 * 50)

    def test_children(self):
        """A child of fork runs on and is not recorded."""
        functions, log, _ = self.record("forked", EXITS, "fork")
        self.assertEqual(functions["forked"].columns("n"), [(1,), (3,)])
        self.assertEqual(numbers(log["forked"]), [(1,), (2,), (3,)])

    def test_reservoir(self):
        """--keep limits the records, which are in the order of the calls; the same seed keeps the same calls."""
        def kept(name, *options):
            f = self.record(name, EXITS, "calls", options=("-k", "100", *options))[0][name]
            self.assertEqual(f.calls, (3000, 100, 0))
            values = [n for (n,) in f.columns("n")]
            self.assertEqual(values, sorted(set(values), reverse=name == "deep"))
            return values
        first = kept("ends")
        self.assertEqual(kept("ends"), first)
        self.assertNotEqual(kept("ends", "--seed", "7"), first)
        # The choice depends on the seed alone: each tenth of the calls has about a tenth of the records.
        tenths = [sum(n // 300 == tenth for n in first) for tenth in range(10)]
        self.assertLess(max(tenths), 25)
        self.assertGreater(min(tenths), 1)
        kept("deep")

    def test_exit_code(self):
        functions, _, _ = self.record("ends", EXITS, "code", code=7)
        self.assertEqual(functions["ends"].columns("n"), [(7,)])


class Refused(Records):
    def refused(self, message, *words, code=125):
        self.assertEqual(self.strobe(*words, code=code).stderr, f"strobe: {message}\n")
        self.assertEqual(os.listdir(self.at), [])

    def test_usage(self):
        self.refused("no records given: strobe annotate FILE... analyses records of calls; strobe annotate -o FILE [-F NAMES] -- PROGRAM makes them",
                     "-o", "r.txt", code=2)
        self.refused("standard output belongs to the program: give -o the name of a file", "-o", "-", "--", EXITS, code=125)
        self.refused("--keep is for recording: strobe annotate -o FILE -- PROGRAM", "-k", "5", "r.txt", code=2)
        self.refused("--features does not run the program: leave out --features or --keep", "--features", "-k", "5", EXITS, code=2)
        self.refused("records are written as text: leave out --format", "-o", "r.txt", "--format", "json", "--", EXITS, code=125)
        self.refused("--keep takes a number from 1 to 1000000, not '0'", "-k", "0", "-o", "r.txt", "--", EXITS, code=125)
        message = self.strobe("-m", "time,colour", "-o", "r.txt", "--", EXITS, code=125).stderr
        self.assertTrue(message.startswith("strobe: --metrics takes a list of time, cpu, allocated, "), message)
        self.assertTrue(message.endswith(", not 'colour'\n"), message)
        self.refused("cannot write the result to /nonexistent/r.txt: No such file or directory; name another place with -o", "-o", "/nonexistent/r.txt", "--", EXITS)

    def test_nothing(self):
        self.refused(f"no function of '{EXITS}' or of its libraries is called 'nosuch': strobe trace --dry-run lists them",
                     "-F", "nosuch", "-o", "r.txt", "--", EXITS)
        for words in ("-F", "in_thread,nosuch"), ("-F", "in_thread", "-F", "nosuch"), ("-q", "-F", "nosuch,in_thread"):
            done = self.strobe(*words, "-o", "r.txt", "--", EXITS, "threads")
            self.assertIn("strobe: --func nosuch: no function of that name was loaded\n", done.stderr)
            self.assertNotIn("--func in_thread", done.stderr)
            os.unlink(os.path.join(self.at, "r.txt"))
        self.refused("nothing was recorded, because the program did not call in_thread: give it an input for which it does",
                     "-F", "in_thread", "-o", "r.txt", "--", EXITS)
        self.refused("nothing was recorded: 1 call of the chosen functions began, and none returned",
                     "-F", "never_returns", "-o", "r.txt", "--", EXITS, "exit")
        self.refused("'vanishes' cannot be measured, because the compiler has inlined it into its callers (vanishes, into main): "
                     "compile it with __attribute__((noinline)), or name a caller", "-F", "vanishes", "-o", "r.txt", "--", CLASSES[0])

    def test_failed_program(self):
        """A program that fails before it calls the functions has its own exit code, and the message says how it ended."""
        for options in ((), ("-m", "instructions")):
            for mode, code, end in (("fault", 128 + 11, "was ended by SIGSEGV (Segmentation fault)"), ("abort", 128 + 6, "was ended by SIGABRT (Aborted)"),
                                    ("early", 3, "exited with code 3")):
                self.refused(f"nothing was recorded, because the program {end} and did not call ends: check whether it also fails without strobe",
                             *options, "-F", "ends", "-o", "r.txt", "--", EXITS, mode, code=code)
            self.refused("nothing was recorded, because the program exited with code 5: 1 call of the chosen functions began, and none returned",
                         *options, "-F", "never_returns", "-o", "r.txt", "--", EXITS, "exit", "5", code=5)

    def test_the_program_is_not_replaced(self):
        """Neither the program nor a file that it is given."""
        program = os.path.join(self.at, "program")
        shutil.copy(EXITS, program)
        self.assertEqual(self.strobe("-F", "ends", "-o", program, "--", program, code=125).stderr,
                         f"strobe: {program} is a program, which a result would replace: give -o another file\n")
        with open(program, "rb") as file, open(EXITS, "rb") as source:
            self.assertEqual(file.read(), source.read())
        os.remove(program)
        with open(os.path.join(self.at, "input"), "w", encoding="utf-8") as file:
            file.write("kept")
        self.assertEqual(self.strobe("-F", "ends", "-o", "input", "--", EXITS, "./input", code=125).stderr,
                         "strobe: the records would replace ./input, an argument of the program: give -o another file\n")
        with open(os.path.join(self.at, "input"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "kept")

    def test_an_earlier_file_is_kept(self):
        """A recording that fails leaves the file of an earlier one as it is."""
        path = os.path.join(self.at, "r.txt")
        with open(path, "w", encoding="utf-8") as file:
            file.write("earlier")
        for options in ((), ("-m", "instructions")):
            for words, code in ((("-F", "nosuch", "-o", path, "--", EXITS), 125), (("-F", "in_thread", "-o", path, "--", EXITS), 125),
                                (("-o", path, "--", "./no-such-program"), 127)):
                self.strobe(*options, *words, code=code)
                with open(path, encoding="utf-8") as file:
                    self.assertEqual(file.read(), "earlier")
        self.assertEqual(os.listdir(self.at), ["r.txt"])

    def test_full_disk(self):
        """The run cannot be repeated: its records are saved elsewhere."""
        for options in ((), ("-m", "instructions")):
            done = subprocess.run([STROBE, "annotate", *options, "-F", "ends", "-o", "/dev/full", "--", EXITS, "calls"], capture_output=True, text=True,
                                  timeout=120, cwd=self.at, check=False, env=dict(os.environ, TMPDIR=self.at))
            self.assertEqual(done.returncode, 125)
            head, path = done.stderr.rstrip("\n").split("; the records were saved in ")
            self.assertEqual(head, "strobe: cannot write the result to /dev/full: No space left on device; make room there or name another place with -o")
            self.assertEqual(os.path.dirname(path), self.at)
            functions, _ = records.read(path)
            self.assertEqual(functions["ends"].calls, (3000, 3000, 0))

    def test_killed_program(self):
        """The calls before a kill are records, and counted."""
        for options in ((), ("-m", "instructions")):
            self.strobe("-q", *options, "-F", "ends", "-o", "r.txt", "--", EXITS, "kill", code=128 + 9)
            functions, _ = records.read(os.path.join(self.at, "r.txt"))
            self.assertEqual(functions["ends"].calls, (100, 100, 0))

    def test_kept_pipe(self):
        """A file that is not a regular one, such as /dev/null, is not removed after an error."""
        pipe = os.path.join(self.at, "pipe")
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        self.strobe("-F", "nosuch", "-o", pipe, "--", EXITS, code=125)
        self.assertTrue(os.path.exists(pipe))

    def test_notes(self):
        """A function that was not called is noted beside one that was."""
        _, _, notes = self.record("leaves,in_thread", EXITS)
        self.assertEqual(notes, [f"in_thread of {EXITS} was not called"])

    def test_bare(self):
        """Without debug information, the argument registers are recorded."""
        bare = os.path.join(self.at, "bare")
        subprocess.run(["strip", "-g", "-o", bare, SHAPES[1]], check=True)
        functions, log, notes = self.record("integers", bare, ROUNDS)
        self.assertEqual([f["name"] for f in functions["integers"].features], ["rdi", "rsi", "rdx", "rcx", "r8", "r9"])
        self.assertEqual([f for (f,) in functions["integers"].columns("r9")], [row[5] for row in numbers(log["integers"])])
        self.assertEqual(notes, [f"{bare} has no debug information of integers: the features of the function are the registers of its arguments, and of "
                                 "those that hold addresses only whether they are null; compile it with -g, or install its package of debug files (-dbgsym)"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *[word for word in os.environ.get("STROBE_TEST_NAMES", "").split() if word]])
