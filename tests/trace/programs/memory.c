/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory WHAT: what programs do that have little memory.
 *
 * locks: locks all its memory, now and later, and then makes 20 threads.
 * limits: limits its address space to 1 GiB, maps as many pieces of 16 MiB as it can, and gives
 * them back; then makes 20 threads. Prints how many pieces there were.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define CALLED __attribute__((noinline, noipa))
enum { THREADS = 20, PIECE = 16 << 20, MOST_PIECES = 100 };

CALLED static int
t_fib(int n)
{
	return n < 2 ? n : t_fib(n - 1) + t_fib(n - 2);
}

CALLED static void *
t_thread(void *arg)
{
	pthread_barrier_wait(arg);
	t_fib(10);
	pthread_barrier_wait(arg);
	return NULL;
}

/* All of them are there at the same time. */
CALLED static void
make_threads(void)
{
	pthread_t threads[THREADS];
	pthread_attr_t small;
	pthread_barrier_t all;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 256 << 10);
	pthread_barrier_init(&all, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], &small, t_thread, &all))
			puts("wrong");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static long
status_kib(const char *key)
{
	char line[200];
	long kib = -1;
	FILE *f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof line, f))
		if (!strncmp(line, key, strlen(key)))
			sscanf(line + strlen(key), ": %ld", &kib);
	if (f)
		fclose(f);
	return kib;
}

static int
count_pieces(void)
{
	const struct rlimit limit = {1 << 30, 1 << 30};
	void *pieces[MOST_PIECES];
	int n = 0;
	setrlimit(RLIMIT_AS, &limit);
	while (n < MOST_PIECES &&
	       (pieces[n] = mmap(NULL, PIECE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) !=
	               MAP_FAILED)
		n++;
	for (int i = 0; i < n; i++)
		munmap(pieces[i], PIECE);
	return n;
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	if (!strcmp(what, "locks"))
		puts(mlockall(MCL_CURRENT | MCL_FUTURE) ? "refused" : "locked");
	if (!strcmp(what, "limits"))
		printf("%d\n", count_pieces());
	make_threads();
	if (!strcmp(what, "locks"))
		printf("%ld\n", status_kib("VmRSS") / 1024);
	puts("done");
	return 0;
}
