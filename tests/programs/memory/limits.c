/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory that runs out: RLIMIT_AS stops malloc and mmap, RLIMIT_DATA stops brk, and the program
 * goes on; a mapping limit is reached with thousands of small mappings and left again.
 */
/* strobe-test: */
#include "check.h"
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>

static void
by_address_space(void)
{
	struct rlimit old, limit;
	void *blocks[200];
	int n = 0;

	getrlimit(RLIMIT_AS, &old);
	limit = old;
	limit.rlim_cur = 64u << 20;
	CHECK(!setrlimit(RLIMIT_AS, &limit), "setrlimit");
	while (n < 200 && (blocks[n] = malloc(1 << 20))) {
		memset(blocks[n], n, 1 << 20);
		n++;
	}
	CHECK(n > 8 && n < 100, "malloc failed after %d MiB", n);
	CHECK_EQ(errno, ENOMEM);
	void *p = mmap(NULL, 64u << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(p == MAP_FAILED && errno == ENOMEM, "mmap beyond the limit");
	for (int i = 0; i < n; i++) {
		CHECK_EQ(((unsigned char *)blocks[i])[i], i);
		free(blocks[i]);
	}
	CHECK(!setrlimit(RLIMIT_AS, &old), "setrlimit");
	p = malloc(64 << 20);
	CHECK(p, "malloc after the limit was lifted");
	free(p);
}

static void
by_break(void)
{
	char *start = sbrk(0);

	CHECK(start == sbrk(4096 * 10), "sbrk");
	memset(start, 7, 4096 * 10);
	CHECK((char *)sbrk(0) == start + 4096 * 10, "break");
	CHECK(sbrk(-4096 * 10) == start + 4096 * 10 && sbrk(0) == start, "lower break");
	CHECK(!brk(start + 100) && sbrk(0) == start + 100, "brk to an odd address");
	CHECK(!brk(start), "brk");
	CHECK(brk((void *)0x7ff000000000) == -1 && errno == ENOMEM && sbrk(0) == start,
	      "brk to nowhere");
}

static void
many_mappings(void)
{
	enum { COUNT = 5000 };
	char *p = mmap(NULL, COUNT * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
	               0);

	CHECK(p != MAP_FAILED, "mmap");
	for (int i = 0; i < COUNT; i += 2)
		CHECK(!mprotect(p + i * 4096, 4096, PROT_READ), "mprotect %d", i);
	for (int i = 1; i < COUNT; i += 2)
		p[i * 4096] = (char)i;
	for (int i = 1; i < COUNT; i += 2)
		CHECK_EQ(p[i * 4096], (char)i);
	CHECK(!munmap(p, COUNT * 4096), "munmap");
	CHECK(mincore(p, 4096, (unsigned char[1]){0}) == -1 && errno == ENOMEM, "mincore");
}

int
main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	by_break();
	many_mappings();
	by_address_space();
	puts("memory ends and comes back");
	return 0;
}
