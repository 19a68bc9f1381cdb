/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program's code as it was before system-call patches were made in it, or breakpoints set. */
#include "rt/native/breakpoints.h"
#include "rt/native/syspatches.h"

static struct source **
source_slot(uint64_t page)
{
	uint32_t h = (uint32_t)((page >> 12) * 0x9e3779b1u) >> 24;
	while (rt.native.syspatches->sources[h] && rt.native.syspatches->sources[h]->page != page)
		h = (h + 1) % SOURCE_SLOTS;
	return &rt.native.syspatches->sources[h];
}

const uint8_t *
program_source(uint64_t pc)
{
	uint64_t page = pc & ~4095ull;
	const uint8_t *own = rt.native.breakpoints ? breakpoints_source(pc) : NULL;
	if (own)
		return own;
	const struct source *s =
	        rt.native.syspatches && rt.native.syspatches->n ? *source_slot(page) : NULL;
	return s ? s->code + (pc - page) : (const uint8_t *)pc;
}

/* End of the code that is not written to, from the page on; 0: what follows it is written to. */
static uint64_t
plain_end(uint64_t page)
{
	uint64_t end = page;
	const struct map *m = maps_find(page);
	for (; is_plain(m) && end - page < SOURCE_BYTES; m = maps_find(end))
		end = m->end;
	return end - page >= SOURCE_BYTES || !m ? end : 0;
}

/* Keeps the page as it is, and as it was before the system-call patches in it and in what follows
 * it. */
static bool
keep_source(uint64_t page)
{
	struct source **slot = source_slot(page);
	if (*slot)
		return true;
	uint64_t end = plain_end(page), n = end - page < SOURCE_BYTES ? end - page : SOURCE_BYTES;
	if (rt.native.syspatches->n_sources == MOST_SOURCES || !end)
		return false;
	struct source *s = rt_map_memory(sizeof *s);
	if (!s)
		return false;
	const uint8_t *own = breakpoints_source(page);
	if (rt_copy_guarded(s->code, own ? own : (const void *)page, n)) {
		rt_unmap_memory(s, sizeof *s);
		return false;
	}
	s->page = page;
	syspatches_hide(s->code, page, n);
	__atomic_store_n(slot, s, __ATOMIC_RELEASE);
	rt.native.syspatches->n_sources++;
	return true;
}

/* A block may begin on the page before. */
bool
sources_keep(uint64_t start, uint64_t end)
{
	uint64_t from = (start - MAX_BLOCK_BYTES) & ~4095ull;
	const struct map *before = maps_find(from);
	if (before && !is_plain(before))
		return false;
	if (!before)
		from = start & ~4095ull;
	for (; from < end; from += 4096)
		if (!keep_source(from))
			return false;
	return true;
}

/* The slots stay taken: others lie after them. */
void
sources_drop(uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < SOURCE_SLOTS; i++) {
		struct source *s = rt.native.syspatches->sources[i];
		if (s && s->page >= start && s->page < end)
			s->page = 1;
	}
}
