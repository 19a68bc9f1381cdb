#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""strobe attach from outside: processes in every state taken and let go, and those that cannot be."""
import ctypes
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

STROBE, PROGRAMS = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
BUSY = os.path.join(PROGRAMS, "attach-busy")
UNNOTICED, EXITED, EXECED, NATIVE, KILLED, DETACHED = 1, 2, 3, 4, 5, 7  # states of docs/profile.md
ENDS = os.path.join(PROGRAMS, "attach-ends")


def wait_until(condition, seconds=20):
    """What the condition says at last; machines are slow at times."""
    end = time.monotonic() + seconds
    while not (holds := condition()) and time.monotonic() < end:
        time.sleep(0.02)
    return holds


def adopt_orphans():
    """Grandchildren whose parent ends become this process' children: an agent whose controller was killed can be waited for."""
    PR_SET_CHILD_SUBREAPER = 36
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "PR_SET_CHILD_SUBREAPER")


def orphans_end(child, seconds=20):
    """Whether all that were adopted end in time; child is no orphan."""
    def ended():
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            orphans = {int(word) for word in file.read().split()} - {child}
        return all(os.waitpid(orphan, os.WNOHANG) != (0, 0) for orphan in orphans)
    return wait_until(ended, seconds)


def maps(pid):
    """The mappings of a process, but for the ends of those that grow."""
    with open(f"/proc/{pid}/maps") as file:
        return sorted(re.sub(r"^(\w+)-\w+", r"\1", line) for line in file.read().split("\n") if "[stack]" not in line)


def code(pid):
    """What stands in the executable mappings of its files; the runtime's own are none."""
    bytes_of = {}
    with open(f"/proc/{pid}/maps") as file, open(f"/proc/{pid}/mem", "rb") as mem:
        for line in file:
            if " r-xp " in line and " /" in line and "/memfd:strobe" not in line:
                start, end = (int(word, 16) for word in line.split()[0].split("-"))
                mem.seek(start)
                bytes_of[start] = mem.read(end - start)
    return bytes_of


def memory(pid):
    """Resident KiB."""
    with open(f"/proc/{pid}/status") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1))


def tracer(pid):
    with open(f"/proc/{pid}/status") as file:
        return int(re.search(r"TracerPid:\s+(\d+)", file.read()).group(1))


def descriptors(pid):
    return sorted(os.listdir(f"/proc/{pid}/fd"), key=int)


class Attach(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory(prefix="strobe-attach-")
        self.addCleanup(self.place.cleanup)
        self.result = os.path.join(self.place.name, "result.db")

    def words(self, pid, tool="bbcount", time_="100ms", options=(), quiet=True):
        limit = ["--for", time_] if time_ else []
        return [STROBE, "attach", *(["-q"] if quiet else []), "-t", tool, *limit, "-o", self.result, *options, str(pid)]

    def attach(self, pid, **more):
        return subprocess.run(self.words(pid, **more), cwd=self.place.name, capture_output=True, text=True, timeout=100)

    def attached(self, pid, **more):
        """strobe at work on a process."""
        strobe = subprocess.Popen(self.words(pid, time_=None, quiet=False, **more), cwd=self.place.name, stderr=subprocess.PIPE, text=True)
        self.addCleanup(strobe.stderr.close)
        self.addCleanup(strobe.wait)
        self.addCleanup(strobe.kill)
        self.assertIn("strobe: attached to ", strobe.stderr.readline())
        return strobe

    @staticmethod
    def agent(strobe):
        with open(f"/proc/{strobe.pid}/task/{strobe.pid}/children") as file:
            agent, = map(int, file.read().split())
        return agent

    @staticmethod
    def is_attached(pid):
        return any("memfd:strobe" in line and " rw-s" in line for line in maps(pid))

    def start(self, *words, ready=b"ready\n", **environment):
        process = subprocess.Popen(words, env=os.environ | environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for pipe in (process.stdin, process.stdout, process.stderr):
            self.addCleanup(pipe.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), ready)
        return process

    def finish(self, process):
        """The program's own verdict."""
        process.stdin.close()
        out = process.stdout.read()
        self.assertEqual((process.wait(60), out), (0, b"fine\n"), process.stderr.read())

    def detached(self, strobe, signo=signal.SIGINT):
        strobe.send_signal(signo)
        self.assertEqual(strobe.wait(30), 0)
        return self.saved()

    def saved(self):
        """The first rows of the result, and how many threads and instructions there are."""
        db = sqlite3.connect(self.result)
        self.addCleanup(db.close)
        db.row_factory = sqlite3.Row
        process, = db.execute("SELECT * FROM process")
        return {"process": process, "command": [row[0] for row in db.execute("SELECT value FROM argument")],
                "threads": db.execute("SELECT count(*) FROM thread").fetchone()[0], "instructions": process["instructions"]}


class Running(Attach):
    def cycles(self, threads, n, tools):
        process = self.start(BUSY, str(threads))
        time.sleep(0.2)
        before, size, open_files = maps(process.pid), memory(process.pid), descriptors(process.pid)
        for i in range(n):
            done = self.attach(process.pid, tool=tools[i % len(tools)], time_=random.choice(("1ms", "10ms", "50ms")))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIsNone(process.poll())
            self.assertFalse([line for line in maps(process.pid) if "strobe" in line])
        if threads == 0:  # no thread of its own comes and goes
            self.assertEqual(maps(process.pid), before)
        self.assertLess(memory(process.pid), size + 2048)
        self.assertEqual(descriptors(process.pid), open_files)
        self.finish(process)

    def test_one_thread(self):
        self.cycles(0, 12, ("bbcount", "hot", "null"))

    def test_many_threads(self):
        """Computing, asleep in calls of every kind, in handlers on alternate stacks, being born."""
        self.cycles(1, 12, ("bbcount", "hot"))
        self.cycles(3, 18, ("bbcount", "hot", "null"))

    def test_code_is_put_back(self):
        """Where threads that run natively make many calls the code is another; not any more when they are left."""
        process = subprocess.Popen(["dd", "if=/dev/zero", "of=/dev/null", "bs=1"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertTrue(wait_until(lambda: any(" r-xp" in line and "libc" in line for line in maps(process.pid))))
        time.sleep(0.1)
        before, mappings = code(process.pid), maps(process.pid)
        for i in range(6):
            done = self.attach(process.pid, time_="100ms", options=("-b", "1us", "-T", "1s"))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(code(process.pid), before)
            self.assertEqual(maps(process.pid), mappings)
        strobe = self.attached(process.pid, options=("-b", "1us"))
        with open("/proc/cpuinfo") as file:
            possible = " fsgsbase " in file.read()
        self.assertEqual(wait_until(lambda: code(process.pid) != before, 20 if possible else 1), possible)
        strobe.kill()
        self.assertTrue(orphans_end(process.pid))
        self.assertTrue(wait_until(lambda: maps(process.pid) == mappings), maps(process.pid))
        self.assertEqual(code(process.pid), before)
        self.assertIsNone(process.poll())

    @staticmethod
    def agent_of(strobe):
        """The child that attaches, as soon as it lets no signal disturb it; None before and after."""
        try:
            with open(f"/proc/{strobe.pid}/task/{strobe.pid}/children") as file:
                child = int(file.read().split()[0])
            with open(f"/proc/{child}/status") as file:
                blocked = int(re.search(r"SigBlk:\s+(\w+)", file.read()).group(1), 16)
        except (OSError, IndexError, AttributeError):
            return None
        return child if blocked >> signal.SIGALRM - 1 & 1 else None

    def test_while_its_clock_ticks(self):
        """It seizes threads by a clock, so as not to wait for ever: what it is told between two of them is not lost, at whatever rate."""
        process = self.start(BUSY, "6")
        for _ in range(5):
            strobe = subprocess.Popen(self.words(process.pid, time_="50ms"), cwd=self.place.name, stderr=subprocess.PIPE, text=True)
            self.assertTrue(wait_until(lambda: self.agent_of(strobe) or strobe.poll() is not None))
            while strobe.poll() is None:
                agent = self.agent_of(strobe)
                for _ in range(500 if agent else 0):
                    try:
                        os.kill(agent, signal.SIGALRM)
                    except ProcessLookupError:
                        break
            self.assertEqual((strobe.returncode, strobe.communicate()[1]), (0, ""))
        self.finish(process)

    def test_under_stress(self):
        process = self.start(BUSY, "1")
        for stress in ("blocks", "cache", "links,lookup", "flush", "threads,far"):
            done = self.attach(process.pid, options=("--stress", stress), time_="200ms")
            self.assertEqual((done.returncode, done.stderr), (0, ""), stress)
        self.finish(process)

    def test_counts_and_ends_by_signal(self):
        process = self.start(BUSY, "1")
        for signo in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            strobe = self.attached(process.pid)
            time.sleep(0.2)
            result = self.detached(strobe, signo)
            self.assertGreater(result["instructions"], 1000000)
            self.assertGreaterEqual(result["threads"], 8)
            self.assertEqual(result["process"]["state"], DETACHED)
            self.assertNotIn("leaves the engine by itself", strobe.stderr.read())
            self.assertEqual(result["command"], [BUSY, "1"])
        self.finish(process)

    def test_controller_is_killed(self):
        """At any moment: its agent brings to an end what was begun."""
        process = self.start(BUSY, "1")
        before = maps(process.pid)
        for i in range(30):
            strobe = subprocess.Popen(self.words(process.pid, time_="10ms"), cwd=self.place.name, stderr=subprocess.DEVNULL)
            time.sleep(0.002 * i)
            strobe.kill()
            strobe.wait()
            self.assertTrue(orphans_end(process.pid))
            self.assertTrue(wait_until(lambda: not self.is_attached(process.pid)), i)
            self.assertFalse(tracer(process.pid))
            self.assertIsNone(process.poll())
        ours = [line for line in maps(process.pid) if "strobe" in line]
        self.assertEqual(ours, [line for line in before if "strobe" in line])
        self.finish(process)

    def test_controller_and_agent_are_killed(self):
        for threads in ("0", "1", "2"):
            process = self.start(BUSY, threads, BUSY_AGENT_DIES="1")
            for _ in range(4):
                strobe = self.attached(process.pid)
                time.sleep(random.choice((0.01, 0.1, 0.2)))
                agent = self.agent(strobe)
                strobe.kill()
                os.kill(agent, signal.SIGKILL)
                strobe.wait()
                self.assertTrue(wait_until(lambda: not self.is_attached(process.pid)))
                self.assertIsNone(process.poll())
            self.finish(process)

    def test_agent_is_killed(self):
        process = self.start(BUSY, "1", BUSY_AGENT_DIES="1")
        strobe = self.attached(process.pid)
        os.kill(self.agent(strobe), signal.SIGKILL)
        self.assertEqual(strobe.wait(30), 0)
        self.assertIn("leaves the engine by itself", strobe.stderr.read())
        self.assertTrue(wait_until(lambda: not self.is_attached(process.pid)))
        self.finish(process)

    def test_twice(self):
        process = self.start(BUSY, "0")
        strobe = self.attached(process.pid)
        second = self.attach(process.pid, options=("-o", os.devnull))
        self.assertEqual(second.returncode, 126)
        self.assertIn(f"it is under strobe already, process {strobe.pid}: end that one first", second.stderr)
        self.detached(strobe)
        self.finish(process)

    def test_without_its_first_thread(self):
        """Which has ended: /proc shows nothing of the process by its own number."""
        if tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) < (6, 9):
            self.skipTest("descriptors of such a process cannot be fetched before Linux 6.9")
        process = self.start(os.path.join(PROGRAMS, "attach-headless"))
        for options in ((), ("-b", "1%", "-T", "20ms"), ("--stress", "flush")):
            done = self.attach(process.pid, options=options)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            result = self.saved()
            self.assertEqual(result["process"]["state"], DETACHED)
            self.assertGreater(result["instructions"], 1000)
        strobe = self.attached(process.pid)
        os.kill(self.agent(strobe), signal.SIGKILL)
        self.assertEqual(strobe.wait(30), 0)
        self.finish(process)

    def test_many(self):
        process = self.start(BUSY, "30")
        done = self.attach(process.pid, time_="300ms")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.finish(process)


class Ends(Attach):
    """Processes that go away while they are attached."""

    def gone(self, how, state, code, text=b""):
        process = self.start(ENDS, how)
        strobe = self.attached(process.pid)
        process.stdin.write(b"x")
        process.stdin.flush()
        self.assertEqual(strobe.wait(30), 0, strobe.stderr.read())
        self.assertEqual((process.wait(30), process.stdout.read()), (code, text))
        result = self.saved()
        self.assertEqual(result["process"]["state"], state)
        self.assertGreater(result["instructions"], 0)
        return result

    def test_exit(self):
        self.assertEqual(self.gone("exit", EXITED, 7)["process"]["exit"], 7)
        self.gone("exit-threads", EXITED, 7)

    def test_exec(self):
        self.gone("exec", EXECED, 0, b"executed\n")
        self.gone("exec-threads", EXECED, 0, b"executed\n")

    def test_death(self):
        self.gone("abort", KILLED, -signal.SIGABRT)
        self.gone("segv", KILLED, -signal.SIGSEGV)
        self.gone("kill", UNNOTICED, -signal.SIGKILL)

    def test_children_run_natively(self):
        process = self.start(ENDS, "children")
        strobe = self.attached(process.pid)
        process.stdin.write(b"x")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), b"children are well\n")
        self.detached(strobe)
        process.stdin.close()
        self.assertEqual(process.wait(30), 0)

    def test_becomes_native(self):
        """A thread does what the engine cannot bear: the process leaves it, and strobe ends."""
        for how in ("leaves-far", "leaves-gs", "leaves-far-threads", "leaves-gs-threads"):
            process = self.start(ENDS, how)
            time.sleep(0.1)
            before, open_files = maps(process.pid), descriptors(process.pid)
            strobe = self.attached(process.pid)
            process.stdin.write(b"x")
            process.stdin.flush()
            self.assertEqual(strobe.wait(30), 0, strobe.stderr.read())
            self.assertEqual(process.stdout.readline(), b"native\n")
            self.assertEqual((maps(process.pid), descriptors(process.pid)), (before, open_files))
            result = self.saved()
            self.assertEqual(result["process"]["state"], NATIVE, how)
            self.assertGreater(result["instructions"], 0)
            process.stdin.close()
            self.assertEqual(process.wait(30), 7, how)

    def test_becomes_native_while_it_is_left(self):
        """At any moment of a detach."""
        for how in ("leaves-far", "leaves-gs-threads"):
            for i in range(12):
                process = self.start(ENDS, how)
                strobe = self.attached(process.pid)
                strobe.send_signal(signal.SIGINT)
                time.sleep(0.001 * i)
                process.stdin.write(b"x")
                process.stdin.flush()
                self.assertEqual(process.stdout.readline(), b"native\n")
                self.assertEqual(strobe.wait(30), 0, strobe.stderr.read())
                self.assertIn(self.saved()["process"]["state"], (NATIVE, DETACHED))
                process.stdin.close()
                self.assertEqual(process.wait(30), 7, how)

    def test_cannot_be_stopped(self):
        """A parent sleeps until its vfork's child has ended. Then it leaves by itself, and the agent takes away what it could not give back."""
        process = self.start(ENDS, "waits")
        time.sleep(0.1)
        before, open_files = maps(process.pid), descriptors(process.pid)
        strobe = self.attached(process.pid)
        process.stdin.write(b"x")
        process.stdin.flush()
        time.sleep(0.2)
        result = self.detached(strobe)
        self.assertEqual(result["process"]["state"], DETACHED)
        self.assertNotIn("leaves the engine by itself", strobe.stderr.read())
        self.assertEqual(process.stdout.readline(), b"child has ended\n")
        self.assertEqual((maps(process.pid), descriptors(process.pid)), (before, open_files))
        process.stdin.close()
        self.assertEqual(process.wait(30), 7)

    def test_while_it_ends(self):
        """At every moment around the end: a sentence or a result, never a hang."""
        for how in ("exit-threads", "exec-threads", "storm"):
            for i in range(12):
                process = self.start(ENDS, how)
                strobe = subprocess.Popen(self.words(process.pid, time_="20ms"), cwd=self.place.name, stderr=subprocess.PIPE, text=True)
                time.sleep(0.004 * i)
                process.stdin.write(b"x")
                process.stdin.flush()
                said = strobe.communicate(timeout=60)[1]
                self.assertIn(strobe.returncode, (0, 125, 126, 127), said)
                self.assertEqual(strobe.returncode != 0, bool(said), said)
                process.stdin.close()
                self.assertIn(process.wait(30), (0, 7))

    def test_killed_meanwhile(self):
        """Between any two steps of being attached: nobody waits for ever, not for a thread whose end is told last."""
        for i in range(40):
            process = self.start(BUSY, "2")
            strobe = subprocess.Popen(self.words(process.pid, time_="20ms"), cwd=self.place.name, stderr=subprocess.PIPE, text=True)
            time.sleep(0.002 * i)
            process.kill()
            said = strobe.communicate(timeout=60)[1]
            self.assertIn(strobe.returncode, (0, 125, 126, 127), said)
            self.assertEqual(process.wait(30), -signal.SIGKILL)


class Refused(Attach):
    def refused(self, code, text, pid, **more):
        done = self.attach(pid, **more)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(text, done.stderr)
        self.assertTrue(done.stderr.startswith("strobe: ") and done.stderr.count("\n") == 1, done.stderr)
        self.assertFalse(os.path.exists(self.result))

    def sleeper(self, *prefix):
        process = subprocess.Popen([*prefix, "sleep", "1000"], stdin=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        time.sleep(0.1)
        return process

    def test_arguments(self):
        for words, text in (((), "no process"), (("x",), "not a process number"), (("0",), "not a process number"), (("1", "2"), "too many"),
                            (("--for", "soon", "1"), "takes a time"), (("--for", "0", "1"), "takes a time"), (("--follow", "1"), "unknown option")):
            done = subprocess.run([STROBE, "attach", *words], capture_output=True, text=True, timeout=30)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(text, done.stderr)

    def test_none(self):
        process = subprocess.Popen(["true"])
        process.wait()
        self.refused(127, "no process", process.pid)

    def test_ended(self):
        process = subprocess.Popen(["true"])
        self.addCleanup(process.wait)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        self.refused(126, "has ended already", process.pid)

    def test_strobe_itself(self):
        script = f'exec "{STROBE}" attach --for 1s -o "{self.result}" $$'
        done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 126)
        self.assertIn("cannot attach itself", done.stderr)

    def test_kernel_thread(self):
        try:
            with open("/proc/2/comm") as file:
                name = file.read()
        except OSError:
            name = ""
        if name != "kthreadd\n":
            self.skipTest("no kernel threads here")
        self.refused(126, "thread of the kernel", 2)

    def test_thread(self):
        process = self.start(BUSY, "1")
        folder = f"/proc/{process.pid}/task"
        self.assertTrue(wait_until(lambda: len(os.listdir(folder)) > 1))
        tid = sorted(map(int, os.listdir(folder)))[1]  # those that come later are short-lived
        self.refused(126, f"a thread of process {process.pid}", tid)
        self.finish(process)

    def test_stopped(self):
        process = self.sleeper()
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.1)
        self.refused(126, "is stopped", process.pid)

    def test_traced(self):
        process = self.sleeper()
        libc = ctypes.CDLL(None, use_errno=True)
        self.assertEqual(libc.ptrace(0x4206, process.pid, None, None), 0)  # PTRACE_SEIZE, by this process
        self.refused(126, f"traced already, by process {os.getpid()} (python3", process.pid)

    @unittest.skipUnless(os.getuid() == 0, "becomes another user")
    def test_of_another_user(self):
        process = self.sleeper()
        shutil.copy(STROBE, self.place.name)
        os.chmod(self.place.name, 0o777)
        done = subprocess.run([os.path.join(self.place.name, "strobe"), "attach", "--for", "1s", "-o", os.devnull, str(process.pid)],
                              capture_output=True, text=True, timeout=30, user=65534, group=65534)
        self.assertEqual(done.returncode, 126, done.stderr)
        self.assertIn("belongs to user root", done.stderr)

    @unittest.skipUnless(os.getuid() == 0, "makes a namespace")
    def test_container(self):
        made = subprocess.run(["unshare", "--pid", "--fork", "true"], capture_output=True)
        if made.returncode:
            self.skipTest("no namespaces here")
        process = self.sleeper("unshare", "--pid", "--fork", "--kill-child")
        with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
            child = int(file.read().split()[0])
        self.refused(126, "in a container", child)

    def test_filtered(self):
        process = self.start(ENDS, "filter")
        self.refused(126, "seccomp filter", process.pid)

    def test_shares_memory(self):
        process = self.start(ENDS, "vfork")
        self.refused(126, "shares its memory with process", process.pid)

    def test_uses_gs(self):
        process = self.start(ENDS, "gs")
        self.refused(126, "uses the GS base", process.pid)
        process.stdin.write(b"x")
        process.stdin.flush()
        self.assertEqual(process.wait(30), 7)

    def test_bad_place(self):
        process = self.sleeper()
        self.refused(125, "/no/where", process.pid, options=("-o", "/no/where/at/all"))


if __name__ == "__main__":
    adopt_orphans()
    unittest.main(verbosity=2)
