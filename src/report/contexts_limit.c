/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/contexts_limit.h"

#include <stdlib.h>

#include "base/text.h"
#include "report/contexts_loops.h"

/* ---- what a context takes ---- */

const struct st_context_cost st_context_cost_text = {
        .label = st_contexts_name,
        .loop = st_loop_text,
        .node = ST_COST_OF("| ,\n"),
        .time = ST_COST_OF(" self=ns total=ns"),
        .instructions = ST_COST_OF(" insns= total="),
        .level = 2,
        .callers = true,
};

const struct st_context_cost st_context_cost_json = {
        .label = st_contexts_json_label,
        .loop = st_loop_json,
        .node = ST_COST_OF(", \"count\": , \"children\": []},\n"),
        .time = ST_COST_OF(", \"self_ns\": , \"total_ns\": "),
        .instructions = ST_COST_OF(", \"instructions\": , \"total_instructions\": "),
        .callers = true,
};

const struct st_context_cost st_context_cost_nodes = {.alike = true, .callers = true};

static unsigned
digits(uint64_t value)
{
	unsigned n = 1;
	for (; value >= 10; value /= 10)
		n++;
	return n;
}

/* Bytes of each label, malloc'ed. NULL: no memory. */
static uint32_t *
measure_labels(const struct st_contexts *c, const struct st_context_cost *cost)
{
	uint32_t *widths = malloc((c->n_labels + 1) * sizeof *widths);
	struct st_text built;
	FILE *out = st_text_begin(&built);
	for (uint32_t i = 0; out && widths && i < c->n_labels; i++) {
		widths[i] = 0;
		if (!cost->label)
			continue;
		rewind(out);
		cost->label(c, i, out);
		widths[i] = (uint32_t)ftell(out) + cost->whole_path;
	}
	char *text = st_text_end(&built);
	if (!text) {
		free(widths);
		widths = NULL;
	}
	free(text);
	return widths;
}

/* The size of the mark of a loop's head. */
static uint64_t
loop_of(const struct st_contexts *c, const struct st_context_cost *cost,
        const struct st_tree_node *n)
{
	struct st_text built;
	FILE *out = n->loop && cost->loop ? st_text_begin(&built) : NULL;
	if (!out)
		return 0;
	cost->loop(st_loop_at(c, n->loop), out);
	free(st_text_end(&built));
	return built.n;
}

static uint64_t
numbers_of(const struct st_contexts *c, const struct st_context_cost *cost,
           const struct st_tree_node *n)
{
	uint64_t bytes = cost->node;
	if (cost->worth)
		return bytes + digits(st_contexts_value(c, &n->weight));
	bytes += digits(n->weight.count + n->top) + loop_of(c, cost, n);
	if (c->timed)
		bytes += cost->time + digits(n->weight.self_ns) + digits(n->total_ns);
	if (c->with_instructions)
		bytes += cost->instructions + digits(n->weight.instructions) +
		         digits(n->total_instructions);
	return bytes;
}

/* ---- a walk over all forests ---- */

/* The state of the nodes of one forest. */
struct looked {
	uint64_t *worth; /* with what is below: never more than that of the node above it */
	uint64_t *path;  /* bytes of its label, or of all on the path */
	uint32_t *depth;
	unsigned char *keep;
};

struct cutter {
	struct st_contexts *c;
	const struct st_context_cost *cost;
	const struct st_context_limit *limit;
	uint32_t *widths;
	uint64_t *classes; /* of worth: bytes of the contexts in it */
	uint32_t least;    /* the class that is kept in part, all above it are kept whole */
	uint64_t left;     /* bytes for that */
	bool full;         /* of it no more is kept */
	bool too_deep;     /* some are */
	uint64_t whole, lost;
	struct st_context_cut *cut;
};

/* A class for each worth up to 2^FINE, then 2^FINE for each power of two. */
enum { FINE = 9, CLASSES = (64 - FINE + 1) << FINE };

static uint32_t
class_of(uint64_t worth)
{
	unsigned bits = worth ? 64 - (unsigned)__builtin_clzll(worth) : 0;
	if (bits <= FINE)
		return (uint32_t)worth;
	unsigned shift = bits - FINE - 1;
	return (uint32_t)((uint64_t)(shift + 1) << FINE) +
	       (uint32_t)((worth >> shift) - (1u << FINE));
}

static void
looked_free(struct looked *l)
{
	free(l->worth);
	free(l->path);
	free(l->depth);
	free(l->keep);
}

static st_status
look(const struct cutter *k, const struct st_forest *f, bool callers, struct looked *l)
{
	*l = (struct looked){malloc((f->n + 1) * sizeof *l->worth),
	                     malloc((f->n + 1) * sizeof *l->path),
	                     malloc((f->n + 1) * sizeof *l->depth), calloc(f->n + 1, 1)};
	if (!l->worth || !l->path || !l->depth || !l->keep)
		return -1;
	for (uint32_t i = 0; i < f->n; i++) {
		const struct st_tree_node *n = &f->nodes[i];
		bool root = n->parent == ST_NO_NODE;
		l->worth[i] = st_contexts_value(k->c, &n->weight);
		l->depth[i] = root ? 0 : l->depth[n->parent] + 1;
		l->path[i] = k->widths[n->label];
		if (k->cost->whole_path && !root)
			l->path[i] += l->path[n->parent];
	}
	/* Of the other forest deeper nodes are a part of those above them. */
	for (uint32_t i = f->n; i-- > 0 && !callers;)
		if (f->nodes[i].parent != ST_NO_NODE)
			l->worth[f->nodes[i].parent] += l->worth[i];
	return 0;
}

static uint64_t
bytes_of(const struct cutter *k, const struct st_forest *f, const struct looked *l, uint32_t i)
{
	const struct st_tree_node *n = &f->nodes[i];
	if (k->cost->alike)
		return 1;
	if (k->cost->worth && !st_contexts_value(k->c, &n->weight))
		return 0;
	return l->path[i] + (uint64_t)k->cost->level * l->depth[i] + numbers_of(k->c, k->cost, n);
}

static bool
is_too_deep(const struct cutter *k, uint32_t depth)
{
	return k->limit->levels && depth >= k->limit->levels;
}

static void
count_forest(struct cutter *k, const struct st_forest *f, const struct looked *l, bool callers)
{
	k->cut->of += f->n;
	for (uint32_t i = 0; i < f->n; i++) {
		uint64_t bytes = bytes_of(k, f, l, i);
		k->cut->bytes += bytes;
		k->too_deep |= is_too_deep(k, l->depth[i]);
		if (!is_too_deep(k, l->depth[i]))
			k->classes[class_of(l->worth[i])] += bytes;
		if (!callers)
			k->whole += st_contexts_value(k->c, &f->nodes[i].weight);
	}
}

/* Within the class that is kept in part, nodes are kept in their order, in which parents come
 * first, until one finds no room. */
static bool
is_kept(struct cutter *k, const struct st_forest *f, const struct looked *l, uint32_t i)
{
	uint32_t class = class_of(l->worth[i]);
	if (is_too_deep(k, l->depth[i]) || class < k->least || (class == k->least && k->full))
		return false;
	if (class > k->least)
		return true;
	uint64_t bytes = bytes_of(k, f, l, i);
	k->full = bytes > k->left;
	k->left -= k->full ? 0 : bytes;
	return !k->full;
}

static void
cut_forest(struct cutter *k, struct st_forest *f, const struct looked *l, bool callers)
{
	uint32_t n = f->n;
	for (uint32_t i = 0; i < n; i++) {
		l->keep[i] = is_kept(k, f, l, i);
		if (!l->keep[i] && !callers)
			k->lost += st_contexts_value(k->c, &f->nodes[i].weight);
	}
	st_forest_keep(f, l->keep, true);
	k->cut->contexts += n - f->n;
	k->cut->callers += callers ? n - f->n : 0;
}

static st_status
walk_forest(struct cutter *k, struct st_forest *f, bool callers, bool cuts)
{
	struct looked l;
	int status = look(k, f, callers, &l);
	if (!status && cuts)
		cut_forest(k, f, &l, callers);
	else if (!status)
		count_forest(k, f, &l, callers);
	looked_free(&l);
	return status || f->out_of_memory ? -1 : 0;
}

static st_status
walk(struct cutter *k, bool cuts)
{
	bool callers = k->cost->callers && k->c->with_kccf;
	int status = 0;
	for (size_t i = 0; i < k->c->groups.n && !status; i++) {
		status = walk_forest(k, &k->c->groups.v[i].ksf, false, cuts);
		if (callers && !status)
			status = walk_forest(k, &k->c->groups.v[i].kccf, true, cuts);
	}
	return status;
}

/* ---- what finds room ---- */

/* Whether there is too much. */
static bool
find_least(struct cutter *k)
{
	uint64_t most = k->limit->bytes ? k->limit->bytes : UINT64_MAX, taken = 0;
	uint32_t class = CLASSES;
	while (class -- > 0 && k->classes[class] <= most - taken)
		taken += k->classes[class];
	k->least = class + 1 ? class : 0;
	k->left = most - taken;
	return class + 1 || k->too_deep;
}

size_t
st_contexts_most_callers(const struct st_context_limit *limit)
{
	enum { LEAST = 32 }; /* bytes that a context takes in any format that has them */
	return limit->bytes / LEAST + (limit->bytes != 0);
}

st_status
st_contexts_cut(struct st_contexts *c, const struct st_context_cost *cost,
                const struct st_context_limit *limit, struct st_context_cut *cut,
                struct st_error *e)
{
	struct cutter k = {.c = c, .cost = cost, .limit = limit, .cut = cut};
	*cut = (struct st_context_cut){0};
	if (!cost || (!limit->bytes && !limit->levels))
		return 0;
	k.widths = measure_labels(c, cost);
	k.classes = calloc(CLASSES, sizeof *k.classes);
	int status = k.widths && k.classes ? walk(&k, false) : -1;
	if (!status && find_least(&k))
		status = walk(&k, true);
	c->n_left_out = cut->contexts;
	cut->worth = k.whole ? (double)k.lost / (double)k.whole : 0;
	free(k.widths);
	free(k.classes);
	return status ? st_fail(e, ST_EXIT_FAILED, "no memory left to count the contexts") : 0;
}
