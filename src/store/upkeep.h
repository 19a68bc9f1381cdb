/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether a store is as it was written, and what in it can go. */
#ifndef STROBE_STORE_UPKEEP_H
#define STROBE_STORE_UPKEEP_H

#include "store/store.h"

struct st_fsck {
	uint64_t objects, profiles; /* that were read */
	uint64_t unused;            /* objects that no profile needs */
	ST_VEC(char *) problems;    /* a sentence each */
	ST_VEC(int64_t) unreadable; /* rows of profiles; a profile may be there several times */
};

/* 0 also when it finds problems; -1 with *e when it cannot read the store at all. The caller frees
 * in both cases. */
st_status st_fsck(struct st_store *s, struct st_fsck *out, struct st_error *e);
void st_fsck_free(struct st_fsck *f);

struct st_repair {
	uint64_t kept, removed; /* profiles; the removed ones are those that are known by name */
	char *aside;            /* the damaged file, to be freed */
};

/* Replaces a store in a file, which need not be open, by one of all that can be read of it. The
 * store is closed afterwards except for its names. */
st_status st_store_repair(struct st_store *s, struct st_repair *out, struct st_error *e);

struct st_gc {
	uint64_t objects;       /* that were removed */
	uint64_t before, after; /* bytes of the store */
};

/* Removes what no profile needs, and gives its space back. 0, or -1 with *e. */
st_status st_gc(struct st_store *s, struct st_gc *out, struct st_error *e);

#endif
