/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The overhead of probes, from pairs of runs with and without them. */
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

#include "blow/campaign.h"
#include "blow/overhead.h"
#include "profile/profile.h"
#include "report/blow.h"

#include "printed.h"

static void
add_pair(struct st_blow *b, uint64_t quiet, uint64_t plain)
{
	struct st_blow_run *r = ST_PUSH(&b->runs);
	*r = (struct st_blow_run){.function = ST_BLOW_NONE, .total_ns = quiet};
	struct st_blow_plain_run *p = ST_PUSH(&b->plain);
	*p = (struct st_blow_plain_run){.total_ns = plain};
}

static bool
is_near(double a, double b)
{
	return fabs(a - b) < 1e-12;
}

static void
test_pairs(void **state)
{
	struct st_blow b = {0};
	(void)state;
	assert_int_equal(st_blow_overhead_of(&b).pairs, 0);
	assert_true(isnan(st_blow_overhead_of(&b).run.at));
	add_pair(&b, 110, 100);
	struct st_blow_overhead o = st_blow_overhead_of(&b);
	assert_true(is_near(o.run.at, 0.1) && isnan(o.run.low) && isnan(o.run.high));
	/* The machine is three times as slow now, for both. */
	add_pair(&b, 330, 300);
	add_pair(&b, 33, 30);
	o = st_blow_overhead_of(&b);
	assert_int_equal(o.pairs, 3);
	assert_true(is_near(o.run.at, 0.1) && is_near(o.run.low, 0.1) && is_near(o.run.high, 0.1));
	/* A run that has failed is in no pair. */
	add_pair(&b, 1, 0);
	assert_int_equal(st_blow_overhead_of(&b).pairs, 3);
	st_blow_free(&b);
}

/* Student's quantile for one degree of freedom is 12.706. */
static void
test_interval(void **state)
{
	struct st_blow b = {0};
	(void)state;
	add_pair(&b, 10000, 10000);
	add_pair(&b, 10201, 10000);
	const struct st_blow_overhead o = st_blow_overhead_of(&b);
	const double half = 12.7062047 * log(1.0201) / sqrt(2) / sqrt(2);
	assert_true(is_near(o.run.at, 0.01) && !o.run.unclear);
	assert_true(fabs(log1p(o.run.high) - log1p(o.run.at) - half) < 1e-6);
	assert_true(fabs(log1p(o.run.at) - log1p(o.run.low) - half) < 1e-6);
	st_blow_free(&b);
}

/* Half of the interval, of the logarithm, is 12.706 times half of the logarithm of the ratio: ln 2
 * if that is 1.1153. */
static void
test_unclear(void **state)
{
	static const struct {
		uint64_t with;
		bool unclear;
	} rows[] = {{11152, false}, {11154, true}};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct st_blow b = {0};
		add_pair(&b, 10000, 10000);
		add_pair(&b, rows[i].with, 10000);
		const struct st_blow_increase run = st_blow_overhead_of(&b).run;
		assert_int_equal(run.unclear, rows[i].unclear);
		assert_int_equal(isnan(run.at) && isnan(run.low) && isnan(run.high),
		                 rows[i].unclear);
		st_blow_free(&b);
	}
}

/* A number whose interval says nothing is not printed. */
static void
test_unclear_printed(void **state)
{
	struct st_profile *p = st_profile_new();
	struct st_blow b = {0};
	(void)state;
	add_pair(&b, 100, 100);
	add_pair(&b, 4000, 100);
	for (size_t i = 0; i < 2; i++)
		b.runs.v[i].cpu_ns = b.plain.v[i].cpu_ns = 50;
	char *text = print_campaign(&b, &(struct st_blow_view){0});
	assert_non_null(
	        strstr(text, "\nprobes: cannot tell the increase of the run time, +0.0 % CPU time "
	                     "(95 % interval +0.0 to +0.0 %); 2 pairs of runs with and without "
	                     "them, which differ too much: make more of them with "
	                     "--native-runs\n"));
	free(text);
	json_t *json = st_blow_object(&b, p, &(struct st_blow_view){0});
	const json_t *probes = json_object_get(json_object_get(json, "baseline"), "probes"),
	             *run = json_object_get(probes, "run_time");
	assert_int_equal(json_integer_value(json_object_get(probes, "pairs")), 2);
	assert_true(json_is_null(json_object_get(run, "value")));
	assert_true(json_is_null(json_object_get(run, "lo")));
	assert_true(json_is_null(json_object_get(run, "hi")));
	json_decref(json);
	st_blow_free(&b);
	st_profile_free(p);
}

/* Pairs begin with a run of the one kind and of the other one in turn. */
static void
test_turns(void **state)
{
	char order[16] = "";
	size_t quiet = 0, plain = 0;
	(void)state;
	for (int i = 0; i < 8; i++) {
		const bool is_plain = st_blow_is_plain_next(quiet, plain, 5, 3);
		order[i] = is_plain ? 'p' : 'q';
		*(is_plain ? &plain : &quiet) += 1;
	}
	assert_string_equal(order, "qppqqpqq");
	assert_false(st_blow_is_plain_next(0, 0, 5, 0));
	assert_false(st_blow_is_plain_next(5, 2, 5, 2));
}

/* ---- campaigns ---- */

struct plain_calls {
	size_t plain, quiet;
};

static st_status
select_none(void *arg, struct st_blow *b, struct st_blow_run *run, struct st_error *e)
{
	(void)arg;
	(void)b;
	(void)e;
	*run = (struct st_blow_run){.function = ST_BLOW_NONE};
	return ST_OK;
}

static st_status
run_probed(void *arg, const struct st_blow *b, struct st_blow_run *run, struct st_error *e)
{
	(void)b;
	(void)e;
	((struct plain_calls *)arg)->quiet++;
	run->total_ns = 1050;
	run->cpu_ns = 808;
	return ST_OK;
}

/* The second run without probes fails. */
static st_status
run_plainly(void *arg, struct st_blow_run *run, struct st_error *e)
{
	(void)e;
	run->total_ns = 1000;
	run->cpu_ns = 800;
	run->fault = ++((struct plain_calls *)arg)->plain == 2 ? ST_BLOW_SLOW : ST_BLOW_NO_FAULT;
	return ST_OK;
}

static void
campaign_with_plain_runs(struct plain_calls *calls, const char *journal, struct st_blow *b)
{
	const struct st_blow_options o = {.quiet_runs = 5,
	                                  .plain_runs = 4,
	                                  .most_slower = 2,
	                                  .journal = journal,
	                                  .identity = "test",
	                                  .select = select_none,
	                                  .run = run_probed,
	                                  .run_plain = run_plainly,
	                                  .arg = calls};
	enum st_blow_end end;
	struct st_error e;
	*b = (struct st_blow){0};
	struct st_blow_campaign *c = st_blow_open(&o, b, &e);
	assert_non_null(c);
	assert_int_equal(st_blow_run(c, &end, &e), ST_OK);
	st_blow_close(c);
}

static void
test_campaign_and_journal(void **state)
{
	char journal[] = "/tmp/strobe-plain-XXXXXX";
	struct plain_calls calls = {0};
	struct st_profile *p = st_profile_new();
	struct st_blow b, back;
	struct st_error e;
	(void)state;
	const int fd = mkstemp(journal);
	assert_true(fd >= 0);
	close(fd);
	for (int i = 0; i < 2; i++) {
		campaign_with_plain_runs(&calls, journal, &b);
		assert_int_equal(calls.plain, 4); /* a resumed campaign makes none again */
		assert_int_equal(calls.quiet, 5);
		assert_int_equal(st_blow_overhead_of(&b).pairs, 3);
		assert_true(is_near(st_blow_overhead_of(&b).run.at, 0.05));
		if (!i)
			st_blow_free(&b);
	}
	unlink(journal);
	p->run.tool = ST_BLOW_TOOL;
	st_profile_add_tool(p, ST_BLOW_TOOL);
	assert_int_equal(st_blow_put(&b, p), ST_OK);
	assert_int_equal(st_blow_read(&back, p, &e), ST_OK);
	assert_int_equal(back.plain.n, 4);
	assert_true(is_near(st_blow_overhead_of(&back).run.at, 0.05));
	char *text = print_campaign(&back, &(struct st_blow_view){0});
	assert_non_null(
	        strstr(text, "\nprobes: +5.0 % run time (95 % interval +5.0 to +5.0 %), +1.0 % CPU "
	                     "time (95 % interval +1.0 to +1.0 %); 3 pairs of runs with and "
	                     "without them\n"));
	free(text);
	json_t *json = st_blow_object(&back, p, &(struct st_blow_view){0}),
	       *probes = json_object_get(json_object_get(json, "baseline"), "probes");
	assert_int_equal(json_integer_value(json_object_get(probes, "pairs")), 3);
	const json_t *run = json_object_get(probes, "run_time"),
	             *cpu = json_object_get(probes, "cpu_time");
	assert_true(is_near(json_real_value(json_object_get(run, "value")), 0.05));
	assert_true(is_near(json_real_value(json_object_get(cpu, "hi")), 0.01));
	json_decref(json);
	st_blow_free(&b);
	st_blow_free(&back);
	st_profile_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_pairs),   cmocka_unit_test(test_interval),
	        cmocka_unit_test(test_unclear), cmocka_unit_test(test_unclear_printed),
	        cmocka_unit_test(test_turns),   cmocka_unit_test(test_campaign_and_journal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
