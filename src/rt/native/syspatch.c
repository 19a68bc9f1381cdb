/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/native/syspatches.h"

#include "rt/native/breakpoints.h"
#include "rt/tool/tool.h"

enum {
	OFTEN = 8,       /* calls of a site, for a system-call patch */
	VERY_OFTEN = 64, /* for one that is dear to look for */
};

/* Where the number of the call's site is, or would be. */
static uint16_t *
site_number_at(struct syspatches *g, uint64_t call)
{
	uint32_t h = (uint32_t)(call * 0x9e3779b97f4a7c15ull >> 54), i;
	while ((i = __atomic_load_n(&g->site_by_call[h], __ATOMIC_ACQUIRE)) &&
	       g->sites[i - 1].call != call)
		h = (h + 1) % SITES;
	return &g->site_by_call[h];
}

/* NULL: it is not known. */
static struct site *
call_site(struct syspatches *g, uint64_t call)
{
	uint16_t i = __atomic_load_n(site_number_at(g, call), __ATOMIC_ACQUIRE);
	/* Another's, when that has just taken the empty place. */
	return i && g->sites[i - 1].call == call ? &g->sites[i - 1] : NULL;
}

const struct syspatch *
syspatch_of(uint64_t call)
{
	const struct site *s = call_site(rt.native.syspatches, call);
	return s && s->syspatch ? &rt.native.syspatches->syspatch[s->syspatch - 1] : NULL;
}

bool
syspatch_serves(uint64_t call)
{
	return rt.native.syspatches && syspatch_of(call) != NULL;
}

/* rt.lock held. `before`: its number stands before the call. */
static bool
make(struct thread *t, const struct map *m, uint64_t call, bool before)
{
	struct syspatches *g = rt.native.syspatches;
	struct syspatch *k = &g->syspatch[g->n];
	if (g->n == MOST_SYSPATCHES || !syspatch_prepare(k, m, call, before))
		return false;
	os_make_all_wait(t);
	k->open = true;
	g->n++;
	if (!syspatch_lead_in(k)) {
		syspatch_put_back(k);
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
	struct syspatches *g = rt.native.syspatches;
	if (!g && !(rt.native.syspatches = g = rt_map_memory(sizeof *g)))
		return NULL;
	struct site *s = call_site(g, call);
	if (s || g->n_sites == MOST_SITES)
		return s;
	s = &g->sites[g->n_sites++];
	*s = (struct site){.call = call, .least = OFTEN};
	__atomic_store_n(site_number_at(g, call), (uint16_t)g->n_sites, __ATOMIC_RELEASE);
	return s;
}

/* The site's calls have become many. rt.lock held. */
static void
open_site(struct thread *t, struct site *s)
{
	enum { NEXT_BYTES = 32, CALL_SIGRETURN = 15 };
	const struct map *m = maps_find(s->call);
	/* Unwinders know a handler's return by its code. */
	s->refused = rt.native.no_syspatches || rt.writes_memory_file || !tools.has_rdfsbase ||
	             !is_plain(m) || m->end - s->call < NEXT_BYTES ||
	             t->regs.r[RAX] == CALL_SIGRETURN;
	bool before = !s->refused && syspatch_number_before(m, s->call);
	if (!s->refused && !before && s->least < VERY_OFTEN) {
		s->least = VERY_OFTEN;
		return;
	}
	s->refused = s->refused || !make(t, m, s->call, before);
	s->syspatch = s->refused ? 0 : (uint16_t)rt.native.syspatches->n;
}

bool
syspatch_note(struct thread *t, bool now)
{
	uint64_t call = t->regs.pc;
	struct site *s = rt.native.syspatches ? call_site(rt.native.syspatches, call) : NULL;
	if (s && (++s->times < s->least || s->refused || s->syspatch || !now))
		return !s->refused && !s->syspatch;
	if (!s && rt.native.syspatches && rt.native.syspatches->n_sites == MOST_SITES)
		return false;
	rt_lock(&rt.lock);
	s = learn_site(call);
	if (s && !s->syspatch && !s->refused && s->times >= s->least)
		open_site(t, s);
	bool few = s && !s->refused;
	rt_unlock(&rt.lock);
	return few;
}

/* The code is as it was. False: it cannot be changed, and the system-call patch stays. */
static bool
close_syspatch(struct syspatch *k)
{
	if (syspatch_leads_in(k) &&
	    !syspatch_put_back(k)) /* else somebody has changed it meanwhile */
		return false;
	k->open = false;
	call_site(rt.native.syspatches, k->call)->syspatch = 0;
	return true;
}

void
syspatches_hide(uint8_t *code, uint64_t start, uint64_t bytes)
{
	for (uint32_t i = 0; rt.native.syspatches && i < rt.native.syspatches->n; i++) {
		const struct syspatch *k = &rt.native.syspatches->syspatch[i];
		for (uint32_t j = 0; k->open && j < k->bytes; j++)
			if (k->site + j - start < bytes)
				code[k->site + j - start] = k->saved[j];
	}
}

/* Forgets the sites of unmapped code: other code may be mapped there later. */
static void
forget_sites(uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < rt.native.syspatches->n_sites; i++) {
		struct site *s = &rt.native.syspatches->sites[i];
		if (s->call < start || s->call >= end || s->syspatch)
			continue;
		s->times = 0;
		s->least = OFTEN;
		s->refused = false;
	}
}

void
syspatches_forget(struct thread *t, uint64_t start, uint64_t end)
{
	bool any = false;
	breakpoints_forget(t, start, end);
	/* Pages before have a copy of the beginning, and system-call patches after need one of the
	 * end. */
	start = start > SOURCE_BYTES ? start - SOURCE_BYTES : 0;
	end = end > ~8191ull ? end : ((end + 4095) & ~4095ull) + MAX_BLOCK_BYTES;
	if (!rt.native.syspatches || !maps_overlap(start, end)) /* most of what changes is data */
		return;
	for (uint32_t i = 0; i < rt.native.syspatches->n; i++) {
		struct syspatch *k = &rt.native.syspatches->syspatch[i];
		if (!k->open || k->site >= end || k->site + k->bytes <= start)
			continue;
		if (!any)
			os_make_all_wait(t);
		any = true;
		close_syspatch(k);
	}
	sources_drop(start, end);
	forget_sites(start, end);
}

void
syspatches_remove(void)
{
	breakpoints_remove();
	rt.native.no_syspatches = true;
	for (uint32_t i = 0; rt.native.syspatches && i < rt.native.syspatches->n; i++) {
		struct syspatch *k = &rt.native.syspatches->syspatch[i];
		if (k->open && !close_syspatch(k)) /* it does without the engine */
			rt_forget_memory((const void *)syspatch_area(k)->start);
	}
}
