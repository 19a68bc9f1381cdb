/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The threads of the process together, and native execution: what every folder may ask for.
 * os/world.c, os/leave.c and arch/x86_64/stubs.S have it. */
#ifndef STROBE_RT_WORLD_H
#define STROBE_RT_WORLD_H

#include "rt/rt.h"

/* Empties the code cache. rt.lock held; every other thread leaves the cache first. */
void os_flush(struct thread *t);
/* Takes all write protection back, too. */
void os_flush_and_open(struct thread *t);
/* Every other thread comes out of the cache to the dispatcher. rt.lock held. */
void os_make_wait(struct thread *t);
/* Those that run natively, too. */
void os_make_all_wait(struct thread *t);
/* Every other thread leaves the cache, and stays out until the caller gives rt.lock back. */
void os_stop_world(struct thread *t);
/* The process is about to die with a core dump: every other thread goes on natively for its last
 * moments, so that the dump shows the program in all of them. */
void os_show_threads(struct thread *t);
/* Executes at t->regs natively, expecting a fault; when it comes, the program sees it as its own.
 */
_Noreturn void os_native_probe(struct thread *t);
/* The thread is to execute the instruction at t->regs where it stands, and to come back. */
void os_step(struct thread *t);
/* Hands the whole process back to native execution: this thread, which is about to do what the
 * engine cannot bear, and all others. */
_Noreturn void os_native_forever(struct thread *t);

/* stubs.S: a thread goes on natively, and comes back with a system call by way of a patch. */
void rt_go_native_run(void);
extern const char rt_native_run_end[];
void rt_stub_syspatch(void);

#endif
