/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether a store is as it was written, and what in it can go. */
#ifndef STROBE_STORE_UPKEEP_H
#define STROBE_STORE_UPKEEP_H

#include "store/store.h"

struct st_fsck {
	uint64_t objects, profiles; /* that were read */
	uint64_t unused;            /* objects that no profile needs */
	ST_VEC(char *) problems;    /* a sentence each */
};

/* 0 also when it finds problems; -1 with *e when it cannot read the store at all. The caller frees
 * in both cases. */
st_status st_fsck(struct st_store *s, struct st_fsck *out, struct st_error *e);
void st_fsck_free(struct st_fsck *f);

struct st_gc {
	uint64_t objects;       /* that were removed */
	uint64_t before, after; /* bytes of the store */
};

/* Removes what no profile needs, and gives its space back. 0, or -1 with *e. */
st_status st_gc(struct st_store *s, struct st_gc *out, struct st_error *e);

#endif
