/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An activation of a function is known by the word of the stack that has its return address, its
 * slot. While it is active its slot is not below the stack pointer. So of an activation that is
 * there after the gap:
 *  - its slot lies below the stack pointer from before: it has been entered in the gap;
 *  - another function had the slot before: the same;
 *  - the same function had it before: the same activation, or it was left and entered again.
 * And one from before whose slot lies below the stack pointer of after has been left.
 */
#include "reconstruct/gap.h"

#include "symbol/unwind.h"

enum {
	MOST_RETURNS = 256,       /* of the stack after the gap */
	ONE_STACK = 64 * 1048576, /* no stack is taken to be larger */
};

/* A function that is active at an end of the gap. */
struct activation {
	const struct st_function *function; /* NULL: not known */
	uint32_t image;
	uint64_t at, slot;
	bool suspended; /* at a call behind which `at` is */
};

struct decision {
	struct st_gap *gap;
	struct st_code *code;
	const struct st_gap_ends *ends;
	bool returning;
	ST_VEC(struct activation) before;
};

static struct activation
activation_of(struct decision *d, const struct st_step *s, bool suspended)
{
	struct activation a = {.suspended = suspended};
	if (s->place >= d->code->places.n)
		return a;
	const struct st_place *p = &d->code->places.v[s->place];
	struct st_image *image = st_code_image(d->code, p->image);
	a.image = p->image;
	a.at = p->offset;
	if (image && st_image_frame(image, p->offset, s->sp, s->bp, &a.slot))
		a.function = st_code_function(image, p->offset);
	return a;
}

static st_status
list_before(struct decision *d)
{
	for (size_t i = 0; i <= d->ends->n_callers; i++) {
		struct activation *a = ST_PUSH(&d->before);
		if (!a)
			return -1;
		*a = i ? activation_of(d, &d->ends->callers[d->ends->n_callers - i], true)
		       : activation_of(d, &d->ends->from, false);
	}
	return 0;
}

/* ---- facts ---- */

/* with: a node that ran as well, after the others; ST_NO_NODE. */
static st_status
add_spans(st_spans_of_code *to, const struct st_graph *g, const struct st_ways *w, uint32_t with)
{
	for (size_t i = 0; i < w->must.n + (with != ST_NO_NODE); i++) {
		const struct st_node *n = &g->nodes.v[i < w->must.n ? w->must.v[i] : with];
		struct st_span_of_code *s = ST_PUSH(to);
		if (!s)
			return -1;
		*s = (struct st_span_of_code){n->piece.start, n->piece.end};
	}
	return 0;
}

static struct st_fact *
new_fact(struct decision *d, enum st_fact_kind kind, const struct activation *a,
         const struct st_graph *g)
{
	struct st_fact *f = ST_PUSH(&d->gap->facts);
	if (f)
		*f = (struct st_fact){.kind = kind, .image = a->image, .function = g->function};
	return f;
}

static void
tell_open(struct st_fact *f, const struct st_ways *w)
{
	f->open = w->open;
	f->calls = w->calls;
	f->indirect = w->indirect;
}

/* Whether calls of the function end in no other way than by coming back behind them. */
static bool
comes_back(const struct decision *d, const struct st_graph *g)
{
	return d->returning && !g->comes_anywhere;
}

/* Where a function that was active before can have gone on: behind the branch of the block that was
 * begun, or where a call returns to. Returns how many; *branch receives the node with the branch.
 */
enum { MOST_WAYS_ON = 3 };
static size_t
ways_on(const struct st_graph *g, const struct activation *a, bool returning,
        uint32_t from[MOST_WAYS_ON], uint32_t *branch)
{
	uint32_t node = st_graph_at(g, a->at);
	size_t n = 0;
	*branch = a->suspended ? st_graph_call_before(g, a->at) : st_graph_last(g, node);
	if (*branch == ST_NO_NODE)
		return 0;
	const struct st_node *last = &g->nodes.v[*branch];
	bool may_not_return = st_piece_calls(last->piece.how) && !returning;
	if (a->suspended)
		from[n++] = node;
	for (unsigned i = 0; !a->suspended && i < 2; i++)
		if (last->next[i] != ST_NO_NODE)
			from[n++] = last->next[i];
	if ((last->leaves && !a->suspended) || may_not_return || last->piece.how == ST_PIECE_STOP)
		from[n++] = ST_OUTSIDE;
	return n;
}

static bool
is_unclear(const struct st_graph *g, uint32_t branch)
{
	enum st_piece_end how = g->nodes.v[branch].piece.how;
	return how == ST_PIECE_INDIRECT_JUMP || how == ST_PIECE_UNKNOWN ||
	       (g->comes_anywhere && st_piece_calls(how));
}

/* A fact of which all is certain. One that says nothing is none, and so it is when the records do
 * not fit the code. */
static st_status
gap_ask(struct decision *d, enum st_fact_kind kind, const struct activation *a,
        const struct st_graph *g, const struct st_ways_asked *asked, uint32_t with)
{
	struct st_ways w;
	int status = 0;
	if (st_ways_find(&w, g, asked))
		return 0;
	if (w.must.n || with != ST_NO_NODE) {
		struct st_fact *f = new_fact(d, kind, a, g);
		status = f ? add_spans(&f->ran, g, &w, with) : -1;
		if (f)
			tell_open(f, &w);
		if (f)
			f->exact = w.exact;
	}
	st_ways_free(&w);
	return status;
}

/* The same where the function may have been left and entered again, or not. */
static st_status
ask_both(struct decision *d, const struct activation *a, const struct st_graph *g,
         struct st_ways_asked asked, uint32_t with)
{
	struct st_ways all, stayed;
	asked.renewed = true;
	if (st_ways_find(&all, g, &asked))
		return 0;
	asked.renewed = false;
	if (st_ways_find(&stayed, g, &asked))
		stayed = (struct st_ways){0}; /* it has been left */
	int status = 0;
	if (all.must.n || stayed.must.n || with != ST_NO_NODE || stayed.exact) {
		struct st_fact *f = new_fact(d, ST_FACT_BETWEEN, a, g);
		status = f && !add_spans(&f->ran, g, &all, with) &&
		                         !add_spans(&f->stayed, g, &stayed, with)
		                 ? 0
		                 : -1;
		if (f)
			tell_open(f, &all);
		if (f)
			f->exact = stayed.exact;
	}
	st_ways_free(&all);
	st_ways_free(&stayed);
	return status;
}

static uint32_t
goal_of(const struct st_graph *g, const struct activation *a)
{
	if (!a->suspended)
		return st_graph_at(g, a->at);
	/* A landing pad may stand behind a call that never comes back. */
	return g->comes_anywhere ? (uint32_t)ST_NO_NODE : st_graph_call_before(g, a->at);
}

/* The node of a call that was under way has been executed, too. */
static uint32_t
node_with(const struct activation *after, uint32_t goal)
{
	return after->suspended ? goal : (uint32_t)ST_NO_NODE;
}

static st_status
decide_entered(struct decision *d, const struct activation *after)
{
	struct st_graph g;
	int status = 0;
	if (st_graph_build(&g, d->code, after->image, &after->at, 1))
		return 0;
	uint32_t goal = goal_of(&g, after);
	const struct st_ways_asked asked = {g.entries.v, g.entries.n, goal, false,
	                                    comes_back(d, &g)};
	if (goal != ST_NO_NODE)
		status = gap_ask(d, ST_FACT_ENTERED, after, &g, &asked, node_with(after, goal));
	st_graph_free(&g);
	return status;
}

static st_status
decide_between(struct decision *d, const struct activation *before, const struct activation *after)
{
	struct st_graph g;
	const uint64_t starts[] = {before->at, after->at};
	uint32_t from[MOST_WAYS_ON], branch;
	int status = 0;
	if (st_graph_build(&g, d->code, before->image, starts, 2))
		return 0;
	size_t n = ways_on(&g, before, comes_back(d, &g), from, &branch);
	uint32_t goal = goal_of(&g, after);
	/* The call that was under way, or about to be made, may be the one that still is. */
	bool same = after->suspended && goal == branch;
	if (n && goal != ST_NO_NODE && !same && !is_unclear(&g, branch)) {
		const struct st_ways_asked asked = {from, n, goal, true, comes_back(d, &g)};
		status = ask_both(d, after, &g, asked, node_with(after, goal));
	}
	st_graph_free(&g);
	return status;
}

/* If longjmp may have left a call, its caller may have executed nothing. */
static st_status
decide_left(struct decision *d, const struct activation *before)
{
	struct st_graph g;
	uint32_t from[MOST_WAYS_ON], branch;
	int status = 0;
	if (before->suspended && !d->returning)
		return 0;
	if (st_graph_build(&g, d->code, before->image, &before->at, 1))
		return 0;
	size_t n = ways_on(&g, before, comes_back(d, &g), from, &branch);
	if (n && !is_unclear(&g, branch)) {
		const struct st_ways_asked asked = {from, n, ST_OUTSIDE, false, comes_back(d, &g)};
		status = gap_ask(d, ST_FACT_LEFT, before, &g, &asked, ST_NO_NODE);
	}
	st_graph_free(&g);
	return status;
}

/* ---- which of them ---- */

static const struct activation *
had_slot(const struct decision *d, uint64_t slot)
{
	for (size_t i = 0; i < d->before.n; i++)
		if (d->before.v[i].function && d->before.v[i].slot == slot)
			return &d->before.v[i];
	return NULL;
}

static st_status
decide_after(struct decision *d, const struct activation *after)
{
	if (!after->function)
		return 0;
	const struct activation *before = had_slot(d, after->slot);
	if (before && st_code_is_same(before->function, after->function) &&
	    before->image == after->image)
		return decide_between(d, before, after);
	if (before || after->slot < d->ends->from.sp)
		return decide_entered(d, after);
	return 0;
}

static bool
is_far(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) > ONE_STACK;
}

static st_status
gap_decide(struct decision *d)
{
	const struct st_gap_ends *e = d->ends;
	const struct activation to = activation_of(d, &e->to, false);
	if (is_far(e->from.sp, e->to.sp))
		return 0;
	if (list_before(d) || decide_after(d, &to))
		return -1;
	for (size_t i = 0; i < e->n_returns && i < MOST_RETURNS; i++) {
		const struct activation a = activation_of(d, &e->returns[i], true);
		if (!is_far(e->from.sp, e->returns[i].sp) && decide_after(d, &a))
			return -1;
	}
	for (size_t i = 0; i < d->before.n; i++) {
		const struct activation *a = &d->before.v[i];
		if (a->function && a->slot < e->to.sp && decide_left(d, a))
			return -1;
	}
	return 0;
}

st_status
st_gap_decide(struct st_gap *gap, struct st_code *code, const struct st_gap_ends *ends,
              bool returning)
{
	struct decision d = {.gap = gap, .code = code, .ends = ends, .returning = returning};
	gap->from = ends->from;
	gap->to = ends->to;
	int status = gap_decide(&d);
	free(d.before.v);
	return status;
}

void
st_gap_free(struct st_gap *gap)
{
	for (size_t i = 0; i < gap->facts.n; i++) {
		free(gap->facts.v[i].ran.v);
		free(gap->facts.v[i].stayed.v);
	}
	free(gap->facts.v);
	*gap = (struct st_gap){0};
}
