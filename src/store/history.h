/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The history of a version with the number of profiles that belong to each. */
#ifndef STROBE_STORE_HISTORY_H
#define STROBE_STORE_HISTORY_H

#include "store/store.h"

struct st_logged {
	struct st_version version;
	uint64_t profiles;
	bool gone; /* not in this history: the store alone knows it */
};

struct st_history {
	ST_VEC(struct st_logged) v; /* the youngest first; those that are gone behind them */
	bool whole;                 /* it is the history up to its beginning */
	bool cut;                   /* where a shallow clone ends */
	uint64_t gone;              /* if whole: profiles of versions that are not in it */
};

/* At most `most` versions, 0: all. gone: those that are not in it are listed, too; then the history
 * is read whole. 0, or -1 with *e. The caller frees in both cases. */
st_status st_history_read(struct st_store *s, const char *rev, uint64_t most, bool gone,
                          struct st_history *out, struct st_error *e);
void st_history_free(struct st_history *h);

#endif
