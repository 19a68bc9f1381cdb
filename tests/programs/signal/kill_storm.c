/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Four threads fire queued signals at four computing threads as fast as they can; each handler may
 * be interrupted by the other signal. Each receiver counts what it got; with real-time signals none
 * may be lost.
 */
/* strobe-test: */
#include "signal/ucontext.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>

#define PAIRS 4
#define SHOTS 500

struct receiver {
	pthread_t thread;
	volatile int taken[2];
	uint64_t spins;
};

static struct receiver receivers[PAIRS];
static _Thread_local struct receiver *me;
static pthread_barrier_t ready;

static void
on_shot(int sig, siginfo_t *info, void *context)
{
	(void)context;
	int which = sig - SIGRTMIN;
	CHECK_EQ(info->si_value.sival_int, me->taken[which]); /* in the order they were sent */
	me->taken[which]++;
}

static void *
receive(void *arg)
{
	double x = 1.0;

	me = arg;
	pthread_barrier_wait(&ready);
	while (me->taken[0] < SHOTS || me->taken[1] < SHOTS) {
		x = x * 1.5 - (double)(int64_t)x;
		if (!(me->spins++ & 1023))
			sched_yield();
	}
	return NULL;
}

static void
shoot(pthread_t at, int sig, int value)
{
	int r;

	while ((r = pthread_sigqueue(at, sig, (union sigval){.sival_int = value})) == EAGAIN)
		sched_yield();
	CHECK_EQ(r, 0);
}

static void *
sender(void *arg)
{
	struct receiver *r = arg;

	pthread_barrier_wait(&ready);
	for (int i = 0; i < SHOTS; i++) {
		shoot(r->thread, SIGRTMIN, i);
		shoot(r->thread, SIGRTMIN + 1, i);
	}
	return NULL;
}

int
main(void)
{
	pthread_t senders[PAIRS];

	handle(SIGRTMIN, on_shot, 0);
	handle(SIGRTMIN + 1, on_shot, 0);
	pthread_barrier_init(&ready, NULL, 2 * PAIRS);
	for (int i = 0; i < PAIRS; i++)
		CHECK(!pthread_create(&receivers[i].thread, NULL, receive, &receivers[i]),
		      "thread");
	for (int i = 0; i < PAIRS; i++)
		CHECK(!pthread_create(&senders[i], NULL, sender, &receivers[i]), "thread");
	for (int i = 0; i < PAIRS; i++) {
		pthread_join(senders[i], NULL);
		pthread_join(receivers[i].thread, NULL);
		printf("receiver %d took %d and %d\n", i, receivers[i].taken[0],
		       receivers[i].taken[1]);
	}
	return 0;
}
