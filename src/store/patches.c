/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/patches.h"

#include <stdlib.h>

static st_status
patch_look_up(struct st_store *s, const char *name, bool *found, char **out, struct st_error *e)
{
	struct st_query *rows = NULL;
	*found = false;
	*out = NULL;
	if (st_store_query(s, &rows, "SELECT patch FROM patch WHERE name = ?", e))
		return -1;
	st_query_put_text(rows, 1, name);
	int step = st_query_step(rows, e);
	*found = step > 0;
	if (*found)
		*out = st_query_copy(rows, 0);
	st_query_end(rows);
	return step < 0 ? ST_FAILED : ST_OK;
}

/* Only to be quicker the next time: a store that cannot be written to answers all the same. */
static void
patch_remember(struct st_store *s, const char *name, const char *patch)
{
	struct st_query *insert = NULL;
	struct st_error why;
	if (!s->database->writable ||
	    st_store_query(s, &insert, "INSERT INTO patch VALUES(?,?) ON CONFLICT DO NOTHING",
	                   &why))
		return;
	st_query_put_text(insert, 1, name);
	st_query_put_text(insert, 2, patch);
	(void)!st_query_step(insert, &why);
	st_query_end(insert);
}

st_status
st_patch_of(struct st_store *s, const char *name, char **out, struct st_error *e)
{
	bool found;
	if (patch_look_up(s, name, &found, out, e))
		return -1;
	if (found)
		return 0;
	if (s->vcs->kind->patch(s->vcs, name, out, e))
		return -1;
	patch_remember(s, name, *out);
	return 0;
}
