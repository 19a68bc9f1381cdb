/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that does not bear memory which it does not know: whatever /proc/self/maps lists
 * besides its files, its heap, its stack and what it has mapped, it drops, protects and unmaps.
 * Then it goes on, with threads and with code that is new.
 */
/* strobe-test: */
#include "check.h"
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>

static char text[1 << 20];

static bool
is_known(const char *line)
{
	static const char *const known[] = {"libc",           "ld-linux", "ld-",     "libpthread",
	                                    "memory-unknown", "[heap]",   "[stack]", "[v"};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strstr(line, known[i]))
			return true;
	return false;
}

static void *
sum(void *n)
{
	long s = 0;

	for (long i = 1; i <= (long)n; i++)
		s += i;
	return (void *)s;
}

int
main(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
	char *rest = NULL, path[64] = "";
	unsigned long start, end, own = (unsigned long)&own, last_end = 0;
	unsigned dropped = 0;

	CHECK(n > 0 && n < sizeof text - 1, "/proc/self/maps");
	fclose(f);
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		CHECK(sscanf(line, "%lx-%lx %*s %*s %*s %*s %63s", &start, &end, path) >= 2,
		      "a line");
		bool beside = start == last_end; /* a library's, or the thread's own */
		bool ours = is_known(line) || beside || (own >= start && own < end) ||
		            (start >> 40 == (unsigned long)stdout >> 40) ||
		            (start >> 32 == (unsigned long)__builtin_thread_pointer() >> 32);
		last_end = ours ? end : 0;
		if (ours)
			continue;
		CHECK(!madvise((void *)start, end - start, MADV_DONTNEED), "madvise %s", line);
		CHECK(!mprotect((void *)start, end - start, PROT_NONE), "mprotect %s", line);
		CHECK(!munmap((void *)start, end - start), "munmap %s", line);
		dropped++;
	}
	for (long i = 0; i < 20; i++) {
		pthread_t thread;
		void *result;
		CHECK(!pthread_create(&thread, NULL, sum, (void *)(1000 * i)), "pthread_create");
		CHECK(!pthread_join(thread, &result), "pthread_join");
		CHECK_EQ((long)result, 1000 * i * (1000 * i + 1) / 2);
	}
	printf("it goes on without memory that it does not know\n");
	return dropped > 1000;
}
