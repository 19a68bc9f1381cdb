/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Probes at the entries of a program's functions, each with an action: its calls are timed, or
 * counted, or made to take longer, or their arguments are kept. What tracing, the injection of
 * noise and annotations are built on. The amount of an action (wire/probe.h) may be changed in the
 * area at any time: so one process serves many experiments.
 *
 *	st_probes_start -> st_probes_wait -> functions, refused, the area -> st_probes_free
 */
#ifndef STROBE_PROBE_PROBES_H
#define STROBE_PROBE_PROBES_H

#include "base/vec.h"
#include "control/probe.h"
#include "probe/budget.h"
#include "probe/points.h"
#include "probe/site.h"

/* An image that is or was mapped. */
struct st_probed_image {
	struct st_probes *probes; /* of the process */
	char *path;
	uint64_t from, to; /* of its code in the process */
	uint64_t file_offset;
	uint64_t first; /* link-time address where the file begins to be executed; 0: unknown */
	uint64_t bias;  /* address in the process less link-time address */
	struct st_image *image;
	struct st_probe_planner *planner;
	bool gone;
};

/* A function, or a point within one, that has, or was to have, a probe. */
struct st_probed_function {
	uint32_t image;
	uint64_t offset;  /* link-time address */
	const char *name; /* the image's; of a point the name of its function */
	const char *
	        refused; /* why it has no probe, or is only counted; NULL: it has what was chosen */
	bool is_point;   /* (points.h) */
};

struct st_probes {
	struct st_probing process;
	/* Returns the action for a function of an image that has been mapped. kind
	 * ST_PROBE_NOTHING: it gets no probe. Called by one thread at a time. */
	struct st_probe_action (*choose)(void *arg, const struct st_probed_image *image,
	                                 const struct st_function *f);
	/* Called with the number of a function that has got its probe, before the probe can be hit.
	 * May be NULL. */
	void (*installed)(void *arg, uint32_t function);
	/* Called before for each image that has been mapped; may be NULL. */
	void (*mapped)(void *arg, const struct st_probed_image *image);
	/* The functions of the image last mapped that choose is asked about, which need not be
	 * ordered; NULL: all are. */
	size_t (*wanted)(void *arg, const struct st_probed_image *image, const uint64_t **offsets);
	/* Adds the points within functions of the image last mapped that are to have probes, in
	 * the order of their numbers; -1: there is no memory. NULL: none are. */
	st_status (*points)(void *arg, const struct st_probed_image *image,
	                    struct st_wanted_points *to);
	void *arg;
	/* Functions and images become more while the process runs: whoever is not called by
	 * `choose` locks them. */
	pthread_mutex_t lock;
	ST_VEC(struct st_probed_image) images;
	ST_VEC(struct st_probed_function) functions; /* by the numbers that the area uses */
	ST_VEC(struct st_probed_function) refused;   /* and points */
	struct st_probe_budget budget;               /* its `share` is given */
	/* Called many times a second, by one thread, while the process runs and its probes do not
	 * change; and before and after strobe stops with the program. NULL: not. */
	void (*watch)(void *arg);
	void (*pause)(void *arg, bool begins);
	/* With process.follows: what its processes, and theirs, have become. */
	struct st_probes *root; /* of one of these; NULL: this is it */
	/* Called before a process, also the root, runs; may be NULL. */
	void (*taken)(void *arg, struct st_probes *probes);
	void *taken_arg;
	pthread_mutex_t held;       /* a process is becoming another program */
	pthread_mutex_t installing; /* `choose`, and the images, are one thread's at a time */
	ST_VEC(struct st_probes *) others;
};

/* The n-th of them, and before these itself; NULL: there is none. */
const struct st_probes *st_probes_each(const struct st_probes *probes, size_t n);

/* Starts the program, with choose and arg given and all else 0. 0, or -1 with *e: it has not run
 * then. The caller frees in any case. */
st_status st_probes_start(struct st_probes *probes, char *const *argv, bool own_group,
                          struct st_error *e);
/* Waits until it has ended; removes the probes after `seconds` seconds (0: never). */
st_status st_probes_wait(struct st_probes *probes, double seconds, struct st_error *e);
/* Puts probes into a running process. -1 with *e: the process runs on unchanged. */
st_status st_probes_attach(struct st_probes *probes, pid_t pid, struct st_error *e);
/* Waits `seconds` seconds (0: until strobe gets a signal), or until the process ends, and removes
 * the probes. */
st_status st_probes_detach(struct st_probes *probes, double seconds, struct st_error *e);
void st_probes_free(struct st_probes *probes);

/* install.c */
st_status st_probes_install(void *probes, struct st_error *e);
/* A thread's measurements of the n-th function; NULL: it has not entered it. */
const struct st_probe_cell *st_probes_cell(const struct st_probes *probes, uint32_t record,
                                           uint32_t function);
/* Whether a thread is in a call of `callee` that `caller` has made: functions with probes, of which
 * the caller is the nearest one on the stack. caller UINT32_MAX: there is none. */
bool st_probes_in_pair(const struct st_probes *probes, uint32_t record, uint32_t caller,
                       uint32_t callee);
/* All pairs of a thread, one after the other. */
struct st_probe_pairs {
	const struct st_probes *probes;
	const uint32_t *buckets;
	uint32_t bucket, at;
	uint64_t most; /* that there can be: another process has written the list */
};
struct st_probe_pairs st_probe_pairs_of(const struct st_probes *probes, uint32_t record);
struct st_probe_pair *st_probe_next_pair(struct st_probe_pairs *pairs);
/* All that a thread has kept of the arguments of functions (ST_PROBE_READ), the latest chunk of
 * them first; those that are not complete are left out. Of those beyond ST_PROBE_MOST_KEPT, only
 * the number is known, from the area. */
struct st_probe_reading {
	const struct st_probes *probes;
	const struct st_probe_kept *chunk;
	uint32_t at;
	uint64_t most; /* chunks */
};
struct st_probe_reading st_probe_reading_of(const struct st_probes *probes, uint32_t record);
/* NULL: there are no more. */
const struct st_probe_arguments *st_probe_next_row(struct st_probe_reading *reading);
/* Memory of the area; NULL: the offset, which another process has written, leads out of it. */
const void *st_probes_at(const struct st_probes *probes, uint32_t offset, size_t bytes);

#endif
