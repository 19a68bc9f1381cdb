/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Children taken along: a fork's child gets a cache and results of its own, an exec's program a runtime of its own. */
#include "rt/os/os.h"
#include "rt/os/process.h"

bool
process_follow_fork(struct thread *t)
{
	(void)t;
	return false;
}

bool
follow_exec_begin(struct thread *t)
{
	(void)t;
	return false;
}

void
follow_exec_failed(struct thread *t)
{
	(void)t;
}
