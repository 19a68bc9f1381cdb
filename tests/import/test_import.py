#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: test_import.py STROBE FILES
Files of other tools into profiles and out again: what they say is what the profile says, and what is damaged is refused."""
import gzip
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

STROBE, FILES = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))


class Import(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="strobe-import-")
        self.addCleanup(place.cleanup)
        self.place = place.name

    def strobe(self, *arguments, **more):
        return subprocess.run([STROBE, *arguments], cwd=self.place, capture_output=True, text=True, timeout=60, **more)

    def good(self, *arguments, **more):
        done = self.strobe(*arguments, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def write(self, name, text):
        with open(os.path.join(self.place, name), "w", encoding="utf-8") as f:
            f.write(text)

    def profile(self, path, *options, says=None):
        """The profile of a file, as JSON; says: what was printed before the result's name."""
        done = self.good("import", "-o", "p.db", *options, path)
        if says is not None:
            self.assertEqual(done.stderr, says + "\nstrobe: result: p.db\n")
        return json.loads(self.good("show", "--format", "json", "p.db").stdout)

    def series(self, path, *options, says=None):
        return self.profile(path, *options, says=says)["measurements"]

    def text(self, text, *options, says=None):
        self.write("in", text)
        return self.series("in", *options, says=says)

    def refused(self, text, reason, *options):
        self.write("in", text)
        done = self.strobe("import", "-o", "bad.db", *options, "in")
        self.assertEqual((done.returncode, done.stderr), (125, f"strobe: cannot read in: {reason}\n"))
        self.assertFalse(os.path.exists(os.path.join(self.place, "bad.db")))


def file(name):
    return os.path.join(FILES, name)


def brief(series):
    """Where and what, without what is unknown; values; features."""
    where = {key: series[key] for key in ("image", "file", "class", "module", "function", "line") if series[key] is not None}
    return where, series["metric"], series["kind"], series["unit"], series["values"], series["features"]


class Perun(Import):
    def test_columns(self):
        one, two = self.series(file("perun_columns.json"), says="strobe: perun: 4 values in 2 series")
        self.assertEqual(brief(one), ({"function": "SLList_search"}, "time delta", "mixed", "us", [3, 1.5, 2],
                                      {"thread": [17] * 3, "size": [1, 2, 3], "time": [10, 20, 30], "call-order": [0, 1, 2]}))
        self.assertEqual(brief(two), ({"image": "a", "file": "a.c", "function": "f", "line": 12}, "mixed", "mixed", "us", [7], {"order": [0]}))
        self.assertEqual(two["frames"], [{"function": "malloc", "file": "m.c", "line": 3}])
        self.assertEqual(one["labels"], {"workload": "w"})

    def test_what_it_says_of_the_run(self):
        shown = self.profile(file("perun_columns.json"))
        self.assertEqual((shown["strobe"]["tool"], shown["run"]["command"]), ("trace", ["./a", "-x", "1"]))

    def test_global(self):
        one, = self.series(file("perun_global.json"), says="strobe: perun: 1 value in 1 series\nstrobe: 1 resource of the imported file "
                           "could not be read, the first is resource 2")
        self.assertEqual(brief(one), ({"function": "main"}, "malloc", "memory", "B", [4], {"address": [140737488355327]}))

    def test_global_may_be_the_list_itself(self):
        one, = self.text('{"header": {"type": "time"}, "global": [{"amount": 1, "uid": "f"}, {"amount": 2, "uid": "f"}]}')
        self.assertEqual(brief(one), ({"function": "f"}, "time", "time", "", [1, 2], {}))

    def test_snapshots(self):
        malloc, free = self.series(file("perun_snapshots.json"))
        self.assertEqual(brief(malloc), ({"file": "a.c", "function": "main", "line": 5}, "malloc", "memory", "B", [4],
                                         {"snapshot": [0], "time": [0.001]}))
        self.assertEqual([f["function"] for f in malloc["frames"]], ["malloc", "main"])
        self.assertEqual((free["metric"], free["features"]), ("free", {"snapshot": [2], "time": [0.003]}))

    def test_columns_of_texts_make_series(self):
        resources = {"t#0": {"amount": [1, 2, 3], "uid": ["f", "g", "f"], "order": [5, 6, 7]}}
        found = self.text(json.dumps({"header": {}, "resources": resources, "resource_type_map": {"t#0": {"type": "time"}}}))
        self.assertEqual([(s["function"], s["values"], s["features"]["order"]) for s in found], [("f", [1, 3], [5, 7]), ("g", [2], [6])])

    def test_refused(self):
        head = '{"header": {"type": "time"}, '
        self.refused(head, "line 1: it is no JSON: string or '}' expected near end of file", "--from", "perun")
        self.refused("[1]", "it is JSON, but no object", "--from", "perun")
        self.refused(head + '"x": 1}', "it has neither resources nor global nor snapshots", "--from", "perun")
        self.refused(head + '"resources": {"t": {"amount": [1]}}}', "type 't' is missing from its resource_type_map")
        columns = head + '"resource_type_map": {"t": {"uid": "f"}}, "resources": {"t": %s}}'
        self.refused(columns % '{"order": [1]}', "resources of type 't' have no amount")
        self.refused(columns % '{"amount": [1, 2], "order": [1]}', "of resources of type 't' there are 2 amounts, but 1 of 'order'")
        self.refused(columns.replace('"uid": "f"', "") % '{"amount": [1]}', "type 't' has no uid")
        self.refused(head + '"global": {"resources": 7}}', "its resources are no list")
        self.refused(head + '"snapshots": {}}', "its snapshots are no list")
        self.refused(head + '"global": [{"amount": 1}]}', "none of its resources has a uid and an amount")
        many = json.dumps({"amount": [1]} | {f"c{n}": [n] for n in range(300)})
        self.refused(columns % many, "it has more than 256 features; 'c256' is one too many")

    def test_what_has_no_place_comes_out_again(self):
        """Models, postprocessors, header: V4 and whatever Perun adds."""
        self.good("import", "-o", "p.db", file("perun_columns.json"))
        with open(file("perun_columns.json"), encoding="utf-8") as f:
            before = json.load(f)
        after = json.loads(self.good("export", "--to", "perun", "p.db").stdout)
        for key in before.keys() - {"resources", "resource_type_map"}:
            self.assertEqual(after[key], before[key])
        self.assertEqual(after["resources"], before["resources"])
        for kind, fields in before["resource_type_map"].items():
            fields["unit"], fields["workload"] = "us", "w"
            if "source" in fields["uid"]:
                fields["uid"]["file"] = fields["uid"].pop("source")
        self.assertEqual(after["resource_type_map"], before["resource_type_map"])

    def test_of_strobe_time(self):
        self.good("time", "-r", "3", "-o", "t.db", "--workload", "large", "--size", "5", "--", "true", "x")
        out = json.loads(self.good("export", "--to", "perun", "t.db").stdout)
        self.assertEqual((out["header"]["cmd"], out["header"]["args"], out["header"]["workload"]), ("true", "x", "large"))
        self.assertEqual(out["header"]["units"], {"time": "ns", "memory": "B", "count": ""})
        self.assertEqual(out["collector_info"]["name"], "time")
        uids = [fields["uid"] for fields in out["resource_type_map"].values()]
        self.assertEqual(uids[:2], [{"bin": "true", "metric": "wall"}, {"bin": "true", "metric": "user"}])
        self.assertEqual(out["resources"]["time#0"]["structure-unit-size"], [5] * 3)


class Others(Import):
    def test_hyperfine(self):
        found = self.series(file("hyperfine.json"), says="strobe: hyperfine: 6 values in 4 series\nstrobe: 1 result of the imported file "
                            "could not be read, the first is result 2")
        wall, memory, user, system = found
        features = {"repetition": [1, 2], "exit": [0, 1], "n": [1000, 1000]}
        self.assertEqual(brief(wall), ({"image": "sort"}, "wall", "time", "s", [0.2, 0.3], features))
        self.assertEqual(brief(memory), ({"image": "sort"}, "peak memory", "memory", "B", [4096, 8192], features))
        self.assertEqual(brief(user), ({"image": "sort"}, "user", "time", "s", [0.125], {"n": [1000]}))
        self.assertEqual(system["labels"], {"mode": "fast", "statistic": "mean"})
        self.refused('{"results": [{"command": "x"}]}', "it has no result with a command and its times", "--from", "hyperfine")
        self.refused('{"results": 1, "command": 1, "times": 1}', "it has no list of results")

    def test_benchmark(self):
        found = self.series(file("benchmark.json"), says="strobe: benchmark: 8 values in 5 series\nstrobe: 1 benchmark of the imported "
                            "file could not be read, the first is benchmark 5")
        real, cpu, items, copy, _ = found
        features = {"repetition": [1, 2], "iterations": [100, 50], "threads": [2, 2], "size": [1024, 2048]}
        self.assertEqual(brief(real), ({"function": "BM_sort"}, "real time", "time", "us", [12.5, 26], features))
        self.assertEqual(brief(cpu), ({"function": "BM_sort"}, "cpu time", "time", "us", [25, 50], features))
        self.assertEqual(brief(items), ({"function": "BM_sort"}, "items", "count", "", [7.5, 8], features))
        self.assertEqual((brief(copy)[4:], copy["labels"]), (([1], {"argument1": [8], "argument2": [16]}), {"label": "small"}))
        self.refused('{"context": {}, "benchmarks": []}', "it has no benchmark that was run to its end")

    def test_our_json(self):
        wall, steps = self.series(file("strobe.json"), says="strobe: json: 3 values in 2 series")
        self.assertEqual(brief(wall), ({"image": "a"}, "wall", "time", "ns", [1, None, 2.5], {"size": [10, 20, 30], "depth": [None, 2, None]}))
        self.assertEqual((wall["labels"], wall["frames"]), ({"workload": "w", "of": "3"}, [{"function": "f", "file": "f.c", "line": 3}]))
        self.assertEqual(brief(steps), ({}, "steps", "count", "", [], {}))
        self.refused('{"measurements": 1}', "its measurements are no list")
        self.refused('{"measurements": [{"values": []}]}', "measurement 1 has no metric")
        self.refused('{"measurements": [{"metric": "x"}]}', "measurement 1 has no list of values")
        self.refused('{"measurements": [{"metric": "x", "values": ["1"]}]}', "measurement 1 has a value that is no number")
        self.refused('{"measurements": [{"metric": "x", "values": [1], "features": {"n": [1, 2]}}]}', "feature 'n' has 2 numbers for 1 values")


class Tables(Import):
    def test_metrics_with_units(self):
        found = self.series(file("table.csv"), says="strobe: csv: 4 values in 3 series\nstrobe: 2 lines of the imported file could not "
                            "be read, the first is line 4")
        self.assertEqual([brief(s) for s in found], [
            ({"function": "f"}, "wall", "time", "ns", [5.5, 7], {"size": [10, 20]}),
            ({"function": "f"}, "mem", "memory", "B", [100], {"size": [10]}),
            ({"function": "g"}, "mem", "memory", "B", [1], {"size": [1]})])
        self.assertEqual([s["labels"] for s in found], [{"workload": "a b"}] * 2 + [{"workload": 'x,"y"'}])

    def test_a_column_of_values(self):
        found = self.text("# made by hand\nfunction\tvalue\tunit\tmetric\tn\nf\t1\tms\tt\t3\n\nf\t2\tms\tt\t4\r\ng\t3\t\t\t\n")
        self.assertEqual([brief(s) for s in found], [({"function": "f"}, "t", "time", "ms", [1, 2], {"n": [3, 4]}),
                                                     ({"function": "g"}, "value", "count", "", [3], {})])

    def test_quoted_fields(self):
        one, = self.text('"name","value"\n"a ""b""\nc, d",1\n')
        self.assertEqual((one["labels"], one["values"]), ({"name": 'a "b"\nc, d'}, [1]))

    def test_standard_input(self):
        done = self.good("import", "-", input="value,x\n1,2\n")
        self.assertEqual(done.stderr, "strobe: csv: 1 value in 1 series\nstrobe: result: import.db\n")

    def test_refused(self):
        self.refused("a,b\n1,2\n", "line 1: no column has values: call it 'value', or name its metric and unit, as in 'wall [ns]'", "--from", "csv")
        self.refused("value,\n1,2\n", "line 1: column 2 has no name")
        self.refused("value,x\n", "no row has a value")
        self.refused("value,x\none,2\n", "line 2: no row has a value")
        self.refused("value,x\n1\0,2\n", "it has a byte 0, and so is no table of text")


class Stacks(Import):
    def functions(self, path, **more):
        shown = self.profile(path, **more)
        return {f["name"]: f for f in shown["functions"]}

    def contexts(self):
        return sorted(self.good("export", "--to", "folded", "p.db").stdout.splitlines())

    def samples(self):
        db = sqlite3.connect(os.path.join(self.place, "p.db"))
        self.addCleanup(db.close)
        return {(name, os.path.basename(path)): (own, total) for name, path, own, total in
                db.execute("SELECT f.name, i.path, f.samples, f.samples_total FROM function f JOIN image i ON i.id = f.image")}

    def test_folded(self):
        self.profile(file("stacks.folded"), says="strobe: folded: 4 functions, 6 contexts\n"
                     "strobe: 1 line of the imported file could not be read, the first is line 4")
        self.assertEqual(self.contexts(), ["main 3", "main;f 6", "main;f;g 10", "main;h;main;f 7"])
        self.assertEqual(self.samples(), {(name, "[unknown]"): n for name, n in
                                          {"main": (3, 26), "f": (13, 23), "g": (10, 10), "h": (0, 7)}.items()})

    def test_folded_out_and_in_again(self):
        self.profile(file("stacks.folded"))
        before, samples = self.contexts(), self.samples()
        self.good("export", "--to", "folded", "-o", "out", "p.db")
        self.profile("out", "--from", "folded", says="strobe: folded: 4 functions, 6 contexts")
        self.assertEqual((self.contexts(), self.samples()), (before, samples))

    def test_few_samples_have_shares(self):
        """Of a file without instructions, there is nothing else that shares could be of."""
        self.write("in", "a;b 10\na 5\nc 3\n")
        profile = self.profile("in", "--from", "folded", says="strobe: folded: 3 functions, 3 contexts")
        shown = {f["name"]: (f["self_share"], f["total_share"]) for f in profile["functions"]}
        self.assertEqual({name: (round(18 * own), round(18 * total)) for name, (own, total) in shown.items()}, {"a": (5, 15), "b": (10, 10), "c": (3, 3)})

    def test_folded_refused(self):
        self.refused("one two\n;;\n", "line 1: no line is a stack and a number", "--from", "folded")

    def test_perf(self):
        self.profile(file("perf.txt"), says="strobe: perf: 4 functions, 4 contexts\n"
                     "strobe: 2 lines of the imported file could not be read, the first is line 13")
        self.assertEqual(self.samples(), {("inner(int, char*)", "a b"): (1, 1), ("main", "a b"): (1, 2), ("[unknown]", "libc.so.6"): (0, 2),
                                          ("main", "gone (deleted)"): (1, 1)})
        self.assertEqual(self.contexts(), ["[unknown];main 250000", "[unknown];main;inner(int, char*) 250000", "main 100"])
        shown = json.loads(self.good("paths", "--from", "p.db", "--format", "json").stdout)
        self.assertEqual(sorted(t["tid"] for t in shown["threads"]), [1, 4712])

    def test_perf_refused(self):
        self.refused("a 1 1.5: 7 cycles: \n\n", "it has no sample with a stack")


def varint(n):
    out = b""
    while n >= 0x80:
        out += bytes([n & 0x7f | 0x80])
        n >>= 7
    return out + bytes([n])


def message(*fields):
    """Each field: its number, and a number, bytes (a message) or a list (packed numbers)."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            value = b"".join(map(varint, value)) if isinstance(value, list) else value
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


# A heap profile as Go has it: two functions inlined at one location, an address without a function.
TEXTS = "", "alloc_objects", "count", "alloc_space", "bytes", "main", "inner", "a.go", "/bin/a", "time", "milliseconds"
PPROF = message(
    (1, message((1, 1), (2, 2))), (1, message((1, 3), (2, 4))), (1, message((1, 9), (2, 10))),
    (2, message((1, [1, 2]), (2, [3, 4096, 7]))), (2, message((1, 2), (2, 1), (2, 64), (2, 0))), (2, message((1, [3]), (2, [5, 0, 0]))),
    (3, message((1, 1), (5, 8))),
    (4, message((1, 1), (2, 1), (3, 16), (4, message((1, 2), (2, 30))), (4, message((1, 1), (2, 12))))),
    (4, message((1, 2), (2, 1), (4, message((1, 1), (2, 11))))), (4, message((1, 3), (3, 255))),
    (5, message((1, 1), (2, 5), (4, 7), (5, 10))), (5, message((1, 2), (2, 6), (4, 7))),
    *[(6, text.encode()) for text in TEXTS], (9, 1700000000000000000), (10, 5))


class Pprof(Import):
    def bytes(self, data, name="in"):
        with open(os.path.join(self.place, name), "wb") as f:
            f.write(data)
        return name

    def contexts(self):
        return sorted(self.good("export", "--to", "folded", "p.db").stdout.splitlines())

    def test_plain_and_compressed(self):
        for data in PPROF, gzip.compress(PPROF):
            found = self.series(self.bytes(data), says="strobe: pprof: 2 values in 2 series, 4 contexts")
            self.assertEqual([(brief(s), [f["function"] for f in s["frames"]]) for s in found], [
                (({"image": "/bin/a", "file": "a.go", "function": "inner"}, "alloc_space", "memory", "B", [4096], {}), ["inner", "main", "main"]),
                (({"image": "/bin/a", "file": "a.go", "function": "main"}, "alloc_space", "memory", "B", [64], {}), ["main"])])
            self.assertEqual(self.contexts(), ["main;main;inner 7000000"])

    def test_out_and_in_again(self):
        """Contexts with time, through pprof and back."""
        self.profile(file("perf.txt"))
        before = self.contexts()
        for name in "one", "two":
            self.good("export", "--to", "pprof", "-o", name, "p.db")
            self.profile(name)
            self.assertEqual(self.contexts(), before)
        with open(os.path.join(self.place, "one"), "rb") as a, open(os.path.join(self.place, "two"), "rb") as b:
            self.assertEqual(a.read(), b.read())

    def test_refused(self):
        for data, reason in ((PPROF[:-40], "it is damaged: its messages do not fit together"),
                             (message((1, message((1, 0))), (2, message((1, 9), (2, 1))), (6, b"")), "it is damaged: its messages do not fit together"),
                             (message((1, message((1, 0))), (6, b"")), "it has no samples"),
                             (gzip.compress(PPROF)[:-30], "it is damaged, or too large: gzip cannot unpack it to at most 1 GiB")):
            done = self.strobe("import", "--from", "pprof", "-o", "bad.db", self.bytes(data))
            self.assertEqual((done.returncode, done.stderr), (125, f"strobe: cannot read in: {reason}\n"))

    def test_mutants(self):
        """Any byte changed, any end: read or refused, and never worse."""
        codes = set()
        for i in range(0, len(PPROF), 5):
            for data in PPROF[:i] + bytes([PPROF[i] ^ 0x81]) + PPROF[i + 1:], PPROF[:i]:
                codes.add(self.strobe("import", "-q", "--from", "pprof", "-o", "m.db", self.bytes(data)).returncode)
        self.assertEqual(codes, {0, 125})


class Callgrind(Import):
    def table(self, name):
        shown = json.loads(self.good("show", "--format", "json", "--table", name, "p.db").stdout)
        return [{key: value["name"] if isinstance(value, dict) else value for key, value in row.items()} for row in shown[name]]

    def test_all(self):
        shown = self.profile(file("callgrind.out"), says="strobe: callgrind: 3 functions")
        self.assertEqual(shown["run"]["command"], ["./a", "x", "y"])
        self.assertEqual([(f["name"], f["image"], f["calls"], f["instructions"]) for f in shown["functions"]],
                         [("f", "/bin/a", 3, 250), ("g", "/lib/c.so", 3, 90), ("main", "/bin/a", 0, 12)])
        lines = json.loads(self.good("show", "--format", "json", "--lines", "p.db").stdout)["lines"]
        self.assertEqual(sorted((x["file"], x["line"], x["function"], x["instructions"]) for x in lines),
                         [("a.c", 10, "main", 5), ("a.c", 12, "main", 7), ("a.c", 20, "f", 250), ("c.c", 1, "g", 90)])

    def test_tables(self):
        self.profile(file("callgrind.out"))
        db = sqlite3.connect(os.path.join(self.place, "p.db"))
        self.addCleanup(db.close)
        self.assertEqual(db.execute("SELECT caller, callee, calls, Ir, Dr FROM named_calls").fetchall(),
                         [("main", "f", 3, 300, 30), ("f", "g", 2, 50, 5), ("main", "g", 1, 40, 0)])
        self.assertEqual(db.execute("SELECT function, Ir, Dr FROM named_costs").fetchall(), [("f", 250, 25), ("g", 90, 5), ("main", 12, 2)])

    def test_out_and_in_again(self):
        """Functions, lines, calls, costs and command survive import, export and import."""
        many = "# callgrind format\ncmd: x\nevents: " + " ".join("ABCDEFGH") + " Ir\nfl=a.c\nfn=f\n5 1 2 3 4 5 6 7 8 9\ncfn=g\ncalls=2 1\n6 9 8 7 6 5 4 3 2 1\nfn=g\n1 1\n"
        odd = "# callgrind format\nevents: X\nob=???\nfl=???\nfn=f(int, char)\n5 7\nfn=g\nfi=b.h\n3 4\ncfn=h\ncalls=1 1\n2 2\n"
        with open(file("callgrind.out"), encoding="utf-8") as f:
            texts = [f.read(), many, odd]
        for text in texts:
            self.write("in", text)
            shown = []
            for name in ("in", "again"):
                self.good("import", "-q", "-o", name + ".db", name)
                self.good("export", "--to", "callgrind", "-o", "again", name + ".db")
                db = sqlite3.connect(os.path.join(self.place, name + ".db"))
                self.addCleanup(db.close)
                tables = ["named_costs", "image", "function", "line", "argument"] + (["named_calls"] if "calls=" in text else [])
                shown.append({table: sorted(db.execute(f"SELECT * FROM {table}").fetchall(), key=str) for table in tables})
            self.assertEqual(shown[0], shown[1])
            self.assertTrue(shown[0]["named_costs"])

    def test_exported(self):
        self.profile(file("callgrind.out"))
        self.assertEqual(self.good("export", "--to", "callgrind", "p.db").stdout, """# callgrind format
version: 1
creator: strobe export
cmd: ./a x y
positions: line
events: Ir Dr

ob=/bin/a
fl=a.c
fn=(1) f
20 250 0
0 0 25
cob=/lib/c.so
cfi=c.c
cfn=(3) g
calls=2 0
0 50 5

ob=/bin/a
fl=a.c
fn=(2) main
10 5 0
12 7 0
0 0 2
cob=/bin/a
cfi=a.c
cfn=(1)
calls=3 0
0 300 30
cob=/lib/c.so
cfi=c.c
cfn=(3)
calls=1 0
0 40 0

ob=/lib/c.so
fl=c.c
fn=(3)
1 90 0
0 0 5
""")

    def test_jumps(self):
        """Jumps are left out without a note; a file whose number they introduce keeps its name."""
        self.write("in", "# callgrind format\nevents: Ir\nob=a\nfl=(1) a.c\nfn=(1) f\n5 7\njfi=(2) b.h\njump=3 20\n5\njfi=(3) c.c\njfn=(2) g\njob=(1) z\njcnd=1/3 9\n6\n"
                   "fi=(2)\n8 2\n")
        done = self.good("import", "-o", "p.db", "in")
        self.assertEqual(done.stderr, "strobe: callgrind: 1 function\nstrobe: result: p.db\n")
        db = sqlite3.connect(os.path.join(self.place, "p.db"))
        self.addCleanup(db.close)
        self.assertEqual(db.execute("SELECT file, line, instructions FROM line ORDER BY file").fetchall(), [("a.c", 5, 7), ("b.h", 8, 2)])

    def test_what_it_may_say(self):
        """Positions of instructions, relative ones, jumps, costs of included files, events of which there is no place."""
        head = "# callgrind format\npositions: instr line\nevents: A B C D E F G H I J K\n"
        body = "fl=a.c\nfn=f\n0x10 5 1 2\n+4 -1 3\nfi=inc.h\n* 9 4\nfe=a.c\njump=3 0x20 5\n0x10 5\nnonsense\n"
        self.write("in", head + body)
        done = self.good("import", "-o", "p.db", "in")
        self.assertEqual(done.stderr, "strobe: callgrind: 1 function\nstrobe: 2 events of the imported file are left out: a table has at "
                         "most 9\nstrobe: 1 line of the imported file could not be read, the first is line 13\nstrobe: result: p.db\n")
        db = sqlite3.connect(os.path.join(self.place, "p.db"))
        self.addCleanup(db.close)
        self.assertEqual(db.execute("SELECT A, B, I FROM named_costs").fetchall(), [(8, 2, 0)])

    def test_refused(self):
        self.refused("# callgrind format\nevents: Ir\nfn=f\n", "no function in it has costs")
        self.refused("# callgrind format\nfn=f\n1 2\n", "line 3: no function in it has costs")


class Gprof(Import):
    def test_all(self):
        self.profile(file("gprof.txt"), says="strobe: gprof: 4 functions\n"
                     "strobe: 1 line of the imported file could not be read, the first is line 10")
        db = sqlite3.connect(os.path.join(self.place, "p.db"))
        self.addCleanup(db.close)
        self.assertEqual(db.execute("SELECT name, calls, samples, samples_total FROM function ORDER BY id").fetchall(),
                         [("leaf(int, char)", 622, 30, 30), ("main", 0, 0, 50), ("mid", 2, 20, 49), ("rec", 1, 0, 1)])
        self.assertEqual(db.execute("SELECT caller, callee, calls, ns FROM named_calls").fetchall(), [
            ("mid", "leaf(int, char)", 601, 290000000), ("rec", "leaf(int, char)", 21, 10000000), ("rec", "rec", 20, 0),
            ("main", "mid", 2, 490000000), ("main", "rec", 1, 10000000)])
        self.assertEqual(db.execute("SELECT sample_hz, samples_code, stacks FROM run").fetchall(), [(100, 50, 50)])

    def test_refused(self):
        self.refused("Flat profile:\n\n  %   cumulative\n time   seconds   seconds\nbad\n\n", "line 5: no function is in its flat profile")


class Example(Import):
    def test_the_collector_of_twenty_lines(self):
        script = os.path.join(os.path.dirname(FILES), "..", "..", "examples", "collectors", "disk.sh")
        with open(script, encoding="utf-8") as f:
            self.assertLessEqual(len(f.readlines()), 20)
        table = subprocess.run(["sh", script, "true"], capture_output=True, text=True, check=True, timeout=60).stdout
        found = self.text(table, says="strobe: csv: 10 values in 2 series")
        self.assertEqual([(s["image"], s["metric"], s["unit"], s["features"]) for s in found],
                         [("true", metric, "B", {"repetition": [1, 2, 3, 4, 5]}) for metric in ("read", "written")])


class RoundTrips(Import):
    def test_out_and_in_again(self):
        """Each file, in each format that can hold it: the profile stays the same."""
        for name in sorted(os.listdir(FILES)):
            for form in "perun", "json", "csv":
                with self.subTest(file=name, format=form):
                    before = self.profile(file(name)).get("measurements")
                    if not before:
                        continue
                    if form == "csv" and any(s["frames"] for s in before):
                        continue
                    self.good("export", "--to", form, "-o", "out", "p.db")
                    before = [s for s in before if s["n"] or form != "csv"]
                    self.assertEqual(self.series("out"), before)

    def test_csv_has_no_frames(self):
        self.good("import", "-o", "p.db", file("strobe.json"))
        done = self.strobe("export", "--to", "csv", "p.db")
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertEqual(done.stderr, "strobe: the measurements belong to stacks of calls, which have no place in a table; use --to json\n")


class Usage(Import):
    def error(self, code, text, *arguments):
        done = self.strobe(*arguments)
        self.assertEqual((done.returncode, done.stderr), (code, f"strobe: {text}\n"))

    def test_import(self):
        self.write("in", "what is this\n")
        self.write("empty", "")
        self.error(2, "no file to import: strobe import FILE, or - for standard input", "import")
        self.error(2, "strobe import reads one file; 'b' is one too many", "import", "a", "b")
        self.error(2, "the profile is a database: give -o a file", "import", "-o", "-", "in")
        self.error(2, "no format 'peru'; did you mean 'perun'?; strobe help import lists the formats", "import", "--from", "peru", "in")
        self.error(125, "cannot read nothing: No such file or directory", "import", "nothing")
        self.error(125, "cannot read empty: it is empty", "import", "empty")
        self.error(125, "cannot read in: its format is not known; name it with --from, strobe help import lists the formats", "import", "in")
        self.assertEqual(sorted(os.listdir(self.place)), ["empty", "in"])

    def test_export(self):
        self.good("import", "-q", "-o", "p.db", file("strobe.json"))
        self.error(2, "no format to export to: strobe export --to FORMAT FILE", "export", "p.db")
        self.error(2, "no profile to export: strobe export --to FORMAT FILE", "export", "--to", "perun")
        self.error(2, "strobe export reads one profile; 'b' is one too many", "export", "a", "b")
        self.error(2, "no format 'x'; the formats are perun, perun-store, csv, json, lcov, folded, speedscope, callgrind, pprof, timeline", "export", "--to", "x", "p.db")
        self.error(125, "p.db has no calling contexts: the format folded needs a result of strobe run -t hot, strobe paths, or "
                   "strobe trace --events",
                   "export", "--to", "folded", "p.db")
        self.error(125, "p.db has no calling contexts: the format pprof needs a result of strobe run -t hot, strobe paths, or "
                   "strobe trace --events",
                   "export", "--to", "pprof", "-o", "p.pb.gz", "p.db")
        self.error(125, "p.db has no entries and returns: the format timeline needs a result of strobe trace --events",
                   "export", "--to", "timeline", "p.db")
        self.good("run", "-q", "-o", "r.db", "ls")
        self.error(125, "the profile has no measurements, which is all that a profile of Perun can hold", "export", "--to", "perun", "-o", "x", "r.db")
        self.assertEqual(sorted(os.listdir(self.place)), ["p.db", "r.db"])
        self.assertTrue(self.good("export", "--to", "lcov", "r.db").stdout.startswith("TN:"))


if __name__ == "__main__":
    unittest.main()
