/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The profile's file: what is saved is what is loaded, and what is no profile is refused with its
 * cause. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "fake.h"
#include "profile/profile.h"
#include "report/report.h"

static char *const command[] = {"fixture", "one", "caf\xc3\xa9",
                                "bad\xff"
                                "byte",
                                NULL};

static struct st_profile *
collect(void)
{
	struct fake *f = fixture_results();
	struct st_process process = fake_process(f, 4711, 1, "fixture");
	struct st_run run = {.processes = &process,
	                     .n_processes = 1,
	                     .seconds = 0.5,
	                     .cpu_user = 0.4,
	                     .tsc_hz = 1e9,
	                     .exit_code = 3};
	struct st_profile_origin o = {.tool = "hot",
	                              .argv = command,
	                              .options = "-t hot",
	                              .sample_hz = 1000,
	                              .keep_blocks = true,
	                              .start_ns = 1700000000000000000};
	struct st_profile *p = st_profile_collect(&run, &o, NULL);
	assert_non_null(p);
	fake_free(f);
	return p;
}

/* A name in a fresh directory that the test removes. */
struct place {
	char directory[64], path[96];
};

static struct place
place(void)
{
	struct place p = {"/tmp/strobe-test-XXXXXX", ""};
	assert_non_null(mkdtemp(p.directory));
	snprintf(p.path, sizeof p.path, "%s/profile.db", p.directory);
	return p;
}

static void
leave(const struct place *p)
{
	unlink(p->path);
	assert_int_equal(rmdir(p->directory), 0); /* no temporary file is left */
}

/* Everything that the reports say of a profile, as one text. */
static char *
everything(const struct st_profile *p)
{
	struct st_report r = {.profile = p, .parts = ~0u};
	struct st_error e;
	char *text = NULL, *json = st_report_json(&r, &e);
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	assert_non_null(json);
	st_report_summary(&r, out);
	st_report_parts(&r, out);
	fputs(json, out);
	fclose(out);
	free(json);
	return text;
}

static void
loads_what_was_saved(void **state)
{
	(void)state;
	struct place where = place();
	struct st_profile *p = collect(), *q;
	struct st_error e;
	assert_int_equal(st_profile_save(p, where.path, &e), 0);
	q = st_profile_load(where.path, &e);
	assert_non_null(q);
	assert_string_equal(q->run.command.v[3], "bad\xff"
	                                         "byte");
	assert_int_equal(q->run.start_ns, 1700000000000000000);
	assert_int_equal(q->run.environment.n, p->run.environment.n);
	assert_int_equal(q->threads.v[1].end_ns, -1);
	assert_int_equal(q->blocks.n, p->blocks.n);
	assert_true(q->blocks.v[2].target == p->blocks.v[2].target);
	char *before = everything(p), *after = everything(q);
	assert_string_equal(before, after);
	free(before);
	free(after);
	st_profile_free(p);
	st_profile_free(q);
	leave(&where);
}

static int64_t
query(const char *path, const char *sql)
{
	sqlite3 *db;
	sqlite3_stmt *rows;
	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &rows, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(rows), SQLITE_ROW);
	int64_t value = sqlite3_column_int64(rows, 0);
	sqlite3_finalize(rows);
	sqlite3_close(db);
	return value;
}

static void
change(const char *path, const char *sql)
{
	sqlite3 *db;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

/* Tools and their options are data; of a file that has only the text they are read from that. */
static void
options_are_kept(void **state)
{
	(void)state;
	struct st_profile *p = st_profile_new(), *q;
	struct st_error e;
	struct place where = place();
	assert_non_null(p);
	p->run.tool = "hot,contexts:k=3,cycles,mode=a:b";
	p->run.options = p->run.strobe_version = p->run.cwd = p->run.host = p->run.machine =
	        p->run.kernel = p->run.cpu = "";
	st_profile_add_tool(p, "hot");
	st_profile_add_tool(p, "contexts");
	st_profile_add_option(p, 1, "k", "3");
	st_profile_add_option(p, 1, "cycles", "1");
	st_profile_add_option(p, 1, "mode", "a:b");
	st_profile_add_option(p, 1, "k", "4");
	for (int text_only = 0; text_only < 2; text_only++) {
		assert_int_equal(st_profile_save(p, where.path, &e), 0);
		if (text_only)
			change(where.path, "DROP TABLE tool_option; DROP TABLE tool;");
		q = st_profile_load(where.path, &e);
		if (!q)
			fail_msg("%s", e.text);
		assert_true(st_profile_has_tool(q, "hot") && st_profile_has_tool(q, "contexts"));
		assert_false(st_profile_has_tool(q, "k") || st_profile_has_tool(q, "cycles"));
		assert_string_equal(st_profile_option(q, "contexts", "k"), text_only ? "3" : "4");
		assert_string_equal(st_profile_option(q, "contexts", "cycles"), "1");
		assert_string_equal(st_profile_option(q, "contexts", "mode"), "a:b");
		assert_null(st_profile_option(q, "hot", "k"));
		assert_null(st_profile_option(q, "none", "k"));
		assert_int_equal(q->run.tools.n, 2);
		st_profile_free(q);
	}
	st_profile_free(p);
	leave(&where);
}

static void
any_sql_client_reads_it(void **state)
{
	(void)state;
	struct place where = place();
	struct st_profile *p = collect();
	assert_int_equal(st_profile_save(p, where.path, NULL), 0);
	assert_int_equal(query(where.path, "PRAGMA application_id"), ST_PROFILE_APPLICATION_ID);
	assert_int_equal(query(where.path, "PRAGMA user_version"), ST_PROFILE_VERSION);
	assert_int_equal(query(where.path, "SELECT sum(instructions) FROM block"), 730);
	assert_int_equal(query(where.path, "SELECT sum(instructions) FROM function"), 730);
	assert_int_equal(query(where.path, "SELECT calls FROM hot WHERE name = 'restart'"), 10);
	assert_int_equal(query(where.path, "SELECT round(self_share * 100) FROM hot LIMIT 1"), 75);
	assert_int_equal(query(where.path,
	                       "SELECT sum(l.executions) FROM line l JOIN function f ON "
	                       "f.id = l.function WHERE f.name = 'spin'"),
	                 5 + 45 + 45 + 5);
	assert_int_equal(query(where.path, "SELECT count(*) FROM pragma_integrity_check WHERE "
	                                   "integrity_check = 'ok'"),
	                 1);
	/* Of a tool that counts no functions: those that its tables name have no counts to show. */
	p->run.has_functions = false;
	assert_int_equal(st_profile_save(p, where.path, NULL), 0);
	assert_int_equal(query(where.path, "SELECT count(*) FROM hot"), 1);
	assert_int_equal(query(where.path, "SELECT name LIKE 'no functions were counted: the "
	                                   "profile was made with ''hot''%' AND calls IS NULL AND "
	                                   "self_share IS NULL FROM hot"),
	                 1);
	st_profile_free(p);
	leave(&where);
}

static void
alter(const char *path, const char *sql)
{
	sqlite3 *db;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void
refused(const char *path, const char *cause)
{
	struct st_error e = {0};
	assert_null(st_profile_load(path, &e));
	assert_int_equal(e.code, ST_EXIT_FAILED);
	if (!strstr(e.text, cause))
		fail_msg("'%s' does not say '%s'", e.text, cause);
}

static void
damage_is_refused(void **state)
{
	(void)state;
	static const char *const damages[] = {
	        "UPDATE block SET function = 999",
	        "UPDATE block SET image = 0",
	        "UPDATE function SET image = -1",
	        "UPDATE line SET function = 77",
	        "UPDATE thread SET process = 9",
	        "UPDATE counter SET process = 2",
	        "UPDATE fallback SET image = 3",
	        "UPDATE function SET calls = -4",
	        "UPDATE block SET bytes = 1 << 40",
	        "UPDATE image SET id = id + 5",
	        "DELETE FROM image WHERE id = 1",
	        "DELETE FROM run",
	        "DROP TABLE line",
	        "ALTER TABLE function RENAME COLUMN calls TO visits",
	        "DROP TABLE note; CREATE VIEW note AS SELECT 'x' AS text",
	};
	struct st_profile *p = collect();
	for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
		struct place where = place();
		assert_int_equal(st_profile_save(p, where.path, NULL), 0);
		alter(where.path, damages[i]);
		refused(where.path, "run the program again");
		leave(&where);
	}
	st_profile_free(p);
}

static void
strange_values_are_read(void **state)
{
	(void)state;
	struct place where = place();
	struct st_profile *p = collect();
	assert_int_equal(st_profile_save(p, where.path, NULL), 0);
	alter(where.path, "UPDATE function SET name = x'00ff1b5b', file = x'1b5b33316d';"
	                  "UPDATE block SET ends = 4000000000;"
	                  "UPDATE process SET state = -1; UPDATE thread SET state = 99;"
	                  "UPDATE fallback SET cause = 12345; UPDATE run SET signal = 4242");
	struct st_profile *q = st_profile_load(where.path, NULL);
	assert_non_null(q);
	char *text = everything(q);
	assert_null(strchr(text, '\033'));
	assert_non_null(strstr(text, "unknown cause"));
	free(text);
	st_profile_free(q);
	st_profile_free(p);
	leave(&where);
}

static void
write_bytes(const char *path, const void *bytes, size_t n)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

static void
foreign_files_are_refused(void **state)
{
	(void)state;
	struct place where = place();
	struct st_profile *p = collect();
	refused(where.path, "No such file");
	refused("/tmp", "not a regular file");
	write_bytes(where.path, "", 0);
	refused(where.path, "is not a profile");
	write_bytes(where.path, "int main(void);\n", 16);
	refused(where.path, "is not a profile");
	write_bytes(where.path, "{\"strobe\": {}}\n", 15);
	refused(where.path, "JSON");
	unlink(where.path);
	alter(where.path, "CREATE TABLE run(x)");
	refused(where.path, "database of another program");
	unlink(where.path);
	assert_int_equal(st_profile_save(p, where.path, NULL), 0);
	alter(where.path, "PRAGMA user_version = 7");
	refused(where.path, "newer strobe (version 7");
	alter(where.path, "PRAGMA user_version = 1");
	refused(where.path, "older strobe (version 1");
	assert_int_equal(st_profile_save(p, where.path, NULL), 0);
	assert_int_equal(truncate(where.path, 5000), 0);
	refused(where.path, "run the program again");
	st_profile_free(p);
	leave(&where);
}

static void
a_failed_save_leaves_the_old_file(void **state)
{
	(void)state;
	struct place where = place();
	struct st_profile *p = collect();
	struct st_error e = {0};
	assert_int_equal(st_profile_save(p, "/dev/full", &e), -1);
	assert_int_equal(e.code, ST_EXIT_FAILED);
	assert_non_null(strstr(e.text, "/dev/full: No space left on device"));
	assert_int_equal(st_profile_save(p, "/nonexistent/x.db", &e), -1);
	assert_non_null(strstr(e.text, "/nonexistent/x.db: No such file or directory"));
	assert_int_equal(st_profile_save(p, where.path, &e), 0);
	struct st_profile *q = st_profile_load(where.path, &e);
	assert_non_null(q);
	st_profile_free(q);
	st_profile_free(p);
	leave(&where);
}

/* -o FIFO and -o /dev/null must not replace what is there with a file. */
static void
devices_stay_devices(void **state)
{
	(void)state;
	struct st_profile *p = collect();
	struct stat st;
	struct st_error e = {0};
	assert_int_equal(st_profile_save(p, "/dev/null", &e), 0);
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	st_profile_free(p);
}

static void
a_link_is_followed(void **state)
{
	(void)state;
	struct place where = place();
	struct st_profile *p = collect();
	char link[96];
	struct stat st;
	snprintf(link, sizeof link, "%s/link", where.directory);
	write_bytes(where.path, "old", 3);
	assert_int_equal(symlink(where.path, link), 0);
	assert_int_equal(st_profile_save(p, link, NULL), 0);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	struct st_profile *q = st_profile_load(where.path, NULL);
	assert_non_null(q);
	st_profile_free(q);
	st_profile_free(p);
	unlink(link);
	leave(&where);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(loads_what_was_saved),
	        cmocka_unit_test(options_are_kept),
	        cmocka_unit_test(any_sql_client_reads_it),
	        cmocka_unit_test(damage_is_refused),
	        cmocka_unit_test(strange_values_are_read),
	        cmocka_unit_test(foreign_files_are_refused),
	        cmocka_unit_test(a_failed_save_leaves_the_old_file),
	        cmocka_unit_test(devices_stay_devices),
	        cmocka_unit_test(a_link_is_followed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
