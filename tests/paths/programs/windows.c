/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Under a budget: goes back and forth between its own code, where it makes system calls, and that
 * which counts. */
#include "hazard.h"

#include <sys/syscall.h>
#include <unistd.h>

enum { TIMES = 3000000, CALLS = 1000 };

NOIPA static void
f_a(void)
{
	DONE;
}

int
main(void)
{
	for (int i = 0; i < TIMES; i++) {
		f_a();
		if (i % CALLS == 0)
			syscall(SYS_getppid);
	}
	return 0;
}
