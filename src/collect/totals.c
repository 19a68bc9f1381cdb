/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adds blocks and tallies to counters and tables. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

#include "collect/view.h"

/* Pages that are asked about at once. */
enum { PAGE = 4096, SPAN_PAGES = 1024 };

/* Whether a page that is not in memory has never been written to: not when it may be in swap. */
static bool
absent_is_empty(void)
{
	struct sysinfo info;
	return sysinfo(&info) == 0 && info.totalswap == info.freeswap;
}

/* Adds the counters from first to end, of which the pages exist or may exist. */
static void
add_pages(const uint64_t *counts, uint32_t first, uint32_t end, uint64_t *sum)
{
	const uintptr_t from = (uintptr_t)&counts[first] & ~(uintptr_t)(PAGE - 1);
	const uintptr_t to = (uintptr_t)&counts[end];
	unsigned char present[SPAN_PAGES + 1];
	bool known = mincore((void *)from, to - from, present) == 0;
	for (uint32_t b = first; b < end;) {
		const uintptr_t offset = (uintptr_t)&counts[b] - from;
		uint32_t next =
		        b + (uint32_t)((PAGE - offset % PAGE + sizeof *sum - 1) / sizeof *sum);
		next = next < end ? next : end;
		if (!known || present[offset / PAGE] & 1)
			for (uint32_t i = b; i < next; i++)
				sum[i] += counts[i];
		b = next;
	}
}

/*
 * The memory has room for each block in each of thousands of slots, and nearly all of it has never
 * been written to. To read it would make it: a program that writes large numbers into its results
 * could have strobe read, and so fill, a hundred gigabytes.
 */
static void
add_slots(const struct st_view *v, uint64_t *sum)
{
	const uint32_t span = SPAN_PAGES * (PAGE / sizeof *sum);
	const char *slot = (const char *)v->header + v->header->layout.off_counters;
	bool sparse = absent_is_empty();
	for (uint32_t s = 0; s < v->n_slots; s++, slot += v->header->layout.counters_stride) {
		const uint64_t *counts = (const uint64_t *)slot;
		for (uint32_t b = ST_FIRST_ID; b < v->n_blocks && !sparse; b++)
			sum[b] += counts[b];
		for (uint32_t b = ST_FIRST_ID; b < v->n_blocks && sparse; b += span)
			add_pages(counts, b, v->n_blocks - b < span ? v->n_blocks : b + span, sum);
	}
}

st_status
st_view_count(const struct st_view *v, struct st_view_counts *c)
{
	size_t n = v->n_blocks ? v->n_blocks : 1;
	c->executions = calloc(n, sizeof *c->executions);
	c->partial = calloc(n, sizeof *c->partial);
	if (!c->executions || !c->partial) {
		st_view_counts_free(c);
		return -1;
	}
	add_slots(v, c->executions);
	for (uint32_t i = 0; i < v->n_partials; i++) {
		const struct st_partial *p = &v->partials[i];
		if (p->block >= ST_FIRST_ID && p->block < v->n_blocks)
			c->partial[p->block] +=
			        (uint64_t)p->times * (p->insns & ~ST_PARTIAL_GOES_ON);
	}
	return 0;
}

void
st_view_counts_free(struct st_view_counts *c)
{
	free(c->executions);
	free(c->partial);
	*c = (struct st_view_counts){0};
}

/* The partials by block: of block b those from first[b] up to first[b + 1]. */
struct by_block {
	uint32_t *first, *order;
};

static st_status
order_partials(const struct st_view *v, struct by_block *o)
{
	*o = (struct by_block){0};
	if (!v->n_partials)
		return 0;
	o->first = calloc((size_t)v->n_blocks + 2, sizeof *o->first);
	o->order = calloc(v->n_partials, sizeof *o->order);
	if (!o->first || !o->order)
		return -1;
	/* Counting sort: two ahead, so that placing leaves each start in its place. */
	for (uint32_t i = 0; i < v->n_partials; i++)
		if (v->partials[i].block < v->n_blocks)
			o->first[v->partials[i].block + 2]++;
	for (uint32_t b = 2; b < v->n_blocks + 2; b++)
		o->first[b] += o->first[b - 1];
	for (uint32_t i = 0; i < v->n_partials; i++) {
		uint32_t block = v->partials[i].block;
		if (block < v->n_blocks && o->first[block + 1] < v->n_partials)
			o->order[o->first[block + 1]++] = i;
	}
	return 0;
}

/* The number of times that the points of an amount of a basic block were passed. */
static uint64_t
passes(const struct st_view *v, const struct st_amount *a, const uint64_t *executions,
       const struct by_block *o)
{
	bool entry = a->first == a->last;
	uint64_t n = executions[a->block] * (entry ? 1u : (uint64_t)(a->last - a->first));
	for (uint32_t i = o->first ? o->first[a->block] : 0; o->first && i < o->first[a->block + 1];
	     i++) {
		const struct st_partial *p = &v->partials[o->order[i]];
		uint32_t insns = p->insns & ~ST_PARTIAL_GOES_ON;
		uint32_t end = insns < a->last ? insns : a->last;
		if (entry)
			n += insns == p->insns && insns ? (uint64_t)p->times : 0;
		else if (end > a->first)
			n += (uint64_t)p->times * (end - a->first);
	}
	return n;
}

/* The number of times that a branch took the direction of the amount. */
static uint64_t
goes(const struct st_view *v, const struct st_amount *a, const uint64_t *executions,
     const struct by_block *o)
{
	const struct st_block *edge = &v->blocks[a->block];
	bool taken = a->first == 0;
	if (!(edge->flags & ST_EDGE_WAYS) || edge->target < ST_FIRST_ID ||
	    edge->target >= v->n_blocks)
		return 0;
	if (edge->flags & (taken ? ST_EDGE_TAKEN : ST_EDGE_NOT_TAKEN))
		return executions[a->block];
	struct st_amount branch = {.block = (uint32_t)edge->target,
	                           .first = (uint16_t)edge->n_insns,
	                           .last = (uint16_t)(edge->n_insns + 1)};
	/* Of a process that still runs the two are not of one moment. */
	uint64_t n = passes(v, &branch, executions, o);
	return n > executions[a->block] ? n - executions[a->block] : 0;
}

/* Where the number that an amount adds to lies; NULL: nowhere. */
static uint64_t *
totals_number_at(const struct st_view *v, struct st_view_totals *totals, uint64_t cell)
{
	uint32_t table = st_cell_table(cell), row = st_cell_row(cell);
	uint32_t column = st_cell_column(cell);
	if (!table)
		return row < v->n_counters ? &totals->counters[row] : NULL;
	if (table > v->n_tables)
		return NULL;
	const struct st_view_table *t = &v->tables[table - 1];
	if (row >= t->n_rows || column < t->n_keys || column >= t->n_columns)
		return NULL;
	return &totals->rows[table - 1][(size_t)row * t->n_columns + column];
}

static st_status
copy_tables(const struct st_view *v, struct st_view_totals *totals)
{
	for (uint32_t i = 0; i < v->n_tables; i++) {
		const struct st_view_table *t = &v->tables[i];
		size_t n = (size_t)t->n_rows * t->n_columns;
		totals->rows[i] = calloc(n ? n : 1, sizeof **totals->rows);
		if (!totals->rows[i])
			return -1;
		memcpy(totals->rows[i], t->rows, n * sizeof **totals->rows);
	}
	return 0;
}

st_status
st_view_total(const struct st_view *v, const struct st_view_counts *counts,
              struct st_view_totals *totals)
{
	struct by_block o = {0};
	*totals = (struct st_view_totals){0};
	memcpy(totals->counters, v->header->counters.sums, sizeof totals->counters);
	int status = copy_tables(v, totals) || order_partials(v, &o) ? -1 : 0;
	for (uint32_t i = 0; i < v->n_amounts && !status; i++) {
		const struct st_amount *a = &v->amounts[i];
		uint64_t *number = totals_number_at(v, totals, a->cell);
		if (!number || a->block < ST_FIRST_ID || a->block >= v->n_blocks ||
		    a->first > a->last)
			continue;
		uint64_t n = v->blocks[a->block].flags & ST_BLOCK_EDGE
		                     ? goes(v, a, counts->executions, &o)
		                     : passes(v, a, counts->executions, &o);
		*number += n * (uint64_t)a->amount;
	}
	free(o.first);
	free(o.order);
	return status;
}

void
st_view_totals_free(struct st_view_totals *totals)
{
	for (unsigned i = 0; i < ST_MAX_TABLES; i++)
		free(totals->rows[i]);
}
