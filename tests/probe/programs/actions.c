/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls whose number and arguments are known: "actions.c" of test_actions.c. It prints by its own
 * clock how many ns the calls of each function took. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define CALLED __attribute__((noinline, noipa))

enum { CALLS = 200 };

static volatile uint64_t sum;

static uint64_t
now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

CALLED static void
a_before(void)
{
	sum++;
}

CALLED static void
a_sleeps(void)
{
	sum++;
}

CALLED static void
a_after(void)
{
	sum++;
}

CALLED static void
a_sleeps_after(void)
{
	sum++;
}

CALLED static void
n_waits(void)
{
	sum++;
}

CALLED static void
n_sleeps(void)
{
	sum++;
}

CALLED static void
n_yields(void)
{
	sum++;
}

CALLED static void
n_none(void)
{
	sum++;
}

CALLED static uint64_t
a_read(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g,
       uint64_t h)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

static void
time_calls(const char *name, void (*function)(void))
{
	const uint64_t begin = now_ns();
	for (int i = 0; i < CALLS; i++)
		function();
	printf("%s %llu\n", name, (unsigned long long)(now_ns() - begin));
}

static void *
reads(void *arg)
{
	uint64_t *wrong = arg;
	for (uint64_t i = 0; i < 1000; i++)
		*wrong +=
		        a_read(i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7) != 36 * i + 168;
	return NULL;
}

int
main(void)
{
	uint64_t wrong[2] = {0, 0};
	pthread_t thread;
	time_calls("a_before", a_before);
	time_calls("a_sleeps", a_sleeps);
	time_calls("a_after", a_after);
	time_calls("a_sleeps_after", a_sleeps_after);
	time_calls("n_waits", n_waits);
	time_calls("n_sleeps", n_sleeps);
	time_calls("n_yields", n_yields);
	time_calls("n_none", n_none);
	pthread_create(&thread, NULL, reads, &wrong[0]);
	reads(&wrong[1]);
	pthread_join(thread, NULL);
	printf("wrong %llu\n", (unsigned long long)(wrong[0] + wrong[1]));
	return 0;
}
