/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls of functions that allocate memory. An allocation counts once, at the function that the
 * program has called: what that function calls itself is part of it. Memory counts as live from the
 * return of the function on, and until a function that gives it back is entered, so that no other
 * thread can have got it by then.
 */
#include <stddef.h>

#include "rt/probe/alloc.h"

/* ---- threads ---- */

static struct st_alloc_thread *
alloc_thread(void)
{
	struct st_probe_thread *t = probe_thread();
	if (UNLIKELY(!t))
		return NULL;
	struct st_alloc_thread *own = (struct st_alloc_thread *)t->allocations;
	if (UNLIKELY(!own)) {
		const uint32_t at = probe_allocate(sizeof *own);
		if (!at)
			return NULL;
		own = probe_at(at);
		t->allocations = (uint64_t)own;
	}
	if (UNLIKELY(own->tid != t->tid)) { /* the thread that had it before has ended */
		own->tid = t->tid;
		own->busy = own->n = 0;
		own->inside = own->low = own->high = own->last = 0;
	}
	return own;
}

static void
alloc_missed(void)
{
	__atomic_fetch_add(&probe_alloc_area()->missed, 1, __ATOMIC_RELAXED);
}

/* A signal handler of the thread finds it busy, and waits for nothing. */
static void
alloc_lock(struct st_alloc_area *a)
{
	while (UNLIKELY(__atomic_exchange_n(&a->lock, 1, __ATOMIC_ACQUIRE)))
		while (__atomic_load_n(&a->lock, __ATOMIC_RELAXED))
			__asm__ volatile("pause");
}

static void
alloc_unlock(struct st_alloc_area *a)
{
	__atomic_store_n(&a->lock, 0, __ATOMIC_RELEASE);
}

static void
set_busy(struct st_alloc_thread *own, uint32_t busy)
{
	__asm__ volatile("" : : : "memory");
	own->busy = busy;
	__asm__ volatile("" : : : "memory");
}

/* Totals of the heap when the thread takes the lock; the changes until it releases the lock are
 * added to the thread's tallies. */
struct heap_before {
	uint64_t bytes, calls, freed, live;
};

static struct heap_before
heap_before(const struct st_alloc_area *a)
{
	const struct st_alloc_totals *all = &a->totals[ST_ALLOC_HEAP];
	return (struct heap_before){all->bytes, all->calls, all->freed, all->live};
}

static void
add_to_tallies(const struct st_alloc_area *a, const struct heap_before *before)
{
	const struct st_alloc_totals *all = &a->totals[ST_ALLOC_HEAP];
	uint64_t *tallies = probe_thread()->tallies.v;
	tallies[ST_RECORD_ALLOCATED] += all->bytes - before->bytes;
	tallies[ST_RECORD_ALLOCATIONS] += all->calls - before->calls;
	tallies[ST_RECORD_FREED] += all->freed - before->freed;
	tallies[ST_RECORD_HEAP_NET] += all->live - before->live;
	if ((int64_t)tallies[ST_RECORD_HEAP_NET] > (int64_t)tallies[ST_RECORD_HEAP_PEAK])
		tallies[ST_RECORD_HEAP_PEAK] = tallies[ST_RECORD_HEAP_NET];
}

/* Charges the cost of counting an allocation to the timed call in progress, so that the result can
 * subtract it. */
static void
end_counting(uint64_t since)
{
	struct st_probe_thread *t = probe_thread();
	if (UNLIKELY(t && t->depth > 1))
		probe_charge(t, &t->frames[t->depth - 1], since);
}

/* ---- giving back ---- */

static void
free_block(struct st_alloc_area *a, struct st_alloc_thread *own, uint64_t address)
{
	struct st_alloc_totals *all = &a->totals[ST_ALLOC_HEAP];
	if (!address)
		return;
	const struct probe_block_place place = probe_block_find(a, address);
	if (UNLIKELY(!place.at || !*place.at)) {
		all->unknown++;
		return;
	}
	const uint64_t block = *place.at;
	probe_block_put(place, address, 0);
	const uint32_t context = probe_block_context(block);
	probe_count_freed(a, context, probe_block_size(block));
	all->frees++;
	all->freed += probe_block_size(block);
	if (address == own->last) {
		a->contexts[context].short_lived++;
		all->short_lived++;
	}
	own->last = 0;
}

enum { PAGE = 4096 };

static uint64_t
probe_page_end(uint64_t address)
{
	return (address + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

/* Before it is entered, so that memory can be another thread's from then on. */
static void
alloc_give_back(const struct probe_alloc_call *call, struct st_alloc_thread *own)
{
	struct st_alloc_area *a = probe_alloc_area();
	set_busy(own, 1);
	alloc_lock(a);
	const struct heap_before before = heap_before(a);
	if (call->kind == ST_ALLOC_FREE)
		free_block(a, own, call->rdi);
	else
		probe_unmap_pages(a, call->rdi, probe_page_end(call->rdi + call->rsi));
	add_to_tallies(a, &before);
	alloc_unlock(a);
	set_busy(own, 0);
}

/* ---- the entry ---- */

/* The block stays live, but its place may become another's. */
static void
begin_reallocation(struct probe_alloc_call *call, struct st_alloc_thread *own)
{
	struct st_alloc_area *a = probe_alloc_area();
	set_busy(own, 1);
	alloc_lock(a);
	const struct probe_block_place place = call->argument ? probe_block_find(a, call->argument)
	                                                      : (struct probe_block_place){0};
	call->old = place.at ? *place.at : 0;
	if (place.at)
		probe_block_put(place, call->argument, 0);
	else if (call->argument)
		a->totals[ST_ALLOC_HEAP].unknown++;
	alloc_unlock(a);
	set_busy(own, 0);
}

static uint64_t
product(uint64_t a, uint64_t b)
{
	uint64_t n;
	return __builtin_mul_overflow(a, b, &n) ? UINT64_MAX : n;
}

static void
note_arguments(struct probe_alloc_call *call)
{
	call->old = 0;
	call->argument = call->rdi;
	switch (call->kind) {
	case ST_ALLOC_CALLOC:
		call->size = product(call->rdi, call->rsi);
		break;
	case ST_ALLOC_REALLOC:
	case ST_ALLOC_ALIGNED:
	case ST_ALLOC_MMAP:
		call->size = call->rsi;
		break;
	case ST_ALLOC_REALLOCARRAY:
		call->size = product(call->rsi, call->rdx);
		break;
	case ST_ALLOC_POSIX_MEMALIGN:
		call->size = call->rdx;
		break;
	case ST_ALLOC_MREMAP:
		call->size = call->rdx;
		call->numbers[0] = call->rsi;
		break;
	default:
		call->size = call->rdi;
	}
}

static bool
is_reallocation(uint64_t kind)
{
	return kind == ST_ALLOC_REALLOC || kind == ST_ALLOC_REALLOCARRAY;
}

/* Whether its return is to be seen. */
static uint64_t
begin_allocation(struct probe_alloc_call *call)
{
	const uint64_t slot = (uint64_t)&call->caller;
	call->kind = probe_area()->actions[call->function].amount;
	if (call->kind == ST_ALLOC_FREE)
		probe_block_expect(probe_alloc_area(), call->rdi);
	struct st_alloc_thread *own = alloc_thread();
	if (UNLIKELY(!own || own->busy)) {
		alloc_missed();
		return 0;
	}
	if (own->inside && slot < own->inside)
		return 0;
	own->inside = 0; /* what was under way was left by a jump, or runs on another stack */
	if (call->kind == ST_ALLOC_FREE || call->kind == ST_ALLOC_MUNMAP) {
		alloc_give_back(call, own);
		return 0;
	}
	note_arguments(call);
	if (is_reallocation(call->kind))
		begin_reallocation(call, own);
	own->inside = slot;
	return 1;
}

uint64_t
probe_alloc_begin(struct probe_alloc_call *call, uint64_t bp)
{
	const uint64_t begin = probe_ticks();
	(void)bp;
	if (UNLIKELY(!*(volatile uint64_t *)probe_context.note))
		return 0; /* a child of fork */
	const uint64_t is_seen = begin_allocation(call);
	end_counting(begin);
	return is_seen;
}

/* ---- the return ---- */

static uint32_t
size_class(uint64_t size)
{
	return size ? 64 - (uint32_t)__builtin_clzll(size) : 0;
}

static void
count_call_of(struct st_alloc_area *a, uint32_t context, uint64_t size)
{
	struct st_alloc_context *c = &a->contexts[context];
	struct st_alloc_totals *all = &a->totals[c->domain];
	c->calls++;
	c->bytes += size;
	if (size > c->largest)
		c->largest = size;
	all->calls++;
	all->bytes += size;
	all->classes[size_class(size)]++;
}

/* The old block has gone, or has become a part of the new one. */
static void
end_old_block(struct st_alloc_area *a, const struct probe_alloc_call *call)
{
	struct st_alloc_totals *all = &a->totals[ST_ALLOC_HEAP];
	if (!call->old)
		return;
	const uint64_t size = probe_block_size(call->old);
	probe_count_freed(a, probe_block_context(call->old), size);
	all->frees++;
	all->freed += size;
}

static void
count_moves(struct st_alloc_area *a, const struct probe_alloc_call *call, uint64_t address)
{
	if (!call->argument)
		return;
	if (address == call->argument)
		a->totals[ST_ALLOC_HEAP].in_place++;
	else
		a->totals[ST_ALLOC_HEAP].moved++;
}

static void
add_block(struct st_alloc_area *a, struct st_alloc_thread *own, const struct probe_alloc_call *call,
          uint64_t address, uint32_t context)
{
	const struct probe_block_place place = probe_block_place(a, address);
	if (UNLIKELY(!place.at || call->size >> ST_ALLOC_SIZE_BITS)) {
		alloc_missed();
		return;
	}
	if (UNLIKELY(*place.at)) { /* it was given back in a way that was not seen */
		probe_count_freed(a, probe_block_context(*place.at), probe_block_size(*place.at));
		a->totals[ST_ALLOC_HEAP].unknown++;
	}
	probe_block_put(place, address, probe_block(context, call->size));
	count_call_of(a, context, call->size);
	probe_count_live(a, context, call->size);
	own->last = address;
}

/* The reallocation has failed: the block is what it was. */
static void
keep_old_block(struct st_alloc_area *a, const struct probe_alloc_call *call)
{
	if (!call->old)
		return;
	const struct probe_block_place place = probe_block_find(a, call->argument);
	if (place.at)
		probe_block_put(place, call->argument, call->old);
}

static void
end_heap(struct st_alloc_area *a, struct st_alloc_thread *own, const struct probe_alloc_call *call,
         uint64_t address, uint32_t context)
{
	if (!address) {
		/* realloc(p, 0) may give p back. */
		if (is_reallocation(call->kind) && !call->size && call->argument)
			end_old_block(a, call);
		else
			keep_old_block(a, call);
		a->totals[ST_ALLOC_HEAP].failed += call->size != 0;
		return;
	}
	if (is_reallocation(call->kind)) {
		/* The old one first: the two are never live at the same time. */
		end_old_block(a, call);
		count_moves(a, call, address);
	}
	if (context)
		add_block(a, own, call, address, context);
}

static void
end_mapped(struct st_alloc_area *a, const struct probe_alloc_call *call, uint64_t address,
           uint32_t context)
{
	if (address > (uint64_t)-PAGE) {
		a->totals[ST_ALLOC_MAPPED].failed++;
		return;
	}
	/* MREMAP_DONTUNMAP, which leaves the old one, is rare and not told apart. */
	if (call->kind == ST_ALLOC_MREMAP) {
		probe_unmap_pages(a, call->argument,
		                  probe_page_end(call->argument + call->numbers[0]));
		if (address == call->argument)
			a->totals[ST_ALLOC_MAPPED].in_place++;
		else
			a->totals[ST_ALLOC_MAPPED].moved++;
	}
	const uint64_t to = probe_page_end(address + call->size);
	probe_unmap_pages(a, address, to); /* MAP_FIXED */
	if (!context)
		return;
	if (probe_map_pages(a, address, to, context))
		count_call_of(a, context, to - address);
	else
		alloc_missed();
}

static uint64_t
allocated(const struct probe_alloc_call *call)
{
	if (call->kind != ST_ALLOC_POSIX_MEMALIGN)
		return call->rax;
	return (uint32_t)call->rax ? 0 : *(const uint64_t *)call->argument;
}

void
probe_alloc_end(struct probe_alloc_call *call, uint64_t bp)
{
	const uint64_t begin = probe_ticks();
	struct st_alloc_thread *own = alloc_thread();
	if (UNLIKELY(!own || own->busy))
		return;
	set_busy(own, 1);
	struct st_alloc_area *a = probe_alloc_area();
	const uint64_t address = allocated(call);
	probe_block_expect(a, address);
	const bool maps = call->kind >= ST_ALLOC_MMAP;
	const bool succeeded = maps ? address <= (uint64_t)-PAGE : address != 0;
	bool cut = false;
	const uint32_t fresh = succeeded && !a->without_callers
	                               ? probe_stack_walk(a, own, (uint64_t)&call->caller, bp, &cut)
	                               : 0;
	const uint64_t start = call->function | 1ull << 63;
	alloc_lock(a);
	const struct heap_before before = heap_before(a);
	uint32_t context = 0;
	if (succeeded) {
		context = probe_stack_context(a, own, fresh, cut, start);
		a->contexts[context].domain = maps ? ST_ALLOC_MAPPED : ST_ALLOC_HEAP;
		a->cut += cut;
		if (!context)
			alloc_missed();
	}
	if (maps)
		end_mapped(a, call, address, context);
	else
		end_heap(a, own, call, address, context);
	add_to_tallies(a, &before);
	alloc_unlock(a);
	own->inside = 0;
	set_busy(own, 0);
	end_counting(begin);
}
