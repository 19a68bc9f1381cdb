/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code on the stack: gcc's trampolines for nested functions, which live in frames and change with
 * them, recursively.
 */
/* strobe-test: */
#include "code/emit.h"

typedef int callback(int);

__attribute__((noinline)) static int
apply(callback *f, int x)
{
	return f(x);
}

__attribute__((noinline)) static int
outer(int depth, int a)
{
	int calls = 0;
	int inner(int x)
	{
		calls++;
		return x * a + depth;
	}
	int sum = 0;

	for (int i = 0; i < 5; i++)
		sum += apply(inner, i);
	CHECK_EQ(calls, 5);
	CHECK_EQ(sum, 10 * a + 5 * depth);
	if (depth)
		sum += outer(depth - 1, a + 1);
	sum += apply(inner, 1);
	return sum;
}

int
main(void)
{
	long total = 0;

	for (int i = 0; i < 200; i++)
		total += outer(i % 20, i);
	printf("trampolines on the stack: %ld\n", total);
	return 0;
}
