/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A function that calls itself. The seed's prog2. */
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
