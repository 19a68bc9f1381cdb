#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of strobe annotate --features: tables of programs whose data is known.

usage: test_features.py STROBE PROGRAM...

The programs are programs/shapes.c and programs/classes.cc, compiled in several ways."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

STROBE = os.path.abspath(sys.argv[1])
PROGRAMS = [os.path.abspath(name) for name in sys.argv[2:]]
SHAPES = [name for name in PROGRAMS if "shapes" in name]
CLASSES = [name for name in PROGRAMS if "classes" in name]


class Features(unittest.TestCase):
    maxDiff = None

    def strobe(self, *words, code=0):
        done = subprocess.run([STROBE, "annotate", "--features", *words], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr if code else done.stdout

    def tables(self, program, names, *options):
        got = json.loads(self.strobe("--format", "json", "-I", "features-*", "-F", names, *options, program))
        self.assertEqual(got["strobe"], {"version": 1, "tool": "features"})
        return got["functions"]

    def table(self, program, name, *options):
        (table,) = self.tables(program, name, *options)
        return table

    def rows(self, table, globals_too=False):
        return [(f["name"], f["path"], f["kind"], f["origin"], f["how"]) for f in table["features"] if globals_too or f["origin"] != "global"]

    def places(self, table):
        return [(p["name"], p["place"]["registers"] or p["place"]["stack"], p["place"]["address"]) for p in table["parameters"]]


class Shapes(Features):
    def test_places(self):
        """The classes INTEGER, SSE and MEMORY of the System V ABI, and the address of a result."""
        wanted = {
            "integers": [("a", ["rdi"], False), ("b", ["rsi"], False), ("c", ["rdx"], False), ("d", ["rcx"], False), ("e", ["r8"], False),
                         ("f", ["r9"], False), ("g", 0, False), ("h", 8, False)],
            "floats": [("a", ["xmm0"], False), ("b", ["rdi"], False), ("c", ["xmm1"], False), ("d", ["xmm2"], False)],
            "structures": [("p", ["rdi"], False), ("w", 0, False), ("m", ["xmm0", "rsi"], False)],
            "hidden_result": [("a", ["rsi"], False), ("b", ["rdx"], False)],
        }
        for program in SHAPES:
            for name, places in wanted.items():
                table = self.table(program, name)
                got = [(n, 0 if place is None else place, address) for n, place, address in self.places(table)]
                self.assertEqual(got, places, program)

    def test_tables(self):
        value = ("number", "parameter", "value")
        member = ("number", "member", "value")
        wanted = {
            "structures": [("p_a", "p.a", *value), ("p_b", "p.b", *value), ("w_a", "w.a", *value), ("w_b", "w.b", *value),
                           ("w_c", "w.c", *value), ("m_x", "m.x", *value), ("m_y", "m.y", *value)],
            "categories": [("o", "o", "category", "parameter", "value"), ("p_null", "p == 0", "flag", "parameter", "null"),
                           ("p", "*p", "category", "member", "value")],
            "fields": [("b_null", "b == 0", "flag", "parameter", "null"), ("b_low", "b->low", *member), ("b_middle", "b->middle", *member),
                       ("b_high", "b->high", *member), ("b_far", "b->far", *member)],
            "follow": [("n_null", "n == 0", "flag", "parameter", "null"), ("n_value", "n->value", *member),
                       ("n_next_null", "n->next == 0", "flag", "member", "null"), ("n_name_null", "n->name == 0", "flag", "member", "null"),
                       ("n_name_length", "strlen(n->name)", "number", "member", "length")],
            "texts": [("s_null", "s == 0", "flag", "parameter", "null"), ("s_length", "strlen(s)", "number", "parameter", "length"),
                      ("n", "n", *value)],
            "ranges": [("r_null", "r == 0", "flag", "parameter", "null"), ("t_null", "t == 0", "flag", "parameter", "null"),
                       ("r_size", "r->end - r->begin", "number", "member", "difference"), ("r_anonymous", "r->anonymous", *member),
                       ("r_whole", "r->whole", *member), ("r_part", "r->part", *member),
                       ("t_count", "sizeof(*t) / sizeof(const unsigned int)", "number", "member", "count"), ("t_sum", "*t", "number", "member", "sum")],
        }
        for program in SHAPES:
            for name, rows in wanted.items():
                self.assertEqual(self.rows(self.table(program, name)), rows, program)
            table = self.table(program, "recursive")
            self.assertEqual(self.rows(table, True), [
                ("depth", "depth", *value), ("global_count", "global_count", "number", "global", "value"),
                ("table_count", "sizeof(table) / sizeof(unsigned int)", "number", "global", "count"), ("table_sum", "table", "number", "global", "sum")])
            self.assertEqual(self.table(program, "follow")["skipped"], [{"path": "n->next", "why": "its type already occurs on the path to it"}])

    def test_limits(self):
        table = self.table(SHAPES[0], "integers", "--max-features", "3")
        self.assertEqual([f["name"] for f in table["features"]], ["a", "b", "c"])
        self.assertEqual(table["left_out"], 5)
        table = self.table(SHAPES[0], "follow", "--depth", "1")
        self.assertIn({"path": "n->name", "why": "it is reached through more pointers than --depth allows"}, table["skipped"])
        self.assertNotIn("n_name_length", [f["name"] for f in table["features"]])

    def test_patterns(self):
        """Several functions, once each, by address; a file's functions."""
        for names in ("floats,f*", "f*", "floats,fields,follow"):
            got = [t["function"] for t in self.tables(SHAPES[0], names)]
            self.assertEqual(got, ["floats", "fields", "follow"])
        got = [t["function"] for t in self.tables(SHAPES[0], "@shapes.c")]
        self.assertEqual(got[:3] + got[-1:], ["integers", "floats", "structures", "main"])

    def test_text(self):
        text = self.strobe("-F", "texts", SHAPES[0])
        self.assertIn("  parameter 1: const char * s (rdi)\n", text)
        self.assertIn("  s_length      number  parameter  length  size_t  strlen(s)\n", text)


class Classes(Features):
    def test_objects(self):
        for program in CLASSES:
            rows = self.rows(self.table(program, "dynamic*"))
            self.assertEqual(rows, [("n", "n", "number", "parameter", "value"), ("b_class", "typeid(b)", "category", "parameter", "class"),
                                    ("b_weight", "b.weight", "number", "parameter", "value")])
            rows = self.rows(self.table(program, "Counter::work*"))
            self.assertEqual([(name, path) for name, path, *_ in rows], [
                ("n", "n"), ("this_class", "typeid(*this)"), ("this_weight", "this->weight"), ("this_shared", "this->shared"),
                ("this_left", "this->left"), ("this_count", "this->count"), ("this_flag", "this->flag")])

    def test_containers(self):
        for program in CLASSES:
            rows = {name: (path, how) for name, path, _, _, how in self.rows(self.table(program, "containers*"))}
            self.assertEqual(rows["v_size"], ("v._M_impl._M_finish - v._M_impl._M_start", "difference"))
            self.assertEqual(rows["v_capacity"], ("v._M_impl._M_end_of_storage - v._M_impl._M_start", "difference"))
            self.assertEqual(rows["l_size"], ("l._M_impl._M_node._M_size", "value"))
            self.assertEqual(rows["s_string_length"], ("s._M_string_length", "value"))
            self.assertEqual(rows["m_node_count"], ("m._M_t._M_impl._M_node_count", "value"))

    def test_places(self):
        for program in CLASSES:
            table = self.table(program, "handles*")
            self.assertEqual(self.places(table), [("h", ["rdi"], True), ("s", ["rsi"], False)])
            overloads = self.tables(program, "overloaded*")
            self.assertEqual([self.places(t) for t in overloads], [[("n", ["rsi"], False)], [("n", ["xmm0"], False)]])


class Variants(Features):
    """The same tables, whatever form the debug information has."""

    SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "shapes.c")
    NAMES = "integers,floats,structures,hidden_result,categories,fields,follow,texts,ranges,recursive"

    def plain(self, tables):
        """The parts that do not depend on the compiler: clang has other names of types."""
        return [(t["function"], self.rows(t), self.places(t)) for t in tables]

    def test_forms(self):
        wanted = self.plain(self.tables(SHAPES[0], self.NAMES))
        self.assertEqual(len(wanted), 10)
        commands = [("gcc", "-gdwarf-3", "-gstrict-dwarf"), ("gcc", "-gdwarf-4", "-O1"), ("gcc", "-gdwarf-5", "-gsplit-dwarf", "-gz", "-O2"),
                    ("clang", "-g", "-O2")]
        with tempfile.TemporaryDirectory(prefix="strobe-features-") as place:
            for compiler, *options in commands:
                if not shutil.which(compiler):
                    continue
                program = os.path.join(place, "features-variant")
                subprocess.run([compiler, "-w", *options, "-o", program, self.SOURCE], check=True, cwd=place)
                got = self.plain(self.tables(program, self.NAMES))
                for one, other in zip(sorted(got), sorted(wanted), strict=True):
                    rows = [(n, p.replace("unsigned int", "unsigned").replace("const unsigned", "unsigned"), *more) for n, p, *more in one[1]]
                    other_rows = [(n, p.replace("unsigned int", "unsigned").replace("const unsigned", "unsigned"), *more) for n, p, *more in other[1]]
                    self.assertEqual((one[0], rows, one[2]), (other[0], other_rows, other[2]), f"{compiler} {options}")

    def test_library(self):
        """Debian installs libraries without the bits to execute them."""
        with tempfile.TemporaryDirectory() as place:
            library = os.path.join(place, "features-library.so")
            subprocess.run([shutil.which("cc"), "-w", "-g", "-O1", "-shared", "-fPIC", "-o", library, self.SOURCE], check=True, cwd=place)
            os.chmod(library, 0o644)
            wanted, got = self.plain(self.tables(SHAPES[0], "integers")), self.plain(self.tables(library, "integers"))
            self.assertEqual(got[0][0], wanted[0][0])
            self.assertEqual(got[0][1], wanted[0][1])
            text = os.path.join(place, "text")
            with open(text, "w", encoding="utf-8") as file:
                file.write("no program")
            self.assertIn(f"{text}", self.strobe(text, code=125))


class Locks(Features):
    SOURCE = """
    #include <pthread.h>
    #include <semaphore.h>
    #include <threads.h>
    typedef struct { int threads; } pthread_pool_t;
    struct queue { pthread_mutex_t m; pthread_cond_t c; pthread_rwlock_t rw; sem_t s; pthread_barrier_t b; mtx_t x; pthread_pool_t pool; int n; };
    __attribute__((noinline)) int work(struct queue *q, pthread_mutex_t *m) { __asm__("" : : "r"(m)); return q->n; }
    int main(void) { static struct queue q; return work(&q, &q.m); }
    """

    def test_their_state_is_no_feature(self):
        """Other threads change it during the call, so that a law over it would be one of chance."""
        with tempfile.TemporaryDirectory(prefix="strobe-features-") as place:
            program = os.path.join(place, "features-locks")
            subprocess.run(["cc", "-g", "-O1", "-x", "c", "-", "-o", program], input=self.SOURCE, text=True, check=True)
            table = self.table(program, "work")
            self.assertEqual([f["path"] for f in table["features"]], ["q == 0", "m == 0", "q->pool.threads", "q->n"])
            self.assertEqual([(each["path"], each["why"]) for each in table["skipped"]],
                             [(path, "it is a lock, whose state other threads change") for path in ("q->m", "q->c", "q->rw", "q->s", "q->b", "q->x", "*m")])


class Many(Features):
    def test_processes(self):
        """Several processes print the functions of a large program, each part of them, in order."""
        source = "".join(f"__attribute__((noinline)) int f{i}(int a{i}) {{ return a{i} * {i}; }}\n" for i in range(2500)) + "int main(void) { return 0; }\n"
        with tempfile.TemporaryDirectory(prefix="strobe-features-") as place:
            program = os.path.join(place, "features-many")
            subprocess.run(["cc", "-g", "-O0", "-x", "c", "-", "-o", program], input=source, text=True, check=True)
            printed = self.strobe("-I", "features-*", "-F", "f*", program)
            self.assertEqual(re.findall(r"^(f\d+) \[", printed, re.M), [f"f{i}" for i in range(2500)])
            self.assertEqual(re.findall(r"^  parameter 1: int (a\d+) \(rdi\)", printed, re.M), [f"a{i}" for i in range(2500)])
            subprocess.run(["strip", "-g", program], check=True)
            self.assertIn("has no debug information of 'f*'", self.strobe("-I", "features-*", "-F", "f*", program, code=125))


class Refused(Features):
    def test_usage(self):
        message = self.strobe(code=2)
        self.assertEqual(message, "strobe: --features takes a program: strobe annotate --features [-F NAMES] PROGRAM\n")
        self.assertIn("--depth takes a number from 1 to 8, not '9'", self.strobe("--depth", "9", SHAPES[0], code=2))
        self.assertIn("cannot run /nonexistent/program", self.strobe("/nonexistent/program", code=127))

    def test_unknown(self):
        self.assertEqual(self.strobe("-F", "nosuch", SHAPES[0], code=125),
                         f"strobe: no function of '{SHAPES[0]}' or of its libraries is called 'nosuch': strobe trace --dry-run lists them\n")

    def test_inlined(self):
        for program in CLASSES[1:2]:
            self.assertEqual(self.strobe("-F", "vanishes", program, code=125),
                             "strobe: 'vanishes' cannot be measured, because the compiler has inlined it into its callers "
                             "(vanishes, into main): compile it with __attribute__((noinline)), or name a caller\n")

    def test_bare(self):
        """A program without debug information."""
        with tempfile.TemporaryDirectory(prefix="strobe-features-") as place:
            bare = os.path.join(place, "bare")
            shutil.copy(SHAPES[0], bare)
            subprocess.run(["strip", "-g", bare], check=True)
            self.assertEqual(self.strobe("-F", "integers", bare, code=125),
                             f"strobe: {bare} has no debug information of 'integers': compile it with -g, or install its package of debug files (-dbgsym)\n")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
