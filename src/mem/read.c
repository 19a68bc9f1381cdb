/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads allocations from the tables of a profile. The file may be damaged, so indices are checked.
 */
#include "base/hashmap.h"
#include "mem/mem.h"
#include "mem/tables.h"
#include "profile/tables.h"

static st_status
read_frame_row(void *into, const struct st_profile_value *row)
{
	struct st_mem *m = into;
	const uint64_t parent = row[FRAME_PARENT].number;
	const size_t n = m->frames.n;
	if (row[FRAME_AT].number != n || (parent != ST_MEM_NONE && parent >= n))
		return ST_FAILED;
	struct st_mem_frame *f = ST_PUSH(&m->frames);
	if (!f)
		return ST_FAILED;
	*f = (struct st_mem_frame){.parent = (uint32_t)parent,
	                           .function = st_profile_text_of(&row[FRAME_FUNCTION]),
	                           .image = st_profile_text_of(&row[FRAME_IMAGE]),
	                           .file = st_profile_text_of(&row[FRAME_FILE]),
	                           .offset = row[FRAME_OFFSET].number,
	                           .line = (uint32_t)row[FRAME_LINE].number,
	                           .inlined = row[FRAME_INLINED].number != 0};
	return ST_OK;
}

/* ---- contexts ---- */

static st_status
read_context_row(void *into, const struct st_profile_value *row)
{
	struct st_mem *m = into;
	if (row[CONTEXT_AT].number >= m->frames.n)
		return ST_FAILED;
	struct st_mem_context *c = ST_PUSH(&m->contexts);
	if (!c)
		return ST_FAILED;
	*c = (struct st_mem_context){.frame = (uint32_t)row[CONTEXT_AT].number,
	                             .mapped = row[CONTEXT_MAPPED].number != 0,
	                             .calls = row[CONTEXT_CALLS].number,
	                             .bytes = row[CONTEXT_BYTES].number,
	                             .live = row[CONTEXT_LIVE].number,
	                             .live_blocks = row[CONTEXT_BLOCKS].number,
	                             .peak = row[CONTEXT_PEAK].number,
	                             .own_peak = row[CONTEXT_OWN].number,
	                             .short_lived = row[CONTEXT_SHORT].number,
	                             .largest = row[CONTEXT_LARGEST].number};
	return ST_OK;
}

static int
context_order(const void *a, const void *b)
{
	const struct st_mem_context *x = a, *y = b;
	if (x->mapped != y->mapped)
		return x->mapped - y->mapped;
	if (x->peak != y->peak)
		return x->peak < y->peak ? 1 : -1;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return (x->frame > y->frame) - (x->frame < y->frame);
}

/* ---- numbers ---- */

static st_status
read_total_row(void *into, const struct st_profile_value *row)
{
	struct st_mem *m = into;
	const char *what = st_profile_text_of(&row[TOTAL_WHAT]);
	const uint64_t heap = row[TOTAL_HEAP].number, mapped = row[TOTAL_MAPPED].number;
#define T(member, name)                                                                            \
	if (!strcmp(what, name)) {                                                                 \
		m->totals[ST_ALLOC_HEAP].member = heap;                                            \
		m->totals[ST_ALLOC_MAPPED].member = mapped;                                        \
	}
	ST_MEM_TOTALS(T)
#undef T
#define T(member, name)                                                                            \
	if (!strcmp(what, name))                                                                   \
		m->member = heap;
	ST_MEM_FURTHER(T)
#undef T
	return ST_OK;
}

static st_status
read_size_row(void *into, const struct st_profile_value *row)
{
	struct st_mem *m = into;
	const uint64_t below = row[SIZE_BELOW].number;
	const int class = below ? 63 - __builtin_clzll(below) : 0;
	m->totals[ST_ALLOC_HEAP].classes[class] += row[SIZE_HEAP].number;
	m->totals[ST_ALLOC_MAPPED].classes[class] += row[SIZE_MAPPED].number;
	return ST_OK;
}

static st_status
read_snapshot_row(void *into, const struct st_profile_value *row)
{
	struct st_mem *m = into;
	struct st_mem_snapshot *s = ST_PUSH(&m->snapshots);
	if (!s)
		return ST_FAILED;
	*s = (struct st_mem_snapshot){row[TIME_AT].number, row[TIME_LIVE].number,
	                              row[TIME_BLOCKS].number, row[TIME_MAPPED].number};
	return ST_OK;
}

static int
snapshot_order(const void *a, const void *b)
{
	const struct st_mem_snapshot *x = a, *y = b;
	return (x->ns > y->ns) - (x->ns < y->ns);
}

/* The first of those with the time, UINT32_MAX: none has it. */
static uint32_t
snapshot_at(const struct st_mem *m, uint64_t ns)
{
	const struct st_mem_snapshot key = {.ns = ns},
	                             *s = m->snapshots.n
	                                          ? bsearch(&key, m->snapshots.v, m->snapshots.n,
	                                                    sizeof key, snapshot_order)
	                                          : NULL;
	return s ? (uint32_t)(s - m->snapshots.v) : ST_MEM_NONE;
}

static st_status
read_share_row(void *into, const struct st_profile_value *row)
{
	struct st_mem *m = into;
	const uint32_t snapshot = snapshot_at(m, row[SHARE_TIME].number);
	uint32_t context = 0;
	while (context < m->contexts.n && m->contexts.v[context].frame != row[SHARE_CONTEXT].number)
		context++;
	if (snapshot == ST_MEM_NONE || context == m->contexts.n)
		return ST_FAILED;
	struct st_mem_share *share = ST_PUSH(&m->shares);
	if (!share)
		return ST_FAILED;
	*share = (struct st_mem_share){snapshot, context, row[SHARE_LIVE].number};
	return ST_OK;
}

static int
share_order(const void *a, const void *b)
{
	const struct st_mem_share *x = a, *y = b;
	if (x->snapshot != y->snapshot)
		return x->snapshot < y->snapshot ? -1 : 1;
	return (x->context > y->context) - (x->context < y->context);
}

static st_status
read_place_row(void *into, const struct st_profile_value *row)
{
	struct st_mem *m = into;
	const uint64_t from = row[PLACE_FROM].number;
	const bool damaged = from >> 63 || (m->range_bytes && from % m->range_bytes);
	struct st_mem_place *place = damaged ? NULL : ST_PUSH(&m->places);
	if (!place)
		return ST_FAILED;
	*place = (struct st_mem_place){row[PLACE_TIME].number, from, row[PLACE_LIVE].number};
	return ST_OK;
}

static int
place_order(const void *a, const void *b)
{
	const struct st_mem_place *x = a, *y = b;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

#define SORT(vec, order)                                                                           \
	if ((vec)->n)                                                                              \
	qsort((vec)->v, (vec)->n, sizeof *(vec)->v, order)

static st_status
read_mem_table(struct st_mem *m, const struct st_profile *p, const char *name, size_t columns,
               st_profile_row_fn *read)
{
	return st_profile_table_read(st_profile_table_find(p, ST_MEM_TOOL, name, columns), m, read);
}

/* ---- the tool alloc ---- */

/* Columns of its table of totals. */
enum {
	ALLOC_TOTAL_CALLS = 1,
	ALLOC_TOTAL_BYTES,
	ALLOC_TOTAL_LIVE,
	ALLOC_TOTAL_PEAK,
	ALLOC_TOTAL_COLUMNS
};

static st_status
read_alloc_total(void *into, const struct st_profile_value *row)
{
	struct st_mem_totals *t = &((struct st_mem *)into)->totals[ST_ALLOC_HEAP];
	t->calls += row[ALLOC_TOTAL_CALLS].number;
	t->bytes += row[ALLOC_TOTAL_BYTES].number;
	t->live += row[ALLOC_TOTAL_LIVE].number;
	t->peak += row[ALLOC_TOTAL_PEAK].number;
	return ST_OK;
}

static bool
is_cut(const struct st_mem *m, const struct st_mem_context *c)
{
	uint32_t at = c->frame;
	while (m->frames.v[at].parent != ST_MEM_NONE)
		at = m->frames.v[at].parent;
	return !strcmp(m->frames.v[at].function, ST_FRAME_UNKNOWN_CALLERS);
}

static st_status
read_alloc_tables(struct st_mem *m, const struct st_profile *p,
                  const struct st_profile_table *frames)
{
	struct st_mem_totals *t = &m->totals[ST_ALLOC_HEAP];
	if (st_profile_table_read_sorted(frames, m, read_frame_row) ||
	    st_profile_table_read(
	            st_profile_table_find(p, ST_ALLOC_TOOL, "contexts", CONTEXT_COLUMNS), m,
	            read_context_row) ||
	    st_profile_table_read(
	            st_profile_table_find(p, ST_ALLOC_TOOL, "totals", ALLOC_TOTAL_COLUMNS), m,
	            read_alloc_total))
		return ST_FAILED;
	SORT(&m->contexts, context_order);
	for (size_t i = 0; i < m->contexts.n; i++) {
		const struct st_mem_context *c = &m->contexts.v[i];
		t->live_blocks += c->live_blocks;
		t->short_lived += c->short_lived;
		if (is_cut(m, c))
			m->cut += c->calls;
	}
	return ST_OK;
}

static st_status
read_mem_tables(struct st_mem *m, const struct st_profile *p, const struct st_profile_table *frames)
{
	if (st_profile_table_read_sorted(frames, m, read_frame_row) ||
	    read_mem_table(m, p, "contexts", CONTEXT_COLUMNS, read_context_row) ||
	    read_mem_table(m, p, "totals", TOTAL_COLUMNS, read_total_row) ||
	    read_mem_table(m, p, "sizes", SIZE_COLUMNS, read_size_row) ||
	    read_mem_table(m, p, "snapshots", TIME_COLUMNS, read_snapshot_row))
		return ST_FAILED;
	SORT(&m->contexts, context_order);
	SORT(&m->snapshots, snapshot_order);
	if (read_mem_table(m, p, "shares", SHARE_COLUMNS, read_share_row))
		return ST_FAILED;
	SORT(&m->shares, share_order);
	/* Results of older versions have no such table. */
	const struct st_profile_table *places =
	        st_profile_table_find(p, ST_MEM_TOOL, "addresses", PLACE_COLUMNS);
	if (places && st_profile_table_read(places, m, read_place_row))
		return ST_FAILED;
	SORT(&m->places, place_order);
	return ST_OK;
}

const char *
st_mem_tool(const struct st_profile *p)
{
	if (st_profile_table_find(p, ST_MEM_TOOL, "frames", FRAME_COLUMNS))
		return ST_MEM_TOOL;
	return st_profile_table_find(p, ST_ALLOC_TOOL, "frames", FRAME_COLUMNS) ? ST_ALLOC_TOOL
	                                                                        : NULL;
}

st_status
st_mem_read(struct st_mem *m, const struct st_profile *p, struct st_error *e)
{
	const char *tool = st_mem_tool(p);
	*m = (struct st_mem){0};
	if (!tool && st_profile_has_tool(p, ST_ALLOC_TOOL))
		return st_fail(e, ST_EXIT_FAILED,
		               "the result has no call stacks of allocations: there was no "
		               "allocation, or the tool alloc ran with stacks=0");
	if (!tool)
		return st_fail(e, ST_EXIT_FAILED,
		               "the result has no allocations: it was made with the tool %s, not "
		               "with strobe mem or the tool alloc",
		               p->run.tool);
	const struct st_profile_table *frames =
	        st_profile_table_find(p, tool, "frames", FRAME_COLUMNS);
	if (!(strcmp(tool, ST_MEM_TOOL) ? read_alloc_tables : read_mem_tables)(m, p, frames))
		return ST_OK;
	st_mem_free(m);
	return st_fail(e, ST_EXIT_FAILED,
	               "the tables of allocations do not fit together: the result is damaged, or "
	               "memory is exhausted");
}
