/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mem/mem.h"
#include "mem/tables.h"

#define N_OF(columns) (sizeof columns / sizeof *columns)
#define KEY(name, type)                                                                            \
	{                                                                                          \
		name, STROBE_##type, STROBE_IS_KEY                                                 \
	}
#define SUM(name)                                                                                  \
	{                                                                                          \
		name, STROBE_NUMBER, STROBE_IS_SUM                                                 \
	}
#define MAX(name)                                                                                  \
	{                                                                                          \
		name, STROBE_NUMBER, STROBE_IS_MAX                                                 \
	}

static struct st_profile_value
mem_number(uint64_t n)
{
	return (struct st_profile_value){n, NULL, UINT32_MAX, UINT32_MAX};
}

static struct st_profile_value
mem_text(struct st_profile *p, const char *text)
{
	return (struct st_profile_value){0, st_profile_text(p, text), UINT32_MAX, UINT32_MAX};
}

static struct st_profile_table *
mem_table(struct st_profile *p, const char *name, const char *help, size_t n_keys, size_t n_columns,
          const struct st_profile_column *columns)
{
	struct st_profile_table *table = ST_PUSH(&p->tables);
	if (!table)
		return NULL;
	table->name = name;
	table->help = help;
	table->tool = ST_MEM_TOOL;
	table->n_keys = n_keys;
	table->n_columns = n_columns;
	memcpy(table->columns, columns, n_columns * sizeof *columns);
	return table;
}

static st_status
mem_row(struct st_profile_table *table, const struct st_profile_value *row)
{
	for (size_t i = 0; i < table->n_columns; i++) {
		struct st_profile_value *value = ST_PUSH(&table->values);
		if (!value)
			return ST_FAILED;
		*value = row[i];
	}
	return ST_OK;
}

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
	        KEY("function", TEXT), KEY("place", TEXT), KEY("kind", TEXT),
	        SUM("peak"),           SUM("bytes"),       SUM("calls"),
	        SUM("live"),           SUM("blocks"),      SUM("short_lived")};
	struct st_mem_sites sites;
	st_status status = st_mem_group(m, &sites);
	struct st_profile_table *table =
	        mem_table(p, "sites", "memory by the code that asks for it", SITE_PEAK,
	                  SITE_COLUMNS, columns);
	for (size_t i = 0; i < sites.rows.n && !status && table; i++) {
		const struct st_mem_site_row *s = &sites.rows.v[i];
		const struct st_mem_frame *f = &m->frames.v[s->frame];
		const struct st_profile_value row[SITE_COLUMNS] = {
		        [SITE_FUNCTION] = mem_text(p, f->function),
		        [SITE_PLACE] = mem_place(p, f),
		        [SITE_KIND] = mem_text(p, s->mapped ? "mapped" : "heap"),
		        [SITE_PEAK] = mem_number(s->sum.peak),
		        [SITE_BYTES] = mem_number(s->sum.bytes),
		        [SITE_CALLS] = mem_number(s->sum.calls),
		        [SITE_LIVE] = mem_number(s->sum.live),
		        [SITE_BLOCKS] = mem_number(s->sum.live_blocks),
		        [SITE_SHORT] = mem_number(s->sum.short_lived)};
		status = mem_row(table, row);
	}
	free(sites.rows.v);
	return table ? status : ST_FAILED;
}

static st_status
put_totals(const struct st_mem *m, struct st_profile *p)
{
	static const struct st_profile_column columns[TOTAL_COLUMNS] = {KEY("what", TEXT),
	                                                                SUM("heap"), SUM("mapped")};
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
	struct st_profile_table *table =
	        mem_table(p, "totals", "all allocations", 1, TOTAL_COLUMNS, columns);
	for (size_t i = 0; i < N_OF(rows) && table; i++) {
		const struct st_profile_value row[TOTAL_COLUMNS] = {mem_text(p, rows[i].name),
		                                                    mem_number(rows[i].heap),
		                                                    mem_number(rows[i].mapped)};
		if (mem_row(table, row))
			return ST_FAILED;
	}
	return table ? ST_OK : ST_FAILED;
}

static st_status
put_sizes(const struct st_mem *m, struct st_profile *p)
{
	static const struct st_profile_column columns[SIZE_COLUMNS] = {KEY("below", NUMBER),
	                                                               SUM("heap"), SUM("mapped")};
	struct st_profile_table *table = mem_table(
	        p, "sizes", "allocations by size, in powers of two", 1, SIZE_COLUMNS, columns);
	for (size_t i = 0; i < ST_ALLOC_CLASSES && table; i++) {
		const uint64_t heap = m->totals[ST_ALLOC_HEAP].classes[i],
		               mapped = m->totals[ST_ALLOC_MAPPED].classes[i];
		const struct st_profile_value row[SIZE_COLUMNS] = {
		        mem_number(i < 63 ? 1ull << i : INT64_MAX), mem_number(heap),
		        mem_number(mapped)};
		if ((heap || mapped) && mem_row(table, row))
			return ST_FAILED;
	}
	return table ? ST_OK : ST_FAILED;
}

static st_status
put_frames(const struct st_mem *m, struct st_profile *p)
{
	static const struct st_profile_column columns[FRAME_COLUMNS] = {
	        KEY("frame", NUMBER), KEY("parent", NUMBER),  KEY("function", TEXT),
	        KEY("image", TEXT),   KEY("offset", NUMBER),  KEY("file", TEXT),
	        KEY("line", NUMBER),  KEY("inlined", NUMBER), SUM("bytes")};
	struct st_profile_table *table =
	        mem_table(p, "frames", "functions on the paths to allocations", FRAME_BYTES,
	                  FRAME_COLUMNS, columns);
	uint64_t *bytes = calloc(m->frames.n + 1, sizeof *bytes);
	st_status status = table && bytes ? ST_OK : ST_FAILED;
	for (size_t i = 0; i < m->contexts.n && !status; i++)
		bytes[m->contexts.v[i].frame] += m->contexts.v[i].bytes;
	for (size_t i = 0; i < m->frames.n && !status; i++) {
		const struct st_mem_frame *f = &m->frames.v[i];
		const struct st_profile_value row[FRAME_COLUMNS] = {
		        [FRAME_AT] = mem_number(i),
		        [FRAME_PARENT] = mem_number(f->parent),
		        [FRAME_FUNCTION] = mem_text(p, f->function),
		        [FRAME_IMAGE] = mem_text(p, f->image),
		        [FRAME_OFFSET] = mem_number(f->offset),
		        [FRAME_FILE] = mem_text(p, f->file),
		        [FRAME_LINE] = mem_number(f->line),
		        [FRAME_INLINED] = mem_number(f->inlined),
		        [FRAME_BYTES] = mem_number(bytes[i])};
		status = mem_row(table, row);
	}
	free(bytes);
	return status;
}

static st_status
put_contexts(const struct st_mem *m, struct st_profile *p)
{
	static const struct st_profile_column columns[CONTEXT_COLUMNS] = {
	        KEY("frame", NUMBER), KEY("mapped", NUMBER), SUM("calls"), SUM("bytes"),
	        SUM("live"),          SUM("blocks"),         SUM("peak"),  MAX("own_peak"),
	        SUM("short_lived"),   MAX("largest")};
	struct st_profile_table *table =
	        mem_table(p, "contexts", "allocations by all their callers", CONTEXT_CALLS,
	                  CONTEXT_COLUMNS, columns);
	for (size_t i = 0; i < m->contexts.n && table; i++) {
		const struct st_mem_context *c = &m->contexts.v[i];
		const struct st_profile_value row[CONTEXT_COLUMNS] = {
		        [CONTEXT_AT] = mem_number(c->frame),
		        [CONTEXT_MAPPED] = mem_number(c->mapped),
		        [CONTEXT_CALLS] = mem_number(c->calls),
		        [CONTEXT_BYTES] = mem_number(c->bytes),
		        [CONTEXT_LIVE] = mem_number(c->live),
		        [CONTEXT_BLOCKS] = mem_number(c->live_blocks),
		        [CONTEXT_PEAK] = mem_number(c->peak),
		        [CONTEXT_OWN] = mem_number(c->own_peak),
		        [CONTEXT_SHORT] = mem_number(c->short_lived),
		        [CONTEXT_LARGEST] = mem_number(c->largest)};
		if (mem_row(table, row))
			return ST_FAILED;
	}
	return table ? ST_OK : ST_FAILED;
}

static st_status
put_snapshots(const struct st_mem *m, struct st_profile *p)
{
	static const struct st_profile_column columns[TIME_COLUMNS] = {
	        KEY("time", TICKS), SUM("live"), SUM("blocks"), SUM("mapped")};
	struct st_profile_table *table = mem_table(p, "snapshots", "memory that was live over time",
	                                           1, TIME_COLUMNS, columns);
	for (size_t i = 0; i < m->snapshots.n && table; i++) {
		const struct st_mem_snapshot *s = &m->snapshots.v[i];
		const struct st_profile_value row[TIME_COLUMNS] = {
		        mem_number(s->ns), mem_number(s->live), mem_number(s->blocks),
		        mem_number(s->mapped)};
		if (mem_row(table, row))
			return ST_FAILED;
	}
	return table ? ST_OK : ST_FAILED;
}

static st_status
put_shares(const struct st_mem *m, struct st_profile *p)
{
	static const struct st_profile_column columns[SHARE_COLUMNS] = {
	        KEY("time", TICKS), KEY("frame", NUMBER), SUM("live")};
	struct st_profile_table *table =
	        mem_table(p, "shares", "what of it the paths with the greatest peaks had", 2,
	                  SHARE_COLUMNS, columns);
	for (size_t i = 0; i < m->shares.n && table; i++) {
		const struct st_mem_share *s = &m->shares.v[i];
		const struct st_profile_value row[SHARE_COLUMNS] = {
		        mem_number(m->snapshots.v[s->snapshot].ns),
		        mem_number(m->contexts.v[s->context].frame), mem_number(s->live)};
		if (mem_row(table, row))
			return ST_FAILED;
	}
	return table ? ST_OK : ST_FAILED;
}

st_status
st_mem_put(const struct st_mem *m, struct st_profile *p)
{
	if (put_sites(m, p) || put_totals(m, p) || put_snapshots(m, p) || put_sizes(m, p) ||
	    put_contexts(m, p) || put_frames(m, p) || put_shares(m, p))
		return ST_FAILED;
	return p->out_of_memory ? ST_FAILED : ST_OK;
}
