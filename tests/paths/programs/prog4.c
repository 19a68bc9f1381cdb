/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A loop, and a recursion from the middle. IHPP's prog4 (listing 4.13). */
#include "hazard.h"

#include <stdio.h>

NOIPA static void
p(int n)
{
	printf("%d\n", n);
	DONE;
}

NOIPA static void
foo(int n)
{
	int i;

	if (n) {
		p(0);
		for (i = 0; i < 3; i++)
			p(1);
		foo(0);
	} else {
		p(2);
	}
	DONE;
}

int
main(void)
{
	foo(1);
	return 0;
}
