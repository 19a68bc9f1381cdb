/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Activations whose return is awaited, and what is done when they do not end in the order in which
 * they began. Whatever happens, a return must find the address that it was to go to: no frame is
 * given up while its stack may still be there. What a thread has left, by longjmp, by an exception
 * or for another stack, is parked; the place in the stack tells which of them a return belongs to.
 */
#include <asm/unistd.h>
#include <errno.h>

#include "rt/lib/sys.h"
#include "rt/probe/probe.h"

static struct st_probe_cell *
cell_of_frame(const struct st_probe_frame *f)
{
	return f->cell ? probe_at(f->cell) : NULL;
}

/* Its time is not known. */
static void
lose_frame(const struct st_probe_frame *f)
{
	struct st_probe_cell *c = cell_of_frame(f);
	if (probe_context.forked)
		return; /* the area is the parent's */
	if (f->ends == ST_PROBE_ENDS_SCOPE)
		__atomic_fetch_sub(&probe_context.running, 1, __ATOMIC_RELAXED);
	if (!c)
		return;
	c->active--;
	c->lost++;
	if (f->pair)
		((struct st_probe_pair *)probe_at(f->pair))->active--;
}

enum { BEING_WRITTEN = 1, PLACES = 16 /* that a frame may be in */ };

static struct st_probe_frame *
parked_place(uint64_t slot, uint32_t i)
{
	const uint32_t hash = (uint32_t)((slot >> 3) * 0x9e3779b97f4a7c15u >> 40);
	return &probe_context.parked[(hash + i) % ST_PROBE_PARKED];
}

/* The place of a frame with that slot, which was left for good, or a free one, or else one in which
 * there is another: a program may leave any number of frames for good. */
static struct st_probe_frame *
claim_place(uint64_t slot)
{
	for (uint64_t wanted = slot;; wanted = 0) {
		for (uint32_t i = 0; i < PLACES; i++) {
			struct st_probe_frame *f = parked_place(slot, i);
			uint64_t there = wanted;
			if (__atomic_load_n(&f->slot, __ATOMIC_RELAXED) == wanted &&
			    __atomic_compare_exchange_n(&f->slot, &there, BEING_WRITTEN, false,
			                                __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
				return f;
		}
		if (!wanted)
			return parked_place(slot, (uint32_t)(probe_ticks() % PLACES));
	}
}

static void
park(const struct st_probe_frame *f)
{
	struct st_probe_frame *to = claim_place(f->slot);
	to->original = f->original;
	to->begin = f->begin;
	to->callees = f->callees;
	to->spent = f->spent;
	to->function = f->function;
	to->cell = f->cell;
	to->pair = f->pair;
	to->ends = f->ends == ST_PROBE_ENDS_WAITING ? f->ends : ST_PROBE_ENDS;
	to->is_patched = 0;
	to->counted = 0;
	to->row = f->row;
	__atomic_store_n(&to->slot, f->slot, __ATOMIC_RELEASE);
	probe_context.has_parked = 1;
}

/* Its time is charged to no function, not even to its caller. */
static void
take_from_caller(const struct st_probe_frame *f, struct st_probe_frame *around)
{
	const struct st_probe_context *x = &probe_context;
	const uint64_t cost = (x->cost_within + f->spent) >> 8;
	around->spent += f->spent + x->cost;
	around->callees += probe_now() - f->begin - cost;
}

static void
pop(struct st_probe_thread *t, bool may_return)
{
	struct st_probe_frame *f = &t->frames[t->depth - 1];
	if (f->slot && f->counted) {
		probe_drop_counted(t, f);
		return;
	}
	if (f->slot) {
		if (may_return && !f->is_patched)
			park(f);
		if (f->row)
			probe_end_peak(t, f, t->depth - 1);
		lose_frame(f);
		take_from_caller(f, f - 1);
	}
	f->slot = 0;
	t->depth--;
}

void
probe_leave_frames(struct st_probe_thread *t, uint64_t slot)
{
	while (t->depth > 1 && probe_is_left(&t->frames[t->depth - 1], slot) &&
	       t->frames[t->depth - 1].slot != slot)
		pop(t, true);
}

/* ---- looking for the frame of a return ---- */

static const struct st_probe_frame *
find_on_own_stack(struct st_probe_thread *t, uint64_t slot)
{
	uint32_t i = t->depth - 1;
	while (i && (t->frames[i].slot != slot || t->frames[i].counted))
		i--;
	if (!i)
		return NULL;
	while (t->depth - 1 > i)
		pop(t, true);
	return &t->frames[i];
}

static bool
take_parked(uint64_t slot, struct st_probe_frame *found)
{
	for (uint32_t i = 0; i < PLACES; i++) {
		struct st_probe_frame *f = parked_place(slot, i);
		if (__atomic_load_n(&f->slot, __ATOMIC_ACQUIRE) != slot)
			continue;
		*found = *f;
		f->slot = 0;
		return true;
	}
	return false;
}

/* A stack that another thread has been on before. */
static bool
copy_of_another(uint64_t slot, struct st_probe_frame *found)
{
	const struct st_probe_thread *threads = (void *)probe_context.threads;
	for (uint32_t i = 0; i < probe_threads(); i++)
		for (uint32_t d = 1; d < threads[i].depth; d++)
			if (threads[i].frames[d].slot == slot && !threads[i].frames[d].is_patched) {
				*found = threads[i].frames[d];
				found->cell = 0; /* that thread's, which counts it as lost */
				return true;
			}
	return false;
}

const struct st_probe_frame *
probe_find_frame(struct st_probe_thread *t, uint64_t slot, struct st_probe_frame *elsewhere)
{
	const struct st_probe_frame *own = t ? find_on_own_stack(t, slot) : NULL;
	if (own)
		return own;
	if (take_parked(slot, elsewhere)) {
		struct st_probe_cell *c = cell_of_frame(elsewhere);
		if (c && !probe_context.forked) { /* it was not lost after all */
			c->active++;
			c->lost--;
			if (elsewhere->pair)
				((struct st_probe_pair *)probe_at(elsewhere->pair))->active++;
		}
		return elsewhere;
	}
	return copy_of_another(slot, elsewhere) ? elsewhere : NULL;
}

/* ---- return addresses as the program knows them ---- */

struct vector {
	void *at;
	uint64_t bytes;
};

/* Of a stack that may be gone by now. */
static bool
is_slot_replaced(uint64_t slot)
{
	uint64_t value = 0;
	struct vector here = {&value, sizeof value}, there = {(void *)slot, sizeof value};
	return SYS(__NR_process_vm_readv, SYS(__NR_getpid), &here, 1, &there, 1, 0) ==
	               sizeof value &&
	       value == probe_context.trampoline;
}

/* A stack that the thread has left for one below it may have been unmapped since: its frames are
 * still there. What is near *known lies on the same stack; the kernel is asked about the rest,
 * and where it may not be asked, the stack is taken to be there. */
static bool
is_slot_mapped(uint64_t slot, uint64_t *known)
{
	enum { SAME_STACK = 16384 };
	uint64_t value = 0;
	struct vector here = {&value, sizeof value}, there = {(void *)slot, sizeof value};
	if (slot - *known >= SAME_STACK &&
	    SYS(__NR_process_vm_readv, SYS(__NR_getpid), &here, 1, &there, 1, 0) == -EFAULT)
		return false;
	*known = slot;
	return true;
}

/* Of stacks that the thread has left, and may have come back to. */
static void
put_back_parked(uint64_t slot)
{
	enum { NEAR = 1 << 20 };
	struct st_probe_context *x = &probe_context;
	for (uint32_t i = 0; x->has_parked && i < ST_PROBE_PARKED; i++) {
		const struct st_probe_frame *f = &x->parked[i];
		const uint64_t at = f->slot;
		if (at > slot && at - slot < NEAR && is_slot_replaced(at))
			*(uint64_t *)at = f->original;
	}
}

void
probe_put_back(struct st_probe_thread *t, uint64_t slot)
{
	uint64_t known = slot;
	for (uint32_t i = t->depth - 1; i >= 1; i--) {
		const struct st_probe_frame *f = &t->frames[i];
		if (f->slot > slot && is_slot_mapped(f->slot, &known) &&
		    *(uint64_t *)f->slot == probe_context.trampoline)
			*(uint64_t *)f->slot = f->original;
	}
	put_back_parked(slot);
	t->put_back = 1;
	t->put_back_at = slot;
}

/* The function at `slot` was called by whoever goes on: what was called there before has ended. */
void
probe_replace_again(struct st_probe_thread *t, uint64_t slot)
{
	if (slot <= t->put_back_at)
		return; /* still unwinding */
	while (t->depth > 1 && probe_is_left(&t->frames[t->depth - 1], slot))
		pop(t, false); /* its return address has been put back */
	uint64_t known = slot;
	for (uint32_t i = t->depth - 1; i >= 1; i--) {
		const struct st_probe_frame *f = &t->frames[i];
		if (f->slot && !f->is_patched && is_slot_mapped(f->slot, &known) &&
		    *(uint64_t *)f->slot == f->original)
			*(uint64_t *)f->slot = probe_context.trampoline;
	}
	t->put_back = 0;
}
