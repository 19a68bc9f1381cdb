/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_RT_OS_SAMPLE_H
#define STROBE_RT_OS_SAMPLE_H

#include "rt/jit/jit.h"

/* Records a sample: the program is at at->regs, and where is ST_SAMPLE_*. Called by the signal
 * handler only. */
void sample_add(struct thread *t, const struct recovered *at, uint32_t where);
/* Copies the program's stack of a thread, which is at at->regs, into the ring. False: there is no
 * space; sample_dropped counts that. */
bool sample_stack(struct thread *t, const struct recovered *at, enum st_stack_kind kind,
                  uint64_t waited);
void sample_dropped(void);

#endif
