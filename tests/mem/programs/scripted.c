/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Allocations whose numbers are known: what main is told to do, in one word. */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noipa))

/* What is allocated is used. */
static void *volatile sink;

KEEP static void *
take(size_t n)
{
	void *p = malloc(n);
	sink = p;
	return p;
}

KEEP static void *
from_left(size_t n)
{
	void *p = take(n);
	sink = p;
	return p;
}

KEEP static void *
from_right(size_t n)
{
	void *p = take(n);
	sink = p;
	return p;
}

/* The peak is 10 blocks of the left and 5 of the right: 10 * 1000 + 5 * 300; 2 of the left stay. */
KEEP static void
peak(void)
{
	void *left[10], *right[8];
	for (int i = 0; i < 10; i++)
		left[i] = from_left(1000);
	for (int i = 0; i < 5; i++)
		right[i] = from_right(300);
	for (int i = 0; i < 8; i++)
		free(left[i]);
	for (int i = 5; i < 8; i++)
		right[i] = from_right(300);
	for (int i = 0; i < 8; i++)
		free(right[i]);
}

/* Each function of the family, once: 100 + 10 * 20 + 300 + 400 + 500 + 600 + 700 + 800 = 3600. */
KEEP static void
family(void)
{
	void *all[9] = {malloc(100),
	                calloc(10, 20),
	                realloc(NULL, 300),
	                reallocarray(NULL, 4, 100),
	                aligned_alloc(64, 512),
	                memalign(128, 600),
	                valloc(700)};
	if (posix_memalign(&all[7], 256, 800))
		_exit(9);
	for (int i = 0; i < 8; i++) {
		memset(all[i], 1, 8);
		free(all[i]);
	}
	sink = malloc(SIZE_MAX / 2); /* fails */
	sink = calloc(SIZE_MAX / 2, 4);
}

/* A block that grows, shrinks, and is freed by a reallocation to nothing; one that fails. */
KEEP static void
reallocations(void)
{
	char *p = malloc(100);
	p = realloc(p, 50);           /* in place */
	char *wall = malloc(1 << 16); /* so that it cannot grow where it is */
	p = realloc(p, 1 << 20);      /* moves */
	sink = p;
	sink = realloc(p, SIZE_MAX / 2); /* fails, the block stays */
	free(wall);
	free(p);
}

KEEP static void
mappings(void)
{
	const int rw = PROT_READ | PROT_WRITE, private = MAP_PRIVATE | MAP_ANONYMOUS;
	char *a = mmap(NULL, 10 * 4096, rw, private, -1, 0);
	char *b = mmap(NULL, 5 * 4096 - 100, rw, private, -1, 0);
	munmap(a + 4096, 2 * 4096);                         /* a hole: 8 pages are left */
	a = mremap(a + 3 * 4096, 7 * 4096, 3 * 4096, 0);    /* in place: 1 + 3 */
	b = mremap(b, 5 * 4096, 50 * 4096, MREMAP_MAYMOVE); /* 50 */
	sink = a;
	munmap(b, 50 * 4096);
	sink = mmap(NULL, 0, rw, private, -1, 0); /* fails */
}

KEEP static int
recurse(int n)
{
	sink = malloc(10);
	free(sink);
	return n ? recurse(n - 1) + 1 : 0;
}

KEEP static void *
in_thread(void *arg)
{
	for (int i = 0; i < 1000; i++) {
		void *p = take(16);
		if (i % 2)
			free(p);
	}
	return arg;
}

/* 8 threads, one after the other and all at once: half of the blocks stay. */
KEEP static void
threads(void)
{
	pthread_t t[8];
	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, in_thread, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
}

/* What a child allocates is not counted. */
KEEP static void
children(void)
{
	free(take(11));
	const pid_t child = fork();
	if (!child) {
		for (int i = 0; i < 100; i++)
			take(1000);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	free(take(22));
}

static sigjmp_buf out;

static void
on_signal(int signo)
{
	(void)signo;
	free(take(7));
	siglongjmp(out, 1);
}

/* Jumps out of signal handlers, in functions that allocate: 50 in handlers, 50 outside. */
KEEP static void
jumps(void)
{
	signal(SIGUSR1, on_signal);
	for (volatile int i = 0; i < 50; i++) {
		free(take(9));
		if (!sigsetjmp(out, 1))
			raise(SIGUSR1);
	}
}

/* Of one stack frame that is not of a fixed size. */
KEEP static void
variable(int n)
{
	char space[n];
	memset(space, n, (size_t)n);
	sink = space;
	free(take((size_t)space[0]));
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *word;
		void (*run)(void);
	} words[] = {{"peak", peak},         {"family", family},   {"reallocations", reallocations},
	             {"mappings", mappings}, {"threads", threads}, {"children", children},
	             {"jumps", jumps}};
	const char *word = argc > 1 ? argv[1] : "";
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!strcmp(word, words[i].word))
			words[i].run();
	if (!strcmp(word, "recurse"))
		return recurse(600) != 600;
	for (int i = 1; i < 100 && !strcmp(word, "variable"); i++)
		variable(i);
	return 0;
}
