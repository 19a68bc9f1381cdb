/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The functions that are under way on a thread's stack. rt.lock held. */
#ifndef STROBE_RT_UNWIND_UNWIND_H
#define STROBE_RT_UNWIND_UNWIND_H

#include "rt/rt.h"
#include "rt/unwind/cfi.h"

/* unwind/images.c: what the image says that the code is of. */

struct unwind_image {
	uint64_t start, end; /* the executable mapping */
	uint64_t begin;      /* where the program or the library begins to run */
	struct cfi_table table;
};

/* After a fork, with results that are new. */
void unwind_forget(void);
/* NULL: it is not executable. */
const struct unwind_image *unwind_image_at(uint64_t pc);
/* The rules at the address; NULL: there are none. Valid until the next call. */
const struct cfi_row *unwind_row_at(uint64_t pc);

/* unwind/calls.c: what code says. */

/* Is there a call before the address? *to: where it goes; 0: that is not said. */
bool unwind_called(uint64_t address, uint64_t *to);
/* The address to which the handler of a signal returns. */
bool unwind_is_restorer(uint64_t pc);
/* Does the function begin with push %rbp; mov %rsp, %rbp? */
bool unwind_has_frame(uint64_t function);

/* unwind/unwind.c */
enum strobe_unwound unwind_thread(struct thread *t, strobe_unwind_callee *each, void *to);

#endif
