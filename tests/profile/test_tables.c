/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tools' tables: from the results of processes to what is shown, and through a file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "fake.h"
#include "profile/profile.h"
#include "report/report.h"

static char *const command[] = {"fixture", NULL};

/* Of two processes that did the same; at the second, everything lies 64 KiB further up. */
static struct st_profile *
collect(void)
{
	static const char *const tools[] = {"calls"};
	struct fake *a = fixture_results(), *b = fixture_results();
	fixture_tables(a);
	fixture_tables(b);
	struct st_process both[] = {fake_process(a, 1, 0, "a"), fake_process(b, 2, 1, "b")};
	struct st_run run = {.processes = both, .n_processes = 2, .seconds = 1, .tsc_hz = 2e9};
	struct st_profile_origin o = {
	        .tool = "calls", .argv = command, .tools = tools, .n_tools = 1};
	struct st_profile *p = st_profile_collect(&run, &o, NULL);
	assert_non_null(p);
	fake_free(a);
	fake_free(b);
	return p;
}

static const struct st_profile_value *
at(const struct st_profile *p, size_t table, size_t row, size_t column)
{
	const struct st_profile_table *t = &p->tables.v[table];
	assert_true(row < st_profile_rows(t));
	return &t->values.v[row * t->n_columns + column];
}

static void
rows_of_one_function_are_one(void **state)
{
	(void)state;
	struct st_profile *p = collect();
	const struct st_profile_table *t = &p->tables.v[0];
	assert_int_equal(p->tables.n, 3);
	assert_string_equal(t->name, "pairs");
	assert_string_equal(t->tool, "calls");
	assert_int_equal(t->n_keys, 2);
	assert_int_equal(st_profile_rows(t), 3);
	assert_string_equal(at(p, 0, 0, 0)->text, "caller");
	assert_string_equal(at(p, 0, 0, 1)->text, "spin");
	assert_int_equal(at(p, 0, 0, 1)->number, fixture_offset("spin"));
	assert_int_equal(at(p, 0, 0, 2)->number, 2 * (10 + 7 + 100));
	assert_int_equal(at(p, 0, 0, 3)->number, 350); /* 700 ticks, the greatest */
	assert_null(at(p, 0, 1, 1)->text);
	assert_string_equal(p->images.v[at(p, 0, 1, 1)->image].path, ST_ANON_IMAGE);
	assert_int_equal(at(p, 0, 1, 1)->number, 0x7e0000000100);
	assert_int_equal(at(p, 0, 2, 1)->image, UINT32_MAX);
	assert_int_equal(at(p, 0, 2, 1)->number, 0x123);
	assert_true(t->has_others);
	assert_int_equal(t->others[2].number, 200);
	assert_false(p->tables.v[1].has_others);
	st_profile_free(p);
}

static void
values_are_shown_by_their_type(void **state)
{
	(void)state;
	struct st_profile *p = collect();
	assert_int_equal(st_profile_rows(&p->tables.v[1]), 2);
	assert_int_equal(at(p, 1, 0, 6)->number, 6);
	assert_int_equal((int64_t)at(p, 1, 1, 6)->number, -10);
	assert_int_equal(at(p, 1, 1, 0)->number, fixture_offset("spin") + 2);
	assert_string_equal(at(p, 1, 1, 0)->text, "spin");
	assert_non_null(strstr(at(p, 1, 1, 1)->text, ".c"));
	assert_int_equal(at(p, 1, 1, 1)->number, 11);
	assert_null(at(p, 1, 0, 1)->text); /* generated code has no lines */
	assert_int_equal(at(p, 1, 0, 1)->number, 0x7e0000000100);
	assert_string_equal(at(p, 1, 1, 2)->text, "read");
	assert_string_equal(at(p, 1, 0, 2)->text, "syscall_99999");
	assert_string_equal(at(p, 1, 1, 3)->text, "a,\"b\"\n");
	assert_string_equal(at(p, 1, 0, 3)->text, "");
	assert_int_equal(at(p, 1, 1, 4)->number, 4711);
	assert_int_equal(at(p, 1, 0, 4)->number, 7); /* no such thread */
	assert_true(at(p, 1, 1, 5)->number == UINT64_MAX);
	st_profile_free(p);
}

static void
instructions_count_for_each_register(void **state)
{
	(void)state;
	static const char *const wanted[][3] = {{"add", "rax", "rax"},
	                                        {"add", "rax", "rflags"},
	                                        {"add", "rbx", "rax"},
	                                        {"add", "rbx", "rflags"},
	                                        {"mov", "rip", "rax"}};
	struct st_profile *p = collect();
	assert_int_equal(st_profile_rows(&p->tables.v[2]), 5);
	for (size_t i = 0; i < 5; i++) {
		assert_string_equal(at(p, 2, i, 0)->text, wanted[i][0]);
		assert_string_equal(at(p, 2, i, 1)->text, i < 4 ? "BINARY" : "DATAXFER");
		assert_string_equal(at(p, 2, i, 2)->text, wanted[i][1]);
		assert_string_equal(at(p, 2, i, 3)->text, wanted[i][2]);
		assert_int_equal(at(p, 2, i, 4)->number, 8);
	}
	st_profile_free(p);
}

static char *
csv(const struct st_profile *p, const char *table, const char *sort)
{
	struct st_report r = {.profile = p};
	struct st_error e;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	const struct st_table_choice choice = {.format = ST_FORMAT_CSV, .sort = sort};
	assert_int_equal(st_report_table(&r, out, table, &choice, &e), 0);
	fclose(out);
	return text;
}

static void
assert_contains(const char *text, const char *part)
{
	assert_non_null(text);
	if (!strstr(text, part))
		fail_msg("no '%s' in\n%s", part, text);
}

static void
other_programs_read_them(void **state)
{
	(void)state;
	struct st_profile *p = collect();
	struct st_report r = {.profile = p};
	struct st_error e;
	char *json = st_report_json(&r, &e);
	assert_contains(json, "\"pairs\": [\n  {\n   \"caller\": \"caller\",\n");
	assert_contains(json, "\"count\": 234");
	assert_contains(json,
	                "\"callee\": null,\n   \"callee_image\": null,\n   \"callee_offset\": 291");
	assert_contains(json, "\"callee_offset\": null,\n   \"count\": 200,\n   \"longest\": 0,\n  "
	                      " \"others\": true");
	assert_contains(json, "\"source_function\": \"spin\",\n   \"image\": \"");
	assert_contains(json, "\"data\": \"0xffffffffffffffff\"");
	assert_contains(json, "\"change\": -10");
	free(json);
	char *rows = csv(p, "every-thing", "call");
	assert_int_equal(strncmp(rows,
	                         "source,source_image,source_function,image,line_file,line_line,"
	                         "line_image,line_offset,call,text,thread,data,change\n",
	                         70),
	                 0);
	assert_contains(rows, ",read,\"a,\"\"b\"\"\n\",4711,0xffffffffffffffff,-10\n");
	assert_contains(rows, ",,," ST_ANON_IMAGE ",138538465100032,syscall_99999,,7,0x10,6\n");
	assert_true(strstr(rows, ",read,") < strstr(rows, ",syscall_99999,"));
	free(rows);
	rows = csv(p, "pairs", NULL);
	assert_contains(rows, "\n,,,,,,200,0\n");
	free(rows);
	st_profile_free(p);
}

static void
wrong_names_are_told(void **state)
{
	(void)state;
	struct st_profile *p = collect();
	struct st_report r = {.profile = p};
	struct st_error e = {0};
	FILE *nowhere = fopen("/dev/null", "w");
	struct st_table_choice choice = {.format = ST_FORMAT_TEXT};
	assert_int_equal(st_report_table(&r, nowhere, "pears", &choice, &e), -1);
	assert_string_equal(e.text, "the profile has no table 'pears'; did you mean 'pairs'?");
	choice.sort = "x";
	assert_int_equal(st_report_table(&r, nowhere, "pairs", &choice, &e), -1);
	assert_string_equal(e.text,
	                    "the table pairs has no column 'x'; its columns: caller, caller_image, "
	                    "caller_offset, callee, callee_image, callee_offset, count, longest");
	fclose(nowhere);
	st_profile_free(p);
}

static void
people_read_them(void **state)
{
	(void)state;
	struct st_profile *p = collect();
	struct st_report r = {.profile = p, .top = 2};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	st_report_summary(&r, out);
	fclose(out);
	assert_contains(text, "\npairs: a table\n"
	                      "  count  longest  caller                  callee\n"
	                      "    234   350 ns  caller [libfixture.so]  spin [libfixture.so]\n"
	                      "      4     0 ns  caller [libfixture.so]  0x7e0000000100 [anon]\n"
	                      "    200     0 ns                          (others)\n"
	                      "  ... and 1 more (--table pairs, --top)\n");
	free(text);
	st_profile_free(p);
}

static void
assert_same_tables(const struct st_profile *p, const struct st_profile *q)
{
	assert_int_equal(p->tables.n, q->tables.n);
	for (size_t i = 0; i < p->tables.n; i++) {
		char *a = csv(p, p->tables.v[i].name, NULL), *b = csv(q, p->tables.v[i].name, NULL);
		assert_string_equal(a, b);
		assert_string_equal(p->tables.v[i].help, q->tables.v[i].help);
		assert_string_equal(p->tables.v[i].tool, q->tables.v[i].tool);
		free(a);
		free(b);
	}
}

static void
exec(const char *path, const char *sql)
{
	sqlite3 *db;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s", sqlite3_errmsg(db));
	sqlite3_close(db);
}

static void
files_keep_them(void **state)
{
	(void)state;
	char path[] = "/tmp/strobe-tables-XXXXXX";
	struct st_error e = {0};
	struct st_profile *p = collect();
	close(mkstemp(path));
	struct st_profile_stream *s = ST_PUSH(&p->streams);
	*s = (struct st_profile_stream){"trace", "rows", "calls", "x.rows", 100, 250, 3};
	assert_int_equal(st_profile_save(p, path, NULL), 0);
	struct st_profile *q = st_profile_load(path, &e);
	assert_non_null(q);
	assert_same_tables(p, q);
	assert_int_equal(q->streams.n, 1);
	assert_string_equal(q->streams.v[0].file, "x.rows");
	assert_int_equal(q->streams.v[0].bytes, 250);
	st_profile_free(q);
	exec(path, "CREATE TABLE seen AS SELECT caller, callee, callee_offset, count FROM "
	           "named_pairs WHERE caller = 'caller' AND caller_image LIKE '%fixture.so'");
	exec(path, "SELECT source_function, line_file, call FROM table_every_thing");
	exec(path, "UPDATE tool_column SET field = 'a\"b' WHERE id = 1");
	assert_null(st_profile_load(path, &e));
	assert_contains(e.text, "is damaged");
	/* Version 2 had no tables. */
	assert_int_equal(st_profile_save(p, path, NULL), 0);
	exec(path, "DROP TABLE tool_table; DROP TABLE tool_column; DROP TABLE stream; "
	           "PRAGMA user_version = 2");
	q = st_profile_load(path, &e);
	assert_non_null(q);
	assert_int_equal(q->tables.n, 0);
	st_profile_free(q);
	st_profile_free(p);
	unlink(path);
}

/* One whose rows say nothing, and one of more rows than are saved at once. */
static void
tables_are_empty_or_long(void **state)
{
	(void)state;
	static const strobe_column columns[] = {
	        STROBE_KEY("place", STROBE_HEX), STROBE_SUM("n", STROBE_NUMBER), {0}};
	enum { LONG = 150 };
	struct fake *f = fixture_results();
	uint32_t none = fake_table(f, "none", columns), many = fake_table(f, "many", columns);
	fake_row(f, none, (uint64_t[]){1, 0});
	for (uint64_t i = 0; i < LONG; i++)
		fake_row(f, many, (uint64_t[]){i, 1 + i % 7});
	struct st_process one = fake_process(f, 1, 0, "a");
	struct st_run run = {.processes = &one, .n_processes = 1, .seconds = 1, .tsc_hz = 2e9};
	struct st_profile_origin o = {.tool = "calls", .argv = command};
	struct st_profile *p = st_profile_collect(&run, &o, NULL);
	fake_free(f);
	assert_non_null(p);
	assert_int_equal(st_profile_rows(&p->tables.v[0]), 0);
	assert_int_equal(st_profile_rows(&p->tables.v[1]), LONG);
	assert_int_equal(at(p, 1, 0, 0)->number, 6);
	assert_int_equal(at(p, 1, LONG - 1, 0)->number, 147);
	char path[] = "/tmp/strobe-tables-XXXXXX";
	close(mkstemp(path));
	assert_int_equal(st_profile_save(p, path, NULL), 0);
	struct st_profile *q = st_profile_load(path, NULL);
	assert_non_null(q);
	assert_same_tables(p, q);
	st_profile_free(q);
	st_profile_free(p);
	unlink(path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(rows_of_one_function_are_one),
	        cmocka_unit_test(values_are_shown_by_their_type),
	        cmocka_unit_test(instructions_count_for_each_register),
	        cmocka_unit_test(other_programs_read_them),
	        cmocka_unit_test(wrong_names_are_told),
	        cmocka_unit_test(people_read_them),
	        cmocka_unit_test(files_keep_them),
	        cmocka_unit_test(tables_are_empty_or_long),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
