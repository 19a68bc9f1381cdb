#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands from outside: arguments in; standard output, standard error, files and exit code out.

The binary is strobe with fake_run.c in place of the engine.
"""
import json
import os
import pty
import re
import resource
import sqlite3
import subprocess
import sys
import tempfile
import unittest

STROBE = os.path.abspath(sys.argv.pop(1))
FIXTURE = os.environ["STROBE_FIXTURE"]
SAID = b"output of the program\n"


class Command(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.place = tempfile.TemporaryDirectory(prefix="strobe-cli-")
        self.addCleanup(self.place.cleanup)

    def strobe(self, *arguments, **more):
        return subprocess.run([STROBE, *arguments], cwd=self.place.name, capture_output=True, timeout=60, **more)

    def error(self, code, text, *arguments, **more):
        """It fails with this code, and says this one sentence."""
        done = self.strobe(*arguments, **more)
        self.assertEqual(done.stderr.decode(), f"strobe: {text}\n")
        self.assertEqual(done.returncode, code)
        self.assertEqual(done.stdout, b"")

    def files(self):
        return sorted(os.listdir(self.place.name))


class Usage(Command):
    def test_nothing(self):
        done = self.strobe()
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"usage: strobe COMMAND", done.stdout)

    def test_mistakes(self):
        self.error(2, "unknown command 'rnu'; did you mean 'strobe run'?", "rnu", "ls")
        self.error(2, "unknown command './a.out'; strobe help lists the commands, strobe run runs a program", "./a.out")
        self.error(125, "unknown option '--follwo'; did you mean '--follow'?", "run", "--follwo", "ls")
        self.error(125, "unknown tool 'hto'; did you mean 'hot'?", "run", "-t", "hto", "ls")
        self.error(125, "unknown tool 'cachegrind'; strobe tools lists them", "run", "-t", "cachegrind", "ls")
        self.error(125, "no program to run: strobe run [options] -- PROGRAM", "run")
        self.error(125, "no program to run: strobe run [options] -- PROGRAM", "run", "-q", "--")
        self.error(125, "--top takes a number from 0 to 1000000, not 'many'", "run", "--top", "many", "ls")
        for option, time in ("--for", "0"), ("--for", "0s"), ("--delay", "0"), ("--delay", "-1ms"):
            self.error(125, f"{option} takes a time that is greater than 0, not '{time}'", "run", option, time, "ls")
        self.error(125, "--for takes a time such as 5s or 100ms, less than 1e9 s, not 'soon'", "run", "--for", "soon", "ls")
        self.error(125, "--sample-hz takes a number from 0 to 20000, not '-5'", "run", "--sample-hz=-5", "ls")
        self.error(125, "no format 'xml'; the formats are db and json", "run", "--format", "xml", "ls")
        self.error(2, "no format 'db'; the formats are text, json, lcov and, with --table, csv, markdown, latex", "show", "--format", "db", "x")
        self.error(125, "unknown stress mode 'hurry'; man strobe-run lists them", "run", "--stress", "cache,hurry", "ls")
        self.error(125, "standard output belongs to the program: give -o a file, then use strobe show",
                   "run", "-o", "-", "ls")
        self.error(2, "no profile to show: strobe show FILE, or a stored profile or version; there is no result in this directory", "show")
        self.error(2, "strobe show reads one profile; 'b' is one too many", "show", "a", "b")
        self.error(2, "cannot sort by 'tmie'; did you mean 'time'?", "show", "-s", "tmie", "x")
        self.error(2, "cannot sort by 'blocks'; --sort takes time, total, waiting, total-waiting, instructions, calls or name", "show", "-s", "blocks", "x")
        self.error(2, "--format csv prints one table: name it with --table, or --rows", "show", "--format", "csv", "x")
        self.error(2, "--table and --lines print different tables: leave out one of them", "show", "--table", "t", "--lines", "x")
        self.error(2, "--table prints a table of a profile, and --rows prints a stream: leave one of them out", "show", "--table", "t", "--rows", "r", "x")
        self.error(2, "--rows prints rows in the order in which they were recorded: leave out --sort", "show", "--rows", "r", "--sort", "n", "x")
        self.error(2, "no program to run: strobe tune [options] -- PROGRAM, or --program-file FILE", "tune", "-r", "2")
        self.error(2, "--budgets takes shares from 0.01% to 100%, such as 2%,25%, not '100ms'", "tune", "-b", "2%,100ms", "ls")
        self.error(2, "--budgets takes shares from 0.01% to 100%, such as 2%,25%, not ''", "tune", "-b", "2%,", "ls")
        self.error(2, "--budgets has a value twice: 2%,5%,2.0%", "tune", "-b", "2%,5%,2.0%", "ls")
        self.error(2, "--budgets takes at most 16 values", "tune", "-b", ",".join(f"{n}%" for n in range(1, 18)), "ls")
        self.error(2, "--periods takes times from 20ms to 1h, such as 0.25s,4s, not '1ms'", "tune", "-T", "1s,1ms", "ls")
        self.error(2, "--repeat takes a number from 1 to 1000, not '0'", "tune", "--repeat", "0", "ls")
        self.error(2, "--seed takes a whole number, not '-1'", "tune", "--seed=-1", "ls")
        self.error(2, "--budget-policy takes native, trace, strict or conditional, not 'lax'", "tune", "--budget-policy", "lax", "ls")
        self.error(2, "tool null measures nothing, so there is nothing to tune", "tune", "-t", "null", "ls")
        self.error(2, "no format 'csv'; the formats are text and json", "tune", "--format", "csv", "ls")
        source = ["--qos", "cmd:x", "--qos-min", "1"]
        self.error(2, "--max needs --qos SOURCE, which says how well the program serves", "tune", "--max", "ls")
        self.error(2, "--max and --max-threshold exclude each other", "tune", "--max", "--max-threshold", "ls")
        self.error(2, "--qos needs --qos-min N or, where lower is better, --qos-max N", "tune", "--max", "--qos", "cmd:x", "ls")
        self.error(2, "--seed is for a study: leave it out, or leave out --max", "tune", "--max", *source, "--seed", "2", "ls")
        self.error(2, "--program-file is for a study: leave it out, or leave out --max-threshold", "tune", "--max-threshold", *source, "-p", "x", "ls")
        self.error(2, "--max finds the budget: leave out --budgets", "tune", "--max", *source, "-b", "5%", "ls")
        self.error(2, "--max finds the budget: leave out --qos-policy", "tune", "--max", *source, "--qos-policy", "hold", "ls")
        self.error(2, "with --max-threshold the budget follows the metric: say --qos-policy hold or function",
                   "tune", "--max-threshold", *source, "--qos-policy", "watch", "ls")
        self.error(2, "a search takes one value of --budgets", "tune", "--max-threshold", *source, "-b", "5%,6%", "ls")
        self.error(2, "a search takes one value of --periods", "tune", "--max", *source, "-T", "1s,2s", "ls")
        self.error(2, "no program to run: strobe tune [options] -- PROGRAM", "tune", "--max", *source)
        self.error(2, "--qos is for a search: add --max or --max-threshold", "tune", *source, "ls")
        self.error(2, "--qos is for a search: add --max or --max-threshold", "tune", "--for", "1s", "--qos-min", "1", "ls")
        for more in (["ls"], ["-r", "2"], ["-t", "hot"], ["--stdin", "x"]):
            self.error(2, "--from analyses an earlier study: leave out the program and the options for measuring",
                       "tune", "--from", "x", *more)
        self.error(2, "no command 'rnu' to explain; did you mean 'strobe help run'?", "help", "rnu")
        self.error(2, "no command 'profile' to explain; strobe help lists them", "help", "profile")
        self.error(2, "strobe version takes no argument 'x'", "version", "x")
        self.error(2, "no completions for 'tcsh', only for bash, zsh and fish", "help", "--completion", "tcsh")
        self.assertEqual(self.files(), [])

    def test_mistakes_of_paths(self):
        for sentence, *arguments in [
                ("-k takes a number from 0 to 1000000, or inf, not '+5'", "-k", "+5", "--", "true"),
                ("-k takes a number from 0 to 1000000, or inf, not '-1'", "-k", "-1", "--", "true"),
                ("with --mode intra, contexts grow with each iteration of a loop: add --roll-loops, or -k with a number", "--mode", "intra", "--", "true"),
                ("with --mode inter -k inf, contexts grow with each iteration of a loop: add --roll-loops, or -k with a number", "-m", "inter", "-k", "inf", "--", "true"),
                ("--roll-loops needs contexts of blocks: add --mode intra or --mode inter", "--roll-loops", "--", "true"),
                ("--loops needs the blocks of functions: add --mode intra", "--loops", "-m", "inter", "--", "true"),
                ("--loops needs whole contexts: leave out -k, or say -k inf", "-m", "intra", "--loops", "-k", "3", "--", "true"),
                ("--roll-loops needs whole contexts: leave out -k, or say -k inf", "-m", "intra", "--roll-loops", "-k", "3", "--", "true"),
                ("--time needs contexts of functions: leave out --mode intra", "-m", "intra", "-k", "3", "--time", "--", "true"),
                ("--blocks needs contexts of blocks: add --mode intra or --mode inter", "--blocks", "--", "true"),
                ("--pin-blocks needs contexts of blocks: add --mode intra or --mode inter", "--pin-blocks", "--", "true"),
                ("--disasm adds instructions to a list: add --functions or --blocks", "--disasm", "--", "true"),
                ("the list of --functions does not fit into the format folded: use text, xml or json", "--functions", "--format", "folded", "--", "true"),
                ("the list of --blocks does not fit into the format pprof: use text, xml or json", "--from", "p.db", "--blocks", "--format", "pprof"),
                ("--k is for running a program, and --from runs none: leave out one of them", "--from", "p.db", "-k", "3"),
                ("--unique measures each piece of code once, and contexts need all executions: leave it out", "--unique", "--", "true"),
                ("p.db is a profile already: give --format another format than db", "--from", "p.db", "--format", "db"),
                ("the name x.foo does not say which format to write: add --format", "--from", "p.db", "-o", "x.foo"),
                ("standard output belongs to the program: give -o a file, then use strobe paths --from", "-o", "-", "--", "true"),
                ("no program to run: strobe paths [options] -- PROGRAM, or --pid PID for one that is running",)]:
            self.error(125, sentence, "paths", *arguments)

    def test_lists_of_programs(self):
        for text, wrong in (("", " lists no program"), ("# ls\n\n  \n", " lists no program")):
            with open(os.path.join(self.place.name, "list"), "w", encoding="utf-8") as f:
                f.write(text)
            self.error(2, "list" + wrong, "tune", "-p", "list")
        for text in ("ls\nls 'a b\n", "ls\n" + 1025 * "x "):
            with open(os.path.join(self.place.name, "list"), "w", encoding="utf-8") as f:
                f.write(text)
            self.error(2, "line 2 of list is no command: a quote is not closed, or it has more than 1024 words", "tune", "-p", "list")
        with open(os.path.join(self.place.name, "list"), "w", encoding="utf-8") as f:
            f.write(257 * "ls\n")
        self.error(2, "a study has at most 256 programs", "tune", "-p", "list")

    def test_help_and_version(self):
        for arguments in (["--help"], ["-h"], ["help"], ["run", "--help"], ["show", "-h"], ["doctor", "--help"],
                          ["tools", "--help"], ["help", "--help"], ["version", "--help"], ["help", "run"]):
            done = self.strobe(*arguments)
            self.assertEqual((done.returncode, done.stderr), (0, b""), arguments)
            self.assertTrue(done.stdout.startswith(b"usage: strobe "), arguments)
        for arguments in (["--version"], ["-V"], ["version"]):
            self.assertRegex(self.strobe(*arguments).stdout, rb"^strobe \d+\.\d+\.\d+\n$")
        self.assertNotIn(b"--stress", self.strobe("run", "--help").stdout)
        self.assertIn(b"--stress", self.strobe("help", "run").stdout)

    def test_output_that_does_not_arrive(self):
        """Whatever a command prints: it fails when that cannot be written."""
        commands = re.findall(r"^  ([a-z-]+) ", self.strobe("help").stdout.decode(), re.M)
        self.assertIn("build-tool", commands)
        for arguments in ([["--help"], ["--version"], ["version"], ["tools"], ["tools", "hot"], ["tools", "--format", "json"], ["doctor"],
                           ["doctor", "--format", "json"], ["help", "--completion", "bash"]]
                          + [["help", name] for name in commands] + [[name, "--help"] for name in commands]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([STROBE, *arguments], stdout=full, stderr=subprocess.PIPE)
            self.assertNotEqual(done.returncode, 0, arguments)
            if arguments[0] != "doctor":  # which may fail for a reason of its own
                self.assertEqual((done.returncode, done.stderr.count(b"\n")), (125, 1), arguments)
                self.assertIn(b"strobe: cannot write", done.stderr)

    def test_tools(self):
        names = [line.split()[0] for line in self.strobe("tools").stdout.decode().splitlines()]
        self.assertEqual(names[:4], ["null", "inscount", "bbcount", "hot"])
        tools = json.loads(self.strobe("tools", "--format", "json").stdout)
        self.assertEqual(tools["strobe"], {"version": 1})
        self.assertEqual([tool["name"] for tool in tools["tools"]], names)
        self.assertEqual(tools["tools"][3]["sample_hz"], 250)
        self.assertEqual(self.strobe("tools", "bbcount").stdout,
                         b"bbcount: count basic blocks and instructions\n  events: block\n"
                         b"  counters:\n    blocks        blocks executed\n    instructions  instructions executed\n")
        self.error(2, "unknown tool 'bbcuont'; did you mean 'bbcount'?", "tools", "bbcuont")
        self.error(2, "strobe tools describes one tool; 'hot' is one too many", "tools", "null", "hot")


class Run(Command):
    def test_default_output_and_exit(self):
        done = self.strobe("run", "fixture", "-o", "not strobe's")
        self.assertEqual((done.returncode, done.stdout), (0, SAID))
        self.assertEqual(self.files(), ["strobe.fixture.4711.db"])
        self.assertEqual(self.strobe("run", "--", "failing").returncode, 7)
        self.assertEqual(self.strobe("run", "-q", "crashing").returncode, 139)
        self.assertIn("strobe.crashing.4711.db", self.files())
        self.error(127, "no program 'missing' in PATH", "run", "missing")

    def test_summary(self):
        text = self.strobe("run", "-n", "2", "-o", "p.db", "fixture", "x").stderr.decode()
        expected = """strobe: hot of fixture x
  exited with 0 after 1.250 s, CPU 1.250 s (with children); slowdown of CPU time SLOWDOWN
  351 blocks (as the test has it)
  730 instructions (as the test has it)
  120 samples: 66.7 % in the program, 25.0 % in the kernel, 8.3 % in strobe

  self %  total %  samples  calls  blocks  instructions  function
   75.00        -       60      5      50           145  spin [libfixture.so]
   25.00        -       20     10     260           510  restart [libfixture.so]
  ... and 3 more functions (--top)

  native: far jump, far call, far return or iret, 2 times, at libfixture.so 0xPLACE
  note: 96 samples per second of CPU time were taken, not 250: the timers of the kernel are coarser, or a part of the \
time was spent outside the engine

  result: p.db
  next:   strobe show p.db --func 'spin'
          strobe show p.db --table lines
          strobe report p.db
"""
        self.assertRegex(text, r"; slowdown of CPU time 1\.\d\d to 1\.\d\d \(estimated\)\n")
        text = re.sub("; slowdown of CPU time .*", "; slowdown of CPU time SLOWDOWN", text)
        self.assertEqual(re.sub("0x[0-9a-f]+", "0xPLACE", text), expected)

    def test_next_can_be_pasted(self):
        text = self.strobe("run", "-o", "it's a.db", "fixture").stderr.decode()
        self.assertIn(r"strobe show 'it'\''s a.db' --func 'spin'", text)
        self.assertIn(r"strobe show 'it'\''s a.db' --table lines" + "\n", text)
        self.assertIn(r"strobe report 'it'\''s a.db'" + "\n", text)

    def test_crash_is_told(self):
        text = self.strobe("run", "crashing").stderr.decode()
        self.assertIn("killed by signal 11 (Segmentation fault), core dumped after 1.250 s", text)

    def test_quiet(self):
        done = self.strobe("run", "-q", "-o", "p.db", "fixture")
        self.assertEqual((done.stderr, done.stdout), (b"", SAID))

    def test_stress_and_samples(self):
        self.assertEqual(self.strobe("run", "--stress", "cache,links", "fixture").returncode, 0)
        text = self.strobe("run", "--sample-hz", "0", "-o", "p.db", "fixture").stderr.decode()
        self.assertIn("0 samples in the code of the program: too few to tell where time goes, so shares are of instructions", text)
        self.assertIn("   69.86        -        0     10     260           510  restart [libfixture.so]", text)

    def test_counting_tools(self):
        text = self.strobe("run", "-t", "inscount", "fixture").stderr.decode()
        self.assertIn("\n  4,000,003 instructions (as the test has it)\n", text)
        text = self.strobe("run", "-t", "bbcount", "fixture").stderr.decode()
        self.assertIn("\n  1,000,001 blocks (as the test has it)\n  4,000,003 instructions (as the test has it)\n", text)
        text = self.strobe("run", "-t", "null", "fixture").stderr.decode()
        self.assertNotIn("instructions", text)

    def test_lists_of_tools(self):
        for given, shown in (("bbcount,branches", True), ("calls:args=1,bbcount", True), ("branches:taken=1,calls", False), ("bbcount,", False)):
            done = self.strobe("run", "-t", given, "fixture")
            self.assertEqual(done.returncode, 0 if shown else 125, given)
            self.assertTrue(done.stderr.decode().startswith(f"strobe: {given} of" if shown else "strobe: "), done.stderr)
        self.error(125, "unknown tool 'nosuch'; strobe tools lists them", "run", "-t", "bbcount,nosuch", "fixture")
        self.error(125, "tool branches has no option 'taken'; strobe tools branches lists its options", "run", "-t", "branches:taken=1,calls", "fixture")

    def test_unwritable_output_is_refused_before(self):
        self.error(125, "cannot write the result to /nonexistent/p.db: No such file or directory; "
                        "name another place with -o", "run", "-o", "/nonexistent/p.db", "fixture")
        self.error(125, "cannot write the result to /: Is a directory; name another place with -o",
                   "run", "-o", "/", "fixture")
        self.error(125, "cannot write the result to '': No such file or directory; name another place with -o",
                   "run", "-o", "", "fixture")

    def test_programs_and_arguments_are_not_replaced(self):
        program = os.path.join(self.place.name, "program")
        with open("/bin/true", "rb") as true, open(program, "wb") as f:
            f.write(true.read())
        os.chmod(program, 0o755)
        for arguments in (["-o", "./program", "--", "./program"], ["-o", "program", "--", "fixture", "./program"]):
            self.error(125, f"the result would replace {arguments[-1]}, an argument of the program: give -o another file", "run", *arguments)
        for arguments in (["run", "-o", "program", "--", "fixture"], ["run", "-o", STROBE, "--", "fixture"],
                          ["paths", "-o", "program", "--", "fixture"]):
            self.error(125, f"{arguments[2]} is a program, which a result would replace: give -o another file", *arguments)
        with open(program, "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\n")
        self.error(125, "program is a program, which a result would replace: give -o another file", "run", "-o", "program", "--", "fixture")
        self.strobe("run", "-q", "-o", "p.db", "fixture")
        os.chmod(os.path.join(self.place.name, "p.db"), 0o777)  # as on some file systems all files are
        self.assertEqual(self.strobe("run", "-q", "-o", "p.db", "fixture").stderr, b"")

    @unittest.skipIf(os.geteuid(), "needs root, who can make a file somebody else's")
    def test_links_of_others_are_not_followed(self):
        shared, target = (os.path.join(self.place.name, name) for name in ("shared", "target"))
        os.mkdir(shared)
        os.chmod(shared, 0o1777)
        for owner, refused in ((1, True), (0, False)):
            link = os.path.join(shared, f"link{owner}")
            with open(target, "w", encoding="utf-8") as f:
                f.write("precious")
            os.symlink(target, link)
            os.lchown(link, owner, owner)
            done = self.strobe("run", "-q", "-o", link, "fixture")
            self.assertEqual(done.returncode, 125 if refused else 0)
            with open(target, "rb") as f:
                self.assertEqual(f.read(8) == b"precious", refused)

    def kept_elsewhere(self, done, sentence, place):
        """The result was written to that place, which the last line says behind the sentence; its file."""
        self.assertEqual((done.returncode, done.stdout), (125, SAID))
        text = done.stderr.decode()
        self.assertIn("spin [libfixture.so]", text)
        file = text.rstrip("\n").rsplit(" ", 1)[-1]
        self.assertTrue(text.endswith(f"\nstrobe: {sentence}; this time it is in {file}\n"), text)
        self.assertIn(f"\n  result: {file}\n", text)
        self.assertTrue(file.startswith(os.path.join(place, "strobe-")), file)
        self.assertEqual(os.listdir(os.path.dirname(file)), [os.path.basename(file)])
        return file

    def test_full_disk(self):
        second = os.path.join(self.place.name, "second")
        os.mkdir(second)
        sentence = "cannot write the result to /dev/full: No space left on device; make room there or name another place with -o"
        for options in ([], ["--format", "json"]):
            done = self.strobe("run", *options, "-o", "/dev/full", "fixture", env=dict(os.environ, TMPDIR=second))
            file = self.kept_elsewhere(done, sentence, second)
            self.assertEqual(os.path.basename(file), "full")
            if options:
                with open(file, encoding="utf-8") as f:
                    self.assertEqual(json.load(f)["instructions"], 730)
            else:
                self.assertIn(b"spin [libfixture.so]", self.strobe("show", file).stdout)
        done = self.strobe("run", "-q", "-o", "/dev/full", "fixture", env=dict(os.environ, TMPDIR=second))
        self.assertTrue(done.stderr.decode().startswith(f"strobe: {sentence}; this time it is in {second}/strobe-"), done.stderr)

    def test_full_file_system(self):
        """One of 16 KiB; TMPDIR is on it, too, so that it is no second place."""
        small = os.path.join(self.place.name, "small")
        os.mkdir(small)
        alone = ["unshare", "-m" if os.getuid() == 0 else "-Urm", "sh", "-c",
                 'mount -t tmpfs -o size=16k small "$0" || exit 77; cd "$0" || exit 77; "$@"; code=$?; ls -A; exit $code', small]
        environment = dict(os.environ, TMPDIR=small)
        done = subprocess.run([*alone, STROBE, "run", "-o", "p.db", "fixture"], capture_output=True, timeout=60, env=environment)
        if SAID not in done.stdout:
            self.skipTest(f"no file system of its own here: {done.stderr.decode()}")
        sentence = "cannot write the result to p.db: No space left on device; make room there or name another place with -o"
        place = "/tmp" if b"this time it is in /tmp/" in done.stderr else "/dev/shm"
        file = self.kept_elsewhere(done, sentence, place)
        self.addCleanup(os.rmdir, os.path.dirname(file))
        self.addCleanup(os.unlink, file)
        self.assertIn(b"spin [libfixture.so]", self.strobe("show", file).stdout)

    def test_a_pipe_that_nobody_reads(self):
        """Whoever closes it wants no more."""
        pipe = os.path.join(self.place.name, "pipe")
        os.mkfifo(pipe)
        second = os.path.join(self.place.name, "second")
        os.mkdir(second)
        with subprocess.Popen([STROBE, "run", "-o", pipe, "fixture"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=dict(os.environ, TMPDIR=second)) as run:
            with open(pipe, "rb", buffering=0) as reader:
                reader.read(1)  # of more than a pipe holds
            said, text = run.communicate(timeout=60)
        self.assertEqual((run.returncode, said), (125, SAID))
        self.assertTrue(text.endswith(f"\nstrobe: cannot write the result to {pipe}: Broken pipe; name another place with -o\n".encode()))
        self.assertEqual(os.listdir(second), [])

    def test_file_names_before_there_is_a_process(self):
        """In a directory that is gone the result finds no place, and is called what it would be."""
        for number, arguments in (("PID", ["run", "fixture"]), (str(os.getpid()), ["attach", str(os.getpid())])):
            gone = tempfile.mkdtemp(dir=self.place.name)
            done = subprocess.run([STROBE, *arguments], cwd=gone, capture_output=True, timeout=60,
                                  preexec_fn=lambda gone=gone: os.rmdir(gone))
            self.assertEqual(done.returncode, 125)
            self.assertRegex(done.stderr.decode(), r"^strobe: cannot write the result to strobe\.[^/]+\." + number +
                             r"\.db: No such file or directory; name another place with -o\n$")

    def test_limit_on_file_size(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        for options in ([], ["--format", "json"]):
            done = self.strobe("run", *options, "-o", "p", "fixture", preexec_fn=limit)
            if options and done.returncode == 0:
                continue  # small enough
            self.assertEqual(done.returncode, 125)
            self.assertIn(b"spin [libfixture.so]", done.stderr)
            self.assertIn(b"\nstrobe: cannot write the result to p: File too large; raise the limit on file sizes (ulimit -f)\n",
                          done.stderr)
            self.assertEqual(self.files(), [])

    def on_terminal(self, *arguments, columns=60):
        """What the command writes to standard error when that is a terminal."""
        master, slave = pty.openpty()
        done = subprocess.run([STROBE, *arguments], cwd=self.place.name, stdout=subprocess.DEVNULL, stderr=slave,
                              env=dict(os.environ, TERM="xterm", COLUMNS=str(columns)))
        os.close(slave)
        text = b""
        try:
            while piece := os.read(master, 65536):
                text += piece
        except OSError:
            pass
        os.close(master)
        self.assertEqual(done.returncode, 0)
        return text

    def test_tables_fit_a_terminal(self):
        text = self.on_terminal("run", "fixture")
        self.assertIn(b"\x1b[1m  self %", text)
        self.assertIn(b" spin [libfixt...\r\n", text)
        self.assertIn(b" [gener... [anon]\r\n", text)

    def test_progress_only_on_a_terminal(self):
        progress = b"\r\x1b[Kstrobe: 2.0 s, 730 instructions, 13 blocks translated"
        self.assertTrue(self.on_terminal("run", "fixture").startswith(progress + b"\r\x1b[Kstrobe: hot of"))
        self.assertTrue(self.on_terminal("run", "fixture", columns=35).startswith(b"\r\x1b[Kstrobe: 2.0 s, 730 instructions...\r\x1b[K"))
        self.assertEqual(self.on_terminal("run", "-q", "fixture"), b"")
        self.assertNotIn(b"translated", self.strobe("run", "fixture").stderr)


class Json(Command):
    def document(self, *arguments):
        done = self.strobe("run", "--format", "json", "-o", "out.json", *arguments)
        self.assertEqual(done.stdout, SAID)
        with open(os.path.join(self.place.name, "out.json"), encoding="utf-8") as f:
            return json.load(f)

    RUN = {"command": ["fixture", "x"], "exit": 0, "signal": None, "seconds": 1.25, "cpu_seconds": 1.25}

    def check_slowdown(self, run):
        """Between two ends, or not known at all."""
        least, about, most = (run.pop(key) for key in ("slowdown_least", "slowdown", "slowdown_most"))
        if about is None:
            self.assertEqual((least, most), (None, None))
        else:
            self.assertTrue(1 <= least <= about <= most <= 3 * least, (least, about, most))

    def test_counting_tools(self):
        for tool, counts in (("null", {}), ("inscount", {"instructions": 4000003}), ("bbcount", {"blocks": 1000001, "instructions": 4000003})):
            d = self.document("-t", tool, "fixture", "x")
            self.check_slowdown(d["run"])
            self.assertEqual(d["run"].pop("cache_share"), 1)
            self.assertEqual(d, {"strobe": {"version": 1, "tool": tool}, "run": self.RUN, **counts, "fallbacks": [], "notes": []})

    def test_hot(self):
        d = self.document("fixture", "x")
        names = ("name", "aliases", "image", "offset", "file", "line", "calls", "instructions", "self_share", "total_share")
        source = "/strobe/fixture.c"
        rows = [("spin", FIXTURE, 0x11020, source, 10, 5, 145, 0.75),
                ("restart", FIXTURE, 0x11030, source, 20, 10, 510, 0.25),
                ("vague", FIXTURE, 0x11050, source, 30, 20, 47, 0),
                ("caller", FIXTURE, 0x11060, source, 40, 5, 16, 0),
                ("[generated code]", "[anon]", 0, None, None, 0, 12, 0)]
        base = d["functions"][0]["offset"]
        rows = [row[:1] + ([],) + row[1:2] + (base + row[2] - 0x11020 if row[2] else 0,) + row[3:] + (None,) for row in rows]
        self.assertEqual(d["functions"], [dict(zip(names, row)) for row in rows])
        self.assertEqual(list(d["functions"][0]), list(names))
        self.assertEqual(d["samples"], {"hz": 250, "by_event": 0, "by_timer": 0, "program": 80, "kernel": 30, "engine": 10,
                                        "dropped": 0, "stacks": 0, "stacks_cut": 0})
        self.assertEqual((d["instructions"], d["blocks"], d["share_of"]), (730, 351, "samples"))
        self.assertEqual(d["fallbacks"], [{"cause": "far jump, far call, far return or iret", "count": 2,
                                           "image": FIXTURE, "offset": base + 0x34}])

    def test_follow(self):
        d = self.document("-f", "-t", "inscount", "fixture")
        self.assertEqual(d["instructions"], 8000006)
        self.assertEqual(d["processes"], [
            {"pid": 4712, "ppid": 4711, "command": "fixture", "exit": 0, "signal": None, "state": "exited",
             "instructions": 4000003} | {"pid": 4711, "ppid": 1},
            {"pid": 4712, "ppid": 4711, "command": "child", "exit": 0, "signal": None, "state": "exited",
             "instructions": 4000003}])

    def test_signal(self):
        d = self.document("-t", "null", "crashing")
        self.assertEqual((d["run"]["exit"], d["run"]["signal"]), (139, 11))

    def test_bytes_that_are_no_text(self):
        d = self.document("-t", "null", b"fixture", b"caf\xc3\xa9", b"a\xffb\xed\xa0\x80", b"\xf0\x9f\x98\x80\xc3")
        self.assertEqual(d["run"]["command"], ["fixture", "café", "a\ufffdb\ufffd\ufffd\ufffd", "😀\ufffd"])

    def test_the_same_from_the_profile(self):
        ran = self.document("fixture", "x")
        self.strobe("run", "-q", "-o", "p.db", "fixture", "x")
        shown = json.loads(self.strobe("show", "--format", "json", "p.db").stdout)
        self.assertEqual(shown, ran)
        shown = json.loads(self.strobe("show", "--format=json", "-n", "1", "--lines", "--blocks", "--images",
                                       "--threads", "--stats", "p.db").stdout)
        self.assertEqual(len(shown["functions"]), 1)
        self.assertEqual(shown["lines"][0], {"file": "/strobe/fixture.c", "line": 10, "function": "spin",
                                             "executions": 5, "instructions": 5, "samples": 0, "inlined": []})
        self.assertEqual(sum(b["instructions"] for b in shown["basic_blocks"]), 730)
        self.assertEqual(shown["basic_blocks"][2]["ends"], "return")
        self.assertEqual(shown["images"][0]["build_id"], "0123456789abcdef0123456789abcdef01234567")
        self.assertEqual(shown["threads"][0]["name"], "worker")
        self.assertEqual(shown["engine"]["syscalls"], 77)


class Tables(Command):
    """What tools beside hot make: tables, and rows in files of their own."""

    def test_tables(self):
        text = self.strobe("run", "-t", "calls", "-o", "p.db", "tables", "x").stderr.decode()
        table = ("\npairs: a table\n  count  longest  caller                  callee\n"
                 "    117   700 ns  caller [libfixture.so]  spin [libfixture.so]\n"
                 "      2     0 ns  caller [libfixture.so]  0x7e0000000100\n"
                 "      1     0 ns  caller [libfixture.so]  0x123\n"
                 "    100     0 ns                          (others)\n")
        self.assertIn(table, text)
        self.assertIn("\n  result: p.db\n  next:   strobe show p.db\n          strobe report p.db\n", text)
        self.assertIn(table, self.strobe("show", "p.db").stdout.decode())
        self.assertEqual(self.strobe("show", "--table", "pairs", "p.db").stdout.decode(), table)
        short = self.strobe("show", "-t", "pairs", "-n", "1", "--sort", "callee", "p.db").stdout.decode()
        self.assertIn("0x123\n", short)
        self.assertIn("  ... and 2 more (--table pairs, --top)\n", short)
        csv = self.strobe("show", "--table", "pairs", "--format", "csv", "p.db").stdout.decode().splitlines()
        self.assertEqual(csv[0], "caller,caller_image,caller_offset,callee,callee_image,callee_offset,count,longest")
        self.assertEqual(csv[3].split(",")[3:], ["", "", "291", "1", "0"])
        shown = json.loads(self.strobe("show", "--table", "pairs", "--format", "json", "-n", "1", "p.db").stdout)
        self.assertEqual(shown["pairs"][0]["caller"], "caller")
        ran = json.loads(self.strobe("show", "--format", "json", "p.db").stdout)
        self.assertEqual(ran["pairs"][0]["count"], 117)
        self.error(2, "the profile has no table 'pair'; did you mean 'pairs'?", "show", "--table", "pair", "p.db")
        self.error(2, "the profile has no table 'strange'; its tables: pairs, every-thing, registers, functions, images, processes",
                   "show", "--table", "strange", "p.db")
        self.error(2, "the table pairs has no column 'calee'; did you mean 'callee'?",
                   "show", "--table", "pairs", "--sort", "calee", "p.db")
        self.error(2, "the table pairs has no column 'time'; its columns: caller, caller_image, caller_offset, "
                   "callee, callee_image, callee_offset, count, longest",
                   "show", "--table", "pairs", "--sort", "time", "p.db")

    def test_rows(self):
        text = self.strobe("run", "-t", "memtrace", "-o", "p.db", "rows").stderr.decode()
        self.assertRegex(text, r"\n  2 rows of trace in [\d,]+ bytes: [\d.]+ bytes each\n"
                               r"  rows:   p.db.trace.rows\n")
        rows = "4711,4711,@,spin,read,0xabc,7\n4711,4711,@,spin,read,0xabd,8\n"
        for place in "p.db", "p.db.trace.rows":
            shown = self.strobe("show", "--rows", "trace", "--format", "csv", place).stdout.decode()
            self.assertEqual(re.sub(r",\d{5},[^,]*,spin,[^,]*,", ",@,spin,", shown),
                             "pid,tid,site,site_image,site_function,image,kind,data,n\n" + rows)
        text = self.strobe("show", "-n", "1", "p.db.trace.rows").stdout.decode()
        self.assertIn("  ... and 1 more (--top, --all)\n", text)
        lines = self.strobe("show", "--rows", "trace", "--format", "json", "p.db").stdout.splitlines()
        self.assertEqual([json.loads(line)["n"] for line in lines], [7, 8])
        self.strobe("show", "--rows", "trace", "--all", "-o", "out", "p.db")
        self.assertIn("out", self.files())
        self.error(2, "the profile has no rows of 'trade'; did you mean 'trace'?", "show", "--rows", "trade", "p.db")
        self.error(2, "the profile has no rows of 'accesses'; its first stream: trace", "show", "--rows", "accesses", "p.db")
        os.mkdir(os.path.join(self.place.name, "d"))
        for name in "p.db", "p.db.trace.rows":
            os.rename(os.path.join(self.place.name, name), os.path.join(self.place.name, "d", name))
        self.assertEqual(self.strobe("show", "--rows", "trace", "d/p.db").returncode, 0)
        os.unlink(os.path.join(self.place.name, "d", "p.db.trace.rows"))
        self.error(125, "cannot read p.db.trace.rows: No such file or directory", "show", "--rows", "trace", "d/p.db")

    def test_rows_without_a_profile(self):
        self.strobe("run", "-q", "-t", "memtrace", "--format", "json", "-o", "p.json", "rows")
        self.assertEqual(self.files(), ["p.json", "p.json.trace.rows"])
        with open(os.path.join(self.place.name, "p.json"), encoding="utf-8") as f:
            streams = json.load(f)["streams"]
        self.assertEqual((streams[0]["file"], streams[0]["rows"]), ("p.json.trace.rows", 2))
        self.strobe("run", "-q", "-t", "memtrace", "rows")
        self.assertIn("strobe.rows.4711.db.trace.rows", self.files())


class Show(Command):
    def setUp(self):
        super().setUp()
        self.strobe("run", "-q", "-o", "p.db", "fixture", "x")

    def show(self, *arguments):
        done = self.strobe("show", *arguments, "p.db")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout.decode()

    def names(self, *arguments):
        lines = self.show(*arguments).splitlines()
        first = next(i for i, line in enumerate(lines) if line.endswith("function"))
        return [line.split("[lib")[0].split()[-1] for line in lines[first + 1:first + 5]]

    def test_sorting(self):
        self.assertEqual(self.names(), ["spin", "restart", "vague", "caller"])
        self.assertEqual(self.names("--sort", "instructions"), ["restart", "spin", "vague", "caller"])
        self.assertEqual(self.names("-s", "name")[1:], ["caller", "restart", "spin"])
        self.assertEqual(self.names("-s", "calls")[:2], ["vague", "restart"])
        self.assertIn("   <=20 ", self.show())

    def test_parts(self):
        lines = self.show("--lines", "-n", "1")
        self.assertEqual(lines, "\nsource lines\n  self %  samples  executions  instructions  line\n"
                                "   75.00       60          45            90  /strobe/fixture.c:11 (spin)\n"
                                "  ... and 12 more (--top)\n")
        self.assertIn("indirect jump  vague [libfixture.so]", self.show("--blocks"))
        self.assertIn("0123456789abcdef  " + FIXTURE, self.show("--images"))
        threads = self.show("--threads")
        self.assertIn("  4711  4711  0.0 ms  250.0 ms       12  ended            worker\n", threads)
        self.assertIn("  4711  4712  1.0 us         -        0  live at the end  a-name-of-16-cha\n", threads)
        self.assertIn("system calls seen", self.show("--stats"))

    def test_function(self):
        text = self.show("--func", "spin")
        self.assertIn("spin\n  " + FIXTURE + ", offset 0x", text)
        self.assertIn("self 75.00 % of the program's time, 60 samples, 5 calls, 145 instructions", text)
        self.assertIn("      60             45               90     11  \n", text)
        code = [line.split(":  ") for line in text.splitlines() if ":  " in line]
        self.assertEqual([(left.split()[:-1], right) for left, right in code], [
            (["5"], "xor eax, eax"), (["60", "45"], "add eax, 0x1"), (["45"], "cmp eax, 0x9"),
            (["45"], code[3][1]), (["5"], "ret")])
        self.assertRegex(code[3][1], r"^jnz 0x110[0-9a-f]{2} <spin\+0x2>$")
        self.assertIn("; fixture.c:12", text)
        self.assertIn("restart\n", self.show("--func", "restar"))
        self.assertIn("at most 20 calls", self.show("--func", "vague"))
        self.assertIn("stands for all code without a symbol", self.show("--func", "[generated code]"))

    def test_functions_that_a_pattern_fits(self):
        def heads(pattern):
            return [line for line in self.show("--func", pattern).splitlines()
                    if line in ("spin", "restart", "vague", "caller", "[generated code]")]
        self.assertEqual(heads("*"), ["spin", "restart", "vague", "caller", "[generated code]"])
        self.assertEqual(heads("*r*"), ["restart", "caller", "[generated code]"])
        # What is called just so is no pattern.
        self.assertEqual(heads("[generated code]"), ["[generated code]"])
        self.error(2, "no function 'x*' ran; strobe show --sort name --top 0 lists all", "show", "--func", "x*", "p.db")

    def test_no_such_function(self):
        self.error(2, "no function 'sipn' ran; did you mean 'spin'?", "show", "--func", "sipn", "p.db")
        self.error(2, "no function 'frobnicate' ran; strobe show --sort name --top 0 lists all",
                   "show", "--func", "frobnicate", "p.db")
        self.error(2, "'r' is part of the names of 3 functions: say which: 'restart', 'caller', '[generated code]'",
                   "show", "--func", "r", "p.db")
        self.strobe("run", "-q", "-t", "null", "-o", "n.db", "fixture")
        self.error(2, "the profile holds no functions: it was made with 'null'; use strobe run -t hot",
                   "show", "--func", "main", "n.db")

    def test_changed_image(self):
        database = sqlite3.connect(os.path.join(self.place.name, "p.db"))
        database.execute("UPDATE image SET build_id = 'ffff'")
        database.commit()
        database.close()
        self.assertIn("is not the file that ran (its build-id differs)", self.show("--func", "spin"))

    def test_bad_files(self):
        self.error(125, "cannot read nothing.db: No such file or directory", "show", "nothing.db")
        self.error(125, f"{STROBE} is not a profile of strobe", "show", STROBE)

    def test_output(self):
        self.assertEqual(self.show("-o", "text"), "")
        with open(os.path.join(self.place.name, "text"), encoding="utf-8") as f:
            self.assertEqual(f.read(), self.show())
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([STROBE, "show", "p.db"], cwd=self.place.name, stdout=full, stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stderr),
                         (125, b"strobe: cannot write to standard output: No space left on device\n"))


class Report(Command):
    """What a page is made of; how it looks is for tests/web."""

    def setUp(self):
        super().setUp()
        self.strobe("run", "-q", "-o", "p.db", "fixture", "x")

    def report(self, *arguments):
        done = self.strobe("report", *arguments)
        if b"was built without the page" in done.stderr:
            self.skipTest(done.stderr.decode().strip())
        said = re.fullmatch(r"(strobe: wrote \S+: open it in a browser\n)?", done.stderr.decode())
        self.assertTrue(said, done.stderr)
        self.assertEqual((done.returncode, bool(said[1])), (0, not {"-", "/dev/null"} & set(arguments)))
        return done.stdout.decode()

    def read(self, name):
        with open(os.path.join(self.place.name, name), encoding="utf-8") as f:
            return f.read()

    def write(self, name, text):
        with open(os.path.join(self.place.name, name), "w", encoding="utf-8") as f:
            f.write(text)

    def results(self, page):
        """What the page holds; that it can hold any text."""
        data = re.search(r'<script type="application/json" id="data">([^<]*)</script>', page)[1]
        page = json.loads(data)
        self.assertEqual(page["strobe"], {"version": 1, "report": 1})
        return page["results"]

    def test_a_profile(self):
        self.assertEqual(self.report("p.db"), "")
        self.assertEqual(self.files(), ["p.db", "strobe.html"])
        [entry] = self.results(self.read("strobe.html"))
        shown = json.loads(self.strobe("show", "--format", "json", "--lines", "--blocks", "--images", "--threads", "--stats", "p.db").stdout)
        self.assertEqual(entry["result"], shown)
        self.assertEqual((entry["label"], entry["cut"]), ("p.db", []))
        self.assertEqual(entry["about"]["options"], "-q -o p.db")
        spin = next(row for row in shown["functions"] if row["name"] == "spin")
        self.assertEqual(entry["code"][FIXTURE][str(spin["offset"])][0], "xor eax, eax")

    def test_tables_say_what_their_columns_are(self):
        self.strobe("run", "-q", "-t", "branches", "-o", "t.db", "tables")
        [entry] = self.results(self.report("-o", "-", "t.db"))
        columns = [(c["name"], c["type"], c["role"]) for c in entry["tables"][0]["columns"]]
        self.assertEqual(columns[0], ("caller", "function", "key"))
        self.assertIn(entry["tables"][0]["name"], entry["result"])

    def test_only_the_hottest(self):
        [entry] = self.results(self.report("-n", "2", "-o", "-", "p.db"))
        result = entry["result"]
        self.assertEqual([len(result[key]) for key in ("functions", "lines", "basic_blocks")], [2, 2, 2])
        cut = {row["what"]: (row["shown"], row["of"]) for row in entry["cut"]}
        self.assertEqual(cut["lines"], (2, 13))
        hottest = max(json.loads(self.strobe("show", "--format", "json", "--lines", "p.db").stdout)["lines"], key=lambda row: row["samples"])
        self.assertIn(hottest, result["lines"])
        self.assertEqual(self.results(self.report("-n", "0", "-o", "-", "p.db"))[0]["cut"], [])

    def test_source(self):
        database = sqlite3.connect(os.path.join(self.place.name, "p.db"))
        source = os.path.join(self.place.name, "fixture.c")
        database.execute("UPDATE line SET file = ?", [source])
        database.commit()
        database.close()
        self.write("fixture.c", "".join(f"line {n} </script>\n" for n in range(1, 2000)))
        [entry] = self.results(self.report("-o", "-", "p.db"))
        stretches = entry["sources"][source]
        self.assertEqual(stretches[0][1], f"line {stretches[0][0]} </script>")
        texts = {first + i: text for first, *rest in stretches for i, text in enumerate(rest)}
        for row in entry["result"]["lines"]:
            self.assertEqual(texts[row["line"]], f"line {row['line']} </script>")
        self.assertLess(len(texts), 1000)
        self.assertNotIn("sources", self.results(self.report("--no-source", "-o", "-", "p.db"))[0])

    def test_json_is_taken_as_it_is(self):
        paths = {"strobe": {"version": 1, "tool": "paths"}, "mode": "func", "k": 2,
                 "threads": [{"thread": 1, "ksf": [{"name": "</script><b>", "count": 1, "children": []}], "kccf": []}]}
        self.write("paths.json", json.dumps(paths))
        self.strobe("run", "-q", "--format", "json", "-o", "p.json", "fixture")
        entries = self.results(self.report("-o", "-", "paths.json", "p.db", "p.json"))
        self.assertEqual([entry["label"] for entry in entries], ["paths.json", "p.db", "p.json"])
        paths["threads"][0]["ksf"][0]["id"] = 0  # the number by which the page compares it
        self.assertEqual(entries[0]["result"], paths)
        self.assertEqual(entries[2]["result"]["instructions"], 730)

    def test_a_full_disk_keeps_what_was_there(self):
        self.write("old.html", "old")
        self.report("-o", "/dev/null", "p.db")
        limited = subprocess.run(["sh", "-c", 'ulimit -f 40; exec "$0" report -o old.html p.db', STROBE], cwd=self.place.name, capture_output=True)
        self.assertEqual((limited.returncode, limited.stderr), (125, b"strobe: cannot write the result to old.html: File too large; "
                                                               b"raise the limit on file sizes (ulimit -f)\n"))
        self.assertEqual((self.read("old.html"), self.files()), ("old", ["old.html", "p.db"]))
        self.report("-o", "old.html", "p.db")
        self.assertEqual(len(self.results(self.read("old.html"))), 1)
        self.error(125, "cannot write the result to /nonexistent/x.html: No such file or directory; name another place with -o",
                   "report", "-o", "/nonexistent/x.html", "p.db")

    def test_mistakes(self):
        self.report("-o", "/dev/null", "p.db")
        self.error(2, "--top takes a number from 0 to 100000000, not 'all'", "report", "--top", "all", "p.db")
        self.error(125, "cannot read nothing.db: No such file or directory", "report", "nothing.db")
        self.error(125, f"{STROBE} is not a profile of strobe", "report", STROBE)
        for text, wrong in (("{", "x.json is not a result of strobe: line 1: string or '}' expected near end of file"),
                            ('{"a": 1}', "x.json is JSON, but not a result of strobe"),
                            ('{"strobe": {"version": 2, "tool": "hot"}}', "x.json was written by a newer strobe (version 2 of the format, this one "
                             "reads up to 1): use that strobe to read it"),
                            ('{"strobe": {"version": 1, "tool": "paths"}, "threads": [{"ksf": [{"name": "f", "count": 1, "children": [{"name": 3, "count": 1}]}]}]}',
                             "x.json is damaged: its trees are not made of names and counts; write it again with strobe paths"),
                            ('{"strobe": {"version": 1}, "usable": true}', "x.json has nothing to show: a report takes results of strobe run "
                             "and strobe show, studies of strobe tune, and campaigns of strobe fuzz")):
            self.write("x.json", text)
            self.error(125, wrong, "report", "-o", "page.html", "p.db", "x.json")
        self.assertEqual(self.files(), ["p.db", "x.json"])

    def test_a_pipe_is_no_result(self):
        os.mkfifo(os.path.join(self.place.name, "pipe"))
        self.error(125, "cannot read pipe: not a regular file", "report", "-o", "page.html", "pipe")
        self.error(125, "cannot read pipe: not a regular file", "show", "pipe")

    def test_what_is_read_is_not_written(self):
        os.symlink("p.db", os.path.join(self.place.name, "other.db"))
        self.strobe("paths", "-q", "-o", "paths.db", "fixture", "x")
        with open(os.path.join(self.place.name, "p.db"), "rb") as f:
            before = f.read()
        for arguments in (("report", "p.db", "-o", "other.db"), ("show", "p.db", "-o", "p.db"), ("show", "p.db", "--format", "json", "-o", "./other.db"),
                          ("paths", "--from", "p.db", "--format", "json", "-o", "other.db")):
            self.error(125 if arguments[0] == "paths" else 2, "the output would replace p.db, which is the input: give -o another file", *arguments)
        with open(os.path.join(self.place.name, "p.db"), "rb") as f:
            self.assertEqual(f.read(), before)
        texts = [self.strobe("paths", "--from", "paths.db", "--format", "json", *output).stdout for output in ((), ("-o", "-"))]
        self.assertTrue(texts[0].startswith(b"{"))
        self.assertEqual(texts[0], texts[1])


class Doctor(Command):
    def test_answers(self):
        done = self.strobe("doctor")
        text = done.stdout.decode()
        self.assertEqual("strobe run works on this machine" in text, done.returncode == 0)
        d = json.loads(self.strobe("doctor", "--format", "json").stdout)
        self.assertEqual(d["usable"], done.returncode == 0)
        self.assertEqual([c["name"] for c in d["checks"]], [
            "architecture", "kernel", "ptrace", "memfd", "fsgsbase", "tsc", "perf", "bpf", "cores", "memory", "seccomp",
            "container", "core_dumps"])
        for check in d["checks"]:
            self.assertIn(check["status"], ("ok", "limited", "no"))
            self.assertEqual(check["status"] == "ok", check["follows"] is None, check)
            self.assertIn(check["found"], text)


if __name__ == "__main__":
    unittest.main()
