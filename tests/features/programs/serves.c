/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A server that never stops calling serve, a program with children that call it as well, and one
 * that calls only late.
 * Usage: serves forever | serves children | serves child | serves late */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noipa))
enum { THREADS = 3, SIZES = 40 };

static volatile sig_atomic_t stopped;
static atomic_int wrong;

NOINLINE unsigned
answer(unsigned n)
{
	char *text = malloc(8ul * n);
	memset(text, (int)n, 8ul * n);
	const unsigned last = (unsigned char)text[8ul * n - 1];
	free(text);
	return last;
}

NOINLINE unsigned
serve(unsigned n)
{
	unsigned sum = 0;
	for (unsigned i = 0; i < 3; i++)
		sum += answer(n);
	return sum;
}

static void *
serve_all(void *arg)
{
	(void)arg;
	while (!stopped)
		for (unsigned n = 1; n <= SIZES; n++)
			wrong += serve(n) != 3 * n;
	return NULL;
}

static void
stop(int signal)
{
	(void)signal;
	stopped = 1;
}

static int
serve_forever(void)
{
	pthread_t threads[THREADS];
	signal(SIGUSR1, stop);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, serve_all, NULL);
	puts("ready");
	fflush(stdout);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	puts(wrong ? "wrong" : "right");
	return 0;
}

/* Returns after two seconds. */
NOINLINE unsigned
late(unsigned n)
{
	sleep(2);
	return n;
}

static void
serve_late(void)
{
	puts("ready");
	fflush(stdout);
	wrong += late(7) != 7;
	for (;;)
		pause();
}

static void
serve_range(unsigned from, unsigned to)
{
	for (unsigned n = from; n <= to; n++)
		wrong += serve(n) != 3 * n;
}

/* The parent serves 1 to 10, while its child serves 11 to 20 and becomes a program that serves 21
 * to 30. */
static int
serve_with_children(char *self)
{
	const pid_t child = fork();
	if (!child) {
		serve_range(11, 20);
		execl(self, self, "child", (char *)NULL);
		_exit(1);
	}
	serve_range(1, 10);
	int status;
	waitpid(child, &status, 0);
	puts(wrong || status ? "wrong" : "right");
	return 0;
}

int
main(int argc, char **argv)
{
	(void)argc;
	if (!strcmp(argv[1], "forever"))
		return serve_forever();
	if (!strcmp(argv[1], "children"))
		return serve_with_children(argv[0]);
	if (!strcmp(argv[1], "late"))
		serve_late();
	serve_range(21, 30);
	return wrong;
}
