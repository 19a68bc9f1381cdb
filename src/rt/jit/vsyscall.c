/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/jit/vsyscall.h"

#include <asm/unistd.h>

#include "rt/maps.h"
#include "rt/program.h"

/* By the number of the function. */
static const long numbers[] = {__NR_gettimeofday, __NR_time, __NR_getcpu};

bool
vsyscall_make(struct thread *t)
{
	static int exists = -1;
	uint64_t *r = t->regs.r, back;
	if (exists < 0)
		exists = maps_has_vsyscall();
	/* A filter of the program decides about it, too; what faults is a fault there. */
	if (!exists || t->kernel.filters ||
	    rt_copy_guarded(&back, (const void *)r[RSP], sizeof back))
		return false;
	long ret = SYS(numbers[t->regs.pc >> 10 & 3], r[RDI], r[RSI], 0);
	if (ret == -14 /* EFAULT */)
		return false;
	r[RAX] = (uint64_t)ret;
	r[RSP] += 8;
	t->regs.pc = back;
	return true;
}
