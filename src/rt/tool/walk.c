/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Walks through forests: what tools ask for, and how they begin. jit/walk.c writes their code. */
#include "rt/tool/events.h"

strobe_walk *
strobe_walk_of(strobe_thread *t)
{
	return &((struct thread *)t)->walk;
}

void
walk_begin(struct thread *t)
{
	strobe_node *none = strobe_nodes();
	t->walk = (strobe_walk){.top = &t->walk.closed, .node = none, .closed = {.node = none}};
}

void
walk_forget(struct thread *t)
{
	strobe_frame *top = t->walk.top;
	walk_begin(t);
	if (top != &t->walk.closed)
		t->walk.before = top;
}

static void
ask_step(strobe_point at, enum walk_step step, uint32_t label, uint32_t owner,
         strobe_callee *otherwise)
{
	struct action *a = at.condition ? NULL : ask_action(at, ACTION_WALK);
	if (!a)
		return;
	a->step = (uint8_t)step;
	a->id = label;
	a->owner = owner;
	a->function = otherwise;
}

void
strobe_enter(strobe_point at, uint32_t label, int jumps, strobe_callee *otherwise)
{
	ask_step(at, WALK_ENTER, label, jumps != 0, otherwise);
}

void
strobe_leave(strobe_point at, strobe_callee *otherwise)
{
	ask_step(at, WALK_LEAVE, 0, 0, otherwise);
}

void
strobe_step(strobe_point at, uint32_t label, uint32_t function, strobe_callee *otherwise)
{
	ask_step(at, WALK_STEP, label, function, otherwise);
}

void
strobe_step_across(strobe_point at, uint32_t label, strobe_callee *otherwise)
{
	ask_step(at, WALK_ACROSS, label, 0, otherwise);
}

void
strobe_spend_time(strobe_point at)
{
	ask_action(at, ACTION_TIME);
}

void
strobe_spend_instructions(strobe_point at, uint32_t n)
{
	struct action *a = ask_action(at, ACTION_COST);
	if (a)
		a->id = n;
}
