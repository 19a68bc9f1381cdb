/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/budget.h"

#include "base/number.h"
#include "report/json.h"
#include "report/text.h"
#include "wire/results/header.h"

static const struct {
	const char *name;
	uint64_t below;
} overshoots[] = {
#define ST_OVERSHOOT(name, below, text) {"overshoots_" #name, below},
        ST_OVERSHOOTS(ST_OVERSHOOT)
#undef ST_OVERSHOOT
};
enum { N_OVERSHOOTS = sizeof overshoots / sizeof *overshoots };

/* Times that the budget was spent. */
static uint64_t
times_spent(const struct st_profile *p)
{
	uint64_t n = 0;
	for (size_t i = 0; i < N_OVERSHOOTS; i++)
		n += st_profile_statistic(p, overshoots[i].name);
	return n;
}

/* Below how many ns the given share of the overshoots lies, by the bounds of their classes. */
static uint64_t
overshoot_below(const struct st_profile *p, double part)
{
	uint64_t most = st_profile_statistic_most(p, "budget_most_overshoot_ns"), n = 0;
	double wanted = part * (double)times_spent(p);
	for (size_t i = 0; i < N_OVERSHOOTS; i++) {
		n += st_profile_statistic(p, overshoots[i].name);
		if ((double)n >= wanted)
			return overshoots[i].below < most ? overshoots[i].below : most;
	}
	return most;
}

/* Shares of the CPU time, in percent. The clock tells how long was measured, ticks tell where the
 * rest went: a window is often shorter than a tick. */
struct shares {
	double measured, native, plain;
};

static struct shares
shares_of(const struct st_profile *p)
{
	double all = (double)st_profile_statistic(p, "budget_cpu_ns"),
	       measured = (double)st_profile_statistic(p, "budget_measured_ns"),
	       native = (double)st_profile_statistic(p, "budget_ticks_native"),
	       plain = (double)st_profile_statistic(p, "budget_ticks_plain");
	if (!(all > 0))
		return (struct shares){100, 0, 0};
	if (!(native + plain > 0)) /* less than a tick */
		*(st_profile_statistic_most(p, "budget_native") ? &native : &plain) = 1;
	double part = 100 * measured / all, rest = native + plain;
	return (struct shares){part, (100 - part) * native / rest, (100 - part) * plain / rest};
}

static void
print_overshoots(FILE *out, const struct st_profile *p)
{
	char half[ST_NUMBER_SIZE], nearly[ST_NUMBER_SIZE], most[ST_NUMBER_SIZE];
	uint64_t spent = times_spent(p);
	if (!spent)
		return;
	fprintf(out,
	        "  the budget was used up %s, and exceeded by at most %s in half of "
	        "these cases, %s in 99 %%, %s in all\n",
	        ST_COUNT(spent, "time", "times"),
	        st_duration(half, (int64_t)overshoot_below(p, 0.5)),
	        st_duration(nearly, (int64_t)overshoot_below(p, 0.99)),
	        st_duration(most,
	                    (int64_t)st_profile_statistic_most(p, "budget_most_overshoot_ns")));
}

/* The owner of the budget (a thread, or the process): the name in JSON, and in text. */
static const char *const share_names[] = {
#define ST_BUDGET_SHARE(id, name) name,
        ST_BUDGET_SHARES(ST_BUDGET_SHARE)
#undef ST_BUDGET_SHARE
};
static const char *const share_texts[ST_BUDGET_N_SHARES] = {
        [ST_SHARE_THREAD] = " of each thread",
        [ST_SHARE_PROCESS] = " of all threads together",
        [ST_SHARE_PRIORITY] = " of all threads together, by priority",
        [ST_SHARE_TREE] = " of all processes together",
};

static enum st_budget_share
share_of(const struct st_profile *p)
{
	uint64_t share = st_profile_statistic_most(p, "budget_share");
	return share < ST_BUDGET_N_SHARES ? (enum st_budget_share)share : ST_SHARE_THREAD;
}

/* One process has no others to share it with. */
static const char *
share_text(const struct st_profile *p)
{
	enum st_budget_share share = share_of(p);
	return share_texts[share == ST_SHARE_TREE && !p->run.follow ? ST_SHARE_PROCESS : share];
}

/* The clock of periods: its name in JSON, and in text. */
static const char *const clock_names[] = {
#define ST_BUDGET_CLOCK(id, name) name,
        ST_BUDGET_CLOCKS(ST_BUDGET_CLOCK)
#undef ST_BUDGET_CLOCK
};
static const char *const clock_texts[ST_BUDGET_N_CLOCKS] = {
        [ST_CLOCK_CPU] = "CPU time",
        [ST_CLOCK_WALL] = "elapsed time",
};

static enum st_budget_clock
clock_of(const struct st_profile *p)
{
	uint64_t clock = st_profile_statistic_most(p, "budget_clock");
	return clock < ST_BUDGET_N_CLOCKS ? (enum st_budget_clock)clock : ST_CLOCK_CPU;
}

/* When it is granted. */
static const char *const samplings[] = {
#define ST_BUDGET_SAMPLING(id, name) name,
        ST_BUDGET_SAMPLINGS(ST_BUDGET_SAMPLING)
#undef ST_BUDGET_SAMPLING
};

static const char *
sampling_of(const struct st_profile *p)
{
	uint64_t sampling = st_profile_statistic_most(p, "budget_sampling");
	return samplings[sampling < ST_BUDGET_N_SAMPLINGS ? sampling : ST_SAMPLING_WINDOW];
}

static void
print_sampling(FILE *out, const struct st_profile *p)
{
	uint64_t n = st_profile_statistic_most(p, "budget_bursts");
	if (n)
		fprintf(out, ", in %s", ST_COUNT(n, "burst", "bursts"));
}

/* Of adaptive sampling: what the numbers are not. */
static void
print_rests(FILE *out, const struct st_profile *p)
{
	uint64_t n = st_profile_statistic(p, "budget_rests");
	if (n)
		fprintf(out,
		        "  cold code first: blocks that had been measured often were left out %s, "
		        "so the counts are lower than what was executed in the windows\n",
		        ST_COUNT(n, "time", "times"));
}

/* Of a program that ended within its first period: why more was measured than the budget's share.
 */
static void
print_first_period(FILE *out, const struct st_profile *p, double measured)
{
	const double budget = (double)st_profile_statistic(p, "budget_ns"),
	             period = (double)st_profile_statistic(p, "budget_period_ns"),
	             cpu = (double)st_profile_statistic(p, "budget_cpu_ns");
	if (cpu > 0 && cpu < period && measured > 100 * budget / period)
		fputs("  the program ended within its first period, whose budget was granted at "
		      "once; use a shorter --period for a program that runs so briefly\n",
		      out);
}

/* Of what was charged, the CPU time of strobe itself, which is more than a window can spend. */
static void
print_controller(FILE *out, const struct st_profile *p)
{
	char text[ST_NUMBER_SIZE];
	const uint64_t of = st_profile_statistic(p, "budget_controller_ns");
	if (of)
		fprintf(out, ", %s of it for the CPU time of strobe itself",
		        st_duration(text, (int64_t)of));
	putc('\n', out);
}

void
st_budget_print(FILE *out, const struct st_profile *p)
{
	char amount[ST_NUMBER_SIZE], period[ST_NUMBER_SIZE], charged[ST_NUMBER_SIZE];
	uint64_t budget = st_profile_statistic(p, "budget_ns");
	struct shares shares = shares_of(p);
	if (!budget)
		return;
	fprintf(out, "  budget: %s for each %s of %s%s", st_duration(amount, (int64_t)budget),
	        st_duration(period, (int64_t)st_profile_statistic(p, "budget_period_ns")),
	        clock_texts[clock_of(p)], share_text(p));
	print_sampling(out, p);
	fprintf(out, "; %s charged in %s",
	        st_duration(charged, (int64_t)st_profile_statistic(p, "budget_charged_ns")),
	        ST_COUNT(st_profile_statistic(p, "budget_windows"), "window", "windows"));
	print_controller(out, p);
	fprintf(out,
	        "  measured for %.1f %% of the CPU time, native for %.1f %%, in the engine but not "
	        "measured for %.1f %%\n",
	        shares.measured, shares.native, shares.plain);
	print_rests(out, p);
	print_overshoots(out, p);
	print_first_period(out, p, shares.measured);
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
	struct shares parts = shares_of(p);
	int bad = json_object_set_new(root, "budget", out);
	bad |= add_number(out, "amount_ns", p, "budget_ns");
	bad |= add_number(out, "period_ns", p, "budget_period_ns");
	bad |= json_object_set_new(out, "clock", json_string(clock_names[clock_of(p)]));
	bad |= json_object_set_new(out, "share", json_string(share_names[share_of(p)]));
	bad |= json_object_set_new(out, "sampling", json_string(sampling_of(p)));
	bad |= json_object_set_new(out, "bursts",
	                           st_json_count(st_profile_statistic_most(p, "budget_bursts")));
	bad |= add_number(out, "charged_ns", p, "budget_charged_ns");
	bad |= add_number(out, "model_ns", p, "budget_model_ns");
	bad |= add_number(out, "controller_ns", p, "budget_controller_ns");
	bad |= add_number(out, "cpu_ns", p, "budget_cpu_ns");
	bad |= add_number(out, "measured_ns", p, "budget_measured_ns");
	bad |= add_number(out, "audited_ns", p, "budget_audited_ns");
	bad |= add_number(out, "periods", p, "budget_periods");
	bad |= add_number(out, "own_periods", p, "budget_own_periods");
	bad |= add_number(out, "own_periods_used", p, "budget_own_periods_used");
	bad |= add_number(out, "windows", p, "budget_windows");
	bad |= add_number(out, "rests", p, "budget_rests");
	bad |= json_object_set_new(out, "native",
	                           json_boolean(st_profile_statistic(p, "budget_native") != 0));
	bad |= json_object_set_new(out, "parts",
	                           json_pack("{s:f, s:f, s:f}", "measured", parts.measured / 100,
	                                     "plain", parts.plain / 100, "native",
	                                     parts.native / 100));
	bad |= json_object_set_new(out, "ticks", ticks);
	bad |= add_number(ticks, "measured", p, "budget_ticks_measured");
	bad |= add_number(ticks, "plain", p, "budget_ticks_plain");
	bad |= add_number(ticks, "native", p, "budget_ticks_native");
	bad |= json_object_set_new(
	        out, "most_overshoot_ns",
	        st_json_count(st_profile_statistic_most(p, "budget_most_overshoot_ns")));
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
