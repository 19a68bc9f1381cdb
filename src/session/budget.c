/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "session/budget.h"

#include <cpuid.h>
#include <stdlib.h>
#include <string.h>

#include "base/frequency.h"
#include "base/option.h"
#include "base/parse.h"
#include "session/region.h"

static const double least_period = 0.02, greatest_period = 3600;

st_status
st_budget_parse(struct st_budget_amount *amount, const char *option, const char *value,
                struct st_error *e)
{
	const char *end;
	double number;
	*amount = (struct st_budget_amount){0};
	if (st_parse_real(value, &number, &end) || strcmp(end, "%")) {
		struct st_error ignored;
		if (!st_region_time(&amount->seconds, option, value, &ignored))
			return 0;
		return st_fail(e, ST_EXIT_USAGE,
		               "--%s takes a share or a time, such as 10%% or 100ms, not '%s'",
		               option, value);
	}
	if (!(number >= 0.01 && number <= 100))
		return st_fail(e, ST_EXIT_USAGE, "--%s takes 0.01%% to 100%%, not '%s'", option,
		               value);
	amount->share = number / 100;
	return 0;
}

double
st_budget_seconds(const struct st_budget_amount *amount, double period)
{
	return amount->share > 0 ? amount->share * period : amount->seconds;
}

st_status
st_budget_period(struct st_budget_choice *b, const char *value, struct st_error *e)
{
	if (st_region_time(&b->period, "period", value, e))
		return -1;
	if (b->period < least_period || b->period > greatest_period)
		return st_fail(e, ST_EXIT_USAGE, "--period takes 20ms to 1h, not '%s'", value);
	return 0;
}

st_status
st_budget_clock(struct st_budget_choice *b, const char *value, struct st_error *e)
{
	static const char *const names[] = {
#define ST_BUDGET_CLOCK(id, name) name,
	        ST_BUDGET_CLOCKS(ST_BUDGET_CLOCK)
#undef ST_BUDGET_CLOCK
	};
	b->clock_chosen = true;
	return st_option_word("period-clock", value, names, sizeof names / sizeof *names, &b->clock,
	                      e);
}

st_status
st_budget_policy(struct st_budget_choice *b, const char *value, struct st_error *e)
{
	static const char *const names[] = {
#define ST_BUDGET_POLICY(id, name) name,
	        ST_BUDGET_POLICIES(ST_BUDGET_POLICY)
#undef ST_BUDGET_POLICY
	};
	b->policy_chosen = true;
	return st_option_word("budget-policy", value, names, sizeof names / sizeof *names,
	                      &b->policy, e);
}

st_status
st_budget_sharing(struct st_budget_choice *b, const char *value, struct st_error *e)
{
	static const char *const names[] = {
#define ST_BUDGET_SHARE(id, name) name,
	        ST_BUDGET_SHARES(ST_BUDGET_SHARE)
#undef ST_BUDGET_SHARE
	};
	b->sharing_chosen = true;
	return st_option_word("budget-share", value, names, sizeof names / sizeof *names,
	                      &b->sharing, e);
}

static bool
clock_is_invariant(void)
{
	unsigned a, b, c, d;
	return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & 1u << 8);
}

static double
period_of_budget(const struct st_budget_choice *b)
{
	return b->period > 0 ? b->period : ST_BUDGET_PERIOD;
}

st_status
st_budget_check(const struct st_budget_choice *b, struct st_error *e)
{
	if (!b->chosen)
		return b->period > 0 || b->clock_chosen || b->policy_chosen || b->sharing_chosen
		               ? st_fail(e, ST_EXIT_USAGE, "--%s needs --budget",
		                         b->period > 0      ? "period"
		                         : b->clock_chosen  ? "period-clock"
		                         : b->policy_chosen ? "budget-policy"
		                                            : "budget-share")
		               : ST_OK;
	const double period = period_of_budget(b), seconds = st_budget_seconds(&b->amount, period);
	if (seconds > period)
		return st_fail(e, ST_EXIT_USAGE,
		               "a budget of %g s does not fit into a period of %g s", seconds,
		               period);
	return ST_OK;
}

st_status
st_budget_apply(const struct st_budget_choice *b, struct st_run_options *options,
                struct st_error *e)
{
	if (st_budget_check(b, e))
		return ST_FAILED;
	if (!b->chosen)
		return ST_OK;
	const double period = period_of_budget(b), seconds = st_budget_seconds(&b->amount, period);
	if (!clock_is_invariant())
		return st_fail(e, ST_EXIT_FAILED,
		               "a budget needs an invariant time stamp counter, which this machine "
		               "does not have (strobe doctor)");
	double hz = st_tsc_frequency();
	uint64_t amount = (uint64_t)(seconds * hz * ST_BUDGET_UNITS);
	options->budget = (struct st_budget_plan){.amount = amount,
	                                          .most = amount,
	                                          .period_ns = (uint64_t)(period * 1e9),
	                                          .ticks_per_second = (uint64_t)hz,
	                                          .clock = b->clock,
	                                          .policy = b->policy,
	                                          .share = b->sharing};
	return 0;
}
