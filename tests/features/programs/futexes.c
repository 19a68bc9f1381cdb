/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that wait for futexes themselves, for times of which lower bounds are known. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TARGET __attribute__((noinline, noclone))

static unsigned word, lock;

static struct timespec
span(long ms)
{
	return (struct timespec){ms / 1000, ms % 1000 * 1000000};
}

/* Nobody wakes it. */
static void
await_nobody(long ms)
{
	struct timespec limit = span(ms);
	if (ms)
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &limit, NULL, 0);
}

static void
nap(long ms)
{
	struct timespec left = span(ms);
	syscall(SYS_nanosleep, &left, NULL);
}

/* Waits twice, and sleeps in between. */
TARGET void
waits(int ms)
{
	await_nobody(ms);
	nap(ms);
	await_nobody(ms);
	syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* System calls that are no waits. */
TARGET void
sleeps(int ms)
{
	nap(ms);
	syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	syscall(SYS_getpid);
}

/* In place of the C library's. */
TARGET int
pthread_spin_lock(pthread_spinlock_t *spin)
{
	await_nobody((long)*spin);
	return 0;
}

/* The wait is within another one, and counts once. */
TARGET void
nested(int ms)
{
	pthread_spinlock_t spin = ms;
	pthread_spin_lock(&spin);
	nap(ms);
}

static void
take(void)
{
	unsigned is = __sync_val_compare_and_swap(&lock, 0, 1);
	if (is != 2 && is)
		is = __atomic_exchange_n(&lock, 2, __ATOMIC_ACQUIRE);
	while (is) {
		syscall(SYS_futex, &lock, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
		is = __atomic_exchange_n(&lock, 2, __ATOMIC_ACQUIRE);
	}
}

static void
release(void)
{
	if (__atomic_exchange_n(&lock, 0, __ATOMIC_RELEASE) == 2)
		syscall(SYS_futex, &lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Another thread has the lock, and sleeps once this one waits for it. */
TARGET void
locks(int ms)
{
	take();
	release();
	(void)ms;
}

static void *
holder(void *arg)
{
	while (__atomic_load_n(&lock, __ATOMIC_ACQUIRE) != 2)
		usleep(100);
	usleep(5000); /* from the store to the system call, if it is not interrupted */
	nap((long)arg);
	release();
	return NULL;
}

int
main(void)
{
	for (int ms = 0; ms < 60; ms += 10) {
		pthread_t other;
		waits(ms);
		sleeps(ms);
		nested(ms);
		take(); /* for the other thread */
		if (pthread_create(&other, NULL, holder, (void *)(long)ms))
			abort();
		locks(ms);
		pthread_join(other, NULL);
	}
	return 0;
}
