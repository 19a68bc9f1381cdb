/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The values of one version by location: the cost and the calls in each run, and the single
 * measurements.
 *
 * Each profile is a run. The count or the time of a function is one value of the run, and so is the
 * sum of a series of calls. In a series of repetitions, such as those of strobe time, each value is
 * a run.
 */
#ifndef STROBE_CHECK_SIDE_H
#define STROBE_CHECK_SIDE_H

#include "base/hashmap.h"
#include "base/vec.h"
#include "check/match.h"
#include "profile/profile.h"

/* A measured quantity. */
struct st_check_metric {
	const char *name, *unit; /* "instructions", "" */
	bool counts;   /* exact counts of all events, so that equal values have no noise */
	bool additive; /* the sum over all locations is the cost of the program */
};

struct st_check_item {
	struct st_match_function function; /* name NULL: code without a name */
	const char *shown;                 /* the name in reports */
	uint32_t metric;                   /* index into the side's */
	uint32_t occurrence;  /* number among those with the same name in one profile */
	uint32_t last_run;    /* the last run that has it, from 1 */
	uint64_t code;        /* a hash of the executed code; 0: unknown */
	ST_VEC(double) runs;  /* the cost in each run */
	ST_VEC(double) calls; /* the calls in each run; empty: unknown */
	ST_VEC(const struct st_series *) series; /* the single measurements */
	const struct st_profile *profile;        /* that has the last series; NULL: none has */
};

struct st_check_side {
	ST_VEC(const struct st_profile *) profiles; /* not owned: they outlive it */
	ST_VEC(struct st_check_metric) metrics;
	ST_VEC(struct st_match_image) images;
	ST_VEC(struct st_check_item) items;
	struct st_hashmap by_name;
	ST_VEC(char *) texts;
	bool partial; /* some counts do not cover the whole run */
};

/* Adds a profile, which must outlive the side. metric: the only one to add; NULL: all. ST_FAILED:
 * memory is exhausted. */
st_status st_check_add_profile(struct st_check_side *side, const struct st_profile *p,
                               const char *metric);

/* Metrics of functions, and whether a profile has them. */
#define ST_CHECK_INSTRUCTIONS "instructions"
#define ST_CHECK_BYTES "bytes allocated"
#define ST_CHECK_WAITS "waiting time"
bool st_check_has_instructions(const struct st_profile *p);
bool st_check_has_bytes(const struct st_profile *p);
bool st_check_has_waits(const struct st_profile *p);

/* For readers of profiles outside this component: the cost of a function in the run that was begun
 * last. calls UINT64_MAX: unknown. */
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
/* Makes the lists of all runs equally long: an item costs 0 in a run that does not have it. */
st_status st_check_end_runs(struct st_check_side *side);

void st_check_side_free(struct st_check_side *side);

/* Inside: adds the series of a profile. */
st_status st_check_add_series(struct st_check_side *side, const struct st_profile *p,
                              const char *metric);
/* Inside: finds or adds an item. joined: several of this name in one run are one item; otherwise
 * each is an item. NULL: memory is exhausted. */
struct st_check_item *st_check_item_of(struct st_check_side *side, const struct st_check_cost *key,
                                       bool additive, bool joined);
/* Inside: sets the cost in the run that was begun last. calls NAN: unknown. */
st_status st_check_set_run(struct st_check_side *side, struct st_check_item *item, double cost,
                           double calls);
#endif
