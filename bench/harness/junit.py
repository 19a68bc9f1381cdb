# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints one sorted line per test of a JUnit file, its name and what became of it, without times: junit.py FILE.xml"""
import sys
import xml.etree.ElementTree

for line in sorted(f"{test.get('classname') or ''} {test.get('name')} {test.get('result') or ''} "
                   + " ".join(child.tag for child in test if child.tag in ("failure", "error", "skipped"))
                   for test in xml.etree.ElementTree.parse(sys.argv[1]).iter("testcase")):
    print(line.strip())
