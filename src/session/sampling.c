/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "session/sampling.h"

#include <string.h>

#include "base/number.h"
#include "base/option.h"

static const char *const names[] = {
#define ST_BUDGET_SAMPLING(id, name) name,
        ST_BUDGET_SAMPLINGS(ST_BUDGET_SAMPLING)
#undef ST_BUDGET_SAMPLING
};
/* Of `bursts`, unless told otherwise; of an hour. */
enum { SOME_BURSTS = 10, MOST_BURSTS = 450000 };

st_status
st_sampling_choose(struct st_sampling_choice *s, const char *value, struct st_error *e)
{
	size_t length = strcspn(value, ":");
	*s = (struct st_sampling_choice){.chosen = true};
	while (s->kind < ST_BUDGET_N_SAMPLINGS &&
	       (strlen(names[s->kind]) != length || strncmp(names[s->kind], value, length)))
		s->kind++;
	if (s->kind == ST_BUDGET_N_SAMPLINGS || (value[length] && s->kind == ST_SAMPLING_WINDOW))
		return st_fail(e, ST_EXIT_USAGE,
		               "--sampling takes window, bursts, bursts:N, adaptive or "
		               "adaptive:N, not '%s'",
		               value);
	if (!value[length])
		return 0;
	char option[32];
	snprintf(option, sizeof option, "sampling %s:N", names[s->kind]);
	return st_option_number(option, value + length + 1, 2, MOST_BURSTS, &s->bursts, e);
}

/* A burst begins at a tick of CPU time, and in one of two at the least. */
static uint32_t
most_bursts(uint64_t period_ns)
{
	return (uint32_t)(period_ns / (2 * (1000000000 / ST_BUDGET_HZ)));
}

st_status
st_sampling_apply(const struct st_sampling_choice *s, bool unique, struct st_run_options *options,
                  struct st_error *e)
{
	struct st_budget_plan *b = &options->budget;
	char period[ST_NUMBER_SIZE];
	if (!s->chosen)
		return 0;
	if (!b->period_ns)
		return st_fail(e, ST_EXIT_USAGE, "--sampling needs --budget");
	if (unique && s->kind == ST_SAMPLING_ADAPTIVE)
		return st_fail(e, ST_EXIT_USAGE,
		               "--sampling adaptive measures code again, and --unique does not: "
		               "say --sampling window or bursts");
	uint32_t most = most_bursts(b->period_ns), bursts = s->bursts ? (uint32_t)s->bursts
	                                                    : s->kind == ST_SAMPLING_BURSTS
	                                                            ? SOME_BURSTS
	                                                            : 0;
	if (s->bursts > most)
		return st_fail(e, ST_EXIT_USAGE,
		               "a period of %s can have %u bursts at most, not %ld: give fewer "
		               "bursts or a longer --period",
		               st_duration(period, (int64_t)b->period_ns), most, s->bursts);
	b->sampling = s->kind;
	b->bursts = bursts < most ? bursts : most;
	return 0;
}
