/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tools/grow.h"

STROBE_TABLE(pairs, "calls by caller and callee", STROBE_KEY("caller", STROBE_FUNCTION),
             STROBE_KEY("callee", STROBE_FUNCTION), STROBE_SUM("count", STROBE_NUMBER));

/* ---- counts ---- */

static void consume(strobe_thread *t, const strobe_rows *rows);
STROBE_STREAM(indirect, "indirect calls", consume, STROBE_COLUMN("site", STROBE_ADDRESS),
              STROBE_COLUMN("target", STROBE_ADDRESS));

/* A call that is under way: where it was made, what was called, where its return address lies. */
struct frame {
	uint64_t site, target, place;
};
struct state {
	strobe_map cells;
	struct frame *frames;
	uint64_t depth, room;
};

/* Different for each pair; a multiple of an odd number spreads the sites over all bits. */
static uint64_t
key_of(uint64_t site, uint64_t target)
{
	return (site + 1) * 0x9e3779b97f4a7c15u ^ target;
}

static void
consume(strobe_thread *t, const strobe_rows *rows)
{
	struct state *s = strobe_state(t);
	for (const strobe_row *r = rows->first; s && r != rows->end; r = strobe_next_row(r)) {
		uint64_t site = strobe_value(rows, r, 0), target = r->value[0];
		uint64_t *cell = strobe_map_at(&s->cells, key_of(r->tag >> 4, target));
		if (!cell)
			return;
		if (!*cell)
			*cell = strobe_cell_of(&pairs, 2, site, target).cell;
		strobe_cell_add((strobe_cell){*cell}, 1);
	}
}

/* ---- the trace ---- */

static int tracing;
static uint64_t arguments;

enum { MOST_ARGUMENTS = 5 };
enum { THREAD, EVENT, DEPTH, CALLER, CALLEE, ARGUMENTS };
STROBE_STREAM(trace, "calls and returns", NULL, STROBE_COLUMN("thread", STROBE_THREAD),
              STROBE_COLUMN("event", STROBE_TEXT), STROBE_COLUMN("depth", STROBE_NUMBER),
              STROBE_COLUMN("caller", STROBE_ADDRESS), STROBE_COLUMN("callee", STROBE_ADDRESS),
              STROBE_COLUMN("arg1", STROBE_HEX), STROBE_COLUMN("arg2", STROBE_HEX),
              STROBE_COLUMN("arg3", STROBE_HEX), STROBE_COLUMN("arg4", STROBE_HEX),
              STROBE_COLUMN("arg5", STROBE_HEX));

/* What the program does; from it, in order, the trace with its depths is made. target 0: a return.
 */
static void follow(strobe_thread *t, const strobe_rows *rows);
STROBE_STREAM(steps, "calls and returns", follow, STROBE_COLUMN("stack", STROBE_HEX),
              STROBE_COLUMN("arg1", STROBE_HEX), STROBE_COLUMN("arg2", STROBE_HEX),
              STROBE_COLUMN("arg3", STROBE_HEX), STROBE_COLUMN("arg4", STROBE_HEX),
              STROBE_COLUMN("arg5", STROBE_HEX), STROBE_COLUMN("site", STROBE_ADDRESS),
              STROBE_COLUMN("target", STROBE_ADDRESS));
enum { STACK, FIRST_ARGUMENT, SITE = FIRST_ARGUMENT + MOST_ARGUMENTS, TARGET };

static struct frame *
push(struct state *s)
{
	if (s->depth == s->room && !TOOLS_GROW(s->frames, s->depth, s->room, 2 * s->room + 64))
		return NULL;
	return &s->frames[s->depth++];
}

/* Leaves the calls whose return addresses lie below: those that longjmp or an exception left. */
static void
leave_below(struct state *s, uint64_t place)
{
	while (s->depth && s->frames[s->depth - 1].place < place)
		s->depth--;
}

static void
follow_call(strobe_thread *t, struct state *s, const strobe_rows *rows, const strobe_row *r)
{
	uint64_t place = strobe_value(rows, r, STACK) - 8;
	uint64_t site = strobe_value(rows, r, SITE), target = strobe_value(rows, r, TARGET);
	leave_below(s, place + 8);
	struct frame *f = push(s);
	if (!f)
		return;
	*f = (struct frame){site, target, place};
	uint64_t row[STROBE_MOST_COLUMNS] = {strobe_thread_number(t), strobe_text("call"), s->depth,
	                                     site, target};
	for (unsigned i = 0; i < MOST_ARGUMENTS; i++)
		row[ARGUMENTS + i] = strobe_value(rows, r, FIRST_ARGUMENT + i);
	strobe_write(t, &trace, row);
}

static void
follow_return(strobe_thread *t, struct state *s, const strobe_rows *rows, const strobe_row *r)
{
	uint64_t place = strobe_value(rows, r, STACK);
	leave_below(s, place);
	struct frame *f = s->depth ? &s->frames[s->depth - 1] : NULL;
	if (!f || f->place != place)
		return; /* of a call that was not seen, or none: a return used as a jump */
	const uint64_t row[STROBE_MOST_COLUMNS] = {strobe_thread_number(t), strobe_text("return"),
	                                           s->depth, f->site, f->target};
	s->depth--;
	strobe_write(t, &trace, row);
}

static void
follow(strobe_thread *t, const strobe_rows *rows)
{
	struct state *s = strobe_state(t);
	for (const strobe_row *r = rows->first; s && r != rows->end; r = strobe_next_row(r))
		if (rows->sites[r->tag >> 4].where[TARGET] < 0 && !strobe_value(rows, r, TARGET))
			follow_return(t, s, rows, r);
		else
			follow_call(t, s, rows, r);
}

/* ---- code ---- */

static void
trace_call(strobe_call *c)
{
	strobe_operand argument[MOST_ARGUMENTS];
	for (unsigned i = 0; i < MOST_ARGUMENTS; i++)
		argument[i] = i < arguments ? strobe_call_argument(c, i) : strobe_constant(0);
	strobe_record(strobe_at(c), &steps, strobe_register_value(STROBE_RSP), argument[0],
	              argument[1], argument[2], argument[3], argument[4],
	              strobe_constant(strobe_call_address(c)), strobe_call_target(c));
}

static void
on_call(strobe_call *c)
{
	uint64_t site = strobe_call_address(c), target = strobe_call_to(c);
	if (target)
		strobe_count(strobe_at(c), strobe_cell_of(&pairs, 2, site, target), 1);
	else
		strobe_record(strobe_at(c), &indirect, strobe_constant(site),
		              strobe_call_target(c));
	if (tracing)
		trace_call(c);
}

static void
on_branch(strobe_branch *b)
{
	strobe_operand none = strobe_constant(0);
	if (tracing && strobe_branch_kind(b) == STROBE_RETURN)
		strobe_record(strobe_at(b), &steps, strobe_register_value(STROBE_RSP), none, none,
		              none, none, none, strobe_constant(strobe_branch_address(b)), none);
}

static void
begin(void)
{
	arguments = strobe_option_number("args");
	tracing = arguments || strobe_option_number("trace");
}

STROBE_TOOL(calls, .help = "count calls by caller and callee, or record each one", .call = on_call,
            .branch = on_branch, .begin = begin, .state = sizeof(struct state),
            .options = {{"trace", "0", "record each call and return, with its depth"},
                        {"args", "0",
                         "record the first arguments of each call, too, as many as this"}},
            .limits = {{"trace", 0, 1}, {"args", 0, MOST_ARGUMENTS}});
