/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The thread's CPU time in a function, beside the time that passes. Both clocks are read one after
 * the other, in the same order at the beginning and at the end, so what the reading takes is in
 * both times alike, and what probes within the function take is CPU time in both: the difference
 * is the time in which the thread did not run.
 */
#include "rt/probe/probe.h"

void
probe_begin_cpu(struct st_probe_cell *c)
{
	if (c->active != 1)
		return;
	c->clock_cpu_begin = probe_cpu_time();
	c->clock_begin = probe_ticks();
}

void
probe_end_cpu(const struct st_probe_frame *f)
{
	struct st_probe_cell *c = probe_at(f->cell);
	if (c->active != 1 || !c->clock_begin)
		return;
	const uint64_t cpu = probe_cpu_time(), now = probe_ticks();
	c->clock_cpu += cpu - c->clock_cpu_begin;
	c->clock_ticks += now - c->clock_begin;
	c->clock_begin = 0;
}
