/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clocks that lengths of time are read from. Hosted code only. */
#ifndef STROBE_BASE_CLOCK_H
#define STROBE_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* CPU time so far, ns: CLOCK_PROCESS_CPUTIME_ID or CLOCK_THREAD_CPUTIME_ID. */
static inline uint64_t
st_cpu_ns(clockid_t whose)
{
	struct timespec t;
	clock_gettime(whose, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Seconds since some moment, of CLOCK_MONOTONIC_RAW: nobody sets it, or corrects its speed. */
static inline double
st_now_raw(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#endif
