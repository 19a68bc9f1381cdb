/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Happenings that tools hear of. */
#ifndef STROBE_RT_TOOL_HAPPEN_H
#define STROBE_RT_TOOL_HAPPEN_H

#include "rt/tool/tool.h"

struct map;

/* On the thread itself. */
void happen_thread_begin(struct thread *t);
/* The same for one that was running: what it has done before is a gap. */
void happen_attached(struct thread *t);
void happen_thread_end(struct thread *t);
/* Nothing of the thread will be measured any more: tells of the gap that it is in, if it is. */
void happen_last_gap(struct thread *t);
/* The process ends, or becomes another program. rt.lock not held. */
void happen_end(struct thread *t);
/* The process is left: every thread has had its end; this is one of them. */
void happen_leave(struct thread *t);
void happen_signal(struct thread *t, int signo);
void happen_image(bool loaded, const char *path, uint64_t start, uint64_t end, uint64_t offset);
/* A system call at t->regs; false: no tool wants to know. */
bool happen_syscall_before(struct thread *t, strobe_syscall *s);
void happen_syscall_after(struct thread *t, strobe_syscall *s, long result);

#endif
