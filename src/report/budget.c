/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/budget.h"

#include <inttypes.h>

#include "report/json.h"
#include "report/text.h"
#include "wire/results.h"

static const struct {
	const char *name;
	uint64_t below;
} overshoots[] = {
#define ST_OVERSHOOT(name, below, text) {"overshoots_" #name, below},
        ST_OVERSHOOTS(ST_OVERSHOOT)
#undef ST_OVERSHOOT
};
enum { N_OVERSHOOTS = sizeof overshoots / sizeof *overshoots };

/* Times that the budget was spent, and exceeded by less than so many ns. */
static uint64_t
spent_below(const struct st_profile *p, uint64_t ns)
{
	uint64_t n = 0;
	for (size_t i = 0; i < N_OVERSHOOTS; i++)
		if (overshoots[i].below <= ns)
			n += st_profile_statistic(p, overshoots[i].name);
	return n;
}

/* Of the CPU time that ticks have seen, in percent. */
static double
share(const struct st_profile *p, const char *where)
{
	double all = (double)(st_profile_statistic(p, "budget_ticks_measured") +
	                      st_profile_statistic(p, "budget_ticks_plain") +
	                      st_profile_statistic(p, "budget_ticks_native"));
	return all > 0 ? 100 * (double)st_profile_statistic(p, where) / all : 0;
}

void
st_budget_print(FILE *out, const struct st_profile *p)
{
	const uint64_t close = 2000, fair = 20000;
	uint64_t budget = st_profile_statistic(p, "budget_ns"), spent = spent_below(p, UINT64_MAX);
	if (!budget)
		return;
	double ms = (double)budget / 1e6,
	       charged = (double)st_profile_statistic(p, "budget_charged_ns") / 1e6;
	char windows[ST_NUMBER_SIZE];
	fprintf(out,
	        "  budget: %.4g ms of each %.4g ms of CPU time; %.4g ms charged in %s windows\n",
	        ms, (double)st_profile_statistic(p, "budget_period_ns") / 1e6, charged,
	        st_number(windows, st_profile_statistic(p, "budget_windows")));
	fprintf(out,
	        "  measured for %.1f %% of the CPU time, native for %.1f %%, in the engine but not "
	        "measured for "
	        "%.1f %%\n",
	        share(p, "budget_ticks_measured"), share(p, "budget_ticks_native"),
	        share(p, "budget_ticks_plain"));
	if (spent)
		fprintf(out,
		        "  spent %" PRIu64
		        " times, and exceeded by less than 2 us in %.1f %% of them, 20 us in "
		        "%.1f %%\n",
		        spent, 100 * (double)spent_below(p, close) / (double)spent,
		        100 * (double)spent_below(p, fair) / (double)spent);
}

static int
add_number(json_t *out, const char *key, const struct st_profile *p, const char *name)
{
	return json_object_set_new(out, key, st_json_count(st_profile_statistic(p, name)));
}

int
st_budget_json(json_t *root, const struct st_profile *p)
{
	if (!st_profile_statistic(p, "budget_ns"))
		return 0;
	json_t *out = json_object(), *ticks = json_object(), *over = json_array();
	int bad = json_object_set_new(root, "budget", out);
	bad |= add_number(out, "amount_ns", p, "budget_ns");
	bad |= add_number(out, "period_ns", p, "budget_period_ns");
	bad |= add_number(out, "charged_ns", p, "budget_charged_ns");
	bad |= add_number(out, "periods", p, "budget_periods");
	bad |= add_number(out, "windows", p, "budget_windows");
	bad |= json_object_set_new(out, "native",
	                           json_boolean(st_profile_statistic(p, "budget_native") != 0));
	bad |= json_object_set_new(out, "ticks", ticks);
	bad |= add_number(ticks, "measured", p, "budget_ticks_measured");
	bad |= add_number(ticks, "plain", p, "budget_ticks_plain");
	bad |= add_number(ticks, "native", p, "budget_ticks_native");
	bad |= json_object_set_new(out, "overshoots", over);
	for (size_t i = 0; i < N_OVERSHOOTS; i++) {
		json_t *row = json_object();
		bad |= json_array_append_new(over, row);
		bad |= json_object_set_new(row, "below_ns",
		                           i + 1 < N_OVERSHOOTS ? st_json_count(overshoots[i].below)
		                                                : json_null());
		bad |= add_number(row, "count", p, overshoots[i].name);
	}
	return bad;
}
