/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The totals: on how many stacks each function was. A place on a stack becomes a hit without a
 * count, so that the walk over functions gives it one.
 */
#include "collect/collect.h"

st_status
st_collect_frames(struct st_collect *c, const struct st_view *v,
                  const struct st_process_stacks *stacks, uint32_t process, uint32_t first_thread)
{
	if (!stacks)
		return 0;
	struct st_collect_stacks *out = ST_PUSH(&c->stacks);
	if (!out)
		return -1;
	out->stacks = stacks;
	out->process = process;
	out->first_thread = first_thread;
	out->n_threads = (uint32_t)c->profile->threads.n - first_thread;
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

/* seen[f] is the last node of a tree from which function f was met, *last the last of all. totals:
 * those of the process. */
static void
count_tree(struct st_profile *p, const struct st_process_stacks *s, const uint32_t *functions,
           uint64_t *seen, uint64_t *last, uint64_t *totals)
{
	const struct st_stack_node *v = s->tree.nodes.v;
	p->run.stacks += s->tree.stacks;
	p->run.stacks_cut += s->tree.incomplete;
	for (size_t i = 0; i < s->tree.nodes.n; i++) {
		const uint64_t count = v[i].count;
		if (!count || st_frame_is_kind(v[i].frame))
			continue;
		++*last;
		for (uint32_t k = (uint32_t)i; v[k].parent != ST_STACK_NO_PARENT; k = v[k].parent) {
			const uint32_t frame = v[k].frame;
			const uint32_t f = frame < s->frames.n ? functions[frame] : UINT32_MAX;
			if (f >= p->functions.n || seen[f] == *last)
				continue;
			seen[f] = *last;
			totals[f] += count;
		}
	}
}

/* Adds the totals of a process to the functions, and remembers them for its shares. */
static st_status
totals_add(struct st_collect *c, const struct st_collect_stacks *in, const uint64_t *totals)
{
	struct st_profile *p = c->profile;
	struct st_collect_total *total = ST_PUSH(&c->totals);
	if (!total)
		return ST_FAILED;
	*total = (struct st_collect_total){in->process, UINT32_MAX, in->stacks->tree.stacks};
	for (uint32_t f = 0; f < p->functions.n; f++) {
		if (!totals[f])
			continue;
		p->functions.v[f].samples_total += totals[f];
		total = ST_PUSH(&c->totals);
		if (!total)
			return ST_FAILED;
		*total = (struct st_collect_total){in->process, f, totals[f]};
	}
	return ST_OK;
}

static st_status
count_process(struct st_collect *c, const struct st_collect_stacks *in, uint64_t *seen,
              uint64_t *last)
{
	size_t n = in->stacks->frames.n;
	uint32_t *functions = calloc(n ? n : 1, sizeof *functions);
	uint64_t *totals = calloc(c->profile->functions.n + 1, sizeof *totals);
	if (!functions || !totals) {
		free(functions);
		free(totals);
		return -1;
	}
	for (size_t i = 0; i < n; i++)
		functions[i] = st_collect_function_at(c, in->places[i].image, in->places[i].offset);
	count_tree(c->profile, in->stacks, functions, seen, last, totals);
	/* A profile has contexts of one kind: those that a tool has counted go first. */
	const bool counted = st_profile_has_tool(c->profile, "contexts");
	st_status status = totals_add(c, in, totals);
	if (!status && !counted)
		status = st_collect_sampled(c, in, functions);
	free(totals);
	free(functions);
	return status;
}

st_status
st_collect_totals(struct st_collect *c)
{
	size_t n = c->profile->functions.n;
	uint64_t *seen = calloc(n ? n : 1, sizeof *seen), last = 0;
	int status = seen ? 0 : -1;
	for (size_t i = 0; i < c->stacks.n && !status; i++)
		status = count_process(c, &c->stacks.v[i], seen, &last);
	free(seen);
	return status;
}
