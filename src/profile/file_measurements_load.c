/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the measurements of a profile file. It may come from anyone: what does not fit together is
 * refused, and the name of a column becomes a part of a query only if it is a plain one. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "profile/file_tables.h"

struct taker {
	sqlite3 *db;
	sqlite3_stmt *rows;
	struct st_profile *p;
	bool bad;
	ST_VEC(struct st_series_frame) frames;
	ST_VEC(struct st_series_label) labels;
	size_t n_features;
	const char *features[ST_MOST_FEATURES];
	char fields[ST_MOST_FEATURES][ST_FIELD_NAME];
};

static void
take_query(struct taker *t, sqlite3_stmt **s, const char *sql)
{
	if (!t->bad && sqlite3_prepare_v2(t->db, sql, -1, s, NULL) != SQLITE_OK)
		t->bad = true;
}

static bool
measurement_row(struct taker *t, sqlite3_stmt *s)
{
	int status = t->bad ? SQLITE_DONE : sqlite3_step(s);
	t->bad |= status != SQLITE_ROW && status != SQLITE_DONE;
	return status == SQLITE_ROW;
}

static const char *
take_text(sqlite3_stmt *s, int column)
{
	return (const char *)sqlite3_column_text(s, column);
}

static uint32_t
measurement_line(struct taker *t, sqlite3_stmt *s, int column)
{
	int64_t line = sqlite3_column_int64(s, column);
	t->bad |= line < 0 || line > UINT32_MAX;
	return (uint32_t)line;
}

/* Its texts must last until the key is copied, so they are the profile's. */
static const char *
kept_text(struct taker *t, sqlite3_stmt *s, int column)
{
	const char *text = take_text(s, column);
	return text ? st_profile_text(t->p, text) : NULL;
}

/* The parts of a series in separate tables, whose rows are in the order of the series. */
struct side {
	sqlite3_stmt *rows;
	int64_t series; /* of the row that comes next; INT64_MAX: there is none */
};

static void
side_next(struct taker *t, struct side *s)
{
	s->series = measurement_row(t, s->rows) ? sqlite3_column_int64(s->rows, 0) : INT64_MAX;
}

static void
side_begin(struct taker *t, struct side *s, const char *sql)
{
	*s = (struct side){.series = INT64_MAX};
	take_query(t, &s->rows, sql);
	side_next(t, s);
}

static void
measurement_load_frames(struct taker *t, struct side *s, int64_t series)
{
	for (t->frames.n = 0; !t->bad && s->series == series; side_next(t, s)) {
		struct st_series_frame *f = ST_PUSH(&t->frames);
		t->p->out_of_memory |= !f;
		t->bad |= !f;
		if (f)
			*f = (struct st_series_frame){kept_text(t, s->rows, 1),
			                              kept_text(t, s->rows, 2),
			                              measurement_line(t, s->rows, 3)};
	}
}

static void
measurement_load_labels(struct taker *t, struct side *s, int64_t series)
{
	for (t->labels.n = 0; !t->bad && s->series == series; side_next(t, s)) {
		struct st_series_label *l = ST_PUSH(&t->labels);
		t->p->out_of_memory |= !l;
		t->bad |= !l;
		if (l)
			*l = (struct st_series_label){kept_text(t, s->rows, 1),
			                              kept_text(t, s->rows, 2)};
		t->bad |= l && (!l->name || !l->value);
	}
}

static void
load_one_series(struct taker *t, sqlite3_stmt *s)
{
	struct st_measurements *m = &t->p->measurements;
	struct st_series_key k = {.kind = take_text(s, 1),
	                          .metric = take_text(s, 2),
	                          .unit = take_text(s, 3),
	                          .image = take_text(s, 4),
	                          .file = take_text(s, 5),
	                          .module = take_text(s, 6),
	                          .class = take_text(s, 7),
	                          .function = take_text(s, 8),
	                          .line = measurement_line(t, s, 9),
	                          .frames = t->frames.v,
	                          .n_frames = t->frames.n,
	                          .labels = t->labels.v,
	                          .n_labels = t->labels.n};
	t->bad |= !k.kind || !k.metric || !k.unit;
	t->bad |= sqlite3_column_int64(s, 0) != (int64_t)m->series.n + 1;
	if (t->bad)
		return;
	size_t before = m->series.n;
	t->bad = !st_series_of(t->p, &k) || m->series.n == before;
}

static void
load_series(struct taker *t)
{
	struct side frames, labels;
	sqlite3_stmt *s = NULL;
	take_query(t, &s,
	           "SELECT id, kind, metric, unit, image, file, module, class, function, line "
	           "FROM series ORDER BY id");
	side_begin(t, &frames,
	           "SELECT series, function, file, line FROM series_frame ORDER BY series, rowid");
	side_begin(t, &labels,
	           "SELECT series, name, value FROM series_label ORDER BY series, rowid");
	while (measurement_row(t, s)) {
		measurement_load_frames(t, &frames, sqlite3_column_int64(s, 0));
		measurement_load_labels(t, &labels, sqlite3_column_int64(s, 0));
		load_one_series(t, s);
	}
	t->bad |= frames.series != INT64_MAX || labels.series != INT64_MAX; /* of no series */
	sqlite3_finalize(s);
	sqlite3_finalize(frames.rows);
	sqlite3_finalize(labels.rows);
}

/* A quoted name that is no column's would be a text to SQLite. */
static bool
is_field(const struct taker *t, const char *name)
{
	size_t n = 0;
	while (name && (isalnum((unsigned char)name[n]) || name[n] == '_'))
		n++;
	return n && !name[n] && n < ST_FIELD_NAME &&
	       sqlite3_table_column_metadata(t->db, "main", "measurement", name, NULL, NULL, NULL,
	                                     NULL, NULL) == SQLITE_OK;
}

static void
load_features(struct taker *t)
{
	sqlite3_stmt *s = NULL;
	take_query(t, &s, "SELECT name, field FROM feature ORDER BY id");
	while (measurement_row(t, s)) {
		const char *field = take_text(s, 1);
		const char *name = kept_text(t, s, 0);
		t->bad |= !name || !is_field(t, field) || t->n_features == ST_MOST_FEATURES;
		if (t->bad)
			break;
		snprintf(t->fields[t->n_features], ST_FIELD_NAME, "%s", field);
		t->features[t->n_features++] = name;
	}
	sqlite3_finalize(s);
}

static void
load_value(struct taker *t, struct st_series *s)
{
	enum { FIRST = 2 };
	bool none = sqlite3_column_type(t->rows, 1) == SQLITE_NULL;
	size_t row = st_series_add(s, none ? NAN : sqlite3_column_double(t->rows, 1));
	t->bad |= row == SIZE_MAX;
	for (size_t i = 0; i < t->n_features && !t->bad; i++)
		if (sqlite3_column_type(t->rows, (int)i + FIRST) != SQLITE_NULL)
			t->bad |= st_series_set(t->p, s, t->features[i], row,
			                        sqlite3_column_double(t->rows, (int)i + FIRST)) !=
			          ST_OK;
	t->p->out_of_memory |= row == SIZE_MAX;
}

static void
load_values(struct taker *t)
{
	struct st_measurements *m = &t->p->measurements;
	struct st_text built;
	FILE *sql = st_text_begin(&built);
	if (!sql)
		return;
	fputs("SELECT series, value", sql);
	for (size_t i = 0; i < t->n_features; i++)
		fprintf(sql, ", \"%s\"", t->fields[i]);
	fputs(" FROM measurement ORDER BY id", sql);
	char *text = st_text_end(&built);
	t->bad |= !text;
	take_query(t, &t->rows, text ? text : "");
	free(text);
	while (measurement_row(t, t->rows)) {
		uint32_t series = st_index_of(t->rows, 0, m->series.n, &t->bad);
		t->bad |= series == UINT32_MAX;
		if (!t->bad)
			load_value(t, &m->series.v[series]);
	}
}

/* Checks the number of values of each series, which is stored in `series` as well. */
static void
check_lengths(struct taker *t)
{
	struct st_measurements *m = &t->p->measurements;
	sqlite3_stmt *s = NULL;
	size_t i = 0;
	take_query(t, &s, "SELECT n FROM series ORDER BY id");
	for (; measurement_row(t, s) && i < m->series.n; i++)
		t->bad |= sqlite3_column_int64(s, 0) != (int64_t)m->series.v[i].n;
	sqlite3_finalize(s);
}

bool
st_load_measurements(sqlite3 *db, struct st_profile *p)
{
	if (!st_has_table(db, "series"))
		return true;
	struct taker *t = calloc(1, sizeof *t);
	if (!t) {
		p->out_of_memory = true;
		return false;
	}
	*t = (struct taker){.db = db, .p = p};
	load_series(t);
	load_features(t);
	load_values(t);
	check_lengths(t);
	bool good = !t->bad && !p->out_of_memory;
	sqlite3_finalize(t->rows);
	free(t->frames.v);
	free(t->labels.v);
	free(t);
	return good;
}
