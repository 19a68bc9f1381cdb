#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gates and bisections in the history of SQLite: a repository with one commit for each of 39 releases, whose sources are in versions of the npm package better-sqlite3.

usage: history.py STROBE [--folder DIR] [--only PART]... [--short]

The parts are
  json     gate and bisect of json.sql between 3.40.0 and 3.44.2
  payload  gate and bisect of json.sql between 3.44.2 and 3.45.3
  faster   gate of 3.39.0 against 3.38.5, which executes fewer instructions
  neutral  gates of 20 point releases, all benchmarks, counts and 10 pairs: each that follows another release of its series in the list, except 3.45.1,
           which payload finds. Two of them add checks to functions that the benchmarks execute, and are no neutral ones: 3.53.2 and 3.53.3

npm fetches each package by its name and version and checks its contents; the script checks the version of SQLite in it. Nothing is fetched again if --folder has it.
The outputs are DIR/results/PART.txt; the tables are printed. --short has three point releases only. It takes about an hour, most of which are compilations."""
import argparse
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

# SQLite and the version of better-sqlite3 that has it.
RELEASES = """3.36.0 7.4.3  3.37.2 7.5.0  3.38.2 7.5.1  3.38.5 7.5.3  3.39.0 7.6.0  3.39.1 7.6.2  3.40.0 8.0.0  3.40.1 8.1.0  3.41.0 8.2.0  3.41.2 8.3.0  3.42.0 8.4.0
3.43.0 8.6.0  3.43.1 8.7.0  3.43.2 9.0.0  3.44.0 9.1.0  3.44.2 9.2.0  3.45.0 9.3.0  3.45.1 9.4.0  3.45.2 9.5.0  3.45.3 9.6.0  3.46.0 10.1.0  3.46.1 11.3.0  3.47.0 11.5.0
3.47.1 11.6.0  3.47.2 11.7.0  3.48.0 11.8.0  3.49.1 11.9.0  3.49.2 11.10.0  3.50.2 12.2.0  3.50.4 12.4.1  3.51.0 12.4.5  3.51.1 12.5.0  3.51.2 12.6.0  3.51.3 12.8.0
3.53.0 12.9.0  3.53.1 12.10.0  3.53.2 12.11.1  3.53.3 13.0.0  3.54.1 13.2.0""".split()
RELEASES = list(zip(RELEASES[::2], RELEASES[1::2]))
# Debug information has the path of the work tree, so a cache of compilations would miss: names are enough.
MAKEFILE = """CC = gcc
CFLAGS = -O1 -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_JSON1 -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION
sqlrun: sqlrun.o sqlite3.o
\t$(CC) -o $@ $^ -lm
"""
WORKLOADS = Path(__file__).parent / "history"


class History:
    def __init__(self, folder, strobe):
        self.packages, self.repository, self.results = folder / "packages", folder / "sqlite", folder / "results"
        self.strobe = str(Path(strobe).resolve())
        for place in (self.packages, self.results):
            place.mkdir(parents=True, exist_ok=True)

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=history", "-c", "user.email=history@example.org", *words], cwd=self.repository, check=True, capture_output=True)

    def sources(self, package):
        """The files sqlite3.c and sqlite3.h of a version of the package: {name: bytes}."""
        archive = self.packages / f"better-sqlite3-{package}.tgz"
        if not archive.exists():
            subprocess.run(["npm", "pack", "--silent", f"better-sqlite3@{package}"], cwd=self.packages, check=True, stdout=subprocess.DEVNULL, timeout=300)
        with tarfile.open(archive) as outer:
            inner = next((m for m in outer.getmembers() if m.name.endswith("deps/sqlite3.tar.gz")), None)
            if not inner:
                return self.of_archive(outer)
            with tarfile.open(fileobj=io.BytesIO(outer.extractfile(inner).read())) as nested:
                return self.of_archive(nested)

    @staticmethod
    def of_archive(archive):
        return {Path(m.name).name: archive.extractfile(m).read() for m in archive.getmembers() if Path(m.name).name in ("sqlite3.c", "sqlite3.h")}

    def commit(self, release, package):
        files = self.sources(package)
        found = re.search(rb'#define SQLITE_VERSION +"([^"]+)"', files["sqlite3.c"]).group(1).decode()
        if found != release:
            sys.exit(f"better-sqlite3 {package} has SQLite {found} instead of {release}")
        for name, data in files.items():
            (self.repository / name).write_bytes(data)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", f"SQLite {release}")
        self.git("tag", f"v{release}")

    def make(self):
        if (self.repository / "complete").exists():
            return
        shutil.rmtree(self.repository, ignore_errors=True)
        (self.repository / ".strobe").mkdir(parents=True)
        self.git("init", "-q", "-b", "main", ".")
        for file in WORKLOADS.iterdir():
            shutil.copy(file, self.repository)
        (self.repository / "Makefile").write_text(MAKEFILE, encoding="utf-8")
        (self.repository / ".gitignore").write_text("*.o\nsqlrun\ncomplete\n", encoding="utf-8")
        commands = [f"./sqlrun {f.name}" for f in sorted(WORKLOADS.glob("*.sql"))]
        (self.repository / ".strobe/job.yaml").write_text(f"build: [make]\ncommands: {json.dumps(commands)}\n", encoding="utf-8")
        for release, package in RELEASES:
            self.commit(release, package)
        (self.repository / "complete").touch()

    def ask(self, part, *words):
        """Runs strobe; returns its output, which is also kept."""
        begin = time.monotonic()
        done = subprocess.run([self.strobe, *words], cwd=self.repository, capture_output=True, text=True, check=False)
        with open(self.results / f"{part}.txt", "a", encoding="utf-8") as out:
            out.write(f"$ {shlex.join(['strobe', *words])}\n{done.stdout}{done.stderr}exit {done.returncode}, {time.monotonic() - begin:.0f} s\n\n")
        if done.returncode not in (0, 1, 3):
            sys.exit(f"{shlex.join(['strobe', *words])} failed: {done.stderr}")
        return done.stdout

    def show(self, part, *words):
        print(f"$ {shlex.join(['strobe', *words])}\n{self.ask(part, *words)}", flush=True)

    def neutral(self, pairs):
        print("| release | verdict | counts | time: pass, inconclusive, regression | largest growth of instructions | functions named as regressions |\n|-|-|-|-|-|-|", flush=True)
        for old, new in pairs:
            found = json.loads(self.ask("neutral", "gate", "--base", f"v{old}", "--target", f"v{new}", "--counts", "1", "--pairs", "10", "-f", "json"))
            counts = [b["counts"] for b in found["benchmarks"]]
            times = [b["time"]["verdict"] for b in found["benchmarks"]]
            named = [f["function"] for c in counts for f in c["functions"] if f["instructions"]["verdict"] != "pass"]
            largest = max(c["program"]["instructions"]["change"] for c in counts)
            worst = max((c["verdict"] for c in counts), key=("pass", "inconclusive", "regression").index)
            print(f"| {new} | {found['verdict']} | {worst} | {times.count('pass')}, {times.count('inconclusive')}, {times.count('regression')} | {largest * 100:+.3f} % "
                  f"| {', '.join(sorted(set(named))) or 'none'} |", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("strobe")
    arguments.add_argument("--folder", type=Path, help="keep packages, repository and results here (default: a temporary folder)")
    arguments.add_argument("--only", action="append", choices=("json", "payload", "faster", "neutral"))
    arguments.add_argument("--short", action="store_true")
    a = arguments.parse_args()
    parts = a.only or ["json", "payload", "faster", "neutral"]
    with tempfile.TemporaryDirectory(prefix="strobe-history-") as place:
        h = History((a.folder or Path(place)).resolve(), a.strobe)
        h.make()
        print(f"{time.strftime('%Y-%m-%d')}, {' '.join(sys.argv)}\n", flush=True)
        for part, good, bad in (("json", "v3.40.0", "v3.44.2"), ("payload", "v3.44.2", "v3.45.3")):
            if part in parts:
                h.show(part, "gate", "--base", good, "--target", bad, "--pairs", "0", "--", "./sqlrun", "json.sql")
                h.show(part, "bisect", "--pairs", "0", good, bad, "--", "./sqlrun", "json.sql")
        if "faster" in parts:
            h.show("faster", "gate", "--base", "v3.38.5", "--target", "v3.39.0", "--pairs", "0", "--", "./sqlrun", "cte.sql")
        points = [(old, new) for (old, _), (new, _) in zip(RELEASES, RELEASES[1:]) if old.rsplit(".", 1)[0] == new.rsplit(".", 1)[0] and new != "3.45.1"]
        if "neutral" in parts:
            h.neutral(points[:3] if a.short else points)


if __name__ == "__main__":
    main()
