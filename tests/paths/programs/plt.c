/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls of a library through the PLT, its calls back, and the library's of itself: callees stand
 * under their callers, whether the name is found at the first call or before.
 */
#include "hazard.h"
#include "library.h"

NOIPA void
f_back(int n)
{
	f_inner(n);
	DONE;
}

NOIPA static void
f_caller(int n)
{
	f_library(f_back, n);
	f_library(f_back, n);
	DONE;
}

NOIPA static void
f_other(int n)
{
	f_library(f_back, n);
	DONE;
}

int
main(void)
{
	f_caller(1);
	f_other(2);
	f_caller(3);
	return 0;
}
