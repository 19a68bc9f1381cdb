/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "context/contexts.h"

#include <stdio.h>
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

/* "name" alone is "name=1". */
static bool
flag(const char *tools, const char *name, bool usual)
{
	const char *word = strstr(tools, "contexts:");
	size_t n = strlen(name);
	for (word = word ? strchr(word, ':') : NULL; word; word = strchr(word + 1, ','))
		if (is_word(word + 1, name))
			usual = true;
		else if (!strncmp(word + 1, name, n) && word[1 + n] == '=')
			usual = strtoul(word + n + 2, NULL, 10) != 0;
	return usual;
}

bool
st_contexts_options(const struct st_profile *p, struct st_context_options *o)
{
	const char *tools = p->run.tool ? p->run.tool : "", *k = option(tools, "k");
	*o = (struct st_context_options){.mode = ST_CONTEXT_FUNC,
	                                 .k = ST_K_INFINITE,
	                                 .time = flag(tools, "time", false),
	                                 .instructions = flag(tools, "instructions", false)};
#define M(id, name)                                                                                \
	if (is_word(option(tools, "mode"), #name))                                                 \
		o->mode = ST_CONTEXT_##id;
	ST_CONTEXT_MODES(M)
#undef M
	if (k && !is_word(k, "inf"))
		o->k = (uint32_t)strtoul(k, NULL, 10);
#define R(name, usual, asked) o->name = flag(tools, #name, usual);
	ST_CONTEXT_RULES(R)
#undef R
	return strstr(tools, "contexts") != NULL;
}

/* ---- labels ---- */

struct maker {
	struct st_contexts *c;
	uint32_t *label_of; /* of the profile's labels: equal places are one */
	uint32_t *node_of;  /* of the profile's contexts: the node of its group */
	uint32_t *group_of; /* of the profile's contexts */
	const struct st_context_choice *choice;
	unsigned char *
	        *chosen; /* of each group, what is known of its nodes; NULL: all are chosen */
	size_t n_chosen;
	size_t most_callers; /* nodes; 0: no limit */
};

static int
compare_places(const void *a, const void *b, void *profile)
{
	const struct st_profile *p = profile;
	const struct st_profile_label *x = &p->labels.v[*(const uint32_t *)a];
	const struct st_profile_label *y = &p->labels.v[*(const uint32_t *)b];
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Of a place in no function. */
static const char *
name_by_offset(struct st_contexts *c, const struct st_profile_label *l)
{
	const char *path = l->image == UINT32_MAX ? "" : c->profile->images.v[l->image].path;
	const char *slash = strrchr(path, '/');
	char **text = ST_PUSH(&c->texts);
	if (!text || asprintf(text, "%s+0x%llx", slash ? slash + 1 : path,
	                      (unsigned long long)l->offset) < 0)
		return "?";
	return *text;
}

static const char *
name_of(struct st_contexts *c, const struct st_profile_label *l)
{
	const struct st_profile *p = c->profile;
	if (l->image == UINT32_MAX && l->offset < ST_FIRST_PLACE)
		return "__root__";
	if (l->function != UINT32_MAX)
		return p->functions.v[l->function].name;
	return name_by_offset(c, l);
}

static void
describe(struct st_contexts *c, const struct st_profile_label *in, struct st_context_label *out)
{
	const struct st_profile *p = c->profile;
	const struct st_profile_function *f =
	        in->function == UINT32_MAX ? NULL : &p->functions.v[in->function];
	*out = (struct st_context_label){
	        .name = name_of(c, in),
	        .image = in->image == UINT32_MAX ? NULL : p->images.v[in->image].path,
	        .file = in->file,
	        .offset = in->offset,
	        .inside = f && in->offset >= f->offset ? in->offset - f->offset : 0,
	        .line = in->line,
	        .column = in->column,
	        .function = UINT32_MAX,
	        .root = in->image == UINT32_MAX && in->offset < ST_FIRST_PLACE};
}

/* Makes labels of different processes that are one place one label. */
static int
merge_labels(struct maker *m)
{
	struct st_contexts *c = m->c;
	const struct st_profile *p = c->profile;
	uint32_t n = (uint32_t)p->labels.n, *order = malloc((n + 1) * sizeof *order);
	m->label_of = malloc((n + 1) * sizeof *m->label_of);
	c->labels = calloc(n + 1, sizeof *c->labels);
	if (!order || !m->label_of || !c->labels) {
		free(order);
		return -1;
	}
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof *order, compare_places, (void *)(uintptr_t)p);
	for (uint32_t i = 0; i < n; i++) {
		const struct st_profile_label *l = &p->labels.v[order[i]];
		bool same = i && !compare_places(&order[i - 1], &order[i], (void *)(uintptr_t)p);
		if (!same)
			describe(c, l, &c->labels[c->n_labels++]);
		m->label_of[order[i]] = (uint32_t)c->n_labels - 1;
	}
	free(order);
	return 0;
}

/* The labels of one function stand together, because they are ordered by place. */
static void
find_functions(struct st_contexts *c)
{
	uint32_t current = UINT32_MAX;
	for (uint32_t i = 0; i < c->n_labels; i++) {
		struct st_context_label *l = &c->labels[i];
		bool same = c->mode != ST_CONTEXT_FUNC && current != UINT32_MAX && l->image &&
		            c->labels[current].image == l->image &&
		            c->labels[current].name == l->name;
		if (!same)
			current = i;
		l->function = current;
	}
}

/* Labels are made when code is translated, which may never run. */
static void
count_functions(struct st_contexts *c)
{
	bool *used = calloc(c->n_labels + 1, sizeof *used);
	for (size_t g = 0; used && g < c->groups.n; g++) {
		const struct st_forest *f = &c->groups.v[g].ksf;
		for (uint32_t i = 0; i < f->n; i++) {
			const struct st_context_label *l = &c->labels[f->nodes[i].label];
			c->n_functions += !l->root && !used[l->function];
			used[l->function] = true;
		}
	}
	free(used);
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

static int
place_context(struct maker *m, size_t i)
{
	struct st_contexts *c = m->c;
	const struct st_profile_context *x = &c->profile->contexts.v[i];
	uint32_t label = m->label_of[x->label], parent = ST_NO_NODE;
	if (x->parent == UINT32_MAX) {
		uint32_t function =
		        c->mode == ST_CONTEXT_INTRA ? c->labels[label].function : UINT32_MAX;
		m->group_of[i] = find_group(c, c->joined ? UINT32_MAX : x->thread, function);
	} else {
		m->group_of[i] = m->group_of[x->parent];
		parent = m->node_of[x->parent];
	}
	if (m->group_of[i] == ST_NO_NODE)
		return -1;
	struct st_forest *f = &c->groups.v[m->group_of[i]].ksf;
	m->node_of[i] = st_forest_child(f, parent, label);
	return m->node_of[i] == ST_NO_NODE ? -1 : 0;
}

/* ---- the ones that are asked for ---- */

static bool
fits_any(const char *const *patterns, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (st_choice_fits(patterns[i], name))
			return true;
	return false;
}

static int
choose(struct maker *m)
{
	struct st_contexts *c = m->c;
	const struct st_context_choice *choice = m->choice;
	unsigned char *labels = calloc(c->n_labels + 1, sizeof *labels);
	m->chosen = calloc(c->groups.n + 1, sizeof *m->chosen);
	for (size_t i = 0; labels && i < c->n_labels; i++) {
		const char *name = c->labels[i].name;
		if (!choice->n_under || fits_any(choice->under, choice->n_under, name))
			labels[i] |= ST_CHOICE_UNDER;
		if (!choice->n_calls || fits_any(choice->calls, choice->n_calls, name))
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
is_chosen(const struct maker *m, size_t context, unsigned char what)
{
	return !m->chosen || (m->chosen[m->group_of[context]][m->node_of[context]] & what) == what;
}

static void
prune(struct maker *m)
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
free_chosen(struct maker *m)
{
	for (size_t i = 0; m->chosen && i < m->n_chosen; i++)
		free(m->chosen[i]);
	free(m->chosen);
}

/* ---- weights ---- */

/* Each context counts where it is, and as the top region that was under way. */
static void
weigh(struct maker *m)
{
	const struct st_profile *p = m->c->profile;
	for (size_t i = 0; i < p->contexts.n; i++) {
		const struct st_profile_context *x = &p->contexts.v[i];
		struct st_context_group *g = &m->c->groups.v[m->group_of[i]];
		struct st_weight own = weight_of(x);
		if (!is_chosen(m, i, ST_CHOSEN))
			continue;
		st_forest_add(&g->ksf, m->node_of[i], &own);
		if (x->link != UINT32_MAX && m->group_of[x->link] == m->group_of[i] &&
		    is_chosen(m, x->link, ST_CHOSEN))
			g->ksf.nodes[m->node_of[x->link]].top += x->count;
	}
}

/* ---- callers ---- */

/* Whether a context has anything that its callers are told. */
static bool
has_weight(const struct maker *m, size_t i)
{
	const struct st_profile_context *x = &m->c->profile->contexts.v[i];
	return (x->count || x->self_ns || x->instructions) && is_chosen(m, i, ST_CHOSEN);
}

/* False: the forests would have more nodes than they may. */
static bool
invert(struct maker *m)
{
	const struct st_profile *p = m->c->profile;
	size_t nodes = 0;
	for (size_t i = 0; i < p->contexts.n; i++) {
		struct st_context_group *g = &m->c->groups.v[m->group_of[i]];
		struct st_weight own = weight_of(&p->contexts.v[i]);
		if (!has_weight(m, i))
			continue;
		size_t before = g->kccf.n;
		st_forest_invert(&g->ksf, m->node_of[i], m->c->k_callers, &own, &g->kccf);
		nodes += g->kccf.n - before;
		if (m->most_callers && nodes > m->most_callers)
			return false;
	}
	return true;
}

/* The largest k with which no more than so many steps are gone up from contexts to their callers,
 * each of which may make a node: at each level there is one for each context that is so deep. */
static uint32_t
largest_k(const struct maker *m, size_t most)
{
	const struct st_profile *p = m->c->profile;
	uint32_t *depth = calloc(p->contexts.n + 1, sizeof *depth), deepest = 0, k = 0;
	size_t *ending = calloc(p->contexts.n + 1, sizeof *ending), steps = 0, longer = 0;
	for (size_t i = 0; depth && ending && i < p->contexts.n; i++) {
		uint32_t parent = p->contexts.v[i].parent;
		depth[i] = parent == UINT32_MAX ? 0 : depth[parent] + 1;
		if (!has_weight(m, i))
			continue;
		deepest = depth[i] > deepest ? depth[i] : deepest;
		ending[depth[i]]++;
		longer++;
	}
	for (uint32_t level = 0; depth && ending && level <= deepest; level++) {
		steps += longer;
		longer -= ending[level];
		if (steps > most)
			break;
		k = level == deepest ? (uint32_t)ST_K_INFINITE : level;
	}
	free(depth);
	free(ending);
	return k < m->c->k ? k : m->c->k;
}

/* Contexts share nodes, so that more steps than nodes may be worth trying: but not for ever, as
 * they grow with the square of a recursion's depth. */
static void
make_callers(struct maker *m)
{
	enum { STEPS = 8, LEAST = 1 << 24 };
	struct st_contexts *c = m->c;
	size_t steps = STEPS * m->most_callers;
	if (m->most_callers)
		c->k_callers = largest_k(m, steps > LEAST ? steps : LEAST);
	if (invert(m))
		return;
	for (size_t i = 0; i < c->groups.n; i++)
		st_forest_free(&c->groups.v[i].kccf);
	c->k_callers = largest_k(m, m->most_callers);
	m->most_callers = 0;
	invert(m);
}

static void
count_threads(const struct maker *m)
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

static int
make_groups(struct maker *m)
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
	if (m->choice && choose(m))
		return -1;
	weigh(m);
	if (c->with_kccf)
		make_callers(m);
	count_threads(m);
	if (m->choice)
		prune(m);
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

int
st_contexts_make(struct st_contexts *c, const struct st_profile *p, bool join, bool kccf,
                 struct st_error *e)
{
	static const struct st_context_choice all;
	return st_contexts_choose(c, p, join, kccf, &all, e);
}

int
st_contexts_choose(struct st_contexts *c, const struct st_profile *p, bool join, bool kccf,
                   const struct st_context_choice *choice, struct st_error *e)
{
	bool some = choice->n_under || choice->n_calls;
	struct maker m = {
	        .c = c, .choice = some ? choice : NULL, .most_callers = choice->most_callers};
	*c = (struct st_contexts){.profile = p, .joined = join, .with_kccf = kccf};
	struct st_context_options o;
	bool known = st_contexts_options(p, &o);
	c->mode = o.mode;
	c->k = c->k_callers = o.k;
	c->timed = o.time;
	c->with_instructions = o.instructions;
	if (!known)
		return st_fail(e, ST_EXIT_USAGE,
		               "the profile has no contexts; strobe paths measures them");
	if (some && c->mode != ST_CONTEXT_FUNC)
		return st_fail(e, ST_EXIT_USAGE,
		               "--under and --calls are about functions, and these are contexts of "
		               "blocks: measure with --mode func");
	int status = merge_labels(&m);
	if (!status) {
		find_functions(c);
		status = make_groups(&m);
		count_functions(c);
		qsort(c->groups.v, c->groups.n, sizeof *c->groups.v, compare_groups);
	}
	free_chosen(&m);
	free(m.label_of);
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
