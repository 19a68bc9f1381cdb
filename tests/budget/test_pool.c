/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pool of a budget that is shared: what can be taken of it, what is owed, and that those who
 * share it may be killed at any time. */
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "rt/budget/pool.h"

enum { AMOUNT = 100 * POOL_LEAST, MORE = 1 << 30 };

static void
test_taken(void **state)
{
	struct st_budget_pool p = {0};
	(void)state;
	assert_int_equal(pool_take(&p, 0, AMOUNT, 10 * POOL_LEAST + 1), 10 * POOL_LEAST);
	assert_int_equal(pool_take(&p, 0, AMOUNT, POOL_LEAST - 1), 0);
	assert_int_equal(pool_take(&p, 0, AMOUNT, -1), 0);
	assert_int_equal(pool_take(&p, 1, AMOUNT, MORE), 0); /* it has not begun */
	assert_int_equal(pool_take(&p, 0, AMOUNT, MORE), 90 * POOL_LEAST);
	assert_int_equal(pool_take(&p, 0, AMOUNT, MORE), 0);
	pool_give(&p, 0, POOL_LEAST - 1);
	assert_int_equal(pool_take(&p, 0, AMOUNT, MORE), 0);
	pool_give(&p, 0, 5 * POOL_LEAST);
	assert_int_equal(pool_take(&p, 0, AMOUNT, MORE), 6 * POOL_LEAST - POOL_STEP);
}

static void
test_periods(void **state)
{
	struct st_budget_pool p = {0};
	(void)state;
	assert_int_equal(pool_take(&p, 0, AMOUNT, MORE), AMOUNT);
	assert_int_equal(pool_renew(&p, 0, AMOUNT), 0);
	assert_int_equal(pool_renew(&p, 1, AMOUNT), 1);
	assert_int_equal(pool_renew(&p, 1, AMOUNT), 0);
	pool_give(&p, 0, AMOUNT); /* of a period that is over */
	assert_int_equal(pool_take(&p, 0, AMOUNT, MORE), 0);
	assert_int_equal(pool_take(&p, 1, AMOUNT, MORE), AMOUNT);
	assert_int_equal(pool_renew(&p, 5, AMOUNT), 4);
	assert_int_equal(pool_renew(&p, 4, AMOUNT), 0); /* by one who comes late */
	assert_int_equal(pool_number(&p), 5);
	assert_int_equal(pool_take(&p, 5, AMOUNT, MORE), AMOUNT); /* not what was not used before */
	assert_int_equal(pool_take(&p, 5, AMOUNT, MORE), 0);
}

static void
test_numbers(void **state)
{
	uint64_t last = POOL_NUMBERS - 1;
	struct st_budget_pool p = {.used = last << (64 - POOL_NUMBER_BITS)};
	(void)state;
	assert_int_equal(pool_take(&p, (uint32_t)last, AMOUNT, MORE), AMOUNT);
	assert_int_equal(pool_renew(&p, 0, AMOUNT), 1);
	assert_int_equal(pool_renew(&p, (uint32_t)last, AMOUNT), 0);
	assert_int_equal(pool_take(&p, 0, AMOUNT, MORE), AMOUNT);
}

static void
test_owed(void **state)
{
	struct st_budget_pool p = {0};
	(void)state;
	pool_take(&p, 0, AMOUNT, 50 * POOL_LEAST);
	pool_add_debt(&p, 10 * POOL_LEAST); /* the others pay */
	assert_int_equal(pool_take(&p, 0, AMOUNT, MORE), 40 * POOL_LEAST);
	pool_add_debt(&p, 20 * POOL_LEAST); /* and the next period, */
	pool_renew(&p, 1, AMOUNT);
	assert_int_equal(pool_take(&p, 1, AMOUNT, MORE), 80 * POOL_LEAST);
	pool_add_debt(&p, 2 * AMOUNT + POOL_LEAST); /* and those behind it */
	pool_renew(&p, 2, AMOUNT);
	assert_int_equal(pool_take(&p, 2, AMOUNT, MORE), 0);
	pool_renew(&p, 3, AMOUNT);
	assert_int_equal(pool_take(&p, 3, AMOUNT, MORE), 0);
	pool_renew(&p, 4, AMOUNT);
	assert_int_equal(pool_take(&p, 4, AMOUNT, MORE), AMOUNT - POOL_LEAST);
	pool_add_debt(&p, 1); /* rounded up */
	pool_add_debt(&p, 2 * AMOUNT);
	pool_renew(&p, 7, AMOUNT); /* two of three paid it */
	assert_int_equal(pool_take(&p, 7, AMOUNT, MORE), AMOUNT - POOL_STEP);
}

/* Quality of service changes the amount. */
static void
test_amounts(void **state)
{
	struct st_budget_pool p = {0};
	(void)state;
	assert_int_equal(pool_take(&p, 0, AMOUNT, MORE), AMOUNT);
	assert_int_equal(pool_take(&p, 0, 2 * AMOUNT, MORE), AMOUNT);
	assert_int_equal(pool_take(&p, 0, AMOUNT, MORE), 0);
	pool_renew(&p, 1, 0);
	assert_int_equal(pool_take(&p, 1, 0, MORE), 0);
	pool_add_debt(&p, 2 * POOL_LEAST);
	pool_renew(&p, 2, AMOUNT); /* nothing was paid in a period without an amount */
	assert_int_equal(pool_take(&p, 2, AMOUNT, MORE), AMOUNT - 2 * POOL_LEAST);
	assert_int_equal(pool_take(&p, 2, AMOUNT / 2, MORE), 0);
	pool_renew(&p, 3, AMOUNT); /* less was allowed in the end: that is no debt */
	assert_int_equal(pool_take(&p, 3, AMOUNT, MORE), AMOUNT);
}

static void
test_weights(void **state)
{
	struct st_budget_pool p = {0};
	(void)state;
	pool_weigh(&p, 0, 5);
	pool_weigh(&p, 0, 7);
	assert_int_equal(pool_weights_before(&p, 0), 0);
	assert_int_equal(pool_weights_before(&p, 1), 12);
	pool_weigh(&p, 1, 3);
	pool_weigh(&p, 2, 4);
	assert_int_equal(pool_weights_before(&p, 2), 3);
	assert_int_equal(pool_weights_before(&p, 3), 4);
}

/* ---- those who are killed ---- */
enum { PROCESSES = 4, KILLS = 200, STEPS = 20, PERIODS_A_KILL = 50 };
enum { PERIODS = KILLS * PERIODS_A_KILL + PROCESSES };

struct shared {
	struct st_budget_pool pool;
	uint64_t steps, until;  /* that all of them have made, the clock; that they may make */
	int64_t taken[PERIODS]; /* of a period and not given back: never more than that */
	int64_t owed;
};

static uint64_t
get(const uint64_t *n)
{
	return __atomic_load_n(n, __ATOMIC_SEQ_CST);
}

static void
add(int64_t *sum, int64_t n)
{
	__atomic_fetch_add(sum, n, __ATOMIC_SEQ_CST);
}

/* What is noted is so: taken before it is noted, noted before it is given back. */
static _Noreturn void
share(struct shared *s, unsigned seed)
{
	for (;;) {
		while (get(&s->steps) >= get(&s->until))
			sched_yield();
		uint64_t step = __atomic_add_fetch(&s->steps, 1, __ATOMIC_SEQ_CST);
		uint32_t number = (uint32_t)(step / STEPS);
		pool_renew(&s->pool, number, AMOUNT);
		int64_t most = rand_r(&seed) % 30 * POOL_LEAST;
		int64_t got = pool_take(&s->pool, number, AMOUNT, most);
		add(&s->taken[number], got);
		if (got && rand_r(&seed) % 3 == 0) {
			add(&s->taken[number], -(got / 2));
			pool_give(&s->pool, number, got / 2);
		} else if (got && rand_r(&seed) % 8 == 0) {
			pool_add_debt(&s->pool, POOL_LEAST);
			add(&s->owed, POOL_LEAST);
		}
	}
}

static pid_t
start(struct shared *s, unsigned seed)
{
	pid_t pid = fork();
	if (pid == 0)
		share(s, seed);
	assert_true(pid > 0);
	return pid;
}

static void
end(pid_t pid)
{
	int status;
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

/* The others go on: in the next period all of it can be had, but for what is owed; and all that was
 * had together is what the periods had. */
static void
test_killed(void **state)
{
	struct shared *s =
	        mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pids[PROCESSES];
	(void)state;
	assert_ptr_not_equal(s, MAP_FAILED);
	for (unsigned i = 0; i < PROCESSES; i++)
		pids[i] = start(s, i);
	for (unsigned i = 0; i < KILLS; i++) {
		uint64_t from = get(&s->until);
		__atomic_store_n(&s->until, from + PERIODS_A_KILL * STEPS, __ATOMIC_SEQ_CST);
		while (get(&s->steps) <= from + i)
			sched_yield();
		end(pids[i % PROCESSES]);
		pids[i % PROCESSES] = start(s, PROCESSES + i);
		while (get(&s->steps) < get(&s->until))
			sched_yield();
	}
	for (unsigned i = 0; i < PROCESSES; i++)
		end(pids[i]);
	int64_t all = s->owed;
	for (unsigned i = 0; i < PERIODS; i++) {
		assert_true(s->taken[i] <= AMOUNT);
		all += s->taken[i];
	}
	uint32_t last = pool_number(&s->pool);
	assert_true(last > 0);
	assert_int_equal(pool_renew(&s->pool, last + 1, AMOUNT), 1);
	int64_t left = pool_take(&s->pool, last + 1, AMOUNT, MORE);
	assert_true(all <= (int64_t)(last + 1) * AMOUNT + AMOUNT - left);
	pool_renew(&s->pool, last + 1000, AMOUNT);
	assert_int_equal(pool_take(&s->pool, last + 1000, AMOUNT, MORE), AMOUNT);
	munmap(s, sizeof *s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_taken),   cmocka_unit_test(test_periods),
	        cmocka_unit_test(test_numbers), cmocka_unit_test(test_owed),
	        cmocka_unit_test(test_amounts), cmocka_unit_test(test_weights),
	        cmocka_unit_test(test_killed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
