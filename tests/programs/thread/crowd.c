/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * More threads at once than an engine has counters for: 4,300 are alive together, each of them goes
 * on where it was, and more come.
 */
/* strobe-test: tools=null,bbcount timeout=120 stress=threads */
#include "check.h"
#include <errno.h>
#include <pthread.h>

enum { THREADS = 4300 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int begun, done, go;

/* Threads are woken one after the other, so that few wait for the lock. */
static void *
wait_turn(void *number)
{
	long n = (long)number, sum = 0;

	pthread_mutex_lock(&lock);
	begun++;
	while (!go)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	for (long i = 0; i <= n; i++)
		sum += i;
	CHECK_EQ(sum, n * (n + 1) / 2);
	pthread_mutex_lock(&lock);
	done++;
	pthread_mutex_unlock(&lock);
	return NULL;
}

static int
alive(int *counter)
{
	pthread_mutex_lock(&lock);
	int n = *counter;
	pthread_mutex_unlock(&lock);
	return n;
}

int
main(void)
{
	static pthread_t threads[THREADS];
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 16384);
	for (long i = 0; i < THREADS; i++) {
		int error = pthread_create(&threads[i], &small, wait_turn, (void *)i);
		if (error) {
			fprintf(stderr, "thread %ld cannot be made: %s\n", i, strerror(error));
			return CHECK_SKIPPED;
		}
	}
	while (alive(&begun) < THREADS)
		usleep(1000);
	pthread_mutex_lock(&lock);
	go = 1;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_join(threads[i], NULL), "pthread_join");
	CHECK_EQ(alive(&done), THREADS);
	printf("%d threads at once\n", THREADS);
	return 0;
}
