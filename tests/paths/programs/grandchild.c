/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A child's child is in what its parent's parent was in. */
#include "hazard.h"

#include <sys/wait.h>
#include <unistd.h>

NOIPA static void
f_leaf(void)
{
	DONE;
}

NOIPA static void
f_forks(int deeper)
{
	if (fork() != 0) {
		wait(NULL);
		return;
	}
	if (deeper)
		f_forks(0);
	else
		f_leaf();
	_exit(0);
}

int
main(void)
{
	f_forks(1);
	return 0;
}
