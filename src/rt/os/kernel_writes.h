/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory of the program that the kernel writes to, where write protection of code would be in its
 * way: it does not wait until a page is opened, but says EFAULT, or nothing.
 */
#ifndef STROBE_RT_OS_KERNEL_WRITES_H
#define STROBE_RT_OS_KERNEL_WRITES_H

#include "rt/rt.h"

/* Before a system call of the thread: opens the pages that the kernel will write to meanwhile.
 * Those that it may write to later are left open, and their code is checked at each execution. */
void kernel_will_write(const struct thread *t);
/* The call has returned: what it says of memory that the kernel will write to. */
void kernel_has_answered(struct thread *t, long ret);
/* A thread is about to be born, whose id the kernel stores there, and there in the child. */
void kernel_stores_ids(uint64_t parent, uint64_t child);
/* The thread is about to end: the kernel marks the robust mutexes that it holds, and clears its id.
 */
void kernel_ends_thread(const struct thread *t);

#endif
