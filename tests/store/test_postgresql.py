#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of the store on a PostgreSQL server, which the test starts: test_postgresql.py STROBE remote|same.

remote: tests for a server only; same: tests of a store in a file, run on the server."""
import os
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import test_changes  # noqa: E402
import test_history  # noqa: E402
import test_hooks  # noqa: E402
import test_upkeep  # noqa: E402
from postgres import Server, programs  # noqa: E402
from project import Project  # noqa: E402

SAME = {test_history.History: ("squashed", "worktree", "rev", "pending"),
        test_history.Counter: ("counter",),
        test_changes.Changes: ("more_less_new_gone", "machines", "after_a_rebase"),
        test_hooks.Hooks: ("each_commit",),
        test_upkeep.Verbs: ("log", "removed", "as_it_was", "of_other_tools", "named_in_other_commands"),
        test_upkeep.Damage: ("bad_files", "same_profile_twice_at_once", "killed")}


class Remote(test_upkeep.Store):
    """Tests for a server only."""

    def sql(self, text):
        return Project.server.sql(text, self.p.database)

    def wait_for(self, condition):
        """Until a query about the server's processes has a row."""
        for _ in range(600):
            rows = self.sql(f"SELECT pid FROM pg_stat_activity WHERE datname = '{self.p.database}' AND {condition}")
            if rows:
                return rows[0][0]
            time.sleep(0.1)
        self.fail(f"no process of the server with {condition}")
        return None

    def hold(self):
        """A session that holds the lock of the writers; ends with its input."""
        session = subprocess.Popen(["psql", "-X", "-q", "-d", Project.server.address(self.p.database)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   env={**os.environ, "PGPASSWORD": "right"}, text=True)
        self.addCleanup(session.wait)
        self.addCleanup(session.stdin.close)
        session.stdin.write("BEGIN; LOCK TABLE strobe.profile IN EXCLUSIVE MODE;\n")
        session.stdin.flush()
        self.wait_for("state = 'idle in transaction'")
        return session

    def begin(self, *words):
        return subprocess.Popen([Project.strobe, *map(str, words)], cwd=self.p.folder, env=self.p.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)

    def test_one_name_for_one_thing(self):
        """A profile has the same name, and the same contents, in a file and on a server."""
        file = self.p.profile("a.db", 1)
        remote = self.p.json("add", file)["profiles"][0]["id"]
        here = {"env": {"STROBE_CONFIG": ""}}
        self.p.ask("init", **here)
        self.assertEqual(self.p.json("add", file, **here)["profiles"][0]["id"], remote)
        for more in (here, {}):
            self.p.ask("show", remote, "--extract", self.p.home / f"{len(more)}.db", **more)
        self.assertEqual(self.tables(self.p.home / "0.db"), self.tables(self.p.home / "1.db"))
        self.assertEqual(self.p.json("show", remote), self.p.json("show", remote, **here))

    def test_setting(self):
        self.p.environment.pop("STROBE_CONFIG")
        address = Project.server.address(self.p.database)
        self.p.ask("config", "store", address)
        self.assertEqual(self.p.ask("config", "store"), address + "\n")
        self.assertIn(f"the store is there: {address}", self.p.ask("init"))
        self.p.add(1)
        self.assertFalse(self.store.exists())
        for bad in ("postgresql://me:secret@host/db", "postgres://host/db?password=secret"):
            self.assertIn("~/.pgpass", self.p.refused("config", "store", bad, code=2))
        self.p.ask("config", "store", "postgresql://host:many/db")
        self.assertIn("many", self.p.refused("status"))

    def test_no_store(self):
        other = Project.server.database()
        more = {"env": {"STROBE_CONFIG": f"store = {Project.server.address(other)}"}}
        self.assertIn("strobe init", self.p.refused("status", **more))
        Project.server.sql("CREATE SCHEMA strobe", other)
        self.assertIn("is not a store", self.p.refused("init", **more))
        latin = Project.server.database("ENCODING 'LATIN1' TEMPLATE template0")
        self.assertIn("LATIN1", self.p.refused("init", env={"STROBE_CONFIG": f"store = {Project.server.address(latin)}"}))
        self.assertIn("does not exist", self.p.refused("init", env={"STROBE_CONFIG": f"store = {Project.server.address('nowhere')}"}))

    def test_password(self):
        self.p.add(1)
        for password in ({"PGPASSWORD": "wrong"}, {"PGPASSWORD": ""}):
            said = self.p.refused("add", self.p.profile("2.db", 2), env=password)
            self.assertIn("put the right password into ~/.pgpass", said)
        self.assertEqual(len(self.p.of("HEAD")), 1)
        secrets = self.p.home / ".pgpass"
        secrets.write_text("*:*:*:strobe:right\n", encoding="ascii")
        secrets.chmod(0o600)
        self.assertEqual(len(self.p.of("HEAD", env={"PGPASSWORD": "", "PGPASSFILE": str(secrets)})), 1)

    def test_newer_and_foreign(self):
        self.sql("UPDATE store SET version = 99")
        self.assertIn("newer strobe", self.p.refused("status"))
        self.sql("UPDATE store SET version = 1, application = 7")
        self.assertIn("another program", self.p.refused("status"))

    def test_away(self):
        """Nothing is lost while the server is away, and what could not be added can be added afterwards."""
        first = self.p.add(1)
        file = self.p.profile("2.db", 2)
        Project.server.stop("immediate")
        try:
            for words in (("status",), ("log",), ("add", file), ("rm", first), ("fsck",), ("gc",), ("show", first)):
                self.assertIn("cannot reach the store", self.p.refused(*words), words)
        finally:
            Project.server.start()
        self.assertTrue(file.exists())
        self.p.ask("add", file)
        self.assertEqual(len(self.p.of("HEAD")), 2)
        self.assertIn("no problem", self.fsck())

    def test_waits(self):
        """A writer waits for another one; readers do not."""
        session = self.hold()
        child = self.begin("add", "-q", self.p.profile("1.db", 1))
        self.wait_for("application_name = 'strobe' AND wait_event_type = 'Lock'")
        self.assertEqual(self.p.of("HEAD"), {})
        session.stdin.write("COMMIT;\n")
        session.stdin.flush()
        self.assertEqual((*child.communicate(), child.returncode), ("", "", 0))
        self.assertEqual(len(self.p.of("HEAD")), 1)

    def test_connection_lost(self):
        self.hold()
        file = self.p.profile("1.db", 1)
        child = self.begin("add", file)
        pid = self.wait_for("application_name = 'strobe' AND wait_event_type = 'Lock'")
        self.sql(f"SELECT pg_terminate_backend({pid})")
        said, why = child.communicate()
        self.assertEqual((said, child.returncode), ("", 125))
        self.assertEqual(why.count("\n"), 1)
        self.assertIn("lost the connection", why)
        self.assertEqual(self.p.of("HEAD"), {})

    def test_full(self):
        """The server has no space left for the last row of a profile: nothing is stored."""
        self.sql("CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '53100'; END $$;"
                 "CREATE TRIGGER full_disk BEFORE INSERT ON part EXECUTE FUNCTION full_disk()")
        self.assertIn("make space", self.p.refused("add", self.p.profile("1.db", 1)))
        for table in ("object", "version", "profile", "part"):
            self.assertEqual(self.p.index(f"SELECT count(*) FROM {table}"), [(0,)], table)

    def test_reader(self):
        """A user who may only read."""
        first, second = self.p.add(1), self.p.add(2)
        self.p.commit("second")
        self.sql("DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN PASSWORD 'right'; GRANT USAGE ON SCHEMA strobe TO reader;"
                 "GRANT SELECT ON ALL TABLES IN SCHEMA strobe TO reader")
        more = {"env": {"STROBE_CONFIG": f"store = {Project.server.address(self.p.database, 'reader')}"}}
        self.assertEqual(self.p.of("HEAD~1", **more), dict.fromkeys((first, second), "version"))
        self.assertEqual([c["profiles"] for c in self.p.json("log", **more)["commits"]], [0, 2])
        file = self.p.profile("3.db", 3)
        for words in (("add", file), ("rm", first), ("gc",)):
            self.assertIn("cannot write to", self.p.refused(*words, **more))
        self.sql("DROP OWNED BY reader; DROP ROLE reader")

    def test_reader_without_lock(self):
        """A user who cannot lock the table of profiles reads the history, also where patch ids are needed."""
        base = self.p.git("rev-parse", "HEAD")
        moved = self.p.commit("change")
        self.p.add(1)
        self.p.git("reset", "-q", "--hard", base)
        self.p.commit("other", file="other")
        self.p.git("cherry-pick", moved)
        self.sql("DROP ROLE IF EXISTS adder; CREATE ROLE adder LOGIN PASSWORD 'right'; GRANT USAGE ON SCHEMA strobe TO adder;"
                 "GRANT SELECT ON ALL TABLES IN SCHEMA strobe TO adder; GRANT INSERT ON profile TO adder")
        self.addCleanup(self.sql, "DROP OWNED BY adder; DROP ROLE adder")
        more = {"env": {"STROBE_CONFIG": f"store = {Project.server.address(self.p.database, 'adder')}"}}
        self.assertEqual([c["profiles"] for c in self.p.json("log", **more)["commits"]], [1, 0, 0])

    def test_damage(self):
        """fsck names the profile that needs a damaged object, and only that one."""
        noise = "CREATE TABLE noise(a); INSERT INTO noise WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT i * i FROM n"
        first, second = self.p.add(1, change=noise), self.p.add(2)
        self.sql("UPDATE object SET data = '\\x00' WHERE id IN (SELECT object FROM part GROUP BY object HAVING count(*) = 1) AND id NOT IN "
                 "(SELECT manifest FROM profile)")
        said = self.fsck(1)
        self.assertIn(f"profile {first[:10]} of", said)
        self.assertNotIn(second[:10], said)
        self.assertIn("damaged", self.p.refused("show", first))
        self.assertIn("bbcount", self.p.ask("show", second))

    def test_two_make_it(self):
        self.sql("DROP SCHEMA strobe CASCADE")
        children = [self.begin("init") for _ in range(4)]
        said = [child.communicate() for child in children]
        self.assertEqual([why for _, why in said], [""] * 4)
        self.assertEqual(sum("made the store" in text for text, _ in said), 1)

    def test_two_writers(self):
        """Of two clones at once; no profile is lost."""
        files = [self.p.profile(f"{i}.db", i, folder=self.p.home) for i in range(8)]
        threads = [threading.Thread(target=self.p.ask, args=("add", "-q", file)) for file in files]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(self.p.of("HEAD")), 8)
        self.assertIn("no problem", self.fsck())

    def test_strange_texts(self):
        """The server takes UTF-8 only: other bytes are written in digits, and quotes are no SQL."""
        file = self.p.profile("plain.db", 1, change="UPDATE argument SET value = 'x''); DROP TABLE profile; --' WHERE id = 2")
        odd = self.p.folder / os.fsdecode(b"\xffo'dd \xc3\xa4.db")
        file.rename(odd)
        self.assertEqual(subprocess.run([Project.strobe, "add", "-q", os.fsencode(odd)], cwd=self.p.folder, env=self.p.environment, check=False).returncode, 0)
        self.assertEqual(self.p.json("status")["head"]["profiles"][0]["file"], str(self.p.folder) + "/\\xffo'dd ä.db")

    def test_counts_of_space(self):
        for i in range(3):
            self.p.ask("rm", self.p.add(i))
        unused = self.p.json("fsck")["unused"]  # a profile that was measured on a busy machine may be larger, and take more than one object
        self.assertGreaterEqual(unused, 3)
        self.assertIn(f"removed {unused} objects", self.p.ask("gc"))
        self.assertEqual(self.p.json("fsck"), {**self.p.json("fsck"), "objects": 0, "profiles": 0, "unused": 0, "problems": []})


def load_tests(loader, _tests, _pattern):
    if WHICH == "remote":
        return loader.loadTestsFromTestCase(Remote)
    return unittest.TestSuite(case(f"test_{name}") for case, names in SAME.items() for name in names)


if __name__ == "__main__":
    Project.strobe, WHICH = os.path.abspath(sys.argv.pop(1)), sys.argv.pop(1)
    if not programs():
        print("skipped: no PostgreSQL server (Debian: postgresql)")
        sys.exit(77)
    test_upkeep.KILLS = min(test_upkeep.KILLS, 10)
    Project.server = Server()
    try:
        good = unittest.main(exit=False).result.wasSuccessful()
    finally:
        Project.server.close()
    sys.exit(not good)
