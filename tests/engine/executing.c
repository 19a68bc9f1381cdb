/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Executes others, for executed.py.
 *   chain N CODE      itself, N times, each second time from another thread; then exits with CODE
 *   try PATH...       one after the other, prints why that failed; exits with 4
 *   vfork A B         A in a child of vfork, then B in its own place
 *   files B           forks a child that shares the table of descriptors and ends, then B
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void
execute(char *path)
{
	char *const arguments[] = {path, NULL};
	execv(path, arguments);
}

static void *
execute_self(void *arguments)
{
	execv("/proc/self/exe", arguments);
	return NULL;
}

static int
chain(char **argv)
{
	char number[20];
	int n = atoi(argv[2]);
	pthread_t thread;
	if (!n)
		return atoi(argv[3]);
	snprintf(number, sizeof number, "%d", n - 1);
	argv[2] = number;
	if (n & 1 && !pthread_create(&thread, NULL, execute_self, argv))
		pause();
	execute_self(argv);
	return 1;
}

static int
try(char **paths)
{
	for (; *paths; paths++) {
		execute(*paths);
		puts(strerror(errno));
	}
	return 4;
}

static int
by_vfork(char **paths)
{
	pid_t child = vfork();
	if (!child) {
		execute(paths[0]);
		_exit(1);
	}
	if (waitpid(child, NULL, 0) != child)
		return 1;
	execute(paths[1]);
	return 1;
}

static int
sharing_files(char *path)
{
	pid_t child = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);
	if (!child)
		_exit(0);
	if (waitpid(child, NULL, 0) != child)
		return 1;
	execute(path);
	return 1;
}

int
main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "chain"))
		return chain(argv);
	if (argc > 2 && !strcmp(argv[1], "try"))
		return try(argv + 2);
	if (argc == 4 && !strcmp(argv[1], "vfork"))
		return by_vfork(argv + 2);
	if (argc == 3 && !strcmp(argv[1], "files"))
		return sharing_files(argv[2]);
	return 2;
}
