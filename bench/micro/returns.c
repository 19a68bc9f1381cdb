/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls and returns and next to nothing else: the doubly recursive Fibonacci function. usage:
 * returns N ROUNDS */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline, optimize("no-optimize-sibling-calls", "no-inline"))) static unsigned
fib(unsigned n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int
main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 30;
	unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	unsigned long sum = 0;
	for (unsigned i = 0; i < rounds; i++)
		sum += fib(n - (i & 1));
	printf("%lu\n", sum);
	return 0;
}
