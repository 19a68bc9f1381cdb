/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A soft real-time program, such as a media player: twenty threads that sleep most of the time, and
 * wake up to work for a fraction of a millisecond. In 12 s it uses about 0.4 s of CPU time, in some
 * thousands of calling contexts, of which most are rare. Each thread goes the same ways in each
 * run.
 *
 * usage: soft [SECONDS [THREADS]]
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum {
	FUNCTIONS = 64,
	WAYS = 4,
	DEEPEST = 4,
	KINDS = 5,
	WAKES = 10,
	PIECES = 4,
	MOST_THREADS = 64,
	TURNS = 9000
};
static double seconds = 12;

typedef void work(uint32_t *random, unsigned depth);
static work *const functions[FUNCTIONS];

static unsigned
choose(uint32_t *random, unsigned n)
{
	*random = *random * 1103515245 + 12345;
	return (*random >> 16) % n;
}

/* The first way is the usual one. */
static unsigned
way(uint32_t *random)
{
	unsigned n = choose(random, 100);
	return n < 60 ? 0 : n < 85 ? 1 : n < 96 ? 2 : 3;
}

static inline void
do_work(unsigned self, uint32_t *random, unsigned depth)
{
	for (volatile unsigned i = 0; i < TURNS; i++)
		;
	for (unsigned n = choose(random, 2) + 1; depth < DEEPEST && n; n--)
		functions[(self * WAYS + way(random) + depth) % FUNCTIONS](random, depth + 1);
}

#define FUNCTION(n)                                                                                \
	__attribute__((noipa)) static void f_##n(uint32_t *random, unsigned depth)                 \
	{                                                                                          \
		do_work(0##n, random, depth);                                                      \
	}
#define EIGHT(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7)
#define ALL(m)                                                                                     \
	EIGHT(m, 0)                                                                                \
	EIGHT(m, 1) EIGHT(m, 2) EIGHT(m, 3) EIGHT(m, 4) EIGHT(m, 5) EIGHT(m, 6) EIGHT(m, 7)
ALL(FUNCTION)
#define NAME(n) f_##n,
static work *const functions[FUNCTIONS] = {ALL(NAME)};

static void *
thread(void *arg)
{
	unsigned number = (unsigned)(uintptr_t)arg;
	uint32_t random = number * 7919 + 1;
	struct timespec next;
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (int i = 0; i < seconds * WAKES; i++) {
		for (unsigned piece = 0; piece < PIECES; piece++)
			functions[number % KINDS * PIECES + piece](&random, 0);
		long long ns = next.tv_nsec + 1000000000ll / WAKES;
		next.tv_sec += ns / 1000000000;
		next.tv_nsec = ns % 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
	return NULL;
}

int
main(int n, char **arguments)
{
	pthread_t threads[MOST_THREADS];
	unsigned many = n > 2 ? (unsigned)atoi(arguments[2]) : 20;
	if (n > 1)
		seconds = atof(arguments[1]);
	if (many > MOST_THREADS)
		many = MOST_THREADS;
	for (unsigned i = 0; i < many; i++)
		if (pthread_create(&threads[i], NULL, thread, (void *)(uintptr_t)i))
			return 1;
	for (unsigned i = 0; i < many; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
