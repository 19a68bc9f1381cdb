/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <stdio.h>

#include "base/text.h"
#include "profile/file_tables.h"

size_t
st_fields_of(enum strobe_type type, const char *const **ends)
{
	static const char *const plain[] = {""};
	static const char *const place[] = {"_image", "_offset", "_function"};
	static const char *const line[] = {"_file", "_line", "_image", "_offset", "_function"};
	enum st_shape_of_value shape = st_profile_shape(type);
	*ends = shape == ST_VALUE_PLACE ? place : shape == ST_VALUE_LINE ? line : plain;
	return shape == ST_VALUE_PLACE ? 3 : shape == ST_VALUE_LINE ? 5 : 1;
}

/* The SQL names of a table: of the whole, and the beginnings of its columns' names. */
struct names {
	char data[ST_FIELD_NAME], fields[STROBE_MOST_COLUMNS][ST_FIELD_NAME];
};

struct saver {
	sqlite3 *db;
	sqlite3_stmt *insert;
	int column, status;
	struct names *names; /* of all tables */
};

static void
save_tables_clean(char out[ST_FIELD_NAME], const char *before, const char *text)
{
	enum { LONGEST = 40 }; /* so that there is room behind it */
	int n = snprintf(out, LONGEST, "%s%s", before, *text ? text : "_");
	for (int i = 0; i < n && out[i]; i++)
		if (!isalnum((unsigned char)out[i]))
			out[i] = '_';
}

/* Whether an SQL column of column `a` has the name of one of column `b`. */
static bool
fields_clash(const struct st_profile_table *t, const struct names *n, size_t a, size_t b)
{
	const char *const *ends_a, *const *ends_b;
	size_t n_a = st_fields_of(t->columns[a].type, &ends_a);
	size_t n_b = st_fields_of(t->columns[b].type, &ends_b);
	char x[2 * ST_FIELD_NAME], y[2 * ST_FIELD_NAME];
	for (size_t i = 0; i < n_a; i++) {
		snprintf(x, sizeof x, "%s%s", n->fields[a], ends_a[i]);
		if (!strcasecmp(x, "id"))
			return true;
		for (size_t k = 0; k < n_b && a != b; k++) {
			snprintf(y, sizeof y, "%s%s", n->fields[b], ends_b[k]);
			if (!strcasecmp(x, y))
				return true;
		}
	}
	return false;
}

static void
name_table(struct names *names, size_t index, const struct st_profile_table *t)
{
	struct names *n = &names[index];
	save_tables_clean(n->data, "table_", t->name);
	for (size_t i = 0; i < index; i++)
		if (!strcasecmp(names[i].data, n->data))
			sprintf(strchr(n->data, '\0'), "_%zu", index + 1);
	for (size_t c = 0; c < t->n_columns; c++) {
		save_tables_clean(n->fields[c], "", t->columns[c].name);
		for (size_t i = 0; i <= c; i++)
			if (fields_clash(t, n, c, i))
				sprintf(strchr(n->fields[c], '\0'), "_%zu", c + 1);
	}
}

static void
save_tables_create(FILE *sql, const struct st_profile_table *t, const struct names *n)
{
	fprintf(sql, "CREATE TABLE \"%s\"(id INTEGER PRIMARY KEY", n->data);
	for (size_t c = 0; c < t->n_columns; c++) {
		const char *const *ends;
		size_t n_ends = st_fields_of(t->columns[c].type, &ends);
		bool text = st_profile_shape(t->columns[c].type) == ST_VALUE_TEXT;
		for (size_t i = 0; i < n_ends; i++) {
			const char *end = ends[i];
			fprintf(sql, ", \"%s%s\" %s", n->fields[c], end,
			        !strcmp(end, "_image")          ? "INTEGER REFERENCES image"
			        : !strcmp(end, "_function")     ? "INTEGER REFERENCES function"
			        : text || !strcmp(end, "_file") ? "TEXT"
			                                        : "INTEGER");
		}
	}
	fputs(");", sql);
}

/* The same with names in place of references, for people. */
static void
create_view(FILE *sql, const struct st_profile_table *t, const struct names *n)
{
	fprintf(sql, "CREATE VIEW \"named_%s\" AS SELECT t.id", strchr(n->data, '_') + 1);
	for (size_t c = 0; c < t->n_columns; c++) {
		const char *f = n->fields[c];
		switch (st_profile_shape(t->columns[c].type)) {
		case ST_VALUE_PLACE:
			fprintf(sql, ", f%zu.name AS \"%s\", i%zu.path AS \"%s_image\"", c, f, c,
			        f);
			fprintf(sql, ", t.\"%s_offset\"", f);
			break;
		case ST_VALUE_LINE:
			fprintf(sql, ", t.\"%s_file\", t.\"%s_line\"", f, f);
			break;
		default:
			fprintf(sql, ", t.\"%s\"", f);
		}
	}
	fprintf(sql, " FROM \"%s\" t", n->data);
	for (size_t c = 0; c < t->n_columns; c++)
		if (st_profile_shape(t->columns[c].type) == ST_VALUE_PLACE)
			fprintf(sql,
			        " LEFT JOIN image i%zu ON i%zu.id = t.\"%s_image\""
			        " LEFT JOIN function f%zu ON f%zu.id = t.\"%s_function\"",
			        c, c, n->fields[c], c, c, n->fields[c]);
	fputs(" ORDER BY t.id;", sql);
}

static void
create_table(struct saver *s, const struct st_profile_table *t, const struct names *n)
{
	struct st_text built;
	FILE *sql = s->status == SQLITE_OK ? st_text_begin(&built) : NULL;
	if (!sql)
		return;
	save_tables_create(sql, t, n);
	create_view(sql, t, n);
	char *text = st_text_end(&built);
	s->status = text ? sqlite3_exec(s->db, text, NULL, NULL, NULL) : SQLITE_NOMEM;
	free(text);
}

/* Prepares a statement that inserts several rows at once. */
static void
begin_many(struct saver *s, const char *table, size_t columns, size_t rows)
{
	struct st_text built;
	sqlite3_finalize(s->insert);
	s->insert = NULL;
	s->column = 0;
	FILE *sql = s->status == SQLITE_OK ? st_text_begin(&built) : NULL;
	if (!sql)
		return;
	fprintf(sql, "INSERT INTO \"%s\" VALUES", table);
	for (size_t row = 0; row < rows; row++)
		for (size_t i = 0; i < columns; i++)
			fputs(i ? ",?" : row ? "),(?" : "(?", sql);
	fputs(")", sql);
	char *text = st_text_end(&built);
	s->status = text ? sqlite3_prepare_v2(s->db, text, -1, &s->insert, NULL) : SQLITE_NOMEM;
	free(text);
}

static void
save_tables_begin(struct saver *s, const char *table, size_t columns)
{
	begin_many(s, table, columns, 1);
}

static void
save_tables_end_row(struct saver *s)
{
	s->column = 0;
	if (s->status != SQLITE_OK)
		return;
	int status = sqlite3_step(s->insert);
	if (status != SQLITE_DONE)
		s->status = status;
	sqlite3_reset(s->insert);
	sqlite3_clear_bindings(s->insert);
}

/* All 64 bits, so that what is greater than a signed number appears negative. */
static void
save_tables_put(struct saver *s, uint64_t value)
{
	sqlite3_bind_int64(s->insert, ++s->column, (int64_t)value);
}

static void
save_tables_put_text(struct saver *s, const char *text)
{
	sqlite3_bind_text(s->insert, ++s->column, text, -1, SQLITE_STATIC);
}

/* An index of another table, as its id. */
static void
put_index(struct saver *s, uint32_t index)
{
	s->column++;
	if (index != UINT32_MAX)
		sqlite3_bind_int64(s->insert, s->column, (int64_t)index + 1);
}

static void
put_place(struct saver *s, const struct st_profile_value *v)
{
	put_index(s, v->image);
	save_tables_put(s, v->number);
	put_index(s, v->function);
}

static void
put_value(struct saver *s, enum strobe_type type, const struct st_profile_value *v)
{
	switch (st_profile_shape(type)) {
	case ST_VALUE_TEXT:
		save_tables_put_text(s, v->text);
		break;
	case ST_VALUE_PLACE:
		put_place(s, v);
		break;
	case ST_VALUE_LINE:
		save_tables_put_text(s, v->text);
		if (v->text) {
			save_tables_put(s, v->number);
			s->column += 3;
		} else {
			s->column++;
			put_place(s, v);
		}
		break;
	default:
		save_tables_put(s, v->number);
	}
}

static void
put_row(struct saver *s, const struct st_profile_table *t, size_t id,
        const struct st_profile_value *row)
{
	const char *const *ends;
	save_tables_put(s, id);
	for (size_t c = 0; c < t->n_columns; c++)
		if (id || c >= t->n_keys)
			put_value(s, t->columns[c].type, &row[c]);
		else
			s->column += (int)st_fields_of(t->columns[c].type, &ends);
}

/* A statement for many rows takes two thirds of the time of one for each. */
static void
save_rows(struct saver *s, const struct st_profile_table *t, const struct names *n)
{
	enum { AT_ONCE = 64 };
	size_t columns = 1, rows = st_profile_rows(t), i = 0;
	const char *const *ends;
	for (size_t c = 0; c < t->n_columns; c++)
		columns += st_fields_of(t->columns[c].type, &ends);
	if (rows >= AT_ONCE)
		begin_many(s, n->data, columns, AT_ONCE);
	for (; rows - i >= AT_ONCE; save_tables_end_row(s))
		for (size_t end = i + AT_ONCE; i < end; i++)
			put_row(s, t, i + 1, t->values.v + i * t->n_columns);
	save_tables_begin(s, n->data, columns);
	for (; i < rows; i++, save_tables_end_row(s))
		put_row(s, t, i + 1, t->values.v + i * t->n_columns);
	if (t->has_others) {
		put_row(s, t, 0, t->others);
		save_tables_end_row(s);
	}
}

static void
save_catalogue(struct saver *s, const struct st_profile *p)
{
	save_tables_begin(s, "tool_table", 5);
	for (size_t i = 0; i < p->tables.n; i++) {
		const struct st_profile_table *t = &p->tables.v[i];
		save_tables_put(s, i + 1);
		save_tables_put_text(s, t->name);
		save_tables_put_text(s, t->tool);
		save_tables_put_text(s, t->help);
		save_tables_put_text(s, s->names[i].data);
		save_tables_end_row(s);
	}
	uint64_t id = 0;
	save_tables_begin(s, "tool_column", 6);
	for (size_t i = 0; i < p->tables.n; i++) {
		const struct st_profile_table *t = &p->tables.v[i];
		for (size_t c = 0; c < t->n_columns; c++) {
			save_tables_put(s, ++id);
			save_tables_put(s, i + 1);
			save_tables_put_text(s, t->columns[c].name);
			save_tables_put_text(s, st_profile_type_name(t->columns[c].type));
			save_tables_put_text(s, st_profile_role_name(t->columns[c].role));
			save_tables_put_text(s, s->names[i].fields[c]);
			save_tables_end_row(s);
		}
	}
}

static void
save_streams(struct saver *s, const struct st_profile *p)
{
	save_tables_begin(s, "stream", 8);
	for (size_t i = 0; i < p->streams.n; i++) {
		const struct st_profile_stream *in = &p->streams.v[i];
		save_tables_put(s, i + 1);
		save_tables_put_text(s, in->name);
		save_tables_put_text(s, in->tool);
		save_tables_put_text(s, in->help);
		save_tables_put_text(s, in->file);
		save_tables_put(s, in->rows);
		save_tables_put(s, in->bytes);
		save_tables_put(s, in->dropped);
		save_tables_end_row(s);
	}
}

int
st_save_tables(sqlite3 *db, const struct st_profile *p)
{
	struct saver s = {.db = db, .status = SQLITE_OK};
	s.names = calloc(p->tables.n ? p->tables.n : 1, sizeof *s.names);
	if (!s.names)
		return SQLITE_NOMEM;
	for (size_t i = 0; i < p->tables.n; i++)
		name_table(s.names, i, &p->tables.v[i]);
	save_catalogue(&s, p);
	for (size_t i = 0; i < p->tables.n; i++) {
		create_table(&s, &p->tables.v[i], &s.names[i]);
		save_rows(&s, &p->tables.v[i], &s.names[i]);
	}
	save_streams(&s, p);
	sqlite3_finalize(s.insert);
	free(s.names);
	return s.status;
}
