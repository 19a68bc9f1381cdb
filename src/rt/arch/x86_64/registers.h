/* SPDX-License-Identifier: GPL-3.0-or-later */
/* General registers in hardware order. */
#ifndef STROBE_RT_ARCH_X86_64_REGISTERS_H
#define STROBE_RT_ARCH_X86_64_REGISTERS_H

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };

/* Fields at the beginning of the current thread that emitted code uses: rt.h checks the offset. */
enum { THREAD_SLOT_SPILL = 16 };

#endif
