/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tool `contexts`, in three parts: what it asks of code (contexts.c), what lies on a
 * thread's stacks (contexts_stack.c), and the forests of contexts that follow from it
 * (contexts_forest.c).
 */
#ifndef STROBE_TOOLS_CONTEXTS_H
#define STROBE_TOOLS_CONTEXTS_H

#include <strobe/tool.h>

#include <stdbool.h>

/* Of whom the contexts are: functions by their callers; basic blocks by those before them in the
 * same activation of a function; by those before them in the thread. */
enum contexts_mode { CONTEXTS_FUNC, CONTEXTS_INTRA, CONTEXTS_INTER };

enum { CONTEXTS_INFINITE = UINT32_MAX };

struct contexts_options {
	enum contexts_mode mode;
	uint32_t k;
	bool roll;     /* a function that calls itself stays in its context */
	bool cycles;   /* one that is among its callers goes back to that context */
	bool loops;    /* the same for blocks */
	bool physical; /* who is entered by a jump takes the place of who jumped */
	bool time, instructions;
	bool root; /* some functions only, under an artificial root */
};
extern struct contexts_options contexts_options;
/* By label: the address. Labels are numbered anew in a fork's child: what they were before. */
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
};

/* Of a thread. */
struct contexts_state {
	struct contexts_strand *strand, *parked;
	struct contexts_strand *spare; /* not used any more */
	uint32_t root;                 /* the context of what nobody called */
	uint64_t left_at;              /* stack pointer before it was moved */
	uint64_t moved_to;             /* it may be another stack; 0: it is not */
	uint32_t n_parked;
};

/* ---- contexts_forest.c ---- */

/* What a thread is at the beginning. False: there is no memory. */
bool contexts_begin(strobe_thread *t, struct contexts_state *s);
/* The context of a function that is entered, of a block that is executed, after another context. It
 * is counted. NULL: there is no room for it. */
strobe_node *contexts_call(strobe_thread *t, const strobe_node *from, uint32_t label);
strobe_node *contexts_follow(strobe_thread *t, const strobe_node *from, uint32_t label);

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
/* Nothing is known any more of what is on the stacks. */
void contexts_lose(struct contexts_state *s);

static inline contexts_frame *
contexts_top(const struct contexts_state *s)
{
	return &s->strand->frames[s->strand->n - 1];
}

#endif
