/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/native/breakpoints.h"

#include "base/sum.h"
#include "rt/budget/unique.h"
#include "rt/controller.h"
#include "rt/native/patch.h"
#include "rt/native/syspatches.h"
#include "rt/program.h"
#include "rt/tool/tool.h"
#include "rt/world.h"
#include "wire/control.h"

enum {
	MOST_BREAKPOINT_AREAS = 64,
	PAGE = 4096,
	WORDS = PAGE / 64, /* of a page's bits */
	BREAKPOINT = 0xcc,
	MOST_FORKS = 16, /* while there are breakpoints */
};

/* A mapping with breakpoints. */
struct area_with_breakpoints {
	uint64_t start, bytes;  /* bytes 0: it is gone */
	uint8_t *code;          /* as it was, and a page of nothing */
	uint64_t *armed, *ever; /* a bit for each byte: there is a breakpoint; there has been one */
};

struct breakpoints {
	struct area_with_breakpoints area[MOST_BREAKPOINT_AREAS];
	uint32_t n;
	uint32_t forks;
	bool stay;       /* there was one that could not be taken away */
	uint32_t answer; /* the controller's answer that they are set by */
};

static struct area_with_breakpoints *
area_at(uint64_t pc)
{
	for (uint32_t i = 0; rt.native.breakpoints && i < rt.native.breakpoints->n; i++)
		if (pc - rt.native.breakpoints->area[i].start <
		    rt.native.breakpoints->area[i].bytes)
			return &rt.native.breakpoints->area[i];
	return NULL;
}

const uint8_t *
breakpoints_source(uint64_t pc)
{
	const struct area_with_breakpoints *a = area_at(pc);
	return a ? a->code + (pc - a->start) : NULL;
}

static bool
is_armed(const struct area_with_breakpoints *a, uint64_t pc)
{
	uint64_t at = pc - a->start;
	return __atomic_load_n(&a->armed[at / 64], __ATOMIC_RELAXED) >> at % 64 & 1;
}

bool
breakpoints_own(uint64_t pc)
{
	const struct area_with_breakpoints *a = area_at(pc);
	uint64_t at = a ? pc - a->start : 0;
	return a && __atomic_load_n(&a->ever[at / 64], __ATOMIC_RELAXED) >> at % 64 & 1;
}

bool
breakpoints_any_stay(void)
{
	return rt.native.breakpoints && rt.native.breakpoints->stay;
}

bool
breakpoints_stay(uint64_t pc)
{
	const struct area_with_breakpoints *a = breakpoints_any_stay() ? area_at(pc) : NULL;
	return a && is_armed(a, pc);
}

bool
breakpoints_stale(void)
{
	return __atomic_load_n(&rt.results->control.leaders_done, __ATOMIC_ACQUIRE) !=
	       (rt.native.breakpoints ? rt.native.breakpoints->answer : 0);
}

bool
breakpoints_ask(void)
{
	struct st_message m = {.kind = ST_MESSAGE_LEADERS, .pid = rt.pid, .results_pid = rt.pid};
	if (!rt.boot->channel ||
	    rt.results->control.leaders_asked != rt.results->control.leaders_done)
		return false;
	__atomic_fetch_add(&rt.results->control.leaders_asked, 1, __ATOMIC_RELEASE);
	process_tell(&m);
	return true;
}

/* ---- areas ---- */

static void
drop_area(struct area_with_breakpoints *a)
{
	if (a->code)
		rt_unmap_memory(a->code, a->bytes + PAGE);
	if (a->armed)
		rt_unmap_memory(a->armed, a->bytes / 4);
	*a = (struct area_with_breakpoints){0};
}

static struct st_map *
map_record(const struct map *m)
{
	return (struct st_map *)((char *)rt.results + rt.results->layout.off_maps) + m->index;
}

/* Is the code that of the file whose leaders the controller has reported? It may have another file,
 * of the same name: the program is in a root of its own, or the file has been made again; or the
 * program has changed its code. */
static bool
is_of_file(const struct area_with_breakpoints *a, struct st_map *record)
{
	if (record->sum && st_sum(a->code, a->bytes, a->bytes) != record->sum)
		record->sum = 0;
	return record->sum;
}

static bool
make_area(struct area_with_breakpoints *a, const struct map *m)
{
	*a = (struct area_with_breakpoints){.start = m->start, .bytes = m->end - m->start};
	a->code = rt_map_memory(a->bytes + PAGE);
	a->armed = rt_map_memory(a->bytes / 4);
	if (!a->code || !a->armed || rt_copy_guarded(a->code, (const void *)a->start, a->bytes)) {
		drop_area(a);
		return false;
	}
	a->ever = a->armed + a->bytes / 64;
	syspatches_hide(a->code, a->start, a->bytes);
	if (is_of_file(a, map_record(m)))
		return true;
	drop_area(a);
	return false;
}

/* Instructions may go on in what follows it, which has to be as it was as well. */
static bool
may_have_breakpoints(const struct map *m)
{
	const struct st_map *record = map_record(m);
	return record->sum && record->start == m->start && record->end == m->end && is_plain(m) &&
	       m->start % PAGE == 0 && m->end % PAGE == 0 && !maps_find(m->end) &&
	       !maps_find(m->start - 1);
}

/* The mapping's area, made if need be; NULL: it cannot have one. */
static struct area_with_breakpoints *
area_of(const struct map *m)
{
	struct breakpoints *all = rt.native.breakpoints;
	struct area_with_breakpoints *a = area_at(m->start), *made = NULL;
	if (a)
		return a->start == m->start && a->bytes == m->end - m->start ? a : NULL;
	for (uint32_t i = 0; i < all->n && !made; i++)
		if (!all->area[i].bytes)
			made = &all->area[i];
	if (!made && all->n == MOST_BREAKPOINT_AREAS)
		return NULL;
	bool is_new = !made;
	struct area_with_breakpoints area;
	if (!may_have_breakpoints(m) || !make_area(&area, m))
		return NULL;
	if (is_new)
		made = &all->area[all->n];
	/* Other threads look whose code it is. */
	made->start = area.start;
	made->code = area.code;
	made->armed = area.armed;
	made->ever = area.ever;
	__atomic_store_n(&made->bytes, area.bytes, __ATOMIC_RELEASE);
	if (is_new)
		__atomic_store_n(&all->n, all->n + 1, __ATOMIC_RELEASE);
	return made;
}

/* ---- pages ---- */

/* Sets and takes the breakpoints of a page, so that they are where `wanted` has bits. */
static bool
set_page(struct area_with_breakpoints *a, uint64_t page, const uint64_t *wanted, int patch)
{
	uint8_t now[PAGE];
	uint64_t *armed = a->armed + page / 64, differ = 0;
	for (unsigned i = 0; i < WORDS; i++)
		differ |= armed[i] ^ wanted[i];
	if (!differ)
		return true;
	if (rt_copy_guarded(now, (const void *)(a->start + page), PAGE))
		return false;
	unsigned first = PAGE, last = 0;
	for (unsigned i = 0; i < WORDS; i++)
		for (uint64_t bits = armed[i] ^ wanted[i]; bits; bits &= bits - 1) {
			unsigned bit = (unsigned)__builtin_ctzll(bits), at = 64 * i + bit;
			now[at] = wanted[i] >> bit & 1 ? BREAKPOINT : a->code[page + at];
			first = first < at ? first : at;
			last = at;
		}
	/* A thread that executes one just now finds its bit. */
	for (unsigned i = 0; i < WORDS; i++) {
		__atomic_fetch_or(&armed[i], wanted[i], __ATOMIC_RELAXED);
		__atomic_fetch_or(&a->ever[page / 64 + i], wanted[i], __ATOMIC_RELAXED);
	}
	if (!patch_at(patch, a->start + page + first, now + first, last + 1 - first))
		return false;
	memcpy(armed, wanted, PAGE / 8);
	return true;
}

/* Bits of where system-call patches begin and what they replace are none. */
static void
leave_out_syspatches(const struct area_with_breakpoints *a, uint64_t page, uint64_t *wanted)
{
	uint64_t at = a->start + page;
	for (uint32_t i = 0; rt.native.syspatches && i < rt.native.syspatches->n; i++) {
		const struct syspatch *k = &rt.native.syspatches->syspatch[i];
		for (uint64_t j = k->site; k->open && j < k->site + k->bytes; j++)
			if (j - at < PAGE)
				wanted[(j - at) / 64] &= ~(1ull << (j - at) % 64);
	}
}

/* Leaders of a page that have not been measured. */
static void
find_wanted(const struct area_with_breakpoints *a, const struct unique_bits *bits, uint64_t page,
            uint64_t *wanted)
{
	const uint8_t *leaders = (const uint8_t *)rt.results + rt.results->layout.off_leaders;
	uint64_t byte = (bits->first + a->start + page) / 8, any = 0;
	for (unsigned i = 0; i < WORDS; i++) {
		uint64_t leads, seen;
		memcpy(&leads, leaders + byte + 8ull * i, 8);
		memcpy(&seen, bits->bytes + byte + 8ull * i, 8);
		wanted[i] = leads & ~seen;
		any |= wanted[i];
	}
	for (unsigned i = 0; any && i < WORDS; i++)
		for (uint64_t left = wanted[i]; left; left &= left - 1) {
			unsigned bit = (unsigned)__builtin_ctzll(left);
			if (a->code[page + 64 * i + bit] == BREAKPOINT)
				wanted[i] &= ~(1ull << bit);
		}
	if (any)
		leave_out_syspatches(a, page, wanted);
}

static bool
set_area(const struct map *m, int patch)
{
	struct unique_bits bits = unique_bits(m);
	uint64_t wanted[WORDS];
	if (!bits.bytes || (bits.first + m->start) % 64)
		return true;
	struct area_with_breakpoints *a = area_of(m);
	for (uint64_t page = 0; a && page < a->bytes; page += PAGE) {
		find_wanted(a, &bits, page, wanted);
		if (!set_page(a, page, wanted, patch))
			return false;
	}
	return true;
}

bool
breakpoints_set(void)
{
	rt_must_hold(&rt.lock);
	const struct map *m;
	uint64_t end;
	if (rt.native.no_breakpoints || rt.writes_memory_file ||
	    (!rt.native.breakpoints &&
	     !(rt.native.breakpoints = rt_map_memory(sizeof *rt.native.breakpoints))))
		return false;
	uint32_t answer = __atomic_load_n(&rt.results->control.leaders_done, __ATOMIC_ACQUIRE);
	int patch = patch_open();
	bool done = patch >= 0;
	for (uint64_t at = 0; done && (m = maps_from(at)); at = end) {
		end = m->end;
		done = set_area(m, patch);
	}
	if (patch >= 0)
		patch_close(patch);
	rt.native.breakpoints->answer = answer;
	rt.native.no_breakpoints |= !done;
	return done;
}

/* Of a single instruction. */
static bool
is_wanted(const struct area_with_breakpoints *a, uint64_t pc)
{
	uint64_t wanted[WORDS] = {0}, at = pc % PAGE;
	const struct map *m = maps_find(pc);
	struct unique_bits bits = m ? unique_bits(m) : (struct unique_bits){0};
	if (!bits.bytes || unique_is_seen(&bits, pc) || is_armed(a, pc) ||
	    a->code[pc - a->start] == BREAKPOINT)
		return false;
	uint64_t bit = bits.first + pc;
	uint8_t *leaders = (uint8_t *)rt.results + rt.results->layout.off_leaders;
	__atomic_fetch_or(&leaders[bit / 8], (uint8_t)(1u << bit % 8), __ATOMIC_RELAXED);
	wanted[at / 64] = 1ull << at % 64;
	leave_out_syspatches(a, pc - at - a->start, wanted);
	return wanted[at / 64];
}

static void
put_breakpoint(struct area_with_breakpoints *a, uint64_t pc, bool set, int patch)
{
	static const uint8_t breakpoint = BREAKPOINT;
	uint64_t at = pc - a->start, bit = 1ull << at % 64;
	if (set) {
		__atomic_fetch_or(&a->armed[at / 64], bit, __ATOMIC_RELAXED);
		__atomic_fetch_or(&a->ever[at / 64], bit, __ATOMIC_RELAXED);
	}
	bool done = patch_at(patch, pc, set ? &breakpoint : &a->code[at], 1);
	if (done != set)
		__atomic_fetch_and(&a->armed[at / 64], ~bit, __ATOMIC_RELAXED);
}

void
breakpoints_move(uint64_t from, const uint64_t to[2])
{
	rt_must_hold(&rt.lock);
	struct area_with_breakpoints *a = area_at(from);
	bool set[2] = {false, false}, take = a && is_armed(a, from);
	for (unsigned i = 0; i < 2; i++)
		set[i] = area_at(to[i]) && !rt.native.no_breakpoints &&
		         is_wanted(area_at(to[i]), to[i]);
	int patch = take || set[0] || set[1] ? patch_open() : -1;
	if (patch < 0)
		return;
	if (take)
		put_breakpoint(a, from, false, patch);
	for (unsigned i = 0; i < 2; i++)
		if (set[i])
			put_breakpoint(area_at(to[i]), to[i], true, patch);
	patch_close(patch);
}

/* Clears the bits of [from, to) and puts back what stood there. */
static void
clear_breakpoints(struct area_with_breakpoints *a, uint64_t from, uint64_t to)
{
	rt_must_hold(&rt.lock);
	for (uint64_t at = from - a->start; at < to - a->start; at++) {
		uint64_t bit = 1ull << at % 64;
		if (!(a->armed[at / 64] & bit))
			continue;
		if (patch_back(a->start + at, a->code + at, 1))
			__atomic_fetch_and(&a->armed[at / 64], ~bit, __ATOMIC_RELAXED);
		else
			rt.native.breakpoints->stay = true;
	}
}

static void
disarm_page(struct area_with_breakpoints *a, uint64_t page, int patch)
{
	static const uint64_t none[WORDS];
	if (patch < 0 || !set_page(a, page, none, patch))
		clear_breakpoints(a, a->start + page, a->start + page + PAGE);
}

static void
disarm_area(struct area_with_breakpoints *a)
{
	int patch = patch_open();
	for (uint64_t page = 0; page < a->bytes; page += PAGE)
		disarm_page(a, page, patch);
	if (patch >= 0)
		patch_close(patch);
}

void
breakpoints_take(uint64_t pc)
{
	struct area_with_breakpoints *a = area_at(pc);
	if (a && is_armed(a, pc))
		clear_breakpoints(a, pc, pc + 1);
}

void
breakpoints_take_page(uint64_t pc)
{
	struct area_with_breakpoints *a = area_at(pc);
	int patch = patch_open();
	if (a)
		disarm_page(a, (pc - a->start) & ~(PAGE - 1ull), patch);
	if (patch >= 0)
		patch_close(patch);
}

void
breakpoints_yield(uint64_t start, uint64_t end)
{
	struct area_with_breakpoints *a = area_at(start);
	if (a)
		clear_breakpoints(a, start, end - a->start < a->bytes ? end : a->start + a->bytes);
}

void
breakpoints_forget(struct thread *t, uint64_t start, uint64_t end)
{
	bool any = false;
	for (uint32_t i = 0; rt.native.breakpoints && i < rt.native.breakpoints->n; i++) {
		struct area_with_breakpoints *a = &rt.native.breakpoints->area[i];
		if (!a->bytes || a->start >= end || a->start + a->bytes <= start)
			continue;
		if (!any)
			os_make_all_wait(t);
		any = true;
		disarm_area(a);
		drop_area(a);
	}
}

void
breakpoints_remove(void)
{
	rt.native.no_breakpoints = true;
	for (uint32_t i = 0; rt.native.breakpoints && i < rt.native.breakpoints->n; i++) {
		if (!rt.native.breakpoints->area[i].bytes)
			continue;
		disarm_area(&rt.native.breakpoints->area[i]);
		drop_area(&rt.native.breakpoints->area[i]);
	}
}

/* A child gets copies of all pages that have breakpoints, and puts back what stood there before it
 * is native: that costs more than the fork, and no budget knows of it. */
void
breakpoints_fork(struct thread *t)
{
	if (!rt.native.breakpoints || rt.native.no_breakpoints ||
	    ++rt.native.breakpoints->forks <= MOST_FORKS)
		return;
	os_make_all_wait(t);
	breakpoints_remove();
}
