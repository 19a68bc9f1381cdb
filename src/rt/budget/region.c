/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The region of interest. Outside of it threads run the plain version of the code; at its borders
 * all of them change to the other.
 */
#include "rt/budget/region.h"

#include "rt/budget/budget.h"
#include "rt/maps.h"
#include "rt/program.h"
#include "rt/tool/callbacks.h"
#include "rt/world.h"

#include <strobe/region.h>

void
region_init(void)
{
	rt.on = !(rt.results->plan.region_by & ST_REGION_OFF_AT_START);
	rt.results->control.region_on = rt.on;
	rt.results->control.regions = rt.on;
	rt.budget.suppresses = rt.results->plan.suppresses || (rt.stress & ST_STRESS_suppress);
	rt.code.cuts = rt.results->plan.wants_entries || rt.results->plan.region_by;
	rt.code.has_plain = (rt.results->plan.region_by & ~ST_REGION_LIMITED) ||
	                    rt.results->plan.threads || (rt.stress & ST_STRESS_versions) ||
	                    budget_exists() || rt.budget.suppresses;
}

static void
report_gap(struct thread *t)
{
	uint64_t from = t->budget.gap_from;
	t->budget.gap_from = 0;
	budget_measure_begin(t);
	t->budget.reports_gap = true;
	returns_forget(t);
	callback_gap(t, from);
	t->budget.reports_gap = t->budget.suppressed.began_gap = false;
}

void
gap_begin(struct thread *t)
{
	if (t->budget.gap_from)
		return;
	t->budget.gap_from = rt_tsc();
	budget_measure_end(t);
}

void
gap_follow(struct thread *t)
{
	if (thread_is_seen(t) && t->budget.gap_from)
		report_gap(t);
	else if (!thread_is_seen(t))
		gap_begin(t);
}

void
region_set(struct thread *t, bool on)
{
	if (rt.on == on)
		return;
	os_make_wait(t);
	rt.on = on;
	rt.results->control.region_on = on;
	rt.results->control.regions += on;
}

void
region_obey(struct thread *t)
{
	uint32_t order = rt.results->control.region_asked;
	if (!order)
		return;
	rt.results->control.region_asked = 0;
	region_set(t, order == 1);
}

/* The program's own calls are instructions that do nothing, see include/strobe/region.h. */
static unsigned
mark_at(uint64_t pc)
{
	static const uint8_t begin[] = {STROBE_MARK_BEGIN}, end[] = {STROBE_MARK_END};
	if (!(rt.results->plan.region_by & ST_REGION_BY_PROGRAM))
		return 0;
	const struct map *m = maps_find(pc);
	if (!m || m->end - pc < sizeof begin)
		return 0;
	if (memcmp(program_code(pc), begin, sizeof begin - 1) != 0)
		return 0;
	uint8_t last = program_code(pc)[sizeof begin - 1];
	return last == begin[sizeof begin - 1] ? ST_ENTRY_BEGIN
	       : last == end[sizeof end - 1]   ? ST_ENTRY_END
	                                       : 0;
}

unsigned
region_at(uint64_t pc)
{
	if (!rt.results->plan.region_by)
		return 0;
	const struct st_entry *e = entry_at(pc);
	unsigned what = e ? e->what & (ST_ENTRY_BEGIN | ST_ENTRY_END) : 0;
	return what ? what : mark_at(pc);
}

unsigned
region_border(uint64_t pc, enum version version)
{
	unsigned what = region_at(pc);
	/* Threads of the other version may cross it, too, when not all are chosen. */
	if (!rt.results->plan.threads)
		what &= version == VERSION_TOOLS ? ST_ENTRY_END : ST_ENTRY_BEGIN;
	return what;
}
