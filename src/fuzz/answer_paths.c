/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz/answer_paths.h"

#include <stdlib.h>

#include "wire/results/contexts.h"

/* ---- writing ---- */

/* In place of 1 + the number of a path. */
static const uint32_t PATH_NOT_READ = UINT32_MAX, PATH_BEING_READ = UINT32_MAX - 1,
                      PATH_LEFT_OUT = UINT32_MAX - 2;

struct path_writer {
	const struct st_view *v;
	const bool *left_out;
	FILE *out;
	uint32_t *paths; /* by node: 1 + its number, 0: none, or one of the above */
	ST_VEC(uint32_t) chain;
	uint64_t n;
};

/* Whether the node is a context, not the place of a thread or of the tool. */
static bool
is_path_node(const struct path_writer *w, uint32_t i)
{
	const strobe_node *n = &w->v->nodes[i];
	return n->label && n->label < w->v->n_labels && n->parent && n->parent < w->v->n_nodes;
}

/* The path of a node below the path `parent`. A function that is left out adds nothing to it. */
static uint32_t
write_path(struct path_writer *w, uint32_t i, uint32_t parent)
{
	const strobe_node *n = &w->v->nodes[i];
	const uint64_t label = w->v->labels[n->label],
	               address = label & ((1ul << ST_LABEL_ADDRESS_BITS) - 1);
	const uint32_t map = (uint32_t)(label >> ST_LABEL_ADDRESS_BITS & ST_LABEL_MAPS) - 1;
	if (parent == PATH_LEFT_OUT || map >= w->v->n_maps || w->left_out[map])
		return parent;
	const struct st_map *m = &w->v->maps[map];
	if (address < m->start || address >= m->end)
		return parent;
	const struct st_answer_path path = {
	        .offset = m->pgoff + (address - m->start),
	        .calls = n->count,
	        .instructions = w->v->header->contexts.has_costs ? w->v->costs[i].instructions : 0,
	        .image = map,
	        .parent = parent};
	w->n += fwrite(&path, sizeof path, 1, w->out);
	return (uint32_t)w->n;
}

/* The nodes above a node first: its number may be less than theirs. */
static st_status
write_path_of(struct path_writer *w, uint32_t i)
{
	w->chain.n = 0;
	while (w->paths[i] == PATH_NOT_READ && is_path_node(w, i)) {
		uint32_t *link = ST_PUSH(&w->chain);
		if (!link)
			return ST_FAILED;
		*link = i;
		w->paths[i] = PATH_BEING_READ;
		i = w->v->nodes[i].parent;
	}
	if (w->paths[i] == PATH_NOT_READ) /* the roots of a thread are below a node without label */
		w->paths[i] = w->v->nodes[i].label ? PATH_LEFT_OUT : 0;
	uint32_t above = w->paths[i] == PATH_BEING_READ ? PATH_LEFT_OUT : w->paths[i];
	while (w->chain.n) {
		i = w->chain.v[--w->chain.n];
		above = w->paths[i] = write_path(w, i, above);
	}
	return ST_OK;
}

st_status
st_answer_write_paths(const struct st_view *view, const bool *left_out, FILE *out, uint64_t *n)
{
	struct path_writer w = {.v = view, .left_out = left_out, .out = out};
	st_status status = ST_OK;
	*n = 0;
	if (view->n_nodes < 2)
		return ST_OK;
	w.paths = malloc(view->n_nodes * sizeof *w.paths);
	if (!w.paths)
		return ST_FAILED;
	for (uint32_t i = 0; i < view->n_nodes; i++)
		w.paths[i] = PATH_NOT_READ;
	for (uint32_t i = 1; i < view->n_nodes && !status; i++)
		status = write_path_of(&w, i);
	*n = w.n;
	free(w.paths);
	free(w.chain.v);
	return status;
}

/* ---- reading ---- */

static int
by_path(const void *x, const void *y)
{
	const struct st_fuzz_path_count *a = x, *b = y;
	return (a->path > b->path) - (a->path < b->path);
}

/* Each thread has its own nodes, so a path may be there several times: adds its counts up. */
static void
merge_paths(struct st_fuzz_path_counts *c)
{
	size_t n = 0;
	if (c->n)
		qsort(c->v, c->n, sizeof *c->v, by_path);
	for (size_t i = 0; i < c->n; i++) {
		if (n && c->v[n - 1].path == c->v[i].path) {
			c->v[n - 1].calls += c->v[i].calls;
			c->v[n - 1].instructions += c->v[i].instructions;
		} else {
			c->v[n++] = c->v[i];
		}
	}
	c->n = n;
}

static st_status
take_path(const struct st_answer_path *path, size_t number, const uint32_t *images,
          struct st_fuzz_places *places, uint32_t *numbers, struct st_fuzz_path_counts *out)
{
	const struct st_fuzz_path new = {.parent = path->parent ? numbers[path->parent - 1]
	                                                        : ST_HASHMAP_NONE,
	                                 .function = {images[path->image], path->offset}};
	numbers[number] = st_fuzz_path_number(places, new);
	struct st_fuzz_path_count *count = numbers[number] == ST_HASHMAP_NONE ? NULL : ST_PUSH(out);
	if (!count)
		return ST_FAILED;
	*count = (struct st_fuzz_path_count){numbers[number], path->calls, path->instructions};
	return ST_OK;
}

st_status
st_answer_take_paths(const struct st_answer_path *paths, size_t n, const uint32_t *images,
                     size_t n_images, struct st_fuzz_places *places,
                     struct st_fuzz_path_counts *out)
{
	uint32_t *numbers = malloc((n + 1) * sizeof *numbers);
	st_status status = numbers ? ST_OK : ST_FAILED;
	out->n = 0;
	for (size_t i = 0; i < n && !status; i++)
		status = paths[i].parent > i || paths[i].image >= n_images
		                 ? ST_FAILED
		                 : take_path(&paths[i], i, images, places, numbers, out);
	free(numbers);
	merge_paths(out);
	return status;
}
