/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "import/tables.h"

#include <stdlib.h>

#include "base/order.h"

uint64_t *
st_import_table_row(struct st_import_table *t, uint32_t first, uint32_t second)
{
	uint32_t hash = st_hash_numbers(first, second);
	uint32_t found = ST_HASHMAP_FIND(&t->by_key, hash, at,
	                                 t->v[at].first == first && t->v[at].second == second);
	if (found != ST_HASHMAP_NONE)
		return t->v[found].sums;
	struct st_import_row *row = ST_PUSH(t);
	if (!row || st_hashmap_add(&t->by_key, hash, (uint32_t)(t->n - 1)))
		return NULL;
	row->first = first;
	row->second = second;
	return row->sums;
}

/* Rows are ordered by their first sum; by the names of their functions where it is equal. */
static int
import_row_order(const void *a, const void *b)
{
	const struct st_import_row *x = a, *y = b;
	if (x->sums[0] != y->sums[0])
		return x->sums[0] > y->sums[0] ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (x->second > y->second) - (x->second < y->second);
}

static struct st_profile_value *
put_function(struct st_profile_value *v, const struct st_profile *p, uint32_t function)
{
	const struct st_profile_function *f = &p->functions.v[function];
	*v = (struct st_profile_value){
	        .number = f->offset, .text = f->name, .image = f->image, .function = function};
	return v + 1;
}

static st_status
put_rows(const struct st_import_table *t, struct st_profile *p, struct st_profile_table *out)
{
	size_t n_sums = out->n_columns - out->n_keys;
	if (!ST_RESERVE(&out->values, t->n * out->n_columns))
		return ST_FAILED;
	struct st_profile_value *v = out->values.v;
	for (size_t i = 0; i < t->n; i++) {
		v = put_function(v, p, t->v[i].first);
		if (out->n_keys > 1)
			v = put_function(v, p, t->v[i].second);
		for (size_t s = 0; s < n_sums; s++)
			*v++ = (struct st_profile_value){.number = t->v[i].sums[s],
			                                 .image = UINT32_MAX,
			                                 .function = UINT32_MAX};
	}
	out->values.n = t->n * out->n_columns;
	return ST_OK;
}

st_status
st_import_table_finish(struct st_import_table *t, const struct st_import_functions *f,
                       const char *name, const char *help, const char *const *sums, size_t n_sums)
{
	struct st_profile *p = f->p;
	struct st_profile_table *out = t->n ? ST_PUSH(&p->tables) : NULL;
	if (!out)
		return t->n ? ST_FAILED : ST_OK;
	bool pairs = t->v[0].second != UINT32_MAX;
	*out = (struct st_profile_table){.name = name, .help = help, .tool = p->run.tool};
	out->n_keys = pairs ? 2 : 1;
	out->n_columns = out->n_keys + n_sums;
	if (out->n_columns > STROBE_MOST_COLUMNS)
		out->n_columns = STROBE_MOST_COLUMNS;
	out->columns[0] = (struct st_profile_column){pairs ? "caller" : "function", STROBE_FUNCTION,
	                                             STROBE_IS_KEY};
	if (pairs)
		out->columns[1] =
		        (struct st_profile_column){"callee", STROBE_FUNCTION, STROBE_IS_KEY};
	for (size_t i = 0; out->n_keys + i < out->n_columns; i++)
		out->columns[out->n_keys + i] = (struct st_profile_column){
		        st_profile_text(p, sums[i]), STROBE_NUMBER, STROBE_IS_SUM};
	for (size_t i = 0; i < t->n; i++) {
		t->v[i].first = f->v.v[t->v[i].first].number;
		if (pairs)
			t->v[i].second = f->v.v[t->v[i].second].number;
	}
	st_order(t->v, t->n, sizeof *t->v, import_row_order);
	return put_rows(t, p, out);
}

void
st_import_table_free(struct st_import_table *t)
{
	free(t->v);
	st_hashmap_free(&t->by_key);
}
