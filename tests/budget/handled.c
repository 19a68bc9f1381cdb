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

static unsigned long
work(unsigned long x, unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		x = x & 1 ? x * 3 + 1 : x / 2 + i;
	return x;
}

int
main(void)
{
	signal(SIGUSR1, on_signal);
	unsigned long x = work(7, 4000000); /* some ticks of the clock */
	raise(SIGUSR1);
	x = work(x, 300000000);
	printf("%lx %d done\n", x, (int)signals);
	return 0;
}
