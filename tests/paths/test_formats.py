#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The formats of `strobe paths` against its JSON: one run's profile, shown in each of them, says the same.

usage: test_formats.py STROBE FOLDER (with programs/NAME-WAY)"""

import contextlib
import json
import re
import shutil
import sqlite3
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
    "timed": ("prog1-O0", ["--time", "--instructions", "--funcs", "main,?,pthread_*"]),
    "plain": ("exceptions-O0", ["--images", "exceptions-O0"]),
    "cycles": ("prog3-O0", ["--unroll-recursion", "--instructions"]),
    "slabs": ("prog1-O0", ["-k", "1"]),
    "intra": ("prog5-O0", ["--mode", "intra", "--roll-loops", "--funcs", "main,foo,bar"]),
    "inter": ("prog5-O0", ["--mode", "inter", "--roll-loops", "--funcs", "main,foo,bar"]),
    "entries": ("entries-lazy", ["--mode", "inter", "-k", "2", "--funcs", "f_*"]),
    "loops": ("loops-O0", ["--mode", "intra", "--loops", "--funcs", "f_*"]),
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
        # callgrind_annotate takes the current folder away from files' names.
        return subprocess.run([name, *words], capture_output=True, text=True, timeout=120, cwd=self.place)


class Show(Formats):
    def test_same_as_from(self):
        """strobe show prints the contexts of a result, as strobe paths --from does."""
        for run in "plain", "timed", "loops":
            done = subprocess.run([STROBE, "show", "-n", "15", self.profile(run)], capture_output=True, timeout=120, check=True)
            self.assertTrue(done.stdout.endswith(self.strobe("--from", self.profile(run))), run)
            self.assertTrue(done.stdout.startswith(b"strobe: contexts"), run)


class Names(Formats):
    def test_tricks_on_terminals(self):
        """Names of a profile that somebody else made: nothing that a terminal acts upon is printed, nor a mark that turns the direction of writing."""
        damaged = self.place / "damaged.db"
        shutil.copy(self.profile("slabs"), damaged)
        with contextlib.closing(sqlite3.connect(damaged)) as db, db:
            db.execute("UPDATE function SET name = 'a' || char(1, 27) || '[31m' || char(0x202e) || name")
        for form in "text", "folded", "callgrind":
            text = self.strobe("--from", damaged, "--format", form).decode()
            self.assertIn("main", text)
            self.assertEqual(re.findall("[\\x00-\\x08\\x0b-\\x1f\\x7f\\u202e]", text), [], form)


class Xml(Formats):
    @staticmethod
    def loop(a):
        entries, iterations = int(a["entries"]), int(a["iterations"])
        histogram = [{"from": int(least.rstrip("+")), "entries": int(n)} for least, n in (part.split(":") for part in a["histogram"].split())]
        return {"entries": entries, "iterations": iterations, "min": int(a["leastIterations"]), "mean": round(iterations / entries, 2),
                "max": int(a["mostIterations"]), "histogram": histogram}

    def node(self, element):
        """As JSON has it."""
        a = dict(element.attrib)
        if element.tag == "insn":
            return {"offset": int(a["address"], 16), "text": element.text}
        found = {"count": int(a["counter"]), "children": [self.node(child) for child in element]} if "counter" in a else {}
        found["name"] = f"{a['name']}+{a['inside']}" if "inside" in a else a["name"]
        if "inside" in a:
            found["function"] = a["name"]
        if "image" in a:
            found.update(image=a["image"], offset=int(a["address"], 16))
        if "entries" in a:
            found["loop"] = self.loop(a)
        found.update({key: a[key] for key in ("file",) if key in a})
        found.update({key: int(a[key]) for key in ("line", "column", *METRICS) if key in a})
        return found

    def listed(self, element):
        """A function or a block."""
        found = self.node(element)
        code = [{"offset": int(insn["offset"]), "text": insn["text"]} for insn in found.pop("children")]
        found.update({key: int(element.get(key)) for key in ("blocks", "bytes") if element.get(key)})
        found.update({"no_code": element.get("noCode")} if element.get("noCode") else {"code": code} if code else {})
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
        for element, key in ("functions", "functions"), ("threadCount", "thread_count"), ("nodesKSF", "nodes_ksf"), ("nodesKCCF", "nodes_kccf"), ("blockCount", "blocks"):
            self.assertEqual(header.findtext(element), str(want[key]) if key in want else None)
        self.assertEqual([{key: one.get(key) for key in one.keys()} for one in header.iter("process")],
                         [{key: str(one[key]) for key in one} for one in want["processes"]])
        self.assertEqual([self.thread(one) for one in got.find("threads")], want["threads"])
        self.assertEqual([self.node(one) for one in got.iterfind("allLoops/loop")], want.get("all_loops", []))
        for element, key in ("allFunctions", "all_functions"), ("allBlocks", "all_blocks"):
            listed = got.find(element)
            self.assertEqual(None if listed is None else [self.listed(one) for one in listed], want.get(key))

    def test_same_as_json(self):
        self.check_json("timed", "--kccf")
        self.check_json("timed", "--join-threads")
        self.check_json("plain")
        self.check_json("slabs", "--kccf")
        self.check_json("intra")
        self.check_json("inter")
        self.check_json("loops")
        self.check_json("timed", "--functions", "--disasm")
        self.check_json("entries", "--kccf", "--functions", "--blocks", "--disasm")
        self.check_json("entries", "--blocks", "--pin-blocks")

    def test_schema(self):
        for run, words in ("timed", ["--kccf"]), ("slabs", ["--join-threads"]), ("plain", []), ("intra", []), ("inter", []), ("loops", []), \
                ("entries", ["--functions", "--blocks", "--disasm"]):
            file = self.place / f"{run}.xml"
            self.strobe("--from", self.profile(run), "-o", file, *words)  # by its name
            done = self.tool("xmllint", "--huge", "--noout", "--schema", SCHEMA, file)
            self.assertEqual(done.returncode, 0, done.stderr[-1000:])
        file.write_text(file.read_text().replace("counter=", "count=", 1))
        self.assertNotEqual(self.tool("xmllint", "--huge", "--noout", "--schema", SCHEMA, file).returncode, 0)

    def test_names(self):
        """Characters that mean something in XML, or that it has no way to write; a newline is not in names of images that are found."""
        program, file = self.place / "a<b>&'\"\t\x01\udcff", self.place / "names.db"
        shutil.copy(PROGRAMS / "prog2-O0", program)
        self.strobe("-q", "-o", file, "--funcs", "main,foo,bar", "--", program)
        [process] = json.loads(self.strobe("--from", file, "--format", "json"))["processes"]
        text = self.strobe("--from", file, "--format", "xml")
        self.assertIn(b"a&#60;b&#62;&#38;'&#34;&#9;\xef\xbf\xbd\xef\xbf\xbd", text)
        [found] = ElementTree.fromstring(text).iter("process")
        self.assertEqual(found.get("command"), process["command"].replace("\x01", "\ufffd"))
        images = {node.get("image", "").rsplit("/", 1)[-1] for node in ElementTree.fromstring(text).iter("node")}
        self.assertIn("a<b>&'\"\t\ufffd\ufffd", images)

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


def key(node):
    """A function, as the formats by function tell them apart."""
    return node["name"], node.get("image", "???"), node.get("file") or "???"


def weights(node):
    return [node[name] for name in ("self_ns", "instructions", "count") if name in node]


def add(into, name, values):
    into[name] = [a + b for a, b in zip(into.get(name, [0] * len(values)), values)]


class Callgrind(Formats):
    def read(self, text):
        """(own costs by function, calls and costs by pair, what the header says)"""
        names, own, calls, costs, header, here, called, times = {}, {}, {}, {}, {}, {}, {}, None
        for line in text.decode().splitlines():
            word, equals, value = line.partition("=")
            if equals and word in ("ob", "fl", "fn", "fi", "cob", "cfi", "cfn"):
                space = {"ob": "ob", "cob": "ob", "fn": "fn", "cfn": "fn"}.get(word, "fl")
                number, _, name = value.partition(" ")
                if name:
                    self.assertNotIn((space, number), names)  # compressed: once is enough
                    names[space, number] = name
                (called if word[0] == "c" else here)[{"fi": "fl"}.get(space, space)] = names[space, number]
            elif word == "calls":
                times = int(value.split()[0])
            elif line[:1].isdigit():
                function = tuple(here[space] for space in ("fn", "ob", "fl"))
                values = [int(number) for number in line.split()[1:]]
                if times is None:
                    add(own, function, values)
                else:
                    pair = function, tuple(called[space] for space in ("fn", "ob", "fl"))
                    add(costs, pair, values)
                    add(calls, pair, [times])
                    times = None
            elif ": " in line:
                header[line.partition(": ")[0]] = line.partition(": ")[2]
        return own, calls, costs, header

    def truth(self, document):
        """(own costs, calls, costs of pairs, inclusive costs), slowly, from the contexts."""
        own, calls, costs, whole = {}, {}, {}, {}
        waiting = [((), node) for thread in document["threads"] for node in thread["ksf"]]
        while waiting:
            above, node = waiting.pop()
            path = (*above, key(node))
            waiting += [(path, child) for child in node["children"]]
            add(own, path[-1], weights(node))
            if above:
                add(calls, path[-2:], [node["count"]])
                add(costs, path[-2:], [0] * len(weights(node)))
            for function in set(path):
                add(whole, function, weights(node))
                inner = len(path) - 1 - path[::-1].index(function)
                if inner + 1 < len(path):
                    add(costs, path[inner:inner + 2], weights(node))
        return own, calls, costs, whole

    def check_json(self, run, *words):
        document = self.json(run, *words)
        own, calls, costs, header = self.read(self.show(run, "callgrind", *words))
        want_own, want_calls, want_costs, whole = self.truth(document)
        self.assertEqual(own, want_own)
        self.assertEqual(calls, {pair: [times or 1] for pair, [times] in want_calls.items() if times or any(want_costs[pair])})
        self.assertEqual(costs, {pair: want_costs[pair] for pair in costs})
        sums = {}
        for function, values in own.items():
            add(sums, function, values)
        for (function, _), values in costs.items():
            add(sums, function, values)
        self.assertEqual(sums, whole)  # however it recurs
        self.assertEqual(header["summary"], " ".join(str(sum(values)) for values in zip(*own.values())))
        return header["events"], whole

    def test_same_as_json(self):
        self.assertEqual(self.check_json("timed")[0], "Ns Ir Count")
        self.assertEqual(self.check_json("plain")[0], "Count")
        events, whole = self.check_json("cycles")
        self.assertEqual(events, "Ir Count")
        self.assertEqual({name: values[1] for (name, _, _), values in whole.items() if name in ("foo", "bar")}, {"foo": 6, "bar": 5})

    def annotate(self, run, *words):
        """Costs by function, as callgrind_annotate reads them, and of the whole."""
        file = self.place / f"{run}.callgrind"
        self.strobe("--from", self.profile(run), "-o", file)
        done = self.tool("callgrind_annotate", "--threshold=100", "--show-percs=no", "--auto=no", *words, file)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        functions, whole = {}, None
        for line in done.stdout.splitlines():
            found = re.fullmatch(r"((?: *[\d,]+)+) +(.+)", line)
            if not found or not line.strip()[0].isdigit():
                continue
            values = [int(number.replace(",", "")) for number in found[1].split()]
            if found[2] == "PROGRAM TOTALS":
                whole = values
            else:
                add(functions, re.sub(r" \[.*\]$", "", found[2]), values)
        return functions, whole

    def test_annotate(self):
        for run in "timed", "cycles":
            own, _, _, whole = self.truth(self.json(run))
            functions, totals = self.annotate(run)
            self.assertEqual(totals, [sum(values) for values in zip(*own.values())])
            want = {}
            for (name, _, file), values in own.items():
                add(want, f"{file}:{name}", values)
            self.assertEqual(functions, {name: want[name] for name in functions})
            self.assertTrue(any(name.endswith(":main") for name in functions))
        main = next(values for (name, _, _), values in whole.items() if name == "main")
        functions, _ = self.annotate("cycles", "--inclusive=yes")
        self.assertIn(main, [values for name, values in functions.items() if name.endswith(":main")])

    def test_blocks(self):
        for run in "intra", "inter":
            want = {}
            for thread in self.json(run)["threads"]:
                for _, node in contexts(forests(thread)):
                    add(want, node.get("function", node["name"]), weights(node))
            own, calls, _, _ = self.read(self.show(run, "callgrind"))
            found = {}
            for (name, _, _), values in own.items():
                add(found, name, values)
            self.assertEqual((found, calls), (want, {}))


def varint(data, at):
    value = shift = 0
    while True:
        value, shift, at = value | (data[at] & 0x7F) << shift, shift + 7, at + 1
        if data[at - 1] < 0x80:
            return value, at


def message(data):
    """A message's fields: numbers, or bytes of whatever kind."""
    fields, at = {}, 0
    while at < len(data):
        begin, at = varint(data, at)
        value, at = varint(data, at)
        if begin & 7 == 2:
            value, at = data[at:at + value], at + value
            assert at <= len(data)
        else:
            assert begin & 7 == 0
        fields.setdefault(begin >> 3, []).append(value)
    return fields


def packed(data):
    values, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


class Pprof(Formats):
    def read(self, data):
        """(types, default type, contexts: thread, path, values)"""
        fields = message(data)
        strings = [text.decode() for text in fields[6]]
        self.assertEqual(strings[0], "")

        def numbers(field, which):
            found = [message(one) for one in fields[field]]
            return {one[1][0]: {name: one.get(number, [0])[0] for name, number in which.items()} for one in found}

        types = [tuple(strings[number] for [number] in (message(one)[1], message(one)[2])) for one in fields[1]]
        mappings = numbers(3, {"limit": 3, "file": 5})
        functions = numbers(5, {"name": 2, "file": 4, "line": 5})
        places = {}
        for location in map(message, fields[4]):
            line = message(location[4][0])
            function = functions[line[1][0]]
            place = {"function": strings[function["name"]], "file": strings[function["file"]], "line": line.get(2, [0])[0]}
            if 2 in location:
                mapping = mappings[location[2][0]]
                place.update(image=strings[mapping["file"]], offset=location.get(3, [0])[0])
                self.assertLess(place["offset"], mapping["limit"])
            places[location[1][0]] = place
        samples = []
        for sample in map(message, fields[2]):
            label = message(sample[3][0]) if 3 in sample else None
            thread = label[3][0] if label and strings[label[1][0]] == "thread" else None
            samples.append((thread, [places[number] for number in reversed(packed(sample[1][0]))], packed(sample[2][0])))
        return types, strings[fields[14][0]], samples

    def check_json(self, run, *words):
        document = self.json(run, *words)
        types, default, samples = self.read(self.show(run, "pprof", *words))
        found = [(thread, [(one["function"], one.get("image"), one.get("offset"), one["line"]) for one in path], values) for thread, path, values in samples]
        want = []
        for thread in document["threads"]:
            waiting = [([], node) for node in forests(thread)]
            while waiting:
                above, node = waiting.pop()
                path = [*above, (node.get("function", node["name"]), node.get("image"), node.get("offset"), node.get("line", 0))]
                waiting += [(path, child) for child in node["children"]]
                values = [node[name] for name in ("count", "self_ns", "instructions") if name in node]
                if any(values):
                    want.append((None if "joined" in thread else thread["thread"], path, values))
        self.assertEqual(sorted(found, key=repr), sorted(want, key=repr))
        return types, default

    def test_same_as_json(self):
        types = [("activations", "count"), ("time", "nanoseconds"), ("instructions", "count")]
        self.assertEqual(self.check_json("timed"), (types, "time"))
        self.assertEqual(self.check_json("timed", "--join-threads"), (types, "time"))
        self.assertEqual(self.check_json("plain"), (types[:1], "activations"))
        self.assertEqual(self.check_json("cycles"), (types[::2], "instructions"))
        self.check_json("intra")
        self.check_json("inter")

    def test_file(self):
        file = self.place / "plain.pprof"
        self.strobe("--from", self.profile("plain"), "-o", file)
        self.assertEqual(file.read_bytes(), self.show("plain", "pprof"))  # with its zeros
        self.strobe("-q", "-o", file, "--", PROGRAMS / "prog1-O0")
        self.assertEqual(self.read(file.read_bytes())[:2], ([("activations", "count")], "activations"))


class Choice(Formats):
    def test_by_name(self):
        for form, end in ("text", "txt"), *((form, form) for form in ("xml", "json", "folded", "speedscope", "callgrind", "pprof")):
            file = self.place / f"named.{end}"
            self.strobe("--from", self.profile("plain"), "-o", file)
            self.assertEqual(file.read_bytes(), self.show("plain", form))

    def test_unknown(self):
        done = subprocess.run([STROBE, "paths", "--format", "svg", "--", "true"], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn("db, text, xml, json, folded, speedscope, callgrind, pprof", done.stderr)


if __name__ == "__main__":
    unittest.main()
