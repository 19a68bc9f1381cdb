/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A coroutine whose stack is unmapped while a call on it has not returned, by another one on a
 * stack below: that reads return addresses then, as unwinders do, and calls on.
 */
#include <execinfo.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#define CALLED __attribute__((noinline, noipa))
enum { STACK = 256 << 10 };

static ucontext_t first, upper, lower;
static char *stacks;

CALLED static int
t_add(int a, int b)
{
	return a + b;
}

CALLED static int
t_reads(void)
{
	void *frames[8];
	return backtrace(frames, 8) > 0;
}

CALLED static void
t_leaves(void)
{
	swapcontext(&upper, &lower);
	abort();
}

static void
on_upper(void)
{
	t_leaves();
}

CALLED static void
t_stays(void)
{
	t_reads(); /* loads a library: it is not to be mapped where the stack was */
	munmap(stacks + 2 * STACK, STACK);
	for (int i = 0; i < 1000; i++)
		if (!t_reads() || t_add(i, 1) != i + 1)
			abort();
}

static void
on_lower(void)
{
	t_stays();
	setcontext(&first);
}

static void
make_stack(ucontext_t *c, char *at, void (*begin)(void))
{
	getcontext(c);
	c->uc_stack.ss_sp = at;
	c->uc_stack.ss_size = STACK;
	makecontext(c, begin, 0);
}

int
main(void)
{
	volatile int is_back = 0;
	stacks = mmap(NULL, 3 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	make_stack(&lower, stacks, on_lower);
	make_stack(&upper, stacks + 2 * STACK, on_upper);
	getcontext(&first);
	if (!is_back) {
		is_back = 1;
		setcontext(&upper);
	}
	puts("done");
	return 0;
}
