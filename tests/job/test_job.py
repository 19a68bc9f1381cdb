#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole jobs: each profile once, of the version that it is of, and the user's files as they were: test_job.py STROBE."""
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "store"))
from project import Project  # noqa: E402

Project.strobe = os.path.abspath(sys.argv.pop(1))


class Job(unittest.TestCase):
    maxDiff = None
    git = True

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-job-test-")
        self.addCleanup(folder.cleanup)
        self.p = Project(Path(folder.name) / "project", git=self.git)
        self.p.environment["TMPDIR"] = folder.name

    def job(self, text):
        (self.p.folder / ".strobe").mkdir(exist_ok=True)
        (self.p.folder / ".strobe/job.yaml").write_text(text, encoding="utf-8")

    def file(self, name, text, mode=0o755):
        path = self.p.folder / name
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        return path

    def commit(self, text):
        self.p.git("add", "-A")
        return self.p.commit(text)

    def outcome(self, *words, code=0):
        """What `strobe job run --format json WORDS` says of each version."""
        done = self.p.run(Project.strobe, *(words or ("job", "run")), "--format", "json", fail=code != 0)
        self.assertEqual((done.returncode, done.stderr), (code, ""))
        return json.loads(done.stdout)["versions"]

    def stored(self, rev="HEAD"):
        """The profiles of a version: [{collector, command, workload, id...}]."""
        db = sqlite3.connect(self.p.folder / ".git/strobe/store.db")
        self.addCleanup(db.close)
        names = ("id", "dirty", "collector", "command", "workload", "parameters")
        rows = db.execute("SELECT lower(hex(p.hash)), dirty, collector, command, workload, parameters FROM profile p JOIN version v ON v.id = p.version "
                          "JOIN configuration c ON c.id = p.configuration WHERE v.name = ?", (self.p.git("rev-parse", rev),))
        return [dict(zip(names, row)) for row in rows]

    def series(self, profile):
        shown = self.p.json("show", profile)
        return {s["metric"]: s for s in shown["measurements"]}, shown


class Store(Job):
    def setUp(self):
        super().setUp()
        self.p.ask("init")

    def test_two_by_two_by_two_by_two(self):
        self.file("a.sh", "#!/bin/sh\necho a \"$@\" >> \"$OUT\"\n")
        self.file("b.sh", "#!/bin/sh\necho b \"$@\" >> \"$OUT\"\n")
        self.job("commands: [./a.sh, ./b.sh]\narguments: ['', --fast]\nworkloads: [{integer: {min: 1, max: 2}}]\ncollectors: [{time: [-r 1, -r 3]}]\n")
        commit = self.commit("first")
        out = self.p.folder.parent / "ran"
        self.p.environment["OUT"] = str(out)
        [version] = self.outcome()
        self.assertEqual((version["version"], version["state"], version["runs"], len(set(version["profiles"]))), (commit, "complete", 16, 16))
        ran = Counter(out.read_text(encoding="utf-8").splitlines())
        self.assertEqual(ran, {f"{c}{a} {n}": 4 for c in "ab" for a in ("", " --fast") for n in (1, 2)})
        stored = self.stored()
        self.assertEqual(Counter((s["command"], s["workload"]) for s in stored),
                         {(f"{c}.sh{a} {n}", f"integer_{n}"): 2 for c in "ab" for a in ("", " --fast") for n in (1, 2)})
        self.assertEqual(len({(s["command"], s["parameters"]) for s in stored}), 16)
        self.assertEqual(self.p.git("status", "--short"), "")
        self.assertEqual(os.listdir(self.p.folder / ".git/strobe/jobs"), ["lock"])

    def test_sizes(self):
        """The size is a feature of each value: of time as of counts, and the counts of a quadratic program say so."""
        if not shutil.which("gcc"):
            self.skipTest("no gcc")
        self.file("quad.c", "#include <stdlib.h>\nvolatile long sum;\nint main(int c, char **v) { long n = atol(v[1]);\n"
                            "for (long i = 0; i < n * n; i++) sum++;\nreturn 0; }\n")
        self.p.run("gcc", "-O1", "-o", "quad", "quad.c")
        self.job("commands: ./quad\nworkloads: [{integer: {min: 200, max: 1000, step: 200}}]\ncollectors: [time, {run: -t bbcount}]\nrepeat: 2\n")
        self.commit("first")
        [version] = self.outcome()
        self.assertEqual((version["runs"], len(version["profiles"])), (20, 20))
        counts = {}
        for profile in version["profiles"]:
            found, shown = self.series(profile)
            size = int(shown["run"]["command"][1])
            for series in found.values():
                self.assertEqual(set(series["features"]["size"]), {size})
                self.assertEqual(series["labels"], {"workload": f"integer_{size}"})
                self.assertIn(series["features"]["round"], ([1], [2]))
            if "instructions" in found:
                counts.setdefault(size, set()).update(found["instructions"]["values"])
            self.assertRegex([n for n in shown["notes"] if n.startswith("environment: ")][0], "CPUs all, addresses not randomised, governor .*, turbo .*")
        self.assertEqual(sorted(counts), [200, 400, 600, 800, 1000])
        least = {size: min(values) for size, values in counts.items()}
        # n * n rounds of the same loop: second differences are constant but for what starting the program takes.
        steps = [least[n + 200] - least[n] for n in (200, 400, 600, 800)]
        for a, b in zip(steps, steps[1:]):
            self.assertAlmostEqual((b - a) / (2 * 200 * 200), (steps[1] - steps[0]) / (2 * 200 * 200), delta=0.2)
        self.assertGreater(steps[1] - steps[0], 2 * 200 * 200)

    def test_collectors(self):
        """Every kind of collector: what it is given, and what the profile has of it."""
        self.file("load.sh", "#!/bin/sh\nexec /bin/echo \"$@\"\n")
        self.file("own.sh", "#!/bin/sh\nshift 2\nprintf 'metric\\tunit\\tvalue\\tsum\\n'\n"
                            "printf 'power\\tW\\t12.5\\t%s\\n' \"$STROBE_SIZE\"\necho \"$STROBE_WORKLOAD $*\" >&2\necho \"$STROBE_WORKLOAD $*\" > ran\n")
        self.job("commands: ./load.sh\nworkloads: [singleton: {value: v, size: 3}]\ncollectors: [./own.sh: -a b]\n")
        self.commit("first")
        [version] = self.outcome()
        found, shown = self.series(version["profiles"][0])
        self.assertEqual((self.p.folder / "ran").read_text(encoding="utf-8"), "v ./load.sh v\n")
        self.assertEqual((found["power"]["values"], found["power"]["features"]), ([12.5], {"sum": [3], "size": [3], "round": [1], **self.load_of(found)}))
        self.assertEqual(shown["run"]["command"], ["./load.sh", "v"])
        [stored] = self.stored()
        self.assertEqual((stored["collector"], stored["command"], stored["workload"]), ("own.sh", "load.sh v", "v"))
        self.assertIn("own.sh.options=-a b", stored["parameters"])

    @staticmethod
    def load_of(found):
        """The feature that depends on the machine."""
        return {"load": found["power"]["features"]["load"]}

    def test_standard_input(self):
        self.file("count.sh", "#!/bin/sh\nwc -l >> counted\necho \"$#\" >> counted\n")
        self.job("commands: ./count.sh\nworkloads: [textfile: {min: 3, max: 3, stdin: true}]\ncollectors: [time, run: -t bbcount]\n")
        self.commit("first")
        [version] = self.outcome()
        self.assertEqual(len(version["profiles"]), 2)
        self.assertEqual((self.p.folder / "counted").read_text(encoding="utf-8"), "3\n0\n" * 2)

    def test_failures_are_said(self):
        self.file("slow.sh", "#!/bin/sh\nsleep 60 & wait\n")
        self.job("commands: [./slow.sh, ./missing, 'false']\ntimeout: 1s\n")
        self.commit("first")
        begin = time.monotonic()
        [version] = self.outcome(code=1)
        self.assertLess(time.monotonic() - begin, 50)
        self.assertEqual({f["run"]: f["reason"] for f in version["failures"]},
                         {"time of ./slow.sh": "it took longer than the timeout, 1 s", "time of ./missing": "cannot run ./missing: No such file or directory"})
        self.assertEqual((version["state"], len(version["profiles"]), version["programs_failed"]), ("complete", 1, 1))
        text = self.p.run(Project.strobe, "job", "run", fail=True).stdout
        self.assertIn("no profile, time of ./slow.sh: it took longer than the timeout, 1 s\n", text)

    def test_postprocess(self):
        self.job("commands: 'true'\nrepeat: 2\npostprocess: [\"$STROBE show --format json $STROBE_PROFILE > /dev/null && echo x >> done\", 'test $(wc -l < done) -lt 2']\n")
        self.p.environment["STROBE"] = Project.strobe
        self.commit("first")
        [version] = self.outcome(code=1)
        self.assertEqual((self.p.folder / "done").read_text(encoding="utf-8"), "x\nx\n")
        self.assertEqual((len(version["profiles"]), [f["reason"] for f in version["failures"]]), (1, ["the command of postprocess exited with 1"]))

    def test_environment(self):
        """Affinity and addresses are what the job asks for: the program looks."""
        cpu = max(os.sched_getaffinity(0))
        self.file("look.py", "#!/usr/bin/python3\nimport os\nopen('seen', 'a').write("
                             "f'{sorted(os.sched_getaffinity(0))} {open(\"/proc/self/personality\").read().strip()}\\n')\n")
        for aslr, flag in ("false", "00040000"), ("true", "00000000"):
            self.job(f"commands: ./look.py\ncpu: {cpu}\naslr: {aslr}\n")
            self.outcome() if aslr == "true" else (self.commit("first"), self.outcome())
            self.assertEqual((self.p.folder / "seen").read_text(encoding="utf-8"), f"[{cpu}] {flag}\n")
            (self.p.folder / "seen").unlink()

    def run_and_kill(self, lines, signo):
        """Starts the job, and sends a signal when its programs have written so many lines to `out`."""
        out = self.p.folder.parent / "out"
        process = subprocess.Popen([Project.strobe, "job", "run"], cwd=self.p.folder, env=self.p.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, start_new_session=True)
        try:
            for _ in range(6000):
                if (out.exists() and out.read_text(encoding="utf-8").count("\n") >= lines) or process.poll() is not None:
                    break
                time.sleep(0.005)
            process.send_signal(signo)
            said = process.communicate(timeout=60)
        finally:
            if process.poll() is None:
                process.kill()
        return process.returncode, said

    def slow_job(self, repeat=8):
        self.file("slow.sh", "#!/bin/sh\necho x >> \"$OUT\"\nsleep 0.05\n")
        self.p.environment["OUT"] = str(self.p.folder.parent / "out")
        self.job(f"commands: ./slow.sh\nworkloads: [integer: {{min: 1, max: 2}}]\nrepeat: {repeat}\n")
        return self.commit("first")

    def test_killed_at_any_moment(self):
        """Killed again and again, it ends with each profile once."""
        self.slow_job()
        for lines in 1, 3, 4, 7, 11:
            code, _ = self.run_and_kill(lines, signal.SIGKILL)
            self.assertEqual(code, -9)
        [version] = self.outcome()
        self.assertEqual((version["state"], version["runs"], len(set(version["profiles"]))), ("complete", 16, 16))
        self.assertGreaterEqual(version["resumed"], 4)
        stored = self.stored()
        self.assertEqual(Counter(s["workload"] for s in stored), {"integer_1": 8, "integer_2": 8})
        self.assertEqual({s["id"] for s in stored}, set(version["profiles"]))

    def test_interrupted(self):
        self.slow_job(4)
        code, (out, err) = self.run_and_kill(2, signal.SIGINT)
        self.assertEqual(code, 130)
        self.assertEqual(err, "strobe: interrupted; the same command continues the job\n")
        self.assertIn("interrupted", out)
        done = len(self.stored())
        [version] = self.outcome()
        self.assertEqual((version["resumed"], len(self.stored())), (done, 8))

    def test_changed_since_it_was_interrupted(self):
        self.slow_job()
        self.run_and_kill(2, signal.SIGINT)
        done = len(self.stored())
        self.job("commands: 'true'\n")
        self.assertEqual(self.p.refused("job", "run"), "strobe: the job file has changed since a job of this version was interrupted: "
                                                       "--restart forgets what that job has done\n")
        self.assertEqual(self.outcome("job", "run", "--restart")[0]["resumed"], 0)
        self.assertEqual(len(self.stored()), done + 1)

    def test_quiet_prints_errors(self):
        self.job("commands: [./nosuch]\n")
        commit = self.commit("first")
        done = self.p.run(Project.strobe, "job", "run", "-q", fail=True)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, rf"(?m)^strobe: {commit[:10]}: no profile, .*: cannot run \./nosuch: No such file or directory$")

    def test_checked_out_meanwhile(self):
        first = self.p.commit("zero")
        self.job("commands: [\"sh -c 'git checkout -q --detach HEAD~1'\"]\n")
        second = self.commit("first")
        said = self.p.refused("job", "run")
        self.assertIn(f"the job is of commit {second[:10]}, and {first[:10]} was checked out meanwhile", said)
        self.assertEqual((self.stored(first), self.stored(second)), ([], []))

    def test_one_job_at_a_time(self):
        self.slow_job(40)
        process = subprocess.Popen([Project.strobe, "job", "run", "-q"], cwd=self.p.folder, env=self.p.environment)
        try:
            out = self.p.folder.parent / "out"
            while not out.exists():
                time.sleep(0.01)
            self.assertEqual(self.p.refused("job", "run"), "strobe: another strobe runs a job of this project: wait for its end\n")
        finally:
            process.terminate()
            process.wait(timeout=60)


class Versions(Job):
    def setUp(self):
        super().setUp()
        self.p.ask("init")
        self.job("commands: ./program\nbuild: ['test ! -e broken', 'sh build.sh']\nworkloads: [7]\n")
        self.file(".gitignore", "program\nmade\n", 0o644)
        self.commits = []
        for n in range(4):
            self.file("build.sh", f"echo '#!/bin/sh' > program; echo 'echo {n} $1 >> \"$OUT\"; pwd >> \"$OUT\"' >> program; chmod +x program\n")
            if n == 2:
                self.file("broken", "")
            if n == 3:
                (self.p.folder / "broken").unlink()
            self.commits.append(self.commit(f"version {n}"))
        self.out = self.p.folder.parent / "out"
        self.p.environment["OUT"] = str(self.out)
        self.file("made", "the user's own\n", 0o644)
        self.file("build.sh", "a change that is not committed\n")
        self.before = (self.p.git("status", "--short", "--ignored"), self.p.git("rev-parse", "HEAD"))

    def check_untouched(self):
        self.assertEqual((self.p.git("status", "--short", "--ignored"), self.p.git("rev-parse", "HEAD")), self.before)
        self.assertEqual(self.p.git("worktree", "list").count("\n"), 0)
        self.assertEqual([f for f in os.listdir(self.p.folder.parent) if f.startswith("strobe-job-")], [])

    def test_range(self):
        versions = self.outcome("job", "run", "--rev", f"{self.commits[0]}..HEAD", code=1)
        self.assertEqual([(v["version"], v["state"], len(v["profiles"])) for v in versions],
                         [(self.commits[1], "complete", 1), (self.commits[2], "not built", 0), (self.commits[3], "complete", 1)])
        log = self.p.folder / f".git/strobe/jobs/build-{self.commits[2][:10]}.log"
        self.assertEqual(versions[1]["reason"], f"the command of build 'test ! -e broken' exited with 1; its output is in {log}")
        self.assertEqual(self.out.read_text(encoding="utf-8").splitlines()[::2], ["1 7", "3 7"])
        for where in self.out.read_text(encoding="utf-8").splitlines()[1::2]:
            self.assertFalse(os.path.exists(where))
            self.assertIn("strobe-job-", where)
        for n, profiles in (0, 0), (1, 1), (2, 0), (3, 1):
            self.assertEqual(len(self.stored(self.commits[n])), profiles)
        self.assertEqual([s["dirty"] for s in self.stored(self.commits[3])], [0])
        self.check_untouched()

    def test_backfill(self):
        self.outcome("job", "run", "--rev", self.commits[1])
        versions = self.outcome("backfill", f"{self.commits[0]}..HEAD", code=1)
        self.assertEqual([v["state"] for v in versions], ["left out", "not built", "complete"])
        versions = self.outcome("backfill", f"{self.commits[0]}..HEAD", "--all", code=1)
        self.assertEqual([v["state"] for v in versions], ["complete", "not built", "complete"])
        self.assertEqual([len(self.stored(c)) for c in self.commits], [0, 2, 0, 2])
        self.check_untouched()

    def test_killed_in_the_middle(self):
        """What has been measured of a range is not measured again, and the work tree of the killed job goes."""
        self.file("build.sh", "echo '#!/bin/sh' > program; echo 'echo slow >> \"$OUT\"; sleep 0.3' >> program; chmod +x program\n")
        commit = self.commit("slow")
        self.job("commands: ./program\nbuild: ['test ! -e broken', 'sh build.sh']\nrepeat: 4\n")
        self.commits.append(commit)
        process = subprocess.Popen([Project.strobe, "job", "run", "-q", "--rev", "HEAD~2..HEAD"], cwd=self.p.folder, env=self.p.environment)
        while not self.out.exists() or self.out.read_text(encoding="utf-8").count("slow") < 2:
            time.sleep(0.01)
        process.kill()
        process.wait(timeout=60)
        self.assertEqual(len([f for f in os.listdir(self.p.folder.parent) if f.startswith("strobe-job-")]), 1)
        versions = self.outcome("job", "run", "--rev", "HEAD~2..HEAD")
        self.assertEqual([(v["state"], len(set(v["profiles"]))) for v in versions], [("complete", 4), ("complete", 4)])
        self.assertEqual(versions[0]["resumed"], 4)
        self.assertEqual([len(self.stored(c)) for c in self.commits[-2:]], [4, 4])
        self.assertEqual([f for f in os.listdir(self.p.folder.parent) if f.startswith("strobe-job-")], [])

    def test_mistakes(self):
        self.assertIn("'nothing' names no commits: ", self.p.refused("job", "run", "--rev", "nothing", code=2))
        self.assertEqual(self.p.refused("backfill", "HEAD..HEAD", code=2), "strobe: 'HEAD..HEAD' has no commits: A..B are those of B that A does not have\n")
        self.assertEqual(self.p.refused("backfill", code=2), "strobe: no versions to measure: strobe backfill v1..HEAD, for example\n")
        self.check_untouched()


class Plain(Job):
    def test_no_store(self):
        """In a repository without a store, profiles wait in a folder that git does not see."""
        self.job("commands: 'true'\nrepeat: 3\n")
        self.commit("first")
        [version] = self.outcome()
        self.assertEqual(sorted(os.path.dirname(f) for f in version["profiles"]), [str(self.p.folder / ".strobe/pending")] * 3)
        self.assertEqual({len(self.p.json("show", f)["measurements"]) for f in version["profiles"]}, {8})
        self.assertEqual(self.p.git("status", "--short"), "")
        self.assertEqual(self.p.refused("job", "run", "--rev", "HEAD"), "strobe: profiles of other versions need a store: run strobe init\n")

    def test_init(self):
        self.assertEqual(self.p.ask("job", "init"), "wrote .strobe/job.yaml, an example: edit it, then strobe job run\n")
        self.assertEqual(self.p.refused("job", "init"), "strobe: .strobe/job.yaml is there already: edit or remove it\n")
        (self.p.folder / "below").mkdir()
        self.p.commit("first")
        done = json.loads(self.p.ask("job", "run", "--format", "json", cwd=self.p.folder / "below"))
        self.assertEqual((done["stored"], len(done["versions"][0]["profiles"])), (False, 10))

    def test_mistakes(self):
        self.assertEqual(self.p.refused("job", "run"), "strobe: cannot read .strobe/job.yaml: No such file or directory; strobe job init writes an example\n")
        self.job("commands: [a\n")
        self.assertTrue(self.p.refused("job", "run", code=2).startswith("strobe: .strobe/job.yaml:2:1: "))
        self.assertEqual(self.p.refused("job", "start", code=2), "strobe: strobe job takes init or run, not 'start'\n")
        self.assertIn("strobe job init writes a job file", self.p.refused("job", code=2))


class Folder(Job):
    git = False

    def test_counter(self):
        """Without git, all profiles of a job are of one version of the store's counter."""
        self.p.ask("init")
        self.job("commands: 'true'\nrepeat: 3\n")
        self.outcome()
        self.outcome()
        self.assertEqual([(c["commit"], c["profiles"]) for c in self.p.json("log")["commits"]], [("2", 3), ("1", 3)])
        self.assertEqual(self.p.refused("job", "run", "--rev", "1"), "strobe: there is no git repository here, and so no other version\n")


if __name__ == "__main__":
    unittest.main()
