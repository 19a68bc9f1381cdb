/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the numbers of functions and pairs are kept. Each thread writes to its own. */
#include "rt/probe/probe.h"

uint32_t
probe_allocate(uint64_t bytes)
{
	struct st_probe_area *a = probe_area();
	const uint64_t at = __atomic_fetch_add(&a->used, bytes, __ATOMIC_RELAXED);
	if (LIKELY(at + bytes <= probe_context.area_bytes) || probe_map_area(at + bytes))
		return (uint32_t)(at / 8);
	if (at + bytes > ST_PROBE_AREA_BYTES)
		__atomic_store_n(&a->used, ST_PROBE_AREA_BYTES, __ATOMIC_RELAXED);
	return 0;
}

/* A library has come since the thread began, whose functions have no places yet. */
static bool
make_room(struct st_probe_thread *t, uint32_t function)
{
	struct st_probe_record *r = (struct st_probe_record *)t->numbers;
	const uint32_t room = probe_room_for(function + 1),
	               at = probe_allocate(sizeof(uint32_t) * room);
	if (!at)
		return false;
	uint32_t *cells = probe_at(at);
	for (uint32_t i = 0; i < t->room; i++)
		cells[i] = ((const uint32_t *)t->cells)[i];
	t->cells = (uint64_t)cells;
	r->cells = at;
	__atomic_store_n(&r->room, room, __ATOMIC_RELEASE);
	t->room = room;
	return true;
}

struct st_probe_cell *
probe_new_cell(struct st_probe_thread *t, uint32_t function)
{
	if (function >= t->room && !make_room(t, function))
		return NULL;
	uint32_t *cells = (uint32_t *)t->cells;
	const struct st_probe_action action = probe_area()->actions[function];
	const uint32_t at = probe_allocate(sizeof(struct st_probe_cell));
	if (!at)
		return NULL;
	struct st_probe_cell *c = probe_at(at);
	c->function = function;
	c->shortest = UINT64_MAX;
	/* A signal handler may have made one meanwhile, which has numbers in it already. */
	if (!cells[function])
		cells[function] = at * 2 + (action.kind == ST_PROBE_TIME && action.amount <= 1);
	return probe_at(cells[function] / 2);
}

uint32_t
probe_find_pair(struct st_probe_thread *t, uint32_t caller, struct st_probe_cell *callee)
{
	uint32_t *bucket = probe_at(probe_area()->records[t->record].pairs);
	bucket += st_probe_pair_bucket(caller, callee->function);
	uint32_t at = *bucket;
	for (; at; at = ((struct st_probe_pair *)probe_at(at))->next) {
		const struct st_probe_pair *p = probe_at(at);
		if (p->caller == caller && p->callee == callee->function + 1)
			break;
	}
	if (!at) {
		at = probe_allocate(sizeof(struct st_probe_pair));
		if (!at)
			return 0;
		struct st_probe_pair *p = probe_at(at);
		p->caller = caller;
		p->callee = callee->function + 1;
		p->next = *bucket;
		*bucket = at;
	}
	callee->last_caller = caller;
	callee->last_pair = at;
	return at;
}

void
probe_count_duration(struct st_probe_cell *c, uint64_t ticks)
{
	const uint32_t bits = ST_PROBE_CLASS_BITS;
	const uint32_t top = 63 - (uint32_t)__builtin_clzll(ticks | 1);
	uint32_t octave = top < bits ? 0 : top - bits + 1;
	uint64_t class = octave ? ticks >> (octave - 1) : ticks;
	if (UNLIKELY(octave >= ST_PROBE_OCTAVES)) {
		octave = ST_PROBE_OCTAVES - 1;
		class = ST_PROBE_CLASSES - 1;
	}
	if (UNLIKELY(!c->octaves[octave])) {
		c->octaves[octave] = probe_allocate(ST_PROBE_CLASSES * sizeof(uint64_t));
		if (!c->octaves[octave])
			return;
	}
	uint64_t *counts = probe_at(c->octaves[octave]);
	counts[class % ST_PROBE_CLASSES]++;
}
