/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of plt.c. */
#include "library.h"

#include "hazard.h"

NOIPA void
f_inner(int n)
{
	(void)n;
	DONE;
}

NOIPA void
f_library(void (*back)(int), int n)
{
	back(n);
	DONE;
}
