/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions whose costs are known. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define TARGET __attribute__((noinline, noclone))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t held;
static int signalled, waiting, entering;
static pid_t first;

static void
nap(long ms)
{
	struct timespec left = {ms / 1000, ms % 1000 * 1000000};
	while (nanosleep(&left, &left))
		;
}

/* Allocates n blocks of 24 bytes each; the caller frees half of them. */
TARGET static void
fill(void **v, int n)
{
	for (int i = 0; i < n; i++)
		v[i] = i % 3 == 0 ? malloc(24) : i % 3 == 1 ? calloc(4, 6) : realloc(NULL, 24);
}

TARGET void
allocates(int n)
{
	void *v[1000];
	fill(v, n);
	for (int i = 0; i < n / 2; i++)
		free(v[i]);
	for (int i = n / 2; i < n; i++)
		v[i] = NULL;
	__asm__ volatile("" : : "r"(v) : "memory");
}

/* Touches n pages for the first time; `at` is not a pointer, so that Strobe does not read them. */
TARGET void
touches(unsigned long at, int n)
{
	for (int i = 0; i < n; i++)
		((volatile char *)at)[(size_t)i * 4096] = 1;
}

TARGET void
sleeps(int n)
{
	for (int i = 0; i < n; i++)
		nap(1);
}

TARGET void
works(long n)
{
	for (volatile long i = 0; i < n; i++)
		;
}

TARGET void
locks(int ms)
{
	__atomic_store_n(&entering, 1, __ATOMIC_SEQ_CST);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	(void)ms;
}

TARGET void
waits(int ms)
{
	pthread_mutex_lock(&mutex);
	waiting = 1;
	while (!signalled)
		pthread_cond_wait(&condition, &mutex);
	signalled = waiting = 0;
	pthread_mutex_unlock(&mutex);
	(void)ms;
}

/* Does the first thread sleep? Once it is about to lock, it sleeps only in the lock. */
static int
sleeps_there(void)
{
	char path[64], line[512] = "";
	snprintf(path, sizeof path, "/proc/self/task/%d/stat", first);
	FILE *f = fopen(path, "r");
	if (!f || !fgets(line, sizeof line, f))
		abort();
	fclose(f);
	return strstr(line, ") S ") != NULL;
}

static void *
holder(void *arg)
{
	pthread_mutex_lock(&mutex);
	sem_post(&held);
	while (!__atomic_load_n(&entering, __ATOMIC_SEQ_CST) || !sleeps_there())
		usleep(100);
	nap((long)arg);
	entering = 0;
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void *
signaller(void *arg)
{
	for (int seen = 0; !seen; usleep(100)) {
		pthread_mutex_lock(&mutex);
		seen = waiting;
		pthread_mutex_unlock(&mutex);
	}
	nap((long)arg);
	pthread_mutex_lock(&mutex);
	signalled = 1;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

TARGET int
inner(int n)
{
	__asm__ volatile("" : : : "memory");
	return n + 1;
}

TARGET int
outer(int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum = inner(sum);
	return sum;
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	pthread_t other;
	first = getpid();
	sem_init(&held, 0, 0);
	if (!strcmp(what, "loop")) {
		for (int i = 0; i < 2000; i++)
			outer(i % 20 * 50);
		return 0;
	}
	for (int i = 0; i < 6; i++) {
		allocates(i * 100);
		char *fresh = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
		                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		madvise(fresh, 1 << 20, MADV_NOHUGEPAGE);
		touches((unsigned long)fresh, i * 20);
		sleeps(i);
		works(i * 1000000l);
		if (pthread_create(&other, NULL, holder, (void *)(long)(i * 10)))
			abort();
		sem_wait(&held);
		locks(i * 10);
		pthread_join(other, NULL);
		if (pthread_create(&other, NULL, signaller, (void *)(long)(i * 10)))
			abort();
		waits(i * 10);
		pthread_join(other, NULL);
	}
	return 0;
}
