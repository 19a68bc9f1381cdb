#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""strobe fuzz from outside: test_command.py STROBE LIST LINEAR CHOICES FAULT."""
import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

STROBE, LIST, LINEAR, CHOICES, FAULT = map(os.path.abspath, sys.argv[1:6])
del sys.argv[1:6]
LONG = ("-t", "600s")


class Fuzz(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="strobe-fuzzing-")
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)

    def seed(self, text, name="seed"):
        (self.place / name).write_bytes(text.encode())
        return name

    def strobe(self, *words):
        return subprocess.run([STROBE, "fuzz", *words], cwd=self.place, capture_output=True, text=True, timeout=300)

    def read(self, *words, code=0):
        done = self.strobe("-q", "--format", "json", "-o", "out", *words)
        self.assertEqual((done.returncode, done.stderr), (code, ""))
        self.assertEqual(done.stdout, (self.place / "out" / "fuzz.json").read_text())
        got = json.loads(done.stdout)
        self.assertEqual(got["strobe"], {"version": 1, "tool": "fuzz"})
        self.assertLessEqual({"executions", "seconds", "findings"}, set(got))
        for finding in got["findings"]:
            self.assertLessEqual({"kind", "function", "law", "token", "witness", "generator", "size", "seed_size", "slowdown", "counts_ratio", "rules"}, set(finding))
            self.assertLessEqual({"form", "exponent", "lo", "hi"}, set(finding["law"] or ("form", "exponent", "lo", "hi")))
        return got

    def log(self, folder="out"):
        with open(self.place / folder / "log.csv", newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def error(self, code, text, *words):
        done = self.strobe(*words)
        self.assertEqual((done.returncode, done.stderr, done.stdout), (code, f"strobe: {text}\n", ""))


class Laws(Fuzz):
    def check_difference(self, finding, seed, witness):
        """The changes make the witness of the seed, and the text has the same."""
        difference, made, at, lines = finding["difference"], b"", 0, []

        def part(kind, n):
            lines.extend([f"{kind} {n}"] if n else [])
        for change in difference["changes"]:
            made += seed[at:change["seed_at"]]
            self.assertEqual(len(made), change["witness_at"])
            made += witness[len(made):len(made) + change["inserted"]]
            part(" ", change["seed_at"] - at)
            part("-", change["removed"])
            part("+", change["inserted"])
            at = change["seed_at"] + change["removed"]
        part(" ", len(seed) - at)
        self.assertEqual(made + seed[at:], witness)
        self.assertEqual((finding["seed"], difference["unit"], difference["kept"]), (1, "bytes", len(seed) - sum(change["removed"] for change in difference["changes"])))
        text = (self.place / finding["witness"]).with_name("difference.txt").read_text()
        self.assertEqual([line.partition(" '")[0] for line in text.splitlines()], lines)

    def judged_contract(self, finding, rows):
        """What the contract says of the records that its script makes of the program, without its file's comments."""
        folder = (self.place / finding["generator"]).parent
        contract = folder / "contract.txt"
        done = subprocess.run([folder / "records.sh"], cwd=self.place, env={**os.environ, "STROBE": STROBE}, capture_output=True, text=True, timeout=300, check=True)
        records = [(int(row["n"]), int(row["blocks"])) for row in csv.DictReader(io.StringIO(done.stdout))]
        self.assertEqual([n for n, _ in records], [records[0][0] * i for i in range(1, rows + 1)])
        (folder / "records.csv").write_text(done.stdout, encoding="utf-8")
        judged = subprocess.run([STROBE, "annotate", "--contracts", contract, folder / "records.csv", "-m", "blocks", "--function", finding["function"]], capture_output=True,
                                text=True, timeout=60, check=False)
        self.assertEqual((judged.returncode, judged.stderr), (1, ""), judged.stdout)
        return judged.stdout.splitlines()[0], records

    def check_cases(self, finding):
        """The contract is broken by the program, and the job measures the family."""
        folder = (self.place / finding["generator"]).parent
        self.assertEqual(self.judged_contract(finding, 24)[0], "broken: blocks(append_bracket) ~ n*log(n)")
        broken = self.place / "broken-strobe"
        broken.write_text("#!/bin/sh\necho 'strobe: no space' >&2\nexit 125\n", encoding="utf-8")
        broken.chmod(0o755)
        done = subprocess.run([folder / "records.sh"], cwd=self.place, env={**os.environ, "STROBE": str(broken)}, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^records\.sh: nothing was counted for n = [0-9]+:\nstrobe: no space\n$")
        family = self.place / "family"
        family.mkdir()
        subprocess.run([folder / "family.sh", family], check=True, timeout=60)
        sizes = sorted(int(path.name.removeprefix("repetitions-")) for path in family.iterdir())
        self.assertEqual(len(sizes), 6)
        for n in sizes:
            self.assertEqual((family / f"repetitions-{n}").read_bytes(), subprocess.run([folder / "generate.sh", str(n)], capture_output=True, check=True).stdout)
        done = subprocess.run([STROBE, "job", "run", "--file", folder / "job.yaml", "--format", "json"], cwd=self.place, capture_output=True, text=True, timeout=300, check=True)
        [version] = json.loads(done.stdout)["versions"]
        self.assertEqual((version["state"], version["failures"], version["programs_failed"], len(version["profiles"])), ("complete", [], 0, 6))

    def test_quadratic(self):
        seed = self.seed("a few [words] in [brackets]\n")
        got = self.read("-s", seed, *LONG, "--judge", "600s", "--executions", "40", "-N", "2000", "--rules", "double-line,copy-line,repeat-word", "--exit-code", "--", LIST, "@@", code=1)
        [finding] = got["findings"]
        self.assertEqual((finding["kind"], finding["function"], finding["image"]), ("slow", "append_bracket", LIST))
        law = finding["law"]
        self.assertEqual(law["form"], "power")
        self.assertGreater(law["lo"], 1.7)
        self.assertLess(law["hi"], 2.3)
        self.assertEqual([times for times, _ in law["points"]][:12], list(range(1, 13)))
        self.assertIn("[", finding["token"])
        self.assertGreater(finding["counts_ratio"], 1.5)
        self.assertEqual(finding["seed_size"], 28)
        witness, minimal = ((self.place / finding[which]).read_bytes() for which in ("witness", "minimal"))
        self.assertEqual((len(witness), len(minimal)), (finding["size"], finding["minimal_size"]))
        self.assertLessEqual(len(minimal), len(witness))
        made = [subprocess.run([self.place / finding["generator"], str(n)], capture_output=True, check=True).stdout for n in (10, 20)]
        self.assertEqual(len(made[1]) - len(made[0]), 10 * len(finding["token"]))
        self.check_difference(finding, (self.place / seed).read_bytes(), witness)
        self.check_cases(finding)
        low, high = finding["slowdown_interval"]
        self.assertLessEqual(low, finding["slowdown"])
        self.assertLessEqual(finding["slowdown"], high)
        rows = self.log()
        self.assertEqual(len([row for row in rows if row["kind"] == "result"]), got["interesting"])
        for row in rows:
            kept = (self.place / "out" / row["file"]).read_bytes()
            self.assertEqual(len(kept), int(row["bytes"]))
            self.assertLessEqual(len(kept), 2000)
            self.assertGreater(float(row["ratio"]), 1)
        self.assertEqual(sum(rule["hits"] for rule in got["rules"]), got["interesting"])

    def test_linear(self):
        seed = self.seed("some words")
        got = self.read("-s", seed, *LONG, "--judge", "600s", "--executions", "40", "-N", "2000", "--as", "argument", "--exit-code", "--", LINEAR, "@@")
        self.assertEqual((got["findings"], got["cannot_tell"], got["not_judged"]), ([], 0, 0))
        self.assertGreaterEqual(got["not_superlinear"], 1)
        self.assertEqual((got["hangs"], got["faults"], got["unsteady"]), (0, 0, 0))

    def test_exponential(self):
        seed = self.seed("a b\n")
        got = self.read("-s", seed, *LONG, "--executions", "12", "--rules", "repeat-word", "--hang", "2s", "--judge", "30s", "--", CHOICES)
        hang = got["findings"][0]
        self.assertEqual((hang["kind"], hang["function"], hang["law"]["form"], hang["token"]), ("hang", "match_rest", "exponential", "a"))
        self.assertGreater(hang["law"]["lo"], 1.58)
        self.assertLess(hang["law"]["hi"], 1.66)
        self.assertAlmostEqual(hang["law"]["base"], 1.618, delta=0.02)
        self.assertEqual(hang["law"]["exponent"], hang["law"]["base"])
        self.assertIsNone(hang["counts_ratio"])
        largest, most = max((n, work) for n, work in hang["law"]["points"] if work <= 2e7)
        verdict, records = self.judged_contract(hang, int(largest))
        bound = int(verdict.removeprefix("broken: blocks(match_rest) <= "))
        self.assertEqual(bound, round(most / 2))
        self.assertGreater(records[-1][1], most)  # the dynamic linker comes on top
        self.assertGreaterEqual(len(list((self.place / "out" / "hangs").iterdir())), 1)


class Faults(Fuzz):
    def test_kinds(self):
        seed = self.seed("x\nz\n")
        got = self.read("-s", seed, *LONG, "--executions", "16", "--rules", "double-line,delete-character", "--hang", "2s", "--judge", "20s", "--", FAULT)
        self.assertGreaterEqual(got["hangs"], 1)
        self.assertEqual(len(list((self.place / "out" / "hangs").iterdir())), got["hangs"])
        self.assertEqual(len(list((self.place / "out" / "faults").iterdir())), got["faults"])
        [fault] = [finding for finding in got["findings"] if finding["kind"] == "fault"]
        self.assertEqual((fault["signal"], fault["law"], fault["token"]), (signal.SIGABRT, None, None))
        self.assertEqual((self.place / fault["minimal"]).read_bytes(), b"xx")

    def test_no_finding_has_a_cause(self):
        done = self.strobe("-s", self.seed("text"), *LONG, "--executions", "6", "-o", "text", "--", LINEAR, "its argument is not the input")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("no finding: no input made the program do clearly more work\n", done.stdout)
        self.assertRegex(done.stdout, r"^6 executions of the search, [0-9,]+ of judging: 0 interesting inputs, 0 hangs, 0 faults\n")
        judging = int(done.stdout.split()[5].replace(",", ""))
        self.assertGreater(judging, 0)
        self.assertEqual(json.loads((self.place / "text/fuzz.json").read_text())["executions"], 6 + judging)

    def test_user_rule(self):
        seed = self.seed("x\n")
        got = self.read("-s", seed, *LONG, "--executions", "8", "--regex", "x+=>xx", "--rules", "flip-bit", "--judge", "30s", "--", FAULT)
        self.assertEqual([rule["rule"] for rule in got["rules"]], ["x+", "flip-bit"])
        [fault] = [finding for finding in got["findings"] if finding["kind"] == "fault"]
        self.assertEqual((fault["signal"], fault["rules"][-1]), (signal.SIGABRT, "x+"))
        self.assertEqual((self.place / fault["minimal"]).read_bytes(), b"xx")
        done = self.strobe("-s", seed, *LONG, "--executions", "8", "--regex", "x+=>xx", "--rules", "flip-bit", "--judge", "1us", "-o", "hurried", "--", FAULT)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("no finding: 1 input was not judged before judging ended (try a longer --judge)\n", done.stdout)


class Corpora(Fuzz):
    """Files that other fuzzers read and write."""

    def test_dictionary(self):
        """The program ends by a signal for xx, which stands in the dictionary."""
        self.seed('# tokens\nfault@1="\\x78x"\n', "tokens")
        got = self.read("-s", self.seed("y"), *LONG, "--executions", "20", "--dictionary", "tokens", "--rules", "insert-token", "--judge", "60s", "--", FAULT)
        self.assertEqual([rule["rule"] for rule in got["rules"]], ["insert-token"])
        [fault] = [finding for finding in got["findings"] if finding["kind"] == "fault"]
        self.assertEqual((fault["signal"], set(fault["rules"])), (signal.SIGABRT, {"insert-token"}))
        self.assertEqual((self.place / fault["minimal"]).read_bytes(), b"xx")
        self.error(2, "--rules: insert-token, overwrite-token and repeat-token need a --dictionary", "-s", "seed", "--rules", "repeat-token", "--", FAULT)
        self.seed('"a"\nb\n', "bad")
        self.error(125, 'the dictionary bad, line 2: an entry is NAME="TOKEN" or "TOKEN"', "-s", "seed", "--dictionary", "bad", "--", FAULT)
        self.error(125, "cannot read the input gone: No such file or directory", "-s", "seed", "--dictionary", "gone", "--", FAULT)

    def test_folders(self):
        """The seeds are the inputs of the campaign, whichever fuzzer wrote it, and nothing else."""
        afl, libfuzzer = self.place / "afl" / "default", self.place / "libfuzzer"
        (afl / "queue" / ".state").mkdir(parents=True)
        (afl / "crashes").mkdir()
        libfuzzer.mkdir()
        for path, text in ((afl / "fuzzer_stats", "xx"), (afl / "crashes" / "id:000000,sig:06", "xx"), (afl / "queue" / ".state" / "auto", "xx"),
                           (afl / "queue" / "id:000000,time:0,execs:0,orig:seed", "a"), (afl / "queue" / "id:000001,src:000000,op:havoc", "b c"),
                           (libfuzzer / "da39a3ee5e6b4b0d3255bfef95601890afd80709", "a b")):
            path.write_text(text)
        for folder, seeds in (("afl", 2), ("afl/default", 2), ("afl/default/queue", 2), ("libfuzzer", 1)):
            shutil.rmtree(self.place / "out", ignore_errors=True)
            self.assertEqual(self.read("-s", folder, *LONG, "--executions", "1", "--judge", "0.001s", "--", FAULT)["seeds"], seeds)
        # Instances of afl-fuzz -M main and -S second.
        (self.place / "parallel" / "main" / "queue").mkdir(parents=True)
        (self.place / "parallel" / "main" / "queue" / "id:000000,orig:seed").write_text("a c")
        shutil.copytree(afl, self.place / "parallel" / "second")
        shutil.rmtree(self.place / "out")
        self.assertEqual(self.read("-s", "parallel", *LONG, "--executions", "1", "--judge", "0.001s", "--", FAULT)["seeds"], 3)
        shutil.rmtree(self.place / "out")
        kept = self.read("-s", self.seed("some [words]\n"), *LONG, "--executions", "12", "-N", "500", "--judge", "0.001s", "--", LIST)["interesting"]
        self.assertGreater(kept, 0)
        (self.place / "out").rename(self.place / "first")
        self.assertEqual(self.read("-s", "first", *LONG, "--executions", "1", "--judge", "0.001s", "--", LIST)["seeds"], kept)


class Campaigns(Fuzz):
    def rows(self, folder):
        return [{key: value for key, value in row.items() if key != "seconds"} for row in self.log(folder)]

    def test_the_same_seed_does_the_same(self):
        seed = self.seed("some [words]\n")
        for folder, number in (("a", "4"), ("b", "4"), ("c", "5")):
            done = self.strobe("-q", "-s", seed, *LONG, "--executions", "15", "-N", "500", "--judge", "0.001s", "--seed", number, "-o", folder, "--", LIST)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.rows("a"), self.rows("b"))
        self.assertNotEqual(self.rows("a"), self.rows("c"))

    WHOLE = 45  # executions: more than are begun before the first result is taken

    @classmethod
    def setUpClass(cls):
        cls.common = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="strobe-fuzzing-")))
        (cls.common / "seed").write_text("some [words]\n")
        subprocess.run(cls.campaign("whole", cls.WHOLE), cwd=cls.common, check=True, timeout=300)

    @staticmethod
    def campaign(folder, executions, *words):
        return [STROBE, "fuzz", "-q", "-s", "seed", *LONG, "--executions", str(executions), "-N", "500", "--judge", "0.001s", "-o", folder, *words, "--", LIST]

    def setUp(self):
        super().setUp()
        self.seed("some [words]\n")
        shutil.copytree(self.common / "whole", self.place / "whole")

    def finish(self, folder, executions, *words):
        done = subprocess.run(self.campaign(folder, executions, *words), cwd=self.place, capture_output=True, text=True, timeout=300)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def journal(self, folder):
        """The lines without their checksums and the seconds of executions."""
        lines = (self.place / folder / "journal").read_text().splitlines()
        return [line.split()[1:6] + line.split()[7:] for line in lines[1:]]

    def kept(self, folder):
        return {path.relative_to(self.place / folder): path.read_bytes() for kind in ("results", "faults", "hangs") for path in (self.place / folder / kind).iterdir()}

    def check_same(self, a, b):
        self.assertEqual(self.journal(a), self.journal(b))
        self.assertEqual(self.rows(a), self.rows(b))
        self.assertEqual(self.kept(a), self.kept(b))

    def test_the_number_of_jobs_changes_nothing(self):
        self.finish("three", self.WHOLE, "-j", "3")
        self.finish("one", self.WHOLE, "-j", "1")
        self.check_same("whole", "one")
        self.check_same("whole", "three")
        self.assertEqual([line[0] for line in self.journal("one")], [str(number) for number in range(self.WHOLE)])
        self.assertGreater(len(self.rows("one")), 0)

    def test_resume_after_a_kill(self):
        with subprocess.Popen(self.campaign("parts", 1000), cwd=self.place) as strobe:
            while not (self.place / "parts" / "journal").exists() or len(self.journal("parts")) < 5:
                self.assertIsNone(strobe.poll())
                time.sleep(0.02)
            strobe.kill()
        executed = len(self.journal("parts"))
        while (done := subprocess.run(self.campaign("parts", self.WHOLE, "--resume"), cwd=self.place, capture_output=True, text=True, timeout=300)).returncode:
            self.assertIn("is in use", done.stderr)  # until the executions that it had begun are ended
        self.assertEqual(len(self.journal("parts")), max(executed, self.WHOLE))
        self.assertEqual(self.journal("parts")[:self.WHOLE], self.journal("whole"))
        if executed <= self.WHOLE:
            self.check_same("whole", "parts")

    def test_resume_after_a_line_that_was_cut(self):
        shutil.copytree(self.place / "whole", self.place / "cut")
        journal = self.place / "cut" / "journal"
        lines = journal.read_bytes().splitlines(keepends=True)
        journal.write_bytes(b"".join(lines[:-3]) + lines[-3][:-4])
        (self.place / "cut" / self.rows("cut")[0]["file"]).unlink()
        self.finish("cut", self.WHOLE, "--resume")
        self.check_same("whole", "cut")

    def test_resume_without_a_journal(self):
        """One that was emptied, and one whose first line was damaged."""
        shutil.copytree(self.place / "whole", self.place / "empty")
        journal = self.place / "empty" / "journal"
        whole = journal.read_bytes()
        journal.write_bytes(b"")
        words = [word for word in self.campaign("empty", self.WHOLE, "--resume")[2:] if word != "-q"]
        done = self.strobe(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("strobe: the journal empty/journal has no executions: the campaign starts from the beginning\n", done.stderr)
        self.check_same("whole", "empty")
        journal.write_bytes(whole.replace(b"seed=", b"seed;", 1))
        self.error(125, "the journal empty/journal is damaged in line 1, which describes the experiment: choose another file or folder", *words)

    def test_what_cannot_be_resumed(self):
        log = (self.place / "whole" / "log.csv").read_bytes()
        self.error(125, "whole already has a campaign: resume it with --resume, or name another folder with -o", *self.campaign("whole", 12)[2:])
        self.error(125, "cannot resume a campaign in new: it has no journal; begin one without --resume", *self.campaign("new", 12, "--resume")[2:])
        self.seed("other\n", "other")
        end = "; use the same as before, or name another folder with -o"
        for words, what in ((("--seed", "2"), "--seed was 1 and is now 2"), (("-s", "other"), "the content of the seeds (--seeds) has changed"),
                            (("--rate", "1.25"), "--rate was 1.5 and is now 1.25"), (("--strategy", "unitary"), "--strategy was mixed and is now unitary"),
                            (("--hang", "7s"), "--hang was 10 and is now 7"), (("--coverage", "paths"), "--coverage was sum and is now paths"),
                            (("--rules", "double-line"), "the set of rules (--rules) has changed"), (("--regex", "a=>b"), "the option --regex has changed")):
            self.error(125, f"cannot resume the campaign of whole/journal: {what}{end}", *self.campaign("whole", 12, "--resume", *words)[2:])
        self.assertEqual((self.place / "whole" / "log.csv").read_bytes(), log)
        journal = self.place / "whole" / "journal"
        lines = journal.read_text().splitlines(keepends=True)
        journal.write_text("".join(lines[:3] + lines[4:]))
        done = self.strobe(*self.campaign("whole", 12, "--resume")[2:])
        self.assertEqual((done.returncode, done.stderr), (125, "strobe: the journal whole/journal is damaged: it has execution 3 where execution 2 is expected\n"))

    def test_interrupted(self):
        seed = self.seed("some [words]\n")
        with subprocess.Popen([STROBE, "fuzz", "-q", "-s", seed, *LONG, "-o", "out", "--", LIST], cwd=self.place, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler)) as strobe:
            results = self.place / "out" / "results"
            while not results.exists() or not any(not path.name.endswith(".part") for path in results.iterdir()):
                self.assertIsNone(strobe.poll())
                time.sleep(0.05)
            strobe.send_signal(signal.SIGINT)
            out, err = strobe.communicate(timeout=120)
        self.assertEqual((strobe.returncode, out, err), (128 + signal.SIGINT, b"", b""))
        got = json.loads((self.place / "out" / "fuzz.json").read_text())
        self.assertEqual((got["interrupted"], got["findings"]), (True, []))
        self.assertGreaterEqual(got["interesting"], 1)

    def test_nothing_is_left_behind(self):
        seed, left = self.seed("some [words]\n"), self.place / "tmp"
        left.mkdir()
        subprocess.run([STROBE, "fuzz", "-q", "-s", seed, "--executions", "5", "-o", "out", "--", LIST], cwd=self.place, check=True,
                       env={**os.environ, "TMPDIR": str(left)}, timeout=300)
        self.assertEqual(list(left.iterdir()), [])

    def test_what_a_killed_one_leaves(self):
        """The next one removes it, if it is no new folder and no process uses it."""
        seed, left = self.seed("some [words]\n"), self.place / "tmp"
        left.mkdir()
        with subprocess.Popen([STROBE, "fuzz", "-q", "-s", seed, *LONG, "-o", "killed", "--", LIST], cwd=self.place, env={**os.environ, "TMPDIR": str(left)}) as strobe:
            while not (self.place / "killed" / "results").exists():
                self.assertIsNone(strobe.poll())
                time.sleep(0.05)
            [used] = left.iterdir()
            os.utime(used, (0, 0))
            self.clean(seed, left, [used])
            strobe.kill()
        while subprocess.run(["flock", "-n", used, "true"], check=False).returncode:
            time.sleep(0.05)
        os.utime(used)
        self.clean(seed, left, [used])
        os.utime(used, (0, 0))
        self.clean(seed, left, [])

    def clean(self, seed, left, kept):
        subprocess.run([STROBE, "fuzz", "-q", "-s", seed, "--executions", "5", "--judge", "1ms", "-o", "out", "--", LIST], cwd=self.place, check=True,
                       env={**os.environ, "TMPDIR": str(left)}, timeout=300)
        self.assertEqual(list(left.iterdir()), kept)
        shutil.rmtree(self.place / "out")


class Misuse(Fuzz):
    def test_errors(self):
        seed = self.seed("text")
        (self.place / "empty").mkdir()
        self.error(2, "no program to fuzz: strobe fuzz -s SEED [options] -- PROGRAM @@", "-s", seed)
        self.error(2, "no seeds: name a file that the program reads, or a folder of such files, with -s", "--", LINEAR)
        self.error(2, "--as argument needs the argument @@, which stands for the input", "-s", seed, "--as", "argument", "--", LINEAR)
        self.error(2, "with --as stdin, no argument may be @@: remove it, or use --as file", "-s", seed, "--as", "stdin", "--", LINEAR, "@@")
        self.error(2, "@@ stands for the input: give it only once", "-s", seed, "--", LINEAR, "@@", "@@")
        self.error(2, "--as takes stdin, file or argument, not 'x'", "-s", seed, "--as", "x", "--", LINEAR, "@@")
        self.error(2, "--jobs takes a number from 1 to 32, not '33'", "-s", seed, "-j", "33", "--", LINEAR)
        self.error(2, "--rate takes a number of at least 1, not '0.5'", "-s", seed, "--rate", "0.5", "--", LINEAR)
        self.error(2, "--time takes a time such as 5s or 2m, not '0'", "-s", seed, "-t", "0", "--", LINEAR)
        self.error(2, "--size takes a number of bytes from 1 to 64M, such as 4k, not '0'", "-s", seed, "-N", "0", "--", LINEAR)
        self.error(125, "cannot read the input gone: No such file or directory", "-s", "gone", "--", LINEAR)
        self.error(125, "the folder empty has no seeds: put files that the program reads into it", "-s", "empty", "--", LINEAR)

    def test_programs(self):
        seed = self.seed("text")
        done = self.strobe("-s", seed, "-o", "out", "--", "./gone")
        self.assertEqual((done.returncode, done.stdout), (127, ""))
        self.assertRegex(done.stderr, r"^strobe: .*\./gone.*\n$")
        self.error(125, "with seed 1, the program is ended by signal 6: give seeds with which it ends normally", "-s", self.seed("xx\n"), "-o", "bad", "--", FAULT)
        self.error(125, "with seed 1, the program runs for longer than 0.5 s: raise --hang, or give a smaller seed",
                   "-s", self.seed("zz\n"), "-o", "slow", "--hang", "0.5s", "--", FAULT)


if __name__ == "__main__":
    unittest.main()
