/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which functions are on a thread's stacks. A function is known by the stack pointer it was entered
 * with, where its return address lies: so a return says which one it is of, whoever executes it,
 * and what longjmp or an exception leaves lies below the stack pointer that they set.
 *
 * A thread may have several stacks (coroutines, signal stacks). When the stack pointer is given a
 * value that does not come from the one before, it is another stack, unless it leads to a frame of
 * this one. The one that was left is kept as a strand, and found again when the thread comes back
 * to where it left it.
 */
#include "tools/contexts.h"
#include "tools/grow.h"

enum {
	MOST_PARKED = 4096,    /* strands; the oldest is forgotten */
	SAVED = 64,            /* bytes that a switch of stacks may have on the stack it leaves */
	POPPED = 16,           /* and that it may take off one that it comes back to */
	LAST_FRAME = 256,      /* bytes above the first function of a stack that was switched to */
	NEAR = 1 << 20,        /* bytes: so much larger a frame may grow at once */
	ABOVE_FIRST = 1 << 20, /* bytes of stack above the first function of an attached thread */
};

static uint64_t
sp_of(const contexts_frame *f)
{
	return contexts_rounded(f->sp);
}

uint64_t
contexts_sp(const contexts_frame *f)
{
	return sp_of(f);
}

/* ---- strands ---- */

static contexts_frame *
push(struct contexts_strand *c)
{
	if (c->n == c->room && !TOOLS_GROW(c->frames, c->n, c->room, 2 * c->room))
		return &c->frames[c->n - 1];
	return &c->frames[c->n++];
}

void
contexts_drop(struct contexts_state *s, struct contexts_strand *c)
{
	c->next = s->spare;
	s->spare = c;
}

static struct contexts_strand *
forget_oldest(struct contexts_state *s)
{
	struct contexts_strand **oldest = &s->parked;
	while ((*oldest)->next)
		oldest = &(*oldest)->next;
	struct contexts_strand *c = *oldest;
	*oldest = NULL;
	s->n_parked--;
	return c;
}

/* Strands that have ended, or been forgotten, are used again: nothing is ever given back. */
struct contexts_strand *
contexts_new_strand(struct contexts_state *s)
{
	struct contexts_strand *c = s->spare;
	if (c) {
		s->spare = c->next;
		return c;
	}
	if (s->n_parked >= MOST_PARKED)
		return forget_oldest(s);
	c = strobe_allocate(sizeof *c);
	if (c)
		c->frames = strobe_allocate(16 * sizeof *c->frames);
	if (c)
		c->room = 16;
	return c && c->frames ? c : NULL;
}

void
contexts_park(struct contexts_state *s, struct contexts_strand *c)
{
	if (c->finished) {
		contexts_drop(s, c);
		return;
	}
	c->left_at = s->left_at;
	c->next = s->parked;
	s->parked = c;
	s->n_parked++;
}

/* With rolled cycles, what a context comes from is not what lies on the stack. When contexts are
 * whole the forest knows it, else the frames do. */
static bool
frames_know_cycles(void)
{
	return contexts_options.cycles && contexts_options.k != CONTEXTS_INFINITE;
}

/* The frames whose contexts the last frame's comes from, itself included, in their order; when
 * frames know cycles, else itself alone. */
static void
take_base(struct contexts_strand *c, const struct contexts_strand *from)
{
	const contexts_frame *last = &from->frames[from->n - 1];
	uint32_t n = 0, same = last->mine;
	for (uint32_t i = same; frames_know_cycles() && i; i = (uint32_t)from->frames[i].more)
		n++;
	c->n = 0;
	*push(c) = contexts_above_all(last->node);
	for (uint32_t i = 0; i < n; i++)
		push(c);
	n = c->n - 1; /* fewer when there is no memory */
	for (uint32_t i = same; n; i = (uint32_t)from->frames[i].more, n--)
		c->frames[n] = (contexts_frame){.sp = CONTEXTS_ABOVE_ALL,
		                                .node = from->frames[i].node,
		                                .inner = from->frames[i].node,
		                                .label = from->frames[i].label,
		                                .mine = n,
		                                .more = n - 1};
	c->base = c->n;
}

/* The thread is on a stack that has not been seen before: what it executes there was called by what
 * it executed last. */
static void
begin_strand(struct contexts_state *s, uint64_t sp, bool of_signal)
{
	struct contexts_strand *old = s->strand, *c = contexts_new_strand(s);
	if (!c)
		return;
	*c = (struct contexts_strand){
	        .frames = c->frames, .room = c->room, .begun = sp, .top = sp + LAST_FRAME};
	take_base(c, old);
	if (of_signal)
		c->interrupted = old;
	else
		contexts_park(s, old);
	s->begun = !of_signal;
	s->strand = c;
}

/* The strand that was left where the stack pointer is now. */
static struct contexts_strand **
find_parked(struct contexts_state *s, uint64_t sp)
{
	for (struct contexts_strand **at = &s->parked; *at; at = &(*at)->next) {
		const struct contexts_strand *c = *at;
		uint64_t first = c->n > c->base ? sp_of(&c->frames[c->base]) : 0;
		if (!c->stale && sp + SAVED >= c->left_at &&
		    (sp <= first || sp <= c->left_at + POPPED))
			return at;
	}
	return NULL;
}

static void
resume(struct contexts_state *s, struct contexts_strand **at)
{
	struct contexts_strand *c = *at, *old = s->strand;
	*at = c->next;
	s->n_parked--;
	contexts_park(s, old);
	s->strand = c;
}

/* A signal's handler has left the stack that it had for itself. */
static void
leave_signal(struct contexts_state *s)
{
	struct contexts_strand *c = s->strand;
	s->strand = c->interrupted;
	contexts_drop(s, c);
}

/* ---- what happens ---- */

/* Leaves the frames whose return address lies below. */
static void
leave_below(struct contexts_strand *c, uint64_t sp)
{
	while (c->n > c->base && sp_of(&c->frames[c->n - 1]) < sp)
		c->n--;
}

/* A function is entered with the stack pointer of the one that is under way: by a jump. True when
 * nothing else is to be done. */
static bool
enter_by_jump(struct contexts_state *s, uint32_t label, uint64_t sp)
{
	struct contexts_strand *c = s->strand;
	for (uint32_t i = c->n; i-- > c->base && sp_of(&c->frames[i]) == sp;) {
		if (c->frames[i].label != label)
			continue;
		/* A loop to the function's first instruction; or functions that jump to one another
		 * in a circle, which would never end. */
		if (i != c->n - 1)
			c->frames[i].node->count++;
		c->n = i + 1;
		return true;
	}
	/* Where the stack ends, nobody is left who has called: the linker has started the program.
	 */
	bool replaces = contexts_options.physical || sp == c->top;
	while (replaces && c->n > c->base && sp_of(&c->frames[c->n - 1]) == sp)
		c->n--;
	return false;
}

/* The frame whose context has the function, of those that the last frame's context comes from. */
static uint32_t
find_cycle(const struct contexts_strand *c, uint32_t label)
{
	uint32_t i = c->frames[c->n - 1].mine;
	while (i && c->frames[i].label != label)
		i = (uint32_t)c->frames[i].more;
	return i;
}

/* Its return is left to the walk if it leaves but itself, or one that has jumped to it; not that of
 * a signal's handler. */
static uint64_t
sp_of_new(const struct contexts_strand *c, uint64_t exact)
{
	uint64_t sp = contexts_rounded(exact);
	const contexts_frame *top = &c->frames[c->n - 1];
	bool of_handler = c->interrupted && c->n == c->base;
	if (sp != exact || of_handler || sp == c->top || (sp_of(top) == sp && top->sp != sp))
		return sp - STROBE_UNUSUAL;
	return top->sp == sp ? sp - STROBE_JUMPED : sp;
}

void
contexts_push(strobe_thread *t, struct contexts_strand *c, uint32_t label, uint64_t exact,
              bool counted)
{
	contexts_frame f = {.sp = sp_of_new(c, exact), .label = label, .mine = c->n};
	const contexts_frame *from = &c->frames[c->n - 1];
	uint32_t cycle = frames_know_cycles() ? find_cycle(c, label) : 0;
	if (cycle) {
		f.mine = cycle;
		f.more = c->frames[cycle].more;
		f.node = c->frames[cycle].node;
		f.node->count += counted;
	} else {
		f.more = from->mine;
		f.node = counted ? contexts_call(t, from->node, label)
		                 : contexts_under_way(t, from->node, label);
	}
	f.inner = f.node;
	if (!counted && contexts_options.mode == CONTEXTS_INTRA) {
		f.inner = contexts_unknown(t);
		f.more = contexts_options.cycles ? f.more : 0; /* contexts_find_out */
	}
	*push(c) = f;
}

void
contexts_enter(strobe_thread *t, struct contexts_state *s, uint32_t label, uint64_t exact)
{
	uint64_t sp = contexts_rounded(exact);
	struct contexts_strand *c = s->strand;
	s->moved_to = 0;
	if (sp >= sp_of(contexts_top(s))) {
		leave_below(c, sp);
		if (sp_of(contexts_top(s)) == sp && enter_by_jump(s, label, sp))
			return;
	}
	if (c->n == c->base && c->top == UINT64_MAX)
		c->top = sp + ABOVE_FIRST;
	contexts_push(t, c, label, exact, true);
	if (contexts_options.suppress)
		contexts_suppress(t, s);
}

void
contexts_return(struct contexts_state *s, uint64_t sp)
{
	struct contexts_strand *c = s->strand;
	if (sp < sp_of(contexts_top(s)) && s->moved_to) {
		begin_strand(s, s->moved_to, false);
		s->moved_to = 0;
		return;
	}
	leave_below(c, sp + 1);
	if (c->n == c->base && c->interrupted)
		leave_signal(s);
}

/* Is it within the frames of the strand that is under way, above where it has come from? */
static bool
is_above(const struct contexts_state *s, uint64_t sp)
{
	const struct contexts_strand *c = s->strand;
	return sp >= s->left_at && c->n > c->base && sp <= sp_of(&c->frames[c->base]);
}

/* The stack that a signal's handler, on one of its own, has left for good. */
static struct contexts_strand *
find_interrupted(const struct contexts_state *s, uint64_t sp)
{
	struct contexts_strand *c = s->strand->interrupted;
	while (c && (sp > c->top || sp + NEAR < sp_of(&c->frames[c->n - 1])))
		c = c->interrupted;
	return c;
}

void
contexts_moved(struct contexts_state *s, uint64_t sp)
{
	struct contexts_strand *c = s->strand, *interrupted, **parked;
	s->moved_to = 0;
	if (is_above(s, sp)) {
		leave_below(c, sp);
	} else if ((interrupted = find_interrupted(s, sp))) {
		leave_below(interrupted, sp);
		while (s->strand != interrupted)
			leave_signal(s);
	} else if ((parked = find_parked(s, sp))) {
		resume(s, parked);
		leave_below(s->strand, sp);
	} else if (sp >= s->left_at && sp <= c->top) {
		leave_below(c, sp);
		c->finished = c->begun && sp > c->begun;
	} else if (sp < s->left_at && s->left_at - sp < NEAR && c->n > c->base) {
		s->moved_to = sp; /* a larger frame; or else a return will tell */
	} else {
		begin_strand(s, sp, false);
	}
}

void
contexts_into(struct contexts_state *s, uint32_t label, uint64_t sp)
{
	struct contexts_strand *c = s->strand;
	uint32_t i = c->n;
	/* Only frames can be left that have nothing on the stack but their return address. */
	while (i > c->base && c->frames[i - 1].label != label && sp_of(&c->frames[i - 1]) <= sp)
		i--;
	if (i > c->base && c->frames[i - 1].label == label)
		c->n = i;
}

bool
contexts_is_aside(const struct contexts_state *s, uint64_t sp)
{
	const struct contexts_strand *c = s->strand;
	uint64_t top = sp_of(contexts_top(s));
	return c->n > c->base && (sp > top || top - sp > 64ul * NEAR);
}

void
contexts_begin_signal(struct contexts_state *s, uint64_t sp)
{
	begin_strand(s, sp, true);
}

void
contexts_signal(struct contexts_state *s, uint64_t sp)
{
	if (contexts_is_aside(s, sp))
		contexts_begin_signal(s, sp);
}

/* ---- what code itself keeps ---- */

void
contexts_take(strobe_thread *t, struct contexts_state *s)
{
	const strobe_walk *w = strobe_walk_of(t);
	if (w->top != &w->closed)
		s->strand->n = (uint32_t)(w->top - s->strand->frames) + 1;
}

/* Nothing can be left to it when the next thing that happens may tell more than itself. */
void
contexts_give(strobe_thread *t, struct contexts_state *s)
{
	strobe_walk *w = strobe_walk_of(t);
	const struct contexts_strand *c = s->strand;
	contexts_frame *top = contexts_top(s);
	bool first = c->n == c->base && (c->interrupted || c->top == UINT64_MAX);
	if (s->moved_to || (s->begun && s->gap) || first || frames_know_cycles()) {
		w->closed.node = top->node;
		w->top = &w->closed;
	} else {
		w->last = &c->frames[c->room - 1];
		w->top = top;
	}
}
