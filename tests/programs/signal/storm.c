/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Eight threads, each under its own 10 kHz timer signal, compute until each has taken 300 signals:
 * every sum must be right, every signal must arrive in the thread it was meant for, with a red zone
 * and thread variables intact.
 */
/* strobe-test: */
#include "signal/ucontext.h"
#include <pthread.h>
#include <time.h>

#define THREADS 8
#define SIGNALS 300

static _Thread_local volatile int taken;
static _Thread_local int self = -1;

static void
on_timer(int sig, siginfo_t *info, void *context)
{
	(void)context;
	CHECK_EQ(sig, SIGUSR1);
	CHECK_EQ(info->si_code, SI_TIMER);
	CHECK(info->si_value.sival_int == self, "thread %d took the signal of thread %d", self,
	      info->si_value.sival_int);
	taken++;
}

__attribute__((noinline)) static uint64_t
leaf(uint64_t x) /* keeps its temporaries in the red zone */
{
	volatile uint64_t t[8];

	for (unsigned i = 0; i < 8; i++)
		t[i] = x * (i + 3);
	return t[0] ^ t[3] ^ t[7];
}

static uint64_t
work(uint64_t seed)
{
	uint64_t h = seed;

	for (unsigned i = 0; i < 20000; i++)
		h = (h ^ leaf(h + i)) * 0x100000001b3ull + (h >> 29);
	return h;
}

static void *
run(void *arg)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
	struct itimerspec period = {{0, 100000}, {0, 100000}};
	uint64_t want = *(uint64_t *)arg;
	timer_t timer;

	static int ids;
	self = __atomic_fetch_add(&ids, 1, __ATOMIC_RELAXED);
	event.sigev_value.sival_int = self;
	event._sigev_un._tid = gettid();
	CHECK(!timer_create(CLOCK_MONOTONIC, &event, &timer), "timer_create failed");
	CHECK(!timer_settime(timer, 0, &period, NULL), "timer_settime failed");
	while (taken < SIGNALS)
		CHECK_EQ(work(12345), want);
	timer_delete(timer);
	return NULL;
}

int
main(void)
{
	pthread_t threads[THREADS];
	uint64_t want = work(12345);

	handle(SIGUSR1, on_timer, SA_RESTART);
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, run, &want), "pthread_create failed");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	puts("sums are right under 10 kHz signals in 8 threads");
	return 0;
}
