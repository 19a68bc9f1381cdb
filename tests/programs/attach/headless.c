/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe-test: stdin=x stress=none */
/*
 * The first thread ends, and the process goes on without it: the others compute, map code, and
 * fork, until the input ends.
 */
#include "code/emit.h"
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>

static pthread_t first;

static bool
input_has_ended(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	char byte;

	return poll(&input, 1, 0) == 1 && read(STDIN_FILENO, &byte, 1) == 0;
}

/* Code in memory that is new each time. */
static void
run_new_code(int value)
{
	char *page = map_code(4096, PROT_READ | PROT_WRITE | PROT_EXEC);

	emit_return(page, value);
	CHECK_EQ(call(page), value);
	CHECK(!munmap(page, 4096), "munmap: %m");
}

static void
fork_one(void)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(5);
	CHECK(waitpid(pid, &status, 0) == pid && status == 5 << 8, "child: %#x", status);
}

static void *
goes_on(void *arg)
{
	CHECK(!pthread_join(first, NULL), "the first thread does not end");
	puts("ready");
	fflush(stdout);
	for (int i = 1;; i++) {
		run_new_code(i);
		if (i % 100 == 0)
			fork_one();
		if (i > 300 && input_has_ended())
			break;
	}
	puts("fine");
	exit(0);
	return arg;
}

static void *
computes(void *arg)
{
	for (volatile unsigned long n = 0;; n++)
		;
	return arg;
}

int
main(void)
{
	pthread_t thread;

	first = pthread_self();
	CHECK(!pthread_create(&thread, NULL, computes, NULL), "pthread_create");
	CHECK(!pthread_create(&thread, NULL, goes_on, NULL), "pthread_create");
	pthread_exit(NULL);
}
