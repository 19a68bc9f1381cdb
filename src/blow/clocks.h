/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * On-CPU time and waiting time apart, for functions and for the run (docs/notes/blow-clocks.md).
 *
 * Of functions, from a few runs without noise whose probes also read the CPU time of the thread. A
 * run is sent with the samples of these functions, of all threads together: `ns` is the time,
 * `noise_ns` the CPU time, and `noises` is 1 if a call was open at the end of the process.
 *
 * Of the run, from the CPU time of the process in each experiment.
 */
#ifndef STROBE_BLOW_CLOCKS_H
#define STROBE_BLOW_CLOCKS_H

#include "blow/campaign.h"

/* Takes over what a run has measured, which is the next one of its kind. -1: memory is exhausted.
 */
st_status st_blow_clocks_add(struct st_blow *b, const struct st_blow_run *run);

/* The time of a function without noise, inclusive and summed over the threads. */
struct st_blow_waiting {
	size_t runs;            /* in which it was measured; 0: all that follows is NAN */
	bool open;              /* calls were open at the end of a process, so nothing is known */
	double cpu_ns, wait_ns; /* means of the runs */
	/* The share of the time in which the function waits, and its 95 % interval, within 0 and 1;
	 * the ends are NAN with one run. */
	double share, low, high;
};
struct st_blow_waiting st_blow_waiting_of(const struct st_blow *b, uint32_t function);

/* A part of the slope of the function: the increase of the run time in relation to that of the
 * function's on-CPU time alone, or of its waiting time alone. Noise of a given duration changes a
 * small part more, in relation to it, than it changes a great one, so a part of the function's time
 * has that part of its slope, and the two add up to it. The interval has the errors of both. */
struct st_blow_slope st_blow_slope_part(const struct st_blow_slope *slope,
                                        const struct st_blow_waiting *w, bool on_cpu);

/* What the noise does to the process: the slope of its CPU time, and of the run time beyond that,
 * both in relation to the run time, so that they add up to the slope. They depend on the type of
 * the noise: busy waits are CPU time, and sleeps are not. With several threads, the second one is
 * less than 0 if more CPU time is added than time passes. */
struct st_blow_effects {
	struct st_blow_slope cpu, waiting;
};
/* -1: memory is exhausted. */
st_status st_blow_find_effects(const struct st_blow *b, uint32_t function,
                               struct st_blow_effects *out);

#endif
