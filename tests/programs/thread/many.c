/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A thousand threads one after the other, a thousand alive at once, and threads that create
 * threads: each works on its own thread variables and the sums must be right.
 */
/* strobe-test: */
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>

#define COUNT 1000

static _Thread_local uint64_t own = 7, zeroed;
static atomic_long finished;
static atomic_int arrived;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t go = PTHREAD_COND_INITIALIZER;
static int released;

static uint64_t
work(uint64_t n)
{
	CHECK(own == 7 && zeroed == 0, "thread variables are not fresh");
	for (uint64_t i = 0; i < 100; i++) {
		own = own * 31 + n;
		zeroed += i;
	}
	CHECK_EQ(zeroed, 4950);
	return own;
}

static void *
alone(void *arg)
{
	uint64_t result = work((uint64_t)(uintptr_t)arg);

	finished++;
	return (void *)(uintptr_t)result;
}

static void *
together(void *arg)
{
	pthread_mutex_lock(&lock);
	arrived++;
	while (!released)
		pthread_cond_wait(&go, &lock);
	pthread_mutex_unlock(&lock);
	return alone(arg);
}

static void *
spawning(void *arg)
{
	pthread_t below[2];
	long depth = (long)arg;

	if (depth) {
		for (int i = 0; i < 2; i++)
			CHECK(!pthread_create(&below[i], NULL, spawning, (void *)(depth - 1)),
			      "thread");
		for (int i = 0; i < 2; i++)
			pthread_join(below[i], NULL);
	}
	return alone(arg);
}

static void
join(pthread_t thread, uint64_t n)
{
	void *result;
	uint64_t expected = 7;

	pthread_join(thread, &result);
	for (int i = 0; i < 100; i++)
		expected = expected * 31 + n;
	CHECK_EQ((uintptr_t)result, expected);
}

int
main(void)
{
	static pthread_t threads[COUNT];
	pthread_attr_t small;

	for (uintptr_t i = 0; i < COUNT; i++) {
		CHECK(!pthread_create(&threads[0], NULL, alone, (void *)i), "thread %lu", i);
		join(threads[0], i);
	}
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (uintptr_t i = 0; i < COUNT; i++)
		CHECK(!pthread_create(&threads[i], &small, together, (void *)i), "thread %lu", i);
	pthread_mutex_lock(&lock);
	released = 1;
	pthread_cond_broadcast(&go);
	pthread_mutex_unlock(&lock);
	for (uintptr_t i = 0; i < COUNT; i++)
		join(threads[i], i);
	CHECK_EQ(finished, 2 * COUNT);
	CHECK(!pthread_create(&threads[0], NULL, spawning, (void *)7), "thread");
	pthread_join(threads[0], NULL);
	printf("%ld threads did their work\n", finished);
	return 0;
}
