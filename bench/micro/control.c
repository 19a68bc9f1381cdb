/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A control loop: control HZ SECONDS WORK. At each beat it reads a sensor (work: that many steps of
 * arithmetic and a system call) and sleeps to the next one, of absolute time. A deadline is missed
 * when the work of a beat is not done before the next beat. Prints beats, missed deadlines, and by
 * how many microseconds it woke up late in 50 and 99 of 100 beats and at most; then how many beats
 * were late by less than 20 us, by 20 to 40, and so on, the last: by 400 and more.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { NS = 1000000000, CLASS = 20, CLASSES = 21 };

static volatile unsigned long sink;

static long
now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS + t.tv_nsec;
}

__attribute__((noinline)) static unsigned long
work(long n)
{
	unsigned long x = (unsigned long)getppid();
	for (long i = 0; i < n; i++)
		x = x & 1 ? x * 3 + 1 : x / 2 + (unsigned long)i;
	return x;
}

static int
compare(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;
	return (x > y) - (x < y);
}

/* late is in ascending order. */
static void
print_classes(const long *late, long n)
{
	long i = 0;
	for (long k = 1; k <= CLASSES; k++) {
		long first = i;
		while (i < n && (late[i] < k * CLASS || k == CLASSES))
			i++;
		printf(" %ld", i - first);
	}
	putchar('\n');
}

int
main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	long period = NS / atol(argv[1]), n = atol(argv[1]) * atol(argv[2]), steps = atol(argv[3]);
	long *late = calloc((size_t)n, sizeof *late), missed = 0;
	long beat = now() + period;
	for (long i = 0; late && i < n; i++, beat += period) {
		struct timespec t = {beat / NS, beat % NS};
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0)
			continue;
		late[i] = (now() - beat) / 1000;
		sink += work(steps);
		missed += now() > beat + period;
	}
	if (!late)
		return 1;
	qsort(late, (size_t)n, sizeof *late, compare);
	printf("%ld %ld %ld %ld %ld", n, missed, late[n / 2], late[n * 99 / 100], late[n - 1]);
	print_classes(late, n);
	return 0;
}
