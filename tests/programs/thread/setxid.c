/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * glibc's own real-time signals: seteuid sends one to every thread and waits for each, while they
 * compute, sleep, block all signals that they can, start and end.
 */
/* strobe-test: stress=lookup,threads */
#include "check.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>

static atomic_int stop;
static atomic_long ticks;
static int ends[2];

static void *
spin(void *arg)
{
	(void)arg;
	while (!stop)
		ticks++;
	return NULL;
}

static void *
block_all(void *arg)
{
	sigset_t all;

	sigfillset(&all);
	CHECK(!pthread_sigmask(SIG_SETMASK, &all, NULL), "pthread_sigmask");
	return spin(arg);
}

static void *
sleep_in_read(void *arg)
{
	char c;

	(void)arg;
	CHECK_EQ(read(ends[0], &c, 1), 1);
	return NULL;
}

static void *
nothing(void *arg)
{
	return arg;
}

static void *
create(void *arg)
{
	pthread_t t;

	while (!stop) {
		CHECK(!pthread_create(&t, NULL, nothing, arg), "thread");
		pthread_join(t, NULL);
	}
	return NULL;
}

int
main(void)
{
	void *(*const bodies[])(void *) = {spin,          spin,          block_all,
	                                   sleep_in_read, sleep_in_read, create};
	pthread_t threads[6];

	CHECK(!pipe(ends), "pipe");
	for (int i = 0; i < 6; i++)
		CHECK(!pthread_create(&threads[i], NULL, bodies[i], NULL), "thread");
	while (ticks < 1000)
		sched_yield();
	for (int i = 0; i < 8; i++) {
		CHECK(!setresuid((uid_t)-1, geteuid(), (uid_t)-1), "setresuid");
		CHECK(!setresgid((gid_t)-1, getegid(), (gid_t)-1), "setresgid");
	}
	stop = 1;
	CHECK_EQ(write(ends[1], "xx", 2), 2);
	for (int i = 0; i < 6; i++)
		pthread_join(threads[i], NULL);
	puts("every thread took part in 16 changes of identity");
	return 0;
}
