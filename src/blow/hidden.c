/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/hidden.h"

#include <stddef.h>

/* The thread's slot, or else the one that it may take; NULL: there is none. */
static struct st_clock_slot *
hidden_slot(struct st_probe_area *area, uint32_t tid)
{
	struct st_clock_slot *left = NULL;
	for (uint32_t i = 0; i < ST_CLOCK_SLOTS; i++) {
		struct st_clock_slot *slot = &area->clocks[(tid + i) % ST_CLOCK_SLOTS];
		if (slot->tid == tid)
			return slot;
		if (!left && (!slot->tid || slot->tid == ST_CLOCK_NOBODY))
			left = slot;
		if (!slot->tid)
			break;
	}
	return left;
}

void
st_hidden_put(struct st_probe_area *area, int64_t tid, double seconds)
{
	struct st_clock_slot *slot = hidden_slot(area, (uint32_t)tid);
	const uint64_t ns = seconds > 0 ? (uint64_t)(seconds * 1e9) : 0;
	if (!slot)
		return;
	__atomic_store_n(&slot->hidden_ns, ns, __ATOMIC_RELEASE);
	__atomic_store_n(&slot->tid, (uint32_t)tid, __ATOMIC_RELEASE);
}

void
st_hidden_end(struct st_probe_area *area, int64_t tid)
{
	struct st_clock_slot *slot = hidden_slot(area, (uint32_t)tid);
	if (slot && slot->tid == (uint32_t)tid)
		__atomic_store_n(&slot->tid, ST_CLOCK_NOBODY, __ATOMIC_RELEASE);
}
