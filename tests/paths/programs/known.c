/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions that take so long that it pays not to follow them when all that they call is known, and
 * leave, or are left, in every way. After each of them main calls f_after: its context is true only
 * if it is known where the program is. With the argument "new" f_calls calls what it has not called
 * before; with "once" main calls it once, and nothing else.
 */
#include "hazard.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { ROUNDS = 64, SPINS = 100000, STACK = 1 << 16 };

static bool news;
static jmp_buf outside;
static ucontext_t home, other;
static char stack[STACK];

NOIPA static void
f_after(void)
{
	DONE;
}

NOIPA static void
f_leaf(void)
{
	for (volatile int i = 0; i < SPINS; i++)
		;
	DONE;
}

NOIPA static void
f_new(void)
{
	DONE;
}

NOIPA static void
f_calls(void)
{
	f_leaf();
	if (news)
		f_new();
	DONE;
}

NOIPA static void
f_recurses(int n)
{
	if (n)
		f_recurses(n - 1);
	else
		f_leaf();
	DONE;
}

NOIPA static void
f_target(void)
{
	f_leaf();
	DONE;
}

NOIPA static void
f_tail(void)
{
	f_leaf();
	f_target();
}

NOIPA static void
f_throws(void)
{
	f_leaf();
	longjmp(outside, 1);
}

NOIPA static void
f_between(void)
{
	f_throws();
	DONE;
}

NOIPA static void
f_jumps(void)
{
	f_between();
	DONE;
}

NOIPA static void
f_handler(int signo)
{
	(void)signo;
	f_leaf();
	DONE;
}

NOIPA static void
f_signalled(void)
{
	f_leaf();
	raise(SIGUSR1);
	DONE;
}

NOIPA static void
f_child(void)
{
	f_leaf();
	DONE;
}

NOIPA static void
f_forks(void)
{
	f_leaf();
	pid_t pid = fork();
	if (!pid) {
		f_child();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	DONE;
}

NOIPA static void
f_coroutine(void)
{
	for (;;) {
		f_leaf();
		swapcontext(&other, &home);
	}
}

NOIPA static void
f_switches(void)
{
	f_leaf();
	swapcontext(&home, &other);
	DONE;
}

static void *
f_thread(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		f_calls();
		f_after();
	}
	return arg;
}

static void
prepare(int n, char **arguments)
{
	news = n > 1 && !strcmp(arguments[1], "new");
	signal(SIGUSR1, f_handler);
	getcontext(&other);
	other.uc_stack.ss_sp = stack;
	other.uc_stack.ss_size = sizeof stack;
	makecontext(&other, f_coroutine, 0);
}

int
main(int n, char **arguments)
{
	pthread_t thread;
	volatile int i;
	prepare(n, arguments);
	if (n > 1 && !strcmp(arguments[1], "once")) {
		f_calls();
		f_after();
		return 0;
	}
	pthread_create(&thread, NULL, f_thread, NULL);
	for (i = 0; i < ROUNDS; i++) {
		f_calls();
		f_after();
		f_recurses(3);
		f_after();
		f_tail();
		f_after();
		f_signalled();
		f_after();
		f_switches();
		f_after();
		if (i % 8 == 0)
			f_forks();
		f_after();
		if (!setjmp(outside))
			f_jumps();
		f_after();
	}
	pthread_join(thread, NULL);
	return 0;
}
