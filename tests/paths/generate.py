#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random programs of many small functions that write down their own calls (random/trace.c). Only functions named f_* are in the trace.

usage: generate.py SEED FOLDER   writes and builds one, and prints what it is made of."""

import random
import struct
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FEATURES = ("pointers", "landings", "exceptions", "tails", "sort", "library", "signals", "areas", "coroutines")
EVENTS = ("enter", "tail", "back", "switch")


class Function:
    """One function's text. Callees are any function of the program but those that only one caller may have."""

    def __init__(self, program, number):
        self.program, self.number, self.dice = program, number, program.dice
        self.features = program.features
        self.guarded = number in program.guarded
        self.lands = "landings" in self.features and self.chance(.3)
        self.catches = "exceptions" in self.features and self.chance(.4)
        self.tails = "tails" in self.features and not self.guarded and not self.lands and not self.catches and self.chance(.5)

    def chance(self, p):
        return self.dice.random() < p

    def callee(self):
        return self.dice.choice(self.program.callees)

    def table(self, without=None):
        names = [f"f_{n}" for n in self.dice.sample(self.program.callees, min(5, len(self.program.callees))) if n != without]
        return f"table_{self.program.new_table(names)}[trace_pick({len(names)})](depth - 1)"

    def actions(self):
        calls = [f"sum += f_{self.callee()}(depth - 1);" for _ in range(self.dice.randint(1, 4))]
        more = {"pointers": [f"sum += {self.table()};", f"sum += call_pointer(f_{self.callee()}, depth - 1);"],
                "landings": ["sum += trace_pick(4) ? 0 : trace_jump();"],
                "exceptions": [f"if (trace_catchers(-1) && !trace_pick(3)) throw {self.number};"],
                "sort": ["trace_sort(depth - 1, f_compare);"],
                "library": [f"sum += f_{self.dice.choice(self.program.in_library)}(depth - 1);" if self.program.in_library else ""],
                "signals": ["trace_raise();"],
                "coroutines": ["trace_resume(f_coroutine);", "trace_yield();"]}
        for feature in self.features:
            calls += [action for action in more.get(feature, []) if self.chance(.5)]
        return calls

    def loop(self, indent, also):
        actions = self.actions()
        lines = [f"for (int turn = (int)trace_pick({self.dice.randint(2, 4)}); turn >= 0 && trace_more(depth){also}; turn--) {{",
                 f"\tswitch (trace_pick({len(actions)})) {{"]
        for i, action in enumerate(actions):
            lines += [f"\tcase {i}:", f"\t\t{action}", "\t\tbreak;"]
        lines += ["\t}", "\ttrace_back(me);", "}"]
        return [indent + line for line in lines]

    def text(self):
        lines = ["NOIPA int", f"f_{self.number}(int depth)", "{", f"\tint me = trace_enter({self.number}, TRACE_FRAME), sum = depth;"]
        if self.guarded:
            lines.append("\tguard guarded(me);")
        if "areas" in self.features and not self.tails and self.chance(.4):
            lines.append("\tvolatile char *area = (volatile char *)__builtin_alloca(trace_pick(300) + 1);")
            lines.append("\tarea[0] = 1;")
        if self.lands:
            lines += ["\tsigjmp_buf here, *outer = trace_landing(&here);", "\tvolatile int landed = 0;",
                      f"\tif (sigsetjmp(here, {self.dice.randrange(2)})) {{", "\t\ttrace_back(me);", "\t\tlanded = 1;", "\t}"]
            lines += self.loop("\t", " && !landed") + ["\ttrace_landing(outer);"]
        elif self.catches:
            lines += ["\tint outer = trace_catchers(-1);", "\ttrace_catchers(outer + 1);", "\ttry {"] + self.loop("\t\t", "")
            lines += ["\t} catch (int) {", "\t\ttrace_back(me);", "\t\ttrace_catchers(outer);"]
            lines += ["\t\tif (outer && trace_pick(2))", "\t\t\tthrow;"] if self.chance(.5) else []
            lines += ["\t}", "\ttrace_catchers(outer);"]
        else:
            lines += self.loop("\t", "")
        if self.tails:
            others = [n for n in self.program.callees if n != self.number]
            how = self.table(self.number) if "pointers" in self.features and self.chance(.4) else f"f_{self.dice.choice(others)}(depth - 1)"
            lines += ["\tif (trace_more(depth)) {", *self.program.tail, f"\t\treturn {how};", "\t}"]
        return "\n".join(lines + ["\treturn sum;", "}", ""])


class Program:
    """All that follows from a seed: sources, how they are compiled, what is in them."""

    def __init__(self, seed):
        self.seed, self.dice = seed, random.Random(seed)
        dice = self.dice
        self.features = {f for f in FEATURES if dice.random() < .45}
        if seed % 3 == 0:
            self.features.add("exceptions")
        if "exceptions" in self.features:
            self.features.discard("landings")  # which may not pass over destructors
        self.cxx = "exceptions" in self.features
        self.n = dice.randint(10, 60)
        self.threads = 1 if dice.random() < .4 else dice.randint(2, 4)
        self.level = dice.choice("0123") if "tails" not in self.features else dice.choice("02233")
        # With -O0 tail calls are calls, and no word of the trace says otherwise.
        self.jumps = "tails" in self.features and self.level in "23"
        self.tail = ["\t\ttrace_tail(TRACE_FRAME);"] if self.jumps else []
        self.guarded = {n for n in range(self.n) if self.cxx and dice.random() < .3}
        self.in_library = list(range(self.n, self.n + 4)) if "library" in self.features else []
        self.callees = list(range(self.n))
        self.names = {n: f"f_{n}" for n in range(self.n + 4)} | {1001: "f_compare", 1002: "f_signal", 1003: "f_coroutine", 1004: "f_in_guard"}
        self.tables = []
        self.depth, self.calls = dice.randint(4, 16), dice.randint(60, 400)
        self.flags = self.choose_flags()
        self.functions = "\n".join(Function(self, n).text() for n in range(self.n))

    def new_table(self, names):
        self.tables.append(names)
        return len(self.tables) - 1

    def choose_flags(self):
        flags = ["-O" + self.level, self.dice.choice(["-fomit-frame-pointer", "-fno-omit-frame-pointer"])]
        links = [["-fPIE", "-pie"], ["-fno-pie", "-no-pie"]] + ([] if self.in_library else [["-fno-pie", "-no-pie", "-static"]])
        flags += self.dice.choice(links)
        if self.in_library:
            flags += [self.dice.choice(["-Wl,-z,now", "-Wl,-z,lazy"])] + self.dice.choice([[], ["-fno-plt"]])
        if not self.cxx and self.dice.random() < .3:
            flags += ["-mindirect-branch=" + self.dice.choice(["thunk", "thunk-inline"]), "-fcf-protection=none"]
        elif self.dice.random() < .5:
            flags += ["-fcf-protection=" + self.dice.choice(["full", "none"])]
        if not self.cxx and self.dice.random() < .3:
            flags += ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables"]
        return flags

    def names_text(self):
        externs = [f"int f_{n}(int);" for n in self.callees + self.in_library]
        return "\n".join(externs + ["int f_compare(const void *, const void *);", "void f_signal(int);", "int f_coroutine(int);",
                                    "int f_in_guard(int);", ""])

    def main_text(self):
        tables = "\n".join(f"static function *const table_{i}[] = {{{', '.join(names)}}};" for i, names in enumerate(self.tables))
        special = self.dice.choice(self.callees), self.dice.choice(self.callees), self.dice.choice(self.callees)
        guard = """
struct guard {
	int me;
	explicit guard(int depth) : me(depth) {}
	~guard()
	{
		trace_back(me);
		f_in_guard(0);
		trace_back(me);
	}
};
""" if self.cxx else ""
        catchers = ("int catchers = trace_catchers(0);", "trace_catchers(catchers);") if self.cxx else ("", "")
        return f"""/* Seed {self.seed}: {' '.join(sorted(self.features))} */
#include "trace.h"
#include <stdlib.h>
{'extern "C" {' if self.cxx else ''}
{self.names_text()}
{'}' if self.cxx else ''}
{guard}
{tables}
static __attribute__((noinline)) int
call_pointer(function *volatile callee, int depth)
{{
	int sum = callee(depth);
	return sum + 1;
}}

NOIPA int
f_compare(const void *a, const void *b)
{{
	int one = *(const int *)a, other = *(const int *)b, me = trace_enter(1001, TRACE_FRAME);
	if (trace_more(one & 255) && !trace_pick(3))
		f_{special[0]}((one & 255) - 1);
	trace_back(me - 1);
	return (one > other) - (one < other);
}}

NOIPA void
f_signal(int number)
{{
	int me = trace_enter(1002, TRACE_FRAME);
	{catchers[0]}
	if (number == SIGUSR1 && trace_more(1) && !trace_pick(2))
		f_{special[1]}((int)trace_pick(4));
	{catchers[1]}
	trace_back(me - 1);
}}

NOIPA int
f_coroutine(int depth)
{{
	int me = trace_enter(1003, TRACE_FRAME), sum = 0;
	for (int i = 0; i < 3 && trace_more(depth); i++) {{
		sum += f_{special[2]}(depth - 1);
		trace_back(me);
	}}
	return sum;
}}

NOIPA int
f_in_guard(int depth)
{{
	return trace_enter(1004, TRACE_FRAME) + depth;
}}

{self.functions}
int
main(int argc, char **argv)
{{
	static function *const first[] = {{{', '.join(f'f_{n}' for n in self.dice.sample(self.callees, 3))}}};
	struct trace_plan plan = {{{self.threads}, {self.calls}, {self.depth},
	                          {int('coroutines' not in self.features and self.dice.random() < .5)}, {self.seed}, first, 3, f_signal}};
	return argc != 2 || trace_main(&plan, argv[1]) ? EXIT_FAILURE : EXIT_SUCCESS;
}}
"""

    def library_text(self):
        """Functions of a shared library: they call back, each other, and go through a PLT of their own."""
        texts = [f'#include "trace.h"\n{self.names_text()}']
        for n in self.in_library:
            others = self.dice.choice(self.callees), self.dice.choice(self.in_library)
            texts.append(f"""NOIPA int
f_{n}(int depth)
{{
	int me = trace_enter({n}, TRACE_FRAME), sum = depth;
	if (trace_more(depth)) {{
		sum += f_{others[0]}(depth - 1);
		trace_back(me);
	}}
	if (trace_more(depth) && trace_pick(2)) {{
		sum += f_{others[1]}(depth - 2);
		trace_back(me);
	}}
	return sum;
}}
""")
        return "\n".join(texts)

    def build(self, folder):
        """The path of the program."""
        folder, random_folder = Path(folder), HERE / "random"
        source, program = folder / ("main.cpp" if self.cxx else "main.c"), folder / "program"
        source.write_text(self.main_text())
        compiler = ["g++" if self.cxx else "gcc", "-w", "-g", "-I", str(random_folder)]
        trace, link = folder / "trace.o", []
        run(["gcc", "-O1", "-w", "-D_GNU_SOURCE", *[f for f in self.flags if f.startswith(("-fPIE", "-fno-pie"))], "-fexceptions", "-c", "-o", str(trace),
             str(random_folder / "trace.c")])
        if self.in_library:
            library = folder / "library.c"
            library.write_text(self.library_text())
            run(["gcc", "-w", "-O1", "-fPIC", "-shared", "-fexceptions", "-I", str(random_folder), "-o", str(folder / "libf.so"), str(library)])
            link = ["-rdynamic", f"-L{folder}", "-lf", f"-Wl,-rpath,{folder}"]
        run([*compiler, *self.flags, "-o", str(program), str(source), str(trace), *link, "-pthread"])
        return program

    def traces(self, file):
        """The events of each thread, as forest.py has them."""
        data, at, threads = Path(file).read_bytes(), 0, []
        while at < len(data):
            n, = struct.unpack_from("=I", data, at)
            words = struct.unpack_from(f"={n}I", data, at + 4)
            threads.append([self.event(word) for word in words])
            at += 4 + 4 * n
        return threads

    def event(self, word):
        what, value = EVENTS[word >> 24], word & 0xffffff
        return what, self.names[value] if what in ("enter", "tail") else value


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr[-1500:]}")


if __name__ == "__main__":
    made = Program(int(sys.argv[1]))
    print(made.build(sys.argv[2]), made.threads, "threads", made.calls, "calls", *sorted(made.features), *made.flags)
