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

enum {
	MOST_PARKED = 4096,    /* strands; the oldest is forgotten */
	SAVED_BELOW = 512,     /* bytes that a switch of stacks may save on the stack it leaves */
	NEAR = 1 << 20,        /* bytes: so much larger a frame may grow at once */
	ABOVE_FIRST = 1 << 20, /* bytes of stack above the first function that is seen */
};

/* ---- strands ---- */

static struct contexts_frame *
push(struct contexts_strand *c)
{
	if (c->n == c->room) {
		struct contexts_frame *more = strobe_allocate(2ul * c->room * sizeof *more);
		if (!more)
			return &c->frames[c->n - 1];
		for (uint32_t i = 0; i < c->n; i++)
			more[i] = c->frames[i];
		c->frames = more;
		c->room *= 2;
	}
	return &c->frames[c->n++];
}

/* A strand that has been forgotten is used again. */
static struct contexts_strand *
new_strand(struct contexts_state *s)
{
	struct contexts_strand **oldest = &s->parked;
	if (s->n_parked < MOST_PARKED) {
		struct contexts_strand *c = strobe_allocate(sizeof *c);
		if (!c)
			return NULL;
		c->frames = strobe_allocate(16 * sizeof *c->frames);
		c->room = 16;
		return c->frames ? c : NULL;
	}
	while ((*oldest)->next)
		oldest = &(*oldest)->next;
	struct contexts_strand *c = *oldest;
	*oldest = NULL;
	s->n_parked--;
	return c;
}

static void
park(struct contexts_state *s, struct contexts_strand *c)
{
	c->left_at = s->left_at;
	c->next = s->parked;
	s->parked = c;
	s->n_parked++;
}

/* The thread is on a stack that has not been seen before: what it executes there was called by what
 * it executed last. */
static void
begin_strand(struct contexts_state *s, uint64_t sp, bool of_signal)
{
	struct contexts_strand *old = s->strand, *c = new_strand(s);
	struct contexts_frame base = {.sp = UINT64_MAX, .node = contexts_top(s)->node};
	if (!c)
		return;
	*c = (struct contexts_strand){.frames = c->frames, .room = c->room, .n = 1, .top = sp};
	c->frames[0] = base;
	if (of_signal)
		c->interrupted = old;
	else
		park(s, old);
	s->strand = c;
}

/* The strand that was left where the stack pointer is now. */
static struct contexts_strand **
find_parked(struct contexts_state *s, uint64_t sp)
{
	for (struct contexts_strand **c = &s->parked; *c; c = &(*c)->next) {
		uint64_t first = (*c)->n > 1 ? (*c)->frames[1].sp : 0;
		uint64_t end = (*c)->left_at + SAVED_BELOW;
		if (sp + SAVED_BELOW >= (*c)->left_at && (sp <= first || sp <= end))
			return c;
	}
	return NULL;
}

static void
resume(struct contexts_state *s, struct contexts_strand **at)
{
	struct contexts_strand *c = *at, *old = s->strand;
	*at = c->next;
	s->n_parked--;
	if (old->n > 1)
		park(s, old);
	s->strand = c;
}

/* ---- what happens ---- */

/* Leaves the frames whose return address lies below. */
static void
leave_below(struct contexts_strand *c, uint64_t sp)
{
	while (c->n > 1 && c->frames[c->n - 1].sp < sp)
		c->n--;
}

/* A function is entered with the stack pointer of the one that is under way: by a jump. True when
 * nothing else is to be done. */
static bool
enter_by_jump(struct contexts_state *s, uint32_t label, uint64_t sp)
{
	struct contexts_strand *c = s->strand;
	for (uint32_t i = c->n; i-- > 1 && c->frames[i].sp == sp;) {
		if (c->frames[i].function != label)
			continue;
		/* A loop to the function's first instruction; or functions that jump to one another
		 * in a circle, which would never end. */
		if (i != c->n - 1)
			strobe_nodes()[c->frames[i].node].count++;
		c->n = i + 1;
		return true;
	}
	while (contexts_options.physical && c->n > 1 && c->frames[c->n - 1].sp == sp)
		c->n--;
	return false;
}

void
contexts_enter(strobe_thread *t, struct contexts_state *s, uint32_t label, uint64_t sp)
{
	struct contexts_strand *c = s->strand;
	s->moved_to = 0;
	if (sp >= contexts_top(s)->sp) {
		leave_below(c, sp);
		if (contexts_top(s)->sp == sp && enter_by_jump(s, label, sp))
			return;
	}
	if (c->n == 1 && c->top == UINT64_MAX)
		c->top = sp + ABOVE_FIRST;
	uint32_t from = contexts_top(s)->node;
	uint32_t node =
	        contexts_options.mode == CONTEXTS_FUNC ? contexts_call(t, from, label) : from;
	struct contexts_frame *f = push(c);
	*f = (struct contexts_frame){.sp = sp, .node = node ? node : from, .function = label};
}

void
contexts_return(struct contexts_state *s, uint64_t sp)
{
	struct contexts_strand *c = s->strand;
	if (sp < contexts_top(s)->sp && s->moved_to) {
		begin_strand(s, s->moved_to, false);
		s->moved_to = 0;
		return;
	}
	leave_below(c, sp + 1);
	if (c->n == 1 && c->interrupted)
		s->strand = c->interrupted;
}

void
contexts_moved(struct contexts_state *s, uint64_t sp)
{
	struct contexts_strand *c = s->strand, **parked = find_parked(s, sp);
	uint64_t top = c->n > 1 ? contexts_top(s)->sp : 0;
	s->moved_to = 0;
	if (parked) {
		resume(s, parked);
		leave_below(s->strand, sp);
	} else if (sp >= s->left_at && sp <= c->top) {
		leave_below(c, sp);
	} else if (sp < s->left_at && s->left_at - sp < NEAR && top) {
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
	while (i > 1 && c->frames[i - 1].function != label && c->frames[i - 1].sp <= sp)
		i--;
	if (i > 1 && c->frames[i - 1].function == label)
		c->n = i;
}

void
contexts_signal(struct contexts_state *s, uint64_t sp)
{
	const struct contexts_strand *c = s->strand;
	uint64_t top = contexts_top(s)->sp;
	if (c->n > 1 && (sp > top || top - sp > 64ul * NEAR))
		begin_strand(s, sp, true);
}

void
contexts_lose(struct contexts_state *s)
{
	while (s->strand->interrupted)
		s->strand = s->strand->interrupted;
	s->strand->n = 1;
	s->strand->frames[0].node = s->root;
	s->block = 0;
	s->left_at = s->moved_to = s->ticks = 0;
}
