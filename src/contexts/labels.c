/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Labels: equal places are one, with its name, its function and, of a block, its pieces. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contexts/internal.h"

static int
compare_places(const void *a, const void *b, void *profile)
{
	const struct st_profile *p = profile;
	const struct st_profile_label *x = &p->labels.v[*(const uint32_t *)a];
	const struct st_profile_label *y = &p->labels.v[*(const uint32_t *)b];
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Of a place in no function. */
static const char *
name_by_offset(struct st_contexts *c, const struct st_profile_label *l)
{
	const char *path = l->image == UINT32_MAX ? "" : c->profile->images.v[l->image].path;
	const char *slash = strrchr(path, '/');
	char **text = ST_PUSH(&c->texts);
	if (!text || asprintf(text, "%s+0x%llx", slash ? slash + 1 : path,
	                      (unsigned long long)l->offset) < 0)
		return "?";
	return *text;
}

static const char *
label_name_of(struct st_contexts *c, const struct st_profile_label *l)
{
	const struct st_profile *p = c->profile;
	if (l->image == UINT32_MAX && l->offset < ST_FIRST_PLACE)
		return st_profile_label_name(l);
	if (l->function != UINT32_MAX)
		return p->functions.v[l->function].name;
	return name_by_offset(c, l);
}

static void
describe(struct st_contexts *c, const struct st_profile_label *in, struct st_context_label *out)
{
	const struct st_profile *p = c->profile;
	const struct st_profile_function *f =
	        in->function == UINT32_MAX ? NULL : &p->functions.v[in->function];
	*out = (struct st_context_label){
	        .name = label_name_of(c, in),
	        .image = in->image == UINT32_MAX ? NULL : p->images.v[in->image].path,
	        .file = in->file,
	        .offset = in->offset,
	        .inside = f ? (int64_t)(in->offset - f->offset) : 0,
	        .line = in->line,
	        .column = in->column,
	        .function = UINT32_MAX,
	        .in_image = in->image,
	        .in_function = in->function,
	        .root = in->image == UINT32_MAX && in->offset < ST_FIRST_PLACE,
	        .pruned = st_profile_label_is_pruned(in),
	        .kind = st_profile_label_kind(in)};
}

/* Makes labels of different processes that are one place one label. */
static st_status
merge_labels(struct st_context_maker *m)
{
	struct st_contexts *c = m->c;
	const struct st_profile *p = c->profile;
	uint32_t n = (uint32_t)p->labels.n, *order = malloc((n + 1) * sizeof *order);
	m->label_of = calloc(n + 1, sizeof *m->label_of);
	c->labels = calloc(n + 1, sizeof *c->labels);
	if (!order || !m->label_of || !c->labels) {
		free(order);
		return -1;
	}
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof *order, compare_places, (void *)(uintptr_t)p);
	for (uint32_t i = 0; i < n; i++) {
		const struct st_profile_label *l = &p->labels.v[order[i]];
		bool same = i && !compare_places(&order[i - 1], &order[i], (void *)(uintptr_t)p);
		if (!same)
			describe(c, l, &c->labels[c->n_labels++]);
		m->label_of[order[i]] = (uint32_t)c->n_labels - 1;
	}
	free(order);
	return 0;
}

/* A part of a function that stands elsewhere has labels of its own. */
static st_status
find_functions(struct st_contexts *c)
{
	size_t n = c->profile->functions.n;
	uint32_t *first = malloc((n + 1) * sizeof *first);
	if (!first)
		return -1;
	memset(first, 0xff, (n + 1) * sizeof *first);
	for (uint32_t i = 0; i < c->n_labels; i++) {
		struct st_context_label *l = &c->labels[i];
		l->function = i;
		if (c->mode == ST_CONTEXT_FUNC || l->in_function == UINT32_MAX)
			continue;
		if (first[l->in_function] == UINT32_MAX)
			first[l->in_function] = i;
		l->function = first[l->in_function];
	}
	free(first);
	return 0;
}

/* ---- pieces ---- */

struct st_context_pieces
st_contexts_pieces(const struct st_context_maker *m, uint32_t label)
{
	return (struct st_context_pieces){label, m->c->profile->labels.v[label].bytes};
}

uint32_t
st_contexts_next_piece(const struct st_context_maker *m, struct st_context_pieces *p)
{
	if (p->label == UINT32_MAX)
		return UINT32_MAX;
	const struct st_profile_label *l = &m->c->profile->labels.v[p->label];
	uint32_t label = m->label_of[p->label];
	bool last = m->c->pinned || !l->piece || l->piece >= p->left;
	p->label = last ? UINT32_MAX : l->next;
	p->left -= last ? 0 : l->piece;
	return label;
}

/* A block, or a piece of it, as it is shown: of all that were executed there the longest. */
static void
measure_label(const struct st_context_maker *m, const struct st_profile_label *in, uint32_t label)
{
	struct st_context_label *out = &m->c->labels[label];
	uint32_t bytes = m->c->pinned ? in->bytes : in->piece;
	if (bytes <= out->bytes)
		return;
	out->bytes = bytes;
	out->insns = in->insns;
}

/* Instructions of a whole block; 0: not known. */
static void
add_insns(const struct st_context_maker *m, uint32_t label)
{
	const struct st_profile *p = m->c->profile;
	struct st_context_label *out = &m->c->labels[m->label_of[label]];
	uint32_t left = p->labels.v[label].bytes, sum = 0;
	if (!m->c->pinned || left != out->bytes)
		return;
	for (uint32_t i = label; i != UINT32_MAX && left; i = p->labels.v[i].next) {
		const struct st_profile_label *l = &p->labels.v[i];
		if (!l->insns || l->piece > left)
			return;
		sum += l->insns;
		left -= l->piece;
	}
	out->insns = left ? 0 : sum;
}

/* Pieces of more than one block. */
static st_status
find_shared(struct st_context_maker *m)
{
	const struct st_profile *p = m->c->profile;
	uint32_t *owner = calloc(m->c->n_labels + 1, sizeof *owner), label;
	for (uint32_t i = 0; owner && i < p->labels.n; i++) {
		const struct st_profile_label *own = &p->labels.v[i];
		struct st_context_pieces pieces = st_contexts_pieces(m, i);
		if (!m->used[i])
			continue;
		while ((label = st_contexts_next_piece(m, &pieces)) != UINT32_MAX) {
			const struct st_profile_label *other =
			        owner[label] ? &p->labels.v[owner[label] - 1] : own;
			m->shared[label] |=
			        other->offset != own->offset || other->bytes != own->bytes;
			owner[label] = i + 1;
		}
	}
	free(owner);
	return owner ? 0 : -1;
}

static void
find_used(struct st_context_maker *m)
{
	const struct st_profile *p = m->c->profile;
	for (size_t i = 0; i < p->contexts.n; i++)
		m->used[p->contexts.v[i].label] = true;
	for (uint32_t i = 0; i < p->labels.n; i++) {
		struct st_context_pieces pieces = st_contexts_pieces(m, i);
		uint32_t at = i;
		for (; m->used[i] && at != UINT32_MAX; at = pieces.label) {
			uint32_t label = st_contexts_next_piece(m, &pieces);
			measure_label(m, &p->labels.v[at], label);
		}
	}
	for (uint32_t i = 0; i < p->labels.n; i++)
		if (m->used[i])
			add_insns(m, i);
}

st_status
st_contexts_make_labels(struct st_context_maker *m)
{
	const struct st_profile *p = m->c->profile;
	m->used = calloc(p->labels.n + 1, sizeof *m->used);
	m->shared = calloc(p->labels.n + 1, sizeof *m->shared);
	if (!m->used || !m->shared || merge_labels(m) || find_functions(m->c))
		return -1;
	find_used(m);
	return find_shared(m);
}

/* Labels are made when code is translated, which may never run. */
st_status
st_contexts_count_labels(struct st_contexts *c)
{
	bool *used = calloc(c->n_labels + 1, sizeof *used);
	for (size_t i = 0; used && i < c->n_labels; i++) {
		const struct st_context_label *l = &c->labels[i];
		if (!l->seen || l->root)
			continue;
		c->n_blocks += c->mode != ST_CONTEXT_FUNC;
		c->n_functions += !used[l->function];
		used[l->function] = true;
	}
	free(used);
	return used ? 0 : -1;
}
