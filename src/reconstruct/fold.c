/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reconstruct/fold.h"

enum { LONGEST = 64 }; /* items of a body */

static bool
is_same(const struct st_fold_item *a, const struct st_fold_item *b, size_t n)
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

static size_t
hash(const struct st_fold_item *items, size_t n)
{
	uint64_t h = n;
	for (size_t i = 0; i < n; i++)
		h = (h ^ items[i].id ^ items[i].times << 32) * 0x9e3779b97f4a7c15u;
	return (size_t)(h ^ h >> 29);
}

static uint32_t *
slot_of(const struct st_fold *f, const struct st_fold_item *items, uint32_t n)
{
	size_t at = hash(items, n) & (f->size - 1);
	for (; f->slots[at]; at = (at + 1) & (f->size - 1)) {
		const struct st_fold_body *b = &f->bodies.v[f->slots[at] - 1];
		if (b->n == n && is_same(f->members.v + b->first, items, n))
			break;
	}
	return &f->slots[at];
}

static int
grow(struct st_fold *f)
{
	free(f->slots);
	f->size = f->size ? 2 * f->size : 1024;
	f->slots = calloc(f->size, sizeof *f->slots);
	for (size_t i = 0; f->slots && i < f->bodies.n; i++) {
		const struct st_fold_body *b = &f->bodies.v[i];
		*slot_of(f, f->members.v + b->first, b->n) = (uint32_t)i + 1;
	}
	return f->slots ? 0 : -1;
}

/* The id of a body with these items; 0: no memory. */
static uint32_t
body_of(struct st_fold *f, const struct st_fold_item *items, uint32_t n)
{
	if (2 * (f->bodies.n + 1) > f->size && grow(f))
		return 0;
	uint32_t *slot = slot_of(f, items, n);
	if (!*slot) {
		uint32_t first = (uint32_t)f->members.n;
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
		*slot = (uint32_t)f->bodies.n;
	}
	return ST_FOLD_BODY + *slot - 1;
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
	return members == n && is_same(m, last, n);
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
		if (to->n < 2 * n || !is_same(end - n, end - 2 * (size_t)n, n))
			continue;
		uint32_t id = body_of(f, end - n, n);
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
	free(f->slots);
	*f = (struct st_fold){0};
}
