/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Write protection of pages that hold translated code in writable memory. */
#include <asm/unistd.h>
#include <linux/mman.h>

#include "rt/jit/jit.h"
#include "rt/os/maps.h"

enum {
	N_PAGES = 1 << 16,
	MANY_WRITES = 40, /* a page written so often is left writable and its code checked at each
	                     execution */
};

struct page {
	uint64_t address; /* 0: free */
	uint8_t armed;    /* write-protected by us */
	uint8_t writes;
};

static struct page *table;
static uint32_t n_armed, n_used;

static struct page *
find(uint64_t address, bool make)
{
	address &= ~4095ull;
	if (!table && (!make || !(table = rt_map_memory(N_PAGES * sizeof *table))))
		return NULL;
	uint32_t h = (uint32_t)((address >> 12) * 0x9e3779b1u) >> 16;
	for (uint32_t i = 0; i < N_PAGES; i++, h = (h + 1) & (N_PAGES - 1)) {
		if (table[h].address == address)
			return &table[h];
		if (table[h].address)
			continue;
		if (!make || n_used > N_PAGES / 4 * 3)
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
pages_checked(uint64_t address)
{
	const struct page *p = find(address, false);
	const struct page *q = find(address + MAX_BLOCK_BYTES, false);
	return (p && p->writes >= MANY_WRITES) || (q && q->writes >= MANY_WRITES);
}

void
pages_check_from_now(uint64_t address)
{
	struct page *p = find(address, true);
	if (p)
		p->writes = MANY_WRITES;
}

static void
set_writable(uint64_t page, bool writable)
{
	SYS(__NR_mprotect, page, 4096, PROT_READ | PROT_EXEC | (writable ? PROT_WRITE : 0));
}

void
pages_protect(uint64_t start, uint64_t end)
{
	for (uint64_t a = start & ~4095ull; a < end; a += 4096) {
		const struct map *m = maps_find(a);
		struct page *p = m && m->writable ? find(a, true) : NULL;
		if (!p || p->armed)
			continue;
		p->armed = 1;
		n_armed++;
		set_writable(a, false);
	}
}

static void
open_page(struct page *p)
{
	p->armed = 0;
	n_armed--;
	jit_invalidate(p->address, p->address + 4096);
	set_writable(p->address, true);
}

bool
pages_written(uint64_t address)
{
	struct page *p = find(address, false);
	if (!p)
		return false;
	if (!p->armed) {
		/* Another thread's write opened it just now. */
		const struct map *m = maps_find(address);
		return m && m->writable;
	}
	rt_stat(ST_STAT_smc_faults, 1);
	if (p->writes < 255)
		p->writes++;
	open_page(p);
	return true;
}

void
pages_open(uint64_t start, uint64_t end)
{
	if (!n_armed)
		return;
	if (end - start > N_PAGES * 4096ull) {
		for (uint32_t i = 0; i < N_PAGES; i++)
			if (table[i].armed && table[i].address < end &&
			    table[i].address + 4096 > start)
				open_page(&table[i]);
		return;
	}
	for (uint64_t a = start & ~4095ull; a < end; a += 4096) {
		struct page *p = find(a, false);
		if (p && p->armed)
			open_page(p);
	}
}

void
pages_release(void)
{
	for (uint32_t i = 0; table && n_armed && i < N_PAGES; i++)
		if (table[i].armed) {
			table[i].armed = 0;
			n_armed--;
			set_writable(table[i].address, true);
		}
}

void
pages_forget(uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; table && n_armed && i < N_PAGES; i++)
		if (table[i].armed && table[i].address >= start && table[i].address < end) {
			table[i].armed = 0;
			n_armed--;
		}
}
