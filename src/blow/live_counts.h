/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the probes of a running process have counted until now, and the differences between two such
 * moments. */
#ifndef STROBE_BLOW_LIVE_COUNTS_H
#define STROBE_BLOW_LIVE_COUNTS_H

#include "blow/blow.h"
#include "blow/sites.h"
#include "probe/probes.h"

/* The probes that are read, of which a function has several if its file is mapped more than once.
 */
struct st_blow_kept_probe {
	uint32_t number, function;
	uint32_t timed; /* the probe that measures the time: of a location, that of the function
	                   around it */
};
struct st_blow_kept {
	ST_VEC(struct st_blow_kept_probe) list; /* sorted by function */
};
/* Keeps the probes of chosen functions, locations and progress points of b, and of the functions
 * around locations; sets drops[number] of all others. -1: memory is exhausted. */
st_status st_blow_keep(struct st_blow_kept *kept, struct st_probes *probes, const struct st_blow *b,
                       const struct st_blow_sites *sites, const struct st_blow_points *points,
                       bool *drops);
void st_blow_keep_free(struct st_blow_kept *kept);

/* The counts of a probe in a thread. */
struct st_blow_count {
	uint64_t calls;
	int64_t ticks; /* in the function, that of a call that has not ended included; net of the
	                  cost of probes, so it may be below 0 */
	uint64_t noises, noise;
};
struct st_blow_counts {
	struct st_blow_count *v; /* of each thread all kept probes */
	size_t threads, cap;
	uint64_t at; /* ticks */
};
/* Reads the counts. -1: memory is exhausted. */
st_status st_blow_count(struct st_blow_counts *c, const struct st_blow_kept *kept,
                        const struct st_probes *probes);
/* Adds a sample to the run for each function and thread that was called in between: of all kept
 * functions in a run without noise, otherwise of the function with noise and of progress points.
 * -1: memory is exhausted. */
st_status st_blow_count_samples(const struct st_blow_counts *before,
                                const struct st_blow_counts *after, const struct st_blow_kept *kept,
                                const struct st_blow *b, double tsc_hz, struct st_blow_run *run);

#endif
