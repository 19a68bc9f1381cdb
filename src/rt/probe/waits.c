/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Waits of locks that a program makes itself, such as those of the libraries of Rust and C++: they
 * wait for a futex with the C library's function `syscall`. Only these calls of it are timed.
 */
#include <asm/unistd.h>
#include <linux/futex.h>

#include "rt/probe/probe.h"

enum { FUTEX_WAITV_NUMBER = 449, FUTEX_WAIT_NUMBER = 455, FUTEX_LOCK_PI2_COMMAND = 13 };

static bool
is_futex_wait(uint64_t number, uint64_t operation)
{
	if (number == FUTEX_WAITV_NUMBER || number == FUTEX_WAIT_NUMBER)
		return true;
	if (number != __NR_futex)
		return false;
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2_COMMAND:
		return true;
	default:
		return false;
	}
}

/* The caller's time does not include the probe of a system call that is not timed. */
static void
charge_untimed(void)
{
	struct st_probe_thread *t = probe_context.forked ? NULL : probe_thread();
	if (!t)
		return;
	t->frames[t->depth - 1].spent += probe_context.cost_counted;
	((struct st_probe_record *)t->numbers)->spent += probe_context.cost_counted;
}

void
probe_system_call(uint64_t function, uint64_t *slot, const uint64_t *registers)
{
	probe_sandbox_call(registers[0], registers + 1);
	if (UNLIKELY(probe_context.sandboxed) ||
	    probe_tally(probe_area()->actions[function]) == ST_RECORD_TIME)
		return;
	if (is_futex_wait(registers[0], registers[2]))
		probe_enter(function, slot, registers[2]);
	else
		charge_untimed();
}
