/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tool `paths`, in three parts: what it asks of code (paths.c), what the rows say of a thread's
 * stacks (paths_stack.c), and the forests of contexts that follow from it (paths_forest.c).
 */
#ifndef STROBE_TOOLS_PATHS_H
#define STROBE_TOOLS_PATHS_H

#include <strobe/tool.h>

#include <stdbool.h>

/* Of whom the contexts are: functions by their callers; basic blocks by those before them in the
 * same activation of a function; by those before them in the thread. */
enum paths_mode { PATHS_FUNC, PATHS_INTRA, PATHS_INTER };

enum { PATHS_INFINITE = UINT32_MAX };

struct paths_options {
	enum paths_mode mode;
	uint32_t k;
	bool roll;     /* a function that calls itself stays in its context */
	bool cycles;   /* one that is among its callers goes back to that context */
	bool loops;    /* the same for blocks */
	bool physical; /* who is entered by a jump takes the place of who jumped */
	bool time, instructions;
	bool root; /* some functions only, under an artificial root */
};
extern struct paths_options paths_options;

/* A function that has been entered and has not returned. */
struct paths_frame {
	uint64_t sp;       /* when it was entered: where its return address lies */
	uint32_t node;     /* its context */
	uint32_t function; /* its label */
	uint32_t block;    /* intra: the context of its last basic block; 0: none yet */
	uint32_t padding;
};

/* A stack of the program's, as far as it is known. The first frame stands for what is not. */
struct paths_strand {
	struct paths_strand *next;        /* of those that the thread has left */
	struct paths_strand *interrupted; /* by the signal that this one is for; NULL: none */
	struct paths_frame *frames;
	uint32_t n, room;
	uint64_t top;     /* the stack ends there, or before */
	uint64_t left_at; /* stack pointer when it was left */
};

/* Of a thread. */
struct paths_state {
	struct paths_strand *strand, *parked;
	uint32_t root;     /* the context of what nobody called */
	uint32_t block;    /* inter: the context of its last basic block */
	uint64_t left_at;  /* stack pointer before it was moved */
	uint64_t moved_to; /* it may be another stack; 0: it is not */
	uint64_t ticks;    /* up to which costs are added up; 0: not known */
	uint32_t n_parked;
};

/* ---- paths_forest.c ---- */

/* What a thread is at the beginning. False: there is no memory. */
bool paths_begin(strobe_thread *t, struct paths_state *s);
/* The context of a function that is entered, of a block that is executed, after another context. It
 * is counted. */
uint32_t paths_call(strobe_thread *t, uint32_t from, uint32_t label);
uint32_t paths_follow(strobe_thread *t, uint32_t from, uint32_t label);

/* ---- paths_stack.c ---- */

void paths_enter(strobe_thread *t, struct paths_state *s, uint32_t label, uint64_t sp);
void paths_return(struct paths_state *s, uint64_t sp);
/* The stack pointer was moved from left_at. */
void paths_moved(struct paths_state *s, uint64_t sp);
/* A jump has gone into the middle of the function. */
void paths_into(struct paths_state *s, uint32_t label, uint64_t sp);
/* A signal's handler is about to be entered. */
void paths_signal(struct paths_state *s, uint64_t sp);
/* Nothing is known any more of what is on the stacks. */
void paths_lose(struct paths_state *s);

static inline struct paths_frame *
paths_top(const struct paths_state *s)
{
	return &s->strand->frames[s->strand->n - 1];
}

#endif
