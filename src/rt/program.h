/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program's memory as the runtime reads it. */
#ifndef STROBE_RT_PROGRAM_H
#define STROBE_RT_PROGRAM_H

#include "rt/rt.h"

enum { CALL_BYTES = 2 }; /* of a system call */

/* Copies from or to the program's memory; not 0 when it cannot be accessed. stubs.S */
int rt_copy_guarded(void *to, const void *from, size_t n);
extern const char rt_copy_insn[], rt_copy_failed[];

/* native/source.c: the same as program_code, which is faster while there are no system-call patches
 * and no breakpoints. */
const uint8_t *program_source(uint64_t pc);

/* The program's code at pc, as it was before the runtime changed it: as many bytes as are there, up
 * to those of a block. */
static inline const uint8_t *
program_code(uint64_t pc)
{
	return rt.native.syspatches || rt.native.breakpoints ? program_source(pc)
	                                                     : (const uint8_t *)pc;
}

#endif
