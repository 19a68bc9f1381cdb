/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "session/contextlog.h"

#include <limits.h>
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

/* ---- contexts that are known ---- */

/* The functions of the mapping that the runtime has been told of get the numbers that they have in
 * the log. The program can write to them as well. */
static void
number_functions(struct st_keep *k, struct st_results_header *results, uint32_t map, uint32_t from)
{
	struct st_map m;
	char path[PATH_MAX];
	struct st_image *image = NULL;
	if (st_results_copy_map(results, map, &m) && m.path &&
	    *st_results_copy_text(results, m.path, path, sizeof path))
		image = st_region_image(k->region, path);
	uint64_t linked = image ? st_image_offset_of_code(image, m.pgoff) : UINT64_MAX;
	int64_t number = linked == UINT64_MAX
	                         ? 0
	                         : st_contextlog_known_image(k->known, st_image_build_id(image));
	struct st_entry *entries =
	        (struct st_entry *)((char *)results + results->layout.off_entries);
	uint32_t n = results->control.n_entries;
	for (uint32_t i = from; number && i < n && i < ST_MAX_ENTRIES; i++)
		entries[i].known = st_contextlog_known_function(
		        k->known, number, entries[i].start - (m.start - linked));
}

static void
on_image(void *arg, struct st_results_header *results, uint32_t map)
{
	struct st_keep *k = arg;
	uint32_t from = results->control.n_entries;
	if (!results->known.slots)
		st_contextlog_known_tell(k->known, results);
	k->on_image(k->image_arg, results, map);
	number_functions(k, results, map, from);
}

/* Without a budget nothing is left out: the run is to see everything. */
static st_status
suppress(struct st_keep *k, struct st_region *region, struct st_run_options *o, struct st_error *e)
{
	if (k->choice->follows_all || !o->budget.period_ns || !o->on_image)
		return 0;
	k->known = st_contextlog_known_read(k->log, e);
	if (!k->known)
		return -1;
	if (!st_contextlog_known_complete(k->known))
		return 0;
	k->region = region;
	k->on_image = o->on_image;
	k->image_arg = o->image_arg;
	o->on_image = on_image;
	o->image_arg = k;
	o->suppresses = true;
	return 0;
}

/* ---- the run ---- */

st_status
st_keep_begin(struct st_keep *k, const struct st_keep_choice *choice, struct st_region *region,
              const char *program, uint32_t pid, struct st_run_options *o, struct st_error *e)
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
	                     e) ||
	    suppress(k, region, o, e)) {
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
	for (size_t i = 0; i < r->n_processes; i++)
		run.refused += r->processes[i].results->contexts.suppressed;
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
	if (run.refused)
		st_profile_note(p,
		                "%s not followed, because earlier runs with the log seem to have "
		                "found all contexts below: this result lacks most of these; "
		                "--no-suppress follows all",
		                ST_COUNT(run.refused, "activation was", "activations were"));
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
	st_contextlog_known_free(k->known);
	k->known = NULL;
	k->log = NULL;
}
