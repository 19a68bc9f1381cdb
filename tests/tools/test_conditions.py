#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several conditions on one point, counted on known.S; a build folder that lies elsewhere.
usage: test_conditions.py STROBE INCLUDE KNOWN"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

STROBE, INCLUDE, KNOWN = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))

# `divide` is called with 1000, 999, ... 1 in rdi; r12 counts down with it.
NARROWED = """
#include <strobe/tool.h>
STROBE_COUNTER(entered, "");
STROBE_COUNTER(left, "");
STROBE_COUNTER(sum, "");
STROBE_COUNTER(taken, "");
STROBE_COUNTER(never, "");
STROBE_STREAM(rows, "", NULL, STROBE_COLUMN("rdi", STROBE_NUMBER));

static strobe_point
from_100_below_200(strobe_point at)
{
	strobe_operand rdi = strobe_register_value(STROBE_RDI);
	at = strobe_when(at, rdi, STROBE_NOT_BELOW, strobe_constant(100));
	return strobe_when(at, rdi, STROBE_BELOW, strobe_constant(200));
}

static void
on_function(strobe_function *f)
{
	strobe_operand rdi = strobe_register_value(STROBE_RDI);
	strobe_point odd = strobe_when(from_100_below_200(strobe_at(f)), rdi, STROBE_SHARES_BITS, strobe_constant(1));
	strobe_count(from_100_below_200(strobe_at(f)), &entered, 1);
	strobe_count(from_100_below_200(strobe_at_return(f)), &left, 1);
	strobe_add(odd, &sum, rdi);
	strobe_record(odd, &rows, rdi);
	strobe_count(strobe_when(odd, rdi, STROBE_EQUAL, strobe_constant(100)), &never, 1);
}

static void
on_branch(strobe_branch *b)
{
	if (strobe_branch_kind(b) == STROBE_CONDITIONAL)
		strobe_count(strobe_when(strobe_when_taken(b), strobe_register_value(STROBE_R12), STROBE_BELOW,
		                         strobe_constant(101)), &taken, 1);
}
STROBE_TOOL(narrowed, .help = "", .function = on_function, .branch = on_branch);
"""

TOO_MANY = """
#include <strobe/tool.h>
STROBE_COUNTER(n, "");
static void
on_block(strobe_block *b)
{
	strobe_point at = strobe_at(b);
	for (unsigned i = 0; i <= STROBE_MOST_CONDITIONS; i++)
		at = strobe_when(at, strobe_register_value(STROBE_RDI), STROBE_NOT_EQUAL, strobe_constant(i));
	strobe_count(at, &n, 1);
}
STROBE_TOOL(many, .help = "", .block = on_block);
"""

# Several actions at each return.
AT_RETURN = """
#include <strobe/tool.h>
STROBE_COUNTER(left, "");
static void
on_function(strobe_function *f)
{
	for (unsigned i = 0; i < ACTIONS; i++)
		strobe_add(strobe_at_return(f), &left, strobe_constant(1));
}
STROBE_TOOL(returns, .help = "", .function = on_function);
"""


class Tools(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory(prefix="strobe-conditions-")
        self.addCleanup(self.place.cleanup)

    def path(self, *names):
        return os.path.join(self.place.name, *names)

    def build(self, source, strobe=STROBE, options=("-I", INCLUDE)):
        with open(self.path("my.c"), "w", encoding="utf-8") as f:
            f.write(source)
        return subprocess.run([strobe, "build-tool", "-q", *options, "-o", self.path("my.tool"), self.path("my.c")],
                              capture_output=True, text=True, timeout=120)

    def run_it(self, *options):
        done = subprocess.run([STROBE, "run", "-q", "-t", self.path("my.tool"), "--format", "json", "-o", self.path("out.json"),
                               *options, "--", KNOWN], capture_output=True, text=True, timeout=120, cwd=self.place.name)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("out.json"), encoding="utf-8") as f:
            result = json.load(f)
        return result, done.stderr

    def test_all_conditions_hold(self):
        self.assertEqual(self.build(NARROWED).stderr, "")
        for stress in ((), ("--stress", "blocks")):
            result, _ = self.run_it(*stress)
            # Taken, and r12 is at most 100: 25 of the jz, the jnz of 100 to 1, and the loops of `calls`, where it is 0.
            counters = {name: result[name] for name in ("entered", "left", "sum", "taken", "never")}
            self.assertEqual(counters, {"entered": 100, "left": 100, "sum": sum(range(101, 200, 2)), "taken": 25 + 100 + 9 + 2,
                                        "never": 0})
            self.assertEqual(result["streams"][0]["rows"], 50)

    def test_actions_at_a_return(self):
        """There may be eight; with one more the tool is left out, and it is said."""
        left = []
        for actions in (1, 8, 9):
            self.assertEqual(self.build(AT_RETURN.replace("ACTIONS", str(actions))).stderr, "")
            result, said = self.run_it()
            left.append(result["left"])
            self.assertEqual("too many actions at a return" in said, actions > 8, said)
        self.assertGreater(left[0], 1000)
        self.assertEqual(left[1], 8 * left[0])
        self.assertEqual(left[2], 0)

    def test_too_many_are_refused(self):
        self.assertEqual(self.build(TOO_MANY).stderr, "")
        self.assertIn("too many conditions on a point", self.run_it()[1])

    def test_build_folder_elsewhere(self):
        """A build folder that lies outside the source tree: strobe, and the file that says where the headers are."""
        os.mkdir(self.path("build"))
        strobe = shutil.copy(STROBE, self.path("build", "strobe"))
        done = self.build(TOO_MANY, strobe, ())
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("cannot find strobe/tool.h", done.stderr)
        shutil.copy(os.path.join(os.path.dirname(STROBE), "include-folder"), self.path("build", "include-folder"))
        done = self.build(TOO_MANY, strobe, ())
        self.assertEqual((done.returncode, done.stderr), (0, ""))


unittest.main()
