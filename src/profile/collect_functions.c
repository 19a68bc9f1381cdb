/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks and samples of one image to its functions. */
#include "profile/collect.h"

#include "wire/results.h"

/* Where the walk over an image's offsets stands. */
struct walk {
	struct st_collect *c;
	const struct st_collect_range *range;
	const struct st_function
	        *symbol;   /* the function of the last offset; NULL: in no function */
	uint32_t function; /* its index in the profile */
	uint32_t stray;    /* index of the stand-in for code outside functions */
};

static struct st_profile_function *
add_function(struct walk *w)
{
	struct st_profile_function *f = ST_PUSH(&w->c->profile->functions);
	if (!f)
		return NULL;
	f->image = w->range->image;
	f->calls_exact = true;
	return f;
}

static int
add_symbol(struct walk *w, const struct st_function *symbol)
{
	struct st_image *image = w->c->opened.v[w->range->image];
	struct st_profile_function *f = add_function(w);
	struct st_line line;
	if (!f)
		return -1;
	f->offset = symbol->offset;
	f->size = symbol->size;
	f->name = st_profile_text(w->c->profile, symbol->name);
	if (!st_image_line(image, symbol->offset, &line) && line.file) {
		f->file = st_collect_intern(w->c, line.file);
		f->line = line.line;
	}
	w->symbol = symbol;
	w->function = (uint32_t)w->c->profile->functions.n - 1;
	return 0;
}

/* Steps to an offset, which must not be less than the one before. 0, or -1 when memory is
 * exhausted. */
static int
step(struct walk *w, uint64_t offset, uint32_t *function)
{
	struct st_image *image = w->c->opened.v[w->range->image];
	if (!w->symbol || offset - w->symbol->offset >= w->symbol->size) {
		const struct st_function *symbol = image ? st_image_function(image, offset) : NULL;
		if (symbol && symbol != w->symbol && add_symbol(w, symbol))
			return -1;
		w->symbol = symbol;
	}
	*function = w->symbol ? w->function : UINT32_MAX;
	return 0;
}

/* Code that no function holds gets one stand-in per image, after the image's functions. */
static int
add_stray(struct walk *w)
{
	struct st_profile *p = w->c->profile;
	struct st_profile_function *f = add_function(w);
	if (!f)
		return -1;
	bool anon = w->range->image == w->c->anon;
	f->name = anon ? "[generated code]" : "[no symbol]";
	w->stray = (uint32_t)p->functions.n - 1;
	return 0;
}

static int
settle(struct walk *w, uint32_t *function)
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

static int
count_blocks(struct walk *w)
{
	struct st_profile *p = w->c->profile;
	struct st_profile_image *image = &p->images.v[w->range->image];
	for (size_t i = w->range->block; i < w->range->block_end; i++) {
		struct st_profile_block *b = &p->blocks.v[i];
		if (settle(w, &b->function))
			return -1;
		struct st_profile_function *f = &p->functions.v[b->function];
		f->executions += b->executions;
		f->instructions += b->instructions;
		image->executions += b->executions;
		image->instructions += b->instructions;
	}
	return 0;
}

static int
count_hits(struct walk *w)
{
	struct st_profile *p = w->c->profile;
	for (size_t i = w->range->hit; i < w->range->hit_end; i++) {
		struct st_hit *h = &w->c->hits.v[i];
		if (settle(w, &h->function))
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

int
st_collect_functions(struct st_collect *c, struct st_collect_range *r)
{
	struct st_profile *p = c->profile;
	struct walk w = {.c = c, .range = r, .stray = UINT32_MAX};
	size_t i = r->block, j = r->hit;
	r->function = p->functions.n;
	while (i < r->block_end || j < r->hit_end) {
		bool block = j >= r->hit_end ||
		             (i < r->block_end && p->blocks.v[i].offset <= c->hits.v[j].offset);
		int status = block ? step(&w, p->blocks.v[i].offset, &p->blocks.v[i].function)
		                   : step(&w, c->hits.v[j].offset, &c->hits.v[j].function);
		if (status)
			return -1;
		i += block;
		j += !block;
	}
	if (count_blocks(&w) || count_hits(&w))
		return -1;
	r->function_end = p->functions.n;
	return 0;
}
