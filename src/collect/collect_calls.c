/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How often each function was called: executions of the blocks at its entry, less the loops back to
 * the entry from inside the function. An unconditional jump back counts as often as its block ran.
 * A conditional branch back counts as often as it was taken: its block's executions less those of
 * the block it falls through to, when nothing else leads there. Where that cannot be known the
 * count stays an upper bound and is marked so.
 */
#include "collect/collect.h"

#include "wire/results/header.h"

/* Targets of all direct jumps of the image, ordered; made when first needed. */
struct targets {
	uint64_t *v;
	size_t n;
};

/* The function's blocks are v[0..n), ordered by offset. */
struct body {
	const struct st_profile_block *v;
	size_t n;
};

static int
number_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static st_status
collect_targets(struct body image, struct targets *t)
{
	if (t->v)
		return 0;
	t->v = calloc(image.n, sizeof *t->v);
	if (!t->v)
		return -1;
	for (size_t i = 0; i < image.n; i++)
		if (image.v[i].target != UINT64_MAX)
			t->v[t->n++] = image.v[i].target;
	qsort(t->v, t->n, sizeof *t->v, number_order);
	return 0;
}

static uint64_t
executions_at(struct body body, uint64_t offset)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < body.n; i++)
		if (body.v[i].offset == offset)
			sum += body.v[i].executions;
	return sum;
}

static bool
has_indirect_jump(struct body body)
{
	for (size_t i = 0; i < body.n; i++)
		if (body.v[i].end == ST_END_IJUMP)
			return true;
	return false;
}

/* Whether control can come to `offset` only by falling through the branch that ends there. */
static bool
only_falls_to(struct body body, const struct targets *t, uint64_t offset)
{
	if (t->n && bsearch(&offset, t->v, t->n, sizeof *t->v, number_order))
		return false;
	for (size_t i = 0; i < body.n; i++)
		if (body.v[i].offset + body.v[i].bytes == offset && body.v[i].end != ST_END_BRANCH)
			return false;
	return true;
}

/* Executions of the branch instruction that ends at `offset`: of all blocks that end with it. */
static uint64_t
executions_until(struct body body, uint64_t offset)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < body.n; i++)
		if (body.v[i].offset + body.v[i].bytes == offset)
			sum += body.v[i].executions;
	return sum;
}

static bool
seen_before(struct body body, size_t i, uint64_t entry)
{
	uint64_t end = body.v[i].offset + body.v[i].bytes;
	for (size_t j = 0; j < i; j++)
		if (body.v[j].offset + body.v[j].bytes == end && body.v[j].target == entry &&
		    body.v[j].end == ST_END_BRANCH)
			return true;
	return false;
}

static st_status
count_calls(struct body image, struct targets *t, struct st_profile_function *f, struct body body)
{
	uint64_t back = 0;
	for (size_t i = 0; i < body.n; i++) {
		const struct st_profile_block *b = &body.v[i];
		if (b->target != f->offset)
			continue;
		if (b->end == ST_END_JUMP)
			back += b->executions;
		if (b->end != ST_END_BRANCH || seen_before(body, i, f->offset))
			continue;
		if (collect_targets(image, t))
			return -1;
		uint64_t fall = b->offset + b->bytes;
		uint64_t taken = executions_until(body, fall), fell = executions_at(body, fall);
		if (fell <= taken && !has_indirect_jump(body) && only_falls_to(body, t, fall))
			back += taken - fell;
		else
			f->calls_exact = false;
	}
	uint64_t entered = executions_at(body, f->offset);
	f->calls = entered > back ? entered - back : 0;
	return 0;
}

st_status
st_collect_count_calls(const struct st_profile_block *blocks, size_t n,
                       struct st_profile_function *functions)
{
	const struct body image = {blocks, n};
	struct targets targets = {0};
	int status = 0;
	for (size_t i = 0; i < n && !status;) {
		const uint32_t function = blocks[i].function;
		size_t end = i + 1;
		while (end < n && blocks[end].function == function)
			end++;
		struct st_profile_function *f = &functions[function];
		/* Stray code has no entry, so no calls. */
		if (f->size)
			status =
			        count_calls(image, &targets, f, (struct body){&blocks[i], end - i});
		i = end;
	}
	free(targets.v);
	return status;
}

st_status
st_collect_calls(struct st_collect *c, const struct st_collect_range *r)
{
	return st_collect_count_calls(r->blocks, r->n_blocks, c->profile->functions.v);
}
