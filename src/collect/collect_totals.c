/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The totals: on how many stacks each function was. A place on a stack becomes a hit without a
 * count, so that the walk over functions gives it one.
 */
#include "collect/collect.h"

st_status
st_collect_frames(struct st_collect *c, const struct st_view *v,
                  const struct st_process_stacks *stacks)
{
	if (!stacks)
		return 0;
	struct st_collect_stacks *out = ST_PUSH(&c->stacks);
	if (!out)
		return -1;
	out->stacks = stacks;
	out->places = calloc(stacks->frames.n ? stacks->frames.n : 1, sizeof *out->places);
	if (!out->places)
		return -1;
	for (size_t i = 0; i < stacks->frames.n; i++) {
		const struct st_frame *f = &stacks->frames.v[i];
		struct st_place *place = &out->places[i];
		struct st_hit *hit = ST_PUSH(&c->hits);
		if (!hit || f->map >= v->n_maps ||
		    st_collect_place(c, v, f->map, f->pc, &place->image, &place->offset))
			return -1;
		*hit = (struct st_hit){
		        .image = place->image, .offset = place->offset, .where = ST_HIT_FRAME};
	}
	return 0;
}

st_status
st_collect_stretches(struct st_collect *c)
{
	const struct st_stretch *last = NULL;
	for (size_t i = 0; i < c->hits.n; i++) {
		const struct st_hit *h = &c->hits.v[i];
		if (last && last->image == h->image && last->function == h->function)
			continue;
		struct st_stretch *new = ST_PUSH(&c->stretches);
		if (!new)
			return -1;
		*new = (struct st_stretch){h->offset, h->image, h->function};
		last = new;
	}
	return 0;
}

uint32_t
st_collect_function_at(const struct st_collect *c, uint32_t image, uint64_t offset)
{
	const struct st_stretch *v = c->stretches.v;
	size_t low = 0, high = c->stretches.n;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (v[mid].image != image ? v[mid].image < image : v[mid].offset <= offset)
			low = mid + 1;
		else
			high = mid;
	}
	return low && v[low - 1].image == image ? v[low - 1].function : UINT32_MAX;
}

/* seen[f] is the last stack on which function f was met. */
static void
count_chains(struct st_profile *p, const struct st_process_stacks *s, const uint32_t *functions,
             uint64_t *seen)
{
	for (size_t i = 0; i < s->chains.n; i++) {
		size_t end = i + 1 < s->chains.n ? s->chains.v[i + 1].first : s->places.n;
		uint64_t stack = ++p->run.stacks;
		p->run.stacks_cut += !s->chains.v[i].whole;
		for (size_t k = s->chains.v[i].first; k < end; k++) {
			uint32_t f = functions[s->places.v[k]];
			if (f >= p->functions.n || seen[f] == stack)
				continue;
			seen[f] = stack;
			p->functions.v[f].samples_total++;
		}
	}
}

static st_status
count_process(struct st_collect *c, const struct st_collect_stacks *in, uint64_t *seen)
{
	size_t n = in->stacks->frames.n;
	uint32_t *functions = calloc(n ? n : 1, sizeof *functions);
	if (!functions)
		return -1;
	for (size_t i = 0; i < n; i++)
		functions[i] = st_collect_function_at(c, in->places[i].image, in->places[i].offset);
	count_chains(c->profile, in->stacks, functions, seen);
	free(functions);
	return 0;
}

st_status
st_collect_totals(struct st_collect *c)
{
	size_t n = c->profile->functions.n;
	uint64_t *seen = calloc(n ? n : 1, sizeof *seen);
	int status = seen ? 0 : -1;
	for (size_t i = 0; i < c->stacks.n && !status; i++)
		status = count_process(c, &c->stacks.v[i], seen);
	free(seen);
	return status;
}
