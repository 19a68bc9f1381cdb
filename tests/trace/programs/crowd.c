/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * crowd threads: 6,000 threads with small stacks, one after the other.
 * crowd clones: processes that share the memory and the thread pointer of the one that makes them,
 * beside it.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define CALLED __attribute__((noinline, noipa))
enum { THREADS = 6000, SMALL = 16384, CLONES = 20, STACK = 1 << 18 };

CALLED static int
t_fib(int n)
{
	return n < 2 ? n : t_fib(n - 1) + t_fib(n - 2);
}

static void *
thread(void *result)
{
	t_fib(1);
	return result;
}

static int
clone_child(void *arg)
{
	(void)arg;
	return t_fib(20) != 6765;
}

static int
make_threads(void)
{
	pthread_attr_t small;
	int made = 0;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, SMALL);
	for (int i = 0; i < THREADS; i++) {
		pthread_t t;
		if (pthread_create(&t, &small, thread, NULL) || pthread_join(t, NULL))
			continue;
		made++;
	}
	return made;
}

static int
make_clones(void)
{
	int right = 0;
	for (int i = 0; i < CLONES; i++) {
		char *stack = malloc(STACK);
		int status = -1;
		const int pid =
		        stack ? clone(clone_child, stack + STACK, CLONE_VM | SIGCHLD, NULL) : -1;
		const int own = t_fib(20) == 6765;
		if (pid > 0)
			waitpid(pid, &status, 0);
		right += own && !status;
	}
	return right;
}

int
main(int argc, char **argv)
{
	printf("%d\n", argc > 1 && !strcmp(argv[1], "clones") ? make_clones() : make_threads());
	return 0;
}
