/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tail calls (compiled with them): the callee stands under the function that jumped; a loop of
 * jumps goes round in its nodes. The stack's view has them all under main.
 */
#include "hazard.h"

NOIPA int f_odd(int n);

NOIPA int
f_end(int n)
{
	return n;
}

NOIPA int
f_even(int n)
{
	return f_odd(n - 1);
}

NOIPA int
f_odd(int n)
{
	return n < 0 ? f_end(n) : f_even(n - 1);
}

NOIPA int
f_three(int n)
{
	return f_end(n + 1);
}

static int (*volatile indirect)(int) = f_three;

NOIPA int
f_two(int n)
{
	return indirect(n + 1);
}

NOIPA int
f_one(int n)
{
	return f_two(n + 1);
}

NOIPA int
f_after(int n)
{
	return n + 1;
}

int
main(void)
{
	int sum = f_even(100002);
	for (int i = 0; i < 2; i++)
		sum += f_one(i);
	sum += f_after(1);
	return sum == 8 ? 0 : 1;
}
