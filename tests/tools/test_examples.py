#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each of examples/tools, built with strobe build-tool and run on known.S: its results against what known.S says, without
tolerance. usage: test_examples.py STROBE INCLUDE EXAMPLES KNOWN"""
import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

STROBE, INCLUDE, EXAMPLES, KNOWN = (os.path.abspath(sys.argv.pop(1)) for _ in range(4))
TURNS = 1000
KERNEL = "/usr/include/x86_64-linux-gnu"  # where asm/unistd_64.h is


def distances():
    """known.S as its accesses to words, (place, written), through the algorithm of reuse.c."""
    trace = []

    def call(depth):
        trace.append((("stack", depth), True))

    def back(depth):
        trace.append((("stack", depth), False))

    call(0)
    call(126)  # inner, 1008 bytes further down
    back(126)
    back(0)
    for _ in range(TURNS):
        call(0)
        trace.extend([("a", False), ("a", False), ("a", True), ("b", True)])
        back(0)
    call(0)
    back(0)
    last, found = {}, {}
    for now, (place, written) in enumerate(trace, 1):
        if written:
            last[place] = now
        elif place in last:
            row = 1 << ((now - last[place]).bit_length() - 1)
            found[row] = found.get(row, 0) + 1
    return found


class Run(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="strobe-examples-")
        for source in glob.glob(os.path.join(EXAMPLES, "*.c")):
            subprocess.run([STROBE, "build-tool", "-q", "-I", INCLUDE, source], cwd=cls.place.name, check=True)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def run_under(self, *tools, program=(KNOWN,), options=()):
        """The result of the program under these tools."""
        words = [word for tool in tools for word in ("-t", tool)]
        path = os.path.join(self.place.name, "out.json")
        done = subprocess.run([STROBE, "run", "-q", *words, *options, "--format", "json", "-o", path, "--", *program],
                              cwd=self.place.name, capture_output=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        with open(path, encoding="utf-8") as f:
            return json.load(f)

    def rows(self, result, table, *columns):
        return sorted(tuple(row[c] for c in columns) for row in result[table])


class Examples(Run):
    def test_blocks(self):
        """Also beside the built-in tool, which counts them in its own counter."""
        self.assertEqual(self.run_under("blocks.tool")["blocks"], 4033)
        result = self.run_under("blocks.tool", "sizes.tool", "inscount")
        self.assertEqual((result["blocks"], result["strobe"]["tool"]), (4033, "blocks,sizes,inscount"))
        self.assertEqual(len(result["sizes"]), 4)

    def test_counters_of_one_name(self):
        result = self.run_under("blocks.tool", "bbcount", "inscount")
        self.assertEqual((result["blocks"], result["bbcount_blocks"]), (4033, 4033))
        self.assertEqual(result["instructions"], result["inscount_instructions"])

    def test_under_stress(self):
        """Whatever the engine has to do, the numbers stay."""
        for stress in ("blocks", "cache", "flush", "threads,far"):
            result = self.run_under("blocks.tool", "sizes.tool", "bias.tool", options=("--stress", stress))
            self.assertEqual(result["blocks"], 4033, stress)
            self.assertEqual(self.rows(result, "sizes", "bytes", "reads", "writes"),
                             [(1, 0, TURNS), (2, 0, TURNS), (4, TURNS, 0), (8, 2 * TURNS + 3, TURNS + 3)], stress)
            self.assertEqual(self.rows(result, "bias", "taken", "not_taken"), [(2, 1), (9, 1), (250, 750), (999, 1)], stress)

    def test_memory(self):
        streams = self.run_under("memory.tool")["streams"]
        self.assertEqual([(s["name"], s["rows"], s["dropped"]) for s in streams], [("accesses", 6006, 0)])

    def test_divisions(self):
        rows = self.rows(self.run_under("divisions.tool"), "divisions", "line_file", "line_line", "count")
        with open(os.path.join(os.path.dirname(__file__), "known.S"), encoding="utf-8") as f:
            line = 1 + next(i for i, text in enumerate(f) if "div %ecx" in text)
        self.assertEqual([(os.path.basename(file), *rest) for file, *rest in rows], [("known.S", line, TURNS)])

    def test_sizes(self):
        self.assertEqual(self.rows(self.run_under("sizes.tool"), "sizes", "bytes", "reads", "writes"),
                         [(1, 0, TURNS), (2, 0, TURNS), (4, TURNS, 0), (8, 2 * TURNS + 3, TURNS + 3)])

    def test_argument(self):
        want = {}
        for value in range(1, TURNS + 1):
            row = want.setdefault(1 << (value.bit_length() - 1), [0, 0])
            row[0] += 1
            row[1] += value
        result = self.run_under("argument.tool:function=divide")
        self.assertEqual(self.rows(result, "arguments", "at least", "calls", "sum"),
                         sorted((row, *numbers) for row, numbers in want.items()))
        self.assertEqual(result["strobe"]["tool"], "argument:function=divide")

    def test_latency(self):
        result = self.run_under("latency.tool")
        self.assertEqual(self.rows(result, "calls", "call", "count", "errors"), [("close", 3, 3), ("getpid", 10, 0)])
        for row in result["calls"]:
            self.assertLess(0, row["longest"])
            self.assertLess(row["longest"], row["time"])

    def test_bias(self):
        result = self.run_under("bias.tool")
        self.assertEqual(self.rows(result, "bias", "branch_function", "taken", "not_taken"),
                         [("_start", 250, 750), ("_start", 999, 1), ("calls", 2, 1), ("calls", 9, 1)])

    def test_depth(self):
        self.assertEqual(self.rows(self.run_under("depth.tool"), "depths", "caller", "bytes"), [("outer", 1008)])

    def test_images(self):
        rows = self.rows(self.run_under("images.tool"), "loads", "order", "path", "bytes")
        self.assertEqual([row[1] for row in rows if not row[1].startswith("[")], [KNOWN])
        rows = self.rows(self.run_under("images.tool", program=("/bin/true",)), "loads", "order", "path")
        names = [os.path.basename(path) for _, path in rows if not path.startswith("[")]
        self.assertEqual([name.split("-")[0].split(".")[0] for name in names], ["true", "ld", "libc"])

    def test_misaligned(self):
        result = self.run_under("misaligned.tool")
        self.assertEqual(result["misaligned"], TURNS)
        self.assertEqual([row["count"] for row in result["places"] if row["count"]], [TURNS])

    def test_reuse(self):
        self.assertEqual(dict(self.rows(self.run_under("reuse.tool"), "distances", "at least", "reads")), distances())

    def test_touched(self):
        """Each block once, whatever it was executed."""
        self.assertEqual(self.rows(self.run_under("touched.tool"), "touched", "function", "blocks"),
                         [("_start", 8), ("calls", 7), ("divide", 1), ("inner", 1), ("outer", 2)])

    def test_all_at_once(self):
        """As many as fit, each with the results that it has alone."""
        result = self.run_under(*(name + ".tool" for name in
                                  ("blocks", "sizes", "bias", "depth", "divisions", "latency", "misaligned", "reuse")))
        self.assertEqual(result["blocks"], 4033)
        self.assertEqual(self.rows(result, "sizes", "bytes", "reads", "writes"),
                         [(1, 0, TURNS), (2, 0, TURNS), (4, TURNS, 0), (8, 2 * TURNS + 3, TURNS + 3)])
        self.assertEqual(dict(self.rows(result, "distances", "at least", "reads")), distances())


class Whole(Run):
    """Tools that crash or never return: the program runs on unharmed, and the result says so."""
    def build(self, name, event, body):
        source = os.path.join(self.place.name, name + ".c")
        with open(source, "w", encoding="utf-8") as f:
            f.write("#include <strobe/tool.h>\nSTROBE_COUNTER(seen, \"blocks translated\");\n" + body +
                    f"\nSTROBE_TOOL({name}, .help = \"\", {event});\n")
        subprocess.run([STROBE, "build-tool", "-q", "-I", INCLUDE, source], cwd=self.place.name, check=True)

    def test_crash(self):
        self.build("crash", ".block = on_block", """
static void on_block(strobe_block *b)
{
	if (strobe_block_length(b) == 9)
		*(volatile int *)(uintptr_t)strobe_option_number("none") = 1;
	strobe_count(strobe_at(b), &seen, 1);
}""")
        result = self.run_under("crash.tool", "bbcount")
        self.assertEqual(result["blocks"], 4033)
        self.assertEqual(len(result["notes"]), 1)
        self.assertRegex(result["notes"][0], r"^the tool crash crashed \(Segmentation fault\), in on_block\+0x\w+ of crash\.tool "
                         r"in process \d+: strobe stopped it there, and its results are from the time before$")

    def test_loop(self):
        self.build("loop", ".begin = begin", """
static volatile int turns;
static void begin(void)
{
	for (;;)
		turns++;
}""")
        # A budget brings more ticks than samples were asked for: neither of them is a measure of time.
        result = self.run_under("loop.tool", "bbcount", options=("-b", "100%", "-T", "1h", "--sample-hz", "130"))
        self.assertEqual(result["blocks"], 4033)
        self.assertGreater(result["run"]["cpu_seconds"], 5)
        self.assertEqual(len(result["notes"]), 1)
        self.assertRegex(result["notes"][0], r"^the tool loop did not return from a function within 5 s of CPU time, in begin\+0x\w+ "
                         r"of loop\.tool in process \d+: strobe stopped it there, and its results are from the time before$")

    def test_built_in_tools_from_files(self):
        """They use nothing but the API, but for calltimes, records and contexts (src/tools/cells.h, forest.h): built as anyone's they give the same."""
        sources = os.path.join(EXAMPLES, "..", "..", "src", "tools")
        files = sorted(f[:-2] for f in os.listdir(sources) if f.endswith(".c") and f != "tools.c")
        names = [name for name in files if "_" not in name and name not in ("calltimes", "contexts", "forest", "records")]
        self.assertGreater(len(names), 3)
        for name in names:
            # The parts of a tool in several files are NAME_PART.c.
            parts = [name, *(part for part in files if part.startswith(name + "_"))]
            with open(os.path.join(self.place.name, f"in-{name}.c"), "w") as whole:
                whole.writelines(f'#include "tools/{part}.c"\n' for part in parts)
            subprocess.run([STROBE, "build-tool", "-q", "-I", INCLUDE, "-I", KERNEL, "-I", os.path.dirname(sources), "-o", f"in-{name}.tool",
                            f"in-{name}.c"],
                           cwd=self.place.name, check=True)
            ours, theirs = self.run_under(name), self.run_under(f"in-{name}.tool")
            for result in (ours, theirs):
                for measured in ("run", "samples", "share_of", "streams"):
                    result.pop(measured, None)
                for function in result.get("functions", []):
                    function["self_share"] = function["total_share"] = None
                for call in result.get("syscalls", []):
                    call["time"] = call["longest"] = None
            self.assertEqual(self.ordered(ours), self.ordered(theirs), name)

    def ordered(self, value):
        """The result, whatever the order of its rows."""
        if isinstance(value, dict):
            return {key: self.ordered(v) for key, v in value.items()}
        return sorted(value, key=json.dumps) if isinstance(value, list) else value

    def test_follows_children(self):
        """A tool is in each process that is followed, also behind an exec."""
        path = os.path.join(self.place.name, "out.json")
        subprocess.run([STROBE, "run", "-q", "-f", "-t", "./blocks.tool", "--format", "json", "-o", path, "--",
                        "/bin/sh", "-c", f"{KNOWN}; {KNOWN}; exec {KNOWN}"], cwd=self.place.name, check=True, timeout=120)
        with open(path, encoding="utf-8") as f:
            processes = json.load(f)["processes"]
        self.assertEqual([p["blocks"] for p in processes if p["command"] == KNOWN], [4033] * 3)


if __name__ == "__main__":
    unittest.main()
