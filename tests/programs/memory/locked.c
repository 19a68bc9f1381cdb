/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mlockall(MCL_FUTURE), with and without MCL_ONFAULT: threads with small stacks can be made where
 * 8 MiB may be locked, what is mapped is locked, and no more than that; then munlockall.
 */
/* strobe-test: stress=cache */
/* strobe-test: name=on-fault args=on-fault stress=cache */
#include "check.h"
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { THREADS = 8, MIB = 1 << 20 };

/* Of this process, in KiB. */
static long
locked(void)
{
	char line[256];
	long kib = -1;
	FILE *f = fopen("/proc/self/status", "r");

	CHECK(f, "/proc/self/status");
	while (fgets(line, sizeof line, f))
		sscanf(line, "VmLck: %ld", &kib);
	fclose(f);
	return kib;
}

static void *
wait_at(void *barrier)
{
	pthread_barrier_wait(barrier);
	pthread_barrier_wait(barrier);
	return NULL;
}

int
main(int argc, char **argv)
{
	(void)argv;
	struct rlimit limit = {8 * MIB, 8 * MIB};
	pthread_barrier_t barrier;
	pthread_t threads[THREADS];
	pthread_attr_t small;

	/* Root may lock as much as it likes. */
	if (setrlimit(RLIMIT_MEMLOCK, &limit) || (geteuid() == 0 && setuid(65534)))
		return CHECK_SKIPPED;
	CHECK(!mlockall(MCL_FUTURE | (argc > 1 ? MCL_ONFAULT : 0)), "mlockall: %s",
	      strerror(errno));
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], &small, wait_at, &barrier), "thread %d", i);
	pthread_barrier_wait(&barrier);
	long before = locked();
	CHECK(before >= THREADS * 64 && before < 3 * 1024, "%ld KiB are locked", before);
	char *p = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(p != MAP_FAILED, "mmap: %s", strerror(errno));
	CHECK_EQ(locked(), before + 1024);
	char *heap = sbrk(2 * MIB);
	CHECK(heap != (void *)-1, "sbrk: %s", strerror(errno));
	CHECK_EQ(locked(), before + 3 * 1024);
	p = mmap(NULL, 8 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(p == MAP_FAILED && errno == EAGAIN, "8 MiB more than may be locked");
	CHECK(sbrk(8 * MIB) == (void *)-1 && sbrk(0) == heap + 2 * MIB, "sbrk beyond the limit");
	CHECK(!munlockall(), "munlockall");
	CHECK_EQ(locked(), 0);
	p = mmap(NULL, 8 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(p != MAP_FAILED, "mmap: %s", strerror(errno));
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	puts("what is mapped is locked, and nothing else");
	return 0;
}
