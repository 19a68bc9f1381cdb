/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz/answer_edges.h"

#include <stdlib.h>

/* ---- writing ---- */

struct edge_writer {
	const struct st_view *v;
	const uint64_t *executions;
	const bool *left_out;
	FILE *out;
	uint64_t n;
};

static bool
map_has(const struct edge_writer *w, uint32_t map, uint64_t pc)
{
	return map < w->v->n_maps && pc >= w->v->maps[map].start && pc < w->v->maps[map].end;
}

/* The newest mapping of an address, or the one of `near` if it has the address. False: there is
 * none of program code. */
static bool
find_edge_map(const struct edge_writer *w, uint64_t pc, uint32_t near, uint32_t *map)
{
	uint32_t i = map_has(w, near, pc) ? near + 1 : w->v->n_maps;
	while (i && !map_has(w, i - 1, pc))
		i--;
	*map = i - 1;
	return i && !w->left_out[i - 1];
}

static uint64_t
offset_in_file(const struct edge_writer *w, uint32_t map, uint64_t pc)
{
	const struct st_map *m = &w->v->maps[map];
	return m->pgoff + (pc - m->start);
}

/* From the branch that ends before the address, in that mapping. */
static void
write_edge(struct edge_writer *w, uint32_t from, uint64_t end, uint64_t to, uint64_t times)
{
	uint32_t map;
	if (!times || !find_edge_map(w, to, from, &map))
		return;
	const struct st_answer_edge edge = {offset_in_file(w, from, end),
	                                    offset_in_file(w, map, to), times, from, map};
	w->n += fwrite_unlocked(&edge, sizeof edge, 1, w->out);
}

static bool
is_program_block(const struct edge_writer *w, const struct st_block *b)
{
	return map_has(w, b->map, b->pc) && !w->left_out[b->map];
}

static void
write_block_edge(struct edge_writer *w, const struct st_block *b, uint64_t times)
{
	const uint64_t end = b->pc + b->bytes;
	const bool on = b->end == ST_END_NONE || b->end == ST_END_SYSCALL;
	if (times && (on || b->target) && is_program_block(w, b) && b->end != ST_END_BRANCH)
		write_edge(w, b->map, end, on ? end : b->target, times);
}

/* Both edges of a conditional branch, of which one was counted. */
static void
write_both_edges(struct edge_writer *w, const struct st_block *branch, uint64_t counted)
{
	if (branch->target < ST_FIRST_ID || branch->target >= w->v->n_blocks ||
	    !(branch->flags & ST_EDGE_WAYS))
		return;
	const struct st_block *b = &w->v->blocks[branch->target];
	const uint64_t all = w->executions[branch->target],
	               rest = all > counted ? all - counted : 0, end = b->pc + b->bytes;
	const bool taken = branch->flags & ST_EDGE_TAKEN;
	if (!all || !is_program_block(w, b))
		return;
	write_edge(w, b->map, end, b->target, taken ? counted : rest);
	write_edge(w, b->map, end, end, taken ? rest : counted);
}

static void
write_indirect(struct edge_writer *w, const struct st_block *branch, uint64_t times)
{
	uint32_t map;
	if (times && find_edge_map(w, branch->pc - 1, branch->map, &map))
		write_edge(w, map, branch->pc, branch->target, times);
}

uint64_t
st_answer_write_edges(const struct st_view *view, const uint64_t *executions, const bool *left_out,
                      FILE *out)
{
	struct edge_writer w = {view, executions, left_out, out, 0};
	for (uint32_t id = ST_FIRST_ID; id < view->n_blocks; id++) {
		const struct st_block *b = &view->blocks[id];
		if (b->flags & ST_BLOCK_EDGE)
			write_both_edges(&w, b, executions[id]);
		else if (b->flags & ST_BLOCK_INDIRECT)
			write_indirect(&w, b, executions[id]);
		else if (st_view_is_block(view, id))
			write_block_edge(&w, b, executions[id]);
	}
	return w.n;
}

/* ---- reading ---- */

/* A branch may be the end of several blocks: adds their counts up. */
static st_status
add_edge_count(struct st_fuzz_places *places, uint32_t edge, uint64_t times,
               struct st_fuzz_execution *x)
{
	while (places->marks.n <= edge)
		if (!ST_PUSH(&places->marks))
			return ST_FAILED;
	uint32_t *mark = &places->marks.v[edge];
	if (*mark && *mark <= x->edges.n && x->edges.v[*mark - 1].edge == edge) {
		x->edges.v[*mark - 1].times += times;
		return ST_OK;
	}
	struct st_fuzz_edge_count *new = ST_PUSH(&x->edges);
	if (!new)
		return ST_FAILED;
	*new = (struct st_fuzz_edge_count){edge, times};
	*mark = (uint32_t)x->edges.n;
	return ST_OK;
}

static int
fuzz_place_order(struct st_fuzz_place a, struct st_fuzz_place b)
{
	if (a.image != b.image)
		return a.image < b.image ? -1 : 1;
	return (a.offset > b.offset) - (a.offset < b.offset);
}

static int
fuzz_edge_order(const void *x, const void *y)
{
	const struct st_fuzz_edge *a = x, *b = y;
	const int order = fuzz_place_order(a->from, b->from);
	return order ? order : fuzz_place_order(a->to, b->to);
}

struct new_edges {
	struct st_fuzz_edge *v;
	size_t n, cap;
};

/* The number of an edge that is known; ST_HASHMAP_NONE: it was added to the new ones. */
static st_status
find_or_collect(const struct st_fuzz_places *places, struct st_fuzz_edge edge, uint32_t *number,
                struct new_edges *fresh)
{
	*number = st_fuzz_edge_find(places, edge);
	struct st_fuzz_edge *new = *number == ST_HASHMAP_NONE ? ST_PUSH(fresh) : NULL;
	if (new)
		*new = edge;
	return new || *number != ST_HASHMAP_NONE ? ST_OK : ST_FAILED;
}

/* The order in which an execution meets edges depends on what its worker has translated before;
 * their numbers must not. */
static st_status
number_new_edges(struct st_fuzz_places *places, struct new_edges *fresh)
{
	if (fresh->n)
		qsort(fresh->v, fresh->n, sizeof *fresh->v, fuzz_edge_order);
	for (size_t i = 0; i < fresh->n; i++)
		if (st_fuzz_edge_number(places, fresh->v[i]) == ST_HASHMAP_NONE)
			return ST_FAILED;
	return ST_OK;
}

static struct st_fuzz_edge
edge_of_answer(const struct st_answer_edge *e, const uint32_t *images)
{
	return (struct st_fuzz_edge){{images[e->from_image], e->from},
	                             {images[e->to_image], e->to}};
}

st_status
st_answer_take_edges(const struct st_answer_edge *edges, size_t n, const uint32_t *images,
                     size_t n_images, struct st_fuzz_places *places, struct st_fuzz_execution *out)
{
	struct new_edges fresh = {0};
	uint32_t *numbers = malloc((n + 1) * sizeof *numbers);
	st_status status = numbers ? ST_OK : ST_FAILED;
	out->edges.n = 0;
	for (size_t i = 0; i < n && !status; i++)
		status = edges[i].from_image < n_images && edges[i].to_image < n_images
		                 ? find_or_collect(places, edge_of_answer(&edges[i], images),
		                                   &numbers[i], &fresh)
		                 : ST_FAILED;
	if (!status)
		status = number_new_edges(places, &fresh);
	for (size_t i = 0; i < n && !status; i++) {
		if (numbers[i] == ST_HASHMAP_NONE)
			numbers[i] = st_fuzz_edge_find(places, edge_of_answer(&edges[i], images));
		status = add_edge_count(places, numbers[i], edges[i].times, out);
	}
	free(fresh.v);
	free(numbers);
	return status;
}
