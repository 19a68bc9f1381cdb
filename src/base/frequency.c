/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/frequency.h"

struct moment {
	uint64_t ticks;
	double seconds;
};

/* Both clocks at once: of some tries the one that took the least time, so that nothing came between
 * its two readings. */
static struct moment
now(const struct st_clocks *c)
{
	enum { TRIES = 16 };
	struct moment best = {0};
	uint64_t least = UINT64_MAX;
	for (int i = 0; i < TRIES; i++) {
		uint64_t before = c->ticks();
		double seconds = c->seconds();
		uint64_t took = c->ticks() - before;
		if (took >= least)
			continue;
		least = took;
		best = (struct moment){before + took / 2, seconds};
	}
	return best;
}

double
st_frequency(const struct st_clocks *c)
{
	const double long_enough = 0.002;
	const struct moment begin = now(c);
	struct moment end;
	do
		end = now(c);
	while (end.seconds - begin.seconds < long_enough);
	return (double)(end.ticks - begin.ticks) / (end.seconds - begin.seconds);
}
