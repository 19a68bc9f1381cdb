/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a program and prints the peak resident memory in KiB of the largest process of its tree on
 * descriptor 2. A program inherits the peak of what started it through exec, so the starter has to
 * be this small. usage: peak PROGRAM ARGS */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	struct rusage usage;
	int status;
	pid_t pid = argc > 1 ? fork() : -1;
	if (pid == 0) {
		execv(argv[1], argv + 1);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
		return 125;
	dprintf(STDERR_FILENO, "\npeak %ld\n", usage.ru_maxrss);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
