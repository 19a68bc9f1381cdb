#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The formats of `strobe paths` against its JSON: one run's profile, shown in each of them, says the same.

usage: test_formats.py STROBE FOLDER (with programs/NAME-WAY)"""

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.parsers.expat
from pathlib import Path
from xml.etree import ElementTree

STROBE = Path(sys.argv.pop(1)).resolve()
PROGRAMS = Path(sys.argv.pop(1)).resolve() / "programs"
SCHEMA = Path(__file__).resolve().parents[2] / "docs" / "paths.xsd"
METRICS = "self_ns", "total_ns", "instructions", "total_instructions"
RUNS = {
    "timed": ("prog1-O0", ["--time", "--instructions"]),
    "plain": ("exceptions-O0", []),
    "cycles": ("prog3-O0", ["--unroll-recursion", "--instructions"]),
    "slabs": ("prog1-O0", ["-k", "1"]),
    "intra": ("prog5-O0", ["--mode", "intra", "--roll-loops", "--funcs", "main,foo,bar"]),
    "inter": ("prog5-O0", ["--mode", "inter", "--roll-loops", "--funcs", "main,foo,bar"]),
    "deep": ("deep-O2", ["--unroll-recursion"]),
}


def setUpModule():
    place = tempfile.TemporaryDirectory(prefix="strobe-formats-")
    unittest.addModuleCleanup(place.cleanup)
    Formats.place = Path(place.name)


class Formats(unittest.TestCase):
    maxDiff = 2000
    place = None

    def strobe(self, *words):
        done = subprocess.run([STROBE, "paths", *words], capture_output=True, timeout=120, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stderr.decode()[-1000:])
        return done.stdout

    def profile(self, run):
        """The profile of one of RUNS, made once."""
        file = self.place / (run + ".db")
        program, words = RUNS[run]
        if not file.exists():
            self.strobe("-q", "-o", file, *words, "--", PROGRAMS / program)
        return file

    def show(self, run, form, *words):
        return self.strobe("--from", self.profile(run), "--format", form, *words)

    def json(self, run, *words):
        return json.loads(self.show(run, "json", *words))

    def tool(self, name, *words):
        """What another program says of a file; the test is skipped where there is none."""
        if not shutil.which(name):
            self.skipTest(f"{name} is not installed")
        return subprocess.run([name, *words], capture_output=True, text=True, timeout=120)


class Xml(Formats):
    def node(self, element):
        """As JSON has it."""
        a = dict(element.attrib)
        found = {"count": int(a["counter"]), "children": [self.node(child) for child in element]}
        found["name"] = f"{a['name']}+{a['inside']}" if "inside" in a else a["name"]
        if "inside" in a:
            found["function"] = a["name"]
        if "image" in a:
            found.update(image=a["image"], offset=int(a["address"], 16))
        found.update({key: a[key] for key in ("file",) if key in a})
        found.update({key: int(a[key]) for key in ("line", "column", *METRICS) if key in a})
        return found

    def forests(self, element):
        return {name.lower(): [self.node(child) for child in element.find(name)] for name in ("kSF", "kCCF") if element.find(name) is not None}

    def thread(self, element):
        found = {"thread": int(element.find("id").text)}
        found.update({key: int(element.get(key)) for key in ("tid", "pid") if element.get(key)})
        found.update({key: element.get(key) for key in ("comm",) if element.get(key)})
        if element.get("joined"):
            found["joined"] = True
        blocks = element.find("intraMode_ctx")
        if blocks is None:
            return found | self.forests(element)
        found["functions"] = []
        for one in blocks:
            place = {"image": one.get("image"), "offset": int(one.find("funcAddr").text, 16)} if one.get("image") else {}
            found["functions"].append({"name": one.get("name")} | place | self.forests(one))
        return found

    def check_json(self, run, *words):
        want, got = self.json(run, *words), ElementTree.fromstring(self.show(run, "xml", *words))
        header = got.find("header")
        self.assertEqual(header.find("mode").text, want["mode"])
        self.assertEqual(header.find("k").text, str(want["k"]))
        for element, key in ("functions", "functions"), ("threadCount", "thread_count"), ("nodesKSF", "nodes_ksf"), ("nodesKCCF", "nodes_kccf"):
            self.assertEqual(header.findtext(element), str(want[key]) if key in want else None)
        self.assertEqual([{key: one.get(key) for key in one.keys()} for one in header.iter("process")],
                         [{key: str(one[key]) for key in one} for one in want["processes"]])
        self.assertEqual([self.thread(one) for one in got.find("threads")], want["threads"])

    def test_same_as_json(self):
        self.check_json("timed", "--kccf")
        self.check_json("timed", "--join-threads")
        self.check_json("plain")
        self.check_json("slabs", "--kccf")
        self.check_json("intra")
        self.check_json("inter")

    def test_schema(self):
        for run, words in ("timed", ["--kccf"]), ("slabs", ["--join-threads"]), ("plain", []), ("intra", []), ("inter", []):
            file = self.place / f"{run}.xml"
            self.strobe("--from", self.profile(run), "-o", file, *words)  # by its name
            done = self.tool("xmllint", "--huge", "--noout", "--schema", SCHEMA, file)
            self.assertEqual(done.returncode, 0, done.stderr[-1000:])
        file.write_text(file.read_text().replace("counter=", "count=", 1))
        self.assertNotEqual(self.tool("xmllint", "--huge", "--noout", "--schema", SCHEMA, file).returncode, 0)

    def test_deep(self):
        depth, deepest, nodes = 0, 0, 0

        def begin(name, _):
            nonlocal depth, deepest, nodes
            depth, nodes = depth + 1, nodes + (name == "node")
            deepest = max(deepest, depth)

        def end(_):
            nonlocal depth
            depth -= 1

        text = self.show("deep", "xml")
        parser = xml.parsers.expat.ParserCreate()
        parser.StartElementHandler, parser.EndElementHandler = begin, end
        parser.Parse(text, True)
        self.assertGreater(deepest, 1000)
        self.assertIn(f"<nodesKSF>{nodes}</nodesKSF>".encode(), text)


def worth(node):
    """What a context is worth by itself."""
    return next(node[key] for key in ("self_ns", "instructions", "count") if key in node)


def contexts(nodes, path=()):
    """(path, node) of each context below, outermost first, in no order."""
    waiting = [(path, node) for node in nodes]
    while waiting:
        above, node = waiting.pop()
        here = (*above, (node["name"], node.get("file"), node.get("line")))
        yield here, node
        waiting += [(here, child) for child in node["children"]]


def forests(thread):
    """The nodes of a thread's slab forests."""
    return [node for part in thread.get("functions", [thread]) for node in part["ksf"]]


class Speedscope(Formats):
    def check_json(self, run, *words):
        want, got = self.json(run, *words), json.loads(self.show(run, "speedscope", *words))
        self.assertEqual(got["$schema"], "https://www.speedscope.app/file-format-schema.json")
        frames = [(frame["name"], frame.get("file"), frame.get("line")) for frame in got["shared"]["frames"]]
        self.assertEqual(len(got["profiles"]), len(want["threads"]))
        for profile, thread in zip(got["profiles"], want["threads"]):
            found = [(tuple(frames[i] for i in path), weight) for path, weight in zip(profile["samples"], profile["weights"], strict=True)]
            there = [(path, worth(node)) for path, node in contexts(forests(thread)) if worth(node)]
            self.assertEqual(sorted(found, key=repr), sorted(there, key=repr))
            self.assertEqual((profile["type"], profile["startValue"], profile["endValue"]), ("sampled", 0, sum(profile["weights"])))
            self.assertEqual(profile["unit"], "nanoseconds" if "self_ns" in thread.get("ksf", [{}])[0] else "none")
        return got["profiles"]

    def test_same_as_json(self):
        names = [profile["name"] for profile in self.check_json("timed")]
        self.assertEqual([name.split(" (")[0] for name in names], ["thread 1", "thread 2"])
        self.assertEqual([profile["name"] for profile in self.check_json("timed", "--join-threads")], ["all threads"])
        self.check_json("plain")
        self.check_json("cycles")
        self.check_json("intra")


if __name__ == "__main__":
    unittest.main()
