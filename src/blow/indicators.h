/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Indicators that are computed from experiments. The slow-down and speed-up indicators are those of
 * Perun-Blower (Jiri Pavela, "Performance Analysis Based on Noise Injection", Brno 2021, section
 * 6.2), as they are defined there. They depend on the strength of the noise; the slope does not.
 */
#ifndef STROBE_BLOW_INDICATORS_H
#define STROBE_BLOW_INDICATORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* ---- slow-down: noise in the function (6.2 to 6.4) ---- */

/* NAN where the divisor is 0. */
struct st_blow_influence {
	double runtime;   /* run time with noise, divided by that without */
	double function;  /* the function's time with noise, divided by that without */
	double influence; /* runtime / function */
};
struct st_blow_influence st_blow_influence_of(double total, double total_before, double function,
                                              double function_before);

/* ---- speed-up: noise in all other functions (6.5 to 6.11), of one thread ---- */

struct st_blow_thread {
	double time, time_before;  /* of the thread, in any unit */
	uint64_t calls_in, others; /* calls of the function, and of all others, without noise */
	double mean;               /* mean time of a call of the function, without noise */
};
struct st_blow_speedup {
	double noise;    /* time of the noise of each call: (6.5) */
	double speedup;  /* (6.7) */
	double runtime;  /* (6.8) */
	double function; /* (6.9) */
	double score;    /* (6.10) */
};
/* NAN where the divisor is 0. */
struct st_blow_speedup st_blow_speedup_of(const struct st_blow_thread *t);

/* The mean of the indicator over a function's experiments (6.12), without those that are NAN; 0 if
 * there are none. */
double st_blow_fitness(const double *indicators, size_t n);

/* ---- the slope ---- */

/*
 * The relative increase of the run time divided by that of the function's time: (R - 1) / (F - 1).
 * In a serial program it is the function's share of the run time, for noise of any strength.
 *
 * A point is the function's time and the run's time in one run, without noise or with noise in the
 * function. The interval combines the residuals of the straight line through the points and the
 * variance of the runs without noise.
 */
struct st_blow_point {
	double function, total;
	bool noisy;
};
enum st_blow_measurable {
	ST_BLOW_MEASURED,
	ST_BLOW_TOO_FEW,     /* fewer than 3 runs without noise, or none with noise */
	ST_BLOW_NOT_CALLED,  /* the function is not called in runs without noise */
	ST_BLOW_NOISE_LOST,  /* the noise is not greater than the variation between runs */
	ST_BLOW_NO_VARIANCE, /* the points give no estimate of the error */
};
const char *st_blow_measurable_text(enum st_blow_measurable m);
struct st_blow_slope {
	enum st_blow_measurable state;
	double at, low, high; /* the slope and its 95 % interval; NAN unless it was measured */
	size_t runs_before, runs;
};
struct st_blow_slope st_blow_slope_of(const struct st_blow_point *points, size_t n);

/* ---- virtual speed-up ---- */

/*
 * The relative decrease of the run time, from run times without a virtual speed-up and from run
 * times with one, less the pauses. The interval is Student's, 95 %, with a pooled variance. NAN:
 * there are fewer than two runs without the speed-up, or none with it.
 */
struct st_blow_gain {
	size_t runs;
	double at, low, high;
	bool noisy; /* at, low and high are NAN, since no speed-up brings what was measured */
};
struct st_blow_gain st_blow_gain_of(const double *without, size_t n_without, const double *with,
                                    size_t n_with);

#endif
