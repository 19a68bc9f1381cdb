#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Code that is measured once, and the log of it: test_unique.py STROBE PROGRAM OTHER NAMELESS LATE LIBRARY PARTS. The programs are one, as it is, a
little different, and without a build-id; one that loads the library; and one with code in two parts."""
import collections
import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

STROBE, PROGRAM, OTHER, NAMELESS, LATE, LIBRARY, PARTS = (os.path.abspath(path) for path in sys.argv[1:8])
SMALL = ("-b", "1%", "-T", "20ms")
# The same code in each run: which way strlen goes depends on where in a page a string of the environment lies.
ADDR_NO_RANDOMIZE = 0x0040000
ctypes.CDLL(None).personality(ADDR_NO_RANDOMIZE)
for variable in set(os.environ) - {"PATH", "HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS"}:
    del os.environ[variable]


def symbols(program):
    lines = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout.splitlines()
    return {name: int(value, 16) for value, _, name in (line.split() for line in lines if line[0] != " ")}


AT = symbols(PROGRAM)
OWN = sorted(AT[name] for name in AT if name.startswith("step_"))


def own(places):
    """Those in the program's own steps: how often the library of threads has to wait differs from run to run."""
    return {at for at in places if OWN[0] <= at < OWN[-1]}


class Log:
    """What a log holds of the images whose path ends so."""

    def __init__(self, file, image="unique"):
        with sqlite3.connect(file) as db:
            self.blocks = db.execute("SELECT offset, bytes, lengths, times FROM block JOIN image ON image.id = image WHERE path LIKE ?", ("%" + image,)).fetchall()
            self.runs = db.execute("SELECT ended, wrongly_refused, instructions FROM run ORDER BY id").fetchall()
            self.images = db.execute("SELECT build_id, path FROM image").fetchall()
        self.times = {}
        for offset, size, lengths, times in self.blocks:
            assert sum(lengths) == size, (offset, size, lengths)
            at = offset
            for length in lengths:
                self.times[at] = self.times.get(at, 0) + times
                at += length
        self.instructions = set(self.times)
        self.bytes = {at for offset, size, _, _ in self.blocks for at in range(offset, offset + size)}


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-unique-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.log = self.folder / "code.log"
        self.file = self.folder / "result.json"

    def line(self, *arguments, words=(), program=PROGRAM, log=None, tool="inscount"):
        return [STROBE, "run", "-q", "-t", tool, "--format", "json", "-o", str(self.file), "--unique-log", str(log or self.log), *arguments, "--", program, *words]

    def run_strobe(self, *arguments, code=0, **how):
        done = subprocess.run(self.line(*arguments, **how), capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(self.file.read_text())

    def logged(self, *words, log=None, **how):
        self.run_strobe(words=words, log=log, **how)
        return Log(log or self.log)

    def reference(self, *words, **how):
        return self.logged(*words, log=self.folder / "whole.log", **how)

    def executed(self, *words):
        """The bytes of the program's blocks that ran, by a profile that counts each execution."""
        file = self.folder / "profile.db"
        subprocess.run([STROBE, "run", "-q", "-t", "coverage", "-o", str(file), "--", PROGRAM, *words], capture_output=True, timeout=120, check=True)
        with sqlite3.connect(file) as db:
            rows = db.execute("SELECT offset, bytes FROM block JOIN image ON image.id = image WHERE path LIKE '%unique' AND block.instructions > 0").fetchall()
        return {at for offset, size in rows for at in range(offset, offset + size)}

    def check_once(self, log):
        """Nothing was measured twice, and nothing was taken for measured that was not."""
        self.assertEqual({times for times in log.times.values()}, {1})
        self.assertEqual(sum(run[1] for run in log.runs), 0)
        ends = 0
        for offset, size, _, _ in sorted(log.blocks):
            if offset not in (AT["unprefixed"], AT["behind"]):  # of which one is in the middle of the other
                self.assertGreaterEqual(offset, ends)
            ends = max(ends, offset + size)

    def coverage(self, *arguments):
        done = subprocess.run([STROBE, "covered", "--format", "json", *map(str, arguments)], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)


class Last(Case):
    """Code that is measured again when so many other blocks have been."""
    CYCLE = ["cycle"] + ["turn", "turned"] * 10 + ["run"] + ["running"] * 5 + ["ran"]
    BLOCKS = ["twice"] + CYCLE + ["second"] + CYCLE + ["third"]

    def measured(self, *options, word="twice", blocks=BLOCKS):
        file = self.folder / "profile.db"
        subprocess.run([STROBE, "run", "-q", "-t", "coverage", "-o", str(file), *options, "--", PROGRAM, word], capture_output=True, timeout=120, check=True)
        with sqlite3.connect(file) as db:
            rows = dict(db.execute("SELECT offset, block.executions FROM block JOIN image ON image.id = image WHERE path LIKE '%unique'"))
        return {name: rows.get(AT[name], 0) for name in set(blocks)}

    def expected(self, last):
        ring, times = collections.deque(maxlen=last), collections.Counter()
        for name in self.BLOCKS:
            if name not in ring:
                ring.append(name)
                times[name] += 1
        return dict(times)

    def test_last(self):
        self.assertEqual(self.measured(), collections.Counter(self.BLOCKS))
        for last in (1, 2, 3, 4, 5, 6, 7, 8, 4096):
            for stress in ((), ("--stress", "links"), ("--stress", "blocks"), ("--stress", "cache")):
                with self.subTest(last=last, stress=stress):
                    self.assertEqual(self.measured("--unique-last", str(last), *stress), self.expected(last))

    def test_threads(self):
        """Two blocks are remembered, so none of the turns of a thread, of four blocks, goes by without one that is measured by somebody."""
        times = self.measured("--unique-last", "2", word="turns", blocks=["turns", "turn_1", "turn_2", "turn_3"])
        self.assertGreaterEqual(sum(times.values()), 20000)
        self.assertLessEqual(max(times.values()), 40000)

    def test_bad_numbers(self):
        for options, says in ((("--unique-last", "0"), "--unique-last takes"), (("--unique-last", "4097"), "--unique-last takes"),
                              (("--unique-last", "3", "--unique-log", str(self.log)), "leave out one of them")):
            done = subprocess.run([STROBE, "run", "-t", "coverage", *options, "--", PROGRAM], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (125, ""))
            self.assertIn(says, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)


class Once(Case):
    def test_counts(self):
        """With --unique a count of instructions is that of those that are executed at all."""
        log = self.reference("step1", "head", "step1", "head")
        with sqlite3.connect(self.folder / "whole.log") as db:
            whole = sum(len(lengths) for lengths, in db.execute("SELECT lengths FROM block"))
        result = self.folder / "unique.json"
        subprocess.run([STROBE, "run", "-q", "-t", "inscount", "--format", "json", "-o", str(result), "--unique", "--", PROGRAM, "step1", "head", "step1", "head"],
                       capture_output=True, timeout=60, check=True)
        self.assertEqual(json.loads(result.read_text())["instructions"], whole)
        self.assertEqual(json.loads(self.file.read_text())["instructions"], whole)
        self.check_once(log)

    def test_rows(self):
        """Tools whose actions are not constant see each branch once."""
        rows = self.run_strobe(words=("step1", "step1"), tool="branches")["branches"]
        self.assertTrue(rows)
        self.assertEqual({row["taken"] + row["not_taken"] for row in rows}, {1})
        self.assertEqual(self.run_strobe(words=("step1", "step1"), tool="branches")["branches"], [])

    def test_what_ran(self):
        """The log has what was executed, neither more nor less."""
        for words in (("head", "step3"), ("middle", "head", "prefixed", "unprefixed"), ("unprefixed", "prefixed"), ("threads",), ("child",), ("generate", "whole", "mend")):
            with self.subTest(words=words):
                self.log.unlink(missing_ok=True)
                log, seen = self.logged(*words), self.executed(*words)
                self.assertEqual(own(log.bytes), own(seen))
                if words != ("threads",):
                    self.assertEqual(log.bytes, seen)
                self.check_once(log)

    def test_stress(self):
        seen = own(self.executed("threads", "head", "middle", "mend"))
        for stress in ("blocks", "cache", "links", "flush", "lookup", "threads", "far"):
            with self.subTest(stress=stress):
                self.log.unlink(missing_ok=True)
                self.run_strobe("--stress", stress, words=("threads", "head", "middle", "mend"))
                log = Log(self.log)
                self.assertEqual(own(log.bytes), seen)
                self.assertLessEqual({AT["head"], AT["middle"], AT["joint"], AT["faults"], AT["fault_behind"]}, log.instructions)
                self.check_once(log)

    def test_interrupted(self):
        """A signal interrupts blocks anywhere, also while they are measured."""
        log = self.logged("interrupted")
        self.assertEqual(log.bytes, self.executed("interrupted"))
        self.check_once(log)

    def test_again(self):
        """What the log has is not measured again."""
        first = self.logged("step1", "head")
        again = self.run_strobe(words=("step1", "head"))
        self.assertEqual(again["instructions"], 0)
        second = Log(self.log)
        self.assertEqual((first.times, len(second.runs)), (second.times, 2))
        self.run_strobe(words=("step1", "head", "step2"))
        third = Log(self.log)
        self.assertLess(second.instructions, third.instructions)
        self.assertEqual(own(third.instructions), own(self.reference("step1", "head", "step2").instructions))
        self.check_once(third)

    def test_overlapping(self):
        """Code that is reached by several ways: only what is new of it is measured."""
        for words in (("head", "middle"), ("middle", "head")):
            with self.subTest(words=words):
                self.log.unlink(missing_ok=True)
                self.run_strobe(words=words[:1])
                self.assertEqual(AT["head"] in Log(self.log).instructions, words[0] == "head")
                log = self.logged(*words)
                self.assertLessEqual({AT["head"], AT["middle"], AT["joint"]}, log.instructions)
                self.check_once(log)
        only = self.logged("middle", log=self.folder / "middle.log")
        self.assertNotIn(AT["head"], only.instructions)

    def test_prefix(self):
        """An instruction without its prefix is another one."""
        log = self.logged("prefixed")
        self.assertNotIn(AT["unprefixed"], log.instructions)
        log = self.logged("prefixed", "unprefixed")
        self.assertLessEqual({AT["prefixed"], AT["unprefixed"], AT["behind"]}, log.instructions)
        self.assertEqual(log.times[AT["behind"]], 1)

    def test_faults(self):
        """Of a block that was left in its middle, the log has what was executed."""
        log = self.logged("jump")
        self.assertEqual((AT["faults"] in log.instructions, AT["fault_at"] in log.instructions, AT["fault_behind"] in log.instructions), (True, False, False))
        log = self.logged("jump", "whole")
        self.assertLessEqual({AT["faults"], AT["fault_at"], AT["fault_behind"]}, log.instructions)
        self.check_once(log)

    def test_faults_in_one_run(self):
        for words in (("jump", "whole"), ("jump", "jump", "mend"), ("mend", "whole"), ("again",), ("jump", "again", "whole")):
            with self.subTest(words=words):
                self.log.unlink(missing_ok=True)
                log = self.logged(*words)
                self.assertLessEqual({AT["faults"], AT["fault_at"], AT["fault_behind"]}, log.instructions)
                self.check_once(log)

    def test_generated(self):
        notes = self.run_strobe(words=("generate",))["notes"]
        self.assertEqual(sum("1 block of generated code" in note for note in notes), 1, notes)

    def test_two_segments(self):
        """The last segment of code ends somewhere within a page, and is mapped up to the page's end."""
        log = self.logged(program=PARTS)
        places = Log(self.log, image=os.path.basename(PARTS)).instructions
        self.assertIn(symbols(PARTS)["apart"], places)
        self.assertTrue(log.runs[0][0])

    def test_children(self):
        log = self.reference("child")
        self.assertNotIn(AT["step_9"], log.instructions)
        self.run_strobe("-f", words=("child",))
        log = Log(self.log)
        self.assertLessEqual({AT["step_9"], AT["step_10"]}, log.instructions)
        self.assertEqual(self.run_strobe("-f", words=("child",))["instructions"], 0)

    def test_processes_of_a_run(self):
        """What one process of a run has measured no other one measures: neither a program that is executed anew, nor a fork."""
        whole = self.reference("work", "child", "head")
        for script in ('"$0" work child head; "$0" work child head', '"$0" work child head & "$0" work child head; wait'):
            with self.subTest(script=script):
                self.log.unlink(missing_ok=True)
                self.run_strobe("-f", program="sh", words=("-c", script, PROGRAM))
                log = Log(self.log)
                self.check_once(log)
                self.assertLessEqual(own(whole.instructions), log.instructions)  # a shell's environment is another

    def unique(self, script, *arguments, image="unique"):
        """Instructions of an image that a shell's children are measured for, without a log."""
        file = self.folder / "followed.json"
        line = [STROBE, "run", "-q", "-f", "-t", "inscount", "--images", image, "--format", "json", "-o", str(file), "--unique", *arguments, "--", "sh", "-c", script,
                PROGRAM, LATE, LIBRARY, str(self.folder / "anew.so")]
        done = subprocess.run(line, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(file.read_text())["instructions"]

    def test_libraries_of_a_run(self):
        """A library that a program maps is the one that its fork has; one that is made anew, or written over, is another."""
        self.run_strobe("-f", program="sh", words=("-c", "(:); :"))
        self.assertEqual(set(Log(self.log, image=".so.6").times.values()), {1})
        once = self.unique('cp $2 $3 && $1 $3', image="anew.so")
        self.assertGreater(once, 0)
        self.assertEqual(self.unique('cp $2 $3 && $1 $3 && $1 $3', image="anew.so"), once)
        for how in ("cp --remove-destination", "sleep 0.1; cp"):
            self.assertEqual(self.unique(f"cp $2 $3 && $1 $3 && {how} $2 $3 && $1 $3", image="anew.so"), 2 * once)

    def test_last_of_each(self):
        """With --unique-last each process has a memory of its own."""
        last = ("--unique-last", "4096")
        self.assertEqual(self.unique('"$0" head; "$0" head; "$0" head', *last), 3 * self.unique('"$0" head; :', *last))

    def test_without_descriptor(self):
        """Descriptor 0 is free, and what is shared may get it."""
        self.assertEqual(self.unique('exec 0</dev/null; "$0" head; "$0" head'), self.unique('"$0" head; :'))
        file = self.folder / "closed.json"
        line = [STROBE, "run", "-q", "-f", "-t", "inscount", "--images", "unique", "--format", "json", "-o", str(file), "--unique", "--"]
        subprocess.run(["sh", "-c", 'exec "$@" 0<&-', "sh", *line, "sh", "-c", '"$0" head; "$0" head', PROGRAM], timeout=60, check=True)
        self.assertEqual(json.loads(file.read_text())["instructions"], self.unique('"$0" head; :'))

    def test_small_files(self):
        """A soft limit of files is none for what is shared; a hard one is said."""
        line = self.line("-f", program="true")
        for limit, code in ("-S", 0), ("-H", 125):
            done = subprocess.run(["bash", "-c", f'ulimit -S -f 1000; [ {limit} = -S ] || ulimit -H -f 1000; exec "$@"', "sh", *line], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (code, code // 125), done.stderr)

    def test_made_anew(self):
        """A file that is made anew while the run goes on is another image; nor is the new one harmed by what is known of the old one."""
        script = "for i in 1 2 3; do cp --remove-destination $1 $3 && $3 work head && cp --remove-destination $2 $3 && $3 work head || exit; done"
        for options in (), ("-b", "20%", "-T", "20ms", "--stress", "watch"):
            with self.subTest(options=options):
                self.log.unlink(missing_ok=True)
                file = str(self.folder / "anew")
                self.run_strobe("-f", *options, program="sh", words=("-c", script, "sh", PROGRAM, OTHER, file))
                self.assertEqual([path for _, path in Log(self.log).images].count(file), 2)

    def test_regions(self):
        """What is not measured is not logged."""
        self.run_strobe("--funcs", "step_2", words=("step0", "step1", "step2"))
        log = Log(self.log)
        self.assertEqual((AT["step_1"] in log.instructions, AT["step_2"] in log.instructions), (False, True))
        self.assertEqual(self.reference("step0", "step1", "step2").instructions, self.logged("step0", "step1", "step2").instructions)
        self.check_once(Log(self.log))


class Runs(Case):
    def test_union(self):
        """Runs with a budget come together to what one without sees; nothing is refused that is missing."""
        whole = self.reference("work", "head")
        before = set()
        for _ in range(3):
            self.run_strobe(*SMALL, words=("work", "head"))
            log = Log(self.log)
            self.assertLessEqual(log.instructions, whole.instructions)
            self.assertLessEqual(before, log.instructions)
            self.check_once(log)
            before = log.instructions
        self.assertTrue(before)
        self.assertNotEqual(before, whole.instructions)
        self.run_strobe(words=("work", "head"))
        self.check_once(Log(self.log))
        self.assertEqual(Log(self.log).instructions, whole.instructions)

    def test_windows(self):
        """The first window of a run begins where that of the run before came to, if that found something. A thread with a
        budget of its own comes back for new code after an eighth of its first period."""
        for share, parts in ("thread", 8), ("process", 1), ("tree", 1):
            with self.subTest(share=share):
                self.log.unlink(missing_ok=True)
                self.check_windows("--budget-share", share, "-T", f"{20 * parts}ms")

    def check_windows(self, *options):
        every, tick = 20_000_000, 4_000_000
        for _ in range(4):
            self.run_strobe(*SMALL, *options, words=("work", "head"))
        with sqlite3.connect(self.log) as db:
            runs = db.execute("SELECT first_ns, until_ns, cpu_ns, instructions FROM run ORDER BY id").fetchall()
        self.assertEqual(runs[0][0], 0)
        self.assertGreater(runs[0][1], 0)
        sweeps, swept, grows = 0, 0, False
        for number, (first, until, _, found) in enumerate(runs[:-1], 1):
            if not first:
                sweeps, swept = sweeps + 1, 0
            if first <= swept:
                swept, grows = max(swept, until), found >= sum(run[3] for run in runs[:number]) // 100
            most, place = min(every, runs[number - 1][2]), swept - swept // 3
            if grows and tick < place < most:
                self.assertEqual(runs[number][0], place - tick)
            elif grows or sweeps == 1:
                self.assertEqual(runs[number][0], 0)
            else:
                self.assertEqual(runs[number][0], int((0, 0.5, 0.25, 0.75)[number] * most))

    def test_watches_at_once(self):
        """The second and third of three runs of a program that takes more than four periods have no window before they watch: not with other
        processes, nor after runs of another program, nor without a budget."""
        whole, at_once = self.reference("work", "head"), -1
        for options, other, expected in (SMALL, False, [0, at_once, at_once, 0]), ((*SMALL, "--follow"), False, [0] * 4), (SMALL, True, [0] * 4), ((), False, [0] * 4):
            with self.subTest(options=options, other=other):
                self.log.unlink(missing_ok=True)
                for _ in expected:
                    self.run_strobe(*options, words=("work", "head"))
                    with contextlib.closing(sqlite3.connect(self.log)) as db, db:
                        db.execute("UPDATE run SET cpu_ns = 10000000000, until_ns = 0")
                        if other:
                            db.execute("UPDATE run SET command = 'another'")
                        found = [row[0] for row in db.execute("SELECT first_ns FROM run ORDER BY id")]
                self.assertEqual([first == at_once for first in found], [first == at_once for first in expected])
                log = Log(self.log)
                self.check_once(log)
                self.assertLessEqual(log.instructions, whole.instructions)

    def test_library_that_comes_late(self):
        """A thread that watches comes back for new code of a library that was not there when it began."""
        self.logged(LIBRARY, program=LATE)
        before = Log(self.log, image=os.path.basename(LIBRARY)).instructions
        at = {name: value for name, value in symbols(LIBRARY).items() if name in ("early", "rare")}
        self.assertEqual([name for name in sorted(at) if at[name] in before], ["early"])
        # It watches from 250 ms on, and at 1,750 the window would open again; the program waits for the breakpoints, with little CPU time.
        self.run_strobe("-b", "10%", "-T", "2s", words=(LIBRARY, "rare"), program=LATE)
        self.assertIn(at["rare"], Log(self.log, image=os.path.basename(LIBRARY)).instructions)

    def test_another_program(self):
        """A program is measured from its start, wherever another one has been measured by runs with the same log."""
        self.run_strobe("-b", "5%", "-T", "200ms", words=("work",))
        self.run_strobe("-b", "10%", "-T", "100ms", words=(LIBRARY,), program=LATE)
        self.run_strobe("-b", "5%", "-T", "200ms", words=("work",))
        with contextlib.closing(sqlite3.connect(self.log)) as log:
            (_, first, until), (late, begin, _), (_, again, _) = log.execute("SELECT command, first_ns, until_ns FROM run ORDER BY id")
        self.assertEqual((os.path.basename(late), first, begin), (os.path.basename(LATE), 0, 0))
        # The first program goes on where it has been.
        self.assertTrue(0 < again < until, (again, until))

    def test_policies(self):
        whole = self.reference("work", "head")
        self.run_strobe(*SMALL, "--budget-policy", "strict", words=("work", "head"))
        self.assertLessEqual(Log(self.log).instructions, whole.instructions)
        self.check_once(Log(self.log))

    def test_at_once(self):
        """Two runs write into one log: it has what both have seen."""
        with subprocess.Popen(self.line(words=("work", "step1", "head")), stdout=subprocess.PIPE) as one:
            two = self.line(words=("step2", "middle"))
            two[two.index(str(self.file))] = str(self.folder / "other.json")
            for _ in range(3):
                self.assertEqual(subprocess.run(two, capture_output=True, timeout=120).returncode, 0)
            one.communicate(timeout=120)
            self.assertEqual(one.returncode, 0)
        log = Log(self.log)
        self.assertEqual([run[0] for run in log.runs], [1] * 4)
        self.assertEqual(log.instructions, self.reference("work", "step1", "head").instructions | self.reference("step2", "middle").instructions)
        self.assertEqual(sum(run[1] for run in log.runs), 0)

    def test_killed(self):
        """What was executed before a SIGKILL is in the log, and nothing else."""
        self.run_strobe(words=("step1", "die", "step2"), code=128 + signal.SIGKILL)
        log = Log(self.log)
        self.assertEqual((AT["step_2"] in log.instructions, AT["step_3"] in log.instructions), (True, False))

    def test_crashed(self):
        self.run_strobe(words=("step1", "crash"), code=128 + signal.SIGSEGV)
        log = Log(self.log)
        self.assertEqual((AT["step_2"] in log.instructions, AT["faults"] in log.instructions, AT["fault_at"] in log.instructions), (True, True, False))

    def run_locked(self, before, meanwhile):
        """Runs a program of which the log is locked in a part. What the result says of that."""
        program = f"{before}; print('up', flush=True); input(); {meanwhile}; print('done', flush=True); input()"
        line = self.line(words=("-c", program), program="/usr/bin/python3")
        with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as strobe:
            self.assertEqual(strobe.stdout.readline(), "up\n")
            other = sqlite3.connect(self.log, timeout=60, isolation_level=None)
            try:
                other.execute("BEGIN EXCLUSIVE")
                strobe.stdin.write("\n")
                strobe.stdin.flush()
                self.assertTrue(select.select([strobe.stdout], [], [], 50)[0])
            finally:
                other.execute("ROLLBACK")
                other.close()
            self.assertEqual(strobe.communicate("\n", timeout=60)[0], "done\n")
            self.assertEqual(strobe.returncode, 0)
        note, = (note for note in json.loads(self.file.read_text())["notes"] if "was locked when" in note)
        return note

    def test_locked(self):
        """A program does not wait for a log that another one has locked, and nothing is lost of what was measured."""
        self.run_locked("pass", "import _ctypes")
        loaded, = (path for _, path in Log(self.log, "").images if "/_ctypes." in path)
        self.assertTrue(Log(self.log, loaded).instructions)

    def test_locked_for_one_image(self):
        """Images are counted, not how often they are mapped."""
        self.run_strobe(words=("-c", "import mmap"), program="/usr/bin/python3")
        code = "mmap.mmap(f.fileno(), mmap.PAGESIZE, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)"
        note = self.run_locked("import mmap; f = open(mmap.__file__, 'rb')", f"kept = [{code}, {code}]")
        self.assertEqual(note, f"{self.log} was locked when 1 image was loaded: what it has of it was measured again")

    def test_strobe_killed(self):
        """The log is whole, and has what it had a second before."""
        with subprocess.Popen(self.line(words=("step1", "wait")), stdout=subprocess.PIPE, text=True) as strobe:
            pid = int(strobe.stdout.readline())
            try:
                end = time.monotonic() + 60
                while time.monotonic() < end and not (self.log.exists() and AT["step_2"] in Log(self.log).instructions):
                    time.sleep(0.1)
                strobe.kill()
                strobe.wait(60)
            finally:
                os.kill(pid, signal.SIGKILL)
        log = Log(self.log)
        self.assertIn(AT["step_2"], log.instructions)
        self.assertEqual([run[0] for run in log.runs], [0])
        self.assertEqual(self.coverage(self.log)["runs_without_end"], 1)
        self.assertEqual(self.logged("step1", "step2").instructions - log.instructions, self.reference("step1", "step2").instructions - log.instructions)

    def attach(self, pid):
        line = [STROBE, "attach", "-q", "-t", "inscount", "--for", "200ms", "--format", "json", "-o", str(self.file), "--unique-log", str(self.log), str(pid)]
        done = subprocess.run(line, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(self.file.read_text()).get("instructions", 0)  # a counter that no code asks for is not there

    def test_attached(self):
        with subprocess.Popen([PROGRAM, "wait"], stdout=subprocess.PIPE, text=True) as process:
            try:
                process.stdout.readline()
                self.assertGreater(self.attach(process.pid), 0)
                self.assertEqual(self.attach(process.pid), 0)
                self.assertIsNone(process.poll())
            finally:
                process.kill()
        self.check_once(Log(self.log))

    def test_changed_image(self):
        """Another build-id is another image, whatever its path."""
        place = self.folder / "unique"
        for program, is_new in ((PROGRAM, True), (OTHER, True), (PROGRAM, False)):
            place.unlink(missing_ok=True)
            shutil.copy(program, place)
            self.assertEqual(self.run_strobe(words=("step1",), program=str(place))["instructions"] > 0, is_new)
        with sqlite3.connect(self.log) as db:
            counts = dict(db.execute("SELECT build_id, count(*) FROM block JOIN image ON image.id = image WHERE path = ? GROUP BY 1", (str(place),)).fetchall())
        self.assertEqual(len(counts), 2)

    def test_without_build_id(self):
        """A file without one is known by its content."""
        place = self.folder / "unique"
        shutil.copy(NAMELESS, place)
        self.assertGreater(self.run_strobe(words=("step1",), program=str(place))["instructions"], 0)
        self.assertEqual(self.run_strobe(words=("step1",), program=str(place))["instructions"], 0)
        with open(place, "ab") as file:
            file.write(b"changed")
        self.assertGreater(self.run_strobe(words=("step1",), program=str(place))["instructions"], 0)
        self.assertEqual(sum(build.startswith("crc32:") for build, _ in Log(self.log).images), 2)


class Coverage(Case):
    def test_numbers(self):
        whole = self.reference("step1", "step2", "head")
        part = self.logged("step1")
        result = self.coverage(self.log, "--against", self.folder / "whole.log")
        image, = (i for i in result["images"] if i["image"].endswith("unique"))
        self.assertEqual(image["of"]["instructions"], len(whole.instructions))
        self.assertEqual(image["measured"]["instructions"], len(whole.instructions & part.instructions))
        self.assertEqual(image["of"]["blocks"], len(whole.blocks))
        self.assertEqual(sum(row["missing"] for row in image["missing"]), len(whole.instructions - part.instructions))
        functions = {row["function"]: row for row in image["functions"]}
        self.assertEqual((functions["step_2"]["instructions"], functions["step_3"]["instructions"]), (functions["step_2"]["of"], 0))
        self.assertEqual((result["false_positives"], result["false_negatives"]), (0, 0))
        full = self.coverage(self.log, self.folder / "whole.log", "--against", self.folder / "whole.log")
        self.assertEqual(full["measured"]["instructions"], full["of"]["instructions"])
        # Other words lie elsewhere on the stack: the library's start may take ways in the one run that it does not in the other.
        self.assertEqual(full["false_positives"], result["measured"]["instructions"])
        self.assertGreaterEqual(full["false_positives"], len(whole.instructions & part.instructions))

    def test_text(self):
        self.reference("step1", "step2")
        self.logged("step1")
        done = subprocess.run([STROBE, "covered", str(self.log), "-a", str(self.folder / "whole.log"), "-F", "-m", "-n", "0"], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.startswith("  1 run, 0 without an end\n"))
        self.assertIn("false negatives: 0 instructions", done.stdout)
        self.assertIn("step_3", done.stdout)
        self.assertIn(f"0x{AT['step_3']:x}", done.stdout)

    def test_refused(self):
        """A file that is no log, or damaged: one sentence, and it is left as it is."""
        self.logged("step1")
        sound = self.log.read_bytes()
        bad = {"text": b"these are my notes\n" * 100, "damaged": sound[:4096] + b"\xa5" * 4096 + sound[8192:], "short": sound[:len(sound) // 2],
               "newer": sound[:60] + (3).to_bytes(4, "big") + sound[64:], "older": sound[:60] + (1).to_bytes(4, "big") + sound[64:]}
        foreign = self.folder / "foreign"
        with sqlite3.connect(foreign) as db:
            db.execute("CREATE TABLE mine(x)")
        bad["foreign"] = foreign.read_bytes()
        for name, content in bad.items():
            with self.subTest(file=name):
                file = self.folder / name
                file.write_bytes(content)
                for line in (self.line(words=("step1",), log=file), [STROBE, "covered", str(file)]):
                    done = subprocess.run(line, capture_output=True, text=True, timeout=60)
                    self.assertEqual((done.returncode, done.stdout), (125, ""), done.stderr)
                    self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertEqual(file.read_bytes(), content)
        for line in (self.line(words=("step1",), log=self.folder), self.line(words=("step1",), log=self.folder / "no" / "log"),
                     [STROBE, "covered", str(self.folder / "none")]):
            done = subprocess.run(line, capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (125, ""), done.stderr)
        self.assertFalse((self.folder / "none").exists())

    def test_mistakes(self):
        for arguments in ((), ("--missing",), ("--format", "xml"), ("--nothing",)):
            with self.subTest(arguments=arguments):
                done = subprocess.run([STROBE, "covered", *arguments], capture_output=True, text=True, timeout=60)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


unittest.main(argv=sys.argv[:1] + sys.argv[8:])
