/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parent's own forest has nothing of its child. */
#include "hazard.h"

#include <sys/wait.h>
#include <unistd.h>

NOIPA static void
f_before(void)
{
	DONE;
}

NOIPA static void
f_after(void)
{
	DONE;
}

NOIPA static void
f_deep(void)
{
	DONE;
}

NOIPA static void
f_child(void)
{
	f_deep();
	DONE;
}

NOIPA static int
f_parent(pid_t pid)
{
	int status;
	return waitpid(pid, &status, 0) != pid || status;
}

NOIPA static int
f_forks(void)
{
	int bad = 0;
	pid_t pid = fork();
	if (pid)
		bad = f_parent(pid);
	else
		f_child();
	DONE;
	return bad;
}

int
main(void)
{
	f_before();
	f_before();
	int bad = f_forks();
	f_after();
	return bad;
}
