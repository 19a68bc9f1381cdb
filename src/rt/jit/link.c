/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Linking exits to blocks, and dropping blocks whose code changed. */
#include "rt/jit/jit.h"
#include "rt/maps.h"

/* One aligned-or-within-a-line store: another thread sees the old target or the new one. */
static void
patch_exit(uint32_t site, uint32_t to)
{
	uint32_t rel = to - (site + 4);
	__atomic_store_n((uint32_t *)cache_write(site), rel, __ATOMIC_RELAXED);
}

static uint32_t
link_target(uint32_t site)
{
	uint32_t rel;
	memcpy(&rel, cache_write(site), 4);
	return site + 4 + rel;
}

bool
jit_is_unlinked(uint32_t exit)
{
	uint32_t site = jit.exits[exit].site;
	return site && link_target(site) == jit_stub(exit);
}

void
jit_lead(uint32_t exit, uint32_t to)
{
	patch_exit(jit.exits[exit].site, to);
	rt_stat(ST_STAT_links, 1);
}

void
jit_link(uint32_t exit, uint32_t block)
{
	struct exit *x = &jit.exits[exit];
	struct block *b = &jit.blocks[block];
	if (!jit_is_unlinked(exit))
		return;
	x->next = b->incoming;
	b->incoming = exit + 1;
	jit_lead(exit, b->body);
}

static void
unlink_incoming(struct block *b)
{
	for (uint32_t i = b->incoming; i;) {
		uint32_t exit = i - 1;
		struct exit *x = &jit.exits[exit];
		i = x->next;
		x->next = 0;
		if (x->site)
			patch_exit(x->site, jit_stub(exit));
	}
	b->incoming = 0;
}

/* Pages: a chain of blocks per page of program code. */

static uint32_t *
page_slot(uint64_t pc)
{
	uint32_t page = (uint32_t)(pc >> 12);
	/* Neighbours side by side: a table page serves two MiB of code. */
	uint32_t h = page & (N_PAGE_SLOTS - 1);
	for (;; h = (h + 1) & (N_PAGE_SLOTS - 1)) {
		uint32_t *slot = jit.pages + 2 * (size_t)h;
		if (slot[0] == page && slot[1])
			return slot + 1;
		if (!slot[1]) {
			if (jit.n_pages * 2 > N_PAGE_SLOTS)
				return NULL;
			slot[0] = page;
			return slot + 1;
		}
	}
}

void
jit_page_add(uint32_t block)
{
	uint32_t *first = page_slot(jit.blocks[block].pc);
	if (!first)
		return;
	if (!*first)
		jit.n_pages++;
	jit.blocks[block].next_in_page = *first;
	*first = block + 1;
}

/* Makes the block unreachable, for good or (keep) for now. */
static void
drop(uint32_t index, bool keep)
{
	struct block *b = &jit.blocks[index];
	bool valid = b->flags & BLOCK_VALID;
	b->flags &= (uint8_t) ~(BLOCK_VALID | BLOCK_SUSPENDED);
	if (!valid)
		return;
	if (keep)
		b->flags |= BLOCK_SUSPENDED;
	unlink_incoming(b);
	if (b->pad)
		jit_lookup_clear(b->version, b->pc, b->pad);
	/* Each translation of a call makes a landing: left there, they would pile up. */
	if (b->landing)
		jit_lookup_clear(b->version, block_end(b), b->body + b->landing);
	rt_stat(ST_STAT_invalidations, !keep);
}

/* A superblock: blocks that stand and fall together because control falls from one into the next.
 */
static void
unit_of(uint32_t index, uint32_t *first, uint32_t *last)
{
	*first = *last = index;
	while (jit.blocks[*first].flags & BLOCK_JOINED)
		--*first;
	while (*last + 1 < jit.n_blocks && (jit.blocks[*last + 1].flags & BLOCK_JOINED))
		++*last;
}

static void
drop_superblock(uint32_t index, bool keep)
{
	uint32_t first, last;
	unit_of(index, &first, &last);
	for (uint32_t i = first; i <= last; i++)
		drop(i, keep);
}

void
jit_drop(uint32_t block)
{
	drop_superblock(block, false);
}

static bool
unchanged(uint32_t index)
{
	const struct block *b = &jit.blocks[index];
	if (!maps_find(b->pc))
		return false;
	if (SEEDED(16))
		return true;
	return (b->flags & BLOCK_WRITABLE) && jit_same_source(index);
}

static void
revalidate_superblock(uint32_t index)
{
	uint32_t first, last;
	unit_of(index, &first, &last);
	for (uint32_t i = first; i <= last; i++)
		if (!unchanged(i)) {
			drop_superblock(index, false);
			return;
		}
	for (uint32_t i = first; i <= last; i++) {
		struct block *b = &jit.blocks[i];
		if (!(b->flags & BLOCK_SUSPENDED))
			continue;
		b->flags = (uint8_t)((b->flags & ~BLOCK_SUSPENDED) | BLOCK_VALID);
		if (b->pad)
			jit_lookup_set(b->version, b->pc, b->pad);
		if (b->landing)
			jit_lookup_set(b->version, block_end(b), b->body + b->landing);
	}
}

enum sweep { SWEEP_DROP, SWEEP_SUSPEND, SWEEP_VERIFY };

static void
sweep_block(uint32_t index, uint64_t start, uint64_t end, enum sweep what)
{
	const struct block *b = &jit.blocks[index];
	if (!(b->flags & (BLOCK_VALID | BLOCK_SUSPENDED)) || b->pc >= end ||
	    b->pc + block_extent(b) <= start)
		return;
	if (what == SWEEP_VERIFY)
		revalidate_superblock(index);
	else
		drop_superblock(index, what == SWEEP_SUSPEND);
}

/*
 * Sweeps a chain, and takes those out of it that are dropped. The last stays: an empty slot ends
 * page_slot's search.
 */
static void
sweep_page(uint32_t *link, uint64_t start, uint64_t end, enum sweep what)
{
	while (link && *link) {
		struct block *b = &jit.blocks[*link - 1];
		sweep_block(*link - 1, start, end, what);
		if ((b->flags & (BLOCK_VALID | BLOCK_SUSPENDED)) || !b->next_in_page)
			link = &b->next_in_page;
		else
			*link = b->next_in_page;
	}
}

static void
sweep(uint64_t start, uint64_t end, enum sweep what)
{
	uint64_t first = start >> 12, last = (end - 1) >> 12;
	if (first)
		first--;
	if (last - first > jit.n_blocks) {
		for (uint32_t i = 1; i < jit.n_blocks; i++)
			sweep_block(i, start, end, what);
		return;
	}
	for (uint64_t page = first; page <= last; page++)
		sweep_page(page_slot(page << 12), start, end, what);
}

void
jit_invalidate(uint64_t start, uint64_t end)
{
	sweep(start, end, SWEEP_DROP);
}

void
jit_suspend(uint64_t start, uint64_t end)
{
	sweep(start, end, SWEEP_SUSPEND);
}

void
jit_revalidate(uint64_t start, uint64_t end)
{
	sweep(start, end, SWEEP_VERIFY);
}

void
jit_check_all(void)
{
	for (uint32_t i = 1; i < jit.n_blocks; i++)
		if (jit.blocks[i].flags & BLOCK_VALID)
			revalidate_superblock(i);
}

bool
jit_has_code(uint64_t start, uint64_t end)
{
	if ((end - start) >> 12 > jit.n_blocks) {
		for (uint32_t i = 1; i < jit.n_blocks; i++)
			if ((jit.blocks[i].flags & BLOCK_VALID) &&
			    jit.blocks[i].pc - start < end - start)
				return true;
		return false;
	}
	for (uint64_t page = start >> 12; page <= (end - 1) >> 12; page++) {
		uint32_t *slot = page_slot(page << 12);
		for (uint32_t i = slot ? *slot : 0; i; i = jit.blocks[i - 1].next_in_page)
			if (jit.blocks[i - 1].flags & BLOCK_VALID)
				return true;
	}
	return false;
}
