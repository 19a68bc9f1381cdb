/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Locks between threads: mutexes, conditions, barriers, rwlocks, semaphores, spin locks, a futex
 * ping-pong, robust mutexes of threads that died, once, thread-specific data with destructors.
 */
/* strobe-test: */
#include "check.h"
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#define THREADS 4
#define ROUNDS 2000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static sem_t semaphore;
static long by_mutex, by_rwlock, by_spin, by_semaphore;
static atomic_long by_atomic;
static long phase[THREADS];
static pthread_key_t key;
static atomic_int destroyed, once_runs;

static void
on_destroy(void *value)
{
	CHECK((long)value > 0, "destructor got %p", value);
	destroyed++;
}

static void
once_only(void)
{
	once_runs++;
}

static void *
work(void *arg)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	long id = (long)arg;

	pthread_once(&once, once_only);
	pthread_setspecific(key, (void *)(id + 1));
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&mutex);
		by_mutex++;
		pthread_mutex_unlock(&mutex);
		pthread_rwlock_wrlock(&rwlock);
		by_rwlock++;
		pthread_rwlock_unlock(&rwlock);
		pthread_spin_lock(&spin);
		by_spin++;
		pthread_spin_unlock(&spin);
		sem_wait(&semaphore);
		by_semaphore++;
		sem_post(&semaphore);
		by_atomic++;
		if (i % 100 == 0) {
			phase[id]++;
			pthread_barrier_wait(&barrier);
			for (int t = 0; t < THREADS; t++)
				CHECK_EQ(phase[t], phase[id]);
			pthread_barrier_wait(&barrier);
		}
	}
	return NULL;
}

static _Atomic uint32_t turn;

static void *
ping_pong(void *arg)
{
	uint32_t mine = (uint32_t)(uintptr_t)arg;

	for (uint32_t i = 0; i < 3000; i++) {
		uint32_t now;
		while ((now = turn) % 2 != mine)
			syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, now, NULL, NULL, 0);
		turn++;
		syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	return NULL;
}

static void *
die_holding(void *m)
{
	pthread_mutex_lock(m);
	return NULL;
}

static void
robust(void)
{
	pthread_mutexattr_t attributes;
	pthread_mutex_t m;
	pthread_t t;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&m, &attributes);
	for (int i = 0; i < 50; i++) {
		CHECK(!pthread_create(&t, NULL, die_holding, &m), "thread");
		pthread_join(t, NULL);
		CHECK_EQ(pthread_mutex_lock(&m), EOWNERDEAD);
		pthread_mutex_consistent(&m);
		pthread_mutex_unlock(&m);
	}
}

int
main(void)
{
	pthread_t threads[THREADS];

	pthread_spin_init(&spin, 0);
	pthread_barrier_init(&barrier, NULL, THREADS);
	sem_init(&semaphore, 0, 1);
	pthread_key_create(&key, on_destroy);
	for (long i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, work, (void *)i), "thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK(by_mutex == THREADS * ROUNDS && by_rwlock == by_mutex && by_spin == by_mutex &&
	              by_semaphore == by_mutex && by_atomic == by_mutex,
	      "counts %ld %ld %ld %ld %ld", by_mutex, by_rwlock, by_spin, by_semaphore, by_atomic);
	CHECK(destroyed == THREADS && once_runs == 1, "destructors %d, once %d", destroyed,
	      once_runs);
	for (long i = 0; i < 2; i++)
		CHECK(!pthread_create(&threads[i], NULL, ping_pong, (void *)i), "thread");
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQ(turn, 6000);
	robust();
	puts("locks keep their promises");
	return 0;
}
