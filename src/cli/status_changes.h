/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part of strobe status that compares with an earlier version. */
#ifndef STROBE_CLI_STATUS_CHANGES_H
#define STROBE_CLI_STATUS_CHANGES_H

#include <jansson.h>

#include "store/changes.h"

/* Profiles of one configuration and machine, and what they are compared with. */
struct st_status_group {
	struct st_stored_list profiles; /* of the list that they were grouped from */
	struct st_baseline baseline;
	struct st_changes changes;
};

struct st_status_groups {
	ST_VEC(struct st_status_group) v;
};

struct st_status_compare {
	const char *against; /* a version; NULL: the nearest ancestor that is comparable */
	bool any_machine;
};

/* 0, or -1 with *e. The caller frees in both cases. */
st_status st_status_compare(struct st_store *s, const struct st_version *head,
                            const struct st_stored_list *profiles,
                            const struct st_status_compare *how, struct st_status_groups *out,
                            struct st_error *e);
void st_status_groups_free(struct st_status_groups *g);
/* Whether anything costs more than before. */
bool st_status_is_worse(const struct st_status_groups *g);
void st_status_print_changes(const struct st_store *s, const struct st_status_groups *g, FILE *out);
/* NULL: no memory. */
json_t *st_status_changes_json(const struct st_status_groups *g);

#endif
