/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How fast a clock runs. Hosted code only. */
#ifndef STROBE_BASE_FREQUENCY_H
#define STROBE_BASE_FREQUENCY_H

#include <stdint.h>

/* The clock, and the one that it is compared with. */
struct st_clocks {
	uint64_t (*ticks)(void);
	double (*seconds)(void);
};

/* Ticks per second: over two milliseconds, which is exact to a thousandth, also when the CPU is
 * taken away meanwhile. */
double st_frequency(const struct st_clocks *c);

#endif
