/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions that run before main and after it: at the root, or under the function that ends the
 * program.
 */
#include "hazard.h"

__attribute__((constructor)) NOIPA static void
f_constructor(void)
{
	DONE;
}

__attribute__((destructor)) NOIPA static void
f_destructor(void)
{
	DONE;
}

NOIPA static void
f_at_exit(void)
{
	DONE;
}

NOIPA static void
f_quits(void)
{
	exit(0);
}

int
main(int argc, char **argv)
{
	(void)argv;
	if (atexit(f_at_exit))
		return 1;
	if (argc > 1)
		f_quits();
	return 0;
}
