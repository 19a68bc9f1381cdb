/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions whose law depends on a branch. Each line of output is what a call of the function does,
 * from its own counts: the name, the arguments, and how many steps it took. Compiled as C and as
 * C++. The comments name the lines for tests/features/test_branches.py.
 */
#include <stdio.h>
#include <stdlib.h>

static volatile unsigned sink;
static unsigned counted;

__attribute__((noinline)) static void
step(void)
{
	sink = sink + 1;
	counted++;
}

/* A regime by an if: quadratic above 40, linear up to it. */
__attribute__((noinline)) void
by_if(unsigned n)
{
	if (n > 40)                                  /* LINE: if */
		for (unsigned i = 0; i < n * n; i++) /* LINE: quadratic */
			step();
	else
		for (unsigned i = 0; i < 7 * n; i++) /* LINE: linear */
			step();
}

/* A regime by a dense switch: compiled to a jump table. */
__attribute__((noinline)) void
by_switch(unsigned kind, unsigned n)
{
	unsigned steps = 0;
	switch (kind) { /* LINE: switch */
	case 0:
		steps = 3 * n; /* LINE: case 0 */
		step();
		break;
	case 1:
		steps = n * n; /* LINE: case 1 */
		step();
		step();
		break;
	case 2:
		steps = 11 * n + 40; /* LINE: case 2 */
		sink = sink + 5;
		break;
	case 3:
		steps = 100; /* LINE: case 3 */
		sink = sink * 3;
		break;
	case 4:
		steps = 2 * n; /* LINE: case 4 */
		sink = sink ^ 9;
		break;
	case 5:
		steps = 5 * n; /* LINE: case 5 */
		sink = sink - 1;
		break;
	case 6:
		steps = n * n / 2; /* LINE: case 6 */
		sink = sink + 77;
		break;
	case 7:
		steps = 8 * n; /* LINE: case 7 */
		sink = sink | 1;
		break;
	}
	while (steps--) /* LINE: steps */
		step();
}

/* A loop: its branch goes one way n times, and the other way once. */
__attribute__((noinline)) void
loops(unsigned n)
{
	for (unsigned i = 0; i < n; i++) /* LINE: loop */
		step();
}

/* Neither argument says which way it goes. */
__attribute__((noinline)) void
hidden(unsigned n)
{
	static unsigned calls;
	if (calls++ * 2654435761u >> 30 == 0)         /* LINE: hidden */
		for (unsigned i = 0; i < 20 * n; i++) /* LINE: slow */
			step();
	else
		for (unsigned i = 0; i < n; i++) /* LINE: fast */
			step();
}

__attribute__((noinline)) void
nested(unsigned depth)
{
	step();
	if (depth) /* LINE: deeper */
		nested(depth - 1);
	step();
}

static void
say(const char *name, unsigned a, unsigned b, unsigned before)
{
	printf("%s %u %u %u\n", name, a, b, counted - before);
}

int
main(void)
{
	for (unsigned n = 1; n <= 80; n++) {
		unsigned before = counted;
		by_if(n);
		say("by_if", n, 0, before);
		before = counted;
		loops(n);
		say("loops", n, 0, before);
	}
	for (unsigned n = 1; n <= 30; n++)
		for (unsigned kind = 0; kind < 8; kind++) {
			const unsigned before = counted;
			by_switch(kind, n);
			say("by_switch", kind, n, before);
		}
	for (unsigned i = 0; i < 240; i++) {
		const unsigned before = counted;
		hidden(10 + i % 60);
		say("hidden", 10 + i % 60, 0, before);
	}
	const unsigned before = counted;
	nested(20);
	say("nested", 20, 0, before);
	return 0;
}
