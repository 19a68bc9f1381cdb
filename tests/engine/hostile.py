#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that are out to harm strobe, which may be root while they are not: hostile.c."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

STROBE = os.path.abspath(sys.argv.pop(1))
HOSTILE = os.path.abspath(sys.argv.pop(1))
SECRET = "the secret of another user"


class Hostile(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory(prefix="strobe-hostile-")
        self.addCleanup(self.place.cleanup)
        os.chmod(self.place.name, 0o755)

    def strobe(self, *words, **more):
        return subprocess.run([STROBE, *words], cwd=self.place.name, capture_output=True, timeout=120, **more)

    def path(self, name):
        return os.path.join(self.place.name, name)

    def file(self, name, content, mode=0o644):
        with open(self.path(name), "wb") as file:
            file.write(content)
        os.chmod(self.path(name), mode)
        return self.path(name)

    def test_messages(self):
        victim = subprocess.Popen(["sleep", "100"])
        self.addCleanup(victim.wait)
        self.addCleanup(victim.kill)
        done = self.strobe("run", "-q", "-f", "-t", "bbcount", "-o", "r.db", "--", HOSTILE, "messages", str(victim.pid))
        if done.returncode == 77:
            self.skipTest("the kernel gives a process no second descriptor of its own socket")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn(b"messages", self.strobe("show", "r.db").stdout)

    def test_results(self):
        """bench/robust hostile tries it more often, and all tools."""
        for seed in range(4):
            done = self.strobe("run", "-q", "-t", ("hot", "bbcount", "memtrace", "opmix")[seed], "-o", "r.db", "--", HOSTILE, "results", str(seed))
            self.assertIn(done.returncode, (7, 77, 125, 128 + 4, 128 + 5, 128 + 7, 128 + 8, 128 + 9, 128 + 11), (seed, done.stderr))

    def report(self, *options):
        done = self.strobe("report", *options, "-o", "page.html", "r.db")
        if b"was built without the page" in done.stderr:
            self.skipTest(done.stderr.decode().strip())
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("page.html"), encoding="utf-8") as file:
            return SECRET in file.read(), done.stderr.decode().removesuffix("strobe: wrote page.html: open it in a browser\n")

    @unittest.skipUnless(shutil.which("gcc"), "no compiler")
    def test_source_that_others_may_not_read(self):
        secret = self.file("secret", f"{SECRET}\n".encode() * 20, 0o600)
        code = f'#line 1 "{secret}"\n' + """
            static __attribute__((noinline)) int f(int n)
            {
                int s = 0;
                for (int i = 0; i < n; i++)
                    s += i * n;
                return s;
            }
            int main(void) { int t = 0; for (int i = 0; i < 1000; i++) t += f(i); return t == 1; }
        """
        self.file("x.c", code.encode())
        subprocess.run(["gcc", "-O1", "-g", "-o", "x", "x.c"], cwd=self.place.name, check=True)
        done = self.strobe("run", "-q", "-t", "hot", "-o", "r.db", "--", "./x")
        self.assertEqual(done.returncode, 0, done.stderr)
        shown, said = self.report()
        self.assertFalse(shown)
        self.assertIn("does not show the text of 1 source file of r.db, which other users may not read; --all-sources includes it", said)
        self.assertEqual(self.report("--all-sources"), (True, ""))
        os.chmod(secret, 0o644)
        self.assertEqual(self.report(), (True, ""))
        os.unlink(secret)
        os.mkfifo(secret)
        self.assertEqual(self.report(), (False, ""))

    @unittest.skipUnless(os.getuid() == 0 and shutil.which("setcap") and shutil.which("runuser"), "gives a program capabilities, as root")
    def test_file_capabilities(self):
        with open("/bin/cat", "rb") as cat:
            program = self.file("cat", cat.read(), 0o755)
        if subprocess.run(["setcap", "cap_net_raw+ep", program], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("this file system has no capabilities")
        os.mkdir(self.path("theirs"))
        os.chmod(self.path("theirs"), 0o777)
        strobe = shutil.copy(STROBE, self.path("strobe"))  # where the other user can reach it

        def ran(*words):
            return subprocess.run(["runuser", "-u", "nobody", "--", *words], cwd=self.path("theirs"), capture_output=True, timeout=120)
        native = ran(program, "/proc/self/status").stdout
        if b"CapEff:\t0000000000002000" not in native:
            self.skipTest("the kernel gives it none")
        done = ran(strobe, "run", "-q", "-o", "r.db", "--", program, "/dev/null")
        self.assertEqual(done.returncode, 126)
        self.assertIn(b"has file capabilities, which it would lose under strobe", done.stderr)
        done = ran(strobe, "run", "-q", "-f", "-t", "null", "-o", "r.db", "--", "/bin/sh", "-c", f"{program} /proc/self/status; true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"CapEff:\t0000000000002000", done.stdout)

    def test_tricks_of_a_terminal(self):
        """Whatever names in a profile are."""
        name = "\x1b]0;title\x07\x9b31m\u202eevil\u2066\u200f"
        program = self.file("program", b"#!/bin/sh\nexit 0\n", 0o755)
        done = self.strobe("run", "-q", "-t", "hot", "-o", "r.db", "--", program, name, "\u009b2J")
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in ["show"], ["show", "--stats", "--images", "--threads"], ["show", "--format", "json"]:
            said = self.strobe(*words, "r.db").stdout.decode(errors="surrogateescape")
            self.assertTrue(said)
            self.assertFalse(set(said) & set("\x1b\x07\x9b\u202e\u2066\u200f\u009b"), words)
            self.assertNotIn("\udc9b", said)

    def test_little_stack_and_few_descriptors(self):
        for limits, code in ("ulimit -s 56", 0), ("ulimit -n 4", 125), ("ulimit -n 6", 125), ("ulimit -n 8", 125), ("ulimit -n 24", 0):
            done = self.strobe("version")
            done = subprocess.run(["bash", "-c", f"{limits}; exec {STROBE} run -q -t hot -o r.db -- /bin/true"], cwd=self.place.name,
                                  capture_output=True, timeout=120)
            if code:
                self.assertIn(done.returncode, (0, code), limits)
            else:
                self.assertEqual((done.returncode, done.stderr), (0, b""), limits)
            if done.returncode:
                self.assertIn(b"descriptors", done.stderr)
                self.assertEqual(done.stderr.count(b"\n"), 1)

    def test_address_space(self):
        """What the engine maps while the program begins is not on the program's account."""
        for words in ["paths"], ["run", "-t", "memtrace"], ["run", "--unique"]:
            done = subprocess.run(["bash", "-c", f"ulimit -S -v 40000; exec {STROBE} {' '.join(words)} -q -o r.db -- /bin/true"],
                                  cwd=self.place.name, capture_output=True, timeout=120)
            self.assertEqual((done.returncode, done.stderr), (0, b""), words)


if __name__ == "__main__":
    unittest.main(verbosity=2)
