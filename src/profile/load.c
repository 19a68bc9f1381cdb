/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading a profile file. It may come from anyone: every reference between rows is checked before
 * it is used as an index, every text may be missing, and no SQL of the file itself is run.
 */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/file_tables.h"
#include "profile/waits.h"

/* Version 2 has no tables of tools. */
enum { OLDEST_VERSION = 2, FIRST_WITH_TABLES = 3 };

struct reader {
	sqlite3 *db;
	sqlite3_stmt *rows;
	struct st_profile *p;
	int column;
	bool damaged;
};

static void
load_query(struct reader *r, const char *sql)
{
	sqlite3_finalize(r->rows);
	r->rows = NULL;
	if (!r->damaged && sqlite3_prepare_v2(r->db, sql, -1, &r->rows, NULL) != SQLITE_OK)
		r->damaged = true;
}

static bool
load_next(struct reader *r)
{
	r->column = 0;
	if (r->damaged)
		return false;
	int status = sqlite3_step(r->rows);
	if (status != SQLITE_ROW && status != SQLITE_DONE)
		r->damaged = true;
	return status == SQLITE_ROW;
}

static int64_t
load_get(struct reader *r)
{
	return sqlite3_column_int64(r->rows, r->column++);
}

static uint64_t
get_count(struct reader *r)
{
	int64_t value = load_get(r);
	r->damaged |= value < 0;
	return value < 0 ? 0 : (uint64_t)value;
}

static uint32_t
get_small(struct reader *r)
{
	uint64_t value = get_count(r);
	r->damaged |= value > UINT32_MAX;
	return (uint32_t)value;
}

static double
get_real(struct reader *r)
{
	return sqlite3_column_double(r->rows, r->column++);
}

static int64_t
get_or(struct reader *r, int64_t missing)
{
	if (sqlite3_column_type(r->rows, r->column) == SQLITE_NULL) {
		r->column++;
		return missing;
	}
	return load_get(r);
}

static const char *
get_text_or(struct reader *r, const char *missing)
{
	const char *text = (const char *)sqlite3_column_text(r->rows, r->column++);
	return text ? st_profile_text(r->p, text) : missing;
}

static const char *
load_get_text(struct reader *r)
{
	return get_text_or(r, "");
}

/* A row number of a table with n rows, as an index. */
static uint32_t
load_get_index(struct reader *r, size_t n)
{
	int64_t id = load_get(r);
	if (id < 1 || (uint64_t)id > n) {
		r->damaged = true;
		return 0;
	}
	return (uint32_t)(id - 1);
}

/* Rows must be numbered from 1 without a gap, or references would go astray. */
static void
check_id(struct reader *r, size_t n)
{
	r->damaged |= load_get(r) != (int64_t)n;
}

static bool
pushed(struct reader *r, const void *row)
{
	if (!row)
		r->p->out_of_memory = r->damaged = true;
	return row != NULL;
}

static void
load_texts(struct reader *r, const char *sql, void *list)
{
	__typeof__(r->p->notes) *texts = list;
	load_query(r, sql);
	while (load_next(r)) {
		const char **text = ST_PUSH(texts);
		if (pushed(r, text))
			*text = load_get_text(r);
	}
}

static void
load_run(struct reader *r)
{
	struct st_profile_run *run = &r->p->run;
	load_query(
	        r,
	        "SELECT tool, options, strobe, cwd, host, machine, kernel, cpu, cores, start_ns, "
	        "wall_ns, cpu_user_ns, cpu_system_ns, tsc_hz, slowdown, exit, signal, sample_hz, "
	        "follow, has_functions, samples_code, samples_kernel, samples_engine, "
	        "samples_dropped, stacks, stacks_cut, native_ns FROM run");
	if (!load_next(r)) {
		r->damaged = true;
		return;
	}
	run->tool = load_get_text(r);
	run->options = load_get_text(r);
	run->strobe_version = load_get_text(r);
	run->cwd = load_get_text(r);
	run->host = load_get_text(r);
	run->machine = load_get_text(r);
	run->kernel = load_get_text(r);
	run->cpu = load_get_text(r);
	run->cores = load_get(r);
	run->start_ns = load_get(r);
	run->wall_ns = load_get(r);
	run->cpu_user_ns = load_get(r);
	run->cpu_system_ns = load_get(r);
	run->tsc_hz = get_real(r);
	run->slowdown.about = get_real(r);
	run->exit = load_get(r);
	run->signal = load_get(r);
	run->sample_hz = load_get(r);
	run->follow = load_get(r) != 0;
	run->has_functions = load_get(r) != 0;
	run->samples_code = get_count(r);
	run->samples_kernel = get_count(r);
	run->samples_engine = get_count(r);
	run->samples_dropped = get_count(r);
	run->stacks = get_count(r);
	run->stacks_cut = get_count(r);
	run->native_ns = (int64_t)get_count(r);
	load_texts(r, "SELECT value FROM argument ORDER BY id", &run->command);
	load_texts(r, "SELECT value FROM environment ORDER BY id", &run->environment);
}

static void
load_processes(struct reader *r)
{
	load_query(
	        r,
	        "SELECT id, pid, ppid, command, state, exited, exit, signal, core_dumped, wall_ns, "
	        "executions, instructions FROM process ORDER BY id");
	while (load_next(r)) {
		struct st_profile_process *out = ST_PUSH(&r->p->processes);
		if (!pushed(r, out))
			return;
		check_id(r, r->p->processes.n);
		out->pid = load_get(r);
		out->ppid = load_get(r);
		out->command = load_get_text(r);
		out->state = load_get(r);
		out->exited = load_get(r) != 0;
		out->exit = load_get(r);
		out->signal = load_get(r);
		out->core_dumped = load_get(r) != 0;
		out->wall_ns = get_or(r, -1);
		out->executions = get_count(r);
		out->instructions = get_count(r);
	}
}

static void
load_images(struct reader *r)
{
	load_query(
	        r,
	        "SELECT id, path, build_id, symbols, executions, instructions, samples FROM image "
	        "ORDER BY id");
	while (load_next(r)) {
		struct st_profile_image *out = ST_PUSH(&r->p->images);
		if (!pushed(r, out))
			return;
		check_id(r, r->p->images.n);
		out->path = load_get_text(r);
		out->build_id = load_get_text(r);
		out->symbols = load_get_text(r);
		out->executions = get_count(r);
		out->instructions = get_count(r);
		out->samples = get_count(r);
	}
}

static void
load_functions(struct reader *r)
{
	load_query(
	        r,
	        "SELECT id, image, offset, size, name, file, line, calls, calls_exact, executions, "
	        "instructions, samples, samples_kernel, samples_engine, samples_total "
	        "FROM function ORDER BY id");
	while (load_next(r)) {
		struct st_profile_function *out = ST_PUSH(&r->p->functions);
		if (!pushed(r, out))
			return;
		check_id(r, r->p->functions.n);
		out->image = load_get_index(r, r->p->images.n);
		out->offset = get_count(r);
		out->size = get_count(r);
		out->name = load_get_text(r);
		out->file = get_text_or(r, NULL);
		out->line = get_small(r);
		out->calls = get_count(r);
		out->calls_exact = load_get(r) != 0;
		out->executions = get_count(r);
		out->instructions = get_count(r);
		out->samples = get_count(r);
		out->samples_kernel = get_count(r);
		out->samples_engine = get_count(r);
		out->samples_total = get_count(r);
	}
}

static void
load_blocks(struct reader *r)
{
	load_query(r, "SELECT image, function, offset, bytes, insns, ends, target, executions, "
	              "instructions, samples FROM block ORDER BY id");
	while (load_next(r)) {
		struct st_profile_block *out = ST_PUSH(&r->p->blocks);
		if (!pushed(r, out))
			return;
		out->image = load_get_index(r, r->p->images.n);
		out->function = load_get_index(r, r->p->functions.n);
		out->offset = get_count(r);
		out->bytes = get_small(r);
		out->insns = get_small(r);
		out->end = get_small(r);
		out->target = (uint64_t)get_or(r, -1);
		out->executions = get_count(r);
		out->instructions = get_count(r);
		out->samples = get_count(r);
	}
}

static void
load_lines(struct reader *r)
{
	const char *file = ""; /* consecutive lines are mostly of one file */
	load_query(r,
	           "SELECT function, file, line, executions, instructions, samples FROM line ORDER "
	           "BY id");
	while (load_next(r)) {
		struct st_profile_line *out = ST_PUSH(&r->p->lines);
		if (!pushed(r, out))
			return;
		out->function = load_get_index(r, r->p->functions.n);
		const char *text = (const char *)sqlite3_column_text(r->rows, r->column++);
		if (text && strcmp(text, file))
			file = st_profile_text(r->p, text);
		out->file = file;
		out->line = get_small(r);
		out->executions = get_count(r);
		out->instructions = get_count(r);
		out->samples = get_count(r);
	}
}

static void
load_threads(struct reader *r)
{
	load_query(
	        r,
	        "SELECT process, tid, name, state, begin_ns, end_ns, samples FROM thread ORDER BY "
	        "id");
	while (load_next(r)) {
		struct st_profile_thread *out = ST_PUSH(&r->p->threads);
		if (!pushed(r, out))
			return;
		out->process = load_get_index(r, r->p->processes.n);
		out->tid = load_get(r);
		out->name = load_get_text(r);
		out->state = load_get(r);
		out->begin_ns = get_or(r, -1);
		out->end_ns = get_or(r, -1);
		out->samples = get_count(r);
	}
}

static void
load_counters(struct reader *r, const char *sql, void *list)
{
	__typeof__(r->p->counters) *counters = list;
	load_query(r, sql);
	while (load_next(r)) {
		struct st_profile_counter *out = ST_PUSH(counters);
		if (!pushed(r, out))
			return;
		out->process = load_get_index(r, r->p->processes.n);
		out->name = load_get_text(r);
		out->help = load_get_text(r);
		out->total = get_count(r);
	}
}

static void
load_fallbacks(struct reader *r)
{
	load_query(r, "SELECT process, coalesce(image, 0), offset, cause, count FROM fallback");
	while (load_next(r)) {
		struct st_profile_fallback *out = ST_PUSH(&r->p->fallbacks);
		if (!pushed(r, out))
			return;
		out->process = load_get_index(r, r->p->processes.n);
		uint32_t image = get_small(r);
		r->damaged |= image > r->p->images.n;
		out->image = image - 1; /* 0, no image, becomes UINT32_MAX */
		out->offset = get_count(r);
		out->cause = load_get(r);
		out->count = get_count(r);
	}
	load_texts(r, "SELECT text FROM note ORDER BY rowid", &r->p->notes);
}

/* Files of before have none. */
static void
load_aliases(struct reader *r)
{
	if (!st_has_table(r->db, "function_alias"))
		return;
	load_query(r, "SELECT function, name FROM function_alias ORDER BY function, rowid");
	while (load_next(r)) {
		struct st_profile_alias *out = ST_PUSH(&r->p->aliases);
		if (!pushed(r, out))
			return;
		out->function = load_get_index(r, r->p->functions.n);
		out->name = load_get_text(r);
	}
}

static void
load_all(struct reader *r, uint32_t version)
{
	load_run(r);
	load_processes(r);
	load_images(r);
	load_functions(r);
	load_aliases(r);
	load_blocks(r);
	load_lines(r);
	load_threads(r);
	load_counters(r, "SELECT process, name, help, total FROM counter ORDER BY rowid",
	              &r->p->counters);
	load_counters(r, "SELECT process, name, help, total FROM statistic ORDER BY rowid",
	              &r->p->statistics);
	load_fallbacks(r);
	sqlite3_finalize(r->rows);
	r->rows = NULL;
	if (version >= FIRST_WITH_TABLES && !r->damaged)
		r->damaged = !st_load_tables(r->db, r->p) || !st_load_qos(r->db, r->p) ||
		             !st_load_slowdown(r->db, r->p) || !st_load_tools(r->db, r->p) ||
		             !st_load_overshoots(r->db, r->p) || !st_load_shares(r->db, r->p) ||
		             !st_load_forest(r->db, r->p) || !st_load_measurements(r->db, r->p) ||
		             !st_load_machine(r->db, r->p) || !st_load_kept(r->db, r->p) ||
		             !st_load_extras(r->db, r->p) || st_profile_add_up_waits(r->p) != ST_OK;
}

/* The number in the file's header at an offset, stored with the most significant byte first. */
static uint32_t
header_number(const unsigned char *header, size_t offset)
{
	return (uint32_t)header[offset] << 24 | (uint32_t)header[offset + 1] << 16 |
	       (uint32_t)header[offset + 2] << 8 | header[offset + 3];
}

/* The file's header says whose it is and which version before SQLite is asked. */
static st_status
load_check_header(const char *path, uint32_t *version_out, struct st_error *e)
{
	enum { HEADER = 100, USER_VERSION = 60, APPLICATION_ID = 68 };
	unsigned char header[HEADER] = {0};
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot read %s: %s", path, strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return st_fail(e, ST_EXIT_FAILED, "cannot read %s: not a regular file", path);
	}
	ssize_t n = read(fd, header, sizeof header);
	close(fd);
	if (n > 0 && header[0] == '{')
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "%s is a result in JSON; strobe show reads the profiles that strobe run "
		        "writes with --format db",
		        path);
	if (n < HEADER || memcmp(header, "SQLite format 3", 16))
		return st_fail(e, ST_EXIT_FAILED, "%s is not a profile of strobe", path);
	if (header_number(header, APPLICATION_ID) != ST_PROFILE_APPLICATION_ID)
		return st_fail(e, ST_EXIT_FAILED,
		               "%s is not a profile of strobe but a database of another program",
		               path);
	uint32_t version = *version_out = header_number(header, USER_VERSION);
	if ((int32_t)version > ST_PROFILE_VERSION)
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "%s was written by a newer strobe (version %u of the format, this one "
		        "reads up to %d): use that strobe to read it",
		        path, version, ST_PROFILE_VERSION);
	if ((int32_t)version <= 0)
		return st_fail(e, ST_EXIT_FAILED,
		               "%s is damaged: its header names no version; run the program again",
		               path);
	if (version < OLDEST_VERSION)
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "%s was written by an older strobe (version %u of the format, this one "
		        "reads versions %d to %d): run the program again",
		        path, version, OLDEST_VERSION, ST_PROFILE_VERSION);
	return 0;
}

bool
st_profile_is_file(const char *path)
{
	struct st_error e;
	uint32_t version;
	return load_check_header(path, &version, &e) == ST_OK;
}

struct st_profile *
st_profile_load(const char *path, struct st_error *e)
{
	struct reader r = {0};
	uint32_t version = 0;
	if (load_check_header(path, &version, e))
		return NULL;
	r.p = st_profile_new();
	r.damaged = !r.p;
	if (sqlite3_open_v2(path, &r.db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) !=
	    SQLITE_OK)
		r.damaged = true;
	if (!r.damaged) {
		sqlite3_db_config(r.db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
		sqlite3_db_config(r.db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
		sqlite3_db_config(r.db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
		sqlite3_exec(r.db, "PRAGMA cell_size_check=ON", NULL, NULL, NULL);
		load_all(&r, version);
	}
	if (!r.damaged && !r.p->out_of_memory) {
		sqlite3_close(r.db);
		return r.p;
	}
	if (!r.p || r.p->out_of_memory)
		st_cause(e, ST_EXIT_FAILED, "no memory left to read %s", path);
	else
		st_cause(e, ST_EXIT_FAILED,
		         "%s is damaged: %s; run the program again, or see what sqlite3 can still "
		         "read of it with .recover",
		         path,
		         sqlite3_errcode(r.db) == SQLITE_OK || sqlite3_errcode(r.db) == SQLITE_DONE
		                 ? "its tables do not fit together"
		                 : sqlite3_errmsg(r.db));
	sqlite3_close(r.db);
	st_profile_free(r.p);
	return NULL;
}
