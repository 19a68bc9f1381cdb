/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls leaf until it is interrupted, says a line ten times a second, and how often it has called.
 */
#include <signal.h>
#include <stdio.h>
#include <time.h>

static volatile sig_atomic_t ended;
static volatile long calls;

static void
on_end(int signo)
{
	(void)signo;
	ended = 1;
}

__attribute__((noinline, noclone)) static void
leaf(void)
{
	calls++;
}

static double
now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int
main(void)
{
	double next = 0;
	int lines = 0;
	signal(SIGINT, on_end);
	while (!ended) {
		for (int i = 0; i < 1000; i++)
			leaf();
		if (now() < next)
			continue;
		printf("line %d\n", lines++);
		fflush(stdout);
		next = now() + 0.1;
	}
	printf("calls %ld\n", calls);
	return 5;
}
