/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls of which the number is known, and times that are known: "calls.c" of test_trace.py. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CALLED __attribute__((noinline, noipa))

static jmp_buf landing;
static volatile sig_atomic_t asked_to_end;
static atomic_int wrong;

static inline __attribute__((always_inline)) double
now_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* Works so long by its own clock. */
CALLED static void
t_spin(double us)
{
	const double end = now_us() + us;
	while (now_us() < end)
		;
}

CALLED static void
t_level5(void)
{
	t_spin(2000);
}
CALLED static void
t_level4(void)
{
	t_spin(2000);
	t_level5();
}
CALLED static void
t_level3(void)
{
	t_spin(2000);
	t_level4();
}
CALLED static void
t_level2(void)
{
	t_spin(2000);
	t_level3();
}
CALLED static void
t_level1(void)
{
	t_spin(2000);
	t_level2();
}

CALLED static int
t_fib(int n)
{
	return n < 2 ? n : t_fib(n - 1) + t_fib(n - 2);
}

CALLED static void
t_jumps(int depth)
{
	if (!depth)
		longjmp(landing, 1);
	t_jumps(depth - 1);
}

CALLED static void
t_lands(void)
{
	if (!setjmp(landing))
		t_jumps(2);
}

/* Is left while it waits for what it has called, which has worked. */
CALLED static void
t_outer(void)
{
	t_spin(20000);
	longjmp(landing, 1);
}

CALLED static void
t_catches(void)
{
	if (!setjmp(landing))
		t_outer();
}

CALLED static void *
t_thread(void *arg)
{
	t_fib(5);
	return arg;
}

CALLED static int
t_deep(int n)
{
	return n ? t_deep(n - 1) + 1 : 0;
}

CALLED static void
t_part(void)
{
	t_spin(10);
}

/* Works itself, and in what it calls twice. */
CALLED static void
t_equal(void)
{
	t_spin(20);
	t_part();
	t_part();
}

CALLED static void
t_exits(void)
{
	exit(0);
}

CALLED static void
on_nap(void)
{
	nanosleep(&(struct timespec){0, 300000000}, NULL);
}

static void
on_end(int signo)
{
	(void)signo;
	asked_to_end = 1;
}

CALLED static void *
t_worker(void *arg)
{
	while (!asked_to_end)
		wrong += t_fib(15) != 610;
	return arg;
}

/* Until SIGUSR1 comes; then it says whether every result was right. */
static void
work_until_asked(pthread_t threads[3])
{
	signal(SIGUSR1, on_end);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, t_worker, NULL);
	puts("ready");
	fflush(stdout);
	t_worker(NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	puts(wrong ? "wrong" : "right");
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	pthread_t threads[3];
	if (!strcmp(what, "levels"))
		for (int i = 0; i < 5; i++)
			t_level1();
	if (!strcmp(what, "fib"))
		t_fib(15);
	for (int i = 0; i < 3 && !strcmp(what, "naps"); i++)
		on_nap();
	if (!strcmp(what, "many"))
		t_fib(27);
	if (!strcmp(what, "jumps"))
		for (int i = 0; i < 4; i++)
			t_lands();
	if (!strcmp(what, "left"))
		t_catches();
	if (!strcmp(what, "threads")) {
		for (int i = 0; i < 3; i++)
			pthread_create(&threads[i], NULL, t_thread, NULL);
		for (int i = 0; i < 3; i++)
			pthread_join(threads[i], NULL);
	}
	if (!strcmp(what, "equal"))
		for (int i = 0; i < 1000; i++)
			t_equal();
	if (!strcmp(what, "deep"))
		t_deep(100000);
	if (!strcmp(what, "deep100"))
		t_deep(99);
	if (!strcmp(what, "exits"))
		t_exits();
	if (!strcmp(what, "forever"))
		work_until_asked(threads);
	if (!strcmp(what, "waits"))
		for (;;)
			t_spin(1000);
	return 0;
}
