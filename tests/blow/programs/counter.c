/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program that measures its time by the time stamp counter. */
#include <x86intrin.h>

#define CALLED __attribute__((noinline, noipa))

static volatile unsigned long sum;

CALLED static unsigned long
read_counter(void)
{
	return __rdtsc();
}

CALLED static void
work(void)
{
	const unsigned long begin = read_counter();
	while (read_counter() - begin < 10000000)
		sum++;
}

int
main(void)
{
	work();
	return 0;
}
