/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/disturbance.h"

#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "stats/spread.h"

enum { MOST_ROUNDS = 100000, LEAST_ROUNDS = 20, LOOPS = 200000 };

/* A chain of multiplications, each of which waits for the one before: a fixed number of cycles. */
static uint64_t
fixed_loop(uint64_t x)
{
	for (int i = 0; i < LOOPS; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		__asm__ volatile("" : "+r"(x)); /* the compiler must not shorten it */
	}
	return x;
}

static int
compare_times(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

st_status
st_disturbance_of(double *times, size_t n, struct st_disturbance *out)
{
	struct st_spread s;
	if (!n || st_spread_of(times, n, &s))
		return ST_FAILED;
	qsort(times, n, sizeof *times, compare_times);
	out->rounds = n;
	out->median = s.median;
	out->median_low = s.median_low;
	out->median_high = s.median_high;
	out->least = s.least;
	out->most = s.most;
	out->tenth = times[n - 1 - n / 10];
	return ST_OK;
}

st_status
st_disturbance_measure(double seconds, struct st_disturbance *out)
{
	double *times = malloc(MOST_ROUNDS * sizeof *times);
	size_t n = 0;
	volatile uint64_t kept = 1;
	if (!times)
		return ST_FAILED;
	kept = fixed_loop(kept); /* the clock of an idle CPU rises first */
	const struct st_load_moment then = st_load_now("");
	const uint64_t cpu = st_cpu_ns(CLOCK_THREAD_CPUTIME_ID);
	const double begin = st_now_raw();
	double now = begin;
	while (n < MOST_ROUNDS && (n < LEAST_ROUNDS || now - begin < seconds)) {
		const double before = st_now_raw();
		kept = fixed_loop(kept);
		now = st_now_raw();
		times[n++] = now - before;
	}
	const double own = (double)(st_cpu_ns(CLOCK_THREAD_CPUTIME_ID) - cpu) * 1e-9;
	*out = (struct st_disturbance){.load = st_load_since("", &then, own)};
	st_status status = st_disturbance_of(times, n, out);
	out->away = now - begin > own ? 1 - own / (now - begin) : 0;
	free(times);
	return status;
}
