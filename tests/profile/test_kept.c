/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Models that a profile keeps: written and read as they were, damaged ones refused, files without
 * them read. */
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

#include "check/kept.h"

static struct st_profile *
empty(void)
{
	struct st_profile *p = st_profile_new();
	assert_non_null(p);
	p->run.tool = p->run.options = p->run.strobe_version = p->run.cwd = p->run.host =
	        p->run.machine = p->run.kernel = p->run.cpu = "";
	return p;
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

enum { POINTS = 40 };

struct data {
	double x[POINTS], y[POINTS];
	struct st_points points;
};

/* y = 3 x^2 + 5, a power, or an exponential, with residuals that are known. */
static void
make(struct data *d, int form)
{
	for (int i = 0; i < POINTS; i++) {
		const double x = i + 1;
		d->x[i] = x;
		d->y[i] = (form == 0   ? 3 * x * x + 5
		           : form == 1 ? 2 * pow(x, 1.5)
		                       : 7 * pow(1.1, x)) +
		          (i % 3 - 1) * 0.25;
	}
	d->points = (struct st_points){.x = d->x, .y = d->y, .n = POINTS};
}

static struct st_kept_key
key_of(const struct data *d, const char *uid, const struct st_way_choice *how)
{
	return (struct st_kept_key){.uid = uid,
	                            .metric = "wall",
	                            .unit = "ns",
	                            .x = "size",
	                            .how = how,
	                            .points_hash = st_kept_hash(&d->points)};
}

static void
keep(struct st_profile *p, const struct data *d, const char *uid, struct st_choice *c)
{
	const struct st_way_choice how = st_kept_default_how();
	const struct st_kept_key key = key_of(d, uid, &how);
	struct st_error e;
	assert_int_equal(st_choice_make(c, &d->points, ST_GROWTHS_ALL, ST_NOISE_AUTO, 0.95, &e), 0);
	assert_int_equal(st_kept_forget(p, &key), 0);
	assert_int_equal(st_kept_add(p, &key, c, 0, 1, 2, 1234567890000000000), 0);
}

static void
assert_same(double a, double b)
{
	assert_true(a == b || (isnan(a) && isnan(b)));
}

static void
assert_same_interval(struct st_interval a, struct st_interval b)
{
	assert_same(a.at, b.at);
	assert_same(a.low, b.low);
	assert_same(a.high, b.high);
}

static void
assert_same_choice(const struct st_choice *a, const struct st_choice *b)
{
	assert_int_equal(a->fitted, b->fitted);
	assert_int_equal(a->plausible, b->plausible);
	assert_int_equal(a->best, b->best);
	assert_int_equal(a->told, b->told);
	assert_int_equal(a->common, b->common);
	assert_int_equal(a->proportional, b->proportional);
	assert_same_interval(a->growth, b->growth);
	assert_int_equal(a->exponent.known, b->exponent.known);
	assert_int_equal(a->exponent.has_offset, b->exponent.has_offset);
	if (a->exponent.known)
		assert_same_interval(a->exponent.b, b->exponent.b);
	for (enum st_growth kind = 0; kind < ST_GROWTH_COUNT; kind++) {
		const struct st_regression *m = &a->models[kind], *n = &b->models[kind];
		if (!(a->fitted & 1u << kind))
			continue;
		assert_same(a->aicc[kind], b->aicc[kind]);
		assert_same(a->weight[kind], b->weight[kind]);
		assert_same(m->r_square, n->r_square);
		assert_same(m->r_square_perun, n->r_square_perun);
		assert_same(m->bic, n->bic);
		for (size_t i = 0; i < st_growth_parameters(kind); i++)
			assert_same_interval(st_regression_parameter(m, i, 0.95),
			                     st_regression_parameter(n, i, 0.95));
		for (double x = 1; x < 50; x += 7)
			for (int point = 0; point < 2; point++)
				assert_same_interval(st_regression_band(m, x, 0.9, point),
				                     st_regression_band(n, x, 0.9, point));
		assert_same(st_regression_integral(m, 1, 40), st_regression_integral(n, 1, 40));
	}
}

/* Every number, so that curves, bands and areas are the same bit by bit. */
static void
files_keep_every_number(void **state)
{
	(void)state;
	static const char *const uids[] = {"square", "power", "exponential"};
	struct data d[3];
	struct st_choice made[3], read;
	struct st_profile *p = empty();
	struct st_error e;
	for (int i = 0; i < 3; i++) {
		make(&d[i], i);
		keep(p, &d[i], uids[i], &made[i]);
	}
	struct file f = file_of(p);
	struct st_profile *q = st_profile_load(f.path, &e);
	assert_non_null(q);
	assert_int_equal(q->kept.answers.n, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct st_way_choice how = st_kept_default_how();
		const struct st_kept_key key = key_of(&d[i], uids[i], &how);
		assert_true(st_kept_fits(&q->kept.answers.v[i], &key));
		assert_int_equal(st_kept_choice(&q->kept, i, &read), 0);
		assert_same_choice(&made[i], &read);
		assert_int_equal(q->kept.answers.v[i].rows_left_out, 2);
		assert_int_equal(q->kept.answers.v[i].time_ns, 1234567890000000000);
	}
	assert_int_equal(made[0].best, ST_GROWTH_QUADRATIC);
	st_profile_free(q);
	forget(&f);
	st_profile_free(p);
}

static void
an_answer_replaces_its_like(void **state)
{
	(void)state;
	struct data d;
	struct st_choice c, read;
	struct st_profile *p = empty();
	make(&d, 0);
	keep(p, &d, "a", &c);
	keep(p, &d, "b", &c);
	make(&d, 1);
	keep(p, &d, "a", &c);
	assert_int_equal(p->kept.answers.n, 2);
	assert_string_equal(p->kept.answers.v[0].uid, "b");
	assert_string_equal(p->kept.answers.v[1].uid, "a");
	assert_int_equal(p->kept.models.n, 16);
	assert_int_equal(st_kept_choice(&p->kept, 1, &read), 0);
	assert_same_choice(&c, &read);
	/* Other options make another answer. */
	struct st_way_choice how = st_kept_default_how();
	how.level = 0.99;
	const struct st_kept_key other = key_of(&d, "a", &how);
	assert_int_equal(st_kept_add(p, &other, &c, 0, 1, 0, 1), 0);
	assert_int_equal(p->kept.answers.n, 3);
	assert_false(st_kept_fits(&p->kept.answers.v[1], &other));
	st_profile_free(p);
}

static void
the_hash_is_of_the_set_of_points(void **state)
{
	(void)state;
	static const double x[] = {1, 2, 3}, y[] = {4, 5, 6}, turned_x[] = {3, 1, 2},
	                    turned_y[] = {6, 4, 5}, zero[] = {0.0}, minus_zero[] = {-0.0};
	const struct st_points a = {.x = x, .y = y, .n = 3},
	                       b = {.x = turned_x, .y = turned_y, .n = 3},
	                       c = {.x = x, .y = turned_y, .n = 3}, less = {.x = x, .y = y, .n = 2},
	                       swapped = {.x = y, .y = x, .n = 3},
	                       plus = {.x = zero, .y = x, .n = 1},
	                       minus = {.x = minus_zero, .y = x, .n = 1};
	assert_true(st_kept_hash(&a) == st_kept_hash(&b));
	assert_true(st_kept_hash(&plus) == st_kept_hash(&minus));
	assert_true(st_kept_hash(&a) != st_kept_hash(&c));
	assert_true(st_kept_hash(&a) != st_kept_hash(&less));
	assert_true(st_kept_hash(&a) != st_kept_hash(&swapped));
}

/* Changes the file by SQL and loads it: NULL if it is refused. */
static struct st_profile *
changed(const char *sql)
{
	struct data d;
	struct st_choice c;
	struct st_error e = {0};
	struct st_profile *p = empty();
	sqlite3 *db;
	make(&d, 0);
	keep(p, &d, "a", &c);
	struct file f = file_of(p);
	assert_int_equal(sqlite3_open(f.path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	struct st_profile *q = st_profile_load(f.path, &e);
	if (!q)
		assert_non_null(strstr(e.text, "is damaged: its tables do not fit together"));
	forget(&f);
	st_profile_free(p);
	return q;
}

static void
damaged_references_are_refused(void **state)
{
	(void)state;
	static const char *const damages[] = {
	        "UPDATE model SET answer = 2 WHERE id = 3",
	        "UPDATE model SET answer = 0 WHERE id = 3",
	        "UPDATE model SET answer = -9223372036854775808 WHERE id = 1",
	        "UPDATE model_coefficient SET model = 9 WHERE id = 1",
	        "UPDATE model_coefficient SET model = 8 WHERE id = 1", /* no longer in order */
	        "UPDATE model_coefficient SET model = 'x' WHERE id = 1",
	        "DELETE FROM model_answer",
	        "DELETE FROM model WHERE id = 2",
	        "UPDATE model SET id = 100 WHERE id = 8",
	};
	for (size_t i = 0; i < sizeof damages / sizeof *damages; i++)
		assert_null(changed(damages[i]));
}

/* Rows that fit together but are unknown to this version are read, and yield no model. */
static void
unknown_models_are_none(void **state)
{
	(void)state;
	static const char *const changes[] = {
	        "UPDATE model SET kind = 'sine' WHERE id = 1",
	        "UPDATE model SET kind = 'linear'",
	        "UPDATE model_answer SET best = 'sine'",
	        "UPDATE model_answer SET best = NULL",
	        "UPDATE model_answer SET plausible = 'linear,sine'",
	        "UPDATE model_coefficient SET value = NULL WHERE id = 1",
	        "DELETE FROM model_coefficient WHERE id = (SELECT max(id) FROM model_coefficient)",
	        "DELETE FROM model_coefficient; DELETE FROM model",
	        "UPDATE model SET answer = 1; UPDATE model_coefficient SET model = 1",
	};
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		struct st_choice c;
		struct st_profile *p = changed(changes[i]);
		assert_non_null(p);
		assert_int_not_equal(st_kept_choice(&p->kept, 0, &c), 0);
		st_profile_free(p);
	}
}

static void
files_without_them_are_read(void **state)
{
	(void)state;
	struct st_profile *p = changed("DROP TABLE model_answer; DROP TABLE model; "
	                               "DROP TABLE model_coefficient");
	assert_non_null(p);
	assert_int_equal(p->kept.answers.n, 0);
	/* And files of profiles that keep none do not have the tables. */
	struct file f = file_of(p);
	sqlite3 *db;
	assert_int_equal(sqlite3_open(f.path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "SELECT 1 FROM model_answer", NULL, NULL, NULL),
	                 SQLITE_ERROR);
	sqlite3_close(db);
	forget(&f);
	st_profile_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(files_keep_every_number),
	        cmocka_unit_test(an_answer_replaces_its_like),
	        cmocka_unit_test(the_hash_is_of_the_set_of_points),
	        cmocka_unit_test(damaged_references_are_refused),
	        cmocka_unit_test(unknown_models_are_none),
	        cmocka_unit_test(files_without_them_are_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
