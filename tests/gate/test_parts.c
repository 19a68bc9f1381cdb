/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sequence of pairs with a sampler that runs nothing, and the search for the first bad commit.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gate/gate.h"
#include "gate/search.h"

/* ---- pairs ---- */

struct fake {
	double factor;
	size_t measured, target_first, interrupt_at, fail_at;
	double clock, step;
	size_t planned;
	struct st_gate_pair pairs[100]; /* as planned */
};

/* All pairs are told before the first is measured. */
static st_status
fake_plan(void *arg, const struct st_gate_pair *pair, struct st_error *e)
{
	struct fake *f = arg;
	(void)e;
	assert_int_equal(f->measured, 0);
	assert_int_equal(pair->number, f->planned);
	f->pairs[f->planned++] = *pair;
	return ST_OK;
}

static st_status
fake_measure(void *arg, const struct st_gate_pair *pair, double ns[ST_GATE_SIDES],
             struct st_error *e)
{
	struct fake *f = arg;
	assert_int_equal(pair->number, f->measured);
	assert_int_equal(f->planned, 100);
	const struct st_gate_pair *planned = &f->pairs[pair->number];
	assert_true(pair->number == planned->number && pair->first == planned->first);
	assert_true(pair->random == planned->random);
	assert_memory_equal(pair->padding, planned->padding, sizeof pair->padding);
	if (++f->measured == f->fail_at)
		return st_fail(e, ST_EXIT_FAILED, "no");
	f->target_first += pair->first == ST_GATE_TARGET;
	assert_true(pair->padding[0] < 4096 && pair->padding[1] < 4096);
	ns[ST_GATE_BASE] = 1e6;
	/* A disturbance of 1 %, up and down in turn. */
	ns[ST_GATE_TARGET] = 1e6 * f->factor * (pair->number % 2 ? 1.01 : 1 / 1.01);
	f->clock += f->step;
	return ST_OK;
}

static bool
fake_interrupted(void *arg)
{
	const struct fake *f = arg;
	return f->measured == f->interrupt_at;
}

static double
fake_now(void *arg)
{
	return ((struct fake *)arg)->clock;
}

static const struct st_gate_rule usual = {.alarm = 0.01, .miss = 0.05, .limit = 0.02, .pairs = 100};

static st_status
measure(struct fake *f, const struct st_gate_rule *rule, struct st_gate_time *t)
{
	const struct st_gate_sampler s = {fake_measure, fake_interrupted, fake_now, f, fake_plan};
	struct st_error e;
	return st_gate_measure(rule, &s, 1, t, &e);
}

/* With above 0, the alarm is that of a gate; otherwise, that of a bisection. */
static void
verdicts(void **state)
{
	static const struct {
		double factor, above;
		enum st_gate_verdict verdict;
	} cases[] = {{1.1, 0, ST_GATE_REGRESSION},   {1, 0, ST_GATE_PASS},
	             {0.8, 0, ST_GATE_PASS},         {1.10, 0.05, ST_GATE_REGRESSION},
	             {1.01, 0.05, ST_GATE_PASS},     {1.05, 0.05, ST_GATE_INCONCLUSIVE},
	             {1.0201, 0, ST_GATE_REGRESSION}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct fake f = {.factor = cases[i].factor};
		struct st_gate_rule rule = usual;
		struct st_gate_time t;
		rule.above = cases[i].above;
		if (rule.above > 0)
			rule.limit = rule.above;
		assert_int_equal(measure(&f, &rule, &t), 0);
		assert_int_equal(t.verdict, cases[i].verdict);
		assert_int_equal(t.ratios.n, f.measured);
		if (t.verdict == ST_GATE_INCONCLUSIVE)
			assert_int_equal(f.measured, 100);
		assert_true(fabs(t.change.at - (cases[i].factor - 1)) < 0.006);
		assert_true(t.change.low <= t.change.at && t.change.at <= t.change.high);
		st_gate_time_free(&t);
	}
}

/* Both orders occur, and the seed decides them. */
static void
order(void **state)
{
	struct fake f = {.factor = 1.0199}, again = f;
	struct st_gate_time t;
	(void)state;
	assert_int_equal(measure(&f, &usual, &t), 0);
	st_gate_time_free(&t);
	assert_true(f.target_first > f.measured / 4 && f.target_first < f.measured * 3 / 4);
	assert_int_equal(measure(&again, &usual, &t), 0);
	st_gate_time_free(&t);
	assert_int_equal(again.target_first, f.target_first);
}

/* The sequence ends by a limit of time, a signal, or a failure. */
static void
ends(void **state)
{
	struct st_gate_rule rule = usual;
	struct st_gate_time t;
	struct fake slow = {.factor = 1.0199, .step = 1}, signal = {.factor = 1, .interrupt_at = 3},
	            failing = {.factor = 1, .fail_at = 2};
	(void)state;
	rule.seconds = 5;
	assert_int_equal(measure(&slow, &rule, &t), 0);
	assert_int_equal(t.ratios.n, 5);
	assert_true(t.seconds >= 5 && !t.interrupted);
	st_gate_time_free(&t);
	assert_int_equal(measure(&signal, &usual, &t), 0);
	assert_true(t.interrupted && t.ratios.n == 2);
	assert_int_equal(t.verdict, ST_GATE_INCONCLUSIVE);
	st_gate_time_free(&t);
	assert_int_equal(measure(&failing, &usual, &t), -1);
	st_gate_time_free(&t);
}

static void
codes(void **state)
{
	(void)state;
	assert_int_equal(st_gate_exit(ST_GATE_PASS), 0);
	assert_int_equal(st_gate_exit(ST_GATE_REGRESSION), 1);
	assert_int_equal(st_gate_exit(ST_GATE_INCONCLUSIVE), 3);
}

/* ---- the search ---- */

/* g: good, b: bad, x: does not build, u: undecided. */
struct history {
	const char *commits;
	size_t judged;
};

static st_status
judge(void *arg, size_t i, enum st_bisect_state *state, struct st_error *e)
{
	struct history *h = arg;
	(void)e;
	h->judged++;
	assert_int_equal(*state, ST_BISECT_UNKNOWN);
	*state = h->commits[i] == 'g'   ? ST_BISECT_GOOD
	         : h->commits[i] == 'b' ? ST_BISECT_BAD
	         : h->commits[i] == 'x' ? ST_BISECT_NOT_BUILT
	                                : ST_BISECT_UNDECIDED;
	return h->commits[i] == '!' ? ST_FAILED : ST_OK;
}

static void
search(const char *commits, size_t first, size_t last, size_t most)
{
	struct history h = {commits, 0};
	enum st_bisect_state states[1024] = {ST_BISECT_UNKNOWN};
	const size_t n = strlen(commits);
	size_t is_first, is_last;
	struct st_error e;
	assert_int_equal(st_bisect_search(n, judge, &h, states, &is_first, &is_last, &e), 0);
	assert_int_equal(is_first, first);
	assert_int_equal(is_last, last);
	assert_true(h.judged <= most);
	assert_int_equal(states[n - 1], ST_BISECT_BAD);
}

static void
searches(void **state)
{
	char line[1001] = "";
	(void)state;
	search("b", 0, 0, 0);
	search("gb", 1, 1, 1);
	search("bb", 0, 0, 1);
	search("gggbbbbb", 3, 3, 3);
	search("gggxbbbb", 3, 4, 4); /* either could be it */
	search("gxxxxxxb", 1, 7, 7);
	search("xxxxb", 0, 4, 4);
	search("gguxbbbb", 2, 4, 5);
	search("gxgbxbbb", 3, 3, 6);
	for (size_t at = 0; at < 1000; at += 37) {
		memset(line, 'g', at);
		memset(line + at, 'b', 1000 - at);
		search(line, at, at, 10);
	}
}

/* All histories of eight commits: the answer contains the first bad commit, and all commits in it
 * were judged. */
static void
all_histories(void **state)
{
	(void)state;
	for (unsigned bad = 0; bad < 8; bad++)
		for (unsigned skipped = 0; skipped < 128; skipped++) {
			char commits[9] = "";
			struct history h = {commits, 0};
			enum st_bisect_state states[8] = {ST_BISECT_UNKNOWN};
			size_t first, last;
			struct st_error e;
			for (unsigned i = 0; i < 8; i++)
				commits[i] = skipped >> i & 1 ? 'x' : i < bad ? 'g' : 'b';
			assert_int_equal(st_bisect_search(8, judge, &h, states, &first, &last, &e),
			                 0);
			assert_true(first <= bad && bad <= last);
			for (size_t i = first; i < last; i++)
				assert_int_equal(states[i], ST_BISECT_NOT_BUILT);
		}
}

static void
search_ends(void **state)
{
	struct history h = {"ggg!bbb", 0};
	enum st_bisect_state states[7] = {ST_BISECT_UNKNOWN};
	size_t first, last;
	struct st_error e;
	(void)state;
	assert_int_equal(st_bisect_search(7, judge, &h, states, &first, &last, &e), -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(verdicts),    cmocka_unit_test(order),
	        cmocka_unit_test(ends),        cmocka_unit_test(codes),
	        cmocka_unit_test(searches),    cmocka_unit_test(all_histories),
	        cmocka_unit_test(search_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
