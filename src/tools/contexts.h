/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tool `contexts`, in eight parts: what it asks of code (contexts.c), what lies on a
 * thread's stacks (contexts_stack.c), what lies there when nobody has looked for a while
 * (contexts_reroot.c), the forests of contexts that follow from it (contexts_forest.c), what is
 * above a context in them (contexts_path.c), what of them is known and not followed
 * (contexts_suppress.c), the loops in them (contexts_loops.c), and what is kept
 * of them when they find no more room (contexts_prune.c).
 */
#ifndef STROBE_TOOLS_CONTEXTS_H
#define STROBE_TOOLS_CONTEXTS_H

#include <strobe/tool.h>

#include <stdbool.h>

#include "tools/forest.h"

/* Of whom the contexts are: functions by their callers; basic blocks by those before them in the
 * same activation of a function; by those before them in the thread. */
enum contexts_mode { CONTEXTS_FUNC, CONTEXTS_INTRA, CONTEXTS_INTER };

enum { CONTEXTS_INFINITE = UINT32_MAX };

struct contexts_options {
	enum contexts_mode mode;
	uint32_t k;
	bool roll;       /* a function that calls itself stays in its context */
	bool cycles;     /* one that is among its callers goes back to that context */
	bool loops;      /* the same for blocks */
	bool iterations; /* of them: see contexts_loops.c */
	bool pin;        /* blocks are left as they are executed: they may overlap */
	bool physical;   /* who is entered by a jump takes the place of who jumped */
	bool time, instructions;
	bool suppress; /* what is below complete contexts is not followed */
	bool root;     /* some functions only, under an artificial root */
};
extern struct contexts_options contexts_options;
/* By label: the address. A fork's child numbers its labels again; _before: the labels of its
 * parent. */
extern uint64_t *contexts_address, *contexts_address_before;

/*
 * A function that has been entered and has not returned, as the walk has it: sp is where its return
 * address lies; node its context, inner the context of its last basic block. With rolled cycles and
 * a finite k: `mine` is the frame that has its context, itself or one below; `more` the one below
 * that which the context of that comes from. 0: none.
 */
typedef strobe_frame contexts_frame;
/* A stack pointer as a multiple of 4: what is below that is marks in a frame's sp. */
static inline uint64_t
contexts_rounded(uint64_t sp)
{
	return (sp + 3) & ~(uint64_t)3;
}
/* sp of the frames that stand for what is not on the stack. */
static const uint64_t CONTEXTS_ABOVE_ALL = UINT64_MAX - 7;
/* One that no function has. */
static inline contexts_frame
contexts_above_all(strobe_node *node)
{
	return (contexts_frame){.sp = CONTEXTS_ABOVE_ALL, .node = node, .inner = node};
}

/* A stack of the program's, as far as it is known. Its first frames stand for what was under way
 * when it was begun: they are never left. */
struct contexts_strand {
	struct contexts_strand *next;        /* of those that the thread has left */
	struct contexts_strand *interrupted; /* by the signal that this one is for; NULL: none */
	contexts_frame *frames;
	uint32_t n, room;
	uint32_t base;    /* frames that stand for what is not on it: at least 1 */
	uint64_t top;     /* the stack ends there, or before */
	uint64_t begun;   /* stack pointer when it was first seen; 0: the thread began on it */
	uint64_t left_at; /* stack pointer when it was left */
	bool finished;    /* what it was begun for has returned */
	bool stale;       /* the thread may have been there since, unseen */
};

/* A function that was found under way: contexts_reroot.c. */
struct contexts_found {
	uint64_t function, called, sp;
	bool called_shown;
	bool is_entered; /* the thread is at its first instruction: that it is entered will be seen,
	                    but not who jumped to it, or that a signal came */
	bool handler;    /* of a signal, which interrupted the next one */
};

/* The path to a context: node, by depth; depth, by label, where it was last. n: nodes. */
struct contexts_path {
	uint32_t *node, *depth;
	uint32_t n, room, labels;
};

/* Of a thread. */
struct contexts_state {
	struct contexts_strand *strand, *parked;
	struct contexts_strand *spare; /* not used any more */
	uint32_t root;                 /* the context of what nobody called */
	uint64_t left_at;              /* stack pointer before it was moved */
	uint64_t moved_to;             /* it may be another stack; 0: it is not */
	uint32_t n_parked;
	struct contexts_loops *loops; /* NULL: none yet */
	/* Of the function that was suppressed last: its strand, and how many frames that had with
	   it and without it. */
	const struct contexts_strand *suppressed;
	uint32_t suppressed_with, left_with;
	bool begun;      /* the strand, just now: nobody knew that stack, or it is a stale one's */
	bool gap;        /* there was one */
	bool innermost;  /* it is to be found now */
	bool within;     /* it was, and is shown */
	uint64_t passed; /* contexts_find_out, across functions */
	uint64_t asked;  /* function that was asked for last: is it shown? */
	bool asked_shown;
	struct contexts_found *found; /* the innermost first */
	uint32_t n_found, room_found;
	struct contexts_path path;
};

/* ---- contexts.c ---- */

/* Labels of functions; are they functions to who reads a program, and chosen? */
uint32_t contexts_label(uint64_t function);
bool contexts_is_shown(uint64_t function);

/* ---- contexts_forest.c ---- */

/* Initialises a thread. False: there is no memory. */
bool contexts_begin(strobe_thread *t, struct contexts_state *s);
/* The context of a function that is under way, which is not counted. */
strobe_node *contexts_under_way(strobe_thread *t, const strobe_node *from, uint32_t label);
/* Stands for the last block, when that was executed unseen. */
strobe_node *contexts_unknown(strobe_thread *t);
/* The context of the block behind that, once it is known, when it is counted; until then unknown,
 * and *passed is how far that has come: 0 at first. */
strobe_node *contexts_find_out(strobe_thread *t, uint64_t *passed, uint32_t label);
/* The context of a function that is entered, of a block that is executed, after another context. It
 * is counted. Where there is no room for it, it is the thread's node of what was pruned. */
strobe_node *contexts_call(strobe_thread *t, const strobe_node *from, uint32_t label);
strobe_node *contexts_follow(strobe_thread *t, const strobe_node *from, uint32_t label);

/* ---- contexts_path.c ---- */

/* The context above `from` that has the label, itself included; 0: none has. */
uint32_t contexts_above(strobe_thread *t, uint32_t from, uint32_t label);

/* ---- contexts_loops.c ---- */

/* A block in the function on top, as contexts_follow; loops are counted. */
strobe_node *contexts_iterate(strobe_thread *t, struct contexts_state *s, uint32_t label);
/* After pruning: forgets the loops whose heads have gone, and all steps. */
void contexts_loops_pruned(struct contexts_state *s);

/* ---- contexts_prune.c ---- */

/* Between two steps: the next one finds room, if there can be some. */
void contexts_make_room(strobe_thread *t);

/* ---- contexts_stack.c ---- */

/* The walk's frames are the strand's, and all that is simple about them is left to it. */
void contexts_take(strobe_thread *t, struct contexts_state *s);
void contexts_give(strobe_thread *t, struct contexts_state *s);
/* exact: not rounded, as the others' are. */
void contexts_enter(strobe_thread *t, struct contexts_state *s, uint32_t label, uint64_t exact);
void contexts_return(struct contexts_state *s, uint64_t sp);
/* The stack pointer was moved from left_at. */
void contexts_moved(struct contexts_state *s, uint64_t sp);
/* A jump has gone into the middle of the function. */
void contexts_into(struct contexts_state *s, uint32_t label, uint64_t sp);
/* A signal's handler is about to be entered. */
void contexts_signal(struct contexts_state *s, uint64_t sp);
/* Where the frame's function was entered. */
uint64_t contexts_sp(const contexts_frame *f);
struct contexts_strand *contexts_new_strand(struct contexts_state *s);
/* It is not used any more. */
void contexts_drop(struct contexts_state *s, struct contexts_strand *c);
/* The thread may come back to it. */
void contexts_park(struct contexts_state *s, struct contexts_strand *c);
/* A strand for the handler of a signal that interrupts the one that is under way. */
void contexts_begin_signal(struct contexts_state *s, uint64_t sp);
/* Is a handler entered with that stack pointer on a stack of its own? */
bool contexts_is_aside(const struct contexts_state *s, uint64_t sp);
/* A frame at the end; counted: the function is entered now. */
void contexts_push(strobe_thread *t, struct contexts_strand *c, uint32_t label, uint64_t exact,
                   bool counted);

/* ---- contexts_suppress.c ---- */

/* The function on top has just been entered: is what it calls to be followed? If not it is left at
 * once, as if it had returned. */
void contexts_suppress(strobe_thread *t, struct contexts_state *s);
/* After a gap, before it is looked at the stack: if suppression has ended within the function, that
 * may be under way, as may be who jumped to it. */
void contexts_end_suppression(strobe_thread *t, struct contexts_state *s);

/* ---- contexts_reroot.c ---- */

/* The thread was not seen for a while: finds what is on its stack now. */
void contexts_reroot(strobe_thread *t, struct contexts_state *s);
/* A strand may have been begun for a stack on which the thread was before, seen or not: finds what
 * is there. A function is about to be entered, or to return. */
void contexts_find_again(strobe_thread *t, struct contexts_state *s);

static inline contexts_frame *
contexts_top(const struct contexts_state *s)
{
	return &s->strand->frames[s->strand->n - 1];
}

#endif
