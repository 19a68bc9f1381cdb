/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events of threads and of the process, for which tools have callbacks. */
#ifndef STROBE_RT_TOOL_CALLBACKS_H
#define STROBE_RT_TOOL_CALLBACKS_H

#include "rt/tool/tool.h"

struct map;

/* On the thread itself. */
void callback_thread_begin(struct thread *t);
void callback_thread_end(struct thread *t);
/* The thread was not measured since then (TSC). */
void callback_gap(struct thread *t, uint64_t from);
/* Nothing of the thread will be measured any more: the gap that it is in is reported, if it is. */
void callback_last_gap(struct thread *t);
/* The process ends, or becomes another program. rt.lock not held. */
void callback_end(struct thread *t);
/* The process is left: every thread has had its end; this is one of them. */
void callback_leave(struct thread *t);
void callback_signal(struct thread *t, int signo);
void callback_image(bool loaded, const char *path, uint64_t start, uint64_t end, uint64_t offset);
/* A system call at t->regs; false: no tool wants to know. */
bool callback_syscall_before(struct thread *t, strobe_syscall *s);
void callback_syscall_after(struct thread *t, strobe_syscall *s, long result);

#endif
