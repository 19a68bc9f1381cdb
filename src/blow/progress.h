/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Progress points: what a virtual speed-up is to bring forward. One is the end of the run; others
 * are functions whose calls are the work of the program, and metrics of its work (points.h). The
 * time of a progress point in a run is the run time less the pauses, divided by the number of calls
 * or the amount of work.
 *
 * Debts (debt.h) are the threads' own. The pauses that count are, for the end of the run, those
 * that the first thread has paid, for a function, the greatest that a thread that has called it has
 * paid, and for a metric, the greatest that any thread has paid.
 */
#ifndef STROBE_BLOW_PROGRESS_H
#define STROBE_BLOW_PROGRESS_H

#include "blow/campaign.h"

/* The progress points: functions first, then the end of the run, unless Strobe ends the runs. */
size_t st_blow_points(const struct st_blow *b);
/* The n-th one: a function, or ST_BLOW_NONE: the end of the run. */
uint32_t st_blow_point_at(const struct st_blow *b, size_t n);
/* Whether Strobe has found the point, and no option names it. */
bool st_blow_point_is_inferred(const struct st_blow *b, uint32_t point);
/* "end of the run", or the function's name. */
const char *st_blow_point_name(const struct st_blow *b, uint32_t point);

/* The gain of a virtual speed-up of the function by `percent`: the relative decrease of the point's
 * time. Runs in which the point was not called are not part of it. -1: memory is exhausted. */
st_status st_blow_estimate_gain(const struct st_blow *b, uint32_t point, uint32_t function,
                                uint64_t percent, struct st_blow_gain *out);
/* The greatest gain that a speed-up (0 to 1) can bring. */
double st_blow_most_gain(const struct st_blow *b, uint32_t point, double speedup);
/* The gain as it is shown: where runs differ much, one run gives no interval; a gain that is
 * greater than the speed-up, or a loss that is, is noise, and intervals end there. */
st_status st_blow_find_gain(const struct st_blow *b, uint32_t point, uint32_t function,
                            uint64_t percent, struct st_blow_gain *out);
/* The gain of a virtual speed-up that was tried. */
struct st_blow_tried_gain {
	uint64_t percent;
	struct st_blow_gain gain;
};
/* bend.c: a speed-up from which on a function brings less, or more, per percent than before. */
struct st_blow_bend {
	uint64_t percent;     /* 0: none can be told from the errors of the gains */
	double before, after; /* gain divided by the speed-up, until there and from there on */
};
/* gains: in ascending order of the percents. */
struct st_blow_bend st_blow_bend_of(const struct st_blow_tried_gain *gains, size_t n);
/* -1: memory is exhausted. */
st_status st_blow_find_bend(const struct st_blow *b, uint32_t point, uint32_t function,
                            struct st_blow_bend *out);
/* The gain as an increase of calls per second. NAN where the gain is not less than 1. */
struct st_blow_gain st_blow_throughput_of(struct st_blow_gain gain);
/* The gain of every second run without noise or speed-up, compared with the others: as nothing is
 * different in these, it shows the error of gains. -1: memory is exhausted. */
st_status st_blow_find_control(const struct st_blow *b, uint32_t point, struct st_blow_gain *out);
/* Its kind; ST_BLOW_NO_POINT: the end of the run. */
enum st_blow_point_kind st_blow_point_kind(const struct st_blow *b, uint32_t point);
/* The gain of the point in the terms in which it is shown: of a throughput, an increase. */
struct st_blow_gain st_blow_point_gain(const struct st_blow *b, uint32_t point,
                                       struct st_blow_gain gain);
/* Work of the point per second, in runs without noise. */
struct st_blow_rate {
	size_t runs;
	double at, sd; /* the standard deviation is NAN with fewer than two runs */
};
struct st_blow_rate st_blow_rate_of(const struct st_blow *b, uint32_t point);

#endif
