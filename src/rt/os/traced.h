/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tracers within the program: one that looks at threads in the memory that it shares with them, as
 * the leak sanitizer does, sees the program's registers; a process that asks to be traced by its
 * parent (PTRACE_TRACEME) is handed to native execution.
 */
#ifndef STROBE_RT_OS_TRACED_H
#define STROBE_RT_OS_TRACED_H

#include "rt/rt.h"

long sys_ptrace(struct thread *t);

#endif
