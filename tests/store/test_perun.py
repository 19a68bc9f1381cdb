#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of strobe import of the folder .perun: each profile is found at its commit; damaged files are named and left out: test_perun.py STROBE."""
import hashlib
import json
import os
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from project import Project  # noqa: E402


class Perun(unittest.TestCase):
    """Objects, indices and changes are written here as Perun lays them out."""
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-perun-")
        self.addCleanup(folder.cleanup)
        self.p = Project(Path(folder.name) / "project")
        self.p.ask("init")
        self.objects = self.p.folder / ".perun/objects"
        self.objects.mkdir(parents=True)

    def place(self, name, ending=""):
        path = self.objects / name[:2] / (name[2:] + ending)
        path.parent.mkdir(exist_ok=True)
        return path

    def object(self, amounts, cmd="./sort", workload="small", more=None):
        """Writes a profile and returns its name."""
        profile = {"origin": "0" * 40, "header": {"type": "time", "cmd": cmd, "workload": workload, "units": {"time": "ms"}, "exitcode": 0},
                   "collector_info": {"name": "time", "params": {}}, "postprocessors": [],
                   "resources": {"time:0": {"amount": amounts}}, "resource_type_map": {"time:0": {"uid": "real", "type": "time"}}, **(more or {})}
        text = json.dumps(profile).encode()
        text = b"profile time %d\0" % len(text) + text
        name = hashlib.sha1(text).hexdigest()
        self.place(name).write_bytes(zlib.compress(text))
        return name

    def index(self, commit, entries, texts=5, version=2, number=None):
        """entries: [(name of the file, object, time)]."""
        out = b"pidx" + struct.pack("<ii", version, len(entries) if number is None else number)
        for name, sha, at in entries:
            out += struct.pack("<i", at) + bytes.fromhex(sha) + name.encode() + b"\0"
            for text in ["time", "./sort", "small", "time", "regression_analysis", "x", "y"][:texts]:
                out += struct.pack("<I", len(text)) + text.encode()
        self.place(commit).write_bytes(out)

    def imported(self, says, *words, code=0):
        done = self.p.run(Project.strobe, "import", ".perun", *words, fail=code != 0)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (code, "", "".join(f"strobe: {line}\n" for line in says)))

    def values(self, rev):
        return self.p.json("show", rev)["measurements"][0]["values"]

    def test_commits(self):
        """Profiles are at their commits, from both versions of the index and with any number of texts."""
        commits = [self.p.commit(f"line {i}") for i in range(5)]
        one, two, three = self.object([1.5, 2.5]), self.object([3.0]), self.object([4.0, 5.0, 6.0])
        self.index(commits[0], [("a.perf", one, 1600000000)], texts=0, version=1)
        self.index(commits[2], [("b.perf", two, 1600000001), ("c d.perf", three, 1600000002)])
        self.index(commits[3], [("e.perf", self.object([7.0]), 1600000003)], texts=6)
        self.index(commits[4], [("f.perf", self.object([8.0]), 1600000004)], texts=7)
        self.imported(["imported 5 profiles of 4 commits"])
        self.assertEqual([c["profiles"] for c in self.p.json("log")["commits"]], [1, 1, 2, 0, 1])
        self.assertEqual(self.values(commits[0]), [1.5, 2.5])
        self.assertEqual(self.p.of(commits[1]), {})
        listed = self.p.json("show", commits[2])["profiles"]
        self.assertEqual([(p["collector"], p["command"], p["workload"], p["started"]) for p in listed],
                         [("time", "sort", "small", 1600000001000000000), ("time", "sort", "small", 1600000002000000000)])
        self.assertTrue(listed[0]["file"].endswith(f"{two[:2]}/{two[2:]}"))
        self.assertIn("Perun had this profile as c d.perf", self.p.ask("show", listed[1]["id"]))
        self.imported(["imported 0 profiles of 4 commits; 5 profiles were stored already"])
        self.assertEqual(sum(c["profiles"] for c in self.p.json("log")["commits"]), 5)

    def test_golden(self):
        """An index and an object whose bytes are written out."""
        commit = self.p.commit("first")
        profile = (b'profile time 152\0{"header":{"type":"time","cmd":"f","units":{"time":"s"}},"collector_info":{"name":"time"},"global":'
                   b'{"resources":[{"uid":"f","type":"time","amount":2}]}}')
        self.assertEqual(hashlib.sha1(profile).hexdigest(), "33c29b71f04cf212d4c5393c1a3942045299b64f")
        self.place("33c29b71f04cf212d4c5393c1a3942045299b64f").write_bytes(b"\x78\x01" b"\x01\xa9\x00\x56\xff" + profile +
                                         struct.pack(">I", zlib.adler32(profile)))
        self.place(commit).write_bytes(b"pidx\x01\0\0\0\x01\0\0\0" b"\x00\x94\x35\x77" + bytes.fromhex("33c29b71f04cf212d4c5393c1a3942045299b64f") + b"f.perf\0")
        self.imported(["imported 1 profile of 1 commit"])
        self.assertEqual(self.values(commit), [2.0])
        self.assertEqual(self.p.index("SELECT start_ns FROM profile"), [(2000000000 * 10**9,)])

    def test_quiet_and_elsewhere(self):
        commit = self.p.commit("first")
        self.index(commit, [("a.perf", self.object([1.0]), 1)])
        for place in (".perun", self.p.folder, self.objects):
            done = self.p.run(Project.strobe, "import", "-q", "--from", "perun", place)
            self.assertEqual((done.stdout, done.stderr), ("", ""))
        self.assertEqual(len(self.p.json("log")["commits"]), 1)

    def test_lengths(self):
        """Bytes of every length have the right SHA-1: around the ends of its blocks, too."""
        commit = self.p.commit("first")
        names = [self.object([1.0], workload="w" * n) for n in range(65)]
        self.index(commit, [(f"{i}.perf", name, i) for i, name in enumerate(names)])
        self.imported(["imported 65 profiles of 1 commit"])

    def test_changes(self):
        commit, since = self.p.commit("first"), "ab" * 20
        self.index(commit, [("a.perf", self.object([1.0]), 1)])
        self.place(commit, ".changes").write_text(
            f"sort with blanks PerformanceChange.Degradation order linear quadratic 2.5 r_square 0.9 12.5 {since} ./sort small\n"
            f"f PerformanceChange.Optimization amount 10 5 -50 ratio 1 {since} ./sort\n\n"
            f"g PerformanceChange.NoChange amount 1 1 ratio inf {since} ./sort a b", encoding="utf-8")
        self.imported(["imported 1 profile of 1 commit"])
        out = self.p.home / "out.db"
        self.p.ask("show", commit, "--extract", out)
        found = json.loads(self.sql(out, "SELECT json FROM extra WHERE name = 'perun.changes'"))
        self.assertEqual(found, [
            {"location": "sort with blanks", "result": "Degradation", "type": "order", "from": "linear", "to": "quadratic", "rate": 2.5,
             "confidence": "r_square", "confidence_rate": 0.9, "relative_rate": 12.5, "since": since, "command": "./sort small"},
            {"location": "f", "result": "Optimization", "type": "amount", "from": 10.0, "to": 5.0, "rate": -50.0, "confidence": "ratio",
             "confidence_rate": 1.0, "since": since, "command": "./sort"},
            {"location": "g", "result": "NoChange", "type": "amount", "from": 1.0, "to": 1.0, "confidence": "ratio", "confidence_rate": "inf",
             "since": since, "command": "./sort a b"}])
        self.assertIn("Perun found 3 changes at this commit", self.p.ask("show", commit))
        # Perun keeps them beside the profile, so that they are not exported as a part of it.
        self.p.ask("export", "--to", "perun", "-o", self.p.home / "out.perf", out)
        self.assertNotIn("perun.changes", (self.p.home / "out.perf").read_text(encoding="utf-8"))

    def sql(self, file, query):
        db = sqlite3.connect(file)
        self.addCleanup(db.close)
        return db.execute(query).fetchone()[0]

    def test_bad_changes(self):
        commit = self.p.commit("first")
        self.index(commit, [("a.perf", self.object([1.0]), 1)])
        self.place(commit, ".changes").write_text("f PerformanceChange.NoChange amount 1\nno change at all\n", encoding="utf-8")
        self.place("cd" * 20, ".changes").write_text("", encoding="utf-8")
        self.imported([f"2 changes of commit {commit[:10]} cannot be read", "imported 1 profile of 1 commit"], code=1)

    def test_commits_that_are_gone(self):
        """Profiles and changes of a missing commit are named; the others are imported."""
        commit, gone = self.p.commit("first"), "12" * 20
        self.index(commit, [("a.perf", self.object([1.0]), 1)])
        self.index(gone, [("b.perf", self.object([2.0]), 2)])
        self.place(gone, ".changes").write_text(f"f PerformanceChange.NoChange amount 1 1 ratio 1 {gone} f\n", encoding="utf-8")
        self.imported(["commit 1212121212, which the repository does not have, is left out with 1 profile and 1 change", "imported 1 profile of 1 commit"], code=1)

    def test_damaged_objects(self):
        commit = self.p.commit("first")
        good, changed, cut, long, missing = (self.object([float(i)]) for i in range(5))
        other = zlib.decompress(self.place(changed).read_bytes()).replace(b"1.0", b"9.0")
        self.place(changed).write_bytes(zlib.compress(other))
        self.place(cut).write_bytes(self.place(cut).read_bytes()[:40])
        self.place(long).write_bytes(zlib.compress(zlib.decompress(self.place(long).read_bytes()) + b"more"))
        self.place(missing).unlink()
        text = b"profile time 3\0[1]"
        odd = hashlib.sha1(text).hexdigest()
        self.place(odd).write_bytes(zlib.compress(text))
        names = {"good": good, "changed": changed, "cut": cut, "long": long, "missing": missing, "odd": odd}
        self.index(commit, [(name, sha, 1) for name, sha in names.items()])
        why = {"changed": "its SHA-1 differs from its name", "cut": "it is damaged, or not a profile of Perun",
               "long": "it is damaged, or not a profile of Perun", "missing": "No such file or directory"}
        done = self.p.run(Project.strobe, "import", ".perun", fail=True)
        lines = done.stderr.splitlines()
        self.assertEqual(lines[:4], [f"strobe: {name} of commit {commit[:10]} is left out: object {names[name][:10]}: {text}" for name, text in why.items()])
        self.assertTrue(lines[4].startswith(f"strobe: odd of commit {commit[:10]} is left out: object {odd[:10]}: cannot read odd: "), lines[4])
        self.assertEqual(lines[5:], ["strobe: imported 1 profile of 1 commit"])
        self.assertEqual(done.returncode, 1)
        self.assertIn("no problem", self.p.ask("fsck"))

    def test_damaged_index(self):
        commits = [self.p.commit(f"line {i}") for i in range(4)]
        sha = self.object([1.0])
        self.index(commits[0], [("a.perf", sha, 1)])
        whole = self.place(commits[0]).read_bytes()
        for size in range(12, len(whole), 5):
            self.place(commits[0]).write_bytes(whole[:size])
            self.imported([f"the index of commit {commits[0][:10]} cannot be read: its 1 entries do not end at the end of the file", "imported 0 profiles of 0 commits"], code=1)
        self.place(commits[0]).write_bytes(whole)
        self.index(commits[1], [("a.perf", sha, 1)], version=3)
        self.index(commits[2], [("a.perf", sha, 1)], number=2)
        self.index(commits[3], [("a.perf", sha, 1)], number=-1)
        says = {commits[1]: "its version is 3; strobe reads versions 1 and 2", commits[2]: "its 2 entries do not end at the end of the file",
                commits[3]: "its 4294967295 entries do not end at the end of the file"}
        done = self.p.run(Project.strobe, "import", ".perun", fail=True).stderr.splitlines()
        self.assertEqual(set(done[:-1]), {f"strobe: the index of commit {c[:10]} cannot be read: {why}" for c, why in says.items()})
        self.assertEqual(done[-1], "strobe: imported 1 profile of 1 commit")

    def test_other_words(self):
        self.p.commit("first")
        self.assertIn("leave out -o", self.p.refused("import", "-o", "x.db", ".perun", code=2))
        self.assertIn("only folders of Perun", self.p.refused("import", "--from", "gprof", ".perun", code=2))
        self.assertIn("is not a folder of Perun", self.p.refused("import", ".perun"))
        (self.p.folder / "empty").mkdir()
        self.assertIn("is not a folder of Perun", self.p.refused("import", "empty"))
        with tempfile.TemporaryDirectory() as elsewhere:
            self.assertIn("strobe init", self.p.refused("import", self.p.folder / ".perun", cwd=elsewhere))

    def exported(self, commit):
        """The index of a commit that strobe has written, and its profiles."""
        path = self.p.folder / "out/objects" / commit[:2] / commit[2:]
        data, entries = path.read_bytes(), []
        self.assertEqual(data[:8], b"pidx\2\0\0\0")
        number, at = struct.unpack_from("<I", data, 8)[0], 12
        for _ in range(number):
            time, sha = struct.unpack_from("<I", data, at)[0], data[at + 4:at + 24].hex()
            end = data.index(b"\0", at + 24)
            name, at, texts = data[at + 24:end].decode(), end + 1, []
            for _ in range(5):
                length = struct.unpack_from("<I", data, at)[0]
                texts.append(data[at + 4:at + 4 + length].decode())
                at += 4 + length
            text = zlib.decompress((self.p.folder / "out/objects" / sha[:2] / sha[2:]).read_bytes())
            self.assertEqual(hashlib.sha1(text).hexdigest(), sha)
            head, body = text.split(b"\0", 1)
            self.assertEqual(head, b"profile %s %d" % (texts[0].encode(), len(body)))
            entries.append((name, time, texts, json.loads(body)))
        self.assertEqual(at, len(data))
        return entries

    def test_export(self):
        """A history that is exported and imported is the same."""
        commits = [self.p.commit(f"line {i}") for i in range(3)]
        change = f"a b PerformanceChange.Degradation order linear quadratic 2.5 r_square 0.9 12.5 {'ab' * 20} ./sort small\n" \
                 f"g PerformanceChange.NoChange amount 1 1 ratio inf {'ab' * 20} ./sort"
        self.index(commits[0], [("a.perf", self.object([1.5, 2.5]), 1600000000)])
        self.index(commits[2], [("b.perf", self.object([3.0]), 1600000001), ("c.perf", self.object([4.0, 0.1], cmd="x/y:z", workload=""), 1600000002)])
        self.place(commits[2], ".changes").write_text(change, encoding="utf-8")
        self.imported(["imported 3 profiles of 2 commits"])
        done = self.p.run(Project.strobe, "export", "--to", "perun-store", "-o", "out")
        self.assertEqual((done.stdout, done.stderr), ("", "strobe: exported 3 profiles of 2 commits to out\n"))
        (one,) = self.exported(commits[0])
        self.assertEqual(one[:3], ("time-sort-small-2020-09-13-12-26-40.perf", 1600000000, ["time", "./sort", "small", "time", ""]))
        self.assertEqual(list(one[3]["resources"].values()), [{"amount": [1.5, 2.5]}])
        two, three = self.exported(commits[2])
        self.assertEqual((two[0], three[0]), ("time-sort-small-2020-09-13-12-26-41.perf", "time-y_z--2020-09-13-12-26-42.perf"))
        self.assertEqual(list(three[3]["resources"].values()), [{"amount": [4, 0.1]}])
        self.assertEqual((self.p.folder / "out/objects" / commits[2][:2] / (commits[2][2:] + ".changes")).read_text(encoding="utf-8"), change + "\n")
        self.assertEqual(sorted(p.name for p in (self.p.folder / "out/objects").iterdir()),
                         sorted({p.parent.name for p in (self.p.folder / "out/objects").rglob("*") if p.is_file()}))
        other = Project(self.p.home / "other", git=False)
        other.git("clone", "-q", self.p.folder, ".")
        other.ask("init")
        done = other.run(Project.strobe, "import", self.p.folder / "out")
        self.assertEqual(done.stderr, "strobe: imported 3 profiles of 2 commits\n")
        for commit in (commits[0], commits[2]):
            for mine, theirs in zip(self.p.json("show", commit).get("profiles", [{"id": commit}]),
                                    other.json("show", commit).get("profiles", [{"id": commit}]), strict=True):
                mine, theirs = self.p.json("show", mine["id"]), other.json("show", theirs["id"])
                self.assertEqual(mine["measurements"], theirs["measurements"])
        out = other.home / "out.db"
        other.ask("show", other.json("show", commits[2])["profiles"][0]["id"], "--extract", out)
        self.assertEqual(len(json.loads(self.sql(out, "SELECT json FROM extra WHERE name = 'perun.changes'"))), 2)

    def test_export_of_a_part(self):
        """Ancestors of the version alone; a profile without measurements is named."""
        commits = [self.p.commit(f"line {i}") for i in range(2)]
        self.index(commits[0], [("a.perf", self.object([1.0]), 1)])
        self.index(commits[1], [("b.perf", self.object([2.0]), 2)])
        self.imported(["imported 2 profiles of 2 commits"])
        self.p.ask("add", self.p.profile("counts", 1), "--rev", commits[0])
        done = self.p.run(Project.strobe, "export", "--to", "perun-store", "-o", "out", commits[0], fail=True)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, rf"\Astrobe: profile [0-9a-f]{{10}} of commit {commits[0][:10]} is left out: the profile has no measurements, which is all that "
                         r"a profile of Perun can hold\nstrobe: exported 1 profile of 1 commit to out\n"
                         rf"strobe: 1 further profile belongs to commits that are not in the history of {commits[0]}\n\Z")
        self.assertEqual(len(self.exported(commits[0])), 1)
        self.assertFalse((self.p.folder / "out/objects" / commits[1][:2] / commits[1][2:]).exists())

    def test_export_of_linked_profiles(self):
        """A profile of a commit with the same content belongs to both, and is exported at its own."""
        commits = [self.p.commit("line")]
        for number in 1, 2:
            self.p.git("commit", "-q", "--allow-empty", "-m", f"empty {number}")
            commits.append(self.p.git("rev-parse", "HEAD"))
        self.index(commits[0], [("a.perf", self.object([1.0]), 1)])
        self.index(commits[2], [("b.perf", self.object([2.0]), 2)])
        self.imported(["imported 2 profiles of 2 commits"])
        done = self.p.run(Project.strobe, "export", "--to", "perun-store", "-o", "out")
        self.assertEqual(done.stderr, "strobe: exported 2 profiles of 2 commits to out\n")
        self.assertEqual([len(self.exported(commits[i])) for i in (0, 2)], [1, 1])
        done = self.p.run(Project.strobe, "export", "--to", "perun-store", "-o", "part", commits[0])
        self.assertEqual(done.stderr.splitlines()[0], "strobe: exported 2 profiles of 1 commit to part", "the other commit is not in this history")

    def test_export_refused(self):
        self.p.commit("first")
        self.assertIn("a store of Perun is a folder", self.p.refused("export", "--to", "perun-store", code=2))
        (self.p.folder / "there/objects").mkdir(parents=True)
        self.assertIn("there/objects is there already: name a folder without objects", self.p.refused("export", "--to", "perun-store", "-o", "there"))
        self.assertIn("cannot create the folder no/such: No such file", self.p.refused("export", "--to", "perun-store", "-o", "no/such"))
        self.p.refused("export", "--to", "perun-store", "-o", "out", "nosuch", code=2)
        self.assertFalse((self.p.folder / "out").exists())
        plain = Project(self.p.home / "plain", git=False)
        plain.ask("init")
        plain.ask("add", plain.profile("counts", 1))
        self.assertIn("has no git repository", plain.refused("export", "--to", "perun-store", "-o", "out"))

    def test_add_that_cannot_print(self):
        """The profile is stored all the same, and the message says so."""
        self.p.commit("first")
        file = self.p.profile("counts", 1)
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([Project.strobe, "add", file], cwd=self.p.folder, env=self.p.environment, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
        self.assertEqual((done.returncode, done.stderr), (125, "strobe: the profiles are stored, but strobe cannot write to standard output: No space left on device\n"))
        self.assertEqual([c["profiles"] for c in self.p.json("log")["commits"]], [1])

    def test_imported_profiles_are_pending(self):
        """A file that does not say when it was measured is not taken for one that is stored."""
        for i in (1, 2):
            file = self.p.folder / f"{i}.json"
            file.write_text(json.dumps({"results": [{"command": "f", "times": [float(i)]}]}), encoding="utf-8")
            self.p.ask("import", "-q", "-o", f"{i}.db", file)
        self.p.commit("first")
        self.p.ask("add", "1.db")
        self.assertEqual([Path(p["file"]).name for p in self.p.json("status")["pending"]], ["2.db"])


if __name__ == "__main__":
    Project.strobe = os.path.abspath(sys.argv.pop(1))
    unittest.main()
