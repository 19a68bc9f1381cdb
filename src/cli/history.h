/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the values of one function or series from the stored profiles, version by version. */
#ifndef STROBE_CLI_HISTORY_H
#define STROBE_CLI_HISTORY_H

#include "base/vec.h"
#include "store/history.h"

/* The values of one location and metric, of one version, command and machine. */
struct st_history_group {
	const struct st_logged *logged;
	int64_t configuration, machine;
	char *location, *metric, *unit, *command;
	size_t profiles;
	int64_t last; /* the profile that was counted last */
	ST_VEC(double) values;
};

struct st_history_values {
	const char *name;                  /* of a function or location, or a shell pattern */
	const char *metric;                /* NULL: all of them */
	ST_VEC(struct st_history_group) v; /* by version, in the order of the history */
	size_t first; /* index of the first group of the version that is being read */
};

/* Before the call, set name and metric, and zero all other fields. The history has to outlive the
 * values. ST_FAILED with *e: no profile has a value, or a profile cannot be read. The caller frees
 * in both cases. */
st_status st_history_values(struct st_history_values *all, struct st_store *s,
                            const struct st_history *h, struct st_error *e);
void st_history_values_free(struct st_history_values *all);

#endif
