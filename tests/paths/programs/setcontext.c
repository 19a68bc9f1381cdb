/* SPDX-License-Identifier: GPL-3.0-or-later */
/* setcontext back into a function that runs, three times. */
#include "hazard.h"

#include <ucontext.h>

static ucontext_t here;

NOIPA static void
f_after(void)
{
	DONE;
}

NOIPA static void
f_sets(void)
{
	setcontext(&here);
}

NOIPA static void
f_a(void)
{
	f_sets();
	DONE;
}

NOIPA static void
f_gets(void)
{
	volatile int turns = 0;

	if (getcontext(&here))
		return;
	if (turns++ < 3)
		f_a();
	f_after();
	DONE;
}

int
main(void)
{
	f_gets();
	f_after();
	return 0;
}
