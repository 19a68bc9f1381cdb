/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Three coroutines whose stacks lie in one area: what each calls stands in its own context,
 * whoever went on with it. The first function of each stands under the function that switched to
 * it first, or at the root.
 */
#include "hazard.h"

#include <ucontext.h>

enum { STACK = 1 << 16 };

static ucontext_t back, context[3];
static int now;

NOIPA static void
f_after(void)
{
	DONE;
}

NOIPA static void
f_b(void)
{
	DONE;
}

NOIPA static void
f_a(void)
{
	for (;;) {
		f_b();
		swapcontext(&context[now], &back);
	}
}

NOIPA static void
f_c(void)
{
	f_a();
	DONE;
}

NOIPA static void
f_one(void)
{
	f_a();
	DONE;
}

NOIPA static void
f_two(void)
{
	f_a();
	DONE;
}

NOIPA static void
f_three(void)
{
	f_c();
	DONE;
}

NOIPA static void
f_round(void)
{
	for (now = 0; now < 3; now++)
		swapcontext(&back, &context[now]);
}

int
main(void)
{
	static void (*const first[])(void) = {f_one, f_two, f_three};
	char *area = malloc(3 * STACK);

	for (int i = 0; i < 3; i++) {
		if (!area || getcontext(&context[i]))
			return 1;
		context[i].uc_stack.ss_sp = area + i * STACK;
		context[i].uc_stack.ss_size = STACK;
		makecontext(&context[i], first[i], 0);
	}
	for (int i = 0; i < 3; i++) {
		f_round();
		f_after();
	}
	free(area);
	return 0;
}
