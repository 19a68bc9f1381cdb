/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "tune/limit_part.h"

static void
assert_near(double is, double wanted)
{
	assert_true(fabs(is - wanted) <= 1e-12 * fmax(1, fabs(wanted)));
}

/* ---- the search ---- */

/* Levels up to `last` hold; `failing` cannot be tested. */
struct fake {
	int n, last, failing, tests;
	int highest;
};

static int
try_fake(void *arg, int i)
{
	struct fake *f = arg;
	assert_true(i >= 1 && i <= f->n);
	f->tests++;
	if (i == f->failing)
		return -1;
	f->highest = i <= f->last && i > f->highest ? i : f->highest;
	return i <= f->last;
}

static void
finds_each(void **state)
{
	(void)state;
	for (int n = 1; n <= 130; n++)
		for (int last = 0; last <= n; last++) {
			struct fake f = {.n = n, .last = last};
			assert_int_equal(st_limit_search(n, try_fake, &f), last);
			assert_int_equal(f.highest, last);
			assert_true(f.tests <= 1 + ceil(log2(n)));
			assert_true(last < n || f.tests == 1);
		}
}

static void
failures_end_it(void **state)
{
	(void)state;
	struct fake first = {.n = 100, .last = 30, .failing = 100};
	assert_int_equal(st_limit_search(100, try_fake, &first), -1);
	assert_int_equal(first.tests, 1);
	struct fake third = {.n = 100, .last = 60, .failing = 75};
	assert_int_equal(st_limit_search(100, try_fake, &third), -1);
	assert_int_equal(third.tests, 3);
}

static void
levels(void **state)
{
	(void)state;
	struct st_limit budget = {0},
	                least = {.of_threshold = true, .threshold = 50, .native = {.worst = 100}},
	                most = {.of_threshold = true, .threshold = 80, .native = {.worst = 30}};
	assert_near(st_limit_level(&budget, 1), 0.01);
	assert_near(st_limit_level(&budget, 100), 1);
	assert_near(st_limit_level(&least, 0), 50);
	assert_near(st_limit_level(&least, 60), 80);
	assert_near(st_limit_level(&least, 100), 100);
	assert_near(st_limit_level(&most, 0), 80);
	assert_near(st_limit_level(&most, 100), 30);
}

/* ---- readings ---- */

static struct st_quality
of_first(size_t n, double threshold, bool lower)
{
	double values[1000];
	for (size_t i = 0; i < n; i++)
		values[(i * 7 + 3) % n] = (double)i + 1; /* 1 to n, not in order */
	return st_quality_of(values, n, threshold, lower);
}

static void
readings(void **state)
{
	(void)state;
	struct st_quality q = of_first(10, 4, false);
	assert_int_equal(q.readings, 10);
	assert_int_equal(q.kept, 7);
	assert_near(q.median, 5.5);
	assert_near(q.worst, 1);
	q = of_first(11, 4, true);
	assert_int_equal(q.kept, 4);
	assert_near(q.median, 6);
	assert_near(q.worst, 11);
	assert_int_equal(of_first(0, 4, true).readings, 0);
}

/* One in a hundred may miss it, of fewer none. */
static void
ninety_nine(void **state)
{
	(void)state;
	static const struct {
		size_t n, may_miss;
	} cases[] = {{1, 0}, {99, 0}, {100, 1}, {101, 1}, {199, 1}, {200, 2}, {999, 9}, {1000, 10}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t n = cases[i].n, may = cases[i].may_miss;
		struct st_quality q = of_first(n, (double)may + 1, false);
		assert_true(st_quality_holds(&q));
		assert_near(q.worst, (double)may + 1);
		q = of_first(n, (double)may + 1.5, false);
		assert_false(st_quality_holds(&q));
		q = of_first(n, (double)(n - may), true);
		assert_true(st_quality_holds(&q));
		assert_near(q.worst, (double)(n - may));
	}
	assert_false(st_quality_holds(&(struct st_quality){0}));
}

static void
several_runs(void **state)
{
	(void)state;
	struct st_quality sum = {0}, one = {10, 9, 4, 2}, two = {30, 30, 8, 3}, none = {0};
	st_quality_add(&sum, &one, false);
	st_quality_add(&sum, &two, false);
	st_quality_add(&sum, &none, false);
	assert_int_equal(sum.readings, 40);
	assert_int_equal(sum.kept, 39);
	assert_near(sum.median, 7);
	assert_near(sum.worst, 2);
	st_quality_add(&sum, &two, true);
	assert_near(sum.worst, 3);
}

/* ---- the result of a worker ---- */

static st_status
read_part(const char *text, struct st_limit *l, struct st_error *e)
{
	char path[] = "/tmp/strobe-test-limit-XXXXXX";
	const int fd = mkstemp(path);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	*l = (struct st_limit){.tool = "hot"};
	const st_status status = st_limit_part_read(l, path, e);
	unlink(path);
	return status;
}

static void
part_of_a_worker(void **state)
{
	struct st_limit_step steps[] = {{1, {20, 3, 0.1, -1.5}, 99, false},
	                                {0.5, {30, 30, 1e300, 2}, UINT64_MAX, true}};
	const struct st_limit l = {.instructions = 12345,
	                           .native = {15, 14, 1.0 / 3, 7},
	                           .steps = {steps, 2, 2},
	                           .found = true,
	                           .best = 1,
	                           .covered = {5, 9},
	                           .n_runs = 2};
	struct st_limit got;
	struct st_error e;
	char *text = NULL;
	size_t size;
	(void)state;
	FILE *out = open_memstream(&text, &size);
	st_limit_part_write(&l, out);
	fclose(out);
	assert_false(read_part(text, &got, &e));
	free(text);
	assert_string_equal(got.tool, "hot");
	assert_true(got.complete && got.found);
	assert_int_equal(got.best, 1);
	assert_int_equal(got.instructions, 12345);
	assert_int_equal(got.native.kept, 14);
	assert_true(got.native.median == 1.0 / 3);
	assert_int_equal(got.steps.n, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_true(got.steps.v[i].level == steps[i].level);
		assert_true(got.steps.v[i].quality.worst == steps[i].quality.worst);
		assert_true(got.steps.v[i].quality.median == steps[i].quality.median);
		assert_int_equal(got.steps.v[i].quality.readings, steps[i].quality.readings);
		assert_true(got.steps.v[i].instructions == steps[i].instructions);
		assert_int_equal(got.steps.v[i].holds, steps[i].holds);
	}
	assert_int_equal(got.n_runs, 2);
	assert_int_equal(got.covered[1], 9);
	free(got.steps.v);
}

static void
damaged_parts(void **state)
{
	static const char *const bad[] = {
	        "",
	        "native 1 1 1 1\ninstructions 5\n",
	        "native 1 2 1 1\nend -1\n",
	        "native 1 1 1\nend -1\n",
	        "step 1 1 1 1 0x1p-1 7\nend 0\n",
	        "step 1 1 1 1 0x1p-1 7 1\nend 1\n",
	        "end -2\n",
	        "end\n",
	        "end -1\nend -1\n",
	        "other 5\nend -1\n",
	        "covered 1\ncovered 2\ncovered 3\ncovered 4\ncovered 5\ncovered 6\ncovered 7\n"
	        "covered 8\ncovered 9\ncovered 10\ncovered 11\nend -1\n",
	};
	struct st_limit l;
	struct st_error e;
	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		if (!read_part(bad[i], &l, &e))
			fail_msg("'%s' was read", bad[i]);
		assert_non_null(strstr(e.text, "is damaged: name another folder with --campaign"));
		free(l.steps.v);
	}
	assert_true(st_limit_part_read(&l, "/no/such/file", &e));
	assert_false(read_part("step 1 1 1 1 0x1p-1 7 1\nend -1\n", &l, &e));
	assert_false(l.found);
	free(l.steps.v);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(finds_each),       cmocka_unit_test(failures_end_it),
	        cmocka_unit_test(levels),           cmocka_unit_test(readings),
	        cmocka_unit_test(ninety_nine),      cmocka_unit_test(several_runs),
	        cmocka_unit_test(part_of_a_worker), cmocka_unit_test(damaged_parts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
