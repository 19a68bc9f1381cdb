/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "session/contextlog.h"

#include <time.h>

#include "base/number.h"
#include "session/unique.h"

/* Runs sweep over the program, as those do that log code (docs/codelog.md): the budget is spent
 * where the runs before have not been. */
static void
place_window(struct st_budget_plan *b, const struct st_codelog_past *past)
{
	if (b->period_ns && b->clock == ST_CLOCK_CPU)
		b->first_ns =
		        st_unique_first(past, b->period_ns / (b->bursts ? b->bursts : 1), false);
}

st_status
st_keep_begin(struct st_keep *k, const struct st_keep_choice *choice, const char *program,
              uint32_t pid, struct st_run_options *o, struct st_error *e)
{
	struct timespec now;
	struct st_codelog_past past;
	*k = (struct st_keep){.choice = choice};
	if (!choice->log)
		return 0;
	clock_gettime(CLOCK_REALTIME, &now);
	k->log = st_codelog_open(choice->log, true, e);
	if (!k->log || st_contextlog_begin(k->log, choice->rules, e) ||
	    st_codelog_begin(k->log, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec, program, &past,
	                     e)) {
		st_keep_end(k);
		return -1;
	}
	o->keeps_contexts = true;
	if (!pid)
		place_window(&o->budget, &past);
	return 0;
}

void
st_keep_report(struct st_keep *k, const struct st_run *r, struct st_profile *p)
{
	struct st_codelog_run run = {.cpu_ns = (int64_t)((r->cpu_user + r->cpu_system) * 1e9)};
	struct st_contextlog_result found;
	struct st_error e;
	if (!k->log)
		return;
	if (r->n_processes) {
		run.first_ns = r->processes[0].results->plan.budget.first_ns;
		run.until_ns = r->processes[0].results->budget.until_ns;
	}
	if (st_contextlog_add(k->log, p, &run, &found, &e)) {
		st_profile_note(p, "the log was not updated: %s", e.text);
		return;
	}
	st_profile_note(p, "%s new in %s, which has %s now",
	                ST_COUNT(found.added, "context is", "contexts are"), k->choice->log,
	                ST_COUNT(found.all, "context", "contexts"));
	if (found.nowhere)
		st_profile_note(p,
		                "%s not in the log: such contexts lead through code that belongs "
		                "to no file, or were pruned",
		                ST_COUNT(found.nowhere, "context is", "contexts are"));
}

void
st_keep_end(struct st_keep *k)
{
	st_codelog_close(k->log);
	k->log = NULL;
}
