/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plain.h"

/* The same name as in plain.c, another function. */
static __attribute__((noinline)) int
local_twice(int x)
{
	int sum = 0;
	for (int i = 0; i < x; i++)
		sum += inlined_square(i) ^ sum;
	return sum;
}

int
other_file(int x)
{
	return local_twice(x + 40) + 1;
}
