/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loops whose entries and iterations are known. Those of functions called f_* do at least one
 * iteration and look at their end whether there is another, so that a compiler has no reason to
 * test before them. With the argument `kill` it kills itself in the middle of a loop.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define HIDDEN __attribute__((noinline, noclone))

static volatile unsigned sink;
static jmp_buf back;

/* Nested, the inner one's iterations depend on the outer one's. */
HIDDEN void
f_nested(unsigned n)
{
	unsigned i = 1;
	do {
		unsigned j = 0;
		do
			sink += j;
		while (++j < i);
	} while (++i <= n);
}

/* Left from the middle. */
HIDDEN void
f_breaks(unsigned until)
{
	unsigned i = 0;
	do {
		if (i == until)
			break;
		sink += i;
	} while (++i < 1000);
}

HIDDEN void
f_goes(unsigned n)
{
	unsigned i = 0, j;
	do {
		j = 0;
		do {
			if (i + j == n)
				goto out;
			sink += j;
		} while (++j < 4);
	} while (++i < 1000);
out:
	sink += i;
}

HIDDEN void
f_jumps(unsigned until)
{
	unsigned i = 0;
	do {
		sink += i;
		if (i == until)
			longjmp(back, 1);
	} while (++i < 1000);
}

HIDDEN void
f_catches(unsigned until)
{
	if (!setjmp(back))
		f_jumps(until);
}

/* One iteration each time, but the last. */
HIDDEN void
f_once(unsigned n)
{
	unsigned i = 0;
	do
		sink += i;
	while (++i < n);
}

/* Calls itself from within the loop: each activation has an entry of its own. */
HIDDEN void
f_recurs(unsigned n)
{
	unsigned i = 0;
	do {
		sink += i;
		if (i == 1 && n > 1)
			f_recurs(n - 1);
	} while (++i < n + 2);
}

/* And behind it. */
HIDDEN void
f_sorts(unsigned n)
{
	unsigned i = 0;
	do
		sink += i;
	while (++i < n);
	if (n > 1)
		f_sorts(n / 2);
}

HIDDEN void
f_thread(unsigned n)
{
	unsigned i = 0;
	do
		sink = i;
	while (++i < n);
}

static void *
thread(void *n)
{
	f_thread(*(unsigned *)n);
	f_thread(2 * *(unsigned *)n);
	return NULL;
}

/* Two at once, each on a stack of its own. */
static ucontext_t main_context, contexts[2];

HIDDEN void
f_yields(unsigned n, unsigned mine)
{
	unsigned i = 0;
	do {
		sink = i;
		swapcontext(&contexts[mine], &contexts[!mine]);
	} while (++i < n);
}

static void
yield(unsigned mine)
{
	f_yields(mine ? 3 : 7, mine);
	if (mine)
		f_yields(2, mine);
	for (;;)
		swapcontext(&contexts[mine], mine ? &contexts[0] : &main_context);
}

static void
two_stacks(void)
{
	static char stacks[2][1 << 16];
	for (unsigned i = 0; i < 2; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = stacks[i];
		contexts[i].uc_stack.ss_size = sizeof stacks[i];
		makecontext(&contexts[i], (void (*)(void))yield, 1, i);
	}
	swapcontext(&main_context, &contexts[0]);
}

HIDDEN void
f_killed(unsigned n)
{
	unsigned i = 0;
	do {
		sink += i;
		if (i == n)
			kill(getpid(), SIGKILL);
	} while (++i < 1000);
}

int
main(int argc, char **argv)
{
	unsigned ten = 10, three = 3;
	pthread_t other;
	f_nested(4);
	f_nested(9);
	f_breaks(3);
	f_breaks(0);
	f_breaks(2000);
	f_goes(5);
	f_catches(6);
	f_catches(0);
	f_once(1);
	f_once(1);
	f_once(1);
	f_once(2);
	f_recurs(3);
	f_sorts(16);
	f_thread(three);
	if (pthread_create(&other, NULL, thread, &ten))
		return 1;
	pthread_join(other, NULL);
	two_stacks();
	if (argc > 1 && !strcmp(argv[1], "kill")) {
		f_killed(2000);
		f_killed(41);
	}
	return 0;
}
