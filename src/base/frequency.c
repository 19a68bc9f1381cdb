/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/frequency.h"

#include "base/clock.h"

/* Both clocks at once: of some tries the one that took the least time, so that nothing came between
 * its two readings. */
static struct st_moment
now(const struct st_clocks *c)
{
	enum { TRIES = 16 };
	struct st_moment best = {0};
	uint64_t least = UINT64_MAX;
	for (int i = 0; i < TRIES; i++) {
		uint64_t before = c->ticks();
		double seconds = c->seconds();
		uint64_t took = c->ticks() - before;
		if (took >= least)
			continue;
		least = took;
		best = (struct st_moment){before + took / 2, seconds};
	}
	return best;
}

double
st_frequency(const struct st_clocks *c)
{
	const double long_enough = 0.002;
	const struct st_moment begin = now(c);
	struct st_moment end;
	do
		end = now(c);
	while (end.seconds - begin.seconds < long_enough);
	return st_moments_frequency(begin, end);
}

double
st_moments_frequency(struct st_moment begin, struct st_moment end)
{
	return (double)(end.ticks - begin.ticks) / (end.seconds - begin.seconds);
}

static uint64_t
tsc(void)
{
	return __builtin_ia32_rdtsc();
}

static const struct st_clocks both = {tsc, st_now_raw};

struct st_moment
st_moment_now(void)
{
	return now(&both);
}

double
st_tsc_frequency(void)
{
	return st_frequency(&both);
}
