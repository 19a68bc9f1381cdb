/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reconstruct/code.h"

static uint32_t
hash_place(uint32_t image, uint64_t offset)
{
	return st_hash_numbers(offset, image);
}

st_status
st_code_add_image(struct st_code *c, uint32_t index, struct st_image *image, const char *path)
{
	while (c->images.n <= index)
		if (!ST_PUSH(&c->images))
			return -1;
	c->images.v[index].image = image;
	c->images.v[index].path = path;
	return 0;
}

struct st_image *
st_code_image(const struct st_code *c, uint32_t index)
{
	return index < c->images.n ? c->images.v[index].image : NULL;
}

uint32_t
st_code_place(struct st_code *c, uint32_t image, uint64_t offset)
{
	const uint32_t hash = hash_place(image, offset);
	const uint32_t known =
	        ST_HASHMAP_FIND(&c->index, hash, i,
	                        c->places.v[i].image == image && c->places.v[i].offset == offset);
	if (known != ST_HASHMAP_NONE)
		return known;
	struct st_place *p = ST_PUSH(&c->places);
	if (!p)
		return UINT32_MAX;
	struct st_image *of = st_code_image(c, image);
	*p = (struct st_place){.image = image, .offset = offset, .lengths = c->lengths.n};
	p->piece = of ? st_piece_read(of, offset, &c->lengths)
	              : (struct st_piece){offset, offset, offset, 0, ST_PIECE_UNKNOWN};
	p->n_insns = c->lengths.n - p->lengths;
	const uint32_t new = (uint32_t)c->places.n - 1;
	return st_hashmap_add(&c->index, hash, new) ? UINT32_MAX : new;
}

struct st_piece
st_code_piece(struct st_code *c, uint32_t image, uint64_t offset,
              bool (*stops)(const void *context, uint64_t at), const void *context)
{
	uint32_t index = st_code_place(c, image, offset);
	if (index == UINT32_MAX)
		return (struct st_piece){offset, offset, offset, 0, ST_PIECE_UNKNOWN};
	const struct st_place *p = &c->places.v[index];
	uint64_t at = offset;
	for (size_t i = 0; i + 1 < p->n_insns; i++) {
		uint64_t before = at;
		at += c->lengths.v[p->lengths + i];
		if (stops(context, at))
			return (struct st_piece){offset, before, at, 0, ST_PIECE_FALLS};
	}
	return p->piece;
}

const struct st_function *
st_code_function(struct st_image *image, uint64_t offset)
{
	const struct st_function *f = st_image_function(image, offset);
	const struct st_function *whole =
	        f && f->whole != f->offset ? st_image_function(image, f->whole) : NULL;
	return whole ? whole : f;
}

bool
st_code_is_same(const struct st_function *a, const struct st_function *b)
{
	return a == b || (a && b && a->offset == b->offset);
}

/* ---- jumps into the middle of functions ---- */

static bool
is_direct(enum st_piece_end how)
{
	return how == ST_PIECE_JUMP || how == ST_PIECE_CONDITIONAL || how == ST_PIECE_CALL;
}

static st_status
scan_function(struct st_code_image *i, const struct st_function *f)
{
	for (uint64_t at = f->offset; at - f->offset < f->size;) {
		struct st_piece p = st_piece_read(i->image, at, NULL);
		at = p.end > at ? p.end : at + 1;
		if (!is_direct(p.how))
			continue;
		const struct st_function *to = st_code_function(i->image, p.target);
		const struct st_function *from = st_code_function(i->image, p.last);
		if (!to || st_code_is_same(to, from) || to->offset == p.target)
			continue;
		uint64_t *entry = ST_PUSH(&i->foreign);
		if (!entry)
			return -1;
		*entry = p.target;
	}
	return 0;
}

static int
code_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

const uint64_t *
st_code_foreign(struct st_code *c, uint32_t image, size_t *n)
{
	struct st_code_image *i = &c->images.v[image];
	size_t functions;
	if (!i->scanned) {
		const struct st_function *f = st_image_functions(i->image, &functions);
		for (size_t k = 0; k < functions; k++)
			if (scan_function(i, &f[k]))
				break;
		if (i->foreign.n)
			qsort(i->foreign.v, i->foreign.n, sizeof *i->foreign.v, code_order);
		i->scanned = true;
	}
	*n = i->foreign.n;
	return i->foreign.v;
}

void
st_code_free(struct st_code *c)
{
	for (size_t i = 0; i < c->images.n; i++)
		free(c->images.v[i].foreign.v);
	free(c->images.v);
	free(c->places.v);
	free(c->lengths.v);
	st_hashmap_free(&c->index);
	*c = (struct st_code){0};
}
