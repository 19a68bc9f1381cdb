#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real strobe from outside: programs that cannot run, job control, limits, and ends that nobody asked for."""
import errno
import fcntl
import json
import os
import pty
import resource
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time
import unittest

STROBE = os.path.abspath(sys.argv.pop(1))
FUTURE_WRITE = 0x10  # F_SEAL_FUTURE_WRITE
PYTHON = "/usr/bin/python3"
# Becomes a program under a filter that answers ACTION to any of the system calls CALLS whose first argument is at least FIRST.
FILTERED = """
import ctypes, os, struct, sys
action, first = int(sys.argv[1]), int(sys.argv[2])
calls = [int(word) for word in sys.argv[3].split(",")]
code = [(0x20, 0, 0, 0)] + [(0x15, len(calls) - i, 0, call) for i, call in enumerate(calls)]
code += [(6, 0, 0, 0x7fff0000), (0x20, 0, 0, 16), (0x35, 0, 1, first), (6, 0, 0, action), (6, 0, 0, 0x7fff0000)]
code = b"".join(struct.pack("HBBI", *insn) for insn in code)
buffer = ctypes.create_string_buffer(code)
filter = struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(buffer))
prctl = ctypes.CDLL(None).prctl
if prctl(38, 1, 0, 0, 0) or prctl(22, 2, ctypes.c_char_p(filter)):
    sys.exit("no filter")
os.execv(sys.argv[4], sys.argv[4:])
"""
SECCOMP_KILL, SECCOMP_EPERM = 0x80000000, 0x50001
SOCKETPAIR, PROCESS_VM_READV, PROCESS_VM_WRITEV, PIDFD_GETFD = 53, 310, 311, 438


def filtered(action, first, calls, *program):
    return [PYTHON, "-c", FILTERED, str(action), str(first), ",".join(map(str, calls)), *program]


def wait_until(condition, seconds=20):
    """What the condition says at last; machines are slow at times."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def state(pid):
    """A process's letter in /proc/PID/stat; Z when it is gone."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "Z"


def notes_of_core(core):
    """Where the threads of a core dump are, and what memory of files the process had."""
    at, count = struct.unpack_from("<Q", core, 32)[0], struct.unpack_from("<H", core, 56)[0]
    addresses, files = [], []
    for i in range(count):
        kind, _, offset, _, _, size = struct.unpack_from("<IIQQQQ", core, at + 56 * i)
        end = offset + size if kind == 4 else offset  # PT_NOTE
        while offset < end:
            name, length, note = struct.unpack_from("<III", core, offset)
            data = offset + 12 + (name + 3 & ~3)
            if note == 1:  # NT_PRSTATUS
                addresses.append(struct.unpack_from("<Q", core, data + 112 + 8 * 16)[0])
            elif note == 0x46494c45:  # NT_FILE
                number = struct.unpack_from("<Q", core, data)[0]
                files += [struct.unpack_from("<QQ", core, data + 16 + 24 * k) for k in range(number)]
            offset = data + (length + 3 & ~3)
    return addresses, files


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(word) for word in file.read().split()]


class Outside(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory(prefix="strobe-outside-")
        self.addCleanup(self.place.cleanup)
        self.result = os.path.join(self.place.name, "result.json")

    def words(self, *program, tool="null", options=()):
        return [STROBE, "run", "-q", "-t", tool, "--format", "json", "-o", self.result, *options, "--", *program]

    def run_strobe(self, *program, tool="null", options=(), timeout=100, **more):
        return subprocess.run(self.words(*program, tool=tool, options=options), cwd=self.place.name, capture_output=True,
                              timeout=timeout, **more)

    def start(self, *program, tool="null", options=(), **more):
        process = subprocess.Popen(self.words(*program, tool=tool, options=options), cwd=self.place.name,
                                   stdin=subprocess.DEVNULL, **more)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def program_of(self, process):
        """The pid of the program under a running strobe."""
        self.assertTrue(wait_until(lambda: children(process.pid)))
        return children(process.pid)[0]

    def file(self, name, content, mode=0o755):
        path = os.path.join(self.place.name, name)
        with open(path, "wb") as file:
            file.write(content)
        os.chmod(path, mode)
        return path

    def exists(self, name):
        return os.path.exists(os.path.join(self.place.name, name))


class CannotRun(Outside):
    def refused(self, code, text, program):
        done = self.run_strobe(program)
        self.assertEqual((done.returncode, done.stdout), (code, b""), done.stderr)
        said = done.stderr.decode()
        self.assertIn(text, said)
        self.assertTrue(said.startswith("strobe: ") and said.count("\n") == 1, said)

    def test_missing(self):
        self.refused(127, "No such file", "./none")
        self.refused(127, "no such program in PATH", "no-such-program")
        self.file("script", b"#!/no/such/interpreter\n")
        self.refused(127, "its interpreter is missing", "./script")

    def test_not_executable(self):
        self.file("plain", b"x", 0o644)
        self.refused(126, "Permission denied", "./plain")
        self.file("text", b"echo hello\n")
        self.refused(126, "neither an ELF program nor a script", "./text")
        self.file("nothing", b"")
        self.refused(126, "neither an ELF program nor a script", "./nothing")
        os.mkdir(os.path.join(self.place.name, "folder"))
        self.refused(126, "is a directory", "./folder")

    def test_other_machines(self):
        with open("/bin/true", "rb") as file:
            elf = file.read()
        self.file("arm", elf[:18] + b"\xb7\0" + elf[20:])
        self.refused(126, "another processor", "./arm")
        self.file("small", elf[:4] + b"\x01" + elf[5:])
        self.refused(126, "32-bit", "./small")

    def test_damaged(self):
        with open("/bin/true", "rb") as file:
            elf = file.read()
        self.file("head", elf[:40])
        self.refused(126, "copy or build it again", "./head")
        self.file("start", elf[:4000])
        self.refused(126, "copy or build it again", "./start")
        self.file("tables", elf[:32] + b"\xff" * 8 + elf[40:])
        self.refused(126, "cannot run", "./tables")

    @unittest.skipUnless(os.getuid() == 0, "makes a set-uid program")
    def test_set_uid(self):
        with open("/bin/true", "rb") as file:
            path = self.file("privileged", file.read())
        os.chown(path, 65534, 65534)
        os.chmod(path, stat.S_ISUID | 0o755)
        self.refused(126, "set-uid", "./privileged")


# Stops as a full-screen program does: it puts the terminal in order first.
SUSPENDS = """
import os, signal, time
def stop(*_):
    time.sleep(0.3)
    open('saved', 'w').close()
    signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGTSTP)
def go(*_):
    with open('continued', 'a') as f:
        f.write('x')
signal.signal(signal.SIGTSTP, stop)
signal.signal(signal.SIGCONT, go)
open('ready', 'w').close()
while not os.path.exists('continued'):
    time.sleep(0.01)
time.sleep(0.2)
raise SystemExit(7)
"""


class JobControl(Outside):
    """As a shell sees it: this process is the parent, the job has a process group and a terminal of its own."""

    def job(self, *program):
        """strobe in a process group of its own, in the foreground of a new session's terminal: pid of a process that
        plays the shell, and the terminal. The shell writes what becomes of the job into `events`."""
        shell, terminal = pty.fork()
        if shell == 0:
            self.play_shell(self.words(*program))
        self.addCleanup(os.close, terminal)
        return shell, terminal

    def play_shell(self, words):
        os.chdir(self.place.name)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        pid = os.fork()
        if pid == 0:
            os.setpgid(0, 0)
            os.tcsetpgrp(0, os.getpid())
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)
            os.execv(words[0], words)
        with open("events", "w", buffering=1) as events:
            while True:
                _, status = os.waitpid(pid, os.WUNTRACED)
                if os.WIFSTOPPED(status):
                    events.write(f"stopped {os.WSTOPSIG(status)} {os.path.exists('saved')} {state(children(pid)[0])}\n")
                    os.killpg(pid, signal.SIGCONT)
                else:
                    events.write(f"ended {os.waitstatus_to_exitcode(status)}\n")
                    os._exit(0)

    def events(self):
        with open(os.path.join(self.place.name, "events")) as file:
            return file.read().split("\n")[:-1]

    def test_stop_key(self):
        shell, terminal = self.job(PYTHON, "-c", SUSPENDS)
        self.assertTrue(wait_until(lambda: self.exists("ready")))
        os.write(terminal, b"\x1a")
        os.waitpid(shell, 0)
        self.assertEqual(self.events(), [f"stopped {int(signal.SIGTSTP)} True T", "ended 7"])
        with open(os.path.join(self.place.name, "continued")) as file:
            self.assertEqual(file.read(), "x")

    def test_plain_stop_and_interrupt(self):
        # Without a child: one that is stopped between vfork and exec keeps its parent from stopping, natively too.
        shell, terminal = self.job("sh", "-c", ": >ready; until [ -s events ]; do :; done; : >later; while :; do :; done")
        self.assertTrue(wait_until(lambda: self.exists("ready")))
        os.write(terminal, b"\x1a")
        self.assertTrue(wait_until(lambda: len(self.events()) == 1 and self.exists("later")))
        os.write(terminal, b"\x03")
        os.waitpid(shell, 0)
        self.assertEqual(self.events(), [f"stopped {int(signal.SIGTSTP)} False T", "ended 130"])

    def test_ignored_stop(self):
        shell, terminal = self.job("sh", "-c", "trap '' TSTP; : >ready; sleep 0.5; exit 3")
        self.assertTrue(wait_until(lambda: self.exists("ready")))
        os.write(terminal, b"\x1a")
        os.waitpid(shell, 0)
        self.assertEqual(self.events(), ["ended 3"])

    def test_stops_itself(self):
        """Continued by its own child, as a shell's parent never hears."""
        process = self.start("sh", "-c", "(sleep 0.5; kill -CONT $$) & kill -STOP $$; exit 5")
        self.assertEqual(process.wait(30), 5)

    def test_killed_while_stopped(self):
        process = self.start("sh", "-c", "kill -STOP $$")
        program = self.program_of(process)
        self.assertTrue(wait_until(lambda: state(program) == "T" and state(process.pid) == "T"))
        os.kill(program, signal.SIGKILL)
        self.assertEqual(process.wait(30), 137)

    def test_signals_to_strobe(self):
        for signo in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGALRM, signal.SIGPIPE, signal.SIGPWR):
            process = self.start("sh", "-c", f"trap 'exit 9' {signo.name[3:]}; : >ready; while :; do :; done")
            self.assertTrue(wait_until(lambda: self.exists("ready")))
            os.remove(os.path.join(self.place.name, "ready"))
            process.send_signal(signo)
            self.assertEqual(process.wait(30), 9, signo)

    def test_end_that_nobody_expects(self):
        """Any signal that would end strobe ends the program in its place, and the result is there."""
        for signo in (signal.SIGALRM, signal.SIGPROF, signal.SIGIO, signal.SIGRTMIN + 3):
            process = self.start("sh", "-c", ": >ready; while :; do :; done")
            self.assertTrue(wait_until(lambda: self.exists("ready")))
            os.remove(os.path.join(self.place.name, "ready"))
            process.send_signal(signo)
            self.assertEqual(process.wait(30), 128 + signo)
            self.assertTrue(self.exists("result.json"), signo)
            os.remove(os.path.join(self.place.name, "result.json"))

    def test_continued_while_running(self):
        """A program may handle SIGCONT without ever having stopped."""
        process = self.start("sh", "-c", "trap 'exit 9' CONT; : >ready; while :; do :; done")
        self.assertTrue(wait_until(lambda: self.exists("ready")))
        process.send_signal(signal.SIGCONT)
        self.assertEqual(process.wait(30), 9)

    def test_stop_and_continue_by_signal(self):
        # A group of its own, with its parent in another: the kernel stops no orphaned group, and this one may be.
        process = self.start("sh", "-c", ": >ready; while [ ! -e go ]; do :; done; exit 4", preexec_fn=os.setpgrp)
        program = self.program_of(process)
        self.assertTrue(wait_until(lambda: self.exists("ready")))
        process.send_signal(signal.SIGTSTP)
        self.assertTrue(wait_until(lambda: state(program) == "T" and state(process.pid) == "T"))
        self.file("go", b"")
        process.send_signal(signal.SIGCONT)
        self.assertEqual(process.wait(30), 4)


class Limits(Outside):
    """The limits that strobe is started with are the program's, not those of the engine's tables."""

    def limited(self, which, soft, *program, hard=resource.RLIM_INFINITY, options=()):
        return self.run_strobe(*program, tool="hot", options=options,
                               preexec_fn=lambda: resource.setrlimit(which, (soft, hard)))

    def test_soft(self):
        for options in ((), ("--follow",)):
            for which, letter, size in ((resource.RLIMIT_AS, "v", 1024), (resource.RLIMIT_DATA, "d", 1024),
                                        (resource.RLIMIT_FSIZE, "f", 512)):
                done = self.limited(which, size * 50000, "sh", "-c", f"ulimit -{letter}; (ulimit -{letter}); exec sh -c 'ulimit -{letter}'",
                                    options=options)
                own, child, after = map(int, done.stdout.split())
                self.assertEqual((done.returncode, own, after), (0, 50000, 50000), (letter, options, done))
                # What the engine leaves in a child that goes on natively counts.
                self.assertTrue(50000 <= child <= 50000 + 4096 if letter != "f" and not options else child == 50000, child)

    def test_soft_is_in_force(self):
        take = "import sys\ntry: bytearray(300 << 20)\nexcept MemoryError: sys.exit(3)"
        self.assertEqual(self.limited(resource.RLIMIT_AS, 200 << 20, PYTHON, "-c", take).returncode, 3)
        self.assertEqual(self.limited(resource.RLIMIT_FSIZE, 512, "sh", "-c", "yes > much").returncode, 128 + signal.SIGXFSZ)

    def test_hard(self):
        """Who may not lift it hears of it."""
        for which, name in ((resource.RLIMIT_AS, "ulimit -v"), (resource.RLIMIT_DATA, "ulimit -d"),
                            (resource.RLIMIT_FSIZE, "ulimit -f")):
            done = self.limited(which, 100 << 20, "echo", "ran", hard=100 << 20)
            if done.returncode == 0:
                self.assertEqual(done.stdout, b"ran\n")
            else:
                self.assertEqual((done.returncode, done.stdout), (125, b""))
                self.assertIn("the hard limit on", done.stderr.decode())
                self.assertIn(name, done.stderr.decode())

    def test_descriptors(self):
        done = self.limited(resource.RLIMIT_NOFILE, 10, "bash", "-c", "/bin/true; exec 5<&-; (exit 4)", hard=10, options=("--follow",))
        self.assertEqual((done.returncode, done.stderr), (4, b""))
        done = self.limited(resource.RLIMIT_NOFILE, 20, "sh", "-c", "exec ls /proc/self/fd", hard=20, options=("--follow",))
        self.assertEqual((done.returncode, done.stdout), (0, b"0\n1\n2\n3\n"))


class Ends(Outside):
    def test_strobe_is_killed(self):
        """The program runs on."""
        for options in ((), ("--follow",)):
            process = self.start("bash", "-c", ": >ready; for i in 1 2 3; do sleep 0.1; /bin/true; done; : >ended",
                                 tool="hot", options=options)
            self.assertTrue(wait_until(lambda: self.exists("ready")))
            process.kill()
            process.wait()
            self.assertTrue(wait_until(lambda: self.exists("ended")))
            os.remove(os.path.join(self.place.name, "ended"))
            os.remove(os.path.join(self.place.name, "ready"))

    def test_program_is_killed(self):
        """What was counted is kept."""
        process = self.start("sh", "-c", ": >ready; while :; do :; done", tool="inscount")
        program = self.program_of(process)
        self.assertTrue(wait_until(lambda: self.exists("ready")))
        os.kill(program, signal.SIGKILL)
        self.assertEqual(process.wait(30), 137)
        with open(self.result) as file:
            self.assertGreater(json.load(file)["instructions"], 100000)

    def test_full_disk(self):
        for options, place in ((("-o", "/dev/full"), "/dev/full"), (("-o", "/no/where"), "/no/where")):
            done = self.run_strobe("echo", "ran", options=options, env=dict(os.environ, TMPDIR=self.place.name))
            self.assertEqual(done.returncode, 125)
            self.assertIn(place.encode(), done.stderr)
            self.assertEqual(done.stderr.count(b"\n"), 1)

    @unittest.skipUnless(os.getuid() == 0, "mounts a file system")
    def test_small_disk(self):
        folder = os.path.join(self.place.name, "small")
        os.mkdir(folder)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", folder], capture_output=True).returncode:
            self.skipTest("this container mounts nothing")
        try:
            for form in ("db", "json"):
                done = self.run_strobe("echo", "ran", tool="hot", options=("--format", form, "-o", folder + "/result"),
                                       env=dict(os.environ, TMPDIR=self.place.name))
                self.assertEqual((done.returncode, done.stdout), (125, b"ran\n"))
                self.assertIn(os.strerror(errno.ENOSPC).encode(), done.stderr)
                self.assertEqual(os.listdir(folder), [])
                self.assertTrue(os.path.getsize(done.stderr.split()[-1]))
        finally:
            subprocess.run(["umount", folder], check=True)

    def test_a_child_that_cannot_be_followed_runs_natively(self):
        """No descriptor is left for the engine's memory files, nor for the loader to open libraries with."""
        command = ["/bin/sh", "-c", "ulimit -n 3; exec /bin/echo native"]
        ran, native = self.run_strobe(*command, options=("--follow",)), subprocess.run(command, capture_output=True)
        self.assertEqual((ran.stdout, ran.stderr, ran.returncode), (native.stdout, native.stderr, native.returncode))

    def test_sampling_begins_when_its_signal_is_handled(self):
        """At this rate the first sample is due before the program's first instruction, one time in seven."""
        for number in range(40):
            ran = self.run_strobe("/bin/true", options=("--sample-hz", "20000"))
            self.assertEqual((ran.stderr, ran.returncode), (b"", 0), number)

    def test_sanitizers(self):
        """ThreadSanitizer ends a program in whose address space it finds what it does not expect."""
        source = os.path.join(self.place.name, "main.c")
        with open(source, "w") as file:
            file.write("#include <stdlib.h>\nint main(void) { void *p = malloc(10); free(p); return 7; }\n")
        for kind in ("address", "thread", "undefined"):
            program = os.path.join(self.place.name, kind)
            if subprocess.run(["gcc", "-fsanitize=" + kind, "-o", program, source], capture_output=True).returncode:
                self.skipTest("gcc has no sanitizer for " + kind)
            ran = self.run_strobe(program, tool="bbcount")
            self.assertEqual((ran.stderr, ran.returncode), (b"", 7), kind)

    def test_leaks(self):
        """The leak sanitizer traces its own threads: it looks at the program's stack, not at what is dead of it."""
        source, program = os.path.join(self.place.name, "main.c"), os.path.join(self.place.name, "leaky")
        with open(source, "w") as file:
            file.write("#include <stdlib.h>\n"
                       "__attribute__((noinline)) static void lose(void)"
                       " { void *volatile deep[100000]; deep[0] = malloc(77); }\n"
                       "int main(void) { lose(); return 0; }\n")
        if subprocess.run(["gcc", "-O0", "-fsanitize=leak", "-o", program, source], capture_output=True).returncode:
            self.skipTest("gcc has no leak sanitizer")
        native = subprocess.run([program], capture_output=True)
        if b"77 byte(s) leaked" not in native.stderr:
            self.skipTest("the leak sanitizer does not work here")
        for options in ((), ("-b", "10%")):
            ran = self.run_strobe(program, tool="bbcount", options=options)
            self.assertEqual((ran.returncode, b"77 byte(s) leaked" in ran.stderr), (native.returncode, True), options)

    def test_core_dump_shows_the_program_in_all_threads(self):
        with open("/proc/sys/kernel/core_pattern") as file:
            pattern = file.read().strip()
        if pattern.startswith("|") or "/" in pattern:
            self.skipTest("core dumps go elsewhere: " + pattern)
        source, program = os.path.join(self.place.name, "main.c"), os.path.join(self.place.name, "dies")
        with open(source, "w") as file:
            file.write("#include <pthread.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
                       "static volatile int n;\n"
                       "static void *spins(void *a) { for (;;) n++; return a; }\n"
                       "static void *sleeps(void *a) { for (;;) pause(); return a; }\n"
                       "int main(void) { pthread_t t; for (int i = 0; i < 2; i++) {"
                       " pthread_create(&t, NULL, spins, NULL); pthread_create(&t, NULL, sleeps, NULL); }"
                       " usleep(100000); abort(); }\n")
        if subprocess.run(["gcc", "-O1", "-pthread", "-o", program, source]).returncode:
            self.skipTest("no gcc")

        def cores():
            return [name for name in os.listdir(self.place.name) if name.startswith("core")]

        limit = lambda: resource.setrlimit(resource.RLIMIT_CORE, (1 << 30, 1 << 30))
        try:
            native = subprocess.run([program], cwd=self.place.name, preexec_fn=limit).returncode
        except subprocess.SubprocessError:
            self.skipTest("the limit for core dumps cannot be raised")
        if not cores():
            self.skipTest("there are no core dumps here")
        self.assertEqual(native, -signal.SIGABRT)
        for tool, options in (("null", ()), ("bbcount", ("-b", "10%"))):
            for name in cores():
                os.remove(os.path.join(self.place.name, name))
            ran = self.run_strobe(program, tool=tool, options=options, preexec_fn=limit)
            self.assertEqual(ran.returncode, 128 + signal.SIGABRT)
            with open(os.path.join(self.place.name, cores()[0]), "rb") as file:
                addresses, files = notes_of_core(file.read())
            self.assertEqual(len(addresses), 5)
            for address in addresses:
                self.assertTrue(any(start <= address < end for start, end in files), f"{tool}: {address:#x}")

    def test_uprobes(self):
        """Hits of probes at the beginning and at the end of functions, as without Strobe; and the program runs right."""
        traces, program = os.path.join(self.place.name, "traces"), os.path.join(self.place.name, "probed")
        source = program + ".c"
        with open(source, "w") as file:
            file.write("#include <stdio.h>\n"
                       "#define F __attribute__((noipa))\n"
                       "F int emulated(int x) { __asm__ volatile(\"push %rax; pop %rax\"); return x + 1; }\n"
                       "F int stepped(int x) { return x * 3; }\n"
                       "F int outer(int x) { return stepped(x) + emulated(x); }\n"
                       "int main(void) { unsigned s = 0; for (int i = 0; i < 50; i++) s += outer(i);"
                       " printf(\"%u\\n\", s); return 0; }\n")
        if subprocess.run(["gcc", "-O2", "-o", program, source]).returncode:
            self.skipTest("no gcc")
        os.mkdir(traces)
        if subprocess.run(["mount", "-t", "tracefs", "nodev", traces], capture_output=True).returncode:
            self.skipTest("tracefs cannot be mounted")
        self.addCleanup(subprocess.run, ["umount", traces])
        group = f"strobetest{os.getpid()}"

        def tell(name, text):
            fd = os.open(os.path.join(traces, name), os.O_WRONLY | os.O_APPEND)
            try:
                os.write(fd, text.encode())
            finally:
                os.close(fd)

        def hits():
            with open(os.path.join(traces, "uprobe_profile")) as file:
                return [int(line.split()[2]) for line in file if line.split()[0] == program]

        symbols = subprocess.run(["nm", program], capture_output=True, text=True).stdout.split("\n")
        try:
            for at, name in ((s.split()[0], s.split()[2]) for s in symbols
                             if s.endswith((" emulated", " stepped", " outer"))):
                tell("uprobe_events", f"p:{group}/{name} {program}:0x{at}\n")
                self.addCleanup(tell, "uprobe_events", f"-:{group}/{name}\n")
                tell("uprobe_events", f"r:{group}/return_{name} {program}:0x{at}\n")
                self.addCleanup(tell, "uprobe_events", f"-:{group}/return_{name}\n")
            tell(f"events/{group}/enable", "1")
        except OSError as error:
            self.skipTest(f"no uprobes: {error}")
        self.addCleanup(tell, f"events/{group}/enable", "0")
        self.assertEqual(subprocess.run([program], capture_output=True).stdout, b"4950\n")
        self.assertEqual(hits(), [50] * 6)
        for number, (tool, options) in enumerate((("null", ()), ("calls", ()), ("bbcount", ("-b", "10%")))):
            ran = self.run_strobe(program, tool=tool, options=options)
            self.assertEqual((ran.stdout, ran.stderr, ran.returncode), (b"4950\n", b"", 0), tool)
            self.assertEqual(hits(), [50 * (number + 2)] * 6, tool)

    def test_the_vsyscall_page_does_not_end_the_run(self):
        program = os.path.join(os.path.dirname(STROBE), "tests", "programs", "flow-vsyscall")
        if not os.path.exists(program):
            self.skipTest("flow-vsyscall is not built")
        ran = self.run_strobe(program, tool="calls")
        if ran.returncode == 77:
            self.skipTest("no vsyscall page")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        with open(self.result) as file:
            counts = {pair["callee"]: pair["count"] for pair in json.load(file)["pairs"]}
        self.assertEqual(counts["after"], 1000)

    def test_a_search_in_path_that_fails_first(self):
        """Each folder without the program is an execve that fails, and the next one follows at once."""
        path = ":".join(["/nonexistent"] * 6 + ["/usr/bin", "/bin"])
        for _ in range(40):
            ran = self.run_strobe("/usr/bin/env", "true", options=("--follow",), env=dict(os.environ, PATH=path))
            self.assertEqual((ran.returncode, ran.stderr), (0, b""))
            with open(self.result) as file:
                commands = [p["command"] for p in json.load(file)["processes"]]
            self.assertEqual(len(commands), 2, commands)

    def test_parents(self):
        """Also of a process that becomes another program, and of one that vfork made."""
        vforks = PYTHON + " -c 'import subprocess; subprocess.run([\"/usr/bin/env\", \"true\"], check=True)'"
        ran = self.run_strobe("/bin/sh", "-c", "echo $PPID; (exec /usr/bin/env true); " + vforks + "; true", options=("--follow",))
        self.assertEqual((ran.stderr, ran.returncode), (b"", 0))
        with open(self.result) as file:
            processes = [(p["pid"], p["ppid"], os.path.basename(p["command"])) for p in json.load(file)["processes"]]
        shell, python = processes[0][0], next(pid for pid, _, name in processes if name.startswith("python"))
        self.assertEqual(processes[0][1:], (int(ran.stdout), "sh"))
        self.assertEqual([(ppid, name) for pid, ppid, name in processes if name in ("env", "true")],
                         [(shell, "env"), (shell, "true"), (python, "env"), (python, "true")])

    def test_a_child_that_outlives_the_program(self):
        ran = self.run_strobe("/bin/sh", "-c", "sleep 4 & exit 3", tool="bbcount", options=("--follow",))
        self.assertEqual((ran.stderr, ran.returncode), (b"", 3))
        with open(self.result) as file:
            result = json.load(file)
        self.assertEqual([p["state"] for p in result["processes"]], ["exited", "replaced itself by execve", "still running"])
        self.assertLess(result["run"]["seconds"], 1)
        self.assertTrue(any("still running" in note for note in result["notes"]))

    def test_stacks_of_children_that_have_ended(self):
        """Their results move in memory; the stacks taken from them are looked up after that."""
        script = "for i in 1 2 3 4 5 6 7 8; do " + PYTHON + " -c 'sum(range(10**6))' || exit 3; done"
        ran = self.run_strobe("/bin/sh", "-c", script, tool="hot", options=("--follow",))
        self.assertEqual((ran.stderr, ran.returncode), (b"", 0))
        with open(self.result) as file:
            self.assertEqual(len(json.load(file)["processes"]), 9)

    def test_more_children_than_there_is_address_space_at_once(self):
        script = "i=0; while [ $i -lt 1100 ]; do /bin/true || exit 3; i=$((i+1)); done"
        ran = self.run_strobe("/bin/sh", "-c", script, tool="bbcount", options=("--follow",), timeout=400)
        self.assertEqual((ran.stderr, ran.returncode), (b"", 0))
        with open(self.result) as file:
            self.assertEqual(len(json.load(file)["processes"]), 1101)


class Beginnings(Outside):
    LOW = 0x7F000000
    # Goes on when the 4 KiB below its stack pointer are zero; calls, returns, and exits with 3: eleven instructions.
    CODE = bytes.fromhex("488dbc2400f0ffff 31c0 b900020000 f348af 7516 488d050e000000 ffd0 bf03000000 b8e7000000 0f05 c3 0f0b")

    def low(self):
        """A program of one page, where the lookup tables would be, that begins in the page's last bytes."""
        self.assertEqual(len(self.CODE), 44)
        head = b"\x7fELF\2\1\1".ljust(16, b"\0") + struct.pack(
            "<HHIQQQIHHHHHH", 2, 62, 1, self.LOW + 4096 - len(self.CODE), 64, 0, 0, 64, 56, 1, 0, 0, 0)
        segment = struct.pack("<IIQQQQQQ", 1, 5, 0, self.LOW, self.LOW, 4096, 4096, 4096)
        return self.file("low", (head + segment).ljust(4096 - len(self.CODE), b"\0") + self.CODE)

    def counted(self):
        with open(self.result) as file:
            return json.load(file)

    def test_program_where_the_tables_would_be(self):
        """They are made for another place then, and for the first one again; of what prepared the program nothing is left."""
        low = self.low()
        self.assertEqual(subprocess.run([low]).returncode, 3)
        ran = self.run_strobe(low, tool="inscount")
        self.assertEqual((ran.stderr, ran.returncode, self.counted()["instructions"]), (b"", 3, 11))
        ran = self.run_strobe("/bin/sh", "-c", f"{low}; /bin/true && {low}; exec {low}", tool="inscount", options=("--follow",))
        self.assertEqual((ran.stderr, ran.returncode), (b"", 3))
        self.assertEqual([p["instructions"] for p in self.counted()["processes"] if p["command"] == low], [11] * 3)

    def test_killed_while_it_is_prepared(self):
        """A filter that looks at arguments cannot be foreseen: the program's end is seen, and no later one is waited for."""
        killed = filtered(SECCOMP_KILL, 1, [SOCKETPAIR], "/bin/true")
        self.assertEqual(subprocess.run(killed).returncode, 0)
        self.assertEqual(self.run_strobe(*killed, options=("--follow",)).returncode, 128 + signal.SIGSYS)
        child = " ".join(f"'{word}'" for word in killed)
        ran = self.run_strobe("/bin/sh", "-c", child + " & wait $!; exit $(($? - 100))", options=("--follow",))
        self.assertEqual(ran.returncode, 28 + signal.SIGSYS)

    def test_containers(self):
        """What docker and podman forbid, if ptrace is all that they allow."""
        calls = [PROCESS_VM_READV, PROCESS_VM_WRITEV, PIDFD_GETFD]
        ran = subprocess.run(filtered(SECCOMP_EPERM, 0, calls, *self.words("/bin/sh", "-c", "exit 5", tool="inscount")),
                             cwd=self.place.name, capture_output=True, timeout=100)
        self.assertEqual((ran.stderr, ran.returncode), (b"", 5))
        self.assertGreater(self.counted()["instructions"], 10000)

    def test_shared_memory_is_sealed(self):
        """Who finds the file that all programs map can read it only."""
        program = self.program_of(self.start("/bin/sleep", "100"))
        self.addCleanup(os.kill, program, signal.SIGKILL)

        def shared():
            with open(f"/proc/{program}/maps") as maps:
                lines = [line.split() for line in maps]
            return [words[0] for words in lines if words[1] == "r-xp" and words[-2].startswith("/memfd:strobe")]

        self.assertTrue(wait_until(shared))
        for place in shared():
            try:
                fd = os.open(f"/proc/{program}/map_files/{place}", os.O_RDONLY)
            except PermissionError:
                self.skipTest("who is not root cannot open what is mapped")
            self.addCleanup(os.close, fd)
            self.assertEqual(fcntl.fcntl(fd, fcntl.F_GET_SEALS), fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | FUTURE_WRITE)


if __name__ == "__main__":
    # What a shell's background jobs ignore: no shell that is begun so can trap it.
    for background in (signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(background) == signal.SIG_IGN:
            signal.signal(background, signal.SIG_DFL)
    unittest.main(verbosity=2)
