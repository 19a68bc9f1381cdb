#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Profiles are found from the versions they belong to, and from nothing else, whatever git did to the history: test_history.py STROBE."""
import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from project import Project  # noqa: E402


class History(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-store-")
        self.addCleanup(folder.cleanup)
        self.p = Project(Path(folder.name) / "project")

    def commits(self, n):
        """n commits with a profile each: [(commit, profile)]. A second profile at each keeps a version from having just one."""
        self.p.ask("init") if not (self.p.folder / ".git/strobe").exists() else None
        made = []
        for i in range(n):
            commit = self.p.commit(f"line {i}", f"file{i}")
            made.append((commit, {self.p.add(2 * i), self.p.add(2 * i + 1)}))
        return made

    def check_each(self, made, link="version"):
        for commit, profiles in made:
            self.assertEqual(self.p.of(commit), dict.fromkeys(profiles, link))

    def test_five_commits(self):
        made = self.commits(5)
        self.check_each(made)
        for commit, profiles in made:
            self.assertEqual(self.p.of(commit[:8]), dict.fromkeys(profiles, "version"))
            for profile in profiles:
                self.assertIn("bbcount", self.p.ask("show", profile[:10]))
        self.assertEqual(self.p.of("HEAD"), dict.fromkeys(made[-1][1], "version"))
        self.assertEqual(self.p.of("HEAD~2"), dict.fromkeys(made[2][1], "version"))

    def test_amended_message(self):
        made = self.commits(2)
        self.p.git("commit", "-q", "--amend", "-m", "other words")
        self.assertEqual(self.p.of("HEAD"), dict.fromkeys(made[1][1], "tree"))
        self.check_each(made)

    def test_amended_contents(self):
        """Other contents are another version: nothing was measured there."""
        self.commits(2)
        (self.p.folder / "file1").write_text("changed\n", encoding="utf-8")
        self.p.git("commit", "-q", "-a", "--amend", "-m", "x")
        self.assertEqual(self.p.of("HEAD"), {})

    def test_rebased(self):
        """Fifty commits onto another base, and the old ones thrown away: each profile is found by its change."""
        self.p.commit("base", "base")
        made = self.commits(50)
        self.p.git("checkout", "-q", "-b", "other", "HEAD~50")
        self.p.commit("new base", "another")
        self.p.git("rebase", "-q", "other", "main")
        self.p.git("branch", "-q", "-D", "other")
        rebased = self.p.git("rev-list", "--reverse", "-50", "HEAD").split()
        self.check_each([(new, profiles) for new, (_, profiles) in zip(rebased, made)], "patch")
        self.p.git("reflog", "expire", "--expire=now", "--all")
        self.p.git("gc", "-q", "--prune=now")
        self.p.run("git", "cat-file", "-e", made[10][0], fail=True)
        self.check_each([(new, profiles) for new, (_, profiles) in zip(rebased, made)], "patch")
        self.check_each(made)  # the store knows the commits that git has lost

    def test_squashed(self):
        """The squashed commit has the files of the last one; what was measured in between is of no commit any more, but not lost."""
        self.p.commit("base", "base")
        made = self.commits(5)
        self.p.git("reset", "-q", "--soft", "HEAD~5")
        self.p.git("commit", "-q", "-m", "squashed")
        self.assertEqual(self.p.of("HEAD"), dict.fromkeys(made[4][1], "tree"))
        self.p.git("reflog", "expire", "--expire=now", "--all")
        self.p.git("gc", "-q", "--prune=now")
        self.assertEqual(self.p.of("HEAD"), dict.fromkeys(made[4][1], "tree"))
        self.check_each(made)

    def test_reverted(self):
        """A revert has the files of an ancestor, whose profiles stay the ancestor's."""
        made = self.commits(2)
        self.p.git("revert", "--no-edit", "HEAD")
        self.assertEqual(self.p.of("HEAD"), {})
        self.check_each(made)

    def test_worktree(self):
        made = self.commits(3)
        tree = self.p.folder.parent / "tree"
        self.p.git("worktree", "add", "-q", tree, "HEAD~1")
        self.assertEqual(self.p.of("HEAD", cwd=tree), dict.fromkeys(made[1][1], "version"))
        added = self.p.add(100, cwd=tree)
        self.p.git("worktree", "remove", tree)
        self.assertEqual(self.p.of(made[1][0]), dict.fromkeys({*made[1][1], added}, "version"))

    def test_clones(self):
        """Two clones push to a third repository. Each has a store of its own, or both share one."""
        made = self.commits(2)
        self.p.git("clone", "-q", "--bare", ".", self.p.folder.parent / "origin.git")
        other = Project(self.p.folder.parent / "other", git=False)
        other.git("clone", "-q", self.p.folder.parent / "origin.git", ".")
        self.assertIn("strobe init", other.refused("status"))
        other.ask("init")
        self.assertEqual(other.of("HEAD"), {})
        commit = other.commit("third", "third")
        other.add(200)
        other.git("push", "-q", "origin", "main")
        self.p.git("pull", "-q", self.p.folder.parent / "origin.git", "main")
        self.assertEqual(self.p.of("HEAD"), {})
        other.environment["STROBE_CONFIG"] = f"store = {self.p.folder}/.git/strobe"
        self.assertEqual(other.of("HEAD~1"), dict.fromkeys(made[1][1], "version"))
        added = {other.add(201), other.add(202)}
        self.assertEqual(self.p.of(commit), dict.fromkeys(added, "version"))

    def test_detached_and_bare(self):
        made = self.commits(2)
        self.p.git("checkout", "-q", "--detach", "HEAD~1")
        self.assertEqual(self.p.of("HEAD"), dict.fromkeys(made[0][1], "version"))
        self.assertIsNone(self.p.json("status")["head"]["branch"])
        bare = Project(self.p.folder.parent / "bare.git", git=False)
        bare.git("clone", "-q", "--bare", self.p.folder, ".")
        bare.ask("init")
        profile = bare.add(300)
        self.assertEqual(bare.of("HEAD"), {profile: "version"})
        self.assertTrue((bare.folder / "strobe/store.db").is_file())

    def test_shallow(self):
        self.commits(3)
        shallow = Project(self.p.folder.parent / "shallow", git=False)
        shallow.environment["LSAN_OPTIONS"] = f"suppressions={os.path.dirname(os.path.abspath(__file__))}/lsan.supp:print_suppressions=0"
        shallow.git("clone", "-q", "--depth", "1", f"file://{self.p.folder}", ".")
        shallow.ask("init")
        profile = shallow.add(400)
        self.assertEqual(shallow.of("HEAD"), {profile: "version"})
        shallow.git("commit", "-q", "--allow-empty", "-m", "more")
        self.assertEqual(shallow.of("HEAD"), {})

    def test_rev(self):
        made = self.commits(3)
        profile = self.p.add(500, "--rev", "HEAD~1")
        self.assertEqual(self.p.of(made[1][0]), dict.fromkeys({*made[1][1], profile}, "version"))
        self.assertIn("'no-such'", self.p.refused("add", self.p.home / "500.db", "--rev", "no-such", code=2))
        self.assertIn("stored already", self.p.refused("add", self.p.home / "500.db", "--rev", "HEAD"))
        again = self.p.json("add", self.p.home / "500.db")["profiles"][0]
        self.assertEqual((again["id"], again["added"], again["commit"]), (profile, False, made[1][0]))

    def test_no_commit(self):
        self.p.ask("init")
        self.assertIn("no commit yet", self.p.refused("add", self.p.profile("a.db", 1)))
        self.assertEqual([x["file"] for x in self.p.json("status")["pending"]], ["a.db"])

    def test_broken_head(self):
        """A HEAD that cannot be read is an error, not a repository without a commit."""
        made = self.commits(1)
        head = self.p.folder / ".git/HEAD"
        for text in "junk\n", "ref: refs/heads/gone\n", made[0][0].translate(str.maketrans("0123456789abcdef", "fedcba9876543210")) + "\n":
            (self.p.folder / ".git/refs/heads/gone").write_text("1" * 40 + "\n", encoding="utf-8")
            head.write_text(text, encoding="utf-8")
            self.assertIn("cannot read HEAD", self.p.refused("status"))
            self.assertIn("cannot read HEAD", self.p.refused("status", "--exit-code"))

    def test_refused_repositories(self):
        """A repository that cannot be opened is not taken for a folder without version control."""
        inside = self.p.folder / "inside"
        inside.mkdir()
        (self.p.folder / ".git/HEAD").unlink()
        self.assertIn(f"cannot open the git repository in {self.p.folder}", self.p.refused("init", cwd=inside))
        self.assertFalse((inside / ".strobe").exists())
        (inside / ".git").write_text("gitdir: /no-such-folder\n", encoding="utf-8")
        self.assertIn(f"cannot open the git repository in {inside}", self.p.refused("init", cwd=inside))
        self.assertIn("'/no-such-folder'", self.p.refused("init", cwd=inside))
        self.assertIn("/none of GIT_DIR", self.p.refused("init", env={"GIT_DIR": "/none"}))
        below = self.p.folder / "below"
        below.mkdir()
        self.p.ask("init", cwd=below, env={"GIT_CEILING_DIRECTORIES": f"/none:{self.p.folder}"})
        self.assertTrue((below / ".strobe").exists())

    def test_folder_that_is_no_repository(self):
        """A folder .git without a repository in it is nothing to git."""
        for files in [], ["config"]:
            with tempfile.TemporaryDirectory(prefix="strobe-store-") as folder:
                top = Path(folder)
                (top / ".git").mkdir()
                for name in files:
                    (top / ".git" / name).write_text("", encoding="utf-8")
                plain = top / "plain"
                plain.mkdir()
                p = Project(plain, git=False)
                self.assertIn("no store", p.refused("status"))
                self.assertIn("a counter", p.ask("init"))
        nested = self.p.folder / "nested"
        (nested / ".git").mkdir(parents=True)
        self.p.ask("init", cwd=nested)
        self.assertTrue((self.p.folder / ".git/strobe/store.db").exists())

    @unittest.skipUnless(os.geteuid() == 0, "only root can make a repository of another user")
    def test_repository_of_another_user(self):
        self.p.run("chown", "-R", "nobody", self.p.folder)
        way = f"git config --global --add safe.directory '{self.p.folder}'"
        self.assertIn(way, self.p.refused("init"))
        self.assertFalse((self.p.folder / ".strobe").exists())
        self.p.run("sh", "-c", way)
        self.p.ask("init")
        self.assertTrue((self.p.folder / ".git/strobe/store.db").exists())

    def test_pending(self):
        self.commits(1)
        self.p.profile("a.db", 10)
        self.p.profile("b.db", 11)
        hidden = self.p.folder / ".strobe/pending"
        hidden.mkdir(parents=True)
        self.p.profile("c.db", 12, folder=hidden)
        (self.p.folder / "no.db").write_bytes(b"SQLite format 3\0 but of somebody else" + bytes(100))

        def pending():
            return [os.path.basename(x["file"]) for x in self.p.json("status")["pending"]]

        self.assertEqual(pending(), ["c.db", "a.db", "b.db"])
        self.p.ask("add", "a.db")
        self.assertEqual(pending(), ["c.db", "b.db"])
        shutil.copy(self.p.folder / "a.db", self.p.folder / "copy.db")
        self.assertEqual(pending(), ["c.db", "b.db"])

    def test_dirty(self):
        self.commits(1)
        (self.p.folder / "file0").write_text("changed\n", encoding="utf-8")
        profile = self.p.add(20)
        self.assertEqual({p["id"]: p["dirty"] for p in self.p.json("status")["head"]["profiles"]}[profile], True)
        self.assertEqual(sum(p["dirty"] for p in self.p.json("status")["head"]["profiles"]), 1)

    def test_repetitions(self):
        """Twenty profiles of one configuration are twenty."""
        self.p.ask("init")
        self.p.commit("only")
        ids = {self.p.add(i) for i in range(20)}
        self.assertEqual(len(ids), 20)
        self.assertEqual(self.p.of("HEAD"), dict.fromkeys(ids, "version"))
        self.assertEqual(self.p.index("SELECT count(*) FROM configuration"), [(1,)])

    def test_user_tree_untouched(self):
        self.commits(2)
        self.assertEqual(self.p.git("status", "--porcelain"), "")
        self.assertEqual(self.p.git("for-each-ref", "--format=%(refname)"), "refs/heads/main")


class Counter(unittest.TestCase):
    def test_counter(self):
        """Without version control each addition is the next version."""
        with tempfile.TemporaryDirectory(prefix="strobe-store-") as folder:
            p = Project(Path(folder) / "plain", git=False)
            self.assertIn("strobe init", p.refused("status"))
            self.assertIn("a counter", p.ask("init"))
            first, second = p.add(1), p.add(2)
            deep = p.folder / "a/b"
            deep.mkdir(parents=True)
            self.assertEqual(p.of("HEAD", cwd=deep), {second: "version"})
            third = p.add(3, "--rev", "1")
            self.assertEqual(p.of("1"), {first: "version", third: "version"})
            self.assertIn("no version '3'", p.refused("add", p.home / "3.db", "--rev", "3", code=2))


if __name__ == "__main__":
    Project.strobe = os.path.abspath(sys.argv.pop(1))
    unittest.main()
