/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loops: contexts of blocks that are gone back to, how often they are entered, and how many
 * iterations each entry has.
 *
 * The walk counts iterations as it counts every block: a head's count, less what it was when the
 * head was entered. So only entries call the tool, which is why they are not remembered. A loop is
 * known when its head is gone back to for the first time: until then each visit was an entry of one
 * iteration.
 *
 * That the count is one entry's is not so when two activations are in a loop at once, as when its
 * function calls itself from within it, or on another stack. Such a loop is shared from then on:
 * no step to its head is remembered, and each activation has an entry of its own.
 */
#include "tools/contexts.h"
#include "tools/grow.h"

/* An entry that is not over, of a shared loop. The histogram has it already. */
struct entry {
	const struct contexts_strand *strand;
	uint32_t frame;
	uint64_t iterations, least; /* least: of those before it, too */
};

struct loop {
	strobe_loop *shown;
	strobe_node *head;
	/* Unless it is shared, whose the last entry is. */
	const struct contexts_strand *strand;
	uint32_t frame;
	bool shared;
	struct entry *entries; /* those of one stack in the order of its frames */
	uint32_t n, room;
};

struct contexts_loops {
	strobe_map by_head; /* struct loop *, by the head's number */
	strobe_map by_step; /* the same, by node << 32 | label, of steps that are not remembered;
	                       BACK: from within the loop */
};
enum { BACK = 1 };

static uint32_t
index_of(const strobe_node *n)
{
	return (uint32_t)(n - strobe_nodes());
}

static uint64_t
step_of(const strobe_node *from, uint32_t label)
{
	return (uint64_t)index_of(from) << 32 | label;
}

/* ---- iterations ---- */

static void
close_entry(strobe_loop *l, uint64_t iterations)
{
	if (!l->least || iterations < l->least)
		l->least = iterations;
	if (iterations > l->most)
		l->most = iterations;
}

static void
add_entries(strobe_loop *l, uint64_t iterations, uint64_t n)
{
	if (!iterations || !n)
		return;
	l->histogram[strobe_loop_class(iterations)] += n;
	close_entry(l, iterations);
}

/* ---- shared loops ---- */

/* Entries from `from` on have changed. */
static void
find_least(struct loop *l, uint32_t from)
{
	for (uint32_t i = from; i < l->n; i++) {
		struct entry *e = &l->entries[i];
		bool first = !i || e[-1].least > e->iterations;
		e->least = first ? e->iterations : e[-1].least;
	}
	l->shown->open = l->n ? l->entries[l->n - 1].least : 0;
}

static void
open_entry(struct loop *l, const struct contexts_strand *strand, uint32_t frame,
           uint64_t iterations)
{
	if (!iterations)
		return;
	if (l->n == l->room && !TOOLS_GROW(l->entries, l->n, l->room, l->room ? 2 * l->room : 16))
		return;
	l->entries[l->n++] = (struct entry){strand, frame, iterations, 0};
	l->shown->histogram[strobe_loop_class(iterations)]++;
	if (iterations > l->shown->most)
		l->shown->most = iterations;
	find_least(l, l->n - 1);
}

/* Ends the stack's entries of the frame and those above. */
static void
close_above(struct loop *l, const struct contexts_strand *strand, uint32_t frame)
{
	uint32_t first = l->n;
	while (first &&
	       (l->entries[first - 1].strand != strand || l->entries[first - 1].frame >= frame))
		first--;
	uint32_t n = first;
	for (uint32_t i = first; i < l->n; i++) {
		const struct entry *e = &l->entries[i];
		if (e->strand == strand)
			close_entry(l->shown, e->iterations);
		else
			l->entries[n++] = *e;
	}
	l->n = n;
	find_least(l, first);
}

/* The stack's last. */
static struct entry *
find_entry(struct loop *l, const struct contexts_strand *strand)
{
	for (uint32_t i = l->n; i-- > 0;)
		if (l->entries[i].strand == strand)
			return &l->entries[i];
	return NULL;
}

static void
iterate_shared(struct loop *l, const struct contexts_strand *strand, uint32_t frame)
{
	close_above(l, strand, frame + 1);
	struct entry *e = find_entry(l, strand);
	if (!e || e->frame != frame)
		return; /* there was no memory for it */
	uint64_t *histogram = l->shown->histogram;
	histogram[strobe_loop_class(e->iterations)]--;
	histogram[strobe_loop_class(++e->iterations)]++;
	if (e->iterations > l->shown->most)
		l->shown->most = e->iterations;
	find_least(l, (uint32_t)(e - l->entries));
}

/* The walk goes back to the head by itself no more. */
static void
forget_steps(strobe_thread *t, const strobe_node *head)
{
	strobe_node *nodes = strobe_nodes();
	uint32_t i = index_of(head), top = i;
	for (;;) {
		strobe_forget(t, i, head->label);
		if (nodes[i].child) {
			i = nodes[i].child;
			continue;
		}
		while (i != top && !nodes[i].next)
			i = nodes[i].parent;
		if (i == top)
			return;
		i = nodes[i].next;
	}
}

/* ---- who is in a loop ---- */

static bool
is_within(const strobe_node *n, const strobe_node *head)
{
	while (n != head && n->parent)
		n = &strobe_nodes()[n->parent];
	return n == head;
}

/* Is the frame an activation of the function that is in the loop? */
static bool
is_in_loop(const struct contexts_strand *c, uint32_t frame, uint32_t function,
           const strobe_node *head)
{
	const contexts_frame *f = &c->frames[frame];
	return frame >= c->base && f->label == function && is_within(f->inner, head);
}

/* Pushes the activations on the stack that are in the loop, which none has gone back in: all but
 * the last `but`. */
static void
push_others(struct loop *l, const struct contexts_strand *c, uint32_t function, uint32_t but)
{
	for (uint32_t i = 0; i + but < c->n; i++)
		if (is_in_loop(c, i, function, l->head))
			open_entry(l, c, i, 1);
}

/* Those on all stacks of the thread. */
static void
push_all_others(struct loop *l, const struct contexts_state *s, uint32_t function)
{
	push_others(l, s->strand, function, 1);
	for (const struct contexts_strand *c = s->strand->interrupted; c; c = c->interrupted)
		push_others(l, c, function, 0);
	for (const struct contexts_strand *c = s->parked; c; c = c->next)
		push_others(l, c, function, 0);
}

/* ---- loops ---- */

static struct loop *
find(struct contexts_loops *all, const strobe_node *head)
{
	uint64_t *at = strobe_map_find(&all->by_head, index_of(head));
	return at ? (struct loop *)*at : NULL;
}

static void
note_step(struct contexts_loops *all, const strobe_node *from, struct loop *l, unsigned back)
{
	uint64_t *at = strobe_map_at(&all->by_step, step_of(from, l->head->label));
	if (at)
		*at = (uint64_t)l | back;
}

static struct loop *
new_loop(struct contexts_loops *all, strobe_node *head)
{
	struct loop *l = strobe_allocate(sizeof *l);
	uint64_t *at = l ? strobe_map_at(&all->by_head, index_of(head)) : NULL;
	if (!at)
		return NULL;
	l->head = head;
	l->shown = strobe_new_loop(index_of(head));
	if (!l->shown)
		return NULL;
	*at = (uint64_t)l;
	return l;
}

/* From where it is entered: what it stands below, or where the function's activations begin. */
static uint32_t
before(const contexts_frame *f, const strobe_node *head)
{
	return strobe_nodes()[head->parent].label ? head->parent : index_of(f->node);
}

/* The head was gone back to for the first time, and that has been counted. */
static struct loop *
discover(strobe_thread *t, struct contexts_state *s, strobe_node *head)
{
	const contexts_frame *f = contexts_top(s);
	struct loop *l = new_loop(s->loops, head);
	uint64_t entries = head->count - 1;
	if (!l)
		return NULL;
	strobe_forget(t, before(f, head), head->label);
	push_all_others(l, s, f->label);
	l->strand = s->strand;
	l->frame = s->strand->n - 1;
	l->shared = l->n != 0;
	if (entries > l->n + 1)
		add_entries(l->shown, 1, entries - 1 - l->n);
	if (l->shared)
		open_entry(l, l->strand, l->frame, 1);
	else
		l->shown->base = head->count - 2;
	return l;
}

/* Is the activation still in it that the last entry is of, and it is not the one on top? */
static bool
is_elsewhere(const struct loop *l, const struct contexts_state *s)
{
	bool here = l->strand == s->strand;
	uint32_t n = here ? s->strand->n - 1 : l->strand->n;
	return l->frame < n && is_in_loop(l->strand, l->frame, contexts_top(s)->label, l->head);
}

static void
enter_own(strobe_thread *t, struct loop *l, const struct contexts_state *s)
{
	uint64_t others = l->head->count - 1, last = others - l->shown->base;
	if (is_elsewhere(l, s)) {
		l->shared = true;
		forget_steps(t, l->head);
		open_entry(l, l->strand, l->frame, last);
	} else {
		l->shown->base = others;
		add_entries(l->shown, last, 1);
	}
	l->strand = s->strand;
	l->frame = s->strand->n - 1;
}

/* The head has been gone to, and that has been counted. */
static void
visit(strobe_thread *t, struct loop *l, const struct contexts_state *s, bool back)
{
	uint32_t frame = s->strand->n - 1;
	if (!back && !l->shared)
		enter_own(t, l, s);
	if (!l->shared)
		return;
	l->shown->base = l->head->count;
	if (back) {
		iterate_shared(l, s->strand, frame);
	} else {
		close_above(l, s->strand, frame);
		open_entry(l, s->strand, frame, 1);
	}
}

/* A step that is not remembered has been made, to a node that may be a head. */
static void
look_at(strobe_thread *t, struct contexts_state *s, const strobe_node *from, strobe_node *n)
{
	bool back = from != contexts_top(s)->node && n->level <= from->level && is_within(from, n);
	struct loop *l = find(s->loops, n);
	if (!l && back)
		l = discover(t, s, n);
	if (!l)
		return;
	if (!back || l->shared) {
		strobe_forget(t, index_of(from), n->label);
		note_step(s->loops, from, l, back ? BACK : 0);
	}
	visit(t, l, s, back);
}

strobe_node *
contexts_iterate(strobe_thread *t, struct contexts_state *s, uint32_t label)
{
	strobe_node *from = contexts_top(s)->inner, *n;
	if (!s->loops)
		s->loops = strobe_allocate(sizeof *s->loops);
	if (!s->loops)
		return contexts_follow(t, from, label);
	const uint64_t *known = strobe_map_find(&s->loops->by_step, step_of(from, label));
	if (!known || !*known) {
		n = contexts_follow(t, from, label);
		if (n->label == label) /* else it found no room */
			look_at(t, s, from, n);
		return n;
	}
	struct loop *l = (struct loop *)(*known & ~(uint64_t)BACK);
	l->head->count++;
	visit(t, l, s, *known & BACK);
	return l->head;
}

void
contexts_loops_pruned(struct contexts_state *s)
{
	strobe_map *heads = s->loops ? &s->loops->by_head : NULL, *steps;
	for (size_t i = 0; heads && i < heads->size;) {
		const struct loop *l = (const struct loop *)heads->slots[2 * i + 1];
		if (heads->slots[2 * i] && !l->shown->head)
			strobe_map_remove(heads, heads->slots[2 * i]); /* another may move there */
		else
			i++;
	}
	steps = s->loops ? &s->loops->by_step : NULL;
	for (size_t i = 0; steps && i < 2 * steps->size; i++)
		steps->slots[i] = 0;
	if (steps)
		steps->used = 0;
}
