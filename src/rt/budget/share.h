/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A budget that several threads share (--budget-share): of each period of their process' CPU time,
 * or that of all processes that are followed, so much may go into what is beyond native execution,
 * whichever threads it is spent by. They take it from a pool, a share at a time.
 */
#ifndef STROBE_RT_BUDGET_SHARE_H
#define STROBE_RT_BUDGET_SHARE_H

#include "rt/rt.h"

/* Is it shared? By a tree of processes? */
bool share_exists(void);
bool share_is_of_tree(void);
/* A thread begins; first: of the program. */
void share_begin(struct thread *t, bool first);
/* The period may be over. Returns whether a new one has begun since the thread last took of the
 * pool: what it has left is of an older one. */
bool share_tick(struct thread *t);
/* The thread has given back what it had, and takes part in the period that has begun. */
void share_adopt(struct thread *t);
/* Takes a share of the pool; 0: nothing is left, or nothing for this thread. */
int64_t share_take(struct thread *t);
/* Takes so much again that was given back in the same period, or what is left of it. */
int64_t share_retake(struct thread *t, int64_t released);
/* Gives back what was taken in this period and is not needed; less than nothing is a debt, which is
 * paid out of what others would have had, in this period or the next. */
void share_give(struct thread *t, int64_t left);
/* A thread has used so much CPU time. */
void share_report_time(uint64_t ns);
/* A thread finds the pool empty. False: that is no news of others than its process. */
bool share_report_spent(void);

#endif
