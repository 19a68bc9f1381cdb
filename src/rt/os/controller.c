/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether the controller is still there. It may be killed at any moment, and the program must not
 * notice: whoever waits for it asks here, and goes on without an answer.
 */
#include <asm/unistd.h>

#include "rt/os/process.h"

bool
controller_has_hung_up(void)
{
	enum { POLLHUP_BIT = 16 };
	struct {
		int fd;
		int16_t events, revents;
	} p = {(int)rt.boot->channel, 0, 0};
	const int64_t now[2] = {0, 0};
	return SYS(__NR_ppoll, &p, 1, now, 0, 8) == 1 && (p.revents & POLLHUP_BIT);
}

/*
 * Its pid would tell nothing: it may be that of a zombie, or of another process by now. Without a
 * socket this process is its child, to whom the kernel gives another parent at that moment; what
 * shares our memory (a vfork's child) is not.
 */
bool
controller_is_gone(void)
{
	if (__atomic_load_n(&rt.results->control.deserted, __ATOMIC_RELAXED))
		return true;
	if (rt.boot->channel)
		return controller_has_hung_up();
	return (uint32_t)SYS(__NR_getppid) != rt.boot->controller &&
	       (uint32_t)SYS(__NR_getpid) == rt.pid;
}

bool
controller_answers(const uint32_t *word, uint32_t value, unsigned seconds)
{
	const int64_t slice[2] = {0, 10000000};
	for (unsigned i = 0; i < seconds * 100; i++) {
		if (controller_is_gone())
			return false;
		SYS(__NR_futex, word, 0 /* FUTEX_WAIT */, value, slice);
		if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value)
			return true;
	}
	return false;
}
