/* SPDX-License-Identifier: GPL-3.0-or-later */
/* IHPP's prog6 (listing 4.22). */
#include "hazard.h"

NOIPA void bar(int n);

NOIPA static void
f3(void)
{
	DONE;
}

NOIPA static void
foo(void)
{
	bar(0);
	f3();
	bar(1);
	DONE;
}

NOIPA void
bar(int n)
{
	if (n)
		f3();
	DONE;
}

int
main(void)
{
	foo();
	return 0;
}
