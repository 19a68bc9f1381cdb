/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cold parts that run: of a global function, and of two local ones of the same name. */
#include "cold.h"

#include <stdio.h>

__attribute__((noinline)) void
seldom(const char *what, int x)
{
	printf("%s %d\n", what, x);
}

__attribute__((noinline)) int
global_part(int x)
{
	if (__builtin_expect(x > 30, 0)) {
		seldom("more than", x);
		seldom("or", x + 1);
		return x * 3;
	}
	return x + 1;
}

int
main(int argc, char **argv)
{
	(void)argv;
	int sum = 0;
	for (int i = 0; i < 40; i++)
		sum += global_part(i * argc);
	return (sum + one(7 * argc) + two(35 * argc)) == 7;
}
