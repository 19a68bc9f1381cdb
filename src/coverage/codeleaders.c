/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "coverage/codeleaders.h"

#include <stdlib.h>

#include "base/vec.h"
#include "control/run.h"

struct file {
	struct st_image *image;
	struct st_leaders *leaders; /* NULL: there is no memory */
	/* st_image_sum of its last mapping. */
	uint64_t pgoff, bytes, sum;
};

/* The parts of a mapping that a process has been told of. Results may move in memory, but their
 * begin times differ. */
struct told {
	uint64_t begin;
	uint32_t map;
	uint8_t *bits; /* NULL: there is no memory */
};

struct st_codeleaders {
	ST_VEC(struct file) files;
	ST_VEC(struct told) told;
};

/* The bits of a mapping, of which link-time addresses, and of address 0. */
struct place {
	uint8_t *bits;
	uint64_t first, from, end;
};

struct st_codeleaders *
st_codeleaders_new(void)
{
	return calloc(1, sizeof(struct st_codeleaders));
}

void
st_codeleaders_free(struct st_codeleaders *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->files.n; i++)
		st_leaders_free(c->files.v[i].leaders);
	for (size_t i = 0; i < c->told.n; i++)
		free(c->told.v[i].bits);
	free(c->files.v);
	free(c->told.v);
	free(c);
}

static struct file *
codeleaders_file_of(struct st_codeleaders *c, struct st_image *image)
{
	for (size_t i = 0; i < c->files.n; i++)
		if (c->files.v[i].image == image)
			return &c->files.v[i];
	struct file *f = ST_PUSH(&c->files);
	if (!f)
		return NULL;
	*f = (struct file){.image = image, .leaders = st_leaders_new(image)};
	return f;
}

static uint64_t
sum_of(struct file *f, const struct st_map *m)
{
	uint64_t bytes = m->end - m->start;
	if (!f->sum || f->pgoff != m->pgoff || f->bytes != bytes)
		f->sum = st_image_sum(f->image, m->pgoff, bytes);
	f->pgoff = m->pgoff;
	f->bytes = bytes;
	return f->sum;
}

/* The leaders that the process has been told of its mapping; none at first. */
static uint8_t *
told_of(struct st_codeleaders *c, struct st_results_header *h, uint32_t map, struct file *f)
{
	struct st_map *m = (struct st_map *)&st_results_maps(h)[map];
	for (size_t i = 0; i < c->told.n; i++)
		if (c->told.v[i].begin == h->run.tsc_begin && c->told.v[i].map == map)
			return c->told.v[i].bits;
	struct told *t = ST_PUSH(&c->told);
	if (!t)
		return NULL;
	*t = (struct told){h->run.tsc_begin, map, calloc(st_leaders_told(f->leaders), 1)};
	/* The process may have another file of that name, or have changed its code. */
	m->sum = sum_of(f, m);
	return t->bits;
}

static void
add_leader(void *arg, uint64_t at)
{
	const struct place *p = arg;
	uint64_t bit = p->first + at;
	if (at >= p->from && at < p->end)
		__atomic_fetch_or(&p->bits[bit / 8], (uint8_t)(1u << bit % 8), __ATOMIC_RELAXED);
}

void
st_codeleaders_tell(struct st_codeleaders *c, struct st_results_header *h, uint32_t map,
                    struct st_image *image, const struct st_known *known)
{
	struct st_map copy, *m = &copy;
	if (!st_results_copy_map(h, map, m))
		return;
	struct file *f = codeleaders_file_of(c, image);
	uint8_t *told = f && f->leaders ? told_of(c, h, map, f) : NULL;
	uint64_t from = st_image_offset_of_file(image, m->pgoff), most = 8ull * ST_COVERAGE_BYTES;
	if (!told || !m->coverage || from == UINT64_MAX || m->flags & ST_MAP_GONE ||
	    m->coverage > most || m->end - m->start > most - m->coverage)
		return;
	struct place p = {.bits = known->leaders,
	                  .first = m->coverage - 1 - from,
	                  .from = from,
	                  .end = from + (m->end - m->start)};
	struct st_executed executed = {
	        .bits = known->seen, .first = p.first, .from = p.from, .end = p.end};
	st_leaders_tell(f->leaders, told, &executed, add_leader, &p);
}
