/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Forks while another thread allocates and locks all the time, so that a tool's own lock is often
 * held at the fork. Each child allocates and locks, too, and exits.
 * usage: forks CHILDREN
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER, childs = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool done;

/* Allocates in a way that no compiler leaves out. */
static void
allocate(void)
{
	void *volatile block = malloc(100);
	free(block);
}

static void *
work(void *arg)
{
	while (!done) {
		pthread_mutex_lock(&own);
		allocate();
		pthread_mutex_unlock(&own);
	}
	return arg;
}

int
main(int argc, char **argv)
{
	int children = argc > 1 ? atoi(argv[1]) : 1, good = 0;
	pthread_t thread;
	if (pthread_create(&thread, NULL, work, NULL))
		return 1;
	for (int i = 0; i < children; i++) {
		int status;
		pid_t child = fork();
		if (!child) {
			pthread_mutex_lock(&childs);
			allocate();
			pthread_mutex_unlock(&childs);
			_exit(7);
		}
		good += child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
		        WEXITSTATUS(status) == 7;
	}
	done = true;
	pthread_join(thread, NULL);
	printf("%d\n", good);
	return 0;
}
