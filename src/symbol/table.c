/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Making one table without overlaps out of candidates that alias, nest, have no size or lie about
 * it. */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "symbol/internal.h"

static size_t
underscores(const char *name)
{
	size_t n = 0;
	while (name[n] == '_')
		n++;
	return n;
}

/* An older version of a symbol, kept for old programs: name@VERSION, where the current one is
 * name@@VERSION. */
static bool
is_old_version(const char *name)
{
	const char *at = strchr(name, '@');
	return at && at[1] != '@';
}

#define FIRST_IF(x, y)                                                                             \
	do {                                                                                       \
		if ((x) != (y))                                                                    \
			return (x) ? -1 : 1;                                                       \
	} while (0)

#define SMALLER_FIRST(x, y)                                                                        \
	do {                                                                                       \
		if ((x) != (y))                                                                    \
			return (x) < (y) ? -1 : 1;                                                 \
	} while (0)

/* At one address the candidate that should give the name comes first, always the same one. */
static int
by_preference(const struct sym_candidate *x, const struct sym_candidate *y)
{
	FIRST_IF(x->rank != SYM_LABEL, y->rank != SYM_LABEL);
	FIRST_IF(x->size > 0, y->size > 0);
	SMALLER_FIRST(x->rank == SYM_LOCAL, y->rank == SYM_LOCAL);
	/* Before strong and weak: it is the weak name of a C library function that people know. */
	SMALLER_FIRST(underscores(x->name), underscores(y->name));
	SMALLER_FIRST(x->rank, y->rank);
	SMALLER_FIRST(y->size, x->size);
	SMALLER_FIRST(is_old_version(x->name), is_old_version(y->name));
	SMALLER_FIRST(strlen(x->name), strlen(y->name));
	int order = strcmp(x->name, y->name);
	if (order)
		return order;
	SMALLER_FIRST(x->source, y->source);
	return 0;
}

/* The candidates' indices in their list, by where they start; NULL when there are none. What is
 * sorted is these: the candidates are three times as long, and most are asked for nothing else. */
static struct st_keyed *
table_by_start(const struct sym_candidates *list)
{
	struct st_keyed *keys = list->n ? calloc(list->n, sizeof *keys) : NULL;
	for (size_t i = 0; keys && i < list->n; i++)
		keys[i] = (struct st_keyed){list->v[i].start, i};
	if (keys && st_order_keys(keys, list->n) == 0)
		return keys;
	free(keys);
	return NULL;
}

static int
by_name(const void *a, const void *b)
{
	const struct sym_alias *x = a, *y = b;
	return strcmp(x->raw_name, y->raw_name);
}

/* Without a version, a name may be one that is there already. */
static bool
same_but_version(const char *a, const char *b)
{
	size_t n = strcspn(a, "@");
	return n == strcspn(b, "@") && !memcmp(a, b, n);
}

/* Keeps the names of the n candidates at one address that have not given the function its own. A
 * name more or less is no reason to do without the table. */
static void
keep_others(struct sym_aliases *list, const struct sym_candidates *candidates,
            const struct st_keyed *keys, size_t n, const struct st_function *f)
{
	size_t first = list->n, kept = first;
	for (size_t i = 0; i < n; i++) {
		const char *name = candidates->v[keys[i].value].name;
		if (same_but_version(name, f->raw_name))
			continue;
		struct sym_alias *v = sym_grow(list->v, list->n, &list->room, sizeof *v);
		if (!v)
			break;
		list->v = v;
		v[list->n++] = (struct sym_alias){.start = f->offset, .raw_name = name};
	}
	if (list->n - first > 1)
		qsort(list->v + first, list->n - first, sizeof *list->v, by_name);
	for (size_t i = first; i < list->n; i++)
		if (kept == first ||
		    !same_but_version(list->v[kept - 1].raw_name, list->v[i].raw_name))
			list->v[kept++] = list->v[i];
	list->n = kept;
}

/* The function of the n candidates at one address. */
static struct st_function
table_choose(const struct sym_candidates *list, const struct st_keyed *keys, size_t n)
{
	const struct sym_candidate *best = &list->v[keys[0].value];
	uint64_t size = 0;
	for (size_t i = 0; i < n; i++) {
		const struct sym_candidate *c = &list->v[keys[i].value];
		if (c->rank != SYM_LABEL && c->size > size)
			size = c->size;
		if (c != best && by_preference(c, best) < 0)
			best = c;
	}
	return (struct st_function){
	        .offset = best->start,
	        .size = size > best->size ? size : best->size,
	        .raw_name = best->name,
	        .source = best->source,
	        .whole = best->whole,
	};
}

void
sym_table_choose(struct sym_functions *table, const struct sym_candidates *list)
{
	struct st_keyed *keys = table_by_start(list);
	table->n = table->aliases.n = 0;
	table->v = keys ? calloc(list->n, sizeof *table->v) : NULL;
	for (size_t i = 0, end; table->v && i < list->n; i = end) {
		if (i + 32 < list->n)
			__builtin_prefetch(&list->v[keys[i + 32].value]);
		if (i + 16 < list->n)
			__builtin_prefetch(list->v[keys[i + 16].value].name);
		for (end = i + 1; end < list->n && keys[end].key == keys[i].key;)
			end++;
		struct st_function *f = &table->v[table->n++];
		*f = table_choose(list, keys + i, end - i);
		if (end - i > 1)
			keep_others(&table->aliases, list, keys + i, end - i, f);
	}
	free(keys);
}

static uint64_t
smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Returns the latest end of a function without a size: that of its unwind information, or the
 * beginning of the next function's. */
static uint64_t
frame_limit(const struct sym_ranges *frames, uint64_t start)
{
	const struct sym_range *own = sym_ranges_find(frames, start);
	if (own)
		return own->end;
	const struct sym_range *next = sym_ranges_after(frames, start);
	return next ? next->start : UINT64_MAX;
}

/* Where f ends, when what follows starts at next. */
static uint64_t
table_end_of(const struct st_function *f, uint64_t next, const struct sym_ranges *frames,
             const struct sym_ranges *code)
{
	const struct sym_range *section = sym_ranges_find(code, f->offset);
	uint64_t limit = section ? smaller(section->end, next) : f->offset;
	if (!f->size)
		return smaller(limit, frame_limit(frames, f->offset));
	return f->size < limit - f->offset ? f->offset + f->size : limit;
}

/*
 * A symbol inside another function, with a size or without, starts a function of its own that goes
 * on up to the next symbol or to the end of the outer one: a function is one range, so the outer
 * one cannot go on behind the inner one.
 */
void
sym_table_settle(struct sym_functions *table, const struct sym_ranges *frames,
                 const struct sym_ranges *code)
{
	uint64_t outer = 0;
	for (size_t i = 0; i < table->n; i++) {
		struct st_function *f = &table->v[i];
		uint64_t next = i + 1 < table->n ? table->v[i + 1].offset : UINT64_MAX;
		uint64_t whole = table_end_of(f, UINT64_MAX, frames, code);
		/* Without a size of its own it ends with the function around it. */
		if (whole < outer || (!f->size && outer > f->offset))
			whole = outer;
		if (whole > outer)
			outer = whole;
		f->size = smaller(whole, next) - f->offset;
	}
}

/* Takes over f, cut to what is free between covered and next; returns the new end of what is
 * covered. */
static uint64_t
table_take(struct sym_functions *table, const struct st_function *f, uint64_t next,
           uint64_t covered, const struct sym_ranges *frames, const struct sym_ranges *code)
{
	if (f->offset < covered || f->offset >= next)
		return covered;
	uint64_t end = table_end_of(f, next, frames, code);
	if (end <= f->offset)
		return covered;
	table->v[table->n] = *f;
	table->v[table->n++].size = end - f->offset;
	return end;
}

void
sym_table_fill(struct sym_functions *table, const struct sym_candidates *list,
               const struct sym_ranges *frames, const struct sym_ranges *code)
{
	struct sym_functions fill = {0}, merged = {.aliases = table->aliases};
	sym_table_choose(&fill, list);
	if (fill.n)
		merged.v = calloc(table->n + fill.n, sizeof *merged.v);
	if (!merged.v) {
		sym_table_free(&fill);
		return;
	}
	uint64_t covered = 0;
	for (size_t i = 0, j = 0; i < table->n || j < fill.n;) {
		uint64_t old = i < table->n ? table->v[i].offset : UINT64_MAX;
		if (j == fill.n || old <= fill.v[j].offset) {
			merged.v[merged.n++] = table->v[i];
			covered = old + table->v[i++].size;
			continue;
		}
		uint64_t next = j + 1 < fill.n ? fill.v[j + 1].offset : UINT64_MAX;
		covered = table_take(&merged, &fill.v[j++], smaller(old, next), covered, frames,
		                     code);
	}
	sym_table_free(&fill);
	free(table->v);
	*table = merged;
}

void
sym_table_free(struct sym_functions *table)
{
	free(table->v);
	free(table->aliases.v);
	*table = (struct sym_functions){0};
}

struct st_function *
sym_table_find(const struct sym_functions *table, uint64_t address)
{
	size_t low = 0, high = table->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (table->v[middle].offset <= address)
			low = middle + 1;
		else
			high = middle;
	}
	struct st_function *f = low ? &table->v[low - 1] : NULL;
	return f && address - f->offset < f->size ? f : NULL;
}
