#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/tools.md: every block of C in it is a tool, or becomes one with the header before it and STROBE_TOOL behind; it says what
build-tool prints; its tables name all that there is. usage: test_docs.py STROBE INCLUDE ROOT"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

STROBE, INCLUDE, ROOT = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))


def read(*names):
    with open(os.path.join(ROOT, *names), encoding="utf-8") as f:
        return f.read()


class Docs(unittest.TestCase):
    TEXT = read("docs", "tools.md")

    def build(self, code, name):
        with tempfile.TemporaryDirectory(prefix="strobe-docs-") as place:
            path = os.path.join(place, name + ".c")
            with open(path, "w", encoding="utf-8") as f:
                f.write(code)
            return subprocess.run([STROBE, "build-tool", "-I", INCLUDE, path], cwd=place, capture_output=True, text=True)

    def test_code(self):
        blocks = re.findall(r"^```c\n(.*?)^```", self.TEXT, re.M | re.S)
        self.assertGreater(len(blocks), 6)
        for code in blocks:
            if "STROBE_TOOL" not in code:
                event = re.search(r"^on_(\w+)\(", code, re.M).group(1)
                code = f"#include <strobe/tool.h>\n{code}\nSTROBE_TOOL(fragment, .{event} = on_{event});\n"
            done = self.build(code, "x")
            self.assertEqual((done.returncode, re.sub(r".*unused.*|.*STROBE_COUNTER.*", "", done.stderr).count("error")), (0, 0),
                             done.stderr + code)

    def test_first_tool(self):
        """What the page says that build-tool prints, but for the time."""
        code = re.search(r"^```c\n(.*?)^```", self.TEXT, re.M | re.S).group(1)
        shown = re.search(r"^    blocks\.tool: .*?\n\n", self.TEXT, re.M | re.S).group(0)
        shown = "".join(line[4:] + "\n" for line in shown.rstrip("\n").splitlines())
        time = lambda text: re.sub(r" +\d+\.\d ns", " N ns", text)
        self.assertEqual(time(self.build(code, "blocks").stdout), time(shown))

    def test_tables_are_complete(self):
        header = read("include", "strobe", "tool.h")
        tool = re.search(r"uint32_t abi;(.*?)\} strobe_tool;", header, re.S).group(1)
        for event in re.findall(r"void \(\*(\w+)\)", tool) + re.findall(r"uint32_t (\w+);", tool) + ["functions"]:
            self.assertIn(f"`.{event}", self.TEXT)
        types = re.search(r"enum strobe_type \{(.*?)\};", header, re.S).group(1)
        relations = re.search(r"enum strobe_relation \{(.*?)\};", header, re.S).group(1)
        for name in re.findall(r"^\s*(STROBE_\w+)", types + relations, re.M):
            self.assertIn(f"`{name}`", self.TEXT)
        for operand in re.findall(r"^strobe_operand (\w+)\(", header, re.M):
            self.assertIn(f"`{operand}(", self.TEXT)
        for name in sorted(os.listdir(os.path.join(ROOT, "examples", "tools"))):
            self.assertIn(f"`{name}`", self.TEXT)


if __name__ == "__main__":
    unittest.main()
