/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Profiles that lie in the current folder, or in .strobe/pending at the top of the project, and are
 * not in the store. */
#ifndef STROBE_STORE_PENDING_H
#define STROBE_STORE_PENDING_H

#include "store/store.h"

struct st_pending {
	char *file;
	int64_t start_ns;
};

struct st_pending_list {
	ST_VEC(struct st_pending) v; /* by name */
};

/* 0, or -1 with *e. The caller frees in both cases. */
st_status st_pending_find(struct st_store *s, struct st_pending_list *out, struct st_error *e);
void st_pending_free(struct st_pending_list *l);

#endif
