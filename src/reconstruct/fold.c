/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reconstruct/fold.h"

enum { LONGEST = 64 }; /* items of a body */

static bool
fold_is_same(const struct st_fold_item *a, const struct st_fold_item *b, size_t n)
{
	for (size_t i = n; i-- > 0;)
		if (a[i].id != b[i].id || a[i].times != b[i].times)
			return false;
	return true;
}

const struct st_fold_item *
st_fold_members(const struct st_fold *f, uint32_t id, uint32_t *n)
{
	const struct st_fold_body *b = &f->bodies.v[id - ST_FOLD_BODY];
	*n = b->n;
	return f->members.v + b->first;
}

static uint32_t
hash_items(const struct st_fold_item *items, size_t n)
{
	uint64_t h = n;
	for (size_t i = 0; i < n; i++)
		h = (h ^ items[i].id ^ items[i].times << 32) * 0x9e3779b97f4a7c15u;
	return (uint32_t)(h ^ h >> 29);
}

static uint32_t
find_body(const struct st_fold *f, const struct st_fold_item *items, uint32_t n, uint32_t hash)
{
	const struct st_fold_body *b = f->bodies.v;
	return ST_HASHMAP_FIND(&f->index, hash, i,
	                       b[i].n == n && fold_is_same(f->members.v + b[i].first, items, n));
}

/* The id of a body with these items; 0: no memory. */
static uint32_t
fold_body_of(struct st_fold *f, const struct st_fold_item *items, uint32_t n)
{
	const uint32_t hash = hash_items(items, n);
	const uint32_t known = find_body(f, items, n, hash);
	if (known != ST_HASHMAP_NONE)
		return ST_FOLD_BODY + known;
	const uint32_t first = (uint32_t)f->members.n, new = (uint32_t)f->bodies.n;
	for (uint32_t i = 0; i < n; i++) {
		struct st_fold_item *member = ST_PUSH(&f->members);
		if (!member)
			return 0;
		*member = items[i];
	}
	struct st_fold_body *body = ST_PUSH(&f->bodies);
	if (!body)
		return 0;
	*body = (struct st_fold_body){first, n};
	return st_hashmap_add(&f->index, hash, new) ? 0 : ST_FOLD_BODY + new;
}

/* Whether the item before the last n is a body of just these. */
static bool
repeats_body(const struct st_fold *f, const st_fold_items *to, size_t n)
{
	const struct st_fold_item *last = to->v + to->n - n;
	if (to->n <= n || last[-1].id < ST_FOLD_BODY)
		return false;
	uint32_t members;
	const struct st_fold_item *m = st_fold_members(f, last[-1].id, &members);
	return members == n && fold_is_same(m, last, n);
}

/* One step that makes the end shorter. 1, 0 when there is none, or -1. */
static int
shorten(struct st_fold *f, st_fold_items *to)
{
	struct st_fold_item *end = to->v + to->n;
	if (to->n > 1 && end[-1].id == end[-2].id) {
		end[-2].times += end[-1].times;
		to->n--;
		return 1;
	}
	for (uint32_t n = 2; n <= LONGEST && n < to->n; n++) {
		if (repeats_body(f, to, n)) {
			end[-(ptrdiff_t)n - 1].times++;
			to->n -= n;
			return 1;
		}
		if (to->n < 2 * n || !fold_is_same(end - n, end - 2 * (size_t)n, n))
			continue;
		uint32_t id = fold_body_of(f, end - n, n);
		if (!id)
			return -1;
		to->n -= 2 * (size_t)n - 1;
		to->v[to->n - 1] = (struct st_fold_item){id, 2};
		return 1;
	}
	return 0;
}

int
st_fold_push(struct st_fold *f, st_fold_items *to, uint32_t number)
{
	struct st_fold_item *item = ST_PUSH(to);
	if (!item)
		return -1;
	*item = (struct st_fold_item){number, 1};
	int more;
	while ((more = shorten(f, to)) > 0)
		;
	return more;
}

void
st_fold_free(struct st_fold *f)
{
	free(f->members.v);
	free(f->bodies.v);
	st_hashmap_free(&f->index);
	*f = (struct st_fold){0};
}
