/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A signal is handled, and then there is no system call any more for a long time. */
#include <signal.h>
#include <stdio.h>

static volatile sig_atomic_t signals;

static void
on_signal(int signo)
{
	(void)signo;
	signals++;
}

int
main(void)
{
	unsigned long x = 7;
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	for (unsigned long i = 0; i < 300000000; i++)
		x = x & 1 ? x * 3 + 1 : x / 2 + i;
	printf("%lx %d done\n", x, (int)signals);
	return 0;
}
