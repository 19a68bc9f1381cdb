/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The progress points that the user names, and metrics as such points. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/text.h"
#include "blow/corpus.h"
#include "blow/points.h"
#include "printed.h"
#include "profile/profile.h"

static void
add_function(struct st_blow *b, const char *name)
{
	struct st_blow_function *f = ST_PUSH(&b->functions);
	assert_non_null(f);
	*f = (struct st_blow_function){
	        .name = name, .raw_name = name, .image = "/bin/p", .calls = 10};
}

/* A file with the given bytes, whose path is kept in `path`. */
static FILE *
make_file(char *path, size_t size)
{
	snprintf(path, size, "%s/strobe-points-XXXXXX",
	         getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	const int fd = mkstemp(path);
	assert_true(fd >= 0);
	FILE *f = fdopen(fd, "w");
	assert_non_null(f);
	return f;
}

static void
append(FILE *f, size_t n)
{
	while (n--)
		fputc('x', f);
	assert_int_equal(fflush(f), 0);
}

/* ---- names ---- */

static void
test_names(void **state)
{
	struct st_blow_points p = {0};
	struct st_error e;
	(void)state;
	assert_true(st_blow_points_empty(&p) && st_blow_points_empty(NULL));
	assert_int_equal(st_blow_points_add(&p, "answer,qos::f(int, int)", &e), 0);
	assert_int_equal(st_blow_points_add(&p, "qos::g", &e), 0);
	assert_int_equal(st_blow_points_add(&p, "usdt::h", &e), 0);
	assert_int_equal(p.calls.n, 4);
	assert_int_equal(st_blow_points_add(&p, "usdt:provider:name", &e), 0);
	assert_int_equal(p.sites.n, 1);
	assert_int_equal(p.sources.n, 0);
	assert_false(st_blow_points_empty(&p));
	assert_int_equal(st_blow_points_add(&p, "qos:growth:/no/such/file", &e), 0);
	assert_int_equal(p.sources.n, 1);
	assert_string_equal(p.sources.v[0].name, "qos:growth:/no/such/file");
	assert_int_equal(st_blow_points_function(&p, "answer", "answer"), ST_BLOW_CALLS);
	assert_int_equal(st_blow_points_function(&p, "question", "question"), ST_BLOW_NO_POINT);
	assert_int_equal(st_blow_points_function(NULL, "answer", "answer"), ST_BLOW_NO_POINT);
	st_blow_points_free(&p);
	assert_true(st_blow_points_empty(&p));
}

static void
assert_refused(const char *value, const char *message)
{
	struct st_blow_points p = {0};
	struct st_error e = {0};
	assert_int_equal(st_blow_points_add(&p, value, &e), -1);
	assert_int_equal(e.code, ST_EXIT_USAGE);
	if (strncmp(e.text, message, strlen(message)) != 0)
		fail_msg("'%s' does not begin with '%s'", e.text, message);
	assert_null(strchr(e.text, '\n'));
	st_blow_points_free(&p);
}

static void
test_refused(void **state)
{
	(void)state;
	assert_refused("qos:", "--progress qos: there is no source ''");
	assert_refused("qos:nothing:1", "--progress qos: there is no source 'nothing:1'");
	assert_refused("qos:growth:", "--progress qos: growth: needs the path of a file");
	assert_refused("qos:rate:log", "--progress qos: takes rate:PATH:REGEX");
	assert_refused("qos:rate:log:(",
	               "--progress qos: '(' is not an extended regular expression");
	assert_refused("", "--progress needs a name");
	assert_refused("usdt:a",
	               "--progress takes usdt:PROVIDER:NAME for a static probe, not 'usdt:a'");
	assert_refused("usdt:a:", "--progress takes usdt:PROVIDER:NAME");
	assert_refused("usdt:a:b:c", "--progress takes usdt:PROVIDER:NAME");
}

/* ---- entries that are no functions ---- */

static void
test_entries(void **state)
{
	struct st_blow b = {.live = true, .cut = true};
	struct st_blow_points p = {0};
	struct st_error e;
	const struct st_blow_criteria criteria = {.all = true, .points = &p};
	(void)state;
	add_function(&b, "f");
	add_function(&b, "answer");
	assert_int_equal(st_blow_points_add(&p, "answer", &e), 0);
	assert_int_equal(st_blow_points_add(&p, "qos:growth:/no/such/file", &e), 0);
	assert_int_equal(st_blow_points_list(&p, &b), 0);
	assert_int_equal(b.functions.n, 3);
	assert_int_equal(st_blow_functions(&b), 2);
	assert_int_equal(st_blow_choose(&b, &criteria), 1);
	assert_int_equal(b.functions.v[0].progress, ST_BLOW_NO_POINT);
	assert_int_equal(b.functions.v[1].progress, ST_BLOW_CALLS);
	assert_int_equal(b.functions.v[2].progress, ST_BLOW_SOURCE);
	assert_false(b.functions.v[2].chosen);
	assert_int_equal(st_blow_points(&b), 2);
	assert_int_equal(st_blow_point_at(&b, 0), 1);
	assert_int_equal(st_blow_point_at(&b, 1), 2);
	/* A profile keeps what they are. */
	struct st_profile *profile = st_profile_new();
	struct st_blow back;
	assert_non_null(profile);
	st_profile_add_tool(profile, ST_BLOW_TOOL);
	assert_int_equal(st_blow_put(&b, profile), 0);
	assert_int_equal(st_blow_read(&back, profile, &e), 0);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(back.functions.v[i].progress, b.functions.v[i].progress);
		assert_int_equal(st_blow_is_function(&back.functions.v[i]), i < 2);
	}
	st_blow_free(&back);
	st_profile_free(profile);
	st_blow_free(&b);
	st_blow_points_free(&p);
}

/* ---- values ---- */

/* The growth of a file between two moments is exact; the number of its bytes per second lies
 * between those of the times that contain the interval and are contained in it. */
static void
test_growth(void **state)
{
	enum { BYTES = 12345 };
	char path[4096], *name;
	FILE *f = make_file(path, sizeof path);
	struct st_blow b = {.live = true, .cut = true, .causal = true};
	struct st_blow_points p = {0};
	struct st_error e;
	struct st_blow_run run = {.function = ST_BLOW_NONE, .total_ns = 2000000000};
	(void)state;
	append(f, 100); /* before the window */
	name = st_text_of("qos:growth:%s", path);
	assert_int_equal(st_blow_points_add(&p, name, &e), 0);
	assert_int_equal(st_blow_points_list(&p, &b), 0);
	const struct st_blow_criteria criteria = {.points = &p};
	st_blow_choose(&b, &criteria);
	const double outer = st_now_raw();
	st_blow_sources_begin(&p);
	const double inner = st_now_raw();
	append(f, BYTES);
	const double shortest = st_now_raw() - inner;
	assert_int_equal(st_blow_sources_end(&p, &b, 500000000, &run), 0);
	const double longest = st_now_raw() - outer;
	assert_int_equal(run.samples.n, 1);
	/* In two seconds. */
	const double work = (double)run.samples.v[0].calls / ST_BLOW_SOURCE_UNIT;
	assert_true(work >= 2 * BYTES / longest * (1 - 1e-6));
	assert_true(work <= 2 * BYTES / shortest * (1 + 1e-6));
	assert_int_equal(run.samples.v[0].noise_ns, 500000000);
	/* As a progress point: so much per second. */
	struct st_blow_run *slot = ST_PUSH(&b.runs);
	assert_non_null(slot);
	*slot = run;
	const struct st_blow_rate rate = st_blow_rate_of(&b, 0);
	assert_int_equal(rate.runs, 1);
	assert_true(fabs(rate.at - work / 2) < 1e-6 * rate.at);
	fclose(f);
	unlink(path);
	free(name);
	st_blow_free(&b);
	st_blow_points_free(&p);
}

/* A window in which the metric has no value has no sample of it. */
static void
test_no_value(void **state)
{
	struct st_blow b = {.live = true, .cut = true};
	struct st_blow_points p = {0};
	struct st_error e;
	struct st_blow_run run = {.function = ST_BLOW_NONE, .total_ns = 1000000};
	const struct st_blow_criteria criteria = {.points = &p};
	(void)state;
	assert_int_equal(st_blow_points_add(&p, "qos:growth:/no/such/file", &e), 0);
	assert_int_equal(st_blow_points_list(&p, &b), 0);
	st_blow_choose(&b, &criteria);
	st_blow_sources_begin(&p);
	assert_int_equal(st_blow_sources_check(&p, &e), -1);
	assert_string_equal(e.text, "--progress qos:growth:/no/such/file: there is no such file");
	assert_int_equal(st_blow_sources_end(&p, &b, 0, &run), 0);
	assert_int_equal(run.samples.n, 0);
	assert_int_equal(st_blow_rate_of(&b, 0).runs, 0);
	st_blow_free(&b);
	st_blow_points_free(&p);
}

/* Work cannot be negative: such a window has no sample either. */
static void
test_negative(void **state)
{
	char path[4096], *name;
	FILE *f = make_file(path, sizeof path);
	struct st_blow b = {.live = true, .cut = true};
	struct st_blow_points p = {0};
	struct st_error e;
	struct st_blow_run run = {.function = ST_BLOW_NONE, .total_ns = 1000000000};
	const struct st_blow_criteria criteria = {.points = &p};
	(void)state;
	name = st_text_of("qos:file:%s:work (.*)", path);
	assert_int_equal(st_blow_points_add(&p, name, &e), 0);
	assert_int_equal(st_blow_points_list(&p, &b), 0);
	st_blow_choose(&b, &criteria);
	for (int i = 0; i < 2; i++) {
		st_blow_sources_begin(&p);
		fprintf(f, "work %d\n", i ? 7 : -5);
		assert_int_equal(fflush(f), 0);
		assert_int_equal(st_blow_sources_end(&p, &b, 0, &run), 0);
		assert_int_equal(run.samples.n, i);
	}
	assert_int_equal(run.samples.v[0].calls, 7 * ST_BLOW_SOURCE_UNIT);
	st_blow_run_clear(&run);
	fclose(f);
	unlink(path);
	free(name);
	st_blow_free(&b);
	st_blow_points_free(&p);
}

/* The time of a unit of work is what counts: of 1000 ns less the pauses for 10 units it is 100, and
 * with half of that as pauses 50. */
static void
test_gain(void **state)
{
	struct st_blow b = {.live = true, .cut = true, .causal = true};
	struct st_blow_points p = {0};
	struct st_error e;
	const struct st_blow_criteria criteria = {.all = true, .points = &p};
	struct st_blow_gain g;
	(void)state;
	add_function(&b, "f");
	assert_int_equal(st_blow_points_add(&p, "qos:growth:/no/such/file", &e), 0);
	assert_int_equal(st_blow_points_list(&p, &b), 0);
	st_blow_choose(&b, &criteria);
	for (int i = 0; i < 4; i++) {
		struct st_blow_run *r = ST_PUSH(&b.runs);
		assert_non_null(r);
		*r = (struct st_blow_run){.function = i % 2 ? 0 : ST_BLOW_NONE,
		                          .noise = {ST_BLOW_VIRTUAL, 25},
		                          .total_ns = 1000};
		struct st_blow_sample *s = ST_PUSH(&r->samples);
		assert_non_null(s);
		*s = (struct st_blow_sample){.function = 1,
		                             .calls = 10ull * ST_BLOW_SOURCE_UNIT,
		                             .noise_ns = i % 2 ? 500 : 0};
	}
	assert_int_equal(st_blow_find_gain(&b, 1, 0, 25, &g), 0);
	assert_true(fabs(g.at - 0.5) < 1e-12);
	g = st_blow_point_gain(&b, 1, g);
	assert_true(fabs(g.at - 1) < 1e-12);
	assert_true(fabs(st_blow_rate_of(&b, 1).at - 1e7) < 1e-3);
	/* The report names it. */
	const struct st_blow_view view = {0};
	char *printed = print_campaign(&b, &view);
	assert_non_null(strstr(printed,
	                       "progress by qos:growth:/no/such/file: 1e+07 per second "
	                       "without a speed-up, standard deviation 0.0 % (2 windows)"));
	assert_non_null(strstr(printed, "\nincrease of qos:growth:/no/such/file in %, with 95 %"));
	assert_non_null(strstr(printed, "2 experiments on 1 of 1 function"));
	free(printed);
	st_blow_free(&b);
	st_blow_points_free(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_names),    cmocka_unit_test(test_refused),
	        cmocka_unit_test(test_entries),  cmocka_unit_test(test_growth),
	        cmocka_unit_test(test_no_value), cmocka_unit_test(test_gain),
	        cmocka_unit_test(test_negative),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
