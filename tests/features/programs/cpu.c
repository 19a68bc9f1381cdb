/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that need hardly any CPU time, and the cost of a reading of the thread's clock in ns,
 * which is measured at the same time. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TARGET __attribute__((noinline, noclone))

enum { ROUNDS = 1001, NESTED = 20 };

static long readings[ROUNDS];

TARGET void
empty(int n)
{
	__asm__ volatile("" : : "r"(n) : "memory");
}

TARGET void
nested(int n)
{
	__asm__ volatile("" : : "r"(n) : "memory");
}

TARGET void
around(int n)
{
	for (int i = 0; i < NESTED; i++)
		nested(n);
}

/* Works for at least that many ns of CPU time, by its own readings. */
TARGET long
works(long ns)
{
	struct timespec a, b;
	long taken = 0;
	syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &a);
	while (taken < ns) {
		syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &b);
		taken = (b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec;
	}
	return taken;
}

static int
order(const void *a, const void *b)
{
	const long x = *(const long *)a, y = *(const long *)b;
	return (x > y) - (x < y);
}

int
main(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		empty(i);
		around(i);
		readings[i] = works(1);
	}
	qsort(readings, ROUNDS, sizeof *readings, order);
	printf("%ld\n", readings[ROUNDS / 2]);
	for (int i = 1; i <= 5; i++)
		works(i * 1000000l);
}
