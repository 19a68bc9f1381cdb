/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A function with several callers, in two threads that meet after each round: the first thread is
 * the critical path. usage: targets [US_CRITICAL US_BESIDE [ROUNDS]] | targets alone, the CPU time
 * of a call by the first caller, and by the one in the other thread, or with "alone" in the same
 * thread. The third caller waits and needs no CPU time.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CALLED __attribute__((noinline, noipa))

static long us_critical = 8000, us_beside = 2000, rounds = 12;
static pthread_barrier_t barrier;
static volatile unsigned long sum;

static long
cpu_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

CALLED static void
work(long us)
{
	const long begin = cpu_us();
	while (cpu_us() - begin < us)
		for (int i = 0; i < 1000; i++)
			sum++;
}

CALLED static void
critical(void)
{
	work(us_critical);
	sum++;
}

CALLED static void
idle(void)
{
	const struct timespec t = {0, 1000000};
	work(0);
	nanosleep(&t, NULL);
}

CALLED static void
beside(void)
{
	work(us_beside);
	sum++;
}

static void *
other_thread(void *arg)
{
	for (long i = 0; i < rounds; i++) {
		beside();
		pthread_barrier_wait(&barrier);
	}
	return arg;
}

static int
alone(void)
{
	for (long i = 0; i < rounds; i++) {
		critical();
		idle();
		beside();
	}
	return 0;
}

int
main(int argc, char **argv)
{
	pthread_t thread;
	if (argc == 2 && !strcmp(argv[1], "alone"))
		return alone();
	if (argc > 2) {
		us_critical = atol(argv[1]);
		us_beside = atol(argv[2]);
	}
	if (argc > 3)
		rounds = atol(argv[3]);
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, other_thread, NULL);
	for (long i = 0; i < rounds; i++) {
		critical();
		idle();
		pthread_barrier_wait(&barrier);
	}
	pthread_join(thread, NULL);
	return 0;
}
