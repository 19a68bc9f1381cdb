/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions inlined into one another, some twice, and one with a part that the compiler takes for
 * cold. */
#include <stdio.h>
#include <stdlib.h>

static inline __attribute__((always_inline)) int
innermost(int x)
{
	return x * x + 3;
}

static inline __attribute__((always_inline)) int
middle(int x)
{
	int sum = 0;
	for (int i = 0; i < x; i++)
		sum += innermost(i) ^ sum;
	return sum;
}

static inline __attribute__((always_inline)) int
outer(int x)
{
	return middle(x) + innermost(x + 1);
}

__attribute__((cold, noinline)) static void
complain(int x)
{
	fprintf(stderr, "%d is out of range\n", x);
}

__attribute__((noinline)) int
outermost(int x)
{
	if (__builtin_expect(x > 1000000, 0)) {
		complain(x);
		complain(innermost(x));
		abort();
	}
	return outer(x) + middle(x + 5);
}

int
main(int argc, char **argv)
{
	(void)argv;
	return outermost(argc * 40) == 12345;
}
