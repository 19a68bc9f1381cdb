/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "live/counts.h"

#include "live/internal.h"

/* What a node may be, beside its context and FIRST_CONTEXT: not met yet; the node of a thread,
 * above its trees; a context that finds no room, nor do those below; at hand; nothing, as an even
 * or an odd look has found. */
enum { UNKNOWN, THREAD, OTHER, AT_HAND, NOTHING, NOTHING_ODD, FIRST_CONTEXT };

void
st_live_init(struct st_live *l, enum st_live_worth worth, bool blocks)
{
	*l = (struct st_live){
	        .worth = worth, .blocks = blocks, .most_contexts = ST_LIVE_MOST_CONTEXTS};
}

static void
counts_free_process(struct st_live_process *p)
{
	free(p->contexts);
	free(p->places);
	free(p->images);
	*p = (struct st_live_process){.over = true};
}

static void
free_items(struct st_live_items *items)
{
	free(items->all.v);
	st_hashmap_free(&items->index);
}

void
st_live_free(struct st_live *l)
{
	for (size_t i = 0; i < l->processes.n; i++)
		counts_free_process(&l->processes.v[i]);
	st_live_free_names(l);
	free(l->processes.v);
	free(l->way.v);
	free_items(&l->places);
	free_items(&l->contexts);
	*l = (struct st_live){0};
}

/* An array with room for n numbers, the new ones 0. */
static bool
counts_make_room(uint32_t **numbers, uint32_t *known, uint32_t n)
{
	if (n <= *known)
		return true;
	uint32_t *more = reallocarray(*numbers, n, sizeof *more);
	if (!more)
		return false;
	memset(more + *known, 0, (n - *known) * sizeof *more);
	*numbers = more;
	*known = n;
	return true;
}

/* Loads a value that another process may be changing. */
static uint32_t
load32(const uint32_t *at)
{
	return __atomic_load_n(at, __ATOMIC_RELAXED);
}

/* Under way in one process. */
struct look {
	struct st_live *l;
	struct st_live_process *p;
	const struct st_view *v;
	bool last; /* it has ended */
};

/* A node as it is now: what is known to lie within its bounds. */
struct node {
	uint32_t parent; /* 0: it has none */
	uint32_t place;  /* of its label */
	bool context;
	bool empty; /* a thread's, or not used */
};

static struct node
node_at(const struct look *k, uint32_t i)
{
	const strobe_node *n = &k->v->nodes[i];
	uint32_t label = load32(&n->label), parent = load32(&n->parent);
	struct node now = {.place = ST_LIVE_NONE, .empty = !label && !parent};
	if (label && label < k->p->n_labels)
		now.place = k->p->places[label];
	if (parent < k->v->n_nodes)
		now.parent = parent;
	now.context = now.parent && now.place != ST_LIVE_NONE;
	return now;
}

static uint32_t
owner_of(uint32_t above)
{
	return above < FIRST_CONTEXT ? ST_LIVE_NONE : above - FIRST_CONTEXT;
}

/* Whether what was found before is still so: a number may be used again. */
static bool
counts_holds(const struct look *k, uint32_t i, const struct node *now)
{
	uint32_t known = k->p->contexts[i];
	if (known == THREAD)
		return now->empty;
	if (known == OTHER)
		return now->context;
	if (known < FIRST_CONTEXT)
		return known == AT_HAND || known == k->l->nothing;
	const struct st_live_item *context = &k->l->contexts.all.v[known - FIRST_CONTEXT];
	return now->context && context->at == now->place &&
	       context->owner == owner_of(k->p->contexts[now->parent]);
}

static uint32_t
context_below(struct st_live *l, uint32_t above, uint32_t place)
{
	if (above != THREAD && above != OTHER && above < FIRST_CONTEXT)
		return l->nothing;
	uint32_t context = above != OTHER && l->contexts.all.n < l->most_contexts
	                           ? st_live_item(&l->contexts, owner_of(above), place)
	                           : ST_LIVE_NONE;
	return context == ST_LIVE_NONE ? OTHER : context + FIRST_CONTEXT;
}

/* Up to a node of which it is known what it is, and back. Those on the way are marked, so that a
 * circle, which only damage makes, is left again. */
static void
find_context(const struct look *k, uint32_t i)
{
	struct st_live *l = k->l;
	uint32_t *contexts = k->p->contexts;
	l->way.n = 0;
	for (struct node now = node_at(k, i); !counts_holds(k, i, &now); now = node_at(k, i)) {
		struct st_live_step *step = ST_PUSH(&l->way);
		if (!now.context || !step) {
			contexts[i] = now.empty ? THREAD : l->nothing;
			l->way.n -= step != NULL;
			break;
		}
		*step = (struct st_live_step){i, now.place};
		contexts[i] = AT_HAND;
		i = now.parent;
	}
	uint32_t above = contexts[i];
	for (size_t n = l->way.n; n-- > 0; contexts[l->way.v[n].node] = above)
		above = context_below(l, above, l->way.v[n].place);
}

static void
counts_add(struct st_live_item *item, const uint64_t numbers[ST_LIVE_NUMBERS], bool ended)
{
	for (unsigned i = 0; i < ST_LIVE_NUMBERS; i++) {
		item->now[i] += numbers[i];
		item->ended[i] += ended ? numbers[i] : 0;
	}
}

static void
look_at_node(const struct look *k, uint32_t i)
{
	struct st_live *l = k->l;
	struct node now = node_at(k, i);
	if (!counts_holds(k, i, &now))
		find_context(k, i);
	uint32_t known = k->p->contexts[i];
	if (!now.context || (known != OTHER && known < FIRST_CONTEXT))
		return;
	const strobe_cost *cost = &k->v->costs[i];
	const uint64_t numbers[ST_LIVE_NUMBERS] = {
	        __atomic_load_n(&k->v->nodes[i].count, __ATOMIC_RELAXED),
	        l->worth == ST_LIVE_TIME ? __atomic_load_n(&cost->ticks, __ATOMIC_RELAXED)
	        : l->worth == ST_LIVE_INSTRUCTIONS
	                ? __atomic_load_n(&cost->instructions, __ATOMIC_RELAXED)
	                : 0};
	counts_add(&l->places.all.v[now.place], numbers, k->last);
	counts_add(known == OTHER ? &l->others : &l->contexts.all.v[known - FIRST_CONTEXT], numbers,
	           k->last);
}

static void
counts_count_threads(struct st_live *l, const struct st_view *v)
{
	for (uint32_t i = 0; i < v->n_threads; i++)
		l->n_threads += load32(&v->threads[i].state) == ST_THREAD_LIVE;
}

/* Results that cannot be read, as they are now, are left for the next look. */
static void
look_at_process(struct st_live *l, struct st_live_process *p, const struct st_process *process)
{
	struct st_view v;
	struct st_error e;
	struct look k = {l, p, &v, process->gone};
	if (st_view_open(&v, process->results, process->results_size, &e))
		return;
	if (!process->gone) {
		l->n_running++;
		counts_count_threads(l, &v);
	}
	uint32_t labels = p->n_labels;
	if (!counts_make_room(&p->places, &p->n_labels, v.n_labels) ||
	    !counts_make_room(&p->contexts, &p->n_nodes, v.n_nodes))
		return;
	st_live_find_places(l, p, &v, labels);
	for (uint32_t i = 1; i < v.n_nodes; i++)
		look_at_node(&k, i);
}

/* Numbers of processes that have ended are what they were. */
static void
counts_begin(struct st_live_item *items, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		memcpy(items[i].before, items[i].now, sizeof items[i].before);
		memcpy(items[i].now, items[i].ended, sizeof items[i].now);
	}
}

static struct st_live_process *
process_at(struct st_live *l, size_t i)
{
	if (i < l->processes.n)
		return &l->processes.v[i];
	struct st_live_process *new = ST_PUSH(&l->processes);
	if (new)
		new->generated = ST_LIVE_NONE;
	return new;
}

void
st_live_look(struct st_live *l, const struct st_process *processes, size_t n)
{
	counts_begin(l->places.all.v, l->places.all.n);
	counts_begin(l->contexts.all.v, l->contexts.all.n);
	counts_begin(&l->others, 1);
	memset(l->now, 0, sizeof l->now);
	memset(l->since, 0, sizeof l->since);
	l->n_running = l->n_threads = 0;
	l->nothing = l->nothing == NOTHING ? NOTHING_ODD : NOTHING;
	for (size_t i = 0; i < n; i++) {
		struct st_live_process *p = process_at(l, i);
		if (!p)
			break;
		if (p->over)
			continue;
		look_at_process(l, p, &processes[i]);
		if (processes[i].gone)
			counts_free_process(p);
	}
	for (size_t i = 0; i < l->places.all.n; i++)
		for (unsigned k = 0; k < ST_LIVE_NUMBERS; k++) {
			l->now[k] += l->places.all.v[i].now[k];
			l->since[k] += st_live_since(&l->places.all.v[i], k);
		}
}
