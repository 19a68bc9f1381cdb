#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""log, rm, gc, fsck and config; damaged, newer and full stores: test_upkeep.py STROBE."""
import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from project import Project  # noqa: E402

KILLS = int(os.environ.get("STROBE_KILLS", "25"))


class Store(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-store-")
        self.addCleanup(folder.cleanup)
        self.p = Project(Path(folder.name) / "project")
        self.store = self.p.folder / ".git/strobe/store.db"
        self.p.ask("init")
        self.p.commit("first")

    def change(self, sql, *values):
        db = sqlite3.connect(self.store)
        db.execute(sql, values)
        db.commit()
        db.close()

    def fsck(self, code=0):
        """The problems that fsck finds."""
        done = subprocess.run([Project.strobe, "fsck", "--format", "text"], cwd=self.p.folder, env=self.p.environment, capture_output=True, text=True,
                              timeout=120, check=False)
        self.assertEqual(done.returncode, code, (done.stdout, done.stderr))
        return done.stdout

    def tables(self, file):
        """Everything in a profile."""
        db = sqlite3.connect(file)
        names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        everything = {name: db.execute(f'SELECT * FROM "{name}"').fetchall() for name in names}
        everything["schema"] = db.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()
        everything["marks"] = [db.execute(f"PRAGMA {mark}").fetchone() for mark in ("application_id", "user_version")]
        db.close()
        return everything

    def counts(self, *words):
        return [(c["subject"], c["profiles"]) for c in self.p.json("log", *words)["commits"]]


class Verbs(Store):
    def test_log(self):
        self.p.add(1)
        self.p.commit("second")
        self.p.commit("third")
        self.p.add(2)
        self.p.add(3)
        self.assertEqual(self.counts(), [("third", 2), ("second", 0), ("first", 1)])
        self.assertEqual(self.counts("--profiles"), [("third", 2), ("first", 1)])
        self.assertEqual(self.counts("-n", "1"), [("third", 2)])
        self.assertEqual(self.counts("HEAD~1"), [("second", 0), ("first", 1)])
        self.p.git("commit", "-q", "--amend", "-m", "third, in other words")
        self.assertEqual(self.counts(), [("third, in other words", 2), ("second", 0), ("first", 1)])
        self.p.git("reset", "-q", "--hard", "HEAD~1")
        self.assertEqual(self.counts(), [("second", 0), ("first", 1)])
        self.assertIn("2 profiles are of versions that are not in this history", self.p.ask("log"))
        self.assertEqual(self.counts("--all"), [("second", 0), ("first", 1), ("third", 2)])
        # Beyond the limit is not elsewhere.
        self.assertNotIn("not in this history", self.p.ask("log", "-n", "1"))

    def test_log_counts_what_it_prints(self):
        """With -p, -n counts only versions that have profiles."""
        self.p.add(1)
        for i in range(4):
            self.p.commit(f"commit {i}")
        self.p.add(2)
        self.p.commit("last")
        self.assertEqual(self.counts("-p", "-n", "2"), [("commit 3", 1), ("first", 1)])
        self.assertEqual(self.counts("-p", "-n", "1"), [("commit 3", 1)])
        self.assertEqual([self.p.json("log", "-p", "-n", n)["whole"] for n in "12"], [False, True])
        self.assertIn("1 version is shown", self.p.ask("log", "-p", "-n", "1"))
        self.assertEqual(self.counts("-n", "2"), [("last", 0), ("commit 3", 1)])

    def test_log_of_a_revert(self):
        self.p.add(1)
        self.p.commit("second")
        self.p.git("revert", "--no-edit", "HEAD")
        self.assertEqual([n for _, n in self.counts()], [0, 0, 1])
        self.assertEqual([n for _, n in self.counts("-n", "1")], [0])

    def test_removed(self):
        first, second = self.p.add(1), self.p.add(2)
        self.assertIn("no stored profile 'zzzz'", self.p.refused("rm", first, "zzzz", code=2))
        self.assertEqual(len(self.p.of("HEAD")), 2)
        self.p.ask("rm", second[:12])
        self.assertEqual(self.p.of("HEAD"), {first: "version"})
        self.assertIn("by no profile: strobe gc", self.fsck())
        self.p.ask("gc")
        self.assertNotIn("by no profile", self.fsck())
        second = self.p.add(2)
        self.p.ask("rm", first)
        self.p.ask("gc")  # what the second one is a difference from stays
        self.assertIn("bbcount", self.p.ask("show", second))
        self.p.ask("rm", second)
        self.p.ask("gc")
        for table in ("object", "version", "configuration", "machine", "part", "profile"):
            self.assertEqual(self.p.index(f"SELECT count(*) FROM {table}"), [(0,)], table)
        self.assertEqual(self.p.add(1), first)

    def test_as_it_was(self):
        """What is taken out has the tables and rows that were put in: of a profile with functions, samples and contexts."""
        files = []
        for name, words in {"hot": ["run", "-t", "hot"], "paths": ["paths"], "trace": ["trace", "-e", "jit"]}.items():
            file = self.p.home / f"{name}.db"
            self.p.run(Project.strobe, *words, "-q", "-o", file, "--", "/bin/ls", "/")
            files.append(file)
        again = shutil.copy(files[0], self.p.home / "again.db")
        db = sqlite3.connect(again)
        db.execute("UPDATE run SET start_ns = start_ns + 1")
        db.execute("UPDATE function SET instructions = instructions + 1 WHERE id = 5")
        db.execute("CREATE TABLE of_a_later_strobe(a, b)")
        db.execute("INSERT INTO of_a_later_strobe VALUES(1, NULL), ('x', x'00ff'), (1.5, '')")
        db.commit()
        db.close()
        files.append(again)
        added = {p["file"]: p for p in self.p.json("add", *files)["profiles"]}
        shown = {str(f): self.p.ask("show", "-n", "0", f) for f in files}
        for file in map(str, files):
            self.assertEqual(self.p.ask("show", "-n", "0", added[file]["id"][:10]), shown[file])
        # The one that resembles another took a fraction of its space.
        self.assertLess(added[str(again)]["bytes"] * 5, added[str(files[0])]["bytes"])
        for file in map(str, files):
            folder = self.p.home / "tmp"
            folder.mkdir(exist_ok=True)
            self.p.ask("show", added[file]["id"], "--extract", folder / "out.db")
            self.assertEqual(self.tables(folder / "out.db"), self.tables(file))
        self.assertIn("no problem", self.fsck())

    def test_config(self):
        p = self.p
        p.run(Project.strobe, "config", "status.depth", fail=True)
        p.ask("config", "status.depth", "10")
        p.ask("config", "--shared", "status.depth", "20")
        self.assertEqual(p.ask("config", "status.depth"), "10\n")
        run = {"env": {"STROBE_CONFIG": "status.depth = 30\n# not status.depth = 5\nstatus.threshold=1"}}
        self.assertEqual(p.ask("config", "status.depth", **run), "30\n")
        self.assertEqual(p.ask("config", "--all", "status.depth", **run), "30\n10\n20\n")
        self.assertEqual([(s["key"], s["value"], s["place"]) for s in p.json("config", **run)["settings"]],
                         [("status.threshold", "1", "run"), ("status.depth", "30", "run"), ("status.depth", "10", "local"), ("status.depth", "20", "shared")])
        p.ask("config", "status.depth", "11")
        self.assertEqual(p.ask("config", "--all", "status.depth"), "11\n20\n")
        p.ask("config", "--unset", "status.depth")
        self.assertEqual(p.ask("config", "status.depth"), "20\n")
        self.assertIn("did you mean 'status.depth'", p.refused("config", "status.deph", code=2))
        self.assertIn("status.depth", p.refused("config", "status.depth", "many", code=2))
        (p.folder / ".git/strobe/config").write_text("status.depth = 1\nnonsense\n", encoding="utf-8")
        self.assertIn("line 2", p.refused("status"))

    def test_documented_queries(self):
        """The examples of docs/versions.md are right SQL, and those that must find something do."""
        self.p.add(1)
        shown = self.p.add(2)
        text = (Path(__file__).resolve().parents[2] / "docs/versions.md").read_text(encoding="utf-8")
        queries = text.split("```sql\n")[1].split("```")[0].replace("93C67142C9", shown[:10].upper()).split(";\n")
        found = [len(self.p.index(query)) for query in queries if query.strip()]
        self.assertEqual(len(found), 10)
        self.assertEqual([found[i] for i in (0, 1, 3, 4, 5, 6, 8)], [1, 1, 1, 1, 1, 0, 1])

    def test_of_other_tools(self):
        """What strobe import reads can be added as it is, once."""
        file = self.p.folder / "fine.json"
        file.write_text(json.dumps({"results": [{"command": "sleep 1", "mean": 1.0, "times": [1.0, 1.25, 1.5]}]}), encoding="utf-8")
        first = self.p.json("add", file)["profiles"][0]
        self.assertEqual((first["file"], first["added"]), (str(file), True))
        self.assertEqual(self.p.json("add", file)["profiles"][0]["added"], False)
        self.assertEqual(self.p.json("status")["head"]["profiles"][0]["file"], str(file))
        file.write_bytes(b"\0\1 nothing that anybody can read")
        self.assertIn("fine.json", self.p.refused("add", file))
        self.assertEqual(len(self.p.of("HEAD")), 1)

    def test_named_in_other_commands(self):
        """Commands that read a profile take a stored one by its digits, or a version that has one only."""
        self.p.commit("second")
        file = self.p.home / "times.json"
        file.write_text(json.dumps({"results": [{"command": "f", "times": [1.0, 1.25, 1.5, 1.75]}]}), encoding="utf-8")
        stored = self.p.json("add", file)["profiles"][0]["id"]
        out = self.p.home / "out.json"
        for name in (stored[:10], "HEAD"):
            self.p.ask("export", "--to", "csv", "-o", out, name)
            self.assertIn(",1.25,2,", out.read_text(encoding="utf-8"))
            self.assertIn("repetition", self.p.ask("model", name))
        self.assertIn("no file, no stored profile and no commit", self.p.refused("export", "--to", "csv", "nothing"))
        self.p.add(1)
        self.assertIn("2 profiles are of", self.p.refused("export", "--to", "csv", "HEAD", code=2))
        paths = self.p.home / "paths.db"
        self.p.run(Project.strobe, "paths", "-q", "-o", paths, "--", "/bin/true")
        contexts = self.p.json("add", paths)["profiles"][0]["id"]
        for words in (("diff", contexts[:8], contexts), ("paths", "--from", contexts), ("export", "--to", "folded", contexts)):
            self.assertTrue(self.p.ask(*words), words)

    def test_other_place(self):
        self.p.ask("config", "store", "~/profiles")
        self.assertIn("strobe init", self.p.refused("status"))
        self.p.ask("init")
        self.p.add(1)
        self.assertTrue((self.p.home / "profiles/store.db").is_file())


class Damage(Store):
    def test_each_object(self):
        """Whichever object is changed, fsck names the profiles that need it; the others stay readable."""
        noise = "CREATE TABLE noise(a, b); INSERT INTO noise WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) SELECT i * i, %s FROM n"
        first = self.p.add(1, change=noise % "1")
        self.p.commit("second")
        second = self.p.add(2, change=noise % "i * i % 1009")
        whole = self.store.read_bytes()
        objects = self.p.index("SELECT o.id, length(data), (SELECT group_concat(lower(hex(p.hash))) FROM part t JOIN profile p ON p.id = t.profile "
                               "JOIN object u ON u.id = t.object WHERE o.id IN (u.id, u.base)) FROM object o")
        self.assertGreater(len(objects), 2)
        for number, length, needed in objects:
            self.change("UPDATE object SET data = ? WHERE id = ?", os.urandom(length), number)
            problems = self.fsck(code=1)
            for profile in (first, second):
                self.assertEqual(f"profile {profile[:10]}" in problems, profile in needed, (number, problems))
                if profile not in needed:
                    self.p.ask("show", profile)
                else:
                    self.assertIn("damaged", self.p.refused("show", profile))
            self.store.write_bytes(whole)
        self.change("DELETE FROM object WHERE id = ?", objects[0][0])
        self.assertIn("cannot be read", self.fsck(code=1))

    def test_random_bytes(self):
        """A store with any byte changed is refused, or answers; it does not end strobe."""
        for i in range(3):
            self.p.add(i)
        whole = self.store.read_bytes()
        chance = random.Random(1)
        for _ in range(30):
            bytes_ = bytearray(whole)
            for _ in range(chance.randrange(1, 20)):
                bytes_[chance.randrange(len(bytes_))] = chance.randrange(256)
            self.store.write_bytes(bytes_)
            for words in (["fsck"], ["status"], ["log"]):
                done = subprocess.run([Project.strobe, *words], cwd=self.p.folder, env=self.p.environment, capture_output=True, timeout=120, check=False)
                self.assertIn(done.returncode, (0, 1, 125), done.stderr)

    def damaged_at(self, whole, page, count=1):
        bytes_ = bytearray(whole)
        bytes_[page * 4096:(page + count) * 4096] = bytes(count * 4096)
        self.store.write_bytes(bytes_)

    def repair(self):
        done = subprocess.run([Project.strobe, "fsck", "--repair", "--format", "json"], cwd=self.p.folder, env=self.p.environment, capture_output=True,
                              text=True, timeout=120, check=False)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return json.loads(done.stdout)

    def test_repair_of_each_page(self):
        """Whichever page is lost, the repaired store has no problem, and the profiles that it kept are whole."""
        noise = "CREATE TABLE noise(a); INSERT INTO noise WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT randomblob(100) FROM n"
        stored = {self.p.add(i, change=noise): self.p.home / f"{i}.db" for i in range(3)}
        shown = {profile: self.p.ask("show", file) for profile, file in stored.items()}
        whole, kept = self.store.read_bytes(), []
        for page in range(len(whole) // 4096):
            self.damaged_at(whole, page)
            done = self.repair()
            self.assertEqual(done["damaged_file"] is None, self.store.read_bytes()[page * 4096:(page + 1) * 4096] == bytes(4096) and done["kept"] == 3, page)
            self.assertIn("no problem", self.fsck())
            there = self.p.of("HEAD")
            self.assertEqual(len(there), done["kept"])
            for profile in there:
                self.assertEqual(self.p.ask("show", profile), shown[profile])
            kept.append(done["kept"])
            for file in stored.values():
                self.p.ask("add", "-q", file)
            self.assertEqual(set(self.p.of("HEAD")), set(stored))
        self.assertEqual(kept[0], 0)  # without the first page, no table can be found
        self.assertTrue({1, 2, 3} & set(kept))
        self.assertTrue(Path(f"{self.store}.damaged2").exists())

    def test_repair(self):
        first, second = self.p.add(1), self.p.add(2)
        before = self.store.read_bytes()
        self.assertIn("undamaged, and stays as it is: 2 profiles", self.p.ask("fsck", "--repair"))
        self.assertEqual(self.store.read_bytes(), before)
        self.store.write_bytes(b"no database at all" * 100)
        self.assertIn("strobe fsck --repair", self.p.refused("fsck"))
        self.assertEqual(self.repair(), {"version": 1, "kept": 0, "removed": 0, "damaged_file": f"{self.store}.damaged1"})
        self.assertEqual(Path(f"{self.store}.damaged1").read_bytes(), b"no database at all" * 100)
        self.store.write_bytes(before)
        objects = self.p.index("SELECT p.manifest FROM profile p ORDER BY id")
        self.change("UPDATE object SET data = x'00' WHERE id = ?", objects[1][0])
        self.assertIn("strobe fsck --repair", self.fsck(code=1))
        self.assertEqual((self.repair()["kept"], self.p.of("HEAD")), (1, {first: "version"}))
        self.assertEqual(self.p.add(2), second)
        for sql in ("PRAGMA user_version = 99", "PRAGMA application_id = 7"):
            self.change(sql)
            self.assertRegex(self.p.refused("fsck", "--repair"), "newer strobe|another program")
        self.assertEqual(sorted(f.name for f in self.store.parent.glob("store.db*")), ["store.db", "store.db.damaged1", "store.db.damaged2"])

    def test_newer_and_foreign(self):
        self.change("PRAGMA user_version = 99")
        self.assertIn("newer strobe", self.p.refused("status"))
        self.change("PRAGMA application_id = 7")
        self.assertIn("another program", self.p.refused("status"))
        self.assertIn("another program", self.p.refused("init"))
        self.store.unlink()
        db = sqlite3.connect(self.store)  # without an application id and a version, as most are
        db.executescript("CREATE TABLE other(x)")
        db.close()
        bytes_ = self.store.read_bytes()
        for word in "status", "init":
            self.assertIn("another program", self.p.refused(word))
        self.assertEqual(self.store.read_bytes(), bytes_)
        self.store.write_bytes(b"no database at all" * 100)
        self.assertIn("damaged", self.p.refused("status"))
        self.store.write_bytes(b"")
        self.assertIn("strobe init", self.p.refused("status"))
        self.p.ask("init")
        self.p.add(1)

    def test_bad_files(self):
        """Of several files one of which is bad, none is stored."""
        good, bad = self.p.profile("good.db", 1), self.p.folder / "bad.db"
        shutil.copy(good, bad)
        db = sqlite3.connect(bad)
        db.execute("CREATE TRIGGER t AFTER INSERT ON run BEGIN SELECT 1; END")
        db.close()
        self.assertIn("trigger", self.p.refused("add", good, bad))
        bad.write_bytes(good.read_bytes()[:5000])
        self.assertIn("bad.db", self.p.refused("add", good, bad))
        self.assertIn("cannot read", self.p.refused("add", good, "missing.db"))
        self.assertEqual(self.p.of("HEAD"), {})

    def test_hostile_schema(self):
        """A schema that does more than to make tables is not carried out when the profile is written again."""
        evil = self.p.home / "evil.db"
        file = self.p.profile("hostile.db", 1, change="PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = sql || '; ATTACH ''" + str(evil) +
                              "'' AS evil; CREATE TABLE evil.t(a); INSERT INTO evil.t VALUES(1)' WHERE name = 'hot'")
        done = subprocess.run([Project.strobe, "add", file], cwd=self.p.folder, env=self.p.environment, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode == 0:
            self.assertIn("damaged", self.p.refused("show", done.stdout.split()[0]))
        self.assertFalse(evil.exists())

    def test_full(self):
        """No space left: nothing is stored, nothing is lost."""
        first = self.p.add(1)
        file = self.p.profile("2.db", 2, change="CREATE TABLE noise(a); INSERT INTO noise WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                                                "WHERE i < 2000) SELECT randomblob(100) FROM n")
        limit = self.store.stat().st_size + 8192
        said = self.p.refused("add", file, preexec_fn=lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN), resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))))
        self.assertIn("cannot", said)
        self.assertIn("no problem", self.fsck())
        self.assertEqual(self.p.of("HEAD"), {first: "version"})
        self.p.ask("add", file)

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_read_only(self):
        first = self.p.add(1)
        self.store.chmod(0o444)
        self.store.parent.chmod(0o555)
        self.addCleanup(self.store.parent.chmod, 0o755)
        self.assertEqual(self.p.of("HEAD"), {first: "version"})
        self.assertIn("cannot write", self.p.refused("add", self.p.profile("2.db", 2)))

    def test_same_profile_twice_at_once(self):
        file = self.p.profile("a.db", 1)
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(self.p.json("add", file)["profiles"][0]["added"])) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(answers), [False, False, False, True])
        self.assertEqual(len(self.p.of("HEAD")), 1)

    def test_killed(self):
        """kill -9 at a random moment of adds: no profile that was acknowledged is lost, and fsck finds nothing."""
        chance, acknowledged = random.Random(7), set()
        files = [self.p.profile(f"{i}.db", i, change=f"UPDATE image SET path = '/{i}/' || hex(randomblob(3000))", folder=self.p.home) for i in range(KILLS)]
        for file in files:
            child = subprocess.Popen([Project.strobe, "add", "--format", "json", file], cwd=self.p.folder, env=self.p.environment, stdout=subprocess.PIPE, text=True)
            time.sleep(chance.uniform(0, 0.03))
            child.kill()
            said, _ = child.communicate()
            if said.endswith("}\n"):
                acknowledged.add(said.split('"id": "')[1][:64])
        self.assertIn("no problem", self.fsck())
        self.assertLessEqual(acknowledged, set(self.p.of("HEAD")))
        for file in files:
            self.p.ask("add", "-q", file)
        self.assertEqual(len(self.p.of("HEAD")), KILLS)
        self.assertIn("no problem", self.fsck())


if __name__ == "__main__":
    Project.strobe = os.path.abspath(sys.argv.pop(1))
    unittest.main()
