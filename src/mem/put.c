/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mem/mem.h"
#include "mem/tables.h"
#include "profile/tables.h"

#define N_OF(columns) (sizeof columns / sizeof *columns)

/* "FILE:LINE", or where in the image. */
static struct st_profile_value
mem_place(struct st_profile *p, const struct st_mem_frame *f)
{
	const char *text = *f->file ? st_profile_textf(p, "%s:%u", f->file, f->line)
	                            : st_profile_textf(p, "%s+0x%llx", f->image,
	                                               (unsigned long long)f->offset);
	return (struct st_profile_value){0, text, UINT32_MAX, UINT32_MAX};
}

static st_status
put_sites(const struct st_mem *m, struct st_profile *p)
{
	static const struct st_profile_column columns[SITE_COLUMNS] = {
	        ST_KEY("function", TEXT), ST_KEY("place", TEXT), ST_KEY("kind", TEXT),
	        ST_SUM("peak"),           ST_SUM("bytes"),       ST_SUM("calls"),
	        ST_SUM("live"),           ST_SUM("blocks"),      ST_SUM("short_lived")};
	struct st_mem_sites sites;
	st_status status = st_mem_group(m, &sites);
	struct st_profile_table *table =
	        st_profile_table_add(p, ST_MEM_TOOL, "sites", "memory by the code that asks for it",
	                             SITE_PEAK, SITE_COLUMNS, columns);
	for (size_t i = 0; i < sites.rows.n && !status && table; i++) {
		const struct st_mem_site_row *s = &sites.rows.v[i];
		const struct st_mem_frame *f = &m->frames.v[s->frame];
		const struct st_profile_value row[SITE_COLUMNS] = {
		        [SITE_FUNCTION] = st_profile_value_text(p, f->function),
		        [SITE_PLACE] = mem_place(p, f),
		        [SITE_KIND] = st_profile_value_text(p, s->mapped ? "mapped" : "heap"),
		        [SITE_PEAK] = st_profile_value_number(s->sum.peak),
		        [SITE_BYTES] = st_profile_value_number(s->sum.bytes),
		        [SITE_CALLS] = st_profile_value_number(s->sum.calls),
		        [SITE_LIVE] = st_profile_value_number(s->sum.live),
		        [SITE_BLOCKS] = st_profile_value_number(s->sum.live_blocks),
		        [SITE_SHORT] = st_profile_value_number(s->sum.short_lived)};
		status = st_profile_table_add_row(table, row);
	}
	free(sites.rows.v);
	return table ? status : ST_FAILED;
}

static st_status
put_totals(const struct st_mem *m, struct st_profile *p)
{
	static const struct st_profile_column columns[TOTAL_COLUMNS] = {
	        ST_KEY("what", TEXT), ST_SUM("heap"), ST_SUM("mapped")};
	const struct st_mem_totals *heap = &m->totals[ST_ALLOC_HEAP],
	                           *mapped = &m->totals[ST_ALLOC_MAPPED];
	const struct {
		const char *name;
		uint64_t heap, mapped;
	} rows[] = {
#define T(member, name) {name, heap->member, mapped->member},
	        ST_MEM_TOTALS(T)
#undef T
#define T(member, name) {name, m->member, 0},
	                ST_MEM_FURTHER(T)
#undef T
	};
	struct st_profile_table *table = st_profile_table_add(
	        p, ST_MEM_TOOL, "totals", "all allocations", 1, TOTAL_COLUMNS, columns);
	for (size_t i = 0; i < N_OF(rows) && table; i++) {
		const struct st_profile_value row[TOTAL_COLUMNS] = {
		        st_profile_value_text(p, rows[i].name),
		        st_profile_value_number(rows[i].heap),
		        st_profile_value_number(rows[i].mapped)};
		if (st_profile_table_add_row(table, row))
			return ST_FAILED;
	}
	return table ? ST_OK : ST_FAILED;
}

static st_status
put_sizes(const struct st_mem *m, struct st_profile *p)
{
	static const struct st_profile_column columns[SIZE_COLUMNS] = {
	        ST_KEY("below", NUMBER), ST_SUM("heap"), ST_SUM("mapped")};
	struct st_profile_table *table = st_profile_table_add(
	        p, ST_MEM_TOOL, "sizes", "allocations by size, in powers of two", 1, SIZE_COLUMNS,
	        columns);
	for (size_t i = 0; i < ST_ALLOC_CLASSES && table; i++) {
		const uint64_t heap = m->totals[ST_ALLOC_HEAP].classes[i],
		               mapped = m->totals[ST_ALLOC_MAPPED].classes[i];
		const struct st_profile_value row[SIZE_COLUMNS] = {
		        st_profile_value_number(i < 63 ? 1ull << i : INT64_MAX),
		        st_profile_value_number(heap), st_profile_value_number(mapped)};
		if ((heap || mapped) && st_profile_table_add_row(table, row))
			return ST_FAILED;
	}
	return table ? ST_OK : ST_FAILED;
}

static st_status
put_frames(const struct st_mem *m, struct st_profile *p)
{
	static const struct st_profile_column columns[FRAME_COLUMNS] = ST_FRAME_TABLE;
	struct st_profile_table *table = st_profile_table_add(
	        p, ST_MEM_TOOL, "frames", "functions on the paths to allocations", FRAME_BYTES,
	        FRAME_COLUMNS, columns);
	uint64_t *bytes = calloc(m->frames.n + 1, sizeof *bytes);
	st_status status = table && bytes ? ST_OK : ST_FAILED;
	for (size_t i = 0; i < m->contexts.n && !status; i++)
		bytes[m->contexts.v[i].frame] += m->contexts.v[i].bytes;
	for (size_t i = 0; i < m->frames.n && !status; i++) {
		const struct st_mem_frame *f = &m->frames.v[i];
		const struct st_profile_value row[FRAME_COLUMNS] = {
		        [FRAME_AT] = st_profile_value_number(i),
		        [FRAME_PARENT] = st_profile_value_number(f->parent),
		        [FRAME_FUNCTION] = st_profile_value_text(p, f->function),
		        [FRAME_IMAGE] = st_profile_value_text(p, f->image),
		        [FRAME_OFFSET] = st_profile_value_number(f->offset),
		        [FRAME_FILE] = st_profile_value_text(p, f->file),
		        [FRAME_LINE] = st_profile_value_number(f->line),
		        [FRAME_INLINED] = st_profile_value_number(f->inlined),
		        [FRAME_BYTES] = st_profile_value_number(bytes[i])};
		status = st_profile_table_add_row(table, row);
	}
	free(bytes);
	return status;
}

static st_status
put_contexts(const struct st_mem *m, struct st_profile *p)
{
	static const struct st_profile_column columns[CONTEXT_COLUMNS] = ST_CONTEXT_TABLE;
	struct st_profile_table *table =
	        st_profile_table_add(p, ST_MEM_TOOL, "contexts", "allocations by all their callers",
	                             CONTEXT_CALLS, CONTEXT_COLUMNS, columns);
	for (size_t i = 0; i < m->contexts.n && table; i++) {
		const struct st_mem_context *c = &m->contexts.v[i];
		const struct st_profile_value row[CONTEXT_COLUMNS] = {
		        [CONTEXT_AT] = st_profile_value_number(c->frame),
		        [CONTEXT_MAPPED] = st_profile_value_number(c->mapped),
		        [CONTEXT_CALLS] = st_profile_value_number(c->calls),
		        [CONTEXT_BYTES] = st_profile_value_number(c->bytes),
		        [CONTEXT_LIVE] = st_profile_value_number(c->live),
		        [CONTEXT_BLOCKS] = st_profile_value_number(c->live_blocks),
		        [CONTEXT_PEAK] = st_profile_value_number(c->peak),
		        [CONTEXT_OWN] = st_profile_value_number(c->own_peak),
		        [CONTEXT_SHORT] = st_profile_value_number(c->short_lived),
		        [CONTEXT_LARGEST] = st_profile_value_number(c->largest)};
		if (st_profile_table_add_row(table, row))
			return ST_FAILED;
	}
	return table ? ST_OK : ST_FAILED;
}

static st_status
put_snapshots(const struct st_mem *m, struct st_profile *p)
{
	static const struct st_profile_column columns[TIME_COLUMNS] = {
	        ST_KEY("time", TICKS), ST_SUM("live"), ST_SUM("blocks"), ST_SUM("mapped")};
	struct st_profile_table *table =
	        st_profile_table_add(p, ST_MEM_TOOL, "snapshots", "memory that was live over time",
	                             1, TIME_COLUMNS, columns);
	for (size_t i = 0; i < m->snapshots.n && table; i++) {
		const struct st_mem_snapshot *s = &m->snapshots.v[i];
		const struct st_profile_value row[TIME_COLUMNS] = {
		        st_profile_value_number(s->ns), st_profile_value_number(s->live),
		        st_profile_value_number(s->blocks), st_profile_value_number(s->mapped)};
		if (st_profile_table_add_row(table, row))
			return ST_FAILED;
	}
	return table ? ST_OK : ST_FAILED;
}

static st_status
put_shares(const struct st_mem *m, struct st_profile *p)
{
	static const struct st_profile_column columns[SHARE_COLUMNS] = {
	        ST_KEY("time", TICKS), ST_KEY("frame", NUMBER), ST_SUM("live")};
	struct st_profile_table *table = st_profile_table_add(
	        p, ST_MEM_TOOL, "shares", "what of it the paths with the greatest peaks had", 2,
	        SHARE_COLUMNS, columns);
	for (size_t i = 0; i < m->shares.n && table; i++) {
		const struct st_mem_share *s = &m->shares.v[i];
		const struct st_profile_value row[SHARE_COLUMNS] = {
		        st_profile_value_number(m->snapshots.v[s->snapshot].ns),
		        st_profile_value_number(m->contexts.v[s->context].frame),
		        st_profile_value_number(s->live)};
		if (st_profile_table_add_row(table, row))
			return ST_FAILED;
	}
	return table ? ST_OK : ST_FAILED;
}

static st_status
put_places(const struct st_mem *m, struct st_profile *p)
{
	static const struct st_profile_column columns[PLACE_COLUMNS] = {
	        ST_KEY("time", TICKS), ST_KEY("address", NUMBER), ST_SUM("live")};
	struct st_profile_table *table = st_profile_table_add(
	        p, ST_MEM_TOOL, "addresses", "heap memory that was live, by ranges of addresses", 2,
	        PLACE_COLUMNS, columns);
	for (size_t i = 0; i < m->places.n && table; i++) {
		const struct st_mem_place *at = &m->places.v[i];
		const struct st_profile_value row[PLACE_COLUMNS] = {
		        st_profile_value_number(at->ns), st_profile_value_number(at->from),
		        st_profile_value_number(at->live)};
		if (st_profile_table_add_row(table, row))
			return ST_FAILED;
	}
	return table ? ST_OK : ST_FAILED;
}

st_status
st_mem_put(const struct st_mem *m, struct st_profile *p)
{
	if (put_sites(m, p) || put_totals(m, p) || put_snapshots(m, p) || put_sizes(m, p) ||
	    put_contexts(m, p) || put_frames(m, p) || put_shares(m, p) || put_places(m, p))
		return ST_FAILED;
	return p->out_of_memory ? ST_FAILED : ST_OK;
}
