/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is on a thread's stacks when it was not seen for a while (a time budget, a region of
 * interest, a process that was running). The program's unwinding information says which functions
 * are under way; they have not been entered now, so they are not counted.
 *
 * What was known before says what the stack does not: who jumped to a function in its own place;
 * and what is below the first function of another stack, such as a coroutine's.
 */
#include "tools/contexts.h"
#include "tools/grow.h"

/* ---- what is found ---- */

static void
keep_found(struct contexts_state *s, struct contexts_found f)
{
	if (s->n_found == s->room_found && !TOOLS_GROW(s->found, s->n_found, s->room_found,
	                                               s->room_found ? 2 * s->room_found : 64))
		return;
	s->found[s->n_found++] = f;
}

/* Recursion asks for the same again and again. */
static bool
is_shown(struct contexts_state *s, uint64_t function)
{
	if (s->asked != function)
		s->asked_shown = function && contexts_is_shown(function);
	s->asked = function;
	return s->asked_shown;
}

static void
on_activation(void *to, const strobe_activation *a)
{
	struct contexts_state *s = to;
	bool is_entered = s->innermost && a->pc == a->function && a->sp;
	bool shown = is_shown(s, a->function);
	s->within |= s->innermost && shown;
	s->innermost = false;
	if (shown)
		keep_found(s, (struct contexts_found){.function = a->function,
		                                      .called = a->called,
		                                      .called_shown = is_shown(s, a->called),
		                                      .sp = a->sp,
		                                      .is_entered = is_entered,
		                                      .handler = a->handler});
	else if (a->handler && s->n_found)
		s->found[s->n_found - 1].handler = true;
}

/* ---- what was known ---- */

/* The first frame of those that were entered with the stack pointer; c->n: there is none. */
static uint32_t
first_at(const struct contexts_strand *c, uint64_t sp)
{
	uint32_t low = c->base, high = c->n;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (contexts_sp(&c->frames[mid]) > sp)
			low = mid + 1;
		else
			high = mid;
	}
	return low < c->n && contexts_sp(&c->frames[low]) == sp ? low : c->n;
}

/* The function's own, of those; c->n: it is not there. */
static uint32_t
frame_of(const struct contexts_strand *c, const struct contexts_found *f)
{
	uint64_t sp = contexts_rounded(f->sp);
	uint32_t label = contexts_label(f->function), i = first_at(c, sp);
	while (i < c->n && (contexts_sp(&c->frames[i]) != sp || c->frames[i].label != label))
		i = contexts_sp(&c->frames[i]) == sp ? i + 1 : c->n;
	return i;
}

/* The earlier knowledge of the stack that the function is on. NULL: none. */
static struct contexts_strand *
known_in(struct contexts_strand *first, const struct contexts_found *f, bool interrupted)
{
	struct contexts_strand *c = first;
	while (c && frame_of(c, f) == c->n)
		c = interrupted ? c->interrupted : c->next;
	return c;
}

static struct contexts_strand *
known_stack(const struct contexts_state *s, const struct contexts_found *f)
{
	if (f->is_entered) /* it was another time */
		return NULL;
	struct contexts_strand *c = known_in(s->strand, f, true);
	return c ? c : known_in(s->parked, f, false);
}

/* ---- the stack as it is ---- */

/* Those that were called and have jumped, one to the next, the last one to the function; each of
 * them is under way. The call says who was the first, if it names a function: then what was known
 * is of the same call only if it says so, too. */
static void
push_jumpers(strobe_thread *t, struct contexts_strand *c, const struct contexts_found *f,
             const struct contexts_strand *before)
{
	uint32_t called = f->called_shown ? contexts_label(f->called) : 0;
	uint32_t i = before ? first_at(before, contexts_rounded(f->sp)) : 0;
	uint32_t end = before ? frame_of(before, f) : 0;
	bool same = before && end < before->n && (!f->called || before->frames[i].label == called);
	if (f->called == f->function)
		return;
	for (; same && i < end; i++)
		contexts_push(t, c, before->frames[i].label, f->sp, false);
	if (!same && called)
		contexts_push(t, c, called, f->sp, false);
}

static void
push_found(strobe_thread *t, struct contexts_strand *c, const struct contexts_found *f,
           const struct contexts_strand *before)
{
	if (!contexts_options.physical)
		push_jumpers(t, c, f, before);
	if (!f->is_entered)
		contexts_push(t, c, contexts_label(f->function), f->sp, false);
}

/* Copies the frames below it, which have not changed. */
static void
take_known(strobe_thread *t, struct contexts_strand *c, const struct contexts_strand *before,
           uint32_t n)
{
	enum { ROOM = 16 };
	if (c->room < before->base) {
		contexts_frame *more = strobe_allocate((before->base + ROOM) * sizeof *more);
		if (!more)
			return;
		c->frames = more;
		c->room = before->base + ROOM;
	}
	for (uint32_t i = 0; i < before->base; i++)
		c->frames[i] = before->frames[i];
	c->n = c->base = before->base;
	for (uint32_t i = before->base; i < n; i++)
		contexts_push(t, c, before->frames[i].label, contexts_sp(&before->frames[i]),
		              false);
}

/* Those of the strands before that are not used any more; the thread may come back to the rest. */
static void
leave_before(struct contexts_state *s, struct contexts_strand *old,
             const struct contexts_strand *used)
{
	while (old) {
		struct contexts_strand *next = old->interrupted;
		if (old == used || next || old->n == old->base) {
			contexts_drop(s, old);
		} else {
			old->stale = true;
			contexts_park(s, old);
		}
		old = next;
	}
}

/* False: it is not parked. */
static bool
unpark(struct contexts_state *s, const struct contexts_strand *c)
{
	struct contexts_strand **at = &s->parked;
	while (*at && *at != c)
		at = &(*at)->next;
	if (!*at)
		return false;
	*at = c->next;
	s->n_parked--;
	return true;
}

/* The first strand of what is there now. */
static void
begin_first(struct contexts_state *s, struct contexts_strand *c,
            const struct contexts_strand *before, uint64_t top)
{
	*c = (struct contexts_strand){.frames = c->frames, .room = c->room, .top = top};
	if (before) {
		c->begun = before->begun;
		c->top = before->top;
	}
	c->frames[0] = contexts_above_all(&strobe_nodes()[s->root]);
	c->n = c->base = 1;
}

/* The functions from `from` on, outermost first. */
static void
push_all(strobe_thread *t, struct contexts_state *s, uint32_t n,
         const struct contexts_strand *before)
{
	for (uint32_t i = n; i-- > 0;) {
		const struct contexts_found *f = &s->found[i];
		bool of_handler = f->handler;
		if (of_handler && contexts_is_aside(s, f->sp))
			contexts_begin_signal(s, f->sp);
		push_found(t, s->strand, f, before);
	}
}

/* Another stack than the thread's own has but a frame above its first function. The thread's own is
 * known by its end, too: what the linker begins with says nothing about its callers. */
static uint64_t
top_of(const strobe_thread *t, const struct contexts_state *s, bool whole)
{
	enum { ABOVE_FIRST = 1 << 20, LAST_FRAME = 256 };
	uint64_t top = strobe_thread_stack_top(t);
	uint64_t last = s->n_found ? s->found[s->n_found - 1].sp : strobe_thread_stack(t);
	bool own = whole || (last <= top && top - last < LAST_FRAME);
	return own && top ? top : last + (own ? ABOVE_FIRST : LAST_FRAME);
}

/* The function that began the program has not been called; it is the outermost. */
static void
place_outermost(const strobe_thread *t, struct contexts_state *s)
{
	struct contexts_found *last = s->n_found ? &s->found[s->n_found - 1] : NULL;
	if (!last || last->sp)
		return;
	last->sp = strobe_thread_stack_top(t);
	if (!last->sp && s->n_found > 1)
		last->sp = last[-1].sp + 8;
}

/* What is on the stack that the thread is on now, of which that much was found; `before` is what
 * was known of it. */
static void
replace(strobe_thread *t, struct contexts_state *s, uint32_t n, struct contexts_strand *before,
        bool whole)
{
	struct contexts_strand *old = s->strand, *c = contexts_new_strand(s);
	if (!c)
		return;
	begin_first(s, c, before, top_of(t, s, whole));
	if (before && !whole) {
		c->interrupted = before->interrupted;
		take_known(t, c, before, frame_of(before, &s->found[n]) + 1);
	}
	bool parked = unpark(s, before);
	s->strand = c;
	push_all(t, s, n, before);
	leave_before(s, old, before);
	if (parked)
		contexts_drop(s, before);
	s->left_at = s->moved_to = 0;
}

/* Finds what is under way, and what was known of the same stack. False: nothing was. *n: functions
 * that were not known, or all. */
static bool
find_under_way(strobe_thread *t, struct contexts_state *s, uint32_t *n,
               struct contexts_strand **before, bool *whole)
{
	s->n_found = 0;
	s->innermost = true;
	s->asked = 0;
	s->asked_shown = false;
	s->within = false;
	*whole = strobe_unwind(t, on_activation, s) == STROBE_OUTERMOST;
	place_outermost(t, s);
	*n = s->n_found;
	*before = NULL;
	for (uint32_t i = *n; i > 0 && !*before; i--) {
		*before = known_stack(s, &s->found[i - 1]);
		*n = *before && !*whole ? i - 1 : *n;
	}
	return *before;
}

void
contexts_reroot(strobe_thread *t, struct contexts_state *s)
{
	struct contexts_strand *before;
	uint32_t n;
	bool whole;
	s->gap = true;
	find_under_way(t, s, &n, &before, &whole);
	for (struct contexts_strand *p = s->parked; p; p = p->next)
		p->stale = true;
	replace(t, s, n, before, whole);
	s->begun = !whole; /* perhaps in the middle of a switch of stacks: once more */
}

/* Where a stack has been switched to, its frames are well described only when it is gone on with:
 * at the next call or return. */
void
contexts_find_again(strobe_thread *t, struct contexts_state *s)
{
	struct contexts_strand *before;
	uint32_t n;
	bool whole, begun = s->begun;
	s->begun = false;
	if (!begun || !s->gap)
		return;
	if (find_under_way(t, s, &n, &before, &whole) || n > s->within)
		replace(t, s, n, before, whole);
}
