/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks and samples of one image to its functions. */
#include "base/order.h"
#include "collect/collect.h"

#include "wire/results/header.h"

/* Where the walk over an image's offsets stands. */
struct walk {
	struct st_collect *c;
	struct st_collect_range *range;
	const struct st_function *last; /* that of the last offset; NULL: in no function */
	/* The functions met, each once; with folded they are not in order, and may be there twice:
	 * that of a part that stands elsewhere was met there, too. */
	ST_VEC(const struct st_function *) found;
	bool folded;
	uint32_t stray; /* index of the stand-in for code outside functions */
};

static struct st_profile_function *
collect_functions_add_function(struct walk *w)
{
	struct st_profile_function *f = ST_PUSH(&w->c->profile->functions);
	if (!f)
		return NULL;
	f->image = w->range->image;
	f->calls_exact = true;
	return f;
}

/* The last function's other names: several symbols of C++ may read the same. */
static st_status
add_aliases(struct st_profile *p, struct st_image *image, const struct st_function *symbol)
{
	size_t first = p->aliases.n;
	const char *name;
	for (size_t i = 0; (name = st_image_other_name(image, symbol, i)); i++) {
		size_t k = first;
		while (k < p->aliases.n && strcmp(p->aliases.v[k].name, name))
			k++;
		if (k < p->aliases.n || !strcmp(name, symbol->name))
			continue;
		struct st_profile_alias *alias = ST_PUSH(&p->aliases);
		if (!alias)
			return -1;
		alias->function = (uint32_t)p->functions.n - 1;
		alias->name = st_profile_text(p, name);
	}
	return 0;
}

static st_status
add_symbol(struct walk *w, const struct st_function *symbol)
{
	struct st_image *image = w->c->opened.v[w->range->image];
	struct st_profile_function *f = collect_functions_add_function(w);
	struct st_line line;
	if (!f)
		return -1;
	f->offset = symbol->offset;
	f->size = symbol->size;
	f->name = st_profile_text(w->c->profile, symbol->name);
	if (image && !st_image_function_line(image, symbol->offset, &line) && line.file) {
		f->file = st_collect_intern(w->c, line.file);
		f->line = line.line;
	}
	return image ? add_aliases(w->c->profile, image, symbol) : 0;
}

/* Remembers the function, for a part that of which it is one. */
static st_status
meet(struct walk *w, struct st_image *image, const struct st_function *symbol)
{
	const struct st_function **slot = ST_PUSH(&w->found);
	if (!slot)
		return -1;
	*slot = symbol;
	if (symbol->whole != symbol->offset) {
		const struct st_function *whole = st_image_function(image, symbol->whole);
		*slot = whole ? whole : symbol;
		w->folded = true;
	}
	return 0;
}

/* Steps to an offset, which must not be less than the one before; *function becomes the index in
 * w->found. 0, or -1 when memory is exhausted. */
static st_status
collect_functions_step(struct walk *w, uint64_t offset, uint32_t *function)
{
	struct st_image *image = w->c->opened.v[w->range->image];
	const struct st_perf_map *map = w->c->maps.v[w->range->image];
	if (!w->last || offset - w->last->offset >= w->last->size) {
		const struct st_function *symbol = image ? st_image_function(image, offset)
		                                   : map ? st_perf_map_function(map, offset)
		                                         : NULL;
		if (symbol && symbol != w->last && meet(w, image, symbol))
			return -1;
		w->last = symbol;
	}
	*function = w->last ? (uint32_t)w->found.n - 1 : UINT32_MAX;
	return 0;
}

static int
found_order(const void *a, const void *b)
{
	const struct st_function *const *x = *(const struct st_function *const *const *)a;
	const struct st_function *const *y = *(const struct st_function *const *const *)b;
	return (*x)->offset < (*y)->offset ? -1 : (*x)->offset > (*y)->offset;
}

/* Adds the functions that were met to the profile, in order; index[i] becomes that of found[i]. */
static st_status
add_found(struct walk *w, uint32_t *index)
{
	size_t n = w->found.n;
	const struct st_function ***order = calloc(n ? n : 1, sizeof *order);
	const struct st_function *last = NULL;
	int status = order ? 0 : -1;
	for (size_t i = 0; order && i < n; i++)
		order[i] = &w->found.v[i];
	if (order && w->folded)
		st_order(order, n, sizeof *order, found_order);
	for (size_t i = 0; i < n && !status; i++) {
		if (!last || last->offset != (*order[i])->offset)
			status = add_symbol(w, *order[i]);
		last = *order[i];
		index[order[i] - w->found.v] = (uint32_t)w->c->profile->functions.n - 1;
	}
	free(order);
	return status;
}

/* From indices in w->found to indices in the profile. */
static st_status
place_functions(struct walk *w)
{
	uint32_t *index = calloc(w->found.n ? w->found.n : 1, sizeof *index);
	int status = index ? add_found(w, index) : -1;
	struct st_profile_block *b = w->c->profile->blocks.v;
	struct st_hit *h = w->c->hits.v;
	for (size_t i = w->range->block; i < w->range->block_end && !status; i++)
		if (b[i].function != UINT32_MAX)
			b[i].function = index[b[i].function];
	for (size_t i = w->range->hit; i < w->range->hit_end && !status; i++)
		if (h[i].function != UINT32_MAX)
			h[i].function = index[h[i].function];
	free(index);
	return status;
}

/* Code that no function holds gets one stand-in per image, after the image's functions. */
static st_status
add_stray(struct walk *w)
{
	struct st_profile *p = w->c->profile;
	struct st_profile_function *f = collect_functions_add_function(w);
	if (!f)
		return -1;
	bool anon = !strcmp(p->images.v[w->range->image].path, ST_ANON_IMAGE);
	f->name = anon ? "[generated code]" : "[no symbol]";
	w->stray = (uint32_t)p->functions.n - 1;
	return 0;
}

static st_status
collect_functions_settle(struct walk *w, uint32_t *function)
{
	if (*function != UINT32_MAX)
		return 0;
	if (w->stray == UINT32_MAX && add_stray(w))
		return -1;
	*function = w->stray;
	return 0;
}

/* The block a sample fell into: of overlapping ones the one that starts last. */
static struct st_profile_block *
block_at(struct st_profile *p, const struct st_collect_range *r, uint64_t offset)
{
	size_t low = r->block, high = r->block_end;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (p->blocks.v[mid].offset <= offset)
			low = mid + 1;
		else
			high = mid;
	}
	enum { LOOK_BACK = 64 }; /* blocks are short: what starts further back ends before */
	for (int i = 0; i < LOOK_BACK && low > r->block; i++, low--)
		if (offset - p->blocks.v[low - 1].offset < p->blocks.v[low - 1].bytes)
			return &p->blocks.v[low - 1];
	return NULL;
}

static st_status
count_blocks(struct walk *w)
{
	struct st_profile *p = w->c->profile;
	struct st_profile_image *image = &p->images.v[w->range->image];
	for (size_t i = w->range->block; i < w->range->block_end; i++) {
		struct st_profile_block *b = &p->blocks.v[i];
		if (collect_functions_settle(w, &b->function))
			return -1;
		struct st_profile_function *f = &p->functions.v[b->function];
		f->executions += b->executions;
		f->instructions += b->instructions;
		image->executions += b->executions;
		image->instructions += b->instructions;
	}
	return 0;
}

static st_status
count_hits(struct walk *w)
{
	struct st_profile *p = w->c->profile;
	for (size_t i = w->range->hit; i < w->range->hit_end; i++) {
		struct st_hit *h = &w->c->hits.v[i];
		if (collect_functions_settle(w, &h->function))
			return -1;
		struct st_profile_function *f = &p->functions.v[h->function];
		if (h->where == ST_HIT_FRAME)
			continue;
		if (h->where == ST_SAMPLE_SYSCALL) {
			f->samples_kernel += h->count;
		} else if (h->where != ST_SAMPLE_CODE) {
			f->samples_engine += h->count;
		} else {
			struct st_profile_block *b = block_at(p, w->range, h->offset);
			f->samples += h->count;
			p->images.v[w->range->image].samples += h->count;
			if (b)
				b->samples += h->count;
		}
	}
	return 0;
}

static st_status
walk_offsets(struct walk *w)
{
	struct st_profile_block *b = w->c->profile->blocks.v;
	struct st_hit *h = w->c->hits.v;
	const struct st_collect_range *r = w->range;
	size_t i = r->block, j = r->hit;
	while (i < r->block_end || j < r->hit_end) {
		bool block = j >= r->hit_end || (i < r->block_end && b[i].offset <= h[j].offset);
		if (block ? collect_functions_step(w, b[i].offset, &b[i].function)
		          : collect_functions_step(w, h[j].offset, &h[j].function))
			return -1;
		i += block;
		j += !block;
	}
	return 0;
}

int
st_collect_function_order(const void *a, const void *b)
{
	const struct st_profile_block *x = a, *y = b;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

static int
collect_functions_hit_order(const void *a, const void *b)
{
	const struct st_hit *x = a, *y = b;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->where < y->where ? -1 : x->where > y->where;
}

/* A copy in another order, for *copy to free; NULL: no memory. */
static const void *
ordered(const void *v, size_t n, size_t size, int (*order)(const void *, const void *), void **copy)
{
	*copy = calloc(n ? n : 1, size);
	if (*copy && n) {
		memcpy(*copy, v, n * size);
		st_order(*copy, n, size, order);
	}
	return *copy;
}

static st_status
order_by_function(struct walk *w)
{
	struct st_collect_range *r = w->range;
	r->blocks = w->c->profile->blocks.v + r->block;
	r->n_blocks = r->block_end - r->block;
	r->by_function = w->c->hits.v + r->hit;
	r->n_hits = r->hit_end - r->hit;
	if (!w->folded)
		return 0;
	r->blocks = ordered(r->blocks, r->n_blocks, sizeof *r->blocks, st_collect_function_order,
	                    &r->copies[0]);
	r->by_function = ordered(r->by_function, r->n_hits, sizeof *r->by_function,
	                         collect_functions_hit_order, &r->copies[1]);
	return r->blocks && r->by_function ? 0 : -1;
}

void
st_collect_range_release(struct st_collect_range *r)
{
	for (int i = 0; i < 2; i++) {
		free(r->copies[i]);
		r->copies[i] = NULL;
	}
}

st_status
st_collect_functions(struct st_collect *c, struct st_collect_range *r)
{
	struct walk w = {.c = c, .range = r, .stray = UINT32_MAX};
	r->function = c->profile->functions.n;
	int status = walk_offsets(&w) || place_functions(&w) || count_blocks(&w) ||
	             count_hits(&w) || order_by_function(&w);
	free(w.found.v);
	r->function_end = c->profile->functions.n;
	return status ? -1 : 0;
}
