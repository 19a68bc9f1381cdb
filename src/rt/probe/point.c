/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Points within functions: each visit is counted, and may have noise. */
#include "rt/probe/probe.h"

/* The thread's first visit, or there is more to look at. NULL: it is not counted. */
SELDOM static struct st_probe_cell *
point_looking(uint32_t point, struct st_probe_thread **thread)
{
	if (!*(volatile uint64_t *)probe_context.note)
		probe_notice_fork();
	if (probe_context.forked ||
	    (probe_context.scoped && !__atomic_load_n(&probe_context.running, __ATOMIC_RELAXED)))
		return NULL;
	struct st_probe_thread *t = *thread = probe_thread();
	struct st_probe_cell *c = t ? probe_cell(t, point) : NULL;
	if (!c)
		__atomic_fetch_add(&probe_area()->no_room, 1, __ATOMIC_RELAXED);
	return c;
}

void
probe_point(uint64_t point)
{
	const bool as_usual = *(volatile uint64_t *)probe_context.note == ST_PROBE_AS_USUAL;
	struct st_probe_thread *t = LIKELY(as_usual) ? probe_thread() : NULL;
	const uint32_t at = LIKELY(t && point < t->room) ? ((const uint32_t *)t->cells)[point] : 0;
	struct st_probe_cell *c =
	        LIKELY(at) ? probe_at(at / 2) : point_looking((uint32_t)point, &t);
	if (UNLIKELY(!c))
		return;
	const uint32_t cost = probe_context.cost_counted;
	c->calls++;
	/* The call that is being timed around it is timed without the probe. */
	t->frames[t->depth - 1].spent += cost;
	((struct st_probe_record *)t->numbers)->spent += cost;
	if (UNLIKELY(probe_context.noisy))
		probe_make_noise(c);
}
