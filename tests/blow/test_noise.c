/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The strengths of noise, and those that suit a function. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "blow/noise.h"
#include "wire/probe.h"

static struct st_blow_noises
database(struct st_blow_choice choice)
{
	struct st_blow_noises out;
	assert_int_equal(st_blow_database(&choice, &out), ST_OK);
	return out;
}

static void
assert_strengths(const struct st_blow_noises *n, const uint64_t *wanted, size_t count)
{
	assert_int_equal(n->list.n, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(n->list.v[i].strength, wanted[i]);
}

/* 1000 to 1,000,000 us, times 2: ten values; 1000 to 50,000, times 3: four. Never beyond. */
static void
test_bounds(void **state)
{
	static const uint64_t by_two[] = {1000000,  2000000,  4000000,   8000000,   16000000,
	                                  32000000, 64000000, 128000000, 256000000, 512000000},
	                      by_three[] = {1, 3, 9, 27};
	(void)state;
	struct st_blow_noises n = database((struct st_blow_choice){
	        .types[ST_BLOW_NANOSLEEP] = true, .timed = {1000, 1000000}, .growth = 2});
	assert_strengths(&n, by_two, 10);
	free(n.list.v);
	n = database((struct st_blow_choice){
	        .types[ST_BLOW_SLEEP] = true, .timed = {1000, 50000}, .growth = 3});
	assert_strengths(&n, by_three, 4);
	free(n.list.v);
}

/* The document's campaigns have the first strength above the maximum, too: 11 and 5 of them. */
static void
test_above(void **state)
{
	static const uint64_t by_two[] = {1000000,   2000000,   4000000,   8000000,
	                                  16000000,  32000000,  64000000,  128000000,
	                                  256000000, 512000000, 1024000000},
	                      by_three[] = {1, 3, 9, 27, 81}, at_most[] = {1, 2, 4},
	                      rounded[] = {1, 2};
	(void)state;
	struct st_blow_noises n = database((struct st_blow_choice){.types[ST_BLOW_NANOSLEEP] = true,
	                                                           .timed = {1000, 1000000},
	                                                           .growth = 2,
	                                                           .above = true});
	assert_strengths(&n, by_two, 11);
	free(n.list.v);
	n = database((struct st_blow_choice){
	        .types[ST_BLOW_SLEEP] = true, .timed = {1000, 50000}, .growth = 3, .above = true});
	assert_strengths(&n, by_three, 5);
	free(n.list.v);
	/* The maximum is a strength itself; the one above it is there as well. */
	n = database((struct st_blow_choice){
	        .types[ST_BLOW_YIELD] = true, .yield = {1, 2}, .growth = 2, .above = true});
	assert_strengths(&n, at_most, 3);
	free(n.list.v);
	/* One that rounds to the last strength is no other noise. */
	n = database((struct st_blow_choice){
	        .types[ST_BLOW_YIELD] = true, .yield = {1, 2}, .growth = 1.1, .above = true});
	assert_strengths(&n, rounded, 2);
	free(n.list.v);
}

/* In the order nanosleep, usleep, sleep, yield, busy, each in its own units. */
static void
test_types(void **state)
{
	static const uint64_t wanted[] = {1000000, 10000000, 1000,  10000, 1,  10, 7,
	                                  70,      5000,     50000, 25,    50, 75, 100};
	struct st_blow_choice choice = {.repeat = 5,
	                                .timed = {1000, 10000},
	                                .yield = {7, 70},
	                                .busy = {5, 50},
	                                .growth = 10};
	(void)state;
	for (int i = 0; i < ST_BLOW_NOISE_COUNT; i++)
		choice.types[i] = true;
	struct st_blow_noises n = database(choice);
	assert_strengths(&n, wanted, 14);
	for (size_t i = 0; i < 14; i++)
		assert_int_equal(n.list.v[i].type, i < 10 ? i / 2 : ST_BLOW_VIRTUAL);
	assert_int_equal(st_blow_noise_ns(n.list.v[1]), 10000000);
	assert_int_equal(st_blow_noise_ns(n.list.v[3]), 10000000);
	assert_int_equal(st_blow_noise_ns(n.list.v[5]), 10000000);
	assert_int_equal(st_blow_noise_ns(n.list.v[7]), 0);
	assert_int_equal(st_blow_noise_ns(n.list.v[9]), 50000);
	free(n.list.v);
}

/* Strengths that round to 0 or to the previous strength are left out. */
static void
test_units(void **state)
{
	static const uint64_t wanted[] = {1, 2, 3};
	(void)state;
	struct st_blow_noises n = database((struct st_blow_choice){
	        .types[ST_BLOW_SLEEP] = true, .timed = {100, 3000}, .growth = 1.5});
	assert_true(n.list.n >= 3);
	assert_int_equal(n.list.v[0].strength, wanted[0]);
	for (size_t i = 1; i < n.list.n; i++)
		assert_true(n.list.v[i].strength > n.list.v[i - 1].strength);
	free(n.list.v);
}

static void
test_names(void **state)
{
	enum st_blow_noise_type type;
	(void)state;
	for (int i = 0; i < ST_BLOW_NOISE_COUNT; i++) {
		assert_true(
		        st_blow_noise_named(st_blow_noise_name((enum st_blow_noise_type)i), &type));
		assert_int_equal(type, i);
		assert_non_null(st_blow_noise_unit(type));
	}
	assert_false(st_blow_noise_named("loud", &type));
}

/* The word for the probe. */
static void
test_words(void **state)
{
	const struct st_blow_noise sleep = {ST_BLOW_SLEEP, 3}, yield = {ST_BLOW_YIELD, 9},
	                           busy = {ST_BLOW_BUSY, 1000},
	                           long_one = {ST_BLOW_USLEEP, 60000000};
	(void)state;
	assert_int_equal(st_blow_noise_word(sleep, false, 2e9),
	                 st_probe_noise(ST_PROBE_SLEEP, 3000000));
	assert_int_equal(st_blow_noise_word(yield, false, 2e9), st_probe_noise(ST_PROBE_YIELD, 9));
	assert_int_equal(st_blow_noise_word(busy, false, 2e9), st_probe_noise(ST_PROBE_WAIT, 2000));
	assert_int_equal(st_blow_noise_word(long_one, false, 2e9),
	                 st_probe_noise(ST_PROBE_SLEEP, UINT32_MAX));
	assert_int_equal(st_blow_noise_word((struct st_blow_noise){0}, false, 2e9), 0);
	/* At the returns; no noise has none of its bits. */
	assert_int_equal(st_blow_noise_word(yield, true, 2e9),
	                 st_probe_noise(ST_PROBE_YIELD, 9) | ST_PROBE_AT_END);
	assert_int_equal(st_blow_noise_word((struct st_blow_noise){0}, true, 2e9), 0);
}

/* 10 calls in a run of 100 ms that may become twice as long: 10 ms each at most. */
static void
test_for_function(void **state)
{
	struct st_blow_noises out,
	        all = database((struct st_blow_choice){.types = {true, true, true, true, true},
	                                               .timed = {1000, 1000000},
	                                               .yield = {1000, 1000000},
	                                               .busy = {100, 100000},
	                                               .growth = 2});
	(void)state;
	assert_int_equal(st_blow_noises_for(&all, 10, 100e6, 1, 500, &out), ST_OK);
	size_t n[ST_BLOW_NOISE_COUNT] = {0};
	for (size_t i = 0; i < out.list.n; i++) {
		n[out.list.v[i].type]++;
		assert_true(st_blow_noise_ns(out.list.v[i]) <= 10000000);
	}
	assert_int_equal(n[ST_BLOW_NANOSLEEP], 4); /* 1, 2, 4, 8 ms */
	assert_int_equal(n[ST_BLOW_USLEEP], 0);    /* the same again */
	assert_int_equal(n[ST_BLOW_SLEEP], 0);
	assert_int_equal(n[ST_BLOW_YIELD], 5); /* 1000 to 16,000, of 500 ns */
	assert_int_equal(n[ST_BLOW_BUSY], 7);  /* 100 to 6400 us */
	free(out.list.v);
	/* A million calls: nothing of the database is short enough, 100 ns and 50 ns are. */
	assert_int_equal(st_blow_noises_for(&all, 1000000, 100e6, 1, 500, &out), ST_OK);
	assert_int_equal(out.list.n, 2);
	assert_int_equal(out.list.v[0].type, ST_BLOW_BUSY);
	assert_int_equal(out.list.v[0].strength, 50);
	assert_int_equal(out.list.v[1].strength, 100);
	free(out.list.v);
	free(all.list.v);
}

/* Tenths of a mean of 5 ms, and what does not divide 100 %. */
static void
test_speedup(void **state)
{
	static const uint64_t tenths[] = {500000,  1000000, 1500000, 2000000, 2500000,
	                                  3000000, 3500000, 4000000, 4500000, 5000000},
	                      thirds[] = {300, 600, 900};
	struct st_blow_noises out;
	(void)state;
	assert_int_equal(st_blow_speedup_noises(0.1, 5e6, &out), ST_OK);
	assert_strengths(&out, tenths, 10);
	assert_int_equal(out.list.v[9].type, ST_BLOW_NANOSLEEP);
	free(out.list.v);
	assert_int_equal(st_blow_speedup_noises(0.3, 1000, &out), ST_OK);
	assert_strengths(&out, thirds, 3);
	free(out.list.v);
	/* A function without a time has none. */
	assert_int_equal(st_blow_speedup_noises(0.1, 0, &out), ST_OK);
	assert_int_equal(out.list.n, 0);
	free(out.list.v);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_bounds),       cmocka_unit_test(test_above),
	        cmocka_unit_test(test_types),        cmocka_unit_test(test_units),
	        cmocka_unit_test(test_names),        cmocka_unit_test(test_words),
	        cmocka_unit_test(test_for_function), cmocka_unit_test(test_speedup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
