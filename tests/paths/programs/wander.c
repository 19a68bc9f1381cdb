/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wanders through its calls, always the same way: for a budget's windows, that begin anywhere. */
#include "hazard.h"

#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

enum { DEEPEST = 12, STEPS = 60000, STACK = 1 << 16, COROUTINES = 3 };

static unsigned state = 1;
static jmp_buf there;
static ucontext_t back, context[COROUTINES];
static int now, inside;

static unsigned
choose(unsigned n)
{
	state = state * 1103515245 + 12345;
	return (state >> 16) % n;
}

NOIPA static void
f_works(unsigned n)
{
	for (volatile unsigned i = 0; i < n; i++)
		;
}

NOIPA static void f_steps(unsigned depth);

NOIPA static void
f_one(unsigned depth)
{
	f_works(40);
	f_steps(depth);
	DONE;
}

NOIPA static void
f_two(unsigned depth)
{
	f_steps(depth);
	f_steps(depth + 1);
	DONE;
}

/* A tail call, where the compiler makes one of it. */
NOIPA static void
f_jumps(unsigned depth)
{
	f_one(depth + 1);
}

NOIPA static void
f_handler(int number)
{
	f_works((unsigned)number * 4);
}

NOIPA static void
f_signals(unsigned depth)
{
	raise(SIGUSR1);
	f_works(depth);
}

NOIPA static void
f_leaves(void)
{
	f_works(20);
	longjmp(there, 1);
}

NOIPA static void
f_steps(unsigned depth)
{
	if (depth >= DEEPEST)
		return;
	switch (choose(7)) {
	case 0:
		f_one(depth + 1);
		break;
	case 1:
		f_two(depth + 1);
		break;
	case 2:
		f_jumps(depth);
		break;
	case 3:
		if (depth > 6)
			f_signals(depth);
		break;
	case 4:
		if (!inside && depth > 9)
			f_leaves();
		break;
	default:
		f_works(100);
	}
	DONE;
}

NOIPA static void
f_yields(void)
{
	f_works(200);
	swapcontext(&context[now], &back);
	DONE;
}

NOIPA static void
f_coroutine(int number)
{
	for (int i = 0;; i++) {
		f_works(300);
		if (i % (number + 2) == 0)
			f_yields();
		f_steps(DEEPEST - 2);
	}
}

NOIPA static void
f_switches(void)
{
	inside = 1;
	swapcontext(&back, &context[now]);
	inside = 0;
	DONE;
}

/* With an argument it goes the same ways again and again. */
int
main(int n, char **arguments)
{
	(void)arguments;
	static char stacks[COROUTINES][STACK];
	signal(SIGUSR1, f_handler);
	for (int i = 0; i < COROUTINES; i++) {
		getcontext(&context[i]);
		context[i].uc_stack.ss_sp = stacks[i];
		context[i].uc_stack.ss_size = STACK;
		makecontext(&context[i], (void (*)(void))f_coroutine, 1, i);
	}
	for (int i = 0; i<STEPS; i = n> 1 ? (i + 1) % COROUTINES : i + 1) {
		if (!setjmp(there))
			f_steps(0);
		now = i % COROUTINES;
		f_switches();
	}
	return 0;
}
