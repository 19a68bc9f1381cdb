/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Walks through forests: what tools ask for, and how they begin. jit/walk.c writes their code. */
#include <asm/unistd.h>
#include <linux/mman.h>

#include "rt/arch/x86_64/emit.h"
#include "rt/tool/events.h"

/* By label: the first of the two tallies that are its guess; 0: it has none. */
static uint32_t *guesses;

strobe_walk *
strobe_walk_of(strobe_thread *t)
{
	return &((struct thread *)t)->contexts.walk;
}

void
walk_begin(struct thread *t)
{
	strobe_node *none = strobe_nodes();
	t->contexts.walk = (strobe_walk){.top = &t->contexts.walk.closed,
	                                 .node = none,
	                                 .closed = {.node = none, .inner = none}};
}

static void
clear_guess(struct thread *t, uint32_t label)
{
	uint32_t id = guesses ? guesses[label] : 0;
	uint64_t *guess = thread_counter(t, id);
	if (id && guess[0])
		guess[0] = guess[1] = 0;
}

void
walk_forget_guess(struct thread *t, uint32_t label)
{
	clear_guess(t, label);
}

uint32_t
walk_forget_guesses(struct thread *t)
{
	uint32_t n =
	        guesses ? __atomic_load_n(&rt.results->contexts.n_labels, __ATOMIC_ACQUIRE) : 0;
	for (uint32_t label = 0; label < n; label++)
		clear_guess(t, label);
	return n;
}

void
walk_forget(struct thread *t)
{
	strobe_frame *top = t->contexts.walk.top;
	if (guesses)
		SYS(__NR_madvise, guesses, ST_MAX_LABELS * sizeof *guesses, MADV_DONTNEED);
	walk_begin(t);
	if (top != &t->contexts.walk.closed)
		t->contexts.walk.before = top;
}

uint32_t
walk_guess(uint32_t label)
{
	struct st_results_header *r = rt.results;
	if (!guesses)
		guesses = rt_map_table(ST_MAX_LABELS * sizeof *guesses);
	if (!guesses || label >= ST_MAX_LABELS)
		return 0;
	if (!guesses[label] && r->blocks.n + 2 <= ST_MAX_BLOCKS) {
		struct st_block *b =
		        (struct st_block *)((char *)r + r->layout.off_blocks) + r->blocks.n;
		b[0] = b[1] = (struct st_block){.flags = ST_BLOCK_TALLY};
		guesses[label] = r->blocks.n;
		__atomic_store_n(&r->blocks.n, r->blocks.n + 2, __ATOMIC_RELEASE);
	}
	return guesses[label] ? counter_field(guesses[label]) : 0;
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
	if (ask_action(at, ACTION_TIME))
		rt.results->contexts.has_costs = 1;
}

void
strobe_spend_instructions(strobe_point at, uint32_t n)
{
	struct action *a = ask_action(at, ACTION_COST);
	if (!a)
		return;
	a->id = n;
	rt.results->contexts.has_costs = 1;
}
