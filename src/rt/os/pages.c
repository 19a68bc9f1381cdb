/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Write protection of pages that hold translated code in writable memory. It can fail: memory may
 * be sealed, and each protected page amid writable ones makes two mappings more, of which the
 * kernel allows a process a number. What cannot be protected is compared before each execution.
 */
#include <asm/unistd.h>
#include <linux/mman.h>

#include "rt/jit/jit.h"
#include "rt/maps.h"

enum {
	PAGE_BITS = 16,
	N_PAGES = 1 << PAGE_BITS,
	MOST_USED = N_PAGES / 4 * 3,
	MANY_WRITES = 40, /* a page written so often is left writable and its code checked at each
	                     execution */
	/* Mappings that protection may add: a quarter of what the kernel allows by default. The
	   rest is the program's. */
	MOST_SPLITS = 16000,
	/* Pages that one translation may protect after it has been asked whether there is space. */
	MARGIN = 1024,
	E_NOMEM = 12,
};

struct page {
	uint64_t address; /* 0: free */
	uint8_t armed;    /* write-protected by us */
	uint8_t writes;
};

static struct page *table;
static uint32_t n_armed, n_used;
static int32_t n_splits; /* mappings that protection has added */

static struct page *
find_page(uint64_t address, bool make)
{
	address &= ~4095ull;
	if (!table && (!make || !(table = rt_map_memory(N_PAGES * sizeof *table))))
		return NULL;
	uint32_t h = (uint32_t)((address >> 12) * 0x9e3779b1u) >> (32 - PAGE_BITS);
	for (uint32_t i = 0; i < N_PAGES; i++, h = (h + 1) & (N_PAGES - 1)) {
		if (table[h].address == address)
			return &table[h];
		if (table[h].address)
			continue;
		if (!make || n_used > MOST_USED)
			return NULL;
		table[h].address = address;
		n_used++;
		return &table[h];
	}
	return NULL;
}

bool
pages_any(void)
{
	return n_armed != 0;
}

bool
pages_any_splits(void)
{
	return n_splits > 0;
}

bool
pages_have_space(void)
{
	return n_used < MOST_USED - MARGIN && n_splits < MOST_SPLITS;
}

bool
pages_armed(uint64_t address)
{
	const struct page *p = find_page(address, false);
	return p && p->armed;
}

static void
set_armed(struct page *p, bool armed)
{
	if (p->armed == armed)
		return;
	p->armed = armed;
	n_armed += armed ? 1u : -1u;
	/* Protected neighbours are one mapping with it. */
	int32_t splits =
	        2 - 2 * pages_armed(p->address - 4096) - 2 * pages_armed(p->address + 4096);
	n_splits += armed ? splits : -splits;
}

/* What is 0, or -errno. */
static long
set_writable(uint64_t start, uint64_t end, bool writable)
{
	return SYS(__NR_mprotect, start, end - start,
	           PROT_READ | PROT_EXEC | (writable ? PROT_WRITE : 0));
}

bool
pages_guard(uint64_t address)
{
	const struct map *m = maps_find(address);
	if (!m || (!m->writable && !m->shared))
		return true;
	struct page *p = m->shared ? NULL : find_page(address, true);
	if (!p || p->writes >= MANY_WRITES)
		return false;
	if (p->armed)
		return true;
	if (set_writable(p->address, p->address + 4096, false) != 0) {
		p->writes = MANY_WRITES;
		return false;
	}
	set_armed(p, true);
	return true;
}

void
pages_check_from_now(uint64_t address)
{
	struct page *p = find_page(address, true);
	if (p)
		p->writes = MANY_WRITES;
}

/* Opens all that is protected, a mapping at a time: so that there are never more of them. Where
 * that does not succeed, page by page. */
static void
open_all(void)
{
	const struct map *m;
	for (uint64_t at = 0; (m = maps_from(at)); at = m->end)
		if (m->writable && !m->shared && set_writable(m->start, m->end, true) != 0)
			for (uint32_t i = 0; i < N_PAGES; i++)
				if (table[i].armed &&
				    table[i].address - m->start < m->end - m->start)
					(void)set_writable(table[i].address,
					                   table[i].address + 4096, true);
}

void
pages_release(void)
{
	if (!table)
		return;
	if (n_armed)
		open_all();
	rt_clear_memory(table, N_PAGES * sizeof *table);
	n_armed = n_used = 0;
	n_splits = 0;
}

/* Drops what was translated from the page. */
static void
drop_page(struct page *p)
{
	set_armed(p, false);
	jit_invalidate(p->address, p->address + 4096);
}

/* False when the kernel does not let it be written again. */
static bool
open_page(struct page *p)
{
	uint64_t at = p->address;
	drop_page(p);
	if (p->writes < 255)
		p->writes++;
	long ret = set_writable(at, at + 4096, true);
	if (ret != -E_NOMEM)
		return ret == 0;
	/* There are as many mappings as there may be. */
	for (uint32_t i = 0; i < N_PAGES; i++)
		if (table[i].armed)
			drop_page(&table[i]);
	open_all();
	return set_writable(at, at + 4096, true) == 0;
}

bool
pages_written(uint64_t address)
{
	struct page *p = find_page(address, false);
	const struct map *m = maps_find(address);
	if (p && p->armed) {
		rt_stat(ST_STAT_smc_faults, 1);
		return open_page(p);
	}
	/* Another thread has opened it just now. */
	address &= ~4095ull;
	return table && m && m->writable && set_writable(address, address + 4096, true) == 0;
}

/* Calls f for every protected page in [start, end). */
static void
for_each_armed(uint64_t start, uint64_t end, void (*f)(struct page *p))
{
	if (!n_armed)
		return;
	if (end - start > n_used * 4096ull) {
		for (uint32_t i = 0; i < N_PAGES; i++)
			if (table[i].armed && table[i].address < end &&
			    table[i].address + 4096 > start)
				f(&table[i]);
		return;
	}
	for (uint64_t a = start & ~4095ull; a < end; a += 4096) {
		struct page *p = find_page(a, false);
		if (p && p->armed)
			f(p);
	}
}

static void
open_one(struct page *p)
{
	(void)open_page(p);
}

void
pages_open(uint64_t start, uint64_t end)
{
	for_each_armed(start, end, open_one);
}

bool
pages_used(void)
{
	return table != NULL;
}

void
pages_leave(uint64_t start, uint64_t end)
{
	const struct map *m;
	for (uint64_t a = start & ~4095ull; a < end && (m = maps_from(a)) && m->start < end;
	     a = m->end) {
		uint64_t from = a > m->start ? a : m->start, to = end < m->end ? end : m->end;
		for (; m->writable && !m->shared && from < to; from += 4096) {
			struct page *p = find_page(from, true);
			if (!p)
				break;
			if (p->armed)
				(void)open_page(p);
			p->writes = MANY_WRITES;
		}
	}
}

void
pages_drop(uint64_t start, uint64_t end)
{
	for_each_armed(start, end, drop_page);
}

static void
forget_one(struct page *p)
{
	set_armed(p, false);
}

void
pages_forget(uint64_t start, uint64_t end)
{
	for_each_armed(start, end, forget_one);
}
