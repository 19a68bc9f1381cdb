#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Samples by perf events: there are more of them, and the program sees nothing of it; where there are none, timers take
their place, and the result says why."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

STROBE, RATES = (os.path.abspath(p) for p in sys.argv[1:3])
del sys.argv[1:3]
ASKED = 2000


def permitted():
    """Do perf events work here, at the rate that is asked for?"""
    if subprocess.run([RATES, "w"], stdout=subprocess.DEVNULL).returncode:
        return False
    with open("/proc/sys/kernel/perf_event_max_sample_rate", encoding="ascii") as f:
        return int(f.read()) >= 10 * ASKED


PERMITTED = permitted()


class Rates(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "result.db")

    def run_program(self, letters, *options, hz=ASKED, wrapper=()):
        """Returns the result as JSON; the program must end as it does natively."""
        command = [*wrapper, STROBE, "run", "-q", "--sample-hz", str(hz), "-o", self.path, *options, "--", RATES, letters]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=240)
        self.assertEqual((done.returncode, done.stdout), (0, ""), letters)
        return json.loads(self.show("--format", "json"))

    def show(self, *words):
        return subprocess.run([STROBE, "show", *words, self.path], check=True, stdout=subprocess.PIPE, text=True, timeout=60).stdout

    def sources(self, result):
        return result["samples"]["by_event"], result["samples"]["by_timer"]

    def samples(self, result):
        return sum(result["samples"][where] for where in ("program", "kernel", "engine"))

    def note(self, result):
        return [n for n in result["notes"] if "sampled by timers" in n]


@unittest.skipUnless(PERMITTED, "perf events with the kernel's time are not permitted here")
class Events(Rates):
    def test_rate(self):
        result = self.run_program("s")
        self.assertEqual(self.sources(result), (1, 0))
        self.assertGreaterEqual(self.samples(result), ASKED * result["run"]["cpu_seconds"] / 2)
        self.assertLessEqual(self.samples(result), ASKED * result["run"]["seconds"] * 1.05)
        self.assertEqual(self.note(result), [])
        self.assertIn("samples (by perf events): ", self.show())

    def test_samples_are_in_the_function_that_works(self):
        result = self.run_program("s")
        self.assertEqual(result["share_of"], "samples")
        self.assertGreaterEqual({f["name"]: f["self_share"] for f in result["functions"]}["spin"], 0.9)

    def test_low_rates_need_no_event(self):
        self.assertEqual(self.sources(self.run_program("i", hz=250)), (0, 1))
        self.assertEqual(self.sources(self.run_program("i", hz=251)), (1, 0))

    def test_descriptors_of_the_program(self):
        self.assertEqual(self.sources(self.run_program("d")), (1, 0))
        moved = self.run_program("n")
        self.assertGreater(moved["samples"]["program"], 20)  # the event goes on under other numbers

    def test_few_descriptors(self):
        limited = ("sh", "-c", 'ulimit -n 64; exec "$@"', "sh")
        self.assertEqual(self.sources(self.run_program("i", wrapper=limited)), (1, 0))

    def test_execve(self):
        self.assertEqual(self.sources(self.run_program("e")), (41, 0))
        failed = self.run_program("xi")
        self.assertEqual(self.sources(failed), (1, 0))
        self.assertGreater(failed["samples"]["program"], 50)

    def test_children(self):
        self.assertEqual(self.sources(self.run_program("ci")), (1, 0))
        self.assertGreater(self.sources(self.run_program("ci", "--follow"))[0], 20)

    def test_threads(self):
        self.assertEqual(self.sources(self.run_program("t")), (205, 0))

    def test_signals_of_the_program(self):
        self.assertEqual(self.sources(self.run_program("gi")), (1, 0))

    def test_full_queue_of_signals(self):
        result = self.run_program("q")
        self.assertGreater(result["samples"]["program"], 50)

    def test_filter_that_the_program_installs(self):
        result = self.run_program("hti")
        self.assertEqual(self.sources(result), (205, 0))

    def test_budget(self):
        for options in ("-b", "20%"), ("-b", "20%", "-T", "20ms", "-t", "hot:wall"), ("-b", "5%", "--unique"):
            self.run_program("ditgexc", *options)


class Timers(Rates):
    def refused(self, letter):
        result = self.run_program("s", wrapper=(RATES, letter))
        self.assertEqual(self.sources(result), (0, 1))
        self.assertEqual(self.note(result), [
            "1 thread was sampled by timers, which run out at ticks of the kernel, and not 2000 times per second: a seccomp filter "
            "was in force when the process began, and under such a filter strobe opens no perf events"])
        self.assertGreater(result["samples"]["program"], 20)
        self.assertRegex(self.show(), r"\n  [\d,]+ samples: ")

    def test_filter_that_refuses(self):
        self.refused("a")

    def test_filter_that_kills(self):
        self.refused("k")

    def test_no_descriptor(self):
        """Strobe itself needs some, which it closes before the program begins."""
        if not PERMITTED:
            self.skipTest("perf events are not permitted")
        result = self.run_program("0i")
        self.assertEqual(self.sources(result), (1, 1))
        self.assertEqual(self.note(result), [
            "1 thread was sampled by timers, which run out at ticks of the kernel, and not 2000 times per second: there was no file "
            "descriptor for perf events (ulimit -n allows more); their shares are too low, because perf events sampled the others"])

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to become somebody else")
    def test_no_permission(self):
        with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as f:
            level = int(f.read())
        if level < 2 or not PERMITTED:
            self.skipTest("everybody may have perf events, or nobody")
        path = os.path.join(os.path.dirname(self.path), "copy")
        os.chmod(os.path.dirname(self.path), 0o777)
        for name, source in ("strobe", STROBE), ("rates", RATES):
            subprocess.run(["install", "-m", "755", source, os.path.join(os.path.dirname(path), name)], check=True)
        become = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        if subprocess.run([*become, os.path.join(os.path.dirname(path), "rates"), ""], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("nobody else can run programs here")
        command = [*become, "./strobe", "run", "-q", "--sample-hz", "2000", "-o", self.path, "--", "./rates", "i"]
        done = subprocess.run(command, cwd=os.path.dirname(path), env={"PATH": os.environ["PATH"]}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        result = json.loads(self.show("--format", "json"))
        self.assertEqual(self.sources(result), (0, 1))
        self.assertIn(f"perf events are not permitted: kernel.perf_event_paranoid is {level}; root, CAP_PERFMON or a value of at most 1",
                      self.note(result)[0])


if __name__ == "__main__":
    unittest.main()
