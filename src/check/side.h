/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the profiles of one version say, location by location: the cost in each run, how often it
 * was called, and the single measurements.
 *
 * Each profile is a run. A function's count or time is one value of the run, and so is the sum of a
 * series of calls. A series of repetitions, such as strobe time has them, is that many runs.
 */
#ifndef STROBE_CHECK_SIDE_H
#define STROBE_CHECK_SIDE_H

#include "base/hashmap.h"
#include "base/vec.h"
#include "check/match.h"
#include "profile/profile.h"

/* What is measured. */
struct st_check_metric {
	const char *name, *unit; /* "instructions", "" */
	bool counts;             /* of all events, so that equal values have no noise */
	bool additive;           /* the sum over all locations is the cost of the program */
};

struct st_check_item {
	struct st_match_function function; /* name NULL: code without a name */
	const char *shown;                 /* its name for people */
	uint32_t metric;                   /* index into the side's */
	uint32_t occurrence;               /* of several with the same name in one profile */
	uint32_t last_run;                 /* that has it, from 1 */
	uint64_t code;                     /* a hash of the code that was executed; 0: not known */
	ST_VEC(double) runs;               /* the cost in each run */
	ST_VEC(double) calls;              /* the calls in each run, where they are known */
	ST_VEC(const struct st_series *) series; /* the single measurements; additive ones: calls */
};

struct st_check_side {
	ST_VEC(const struct st_profile *) profiles; /* not its own: they outlive it */
	ST_VEC(struct st_check_metric) metrics;
	ST_VEC(struct st_match_image) images;
	ST_VEC(struct st_check_item) items;
	struct st_hashmap by_name;
	ST_VEC(char *) texts;
	bool partial; /* some counts are not of the whole run */
};

/* Adds a profile, which must outlive the side. metric: that alone; NULL: all. ST_FAILED: memory is
 * exhausted. */
st_status st_check_add_profile(struct st_check_side *side, const struct st_profile *p,
                               const char *metric);

/* For readers of profiles that this folder does not know: the cost of a function in the run that
 * was begun last. calls UINT64_MAX: not known. */
struct st_check_cost {
	const char *metric, *unit, *image, *build_id, *file, *name;
	uint64_t offset;
	double cost;
	uint64_t calls, code;
	bool counts;
};
st_status st_check_begin_run(struct st_check_side *side, const struct st_profile *p);
st_status st_check_add_cost(struct st_check_side *side, const struct st_check_cost *cost,
                            const char *metric);
/* Makes all runs equally long lists: what a run does not have, it costs nothing there. */
st_status st_check_end_runs(struct st_check_side *side);

void st_check_side_free(struct st_check_side *side);

/* Inside: the series of a profile; an item; its cost in the run that was begun last (calls NAN: not
 * known). */
st_status st_check_add_series(struct st_check_side *side, const struct st_profile *p,
                              const char *metric);
/* joined: what one run has several times under this name is one item; else each is one of its own.
 * NULL: memory is exhausted. */
struct st_check_item *st_check_item_of(struct st_check_side *side, const struct st_check_cost *key,
                                       bool additive, bool joined);
st_status st_check_set_run(struct st_check_side *side, struct st_check_item *item, double cost,
                           double calls);
#endif
