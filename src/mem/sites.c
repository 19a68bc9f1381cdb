/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where memory is asked for, and sums by that. */
#include "base/hashmap.h"
#include "mem/mem.h"

void
st_mem_free(struct st_mem *m)
{
	for (size_t i = 0; i < m->texts.n; i++)
		free(m->texts.v[i]);
	free(m->texts.v);
	free(m->frames.v);
	free(m->contexts.v);
	free(m->snapshots.v);
	free(m->shares.v);
	free(m->places.v);
	*m = (struct st_mem){0};
}

/* Functions by which languages allocate: whoever looks for memory wants to know who called them. */
static bool
is_of_language(const char *function)
{
	static const char *const begins[] = {
	        "operator new", "std::",     "__gnu_cxx::", "void* std::", "alloc::",
	        "<alloc::",     "core::",    "<core::",     "<std::",      "__rust_",
	        "__rdl_",       "__rustc::", "strdup",      "__strdup",    "strndup"};
	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (!strncmp(function, begins[i], strlen(begins[i])))
			return true;
	return false;
}

uint32_t
st_mem_site(const struct st_mem *m, const struct st_mem_context *c)
{
	const uint32_t first = m->frames.v[c->frame].parent;
	uint32_t at = first;
	while (at != ST_MEM_NONE && is_of_language(m->frames.v[at].function))
		at = m->frames.v[at].parent;
	/* A program may be written in nothing else. */
	return at != ST_MEM_NONE ? at : first != ST_MEM_NONE ? first : c->frame;
}

static bool
is_same_site(const struct st_mem *m, const struct st_mem_site_row *row, uint32_t frame, bool mapped)
{
	const struct st_mem_frame *a = &m->frames.v[row->frame], *b = &m->frames.v[frame];
	return row->mapped == mapped && a->line == b->line && !strcmp(a->function, b->function) &&
	       !strcmp(a->file, b->file) && !strcmp(a->image, b->image) &&
	       (a->line || a->offset == b->offset);
}

static uint32_t
hash_site(const struct st_mem_frame *f, bool mapped)
{
	uint32_t hash = st_hash_numbers(f->line, f->line ? mapped : f->offset * 2 + mapped);
	for (const char *p = f->function; *p; p++)
		hash = (hash ^ (uint8_t)*p) * 16777619u;
	return hash;
}

static void
add_context(struct st_mem_context *sum, const struct st_mem_context *c)
{
	sum->calls += c->calls;
	sum->bytes += c->bytes;
	sum->live += c->live;
	sum->live_blocks += c->live_blocks;
	sum->peak += c->peak;
	sum->short_lived += c->short_lived;
	sum->largest = c->largest > sum->largest ? c->largest : sum->largest;
}

static int
site_order(const void *a, const void *b)
{
	const struct st_mem_site_row *x = a, *y = b;
	if (x->mapped != y->mapped)
		return x->mapped - y->mapped;
	if (x->sum.peak != y->sum.peak)
		return x->sum.peak < y->sum.peak ? 1 : -1;
	if (x->sum.bytes != y->sum.bytes)
		return x->sum.bytes < y->sum.bytes ? 1 : -1;
	return (x->frame > y->frame) - (x->frame < y->frame);
}

st_status
st_mem_group(const struct st_mem *m, struct st_mem_sites *out)
{
	struct st_hashmap index = {0};
	st_status status = ST_OK;
	*out = (struct st_mem_sites){0};
	for (size_t i = 0; i < m->contexts.n && !status; i++) {
		const struct st_mem_context *c = &m->contexts.v[i];
		const uint32_t frame = st_mem_site(m, c);
		const uint32_t hash = hash_site(&m->frames.v[frame], c->mapped);
		uint32_t at = ST_HASHMAP_FIND(&index, hash, k,
		                              is_same_site(m, &out->rows.v[k], frame, c->mapped));
		if (at == ST_HASHMAP_NONE) {
			struct st_mem_site_row *row = ST_PUSH(&out->rows);
			at = (uint32_t)out->rows.n - 1;
			if (!row || st_hashmap_add(&index, hash, at)) {
				status = ST_FAILED;
				break;
			}
			row->frame = frame;
			row->mapped = c->mapped;
		}
		add_context(&out->rows.v[at].sum, c);
	}
	st_hashmap_free(&index);
	if (out->rows.n)
		qsort(out->rows.v, out->rows.n, sizeof *out->rows.v, site_order);
	return status;
}
