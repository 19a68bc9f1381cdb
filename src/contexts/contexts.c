/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "contexts/internal.h"

#include <stdlib.h>
#include <string.h>

#include "profile/waits.h"

/* ---- the run's options ---- */

static const char tool[] = "contexts";

static bool
flag(const struct st_profile *p, const char *name, bool usual)
{
	const char *value = st_profile_option(p, tool, name);
	return value ? strtoul(value, NULL, 10) != 0 : usual;
}

bool
st_contexts_options(const struct st_profile *p, struct st_context_options *o)
{
	const char *k = st_profile_option(p, tool, "k"), *mode = st_profile_option(p, tool, "mode");
	*o = (struct st_context_options){.mode = ST_CONTEXT_FUNC,
	                                 .k = ST_K_INFINITE,
	                                 .time = flag(p, "time", false),
	                                 .instructions = flag(p, "instructions", false)};
#define M(id, name)                                                                                \
	if (mode && !strcmp(mode, #name))                                                          \
		o->mode = ST_CONTEXT_##id;
	ST_CONTEXT_MODES(M)
#undef M
	if (k && strcmp(k, "inf") != 0)
		o->k = (uint32_t)strtoul(k, NULL, 10);
#define R(name, usual, asked) o->name = flag(p, #name, usual);
	ST_CONTEXT_RULES(R)
#undef R
	const bool counted = st_profile_has_tool(p, tool);
	const bool waits = st_profile_has_waits(p);
	o->sampled = !counted && p->contexts.n && (p->run.stacks || waits);
	o->time |= o->sampled && waits;
	return counted || o->sampled;
}

/* ---- groups ---- */

static uint32_t
find_group(struct st_contexts *c, uint32_t thread, uint32_t function)
{
	for (size_t i = c->groups.n; i-- > 0;)
		if (c->groups.v[i].thread == thread && c->groups.v[i].function == function)
			return (uint32_t)i;
	struct st_context_group *g = ST_PUSH(&c->groups);
	if (!g)
		return ST_NO_NODE;
	g->begun = (uint32_t)c->groups.n;
	g->thread = thread;
	g->function = function;
	st_forest_init(&g->ksf);
	st_forest_init(&g->kccf);
	return (uint32_t)c->groups.n - 1;
}

/* A context of the profile, on its way through the forest: a piece of its last block after the
 * other. */
struct way {
	struct st_forest *f;
	uint32_t node; /* where it is */
	uint32_t last; /* where its last piece is, ST_NO_NODE: to be looked for, which takes longer
	                */
	struct st_context_pieces pieces;
};

static struct way
way_of(const struct st_context_maker *m, size_t i)
{
	const struct st_profile_context *x = &m->c->profile->contexts.v[i];
	return (struct way){&m->c->groups.v[m->group_of[i]].ksf,
	                    x->parent == UINT32_MAX ? ST_NO_NODE : m->node_of[x->parent],
	                    ST_NO_NODE, st_contexts_pieces(m, x->label)};
}

/* The same of a context that has been placed. */
static struct way
placed_way_of(const struct st_context_maker *m, size_t i)
{
	struct way w = way_of(m, i);
	w.last = m->node_of[i];
	return w;
}

/* With rolled loops a piece goes back to where it stands in its context already. A block has done
 * so when it was executed; a piece of another block can be there, too. */
static uint32_t
above(const struct st_context_maker *m, const struct way *w, uint32_t label)
{
	uint32_t i = w->node;
	if (m->c->k != (uint32_t)ST_K_INFINITE || !m->shared[label])
		return ST_NO_NODE;
	while (i != ST_NO_NODE && w->f->nodes[i].label != label)
		i = w->f->nodes[i].parent;
	return i;
}

/* On to the next piece, whose label it returns; UINT32_MAX: that was the last. */
static uint32_t
step(const struct st_context_maker *m, struct way *w)
{
	uint32_t label = st_contexts_next_piece(m, &w->pieces);
	if (label == UINT32_MAX)
		return label;
	if (w->last != ST_NO_NODE && w->pieces.label == UINT32_MAX) {
		w->node = w->last;
		return label;
	}
	uint32_t back = above(m, w, label), parent = m->c->k ? w->node : ST_NO_NODE;
	w->node = back == ST_NO_NODE ? st_forest_child(w->f, parent, label) : back;
	return w->node == ST_NO_NODE ? UINT32_MAX : label;
}

static st_status
place_context(struct st_context_maker *m, size_t i)
{
	struct st_contexts *c = m->c;
	const struct st_profile_context *x = &c->profile->contexts.v[i];
	if (x->parent == UINT32_MAX) {
		uint32_t label = m->label_of[x->label];
		uint32_t function =
		        c->mode == ST_CONTEXT_INTRA ? c->labels[label].function : UINT32_MAX;
		m->group_of[i] = find_group(c, c->join_threads ? UINT32_MAX : x->thread, function);
	} else {
		m->group_of[i] = m->group_of[x->parent];
	}
	if (m->group_of[i] == ST_NO_NODE)
		return -1;
	struct way w = way_of(m, i);
	while (step(m, &w) != UINT32_MAX)
		;
	m->node_of[i] = w.node;
	return w.node == ST_NO_NODE ? -1 : 0;
}

/* ---- the ones that are asked for ---- */

static bool
fits_any(const char *const *patterns, size_t n, const struct st_profile *p,
         const struct st_context_label *l)
{
	for (size_t i = 0; i < n; i++)
		if (l->in_function == UINT32_MAX
		            ? st_choice_fits(patterns[i], l->name)
		            : st_choice_fits_function(patterns[i], p, l->in_function))
			return true;
	return false;
}

static st_status
choose_contexts(struct st_context_maker *m)
{
	struct st_contexts *c = m->c;
	const struct st_context_choice *choice = m->choice;
	unsigned char *labels = calloc(c->n_labels + 1, sizeof *labels);
	m->chosen = calloc(c->groups.n + 1, sizeof *m->chosen);
	for (size_t i = 0; labels && i < c->n_labels; i++) {
		const struct st_context_label *l = &c->labels[i];
		if (!choice->n_under || fits_any(choice->under, choice->n_under, c->profile, l))
			labels[i] |= ST_CHOICE_UNDER;
		if (!choice->n_calls || fits_any(choice->calls, choice->n_calls, c->profile, l))
			labels[i] |= ST_CHOICE_CALLS;
	}
	int status = labels && m->chosen ? 0 : -1;
	m->n_chosen = c->groups.n;
	for (size_t i = 0; i < c->groups.n && !status; i++) {
		m->chosen[i] = st_choice_look(&c->groups.v[i].ksf, labels);
		status = m->chosen[i] ? 0 : -1;
	}
	free(labels);
	return status;
}

/* Whether all that these say was asked for is true of a context. */
static bool
is_chosen(const struct st_context_maker *m, size_t context, unsigned char what)
{
	return !m->chosen || (m->chosen[m->group_of[context]][m->node_of[context]] & what) == what;
}

static void
prune(struct st_context_maker *m)
{
	struct st_contexts *c = m->c;
	size_t n = 0;
	for (size_t i = 0; i < c->groups.n; i++) {
		struct st_context_group *g = &c->groups.v[i];
		st_forest_keep(&g->ksf, m->chosen[i], ST_CHOICE_WAY);
		if (g->ksf.n || g->ksf.out_of_memory)
			c->groups.v[n++] = *g;
		else
			st_forest_free(&g->kccf);
	}
	c->groups.n = n;
}

static void
free_chosen(struct st_context_maker *m)
{
	for (size_t i = 0; m->chosen && i < m->n_chosen; i++)
		free(m->chosen[i]);
	free(m->chosen);
}

/* ---- weights ---- */

/* Labels have the sums of the contexts that are asked for, and are there when they lead to some. */
static void
weigh_label(const struct st_context_maker *m, size_t i, uint32_t label)
{
	const struct st_profile_context *x = &m->c->profile->contexts.v[i];
	struct st_context_label *l = &m->c->labels[label];
	l->seen |= is_chosen(m, i, ST_CHOICE_WAY);
	if (l->pruned)
		m->c->n_in_pruned += x->count;
	if (!is_chosen(m, i, ST_CHOSEN))
		return;
	l->count += x->count;
	l->instructions += x->instructions;
}

/* Each context counts where it is, and as the top region that was under way. */
static void
weigh_context(struct st_context_maker *m, size_t i)
{
	const struct st_profile_context *x = &m->c->profile->contexts.v[i];
	struct st_context_group *g = &m->c->groups.v[m->group_of[i]];
	struct st_weight own = st_contexts_weight(m, x);
	struct way w = placed_way_of(m, i);
	bool chosen = is_chosen(m, i, ST_CHOSEN);
	for (uint32_t label; (label = step(m, &w)) != UINT32_MAX;) {
		weigh_label(m, i, label);
		if (chosen)
			st_forest_add(&g->ksf, w.node, &own);
	}
	if (!chosen || x->link == UINT32_MAX || m->group_of[x->link] != m->group_of[i] ||
	    !is_chosen(m, x->link, ST_CHOSEN))
		return;
	w = placed_way_of(m, x->link);
	while (step(m, &w) != UINT32_MAX)
		g->ksf.nodes[w.node].top += x->count;
}

/* Adds to the loop of a node or a label: *number. */
static st_status
add_loop(struct st_contexts *c, uint32_t *number, const struct st_loop *loop)
{
	if (!*number) {
		if (!ST_PUSH(&c->loops))
			return -1;
		*number = (uint32_t)c->loops.n;
	}
	st_loop_add(&c->loops.v[*number - 1], loop);
	return 0;
}

/* A loop's head is a block's first piece. */
static st_status
add_loops(struct st_context_maker *m)
{
	struct st_contexts *c = m->c;
	for (size_t i = 0; i < c->profile->loops.n; i++) {
		const struct st_profile_loop *l = &c->profile->loops.v[i];
		struct way w = way_of(m, l->context);
		uint32_t label = step(m, &w);
		if (label == UINT32_MAX || !is_chosen(m, l->context, ST_CHOSEN))
			continue;
		if (add_loop(c, &w.f->nodes[w.node].loop, &l->loop) ||
		    add_loop(c, &c->labels[label].loop, &l->loop))
			return -1;
	}
	return 0;
}

static void
count_threads(const struct st_context_maker *m)
{
	struct st_contexts *c = m->c;
	const struct st_profile *p = c->profile;
	bool *seen = calloc(p->threads.n + 1, sizeof *seen);
	for (size_t i = 0; seen && i < p->contexts.n; i++) {
		uint32_t thread = p->contexts.v[i].thread;
		c->n_threads += is_chosen(m, i, ST_CHOICE_WAY) && !seen[thread];
		seen[thread] |= is_chosen(m, i, ST_CHOICE_WAY);
	}
	free(seen);
}

static st_status
make_groups(struct st_context_maker *m)
{
	struct st_contexts *c = m->c;
	size_t n = c->profile->contexts.n;
	m->node_of = calloc(n + 1, sizeof *m->node_of);
	m->group_of = calloc(n + 1, sizeof *m->group_of);
	if (!m->node_of || !m->group_of)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (place_context(m, i))
			return -1;
	if (m->choice && choose_contexts(m))
		return -1;
	for (size_t i = 0; i < n; i++)
		weigh_context(m, i);
	if (add_loops(m))
		return -1;
	if (c->with_kccf)
		st_contexts_make_callers(c, m->most_callers);
	count_threads(m);
	if (m->choice)
		prune(m);
	for (size_t i = 0; i < c->groups.n; i++) {
		struct st_context_group *g = &c->groups.v[i];
		if (m->part > ST_WALL_ALL &&
		    (st_contexts_keep_weights(&g->ksf) || st_contexts_keep_weights(&g->kccf)))
			return -1;
		st_forest_total(&g->ksf);
		c->n_ksf += g->ksf.n;
		c->n_kccf += g->kccf.n;
		if (g->ksf.out_of_memory || g->kccf.out_of_memory)
			return -1;
	}
	return 0;
}

/* Groups of one thread together, each thread's in the order in which they began. */
static int
compare_groups(const void *a, const void *b)
{
	const struct st_context_group *x = a, *y = b;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->begun < y->begun ? -1 : x->begun > y->begun;
}

st_status
st_contexts_make(struct st_contexts *c, const struct st_profile *p,
                 const struct st_context_choice *choice, struct st_error *e)
{
	bool some = choice->n_under || choice->n_calls;
	struct st_context_maker m = {.c = c,
	                             .choice = some ? choice : NULL,
	                             .most_callers = choice->most_callers,
	                             .part = choice->part};
	struct st_context_options o;
	bool known = st_contexts_options(p, &o);
	*c = (struct st_contexts){.profile = p,
	                          .mode = o.mode,
	                          .k = o.k,
	                          .k_callers = o.k,
	                          .timed = o.time && choice->part != ST_WALL_SAMPLES,
	                          .sampled = o.sampled,
	                          .counted = o.sampled ? "samples" : NULL,
	                          .unit = o.sampled ? "count" : NULL,
	                          .with_instructions = o.instructions,
	                          .n_pruned = p->run.contexts_pruned,
	                          .bytes = p->run.forest_bytes,
	                          .join_threads = choice->join_threads,
	                          .with_kccf = choice->kccf,
	                          .pinned = choice->pin,
	                          .list_functions = choice->functions,
	                          .list_blocks = choice->blocks,
	                          .list_code = choice->code,
	                          .with_loops = o.iterations && o.mode == ST_CONTEXT_INTRA};
	if (!known)
		return st_fail(e, ST_EXIT_USAGE,
		               "the profile has no contexts; strobe paths measures them");
	if (choice->part && !(o.sampled && o.time))
		return st_fail(e, ST_EXIT_USAGE,
		               "the profile has no wall time, of which --metric could choose: "
		               "measure with strobe run -t hot:wall");
	if (some && c->mode != ST_CONTEXT_FUNC)
		return st_fail(e, ST_EXIT_USAGE,
		               "--under and --calls are about functions, and these are contexts of "
		               "blocks: measure with --mode func");
	int status = st_contexts_make_labels(&m);
	if (!status) {
		status = make_groups(&m) || st_contexts_count_labels(c);
		if (c->groups.n)
			qsort(c->groups.v, c->groups.n, sizeof *c->groups.v, compare_groups);
	}
	free_chosen(&m);
	free(m.label_of);
	free(m.used);
	free(m.shared);
	free(m.node_of);
	free(m.group_of);
	return status ? st_fail(e, ST_EXIT_FAILED, "no memory left to read the contexts") : 0;
}

void
st_contexts_free(struct st_contexts *c)
{
	for (size_t i = 0; i < c->groups.n; i++) {
		st_forest_free(&c->groups.v[i].ksf);
		st_forest_free(&c->groups.v[i].kccf);
	}
	for (size_t i = 0; i < c->texts.n; i++)
		free(c->texts.v[i]);
	free(c->texts.v);
	free(c->groups.v);
	free(c->loops.v);
	free(c->labels);
}
