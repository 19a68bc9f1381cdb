/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From program addresses to (image, offset), and the merging of what several processes did at one
 * place. */
#include "base/order.h"
#include "collect/ahead.h"
#include "collect/collect.h"
#include "collect/spans.h"

const char *
st_collect_intern(struct st_collect *c, const char *text)
{
	const uint32_t hash = st_hash_text(text);
	const uint32_t known =
	        ST_HASHMAP_FIND(&c->interned_index, hash, i, !strcmp(c->interned.v[i], text));
	if (known != ST_HASHMAP_NONE)
		return c->interned.v[known];
	const char **new = ST_PUSH(&c->interned);
	if (!new || st_hashmap_add(&c->interned_index, hash, (uint32_t)c->interned.n - 1)) {
		c->interned.n -= new != NULL;
		c->profile->out_of_memory = true;
		return "";
	}
	return *new = st_profile_text(c->profile, text);
}

st_status
st_collect_add_image(struct st_collect *c, const char *path, uint32_t *index)
{
	struct st_profile *p = c->profile;
	struct st_error e;
	struct st_image **opened = ST_PUSH(&c->opened);
	struct st_perf_map **map = ST_PUSH(&c->maps);
	struct st_profile_image *image = ST_PUSH(&p->images);
	if (!opened || !map || !image)
		return -1;
	*index = (uint32_t)p->images.n - 1;
	image->path = st_profile_text(p, path);
	image->build_id = "";
	image->symbols = "none";
	if (!strcmp(path, ST_ANON_IMAGE))
		return 0;
	*opened = st_ahead_take(c->origin->ahead, path);
	if (!*opened)
		*opened = st_image_open(path, &e);
	if (*opened) {
		image->build_id = st_profile_text(p, st_image_build_id(*opened));
		image->symbols = st_profile_text(p, st_image_quality(*opened));
	} else {
		st_profile_note(p, "no symbols for %s: %s", path, e.text);
	}
	return 0;
}

static st_status
collect_places_find_image(struct st_collect *c, const char *path, uint32_t *index)
{
	struct st_profile *p = c->profile;
	*index = c->last_image;
	if (path == c->last_path)
		return 0;
	c->last_path = NULL;
	uint32_t i = 0;
	while (i < p->images.n && strcmp(p->images.v[i].path, path))
		i++;
	if (i == p->images.n && st_collect_add_image(c, path, &i))
		return -1;
	*index = c->last_image = i;
	c->last_path = path;
	return 0;
}

/* Some compilers write their code through a file in memory: when the process has names for
 * generated code, they are for that. */
static bool
is_generated(struct st_collect *c, const char *path)
{
	static const char in_memory[] = "/memfd:";
	if (strncmp(path, in_memory, sizeof in_memory - 1) != 0)
		return false;
	return (c->anon != UINT32_MAX || st_collect_generated(c) == 0) && c->maps.v[c->anon];
}

st_status
st_collect_place(struct st_collect *c, const struct st_view *v, uint32_t map, uint64_t address,
                 uint32_t *image, uint64_t *offset)
{
	const struct st_map *m = &v->maps[map];
	const char *path = m->path ? st_view_string(v, m->path) : "";
	if (*path && !is_generated(c, path)) {
		if (collect_places_find_image(c, path, image))
			return -1;
		uint64_t in_file = m->pgoff + (address - m->start);
		struct st_image *opened = c->opened.v[*image];
		*offset = opened ? st_image_offset_of_file(opened, in_file) : in_file;
		if (*offset != UINT64_MAX)
			return 0;
	}
	/* Generated code, or code in a part of a file that its headers do not load. */
	if (c->anon == UINT32_MAX && st_collect_generated(c))
		return -1;
	*image = c->anon;
	*offset = address;
	return 0;
}

/* The target of a direct jump as an offset of the image that the block is in. */
static uint64_t
target_offset(const struct st_block *b, uint64_t offset)
{
	/* A direct jump stays in its image, and images are mapped as they were linked: distances
	 * are kept. */
	return b->target ? offset + (b->target - b->pc) : UINT64_MAX;
}

/* Whether a block is one and can be true: the program could have written over its own results. */
static bool
collect_places_sane(const struct st_view *v, const struct st_block *b)
{
	enum { LONGEST = 1 << 20 }; /* bytes; far beyond what the engine puts in one block */
	return b->map < v->n_maps && b->bytes && b->bytes <= LONGEST && b->n_insns <= b->bytes;
}

st_status
st_collect_blocks(struct st_collect *c, const struct st_view *v,
                  const struct st_view_counts *counts)
{
	for (uint32_t i = ST_FIRST_ID; i < v->n_blocks; i++) {
		const struct st_block *b = &v->blocks[i];
		if ((!counts->executions[i] && !counts->partial[i]) || !collect_places_sane(v, b))
			continue;
		struct st_profile_block *out = ST_PUSH(&c->profile->blocks);
		if (!out || st_collect_place(c, v, b->map, b->pc, &out->image, &out->offset))
			return -1;
		out->target = target_offset(b, out->offset);
		out->bytes = b->bytes;
		out->insns = b->n_insns;
		out->end = b->end;
		out->executions = counts->executions[i];
		out->instructions = counts->executions[i] * b->n_insns + counts->partial[i];
	}
	return 0;
}

static st_status
add_hit(struct st_collect *c, const struct st_view *v, const struct st_span *spans,
        const struct st_sample *s)
{
	struct st_profile_run *run = &c->profile->run;
	if (s->where == ST_SAMPLE_CODE)
		run->samples_code++;
	else if (s->where == ST_SAMPLE_SYSCALL)
		run->samples_kernel++;
	else
		run->samples_engine++;
	int64_t map = st_spans_find(v, spans, s->pc);
	/* In the engine before the first block, or in code that is gone: no place, but the time
	 * counts. */
	if (map < 0)
		return 0;
	struct st_hit *hit = ST_PUSH(&c->hits);
	if (!hit || st_collect_place(c, v, (uint32_t)map, s->pc, &hit->image, &hit->offset))
		return -1;
	hit->where = s->where;
	hit->count = 1;
	return 0;
}

st_status
st_collect_samples(struct st_collect *c, const struct st_view *v)
{
	struct st_span *spans = st_spans_new(v);
	int status = spans ? 0 : -1;
	for (uint32_t i = 0; i < v->n_samples && !status; i++)
		status = add_hit(c, v, spans, &v->samples[i]);
	free(spans);
	return status;
}

int
st_collect_block_order(const void *a, const void *b)
{
	const struct st_profile_block *x = a, *y = b;
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	if (x->insns != y->insns)
		return x->insns < y->insns ? -1 : 1;
	return x->target < y->target ? -1 : x->target > y->target;
}

static int
collect_places_hit_order(const void *a, const void *b)
{
	const struct st_hit *x = a, *y = b;
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->where < y->where ? -1 : x->where > y->where;
}

void
st_collect_merge(struct st_collect *c)
{
	struct st_profile_block *b = c->profile->blocks.v;
	size_t n = 0;
	st_order(b, c->profile->blocks.n, sizeof *b, st_collect_block_order);
	for (size_t i = 0; i < c->profile->blocks.n; i++) {
		if (n && !st_collect_block_order(&b[n - 1], &b[i])) {
			b[n - 1].executions += b[i].executions;
			b[n - 1].instructions += b[i].instructions;
		} else {
			b[n++] = b[i];
		}
	}
	c->profile->blocks.n = n;
	struct st_hit *h = c->hits.v;
	n = 0;
	st_order(h, c->hits.n, sizeof *h, collect_places_hit_order);
	for (size_t i = 0; i < c->hits.n; i++) {
		if (n && !collect_places_hit_order(&h[n - 1], &h[i]))
			h[n - 1].count += h[i].count;
		else
			h[n++] = h[i];
	}
	c->hits.n = n;
}
