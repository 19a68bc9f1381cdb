/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the tables series, series_frame, series_label, feature and measurement of a profile file.
 * The last has a column for each feature. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "profile/file_tables.h"

struct keeper {
	sqlite3 *db;
	sqlite3_stmt *insert;
	int status;
	const struct st_measurements *m;
	char fields[ST_MOST_FEATURES][ST_FIELD_NAME]; /* SQL names of the features */
};

static const char fixed[] =
        "CREATE TABLE series("
        " id INTEGER PRIMARY KEY, kind TEXT NOT NULL, metric TEXT NOT NULL, unit TEXT NOT NULL,"
        " image TEXT, file TEXT, module TEXT, class TEXT, function TEXT, line INTEGER,"
        " n INTEGER NOT NULL);"
        "CREATE TABLE series_frame("
        " series INTEGER NOT NULL REFERENCES series, function TEXT, file TEXT, line INTEGER);"
        "CREATE TABLE series_label("
        " series INTEGER NOT NULL REFERENCES series, name TEXT NOT NULL, value TEXT NOT NULL);"
        "CREATE TABLE feature(id INTEGER PRIMARY KEY, name TEXT NOT NULL, field TEXT NOT NULL);";

/* A name that is no other column's: "call-order" becomes call_order. */
static void
name_field(struct keeper *k, size_t index)
{
	static const char *const taken[] = {"id",    "series", "value",    "metric", "unit",
	                                    "image", "file",   "function", "line"};
	enum { LONGEST = 40 }; /* so that there is space for a number after it */
	char *out = k->fields[index];
	const char *name = k->m->names.v[index];
	int n = snprintf(out, LONGEST, "%s", *name ? name : "_");
	bool clash = false;
	for (int i = 0; i < n && out[i]; i++)
		if (!isalnum((unsigned char)out[i]))
			out[i] = '_';
	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
		clash |= !strcasecmp(out, taken[i]);
	for (size_t i = 0; i < index; i++)
		clash |= !strcasecmp(out, k->fields[i]);
	if (clash)
		sprintf(strchr(out, '\0'), "__%zu", index + 1);
}

static void
execute(struct keeper *k, const char *sql)
{
	if (k->status == SQLITE_OK)
		k->status = sqlite3_exec(k->db, sql, NULL, NULL, NULL);
}

static void
create_measurement(struct keeper *k)
{
	struct st_text built;
	FILE *sql = st_text_begin(&built);
	if (!sql) {
		k->status = SQLITE_NOMEM;
		return;
	}
	fputs("CREATE TABLE measurement(id INTEGER PRIMARY KEY,"
	      " series INTEGER NOT NULL REFERENCES series, value REAL",
	      sql);
	for (size_t i = 0; i < k->m->names.n; i++)
		fprintf(sql, ", \"%s\" REAL", k->fields[i]);
	fputs(");CREATE VIEW named_measurement AS SELECT m.id, s.metric, s.unit, s.image, s.file,"
	      " s.function, s.line, m.value",
	      sql);
	for (size_t i = 0; i < k->m->names.n; i++)
		fprintf(sql, ", m.\"%s\"", k->fields[i]);
	fputs(" FROM measurement m JOIN series s ON s.id = m.series ORDER BY m.id;", sql);
	char *text = st_text_end(&built);
	if (text)
		execute(k, text);
	else
		k->status = SQLITE_NOMEM;
	free(text);
}

static void
measurement_prepare(struct keeper *k, const char *table, size_t columns)
{
	char sql[128 + 2 * (ST_MOST_FEATURES + 16)];
	snprintf(sql, sizeof sql, "INSERT INTO %s VALUES(?", table);
	for (size_t i = 1; i < columns; i++)
		st_append(sql, sizeof sql, ",?");
	st_append(sql, sizeof sql, ")");
	sqlite3_finalize(k->insert);
	k->insert = NULL;
	if (k->status == SQLITE_OK)
		k->status = sqlite3_prepare_v2(k->db, sql, -1, &k->insert, NULL);
}

static void
measurement_insert(struct keeper *k)
{
	if (k->status != SQLITE_OK)
		return;
	int status = sqlite3_step(k->insert);
	if (status != SQLITE_DONE)
		k->status = status;
	sqlite3_reset(k->insert);
	sqlite3_clear_bindings(k->insert);
}

static void
bind_text(struct keeper *k, int column, const char *text)
{
	sqlite3_bind_text(k->insert, column, text, -1, SQLITE_STATIC); /* NULL becomes NULL */
}

static void
bind_line(struct keeper *k, int column, uint32_t line)
{
	if (line)
		sqlite3_bind_int64(k->insert, column, line);
}

static void
save_series(struct keeper *k)
{
	measurement_prepare(k, "series", 11);
	for (size_t i = 0; i < k->m->series.n; i++) {
		const struct st_series *s = &k->m->series.v[i];
		const char *const texts[] = {s->key.kind,  s->key.metric,  s->key.unit,
		                             s->key.image, s->key.file,    s->key.module,
		                             s->key.class, s->key.function};
		enum { TEXTS = sizeof texts / sizeof *texts };
		sqlite3_bind_int64(k->insert, 1, (int64_t)i + 1);
		for (int t = 0; t < TEXTS; t++)
			bind_text(k, t + 2, texts[t]);
		bind_line(k, TEXTS + 2, s->key.line);
		sqlite3_bind_int64(k->insert, TEXTS + 3, (int64_t)s->n);
		measurement_insert(k);
	}
}

static void
save_frames_and_labels(struct keeper *k)
{
	measurement_prepare(k, "series_frame", 4);
	for (size_t i = 0; i < k->m->series.n; i++) {
		const struct st_series_key *key = &k->m->series.v[i].key;
		for (size_t f = 0; f < key->n_frames; f++) {
			sqlite3_bind_int64(k->insert, 1, (int64_t)i + 1);
			bind_text(k, 2, key->frames[f].function);
			bind_text(k, 3, key->frames[f].file);
			bind_line(k, 4, key->frames[f].line);
			measurement_insert(k);
		}
	}
	measurement_prepare(k, "series_label", 3);
	for (size_t i = 0; i < k->m->series.n; i++) {
		const struct st_series_key *key = &k->m->series.v[i].key;
		for (size_t l = 0; l < key->n_labels; l++) {
			sqlite3_bind_int64(k->insert, 1, (int64_t)i + 1);
			bind_text(k, 2, key->labels[l].name);
			bind_text(k, 3, key->labels[l].value);
			measurement_insert(k);
		}
	}
}

static void
save_features(struct keeper *k)
{
	measurement_prepare(k, "feature", 3);
	for (size_t i = 0; i < k->m->names.n; i++) {
		sqlite3_bind_int64(k->insert, 1, (int64_t)i + 1);
		bind_text(k, 2, k->m->names.v[i]);
		bind_text(k, 3, k->fields[i]);
		measurement_insert(k);
	}
}

/* Where the features of a series are among those of all. */
static void
measurement_columns(const struct keeper *k, const struct st_series *s,
                    int columns[ST_MOST_FEATURES])
{
	for (size_t f = 0; f < s->features.n; f++)
		for (size_t i = 0; i < k->m->names.n; i++)
			if (k->m->names.v[i] == s->features.v[f].name)
				columns[f] = (int)i + 4;
}

/* NAN is bound as NULL. */
static void
save_values(struct keeper *k)
{
	int64_t id = 0;
	measurement_prepare(k, "measurement", 3 + k->m->names.n);
	for (size_t i = 0; i < k->m->series.n; i++) {
		const struct st_series *s = &k->m->series.v[i];
		int columns[ST_MOST_FEATURES];
		measurement_columns(k, s, columns);
		for (size_t row = 0; row < s->n && k->status == SQLITE_OK; row++) {
			sqlite3_bind_int64(k->insert, 1, ++id);
			sqlite3_bind_int64(k->insert, 2, (int64_t)i + 1);
			sqlite3_bind_double(k->insert, 3, s->values[row]);
			for (size_t f = 0; f < s->features.n; f++)
				sqlite3_bind_double(k->insert, columns[f], s->features.v[f].v[row]);
			measurement_insert(k);
		}
	}
}

int
st_save_measurements(sqlite3 *db, const struct st_profile *p)
{
	struct keeper *k = p->measurements.series.n ? calloc(1, sizeof *k) : NULL;
	if (!k)
		return p->measurements.series.n ? SQLITE_NOMEM : SQLITE_OK;
	*k = (struct keeper){.db = db, .status = SQLITE_OK, .m = &p->measurements};
	for (size_t i = 0; i < k->m->names.n; i++)
		name_field(k, i);
	execute(k, fixed);
	create_measurement(k);
	save_series(k);
	save_frames_and_labels(k);
	save_features(k);
	save_values(k);
	int status = k->status;
	sqlite3_finalize(k->insert);
	free(k);
	return status;
}
