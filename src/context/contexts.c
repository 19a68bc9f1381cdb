/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "context/internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- the run's options ---- */

/* The value of an option in "contexts:mode=func,k=10", NULL: it was not given. */
static const char *
option(const char *tools, const char *name)
{
	static const char tool[] = "contexts:";
	const char *word = strstr(tools, tool);
	size_t n = strlen(name);
	for (word = word ? word + sizeof tool - 1 : NULL; word;) {
		if (!strncmp(word, name, n) && word[n] == '=')
			return word + n + 1;
		word = strchr(word, ',');
		word = word ? word + 1 : NULL;
	}
	return NULL;
}

static bool
is_word(const char *text, const char *word)
{
	size_t n = strlen(word);
	return text && !strncmp(text, word, n) && (text[n] == ',' || !text[n]);
}

bool
st_contexts_options(const struct st_profile *p, enum st_context_mode *mode, uint32_t *k)
{
	const char *tools = p->run.tool ? p->run.tool : "", *given = option(tools, "k");
	if (!strstr(tools, "contexts"))
		return false;
	*mode = ST_CONTEXT_FUNC;
#define M(id, name)                                                                                \
	if (is_word(option(tools, "mode"), #name))                                                 \
		*mode = ST_CONTEXT_##id;
	ST_CONTEXT_MODES(M)
#undef M
	*k = !given || is_word(given, "inf") ? (uint32_t)ST_K_INFINITE
	                                     : (uint32_t)strtoul(given, NULL, 10);
	return true;
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

static struct st_weight
weight_of(const struct st_profile_context *x)
{
	return (struct st_weight){x->count, x->self_ns, x->instructions};
}

/* A context of the profile, on its way through the forest: a piece of its last block after the
 * other. */
struct way {
	struct st_forest *f;
	uint32_t node; /* where it is */
	struct st_context_pieces pieces;
};

static struct way
way_of(const struct st_context_maker *m, size_t i)
{
	const struct st_profile_context *x = &m->c->profile->contexts.v[i];
	return (struct way){&m->c->groups.v[m->group_of[i]].ksf,
	                    x->parent == UINT32_MAX ? ST_NO_NODE : m->node_of[x->parent],
	                    st_contexts_pieces(m, x->label)};
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
	uint32_t back = above(m, w, label), parent = m->c->k ? w->node : ST_NO_NODE;
	w->node = back == ST_NO_NODE ? st_forest_child(w->f, parent, label) : back;
	return w->node == ST_NO_NODE ? UINT32_MAX : label;
}

static int
place_context(struct st_context_maker *m, size_t i)
{
	struct st_contexts *c = m->c;
	const struct st_profile_context *x = &c->profile->contexts.v[i];
	if (x->parent == UINT32_MAX) {
		uint32_t label = m->label_of[x->label];
		uint32_t function =
		        c->mode == ST_CONTEXT_INTRA ? c->labels[label].function : UINT32_MAX;
		m->group_of[i] = find_group(c, c->joined ? UINT32_MAX : x->thread, function);
	} else {
		m->group_of[i] = m->group_of[x->parent];
	}
	if (m->group_of[i] == ST_NO_NODE)
		return -1;
	struct way w = way_of(m, i);
	for (uint32_t label; (label = step(m, &w)) != UINT32_MAX;) {
		struct st_context_label *l = &c->labels[label];
		l->seen = true;
		l->count += x->count;
		l->instructions += x->instructions;
	}
	m->node_of[i] = w.node;
	return w.node == ST_NO_NODE ? -1 : 0;
}

/* Each context counts where it is, and as the top region that was under way. */
static void
weigh_context(struct st_context_maker *m, size_t i)
{
	const struct st_profile_context *x = &m->c->profile->contexts.v[i];
	struct st_context_group *g = &m->c->groups.v[m->group_of[i]];
	struct st_weight own = weight_of(x);
	struct way w = way_of(m, i);
	while (step(m, &w) != UINT32_MAX) {
		st_forest_add(&g->ksf, w.node, &own);
		if (m->c->with_kccf && (x->count || x->self_ns || x->instructions))
			st_forest_invert(&g->ksf, w.node, m->c->k, &own, &g->kccf);
	}
	if (x->link == UINT32_MAX || m->group_of[x->link] != m->group_of[i])
		return;
	w = way_of(m, x->link);
	while (step(m, &w) != UINT32_MAX)
		g->ksf.nodes[w.node].top += x->count;
}

static void
weigh(struct st_context_maker *m)
{
	const struct st_profile *p = m->c->profile;
	for (size_t i = 0; i < p->contexts.n; i++) {
		weigh_context(m, i);
		m->c->timed |= p->contexts.v[i].self_ns != 0;
		m->c->with_instructions |= p->contexts.v[i].instructions != 0;
	}
}

static int
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
	weigh(m);
	for (size_t i = 0; i < c->groups.n; i++) {
		struct st_context_group *g = &c->groups.v[i];
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

static void
count_threads(struct st_contexts *c)
{
	const struct st_profile *p = c->profile;
	bool *seen = calloc(p->threads.n + 1, sizeof *seen);
	for (size_t i = 0; seen && i < p->contexts.n; i++) {
		c->n_threads += !seen[p->contexts.v[i].thread];
		seen[p->contexts.v[i].thread] = true;
	}
	free(seen);
}

int
st_contexts_make(struct st_contexts *c, const struct st_profile *p,
                 const struct st_context_choice *choice, struct st_error *e)
{
	struct st_context_maker m = {.c = c};
	*c = (struct st_contexts){.profile = p,
	                          .joined = choice->join,
	                          .with_kccf = choice->kccf,
	                          .pinned = choice->pin,
	                          .list_functions = choice->functions,
	                          .list_blocks = choice->blocks,
	                          .list_code = choice->code};
	if (!st_contexts_options(p, &c->mode, &c->k))
		return st_fail(e, ST_EXIT_USAGE,
		               "the profile has no contexts; strobe paths measures them");
	int status = st_contexts_make_labels(&m);
	if (!status) {
		count_threads(c);
		status = make_groups(&m) || st_contexts_count_labels(c);
		if (c->groups.n)
			qsort(c->groups.v, c->groups.n, sizeof *c->groups.v, compare_groups);
	}
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
	free(c->labels);
}
