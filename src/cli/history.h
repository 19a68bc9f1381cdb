/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the values of one function or series from the stored profiles, version by version. */
#ifndef STROBE_CLI_HISTORY_H
#define STROBE_CLI_HISTORY_H

#include <jansson.h>

#include "base/nearest.h"
#include "base/vec.h"
#include "store/history.h"

/* The texts by which the values of one metric and version differ: P(identifier, "key", "words
 * before the text in a name"). The labels of a series follow its location in parentheses. */
#define ST_HISTORY_PARTS(P)                                                                        \
	P(LOCATION, "location", "")                                                                \
	P(LABELS, "labels", "")                                                                    \
	P(COMMAND, "command", "")                                                                  \
	P(COLLECTOR, "collector", "")                                                              \
	P(WORKLOAD, "workload", "workload ")                                                       \
	P(PARAMETERS, "parameters", "")

enum st_history_part {
#define P(id, key, before) ST_HISTORY_##id,
	ST_HISTORY_PARTS(P)
#undef P
	        ST_HISTORY_PART_COUNT
};

/* The values of one location and metric, of one version, configuration and machine. */
struct st_history_group {
	const struct st_logged *logged;
	int64_t configuration, machine;
	char *parts[ST_HISTORY_PART_COUNT]; /* "": unknown, or does not apply */
	char *metric, *unit;
	size_t profiles;
	int64_t last; /* the profile that was counted last */
	ST_VEC(double) values;
};

struct st_history_values {
	const char *name;   /* of a function, with or without its parameters, or of a location or
	                     * series; or a shell pattern */
	const char *metric; /* NULL: all of them */
	ST_VEC(struct st_history_group) v; /* by version, in the order of the history */
	size_t first;               /* index of the first group of the version that is being read */
	struct st_nearest_few near; /* names like the one asked for, if nothing has that name */
	ST_VEC(char *) near_names;  /* copies of them: a profile's texts last as long as it does */
};

/* Before the call, set name and metric, and zero all other fields. The history has to outlive the
 * values. ST_FAILED with *e: no profile has a value, or a profile cannot be read. The caller frees
 * in both cases. */
st_status st_history_values(struct st_history_values *all, struct st_store *s,
                            const struct st_history *h, struct st_error *e);
void st_history_values_free(struct st_history_values *all);

/* Whether two groups are of one series: they differ at most in their versions and values. */
bool st_history_same_series(const struct st_history_group *a, const struct st_history_group *b);

/* The parts in which the groups of several series differ. */
struct st_history_naming {
	bool parts[ST_HISTORY_PART_COUNT], machine;
};
/* Chooses, of the parts in which the groups differ, those that tell them apart: none that follows
 * from the parts before it, such as a workload that is in the command. ST_FAILED: memory is
 * exhausted. */
st_status st_history_naming_of(struct st_history_naming *n,
                               const struct st_history_group *const *groups, size_t n_groups);
/* A name that no other series of the metric has: the parts that differ, or the location if none
 * does. malloc'ed; NULL: memory is exhausted. */
char *st_history_short_name(const struct st_history_naming *n, const struct st_history_group *g);
/* The same with the location, its labels and the command in any case: "sort: ./sort 10". */
char *st_history_long_name(const struct st_history_naming *n, const struct st_history_group *g);
/* Adds the parts of the group to a JSON object. */
void st_history_put_parts(json_t *object, const struct st_history_group *g);

#endif
