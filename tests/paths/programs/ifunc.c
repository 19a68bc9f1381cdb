/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A function that is chosen when the program is loaded stands under its callers, like any other. */
#include "hazard.h"

NOIPA static int
f_chosen(int n)
{
	return n + 1;
}

/* Run by the loader, before there is any of libc. */
static int (*choose(void))(int)
{
	return f_chosen;
}

int f_indirect(int n) __attribute__((ifunc("choose")));

NOIPA static int
f_caller(int n)
{
	n = f_indirect(n);
	return f_indirect(n) + 1;
}

int
main(void)
{
	int n = f_caller(0) + f_caller(0);
	return f_indirect(n) == 7 ? 0 : 1;
}
