/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that says how well it serves: units of work per second of its CPU time, so that other
 * programs on the machine hardly matter. served SECONDS LOG: a line "rate N" for each tenth of a
 * second of CPU time; and in the slot "served.PID" of strobe/qos.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <strobe/qos.h>
#include <time.h>

__attribute__((noinline)) static unsigned long
work(unsigned long x)
{
	for (long i = 0; i < 20000; i++)
		x = x & 1 ? x * 3 + 1 : x / 2 + (unsigned long)i;
	return x;
}

static double
cpu_time(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int
main(int argc, char **argv)
{
	const double tick = 0.1;
	struct strobe_qos slot = STROBE_QOS("served");
	double seconds = argc > 1 ? atof(argv[1]) : 1, begin = cpu_time(), since = begin;
	FILE *log = argc > 2 ? fopen(argv[2], "a") : stdout;
	unsigned long units = 0, x = 7;
	if (argc > 3)
		slot.name = argv[3];
	while (log && since - begin < seconds) {
		x = work(x);
		units++;
		strobe_qos_count(&slot, 1);
		double now = cpu_time();
		if (now - since < tick)
			continue;
		fprintf(log, "rate %.1f per second\n", (double)units / (now - since));
		fflush(log);
		units = 0;
		since = now;
	}
	return !log || x == 0;
}
