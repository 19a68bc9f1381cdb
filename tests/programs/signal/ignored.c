/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SIGTRAP is ignored while code runs for the first time, and a new program inherits that; also one
 * that is started by Strobe itself. */
/* strobe-test: follow=1 stress=lookup */
/* strobe-test: name=signal-ignored-sh script="#!/bin/sh\ntrap '' TRAP\nexec PROGRAM x" follow=1 stress=lookup */
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int
compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int
main(int argc, char **argv)
{
	int v[100], status = 0;
	struct sigaction action;
	sigaction(SIGTRAP, NULL, &action);
	printf("%s\n", action.sa_handler == SIG_IGN ? "ignored" : "not ignored");
	if (argc > 1)
		return 0;
	signal(SIGTRAP, SIG_IGN);
	for (volatile int i = 0; i < 100000000; i++)
		;
	for (int i = 0; i < 100; i++)
		v[i] = i * 7919 % 101;
	qsort(v, 100, sizeof *v, compare);
	printf("%d\n", v[5]);
	fflush(stdout);
	char *arguments[] = {argv[0], "again", NULL};
	pid_t child;
	if (posix_spawn(&child, argv[0], NULL, NULL, arguments, NULL) != 0)
		return 1;
	waitpid(child, &status, 0);
	return status != 0;
}
