#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hooks measure, store and compare each commit, and stop a push of a slowdown: test_hooks.py STROBE."""
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from project import Project  # noqa: E402

PROGRAM = "volatile int s; __attribute__((noipa)) void work(void) { for (int i = 0; i < N; i++) s++; } int main(void) { work(); }\n"
MEASURE = """#!/bin/sh
cc -O1 -o prog.out prog.c && strobe run -q -t hot -o "$1/prog.db" -- ./prog.out
"""


class Hooks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-store-")
        self.addCleanup(folder.cleanup)
        self.p = Project(Path(folder.name) / "project")
        self.p.environment["PATH"] = f"{os.path.dirname(Project.strobe)}:{os.environ['PATH']}"
        self.hooks = self.p.folder / ".git/hooks"

    def write(self, n):
        (self.p.folder / "prog.c").write_text(PROGRAM.replace("N", str(n)), encoding="utf-8")
        return self.p.commit(f"count to {n}", "notes")

    def test_each_commit(self):
        self.p.ask("init")
        (self.p.folder / ".strobe").mkdir()
        (self.p.folder / ".strobe/measure").write_text(MEASURE, encoding="utf-8")
        (self.p.folder / ".strobe/measure").chmod(0o755)
        (self.p.folder / ".gitignore").write_text("*.out\n.strobe\n", encoding="utf-8")
        self.p.git("add", ".gitignore")
        self.p.run("git", "init", "-q", "--bare", self.p.home / "origin.git")
        self.p.ask("hooks", "install")
        push = ["push", "-q", self.p.home / "origin.git", "main"]
        first = self.write(100000)
        self.assertEqual([(c["commit"], c["profiles"]) for c in self.p.json("log")["commits"]], [(first, 1)])
        self.assertEqual(list((self.p.folder / ".strobe/pending").iterdir()), [])
        self.p.git(*push)
        second = self.write(150000)
        status = self.p.json("status")
        self.assertEqual([(c["name"], c["kind"]) for c in status["changes"][0]["changed"]], [("work", "more")])
        self.assertEqual((status["head"]["commit"], status["changes"][0]["since"]), (second, first))
        done = self.p.run("git", *push, fail=True)
        self.assertIn("not pushed", done.stderr)
        self.assertIn("work [prog.out]", done.stderr)
        self.p.git("push", "-q", "--no-verify", *push[2:])
        self.write(140000)
        self.p.git(*push)
        self.p.ask("hooks", "remove")
        self.assertFalse((self.hooks / "post-commit").exists())

    def test_nothing_to_do(self):
        """Without a store or a script, commits and pushes go through; a push says that it was not checked."""
        self.p.ask("hooks", "install")
        self.p.run("git", "init", "-q", "--bare", self.p.home / "origin.git")
        push = ["git", "push", "-q", self.p.home / "origin.git", "main"]
        self.write(1)
        said = self.p.run(*push).stderr
        self.assertIn("strobe: warning: this push is not checked for slowdowns", said)
        self.assertIn("exit code 125", said)
        self.p.ask("init")
        self.write(2)
        self.assertNotIn("warning", self.p.run(*push).stderr)
        (self.p.folder / ".git/strobe/store.db").write_bytes(b"no database" * 1000)
        self.write(3)
        self.assertIn("warning", self.p.run(*push).stderr)
        self.write(4)
        self.assertIn("exit code 127", self.p.run(*push, env={"PATH": "/usr/bin:/bin"}).stderr)

    def test_permissions(self):
        """A hook is executed with the rights of the user: others must not write it."""
        for mask, mode in ((0o022, 0o755), (0o077, 0o700), (0o027, 0o750)):
            self.p.run("sh", "-c", f"umask {mask:o}; exec {Project.strobe} hooks install")
            for hook in "post-commit", "pre-push":
                self.assertEqual((self.p.folder / ".git/hooks" / hook).stat().st_mode & 0o777, mode, hook)

    def test_own_hooks(self):
        """A hook of the user's own stays, and then nothing is written."""
        self.hooks.mkdir(exist_ok=True)
        mine = self.hooks / "pre-push"
        mine.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
        self.assertIn("of your own", self.p.refused("hooks", "install"))
        self.assertFalse((self.hooks / "post-commit").exists())
        self.assertIn("no pre-push hook of strobe", self.p.ask("hooks", "remove"))
        self.assertEqual(mine.read_text(encoding="utf-8"), "#!/bin/sh\nexit 0\n")
        mine.unlink()
        self.p.ask("hooks", "install")
        self.p.ask("hooks", "install")
        self.assertTrue(os.access(self.hooks / "post-commit", os.X_OK))

    def test_other_folder(self):
        self.p.git("config", "core.hooksPath", "my-hooks")
        self.p.ask("hooks", "install")
        self.assertTrue((self.p.folder / "my-hooks/pre-push").exists())
        self.assertFalse((self.hooks / "pre-push").exists())

    def test_bad_words(self):
        for words in ([], ["instal"], ["install", "remove"]):
            self.p.refused("hooks", *words, code=2)
        with tempfile.TemporaryDirectory() as plain:
            self.assertIn("no git repository", self.p.refused("hooks", "install", cwd=plain))


if __name__ == "__main__":
    Project.strobe = os.path.abspath(sys.argv.pop(1))
    unittest.main()
