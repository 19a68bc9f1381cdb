/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that are called too often are left out, so that probes do not take most of the time. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "blow/locations.h"
#include "printed.h"

static struct st_blow_function *
add_function(struct st_blow *b, const char *name, uint64_t calls, uint64_t ns)
{
	struct st_blow_function *f = ST_PUSH(&b->functions);
	assert_non_null(f);
	*f = (struct st_blow_function){
	        .name = name, .raw_name = name, .image = "/bin/p", .calls = calls, .ns = ns};
	return f;
}

/* A run of 100 ms, of which 5 % are 50,000 calls. */
static struct st_blow
program(void)
{
	struct st_blow b = {0};
	add_function(&b, "main", 2, 100000000);
	add_function(&b, "hot", 1000000, 60000000);
	add_function(&b, "warm", 30000, 20000000);
	add_function(&b, "mild", 30000 - 1, 10000000);
	add_function(&b, "rare", 10000, 10000000);
	return b;
}

static struct st_blow_criteria
criteria_with(double probes)
{
	return (struct st_blow_criteria){
	        .which = 1 << ST_BLOW_BY_CRITERION_CALLS, .calls = 2, .probes = probes};
}

static void
assert_left_out(const struct st_blow *b, const char *names)
{
	char left[64] = "";
	for (size_t i = 0; i < b->functions.n; i++) {
		const struct st_blow_function *f = &b->functions.v[i];
		const bool is_frequent = f->traits & ST_BLOW_IS_FREQUENT;
		assert_true(!is_frequent || !f->chosen);
		if (is_frequent)
			strcat(strcat(left, *left ? "," : ""), f->name);
	}
	assert_string_equal(left, names);
}

/* Those with most calls, until the others take at most that share; nothing without a limit. */
static void
test_limit(void **state)
{
	struct st_blow b = program();
	const struct st_blow_criteria none = criteria_with(0), little = criteria_with(0.05),
	                              more = criteria_with(0.08), all = criteria_with(2);
	(void)state;
	assert_int_equal(st_blow_choose(&b, &none), 5);
	assert_left_out(&b, "");
	assert_int_equal(st_blow_choose(&b, &little), 3);
	assert_left_out(&b, "hot,warm");
	assert_int_equal(st_blow_choose(&b, &more), 4);
	assert_left_out(&b, "hot");
	assert_int_equal(st_blow_choose(&b, &all), 5);
	assert_left_out(&b, "");
	st_blow_free(&b);
}

/* Functions that the user has named stay, as do locations; a speed-up needs all probes. */
static void
test_kept(void **state)
{
	struct st_blow b = program();
	struct st_blow_criteria named = criteria_with(0.05), usual = named;
	(void)state;
	named.all = true;
	assert_int_equal(st_blow_choose(&b, &named), 5);
	b.speedup = true;
	assert_int_equal(st_blow_choose(&b, &usual), 5);
	b.speedup = false;
	b.functions.v[1].traits = ST_BLOW_IS_INSIDE;
	assert_int_equal(st_blow_choose(&b, &usual), 4);
	assert_left_out(&b, "warm");
	st_blow_free(&b);
}

/* The run of a short program takes a millisecond at least; a window has its own time. */
static void
test_time(void **state)
{
	struct st_blow b = {0};
	struct st_blow_criteria c = criteria_with(0.05);
	(void)state;
	add_function(&b, "f", 400, 10);
	add_function(&b, "g", 501, 10);
	assert_int_equal(st_blow_choose(&b, &c), 1);
	assert_left_out(&b, "g");
	c.run_ns = 1e9;
	assert_int_equal(st_blow_choose(&b, &c), 2);
	st_blow_free(&b);
}

static void
test_text(void **state)
{
	struct st_blow b = program();
	const struct st_blow_view view = {0};
	const struct st_blow_criteria c = criteria_with(0.05);
	(void)state;
	st_blow_choose(&b, &c);
	const struct st_blow_frequent f = st_blow_frequent_of(&b);
	assert_int_equal(f.n, 2);
	assert_int_equal(f.calls, 30000);
	assert_true(fabs(f.share - 1.03) < 1e-9);
	char *text = print_campaign(&b, &view);
	assert_non_null(strstr(text,
	                       "\n2 functions with at least 30,000 calls were left out, since the "
	                       "probes would take about 103 % of the run time: name them with "
	                       "--funcs, or try all with --probe-overhead 0\n"
	                       "  hot: 60.0 % of the time in the selection, 1,000,000 calls\n"
	                       "  warm: 20.0 % of the time in the selection, 30,000 calls\n"));
	assert_null(strstr(text, "more, which --full prints"));
	free(text);
	st_blow_free(&b);
}

/* Those with the most time are named, and all with --full. */
static void
test_many_left_out(void **state)
{
	static const char *const names[] = {"f0", "f1", "f2", "f3", "f4", "f5", "f6"};
	struct st_blow b = {0};
	const struct st_blow_view view = {0}, full = {.full = true};
	const struct st_blow_criteria c = criteria_with(0.05);
	(void)state;
	add_function(&b, "main", 2, 1000000000);
	for (uint64_t i = 0; i < 7; i++)
		add_function(&b, names[i], 10000000 + i, 100000000 * (i % 7 + 1));
	st_blow_choose(&b, &c);
	char *text = print_campaign(&b, &view), *all = print_campaign(&b, &full);
	assert_non_null(strstr(text, "  f6: 70.0 % of the time in the selection, 10,000,006 calls\n"
	                             "  f5: 60.0 % of"));
	assert_non_null(strstr(text, "  f2: 30.0 % of"));
	assert_null(strstr(text, "  f1: "));
	assert_non_null(strstr(text, "\n  ... and 2 more, which --full prints\n"));
	assert_non_null(strstr(all, "  f0: 10.0 % of"));
	assert_null(strstr(all, "more, which --full prints"));
	free(text);
	free(all);
	st_blow_free(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_limit),         cmocka_unit_test(test_kept),
	        cmocka_unit_test(test_time),          cmocka_unit_test(test_text),
	        cmocka_unit_test(test_many_left_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
