/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls work(n) for each number n of its input, a file or standard input, and exits with 3 after
 * the number 13; a number below 0 ends it by SIGABRT. The environment variable OUT names a file
 * that gets a line for each run. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__attribute__((noinline)) static long
work(long n)
{
	volatile long sum = 0;
	for (long i = 0; i < n; i++)
		sum += i;
	return sum;
}

static void
note_run(long n)
{
	const char *out = getenv("OUT");
	FILE *f = out ? fopen(out, "a") : NULL;
	if (!f)
		return;
	fprintf(f, "%ld\n", n);
	fclose(f);
}

int
main(int argc, char **argv)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	FILE *f = argc > 1 ? fopen(argv[1], "r") : stdin;
	int bad = 0;
	for (long n; f && fscanf(f, "%ld", &n) == 1;) {
		if (n < 0)
			abort();
		work(n);
		note_run(n);
		bad |= n == 13;
		nanosleep(&pause, NULL);
	}
	return bad ? 3 : 0;
}
