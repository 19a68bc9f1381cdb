/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/store.h"

static st_status
remove_rows(struct st_store *s, const char *sql, int64_t row, struct st_error *e)
{
	struct st_query *statement = NULL;
	if (st_store_query(s, &statement, sql, e))
		return -1;
	st_query_put_number(statement, 1, row);
	int step = st_query_step(statement, e);
	st_query_end(statement);
	return step < 0 ? ST_FAILED : ST_OK;
}

st_status
st_store_remove(struct st_store *s, const struct st_stored_list *l, struct st_error *e)
{
	if (st_store_begin(s, e))
		return -1;
	int status = 0;
	for (size_t i = 0; i < l->v.n && !status; i++) {
		int64_t row = l->v.v[i].row;
		status = remove_rows(s, "DELETE FROM part WHERE profile = ?", row, e);
		if (!status)
			status = remove_rows(s, "DELETE FROM profile WHERE id = ?", row, e);
	}
	if (!status)
		status = st_store_commit(s, e);
	if (status)
		st_store_rollback(s);
	return status ? ST_FAILED : ST_OK;
}
