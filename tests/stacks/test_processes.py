#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Choosing processes of a run with --follow, and leaving out ld.so: test_processes.py STROBE SHAPE PROGRAMS."""
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

STROBE, SHAPE, PROGRAMS = (os.path.abspath(word) for word in sys.argv[1:4])
COUNTS = "executions", "instructions", "calls", "samples", "samples_total", "samples_kernel", "samples_engine"
LOADER = "ld-linux", "ld-musl", "ld-2."


def counts(node):
    """The samples in each node of a tree."""
    stack = [node]
    while stack:
        node = stack.pop()
        yield node["count"]
        stack.extend(node["children"])


class Processes(unittest.TestCase):
    """A shell that runs one program twice, and another one that takes samples."""
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="strobe-processes-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.path = os.path.join(cls.folder.name, "many.db")
        prog = os.path.join(PROGRAMS, "prog1-O2")
        script = f"{prog}; {SHAPE}; {prog}; exit 0"
        done = subprocess.run([STROBE, "run", "-f", "-q", "-o", cls.path, "--", "/bin/sh", "-c", script], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, timeout=240)
        if done.returncode:
            raise AssertionError(done.stderr)
        cls.db = sqlite3.connect(cls.path)
        cls.addClassCleanup(cls.db.close)

    def ask(self, *words, code=0):
        done = subprocess.run([STROBE, "show", *words, self.path], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr if code else done.stdout

    def json(self, *words):
        return json.loads(self.ask("--format", "json", *words))

    def pids(self, command):
        return [pid for pid, path in self.db.execute("SELECT pid, command FROM process ORDER BY id") if os.path.basename(path) == command]

    def test_shares_add_up(self):
        """The counts of a function are the sums of those of the processes, all of them exactly."""
        for column in COUNTS:
            wrong = self.db.execute(f"SELECT f.name, f.{column}, s.n FROM function f LEFT JOIN (SELECT function, sum({column}) AS n FROM process_function"
                                    f" GROUP BY function) s ON s.function = f.id WHERE coalesce(s.n, 0) != f.{column}").fetchall()
            self.assertEqual(wrong, [], column)
        of_all = self.db.execute("SELECT sum(samples), sum(samples_kernel), sum(samples_engine), sum(samples_total) FROM process_function"
                                 " WHERE function IS NULL").fetchone()
        self.assertEqual(of_all, self.db.execute("SELECT samples_code, samples_kernel, samples_engine, stacks FROM run").fetchone())
        wrong = self.db.execute("SELECT p.pid FROM process p WHERE instructions != coalesce((SELECT sum(instructions) FROM process_function f"
                                " WHERE f.process = p.id), 0)").fetchall()
        self.assertEqual(wrong, [])

    def test_table(self):
        rows = json.loads(self.ask("--table", "processes", "--format", "json"))["processes"]
        wanted = self.db.execute("SELECT pid, ppid, command, instructions FROM process ORDER BY id").fetchall()
        self.assertEqual([(row["pid"], row["ppid"], row["command"], row["instructions"]) for row in rows], wanted)
        self.assertEqual(len(wanted), 4)
        lines = self.ask("--table", "processes").splitlines()
        self.assertEqual(lines[2].split(), ["wall", "executions", "instructions", "ppid", "pid", "state", "command"])
        self.assertEqual([line.split()[-3] for line in lines[3:]], [str(pid) for pid, *_ in wanted])

    def test_one_process(self):
        """Each of them, by its ID: its functions only, and percentages of their sum."""
        for number, pid, instructions in self.db.execute("SELECT id, pid, instructions FROM process").fetchall():
            result = self.json("--process", str(pid))
            counted = {row[0]: row[1:] for row in self.db.execute(
                "SELECT i.path || f.name || f.offset, s.calls, s.instructions FROM process_function s JOIN function f ON f.id = s.function"
                " JOIN image i ON i.id = f.image WHERE s.process = ?", [number])}
            shown = {f"{row['image']}{row['name']}{row['offset']}": (row["calls"], row["instructions"]) for row in result["functions"]}
            self.assertEqual(shown, counted)
            self.assertEqual([row["pid"] for row in result["processes"]], [pid])
            self.assertEqual(sum(n for _, n in counted.values()), instructions)
            self.assertAlmostEqual(sum(row["self_share"] for row in result["functions"]), 1, delta=0.01)

    def test_processes_of_a_program(self):
        pids = self.pids("prog1-O2")
        self.assertEqual(len(pids), 2)
        both = self.json("--process", "prog1-O2")
        self.assertEqual([row["pid"] for row in both["processes"]], pids)
        one, other = (self.json("-p", str(pid)) for pid in pids)
        calls = [{row["name"]: row["calls"] for row in result["functions"] if row["image"].endswith("prog1-O2")} for result in (one, other, both)]
        self.assertIn("main", calls[0])
        self.assertEqual(calls[0], calls[1])
        self.assertEqual(calls[2], {name: 2 * n for name, n in calls[0].items()})
        text = self.ask("-p", "prog*")
        self.assertIn("\n  2 of 4 processes\n", text)
        for pid in pids:
            self.assertRegex(text, rf"\n  process {pid}, prog1-O2: exited with \d+ after [\d.]+ \S+; [\d,]+ instructions\n")
        self.assertNotIn(" [shape]", text)

    def test_stacks_and_threads(self):
        pid, = self.pids("shape")
        tree = self.ask("-p", "shape", "--stacks")
        self.assertNotIn(" [sh]", tree)
        threads = self.json("-p", "shape", "--threads")["threads"]
        self.assertEqual({thread["pid"] for thread in threads}, {pid})
        samples, = self.db.execute("SELECT sum(s.samples) FROM process_function s JOIN process p ON p.id = s.process WHERE p.pid = ? AND function IS NULL",
                                   [pid]).fetchone()
        self.assertEqual(self.json("-p", "shape")["samples"]["program"], samples)

    def test_mistakes(self):
        self.assertEqual(self.ask("-p", "shap", code=2), "strobe: the profile has no process 'shap'; strobe show --table processes lists them\n")
        self.assertEqual(self.ask("-p", "0", code=2), "strobe: the profile has no process '0'; strobe show --table processes lists them\n")
        for option in ["--lines"], ["--blocks"], ["--func", "main"], ["--format", "lcov"], ["--table", "lines"]:
            self.assertEqual(self.ask("-p", "sh", *option, code=2), "strobe: lines and basic blocks have counts of all processes together: leave out "
                             f"--process, or {option[0] if option[0] == '--func' else ' '.join(option)}\n")
        old = os.path.join(self.folder.name, "old.db")
        with open(self.path, "rb") as file, open(old, "wb") as out:
            out.write(file.read())
        with sqlite3.connect(old) as db:
            db.execute("DROP TABLE process_function")
        db.close()
        done = subprocess.run([STROBE, "show", "-p", "sh", old], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (125, "strobe: the profile has counts of all processes together only, because an older strobe wrote it: "
                                                          "run the program again\n"))

    def test_damaged_shares(self):
        for change in "process = 99", "process = NULL", "function = 1000000", "samples = -1":
            path = os.path.join(self.folder.name, "damaged.db")
            with open(self.path, "rb") as file, open(path, "wb") as out:
                out.write(file.read())
            db = sqlite3.connect(path)
            table = db.execute("SELECT sql FROM sqlite_master WHERE name = 'process_function'").fetchone()[0]
            rows = db.execute("SELECT * FROM process_function").fetchall()
            db.execute("DROP TABLE process_function")
            db.execute(table.replace(" NOT NULL", ""))
            db.executemany("INSERT INTO process_function VALUES(?,?,?,?,?,?,?,?,?,?)", rows)
            db.execute(f"UPDATE process_function SET {change} WHERE rowid = 3")
            db.commit()
            db.close()
            done = subprocess.run([STROBE, "show", path], capture_output=True, text=True, timeout=60)
            self.assertNotEqual(done.returncode, 0, change)
            self.assertIn("damaged", done.stderr, change)

    def test_start_up_is_hidden(self):
        """No stack begins in ld.so, and what is left has all of the percentages."""
        def in_loader(row):
            return os.path.basename(row["image"]).startswith(LOADER)
        usual, hidden = self.json("-p", "prog1-O2"), self.json("-p", "prog1-O2", "--hide-loader")
        others = [row for row in usual["functions"] if not in_loader(row)]
        self.assertLess(len(others), len(usual["functions"]))
        kept = [row["name"] for row in hidden["functions"] if in_loader(row)]
        self.assertNotIn("_dl_start", kept)
        self.assertEqual({row["name"]: row["instructions"] for row in hidden["functions"] if not in_loader(row)},
                         {row["name"]: row["instructions"] for row in others})
        self.assertAlmostEqual(sum(row["self_share"] for row in hidden["functions"]), 1, delta=0.01)
        self.assertIn("  note: the dynamic linker is left out: its functions, and the stacks that begin in it; counters are not changed\n",
                      self.ask("--hide-loader"))

    def test_stacks_of_start_up(self):
        everything = self.json("--hide-loader")["samples"]
        done = subprocess.run([STROBE, "paths", "--from", self.path, "--format", "json"], capture_output=True, text=True, timeout=120, check=True)
        roots = [root for thread in json.loads(done.stdout)["threads"] for root in thread["ksf"]]
        left = 0
        for root in roots:
            inside = root["children"] if "image" not in root else []  # callers that could not be found
            hidden = [each for each in [root, *inside] if os.path.basename(each.get("image") or "").startswith(LOADER)]
            left += sum(counts(root)) - sum(sum(counts(each)) for each in hidden)
        self.assertEqual(everything["stacks"], left)
        for line in self.ask("--hide-loader", "--stacks", "-n", "0").splitlines():
            self.assertNotRegex(line, r"^ +0\.00 +0\.00 +0  __unknown__$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
