/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clock that lengths of time are read from. Hosted code only. */
#ifndef STROBE_BASE_CLOCK_H
#define STROBE_BASE_CLOCK_H

#include <time.h>

/* Seconds since some moment, of CLOCK_MONOTONIC_RAW: nobody sets it, or corrects its speed. */
static inline double
st_now_raw(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#endif
