/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/codeleaders.h"

#include <stdlib.h>

#include "control/run.h"
#include "profile/vec.h"

/* What has been told of a mapping. Results may move in memory, but each begins at its own time. */
struct told {
	uint64_t begin;
	uint32_t map;
	struct st_leaders *leaders; /* NULL: there is no memory */
};

struct st_codeleaders {
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
	for (size_t i = 0; i < c->told.n; i++)
		st_leaders_free(c->told.v[i].leaders);
	free(c->told.v);
	free(c);
}

static struct st_leaders *
leaders_of(struct st_codeleaders *c, struct st_results_header *h, uint32_t map,
           struct st_image *image)
{
	struct st_map *m = (struct st_map *)&st_results_maps(h)[map];
	for (size_t i = 0; i < c->told.n; i++)
		if (c->told.v[i].begin == h->tsc_begin && c->told.v[i].map == map)
			return c->told.v[i].leaders;
	struct told *t = ST_PUSH(&c->told);
	if (!t)
		return NULL;
	*t = (struct told){h->tsc_begin, map, st_leaders_new(image)};
	/* The process may have another file of that name, or have changed its code. */
	m->sum = st_image_sum(image, m->pgoff, m->end - m->start);
	return t->leaders;
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
                    struct st_image *image)
{
	const struct st_map *m = &st_results_maps(h)[map];
	struct st_leaders *leaders = leaders_of(c, h, map, image);
	uint64_t from = st_image_offset_of_file(image, m->pgoff);
	if (!leaders || !m->seen || from == UINT64_MAX || m->flags & ST_MAP_GONE)
		return;
	struct place p = {.bits = (uint8_t *)h + h->off_leaders,
	                  .first = m->seen - 1 - from,
	                  .from = from,
	                  .end = from + (m->end - m->start)};
	struct st_executed executed = {.bits = (const uint8_t *)h + h->off_seen,
	                               .first = p.first,
	                               .from = p.from,
	                               .end = p.end};
	st_leaders_tell(leaders, &executed, add_leader, &p);
}
