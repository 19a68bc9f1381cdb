/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables model_answer, model and model_coefficient of a profile file, by the lists of columns
 * of profile/kept.h. */
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "profile/file_tables.h"

enum kept_type { KEPT_KEY, KEPT_TEXT, KEPT_WHOLE, KEPT_REAL };

struct kept_column {
	const char *name;
	enum kept_type type;
	size_t offset; /* of the member */
};

#define KEPT_COLUMNS(table, row)                                                                   \
	static const struct kept_column row##_columns[] = {                                        \
	        table(row##_KEY, row##_TEXT, row##_WHOLE, row##_REAL)}
#define ANSWER(name, type) {#name, type, offsetof(struct st_kept_answer, name)},
#define answer_KEY(name) ANSWER(name, KEPT_KEY)
#define answer_TEXT(name) ANSWER(name, KEPT_TEXT)
#define answer_WHOLE(name) ANSWER(name, KEPT_WHOLE)
#define answer_REAL(name) ANSWER(name, KEPT_REAL)
#define MODEL(name, type) {#name, type, offsetof(struct st_kept_model, name)},
#define model_KEY(name) MODEL(name, KEPT_KEY)
#define model_TEXT(name) MODEL(name, KEPT_TEXT)
#define model_WHOLE(name) MODEL(name, KEPT_WHOLE)
#define model_REAL(name) MODEL(name, KEPT_REAL)
#define COEFFICIENT(name, type) {#name, type, offsetof(struct st_kept_coefficient, name)},
#define coefficient_KEY(name) COEFFICIENT(name, KEPT_KEY)
#define coefficient_TEXT(name) COEFFICIENT(name, KEPT_TEXT)
#define coefficient_WHOLE(name) COEFFICIENT(name, KEPT_WHOLE)
#define coefficient_REAL(name) COEFFICIENT(name, KEPT_REAL)
KEPT_COLUMNS(ST_KEPT_ANSWER, answer);
KEPT_COLUMNS(ST_KEPT_MODEL, model);
KEPT_COLUMNS(ST_KEPT_COEFFICIENT, coefficient);

struct kept_table {
	const char *name;
	const struct kept_column *columns;
	size_t n_columns, row_size;
};

static const struct kept_table answer_table = {"model_answer", answer_columns,
                                               sizeof answer_columns / sizeof *answer_columns,
                                               sizeof(struct st_kept_answer)},
                               model_table = {"model", model_columns,
                                              sizeof model_columns / sizeof *model_columns,
                                              sizeof(struct st_kept_model)},
                               coefficient_table = {"model_coefficient", coefficient_columns,
                                                    sizeof coefficient_columns /
                                                            sizeof *coefficient_columns,
                                                    sizeof(struct st_kept_coefficient)};

/* ---- writing ---- */

/* "CREATE TABLE name(id INTEGER PRIMARY KEY, ...)". malloc'ed. */
static char *
kept_create(const struct kept_table *t)
{
	static const char *const types[] = {[KEPT_KEY] = "TEXT NOT NULL",
	                                    [KEPT_TEXT] = "TEXT",
	                                    [KEPT_WHOLE] = "INTEGER NOT NULL",
	                                    [KEPT_REAL] = "REAL"};
	struct st_text text;
	FILE *out = st_text_begin(&text);
	if (!out)
		return NULL;
	fprintf(out, "CREATE TABLE %s(id INTEGER PRIMARY KEY", t->name);
	for (size_t i = 0; i < t->n_columns; i++)
		fprintf(out, ", \"%s\" %s", t->columns[i].name, types[t->columns[i].type]);
	fputs(")", out);
	return st_text_end(&text);
}

static char *
kept_insert(const struct kept_table *t)
{
	struct st_text text;
	FILE *out = st_text_begin(&text);
	if (!out)
		return NULL;
	fprintf(out, "INSERT INTO %s VALUES(?", t->name);
	for (size_t i = 0; i < t->n_columns; i++)
		fputs(",?", out);
	fputs(")", out);
	return st_text_end(&text);
}

static void
kept_bind(sqlite3_stmt *s, const struct kept_table *t, const char *row, size_t id)
{
	sqlite3_bind_int64(s, 1, (int64_t)id);
	for (size_t i = 0; i < t->n_columns; i++) {
		const void *member = row + t->columns[i].offset;
		const int at = (int)i + 2;
		if (t->columns[i].type == KEPT_WHOLE)
			sqlite3_bind_int64(s, at, *(const int64_t *)member);
		else if (t->columns[i].type == KEPT_REAL)
			sqlite3_bind_double(s, at, *(const double *)member); /* NAN: NULL */
		else
			sqlite3_bind_text(s, at, *(const char *const *)member, -1, SQLITE_STATIC);
	}
}

static int
kept_save_rows(sqlite3 *db, const struct kept_table *t, const void *rows, size_t n)
{
	sqlite3_stmt *s = NULL;
	char *create = kept_create(t), *insert = kept_insert(t);
	int status = create && insert ? SQLITE_OK : SQLITE_NOMEM;
	if (status == SQLITE_OK)
		status = sqlite3_exec(db, create, NULL, NULL, NULL);
	if (status == SQLITE_OK)
		status = sqlite3_prepare_v2(db, insert, -1, &s, NULL);
	for (size_t i = 0; status == SQLITE_OK && i < n; i++) {
		kept_bind(s, t, (const char *)rows + i * t->row_size, i + 1);
		status = sqlite3_step(s) == SQLITE_DONE ? SQLITE_OK : sqlite3_errcode(db);
		sqlite3_reset(s);
	}
	sqlite3_finalize(s);
	free(create);
	free(insert);
	return status;
}

int
st_save_kept(sqlite3 *db, const struct st_profile *p)
{
	const struct st_kept *k = &p->kept;
	if (!k->answers.n)
		return SQLITE_OK;
	int status = kept_save_rows(db, &answer_table, k->answers.v, k->answers.n);
	if (status == SQLITE_OK)
		status = kept_save_rows(db, &model_table, k->models.v, k->models.n);
	if (status == SQLITE_OK)
		status = kept_save_rows(db, &coefficient_table, k->coefficients.v,
		                        k->coefficients.n);
	return status;
}

/* ---- reading ---- */

static char *
kept_select(const struct kept_table *t)
{
	struct st_text text;
	FILE *out = st_text_begin(&text);
	if (!out)
		return NULL;
	fputs("SELECT id", out);
	for (size_t i = 0; i < t->n_columns; i++)
		fprintf(out, ", %s.\"%s\"", t->name, t->columns[i].name);
	fprintf(out, " FROM %s ORDER BY id", t->name);
	return st_text_end(&text);
}

/* Reads a row. Returns false if a text is missing that every row has. */
static bool
kept_take(sqlite3_stmt *s, const struct kept_table *t, struct st_profile *p, char *row)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		void *member = row + t->columns[i].offset;
		const int at = (int)i + 1;
		if (t->columns[i].type == KEPT_WHOLE) {
			*(int64_t *)member = sqlite3_column_int64(s, at);
		} else if (t->columns[i].type == KEPT_REAL) {
			const bool none = sqlite3_column_type(s, at) == SQLITE_NULL;
			*(double *)member = none ? NAN : sqlite3_column_double(s, at);
		} else {
			const char *text = (const char *)sqlite3_column_text(s, at);
			*(const char **)member = text ? st_profile_text(p, text) : NULL;
			if (!text && t->columns[i].type == KEPT_KEY)
				return false;
		}
	}
	return true;
}

/* Rows as they are in memory. */
struct kept_rows {
	char *v;
	size_t n, cap;
};

/* The rows of a table. The caller frees in both cases. */
static bool
kept_load_rows(sqlite3 *db, const struct kept_table *t, struct st_profile *p, struct kept_rows *out)
{
	sqlite3_stmt *s = NULL;
	char *select = kept_select(t);
	int status = select ? sqlite3_prepare_v2(db, select, -1, &s, NULL) : SQLITE_NOMEM;
	bool good = true;
	*out = (struct kept_rows){0};
	free(select);
	while (good && status == SQLITE_OK && (status = sqlite3_step(s)) == SQLITE_ROW) {
		char *grown = st_vec_grow(out->v, out->n, &out->cap, t->row_size);
		status = grown ? SQLITE_OK : SQLITE_NOMEM;
		if (!grown)
			break;
		out->v = grown;
		good = sqlite3_column_int64(s, 0) == (int64_t)out->n + 1 &&
		       kept_take(s, t, p, out->v + out->n * t->row_size);
		out->n += good;
	}
	p->out_of_memory |= status == SQLITE_NOMEM;
	sqlite3_finalize(s);
	return good && status == SQLITE_DONE;
}

/* Loads a table into the list of its rows. */
#define KEPT_LOAD(db, table, p, list)                                                              \
	({                                                                                         \
		struct kept_rows rows_;                                                            \
		const bool good_ = kept_load_rows(db, table, p, &rows_);                           \
		(list)->v = (void *)rows_.v;                                                       \
		(list)->n = rows_.n;                                                               \
		(list)->cap = rows_.cap;                                                           \
		good_;                                                                             \
	})

static bool
kept_refers(int64_t number, size_t n)
{
	return number >= 1 && (uint64_t)number <= n;
}

bool
st_load_kept(sqlite3 *db, struct st_profile *p)
{
	struct st_kept *k = &p->kept;
	if (!st_has_table(db, answer_table.name))
		return true;
	bool good = KEPT_LOAD(db, &answer_table, p, &k->answers) &&
	            KEPT_LOAD(db, &model_table, p, &k->models) &&
	            KEPT_LOAD(db, &coefficient_table, p, &k->coefficients);
	for (size_t i = 0; i < k->models.n && good; i++)
		good = kept_refers(k->models.v[i].answer, k->answers.n) &&
		       (!i || k->models.v[i].answer >= k->models.v[i - 1].answer);
	for (size_t i = 0; i < k->coefficients.n && good; i++)
		good = kept_refers(k->coefficients.v[i].model, k->models.n) &&
		       (!i || k->coefficients.v[i].model >= k->coefficients.v[i - 1].model);
	return good;
}
