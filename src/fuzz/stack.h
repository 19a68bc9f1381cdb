/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stack of a program that ends by a signal, or that does not end. */
#ifndef STROBE_FUZZ_STACK_H
#define STROBE_FUZZ_STACK_H

#include "fuzz/execute.h"

struct st_fuzz_frame {
	char *function; /* NULL: none has this code */
	char *image;    /* path */
	char *file;     /* of the source; NULL: not known */
	uint32_t line;
	uint64_t offset; /* link-time address in the image */
};

struct st_fuzz_stack {
	ST_VEC(struct st_fuzz_frame) frames; /* innermost first */
	const char *missing;                 /* why there are no more of them; NULL: it is whole */
};

/*
 * Runs the program natively with the input, under ptrace, until it gets the signal by which it ends
 * (0: until the time of hangs has passed), and reads the stack of the thread that got it. ST_FAILED
 * with *e: the program cannot be run, or no memory is left. The caller frees in any case.
 */
st_status st_fuzz_stack_read(struct st_fuzz_target *t, const struct st_fuzz_bytes *input, int signo,
                             struct st_fuzz_stack *out, struct st_error *e);
void st_fuzz_stack_free(struct st_fuzz_stack *s);

#endif
