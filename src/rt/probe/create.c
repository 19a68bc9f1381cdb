/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls that create threads (ST_PROBE_CREATE): which thread of the C library each has created. */
#include "rt/probe/probe.h"

/* A call that is not timed has no frame. */
static bool
is_frame_of(const struct st_probe_frame *f, uint64_t function, const uint64_t *slot)
{
	return f->slot == (uint64_t)slot && f->function == function + 1 && !f->counted && !f->row;
}

void
probe_create_call(uint64_t function, uint64_t *slot, const uint64_t *registers)
{
	const uint64_t back = *slot;
	probe_enter(function, slot, registers[2]);
	if (!*(volatile uint64_t *)probe_context.note || probe_context.forked)
		return; /* a child of fork */
	struct st_probe_thread *t = probe_thread();
	if (!t)
		return;
	const uint64_t begin = probe_ticks();
	struct st_probe_frame *f = &t->frames[t->depth - 1];
	struct st_probe_arguments *row =
	        probe_keep_arguments(t, (uint32_t)function, slot, registers);
	if (row) {
		row->back = back;
		if (is_frame_of(f, function, slot))
			f->row = (uint32_t)((uint64_t *)row - (uint64_t *)probe_context.area);
	}
	probe_charge(t, f, begin);
}

/* The C library identifies the new thread by its thread pointer. */
void
probe_created(const struct st_probe_frame *f)
{
	struct st_probe_arguments *row = probe_at(f->row);
	const uint32_t result = (uint32_t)((const uint64_t *)f->slot)[-1]; /* entry.S: rax */
	if (!result)
		__atomic_store_n(&row->made, *(const uint64_t *)row->registers[0],
		                 __ATOMIC_RELEASE);
}
