/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/tables.h"

#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

struct st_profile_value
st_profile_value_number(uint64_t n)
{
	return (struct st_profile_value){n, NULL, UINT32_MAX, UINT32_MAX};
}

struct st_profile_value
st_profile_value_text(struct st_profile *p, const char *text)
{
	return (struct st_profile_value){0, st_profile_text(p, text), UINT32_MAX, UINT32_MAX};
}

struct st_profile_table *
st_profile_table_add(struct st_profile *p, const char *tool, const char *name, const char *help,
                     size_t n_keys, size_t n_columns, const struct st_profile_column *columns)
{
	struct st_profile_table *table = ST_PUSH(&p->tables);
	if (!table)
		return NULL;
	table->name = name;
	table->help = help;
	table->tool = tool;
	table->n_keys = n_keys;
	table->n_columns = n_columns;
	memcpy(table->columns, columns, n_columns * sizeof *columns);
	return table;
}

st_status
st_profile_table_add_row(struct st_profile_table *table, const struct st_profile_value *row)
{
	for (size_t i = 0; i < table->n_columns; i++) {
		struct st_profile_value *value = ST_PUSH(&table->values);
		if (!value)
			return ST_FAILED;
		*value = row[i];
	}
	return ST_OK;
}

/* ---- reading ---- */

const struct st_profile_table *
st_profile_table_find(const struct st_profile *p, const char *tool, const char *name,
                      size_t n_columns)
{
	for (size_t i = 0; i < p->tables.n; i++) {
		const struct st_profile_table *t = &p->tables.v[i];
		if (!strcmp(t->tool, tool) && !strcmp(t->name, name) && t->n_columns == n_columns)
			return t;
	}
	return NULL;
}

const char *
st_profile_text_of(const struct st_profile_value *v)
{
	return v->text ? v->text : "";
}

st_status
st_profile_table_read(const struct st_profile_table *table, void *into, st_profile_row_fn *read)
{
	const size_t n = table ? st_profile_rows(table) : 0;
	for (size_t i = 0; i < n; i++)
		if (read(into, &table->values.v[i * table->n_columns]))
			return ST_FAILED;
	return ST_OK;
}

static int
table_row_order(const void *a, const void *b)
{
	const struct st_profile_value *x = *(const struct st_profile_value *const *)a,
	                              *y = *(const struct st_profile_value *const *)b;
	return (x->number > y->number) - (x->number < y->number);
}

st_status
st_profile_table_read_sorted(const struct st_profile_table *table, void *into,
                             st_profile_row_fn *read)
{
	const size_t n = table ? st_profile_rows(table) : 0;
	const struct st_profile_value **rows = calloc(n + 1, sizeof *rows);
	st_status status = rows ? ST_OK : ST_FAILED;
	for (size_t i = 0; i < n && rows; i++)
		rows[i] = &table->values.v[i * table->n_columns];
	if (rows && n)
		qsort(rows, n, sizeof *rows, table_row_order);
	for (size_t i = 0; i < n && !status; i++)
		status = read(into, rows[i]);
	free(rows);
	return status;
}
