#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""strobe build-tool from outside: what compiles, what does not and with which words, and what is refused afterwards.

Every test runs with each C compiler that there is.
"""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

STROBE, INCLUDE = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
COMPILERS = [cc for cc in ("gcc", "clang") if shutil.which(cc)]

BARE = "#include <strobe/tool.h>\n"
HEAD = BARE + 'STROBE_COUNTER(n, "things");\n'
COUNT_BLOCKS = HEAD + """
static void
on_block(strobe_block *b)
{
	strobe_count(strobe_at(b), &n, 1);
}
STROBE_TOOL(mine, .help = "count blocks", .block = on_block);
"""


def on(event, kind, body, more=""):
    """A tool that does this at an event."""
    return HEAD + f"{more}\nstatic void on_it({kind} *x)\n{{\n\t{body}\n}}\nSTROBE_TOOL(mine, .help = \"\", .{event} = on_it);\n"


class Build(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory(prefix="strobe-build-")
        self.addCleanup(self.place.cleanup)

    def path(self, name):
        return os.path.join(self.place.name, name)

    def strobe(self, *arguments, cc=None, **environment):
        return subprocess.run([STROBE, *arguments], cwd=self.place.name, capture_output=True, text=True, timeout=120,
                              env=dict(os.environ, LC_ALL="C", **({"CC": cc} if cc else {}), **environment))

    def build(self, source, *arguments, cc="gcc"):
        with open(self.path("my.c"), "w", encoding="utf-8") as f:
            f.write(source)
        return self.strobe("build-tool", "-I", INCLUDE, "my.c", *arguments, cc=cc)

    def refused(self, source, *words):
        """The compiler passes on what it has to say, with these words, and strobe adds a line."""
        for cc in COMPILERS:
            done = self.build(source, cc=cc)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertRegex(done.stderr, r"(?m)^\S+\.[ch]:\d+:\d+: (fatal )?error: ")
            self.assertTrue(done.stderr.endswith(f"strobe: my.c does not compile ({cc} ended with 1)\n"), done.stderr)
            self.assertTrue(any(word in done.stderr for word in words), done.stderr)
            self.assertFalse(os.path.exists(self.path("my.tool")))

    def unusable(self, source, sentence, *arguments):
        for cc in COMPILERS:
            done = self.build(source, *arguments, cc=cc)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(f"strobe: {sentence}\n", done.stderr)
            self.assertFalse(os.path.exists(self.path("my.tool")))


class Good(Build):
    def test_says_what_it_is_and_costs(self):
        for cc in COMPILERS:
            done = self.build(COUNT_BLOCKS, cc=cc)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertRegex(done.stdout, r"""(?x)\A my\.tool:\ mine,\ count\ blocks\n
                \ \ events:\ block\n
                .*about:\n
                \s+count\s+\d+\.\d\ ns\ .*\n
                .*strobe\ run\ -t\ \./my\.tool\ --\ PROGRAM\n\Z""")

    def test_output_and_quiet(self):
        done = self.build(COUNT_BLOCKS, "-q", "-o", "other")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(sorted(os.listdir(self.place.name)), ["my.c", "other"])
        self.assertIn("mine: count blocks\n  events: block\n", self.strobe("tools", "./other").stdout)

    def test_freestanding_headers(self):
        for cc in COMPILERS:
            done = self.build("#include <limits.h>\n#include <stdarg.h>\n#include <stdbool.h>\n#include <stddef.h>\n"
                              "#include <stdint.h>\n_Static_assert(INT_MAX > 0, \"\");\n" + COUNT_BLOCKS, cc=cc)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_compilers_own_calls(self):
        """What compilers make of structures and loops: memcpy and memset, which the runtime has."""
        source = BARE + """
struct large { char bytes[4000]; } a, b;
static void begin(void) { a = b; __builtin_memset(&b, 7, sizeof b); }
STROBE_TOOL(mine, .begin = begin);
"""
        for cc in COMPILERS:
            done = self.build(source, cc=cc)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("asks for no action", done.stdout)

    def test_options_are_shown(self):
        self.build(BARE + 'STROBE_TOOL(mine, .help = "h", .options = {{"size", "32k", "bytes"}, {"out", "", "a file"}});')
        self.assertEqual(self.strobe("tools", "my.tool").stdout,
                         "mine: h\n  events: none\n  options, as in -t mine:size=...:\n"
                         "    size          bytes (default: 32k)\n    out           a file (default: none)\n")

    def test_options_have_limits(self):
        self.build(BARE + 'STROBE_TOOL(mine, .help = "h", .options = {{"size", "32k", "bytes"}}, .limits = {{"size", 1, 3 << 20}});')
        self.assertIn("\n    size          bytes (from 1 to 3M, default: 32k)\n", self.strobe("tools", "my.tool").stdout)
        option = json.loads(self.strobe("tools", "my.tool", "--format", "json").stdout)["tools"][0]["options"][0]
        self.assertEqual(option, {"name": "size", "default": "32k", "help": "bytes", "least": 1, "most": 3 << 20})
        done = self.strobe("run", "-t", "./my.tool:size=4M", "--", "true")
        self.assertEqual((done.returncode, done.stderr),
                         (125, "strobe: option size of tool mine takes a number from 1 to 3M, not '4M'\n"))

    def test_results_are_listed(self):
        """In the order of the source; but not a stream that the tool consumes, and what a line declares that it does not use."""
        source = BARE + """
STROBE_COUNTER(last, "of two");
STROBE_COUNTER(first, "not by name");
STROBE_TABLE(lines, "by line", STROBE_KEY("line", STROBE_LINE), STROBE_SUM("count", STROBE_NUMBER), STROBE_MAX("most", STROBE_TICKS));
static void take(strobe_thread *t, const strobe_rows *rows) { (void)t; (void)rows; }
STROBE_STREAM(own, "consumed", take, STROBE_COLUMN("x", STROBE_HEX));
STROBE_LOSSY_STREAM(kept, "rows", NULL, STROBE_COLUMN("address", STROBE_HEX), STROBE_COLUMN("by", STROBE_ADDRESS));
static void on_access(strobe_access *a) { strobe_record(strobe_at(a), &own, strobe_access_address(a)); }
STROBE_TOOL(mine, .help = "h", .access = on_access);
"""
        for cc in COMPILERS:
            self.assertEqual(self.build(source, cc=cc).returncode, 0)
            self.assertEqual(self.strobe("tools", "my.tool").stdout,
                             "mine: h\n  events: access\n  counters:\n    last          of two\n    first         not by name\n"
                             "  tables:\n    lines         by line\n                  line, count, most (ns)\n"
                             "  streams:\n    kept          rows\n                  address (hex), by (address)\n")
            tool = json.loads(self.strobe("tools", "my.tool", "--format", "json").stdout)["tools"][0]
            self.assertEqual(tool["counters"], [{"name": "last", "help": "of two"}, {"name": "first", "help": "not by name"}])
            self.assertEqual(tool["tables"], [{"name": "lines", "help": "by line", "columns": [
                {"name": "line", "type": "line", "role": "key"}, {"name": "count", "type": "number", "role": "sum"},
                {"name": "most", "type": "ns", "role": "max"}]}])
            self.assertEqual([s["name"] for s in tool["streams"]], ["kept"])

    def test_long_rows(self):
        """Rows of the most columns, of every kind, are as many as short ones at the same places."""
        columns = ", ".join(f'STROBE_COLUMN("c{i}", STROBE_HEX)' for i in range(10))
        places = {"each": "strobe_at(x)", "some": "strobe_when(strobe_at(x), strobe_access_value(x), STROBE_ABOVE, strobe_constant(3))"}
        kinds = ("strobe_constant(0x123456789abcdefull)", "strobe_access_value(x)", "strobe_timestamp()")
        for kind in kinds:
            declared = "".join(f'STROBE_STREAM({name}, "short", NULL, STROBE_COLUMN("c", STROBE_HEX));\nSTROBE_STREAM({name}_long, "long", NULL, {columns});\n'
                               for name in places)
            body = "".join(f"strobe_record({at}, &{name}, strobe_constant(1)); strobe_record({at}, &{name}_long, {', '.join([kind] * 10)});\n\t"
                           for name, at in places.items())
            built = self.build(BARE + declared + f"static void on_it(strobe_access *x)\n{{\n\t{body}}}\nSTROBE_TOOL(mine, .help = \"\", .access = on_it);\n")
            self.assertEqual((built.returncode, built.stderr), (0, ""), built.stdout)
            ran = self.strobe("run", "-q", "-t", "./my.tool", "-o", "p.db", "--", "/bin/true")
            self.assertEqual((ran.returncode, ran.stderr), (0, ""))
            rows = {name: self.strobe("show", "p.db", "--rows", name, "--format", "csv").stdout.count("\n") - 1
                    for place in places for name in (place, place + "_long")}
            self.assertGreater(rows["each"], rows["some"])
            self.assertGreater(rows["some"], 1000)
            self.assertEqual((rows["each_long"], rows["some_long"]), (rows["each"], rows["some"]), kind)

    def test_too_much_for_a_piece(self):
        """The program goes on without the tool, and it is said."""
        columns = ", ".join(f'STROBE_COLUMN("c{i}", STROBE_HEX)' for i in range(10))
        row = f"strobe_record(strobe_at(x), &rows, {', '.join(['strobe_timestamp()'] * 10)});"
        built = self.build(BARE + f'STROBE_STREAM(rows, "rows", NULL, {columns});\nstatic void on_it(strobe_insn *x)\n{{\n\t{row * 12}\n}}\n'
                           'STROBE_TOOL(mine, .help = "", .insn = on_it);\n')
        self.assertEqual((built.returncode, built.stderr), (0, ""), built.stdout)
        ran = self.strobe("run", "-q", "-t", "./my.tool", "-o", "p.db", "--", "/bin/echo", "done")
        self.assertEqual((ran.returncode, ran.stdout), (0, "done\n"))
        self.assertRegex(ran.stderr, r"^strobe: a tool was left out: it wants too much at [0-9a-f]{16}\n$")

    def test_unused_counters(self):
        """They are 0; the name is the first tool's that declares it, used or not."""
        self.build(HEAD + 'STROBE_TOOL(idle, .help = "h");', "-o", "idle.tool")
        self.build(COUNT_BLOCKS)
        self.strobe("run", "-q", "-t", "./idle.tool", "-t", "./my.tool", "--format", "json", "-o", "out.json", "--", "/bin/true")
        with open(self.path("out.json"), encoding="utf-8") as f:
            result = json.load(f)
        self.assertEqual(result["n"], 0)
        self.assertGreater(result["mine_n"], 1000)


class Wrong(Build):
    """What the header promises not to compile."""
    def test_operand_of_another_event(self):
        self.refused(on("branch", "strobe_branch", "strobe_add(strobe_at(x), &n, strobe_access_address(x));"),
                     "incompatible pointer type", "incompatible-pointer-types")
        self.refused(on("access", "strobe_access", "strobe_add(strobe_at(x), &n, strobe_branch_taken(x));"),
                     "incompatible pointer type", "incompatible-pointer-types")
        self.refused(on("block", "strobe_block", "strobe_add(strobe_at(x), &n, strobe_function_argument(x, 0));"),
                     "incompatible pointer type", "incompatible-pointer-types")
        self.refused(on("call", "strobe_call", "strobe_count(strobe_when_taken(x), &n, 1);"),
                     "incompatible pointer type", "incompatible-pointer-types")
        self.refused(on("function", "strobe_function", "strobe_add(strobe_at(x), &n, strobe_call_argument(x, 0));"),
                     "incompatible pointer type", "incompatible-pointer-types")

    def test_point_of_no_event(self):
        self.refused(on("block", "strobe_block", "strobe_count(strobe_at(&n), &n, 1);"), "_Generic")
        self.refused(on("block", "strobe_block", "strobe_count(strobe_at_return(x), &n, 1); (void)x;"),
                     "incompatible pointer type", "incompatible-pointer-types")

    def test_value_for_an_operand(self):
        self.refused(on("block", "strobe_block", "strobe_add(strobe_at(x), &n, 7);"), "strobe_operand")
        self.refused(on("block", "strobe_block", "strobe_when(strobe_at(x), 1, STROBE_EQUAL, 1);"), "strobe_operand")

    def test_count_into_no_counter(self):
        self.refused(on("block", "strobe_block", "strobe_count(strobe_at(x), n, 1);"), "_Generic")
        self.refused(on("block", "strobe_block", "long m; strobe_count(strobe_at(x), &m, 1);"), "_Generic")

    def test_event_function_of_another_event(self):
        self.refused(BARE + 'static void f(strobe_insn *i) { (void)i; }\nSTROBE_TOOL(mine, .block = f);\n',
                     "incompatible pointer type", "incompatible-pointer-types", "incompatible function pointer")

    def test_called_function_of_another_form(self):
        self.refused(on("block", "strobe_block", "strobe_invoke(strobe_at(x), f, strobe_constant(1));",
                        "static void f(uint64_t a) { (void)a; }"),
                     "incompatible pointer type", "incompatible-pointer-types", "incompatible function pointer")

    def test_row_into_a_table(self):
        self.refused(on("block", "strobe_block", "strobe_record(strobe_at(x), &t, strobe_constant(1));",
                        'STROBE_TABLE(t, "", STROBE_KEY("k", STROBE_NUMBER));'),
                     "incompatible pointer type", "incompatible-pointer-types")

    def test_unknown_event_and_function(self):
        self.refused(BARE + "STROBE_TOOL(mine, .blocks = 0);\n", "blocks")
        self.refused(on("block", "strobe_block", "strobe_cuont(strobe_at(x), &n, 1);"), "strobe_cuont")

    def test_headers_of_the_c_library(self):
        self.refused("#include <stdio.h>\n" + COUNT_BLOCKS, "stdio.h")

    def test_floating_point(self):
        done = self.build(BARE + "double d; static void begin(void) { d = d * 1.5; }\nSTROBE_TOOL(mine, .begin = begin);\n",
                          cc="gcc")
        self.assertEqual(done.returncode, 2)
        self.assertIn("SSE", done.stderr)


class Unusable(Build):
    """What compiles, but is no tool."""
    def test_functions_that_nobody_has(self):
        self.unusable(BARE + "int printf(const char *, ...); void *malloc(size_t);\n"
                      'static void begin(void) { printf("%p", malloc(1)); }\nSTROBE_TOOL(mine, .begin = begin);\n',
                      "the tool my.tool uses printf, malloc, which strobe does not have; a tool has no library but "
                      "<strobe/tool.h>")

    def test_no_tool_in_it(self):
        self.unusable(BARE, "my.tool is not a tool: there is no STROBE_TOOL in it")

    def test_thread_local(self):
        self.unusable(BARE + "__thread int x; static void begin(void) { x++; }\nSTROBE_TOOL(mine, .begin = begin);\n",
                      "the tool my.tool has thread-local variables; memory for each thread is .state and strobe_state()")

    def test_constructor(self):
        self.unusable(COUNT_BLOCKS + "__attribute__((constructor)) static void f(void) { __asm__ volatile(\"nop\"); }\n",
                      "the tool my.tool has constructors, which nobody would run; rebuild it with strobe build-tool")

    def test_assembly(self):
        self.unusable(BARE + 'static void begin(void) { __asm__ volatile("pxor %xmm3, %xmm3"); }\n'
                      "STROBE_TOOL(mine, .begin = begin);\n",
                      "the tool my.tool uses floating-point or vector registers, in begin+0x0; a tool must not")
        self.unusable(BARE + 'static void begin(void) { __asm__ volatile("nop; syscall"); }\n'
                      "STROBE_TOOL(mine, .begin = begin);\n",
                      "the tool my.tool does a system call of its own, in begin+0x1; a tool must not")

    def test_too_large(self):
        self.unusable(BARE + "char big[3 << 20]; static void begin(void) { big[7]++; }\nSTROBE_TOOL(mine, .begin = begin);\n",
                      "the tool my.tool needs more than 2 MiB; use strobe_allocate for what is large")

    def test_another_version(self):
        self.unusable("#include <strobe/tool.h>\n#undef STROBE_ABI\n#define STROBE_ABI 1\nSTROBE_TOOL(mine, .help = \"\");\n",
                      "the tool my.tool was built for version 1 of the tool API, this strobe has version 9: rebuild it with "
                      "strobe build-tool")

    def test_limits_of_no_option(self):
        self.unusable('#include <strobe/tool.h>\nSTROBE_TOOL(mine, .options = {{"a", "0", ""}}, .limits = {{"b", 0, 1}});\n',
                      "the tool my.tool has limits for 'b', which is none of its options")

    def test_names(self):
        self.unusable('#include <strobe/tool.h>\nSTROBE_TOOL(mine, .options = {{"a b", "", ""}});\n',
                      "the tool my.tool is damaged: its description is not readable; rebuild it with strobe build-tool")


class Files(Build):
    def said(self, sentence, *arguments):
        done = self.strobe(*arguments)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", f"strobe: {sentence}\n"))

    def test_no_source(self):
        self.said("no tool to build: strobe build-tool FILE.c", "build-tool")
        self.said("cannot read the tool's source no.c: No such file or directory", "build-tool", "no.c")
        self.build(COUNT_BLOCKS)
        self.said("a tool is one C file: 'my.c' is given already, and 'b.c' is one too many", "build-tool", "my.c", "b.c")

    def test_no_compiler(self):
        done = self.build(COUNT_BLOCKS, cc="no-such-cc")
        self.assertEqual((done.returncode, done.stderr), (2, "strobe: cannot run the compiler no-such-cc\n"))
        done = self.build(COUNT_BLOCKS, cc="false")
        self.assertEqual(done.returncode, 2)
        done = self.strobe("build-tool", "my.c", cc="", PATH="/nonexistent")
        self.assertEqual(done.stderr, "strobe: no C compiler: install gcc or clang, or name one in CC\n")

    def test_not_a_tool(self):
        self.build(COUNT_BLOCKS)
        self.said("my.c is a tool's source; build it first: strobe build-tool my.c", "tools", "my.c")
        self.said("cannot read the tool no.tool: No such file or directory", "tools", "no.tool")
        self.said(f"cannot read the tool {self.place.name}: it is no plain file", "tools", self.place.name)
        self.said("/bin/sh is not a tool: there is no STROBE_TOOL in it", "tools", "/bin/sh")
        with open(self.path("text.tool"), "w", encoding="utf-8") as f:
            f.write("no")
        self.said("text.tool is not a tool; strobe build-tool makes one from C", "tools", "text.tool")

    def change(self, name, at, form, value):
        with open(self.path("my.tool"), "rb") as f:
            data = bytearray(f.read())
        struct.pack_into(form, data, at, value)
        with open(self.path(name), "wb") as f:
            f.write(data)

    def test_damaged(self):
        self.build(COUNT_BLOCKS)
        self.change("arm.tool", 18, "<H", 183)
        self.said("the tool arm.tool is not for 64-bit x86; rebuild it with strobe build-tool", "tools", "arm.tool")
        self.change("far.tool", 32, "<Q", 1 << 40)
        self.said("the tool far.tool is damaged: its program headers are cut off; rebuild it with strobe build-tool",
                  "tools", "far.tool")
        with open(self.path("my.tool"), "rb") as f, open(self.path("cut.tool"), "wb") as g:
            g.write(f.read(6000))
        self.said("the tool cut.tool is damaged: a part of it is cut off; rebuild it with strobe build-tool",
                  "tools", "cut.tool")


if __name__ == "__main__":
    unittest.main()
