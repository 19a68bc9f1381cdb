/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A function with five names, of each kind of symbol, and one that loops; called TURNS times.
 * aliases exec: ten children, of which five execute a program, and all try one that is not there or
 * end. aliases thread: half of the calls are made before a second thread is there. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TURNS = 100, CHILDREN = 10 };

int __inner_work(int x);
int work(int x) __attribute__((alias("__inner_work")));
int weak_work(int x) __attribute__((weak, alias("__inner_work")));
int _a_work(int x) __attribute__((alias("__inner_work")));
static int local_work(int x) __attribute__((alias("__inner_work"), used));

__attribute__((noipa)) int
__inner_work(int x)
{
	volatile int s = 0;
	for (int i = 0; i < 50; i++)
		s += i * x;
	return s;
}

__attribute__((noipa)) static int
start_children(char *self)
{
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();
		if (!pid) {
			if (i < CHILDREN / 2)
				execl(self, self, "none", (char *)NULL);
			execl("/nonexistent", "x", (char *)NULL);
			_exit(3);
		}
		waitpid(pid, NULL, 0);
	}
	return 0;
}

static void *
nothing(void *arg)
{
	return arg;
}

int
main(int argc, char **argv)
{
	int turns = argc > 1 ? atoi(argv[1]) : TURNS, sum = 0;
	if (argc > 1 && !strcmp(argv[1], "exec"))
		return start_children("/proc/self/exe");
	bool thread = argc > 1 && !strcmp(argv[1], "thread");
	for (int i = 0; i < (thread ? TURNS : turns); i++) {
		pthread_t t;
		if (thread && i == TURNS / 2 && !pthread_create(&t, NULL, nothing, NULL))
			pthread_join(t, NULL);
		sum += work(i);
	}
	printf("%d\n", sum);
	return 0;
}
