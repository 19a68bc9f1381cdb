/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Series of measurements: what tells them apart, what their file keeps, and what it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <math.h>
#include <sqlite3.h>

#include "profile/profile.h"

static const struct st_series_key plain = {
        .kind = ST_KIND_TIME, .metric = "wall", .unit = "ns", .image = "/bin/sort"};

static struct st_profile *
empty(void)
{
	struct st_profile *p = st_profile_new();
	assert_non_null(p);
	p->run.tool = p->run.options = p->run.strobe_version = p->run.cwd = p->run.host =
	        p->run.machine = p->run.kernel = p->run.cpu = "";
	return p;
}

static struct st_series *
series(struct st_profile *p, const struct st_series_key *key)
{
	struct st_series *s = st_series_of(p, key);
	assert_non_null(s);
	return s;
}

/* A file that the test removes. */
struct file {
	char directory[64], path[96];
};

static struct file
file_of(const struct st_profile *p)
{
	struct file f = {"/tmp/strobe-test-XXXXXX", ""};
	struct st_error e;
	assert_non_null(mkdtemp(f.directory));
	snprintf(f.path, sizeof f.path, "%s/m.db", f.directory);
	assert_int_equal(st_profile_save(p, f.path, &e), 0);
	return f;
}

static void
forget(const struct file *f)
{
	unlink(f->path);
	assert_int_equal(rmdir(f->directory), 0);
}

static void
change(const struct file *f, const char *sql)
{
	sqlite3 *db;
	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static double
number(const struct file *f, const char *sql)
{
	sqlite3 *db;
	sqlite3_stmt *rows;
	assert_int_equal(sqlite3_open_v2(f->path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &rows, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(rows), SQLITE_ROW);
	double value = sqlite3_column_double(rows, 0);
	sqlite3_finalize(rows);
	sqlite3_close(db);
	return value;
}

/* Each part of a key makes another series; equal keys are one. */
static void
keys_tell_series_apart(void **state)
{
	(void)state;
	static const struct st_series_frame one[] = {{"malloc", "a.c", 3}};
	static const struct st_series_frame other[] = {{"malloc", "a.c", 4}};
	static const struct st_series_label small[] = {{"workload", "small"}};
	static const struct st_series_label large[] = {{"workload", "large"}};
	struct st_series_key keys[16];
	size_t n = 0;
	struct st_profile *p = empty();
	for (size_t i = 0; i < 16; i++)
		keys[i] = plain;
	keys[++n].kind = ST_KIND_MEMORY;
	keys[++n].metric = "user";
	keys[++n].unit = "s";
	keys[++n].image = "/bin/cat";
	keys[++n].file = "a.c";
	keys[++n].module = "m";
	keys[++n].class = "C";
	keys[++n].function = "f";
	keys[++n].function = "";
	keys[++n].line = 7;
	keys[++n].frames = one;
	keys[n].n_frames = 1;
	keys[++n].frames = other;
	keys[n].n_frames = 1;
	keys[++n].labels = small;
	keys[n].n_labels = 1;
	keys[++n].labels = large;
	keys[n].n_labels = 1;
	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i <= n; i++)
			assert_int_equal(series(p, &keys[i]) - p->measurements.series.v, i);
	assert_string_equal(st_series_label(&p->measurements.series.v[n], "workload"), "large");
	assert_null(st_series_label(&p->measurements.series.v[n], "size"));
	st_profile_free(p);
}

static void
features_begin_when_they_are_set(void **state)
{
	(void)state;
	struct st_profile *p = empty();
	struct st_series *s = series(p, &plain);
	assert_null(st_series_default_feature(s));
	for (size_t i = 0; i < 100; i++)
		assert_int_equal(st_series_add(s, (double)i), i);
	assert_int_equal(st_series_set(p, s, ST_FEATURE_REPETITION, 99, 5), 0);
	assert_string_equal(st_series_default_feature(s), "repetition");
	assert_int_equal(st_series_set(p, s, "depth", 50, 8), 0);
	assert_string_equal(st_series_default_feature(s), "depth");
	assert_int_equal(st_series_set(p, s, ST_FEATURE_TIME, 1, 1), 0);
	assert_int_equal(st_series_set(p, s, ST_FEATURE_SIZE, 1, 1), 0);
	assert_string_equal(st_series_default_feature(s), "size");
	const double *depth = st_series_feature(s, "depth");
	assert_true(isnan(depth[49]) && depth[50] == 8 && isnan(depth[99]));
	assert_int_equal(st_series_add(s, 100), 100);
	assert_true(isnan(st_series_feature(s, "depth")[100]));
	assert_null(st_series_feature(s, "width"));
	st_profile_free(p);
}

/* The limit is one of the whole profile; names that it has can go on being used. */
static void
features_are_limited(void **state)
{
	(void)state;
	struct st_profile *p = empty();
	struct st_series *s = series(p, &plain);
	st_series_add(s, 1);
	for (int i = 0; i < ST_MOST_FEATURES; i++) {
		char name[16];
		snprintf(name, sizeof name, "f%d", i);
		assert_int_equal(st_series_set(p, s, name, 0, i), 0);
	}
	assert_int_equal(st_series_set(p, s, "too many", 0, 1), -1);
	assert_int_equal(st_series_set(p, s, "f7", 0, 1), 0);
	struct file f = file_of(p);
	struct st_error e;
	struct st_profile *q = st_profile_load(f.path, &e);
	assert_non_null(q);
	assert_int_equal(q->measurements.series.v[0].features.n, ST_MOST_FEATURES);
	assert_true(st_series_feature(&q->measurements.series.v[0], "f255")[0] == 255);
	forget(&f);
	st_profile_free(p);
	st_profile_free(q);
}

static void
assert_uid(struct st_profile *p, struct st_series_key key, const char *expected)
{
	char *uid = st_series_uid(series(p, &key));
	assert_string_equal(uid, expected);
	free(uid);
}

static void
uids_are_what_is_known(void **state)
{
	(void)state;
	struct st_profile *p = empty();
	struct st_series_key key = {.kind = "time", .metric = "wall", .unit = "ns"};
	assert_uid(p, key, "wall");
	key.function = "main";
	assert_uid(p, key, "main");
	key.line = 12;
	assert_uid(p, key, "main:12");
	key.image = "a.out";
	key.file = "a.c";
	key.module = "m";
	key.class = "C";
	assert_uid(p, key, "a.out:a.c:m:C:main:12");
	st_profile_free(p);
}

static void
fill(struct st_profile *p)
{
	static const struct st_series_frame frames[] = {{"inner", "a.c", 3}, {"", NULL, 0}};
	static const struct st_series_label labels[] = {{"workload", "caf\xc3\xa9"}, {"x", ""}};
	struct st_series_key key = {.kind = ST_KIND_MEMORY,
	                            .metric = "malloc",
	                            .unit = "B",
	                            .image = "a.out",
	                            .file = "a.c",
	                            .module = "m",
	                            .class = "C",
	                            .function = "f",
	                            .line = 4000000000,
	                            .frames = frames,
	                            .n_frames = 2,
	                            .labels = labels,
	                            .n_labels = 2};
	struct st_series *s = series(p, &plain);
	st_series_add(s, 1.5);
	st_series_add(s, NAN);
	st_series_add(s, -9007199254740992.0);
	ST_IGNORE(st_series_set(p, s, "call-order", 0, 3));
	ST_IGNORE(st_series_set(p, s, "call_order", 1, 4));
	ST_IGNORE(st_series_set(p, s, "value", 2, 5));
	ST_IGNORE(st_series_set(p, s, "", 2, 6));
	s = series(p, &key);
	st_series_add(s, 64);
	ST_IGNORE(st_series_set(p, s, ST_FEATURE_ADDRESS, 0, 140737488355327.0));
	key.line = 0;
	series(p, &key); /* a series may be empty */
}

static void
files_keep_everything(void **state)
{
	(void)state;
	struct st_profile *p = empty();
	struct st_error e;
	fill(p);
	struct file f = file_of(p);
	struct st_profile *q = st_profile_load(f.path, &e);
	assert_non_null(q);
	assert_int_equal(q->measurements.series.n, 3);
	const struct st_series *s = q->measurements.series.v;
	assert_int_equal(s[0].n, 3);
	assert_true(s[0].values[0] == 1.5 && isnan(s[0].values[1]));
	assert_true(s[0].values[2] == -9007199254740992.0);
	assert_int_equal(s[0].features.n, 4);
	assert_true(st_series_feature(&s[0], "call-order")[0] == 3);
	assert_true(isnan(st_series_feature(&s[0], "call-order")[1]));
	assert_true(st_series_feature(&s[0], "call_order")[1] == 4);
	assert_true(st_series_feature(&s[0], "value")[2] == 5);
	assert_true(st_series_feature(&s[0], "")[2] == 6);
	assert_null(s[0].key.function);
	assert_int_equal(s[1].key.n_frames, 2);
	assert_string_equal(s[1].key.frames[0].function, "inner");
	assert_int_equal(s[1].key.frames[0].line, 3);
	assert_string_equal(s[1].key.frames[1].function, "");
	assert_null(s[1].key.frames[1].file);
	assert_string_equal(st_series_label(&s[1], "workload"), "caf\xc3\xa9");
	assert_string_equal(st_series_label(&s[1], "x"), "");
	assert_string_equal(s[1].key.class, "C");
	assert_true(s[1].key.line == 4000000000);
	assert_true(st_series_feature(&s[1], "address")[0] == 140737488355327.0);
	assert_int_equal(s[2].n, 0);
	forget(&f);
	st_profile_free(p);
	st_profile_free(q);
}

/* Any SQL client reads them: features are columns with plain names. */
static void
files_are_plain_tables(void **state)
{
	(void)state;
	struct st_profile *p = empty();
	fill(p);
	struct file f = file_of(p);
	assert_true(number(&f, "SELECT count(*) FROM measurement") == 4);
	assert_true(number(&f, "SELECT call_order FROM measurement WHERE value = 1.5") == 3);
	assert_true(number(&f, "SELECT call_order__2 FROM measurement WHERE id = 2") == 4);
	assert_true(number(&f, "SELECT value__3 FROM measurement WHERE id = 3") == 5);
	assert_true(number(&f, "SELECT value FROM named_measurement WHERE function = 'f'") == 64);
	assert_true(number(&f, "SELECT value IS NULL FROM measurement WHERE id = 2") == 1);
	forget(&f);
	st_profile_free(p);
}

static void
files_without_any_have_no_tables(void **state)
{
	(void)state;
	struct st_profile *p = empty();
	struct file f = file_of(p);
	assert_true(number(&f, "SELECT count(*) FROM sqlite_master WHERE name IN"
	                       " ('series', 'measurement', 'feature')") == 0);
	forget(&f);
	st_profile_free(p);
}

static void
damaged_files_are_refused(void **state)
{
	(void)state;
	static const char *const damages[] = {
	        "UPDATE measurement SET series = 9 WHERE id = 1",
	        "DELETE FROM measurement WHERE id = 1",
	        "UPDATE series SET n = 2 WHERE id = 1",
	        "UPDATE series SET id = 7 WHERE id = 3",
	        "UPDATE series SET line = -1 WHERE id = 2",
	        "DELETE FROM series WHERE id = 3; DELETE FROM series WHERE id = 2",
	        "UPDATE series_label SET series = 44",
	        "UPDATE series_frame SET line = 5000000000",
	        "UPDATE feature SET field = 'value\" FROM run; --'",
	        "UPDATE feature SET field = 'nowhere'",
	        "DROP TABLE feature",
	        "DROP VIEW named_measurement; DROP TABLE measurement",
	        "DROP TABLE series_label",
	};
	struct st_profile *p = empty();
	fill(p);
	for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
		struct file f = file_of(p);
		struct st_error e = {0};
		change(&f, damages[i]);
		assert_null(st_profile_load(f.path, &e));
		assert_int_equal(e.code, ST_EXIT_FAILED);
		assert_non_null(strstr(e.text, "damaged"));
		forget(&f);
	}
	st_profile_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(keys_tell_series_apart),
	        cmocka_unit_test(features_begin_when_they_are_set),
	        cmocka_unit_test(features_are_limited),
	        cmocka_unit_test(uids_are_what_is_known),
	        cmocka_unit_test(files_keep_everything),
	        cmocka_unit_test(files_are_plain_tables),
	        cmocka_unit_test(files_without_any_have_no_tables),
	        cmocka_unit_test(damaged_files_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
