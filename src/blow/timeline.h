/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The calls of one experiment over time. A campaign repeats the experiment with the highest
 * indicator and records entries and returns, as slices of lanes (trace/lanes.h), of which there is
 * a greatest number: memory and files stay small however many calls there are.
 *
 *	st_blow_best -> st_blow_record -> struct st_blow_timeline -> put.c, read.c
 */
#ifndef STROBE_BLOW_TIMELINE_H
#define STROBE_BLOW_TIMELINE_H

#include "blow/campaign.h"
#include "trace/lanes.h"

/* Slices of a timeline, at most about twice as many until it ends. */
enum { ST_BLOW_MOST_SLICES = 20000 };
/* Functions with more calls than this in the selection are recorded only if they are chosen. */
enum { ST_BLOW_MOST_CALLS = 10000 };

/* Kinds of functions in a timeline. */
enum st_blow_kind {
	ST_BLOW_OTHER,
	ST_BLOW_BLOWN, /* the experiment is about it */
	ST_BLOW_WAITS, /* a function of locks, or a join: a thread waits for another one */
	ST_BLOW_KINDS
};

struct st_blow_named {
	const char *name, *image;
	enum st_blow_kind kind;
};

/* Calls of a thread on one level of nesting. */
struct st_blow_slice {
	uint32_t thread, level;    /* level 0: outermost calls */
	uint32_t function;         /* in `functions`; ST_LANE_SEVERAL: of several */
	uint64_t begin_ns, end_ns; /* since the first event */
	uint64_t calls;            /* more than one: calls that were merged */
};

struct st_blow_timeline {
	uint32_t function; /* of the experiment */
	struct st_blow_noise noise;
	double indicator;         /* of the experiment that was repeated */
	enum st_blow_fault fault; /* of the repetition */
	uint64_t total_ns;
	uint64_t calls;    /* that began */
	uint64_t width_ns; /* calls that together are not longer may be merged; 0: none were */
	uint64_t too_deep; /* calls that are left out because they are nested too deep */
	uint64_t lost;     /* words that were not recorded, because the program was too fast */
	ST_VEC(int64_t) threads; /* their thread IDs, in order of their first event */
	ST_VEC(struct st_blow_named) functions;
	ST_VEC(struct st_blow_slice) slices; /* by thread, level and time */
};

void st_blow_timeline_free(struct st_blow_timeline *t);

/* The experiment with the highest indicator, of the functions that `which` matches (NULL: of all):
 * the influence, the opportunity, or in causal mode the gain at the first progress point. Its
 * function and noise are in *out, the indicator in *indicator. False: there is none, or memory is
 * exhausted. */
bool st_blow_best(const struct st_blow *b, const char *which, struct st_blow_run *out,
                  double *indicator);
/* Repeats that experiment, and keeps its calls in b->timeline. b->timeline stays NULL if there is
 * no experiment, or if a signal interrupts it (interrupted returns true, may be NULL). 0, or -1
 * with *e. */
st_status st_blow_record(const struct st_blow_options *o, struct st_blow *b, const char *which,
                         struct st_error *e);

/* record.c, in the process of the run: takes entries and returns while the program runs. */
struct st_probes;
struct st_blow_recording;
/* Whether a call of a function with that name is a wait for another thread. */
bool st_blow_is_wait(const char *raw_name);
/* probes: of the program, which has started. NULL: memory is exhausted. */
struct st_blow_recording *st_blow_recording_begin(struct st_probes *probes);
/* Call it when the program has ended; blown tells whether a probe is of the experiment's function.
 * Writes the timeline as lines; without `out` it only frees. -1: memory is exhausted. */
st_status st_blow_recording_end(struct st_blow_recording *r,
                                bool (*blown)(void *arg, uint32_t function), void *arg, FILE *out);
/* line_timeline.c: whether it is a line of a timeline, and takes it over. -1: it is damaged, or
 * memory is exhausted. b: has the texts. */
bool st_blow_is_timeline_line(const char *line);
st_status st_blow_read_timeline_line(struct st_blow *b, struct st_blow_timeline *t,
                                     const char *line);

/* timeline_tables.c: in tables of a profile. */
struct st_profile;
st_status st_blow_put_timeline(const struct st_blow *b, struct st_profile *p);
/* b->timeline stays NULL if the profile has none. -1: it is damaged, or memory is exhausted. */
st_status st_blow_read_timeline(struct st_blow *b, const struct st_profile *p);

#endif
