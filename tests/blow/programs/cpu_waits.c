/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions whose CPU time and waiting time are known, also on a busy machine: what computes ends
 * when the thread's CPU clock says so. usage: cpu_waits one|threads
 * one: a single thread, which ends by exit within `last`. threads: `last` is open at the end, too,
 * while another thread is there.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CALLED __attribute__((noinline, noipa))

enum { ROUNDS = 10 };

static long
cpu_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void
burn_us(long us)
{
	const long end = cpu_us() + us;
	while (cpu_us() < end)
		;
}

static void
sleep_us(long us)
{
	const struct timespec t = {us / 1000000, us % 1000000 * 1000};
	nanosleep(&t, NULL);
}

CALLED static void
computes(void)
{
	burn_us(2000);
}

CALLED static void
sleeps(void)
{
	sleep_us(3000);
}

CALLED static void
both(void)
{
	computes();
	sleeps();
}

CALLED static void
deep(int levels)
{
	burn_us(500);
	sleep_us(500);
	if (levels > 1)
		deep(levels - 1);
	__asm__ volatile("");
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int asked, answered;

CALLED static void
await_answer(void)
{
	pthread_mutex_lock(&mutex);
	asked++;
	pthread_cond_broadcast(&changed);
	while (answered < asked)
		pthread_cond_wait(&changed, &mutex);
	pthread_mutex_unlock(&mutex);
}

CALLED static void
answer(void)
{
	burn_us(2000);
}

static void *
answer_all(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&mutex);
		while (asked == answered)
			pthread_cond_wait(&changed, &mutex);
		pthread_mutex_unlock(&mutex);
		answer();
		pthread_mutex_lock(&mutex);
		answered++;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&mutex);
	}
	sleep_us(1000000);
	return NULL;
}

CALLED static void
last(void)
{
	burn_us(4000);
	sleep_us(6000);
	exit(0);
}

int
main(int argc, char **argv)
{
	pthread_t thread;
	const int threads = argc == 2 && !strcmp(argv[1], "threads");
	if (threads)
		pthread_create(&thread, NULL, answer_all, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		if (threads)
			await_answer();
		else
			both();
	}
	deep(4);
	last();
}
