/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/basic_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "wire/results/blocks.h"

static uint64_t
basic_blocks_end(const struct st_profile_block *b)
{
	return b->offset + b->bytes;
}

/* Blocks that end at the same place stand together, in the order of their beginnings. */
static int
basic_blocks_end_order(const void *a, const void *b)
{
	const struct st_profile_block *x = a, *y = b;
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	if (basic_blocks_end(x) != basic_blocks_end(y))
		return basic_blocks_end(x) < basic_blocks_end(y) ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return (x->insns < y->insns) - (x->insns > y->insns);
}

static int
basic_blocks_place_order(const void *a, const void *b)
{
	const struct st_profile_block *x = a, *y = b;
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* Whether the second of two blocks in that order is the end of the first. */
static bool
basic_blocks_within(const struct st_profile_block *a, const struct st_profile_block *b)
{
	return a->image == b->image && basic_blocks_end(a) == basic_blocks_end(b) &&
	       a->offset < b->offset && a->insns >= b->insns;
}

/* Cuts blocks of which each is the end of the one before. Returns how many there are then. */
static size_t
basic_blocks_cut(struct st_profile_block *v, size_t n)
{
	uint64_t executions = 0;
	size_t kept = 0;
	for (size_t i = 0; i < n; i++) {
		struct st_profile_block b = v[i];
		const uint64_t early = b.instructions - b.executions * b.insns;
		executions += b.executions;
		b.instructions = early;
		b.executions = 0;
		if (kept && v[kept - 1].insns == b.insns) { /* entered behind a prefix */
			v[kept - 1].instructions += early;
			v[kept - 1].samples += b.samples;
		} else {
			v[kept++] = b;
		}
		v[kept - 1].executions = executions;
	}
	for (size_t i = 0; i < kept; i++) {
		if (i + 1 < kept) {
			v[i].bytes = (uint32_t)(v[i + 1].offset - v[i].offset);
			v[i].insns -= v[i + 1].insns;
			v[i].end = ST_END_NONE;
			v[i].target = UINT64_MAX;
		}
		v[i].instructions += v[i].executions * v[i].insns;
	}
	return kept;
}

static void
basic_blocks_cut_all(struct st_basic_blocks *b)
{
	size_t kept = 0;
	st_order(b->v, b->n, sizeof *b->v, basic_blocks_end_order);
	for (size_t first = 0, end; first < b->n; first = end) {
		end = first + 1;
		while (end < b->n && basic_blocks_within(&b->v[end - 1], &b->v[end]))
			end++;
		const size_t n = basic_blocks_cut(&b->v[first], end - first);
		memmove(&b->v[kept], &b->v[first], n * sizeof *b->v);
		kept += n;
	}
	b->n = kept;
	st_order(b->v, b->n, sizeof *b->v, basic_blocks_place_order);
}

st_status
st_basic_blocks_open(struct st_basic_blocks *b, const struct st_report *r)
{
	const size_t n = r->profile->blocks.n;
	*b = (struct st_basic_blocks){.v = calloc(n ? n : 1, sizeof *b->v), .n = n};
	if (b->v && n) {
		memcpy(b->v, r->profile->blocks.v, n * sizeof *b->v);
		basic_blocks_cut_all(b);
	}
	b->order = b->v ? st_report_block_order(r, b->v, b->n) : NULL;
	b->hottest = r->top_parts && r->top_parts < b->n ? r->top_parts : b->n;
	if (b->order)
		return ST_OK;
	st_basic_blocks_close(b);
	return ST_FAILED;
}

void
st_basic_blocks_close(struct st_basic_blocks *b)
{
	free(b->v);
	free(b->order);
	*b = (struct st_basic_blocks){0};
}

bool *
st_basic_blocks_kept(const struct st_basic_blocks *b)
{
	bool *kept = calloc(b->n ? b->n : 1, sizeof *kept);
	for (size_t i = 0; kept && i < b->hottest; i++)
		kept[b->order[i]] = true;
	return kept;
}
