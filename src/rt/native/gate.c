/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/native/gates.h"

#include "rt/native/traps.h"
#include "rt/tool/tool.h"

enum {
	OFTEN = 8,       /* calls of a site, for a gate */
	VERY_OFTEN = 64, /* for one that is dear to look for */
};

/* Where the number of the call's site is, or would be. */
static uint16_t *
place_of(struct gates *g, uint64_t call)
{
	uint32_t h = (uint32_t)(call * 0x9e3779b97f4a7c15ull >> 54), i;
	while ((i = __atomic_load_n(&g->site_by_call[h], __ATOMIC_ACQUIRE)) &&
	       g->sites[i - 1].call != call)
		h = (h + 1) % SITES;
	return &g->site_by_call[h];
}

/* NULL: it is not known. */
static struct site *
call_site(struct gates *g, uint64_t call)
{
	uint16_t i = __atomic_load_n(place_of(g, call), __ATOMIC_ACQUIRE);
	/* Another's, when that has just taken the empty place. */
	return i && g->sites[i - 1].call == call ? &g->sites[i - 1] : NULL;
}

const struct gate *
gate_of(uint64_t call)
{
	const struct site *s = call_site(rt.gates, call);
	return s && s->gate ? &rt.gates->gate[s->gate - 1] : NULL;
}

bool
gate_serves(uint64_t call)
{
	return rt.gates && gate_of(call) != NULL;
}

/* rt.lock held. `before`: its number stands before the call. */
static bool
make(struct thread *t, const struct map *m, uint64_t call, bool before)
{
	struct gates *g = rt.gates;
	struct gate *k = &g->gate[g->n];
	if (g->n == MOST_GATES || !gate_prepare(k, m, call, before))
		return false;
	os_make_all_wait(t);
	k->open = true;
	g->n++;
	if (!gate_lead_in(k)) {
		gate_put_back(k);
		k->open = false;
		return false;
	}
	rt_stat(ST_STAT_gates, 1);
	return true;
}

/* rt.lock held. */
static struct site *
learn_site(uint64_t call)
{
	struct gates *g = rt.gates;
	if (!g && !(rt.gates = g = rt_map_memory(sizeof *g)))
		return NULL;
	struct site *s = call_site(g, call);
	if (s || g->n_sites == MOST_SITES)
		return s;
	s = &g->sites[g->n_sites++];
	*s = (struct site){.call = call, .least = OFTEN};
	__atomic_store_n(place_of(g, call), (uint16_t)g->n_sites, __ATOMIC_RELEASE);
	return s;
}

/* The site's calls have become many. rt.lock held. */
static void
open_site(struct thread *t, struct site *s)
{
	enum { NEXT_BYTES = 32, CALL_SIGRETURN = 15 };
	const struct map *m = maps_find(s->call);
	/* Unwinders know a handler's return by its code. */
	s->refused = rt.no_gates || rt.writes_memory_file || !tools.has_rdfsbase || !is_plain(m) ||
	             m->end - s->call < NEXT_BYTES || t->regs.r[RAX] == CALL_SIGRETURN;
	bool before = !s->refused && gate_number_before(m, s->call);
	if (!s->refused && !before && s->least < VERY_OFTEN) {
		s->least = VERY_OFTEN;
		return;
	}
	s->refused = s->refused || !make(t, m, s->call, before);
	s->gate = s->refused ? 0 : (uint16_t)rt.gates->n;
}

bool
gate_note(struct thread *t, bool now)
{
	uint64_t call = t->regs.pc;
	struct site *s = rt.gates ? call_site(rt.gates, call) : NULL;
	if (s && (++s->times < s->least || s->refused || s->gate || !now))
		return !s->refused && !s->gate;
	if (!s && rt.gates && rt.gates->n_sites == MOST_SITES)
		return false;
	rt_lock(&rt.lock);
	s = learn_site(call);
	if (s && !s->gate && !s->refused && s->times >= s->least)
		open_site(t, s);
	bool few = s && !s->refused;
	rt_unlock(&rt.lock);
	return few;
}

/* The code is as it was. False: it cannot be changed, and the gate stays. */
static bool
close_gate(struct gate *k)
{
	if (gate_leads_in(k) && !gate_put_back(k)) /* else somebody has changed it meanwhile */
		return false;
	k->open = false;
	call_site(rt.gates, k->call)->gate = 0;
	return true;
}

void
gates_hide(uint8_t *code, uint64_t start, uint64_t bytes)
{
	for (uint32_t i = 0; rt.gates && i < rt.gates->n; i++) {
		const struct gate *k = &rt.gates->gate[i];
		for (uint32_t j = 0; k->open && j < k->bytes; j++)
			if (k->site + j - start < bytes)
				code[k->site + j - start] = k->saved[j];
	}
}

/* What is there then may be other calls. */
static void
forget_sites(uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < rt.gates->n_sites; i++) {
		struct site *s = &rt.gates->sites[i];
		if (s->call < start || s->call >= end || s->gate)
			continue;
		s->times = 0;
		s->least = OFTEN;
		s->refused = false;
	}
}

void
gates_forget(struct thread *t, uint64_t start, uint64_t end)
{
	bool any = false;
	traps_forget(t, start, end);
	/* Pages before have a copy of the beginning, and gates behind need one of the end. */
	start = start > SOURCE_BYTES ? start - SOURCE_BYTES : 0;
	end = end > ~8191ull ? end : ((end + 4095) & ~4095ull) + MAX_BLOCK_BYTES;
	if (!rt.gates || !maps_overlap(start, end)) /* most of what changes is data */
		return;
	for (uint32_t i = 0; i < rt.gates->n; i++) {
		struct gate *k = &rt.gates->gate[i];
		if (!k->open || k->site >= end || k->site + k->bytes <= start)
			continue;
		if (!any)
			os_make_all_wait(t);
		any = true;
		close_gate(k);
	}
	sources_drop(start, end);
	forget_sites(start, end);
}

void
gates_remove(void)
{
	traps_remove();
	rt.no_gates = true;
	for (uint32_t i = 0; rt.gates && i < rt.gates->n; i++) {
		struct gate *k = &rt.gates->gate[i];
		if (k->open && !close_gate(k)) /* it does without the engine */
			rt_forget_memory((const void *)gate_area(k)->start);
	}
}
