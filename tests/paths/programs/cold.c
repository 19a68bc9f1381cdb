/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the compiler puts into f_hot.cold is f_hot's: no function of its own, and its callees stand
 * under f_hot.
 */
#include "hazard.h"

__attribute__((cold)) NOIPA static void
f_rare(int n)
{
	if (n < 0)
		abort();
	DONE;
}

NOIPA static int
f_hot(int n)
{
	if (__builtin_expect(n >= 3, 0)) {
		f_rare(n);
		f_hot(0);
		return 1;
	}
	DONE;
	return n;
}

int
main(void)
{
	for (int i = 2; i < 5; i++)
		f_hot(i);
	return 0;
}
