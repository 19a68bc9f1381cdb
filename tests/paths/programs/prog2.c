/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A function that calls itself. IHPP's prog2 (listing 4.6). */
#include "hazard.h"

NOIPA static void
bar(void)
{
	DONE;
}

NOIPA static void
recFunc(int n)
{
	if (!n)
		bar();
	else
		recFunc(n - 1);
	DONE;
}

NOIPA static void
foo(void)
{
	recFunc(5);
	DONE;
}

int
main(void)
{
	foo();
	return 0;
}
