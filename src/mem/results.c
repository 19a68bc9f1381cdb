/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the runtime has left in the area. The area was shared with the process: nothing in it is
 * believed that could lead out of it.
 */
#include "mem/results.h"

#include "base/text.h"
#include "mem/tables.h"

enum { MOST_SHARES = 24, MOST_INLINED = 16 };

struct reading {
	struct st_mem *m;
	const struct st_probes *p;
	const struct st_alloc_area *a;
	uint32_t n_nodes, n_contexts;
	uint32_t *frame_of; /* of each node: its innermost frame + 1; 0: not made yet */
};

/* ---- frames ---- */

static const char *
keep_text(struct st_mem *m, char *text)
{
	char **kept = text ? ST_PUSH(&m->texts) : NULL;
	if (kept)
		*kept = text;
	else
		free(text);
	return kept ? text : "";
}

static const struct st_probed_image *
probed_image_at(const struct st_probes *p, uint64_t pc)
{
	for (size_t i = p->images.n; i-- > 0;) {
		const struct st_probed_image *image = &p->images.v[i];
		if (image->image && pc - image->from < image->to - image->from)
			return image;
	}
	return NULL;
}

/* UINT32_MAX: no memory. */
static uint32_t
add_mem_frame(struct st_mem *m, const struct st_mem_frame *frame)
{
	struct st_mem_frame *to = ST_PUSH(&m->frames);
	if (!to)
		return ST_MEM_NONE;
	*to = *frame;
	return (uint32_t)m->frames.n - 1;
}

static uint32_t
add_unknown_frame(struct reading *r, uint32_t parent, uint64_t pc)
{
	const struct st_mem_frame f = {
	        .parent = parent,
	        .function = keep_text(r->m, st_text_of("0x%llx", (unsigned long long)pc)),
	        .image = "",
	        .file = "",
	        .offset = pc};
	return add_mem_frame(r->m, &f);
}

/* The function that has a probe. */
static uint32_t
add_allocation_frame(struct reading *r, uint32_t parent, uint64_t index)
{
	if (index >= r->p->functions.n)
		return add_unknown_frame(r, parent, index);
	const struct st_probed_function *f = &r->p->functions.v[index];
	const struct st_mem_frame frame = {.parent = parent,
	                                   .function = f->name,
	                                   .image = r->p->images.v[f->image].path,
	                                   .file = "",
	                                   .offset = f->offset};
	return add_mem_frame(r->m, &frame);
}

static void
set_frame_line(struct st_mem_frame *f, const struct st_line *line)
{
	f->file = line->file ? line->file : "";
	f->line = line->line;
}

/* A function, and those inlined into it where the call is, which are its callees. */
static uint32_t
add_code_frames(struct reading *r, uint32_t parent, uint64_t pc)
{
	const struct st_probed_image *at = probed_image_at(r->p, pc - 1);
	struct st_inlined inlined[MOST_INLINED];
	struct st_line line = {0};
	if (!at)
		return add_unknown_frame(r, parent, pc);
	const uint64_t offset = pc - 1 - at->bias;
	const struct st_function *function = st_image_function(at->image, offset);
	size_t n = st_image_inlined(at->image, offset, inlined, MOST_INLINED);
	n = n < MOST_INLINED ? n : MOST_INLINED;
	struct st_mem_frame f = {.parent = parent, .image = at->path, .file = "", .offset = offset};
	f.function = function ? function->name
	                      : keep_text(r->m, st_text_of("%s+0x%llx", st_base_name(at->path),
	                                                   (unsigned long long)offset));
	(void)!st_image_line(at->image, offset, &line);
	set_frame_line(&f, n ? &inlined[n - 1].call : &line);
	uint32_t frame = add_mem_frame(r->m, &f);
	for (size_t i = n; i-- > 0 && frame != ST_MEM_NONE;) {
		f.parent = frame;
		f.function = inlined[i].name;
		f.inlined = true;
		set_frame_line(&f, i ? &inlined[i - 1].call : &line);
		frame = add_mem_frame(r->m, &f);
	}
	return frame;
}

/* The innermost frame of a node's, whose parents come first. */
static uint32_t
frame_of_node(struct reading *r, uint32_t node)
{
	uint32_t path[ST_ALLOC_DEPTH + 2] = {0}, n = 0, at = node;
	while (at >= ST_ALLOC_FIRST_NODE && at < r->n_nodes && !r->frame_of[at] &&
	       n < sizeof path / sizeof *path) {
		path[n++] = at;
		at = r->a->nodes[at].parent;
	}
	uint32_t frame = ST_MEM_NONE;
	if (at >= ST_ALLOC_FIRST_NODE && at < r->n_nodes)
		frame = r->frame_of[at] - 1;
	else if (at == ST_ALLOC_CUT) {
		const struct st_mem_frame f = {.parent = ST_MEM_NONE,
		                               .function = ST_FRAME_UNKNOWN_CALLERS,
		                               .image = "",
		                               .file = ""};
		frame = add_mem_frame(r->m, &f);
	}
	while (n-- > 0) {
		const uint64_t pc = r->a->nodes[path[n]].pc;
		frame = pc >> 63 ? add_allocation_frame(r, frame, pc & ~(1ull << 63))
		                 : add_code_frames(r, frame, pc);
		if (frame == ST_MEM_NONE)
			return ST_MEM_NONE;
		r->frame_of[path[n]] = frame + 1;
	}
	return frame;
}

/* ---- contexts ---- */

static st_status
read_context(struct reading *r, uint32_t i)
{
	const struct st_alloc_context *c = &r->a->contexts[i];
	const bool mapped = c->domain == ST_ALLOC_MAPPED;
	const uint64_t epoch = r->a->totals[mapped ? ST_ALLOC_MAPPED : ST_ALLOC_HEAP].epoch;
	if (!c->calls)
		return ST_OK;
	const uint32_t frame = frame_of_node(r, c->node);
	struct st_mem_context *to = frame == ST_MEM_NONE ? NULL : ST_PUSH(&r->m->contexts);
	if (!to)
		return ST_FAILED;
	*to = (struct st_mem_context){.frame = frame,
	                              .mapped = mapped,
	                              .calls = c->calls,
	                              .bytes = c->bytes,
	                              .live = c->live,
	                              .live_blocks = c->live_blocks,
	                              .peak = c->epoch == epoch ? c->at_peak : c->live,
	                              .own_peak = c->own_peak,
	                              .short_lived = c->short_lived,
	                              .largest = c->largest};
	return ST_OK;
}

static int
by_peak(const void *a, const void *b, void *contexts)
{
	const struct st_mem_context *v = contexts, *x = &v[*(const uint32_t *)a],
	                            *y = &v[*(const uint32_t *)b];
	if (x->mapped != y->mapped)
		return x->mapped - y->mapped;
	if (x->peak != y->peak)
		return x->peak < y->peak ? 1 : -1;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return (x->frame > y->frame) - (x->frame < y->frame);
}

/* Sorts the contexts; order[i] becomes the former index of the i-th. */
static st_status
sort_contexts(struct st_mem *m, uint32_t *order)
{
	struct st_mem_context *sorted = calloc(m->contexts.n + 1, sizeof *sorted);
	if (!sorted)
		return ST_FAILED;
	for (size_t i = 0; i < m->contexts.n; i++)
		order[i] = (uint32_t)i;
	if (m->contexts.n)
		qsort_r(order, m->contexts.n, sizeof *order, by_peak, m->contexts.v);
	for (size_t i = 0; i < m->contexts.n; i++)
		sorted[i] = m->contexts.v[order[i]];
	if (m->contexts.n)
		memcpy(m->contexts.v, sorted, m->contexts.n * sizeof *sorted);
	free(sorted);
	return ST_OK;
}

/* ---- snapshots ---- */

/* The values of the first contexts at each snapshot; rank: 1 + the number of the context in the
 * area. */
static st_status
read_shares(struct st_mem *m, const struct st_mem_watch *w, const uint32_t *rank,
            uint32_t n_contexts)
{
	uint64_t live[MOST_SHARES] = {0};
	size_t at = 0;
	for (uint32_t s = 0; s < w->snapshots.n; s++) {
		for (; at < w->changes.n && w->changes.v[at].snapshot <= s; at++) {
			const struct st_mem_change *c = &w->changes.v[at];
			const uint32_t which = c->context < n_contexts ? rank[c->context] : 0;
			if (which && which <= MOST_SHARES)
				live[which - 1] = c->live;
		}
		for (uint32_t i = 0; i < MOST_SHARES; i++) {
			if (!live[i])
				continue;
			struct st_mem_share *share = ST_PUSH(&m->shares);
			if (!share)
				return ST_FAILED;
			*share = (struct st_mem_share){s, i, live[i]};
		}
	}
	return ST_OK;
}

static st_status
read_mem_snapshots(struct st_mem *m, const struct st_mem_watch *w)
{
	for (size_t i = 0; i < w->snapshots.n; i++) {
		struct st_mem_snapshot *s = ST_PUSH(&m->snapshots);
		if (!s)
			return ST_FAILED;
		*s = w->snapshots.v[i];
	}
	m->interval_ns = w->interval_ns;
	m->peak_from_ns = w->peak_from_ns;
	m->peak_to_ns = w->peak_to_ns;
	return ST_OK;
}

/* ---- all ---- */

static void
read_totals(const struct st_alloc_totals *from, struct st_mem_totals *to)
{
	*to = (struct st_mem_totals){.calls = from->calls,
	                             .bytes = from->bytes,
	                             .frees = from->frees,
	                             .freed = from->freed,
	                             .live = from->live,
	                             .live_blocks = from->live_blocks,
	                             .peak = from->peak,
	                             .in_place = from->in_place,
	                             .moved = from->moved,
	                             .failed = from->failed,
	                             .unknown = from->unknown,
	                             .short_lived = from->short_lived};
	memcpy(to->classes, from->classes, sizeof to->classes);
}

static st_status
read_contexts(struct reading *r, const struct st_mem_watch *w)
{
	uint32_t *number = calloc(r->n_contexts + 1, sizeof *number);
	uint32_t *rank = calloc(r->n_contexts + 1, sizeof *rank);
	uint32_t *order = calloc(r->n_contexts + 1, sizeof *order);
	st_status status = number && rank && order ? ST_OK : ST_FAILED;
	for (uint32_t i = 1; i < r->n_contexts && !status; i++) {
		const size_t before = r->m->contexts.n;
		status = read_context(r, i);
		if (r->m->contexts.n > before)
			number[before] = i;
	}
	if (!status)
		status = sort_contexts(r->m, order);
	for (uint32_t i = 0; i < r->m->contexts.n && !status; i++)
		rank[number[order[i]]] = i + 1;
	if (!status)
		status = read_shares(r->m, w, rank, r->n_contexts);
	free(number);
	free(rank);
	free(order);
	return status;
}

st_status
st_mem_of_area(struct st_mem *m, const struct st_probes *probes, const struct st_mem_watch *watch)
{
	const struct st_alloc_area *a = watch->area;
	struct reading r = {.m = m, .p = probes, .a = a};
	*m = (struct st_mem){.missed = a->missed, .cut = a->cut};
	r.n_nodes = a->n_nodes < ST_ALLOC_NODES ? a->n_nodes : ST_ALLOC_NODES;
	r.n_contexts = a->n_contexts < ST_ALLOC_CONTEXTS ? a->n_contexts : ST_ALLOC_CONTEXTS;
	r.frame_of = calloc(r.n_nodes + 1, sizeof *r.frame_of);
	for (int i = 0; i < ST_ALLOC_DOMAINS; i++)
		read_totals(&a->totals[i], &m->totals[i]);
	st_status status = r.frame_of ? read_mem_snapshots(m, watch) : ST_FAILED;
	if (!status)
		status = read_contexts(&r, watch);
	if (!status)
		status = st_mem_places_copy(&watch->places, m);
	free(r.frame_of);
	return status;
}
