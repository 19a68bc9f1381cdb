/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "study.h"

enum { PROGRAMS = 3, REPEAT = 4, CELLS = 4 };

static void
assert_near(double is, double wanted)
{
	assert_true(fabs(is - wanted) <= 1e-9 * fmax(1, fabs(wanted)));
}

/* What runs vary by: the same sum over each combination and each program. */
static double
noise(const struct st_study_pair *p)
{
	return p->repetition % 2 ? 1 : -1;
}

/* A longer period costs less with each budget, sees less that is new and more in all. */
static void
as_claimed(struct st_study_pair *p)
{
	p->measured.cpu =
	        1.01 + 0.2 * (double)p->budget - 0.005 * (double)p->period + 1e-4 * noise(p);
	p->measured.wall = 2 * p->measured.cpu;
	p->instructions = 60 + 30 * p->budget - 10 * p->period + (noise(p) > 0);
	p->raw = 20 + 200 * p->budget + 10 * p->period + (noise(p) > 0) + p->program;
}

/* No effect of the period, but of the program. */
static void
indifferent(struct st_study_pair *p)
{
	p->measured.cpu = p->measured.wall = 1.5 + (double)p->program + 0.1 * noise(p);
	p->instructions = 50 + (noise(p) > 0);
	p->raw = 500 + (noise(p) > 0);
}

/* The period works the other way with the greater budget, and less. */
static void
mixed(struct st_study_pair *p)
{
	as_claimed(p);
	p->instructions =
	        50 + (p->budget == p->period ? 20 : 0) + 3 * p->period * p->budget + (noise(p) > 0);
}

/* ---- plans ---- */

/* To the last bit, whatever it is. */
static void
pairs_as_text(void **state)
{
	(void)state;
	const struct st_study_pair in = {.program = 3,
	                                 .budget = 1,
	                                 .period = 2,
	                                 .repetition = 999,
	                                 .native = {0.1, 1e-300},
	                                 .measured = {123456.789, 1.0 / 3},
	                                 .instructions = UINT64_MAX,
	                                 .raw = 0};
	struct st_study_pair out;
	char text[300] = {0};
	FILE *f = fmemopen(text, sizeof text - 1, "w");
	st_study_write_pair(&in, f);
	fclose(f);
	assert_true(st_study_read_pair(&out, text));
	assert_memory_equal(&in, &out, sizeof in);
	strcat(text, "x");
	assert_false(st_study_read_pair(&out, text));
	assert_false(st_study_read_pair(&out, ""));
	assert_false(st_study_read_pair(&out, "1 2 3 4 5 6 7"));
}

static void
each_combination_once(void **state)
{
	struct st_study s;
	struct st_study_step steps[PROGRAMS * CELLS];
	(void)state;
	study_make(&s, PROGRAMS, 1, as_claimed);
	assert_int_equal(st_study_steps(&s), PROGRAMS * CELLS);
	for (size_t r = 0; r < 50; r++) {
		unsigned seen[PROGRAMS][2][2] = {0};
		st_study_plan(&s, r, steps);
		for (size_t i = 0; i < PROGRAMS * CELLS; i++)
			assert_int_equal(seen[steps[i].program][steps[i].budget][steps[i].period]++,
			                 0);
	}
	st_study_free(&s);
}

static bool
is_same(const struct st_study_step *a, const struct st_study_step *b)
{
	for (int i = 0; i < CELLS; i++)
		if (a[i].program != b[i].program || a[i].budget != b[i].budget ||
		    a[i].period != b[i].period || a[i].native_first != b[i].native_first)
			return false;
	return true;
}

/* The same seed, the same order; each repetition another. Each place is each combination's now and
 * then, and either run comes first now and then. */
static void
order_is_random(void **state)
{
	enum { ROUNDS = 500 };
	struct st_study s;
	struct st_study_step steps[CELLS], again[CELLS];
	unsigned first[CELLS] = {0}, native_first = 0;
	(void)state;
	study_make(&s, 1, 1, as_claimed);
	for (size_t r = 0; r < ROUNDS; r++) {
		st_study_plan(&s, r, steps);
		st_study_plan(&s, r, again);
		assert_true(is_same(steps, again));
		first[steps[0].budget * 2 + steps[0].period]++;
		native_first += steps[0].native_first;
	}
	for (int i = 0; i < CELLS; i++)
		assert_true(first[i] > ROUNDS / 8 && first[i] < ROUNDS / 2);
	assert_true(native_first > ROUNDS / 4 && native_first < ROUNDS - ROUNDS / 4);
	unsigned same = 0;
	for (size_t r = 0; r < ROUNDS; r++) {
		s.seed = 1;
		st_study_plan(&s, r, steps);
		s.seed = 2;
		st_study_plan(&s, r, again);
		same += is_same(steps, again);
	}
	assert_true(same < ROUNDS / 8); /* 384 orders */
	st_study_free(&s);
}

/* ---- analyses ---- */

static void
claims_that_hold(void **state)
{
	struct st_study s;
	struct st_analysis a;
	struct st_error e;
	(void)state;
	study_make(&s, PROGRAMS, REPEAT, as_claimed);
	assert_int_equal(st_analysis_make(&a, &s, &e), 0);
	assert_int_equal(a.repetitions, REPEAT);
	assert_true(a.tested);
	for (int i = 0; i < ST_HYPOTHESIS_COUNT; i++) {
		assert_true(a.hypotheses[i].rejected && a.hypotheses[i].stands);
		assert_false(a.hypotheses[i].interacts);
	}
	assert_int_equal(a.hypotheses[ST_HYPOTHESIS_UNIQUE].trend, ST_TREND_DOWN);
	assert_int_equal(a.hypotheses[ST_HYPOTHESIS_RAW].trend, ST_TREND_UP);
	assert_near(a.cells[0][0].mean[ST_RESPONSE_UNIQUE], 60.5);
	assert_near(a.cells[1][1].mean[ST_RESPONSE_UNIQUE], 80.5);
	assert_near(a.cells[1][0].mean[ST_RESPONSE_RAW], 22.15); /* of 1000: 220 + 0.5 + 1 */
	/* Twelve runs, half of them one more. */
	assert_near(a.cells[0][0].deviation[ST_RESPONSE_UNIQUE], sqrt(12 * 0.25 / 11));
	assert_near(a.cells[0][0].mean[ST_RESPONSE_CPU], sqrt((1.01 + 1e-4) * (1.01 - 1e-4)));
	assert_near(a.cells[0][0].mean[ST_RESPONSE_WALL], 2 * a.cells[0][0].mean[ST_RESPONSE_CPU]);
	const struct st_anova_row *rows = a.anova[ST_RESPONSE_UNIQUE].rows;
	assert_near(rows[ST_ANOVA_FIRST].ss, 48 * 5 * 5.0);
	assert_near(rows[ST_ANOVA_SECOND].ss, 48 * 15 * 15.0);
	assert_near(rows[ST_ANOVA_RESIDUALS].ss, 48 * 0.25);
	assert_int_equal(rows[ST_ANOVA_RESIDUALS].df, 47 - 1 - 1 - 1 - 2);
	st_study_free(&s);
}

static void
no_effect(void **state)
{
	struct st_study s;
	struct st_analysis a;
	struct st_error e;
	(void)state;
	study_make(&s, PROGRAMS, REPEAT, indifferent);
	assert_int_equal(st_analysis_make(&a, &s, &e), 0);
	for (int i = 0; i < ST_HYPOTHESIS_COUNT; i++) {
		assert_false(a.hypotheses[i].rejected || a.hypotheses[i].stands);
		assert_near(a.hypotheses[i].p, 1);
	}
	assert_true(a.anova[ST_RESPONSE_CPU].rows[ST_ANOVA_BLOCK].p < ST_SIGNIFICANCE);
	assert_false(a.unique.found || a.raw.found); /* no slowdown is kept */
	/* All have the same slowdown, so the largest budget is the least beyond. */
	assert_true(a.nearest.found && a.nearest.budget == 1 && a.nearest.period == 0);
	assert_near(a.excess, a.cells[1][0].mean[ST_RESPONSE_CPU] - 1 - s.budgets[1]);
	st_study_free(&s);
}

static void
effects_that_differ(void **state)
{
	struct st_study s;
	struct st_analysis a;
	struct st_error e;
	(void)state;
	study_make(&s, PROGRAMS, REPEAT, mixed);
	assert_int_equal(st_analysis_make(&a, &s, &e), 0);
	const struct st_hypothesis *h = &a.hypotheses[ST_HYPOTHESIS_UNIQUE];
	assert_true(h->rejected && h->interacts && !h->stands);
	assert_int_equal(h->trend, ST_TREND_MIXED);
	st_study_free(&s);
}

static void
advice(void **state)
{
	struct st_study s;
	struct st_analysis a;
	struct st_error e;
	(void)state;
	study_make(&s, PROGRAMS, REPEAT, as_claimed);
	assert_int_equal(st_analysis_make(&a, &s, &e), 0);
	assert_true(a.unique.found && a.unique.budget == 1 && a.unique.period == 0);
	assert_true(a.raw.found && a.raw.budget == 1 && a.raw.period == 1);
	/* When the greater budget costs more than its share, the smaller one is left. */
	for (size_t i = 0; i < s.pairs.n; i++)
		s.pairs.v[i].measured.cpu += s.pairs.v[i].budget ? 0.5 : 0;
	assert_int_equal(st_analysis_make(&a, &s, &e), 0);
	assert_true(a.kept[0][0] && !a.kept[1][0] && !a.kept[1][1]);
	assert_true(a.unique.found && a.unique.budget == 0 && a.unique.period == 0);
	/* Nearly as much for less. */
	for (size_t i = 0; i < s.pairs.n; i++) {
		s.pairs.v[i].measured.cpu = 1;
		s.pairs.v[i].instructions = 90 + s.pairs.v[i].budget + s.pairs.v[i].period;
	}
	assert_int_equal(st_analysis_make(&a, &s, &e), 0);
	assert_true(a.unique.found && a.unique.budget == 0 && a.unique.period == 1);
	st_study_free(&s);
}

/* Only whole repetitions say something; with one of one program nothing is left to compare with. */
static void
unfinished(void **state)
{
	struct st_study s;
	struct st_analysis a;
	struct st_error e;
	(void)state;
	study_make(&s, 1, 3, as_claimed);
	s.pairs.n = 2 * CELLS + 3;
	assert_int_equal(st_analysis_make(&a, &s, &e), 0);
	assert_int_equal(a.repetitions, 2);
	assert_int_equal(a.anova[0].rows[ST_ANOVA_RESIDUALS].df, 4);
	s.pairs.n = CELLS;
	assert_int_equal(st_analysis_make(&a, &s, &e), 0);
	assert_false(a.tested);
	assert_string_equal(
	        a.untested.text,
	        "too few runs for an analysis of variance: measure with more repetitions");
	assert_true(a.unique.found);
	/* One repetition of a study that ended early is too little to recommend anything. */
	s.complete = false;
	assert_int_equal(st_analysis_make(&a, &s, &e), 0);
	assert_false(a.unique.found || a.raw.found || a.nearest.found);
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	assert_non_null(out);
	st_analysis_print(&a, &s, false, out, (struct st_style){0});
	assert_false(fclose(out));
	assert_non_null(strstr(
	        text, "\nnone is recommended: the study ended early, after one repetition\n"));
	assert_null(strstr(text, "recommended: of"));
	free(text);
	s.pairs.n = 2 * CELLS;
	assert_int_equal(st_analysis_make(&a, &s, &e), 0);
	assert_true(a.unique.found);
	s.complete = true;
	s.pairs.n = CELLS - 1;
	assert_int_equal(st_analysis_make(&a, &s, &e), -1);
	assert_string_equal(e.text, "no repetition is complete, so there is nothing to analyse");
	st_study_free(&s);
}

/* ---- files ---- */

static char *
json_of(const struct st_study *s)
{
	struct st_analysis a;
	struct st_error e;
	assert_int_equal(st_analysis_make(&a, s, &e), 0);
	char *text = st_study_json(&a, s, &e);
	assert_non_null(text);
	return text;
}

static int
load(struct st_study *s, const char *text, struct st_error *e)
{
	char path[] = "/tmp/strobe-study-XXXXXX";
	int fd = mkstemp(path);
	size_t n = strlen(text);
	assert_true(fd >= 0 && write(fd, text, n) == (ssize_t)n);
	close(fd);
	int status = st_study_load(s, path, e);
	unlink(path);
	return status;
}

static void
there_and_back(void **state)
{
	struct st_study s, read;
	struct st_error e;
	(void)state;
	study_make(&s, PROGRAMS, REPEAT, as_claimed);
	s.complete = false;
	s.pairs.n -= 5;
	char *text = json_of(&s);
	assert_int_equal(load(&read, text, &e), 0);
	assert_false(read.complete);
	assert_true(read.seed == UINT64_MAX && read.repeat == REPEAT);
	assert_int_equal(read.pairs.n, s.pairs.n);
	assert_int_equal(read.programs.v[1].exit_code, 3);
	assert_string_equal(read.programs.v[1].argv[1], "caf\xc3\xa9 \"1\"");
	char *again = json_of(&read);
	assert_string_equal(text, again);
	free(again);
	free(text);
	st_study_free(&read);
	st_study_free(&s);
}

/* Replaces the first `old` in the file of a study, which is then refused for its `key`. */
static void
refuse(const char *whole, const char *old, const char *new, const char *key)
{
	struct st_study s;
	struct st_error e;
	char *text = NULL, sentence[128];
	const char *at = strstr(whole, old);
	assert_non_null(at);
	assert_true(asprintf(&text, "%.*s%s%s", (int)(at - whole), whole, new, at + strlen(old)) >
	            0);
	assert_int_equal(load(&s, text, &e), -1);
	assert_int_equal(e.code, ST_EXIT_FAILED);
	snprintf(sentence, sizeof sentence, "is damaged: its '%s' cannot be right", key);
	if (!strstr(e.text, sentence))
		fail_msg("%s: %s", new, e.text);
	st_study_free(&s);
	free(text);
}

static void
damaged(void **state)
{
	struct st_study s;
	(void)state;
	study_make(&s, 1, 2, as_claimed);
	char *text = json_of(&s);
	refuse(text, "\"tool\": \"branches\"", "\"tool\": 7", "tool");
	refuse(text, "\"policy\": \"native\"", "\"policy\": null", "policy");
	refuse(text, "\"seed\": \"1", "\"seed\": \"-1", "seed");
	refuse(text, "\"seed\": \"1", "\"seed\": \"9991", "seed");
	refuse(text, "\"repeat\": 2", "\"repeat\": 0", "repeat");
	refuse(text, "\"repeat\": 2", "\"repeat\": 1", "repetition");
	refuse(text, "\"complete\": true", "\"complete\": 1", "complete");
	refuse(text, "\"budgets\": [\n    0.02", "\"budgets\": [\n    0.5", "budgets");
	refuse(text, "\"periods\": [\n    0.25", "\"periods\": [\n    4.0", "periods");
	refuse(text, "\"exit\": 3", "\"exit\": 256", "exit");
	refuse(text, "\"seconds\": 1.0", "\"seconds\": 0.0", "seconds");
	refuse(text, "\"cpu_seconds\": 1.0", "\"cpu_seconds\": -1.0", "cpu_seconds");
	refuse(text, "\"raw_instructions\": 1000", "\"raw_instructions\": 0", "instructions");
	refuse(text, "\"program\": 0", "\"program\": 1", "program");
	refuse(text, "\"repetition\": 0", "\"repetition\": 1", "runs");
	refuse(text, "\"command\": [\n        \"work\"", "\"command\": [\n        7", "command");
	char *last = strstr(text, "\"analysis\"");
	assert_non_null(last);
	last[1] = 'A'; /* it is found again */
	struct st_study read;
	assert_int_equal(load(&read, text, NULL), 0);
	st_study_free(&read);
	free(text);
	st_study_free(&s);
}

static void
foreign(void **state)
{
	struct st_study s;
	struct st_error e;
	(void)state;
	assert_int_equal(load(&s, "{}", &e), -1);
	assert_non_null(strstr(e.text, "is not a study of strobe tune"));
	assert_int_equal(load(&s, "7 rows\n", &e), -1);
	assert_non_null(strstr(e.text, "is not a study of strobe tune"));
	assert_int_equal(load(&s, "{\"strobe\": {\"version\": 1, \"study\": 2}}", &e), -1);
	assert_non_null(strstr(e.text, "is of version 2; this strobe reads version 1"));
	assert_int_equal(st_study_load(&s, "/nonexistent/study", &e), -1);
	assert_string_equal(e.text, "cannot read /nonexistent/study: No such file or directory");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(pairs_as_text),   cmocka_unit_test(each_combination_once),
	        cmocka_unit_test(order_is_random), cmocka_unit_test(claims_that_hold),
	        cmocka_unit_test(no_effect),       cmocka_unit_test(effects_that_differ),
	        cmocka_unit_test(advice),          cmocka_unit_test(unfinished),
	        cmocka_unit_test(there_and_back),  cmocka_unit_test(damaged),
	        cmocka_unit_test(foreign),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
