/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The catalogue may come from anyone: it is believed only where it can be true, and a name becomes
 * a part of a query only if it is one that Strobe could have given. */
#include <ctype.h>
#include <stdio.h>

#include "base/text.h"
#include "profile/file_tables.h"

struct loader {
	sqlite3 *db;
	sqlite3_stmt *rows;
	struct st_profile *p;
	int column;
	bool bad;
	const char *last[STROBE_MOST_COLUMNS]; /* texts often come in runs */
};

static void
load_tables_query(struct loader *l, const char *sql)
{
	sqlite3_finalize(l->rows);
	l->rows = NULL;
	if (!l->bad && sqlite3_prepare_v2(l->db, sql, -1, &l->rows, NULL) != SQLITE_OK)
		l->bad = true;
}

static bool
load_tables_next(struct loader *l)
{
	l->column = 0;
	if (l->bad)
		return false;
	int status = sqlite3_step(l->rows);
	l->bad |= status != SQLITE_ROW && status != SQLITE_DONE;
	return status == SQLITE_ROW;
}

static uint64_t
load_tables_get(struct loader *l)
{
	return (uint64_t)sqlite3_column_int64(l->rows, l->column++);
}

static const char *
load_tables_get_text(struct loader *l, const char *missing)
{
	const char *text = (const char *)sqlite3_column_text(l->rows, l->column++);
	return text ? st_profile_text(l->p, text) : missing;
}

/* The id of a row of another table with n rows, or NULL. */
static uint32_t
load_tables_get_index(struct loader *l, size_t n)
{
	if (sqlite3_column_type(l->rows, l->column) == SQLITE_NULL) {
		l->column++;
		return UINT32_MAX;
	}
	uint64_t id = load_tables_get(l);
	l->bad |= id < 1 || id > n;
	return l->bad ? UINT32_MAX : (uint32_t)(id - 1);
}

static bool
load_tables_is_name(const char *name)
{
	size_t n = 0;
	while (isalnum((unsigned char)name[n]) || name[n] == '_')
		n++;
	return n && !name[n] && n < ST_FIELD_NAME;
}

static const char *
get_repeated(struct loader *l, size_t column)
{
	const char *text = (const char *)sqlite3_column_text(l->rows, l->column++);
	if (text && (!l->last[column] || strcmp(l->last[column], text)))
		l->last[column] = st_profile_text(l->p, text);
	return text ? l->last[column] : NULL;
}

static void
get_place(struct loader *l, struct st_profile_value *v)
{
	v->image = load_tables_get_index(l, l->p->images.n);
	v->number = load_tables_get(l);
	v->function = load_tables_get_index(l, l->p->functions.n);
	if (v->function != UINT32_MAX && !l->bad) {
		v->text = l->p->functions.v[v->function].name;
		l->bad |= v->image != l->p->functions.v[v->function].image;
	}
}

static void
get_value(struct loader *l, const struct st_profile_table *t, size_t column,
          struct st_profile_value *v)
{
	*v = (struct st_profile_value){.image = UINT32_MAX, .function = UINT32_MAX};
	switch (st_profile_shape(t->columns[column].type)) {
	case ST_VALUE_TEXT:
		v->text = get_repeated(l, column);
		v->text = v->text ? v->text : "";
		break;
	case ST_VALUE_PLACE:
		get_place(l, v);
		break;
	case ST_VALUE_LINE: {
		const char *file = get_repeated(l, column);
		uint64_t line = load_tables_get(l);
		get_place(l, v);
		v->text = file;
		if (file)
			*v = (struct st_profile_value){line, file, UINT32_MAX, UINT32_MAX};
		break;
	}
	default:
		v->number = load_tables_get(l);
	}
}

static void
load_tables_load_rows(struct loader *l, struct st_profile_table *t, const char *sql)
{
	load_tables_query(l, sql);
	memset(l->last, 0, sizeof l->last);
	while (load_tables_next(l)) {
		uint64_t id = load_tables_get(l);
		if (id == 0)
			t->has_others = true;
		else
			l->bad |= id != st_profile_rows(t) + 1;
		for (size_t c = 0; c < t->n_columns && !l->bad; c++) {
			struct st_profile_value *v = id ? ST_PUSH(&t->values) : &t->others[c];
			if (!v)
				l->p->out_of_memory = l->bad = true;
			else
				get_value(l, t, c, v);
		}
	}
	if (l->bad) /* no half of a row */
		t->values.n = 0;
}

/* The columns of a table, keys first, into it and into a query for its rows. */
static char *
load_columns(struct loader *l, struct st_profile_table *t, size_t id, const char *data)
{
	struct st_text built;
	FILE *sql = st_text_begin(&built);
	if (!sql)
		return NULL;
	load_tables_query(
	        l,
	        "SELECT name, type, role, field FROM tool_column WHERE tool_table = ? ORDER BY id");
	if (!l->bad)
		sqlite3_bind_int64(l->rows, 1, (int64_t)id);
	fputs("SELECT id", sql);
	while (load_tables_next(l)) {
		const char *name = load_tables_get_text(l, ""), *type = load_tables_get_text(l, "");
		const char *role = load_tables_get_text(l, ""),
		           *field = load_tables_get_text(l, ""), *const * ends;
		int a = st_profile_type_named(type), b = st_profile_role_named(role);
		bool key = b == STROBE_IS_KEY;
		l->bad |= a < 0 || b < 0 || !load_tables_is_name(field) ||
		          t->n_columns == STROBE_MOST_COLUMNS || (key && t->n_keys != t->n_columns);
		if (l->bad || (!key && st_profile_shape(a) != ST_VALUE_NUMBER)) {
			l->bad = true;
			break;
		}
		t->columns[t->n_columns++] = (struct st_profile_column){name, a, b};
		t->n_keys += key;
		for (size_t i = 0, n = st_fields_of(a, &ends); i < n; i++)
			fprintf(sql, ", \"%s%s\"", field, ends[i]);
	}
	l->bad |= !t->n_columns;
	fprintf(sql, " FROM \"%s\" ORDER BY id", data);
	return st_text_end(&built);
}

static void
load_table(struct loader *l, size_t index, const char *data)
{
	struct st_profile_table *t = &l->p->tables.v[index];
	char *sql = load_columns(l, t, index + 1, data);
	if (!sql)
		l->p->out_of_memory = l->bad = true;
	else
		load_tables_load_rows(l, t, sql);
	free(sql);
}

static void
load_streams(struct loader *l)
{
	load_tables_query(
	        l, "SELECT name, tool, help, file, rows, bytes, dropped FROM stream ORDER BY id");
	while (load_tables_next(l)) {
		struct st_profile_stream *out = ST_PUSH(&l->p->streams);
		if (!out) {
			l->p->out_of_memory = l->bad = true;
			return;
		}
		out->name = load_tables_get_text(l, "");
		out->tool = load_tables_get_text(l, "");
		out->help = load_tables_get_text(l, "");
		out->file = load_tables_get_text(l, NULL);
		out->rows = load_tables_get(l);
		out->bytes = load_tables_get(l);
		out->dropped = load_tables_get(l);
	}
}

bool
st_load_tables(sqlite3 *db, struct st_profile *p)
{
	struct loader l = {.db = db, .p = p};
	ST_VEC(const char *) data = {0};
	load_tables_query(&l, "SELECT id, name, tool, help, data FROM tool_table ORDER BY id");
	while (load_tables_next(&l)) {
		struct st_profile_table *t = ST_PUSH(&p->tables);
		const char **name = ST_PUSH(&data);
		if (!t || !name) {
			p->out_of_memory = l.bad = true;
			break;
		}
		l.bad |= load_tables_get(&l) != p->tables.n;
		t->name = load_tables_get_text(&l, "");
		t->tool = load_tables_get_text(&l, "");
		t->help = load_tables_get_text(&l, "");
		*name = load_tables_get_text(&l, "");
		l.bad |= !load_tables_is_name(*name) || strncmp(*name, "table_", 6) != 0;
	}
	for (size_t i = 0; i < p->tables.n && !l.bad; i++)
		load_table(&l, i, data.v[i]);
	load_streams(&l);
	sqlite3_finalize(l.rows);
	free(data.v);
	return !l.bad;
}
