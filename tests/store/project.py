# SPDX-License-Identifier: GPL-3.0-or-later
"""A project for tests of the store: a git repository, profiles, and strobe in it."""
import json
import os
import sqlite3
import subprocess
from pathlib import Path

ENVIRONMENT = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "C", "GIT_COMMITTER_EMAIL": "c@example.org",
               "GIT_CONFIG_NOSYSTEM": "1", "GIT_EDITOR": "true", "GIT_SEQUENCE_EDITOR": "true", "LC_ALL": "C.UTF-8", "TZ": "UTC"}


class Project:
    """A folder; its first profile is measured, all others are copies that say that they began at another time."""
    strobe = None
    server = None  # a Server: each project has its store in a database of this server
    measured = None

    def __init__(self, folder, git=True):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.home = self.folder.parent / "home"
        self.home.mkdir(exist_ok=True)
        self.environment = {**os.environ, **ENVIRONMENT, "HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home / ".config")}
        self.environment.pop("STROBE_CONFIG", None)
        if Project.server:
            self.database = Project.server.database()
            self.environment.update(STROBE_CONFIG=f"store = {Project.server.address(self.database)}", PGPASSWORD="right")
        self.time = 1600000000
        if git:
            self.git("init", "-q", "-b", "main", ".")

    def run(self, *words, fail=False, **more):
        done = subprocess.run([str(w) for w in words], cwd=more.pop("cwd", self.folder), env={**self.environment, **more.pop("env", {})}, capture_output=True,
                              text=True, timeout=120, **more)
        assert (done.returncode != 0) == fail, (words, done.returncode, done.stdout, done.stderr)
        return done

    def git(self, *words, **more):
        return self.run("git", *words, **more).stdout.strip()

    def ask(self, *words, **more):
        """What strobe prints."""
        return self.run(Project.strobe, *words, **more).stdout

    def refused(self, *words, code=125, **more):
        """The one line that strobe says why not."""
        done = self.run(Project.strobe, *words, fail=True, **more)
        assert done.returncode == code, (words, done.returncode, done.stderr)
        assert done.stderr.startswith("strobe: ") and done.stderr.count("\n") == 1, done.stderr
        return done.stderr

    def json(self, *words, **more):
        return json.loads(self.ask(*words, "--format", "json", **more))

    def commit(self, text, file="file", **more):
        """A commit that adds a line; one second after the one before it."""
        self.time += 1
        folder = Path(more.get("cwd", self.folder))
        with open(folder / file, "a", encoding="utf-8") as out:
            out.write(f"{text}\n")
        self.git("add", file, **more)
        when = {"GIT_AUTHOR_DATE": f"{self.time} +0000", "GIT_COMMITTER_DATE": f"{self.time} +0000"}
        self.git("commit", "-q", "-m", text, env=when, **more)
        return self.git("rev-parse", "HEAD", **more)

    def profile(self, name, number, change=None, folder=None):
        """A profile that differs from all others by its number."""
        if Project.measured is None:
            file = self.home / "measured.db"
            self.run(Project.strobe, "run", "-q", "-t", "bbcount", "-o", file, "--", "/bin/true")
            Project.measured = file.read_bytes()
        file = (folder or self.folder) / name
        file.write_bytes(Project.measured)
        db = sqlite3.connect(file)
        db.execute("UPDATE run SET start_ns = ?, wall_ns = ?", (1700000000000000000 + number, 1000 + number))
        if change:
            db.executescript(change)
        db.commit()
        db.close()
        return file

    def add(self, number, *words, change=None, **more):
        """Adds a profile that lies elsewhere; its id."""
        file = self.profile(f"{number}.db", number, change, folder=self.home)
        return self.json("add", file, *words, **more)["profiles"][0]["id"]

    def of(self, rev, **more):
        """The ids of what belongs to a version, with how."""
        shown = self.json("status", **more)["head"] if rev == "HEAD" else self.json("show", rev, **more)
        return {p["id"]: p["belongs_by"] for p in shown.get("profiles", [])}

    def index(self, sql, *values):
        if Project.server:
            return [tuple(int(v) if v.isdigit() else v for v in row) for row in Project.server.sql(sql, self.database)]
        db = sqlite3.connect(self.folder / ".git/strobe/store.db")
        try:
            return db.execute(sql, values).fetchall()
        finally:
            db.close()
