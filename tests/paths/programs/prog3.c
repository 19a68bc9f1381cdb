/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two functions that call each other. IHPP's prog3 (listing 4.9). */
#include "hazard.h"

NOIPA void bar(int n);

NOIPA void
foo(int n)
{
	if (n)
		bar(n - 1);
	DONE;
}

NOIPA void
bar(int n)
{
	if (n)
		foo(n - 1);
	DONE;
}

int
main(void)
{
	foo(5);
	return 0;
}
