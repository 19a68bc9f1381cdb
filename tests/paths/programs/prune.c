/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Far more contexts than some memory holds, and one that is always hot. prune THREADS ROUNDS: so
 * many threads at once, again and again; each calls the hot context before each of its random
 * trees. prune deep LEVELS: a recursion; prune fork: a child, with more of the same. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TREES = 80, DEPTH = 8, BRANCHES = 2, HOT = 50, MOST_THREADS = 64 };

static volatile int sink;
static __thread unsigned seed;

static unsigned
next(void)
{
	seed = seed * 1103515245u + 12345u;
	return seed >> 16 & 0x7fff;
}

typedef void grow(int depth);
static grow f_0, f_1, f_2, f_3, f_4, f_5, f_6, f_7;
static grow *const all[] = {f_0, f_1, f_2, f_3, f_4, f_5, f_6, f_7};

#define F(n)                                                                                       \
	__attribute__((noinline)) static void f_##n(int depth)                                     \
	{                                                                                          \
		sink = n;                                                                          \
		for (int i = 0; depth && i < BRANCHES; i++)                                        \
			if (next() % 3)                                                            \
				all[next() % 8](depth - 1);                                        \
		sink = -n;                                                                         \
	}                                                                                          \
	static_assert(n < 8, "they call one another")
F(0);
F(1);
F(2);
F(3);
F(4);
F(5);
F(6);
F(7);

__attribute__((noinline)) static void
f_hot_leaf(void)
{
	sink++;
}

__attribute__((noinline)) static void
f_hot(void)
{
	for (int i = 0; i < HOT; i++)
		f_hot_leaf();
	sink--;
}

__attribute__((noinline)) static void
f_deep(int levels)
{
	if (levels > 1)
		f_deep(levels - 1);
	sink--;
}

__attribute__((noinline)) static void *
f_thread(void *number)
{
	seed = (unsigned)(size_t)number;
	for (int i = 0; i < TREES; i++) {
		f_hot();
		all[next() % 8](DEPTH);
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	pthread_t threads[MOST_THREADS];
	if (argc != 3)
		return 2;
	int n = atoi(argv[1]);
	if (!strcmp(argv[1], "deep")) {
		f_deep(atoi(argv[2]));
		f_thread((void *)1);
	} else if (!strcmp(argv[1], "fork")) {
		f_thread((void *)1);
		pid_t child = fork();
		f_thread((void *)2);
		return child ? wait(NULL) != child : 0;
	}
	for (size_t round = 0; round < (size_t)atoi(argv[2]) && n; round++) {
		for (int i = 0; i < n; i++)
			pthread_create(&threads[i], NULL, f_thread,
			               (void *)(round * 100 + (size_t)i));
		for (int i = 0; i < n; i++)
			pthread_join(threads[i], NULL);
	}
	return 0;
}
