/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The arithmetic of clocks and deadlines from which pauses are hidden, and where threads find how
 * much is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/random.h"
#include "blow/debt.h"
#include "blow/hidden.h"

/* ---- clocks ---- */

static void
test_hide(void **state)
{
	struct st_clock_seen seen = {0, 0};
	(void)state;
	assert_int_equal(st_clock_hide(&seen, 1000, 0), 1000);
	assert_int_equal(st_clock_hide(&seen, 1500, 300), 1200);
	/* More was hidden at once than has passed: the clock stands still until that is made up
	 * for. */
	assert_int_equal(st_clock_hide(&seen, 1600, 900), 1200);
	assert_int_equal(st_clock_hide(&seen, 1900, 900), 1200);
	assert_int_equal(st_clock_hide(&seen, 2101, 900), 1201);
	/* Less is hidden than was said before. */
	assert_int_equal(st_clock_hide(&seen, 2101, 800), 1301);
	/* A clock that is read twice in one of its ticks. */
	assert_int_equal(st_clock_hide(&seen, 2101, 850), 1301);
	/* The kernel's clock has been set back by 1,000. */
	assert_int_equal(st_clock_hide(&seen, 1101, 800), 301);
	assert_int_equal(st_clock_hide(&seen, 1201, 800), 401);
}

/* Whatever is hidden, a clock that does not go back natively does not go back. */
static void
test_monotonic(void **state)
{
	struct st_clock_seen seen = {0, 0};
	uint64_t random = 1;
	int64_t real = 5000000, hidden = 0, last = 0;
	(void)state;
	for (int i = 0; i < 100000; i++) {
		real += (int64_t)st_random_below(&random, 3) * 1000;
		hidden += (int64_t)st_random_below(&random, 2000) - 500;
		hidden = hidden < 0 ? 0 : hidden;
		const int64_t now = st_clock_hide(&seen, real, hidden);
		assert_true(now >= last);
		assert_true(now >= real - hidden);
		last = now;
	}
}

static void
test_clock_ids(void **state)
{
	static const bool hidden[] = {true, true, false, false, true,  true,
	                              true, true, true,  true,  false, true};
	(void)state;
	for (uint64_t id = 0; id < sizeof hidden; id++)
		assert_int_equal(st_clock_is_hidden(id), hidden[id]);
	assert_false(st_clock_is_hidden(12));
	assert_false(st_clock_is_hidden(UINT64_MAX)); /* the CPU time of a process */
}

/* ---- deadlines ---- */

static void
test_later(void **state)
{
	struct st_clock_time t = {5, 900000000};
	(void)state;
	assert_true(st_clock_later(&t, 3200000001));
	assert_int_equal(t.seconds, 9);
	assert_int_equal(t.nanoseconds, 100000001);
	/* What the kernel refuses, or treats as never, stays. */
	static const struct st_clock_time odd[] = {
	        {-1, 0}, {1, -1}, {1, 1000000000}, {INT64_MAX, 0}, {INT64_MAX, 999999999}};
	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
		struct st_clock_time same = odd[i];
		assert_false(st_clock_later(&same, 1));
		assert_memory_equal(&same, &odd[i], sizeof same);
	}
}

/* ---- threads ---- */

static const struct st_clock_slot *
slot_of(const struct st_probe_area *a, uint32_t tid)
{
	for (uint32_t i = 0; i < ST_CLOCK_SLOTS; i++)
		if (a->clocks[i].tid == tid)
			return &a->clocks[i];
	return NULL;
}

static void
test_slots(void **state)
{
	struct st_probe_area *a = calloc(1, sizeof *a);
	(void)state;
	assert_non_null(a);
	/* These have the same hash. */
	const uint32_t first = 7, second = first + ST_CLOCK_SLOTS, third = second + ST_CLOCK_SLOTS;
	st_hidden_put(a, first, 0.5);
	st_hidden_put(a, second, 1.5);
	st_hidden_put(a, first, 0.75);
	st_hidden_put(a, third, -1);
	assert_int_equal(slot_of(a, first)->hidden_ns, 750000000);
	assert_int_equal(slot_of(a, second)->hidden_ns, 1500000000);
	assert_int_equal(slot_of(a, third)->hidden_ns, 0);
	/* A thread that ends hides no other one; its slot is taken by the next. */
	const struct st_clock_slot *left = slot_of(a, second);
	st_hidden_end(a, second);
	assert_null(slot_of(a, second));
	assert_int_equal(left->tid, ST_CLOCK_NOBODY);
	st_hidden_put(a, third, 2);
	assert_int_equal(slot_of(a, third)->hidden_ns, 2000000000);
	assert_ptr_not_equal(slot_of(a, third), left);
	st_hidden_put(a, third + ST_CLOCK_SLOTS, 1);
	assert_ptr_equal(slot_of(a, third + ST_CLOCK_SLOTS), left);
	free(a);
}

/* All slots are in use: one more thread is left out, and the others keep theirs. */
static void
test_full(void **state)
{
	struct st_probe_area *a = calloc(1, sizeof *a);
	(void)state;
	assert_non_null(a);
	for (uint32_t i = 1; i <= ST_CLOCK_SLOTS + 1; i++)
		st_hidden_put(a, i, i);
	assert_null(slot_of(a, ST_CLOCK_SLOTS + 1));
	for (uint32_t i = 1; i <= ST_CLOCK_SLOTS; i++)
		assert_int_equal(slot_of(a, i)->hidden_ns, i * 1000000000ull);
	free(a);
}

/* A thread that another one has woken inherits what that has paid, and one whose time was up pays.
 */
static void
test_wake(void **state)
{
	struct st_debts d = {.speedup = 1};
	(void)state;
	for (int64_t tid = 1; tid <= 3; tid++)
		assert_int_equal(st_debt_thread(&d, tid, SIZE_MAX), (size_t)tid - 1);
	d.threads.v[0].state = ST_DEBT_RUNS;
	d.threads.v[0].in_function = true;
	d.threads.v[0].ran = 1;
	d.threads.v[1].state = d.threads.v[2].state = ST_DEBT_WAITS;
	st_debt_tick(&d, 1);
	assert_true(st_debt_owed(&d, 1) > 0.99 && st_debt_owed(&d, 2) > 0.99);
	st_debt_wake(&d, 1);
	assert_true(st_debt_owed(&d, 1) == 0 && st_debt_owed(&d, 2) > 0.99);
	st_debts_free(&d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_hide),      cmocka_unit_test(test_monotonic),
	        cmocka_unit_test(test_clock_ids), cmocka_unit_test(test_later),
	        cmocka_unit_test(test_slots),     cmocka_unit_test(test_full),
	        cmocka_unit_test(test_wake),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
