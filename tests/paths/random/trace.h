/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the programs of generate.py write down of themselves: which function was entered (or jumped
 * to), which activation went on after a call however that ended, and which stack was in use. And
 * the dice by which they decide what to do.
 */
#ifndef STROBE_TESTS_PATHS_TRACE_H
#define STROBE_TESTS_PATHS_TRACE_H

#include <setjmp.h>
#include <signal.h>

#ifdef __cplusplus
extern "C" {
#define NOIPA __attribute__((noinline, noclone, noipa))
#else
#define NOIPA __attribute__((noipa))
#endif

typedef int function(int);

/* A function calls it first: how deep it is. frame: where its return address lies, which a jump
 * does not change. */
int trace_enter(int f, const void *frame);
void trace_tail(const void *frame); /* the next function is entered by a jump */
void trace_back(int depth);         /* after all that may have called anything */
#define TRACE_FRAME __builtin_dwarf_cfa()

unsigned trace_pick(unsigned n); /* 0 .. n-1 */
int trace_more(int depth);       /* may more functions be called? */

sigjmp_buf *trace_landing(sigjmp_buf *here); /* the one before */
int trace_jump(void);                        /* to the landing, if there is one */
int trace_catchers(int n); /* sets how many try blocks are open; how many were (-1: only tells) */

void trace_resume(function *first); /* goes on with a coroutine that is not active, or starts one */
void trace_yield(void);
void trace_raise(void);
void trace_sort(int depth, int (*compare)(const void *, const void *));

/* The whole program: threads, each with so many calls, that run the first functions; then the file
 * is written. */
struct trace_plan {
	int threads, calls, depth, altstack;
	unsigned long seed;
	function *const *first;
	unsigned n_first;
	void (*on_signal)(int);
};
int trace_main(const struct trace_plan *plan, const char *file);

#ifdef __cplusplus
}
#endif
#endif
