/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls in a known mix, round after round: "mix.c" of test_budget.py. It prints how many rounds
 * there were in the given seconds of its CPU time, and how long m_tenth and m_once have taken. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CALLED __attribute__((noinline, noipa))

/* In each round m_often is called so often, m_tenth at each tenth of these, m_once once. */
enum { OFTEN = 1000 };

static volatile uint64_t sum;
static double tenths, onces;

static inline __attribute__((always_inline)) double
now_s(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

CALLED static void
m_often(int n)
{
	for (int i = 0; i < n; i++)
		sum += (uint64_t)i;
}

CALLED static void
m_tenth(void)
{
	const double begin = now_s(CLOCK_MONOTONIC);
	while (now_s(CLOCK_MONOTONIC) < begin + 2e-6)
		;
	tenths += now_s(CLOCK_MONOTONIC) - begin;
}

CALLED static void
m_once(void)
{
	const double begin = now_s(CLOCK_MONOTONIC);
	while (now_s(CLOCK_MONOTONIC) < begin + 100e-6)
		;
	onces += now_s(CLOCK_MONOTONIC) - begin;
}

CALLED static void
m_round(int work)
{
	for (int i = 0; i < OFTEN; i++) {
		m_often(work);
		if (i % 10 == 0)
			m_tenth();
	}
	m_once();
}

int
main(int argc, char **argv)
{
	const double seconds = argc > 1 ? atof(argv[1]) : 1;
	const int work = argc > 2 ? atoi(argv[2]) : 10;
	uint64_t rounds = 0;
	while (now_s(CLOCK_PROCESS_CPUTIME_ID) < seconds) {
		m_round(work);
		rounds++;
	}
	printf("%llu %.9f %.9f\n", (unsigned long long)rounds, tenths, onces);
	return 0;
}
