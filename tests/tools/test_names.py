#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A function is found by each of its names, and shown by one; names that are not found are said; files that their path does not
lead to have names; an execve that succeeds is counted; so are returns, once. usage: test_names.py STROBE INCLUDE EXAMPLES ALIASES"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

STROBE, INCLUDE, EXAMPLES, ALIASES = (os.path.abspath(sys.argv.pop(1)) for _ in range(4))
SHOWN = "work"
NAMES = {SHOWN, "__inner_work", "weak_work", "_a_work", "local_work"}
TURNS = 100
MINE = """#include <strobe/tool.h>
STROBE_COUNTER(calls, "calls");
static void on(strobe_function *f) { strobe_count(strobe_at(f), &calls, 1); }
STROBE_TOOL(mine, .help = "calls", .functions = "PATTERN", .function = on);
"""


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.place = tempfile.mkdtemp(prefix="strobe-names-")
        self.addCleanup(shutil.rmtree, self.place)
        self.db = os.path.join(self.place, "out.db")

    def strobe(self, *words, status=0):
        done = subprocess.run([STROBE, *words], cwd=self.place, capture_output=True, timeout=120, errors="replace")
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def shown(self, *words):
        return json.loads(self.strobe("show", self.db, "--format", "json", *words).stdout)


class Names(Case):
    def test_tool(self):
        """A tool asks for the function by any of its names."""
        self.strobe("build-tool", "-q", "-I", INCLUDE, "-o", "argument.tool", os.path.join(EXAMPLES, "argument.c"))
        for name in sorted(NAMES):
            with self.subTest(name=name):
                self.strobe("run", "-q", "-t", f"./argument.tool:function={name}", "-o", self.db, "--", ALIASES)
                self.assertEqual(sum(row["calls"] for row in self.shown()["arguments"]), TURNS)
                self.assertEqual(self.shown()["notes"], [])

    def test_library(self):
        """So with the names of the C library, of which debug packages know more; with them and without."""
        self.strobe("build-tool", "-q", "-I", INCLUDE, "-o", "argument.tool", os.path.join(EXAMPLES, "argument.c"))
        for environment in {}, {"STROBE_DEBUG_DIRECTORY": self.place}:
            for name in "malloc", "__libc_malloc":
                with self.subTest(name=name, environment=environment):
                    subprocess.run([STROBE, "run", "-q", "-t", f"./argument.tool:function={name}", "-o", self.db, "--", ALIASES],
                                   cwd=self.place, check=True, stdout=subprocess.DEVNULL, env={**os.environ, **environment})
                    self.assertGreater(sum(row["calls"] for row in self.shown()["arguments"]), 0)

    def test_unknown(self):
        """What a tool asks for and nobody has, or nobody calls, is said."""
        self.strobe("build-tool", "-q", "-I", INCLUDE, "-o", "argument.tool", os.path.join(EXAMPLES, "argument.c"))
        for name, note in ("weak_worc", "the tool argument asks for the function weak_worc, but no function of that name was loaded; "
                           "did you mean 'weak_work'?"), \
                ("start_children", "the tool argument asks for the function start_children, but no call of it was seen"):
            with self.subTest(name=name):
                self.strobe("run", "-q", "-t", f"./argument.tool:function={name}", "-o", self.db, "--", ALIASES)
                self.assertEqual(self.shown()["notes"], [note])

    def test_patterns(self):
        """So with a tool that lists its functions."""
        for pattern, calls in ("WORK", 0), ("local_work", TURNS), ("*_work", TURNS):
            with self.subTest(pattern=pattern):
                with open(os.path.join(self.place, "mine.c"), "w", encoding="utf-8") as f:
                    f.write(MINE.replace("PATTERN", pattern))
                self.strobe("build-tool", "-q", "-I", INCLUDE, "-o", "mine.tool", "mine.c")
                self.strobe("run", "-q", "-t", "./mine.tool", "-o", self.db, "--", ALIASES)
                result = self.shown()
                self.assertEqual(result["calls"], calls)
                self.assertEqual(result["notes"], [] if calls else ["the tool mine asks for functions, but none of them was loaded: WORK"])

    def test_options(self):
        """--funcs and --start-at; what is shown is the same name."""
        for name in sorted(NAMES):
            for option in "--funcs", "--start-at":
                with self.subTest(name=name, option=option):
                    self.strobe("run", "-q", "-t", "hot", option, name, "-o", self.db, "--", ALIASES)
                    functions = {f["name"]: f for f in self.shown("--top", "0")["functions"]}
                    self.assertEqual(functions[SHOWN]["calls"], TURNS)
                    self.assertEqual(set(functions[SHOWN]["aliases"]), NAMES - {SHOWN})
                    self.assertFalse((NAMES - {SHOWN}) & set(functions))

    def test_show(self):
        self.strobe("run", "-q", "-t", "hot", "-o", self.db, "--", ALIASES)
        for name in sorted(NAMES):
            with self.subTest(name=name):
                lines = self.strobe("show", self.db, "--func", name).stdout.split("\n")
                self.assertEqual(lines[0], SHOWN)
                self.assertEqual(set(lines[2].removeprefix("  also called ").split(", ")), NAMES - {SHOWN})

    def test_contexts(self):
        self.strobe("paths", "-q", "-o", self.db, "--", ALIASES)
        for name in sorted(NAMES):
            for option in "--under", "--calls":
                with self.subTest(name=name, option=option):
                    self.assertIn(f" {SHOWN}", self.strobe("paths", "--from", self.db, option, name).stdout)


class Files(Case):
    """Where the file is that ran."""

    def hottest(self):
        return [f["name"] for f in self.shown("--top", "0")["functions"]]

    def copy(self, *names):
        path = os.path.join(self.place, *names)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.copy(ALIASES, path)
        return path

    def test_deleted(self):
        """Before it is attached."""
        path = self.copy("gone")
        with subprocess.Popen([path, "1000000000"], stdout=subprocess.DEVNULL) as process:
            try:
                time.sleep(0.1)
                os.unlink(path)
                self.strobe("attach", "-q", "-t", "hot", "--for", "0.5s", "-o", self.db, str(process.pid))
            finally:
                process.send_signal(signal.SIGKILL)
        self.assertIn(SHOWN, self.hottest())

    def test_deleted_later(self):
        """While it runs under the engine."""
        path = self.copy("gone")
        with subprocess.Popen([STROBE, "run", "-q", "-t", "hot", "-o", self.db, "--", path, "1000000000"],
                              stdout=subprocess.DEVNULL) as process:
            time.sleep(1)
            os.unlink(path)
            time.sleep(2)
            process.send_signal(signal.SIGTERM)
        self.assertIn(SHOWN, self.hottest())

    def test_memory(self):
        """Executed from a file in memory."""
        code = ("import os, sys\nfd = os.memfd_create('prog')\nos.write(fd, open(sys.argv[1], 'rb').read())\n"
                "os.execve(fd, ['prog'], os.environ)\n")
        self.strobe("run", "-q", "-t", "hot", "--follow", "-o", self.db, "--", sys.executable, "-c", code, ALIASES)
        self.assertIn(SHOWN, self.hottest())

    def test_long_path(self):
        path = self.copy("x" * 200, "y" * 200, "program")
        self.strobe("run", "-q", "-t", "hot", "-o", self.db, "--", path)
        self.assertIn(SHOWN, self.hottest())

    def test_line_feed(self):
        path = self.copy("one\ntwo", "program")
        self.strobe("run", "-q", "-t", "hot", "-o", self.db, "--", path)
        self.assertIn(SHOWN, self.hottest())


class Exec(Case):
    def test_counts(self):
        """aliases exec makes ten calls, of which five fail."""
        for tool in "syscalls", "syscalls:trace":
            with self.subTest(tool=tool):
                self.strobe("run", "-q", "-t", tool, "--follow", "-o", self.db, "--", ALIASES, "exec")
                row, = (r for r in self.shown("--table", "syscalls")["syscalls"] if r["name"] == "execve")
                self.assertEqual((row["count"], row["errors"]), (10, 5))
        lines = self.strobe("show", self.db, "--rows", "trace", "--top", "0", "--format", "json").stdout.splitlines()
        rows = [r for r in map(json.loads, lines) if r["name"] == "execve"]
        self.assertEqual(sorted(r["error"] for r in rows), [""] * 5 + ["ENOENT"] * 5)
        self.assertEqual(sum("/proc/self/exe" in r["arguments"] for r in rows), 5)


class Returns(Case):
    def test_counts(self):
        """Of a function whose code is translated again, when a second thread comes."""
        with open(os.path.join(self.place, "mine.c"), "w", encoding="utf-8") as f:
            f.write(MINE.replace("PATTERN", "work").replace("strobe_at(f)", "strobe_at_return(f)"))
        self.strobe("build-tool", "-q", "-I", INCLUDE, "-o", "mine.tool", "mine.c")
        self.strobe("run", "-q", "-t", "./mine.tool", "-o", self.db, "--", ALIASES, "thread")
        self.assertEqual(self.shown()["calls"], TURNS)


if __name__ == "__main__":
    unittest.main()
