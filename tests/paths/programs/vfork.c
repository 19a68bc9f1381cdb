/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A child by vfork runs on its parent's stack, and until its exec what it does is its parent's
 * (docs/engine.md); the parent then goes on where it was.
 */
#include "hazard.h"

#include <sys/wait.h>
#include <unistd.h>

NOIPA static void
f_deeper(void)
{
	char *const words[] = {(char[]){"true"}, NULL};

	execv("/bin/true", words);
	_exit(127);
}

NOIPA static void
f_child(void)
{
	f_deeper();
	DONE;
}

NOIPA static int
f_parent(pid_t pid)
{
	int status;
	return waitpid(pid, &status, 0) != pid || status;
}

NOIPA static void
f_after(void)
{
	DONE;
}

NOIPA static int
f_spawns(void)
{
	pid_t pid = vfork();
	if (!pid)
		f_child();
	return f_parent(pid) + 0 * pid;
}

int
main(void)
{
	int bad = 0;
	for (volatile int i = 0; i < 2; i++)
		bad |= f_spawns();
	f_after();
	return bad;
}
