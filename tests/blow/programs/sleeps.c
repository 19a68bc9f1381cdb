/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A thread that sleeps in each way, beside one that computes in `work` and elsewhere: Strobe
 * interrupts such sleeps, which the program must not notice. Exit code 0: each sleep lasted at
 * least as long as the program asked for, or was ended by a signal and reported the time that was
 * left, and no wait for events ended early. usage: sleeps [for-ever], which ends only with an error
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define CALLED __attribute__((noinline, noipa))

enum {
	ROUNDS = 20,
	WAITS = 5,
	NAP_NS = 4000000,
	LONG_NS = 900000000,
	WORK_NS = 1000000,
	SHORT_NS = 200000
};
static volatile unsigned long sum;
static volatile int ended, sleeping, signals;

static long
ns_of(const struct timespec *t)
{
	return t->tv_sec * 1000000000 + t->tv_nsec;
}

static long
now_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return ns_of(&now);
}

static void
compute(long ns)
{
	const long begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
	while (now_ns(CLOCK_THREAD_CPUTIME_ID) - begin < ns)
		for (int i = 0; i < 1000; i++)
			sum++;
}

CALLED static void
work(void)
{
	compute(WORK_NS);
	__asm__ volatile(""); /* no tail call */
}

/* If the thread did nothing but `work`, a speed-up by 100 % would let no time pass for the other
 * one. */
CALLED static void
other_work(void)
{
	compute(WORK_NS);
	__asm__ volatile("");
}

static void
take_signal(int signo)
{
	(void)signo;
	signals++;
}

/* Each of these returns 1 if the sleep was wrong, and 0 otherwise. */
static int
sleep_relatively(void)
{
	const struct timespec nap = {0, NAP_NS};
	const long begin = now_ns(CLOCK_MONOTONIC);
	return nanosleep(&nap, NULL) != 0 || now_ns(CLOCK_MONOTONIC) - begin < NAP_NS;
}

CALLED static int
sleep_until(void)
{
	const long end = now_ns(CLOCK_MONOTONIC) + NAP_NS;
	const struct timespec t = {end / 1000000000, end % 1000000000};
	return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0 ||
	       now_ns(CLOCK_MONOTONIC) < end;
}

/* The signal comes long before the end. If it comes at another time because the machine is very
 * busy, it must not end another sleep: the thread waits for it here. */
static int
sleep_until_signal(void)
{
	const struct timespec nap = {0, LONG_NS};
	struct timespec left = {0, 0};
	const long begin = now_ns(CLOCK_MONOTONIC);
	sleeping = 1;
	const int result = nanosleep(&nap, &left);
	const int error = errno;
	const long slept = now_ns(CLOCK_MONOTONIC) - begin;
	const bool signalled = !__atomic_exchange_n(&sleeping, 0, __ATOMIC_ACQ_REL);
	while (signalled && !signals)
		sched_yield();
	signals = 0;
	if (result == 0)
		return slept < LONG_NS;
	return !signalled || error != EINTR || ns_of(&left) <= 0 ||
	       ns_of(&left) + slept < LONG_NS - 1000000;
}

/* A thread that computes for a short time between waits is often interrupted when it has just begun
 * to wait. */
static int
wait_for_events(int epoll)
{
	struct epoll_event event;
	int errors = 0;
	for (int i = 0; i < WAITS; i++) {
		errors += epoll_wait(epoll, &event, 1, 1) != 0;
		compute(SHORT_NS);
	}
	return errors;
}

static void *
sleeping_thread(void *arg)
{
	const int epoll = epoll_create1(EPOLL_CLOEXEC);
	long errors = epoll < 0;
	for (int i = 0; i < ROUNDS || (arg && !errors); i++)
		errors += sleep_relatively() + sleep_until() + wait_for_events(epoll) +
		          (arg ? 0 : sleep_until_signal());
	close(epoll);
	ended = 1;
	return (void *)errors;
}

int
main(int argc, char **argv)
{
	pthread_t thread;
	void *errors;
	(void)argv;
	sigaction(SIGUSR1, &(struct sigaction){.sa_handler = take_signal}, NULL);
	pthread_create(&thread, NULL, sleeping_thread, argc > 1 ? (void *)1 : NULL);
	for (int i = 0; !ended; i++) {
		work();
		other_work();
		if (i % 8 == 7 && __atomic_exchange_n(&sleeping, 0, __ATOMIC_ACQ_REL))
			pthread_kill(thread, SIGUSR1);
	}
	pthread_join(thread, &errors);
	return errors ? 3 : 0;
}
