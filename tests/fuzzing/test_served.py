#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Executions by a fork server count what fresh processes count: test_served.py STROBE LIST LINEAR CHOICES FAULT."""
import hashlib
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


def running(program):
    """Processes that execute the program."""
    found = []
    for link in Path("/proc").glob("[0-9]*/exe"):
        try:
            found += [link.parent.name] if os.readlink(link) == program else []
        except OSError:
            pass
    return found


class Served(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="strobe-served-")
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)
        # Other tests run the same files at the same time: processes are found by the file.
        self.list, self.linear, self.choices, self.fault = (shutil.copy(program, place.name) for program in (LIST, LINEAR, CHOICES, FAULT))

    def fuzz(self, program, seed, *words):
        """The result, the inputs that were kept, and the log, without the times."""
        (self.place / "seed").write_text(seed)
        out = self.place / "out"
        done = subprocess.run([STROBE, "fuzz", "-q", "--format", "json", "-o", out, "-s", "seed", "-t", "600s", "--judge", "1ms", *words, "--", *program],
                              cwd=self.place, capture_output=True, text=True, timeout=300)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        result = json.loads(done.stdout)
        kept = sorted((p.relative_to(out).as_posix(), hashlib.sha256(p.read_bytes()).hexdigest()) for folder in ("results", "faults", "hangs")
                      for p in (out / folder).rglob("*") if p.is_file())
        out.rename(out.with_name(f"out{len(list(self.place.iterdir()))}"))
        return {name: result[name] for name in ("executions", "base_work", "most_work", "unsteady")}, kept

    def same(self, program, seed, *words):
        copied, fresh = self.fuzz(program, seed, *words), self.fuzz(program, seed, *words, "--fresh")
        self.assertEqual(copied, fresh)
        self.none_is_left(program[0])
        return copied

    def none_is_left(self, program):
        deadline = time.monotonic() + 120
        while left := running(program):
            self.assertLess(time.monotonic(), deadline, left)
            time.sleep(0.05)

    def compile(self, text, *flags):
        (self.place / "p.c").write_text(text)
        program = str(self.place / "p")
        subprocess.run(["gcc", "-O1", "-o", program, self.place / "p.c", *flags], check=True)
        return program

    def test_work_and_inputs_are_those_of_fresh_processes(self):
        result, kept = self.same([self.list], "[a] [b]\n", "--executions", "30")
        self.assertEqual((result["executions"], result["unsteady"]), (30, 0))
        self.assertGreater(len(kept), 1)
        self.same([self.linear], "one line\n", "--executions", "40")
        self.same([self.choices], "aab\n", "--executions", "40", "-j", "5")

    def test_a_file_is_read_from_its_beginning_each_time(self):
        program = self.compile('''
#include <stdio.h>
int main(int c, char **v) { FILE *f = fopen(v[c - 1], "r"); int n = 0, x; while ((x = getc(f)) != EOF) n += x == 'e'; return n > 9; }
''')
        self.same([program, "@@"], "text\n", "--executions", "20")

    def test_faults_and_hangs_do_not_end_the_server(self):
        _, kept = self.same([self.fault], "x\nz\n", "--executions", "30", "--hang", "1s", "--rules", "double-line,repeat-word,change-character,copy-line")
        self.assertTrue(kept)

    def test_a_program_that_stops_itself_is_a_hang(self):
        program = self.compile("""
#include <signal.h>
#include <stdio.h>
int main(void) { int n = 0, c; while ((c = getchar()) != EOF) n += c == 'e'; return n > 2 ? raise(SIGSTOP) : 0; }
""")
        for words in (), ("--fresh",):
            _, kept = self.fuzz([program], "ee\n", "--executions", "4", "--hang", "1s", "--rules", "double-line", *words)
            self.assertTrue([name for name, _ in kept if name.startswith("hangs/")])
            self.none_is_left(program)

    def test_threads_children_and_code_made_at_run_time(self):
        program = self.compile('''
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static char line[65536];
static void *half(void *n) { volatile long sum = 0; for (long i = 0; i < (long)n; i++) sum += i; return NULL; }
int main(void)
{
	pthread_t other;
	size_t n = fread(line, 1, sizeof line, stdin);
	static const unsigned char code[] = {0x8d, 0x47, 0x01, 0xc3}; /* lea eax, [rdi + 1]; ret */
	unsigned char *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(made, code, sizeof code);
	pthread_create(&other, NULL, half, (void *)n);
	pthread_join(other, NULL);
	if (fork() == 0)
		_exit(3);
	int status;
	wait(&status);
	return ((int (*)(int))made)(WEXITSTATUS(status)) - 4;
}
''', "-pthread")
        first, _ = self.fuzz([program], "some words\n", "--executions", "30", "-j", "2")
        fresh, _ = self.fuzz([program], "some words\n", "--executions", "30", "-j", "2", "--fresh")
        self.assertEqual(first["executions"], fresh["executions"])
        # Threads start and wait in an order of their own: a few blocks more or less.
        self.assertAlmostEqual(first["base_work"] / fresh["base_work"], 1, delta=0.05)

    def test_the_c_library_knows_the_id_of_its_thread(self):
        program = self.compile('''
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_t first;
static pthread_mutex_t lock;
static void ignore(int signo) { (void)signo; }
static void *work(void *unused)
{
	if (pthread_kill(first, SIGUSR1))
		abort();
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return unused;
}
int main(void)
{
	pthread_t other;
	pthread_mutexattr_t a;
	signal(SIGUSR1, ignore);
	first = pthread_self();
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&lock, &a);
	if (pthread_mutex_lock(&lock))
		abort();
	pthread_create(&other, NULL, work, NULL);
	while (getchar() != EOF)
		;
	if (pthread_mutex_unlock(&lock))
		abort();
	pthread_join(other, NULL);
	return 0;
}
''', "-pthread")
        _, kept = self.fuzz([program], "a word\n", "--executions", "10")
        self.assertEqual([name for name, _ in kept if not name.startswith("results/")], [])

    def test_static_programs(self):
        self.same([self.compile("int main(int c, char **v) { (void)v; return c - 1; }", "-static")], "a\n", "--executions", "10")

    def test_a_killed_campaign_leaves_no_process(self):
        (self.place / "seed").write_text("line\n")
        with subprocess.Popen([STROBE, "fuzz", "-q", "-s", "seed", "-t", "600s", "-o", "out", "--", self.linear], cwd=self.place) as campaign:
            while not (self.place / "out" / "journal").exists() or not running(self.linear):
                time.sleep(0.05)
                self.assertIsNone(campaign.poll())
            campaign.send_signal(signal.SIGKILL)
            campaign.wait()
        self.none_is_left(self.linear)


if __name__ == "__main__":
    unittest.main(verbosity=2)
