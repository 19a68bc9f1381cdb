/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tracers within the program: one that looks at threads in the memory that it shares with them, as
 * the leak sanitizer does, sees the program's registers; a process that is to be traced by its
 * parent gives up what would stop it for the engine's sake.
 */
#ifndef STROBE_RT_OS_TRACED_H
#define STROBE_RT_OS_TRACED_H

#include "rt/rt.h"

long sys_ptrace(struct thread *t);

#endif
