/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The frequency of a clock. Hosted code only. */
#ifndef STROBE_BASE_FREQUENCY_H
#define STROBE_BASE_FREQUENCY_H

#include <stdint.h>

/* Two clocks at once. */
struct st_moment {
	uint64_t ticks;
	double seconds;
};

/* The clock, and the one that it is compared with. */
struct st_clocks {
	uint64_t (*ticks)(void);
	double (*seconds)(void);
};

/* Ticks per second: over two milliseconds, which is exact to a thousandth, also when the CPU is
 * taken away meanwhile. */
double st_frequency(const struct st_clocks *c);

/* Now, by the time stamp counter and CLOCK_MONOTONIC_RAW. */
struct st_moment st_moment_now(void);
/* Ticks per second between two moments. */
double st_moments_frequency(struct st_moment begin, struct st_moment end);
/* Of the time stamp counter. */
double st_tsc_frequency(void);

#endif
