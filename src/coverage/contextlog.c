/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "coverage/contextlog.h"

#include <stdlib.h>
#include <string.h>

#include "coverage/codelog_db.h"
#include "coverage/contextlog_known.h"
#include "wire/results/header.h"

/* A context's parent is 0 above the first function, and less than its own number. Functions without
 * an image are no places (st_profile_label_name), by number. */
static const char schema[] =
        "CREATE TABLE rules(text TEXT NOT NULL);"
        "CREATE TABLE function(id INTEGER PRIMARY KEY, image INTEGER NOT NULL,"
        " offset INTEGER NOT NULL, name TEXT NOT NULL, UNIQUE(image, offset));"
        "CREATE TABLE context(id INTEGER PRIMARY KEY, parent INTEGER NOT NULL,"
        " function INTEGER NOT NULL REFERENCES function, count INTEGER NOT NULL,"
        " run INTEGER NOT NULL REFERENCES run, UNIQUE(parent, function));";

enum { NOWHERE = 0 }; /* no number of a function or a context */

/* ---- what it is of ---- */

st_status
st_codelog_kind(struct st_codelog *log, enum st_codelog_kind *kind, struct st_error *e)
{
	int status;
	bool contexts =
	        st_codelog_number(log, "SELECT count(*) FROM sqlite_master WHERE name = 'context'",
	                          &status) > 0;
	bool used = status == SQLITE_OK &&
	            st_codelog_number(log, "SELECT EXISTS(SELECT * FROM run)", &status) > 0;
	if (status != SQLITE_OK)
		return st_codelog_fail(log, status, e);
	*kind = contexts ? ST_CODELOG_CONTEXTS : used ? ST_CODELOG_CODE : ST_CODELOG_EMPTY;
	return 0;
}

st_status
st_codelog_check_code(struct st_codelog *log, struct st_error *e)
{
	enum st_codelog_kind kind = ST_CODELOG_EMPTY;
	if (st_codelog_kind(log, &kind, e))
		return -1;
	if (kind == ST_CODELOG_CONTEXTS)
		return st_fail(e, ST_EXIT_FAILED,
		               "%s is a log of calling contexts, for strobe paths: name another "
		               "file",
		               log->path);
	return 0;
}

/* ---- a run begins ---- */

static st_status
create_contextlog(struct st_codelog *log, const char *rules, struct st_error *e)
{
	if (st_codelog_execute(log, schema, e))
		return -1;
	sqlite3_stmt *s = st_codelog_prepare(log, "INSERT INTO rules VALUES(?)", e);
	if (!s)
		return -1;
	sqlite3_bind_text(s, 1, rules, -1, SQLITE_STATIC);
	int status = sqlite3_step(s);
	sqlite3_finalize(s);
	return status == SQLITE_DONE ? 0 : st_codelog_fail(log, status, e);
}

/* NULL and *e: it has none. The caller frees. */
static char *
rules_of(struct st_codelog *log, struct st_error *e)
{
	sqlite3_stmt *s = st_codelog_prepare(log, "SELECT text FROM rules", e);
	if (!s)
		return NULL;
	int status = sqlite3_step(s);
	const char *text = status == SQLITE_ROW ? (const char *)sqlite3_column_text(s, 0) : NULL;
	char *rules = text ? strdup(text) : NULL;
	sqlite3_finalize(s);
	if (!rules)
		ST_IGNORE(st_codelog_fail(log, status == SQLITE_BUSY ? status : SQLITE_CORRUPT, e));
	return rules;
}

static st_status
check_rules(struct st_codelog *log, const char *rules, struct st_error *e)
{
	char *own = rules_of(log, e);
	if (!own)
		return -1;
	int status =
	        strcmp(own, rules)
	                ? st_fail(e, ST_EXIT_FAILED,
	                          "%s was made with other options about contexts: %s there, %s now",
	                          log->path, own, rules)
	                : 0;
	free(own);
	return status;
}

static st_status
make_or_check(struct st_codelog *log, const char *rules, struct st_error *e)
{
	enum st_codelog_kind kind = ST_CODELOG_EMPTY;
	if (st_codelog_kind(log, &kind, e))
		return -1;
	if (kind == ST_CODELOG_CODE)
		return st_fail(e, ST_EXIT_FAILED,
		               "%s is a log of code, for strobe run: name another file", log->path);
	if (kind == ST_CODELOG_EMPTY ? create_contextlog(log, rules, e)
	                             : check_rules(log, rules, e))
		return -1;
	return st_contextlog_make_quiet(log, e);
}

st_status
st_contextlog_begin(struct st_codelog *log, const char *rules, struct st_error *e)
{
	if (st_codelog_execute(log, "BEGIN IMMEDIATE", e))
		return -1;
	if (!make_or_check(log, rules, e))
		return st_codelog_execute(log, "COMMIT", e);
	st_codelog_undo_blocks(log);
	return -1;
}

/* ---- a run ends ---- */

struct uniting {
	struct st_codelog *log;
	const struct st_profile *p;
	sqlite3_stmt *function, *context;
	int64_t *images;    /* in the log, by the profile's; 0: not asked yet */
	int64_t *functions; /* in the log, by the profile's labels */
	int64_t *contexts;  /* by the profile's */
	struct st_contextlog_result *result;
};

/* The number that a statement gives; -1: *e. */
static int64_t
contextlog_number_of(struct uniting *u, sqlite3_stmt *s, struct st_error *e)
{
	int status = sqlite3_step(s);
	int64_t n = status == SQLITE_ROW ? sqlite3_column_int64(s, 0) : -1;
	if (status == SQLITE_ROW)
		status = sqlite3_step(s);
	sqlite3_reset(s);
	return status == SQLITE_DONE && n > 0 ? n : st_codelog_fail(u->log, status, e);
}

static int64_t
contextlog_image_of(struct uniting *u, uint32_t i, struct st_error *e)
{
	const struct st_profile_image *image = &u->p->images.v[i];
	if (!u->images[i])
		u->images[i] = st_codelog_image(u->log, image->build_id, image->path, e);
	return u->images[i];
}

static const char *
contextlog_name_of(const struct uniting *u, const struct st_profile_label *l)
{
	if (l->image == UINT32_MAX)
		return st_profile_label_name(l);
	return l->function == UINT32_MAX ? "" : u->p->functions.v[l->function].name;
}

/* Has the label the same place in every run? */
static bool
has_place(const struct uniting *u, const struct st_profile_label *l)
{
	if (l->image == UINT32_MAX)
		return l->offset == ST_LABEL_ROOT;
	return *u->p->images.v[l->image].build_id != 0;
}

static st_status
place_label(struct uniting *u, uint32_t i, struct st_error *e)
{
	const struct st_profile_label *l = &u->p->labels.v[i];
	if (!has_place(u, l))
		return 0;
	int64_t image = l->image == UINT32_MAX ? 0 : contextlog_image_of(u, l->image, e);
	if (image < 0)
		return -1;
	sqlite3_bind_int64(u->function, 1, image);
	sqlite3_bind_int64(u->function, 2, (int64_t)l->offset);
	sqlite3_bind_text(u->function, 3, contextlog_name_of(u, l), -1, SQLITE_STATIC);
	u->functions[i] = contextlog_number_of(u, u->function, e);
	return u->functions[i] < 0 ? -1 : 0;
}

static st_status
unite_context(struct uniting *u, size_t i, struct st_error *e)
{
	const struct st_profile_context *x = &u->p->contexts.v[i];
	bool top = x->parent == UINT32_MAX;
	int64_t parent = top ? 0 : u->contexts[x->parent];
	if (!u->functions[x->label] && place_label(u, x->label, e))
		return -1;
	if (u->functions[x->label] == NOWHERE || (!top && parent == NOWHERE)) {
		u->result->nowhere++;
		return 0;
	}
	sqlite3_bind_int64(u->context, 1, parent);
	sqlite3_bind_int64(u->context, 2, u->functions[x->label]);
	sqlite3_bind_int64(u->context, 3, (int64_t)x->count);
	u->contexts[i] = contextlog_number_of(u, u->context, e);
	return u->contexts[i] < 0 ? -1 : 0;
}

static st_status
count_added(struct uniting *u, struct st_error *e)
{
	sqlite3_stmt *s =
	        st_codelog_prepare(u->log, "SELECT count(*) FROM context WHERE run = ?", e);
	if (!s)
		return -1;
	sqlite3_bind_int64(s, 1, u->log->run);
	int status = sqlite3_step(s);
	u->result->added = status == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(s, 0) : 0;
	sqlite3_finalize(s);
	if (status != SQLITE_ROW)
		return st_codelog_fail(u->log, status, e);
	return st_contextlog_count(u->log, &u->result->all, e);
}

static st_status
unite(struct uniting *u, struct st_error *e)
{
	u->function = st_codelog_prepare(u->log,
	                                 "INSERT INTO function(image, offset, name)"
	                                 " VALUES(?, ?, ?) ON CONFLICT DO UPDATE"
	                                 " SET name = excluded.name RETURNING id",
	                                 e);
	u->context = st_codelog_prepare(u->log,
	                                "INSERT INTO context(parent, function, count, run)"
	                                " VALUES(?, ?, ?, ?) ON CONFLICT DO UPDATE"
	                                " SET count = count + excluded.count RETURNING id",
	                                e);
	if (!u->function || !u->context)
		return -1;
	sqlite3_bind_int64(u->context, 4, u->log->run);
	for (size_t i = 0; i < u->p->contexts.n; i++)
		if (unite_context(u, i, e))
			return -1;
	return count_added(u, e);
}

/* Notes runs that have added nothing, by the log's numbers of contexts, summed over threads. */
static st_status
note_quiet(struct uniting *u, struct st_error *e)
{
	uint64_t *entered = calloc(u->result->all + 1, sizeof *entered);
	if (!entered)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < u->p->contexts.n; i++)
		if (u->contexts[i] > 0 && (uint64_t)u->contexts[i] <= u->result->all)
			entered[u->contexts[i]] += u->p->contexts.v[i].count;
	int status = st_contextlog_note_quiet(u->log, entered, u->result->all, e);
	free(entered);
	return status;
}

static st_status
unite_and_end(struct uniting *u, struct st_codelog_run *run, struct st_error *e)
{
	if (st_codelog_execute(u->log, "BEGIN IMMEDIATE", e))
		return -1;
	int status = unite(u, e) || note_quiet(u, e);
	run->ended = true;
	run->blocks = run->instructions = u->result->added;
	if (!status && !st_codelog_end(u->log, run, e) && !st_codelog_execute(u->log, "COMMIT", e))
		return 0;
	st_codelog_undo_blocks(u->log);
	return -1;
}

st_status
st_contextlog_add(struct st_codelog *log, const struct st_profile *p, struct st_codelog_run *run,
                  struct st_contextlog_result *result, struct st_error *e)
{
	*result = (struct st_contextlog_result){0};
	struct uniting u = {.log = log,
	                    .p = p,
	                    .images = calloc(p->images.n + 1, sizeof *u.images),
	                    .functions = calloc(p->labels.n + 1, sizeof *u.functions),
	                    .contexts = calloc(p->contexts.n + 1, sizeof *u.contexts),
	                    .result = result};
	int status = u.images && u.functions && u.contexts
	                     ? unite_and_end(&u, run, e)
	                     : st_fail(e, ST_EXIT_FAILED, "out of memory");
	sqlite3_finalize(u.function);
	sqlite3_finalize(u.context);
	free(u.images);
	free(u.functions);
	free(u.contexts);
	return status;
}

st_status
st_contextlog_count(struct st_codelog *log, uint64_t *contexts, struct st_error *e)
{
	enum st_codelog_kind kind = ST_CODELOG_EMPTY;
	int status = SQLITE_OK;
	*contexts = 0;
	if (st_codelog_kind(log, &kind, e))
		return -1;
	if (kind == ST_CODELOG_CONTEXTS)
		*contexts =
		        (uint64_t)st_codelog_number(log, "SELECT count(*) FROM context", &status);
	return status == SQLITE_OK ? 0 : st_codelog_fail(log, status, e);
}
