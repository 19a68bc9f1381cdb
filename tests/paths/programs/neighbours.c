/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stacks that touch: a thread's own in the middle, a coroutine's right below it and another's right
 * above. Where one ends nobody says, and switches from each to each keep their contexts.
 */
#include "hazard.h"

#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { SIZE = 1 << 18, ROUNDS = 3 };

static char *area;
static ucontext_t own, below, above;

NOIPA static void
f_leaf(void)
{
	DONE;
}

NOIPA static void
f_to(ucontext_t *from, ucontext_t *to)
{
	f_leaf();
	swapcontext(from, to);
	f_leaf();
	DONE;
}

NOIPA static void
f_above(void)
{
	for (;;)
		f_to(&above, &below);
}

NOIPA static void
f_below(void)
{
	for (;;)
		f_to(&below, &own);
}

NOIPA static void
f_after(void)
{
	DONE;
}

NOIPA static void *
f_thread(void *value)
{
	for (int i = 0; i < ROUNDS; i++) {
		f_to(&own, &above);
		f_after();
	}
	return value;
}

static int
prepare(ucontext_t *context, char *stack, void (*first)(void))
{
	if (getcontext(context))
		return 1;
	context->uc_stack.ss_sp = stack;
	context->uc_stack.ss_size = SIZE;
	makecontext(context, first, 0);
	return 0;
}

int
main(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	area = mmap(NULL, 3 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED || prepare(&below, area, f_below) ||
	    prepare(&above, area + 2 * SIZE, f_above) || pthread_attr_init(&attributes) ||
	    pthread_attr_setstack(&attributes, area + SIZE, SIZE))
		return 1;
	return pthread_create(&thread, &attributes, f_thread, area) || pthread_join(thread, NULL);
}
