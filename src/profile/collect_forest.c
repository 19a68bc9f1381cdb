/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The forests of contexts. Labels are places, which get their functions and lines when the images
 * are read; nodes are kept as they are, each with a number greater than its parent's.
 */
#include "profile/shower.h"

struct forest_reader {
	struct st_collect *c;
	const struct st_view *v;
	struct st_shower shower;
	uint32_t *labels;   /* of the profile, by the process' number */
	uint32_t *contexts; /* of the profile, by node; UINT32_MAX: none */
	uint32_t *threads;  /* by node: the thread record whose it is */
	uint32_t first_thread;
};

/* Where the code of a label is, and of a block how long it is. */
static int
read_place(struct forest_reader *r, uint64_t label, struct st_profile_label *out,
           struct st_profile_value *value)
{
	static const struct st_profile_column place = {.name = "label", .type = STROBE_ADDRESS};
	if (label & ST_LABEL_IS_BLOCK) {
		out->bytes = label >> ST_BLOCK_ADDRESS_BITS & ST_BLOCK_MOST_BYTES;
		out->piece = out->bytes;
		label &= (1ul << ST_BLOCK_ADDRESS_BITS) - 1;
		return st_shower_value(&r->shower, &place, label, value);
	}
	uint64_t address = label & ((1ul << ST_LABEL_ADDRESS_BITS) - 1);
	uint32_t map = label >> ST_LABEL_ADDRESS_BITS & ST_LABEL_MAPS;
	if (map && map <= r->v->n_maps)
		return st_shower_place(&r->shower, map - 1, address, value);
	return st_shower_value(&r->shower, &place, label, value);
}

static int
read_labels(struct forest_reader *r)
{
	struct st_profile *p = r->c->profile;
	for (uint32_t i = 1; i < r->v->n_labels; i++) {
		struct st_profile_value value = {.image = UINT32_MAX};
		struct st_profile_label *out = ST_PUSH(&p->labels);
		if (!out)
			return -1;
		r->labels[i] = (uint32_t)p->labels.n - 1;
		*out = (struct st_profile_label){.image = UINT32_MAX,
		                                 .function = UINT32_MAX,
		                                 .offset = r->v->labels[i],
		                                 .next = UINT32_MAX};
		if (r->v->labels[i] < ST_FIRST_PLACE)
			continue;
		if (read_place(r, r->v->labels[i], out, &value))
			return -1;
		out->image = value.image;
		out->offset = value.number;
	}
	return 0;
}

/* Whether what the results say of a node can be true, and it says something. */
static bool
is_context(const struct forest_reader *r, uint32_t i)
{
	const strobe_node *n = &r->v->nodes[i];
	return n->label && n->label < r->v->n_labels && n->parent && n->parent < i &&
	       r->threads[n->parent] != UINT32_MAX;
}

static int
read_node(struct forest_reader *r, uint32_t i)
{
	struct st_profile *p = r->c->profile;
	const strobe_node *n = &r->v->nodes[i];
	r->contexts[i] = r->threads[i] = UINT32_MAX;
	if (!n->label && !n->parent && n->link < r->v->n_threads)
		r->threads[i] = n->link; /* a thread's own, or not used */
	if (!is_context(r, i))
		return 0;
	struct st_profile_context *out = ST_PUSH(&p->contexts);
	if (!out)
		return -1;
	r->contexts[i] = (uint32_t)p->contexts.n - 1;
	r->threads[i] = r->threads[n->parent];
	double per_ns = p->run.tsc_hz / 1e9;
	const strobe_cost *cost = &r->v->costs[i];
	*out = (struct st_profile_context){
	        .thread = r->first_thread + r->threads[i],
	        .parent = r->contexts[n->parent],
	        .label = r->labels[n->label],
	        .link = UINT32_MAX,
	        .count = n->count,
	        .instructions = cost->instructions,
	        .self_ns = per_ns > 0 ? (uint64_t)((double)cost->ticks / per_ns) : 0};
	return 0;
}

/* A link may lead to a node that was made later. */
static void
read_links(struct forest_reader *r)
{
	for (uint32_t i = 1; i < r->v->n_nodes; i++) {
		uint32_t link = r->v->nodes[i].link;
		if (r->contexts[i] != UINT32_MAX && link && link < r->v->n_nodes)
			r->c->profile->contexts.v[r->contexts[i]].link = r->contexts[link];
	}
}

static int
read_forest(struct forest_reader *r)
{
	uint32_t n = r->v->n_nodes;
	r->labels = calloc(r->v->n_labels, sizeof *r->labels);
	r->contexts = malloc(n * sizeof *r->contexts);
	r->threads = malloc(n * sizeof *r->threads);
	if (!r->labels || !r->contexts || !r->threads || read_labels(r))
		return -1;
	r->contexts[0] = r->threads[0] = UINT32_MAX;
	for (uint32_t i = 1; i < n; i++)
		if (read_node(r, i))
			return -1;
	read_links(r);
	return 0;
}

int
st_collect_forest(struct st_collect *c, const struct st_view *v, uint32_t first_thread)
{
	struct forest_reader r = {.c = c, .v = v, .first_thread = first_thread};
	if (v->n_nodes < 2)
		return 0;
	int status = st_shower_open(&r.shower, c, v, c->profile->run.tsc_hz);
	if (!status)
		status = read_forest(&r);
	st_shower_close(&r.shower);
	free(r.labels);
	free(r.contexts);
	free(r.threads);
	if (v->header->nodes_dropped)
		st_profile_note(c->profile,
		                "%llu contexts found no room: what happened in them was counted in "
		                "their callers; ask for less with -k or --funcs",
		                (unsigned long long)v->header->nodes_dropped);
	return status;
}

void
st_collect_finish_forest(struct st_collect *c)
{
	struct st_profile *p = c->profile;
	for (size_t i = 0; i < p->labels.n; i++) {
		struct st_profile_label *l = &p->labels.v[i];
		struct st_line line;
		if (l->image == UINT32_MAX)
			continue;
		uint32_t f = st_collect_function_at(c, l->image, l->offset);
		if (f < p->functions.n && p->functions.v[f].size)
			l->function = f;
		struct st_image *image = c->opened.v[l->image];
		if (!image || st_image_line(image, l->offset, &line) || !line.file)
			continue;
		l->file = st_collect_intern(c, line.file);
		l->line = line.line;
		l->column = line.column;
	}
}
