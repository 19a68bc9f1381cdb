/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a call of a function costs: calls it so often and prints the nanoseconds of a call. */
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

__attribute__((noinline, noipa)) void leaf(void);

void
leaf(void)
{
#ifdef BEGINS_WITH_PUSH /* which the kernel emulates where it has a probe */
	__asm__ volatile("push %rax\n\tpop %rax");
#else
	__asm__ volatile("nopl 8(%rax)\n\tnop"); /* 5 bytes, as nearly all functions have */
#endif
}

int
main(int argc, char **argv)
{
	const long calls = argc > 1 ? atol(argv[1]) : 10000000, warm = calls / 100;
	for (long i = 0; i < warm; i++)
		leaf();
	const double begin = now_ns();
	for (long i = 0; i < calls; i++)
		leaf();
	printf("%.3f\n", (now_ns() - begin) / (double)calls);
	return 0;
}
