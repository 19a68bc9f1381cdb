# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints what ninja has to build for the tests of a build folder that are in none of these suites: meson-needed.py BUILD SUITE..."""
import json
import os
import sys

BUILD, SUITES = sys.argv[1], set(sys.argv[2:])


def told(what):
    with open(os.path.join(BUILD, "meson-info", f"intro-{what}.json")) as file:
        return json.load(file)


files = {target["id"]: target["filename"] for target in told("targets")}
tests = [test for test in told("tests") if not SUITES & {name.split(":")[-1] for name in test["suite"]}]
needed = {os.path.relpath(file, os.path.realpath(BUILD)) for test in tests for target in test["depends"] for file in files[target]}
print("\n".join(sorted(needed)))
