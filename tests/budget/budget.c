/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work of which the same is done in each run, for test_budget.py: rounds of it, system calls
 * between them, and a signal now and then. Or, for a child that ends at once, a short life. */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t signals;

static void
on_signal(int signo)
{
	(void)signo;
	signals++;
}

__attribute__((noinline)) static unsigned long
work(unsigned long x, long n)
{
	for (long i = 0; i < n; i++)
		x = x & 1 ? x * 3 + 1 : x / 2 + (unsigned long)i;
	return x;
}

static void *
rounds(void *arg)
{
	unsigned long x = 7;
	for (long i = 0; i < (long)arg; i++) {
		x = work(x, 1000000);
		if (getppid() < 0)
			return NULL;
		raise(SIGUSR1);
	}
	return (void *)x;
}

__attribute__((noinline)) static void
finish(const char *text, unsigned long x)
{
	printf("%lx %s\n", x, text);
}

/* It has lent its memory to a child that went away when it is killed itself. */
static int
be_killed(void)
{
	pid_t child;
	char *none[] = {NULL};
	posix_spawn(&child, "/nowhere", NULL, NULL, none, none);
	return raise(SIGKILL);
}

/* Calls that are made very often; then a child looks whether its code is that of the beginning, and
 * makes them, too. */
static int
call_often(void)
{
	unsigned char code[16];
	const void *function = (const void *)getppid;
	memcpy(code, function, sizeof code);
	for (int i = 0; i < 1000000; i++)
		if (getppid() < 0)
			return 1;
	pid_t child = fork();
	if (child == 0) {
		int changed = memcmp(code, function, sizeof code) != 0;
		_exit(changed || getppid() <= 0);
	}
	int status = 1;
	waitpid(child, &status, 0);
	finish(status ? "a child's code has changed" : "done", 0);
	return 0;
}

enum { PAGE = 4096, CALL_AT = PAGE / 2 };

/* A file in memory with a function that makes the call of this number. */
static int
caller_file(int number)
{
	static unsigned char page[PAGE];
	const unsigned char code[] = {0xb8, (unsigned char)number, 0, 0, 0, 0x0f, 0x05, 0xc3};
	memset(page, 0x90, sizeof page);
	memcpy(page + CALL_AT, code, sizeof code);
	int fd = memfd_create("caller", 0);
	return write(fd, page, sizeof page) == (ssize_t)sizeof page ? fd : -1;
}

/* What the last of many calls returns. */
static int
called_often(unsigned char *page)
{
	int (*call)(void) = NULL;
	const void *at = page + CALL_AT;
	memcpy(&call, &at, sizeof call);
	int last = 0;
	for (int i = 0; i < 300000; i++)
		last = call();
	return last;
}

/* A call that is made very often becomes another one: it is written over, its file is mapped over
 * it, and its memory goes and comes again. */
static int
call_changed(void)
{
	enum { RX = PROT_READ | PROT_EXEC };
	int parent = caller_file(SYS_getppid), self = caller_file(SYS_getpid);
	unsigned char *page = mmap(NULL, PAGE, RX, MAP_PRIVATE, parent, 0);
	int right = called_often(page) == getppid();
	mprotect(page, PAGE, PROT_READ | PROT_WRITE);
	page[CALL_AT + 1] = SYS_getpid;
	mprotect(page, PAGE, RX);
	right += called_often(page) == getpid();
	mmap(page, PAGE, RX, MAP_PRIVATE | MAP_FIXED, parent, 0);
	right += called_often(page) == getppid();
	mmap(page, PAGE, RX, MAP_PRIVATE | MAP_FIXED, self, 0);
	right += called_often(page) == getpid();
	munmap(page, PAGE);
	mmap(page, PAGE, RX, MAP_PRIVATE | MAP_FIXED, parent, 0);
	right += called_often(page) == getppid();
	finish(right == 5 ? "done" : "calls are others", 0);
	return 0;
}

/* 50 us of work, 50 us of sleep. */
static int
sleep_often(void)
{
	const struct timespec nap = {.tv_nsec = 50000};
	unsigned long x = 7;
	for (int i = 0; i < 4000; i++) {
		x = work(x, 20000);
		nanosleep(&nap, NULL);
	}
	finish("done", x);
	return 0;
}

struct pipes {
	int wake[2], woken[2];
};

static void *
wait_for_byte(void *arg)
{
	const struct pipes *p = arg;
	char byte;
	bool right = read(p->wake[0], &byte, 1) == 1;
	return write(p->woken[1], &byte, 1) == 1 && right ? arg : NULL;
}

/* Many threads that do nothing, while there is work. They wake one after the other: all at once
 * would use all of a budget that they share. */
static int
be_among_sleepers(void)
{
	enum { MANY = 300 };
	static pthread_t thread[MANY];
	struct pipes p;
	int awake = 0;
	char byte = 0;
	if (pipe(p.wake) || pipe(p.woken))
		return 1;
	for (int i = 0; i < MANY; i++)
		pthread_create(&thread[i], NULL, wait_for_byte, &p);
	unsigned long x = work(7, 30000000);
	for (int i = 0; i < MANY; i++)
		if (write(p.wake[1], &byte, 1) != 1 || read(p.woken[0], &byte, 1) != 1)
			return 1;
	for (int i = 0; i < MANY; i++) {
		void *woken;
		pthread_join(thread[i], &woken);
		awake += woken != NULL;
	}
	finish(awake == MANY ? "done" : "some slept on", x);
	return 0;
}

static void *
play(void *arg)
{
	const struct timespec nap = {.tv_nsec = 50000000};
	unsigned long x = (unsigned long)arg;
	for (int i = 0; i < 20; i++) {
		nanosleep(&nap, NULL);
		x = work(x, 5000);
	}
	return (void *)x;
}

/* Several threads that work for some microseconds now and then, in time. */
static int
play_in_time(void)
{
	enum { PLAYERS = 4 };
	pthread_t thread[PLAYERS];
	unsigned long sum = 0;
	for (unsigned long i = 0; i < PLAYERS; i++)
		pthread_create(&thread[i], NULL, play, (void *)i);
	for (int i = 0; i < PLAYERS; i++) {
		void *x;
		pthread_join(thread[i], &x);
		sum += (unsigned long)x;
	}
	finish("done", sum);
	return 0;
}

/* The same in a fork's child. */
static int
play_as_child(void)
{
	int status;
	pid_t child = fork();
	if (!child)
		exit(play_in_time());
	return waitpid(child, &status, 0) != child || status;
}

__attribute__((noinline)) static void
seen_from_here(void)
{
	__asm__ volatile("");
}

__attribute__((noinline)) static void
seen_to_here(void)
{
	__asm__ volatile("");
}

/* Most of the work is done before a child borrows the memory and is seen at work. */
static int
lend(void)
{
	const unsigned long before = work(7, 100000000);
	if (!vfork()) {
		seen_from_here();
		work(before, 1000);
		seen_to_here();
		_exit(0);
	}
	unsigned long x = work(before, 20000000);
	seen_from_here();
	x = work(x, 1000);
	seen_to_here();
	finish("done", x);
	return 0;
}

/* budget ROUNDS [THREADS], budget loop, budget killed, budget calls, budget changed, budget sleeps,
 * budget sleepers, budget plays, budget child-plays, budget lends */
int
main(int argc, char **argv)
{
	if (!strcmp(argv[1], "killed"))
		return be_killed();
	if (!strcmp(argv[1], "calls"))
		return call_often();
	if (!strcmp(argv[1], "sleeps"))
		return sleep_often();
	if (!strcmp(argv[1], "sleepers"))
		return be_among_sleepers();
	if (!strcmp(argv[1], "changed"))
		return call_changed();
	if (!strcmp(argv[1], "plays"))
		return play_in_time();
	if (!strcmp(argv[1], "child-plays"))
		return play_as_child();
	if (!strcmp(argv[1], "lends"))
		return lend();
	if (!strcmp(argv[1], "loop")) {
		finish("done", work(7, 200000000));
		return 0;
	}
	long n = atol(argv[1]), threads = argc > 2 ? atol(argv[2]) : 0;
	pthread_t thread[16];
	void *x;
	signal(SIGUSR1, on_signal);
	for (long i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, rounds, (void *)n);
	for (long i = 0; i < threads; i++)
		pthread_join(thread[i], &x);
	if (!threads)
		x = rounds((void *)n);
	finish(threads || signals == n ? "done" : "signals are missing", (unsigned long)x);
	return 0;
}
