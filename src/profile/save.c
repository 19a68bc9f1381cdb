/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>

#include "base/text.h"
#include "profile/file_tables.h"
#include "profile/output.h"
#include "profile/profile.h"
#include "profile/schema.h"

/* Fills tables row by row: values are put in the order of the columns. The first failure stays. */
struct writer {
	sqlite3 *db;
	sqlite3_stmt *insert;
	int column, status;
	int error; /* errno of the first failure, if it was the system's */
};

static void
save_note(struct writer *w, int status)
{
	w->status = status;
	w->error = sqlite3_system_errno(w->db);
	if (!w->error)
		w->error = errno; /* SQLite forgets it on some ways out of a COMMIT */
}

static void
table(struct writer *w, const char *name, int columns)
{
	char sql[256];
	snprintf(sql, sizeof sql, "INSERT INTO %s VALUES(?", name);
	for (int i = 1; i < columns; i++)
		st_append(sql, sizeof sql, ",?");
	st_append(sql, sizeof sql, ")");
	sqlite3_finalize(w->insert);
	w->insert = NULL;
	if (w->status == SQLITE_OK)
		w->status = sqlite3_prepare_v2(w->db, sql, -1, &w->insert, NULL);
	w->column = 0;
}

static void
save_put(struct writer *w, int64_t value)
{
	sqlite3_bind_int64(w->insert, ++w->column, value);
}

/* Counts are unsigned inside, SQLite's integers are not; no count of a real run comes near the
 * limit. */
static void
put_count(struct writer *w, uint64_t value)
{
	save_put(w, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

static void
put_or_null(struct writer *w, bool known, int64_t value)
{
	if (known)
		save_put(w, value);
	else
		sqlite3_bind_null(w->insert, ++w->column);
}

static void
put_real(struct writer *w, double value)
{
	sqlite3_bind_double(w->insert, ++w->column, value);
}

static void
save_put_text(struct writer *w, const char *text)
{
	sqlite3_bind_text(w->insert, ++w->column, text, -1, SQLITE_STATIC); /* NULL becomes NULL */
}

static void
save_end_row(struct writer *w)
{
	w->column = 0;
	if (w->status != SQLITE_OK)
		return;
	errno = 0;
	int status = sqlite3_step(w->insert);
	if (status != SQLITE_DONE)
		save_note(w, status);
	sqlite3_reset(w->insert);
}

static void
save_run(struct writer *w, const struct st_profile_run *r)
{
	table(w, "run", 27);
	save_put_text(w, r->tool);
	save_put_text(w, r->options);
	save_put_text(w, r->strobe_version);
	save_put_text(w, r->cwd);
	save_put_text(w, r->host);
	save_put_text(w, r->machine);
	save_put_text(w, r->kernel);
	save_put_text(w, r->cpu);
	save_put(w, r->cores);
	save_put(w, r->start_ns);
	save_put(w, r->wall_ns);
	save_put(w, r->cpu_user_ns);
	save_put(w, r->cpu_system_ns);
	put_real(w, r->tsc_hz);
	put_real(w, r->slowdown.about);
	save_put(w, r->exit);
	save_put(w, r->signal);
	save_put(w, r->sample_hz);
	save_put(w, r->follow);
	save_put(w, r->has_functions);
	put_count(w, r->samples_code);
	put_count(w, r->samples_kernel);
	put_count(w, r->samples_engine);
	put_count(w, r->samples_dropped);
	put_count(w, r->stacks);
	put_count(w, r->stacks_cut);
	save_put(w, r->native_ns);
	save_end_row(w);
	table(w, "argument", 2);
	for (size_t i = 0; i < r->command.n; i++) {
		save_put(w, (int64_t)i + 1);
		save_put_text(w, r->command.v[i]);
		save_end_row(w);
	}
	table(w, "environment", 2);
	for (size_t i = 0; i < r->environment.n; i++) {
		save_put(w, (int64_t)i + 1);
		save_put_text(w, r->environment.v[i]);
		save_end_row(w);
	}
}

static void
save_processes(struct writer *w, const struct st_profile *p)
{
	table(w, "process", 12);
	for (size_t i = 0; i < p->processes.n; i++) {
		const struct st_profile_process *in = &p->processes.v[i];
		save_put(w, (int64_t)i + 1);
		save_put(w, in->pid);
		save_put(w, in->ppid);
		save_put_text(w, in->command);
		save_put(w, in->state);
		save_put(w, in->exited);
		save_put(w, in->exit);
		save_put(w, in->signal);
		save_put(w, in->core_dumped);
		put_or_null(w, in->wall_ns >= 0, in->wall_ns);
		put_count(w, in->executions);
		put_count(w, in->instructions);
		save_end_row(w);
	}
}

static void
save_images(struct writer *w, const struct st_profile *p)
{
	table(w, "image", 7);
	for (size_t i = 0; i < p->images.n; i++) {
		const struct st_profile_image *in = &p->images.v[i];
		save_put(w, (int64_t)i + 1);
		save_put_text(w, in->path);
		save_put_text(w, in->build_id);
		save_put_text(w, in->symbols);
		put_count(w, in->executions);
		put_count(w, in->instructions);
		put_count(w, in->samples);
		save_end_row(w);
	}
}

static void
save_functions(struct writer *w, const struct st_profile *p)
{
	table(w, "function", 15);
	for (size_t i = 0; i < p->functions.n; i++) {
		const struct st_profile_function *in = &p->functions.v[i];
		save_put(w, (int64_t)i + 1);
		save_put(w, (int64_t)in->image + 1);
		put_count(w, in->offset);
		put_count(w, in->size);
		save_put_text(w, in->name);
		save_put_text(w, in->file);
		put_or_null(w, in->line > 0, in->line);
		put_count(w, in->calls);
		save_put(w, in->calls_exact);
		put_count(w, in->executions);
		put_count(w, in->instructions);
		put_count(w, in->samples);
		put_count(w, in->samples_kernel);
		put_count(w, in->samples_engine);
		put_count(w, in->samples_total);
		save_end_row(w);
	}
}

static void
save_aliases(struct writer *w, const struct st_profile *p)
{
	table(w, "function_alias", 2);
	for (size_t i = 0; i < p->aliases.n; i++) {
		save_put(w, (int64_t)p->aliases.v[i].function + 1);
		save_put_text(w, p->aliases.v[i].name);
		save_end_row(w);
	}
}

static void
save_blocks(struct writer *w, const struct st_profile *p)
{
	table(w, "block", 11);
	for (size_t i = 0; i < p->blocks.n; i++) {
		const struct st_profile_block *in = &p->blocks.v[i];
		save_put(w, (int64_t)i + 1);
		save_put(w, (int64_t)in->image + 1);
		save_put(w, (int64_t)in->function + 1);
		put_count(w, in->offset);
		save_put(w, in->bytes);
		save_put(w, in->insns);
		save_put(w, in->end);
		put_or_null(w, in->target <= INT64_MAX, (int64_t)in->target);
		put_count(w, in->executions);
		put_count(w, in->instructions);
		put_count(w, in->samples);
		save_end_row(w);
	}
}

static void
save_lines(struct writer *w, const struct st_profile *p)
{
	table(w, "line", 7);
	for (size_t i = 0; i < p->lines.n; i++) {
		const struct st_profile_line *in = &p->lines.v[i];
		save_put(w, (int64_t)i + 1);
		save_put(w, (int64_t)in->function + 1);
		save_put_text(w, in->file);
		save_put(w, in->line);
		put_count(w, in->executions);
		put_count(w, in->instructions);
		put_count(w, in->samples);
		save_end_row(w);
	}
}

static void
save_threads(struct writer *w, const struct st_profile *p)
{
	table(w, "thread", 8);
	for (size_t i = 0; i < p->threads.n; i++) {
		const struct st_profile_thread *in = &p->threads.v[i];
		save_put(w, (int64_t)i + 1);
		save_put(w, (int64_t)in->process + 1);
		save_put(w, in->tid);
		save_put_text(w, in->name);
		save_put(w, in->state);
		put_or_null(w, in->begin_ns >= 0, in->begin_ns);
		put_or_null(w, in->end_ns >= 0, in->end_ns);
		put_count(w, in->samples);
		save_end_row(w);
	}
}

static void
save_counters(struct writer *w, const char *name, const struct st_profile_counter *v, size_t n)
{
	table(w, name, 4);
	for (size_t i = 0; i < n; i++) {
		save_put(w, (int64_t)v[i].process + 1);
		save_put_text(w, v[i].name);
		save_put_text(w, v[i].help);
		put_count(w, v[i].total);
		save_end_row(w);
	}
}

static void
save_fallbacks(struct writer *w, const struct st_profile *p)
{
	table(w, "fallback", 5);
	for (size_t i = 0; i < p->fallbacks.n; i++) {
		const struct st_profile_fallback *in = &p->fallbacks.v[i];
		save_put(w, (int64_t)in->process + 1);
		put_or_null(w, in->image != UINT32_MAX, (int64_t)in->image + 1);
		put_count(w, in->offset);
		save_put(w, in->cause);
		put_count(w, in->count);
		save_end_row(w);
	}
	table(w, "note", 1);
	for (size_t i = 0; i < p->notes.n; i++) {
		save_put_text(w, p->notes.v[i]);
		save_end_row(w);
	}
}

static void
run_sql(struct writer *w, const char *sql)
{
	if (w->status != SQLITE_OK)
		return;
	errno = 0;
	int status = sqlite3_exec(w->db, sql, NULL, NULL, NULL);
	if (status != SQLITE_OK)
		save_note(w, status);
}

/* No journal and no syncing: the file is nobody's until it is renamed into place. */
static void
save_fill(struct writer *w, const struct st_profile *p)
{
	char marks[128];
	snprintf(marks, sizeof marks, "PRAGMA application_id=%d;PRAGMA user_version=%d;",
	         ST_PROFILE_APPLICATION_ID, ST_PROFILE_VERSION);
	run_sql(w, "PRAGMA journal_mode=OFF;PRAGMA synchronous=OFF;PRAGMA locking_mode=EXCLUSIVE;"
	           "PRAGMA cache_size=-32768;BEGIN");
	run_sql(w, marks);
	run_sql(w, ST_SCHEMA);
	save_run(w, &p->run);
	save_processes(w, p);
	save_images(w, p);
	save_functions(w, p);
	save_aliases(w, p);
	save_blocks(w, p);
	save_lines(w, p);
	save_threads(w, p);
	save_counters(w, "counter", p->counters.v, p->counters.n);
	save_counters(w, "statistic", p->statistics.v, p->statistics.n);
	save_fallbacks(w, p);
	if (w->status == SQLITE_OK) {
		errno = 0;
		int status = st_save_tables(w->db, p);
		if (status == SQLITE_OK)
			status = st_save_qos(w->db, p);
		if (status == SQLITE_OK)
			status = st_save_tools(w->db, p);
		if (status == SQLITE_OK)
			status = st_save_slowdown(w->db, p);
		if (status == SQLITE_OK)
			status = st_save_overshoots(w->db, p);
		if (status == SQLITE_OK)
			status = st_save_shares(w->db, p);
		if (status == SQLITE_OK)
			status = st_save_forest(w->db, p);
		if (status == SQLITE_OK)
			status = st_save_machine(w->db, p);
		if (status == SQLITE_OK)
			status = st_save_measurements(w->db, p);
		if (status == SQLITE_OK)
			status = st_save_kept(w->db, p);
		if (status == SQLITE_OK)
			status = st_save_extras(w->db, p);
		if (status != SQLITE_OK)
			save_note(w, status);
	}
	sqlite3_finalize(w->insert);
	run_sql(w, "COMMIT");
}

static st_status
failed(const struct writer *w, const char *path, struct st_error *e)
{
	if ((w->status & 0xff) == SQLITE_FULL)
		return st_output_failed(path, ENOSPC, e);
	if ((w->status & 0xff) == SQLITE_NOMEM)
		return st_output_failed(path, ENOMEM, e);
	if ((w->status & 0xff) == SQLITE_IOERR && w->error)
		return st_output_failed(path, w->error, e);
	return st_fail(e, ST_EXIT_FAILED,
	               "cannot write the result to %s: %s; name another place with -o", path,
	               sqlite3_errstr(w->status));
}

/* The finished database, straight into a pipe or device. */
static st_status
write_image(struct writer *w, struct st_output *o, struct st_error *e)
{
	sqlite3_int64 size = 0;
	unsigned char *bytes = sqlite3_serialize(w->db, "main", &size, 0);
	if (!bytes)
		return st_output_failed(o->path, ENOMEM, e);
	int status = st_output_write(o, bytes, (size_t)size, e);
	sqlite3_free(bytes);
	return status;
}

st_status
st_profile_save(const struct st_profile *p, const char *path, struct st_error *e)
{
	struct writer w = {.status = SQLITE_OK};
	struct st_output o;
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
	if (st_output_begin(&o, path, e))
		return -1;
	sigaction(SIGXFSZ, &ignore, &before); /* a file too large is an error, not a death */
	w.status = sqlite3_open_v2(o.temporary ? o.temporary : ":memory:", &w.db,
	                           SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	save_fill(&w, p);
	int status = w.status == SQLITE_OK ? 0 : failed(&w, path, e);
	if (!status && !o.temporary)
		status = write_image(&w, &o, e);
	sqlite3_close(w.db);
	sigaction(SIGXFSZ, &before, NULL);
	if (!status)
		return st_output_commit(&o, e);
	st_output_abandon(&o);
	return -1;
}
