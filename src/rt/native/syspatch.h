/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * System-call patches: how threads that run natively (native/native_run.h) come into the runtime
 * for their system calls without a signal.
 *
 * Where the program makes system calls often, five bytes of its code become a jump to a system-call
 * patch, code nearby, which does what stood there and enters the runtime. `before`: the
 * five bytes are the `mov $number, %eax` ahead of the system call, and nothing else is touched;
 * else they are the system call and what follows it. A thread that comes to a system-call
 * patch and does not run natively (a child of vfork that is left alone, say) makes the system call
 * itself.
 *
 * Everything that reads the program's code reads it by program_code, as it was. Only code of files,
 * that nobody can write, has system-call patches, and the call sites of the C library nearly all
 * can have one.
 */
#ifndef STROBE_RT_NATIVE_SYSPATCH_H
#define STROBE_RT_NATIVE_SYSPATCH_H

#include "rt/program.h"

/* Do system calls of this instruction, in native execution, come by a system-call patch? */
bool syspatch_serves(uint64_t call);
/* The thread, at regs.pc, makes a system call without one: makes a system-call patch if that
 * happens often, and `now`. Is there none because calls are few here, up to now? */
bool syspatch_note(struct thread *t, bool now);
/* Where a thread that runs natively is to go on that is at pc in the program. */
uint64_t syspatch_resume_address(uint64_t pc);
/* The other way about: where in the program is who is at pc, perhaps in a system-call patch? */
uint64_t syspatch_leads(uint64_t pc);
/* [start, end) is about to change, or to go: no system-call patches there any more. rt.lock held.
 */
void syspatches_forget(struct thread *t, uint64_t start, uint64_t end);
/* Puts the original code back for good: the process leaves the engine, or wants to change its code
 * by itself. No other thread runs natively. */
void syspatches_remove(void);
/* Does the memory hold system-call patches? */
bool syspatches_own(uint64_t start, uint64_t bytes);

#endif
