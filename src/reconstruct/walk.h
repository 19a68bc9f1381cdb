/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The path of each thread: windows, of which every block is known, and what is between them. Blocks
 * are handed over in the order in which their thread began them.
 */
#ifndef STROBE_RECONSTRUCT_WALK_H
#define STROBE_RECONSTRUCT_WALK_H

#include "base/status.h"
#include "reconstruct/fold.h"
#include "reconstruct/gap.h"

/* Why a window ended. */
enum st_window_end {
	ST_WINDOW_LAST,   /* nothing more is known of the thread */
	ST_WINDOW_GAP,    /* the thread ran on without being measured */
	ST_WINDOW_SIGNAL, /* the next one begins with a signal's handler */
	ST_WINDOW_BREAK,  /* what follows cannot follow: a handler that has ended, or what the
	                     records do not tell of */
};

struct st_window {
	uint64_t blocks;
	st_fold_items path; /* of indices of places */
	enum st_window_end end;
	struct st_gap gap; /* behind it, if that is how it ended */
};

typedef ST_VEC(struct st_step) st_steps;

struct st_path_thread {
	uint32_t process;
	int64_t pid, tid;
	ST_VEC(struct st_window) windows;
	bool late; /* it had run before its first window */
	/* Of the window at hand. */
	bool open;           /* it has a block */
	struct st_step last; /* its last block */
	st_steps callers;    /* where calls that were made in it return to */
	/* Of the gap before it, to be decided when the window is over. */
	bool undecided;
	struct st_step from, to;
	st_steps callers_before, returns;
};

struct st_walk {
	struct st_code code;
	struct st_fold fold;
	bool returning; /* calls end in no other way than by coming back */
	ST_VEC(struct st_path_thread *) threads;
	uint32_t newest; /* thread that was asked for last */
};

/* The thread's index; UINT32_MAX when memory is exhausted. */
uint32_t st_walk_thread(struct st_walk *w, uint32_t process, int64_t pid, int64_t tid);
/* 0, or -1 when memory is exhausted. */
int st_walk_block(struct st_walk *w, uint32_t thread, uint32_t image, uint64_t offset, uint64_t sp,
                  uint64_t bp);
st_status st_walk_gap(struct st_walk *w, uint32_t thread);
st_status st_walk_signal(struct st_walk *w, uint32_t thread);
st_status st_walk_end(struct st_walk *w);
void st_walk_free(struct st_walk *w);

#endif
