/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the time of a call of a function with five features, in nanoseconds: recorded or not, the
 * difference is the cost of recording. usage: calls N */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double
now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

__attribute__((noinline, noipa)) void leaf(int a, unsigned long b, short c, unsigned char d,
                                           long e);

void
leaf(int a, unsigned long b, short c, unsigned char d, long e)
{
	(void)a, (void)b, (void)c, (void)d, (void)e;
	__asm__ volatile("nopl 8(%rax)\n\tnop");
}

int
main(int argc, char **argv)
{
	const long calls = argc > 1 ? atol(argv[1]) : 10000;
	const double begin = now_ns();
	for (long i = 0; i < calls; i++)
		leaf((int)i, 3ul * (unsigned long)i, (short)(i % 100), (unsigned char)(i % 7), -i);
	printf("%.3f\n", (now_ns() - begin) / (double)calls);
	return 0;
}
