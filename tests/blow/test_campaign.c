/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Campaigns on a program that is simulated: its time is 1 ms and what its functions add to it, by
 * their shares, so that each number has its truth.
 */
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

#include "base/random.h"
#include "blow/calls.h"
#include "blow/campaign.h"
#include "blow/pick.h"
#include "profile/profile.h"

enum { FUNCTIONS = 6, RUN_NS = 1000000000 };

/* Function i has (i + 1) % of the run, and is called twice. */
struct simulated {
	size_t runs, stop_after;   /* 0: not stopped */
	uint32_t crashes, differs; /* functions whose noise has these faults */
	bool stops;
};

static double
share_of(uint32_t function)
{
	return (function + 1) / 100.0;
}

static st_status
simulate_selection(void *arg, struct st_blow *b, struct st_blow_run *run, struct st_error *e)
{
	(void)arg;
	(void)e;
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		char name[16];
		struct st_blow_function *f = ST_PUSH(&b->functions);
		snprintf(name, sizeof name, "f%u", i);
		*f = (struct st_blow_function){.name = st_blow_text(b, name),
		                               .raw_name = st_blow_text(b, name),
		                               .image = st_blow_text(b, "/bin/simulated"),
		                               .offset = 0x1000 + i,
		                               .calls = 2,
		                               .ns = (uint64_t)(share_of(i) * RUN_NS)};
	}
	b->functions.v[FUNCTIONS - 1].why = st_blow_text(b, "it is too short");
	*run = (struct st_blow_run){.function = ST_BLOW_NONE};
	return ST_OK;
}

static st_status
simulate_run(void *arg, const struct st_blow *b, struct st_blow_run *run, struct st_error *e)
{
	struct simulated *s = arg;
	(void)e;
	const uint64_t noise = run->function == ST_BLOW_NONE      ? 0
	                       : run->noise.type == ST_BLOW_YIELD ? 500 * run->noise.strength
	                                                          : st_blow_noise_ns(run->noise);
	/* Runs differ by up to a tenth of a percent, all in proportion. */
	uint64_t random = b->runs.n;
	const double machine = 1 + (double)st_random_below(&random, 1001) * 1e-6;
	run->total_ns = (uint64_t)(machine * (double)(RUN_NS + 2 * noise));
	run->output = run->function == s->differs ? 2 : 1;
	if (run->function != ST_BLOW_NONE && run->function == s->crashes) {
		run->fault = ST_BLOW_CRASH;
		run->exit = 128 + 11;
	}
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		const uint64_t own = run->function == i ? 2 * noise : 0;
		if (run->function != ST_BLOW_NONE && run->function != i)
			continue;
		struct st_blow_sample *sample = ST_PUSH(&run->samples);
		*sample = (struct st_blow_sample){
		        .function = i,
		        .calls = 2,
		        .ns = (uint64_t)(machine * (share_of(i) * RUN_NS + (double)own)),
		        .noises = own ? 2 : 0,
		        .noise_ns = own};
	}
	s->runs++;
	return ST_OK;
}

static bool
simulate_stop(void *arg)
{
	struct simulated *s = arg;
	s->stops |= s->stop_after && s->runs >= s->stop_after;
	return s->stops;
}

static struct st_blow_options
options_for(struct simulated *s)
{
	return (struct st_blow_options){
	        .criteria = {.which = 1 << ST_BLOW_BY_CRITERION_CALLS |
	                              1 << ST_BLOW_BY_CRITERION_TIME,
	                     .calls = 2,
	                     .ns = 1000000},
	        .noise = {.types = {true, false, false, true, true},
	                  .timed = {1000, 1000000},
	                  .yield = {1000, 1000000},
	                  .busy = {100, 100000},
	                  .growth = 4},
	        .quiet_runs = 5,
	        .most_slower = 2,
	        .seed = 1,
	        .interrupted = simulate_stop,
	        .select = simulate_selection,
	        .run = simulate_run,
	        .arg = s,
	};
}

static enum st_blow_end
campaign(const struct st_blow_options *o, struct st_blow *b)
{
	struct st_error e = {0};
	enum st_blow_end end;
	*b = (struct st_blow){0};
	struct st_blow_campaign *c = st_blow_open(o, b, &e);
	if (!c || st_blow_run(c, &end, &e))
		fail_msg("%s", e.text);
	st_blow_close(c);
	return end;
}

static size_t
noisy_runs(const struct st_blow *b)
{
	size_t n = 0;
	for (size_t i = 0; i < b->runs.n; i++)
		n += b->runs.v[i].function != ST_BLOW_NONE;
	return n;
}

static const struct simulated calm = {.crashes = ST_BLOW_NONE - 1, .differs = ST_BLOW_NONE - 1};

/* The slope of each function is its share, because its noise is added to the run time. */
static void
test_slopes(void **state)
{
	struct simulated s = calm;
	const struct st_blow_options o = options_for(&s);
	struct st_blow b;
	(void)state;
	assert_int_equal(campaign(&o, &b), ST_BLOW_COMPLETE);
	for (uint32_t i = 0; i + 1 < FUNCTIONS; i++) {
		struct st_blow_finding f;
		assert_int_equal(st_blow_find(&b, i, &f), ST_OK);
		assert_int_equal(f.slope.state, ST_BLOW_MEASURED);
		assert_true(fabs(f.slope.at - share_of(i)) < 1e-3);
		assert_true(f.slope.high - f.slope.low < 1e-2);
		assert_true(f.fitness >= f.slope.at);
		assert_true(fabs(f.share - share_of(i)) < 1e-6);
		assert_true(f.calls == 2);
	}
	assert_false(b.functions.v[FUNCTIONS - 1].chosen);
	st_blow_free(&b);
}

/* A full analysis has each function with all that the database has: 5 by 5, 5 and 5. */
static void
test_full(void **state)
{
	struct simulated s = calm;
	struct st_blow_options o = options_for(&s);
	struct st_blow b;
	(void)state;
	o.full = true;
	assert_int_equal(campaign(&o, &b), ST_BLOW_COMPLETE);
	assert_int_equal(noisy_runs(&b), 5 * 15);
	for (uint32_t i = 0; i + 1 < FUNCTIONS; i++) {
		struct st_blow_finding f;
		assert_int_equal(st_blow_find(&b, i, &f), ST_OK);
		assert_int_equal(f.experiments, 15);
	}
	/* One run without noise in nine, so that changes of the machine are seen. */
	assert_int_equal(b.runs.n - noisy_runs(&b), 5 + 5 * 15 / 8);
	st_blow_free(&b);
}

static void
test_limits(void **state)
{
	struct simulated s = calm;
	struct st_blow_options o = options_for(&s);
	struct st_blow b;
	(void)state;
	o.most_runs = 7;
	assert_int_equal(campaign(&o, &b), ST_BLOW_RUNS);
	assert_int_equal(noisy_runs(&b), 7);
	/* The first five are of five functions, those with the most time before the others. */
	uint32_t next = FUNCTIONS - 1;
	for (size_t i = 0; i < b.runs.n && next; i++)
		if (b.runs.v[i].function != ST_BLOW_NONE)
			assert_int_equal(b.runs.v[i].function, --next);
	assert_int_equal(next, 0);
	st_blow_free(&b);
	o.most_runs = 0;
	o.most_seconds = 1e-9;
	const size_t runs = s.runs;
	struct st_error e = {0};
	b = (struct st_blow){0};
	assert_null(st_blow_open(&o, &b, &e));
	assert_non_null(strstr(e.text, "of --timeout ended in the run that selects functions"));
	assert_int_equal(s.runs, runs); /* none after the selection */
	st_blow_free(&b);
	s.stop_after = s.runs + 8;
	o.most_seconds = 0;
	assert_int_equal(campaign(&o, &b), ST_BLOW_INTERRUPTED);
	assert_int_equal(b.runs.n, 7); /* the one that was met does not count */
	st_blow_free(&b);
}

/* Runs with a fault are kept, but are not part of the numbers. */
static void
test_faults(void **state)
{
	struct simulated s = calm;
	const struct st_blow_options o = options_for(&s);
	struct st_blow b;
	struct st_blow_finding f;
	(void)state;
	s.crashes = 1;
	s.differs = 2;
	assert_int_equal(campaign(&o, &b), ST_BLOW_COMPLETE);
	size_t crashes = 0, outputs = 0;
	for (size_t i = 0; i < b.runs.n; i++) {
		crashes += b.runs.v[i].fault == ST_BLOW_CRASH;
		outputs += b.runs.v[i].fault == ST_BLOW_OUTPUT;
		assert_true(!b.runs.v[i].fault || b.runs.v[i].function == 1 ||
		            b.runs.v[i].function == 2);
	}
	assert_true(crashes > 1 && outputs > 1);
	for (uint32_t i = 1; i <= 2; i++) {
		assert_int_equal(st_blow_find(&b, i, &f), ST_OK);
		assert_int_equal(f.experiments, 0);
		assert_int_equal(f.slope.state, ST_BLOW_TOO_FEW);
		assert_true(f.fitness == 0);
	}
	assert_int_equal(st_blow_find(&b, 0, &f), ST_OK);
	assert_int_equal(f.slope.state, ST_BLOW_MEASURED);
	st_blow_free(&b);
}

/* A resumed campaign makes the same experiments as one that was not interrupted. */
static void
test_resume(void **state)
{
	char journal[] = "/tmp/strobe-blow-XXXXXX";
	struct simulated s = calm;
	struct st_blow_options o = options_for(&s);
	struct st_blow whole, parts;
	const int fd = mkstemp(journal);
	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(campaign(&o, &whole), ST_BLOW_COMPLETE);
	o.journal = journal;
	o.identity = "blow test";
	s = calm;
	for (size_t stop = 6; stop < 1000; stop += 9) {
		s.stop_after = stop;
		s.stops = false;
		s.runs--; /* the run that was met is made again */
		s.runs += stop == 6;
		const enum st_blow_end end = campaign(&o, &parts);
		assert_true(end == ST_BLOW_INTERRUPTED || end == ST_BLOW_COMPLETE);
		if (end == ST_BLOW_COMPLETE)
			break;
		st_blow_free(&parts);
	}
	assert_int_equal(parts.functions.n, FUNCTIONS);
	assert_int_equal(parts.runs.n, whole.runs.n);
	for (size_t i = 0; i < whole.runs.n; i++) {
		assert_int_equal(parts.runs.v[i].function, whole.runs.v[i].function);
		assert_int_equal(parts.runs.v[i].noise.type, whole.runs.v[i].noise.type);
		assert_int_equal(parts.runs.v[i].noise.strength, whole.runs.v[i].noise.strength);
	}
	st_blow_free(&whole);
	st_blow_free(&parts);
	unlink(journal);
}

/* 10 functions, 15,000 picks: pairs have 5000, 4000, ... 1000 of them, within 4 sigma. */
static void
test_weights(void **state)
{
	uint64_t random = 1;
	size_t pairs[5] = {0}, few[3] = {0}, seven[7] = {0};
	(void)state;
	for (int i = 0; i < 15000; i++)
		pairs[st_blow_weighted(&random, 10) / 2]++;
	for (int i = 0; i < 5; i++) {
		const double p = (5 - i) / 15.0, sigma = sqrt(15000 * p * (1 - p));
		assert_true(fabs((double)pairs[i] - 15000 * p) < 4 * sigma);
	}
	for (int i = 0; i < 3000; i++)
		few[st_blow_weighted(&random, 3)]++;
	for (int i = 0; i < 3; i++)
		assert_in_range(few[i], 1000 - 4 * 26, 1000 + 4 * 26);
	for (int i = 0; i < 1500; i++) /* the last interval has the remainder */
		seven[st_blow_weighted(&random, 7)]++;
	assert_in_range(seven[4] + seven[5] + seven[6], 100 - 40, 100 + 40);
	assert_true(seven[4] && seven[5] && seven[6]);
}

static void
test_weighted_campaign(void **state)
{
	struct simulated s = calm;
	struct st_blow_options o = options_for(&s);
	struct st_blow b, again;
	(void)state;
	o.pick = ST_BLOW_PICK_WEIGHTED;
	o.most_runs = 20;
	assert_int_equal(campaign(&o, &b), ST_BLOW_RUNS);
	assert_int_equal(campaign(&o, &again), ST_BLOW_RUNS);
	for (size_t i = 0; i < b.runs.n; i++)
		assert_int_equal(b.runs.v[i].function, again.runs.v[i].function);
	st_blow_free(&b);
	st_blow_free(&again);
}

/* A function for each criterion, and one that just misses them. */
static void
test_criteria(void **state)
{
	struct st_blow b = {0};
	const struct st_blow_criteria criteria = {.which = 1 << ST_BLOW_BY_CRITERION_CALLS |
	                                                   1 << ST_BLOW_BY_CRITERION_TIME,
	                                          .calls = 2,
	                                          .ns = 1000000};
	static const struct {
		uint64_t calls, ns;
		const char *why;
		bool chosen;
	} rows[] = {{2, 10, NULL, true},      {1, 10, NULL, false}, {1, 1001000, NULL, true},
	            {1, 999000, NULL, false}, {0, 0, NULL, false},  {9, 9, "no", false}};
	(void)state;
	for (size_t i = 0; i < 6; i++) {
		struct st_blow_function *f = ST_PUSH(&b.functions);
		*f = (struct st_blow_function){.name = "f",
		                               .raw_name = "f",
		                               .image = "i",
		                               .calls = rows[i].calls,
		                               .ns = rows[i].ns,
		                               .why = rows[i].why};
	}
	assert_int_equal(st_blow_choose(&b, &criteria), 2);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(b.functions.v[i].chosen, rows[i].chosen);
	assert_int_equal(st_blow_choose(&b, &(struct st_blow_criteria){.all = true}), 4);
	st_blow_free(&b);
}

/* Criteria that the code or a model decides. */
static void
test_code_criteria(void **state)
{
	struct st_blow b = {0};
	static const struct st_blow_complexity models[] = {
	        {"steady", true}, {"grows", true}, {"grows", false}};
	static const struct {
		const char *name;
		uint32_t sites, traits, met;
	} rows[] = {
	        {"steady", 2, 0, 1u << ST_BLOW_BY_CRITERION_SITES},
	        {"grows(int)", 1, ST_BLOW_CONSTANT, 1u << ST_BLOW_BY_CRITERION_COMPLEXITY},
	        {"loop", 1, ST_BLOW_DOES_IO,
	         1u << ST_BLOW_BY_CRITERION_COMPLEXITY | 1u << ST_BLOW_BY_CRITERION_IO},
	        {"step", 0, ST_BLOW_CONSTANT | ST_BLOW_USES_LOCKS,
	         1u << ST_BLOW_BY_CRITERION_LOCKS},
	};
	enum { ROWS = sizeof rows / sizeof *rows };
	struct st_blow_criteria criteria = {.which = (1u << ST_BLOW_CRITERION_COUNT) - 1,
	                                    .calls = 2,
	                                    .sites = 2,
	                                    .ns = 1000,
	                                    .models = {models, 3}};
	(void)state;
	for (size_t i = 0; i < ROWS; i++) {
		struct st_blow_function *f = ST_PUSH(&b.functions);
		*f = (struct st_blow_function){.name = rows[i].name,
		                               .raw_name = rows[i].name,
		                               .image = "i",
		                               .calls = 1,
		                               .sites = rows[i].sites,
		                               .traits = rows[i].traits};
	}
	assert_int_equal(st_blow_choose(&b, &criteria), ROWS);
	for (size_t i = 0; i < ROWS; i++)
		assert_int_equal(b.functions.v[i].met, rows[i].met);
	/* Only what counts is met. */
	criteria.which = 1u << ST_BLOW_BY_CRITERION_LOCKS;
	assert_int_equal(st_blow_choose(&b, &criteria), 1);
	assert_int_equal(b.functions.v[2].met, 0);
	assert_true(b.functions.v[3].chosen);
	assert_false(st_blow_criteria_read_code(1u << ST_BLOW_BY_CRITERION_CALLS |
	                                        1u << ST_BLOW_BY_CRITERION_TIME));
	assert_true(st_blow_criteria_read_code(criteria.which));
	st_blow_free(&b);
}

/* Names of functions in all the forms that the C library has for them. */
static void
test_traits_of_names(void **state)
{
	static const char *const io[] = {"read",
	                                 "__read",
	                                 "__libc_write@GLIBC_2.2.5",
	                                 "pread64",
	                                 "__printf_chk",
	                                 "fwrite_unlocked",
	                                 "_IO_puts",
	                                 "_IO_file_overflow",
	                                 "__write_nocancel",
	                                 "__GI___libc_write",
	                                 "__GI__IO_puts",
	                                 "_ZNSolsEi",
	                                 "__isoc99_scanf"};
	static const char *const locks[] = {
	        "pthread_mutex_lock@@GLIBC_2.2.5", "__pthread_mutex_unlock", "sem_wait",
	        "__lll_lock_wait_private", "_ZNSt18condition_variable10notify_oneEv"};
	static const char *const none[] = {"reads",    "snprintf", "pthread_mutex_init",
	                                   "",         "_",        "readline",
	                                   "my_write", "64",       NULL};
	(void)state;
	for (size_t i = 0; i < sizeof io / sizeof *io; i++)
		assert_int_equal(st_blow_traits_of_name(io[i]), ST_BLOW_DOES_IO);
	for (size_t i = 0; i < sizeof locks / sizeof *locks; i++)
		assert_int_equal(st_blow_traits_of_name(locks[i]),
		                 ST_BLOW_USES_LOCKS | ST_BLOW_IS_LOCK);
	for (size_t i = 0; i + 1 < sizeof none / sizeof *none; i++)
		assert_int_equal(st_blow_traits_of_name(none[i]), 0);
	assert_int_equal(st_blow_traits_of_name("__assert_fail"), ST_BLOW_ENDS_PROGRAM);
	assert_int_equal(st_blow_traits_of_call(0), ST_BLOW_DOES_IO);
	assert_int_equal(st_blow_traits_of_call(270 /* pselect6 */), ST_BLOW_DOES_IO);
	assert_int_equal(st_blow_traits_of_call(202), ST_BLOW_USES_LOCKS);
	assert_int_equal(st_blow_traits_of_call(39), 0);
}

/* A speed-up of one thread: the opportunity is the share of the function, whatever the noise. */
static void
test_opportunity(void **state)
{
	struct st_blow b = {.speedup = true}, back;
	struct st_profile *p = st_profile_new();
	struct st_blow_finding f;
	struct st_error e;
	(void)state;
	p->run.tool = ST_BLOW_TOOL;
	st_profile_add_tool(p, ST_BLOW_TOOL);
	for (int i = 0; i < 2; i++) {
		struct st_blow_function *function = ST_PUSH(&b.functions);
		*function = (struct st_blow_function){
		        .name = "f", .raw_name = "f", .image = "i", .chosen = true};
	}
	/* 2 calls of 30 of the one, 4 of 10 of the other one; then noise of 5 and of 50 in the
	 * latter, and one run that the noise has not made longer. */
	static const uint64_t totals[] = {100, 100, 120, 300, 100};
	for (size_t i = 0; i < 5; i++) {
		struct st_blow_run *r = ST_PUSH(&b.runs);
		*r = (struct st_blow_run){.function = i < 2 ? ST_BLOW_NONE : 0,
		                          .total_ns = totals[i]};
		struct st_blow_span *span = ST_PUSH(&r->spans);
		*span = (struct st_blow_span){0, totals[i]};
		struct st_blow_sample *one = ST_PUSH(&r->samples);
		*one = (struct st_blow_sample){.function = 0, .calls = 2, .ns = 60};
		struct st_blow_sample *other = ST_PUSH(&r->samples);
		*other = (struct st_blow_sample){.function = 1, .calls = 4, .ns = 40};
	}
	assert_true(fabs(st_blow_opportunity(&b, &b.runs.v[2], 30) - 0.6) < 1e-12);
	assert_true(fabs(st_blow_opportunity(&b, &b.runs.v[3], 30) - 0.6) < 1e-12);
	assert_true(isnan(st_blow_opportunity(&b, &b.runs.v[4], 30)));
	assert_int_equal(st_blow_find(&b, 0, &f), ST_OK);
	assert_int_equal(f.experiments, 3);
	assert_true(fabs(f.fitness - 0.6) < 1e-12);
	assert_int_equal(st_blow_put(&b, p), ST_OK);
	assert_int_equal(st_blow_read(&back, p, &e), ST_OK);
	assert_true(back.speedup);
	assert_int_equal(back.runs.v[3].spans.n, 1);
	assert_int_equal(back.runs.v[3].spans.v[0].ns, 300);
	st_blow_free(&b);
	st_blow_free(&back);
	st_profile_free(p);
}

/* Into a profile and back. */
static void
test_profile(void **state)
{
	struct simulated s = calm;
	const struct st_blow_options o = options_for(&s);
	struct st_profile *p = st_profile_new();
	struct st_blow b, back;
	struct st_error e;
	(void)state;
	s.crashes = 3;
	campaign(&o, &b);
	assert_int_equal(st_blow_put(&b, p), ST_OK);
	assert_int_equal(st_blow_read(&back, p, &e), ST_OK);
	assert_int_equal(back.functions.n, b.functions.n);
	assert_int_equal(back.runs.n, b.runs.n);
	for (size_t i = 0; i < b.functions.n; i++) {
		assert_string_equal(back.functions.v[i].name, b.functions.v[i].name);
		assert_int_equal(back.functions.v[i].chosen, b.functions.v[i].chosen);
		assert_true(!back.functions.v[i].why == !b.functions.v[i].why);
		assert_int_equal(back.functions.v[i].ns, b.functions.v[i].ns);
	}
	for (size_t i = 0; i < b.runs.n; i++) {
		const struct st_blow_run *x = &b.runs.v[i], *y = &back.runs.v[i];
		assert_int_equal(x->function, y->function);
		assert_int_equal(x->fault, y->fault);
		assert_int_equal(x->total_ns, y->total_ns);
		assert_int_equal(x->output, y->output);
		assert_int_equal(x->samples.n, y->samples.n);
		assert_memory_equal(x->samples.v, y->samples.v,
		                    x->samples.n * sizeof *x->samples.v);
	}
	st_blow_free(&b);
	st_blow_free(&back);
	st_profile_free(p);
	p = st_profile_new();
	p->run.tool = "hot";
	assert_int_equal(st_blow_read(&back, p, &e), ST_FAILED);
	assert_non_null(strstr(e.text, "hot"));
	st_profile_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_slopes),          cmocka_unit_test(test_full),
	        cmocka_unit_test(test_limits),          cmocka_unit_test(test_faults),
	        cmocka_unit_test(test_resume),          cmocka_unit_test(test_weights),
	        cmocka_unit_test(test_criteria),        cmocka_unit_test(test_code_criteria),
	        cmocka_unit_test(test_traits_of_names), cmocka_unit_test(test_weighted_campaign),
	        cmocka_unit_test(test_profile),         cmocka_unit_test(test_opportunity),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
