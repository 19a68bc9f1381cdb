/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The functions that tools have in place of a C library. */
#include <asm/unistd.h>

#include "rt/cost.h"
#include "rt/program.h"
#include "rt/tool/tool.h"
#include "tools/cells.h"

/* Small pieces share a page; nothing is ever given back. */
static struct {
	char *at, *end;
	uint32_t lock;
} pool;

void *
strobe_allocate(size_t bytes)
{
	bytes = (bytes + 15) & ~15ull;
	if (bytes >= 1 << 16)
		return rt_map_memory(bytes);
	rt_lock(&pool.lock);
	if ((size_t)(pool.end - pool.at) < bytes) {
		pool.at = rt_map_memory(1 << 20);
		pool.end = pool.at ? pool.at + (1 << 20) : pool.at;
	}
	void *p = pool.at;
	if (p)
		pool.at += bytes;
	rt_unlock(&pool.lock);
	return p;
}

int
strobe_read(void *to, uint64_t from, size_t bytes)
{
	return rt_copy_guarded(to, (const void *)from, bytes);
}

uint64_t
strobe_ticks(void)
{
	return rt_tsc();
}

uint64_t
strobe_engine_ticks(const strobe_thread *t)
{
	rt.times_engine = true;
	return ((const struct thread *)t)->tools.engine_ticks;
}

void
strobe_lock(uint32_t *lock)
{
	rt_lock(lock);
}

void
strobe_unlock(uint32_t *lock)
{
	rt_unlock(lock);
}

/* ---- texts ---- */

static uint64_t
hash_text(const char *s)
{
	uint64_t h = 0xcbf29ce484222325ull;
	for (; *s; s++)
		h = (h ^ (uint8_t)*s) * 0x100000001b3ull;
	return h | 1;
}

static strobe_map texts;

/* By hash alone: two texts of one hash would be taken for one, once in 2^63. */
static uint32_t
text_find_or_add(const char *s)
{
	struct st_results_header *r = rt.results;
	uint64_t *known = strobe_map_at(&texts, hash_text(s));
	if (known && *known)
		return (uint32_t)*known;
	uint32_t at = r->strings.n, n = (uint32_t)strlen(s) + 1;
	if (at + n > ST_STRINGS_BYTES)
		return 0;
	memcpy((char *)r + r->layout.off_strings + at, s, n);
	__atomic_store_n(&r->strings.n, at + n, __ATOMIC_RELEASE);
	if (known)
		*known = at;
	return at;
}

void
texts_forget(void)
{
	map_clear(&texts);
	/* Another thread of the parent may have been allocating. */
	memset(&pool, 0, sizeof pool);
}

uint32_t
text_add(const char *s)
{
	tools_lock();
	uint32_t at = text_find_or_add(s);
	tools_unlock();
	return at;
}

uint64_t
strobe_text(const char *text)
{
	return text_add(text);
}

void
strobe_format_text(char *text, size_t space, const char *more)
{
	size_t n = strlen(text);
	while (*more && n + 1 < space)
		text[n++] = *more++;
	text[n] = 0;
}

static void
format_base(char *text, size_t space, uint64_t number, unsigned base)
{
	char digits[24];
	unsigned n = sizeof digits - 1;
	digits[n] = 0;
	do {
		digits[--n] = "0123456789abcdef"[number % base];
		number /= base;
	} while (number);
	strobe_format_text(text, space, digits + n);
}

void
strobe_format_number(char *text, size_t space, uint64_t number)
{
	format_base(text, space, number, 10);
}

void
strobe_format_hex(char *text, size_t space, uint64_t number)
{
	format_base(text, space, number, 16);
}

/* ---- options ---- */

const char *
strobe_option_text(const char *name)
{
	const struct active_tool *a = &tools.tool[tool_current()];
	size_t n = strlen(name);
	const char *given = (const char *)rt.results + rt.results->layout.off_strings + a->options;
	for (; a->options && *given; given += strlen(given) + 1)
		if (strlen(given) > n && memcmp(given, name, n) == 0 && given[n] == '=')
			return given + n + 1;
	for (unsigned i = 0; i < STROBE_MOST_OPTIONS && a->tool->options[i].name; i++) {
		const strobe_option *o = &a->tool->options[i];
		if (strlen(o->name) == n && memcmp(o->name, name, n) == 0)
			return o->value ? o->value : "";
	}
	return "";
}

uint64_t
strobe_option_number(const char *name)
{
	const char *s = strobe_option_text(name);
	uint64_t n = 0;
	for (; *s >= '0' && *s <= '9'; s++)
		n = n * 10 + (uint64_t)(*s - '0');
	switch (*s) {
	case 'k':
	case 'K':
		return n << 10;
	case 'm':
	case 'M':
		return n << 20;
	case 'g':
	case 'G':
		return n << 30;
	default:
		return n;
	}
}

/* ---- maps: open addressing, key and value side by side, half full at most ---- */

static uint64_t
spread_key(uint64_t key)
{
	key *= 0x9e3779b97f4a7c15ull;
	return key ^ key >> 29;
}

static uint64_t *
probe_map(uint64_t *slots, size_t size, uint64_t key)
{
	size_t h = spread_key(key) & (size - 1);
	while (slots[2 * h] && slots[2 * h] != key)
		h = (h + 1) & (size - 1);
	return slots + 2 * h;
}

static bool
grow_map(strobe_map *m)
{
	enum { LARGE = 64 << 10, POPULATE_WRITE = 23 };
	size_t size = m->size ? 2 * m->size : 256;
	size_t bytes = 2 * size * sizeof(uint64_t);
	uint64_t *slots = rt_map_memory(bytes);
	if (!slots)
		return false;
	if (bytes >= LARGE)
		SYS(__NR_madvise, slots, bytes, POPULATE_WRITE);
	for (size_t i = 0; i < m->size; i++)
		if (m->slots[2 * i]) {
			uint64_t *slot = probe_map(slots, size, m->slots[2 * i]);
			slot[0] = m->slots[2 * i];
			slot[1] = m->slots[2 * i + 1];
		}
	if (m->slots)
		rt_unmap_memory(m->slots, 2 * m->size * sizeof(uint64_t));
	m->slots = slots;
	m->size = size;
	return true;
}

uint64_t *
strobe_map_at(strobe_map *m, uint64_t key)
{
	if (budget_lets_grow(m->used, m->size / 2, m->size) && !grow_map(m))
		return NULL;
	uint64_t *slot = probe_map(m->slots, m->size, key);
	if (!slot[0]) {
		slot[0] = key;
		m->used++;
	}
	return slot + 1;
}

uint64_t *
strobe_map_find(const strobe_map *m, uint64_t key)
{
	if (!m->size)
		return NULL;
	uint64_t *slot = probe_map(m->slots, m->size, key);
	return slot[0] ? slot + 1 : NULL;
}

/* Those after it move up, so that no search ends too early. */
void
strobe_map_remove(strobe_map *m, uint64_t key)
{
	uint64_t *slot = strobe_map_find(m, key);
	if (!slot)
		return;
	size_t mask = m->size - 1, hole = (size_t)(slot - 1 - m->slots) / 2;
	m->used--;
	for (size_t i = (hole + 1) & mask; m->slots[2 * i]; i = (i + 1) & mask) {
		size_t home = spread_key(m->slots[2 * i]) & mask;
		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		m->slots[2 * hole] = m->slots[2 * i];
		m->slots[2 * hole + 1] = m->slots[2 * i + 1];
		hole = i;
	}
	m->slots[2 * hole] = 0;
	m->slots[2 * hole + 1] = 0;
}

void
map_clear(strobe_map *m)
{
	if (m->slots)
		rt_unmap_memory(m->slots, 2 * m->size * sizeof(uint64_t));
	*m = (strobe_map){0};
}
