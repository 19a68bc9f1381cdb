/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How fast the clock of a budget runs, on a machine that takes the CPU away. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/frequency.h"

static const double ticks_per_ns = 2.5;
static uint64_t ns, readings, away_at, away_every;

/* A reading takes 100 ns, and before some of them others have the CPU for 50 ms. */
static uint64_t
pass_time(void)
{
	readings++;
	if (readings == away_at || (away_every && readings % away_every == 0))
		ns += 50000000;
	return ns += 100;
}

static uint64_t
fake_ticks(void)
{
	return (uint64_t)((double)pass_time() * ticks_per_ns);
}

static double
fake_seconds(void)
{
	return (double)pass_time() * 1e-9;
}

static void
check(uint64_t at, uint64_t every)
{
	ns = readings = 0;
	away_at = at;
	away_every = every;
	double hz = st_frequency(&(struct st_clocks){fake_ticks, fake_seconds});
	assert_true(hz > 0.999e9 * ticks_per_ns && hz < 1.001e9 * ticks_per_ns);
}

static void
is_exact(void **state)
{
	(void)state;
	check(0, 0);
}

static void
is_exact_when_it_has_to_wait(void **state)
{
	(void)state;
	for (uint64_t at = 1; at < 200; at++)
		check(at, 0);
	for (uint64_t every = 4; every < 40; every++)
		check(0, every);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(is_exact),
	        cmocka_unit_test(is_exact_when_it_has_to_wait),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
