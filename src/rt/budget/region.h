/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which threads are measured, in which code, and the gaps in between. */
#ifndef STROBE_RT_BUDGET_REGION_H
#define STROBE_RT_BUDGET_REGION_H

#include "rt/code.h"

/* measured_threads.c: is the thread one of those that are measured? Asked when it begins,
 * and when it has another name. */
void thread_choose(struct thread *t);

/* region.c: whether tools are at work. rt.lock held. */
void region_init(void);
/* The thread may execute another version of the code from here on: notes that it is not measured
 * any more, or tells of the gap that has ended. */
void gap_follow(struct thread *t);
/* It is not measured from here on. */
void gap_begin(struct thread *t);
void region_set(struct thread *t, bool on);
/* Does what the controller asks for. */
void region_obey(struct thread *t);

/* The action of the region of interest at the beginning of a block: ST_ENTRY_BEGIN, ST_ENTRY_END.
 */
unsigned region_at(uint64_t pc);
/* The same, as far as it matters to threads that execute the version. */
unsigned region_border(uint64_t pc, enum version version);

#endif
