/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A log of contexts as a profile. It may come from anyone: each number is checked. */
#include <stdio.h>
#include <string.h>

#include "coverage/codelog_db.h"
#include "coverage/contextlog.h"
#include "wire/results/header.h"

bool
st_contextlog_is(const char *path)
{
	enum { APPLICATION_AT = 68 }; /* in the header of SQLite's files */
	static const unsigned char mark[4] = "StLg";
	unsigned char found[4];
	FILE *f = fopen(path, "re");
	bool is = f && fseek(f, APPLICATION_AT, SEEK_SET) == 0 &&
	          fread(found, sizeof found, 1, f) == 1 && !memcmp(found, mark, sizeof mark);
	if (f)
		fclose(f);
	return is;
}

struct reading {
	struct st_codelog *log;
	struct st_profile *p;
	uint32_t *label_of; /* by the function's number */
	uint32_t n_functions;
};

static const char *
contextlog_text(struct st_profile *p, sqlite3_stmt *s, int column)
{
	const char *t = (const char *)sqlite3_column_text(s, column);
	return st_profile_text(p, t ? t : "");
}

/* A number from 1 to most; 0: it is none. */
static uint32_t
number(sqlite3_stmt *s, int column, size_t most)
{
	int64_t n = sqlite3_column_int64(s, column);
	return n > 0 && (uint64_t)n <= most ? (uint32_t)n : 0;
}

/* False: the row cannot be true. */
static bool
read_image(struct reading *r, sqlite3_stmt *s)
{
	struct st_profile_image *image = ST_PUSH(&r->p->images);
	if (!image)
		return false;
	*image = (struct st_profile_image){.build_id = contextlog_text(r->p, s, 1),
	                                   .path = contextlog_text(r->p, s, 2),
	                                   .symbols = "none"};
	return number(s, 0, r->p->images.n) == r->p->images.n;
}

static bool
read_function_contextlog(struct reading *r, sqlite3_stmt *s)
{
	struct st_profile *p = r->p;
	uint32_t id = number(s, 0, r->n_functions), image = number(s, 1, p->images.n);
	struct st_profile_label *l = ST_PUSH(&p->labels);
	if (!l || !id || (!image && sqlite3_column_int64(s, 2) != ST_LABEL_ROOT))
		return false;
	*l = (struct st_profile_label){.image = image ? image - 1 : UINT32_MAX,
	                               .function = UINT32_MAX,
	                               .offset = (uint64_t)sqlite3_column_int64(s, 2),
	                               .next = UINT32_MAX};
	r->label_of[id] = (uint32_t)p->labels.n;
	const char *name = contextlog_text(p, s, 3);
	if (!image || !*name)
		return true;
	struct st_profile_function *f = ST_PUSH(&p->functions);
	if (!f)
		return false;
	*f = (struct st_profile_function){
	        .image = l->image, .offset = l->offset, .size = 1, .name = name};
	l->function = (uint32_t)p->functions.n - 1;
	return true;
}

static bool
read_context_contextlog(struct reading *r, sqlite3_stmt *s)
{
	struct st_profile *p = r->p;
	size_t n = p->contexts.n;
	int64_t above = sqlite3_column_int64(s, 1), count = sqlite3_column_int64(s, 3);
	uint32_t parent = number(s, 1, n), function = number(s, 2, r->n_functions);
	struct st_profile_context *x = ST_PUSH(&p->contexts);
	if (!x || sqlite3_column_int64(s, 0) != (int64_t)n + 1 || (above && !parent) || count < 0 ||
	    !function || !r->label_of[function])
		return false;
	*x = (struct st_profile_context){.parent = parent ? parent - 1 : UINT32_MAX,
	                                 .label = r->label_of[function] - 1,
	                                 .link = UINT32_MAX,
	                                 .count = (uint64_t)count};
	return true;
}

static st_status
read_rows(struct reading *r, const char *sql, bool (*use)(struct reading *r, sqlite3_stmt *s),
          struct st_error *e)
{
	sqlite3_stmt *s = st_codelog_prepare(r->log, sql, e);
	int status;
	if (!s)
		return -1;
	while ((status = sqlite3_step(s)) == SQLITE_ROW)
		if (!use(r, s)) {
			status = SQLITE_CORRUPT;
			break;
		}
	sqlite3_finalize(s);
	return status == SQLITE_DONE ? 0 : st_codelog_fail(r->log, status, e);
}

static bool
read_rules(struct reading *r, sqlite3_stmt *s)
{
	r->p->run.tool = contextlog_text(r->p, s, 0);
	st_profile_tools_of_text(r->p);
	return true;
}

/* All threads of all runs are one. */
static bool
add_thread(struct reading *r)
{
	struct st_profile *p = r->p;
	struct st_profile_process *process = ST_PUSH(&p->processes);
	struct st_profile_thread *thread = ST_PUSH(&p->threads);
	const char **command = ST_PUSH(&p->run.command);
	if (!process || !thread || !command)
		return false;
	*command = st_profile_text(p, r->log->path);
	*process = (struct st_profile_process){.command = *command};
	*thread = (struct st_profile_thread){.name = "", .end_ns = -1};
	p->run.options = p->run.strobe_version = p->run.cwd = p->run.host = p->run.machine =
	        p->run.kernel = p->run.cpu = "";
	return true;
}

static st_status
read_all(struct reading *r, struct st_error *e)
{
	enum st_codelog_kind kind;
	int status;
	if (st_codelog_kind(r->log, &kind, e))
		return -1;
	if (kind != ST_CODELOG_CONTEXTS)
		return st_fail(e, ST_EXIT_FAILED,
		               "%s is a log of code, not of contexts: strobe covered shows it",
		               r->log->path);
	r->n_functions =
	        (uint32_t)st_codelog_number(r->log, "SELECT count(*) FROM function", &status);
	if (status != SQLITE_OK)
		return st_codelog_fail(r->log, status, e);
	r->label_of = calloc((size_t)r->n_functions + 1, sizeof *r->label_of);
	if (!r->label_of || !add_thread(r))
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	return read_rows(r, "SELECT text FROM rules", read_rules, e) ||
	                       read_rows(r, "SELECT id, build_id, path FROM image ORDER BY id",
	                                 read_image, e) ||
	                       read_rows(r,
	                                 "SELECT id, image, offset, name FROM function ORDER BY "
	                                 "image, offset",
	                                 read_function_contextlog, e) ||
	                       read_rows(r,
	                                 "SELECT id, parent, function, count FROM context ORDER BY "
	                                 "id",
	                                 read_context_contextlog, e)
	               ? -1
	               : 0;
}

struct st_profile *
st_contextlog_read(const char *path, struct st_error *e)
{
	struct reading r = {.log = st_codelog_open(path, false, e)};
	if (!r.log)
		return NULL;
	r.p = st_profile_new();
	int status = r.p ? 0 : st_fail(e, ST_EXIT_FAILED, "out of memory");
	/* One state of it, also when a run ends meanwhile. */
	status = status || st_codelog_execute(r.log, "BEGIN", e) || read_all(&r, e);
	if (!status && r.p->out_of_memory)
		status = st_fail(e, ST_EXIT_FAILED, "out of memory");
	st_codelog_close(r.log);
	free(r.label_of);
	if (!status)
		return r.p;
	st_profile_free(r.p);
	return NULL;
}
