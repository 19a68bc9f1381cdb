/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Breakpoints: with --unique, how a thread that runs natively (native/native_run.h) comes back
 * where code begins that has not been measured.
 *
 * The first byte of each basic block of which nothing has been measured becomes a breakpoint
 * instruction, where the controller has found that a block may begin (st_map.seen and the section
 * `leaders`). Whoever comes there has the block measured and goes on natively; code that was
 * measured costs nothing at all. Only code of files, that nobody can write, has breakpoints.
 * Everything that reads the program's code reads it by program_code, as it was.
 */
#ifndef STROBE_RT_NATIVE_BREAKPOINTS_H
#define STROBE_RT_NATIVE_BREAKPOINTS_H

#include "rt/rt.h"

/* Is it worth while to call breakpoints_set? The controller knows more than it did, or nobody asked
 * it.
 */
bool breakpoints_stale(void);
/* Asks the controller to look for where blocks may begin in functions executed since. False: there
 * is none, or it has not answered the last time. */
bool breakpoints_ask(void);
/* There are breakpoints at all leaders of code that has not been measured, and nowhere else.
 * rt.lock held. False: there can be none. */
bool breakpoints_set(void);
/* A block has been measured, and leads to others, which may not have been (0: none): these have
 * breakpoints, it has none. rt.lock held. */
void breakpoints_move(uint64_t from, const uint64_t to[2]);
/* A thread that runs natively has executed a breakpoint instruction at pc: was it a breakpoint,
 * then or just now? */
bool breakpoints_own(uint64_t pc);
/* Is there a breakpoint that cannot be taken away? Without /proc, where code may not be made
 * writable: the thread has to go on in the cache. rt.lock held. */
bool breakpoints_stay(uint64_t pc);
/* Is there any such? */
bool breakpoints_any_stay(void);
/* The breakpoint there is taken away; all of its page are. rt.lock held. */
void breakpoints_take(uint64_t pc);
void breakpoints_take_page(uint64_t pc);
/* None are in [start, end) until breakpoints_set, as something else is written there. rt.lock held.
 */
void breakpoints_yield(uint64_t start, uint64_t end);
/* [start, end) is about to change, or to go. rt.lock held. */
void breakpoints_forget(struct thread *t, uint64_t start, uint64_t end);
/* The process is about to have a child. rt.lock held. */
void breakpoints_fork(struct thread *t);
/* The process leaves the engine, or wants to change its code by itself: there are none any more. No
 * other thread runs natively. */
void breakpoints_remove(void);

/* The program's code at pc as it was, up to the end of its mapping; NULL: the mapping has no
 * breakpoints.
 */
const uint8_t *breakpoints_source(uint64_t pc);

#endif
