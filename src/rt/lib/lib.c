/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory for the runtime. */
#include <asm/unistd.h>
#include <linux/mman.h>
#include <stdbool.h>

#include "rt/lib/sys.h"
#include "wire/area.h"
#include "wire/control.h"

bool rt_tsc_forbidden;

/* All that was mapped here, for the day on which the process is left: two pieces a thread, and some
 * tables. What finds no place stays. */
static struct st_memory_list memory;
static uint64_t lowest = ~0ull, highest; /* all of it lies between */

struct st_memory_list *
rt_memory_list(void)
{
	return &memory;
}

void
rt_note_memory(uint64_t at, uint64_t bytes)
{
	uint64_t i = __atomic_fetch_add(&memory.n, 1, __ATOMIC_RELAXED);
	if (i < ST_MOST_MEMORY)
		memory.v[i] = (struct st_memory){.at = at, .bytes = bytes};
	if (at < lowest)
		lowest = at;
	if (at + bytes > highest)
		highest = at + bytes;
}

bool
rt_first_memory(uint64_t start, uint64_t end, uint64_t *from, uint64_t *to)
{
	bool found = false;
	if (start >= highest || end <= lowest)
		return false;
	for (uint64_t i = 0; i < memory.n && i < ST_MOST_MEMORY; i++) {
		uint64_t at = memory.v[i].at, after = (at + memory.v[i].bytes + 4095) & ~4095ull;
		if (!at || at >= end || after <= start || (found && at >= *from))
			continue;
		*from = at;
		*to = after;
		found = true;
	}
	return found;
}

static struct st_memory *
find_memory(const void *p)
{
	for (uint64_t i = 0; i < memory.n && i < ST_MOST_MEMORY; i++)
		if (memory.v[i].at == (uint64_t)p)
			return &memory.v[i];
	return NULL;
}

void
rt_keep_memory(const void *p, uint64_t bytes)
{
	struct st_memory *m = find_memory(p);
	if (!m)
		return;
	m->kept = 1;
	m->bytes = bytes;
}

void
rt_forget_memory(const void *p)
{
	struct st_memory *m = find_memory(p);
	if (m)
		m->at = 0;
}

void
rt_unmap_memory(void *p, size_t bytes)
{
	int64_t counted = (int64_t)((bytes + 4095) & ~4095ull);
	rt_forget_memory(p);
	SYS(__NR_munmap, p, bytes);
	rt_count_memory(-counted, -counted);
}

void
rt_unmap_all(void)
{
	for (uint64_t i = 0; i < memory.n && i < ST_MOST_MEMORY; i++) {
		struct st_memory *m = &memory.v[i];
		if (!m->at || m->kept)
			continue;
		SYS(__NR_munmap, m->at, m->bytes);
		m->at = 0;
	}
}

/* Away from the program's memory: not in a hole that it may fill, or jump to. */
void *
rt_map_memory(size_t bytes)
{
	uint64_t size = (bytes + 4095) & ~4095ull;
	uint64_t at =
	        ST_TABLES_LATER + __atomic_fetch_add(&rt_memory.used, size, __ATOMIC_RELAXED) %
	                                  (ST_TABLES_END - ST_TABLES_LATER);
	int64_t counted = (int64_t)size;
	/* The program's limit is not ours: it is raised before. */
	rt_count_memory(counted, counted);
	limits_adjust(0);
	long p = SYS(__NR_mmap, at, bytes, PROT_READ | PROT_WRITE,
	             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sys_failed(p)) {
		rt_count_memory(-counted, -counted);
		limits_adjust(0);
		return NULL;
	}
	rt_note_memory((uint64_t)p, bytes);
	SYS(__NR_madvise, p, bytes, 16 /* MADV_DONTDUMP: a core dump shows the program */);
	return (void *)p;
}

void
rt_clear_memory(void *p, size_t bytes)
{
	size_t whole = (bytes + 4095) & ~4095ull;
	if (SYS(__NR_madvise, p, whole, 4 /* MADV_DONTNEED */) != 0) /* it is locked, say */
		memset(p, 0, whole);
}

void
rt_decimal(char *out, uint32_t number)
{
	char digits[12];
	unsigned n = 0;
	do {
		digits[n++] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	while (n)
		*out++ = digits[--n];
	*out = 0;
}

void
rt_complain(const char *text, uint64_t number)
{
	char line[160] = "strobe: ";
	size_t at = 8;
	for (size_t i = 0; text[i] && at < 120; i++)
		line[at++] = text[i];
	line[at++] = ' ';
	for (int shift = 60; shift >= 0; shift -= 4)
		line[at++] = "0123456789abcdef"[(number >> shift) & 15];
	line[at++] = '\n';
	SYS(__NR_write, 2, line, at);
}

uint64_t
cpu_time(void)
{
	uint64_t now[2] = {0, 0};
	SYS(__NR_clock_gettime, 3 /* CLOCK_THREAD_CPUTIME_ID */, now);
	return now[0] * 1000000000u + now[1];
}
