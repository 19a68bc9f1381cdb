/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that hold locks for known times, at least. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TARGET __attribute__((noinline, noclone))

enum { MANY = 40 };

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, many[MANY],
                       robust, recursive;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static int signalled, waiting;

static void
nap(long ms)
{
	struct timespec left = {ms / 1000, ms % 1000 * 1000000};
	while (nanosleep(&left, &left))
		;
}

static void
must(int status)
{
	if (status)
		abort();
}

static void
in_thread(void *(*f)(void *))
{
	pthread_t t;
	must(pthread_create(&t, NULL, f, NULL));
	must(pthread_join(t, NULL));
}

/* ---- functions that hold locks ---- */

TARGET void
nothing(int ms)
{
	nap(ms);
}

/* Its caller holds the lock. */
TARGET void
whole(int ms)
{
	nap(ms);
}

TARGET void
part(int ms)
{
	nap(ms);
	pthread_mutex_lock(&a);
	nap(ms);
	pthread_mutex_unlock(&a);
	nap(ms);
}

/* Two locks that overlap: three naps in all, two of each lock. */
TARGET void
overlap(int ms)
{
	pthread_mutex_lock(&a);
	nap(ms);
	pthread_mutex_lock(&b);
	nap(ms);
	pthread_mutex_unlock(&a);
	nap(ms);
	pthread_mutex_unlock(&b);
	nap(ms);
}

TARGET void
twice(int ms)
{
	pthread_mutex_lock(&recursive);
	must(pthread_mutex_trylock(&recursive));
	pthread_mutex_unlock(&recursive);
	nap(ms);
	pthread_mutex_unlock(&recursive);
	nap(ms);
}

/* The other thread holds the lock while this one waits. */
TARGET void
handed(int ms)
{
	(void)ms;
	pthread_mutex_lock(&a);
	waiting = 1;
	while (!signalled)
		pthread_cond_wait(&condition, &a);
	waiting = signalled = 0;
	pthread_mutex_unlock(&a);
}

TARGET void
opens(int ms)
{
	nap(ms);
	pthread_mutex_lock(&a);
	nap(ms);
}

TARGET void
closes(int ms)
{
	nap(ms);
	pthread_mutex_unlock(&a);
	nap(ms);
}

/* Another thread holds the lock. */
TARGET void
fails(int ms)
{
	struct timespec soon;
	clock_gettime(CLOCK_REALTIME, &soon);
	if (pthread_mutex_trylock(&b) != EBUSY || pthread_mutex_timedlock(&b, &soon) != ETIMEDOUT)
		abort();
	nap(ms);
}

TARGET void
reads(int ms)
{
	must(pthread_rwlock_rdlock(&shared));
	must(pthread_rwlock_tryrdlock(&shared));
	pthread_rwlock_unlock(&shared);
	nap(ms);
	pthread_rwlock_unlock(&shared);
	nap(ms);
}

TARGET void
writes(int ms)
{
	must(pthread_rwlock_wrlock(&shared));
	nap(ms);
	pthread_rwlock_unlock(&shared);
	nap(ms);
}

TARGET void
spins(int ms)
{
	must(pthread_spin_lock(&spin));
	nap(ms);
	pthread_spin_unlock(&spin);
	nap(ms);
}

static void *
unlock_a(void *unused)
{
	pthread_mutex_unlock(&a);
	return unused;
}

/* Another thread releases the lock. */
TARGET void
given(int ms)
{
	pthread_mutex_lock(&a);
	nap(ms);
	in_thread(unlock_a);
	nap(ms);
}

TARGET void
masses(int ms)
{
	for (int i = 0; i < MANY; i++)
		pthread_mutex_lock(&many[i]);
	nap(ms);
	for (int i = 0; i < MANY; i++)
		pthread_mutex_unlock(&many[i]);
	nap(ms);
}

/* The owner of the lock has ended. */
TARGET void
inherits(int ms)
{
	if (pthread_mutex_lock(&robust) != EOWNERDEAD)
		abort();
	nap(ms);
	pthread_mutex_consistent(&robust);
	pthread_mutex_unlock(&robust);
	nap(ms);
}

/* ---- */

static void *
lock_robust(void *unused)
{
	pthread_mutex_lock(&robust);
	return unused;
}

static void *
try_b(void *ms)
{
	fails((int)(long)ms);
	return NULL;
}

static void *
signal_later(void *ms)
{
	for (int seen = 0; !seen; usleep(100)) {
		pthread_mutex_lock(&a);
		seen = waiting;
		if (seen)
			nap((long)ms);
		signalled = seen;
		pthread_mutex_unlock(&a);
	}
	pthread_cond_signal(&condition);
	return NULL;
}

static void
begin(void)
{
	pthread_mutexattr_t how;
	pthread_mutexattr_init(&how);
	pthread_mutexattr_settype(&how, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&recursive, &how);
	pthread_mutexattr_init(&how);
	pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &how);
	pthread_spin_init(&spin, 0);
	for (int i = 0; i < MANY; i++)
		pthread_mutex_init(&many[i], NULL);
}

static void
call_all(int ms)
{
	pthread_t other;
	nothing(ms);
	pthread_mutex_lock(&a);
	whole(ms);
	pthread_mutex_unlock(&a);
	part(ms);
	overlap(ms);
	twice(ms);
	must(pthread_create(&other, NULL, signal_later, (void *)(long)ms));
	handed(ms);
	must(pthread_join(other, NULL));
	opens(ms);
	closes(ms);
	pthread_mutex_lock(&b);
	must(pthread_create(&other, NULL, try_b, (void *)(long)ms));
	must(pthread_join(other, NULL));
	pthread_mutex_unlock(&b);
	reads(ms);
	writes(ms);
	spins(ms);
	given(ms);
	masses(ms);
	in_thread(lock_robust);
	inherits(ms);
}

int
main(int argc, char **argv)
{
	begin();
	if (argc > 1 && !strcmp(argv[1], "fork")) {
		pthread_mutex_lock(&a);
		for (int ms = 0; ms < 12; ms += 2) {
			const pid_t child = fork();
			if (!child) {
				whole(ms);
				pthread_mutex_unlock(&a);
				nothing(ms);
				_exit(0);
			}
			waitpid(child, NULL, 0);
		}
		return 0;
	}
	for (int ms = 0; ms < 12; ms += 2)
		call_all(ms);
	return 0;
}
