#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Output that would be too much: `strobe paths --limit` and `strobe report` write the hottest contexts and say what they left out.

usage: test_limit.py STROBE FOLDER (with programs/NAME-WAY)"""

import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE = Path(sys.argv.pop(1)).resolve()
PROGRAMS = Path(sys.argv.pop(1)).resolve() / "programs"
RUNS = {"deep": (["--unroll-recursion"], "deep-O2"), "counts": (["--instructions"], "counts-O0", "3", "1", "4")}
SAID = re.compile(r"strobe: ([\d,]+) of ([\d,]+) contexts are left out, those with the lowest counts \((\d+\.\d) % of the (\w+)\): all would take (.+), and --limit is (.+)\n")
CALLERS = re.compile(r"strobe: the k-calling context forest has only (\d+) callers? of each function, because --limit is .*\n")
HEADER = 1000  # bytes that are no contexts


def setUpModule():
    place = tempfile.TemporaryDirectory(prefix="strobe-limit-")
    unittest.addModuleCleanup(place.cleanup)
    Limit.place = Path(place.name)


class Limit(unittest.TestCase):
    maxDiff = 2000
    place = None

    def strobe(self, *words, code=0):
        done = subprocess.run([STROBE, *words], cwd=self.place, capture_output=True, timeout=120, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, done.stderr[-1000:])
        return done.stdout, done.stderr.decode()

    def profile(self, run):
        file = self.place / f"{run}.db"
        if not file.exists():
            options, program, *arguments = RUNS[run]
            self.strobe("paths", "-q", "-o", file, *options, "--", PROGRAMS / program, *arguments)
        return file

    def show(self, run, form, *words):
        return self.strobe("paths", "--from", self.profile(run), "--format", form, *words)

    def cut(self, said, limit):
        """(contexts left out, of how many)"""
        found = SAID.fullmatch(said)
        self.assertTrue(found, said)
        self.assertEqual(found[6], limit)
        return int(found[1].replace(",", "")), int(found[2].replace(",", ""))


class Deep(Limit):
    """A recursion of 100,000 levels: what has the whole path of each context would take gigabytes."""

    def check_form(self, form, read, own):
        text, said = self.show("deep", form, "--limit", "1M")
        left_out, of = self.cut(said, "1 MiB")
        self.assertGreater(of, 100000)
        self.assertLessEqual(len(text), (1 << 20) + own)
        self.assertGreater(len(text), (1 << 20) * 3 // 4)
        self.assertEqual(read(text), of - left_out)

    def test_text(self):
        def read(text):
            depths = [len(line) - len(line.lstrip()) for line in text.decode().splitlines() if line.lstrip().startswith("|")]
            self.assertTrue(all(b <= a + 2 for a, b in zip(depths, depths[1:])))  # with all that is above
            return len(depths)
        self.check_form("text", read, HEADER)

    def test_folded(self):
        self.check_form("folded", lambda text: len(text.splitlines()), 0)

    def test_speedscope(self):
        self.check_form("speedscope", lambda text: sum(len(each["samples"]) for each in json.loads(text)["profiles"]), 1 << 17)

    def test_what_grows_with_contexts_alone(self):
        """Nothing is left out of these."""
        for form in "json", "xml", "callgrind":
            self.assertEqual(self.show("deep", form)[1], "")

    def test_callers(self):
        """As many steps as the square of the depth: callers of callers end somewhere, which is said."""
        text, said = self.show("deep", "text", "--kccf", "--limit", "1M")
        callers = CALLERS.match(said)
        self.assertTrue(callers, said)
        self.cut(said[callers.end():], "1 MiB")
        self.assertIn(f"K value of kCCF: {callers[1]}\n", text.decode())
        self.assertEqual(self.show("deep", "folded", "--kccf", "--limit", "1M")[1], self.show("deep", "folded", "--limit", "1M")[1])

    def test_report(self):
        _, said = self.strobe("report", "-o", "deep.html", self.profile("deep"))
        left_out = re.fullmatch(r"strobe: the page has only the hottest contexts of \S+: ([\d,]+) contexts are left out, because there are too many or they are too deep; strobe paths --from shows all\n"
                                r"strobe: wrote deep.html: open it in a browser\n", said)
        self.assertTrue(left_out, said)
        data = re.search(r'<script type="application/json" id="data">([^<]*)</script>', (self.place / "deep.html").read_text())[1]
        # Python's own reader cannot read so deep: the number of contexts is that of their names.
        self.assertIn(f'"contexts_left_out":{left_out[1].replace(",", "")}', data.replace(" ", ""))
        self.assertLess(data.count('"children"'), 100000)
        self.assertGreater(data.count('"children"'), 1000)

    def test_report_counts_each_context_once(self):
        """The page has two trees of them, of callees and of callers."""
        (self.place / "levels.folded").write_text(";".join(["f"] * 2500) + " 1\n")
        self.strobe("import", "-q", "levels.folded", "-o", "levels.db")
        _, said = self.strobe("report", "-o", "levels.html", "levels.db")
        self.assertIn(": 1,500 contexts are left out, ", said)

    def test_report_of_json(self):
        self.strobe("paths", "--from", self.profile("deep"), "-o", "deep.json")
        _, said = self.strobe("report", "deep.json", code=125)
        self.assertEqual(said, "strobe: deep.json has trees of more than 1,000 levels, deeper than JSON is read here: report the profile that it was made of, "
                         "or roll recursion up in it\n")


def flat(document, forest="ksf"):
    """{path: node}, the thread's number first."""
    found = {}
    for thread in document["threads"]:
        waiting = [((thread["thread"],), node) for node in thread[forest]]
        while waiting:
            above, node = waiting.pop()
            path = (*above, (node["name"], node.get("offset")))
            found[path] = node
            waiting += [(path, child) for child in node["children"]]
    return found


class Hottest(Limit):
    def test_the_hottest_are_kept(self):
        whole = flat(json.loads(self.show("counts", "json")[0]))
        for limit in 3000, 10000, 30000:
            text, said = self.show("counts", "json", "--limit", str(limit))
            document = json.loads(text)
            left_out, of = self.cut(said, f"{limit / 1024:.1f} KiB")
            kept = flat(document)
            self.assertEqual((document["nodes_left_out"], of, of - left_out), (left_out, len(whole), len(kept)))
            self.assertEqual(document["nodes_ksf"], len(whole))
            for path, node in kept.items():
                self.assertEqual({**node, "children": None}, {**whole[path], "children": None})
            lost = [node for path, node in whole.items() if path not in kept]
            # Worth less, up to the width of a class.
            self.assertLessEqual(max(node["total_instructions"] for node in lost), min(node["total_instructions"] for node in kept.values()) * (1 + 1 / 256))
            share = 100 * sum(node["instructions"] for node in lost) / sum(node["instructions"] for node in whole.values())
            self.assertIn(f"({share:.1f} % of the instructions)", said)
            self.assertLessEqual(len(text), limit + HEADER)
            self.assertGreater(len(text), limit * 2 // 3)

    def test_callers(self):
        whole = flat(json.loads(self.show("counts", "json", "--kccf")[0]), "kccf")
        text, said = self.show("counts", "json", "--kccf", "--limit", "24K")
        document = json.loads(text)
        callers = CALLERS.match(said)
        self.assertEqual(document["k_kccf"], int(callers[1]))
        kept = flat(document, "kccf")
        self.assertTrue(kept)
        self.assertLessEqual(max(map(len, kept)), 2 + document["k_kccf"])
        self.assertEqual({path: node["count"] for path, node in kept.items()}, {path: whole[path]["count"] for path in kept})

    def test_all_of_it(self):
        text, said = self.show("counts", "folded")
        self.assertEqual(said, "")
        for limit in "none", "0", "1G", str(len(text)):
            self.assertEqual(self.show("counts", "folded", "--limit", limit), (text, ""))
        self.assertTrue(SAID.fullmatch(self.show("counts", "folded", "--limit", str(len(text) * 9 // 10))[1]))

    def test_schema(self):
        """What is left out is told in the header."""
        text, said = self.show("counts", "xml", "--limit", "9K", "--kccf")
        callers = CALLERS.match(said)
        self.assertIn(f"<kKCCF>{callers[1]}</kKCCF>\n<nodesLeftOut>{self.cut(said[callers.end():], '9 KiB')[0]}</nodesLeftOut>\n".encode(), text)

    def test_of_a_run(self):
        _, said = self.strobe("paths", "-q", "-o", "run.folded", "--limit", "2K", "--", PROGRAMS / "counts-O0", "3")
        self.cut(said, "2 KiB")
        self.assertLessEqual((self.place / "run.folded").stat().st_size, 2048)

    def test_mistakes(self):
        for value in "5X", "-1", "1.5G", "M", "", "1GB", "99999999999G":
            self.assertEqual(self.strobe("paths", "--limit", value, "--", "true", code=125)[1],
                             f"strobe: --limit takes a size such as 100M or 2G, or none, not '{value}'\n")
        self.assertEqual(self.strobe("paths", "--from", self.profile("counts"), "--format", "text", "-o", "/dev/full", code=125)[1],
                         "strobe: cannot write the result to /dev/full: No space left on device; make room there or name another place with -o\n")


if __name__ == "__main__":
    unittest.main()
