/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The vsyscall page: three functions at fixed addresses above all of the program's memory, which
 * the kernel executes itself when something jumps there. In the cache they are calls that the
 * engine makes.
 */
#ifndef STROBE_RT_JIT_VSYSCALL_H
#define STROBE_RT_JIT_VSYSCALL_H

#include "rt/rt.h"

/* Is one of them at the address? */
static inline bool
vsyscall_is(uint64_t pc)
{
	return pc >= 0xffffffffff600000ull && pc < 0xffffffffff600c00ull && !(pc & 0x3ff);
}

/* The program is at regs.pc, which is one of them: makes the call, and returns from it. False: the
 * kernel has to show what happens. */
bool vsyscall_make(struct thread *t);

#endif
