#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""strobe plot callgraph: exact nodes, edges and sums. test_callgraph.py STROBE PROGRAMS-OF-PATHS TRACE-CALLS."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "store"))
from project import Project  # noqa: E402

Project.strobe = os.path.abspath(sys.argv.pop(1))
PROGRAMS = Path(sys.argv.pop(1)).resolve()
TRACED = os.path.abspath(sys.argv.pop(1))
SVG = "{http://www.w3.org/2000/svg}"
WEB = Path(__file__).resolve().parents[2] / "web/src/data"
# Prints [caller and callee, value, calls] of the edges that the page draws of a result of strobe paths.
PAGE = """
import { readFileSync } from "node:fs";
import { chosenGraph, graphOfTrees } from "./callgraph.js";
import { readDocument } from "./model.js";
import { merge } from "./trees.js";
const result = JSON.parse(readFileSync(0, "utf8"));
const [{ paths }] = readDocument(JSON.stringify({ strobe: { report: 1 }, results: [{ label: "x", result }] }));
const graph = graphOfTrees(merge(paths.threads.map(({ ksf }) => ksf)), process.argv[1]);
const names = new Map(graph.nodes.map(({ key, name }) => [key, name]));
const name = (key) => names.get(key) ?? key;
const { edges } = chosenGraph(graph, { least: 0.02, most: 200 });
console.log(JSON.stringify(edges.map(({ from, to, value, calls }) => [`${name(from)} → ${name(to)}`, value, calls])));
"""
# Callers first, then bytes that the last one allocated.
STACKS = [("main", "a", 50), ("main", "a", "b", 20), ("main", "a", "b", "a", "c", 10), ("main", "small", 1), ("main", "b", 19)]


def stacks():
    rows = [{"amount": amount, "type": "memory", "subtype": "malloc", "uid": {"source": "a.c", "function": frames[-1], "line": 1},
             "trace": [{"source": "a.c", "function": "malloc", "line": 0}, *({"source": "a.c", "function": f, "line": 1} for f in reversed(frames))]}
            for *frames, amount in STACKS]
    return json.dumps({"header": {"type": "memory", "cmd": "a", "args": "", "workload": "", "units": {"memory": "B"}},
                       "collector_info": {"name": "memory", "params": {}}, "postprocessors": [], "global": {"timestamp": 0, "resources": rows}})


class CallGraph(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-callgraph-")
        self.addCleanup(folder.cleanup)
        self.p = Project(Path(folder.name) / "project")

    def imported(self):
        (self.p.folder / "m.json").write_text(stacks(), encoding="utf-8")
        self.p.ask("import", "-q", "m.json", "-o", "m.db")
        return "m.db"

    def draw(self, *words):
        """The nodes with their second line, the hints of the edges, and the root of the picture."""
        root = ET.fromstring(self.p.ask("plot", "callgraph", *words, "-o", "-"))
        texts = [(each.get("class"), "".join(each.itertext())) for each in root.iter(f"{SVG}text")]
        names = [text for kind, text in texts if kind == "middle name"]
        lines = [text for kind, text in texts if kind == "middle label"]
        edges = [each.find(f"{SVG}title").text for each in root.iter(f"{SVG}path") if each.get("class").startswith("edge")]
        return dict(zip(names, lines, strict=True)), sorted(edges), root

    def note(self, root):
        return next("".join(each.itertext()) for each in root.iter(f"{SVG}text") if each.get("class") == "note")

    def test_nodes_and_edges(self):
        nodes, edges, root = self.draw(self.imported())
        # All is malloc's own. With callees, a has 80: the 10 of its inner call count once.
        self.assertEqual(nodes, {"main": "self 0.00 %, total 100.00 %", "malloc": "self 100.00 %, total 100.00 %", "a ↻": "self 0.00 %, total 80.00 %",
                                 "b": "self 0.00 %, total 49.00 %", "c": "self 0.00 %, total 10.00 %", "small": "self 0.00 %, total 1.00 %"})
        self.assertEqual([edge.removesuffix(" of all") for edge in edges], [
            "a → b: 20 bytes (malloc), 20.00 %", "a → c: 10 bytes (malloc), 10.00 %", "a → malloc: 50 bytes (malloc), 50.00 %", "b → a: 10 bytes (malloc), 10.00 %",
            "b → malloc: 39 bytes (malloc), 39.00 %", "c → malloc: 10 bytes (malloc), 10.00 %", "main → a: 80 bytes (malloc), 80.00 %",
            "main → b: 19 bytes (malloc), 19.00 %", "main → small: 1 byte (malloc), 1.00 %", "small → malloc: 1 byte (malloc), 1.00 %"])
        self.assertIn("Colours and widths are shares of all malloc. 6 of 6 functions are drawn (--least 1%); ", self.note(root))

    def test_hidden_functions_are_in_other(self):
        nodes, edges, root = self.draw("--least", "30%", self.imported())
        self.assertEqual(nodes, {"main": "self 0.00 %, total 100.00 %", "malloc": "self 100.00 %, total 100.00 %", "a ↻": "self 0.00 %, total 80.00 %",
                                 "b": "self 0.00 %, total 49.00 %", "(other)": "self 0.00 %", "(other callers)": "not drawn"})
        # What leaves and what enters a function keeps its sum: a has 20 + 50 + 10, malloc 50 + 39 + 11.
        self.assertEqual([edge for edge in edges if "other" in edge or edge.startswith("a ")], [
            "(other callers) → a: 10 bytes (malloc), 10.00 % of all", "(other callers) → malloc: 11 bytes (malloc), 11.00 % of all",
            "a → (other): 10 bytes (malloc), 10.00 % of all", "a → b: 20 bytes (malloc), 20.00 % of all", "a → malloc: 50 bytes (malloc), 50.00 % of all",
            "b → (other): 10 bytes (malloc), 10.00 % of all", "main → (other): 1 byte (malloc), 1.00 % of all"])
        self.assertIn("4 of 6 functions are drawn (--least 30%)", self.note(root))
        nodes, edges, root = self.draw("-n", "2", "m.db")
        self.assertEqual(list(nodes), ["main", "malloc", "(other)", "(other callers)"])
        self.assertIn("The limit -n leaves out 4 functions.", self.note(root))

    def test_geometry(self):
        _, _, root = self.draw("--of", "small", "--levels", "1", "--least", "0%", self.imported())
        boxes = {each.find(f"{SVG}title").text.split(":")[0]: {key: float(each.get(key)) for key in ("x", "y", "width", "height")}
                 for each in root.iter(f"{SVG}rect") if each.get("class").startswith("box")}
        self.assertEqual(sorted(boxes), ["functions that are not drawn", "functions that are not drawn, where they call others", "main", "malloc", "small"])
        self.assertEqual([boxes[name]["y"] for name in ("main", "small", "malloc")], [72, 168, 264])
        self.assertEqual({(box["width"], box["height"]) for box in boxes.values()}, {(164, 44)})
        edge = next(each for each in root.iter(f"{SVG}path") if "main → small" in (each.find(f"{SVG}title").text if each.find(f"{SVG}title") is not None else ""))
        x, y = (boxes["main"]["x"] + 82, 72 + 44)
        to = boxes["small"]["x"] + 82
        self.assertEqual(edge.get("d"), f"M{x:g} {y}C{x:g} 142 {to:g} 142 {to:g} 168")
        self.assertEqual(edge.get("style"), "stroke-width:0.75")
        self.assertEqual([each.get("class") for each in root.iter(f"{SVG}rect") if "centre" in each.get("class")], ["box centre"])

    def test_contexts(self):
        self.p.ask("paths", "-q", "-o", "p.db", "--", PROGRAMS / "prog1-O2")
        nodes, edges, _ = self.draw("--of", "main", "--levels", "0", "--metric", "count", "-n", "0", "--least", "0%", "p.db")
        calls = {found[1]: int(found[2]) for edge in edges if (found := re.fullmatch(r"(.*): .* of all, ([\d,]+) calls?", edge))}
        want = {"main → a": 1, "main → e": 2, "e → d": 2, "e → c": 2, "e → a": 2, "a → b": 4, "a → c": 3, "a → f": 1, "d → c": 4}
        self.assertEqual({pair: calls.get(pair) for pair in want}, want)
        self.assertTrue(any(edge.startswith("main → e: 16 (calls), ") for edge in edges), edges)

    def test_the_same_as_the_file_for_kcachegrind(self):
        self.p.ask("paths", "-q", "-o", "p.db", "--instructions", "--", "/bin/true")
        self.p.ask("export", "--to", "callgrind", "-o", "callgrind.out.1", "p.db")
        calls, names, caller = {}, {}, None
        for line in (self.p.folder / "callgrind.out.1").read_text(encoding="utf-8").splitlines():
            found = re.fullmatch(r"(c?fn)=\((\d+)\)(?: (.*))?", line)
            if found:
                names[found[2]] = found[3] or names[found[2]]
                if found[1] == "fn":
                    caller = names[found[2]]
                callee = names[found[2]]
            elif line.startswith("calls="):
                pair = f"{caller} → {callee}"
                calls[pair] = calls.get(pair, 0) + int(line.split("=")[1].split()[0])
        _, edges, _ = self.draw("-n", "200", "--least", "0%", "--metric", "instructions", "p.db")
        drawn = {}
        for edge in edges:
            found = re.fullmatch(r"(.*?): .* of all, ([\d,]+) calls?", edge)
            if found and "(other" not in edge:
                drawn[found[1]] = drawn.get(found[1], 0) + int(found[2].replace(",", ""))
        self.assertGreater(len(drawn), 20)
        self.assertEqual(drawn, {pair: calls.get(pair) for pair in drawn})

    def test_the_same_as_the_page(self):
        """The values and calls of all edges that are drawn, those of (other) as well."""
        node = shutil.which("node") or self.skipTest("node is not installed, which runs the page's code")
        self.p.ask("paths", "-q", "-o", "p.db", "--instructions", "--", "/bin/true")
        for metric, key in ("instructions", "instructions"), ("count", "count"):
            _, edges, _ = self.draw("-n", "0", "--least", "2%", "--metric", metric, "p.db")
            drawn = [re.fullmatch(r"(.*): ([\d,]+) \(\w+\), [\d.]+ % of all(?:, ([\d,]+) calls?)?", edge) for edge in edges]
            numbers = sorted([found[1], *(int((text or "0").replace(",", "")) for text in found.groups()[1:])] for found in drawn)
            self.assertGreater(len(numbers), 10)
            page = subprocess.run([node, "--input-type=module", "-e", PAGE, key], input=self.p.ask("paths", "--from", "p.db", "--format", "json"),
                                  capture_output=True, text=True, check=True, timeout=60, cwd=WEB)
            self.assertEqual(sorted(json.loads(page.stdout)), numbers, metric)

    def test_the_tool_calls(self):
        self.p.ask("run", "-q", "-t", "calls", "-o", "c.db", "--", PROGRAMS / "prog1-O2")
        nodes, edges, _ = self.draw("--of", "e", "--levels", "1", "--least", "0%", "c.db")
        self.assertEqual({name: nodes[name] for name in "acde"}, {"a": "4 calls", "c": "9 calls", "d": "2 calls", "e": "2 calls"})
        self.assertTrue(any(re.fullmatch(r"d → c: 4 \(calls\), [\d.]+ % of all, 4 calls", edge) for edge in edges), edges)
        self.assertIn("--metric takes calls", self.p.refused("plot", "callgraph", "--metric", "time", "c.db", code=2))

    def test_a_trace(self):
        self.p.ask("trace", "-q", "-o", "t.db", "--", TRACED)
        rows = self.p.json("trace", "--from", "t.db")
        _, edges, _ = self.draw("--least", "0%", "t.db")
        calls = {found[1]: int(found[2].replace(",", "")) for edge in edges if (found := re.fullmatch(r"(.*): .* of all, ([\d,]+) calls?", edge))}
        want = {}
        for row in rows["pairs"]:
            if row["caller"] and row["caller"] != row["callee"] and row["outermost_ns"]:
                pair = f"{row['caller']} → {row['callee']}"
                want[pair] = want.get(pair, 0) + row["calls"]
        self.assertEqual({pair: n for pair, n in calls.items() if "(other" not in pair}, want)
        self.assertIn("--metric takes time", self.p.refused("plot", "callgraph", "--metric", "count", "t.db", code=2))

    def test_refused(self):
        file = self.imported()
        for words, code, want in ((("--least", "2"), 2, "--least takes a share of 0% to 100%, such as 1%, not '2'"), (("--least", "200%"), 2, "not '200%'"),
                                  (("--least", "nan%"), 2, "not 'nan%'"), (("--levels", "3"), 2, "--levels needs --of NAME"), (("--levels", "-1"), 2, "levels"),
                                  (("-n", "201"), 2, "-n takes 1 to 200"), (("--of", "nobody"), 125, "no function of m.db fits --of nobody"),
                                  (("--metric", "zz"), 2, "zz"), (("other.db", ), 2, "takes at most 1 profile; 'm.db' is one too many")):
            self.assertIn(want, self.p.refused("plot", "callgraph", *words, file, code=code), words)
        self.assertIn("has no stacks of calls", self.p.refused("plot", "callgraph", self.p.profile("run.db", 1)))
        self.p.ask("paths", "-q", "--mode", "intra", "-k", "1", "-o", "i.db", "--", "/bin/true")
        self.assertIn("the contexts of i.db are basic blocks, which call nothing", self.p.refused("plot", "callgraph", "i.db"))
        self.assertFalse((self.p.folder / "callgraph.svg").exists())


if __name__ == "__main__":
    unittest.main()
