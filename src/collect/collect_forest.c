/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The forests of contexts. Labels are places, which get their functions and lines when the images
 * are read; nodes are kept as they are, each behind its parent.
 */
#include "base/number.h"
#include "collect/shower.h"

/* In place of a context's number. */
static const uint32_t NOT_READ = UINT32_MAX - 1, BEING_READ = UINT32_MAX - 2;

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
static st_status
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

static st_status
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
	return n->label && n->label < r->v->n_labels && n->parent && n->parent < r->v->n_nodes;
}

/* Returns the counts and the cost of a node. The program may have been killed while it moved them
 * from one node to another. */
static struct st_moved
collect_forest_weight_of(const struct forest_reader *r, uint32_t i)
{
	static const strobe_cost none;
	const struct st_moved *m = &r->v->header->contexts.moved;
	const strobe_cost *cost = r->v->header->contexts.has_costs ? &r->v->costs[i] : &none;
	if (m->from && i == m->to)
		return *m;
	if (m->from == i)
		return (struct st_moved){0};
	return (struct st_moved){.count = r->v->nodes[i].count,
	                         .ticks = cost->ticks,
	                         .instructions = cost->instructions};
}

/* Each thread has a node for pruned contexts, used or not. */
static bool
is_unused(const struct forest_reader *r, uint32_t i, const struct st_moved *weight)
{
	const strobe_node *n = &r->v->nodes[i];
	return r->v->labels[n->label] == ST_LABEL_PRUNED && !n->child && !weight->count &&
	       !weight->ticks && !weight->instructions;
}

/* A node whose parent is known. */
static st_status
read_node(struct forest_reader *r, uint32_t i)
{
	struct st_profile *p = r->c->profile;
	const strobe_node *n = &r->v->nodes[i];
	struct st_moved weight = collect_forest_weight_of(r, i);
	if (!n->label && !n->parent && n->link < r->v->n_threads)
		r->threads[i] = n->link; /* a thread's own, or not used */
	if (!is_context(r, i) || r->threads[n->parent] == UINT32_MAX || is_unused(r, i, &weight))
		return 0;
	struct st_profile_context *out = ST_PUSH(&p->contexts);
	if (!out)
		return -1;
	r->contexts[i] = (uint32_t)p->contexts.n - 1;
	r->threads[i] = r->threads[n->parent];
	double per_ns = p->run.tsc_hz / 1e9;
	*out = (struct st_profile_context){
	        .thread = r->first_thread + r->threads[i],
	        .parent = r->contexts[n->parent],
	        .label = r->labels[n->label],
	        .link = UINT32_MAX,
	        .count = weight.count,
	        .instructions = weight.instructions,
	        .self_ns = per_ns > 0 ? (uint64_t)((double)weight.ticks / per_ns) : 0};
	return 0;
}

/* Those above a node first: a number that was used before may be less than its parent's. Up there
 * the way back is noted where a node's thread will stand. */
static st_status
read_way_to(struct forest_reader *r, uint32_t i)
{
	uint32_t from = 0;
	while (r->contexts[i] == NOT_READ) {
		r->contexts[i] = BEING_READ;
		r->threads[i] = from;
		from = i;
		i = is_context(r, i) ? r->v->nodes[i].parent : 0;
	}
	bool circle = r->contexts[i] == BEING_READ; /* the results are damaged */
	while (from) {
		uint32_t below = r->threads[from];
		r->contexts[from] = r->threads[from] = UINT32_MAX;
		if (!circle && read_node(r, from))
			return -1;
		from = below;
	}
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

static st_status
read_loops(struct forest_reader *r)
{
	for (uint32_t i = 0; i < r->v->n_loops; i++) {
		const strobe_loop *l = &r->v->loops[i];
		uint32_t head = l->head;
		if (!head || head >= r->v->n_nodes || r->contexts[head] == UINT32_MAX)
			continue;
		uint64_t count = r->c->profile->contexts.v[r->contexts[head]].count;
		struct st_loop loop = st_loop_read(l, count);
		if (!loop.entries) /* its thread had no time to say more */
			continue;
		struct st_profile_loop *out = ST_PUSH(&r->c->profile->loops);
		if (!out)
			return -1;
		*out = (struct st_profile_loop){r->contexts[head], loop};
	}
	return 0;
}

static st_status
read_forest(struct forest_reader *r)
{
	uint32_t n = r->v->n_nodes;
	r->labels = calloc(r->v->n_labels, sizeof *r->labels);
	r->contexts = malloc(n * sizeof *r->contexts);
	r->threads = malloc(n * sizeof *r->threads);
	if (!r->labels || !r->contexts || !r->threads || read_labels(r) ||
	    !ST_RESERVE(&r->c->profile->contexts, n))
		return -1;
	st_prefer_large_pages(r->contexts, n * sizeof *r->contexts);
	st_prefer_large_pages(r->threads, n * sizeof *r->threads);
	r->contexts[0] = r->threads[0] = UINT32_MAX;
	for (uint32_t i = 1; i < n; i++)
		r->contexts[i] = NOT_READ;
	for (uint32_t i = 1; i < n; i++)
		if (read_way_to(r, i))
			return -1;
	read_links(r);
	return read_loops(r);
}

st_status
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
	if (v->header->contexts.loops_dropped)
		st_profile_note(
		        c->profile,
		        "the iterations of %s are unknown, because the memory was full or their "
		        "contexts were pruned: use --max-memory SIZE to give them more",
		        ST_COUNT(v->header->contexts.loops_dropped, "loop", "loops"));
	uint64_t bytes =
	        sizeof(strobe_node) + (v->header->contexts.has_costs ? sizeof(strobe_cost) : 0);
	c->profile->run.forest_bytes += bytes * (v->n_nodes - 1);
	c->profile->run.contexts_pruned += v->header->contexts.pruned;
	return status;
}

void
st_collect_note_pruned(struct st_profile *p)
{
	uint64_t n = 0;
	for (size_t i = 0; i < p->contexts.n; i++) {
		if (st_profile_label_is_pruned(&p->labels.v[p->contexts.v[i].label]))
			n += p->contexts.v[i].count;
	}
	if (p->run.contexts_pruned)
		st_profile_note(p,
		                "%s pruned because the memory was full; __pruned__ has their %s, "
		                "below their callers: use --max-memory SIZE for more memory, or -k "
		                "or --funcs for fewer contexts",
		                ST_COUNT(p->run.contexts_pruned, "context was", "contexts were"),
		                ST_COUNT(n, "activation", "activations"));
}

void
st_collect_finish_forest(struct st_collect *c)
{
	struct st_profile *p = c->profile;
	for (size_t i = 0; i < p->labels.n; i++) {
		struct st_profile_label *l = &p->labels.v[i];
		struct st_line line = {0};
		if (l->image == UINT32_MAX)
			continue;
		uint32_t f = st_collect_function_at(c, l->image, l->offset);
		if (f < p->functions.n && p->functions.v[f].size)
			l->function = f;
		struct st_image *image = c->opened.v[l->image];
		const bool whole = !l->bytes && f < p->functions.n && p->functions.v[f].size &&
		                   p->functions.v[f].offset == l->offset;
		if (!image ||
		    (whole ? st_image_function_line : st_image_line)(image, l->offset, &line) ||
		    !line.file)
			continue;
		l->file = st_collect_intern(c, line.file);
		l->line = line.line;
		l->column = line.column;
	}
}
