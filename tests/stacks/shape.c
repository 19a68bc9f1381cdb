/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program whose inclusive times are known: it prints what CPU time each of its parts has taken,
 * since the same work takes different times on a busy machine.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "library.h"

enum { UNIT = 60000000 };

/* What stands behind a call keeps it from becoming a jump. */
#define BEHIND_CALL() __asm__ volatile("")

static void
own_work(unsigned units)
{
	spin((uint64_t)units * UNIT);
	BEHIND_CALL();
}

/* Nothing of its own, 3 units below. */
__attribute__((noipa)) static void
caller_of_three(void)
{
	own_work(3);
	BEHIND_CALL();
}

/* 2 units, 300 frames of itself deep. */
__attribute__((noipa)) static int
recursive(int depth)
{
	if (depth == 0) {
		own_work(2);
		return 0;
	}
	int deeper = recursive(depth - 1);
	__asm__ volatile("" : "+r"(deeper));
	return deeper + 1;
}

static void
on_signal(int signo)
{
	(void)signo;
	own_work(2);
	BEHIND_CALL();
}

/* 2 units in a handler that interrupts it. */
__attribute__((noipa)) static void
interrupted(void)
{
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	BEHIND_CALL();
}

static int
by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static int
compare(const void *a, const void *b)
{
	spin(UNIT / 1000);
	return by_value(a, b);
}

/* 2 units in callbacks from a library. */
__attribute__((noipa)) static void
sorts(void)
{
	int v[2];
	for (int i = 0; i < 2000; i++) {
		v[0] = 2;
		v[1] = 1;
		qsort(v, 2, sizeof *v, compare);
	}
}

static void *
thread(void *unused)
{
	own_work(2);
	return unused;
}

static uint64_t
cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* A part has ended: prints its CPU time, and returns when the next one begins. */
static uint64_t
tell(const char *part, uint64_t from)
{
	printf("%s %llu\n", part, (unsigned long long)(cpu_ns() - from));
	return cpu_ns();
}

int
main(void)
{
	pthread_t t;
	uint64_t from = cpu_ns();
	caller_of_three();
	from = tell("caller_of_three", from);
	recursive(300);
	from = tell("recursive", from);
	interrupted();
	from = tell("interrupted", from);
	sorts();
	from = tell("sorts", from);
	without_frame_pointer(3 * (uint64_t)UNIT, spin);
	from = tell("without_frame_pointer", from);
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	tell("thread", from);
	return 0;
}
