/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What experiments say of a function. The first part are the indicators of Perun-Blower (Jiri
 * Pavela, "Performance Analysis Based on Noise Injection", Brno 2021, section 6.2), exactly as they
 * are defined there; the last one is what they should have been.
 */
#ifndef STROBE_BLOW_INDICATORS_H
#define STROBE_BLOW_INDICATORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* ---- slow-down: noise in the function (6.2 to 6.4) ---- */

/* NAN where a number is divided by 0. */
struct st_blow_influence {
	double runtime;   /* how many times longer the run takes */
	double function;  /* how many times longer the function takes */
	double influence; /* the first by the second */
};
struct st_blow_influence st_blow_influence_of(double total, double total_before, double function,
                                              double function_before);

/* ---- speed-up: noise in all other functions (6.5 to 6.11), of one thread ---- */

struct st_blow_thread {
	double time, time_before;  /* of the thread, in any unit */
	uint64_t calls_in, others; /* calls of the function, and of all others, without noise */
	double mean;               /* of the function's time, without noise */
};
struct st_blow_speedup {
	double noise;    /* that each call got: (6.5) */
	double speedup;  /* (6.7) */
	double runtime;  /* (6.8) */
	double function; /* (6.9) */
	double score;    /* (6.10) */
};
/* NAN where a number is divided by 0. */
struct st_blow_speedup st_blow_speedup_of(const struct st_blow_thread *t);

/* The mean of the indicator over a function's experiments (6.12): 0 before the first. NANs are left
 * out. */
double st_blow_fitness(const double *indicators, size_t n);

/* ---- the slope ---- */

/*
 * How much longer the run takes, as a share of itself, for a function that takes so much longer, as
 * a share of itself: (R - 1) / (F - 1). In a serial program that is the function's share of the run
 * time, whatever the noise.
 *
 * Points are a function's time and the run's, of runs without noise and of those with noise in the
 * function. The interval comes from how far they are from a straight line, and from how far the
 * runs without noise spread.
 */
struct st_blow_point {
	double function, total;
	bool noisy;
};
enum st_blow_measurable {
	ST_BLOW_MEASURED,
	ST_BLOW_TOO_FEW,     /* runs without noise, or with it */
	ST_BLOW_NOT_CALLED,  /* in a run without noise */
	ST_BLOW_NOISE_LOST,  /* the noise is not greater than what runs differ by anyway */
	ST_BLOW_NO_VARIANCE, /* the points do not tell their error */
};
const char *st_blow_measurable_text(enum st_blow_measurable m);
struct st_blow_slope {
	enum st_blow_measurable state;
	double at, low, high; /* 95 % interval; if it was measured */
	size_t runs_before, runs;
};
struct st_blow_slope st_blow_slope_of(const struct st_blow_point *points, size_t n);

/* ---- virtual speed-up ---- */

/*
 * How much shorter the run would be, as a share of itself: from run times without, and from those
 * with a virtual speed-up, less what was stood still. The interval is Student's, 95 %, with a
 * common variance. NAN: there are fewer than two of the first, or none of the second.
 */
struct st_blow_gain {
	size_t runs;
	double at, low, high;
};
struct st_blow_gain st_blow_gain_of(const double *without, size_t n_without, const double *with,
                                    size_t n_with);

#endif
