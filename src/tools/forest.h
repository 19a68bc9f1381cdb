/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Internal: what the runtime has for the built-in tool `contexts`, beside the tool API. Tools from
 * files cannot use it, and it may change with any commit.
 */
#ifndef STROBE_TOOLS_FOREST_H
#define STROBE_TOOLS_FOREST_H

#include <strobe/tool.h>

#include "wire/results/forest.h"

/* The nodes and costs, by number; the label of an address, the same each time. */
strobe_node *strobe_nodes(void);
strobe_cost *strobe_costs(void);
uint32_t strobe_label(uint64_t address);
/* The thread's node. 0: there is no room for it. */
uint32_t strobe_thread_node(strobe_thread *t);
/* Another, once for each thread, which is not shown, nor is what is below it. */
uint32_t strobe_aside_node(strobe_thread *t);
/* From `from`, the label leads to that node: a walk goes there, and the next function finds it.
 * Others may be forgotten for it. Until strobe_forget it has to be the same each time. */
void strobe_remember(strobe_thread *t, uint32_t from, uint32_t label, uint32_t to);
/* Takes that back: the tool is called for the next such step. */
void strobe_forget(strobe_thread *t, uint32_t from, uint32_t label);
/* The child with the label, made when there is none, and remembered; 0: there is no room for it. */
uint32_t strobe_find_child(strobe_thread *t, uint32_t parent, uint32_t label);
static inline uint32_t
strobe_child(strobe_thread *t, strobe_node *nodes, uint32_t parent, uint32_t label)
{
	uint32_t recent = strobe_recall(nodes, parent, label);
	return recent ? recent : strobe_find_child(t, parent, label);
}

/* A loop with that head, and nothing else yet. NULL: there is no room for it. */
strobe_loop *strobe_new_loop(uint32_t head);

/*
 * Pruning: when nodes run out, a tool may let go those of a thread's contexts that count least,
 * with all below them. What they have counted, and cost, is added to a child of the context that
 * they were called from, which has a label of its own and stands for all that were pruned there.
 * Later the context may be found again, with a new node that counts from 0.
 */
/* So many nodes for the process, instead of all that there is room for: in `begin`. */
void strobe_bound_nodes(uint64_t most);
/* Not 0: the thread should prune before its next step. */
int strobe_is_short(strobe_thread *t);
/* Prunes trees of the thread, and of threads that have ended. `keep` is called to say with
 * strobe_keep which nodes the tool has numbers or pointers of; these stay, with those above them,
 * and what nodes that stay have as `link`. Of what is remembered nothing is left. */
void strobe_prune(strobe_thread *t, void (*keep)(strobe_thread *t));
void strobe_keep(const strobe_node *node);
/* The thread's node for what was pruned from its roots. It is always there: contexts may be counted
 * in it, and below it, for which there was no room. 0: there was none for the thread's. */
uint32_t strobe_pruned_node(strobe_thread *t);

/*
 * Suppression: what a function calls is not followed when that is known from earlier runs.
 */
/* Is nothing new expected below the node? Then no step to it is remembered. Is the activation of it
 * that has just been counted to be followed nevertheless? */
int strobe_is_complete(uint32_t node);
int strobe_is_followed(uint32_t node);
/* Of the function that has just been entered, whose node that is, nothing is seen until it returns;
 * then the thread is where it called it. Or it ends before, with a gap. 0: it is followed. */
int strobe_suppress(strobe_thread *t, uint32_t node);
/* It ends, if there is any: the thread's stack is about to be another. */
void strobe_end_suppression(strobe_thread *t);
/* In `gap`: has it begun by suppression, which did not end with the function's return? */
int strobe_ended_suppression(strobe_thread *t);

/*
 * A walk: where a thread is in its forest, which translated code itself keeps: strobe_enter and the
 * like below. A thread has one. Its frames are an array of the tool's; each is an activation of a
 * function.
 */
typedef struct {
	/* The stack pointer it was entered with; less STROBE_JUMPED: by a jump from the function
	 * below, with which it returns; less STROBE_UNUSUAL: its return, and who jumps from it, are
	 * the tool's matter. */
	uint64_t sp;
	strobe_node *node;
	uint32_t label;
	uint32_t mine;      /* the tool's */
	strobe_node *inner; /* strobe_step: the last one in it, never NULL; after strobe_enter:
	                       its node */
	uint64_t more;      /* the tool's */
} strobe_frame;
enum { STROBE_UNUSUAL = 1, STROBE_JUMPED = 2 };
typedef struct {
	strobe_frame *top;    /* the innermost; or &closed: the tool is called for everything */
	strobe_frame *last;   /* that there is room for */
	strobe_node *node;    /* of strobe_step_across */
	uint64_t ticks;       /* up to which strobe_spend_time has added up; 0: not known */
	strobe_frame closed;  /* sp 0 */
	strobe_frame *before; /* in a fork's child: what `top` was in its parent; NULL: closed */
} strobe_walk;
strobe_walk *strobe_walk_of(strobe_thread *t);

/*
 * Steps of a walk: done in line where that is simple, else by a call of the function, whose
 * values[0] is the label and [1] the function's; strobe_thread_stack says the stack pointer.
 * Neither at a function's return (strobe_at_return) nor with a condition.
 *
 * A function is entered: simple if its stack pointer lies below the top frame's, there is room, and
 * the label's node is remembered from the top's. That is counted, and gets a frame. jumps: also if
 * the stack pointer is that of the top frame, which was not entered by a jump and has another
 * label.
 */
void strobe_enter(strobe_point at, uint32_t label, int jumps, strobe_callee *otherwise);
/* At a return: simple if the stack pointer is the top frame's. That is taken away; with the one
 * below, if it was entered by a jump. */
void strobe_leave(strobe_point at, strobe_callee *otherwise);
/* A block: simple if the top frame is the function's, and the label's node is remembered from the
 * frame's `inner`. That is counted, and `inner` from then on. */
void strobe_step(strobe_point at, uint32_t label, uint32_t function, strobe_callee *otherwise);
/* The same from the walk's `node` on, whatever the function. */
void strobe_step_across(strobe_point at, uint32_t label, strobe_callee *otherwise);
/* Adds to the cost of the top frame's node, be it closed's: the ticks since the walk's `ticks`,
 * which are now; instructions. */
void strobe_spend_time(strobe_point at);
void strobe_spend_instructions(strobe_point at, uint32_t n);

#endif
